"""Rules that people run to find scores that are too high or too low, on counts of days.

Each takes the days with the reference first, and lists the days after it on which it alarms.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from monitor.metrics.core.coarse import CENTRES, Coarse
from monitor.metrics.core.grid import Floats, Ints

SCORES = expit(CENTRES)
CERTAIN = 3.29  # standard errors: one in 1,000
BINS = 10
ALLOWED, MOST = 0.5, 5.75  # Page-Hinkley: 1,000 days between false alarms of independent days
PATHS, FALSE_ALARM_DAYS = 4_000, 1_000


@dataclass(frozen=True)
class Alarms:
    """The days after the reference on which each rule alarms."""

    z_test: list[int]
    ece: list[int]
    page_hinkley: list[int]
    calibration_cusum: list[int]


def alarms(days: Sequence[Coarse], reference: int, steps: Sequence[float], seed: int) -> Alarms:
    """Run all rules over a stream.

    Parameters
    ----------
    days : sequence of Coarse
        The reference first.
    reference : int
        Its number of days.
    steps : sequence of float
        The alternatives that CalibrationCUSUM looks for: what is to be added to the log-odds of
        every score to make it right.
    seed : int
        Of its in-control paths.
    """
    z, ece = (np.array([of(day) for day in days]) for of in (_z, _ece))
    most = ece[:reference].mean() + 3.0 * ece[:reference].std()
    return Alarms(
        [int(t) for t in np.flatnonzero(abs(z[reference:]) > CERTAIN)],
        [int(t) for t in np.flatnonzero(ece[reference:] > most)],
        page_hinkley(np.array([_gap(day) for day in days]), reference),
        calibration_cusum(days[reference:], steps, seed),
    )


def _gap(day: Coarse) -> float:
    return float((day.positives - day.counts * SCORES).sum() / day.counts.sum())


def _z(day: Coarse) -> float:
    spread = float((day.counts * SCORES * (1.0 - SCORES)).sum())
    return _gap(day) * float(day.counts.sum()) / float(np.sqrt(spread))


def _ece(day: Coarse) -> float:
    bins = np.minimum((BINS * SCORES).astype(int), BINS - 1)
    gaps = np.bincount(bins, day.positives - day.counts * SCORES, BINS)
    return float(abs(gaps).sum() / day.counts.sum())


def page_hinkley(values: Floats, reference: int) -> list[int]:
    """Add up how far each day is from the mean of the reference (Page, 1954; Hinkley, 1971).

    It alarms where a sum of standard deviations, each less 0.5, exceeds 5.75 on either side, which
    independent normal days reach once in 1,000 days (Siegmund, 1985), and begins again.
    """
    own = values[:reference]
    off = (values[reference:] - own.mean()) / own.std(ddof=1)
    found, sums = [], np.zeros(2)
    for t, of_day in enumerate(off):
        sums = np.maximum(0.0, sums + np.array([of_day, -of_day]) - ALLOWED)
        if sums.max() > MOST:
            found.append(t)
            sums = np.zeros(2)
    return found


def calibration_cusum(days: Sequence[Coarse], steps: Sequence[float], seed: int) -> list[int]:
    """Run the CUSUM of Franck, Driscoll, Szajnfarber and Woodall (2025), a day at a time.

    ``C = max(0, C + W)``, W the log-likelihood ratio of the day's outcomes under scores whose
    log-odds are moved by a step (their linear log odds map ``d x / (d x + 1 - x)`` with gamma 1 and
    the step log d) and under the scores as they are. The limit of each day is the quantile of as
    many in-control paths as have not exceeded one before (dynamic probability control limits,
    Zhang and Woodall, 2015). W depends on the number of positives alone, which paths draw as
    binomial with the mean and the variance that right scores give it. The article has outcomes one
    by one or few at a time; on days of so many rows that chance never makes W positive the limit is
    0, and false alarms are rarer than once in 1,000 days. Alternatives share the false alarms; each
    chart begins again after its alarm.
    """
    rng, found = np.random.default_rng(seed), set[int]()
    share = 1.0 / (FALSE_ALARM_DAYS * len(steps))
    for step in steps:
        miss = np.log((1.0 - expit(CENTRES + step)) / (1.0 - SCORES))
        total, paths = 0.0, np.zeros(PATHS)
        for t, day in enumerate(days):
            of_all = float(day.counts @ miss)  # a positive adds the step
            total = max(0.0, total + step * int(day.positives.sum()) + of_all)
            paths = np.maximum(0.0, paths + step * _positives(rng, day) + of_all)
            limit = float(np.quantile(paths, 1.0 - share))
            over = paths > limit
            paths[over] = rng.choice(paths[~over], int(over.sum()))
            if total > limit:
                found.add(t)
                total, paths = 0.0, np.zeros(PATHS)
    return sorted(found)


def _positives(rng: np.random.Generator, day: Coarse) -> Ints:
    """Draw the number of positives of a day where scores are right, shape (PATHS,)."""
    mean, variance = (float(day.counts @ of) for of in (SCORES, SCORES * (1.0 - SCORES)))
    trials = max(1, round(mean / (1.0 - variance / mean))) if mean else 0
    return rng.binomial(trials, min(1.0, mean / max(1, trials)), PATHS)
