"""The pairs of classes that have no verdict of their own: how many, and which is off most. Pure.

There may be thousands, so none is followed from day to day. While the whole drifts, the last week
of each is compared with the reference, by the sums from which `where` finds the place of a drift.
"""

from collections.abc import Collection, Iterable
from math import log, sqrt

from monitor.base.segment_names import PAIR, WHOLE
from monitor.drift.classes.pairs import PairCurves
from monitor.drift.curve.reference import Reference
from monitor.drift.fold.inputs import Day
from monitor.drift.incidents.detecting import best_slope
from monitor.drift.records.facts import Others
from monitor.drift.verdicts.pair_sums import columns_of_pairs, sum_day
from monitor.drift.where.column_sums import Sums, added

BY_CHANCE = 1e-3  # that any of them stands out, if all are as before


def other_pairs(
    whole: Reference, curves: PairCurves, days: Iterable[Day], named: Collection[str]
) -> Others:
    """Find the worst of the pairs that are not named.

    Parameters
    ----------
    whole : Reference
        Of all pairs.
    curves : PairCurves
        How their curves differ.
    days : iterable of Day
        The days of the week.
    named : collection of str
        The pairs with a verdict of their own.

    Notes
    -----
    With U the score of a pair along the slope, I its information and v the variance of its slope
    in the reference, ``U / sqrt(I (1 + I v))`` is standard normal if nothing changed. A pair
    stands out beyond ``sqrt(2 log(2 n / 0.001))``, which any of n exceeds once in a thousand.
    """
    of_days = [sum_day(whole, columns_of_pairs(day, None, {}), WHOLE, curves)[0] for day in days]
    _, week = added([], of_days).get(PAIR, ({}, {}))
    of_pair = {pair: sums for pair, sums in week.items() if sums.predicted and pair not in named}
    errors = {pair: _error(whole, curves, pair) for pair in of_pair}
    off = {pair: _distance(sums, errors[pair]) for pair, sums in of_pair.items()}
    worst = max(off, key=lambda pair: (off[pair], pair), default=None)
    if worst is None or off[worst] < sqrt(2.0 * log(2.0 * len(off) / BY_CHANCE)):
        return Others(len(off), "", None)
    return Others(len(off), worst, best_slope(of_pair[worst].slopes, errors[worst]))


def _error(whole: Reference, curves: PairCurves, pair: str) -> float:
    own = curves.variances.get(pair, curves.spread)[0]
    return sqrt(float(whole.errors[0] ** 2 + own))


def _distance(sums: Sums, error: float) -> float:
    """Give how many standard deviations the slope of a pair is away from the reference."""
    score, information = float(sums.scores[0]), float(sums.informations[0])
    variance = information * (1.0 + information * error**2)
    return abs(score) / sqrt(variance) if variance > 0.0 else 0.0
