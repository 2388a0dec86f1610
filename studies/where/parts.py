"""How often `where --search` names the parts that were planted, and parts of sound rows.

    python -m studies.where.parts [--worlds 20] [--sound 60]

Draws rows of eight columns in which a part drifts, or nothing does, searches every second day,
confirms on the others, and writes the table of docs/where-study.md between its marks. Seeds are
fixed.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import expit
from scipy.stats import norm

from monitor.base.segment_names import WHOLE
from monitor.days.summary import CodedRows
from monitor.drift.curve.reference import Reference, fit_reference
from monitor.drift.records.places import name_all
from monitor.drift.where.part_search import (
    PartFound,
    Proposal,
    SearchColumn,
    confirm_parts,
    divide,
    propose,
    tables_of,
)
from monitor.metrics.core.coarse import CENTRES, COARSE_COUNT, Coarse
from monitor.metrics.core.grid import Ints

TABLES_END = "<!-- The table of parts ends here. -->\n"

PAGE = Path(__file__).parents[2] / "docs" / "where-study.md"
BEGIN = "<!-- `python -m studies.where.parts` writes the table below this line. -->\n"
ROWS, BEFORE, AFTER, MOST_PARTS = 12_000, 28, 14, 4
SCORES = norm.pdf(CENTRES, -1.0, 1.3)
SCORES /= SCORES.sum()
SIZES = {"customer": 40, "device": 4, "hour": 24, "channel": 6, "version": 8, "kind": 3}
NAMES = ("customer", "device", "hour", "channel", "version", "kind", "country", "amount")
EDGES = tuple(float(x) for x in norm.ppf(np.arange(1, 8) / 8))
COLUMNS = [
    SearchColumn(name, tuple(f"v{i}" for i in range(SIZES.get(name, 7)))) for name in NAMES[:-1]
] + [SearchColumn("amount", tuple(f"range {i}" for i in range(8)), EDGES)]
Cause = dict[str, tuple[int, ...]]  # codes by column: a row drifts if it has one of each


@dataclass(frozen=True)
class Kind:
    """A kind of world: its causes, each by the number of columns, and whether priors move."""

    name: str
    causes: tuple[int, ...]
    moving: float = 0.0  # standard deviation of the priors of values, in logit


KINDS = (
    Kind("one value, 2 to 20 % of the rows", (1,)),
    Kind("two values of two columns", (1, 1)),
    Kind("two conditions together, 2 to 20 %", (2,)),
    Kind("two conditions, priors of values move", (2,), 0.5),
    Kind("all rows alike", (0,)),
    Kind("nothing", ()),
    Kind("nothing, priors of values move", (), 0.5),
)


class World:
    """Rows of days, of which some have a cause."""

    def __init__(self, kind: Kind, seed: int) -> None:
        self.rng = np.random.default_rng([77, seed])
        self.kind = kind
        self.shares = {name: self.rng.dirichlet(np.full(n, 1.0)) for name, n in SIZES.items()}
        self.home = self.rng.integers(1, 8, SIZES["customer"])
        codes = self._codes()
        self.causes = [self._choose(codes, size) for size in kind.causes]
        self.slope = float(self.rng.choice([0.4, 0.5, 0.6, 1.7]))
        if kind.causes == (0,):
            self.slope = 0.8

    def _codes(self) -> Ints:
        drawn = {n: self.rng.choice(len(p), ROWS, p=p) + 1 for n, p in self.shares.items()}
        drawn["country"] = self.home[drawn["customer"] - 1]
        drawn["amount"] = self.rng.integers(1, 9, ROWS)
        return np.stack([drawn[name] for name in NAMES])

    def _choose(self, codes: Ints, size: int) -> Cause:
        while True:
            at = self.rng.choice(len(NAMES), size, replace=False)
            cause = dict[str, tuple[int, ...]]()
            for i in at:
                value = int(self.rng.choice(np.unique(codes[i])))
                several = NAMES[i] == "amount"
                cause[NAMES[i]] = tuple(range(max(2, value), 9)) if several else (value,)
            share = met(cause, codes).mean()
            if size == 0 or 0.02 <= share <= 0.2:
                return cause

    def day(self, *, drifted: bool) -> CodedRows:
        """Draw a day."""
        codes = self._codes()
        places = self.rng.choice(COARSE_COUNT, ROWS, p=SCORES)
        off = np.zeros(ROWS, bool)
        for cause in self.causes if drifted else ():
            off |= met(cause, codes)
        prior = self.rng.normal(0.0, 0.3)
        for name in ("country", "device", "channel") if self.kind.moving else ():
            i = NAMES.index(name)
            prior = prior + self.rng.normal(0.0, self.kind.moving, 41)[codes[i]]
        logits = np.where(off, self.slope, 1.0) * CENTRES[places] + prior
        return CodedRows(places, self.rng.random(ROWS) < expit(logits), codes)


def met(cause: Cause, codes: Ints) -> np.ndarray:
    """Say which rows have a cause."""
    kept = np.ones(codes.shape[1], bool)
    for name, values in cause.items():
        kept &= np.isin(codes[NAMES.index(name)], values)
    return kept


def reference_of(days: Sequence[CodedRows]) -> Reference:
    """Fit the reference of the whole."""
    return fit_reference(
        [
            {
                WHOLE: Coarse(
                    np.bincount(rows.cells, minlength=COARSE_COUNT),
                    np.bincount(rows.cells[rows.hits], minlength=COARSE_COUNT),
                )
            }
            for rows in days
        ]
    )


def search(
    before: Sequence[CodedRows], after: Sequence[CodedRows]
) -> tuple[int, tuple[PartFound, ...]]:
    """Search as `where --search` does; return also how many parts were proposed."""
    reference, sizes = reference_of(before), [len(column.labels) + 1 for column in COLUMNS]
    proposals = list[Proposal]()
    halves = [list(days[::2]) for days in (before, after)]
    while len(proposals) < MOST_PARTS:
        tables = [tables_of(reference, days, sizes) for days in halves]
        proposal = propose(reference, COLUMNS, *tables)
        if proposal is None:
            break
        proposals.append(proposal)
        halves = [
            [rows.chosen(~np.logical_and.reduce(proposal.met(rows))) for rows in days]
            for days in halves
        ]
    others = [
        [divide(reference, rows, proposals) for rows in days[1::2]] for days in (before, after)
    ]
    return len(proposals), confirm_parts(reference, COLUMNS, proposals, *others)


def outcome(causes: Sequence[Cause], found: Sequence[PartFound]) -> str:
    """Compare what was confirmed with what was planted."""
    planted = {named(cause) for cause in causes if cause}
    names = {name_all(part.conditions) for part in found}
    if not planted:
        return "nothing" if not names else "a false part"
    if names == planted:
        return "all causes"
    if not names:
        return "nothing"
    if names < planted:
        return "some of them"
    inside = {named({column: values}) for cause in causes for column, values in cause.items()}
    related = all(any(one in name for one in inside) for name in names)
    return "nearly" if related else "a false part"


def named(cause: Cause) -> str:
    """Name a cause as the search does."""
    by_name = {column.name: column for column in COLUMNS}
    ordered = sorted(cause.items(), key=lambda item: NAMES.index(item[0]))
    return name_all([c for name, codes in ordered for c in by_name[name].conditions(codes)])


OUTCOMES = ("all causes", "some of them", "nearly", "nothing", "a false part")


def row(kind: Kind, worlds: int) -> str:
    """Draw the worlds of a kind, and count."""
    counts, proposed = Counter[str](), 0
    for seed in range(worlds):
        world = World(kind, seed)
        before = [world.day(drifted=False) for _ in range(BEFORE)]
        after = [world.day(drifted=True) for _ in range(AFTER)]
        number, found = search(before, after)
        proposed += number
        counts[outcome(world.causes, found)] += 1
    cells = " | ".join(f"{counts[name]}" for name in OUTCOMES)
    return f"| {kind.name} | {worlds} | {proposed} | {cells} |"


def main() -> None:
    """Draw the worlds and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=20)
    parser.add_argument("--sound", type=int, default=60)
    chosen = parser.parse_args()
    lines = [
        f"| what drifts | worlds | proposed | {' | '.join(OUTCOMES)} |",
        f"|---|---:|---:|{'---:|' * len(OUTCOMES)}",
    ]
    for kind in KINDS:
        lines.append(row(kind, chosen.worlds if kind.causes else chosen.sound))
        print(lines[-1], flush=True)
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(TABLES_END)
    PAGE.write_text(f"{before}{BEGIN}\n" + "\n".join(lines) + f"\n\n{TABLES_END}{after}")


if __name__ == "__main__":
    main()
