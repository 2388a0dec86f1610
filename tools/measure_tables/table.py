"""A table of docs/measure-tables.md: the mean of every measure over seeded days in several worlds.

`python -m tools.measure_tables` prints all tables for the page.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

PAGE = Path(__file__).parents[2] / "docs" / "measure-tables.md"
Measure = Callable[[Any], float]


@dataclass(frozen=True, eq=False)
class Table:
    """Worlds that draw a day each from a generator, and measures with their printed decimals."""

    days: int
    worlds: Mapping[str, Callable[[np.random.Generator], Any]]
    measures: Mapping[str, tuple[Measure, int]]

    @property
    def head(self) -> str:
        """Write the first line."""
        return f"| mean over {self.days} days | " + " | ".join(self.worlds) + " |"

    def row(self, name: str) -> list[str]:
        """Compute a row: means over the days of every world, as printed."""
        measure, decimals = self.measures[name]
        means = [np.mean([measure(day) for day in days]) for days in drawn(self).values()]
        # Adding 0.0 makes -0.0 a plain 0.
        return [f"{round(mean, decimals) + 0.0:.{decimals}f}" for mean in means]

    def printed_rows(self) -> dict[str, list[str]]:
        """Read the rows from the page."""
        lines = PAGE.read_text().splitlines()
        cells = {}
        for line in lines[lines.index(self.head) + 2 :]:
            if not line.startswith("|"):
                break
            name, *values = (cell.strip() for cell in line.strip("|").split("|"))
            cells[name] = values
        return cells

    def lines(self) -> list[str]:
        """Lay out the whole table."""
        rows = [f"| {name} | " + " | ".join(self.row(name)) + " |" for name in self.measures]
        return [self.head, "|---|" + "---:|" * len(self.worlds), *rows]


@cache
def drawn(table: Table) -> dict[str, list[Any]]:
    """Draw the days of every world."""
    return {
        name: [make(np.random.default_rng([7, day])) for day in range(table.days)]
        for name, make in table.worlds.items()
    }
