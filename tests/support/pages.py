"""Pages of the documentation as programs: their blocks run in order, and print what they say."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
BIN = Path(sys.executable).parent


class Block(NamedTuple):
    """A fenced block: its language, the file that it is saved as, and its text."""

    language: str
    file: str
    text: str


def blocks(page: Path) -> list[Block]:
    """Read the fenced blocks of a page."""
    return [Block(*found) for found in BLOCK.findall(page.read_text())]


def run_block(block: Block, folder: Path) -> str:
    """Run a block of sh or python in a folder, or save it there, and return what it prints."""
    if block.file:
        (folder / block.file).write_text(block.text)
        return ""
    command = ["sh", "-e", "-c"] if block.language == "sh" else [sys.executable, "-c"]
    ended = subprocess.run(
        [*command, block.text],
        cwd=folder,
        env=os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}", "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, f"{block.text}\n{ended.stdout}\n{ended.stderr}"
    return ended.stdout


def matches(shown: str, printed: str) -> bool:
    """Compare what a page shows with what was printed; … stands for anything, blanks for blanks."""
    parts = [r"\s+".join(map(re.escape, part.split())) for part in shown.split("…")]
    joints = [
        (r"\s" if left[-1:].isspace() and left.strip() else "") + ".*?"
        for left in shown.split("…")[:-1]
    ]
    pattern = parts[0] + "".join(j + p for j, p in zip(joints, parts[1:], strict=True))
    return re.search(pattern, printed, re.DOTALL) is not None
