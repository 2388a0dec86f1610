"""The pages: their commands, options and settings are the program's, and links of a page lead."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from monitor.cli import app
from monitor.config.complaints import REMOVED
from tests.support.paths import ROOT

PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "alerts" / "runbook.md")
CALL = re.compile(r"^ *(?:\S*/)?calibration-monitor ([a-z].*)|`calibration-monitor ([a-z][^`]*)`")


def calls(page: Path) -> Iterator[list[str]]:
    """Give the words of each call in lines of code, fenced or indented, and in running text."""
    fenced = False
    for line in page.read_text().splitlines():
        fenced ^= line.lstrip().startswith("```")
        for own_line, within in CALL.findall(line):
            if within or fenced or line.startswith("    "):
                yield shlex.split(own_line or within, comments=True)


def test_there_are_calls() -> None:
    """The pattern finds the commands that the pages are about."""
    found = {words[0] for page in PAGES for words in calls(page)}

    assert {"assets", "prune", "backfill", "evaluate", "export", "store", "run", "map"} <= found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_calls_are_understood(page: Path) -> None:
    """Each command exists, and has every option that the page gives it."""
    for call in calls(page):
        command: Any = typer.main.get_command(app)
        words = [*call]
        while hasattr(command, "commands"):
            name = words.pop(0)
            assert name in command.commands, name
            command = command.commands[name]
        known = {"--help", *(name for p in command.params for name in (*p.opts, *p.secondary_opts))}
        given = {word.partition("=")[0].strip("[]()") for word in words if word.startswith("--")}
        assert given <= known, command.name


def test_no_page_gives_a_setting_that_is_gone() -> None:
    """A setting with its value is none that the program answers with what to write instead."""
    example = (ROOT / "monitor.example.yaml").read_text()
    gone = {key.rpartition(".")[2] for key in REMOVED}
    gone -= set(re.findall(r"\b(\w+):", example))
    pattern = re.compile(rf"(?m)(?:`|^ *|[{{,] *)({'|'.join(sorted(gone))}): [^`|\n]+")

    assert "prior_shift" in gone
    assert {
        page.stem: found for page in PAGES if (found := pattern.findall(page.read_text()))
    } == {}


def test_its_links_lead_somewhere() -> None:
    """Every relative link of docs/operate.md is a file or a folder of the repository."""
    links = re.findall(r"\]\(([^)#:]+)\)", (ROOT / "docs" / "operate.md").read_text())

    assert len(links) >= 6
    assert [link for link in links if not (ROOT / "docs" / link).exists()] == []
