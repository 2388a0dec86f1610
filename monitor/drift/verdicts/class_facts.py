"""The classes of a week: which became more or less frequent, and which pair is worst. Pure."""

from collections.abc import Mapping, Sequence
from math import sqrt

import numpy as np

from monitor.drift.classes.pairs import ClassDay
from monitor.drift.curve.reference import Reference
from monitor.drift.evidence.history import sums_since
from monitor.drift.incidents.detecting import best_fit, best_slope
from monitor.drift.records.day_evidence import KINDS
from monitor.drift.records.detector import Detector, Incident
from monitor.drift.records.facts import ClassFacts, ClassShift, WorstPair
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats

CERTAIN = 3.29  # standard errors: one in a thousand by chance
SLOPES = 2  # of the kinds: too extreme, too timid


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
        inside = np.where(informations > 0.0, informations, 1.0)
        gains[name] = float((np.where(informations > 0.0, scores, 0.0) ** 2 / inside).max())
        # Its own incident was named by exact profiles.
        own_drift = detector.incident
        kinds[name] = own_drift.kind if own_drift else best_fit(scores, informations)[0]
    if not gains:
        return None
    worst = max(gains, key=lambda name: (gains[name], name))
    is_slope = KINDS.index(kinds[worst]) < SLOPES
    own = best_slope(slopes[worst], float(pairs[worst][1].errors[0])) if is_slope else None
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
