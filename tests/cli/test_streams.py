"""Outputs that lack characters, are full, or are closed."""

import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

import pytest

from monitor.cli.streams import plain
from tests.conftest import DAY
from tests.support.cases import some

COMMAND = str(Path(sys.executable).with_name("calibration-monitor"))
ROOT = Path(__file__).parents[2] / "monitor"
CALLS = {
    "done": (("show",), 0),
    "configuration": (("show", "--config", "nowhere.yaml"), 2),
    "data": (("run", "--day", "2026-03-09"), 3),
    "log": (("backfill", "--from", f"{DAY}", "--to", f"{DAY}", "--again"), 0),
}


def ended(arguments: Sequence[str], redirect: str = "", **environment: str) -> tuple[int, bytes]:
    """Run a command in a shell; give its exit code and its output."""
    done = subprocess.run(
        ["/bin/sh", "-c", f'"$@" {redirect}', "sh", COMMAND, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **environment},
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.usefixtures("project")
def test_characters_that_an_output_lacks_are_replaced() -> None:
    """A page is whole, with bars of # and plain letters."""
    encoding = "latin-1"
    code, usual = ended(["show"], PYTHONIOENCODING="utf-8")
    other, shown = ended(["show"], PYTHONIOENCODING=encoding)
    assert (code, other) == (0, 0)
    assert usual.decode().count("\n") == shown.decode(encoding).count("\n")
    assert "█" in usual.decode() or "▁" in usual.decode()
    assert b"#" in shown
    assert usual.count(b"?") == shown.count(b"?")  # of questions


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("call", "code", "redirect"),
    some([(*of, end) for of, end in zip(CALLS.values(), cycle(["2>/dev/full", "2>&-"]))], 3),
)
def test_what_is_said_aside_does_not_decide_how_a_command_ends(
    call: tuple[str, ...], code: int, redirect: str
) -> None:
    """Its exit code and its output are the same."""
    usual, out = ended(call, "2>/dev/null")
    assert usual == code
    assert ended(call, redirect) == (code, out)


def test_every_sign_of_the_program_has_a_plain_one() -> None:
    """No sentence, table or bar has one that would become a question mark."""
    rooms = [ROOT / room for room in ("cli", "words", "report", "pipeline", "drift")]
    sources = [path.read_text() for room in rooms for path in sorted(room.glob("*.py"))]
    signs = {sign for source in sources for sign in source if not sign.isascii()}
    assert signs >= {*"▁█"}
    assert {sign for sign in signs if "?" in plain(sign)} == set()
