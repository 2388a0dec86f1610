"""What a verdict says of classes: which became more frequent, and which pair is worst. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from monitor.drift.detector import Detector, Incident, best_fitting_kind, best_slope
from monitor.drift.evidence import KINDS
from monitor.drift.history import sums_since
from monitor.drift.other_pairs import OtherPairs
from monitor.drift.pairs import ClassDay
from monitor.drift.reference import Reference
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats

CERTAIN = 3.29  # standard errors: one in a thousand by chance
SLOPES = 2  # of the kinds: too extreme, too timid
NAMED = 3  # classes that a sentence names
ENOUGH = 0.99  # of the outcomes: a verdict on more of them does not say on how many


@dataclass(frozen=True)
class ClassFacts:
    """The sentences on classes.

    Attributes
    ----------
    moved : bool
        Whether a class became more or less frequent.
    frequencies : str
        Which did, and how often the first choice was right.
    worst : str
        The pair whose curve changed most since an open drift began, and what is known of the pairs
        without a verdict of their own; empty without a drift.
    rests_on : str
        The share of the outcomes that the verdict rests on; empty if it is nearly all of them.
    """

    moved: bool
    frequencies: str
    worst: str
    rests_on: str


@dataclass(frozen=True)
class ClassShift:
    """A class whose share of the outcomes changed since the reference."""

    name: str
    before: float
    now: float


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
    found = np.nonzero((clear > CERTAIN) & (np.abs(change) > least))[0]
    shares = counts / np.maximum(totals, 1.0)
    ranked = sorted(found.tolist(), key=lambda k: (-clear[k], k))
    return [ClassShift(now.names[k], float(shares[0, k]), float(shares[1, k])) for k in ranked]


def about_classes(
    before: ClassDay,
    now: ClassDay,
    *,
    least: float,
    drift: Incident | None,
    pairs: Mapping[str, tuple[Detector, Reference]],
    others: OtherPairs | None,
    tolerated: float,
) -> ClassFacts:
    """Word what the classes of a week say, compared with the reference.

    Parameters
    ----------
    before, now : ClassDay
        Of the reference, and of the week.
    least : float
        The least change of a class that is reported, in logit.
    drift : Incident or None
        The open drift of the whole.
    pairs : mapping of str to (Detector, Reference)
        The pairs that have a verdict of their own.
    others : OtherPairs or None
        All other pairs, while there is a drift.
    tolerated : float
        The change of a slope that is tolerated.
    """
    shifts = class_shifts(before, now, least)
    right, was = now.right / max(1, now.total), before.right / max(1, before.total)
    first = f"The first choice was right in {right:.1%} of the week, {was:.1%} of the reference."
    share = now.judged / max(1, now.total)
    rests = (
        f"The verdict rests on {share:.0%} of the week's outcomes: those that are one of the two "
        "classes with the highest scores."
    )
    return ClassFacts(
        moved=bool(shifts),
        frequencies=" ".join(filter(None, [*_frequencies(shifts), first])),
        worst=" ".join(filter(None, [_worst_pair(drift, pairs, tolerated), _others(others)]))
        if drift
        else "",
        rests_on=rests if share < ENOUGH else "",
    )


def _frequencies(shifts: Sequence[ClassShift]) -> list[str]:
    more = [shift for shift in shifts if shift.now > shift.before]
    less = [shift for shift in shifts if shift.now < shift.before]
    return [
        f"{word} frequent than in the reference: {_listed(found)}."
        for word, found in (("More", more), ("Less", less))
        if found
    ]


def _listed(shifts: Sequence[ClassShift]) -> str:
    named = [f"{s.name} ({s.now:.1%}, was {s.before:.1%})" for s in shifts[:NAMED]]
    left_out = len(shifts) - len(named)
    return ", ".join(named) + (f" and {left_out} more" if left_out else "")


def _worst_pair(
    drift: Incident, pairs: Mapping[str, tuple[Detector, Reference]], tolerated: float
) -> str:
    """Name the pair whose outcomes fit the reference least since the drift began."""
    gains, slopes, kinds = dict[str, float](), dict[str, Floats](), dict[str, str]()
    for name, (detector, _) in pairs.items():
        scores, known, slopes[name] = sums_since(detector.history, drift.started, detector.jitters)
        inside = np.where(known > 0.0, known, 1.0)
        gains[name] = float((np.where(known > 0.0, scores, 0.0) ** 2 / inside).max())
        kinds[name] = best_fitting_kind(scores, known)
    if not gains:
        return ""
    worst = max(gains, key=lambda name: (gains[name], name))
    own = best_slope(slopes[worst], float(pairs[worst][1].errors[0]))
    size = f", slope {_figure(own)}" if own and KINDS.index(kinds[worst]) < SLOPES else ""
    rest = _rest([name for name in pairs if name != worst], pairs, slopes, tolerated)
    return f"The worst pair is {worst}: {kinds[worst].replace('_', ' ')}{size}{rest}."


def _rest(
    others: Sequence[str],
    pairs: Mapping[str, tuple[Detector, Reference]],
    slopes: Mapping[str, Floats],
    tolerated: float,
) -> str:
    """Say whether the other pairs are as before."""
    if not others:
        return ""
    errors = [float(pairs[name][1].errors[0]) for name in others]
    error = 1.0 / sqrt(sum(1.0 / e**2 for e in errors if e > 0.0) or 1.0)
    found = best_slope(np.sum([slopes[name] for name in others], axis=0), error)
    if not found:
        return ""
    same = found.low - tolerated <= 1.0 <= found.high + tolerated
    return f"; the others are {'as before, ' if same else ''}at slope {_figure(found)}"


def _others(others: OtherPairs | None) -> str:
    """Count the pairs without a verdict of their own, and name the worst of them."""
    if not others or not others.count:
        return ""
    if not others.worst:
        return (
            f"Of {others.count:,} pairs without a verdict of their own none stands out this week."
        )
    found = best_slope(others.slopes, others.error)
    kind = f": slope {_figure(found)}" if found else ""
    return (
        f"Of {others.count:,} pairs without a verdict of their own the worst is {others.worst}"
        f"{kind} this week."
    )


def _figure(found: Estimate) -> str:
    return f"{found.value:.2f} (95 % {found.low:.2f} to {found.high:.2f})"
