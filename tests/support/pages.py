"""Pages of the documentation as programs: their blocks run in order, and print what they say."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.conftest import run_command

BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
CALL = re.compile(r"calibration-monitor [^\n|>;&$]*\n?")  # that needs no shell
BIN = Path(sys.executable).parent


class Block(NamedTuple):
    """A fenced block: its language, the file that it is saved as, and its text."""

    language: str
    file: str
    text: str


def blocks(page: Path) -> list[Block]:
    """Read the fenced blocks of a page."""
    return blocks_after(page, "")


def blocks_after(page: Path, heading: str) -> list[Block]:
    """Read the fenced blocks of a page that follow a heading."""
    _, _, text = page.read_text().partition(heading) if heading else ("", "", page.read_text())
    return [Block(*found) for found in BLOCK.findall(text)]


def run_block(block: Block, folder: Path) -> str:
    """Run a block of sh or python in a folder, or save it there, and return what it prints."""
    if block.file:
        (folder / block.file).write_text(block.text)
        return ""
    if block.language == "python" or CALL.fullmatch(block.text):
        with contextlib.chdir(folder):
            return run_here(block)
    ended = subprocess.run(
        ["/bin/sh", "-e", "-c", block.text],
        cwd=folder,
        env=os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}", "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, f"{block.text}\n{ended.stdout}\n{ended.stderr}"
    return ended.stdout


def run_here(block: Block) -> str:
    """Run Python, or a single call of the program, in this process; return what it prints."""
    if block.language == "python":
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(block.text, {"__name__": "__main__"})  # noqa: S102 - of our own pages
        return out.getvalue()
    ended = run_command(*shlex.split(block.text)[1:])
    assert ended.code == 0, f"{block.text}\n{ended.out}\n{ended.err}"
    return ended.out


def matches(shown: str, printed: str) -> bool:
    """Compare what a page shows with what was printed; … stands for anything, blanks for blanks."""
    parts = [r"\s+".join(map(re.escape, part.split())) for part in shown.split("…")]
    joints = [
        (r"\s" if left[-1:].isspace() and left.strip() else "") + ".*?"
        for left in shown.split("…")[:-1]
    ]
    pattern = parts[0] + "".join(j + p for j, p in zip(joints, parts[1:], strict=True))
    return re.search(pattern, printed, re.DOTALL) is not None
