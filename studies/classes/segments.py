"""How soon a change in a small segment of a model with classes is found, and how often falsely.

Every segment is a stream of its own: clouds, class priors that wander and, in a bent world, factors
of the logits are its own too.
"""

from collections.abc import Iterator

import numpy as np

from monitor.drift.inputs import Day, inputs_of
from monitor.metrics.beyond_binary.class_counts import count_classes, with_parts
from monitor.metrics.beyond_binary.class_parts import count_parts
from monitor.metrics.core.tally import tally_on_grid
from monitor.segment_names import WHOLE
from monitor.summary import Segment, Summary, end_of_day
from studies.classes.worlds import NONE, Drift, Rows, World, stream

SMALL = 0.03  # share of the rows of the segment that changes


def segments_of_world(count: int) -> dict[str, float]:
    """Give the share of the rows of each segment: the small one, and others of unequal size."""
    others = np.linspace(1.0, 3.0, count - 1)
    shares = (1.0 - SMALL) * others / others.sum()
    return {"small": SMALL} | {f"segment {i}": float(of) for i, of in enumerate(shares, 1)}


def divided_stream(
    world: World, drift: Drift, seed: int, *, days: int, start: int, segments: int = 30
) -> Iterator[Day]:
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
        yield day_of_segments(dict(zip(shares, rows, strict=True)))


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
        name: tally_on_grid(of.vectors.max(axis=1), of.vectors.argmax(axis=1) == of.labels)
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
