"""Watch models with classes and 30 segments, of which a small one drifts.

    python -m studies.classes.segments [--streams 21] [--days 180] [--drifts 20] [--write]

Every segment is a stream of its own: clouds, class priors that wander and, in a bent world, factors
of the logits are its own too.
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from statistics import median

import numpy as np

from monitor.drift.inputs import Day, Limits, fit_model_reference, inputs_of
from monitor.drift.verdict import judge
from monitor.metrics.beyond_binary.class_counts import count_classes, with_parts
from monitor.metrics.beyond_binary.class_parts import count_parts
from monitor.metrics.core.tally import tally_on_grid
from monitor.segment_names import FAMILIES, WHOLE
from monitor.summary import Segment, Summary, end_of_day
from studies.classes.run import START, YEAR, day_number, page_with
from studies.classes.worlds import DRIFTS, NONE, REFERENCE, Drift, Rows, World, stream

BEGIN = "<!-- studies/classes/segments.py -->"
SEED = 9_000  # no other study of classes draws these streams
SMALL = 0.03  # share of the rows of the segment that changes
FOLLOWED = 20  # days of a drift
WITHIN = 5  # days in which it is to be found
WORLDS = (
    World("5 classes, 20,000 rows", 5, rows=20_000),
    World("5 classes, 20,000 rows, each bent in its own way", 5, rows=20_000, bent=0.3),
)


def segments_of_world(count: int) -> dict[str, float]:
    """Give the share of the rows of each segment: the small one, and others of unequal size."""
    others = np.linspace(1.0, 3.0, count - 1)
    shares = (1.0 - SMALL) * others / others.sum()
    return {"small": SMALL} | {f"segment {i}": float(of) for i, of in enumerate(shares, 1)}


def divided_rows(
    world: World, drift: Drift, seed: int, *, days: int, start: int, segments: int = 30
) -> Iterator[dict[str, Rows]]:
    """Draw the reference and the days after it; the drift begins in the small segment only."""
    shares = segments_of_world(segments)
    streams = [
        stream(
            World(
                world.name, world.classes, round(world.rows * share), world.group, bent=world.bent
            ),
            drift if name == "small" else NONE,
            seed * len(shares) + number,
            days=days,
            start=start,
        )
        for number, (name, share) in enumerate(shares.items())
    ]
    for rows in zip(*streams, strict=True):
        yield dict(zip(shares, rows, strict=True))


def divided_stream(
    world: World, drift: Drift, seed: int, *, days: int, start: int, segments: int = 30
) -> Iterator[Day]:
    """Count the same."""
    rows = divided_rows(world, drift, seed, days=days, start=start, segments=segments)
    yield from map(day_of_segments, rows)


def drifting_rows(world: World, seed: int) -> Iterator[dict[str, Rows]]:
    """Draw a stream whose small segment drifts."""
    return divided_rows(world, DRIFTS[0], SEED + 500 + seed, days=START + FOLLOWED, start=START)


def day_of_segments(rows: dict[str, Rows]) -> Day:
    """Count a day as the daily job does."""
    first = next(iter(rows.values()))
    classes = first.vectors.shape[1]
    places = np.repeat(np.arange(len(rows)), [len(of.labels) for of in rows.values()])
    vectors, labels = (
        np.concatenate([getattr(of, name) for of in rows.values()])
        for name in ("vectors", "labels")
    )
    names = [f"class {k}" for k in range(classes)]
    counts = count_classes(names, [(vectors, labels)], np.zeros(classes), watched=[], pairs=[])
    parts = count_parts([(vectors, labels, places)], classes, len(rows))
    tops = {
        name: tally_on_grid(of.vectors.argmax(axis=1) == of.labels, of.vectors.max(axis=1))
        for name, of in rows.items()
    }
    summary = Summary(
        model="study",
        days=(first.day,),
        segments={name: Segment(top, top.total) for name, top in tops.items()},
        rejected={},
        final=True,
        known_at=end_of_day(first.day, "UTC"),
        classes=with_parts(
            counts, {(name, WHOLE): part for name, part in zip(rows, parts, strict=True)}
        ),
    )
    return inputs_of(summary)


def openings(days: Iterator[Day]) -> list[tuple[int, str]]:
    """Fit the reference of a stream, and give days and names of all that opens after it."""
    reference = fit_model_reference([*islice(days, REFERENCE)], Limits())
    judged = judge("study", days, references=[reference], limits=Limits())
    return [
        (day_number(v.day), v.segment)
        for verdicts in judged
        for v in verdicts
        if v.incident and v.incident.opened == v.day
    ]


def row(world: World, streams: int, days: int, drifts: int) -> str:
    """Watch the streams of a world, and write its row."""
    opened, delays = Counter[str](), list[int]()
    for seed in range(streams):
        found = openings(divided_stream(world, NONE, SEED + seed, days=days, start=days + 1))
        opened.update(kind_of(name) for _, name in found)
        print(f"sound stream {seed}: {found}", flush=True)
    beside = 0
    for seed in range(drifts):
        found = openings(map(day_of_segments, drifting_rows(world, seed)))
        found = [(day, name) for day, name in found if day >= START]
        delays += [day - START + 1 for day, name in found if name == "small"][:1]
        beside += sum(name.startswith("segment") for _, name in found)
        print(f"drift {seed}: {found}", flush=True)
    years = streams * days / YEAR
    within = sum(delay <= WITHIN for delay in delays)
    middle = f"{median(delays):.0f} days ({min(delays)} to {max(delays)}), " if delays else ""
    counts = [f"{opened[kind]} in {years:.1f}" for kind in ("whole", "segment", "pair")]
    cells = [world.name, *counts, f"{middle}{len(delays)} of {drifts}, {within} by day {WITHIN}"]
    cells.append(f"{beside}")
    return f"| {' | '.join(cells)} |"


def kind_of(name: str) -> str:
    """Say of what a stream is."""
    if name in FAMILIES:
        return "whole"
    return "segment" if name == "small" or name.startswith("segment") else "pair"


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--streams", type=int, default=21)
    parser.add_argument("--days", type=int, default=180)
    parser.add_argument("--drifts", type=int, default=20)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    names = ("world", "openings of the whole in stream-years", "of 30 segments", "of pairs")
    names += (f"small segment: {DRIFTS[0].name}", "other segments that opened then")
    rows = [f"| {' | '.join(names)} |", "|---|" + "---|" * (len(names) - 1)]
    for world in WORLDS:
        rows.append(row(world, given.streams, given.days, given.drifts))
        print(rows[-1], flush=True)
    if given.write:
        page_with(BEGIN, rows)


if __name__ == "__main__":
    main()
