"""The classes of a week: which became more or less frequent, and which pair is worst. Pure.

There may be thousands of pairs without a verdict of their own, so none of these is followed from
day to day. While the whole drifts, the last week of each is compared with the reference, by the
sums from which `where` finds the place of a drift.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import log, sqrt

import numpy as np

from monitor.base.segment_names import PAIR, WHOLE
from monitor.drift.classes.pairs import ClassDay, PairCurves
from monitor.drift.curve.reference import Reference
from monitor.drift.evidence.history import sums_since
from monitor.drift.fold.inputs import Day
from monitor.drift.incidents.detecting import best_fit, best_slope
from monitor.drift.records.detector import Detector, Incident
from monitor.drift.records.facts import ClassFacts, ClassShift, Others, WorstPair
from monitor.drift.records.verdict import SLOPE_KINDS
from monitor.drift.verdicts.pair_sums import columns_of_pairs, sum_day
from monitor.drift.where.column_sums import Sums, over_days
from monitor.metrics.beyond_binary.class_counts import UNIT
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.ratio import ratio

CERTAIN = 3.29  # standard errors: one in a thousand by chance
BY_CHANCE = 1e-3  # that any of them stands out, if all are as before


def class_shifts(before: ClassDay, now: ClassDay, least: float) -> list[ClassShift]:
    """List the classes that became more or less frequent, the clearest first.

    Parameters
    ----------
    before, now : ClassDay
        Of the reference, and of the last days.
    least : float
        The least change of the log-odds of a class that is reported.

    Examples
    --------
    >>> old = ClassDay(("cat", "dog"), np.array([500, 500]), 1000, 700)
    >>> new = ClassDay(("cat", "dog"), np.array([700, 300]), 1000, 700)
    >>> class_shifts(old, new, 0.2)[0]
    ClassShift(name='cat', before=0.5, now=0.7)
    """
    counts = np.array([before.outcomes, now.outcomes], np.float64)
    totals = counts.sum(axis=1, keepdims=True)
    # Half a row more of each, so that a class that was never seen has odds.
    hits, misses = counts + 0.5, totals - counts + 0.5
    change = np.diff(np.log(hits / misses), axis=0)[0]
    clear = np.abs(change) / np.sqrt((1.0 / hits + 1.0 / misses).sum(axis=0))
    shifted = np.nonzero((clear > CERTAIN) & (np.abs(change) > least))[0]
    shares = counts / np.maximum(totals, 1.0)
    ranked = sorted(shifted.tolist(), key=lambda k: (-clear[k], k))
    return [ClassShift(now.names[k], float(shares[0, k]), float(shares[1, k])) for k in ranked]


def about_frequencies(before: ClassDay, now: ClassDay, least: float) -> ClassFacts:
    """Find how often classes and first choices came true, of the whole or of a segment."""
    return ClassFacts(
        shifts=tuple(class_shifts(before, now, least)),
        right=now.right / max(1, now.total),
        right_before=before.right / max(1, before.total),
        judged=now.judged / max(1, now.total),
        among=now.among / now.total if now.promised else None,
        promised=now.promised / UNIT / now.total if now.promised else None,
    )


def worst_pair(
    drift: Incident, pairs: Mapping[str, tuple[Detector, Reference]], tolerated: float
) -> WorstPair | None:
    """Find the pair whose outcomes fit the reference least since the drift began."""
    gains, slopes, kinds = dict[str, float](), dict[str, Floats](), dict[str, str]()
    for name, (detector, _) in pairs.items():
        scores, informations, slopes[name] = sums_since(
            detector.history, drift.started, detector.jitters
        )
        gains[name] = float(ratio(scores**2, informations).max())
        # Its own incident was named by exact profiles.
        own_drift = detector.incident
        kinds[name] = own_drift.kind if own_drift else best_fit(scores, informations)[0]
    if not gains:
        return None
    worst = max(gains, key=lambda name: (gains[name], name))
    of_slope = kinds[worst] in SLOPE_KINDS
    own = best_slope(slopes[worst], float(pairs[worst][1].errors[0])) if of_slope else None
    rest = _slope_of([name for name in pairs if name != worst], pairs, slopes)
    same = bool(rest and rest.low - tolerated <= 1.0 <= rest.high + tolerated)
    return WorstPair(worst, kinds[worst], own, rest, same)


def _slope_of(
    names: Sequence[str],
    pairs: Mapping[str, tuple[Detector, Reference]],
    slopes: Mapping[str, Floats],
) -> Estimate | None:
    """Estimate one slope for several pairs together."""
    if not names:
        return None
    errors = [float(pairs[name][1].errors[0]) for name in names]
    error = 1.0 / sqrt(sum(1.0 / e**2 for e in errors if e > 0.0) or 1.0)
    return best_slope(np.sum([slopes[name] for name in names], axis=0), error)


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
    week = over_days(of_days).get(PAIR, {})
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
