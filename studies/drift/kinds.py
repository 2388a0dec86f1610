"""How often a drift is named for what it is, by exact profiles and by the slope at the reference.

    python -m studies.drift.kinds [--streams 10] [--workers 1] [--write]

With --write the table goes into docs/drift-simulations.md. A stream takes 0.2 seconds.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, time, timedelta
from itertools import islice, product
from time import process_time
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from monitor.base.segment_names import WHOLE
from monitor.drift.curve.reference import fit_reference
from monitor.drift.evidence.directions import day_profiles, rows_of_day
from monitor.drift.fold.inputs import Day
from monitor.drift.incidents.detecting import best_fit
from monitor.metrics.core.coarse import CENTRES, Coarse
from monitor.metrics.core.grid import Floats
from studies.drift.layout import in_processes, publish, read_options
from studies.drift.rules import FIRST, incidents
from studies.drift.shapes import centre, informed, shares
from studies.drift.tables import table
from studies.drift.worlds import Distortion, Truth, World, lowered_top, stream, tilted

BEGIN, END = "<!-- kinds: studies/drift/kinds.py -->", "<!-- end of kinds -->"
FIRST_SEED, REFERENCE, START, FOLLOWED, LATER = 90_000, 28, 20, 60, 14
WORLDS = (World(0.05, 500), World(0.05, 20_000))
INTRO = (
    f"{{streams}} streams of each drift, followed for {FOLLOWED} days: of those that opened, "
    "how many had the right kind, in %, and the median size in logit (a slope of 0.8 is "
    "-0.2): *at the reference* by slope and curvature of the likelihood, *exact* by "
    f"profiles, as the verdict does, *later* {LATER} days on.\n"
)
HEADS = (
    *("drift", "kind", "world", "opened", "at the reference", "exact", "later"),
    *("true size", "at the reference", "exact"),
)


class Drift(NamedTuple):
    """What happens, how it is to be named, and its size."""

    truth: Truth
    kind: str
    size: float


def bent(power: int, size: float) -> Distortion:
    """Bend the curve along the quadratic or the cubic that is orthonormal where information is."""

    def distortion(prevalence: float) -> Floats:
        p, x = expit(CENTRES), informed(prevalence)
        roots = np.sqrt(shares(centre(prevalence)) * p * (1.0 - p))
        roots /= np.sqrt((roots**2).sum())
        triangle = np.linalg.qr(np.vander(x, power + 1, increasing=True) * roots[:, None]).R
        values = np.vander(x, power + 1, increasing=True) @ np.linalg.inv(triangle)[:, -1]
        return np.asarray(size * np.sign(triangle[-1, -1]) * values)

    return distortion


def raised_top(prevalence: float) -> Floats:
    """Raise the log-odds of the top tenth of the scores by 0.4."""
    return -lowered_top(prevalence)


DRIFTS = {
    **{
        f"slope {slope:g}": Drift(
            Truth(tilted(slope)), "too_extreme" if slope < 1.0 else "too_timid", slope - 1.0
        )
        for slope in (-1.0, 0.0, 0.5, 0.8, 1.25, 1.6)
    },
    "ends -0.4": Drift(Truth(bent(2, -0.4)), "ends_overpredicted", -0.4),
    "ends +0.4": Drift(Truth(bent(2, 0.4)), "ends_underpredicted", 0.4),
    "ends +0.8": Drift(Truth(bent(2, 0.8)), "ends_underpredicted", 0.8),
    "tails -0.4": Drift(Truth(bent(3, -0.4)), "tails_too_extreme", -0.4),
    "tails +0.4": Drift(Truth(bent(3, 0.4)), "tails_too_timid", 0.4),
    "top tenth -0.4": Drift(Truth(lowered_top, centred=False), "top_overpredicted", -0.4),
    "top tenth +0.4": Drift(Truth(raised_top, centred=False), "top_underpredicted", 0.4),
}


class Task(NamedTuple):
    """A stream: its drift, its world, a seed."""

    drift: str
    world: World
    seed: int


class Named(NamedTuple):
    """The names and sizes of a drift: at the reference, exact; and the exact name later, if any."""

    before: str
    now: str
    later: str | None
    size_before: float
    size: float


def drawn(world: World, truth: Truth, seed: int) -> Iterator[dict[str, Coarse]]:
    """Draw a stream."""
    return stream(world, truth, seed, reference=REFERENCE, days=START + FOLLOWED, start=START)


def days_of(world: World, truth: Truth, seed: int) -> Iterator[Day]:
    """Draw a stream as the daily job sees it."""
    for number, parts in enumerate(drawn(world, truth, seed)):
        day = FIRST + timedelta(days=number)
        known_at = datetime.combine(day + timedelta(days=1), time(), UTC)
        yield Day(day, True, known_at, 1.0, {(name, WHOLE): part for name, part in parts.items()})


def follow(task: Task) -> Named | None:
    """Run the detector over a stream; None if no drift opened after it began."""
    days = drawn(task.world, DRIFTS[task.drift].truth, task.seed)
    reference = fit_reference(list(islice(days, REFERENCE)))
    found = list(incidents(reference, days))
    opened, first = next(((n, i) for n, i in enumerate(found) if i), (0, None))
    if first is None or opened < START:
        return None
    last = found[opened + LATER] if opened + LATER < len(found) else None
    before, size = best_fit(first.scores, first.informations)
    return Named(before, first.kind, last.kind if last else None, size, first.size)


def row(name: str, world: World, every: Sequence[Named | None]) -> list[str]:
    """Lay out how the streams of a drift in a world were named."""
    drift, found = DRIFTS[name], [named for named in every if named]
    right = [
        share_of([getattr(named, when) for named in found], drift.kind)
        for when in ("before", "now", "later")
    ]
    sizes = [
        f"{np.median([getattr(named, of) for named in found]):+.2f}" if found else "-"
        for of in ("size_before", "size")
    ]
    true = f"{drift.size:+.2f}"
    return [name, drift.kind, str(world), str(len(found)), *right, true, *sizes]


def share_of(kinds: Sequence[str | None], right: str) -> str:
    """Give the share of the drifts with the right kind, in %."""
    known = [kind for kind in kinds if kind]
    return f"{100 * known.count(right) / len(known):.0f}" if known else "-"


def cost(world: World) -> float:
    """Measure the CPU time of the profiles of a day, in ms."""
    days = list(islice(drawn(world, Truth(), FIRST_SEED), REFERENCE + START))
    own = fit_reference(days[:REFERENCE])
    day_profiles(rows_of_day(own, days[0]), own.day_variances)  # compiles
    begun = process_time()
    for day in days:
        day_profiles(rows_of_day(own, day), own.day_variances)
    return 1_000.0 * (process_time() - begun) / len(days)


def main() -> None:
    """Follow all streams, print the table, and write it where it belongs."""
    options, rows = read_options(__doc__, streams=10), []
    seeds = range(FIRST_SEED, FIRST_SEED + options.streams)
    with in_processes(follow, options.workers) as followed:
        for name, world in product(DRIFTS, WORLDS):
            rows.append(row(name, world, followed(Task(name, world, seed) for seed in seeds)))
            print(rows[-1], flush=True)
    costs = ", ".join(f"{cost(world):.1f} ({world})" for world in WORLDS)
    print(f"CPU ms a day and part: {costs}")
    text = "\n".join([INTRO.format(streams=options.streams), *table(HEADS, rows)])
    publish(text, BEGIN, END, write=options.write)


if __name__ == "__main__":
    main()
