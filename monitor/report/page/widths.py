"""How much room the lines of a table need, so that a narrower page stacks its cells. Pure.

Rule: a width is in characters as wide as a zero, which is what a style sheet calls `ch`, so it
holds in every font and size. Letters are weighed, because a name in capitals is wider.
"""

from collections.abc import Iterable
from unicodedata import east_asian_width

from monitor.report.page.content import Table

LONGEST = 22  # characters of a cell in a line; more of them are wrapped
STEP = 2  # widths are rounded up, so that tables share rules
PADDING = 1.4  # of a cell, in characters
SORTED = 1.6  # a blank and the sign after the heading of a column that can be sorted
NARROW, WIDE = frozenset("fijlrt.,:;'|!()[]- \u00a0"), frozenset("mwMW@%\u2013")


def room(table: Table) -> int:
    """Give the width below which the cells of a table are stacked, in characters.

    Parameters
    ----------
    table : Table
        Of all rows that it ever shows.

    Examples
    --------
    >>> room(Table(("day", "rows"), [("2026-03-01", "1,200")]))
    18
    """
    columns = [[*cells] for cells in zip(*table.rows, strict=True)] or [[] for _ in table.columns]
    need = sum(
        PADDING + max(_heading(heading), *map(_cell, cells), 0.0)
        for heading, cells in zip(table.columns, columns, strict=True)
    )
    return -int(-need // STEP) * STEP


def _heading(text: str) -> float:
    """Weigh a heading, which breaks at its blanks."""
    return max(map(_weight, text.split(" "))) + SORTED


def _cell(text: str) -> float:
    return min(_weight(text), LONGEST)


def _weight(text: Iterable[str]) -> float:
    return sum(map(_of_character, text))


def _of_character(c: str) -> float:
    if east_asian_width(c) in "WF":
        return 2.0
    if c in WIDE:
        return 1.5
    return 0.65 if c in NARROW else 1.15 if c.isupper() else 1.0
