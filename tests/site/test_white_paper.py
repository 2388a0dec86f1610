"""The white paper: its tables are those of the pages that programs write."""

import re

from tests.support.paths import ROOT

DOCS = ROOT / "docs"
SOURCES = ("drift-simulations.md", "comparison.md", "where-study.md", "map-promises.md")


def test_every_row_of_its_tables_is_in_a_study() -> None:
    """Line by line, so that a study that is run again cannot leave old numbers here."""
    written = {line for name in SOURCES for line in (DOCS / name).read_text().splitlines()}
    rows = [line for line in (DOCS / "white-paper.md").read_text().splitlines() if line[:1] == "|"]

    assert len(rows) > 30
    assert [row for row in rows if row not in written] == []


def test_numbers_of_its_abstract_are_those_of_its_tables() -> None:
    """False openings of the six clean worlds, and the range of delays."""
    text = (DOCS / "white-paper.md").read_text()
    rates = re.search(r"\| \*\*evidence detector, A = 1000\*\* \|(.*)\|\n\n", text)
    delays = re.search(r"\| slope 0.8 \|(.*)\|\n", text)
    assert rates
    assert delays
    openings = [20 * float(cell.split()[0]) for cell in rates[1].split("|")]
    days = [int(cell.split()[0]) for cell in delays[1].split("|")]

    assert f"{sum(openings):.0f} false openings in {20 * len(openings)} stream-years" in text
    assert f"a median of {min(days)} to {max(days)} days" in text
