"""Watch models with classes and 30 segments, of which a small one drifts.

    python -m studies.classes.segments [--streams 21] [--drifts 20] [--whole 10] [--write]
    python -m studies.classes.segments --bound [--drifts 20] [--write]

Every segment is a stream of its own: clouds, class priors that wander and, in a bent world, factors
of the logits are its own too. A stream takes a minute or two, so `--kept FOLDER` keeps what opened
in each: a run that stops goes on there, and several may share it.

`--bound` asks how soon the drift could be found: by likelihood ratios of the true curve, which no
reference has to be fitted for.
"""

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import accumulate, islice
from math import exp, log
from pathlib import Path
from statistics import median

import numpy as np

from monitor.base.segment_names import FAMILIES, WHOLE
from monitor.days.summary import Segment, Summary, end_of_day
from monitor.drift.fold.inputs import Day, Limits, fit_model_reference, inputs_of
from monitor.drift.records.detector import WEIGHTS
from monitor.drift.records.facts import MOST_STREAMS
from monitor.drift.verdicts.judge import judge
from monitor.metrics.beyond_binary.class_counts import count_classes, with_parts
from monitor.metrics.beyond_binary.class_parts import count_parts
from monitor.metrics.core.coarse import CENTRES
from monitor.metrics.core.tally import tally_on_grid
from monitor.metrics.logistic.conditional import adjusted_profile, score_directions
from studies.classes.run import START, YEAR, day_number, page_with
from studies.classes.worlds import (
    DRIFTS,
    NONE,
    REFERENCE,
    Drift,
    Rows,
    World,
    day_of_pairs,
    stream,
)

BEGIN = "<!-- studies/classes/segments.py -->"
BOUND = "<!-- studies/classes/segments.py --bound -->"
SEED = 9_000  # no other study of classes draws these streams
SEGMENTS = 30
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
    world: World,
    drift: Drift,
    seed: int,
    *,
    days: int,
    start: int,
    segments: int = SEGMENTS,
    everywhere: bool = False,
) -> Iterator[dict[str, Rows]]:
    """Draw the reference and the days after it; the drift is of the small segment or of all."""
    shares = segments_of_world(segments)
    streams = [
        stream(
            World(
                world.name, world.classes, round(world.rows * share), world.group, bent=world.bent
            ),
            drift if everywhere or name == "small" else NONE,
            seed * len(shares) + number,
            days=days,
            start=start,
        )
        for number, (name, share) in enumerate(shares.items())
    ]
    for rows in zip(*streams, strict=True):
        yield dict(zip(shares, rows, strict=True))


def divided_stream(
    world: World, drift: Drift, seed: int, *, days: int, start: int, segments: int = SEGMENTS
) -> Iterator[Day]:
    """Count the same."""
    rows = divided_rows(world, drift, seed, days=days, start=start, segments=segments)
    yield from map(day_of_segments, rows)


def drifting_rows(
    world: World, seed: int, *, everywhere: bool = False
) -> Iterator[dict[str, Rows]]:
    """Draw a stream whose small segment drifts, or all of which drifts."""
    days = START + FOLLOWED
    number = SEED + 500 + seed
    return divided_rows(world, DRIFTS[0], number, days=days, start=START, everywhere=everywhere)


def day_of_segments(rows: dict[str, Rows]) -> Day:
    """Count a day as the daily job does, as the verdict has it."""
    return inputs_of(summary_of_segments(rows))


def summary_of_segments(rows: dict[str, Rows]) -> Summary:
    """Count a day as the daily job does."""
    first = next(iter(rows.values()))
    classes = first.vectors.shape[1]
    places = np.repeat(np.arange(len(rows)), [len(of.labels) for of in rows.values()])
    vectors, labels = (
        np.concatenate([getattr(of, name) for of in rows.values()])
        for name in ("vectors", "labels")
    )
    names = [f"class {k}" for k in range(classes)]
    watched, unmoved = range(classes), np.zeros(classes)  # adjusted scores are not judged
    counts = count_classes(names, [(vectors, labels)], unmoved, watched=watched, pairs=[])
    parts = count_parts([(vectors, labels, places)], classes, len(rows), watched=watched)
    tops = {
        name: tally_on_grid(of.vectors.argmax(axis=1) == of.labels, of.vectors.max(axis=1))
        for name, of in rows.items()
    }
    return Summary(
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


def kept_openings(
    kept: Path | None, name: str, find: Callable[[], list[tuple[int, str]]]
) -> list[tuple[int, str]]:
    """Give what opened in a stream: as kept in a folder, else found now and kept there."""
    path = kept and kept / f"{name}.json"
    if path and path.exists():
        return [(int(day), str(stream_name)) for day, stream_name in json.loads(path.read_text())]
    found = find()
    print(f"{name}: {found}", flush=True)
    if path:
        path.write_text(json.dumps(found))
    return found


def row(
    world: World, streams: int, days: int, drifts: int, of_whole: int, kept: Path | None
) -> str:
    """Watch the streams of a world, and write its row."""
    opened, delays, delays_of_whole = Counter[str](), list[int](), list[int]()
    of_world = "bent" if world.bent else "calibrated"
    for seed in range(streams):
        found = kept_openings(
            *(kept, f"{of_world} sound {days} days {seed}"),
            lambda: openings(divided_stream(world, NONE, SEED + seed, days=days, start=days + 1)),  # noqa: B023
        )
        opened.update(kind_of(name) for _, name in found)
    beside = 0
    for seed in range(drifts):
        found = kept_openings(
            *(kept, f"{of_world} drift {seed}"),
            lambda: openings(map(day_of_segments, drifting_rows(world, seed))),  # noqa: B023
        )
        found = [(day, name) for day, name in found if day >= START]
        delays += [day - START + 1 for day, name in found if name == "small"][:1]
        beside += sum(name.startswith("segment") for _, name in found)
    for seed in range(of_whole):
        found = kept_openings(
            *(kept, f"{of_world} whole {seed}"),
            lambda: openings(map(day_of_segments, drifting_rows(world, seed, everywhere=True))),  # noqa: B023
        )
        of_families = [day for day, name in found if day >= START and name in FAMILIES]
        delays_of_whole += [day - START + 1 for day in of_families[:1]]
    years = streams * days / YEAR
    counts = [f"{opened[kind]} in {years:.1f}" for kind in ("whole", "segment", "pair")]
    found_after = [_delays(delays, drifts), str(beside), _delays(delays_of_whole, of_whole)]
    return f"| {' | '.join([world.name, *counts, *found_after])} |"


def _delays(delays: list[int], drifts: int) -> str:
    """Say after how many days a drift was found, and how often it was."""
    within = sum(delay <= WITHIN for delay in delays)
    middle = f"{median(delays):.0f} days ({min(delays)} to {max(delays)}), " if delays else ""
    return f"{middle}{len(delays)} of {drifts}, {within} by day {WITHIN}"


def kind_of(name: str) -> str:
    """Say of what a stream is."""
    if name in FAMILIES:
        return "whole"
    return "segment" if name == "small" or name.startswith("segment") else "pair"


def known_ratios(world: World, seed: int) -> tuple[list[float], list[float]]:
    """Weigh the days of a drift of the small segment by what is true; also what they know of it.

    In a calibrated world the log-odds of a pair are those of its scores, and a quarter less once
    the logits have grown by a quarter. The ratios are conditional on the outcomes of each pair.
    """
    alone = World(world.name, world.classes, round(world.rows * SMALL), world.group)
    number = (SEED + 500 + seed) * len(segments_of_world(SEGMENTS))
    rows = stream(alone, DRIFTS[0], number, days=START + FOLLOWED, start=START)
    ratios, informations = list[float](), list[float]()
    slope = 1.0 / DRIFTS[0].sharpened
    for of_day in islice(rows, REFERENCE + START, None):
        ratio = information = 0.0
        for part in day_of_pairs(of_day).parts.values():
            seen = np.nonzero(part.counts)[0]
            of_part = CENTRES[seen], part.counts[seen], part.positives[seen]
            ratio += adjusted_profile(slope * of_part[0], *of_part[1:]) - adjusted_profile(*of_part)
            known = score_directions(slope * of_part[0], *of_part[1:], CENTRES[seen][np.newaxis])
            information += float(known[1][0])
        ratios.append(ratio)
        informations.append(information)
    return ratios, informations


def days_of_best_test(ratios: list[float], limit: float) -> list[int]:
    """Give the day on which the sum over all starts of the product since reaches the limit."""
    sums = accumulate(ratios, lambda before, ratio: (before + 1.0) * exp(ratio), initial=0.0)
    return [day for day, of in enumerate(sums) if of >= limit][:1]


def bound(drifts: int) -> list[str]:
    """Write how soon tests find the drift that know more than the monitor can know."""
    world, limits = WORLDS[0], Limits()
    known = [known_ratios(world, seed) for seed in range(drifts)]
    alone = limits.segment_false_alert_days
    among = alone * (SEGMENTS + MOST_STREAMS)
    tests = {
        "the segment, the kind and its size": alone,
        "the kind and its size": among,
        "the size": round(among / float(WEIGHTS[0])),
    }
    rows = ["| what the test knows beside the true curve | limit | found |", "|---|---|---|"]
    for name, limit in tests.items():
        delays = [day for ratios, _ in known for day in days_of_best_test(ratios, limit)]
        rows.append(f"| {name} | {limit:,} | {_delays(delays, drifts)} |")
    daily = [median(informations) for _, informations in known]
    gained = sum(sum(ratios) for ratios, _ in known) / sum(len(ratios) for ratios, _ in known)
    print(f"information a day: {median(daily):.0f} ({min(daily):.0f} to {max(daily):.0f})")
    print(f"log10 of the likelihood ratio a day: {gained / log(10.0):.2f}")
    return rows


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--streams", type=int, default=21)
    parser.add_argument("--days", type=int, default=180)
    parser.add_argument("--drifts", type=int, default=20)
    parser.add_argument("--whole", type=int, default=10)
    parser.add_argument("--only", choices=["calibrated", "bent"])
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--bound", action="store_true")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    if given.bound:
        rows = bound(given.drifts)
        print(*rows, sep="\n")
        if given.write:
            page_with(BOUND, rows)
        return
    names = [
        *("world", "openings of the whole in stream-years", "of 30 segments", "of pairs"),
        *(f"small segment: {DRIFTS[0].name}", "other segments that opened then"),
        f"all segments: {DRIFTS[0].name}",
    ]
    rows = [f"| {' | '.join(names)} |", "|---|" + "---|" * (len(names) - 1)]
    for world in WORLDS:
        if given.only and (given.only == "bent") != (world.bent > 0.0):
            continue
        asked = given.streams, given.days, given.drifts, given.whole
        rows.append(row(world, *asked, given.kept))
        print(rows[-1], flush=True)
    if given.write:
        page_with(BEGIN, rows)


if __name__ == "__main__":
    main()
