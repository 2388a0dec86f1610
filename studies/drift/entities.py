"""What the key `entity` keeps of the promise where rows hang together, and what it costs.

    python -m studies.drift.entities [--streams 20] [--workers 1] [--write]

Every stream is judged twice, without and with its entities, as `calibration-monitor run` judges
it. With --write the table goes into docs/drift-simulations.md. A stream-year takes a second.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import NamedTuple

from monitor.base.segment_names import WHOLE
from monitor.drift.curve.reference import Reference
from monitor.drift.fold.inputs import Day, Limits, fit_model_reference
from monitor.drift.records.verdict import WEEK
from monitor.drift.verdicts.judge import judge
from studies.drift.entity_worlds import WORLDS, draw_days
from studies.drift.estimates import print_median, print_rate
from studies.drift.layout import in_processes, publish, read_options
from studies.drift.rules import FALSE_ALERT_DAYS, SILENCE
from studies.drift.scenario import PROMISE, YEAR
from studies.drift.tables import table

BEGIN, END = "<!-- entities: studies/drift/entities.py -->", "<!-- end of entities -->"
FIRST_SEED, REFERENCE, START, SLOPE = 70_000, 28, 60, 0.8
LIMITS = Limits(false_alert_days=FALSE_ALERT_DAYS)
INTRO = (
    f"A slope of {SLOPE} begins on day {START} and is followed for a year. {{streams}} streams of "
    "each kind. *Counts as*: days of independent rows that say as much of the slope as the "
    f"{REFERENCE} of the reference (median).\n"
)
HEADS = (
    *("world", "without the key: false openings a stream-year", "found after, days"),
    *("with it: false openings a stream-year", "found after, days", "found, %", "counts as"),
)


class Task(NamedTuple):
    """A stream: a world, whether it drifts, a seed."""

    world: str
    drifts: bool
    seed: int


class Watched(NamedTuple):
    """Days of openings without and with entities, from the first of the drift; None if on alarm."""

    without: list[int] | None
    having: list[int] | None
    independent: float


def watch(task: Task) -> Watched:
    """Judge a stream twice."""
    start = START if task.drifts else 0
    slope = SLOPE if task.drifts else 1.0
    total = REFERENCE + start + YEAR
    days = list(draw_days(WORLDS[task.world], task.seed, slope, REFERENCE + start, total))
    without = openings([replace(day, entities={}) for day in days])
    found = fit_model_reference(days[:REFERENCE], LIMITS).streams[WHOLE]
    dispersion = float(found.dispersions[0]) if isinstance(found, Reference) else 1.0
    having = openings(days)
    return Watched(since(without, start), since(having, start), REFERENCE / dispersion)


def openings(days: Sequence[Day]) -> list[tuple[int, int]]:
    """List the incidents that open after a week of silence: first day, and last day open."""
    reference, found = fit_model_reference(days[:REFERENCE], LIMITS), list[tuple[int, int]]()
    verdicts = judge(
        *("study", days[REFERENCE:]),
        references=[reference],
        limits=LIMITS,
        recent=days[REFERENCE - WEEK : REFERENCE],
        recall={day.day: day for day in days}.get,
    )
    for t, (verdict, *_) in enumerate(verdicts):
        if verdict.state != "calibration_drift":
            continue
        if not found or t - found[-1][1] > SILENCE:
            found.append((t, t))
        found[-1] = found[-1][0], t
    return found


def since(found: Sequence[tuple[int, int]], start: int) -> list[int] | None:
    """Count days from the first of the drift; None if an incident was open then."""
    if any(first < start <= last + 1 for first, last in found):
        return None
    return [first - start for first, _ in found if first >= start]


def row(world: str, sound: Sequence[Watched], drifted: Sequence[Watched]) -> list[str]:
    """Lay out how often and how soon incidents open, without and with the key."""
    cells = [world]
    for name in ("without", "having"):
        waits = [
            float(days[0]) if days else inf
            for found in drifted
            if (days := getattr(found, name)) is not None
        ]
        cells.append(print_rate([len(getattr(found, name)) for found in sound], goal=PROMISE))
        cells.append(print_median(waits, YEAR))
    share = 100 * sum(wait < inf for wait in waits) / len(waits) if waits else 0.0
    independent = sorted(found.independent for found in sound)[len(sound) // 2]
    return [*cells, f"{share:.0f}", f"{independent:.1f}"]


def main() -> None:
    """Watch all streams, print the table, and write it where it belongs."""
    options = read_options(__doc__, streams=20)
    seeds, rows = range(FIRST_SEED, FIRST_SEED + options.streams), []
    with in_processes(watch, options.workers) as watched:
        for world in WORLDS:
            both = [watched([Task(world, drifts, s) for s in seeds]) for drifts in (False, True)]
            rows.append(row(world, *both))
            print(rows[-1], flush=True)
    text = "\n".join([INTRO.format(streams=options.streams), *table(HEADS, rows)])
    publish(text, BEGIN, END, write=options.write)


if __name__ == "__main__":
    main()
