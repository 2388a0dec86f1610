"""The last section of docs/coverage.md, from the counts of studies/coverage/run_more.py."""

import json
from collections.abc import Mapping
from math import sqrt
from pathlib import Path

COUNTS = Path(__file__).with_name("run_more.json")
BEGIN = "<!-- `python -m studies.coverage.run_more` writes from here on. -->\n"
END = "<!-- to here. -->\n"
Counts = Mapping[str, Mapping[str, tuple[int, int]]]  # of an interval, in a world: held, tries

WORDS = """\

## Other intervals

`python -m studies.coverage.run_more`. *2 classes*: the worlds above with a slope of 0.8.
*Improvement* is by a map of slope 0.8, or of 1.25. *3 classes*: normal logits, slope 0.8; the
classes' own intervals at 1 - 0.05/3, and the mean of their ends. The last two tables: variances
between 0.5 and 2, true ones `2 v + 1/2`, normal errors or Student's t with 6 degrees.

"""


def section(counts: Counts) -> str:
    """Write the section between its marks, one table for each set of worlds."""
    return BEGIN + WORDS + "\n".join(tables(counts)) + "\n" + END


def tables(counts: Counts) -> list[str]:
    """Lay out tables: intervals down, worlds across; intervals of the same worlds share one."""
    sets: dict[tuple[str, ...], list[str]] = {}
    for name, worlds in counts.items():
        sets.setdefault(tuple(worlds), []).append(name)
    lines: list[str] = []
    for worlds, names in sets.items():
        lines += ["| interval | " + " | ".join(worlds) + " |", "|---" + "|---:" * len(worlds) + "|"]
        for name in names:
            cells = [cell(*counts[name][world]) for world in worlds]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        lines.append("")
    return lines


def cell(held: int, tries: int) -> str:
    """Write a coverage with its error, as if two more tries of each kind had been made."""
    share = (held + 2) / (tries + 4)
    return f"{100 * held / tries:.0f} ± {100 * sqrt(share * (1 - share) / (tries + 4)):.1f}"


def stored_section() -> str:
    """Write the section from what is stored; nothing if nothing is."""
    return section(json.loads(COUNTS.read_text())) if COUNTS.exists() else ""
