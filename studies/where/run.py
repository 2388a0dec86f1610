"""How often values are flagged rightly and wrongly, among 500, beside a plain test of the means.

    python -m studies.where.run [--streams 12]

Rows have a value in each of five columns, a hundred values each, of unequal volume; every day has
a prior of its own. 21 days are the reference, 10 days follow. Writes the table of
docs/where-study.md below its mark, in some minutes. Seeds are fixed.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import expit
from scipy.stats import norm

from monitor.drift.reference import fit_reference
from monitor.drift.where import FALSE_DISCOVERIES, Where, find_where
from monitor.metrics.core.coarse import CENTRES, COARSE_COUNT, Coarse
from monitor.metrics.core.grid import Floats, Ints
from monitor.segment_names import WHOLE
from monitor.summary import ColumnPart, Columns

MARK = "<!-- `python -m studies.where.run` writes everything below this line. -->\n"
PAGE = Path(__file__).parents[2] / "docs" / "where-study.md"
COLUMNS, VALUES, ROWS, REFERENCE, LATER = 5, 100, 60_000, 21, 10
PAIR = "c0 x c1"

Slopes = Callable[[Ints], Floats]  # of each row, given its values, shape (rows, columns)
Names = set[tuple[str, str]]


@dataclass(frozen=True)
class World:
    """What happens after the reference, and which values it happens to."""

    name: str
    slopes: Slopes
    off: Names
    everywhere: bool = False


def five(values: Ints) -> Floats:
    """Make one value of each column too extreme."""
    hit = np.zeros(len(values), bool)
    for column in range(COLUMNS):
        hit |= values[:, column] == 40 + column
    return np.where(hit, 0.6, 1.0)


def crossing(values: Ints) -> Floats:
    """Make a pair of frequent values too extreme."""
    return np.where((values[:, 0] == 0) & (values[:, 1] == 0), 0.4, 1.0)


WORLDS = (
    World("nothing changes", lambda v: np.ones(len(v)), set()),
    World("5 of 500 values, slope 0.6", five, {(f"c{i}", f"v{40 + i}") for i in range(COLUMNS)}),
    World("one crossing, slope 0.4", crossing, {(PAIR, "v0 x v0")}),
    World("everywhere, slope 0.85", lambda v: np.full(len(v), 0.85), set(), everywhere=True),
)


def draw_day(rng: np.random.Generator, slopes: Slopes) -> tuple[Columns, Coarse]:
    """Draw rows and count them by every column, and by the pairs of two columns."""
    shares = 1.0 / (np.arange(VALUES) + 5.0)
    values = rng.choice(VALUES, (ROWS, COLUMNS), p=shares / shares.sum())
    places = rng.choice(COARSE_COUNT, ROWS, p=SCORES)
    prior = rng.normal(-1.0, 0.4)
    hits = rng.random(ROWS) < expit(slopes(values) * CENTRES[places] + prior)
    columns = {
        f"c{i}": count(places, hits, values[:, i], [f"v{v}" for v in range(VALUES)])
        for i in range(COLUMNS)
    }
    frequent = np.minimum(values[:, :2], 5)
    pairs = [
        f"v{a} x v{b}" if max(a, b) < 5 else f"{a}-{b} other" for a in range(6) for b in range(6)
    ]
    columns[PAIR] = count(places, hits, frequent[:, 0] * 6 + frequent[:, 1], pairs)
    return columns, Coarse(
        np.bincount(places, minlength=COARSE_COUNT),
        np.bincount(places[hits], minlength=COARSE_COUNT),
    )


SCORES = norm.pdf(CENTRES, -0.3, 1.2)
SCORES /= SCORES.sum()


def count(places: Ints, hits: np.ndarray, codes: Ints, names: list[str]) -> dict[str, ColumnPart]:
    """Count rows by value and place."""
    size = len(names) * COARSE_COUNT
    keys = codes * COARSE_COUNT + places
    counts = np.bincount(keys, minlength=size).reshape(len(names), COARSE_COUNT)
    positives = np.bincount(keys[hits], minlength=size).reshape(len(names), COARSE_COUNT)
    found = {}
    for i, name in enumerate(names):
        cells = np.flatnonzero(counts[i])
        found[name] = ColumnPart(cells, counts[i, cells], positives[i, cells], int(counts[i].sum()))
    return found


def plain(after: list[Columns]) -> Names:
    """Flag values whose mean outcome is not that of their scores, without a reference or priors."""
    p_values = {}
    for column in after[0]:
        for value in after[0][column]:
            off = variance = 0.0
            for day in after:
                part = day[column].get(value)
                if part:
                    p = expit(CENTRES[part.cells] - 1.0)  # the usual prior
                    off += float((part.positives - part.counts * p).sum())
                    variance += float((part.counts * p * (1.0 - p)).sum())
            if variance > 0.0:
                p_values[column, value] = 2.0 * norm.sf(abs(off) / variance**0.5)
    ranked = sorted(p_values, key=lambda name: p_values[name])
    below = [
        i for i, name in enumerate(ranked, 1)
        if p_values[name] <= FALSE_DISCOVERIES * i / len(ranked)
    ]  # fmt: skip
    return set(ranked[: max(below, default=0)])


def is_right(world: World, names: Names) -> int:
    """Count flagged values that the drift really touches: its rows are at least a tenth of them."""
    touched = set(world.off)
    if world.off == {(PAIR, "v0 x v0")}:
        touched |= {("c0", "v0"), ("c1", "v0")}
    return len(names & touched)


def stream(world: World, seed: int) -> tuple[Where, Names]:
    """Draw a stream, and search it both ways."""
    rng = np.random.default_rng([17, seed])
    before = [draw_day(rng, WORLDS[0].slopes) for _ in range(REFERENCE)]
    after = [draw_day(rng, world.slopes) for _ in range(LATER)]
    reference = fit_reference([{WHOLE: whole} for _, whole in before])
    columns = [day for day, _ in after]
    return find_where(reference, [day for day, _ in before], columns, "too_extreme"), plain(columns)


def row(world: World, found: list[tuple[Where, Names]]) -> str:
    """Lay out one world."""
    flagged = [{(p.column, p.value) for p in where.flagged} for where, _ in found]
    others = [names for _, names in found]
    explained = sum(
        where.explanation is not None
        and {(where.explanation.column, v) for v in where.explanation.values} <= world.off
        for where, _ in found
    )
    cells = [world.name]
    for names in (flagged, others):
        right = np.mean([is_right(world, one) for one in names])
        wrong = np.mean([len(one) - is_right(world, one) for one in names])
        cells += [f"{right:.1f}", "-" if world.everywhere else f"{wrong:.2f}"]
        if world.everywhere:
            cells[-2] = f"{np.mean([len(one) for one in names]):.0f}"
    named = sum(where.explanation is not None for where, _ in found)
    return "| " + " | ".join([*cells, f"{named} of {len(found)}", f"{explained}"]) + " |"


def main() -> None:
    """Draw the streams and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=12)
    streams = parser.parse_args().streams
    lines = [
        "| world | flagged rightly | wrongly | plain: rightly | wrongly | explained | rightly |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for world in WORLDS:
        lines.append(row(world, [stream(world, seed) for seed in range(streams)]))
        print(lines[-1], flush=True)
    text, _, _ = PAGE.read_text().partition(MARK)
    PAGE.write_text(text + MARK + "\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
