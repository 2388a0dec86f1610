"""Watch streams of models with classes, and write the table of docs/classes.md.

    python -m studies.classes.run [--only NAME ...] [--streams 4] [--days 180] [--write]

A stream-year of 3 classes takes some 10 s, of 100 classes some minutes.
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from itertools import islice

from monitor.drift.inputs import Limits, fit_model_reference
from monitor.drift.verdict import judge
from monitor.segment_names import WHOLE
from studies.classes.worlds import DRIFTS, FIRST, NONE, REFERENCE, WORLDS, Drift, World, stream

START, FOLLOWED = 30, 30  # a drift begins on this day, and is followed for so many


@dataclass(frozen=True)
class Watched:
    """What happened in one stream.

    Attributes
    ----------
    openings : tuple of int
        Days of openings of the whole, since the reference.
    pairs : tuple of (int, str)
        Openings of single pairs.
    judged : float
        Share of the outcomes that the verdict rests on.
    prior_shifts : int
        Days whose verdict names classes that became more frequent.
    """

    openings: tuple[int, ...]
    pairs: tuple[tuple[int, str], ...]
    judged: float
    prior_shifts: int


def watch(world: World, drift: Drift, seed: int, *, days: int, start: int) -> Watched:
    """Judge a stream day by day."""
    drawn = stream(world, drift, seed, days=days, start=start)
    first = list(islice(drawn, REFERENCE))
    reference = fit_model_reference(first, Limits())
    opened, judged, outcomes, moved = dict[str, list[int]](), 0, 0, 0
    kept = []

    def noted() -> Iterator:
        for day in drawn:
            kept.append(day)
            yield day

    for verdicts in judge("study", noted(), references=[reference], lack="", limits=Limits()):
        day = kept.pop()
        judged += day.classes.judged
        outcomes += int(day.classes.outcomes.sum())
        for verdict in verdicts:
            incident = verdict.detector.incident
            if incident and incident.opened == verdict.day:
                opened.setdefault(verdict.segment, []).append(_number(verdict.day))
            moved += verdict.segment == WHOLE and verdict.state == "prior_shift"
    whole = tuple(opened.pop(WHOLE, []))
    pairs = sorted((day, name) for name, found in opened.items() for day in found)
    return Watched(whole, tuple(pairs), judged / outcomes, moved)


def _number(day: date) -> int:
    return (day - FIRST).days - REFERENCE


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--streams", type=int, default=4)
    parser.add_argument("--days", type=int, default=180)
    parser.add_argument("--drift-streams", type=int, default=3)
    given = parser.parse_args()
    for world in WORLDS:
        if given.only and not any(name in world.name for name in given.only):
            continue
        begun = time.process_time()
        sound = [
            watch(world, NONE, seed, days=given.days, start=10**6) for seed in range(given.streams)
        ]
        print(
            world.name,
            "| sound:",
            sum(len(w.openings) for w in sound),
            "openings,",
            sum(len(w.pairs) for w in sound),
            "of pairs, in",
            round(given.streams * given.days / 365, 1),
            "years; judged",
            round(sum(w.judged for w in sound) / max(1, len(sound)), 3),
            "prior",
            [w.prior_shifts for w in sound],
            [w.openings for w in sound],
            f"{time.process_time() - begun:.0f} s",
            flush=True,
        )
        for drift in DRIFTS:
            found = [
                watch(world, drift, 100 + seed, days=START + FOLLOWED, start=START)
                for seed in range(given.drift_streams)
            ]
            print(
                "   ",
                drift.name,
                [w.openings for w in found],
                [w.pairs[:2] for w in found],
                flush=True,
            )


if __name__ == "__main__":
    main()
