"""The prior shift of a tally: the one intercept that makes its predictions right on average.

`solve_intercept` is the solver for any scores, `solve_factor` the same for odds, and
`solve_nearby` a fast path for many samples of the same scores, whose intercepts lie close.
"""

from dataclasses import dataclass
from math import exp, inf, isinf, log, nan, sqrt
from typing import NamedTuple

from monitor.metrics.core.compiled import ZERO, compiled, inner
from monitor.metrics.core.extremes import highest, lowest
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.reading import takes_rows
from monitor.metrics.core.special import logit
from monitor.metrics.core.tally import Tally

MOST_STEPS = 200
TOLERANCE = 1e-12  # in logit, far below the precision of any count
MOST_FACTOR_STEPS = 100
FACTOR_TOLERANCE = 1e-10  # in logit; a conditional log-likelihood is flat there to second order
NEARBY = 0.5  # in logit: steps this short always converge


@dataclass(frozen=True)
class Intercept:
    """A fitted intercept.

    Attributes
    ----------
    delta : float
        Shift of every score in logit units; positive when more came true than predicted.
    standard_error : float
        In logit units, from the Fisher information.
    """

    delta: float
    standard_error: float


@takes_rows
def has_intercept(t: Tally) -> bool:
    """Check that both outcomes occur among the scores strictly between 0 and 1.

    Only then is there a finite intercept: with one class only, every shift is too small.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> has_intercept(tally([0, 0], [0.2, 0.4]))
    False
    """
    movable = (t.scores > 0.0) & (t.scores < 1.0)
    positives = t.positives[movable].sum()
    return bool(0 < positives < t.counts[movable].sum())


@takes_rows
def fit_intercept(t: Tally) -> Intercept:
    """Find the maximum-likelihood intercept with the scores' logits as a fixed offset.

    Parameters
    ----------
    t : Tally or rows
        With both outcomes among the scores strictly between 0 and 1; scores of exactly 0
        or 1 cannot be moved and do not count.

    Returns
    -------
    Intercept
        In logit units.

    Raises
    ------
    ValueError
        If `has_intercept` is false.

    Notes
    -----
    Solves ``sum n sigma(logit s + delta) = K`` over the movable groups by Newton's method
    inside a shrinking bracket; the standard error is ``1/sqrt(sum n p (1-p))`` (Cox, Biometrika
    45, 1958, with his slope held at 1). Conditional on the scores, so it is not moved by a change
    of their distribution (unlike the ratio of labelled prevalences).

    Interval: `normal_interval`; at 95 % it holds the truth 93-98 % of the time, most with 5
    expected positives (docs/coverage.md).

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> round(fit_intercept(tally([1, 1, 1, 0], [0.5] * 4)).delta, 6)  # odds of 3, not 1
    1.098612
    """
    if not has_intercept(t):
        msg = (
            f"a finite intercept needs both outcomes among scores strictly between 0 and 1, "
            f"got {t.total_positives} positives of {t.total} predictions."
        )
        raise ValueError(msg)
    delta, information = solve_intercept(logit(t.scores), t.counts, t.positives)
    return Intercept(delta, 1.0 / sqrt(information))


@compiled
def solve_intercept(logits: Floats, counts: Ints, positives: Ints) -> tuple[float, float]:
    """Return the intercept and its Fisher information; plus or minus inf with one class only."""
    movable = hits = ZERO
    least, most = inf, -inf
    for i in range(logits.size):
        if not isinf(logits[i]):
            movable += counts[i]
            hits += positives[i]
            least, most = min(least, logits[i]), max(most, logits[i])
    if hits in (0, movable):
        return (inf if hits else -inf), 0.0
    # At these shifts even the extreme group alone puts the expected count on either side.
    target = log(hits / (movable - hits))
    low, high = target - most, target - least
    delta, information = min(max(0.0, low), high), 0.0
    for _ in range(MOST_STEPS):
        expected = information = 0.0
        for i in range(logits.size):
            if not isinf(logits[i]):
                p = 1.0 / (1.0 + exp(-(logits[i] + delta)))
                expected += counts[i] * p
                information += counts[i] * p * (1.0 - p)
        moved, low, high = newton_step(delta, low, high, hits, expected, information)
        if abs(moved - delta) <= TOLERANCE:
            break
        delta = moved
    return delta, information


@compiled
def solve_factor(odds: Floats, counts: Ints, hits: int) -> tuple[float, float]:
    """Find the factor of all odds that makes the expected count right, and the information.

    The same as `solve_intercept` for odds that are finite and above 0: multiplying them needs no
    exponential for each group and step.
    """
    total = counts.sum()
    target = log(hits / (total - hits))
    low, high = target - log(highest(odds)), target - log(lowest(odds))
    shift, information = 0.5 * (low + high), 0.0
    for _ in range(MOST_FACTOR_STEPS):
        factor, expected, information = exp(shift), 0.0, 0.0
        for i in range(odds.size):
            if counts[i]:
                p = factor * odds[i] / (1.0 + factor * odds[i])
                expected += counts[i] * p
                information += counts[i] * p * (1.0 - p)
        moved, low, high = newton_step(shift, low, high, hits, expected, information)
        if abs(moved - shift) <= FACTOR_TOLERANCE:
            break
        shift = moved
    return exp(shift), information


@inner
def newton_step(
    at: float, low: float, high: float, hits: int, expected: float, information: float
) -> tuple[float, float, float]:
    """Return Newton's next point, or the middle of the bracket, and the bracket, which shrinks."""
    if expected < hits:
        low = at
    else:
        high = at
    moved = at + ((hits - expected) / information if information > 0.0 else inf)
    if not low <= moved <= high:
        moved = 0.5 * (low + high)
    return moved, low, high


class ExpectedPositives(NamedTuple):
    """What is expected at some intercept: positives, and the first two derivatives by it."""

    positives: float
    information: float
    bend: float


@inner
def expect_positives(inverse_odds: Floats, counts: Ints, delta: float) -> ExpectedPositives:
    """Sum over groups whose odds are multiplied by ``exp(delta)``; scores of 0 and 1 stay."""
    factor = exp(-delta)
    positives = information = bend = 0.0
    for i in range(counts.size):
        p = 1.0 / (1.0 + inverse_odds[i] * factor)
        variance = counts[i] * p * (1.0 - p)
        positives += counts[i] * p
        information += variance
        bend += variance * (1.0 - 2.0 * p)
    return ExpectedPositives(positives, information, bend)


@inner
def solve_nearby(
    inverse_odds: Floats, counts: Ints, hits: int, at_zero: ExpectedPositives
) -> float:
    """Find the intercept at which `hits` positives are expected if it is near; else nan.

    Halley's steps from zero, at which `expect_positives` is the same for all worlds of the same
    scores. The information changes at most by the factor e in a logit, so what is left after a step
    is less than its square.
    """
    delta, here = 0.0, at_zero
    for _ in range(MOST_STEPS):
        newton = (hits - here.positives) / here.information
        step = newton / (1.0 + 0.5 * newton * here.bend / here.information)
        if not abs(step) <= NEARBY:
            break
        delta += step
        if step * step <= TOLERANCE:
            return delta
        here = expect_positives(inverse_odds, counts, delta)
    return nan
