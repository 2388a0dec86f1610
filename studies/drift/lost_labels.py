"""How often a constant share of lost labels opens a drift that is none, and hides one that is.

    python -m studies.drift.lost_labels [--streams 40] [--workers 1] [--write]

A share of the positive outcomes is never recorded, from before the reference on, while the prior
moves. Counted is how often an incident opens in a year in which nothing else happens, and in how
many days a slope of 0.8 is found, also by somebody who knows the curve, the share and the slope.
With --write the table goes into docs/drift-simulations.md, after each world by itself. It takes
half an hour.
"""

from collections.abc import Iterable
from itertools import islice
from math import exp, inf
from typing import NamedTuple

from scipy.special import expit, logit

from monitor.drift.curve.label_noise import wrong_labels
from monitor.drift.curve.reference import fit_reference
from monitor.drift.records.day_evidence import WrongLabels
from monitor.metrics.core.coarse import CENTRES
from monitor.metrics.logistic.conditional import adjusted_profile
from monitor.metrics.logistic.label_noise import noisy_curve
from studies.drift.estimates import print_median, print_rate
from studies.drift.layout import in_processes, publish, read_options
from studies.drift.noise import flipped_days
from studies.drift.rules import FALSE_ALERT_DAYS, Segments, detectors, incidents, openings_of
from studies.drift.scenario import FOLLOWED, PROMISE, SOUND, YEAR
from studies.drift.tables import table
from studies.drift.worlds import DRIFTS, World, whole_drift

BEGIN, END = "<!-- lost labels: studies/drift/lost_labels.py -->", "<!-- end of lost labels -->"
REFERENCE, START = 28, 60
SOON = (3, 5)  # days within which a slope of 0.8 should be found: 20,000 rows a day, and 2,000
FIRST_SEED = 73_000
FARTHEST = 50.0  # nats of a day
WORLDS = (
    *(World(0.5, rows) for rows in (2_000, 20_000)),
    *(World(0.18, rows) for rows in (2_000, 20_000)),
    *(World(0.5, rows) for rows in (60, 500)),
    *(World(0.05, rows) for rows in (2_000, 20_000)),
    World(0.02, 20_000),
)
SHARES = (0.02, 0.05, 0.1, 0.2)
INTRO = (
    "A share of the positive outcomes is never recorded, from before the reference on. Openings in "
    "a year without a drift, in bold above the promise; the share that is used at its end, and in "
    f"how many streams one is. A slope of 0.8 begins on day {START}; its delay within {FOLLOWED} "
    "days, and in how many streams it is found within 3 and within 5 days, of those without an "
    "incident that was open before. *Possible*: in how many streams within 5 days to somebody who "
    "knows the curve, the share and the slope, and only has to date it, by the same rule. "
    "{streams} streams of each kind.\n"
)
HEADS = (
    *("world", "lost", "false openings a stream-year", "used", "streams"),
    *("slope 0.8, days", *(f"within {days}" for days in SOON), "without an incident before"),
    "possible",
)


class Task(NamedTuple):
    """A stream: a world, the share that is lost, a drift or none, and a seed."""

    world: World
    share: float
    drift: str
    seed: int


class Watched(NamedTuple):
    """What happened: openings, or the delay of a drift, None if hidden; and the share used.

    `possible` is the delay of somebody who knows all but the first day.
    """

    openings: int
    delay: float | None
    used: float
    possible: float = inf


def watch(task: Task) -> Watched:
    """Judge a stream."""
    start, followed = (START, FOLLOWED) if task.drift else (0, YEAR)
    truth = DRIFTS[task.drift] if task.drift else SOUND
    wrong = WrongLabels("lost", task.share)
    calendar = {"reference": REFERENCE, "days": followed + start, "start": start}
    days = flipped_days(task.world, wrong, task.seed, truth, **calendar)
    reference = fit_reference(list(islice(days, REFERENCE)))
    if not task.drift:
        year = list(detectors(reference, days))
        learned = wrong_labels(reference.noise, year[-1].noise)
        openings = openings_of(detector.incident for detector in year)
        return Watched(len(openings), None, learned.share if learned else 0.0)
    later = islice(enumerate(incidents(reference, days)), start - 1, None)
    first = next((t for t, incident in later if incident), inf)
    delay = None if first < start else first - start + 1.0
    days = flipped_days(task.world, wrong, task.seed, truth, **calendar)
    return Watched(0, delay, 0.0, known_delay(task, islice(days, REFERENCE + start, None)))


def known_delay(task: Task, days: Iterable[Segments]) -> float:
    """Give the days until the evidence reaches the limit, of one part a day, from the first on.

    The likelihood of the true curve with the drift over that without it, each with the prior that
    fits the day best; accumulated as the detector does, but without a limit for a day.
    """
    lost, none = task.share, (0.0, task.share)
    bent = CENTRES + whole_drift(task.world, DRIFTS[task.drift])
    curves = [logit((1.0 - lost) * expit(curve)) for curve in (bent, CENTRES)]
    evidence = 0.0
    for number, day in enumerate(days, 1):
        for part in day.values():
            seen, hits = part.counts > 0, int(part.positives.sum())
            counts, positives = part.counts[seen], part.positives[seen]
            if 0 < hits < counts.sum():
                moved = (noisy_curve(curve[seen], counts, hits, *none) for curve in curves)
                drifted, sound = (adjusted_profile(curve, counts, positives) for curve in moved)
                evidence = (evidence + 1.0) * exp(min(drifted - sound, FARTHEST))
        if evidence >= FALSE_ALERT_DAYS:
            return float(number)
    return inf


def row(world: World, share: float, sound: list[Watched], drifted: list[Watched]) -> list[str]:
    """Lay out the streams of a world and a share."""
    used = sorted(found.used for found in sound)
    delays = [found.delay for found in drifted if found.delay is not None]
    return [
        *(str(world), f"{share:.0%}", print_rate([f.openings for f in sound], goal=PROMISE)),
        *(f"{used[len(used) // 2]:.1%}", str(sum(of > 0.0 for of in used))),
        print_median(delays, FOLLOWED),
        *(str(sum(delay <= soon for delay in delays)) for soon in SOON),
        str(len(delays)),
        str(sum(found.possible <= SOON[-1] for found in drifted)),
    ]


def main() -> None:
    """Watch all streams, and write the table of the worlds so far after each."""
    options = read_options(__doc__, streams=40)
    seeds, rows = range(FIRST_SEED, FIRST_SEED + options.streams), []
    with in_processes(watch, options.workers) as watched:
        for world in WORLDS:
            for share in SHARES:
                sound, drifted = (
                    watched([Task(world, share, drift, seed) for seed in seeds])
                    for drift in ("", "slope 0.8")
                )
                rows.append(row(world, share, sound, drifted))
                print(rows[-1], flush=True)
            text = "\n".join([INTRO.format(streams=options.streams), *table(HEADS, rows)])
            publish(text, BEGIN, END, write=options.write)


if __name__ == "__main__":
    main()
