"""docs/operate.md: its commands are the program's, and its links lead somewhere."""

import re

import pytest

from tests.conftest import run_command
from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "operate.md").read_text()
CALL = re.compile(r"calibration-monitor ((?:export |store )?[a-z]+)((?: [^`\n|]+)?)")
CALLS = sorted(
    (found[1], found[2].strip())
    for found in CALL.finditer(PAGE)
    if not found[0].startswith("calibration-monitor install")
)


def test_there_are_calls() -> None:
    """The pattern finds the commands that the page is about."""
    assert {"assets", "prune", "backfill", "evaluate", "export openmetrics", "store compact"} <= {
        command for command, _ in CALLS
    }


@pytest.mark.parametrize(("command", "arguments"), CALLS)
def test_a_call_is_understood(command: str, arguments: str) -> None:
    """The command exists, and has every option that the page gives it."""
    told = run_command(*command.split(), "--help")

    assert told.code == 0, told.err
    for option in re.findall(r"--[a-z-]+", arguments):
        assert f"{option} " in told.out, option


def test_its_links_lead_somewhere() -> None:
    """Every relative link is a file or a folder of the repository."""
    links = re.findall(r"\]\(([^)#:]+)\)", PAGE)

    assert len(links) >= 6
    assert [link for link in links if not (ROOT / "docs" / link).exists()] == []
