"""Which success probabilities an observed count accepts: intervals, sometimes with gaps.

The set is not always an interval, so bisection for two bounds would be wrong: one success
in 30 accepts up to .16323, rejects, and accepts again from .17506 to .17723. It is found by
walking outward from k/n over the few smooth pieces of the p-value as a function of q (see
`pvalue_curve`) between "certainly accepted" and "certainly rejected". "Accepted" means
p-value > alpha.
"""

import math
from operator import index
from typing import NamedTuple

import numpy as np

from monitor.metrics.binomial.binomial import last_likelier
from monitor.metrics.binomial.pmf import deviance, lower_tail
from monitor.metrics.binomial.pvalue_curve import (
    LAST_THETA,
    boundary,
    ceiling,
    crossing,
    expit,
    first_doubtful_piece,
    logit,
    on_piece,
    tails,
    tie,
    turning_point,
)
from monitor.metrics.core.compiled import ZERO, compiled, inner
from monitor.metrics.core.grid import Floats, Ints

REJECTED, ACCEPTED, UNDECIDED = ZERO, ZERO + 1, ZERO + 2


class Significance(NamedTuple):
    """What a p-value is compared with: alpha, which counts as equal within the relative `doubt`.

    `two_sided` and `one_sided` are standard normal deviates that are exceeded with probability
    alpha, on both sides together or on one. They are rounded down, the second by the doubt too, so
    that "certainly rejected" and "certainly accepted" stay certain.
    """

    alpha: float
    doubt: float
    two_sided: float
    one_sided: float


def accepted_intervals(successes: int, trials: int, *, alpha: float = 0.05) -> Floats:
    """Give every success probability that a count does not reject.

    Parameters
    ----------
    successes : int
        Observed successes k, ``0 <= k <= n``.
    trials : int
        Trials n, at least 1.
    alpha : float
        Significance level in (0, 1).

    Returns
    -------
    ndarray of shape (i, 2)
        Sorted disjoint closed intervals of probabilities q in [0, 1], in whose interior
        ``binomial_pvalues(k, n, q) > alpha``; bounds are good to about 1e-13 relative.

    Raises
    ------
    ValueError
        If the count is impossible or alpha is not in (0, 1).

    Notes
    -----
    ``{q in [0, 1] : p-value of (k, n) at q > alpha}``: inverts the test of [TCE, Definition 2].

    Examples
    --------
    >>> accepted_intervals(1, 30).round(5)
    array([[0.00171, 0.16323],
           [0.17506, 0.17723]])
    """
    k, n = index(successes), index(trials)
    if not 0 <= k <= n or n < 1:
        msg = f"a count needs 0 <= successes <= trials and trials >= 1, got {k} of {n}."
        raise ValueError(msg)
    check_alpha(alpha)
    edges, verdicts = acceptance(k, n, significance(float(alpha), 0.0), 0.0, 1.0)
    bounds = np.concatenate([[0.0], edges, [1.0]])
    accepted = verdicts == ACCEPTED
    return np.column_stack([bounds[:-1][accepted], bounds[1:][accepted]])


def check_alpha(alpha: float) -> None:
    """Raise ValueError for a significance level outside (0, 1)."""
    if not 0.0 < alpha < 1.0:
        msg = f"alpha must be in (0, 1), got {alpha}; the paper uses 0.05."
        raise ValueError(msg)


@compiled
def significance(alpha: float, doubt: float) -> Significance:
    """Add the normal deviates of alpha."""
    return Significance(alpha, doubt, _deviate(alpha), _deviate(2.0 * alpha * (1.0 + doubt)))


@inner
def _deviate(alpha: float) -> float:
    """Give the z with P(|Z| > z) = alpha for a standard normal Z from below, by bisection."""
    low, high = 0.0, 40.0
    for _ in range(40):
        z = 0.5 * (low + high)
        if math.erfc(z / math.sqrt(2.0)) > alpha:
            low = z
        else:
            high = z
    return low


@inner
def acceptance(
    k: int, n: int, against: Significance, lowest: float, highest: float
) -> tuple[Floats, Ints]:
    """Give the e edges, rising in q, where the verdict changes, and the e + 1 verdicts between.

    Only probabilities in [lowest, highest] are asked for; elsewhere the answer means nothing.
    A piece that touches alpha is UNDECIDED as a whole.
    """
    low, high = logit(lowest, 1.0 - lowest), logit(highest, 1.0 - highest)
    below, below_verdicts = _outward(n - k, n, against, -high, -low)
    above, above_verdicts = _outward(k, n, against, low, high)
    centre = below.size
    edges = np.empty(centre + above.size)
    verdicts = np.empty(edges.size + 1, np.int64)
    verdicts[centre] = ACCEPTED
    for i in range(centre):
        edges[centre - 1 - i] = expit(-below[i])
        verdicts[centre - 1 - i] = below_verdicts[i]
    for i in range(above.size):
        edges[centre + i] = expit(above[i])
        verdicts[centre + 1 + i] = above_verdicts[i]
    return edges, verdicts


@inner
def _outward(
    k: int, n: int, against: Significance, nearest: float, farthest: float
) -> tuple[Floats, Ints]:
    """Go up from k/n: the thetas of the edges, and the verdict after each.

    Only thetas in [nearest, farthest] are asked for, which often spares the walk.
    """
    centre = math.log((k + 1) / (n - k)) if k < n else math.inf
    if farthest <= centre:  # k is still a mode, so the p-value is 1
        return np.empty(0), np.empty(0, np.int64)
    farthest = min(farthest, LAST_THETA)
    if certainly_accepted(k, n, against, expit(farthest), expit(-farthest)):
        return np.empty(0), np.empty(0, np.int64)
    if nearest > centre and ceiling_from(k, n, nearest) <= against.alpha * (1.0 - against.doubt):
        return np.full(1, -math.inf), np.full(1, REJECTED)
    return _walk(k, n, against, farthest)


@inner
def certainly_accepted(k: int, n: int, against: Significance, q: float, p: float) -> bool:
    """Check whether P(X <= k) alone exceeds alpha at q, and so from k/n up to q, without a sum.

    ``P(X <= k) >= Phi(-sqrt(2 D(k)))`` with the deviance D (Zubkov and Serov, Theory of
    Probability and its Applications 57, 2013, theorem 1).
    """
    square = against.one_sided * against.one_sided
    return 0 < k < n and 2.0 * deviance(k, n, q, p) < square


@inner
def _walk(k: int, n: int, against: Significance, farthest: float) -> tuple[Floats, Ints]:
    """Judge piece after piece, from the first that can reach alpha until all is rejected."""
    thetas, verdicts, size = np.empty(8), np.empty(8, np.int64), ZERO
    j, floor = first_doubtful_piece(k, n, against.alpha * (1.0 + against.doubt), against.two_sided)
    left = boundary(k, j, n)
    if left >= farthest:
        return thetas[:0], verdicts[:0]
    near, far = tails(k, j, n, left)
    tied = tie(k, n, left)
    while left < farthest:
        if size + 3 > thetas.size:
            thetas = np.concatenate((thetas, np.empty_like(thetas)))
            verdicts = np.concatenate((verdicts, np.empty_like(verdicts)))
        right = boundary(k, j + 1, n)
        if ceiling(j, n, right, near, tied) <= against.alpha * (1.0 - against.doubt):
            size = _note(thetas, verdicts, size, left, REJECTED)
            break
        near_right, far_right = tails(k, j, n, right)
        ends = near + far, near_right + far_right
        first, fall, rise = _judge(k, j, n, against, left, right, ends, floor)
        floor = math.nan  # that of the next is not known
        size = _note(thetas, verdicts, size, left, first)
        if fall < math.inf:
            size = _note(thetas, verdicts, size, fall, REJECTED)
        if rise < math.inf:
            size = _note(thetas, verdicts, size, rise, ACCEPTED)
        # Across a boundary only P(j+1) leaves the tail.
        tied = tie(k, n, right)
        near, far = near_right, far_right - tied
        left, j = right, j + 1
    return thetas[:size], verdicts[:size]


@inner
def ceiling_from(k: int, n: int, theta: float) -> float:
    """Bound the p-value at a theta above k/n and everywhere beyond."""
    q, p = expit(theta), expit(-theta)
    j = last_likelier(k, n, q, p)
    if j == k:
        return 1.0
    return ceiling(j, n, boundary(k, j + 1, n), lower_tail(k, n, q, p), tie(k, n, theta))


@inner
def _judge(
    k: int,
    j: int,
    n: int,
    against: Significance,
    left: float,
    right: float,
    ends: tuple[float, float],
    floor: float,
) -> tuple[int, float, float]:
    """Judge a piece: the verdict at its left end, where it falls to alpha, where it rises again.

    `ends` are the p-values at its ends; `floor` is that of the piece, or nan; infinity means
    nowhere.
    """
    at_left, at_right = ends
    alpha, margin = against.alpha, against.doubt * against.alpha
    fall = rise = math.inf
    if max(at_left, at_right) < alpha - margin:  # both ends of a curve that falls, then rises
        return REJECTED, fall, rise
    lowest = turning_point(k, j, n)
    turn = min(max(lowest, left), right)
    at_turn = floor if turn == lowest and floor >= 0.0 else on_piece(k, j, n, turn)
    if min(abs(at_left - alpha), abs(at_right - alpha), abs(at_turn - alpha)) < margin:
        return UNDECIDED, fall, rise
    if at_left > alpha >= at_turn:
        fall = crossing(k, j, n, alpha, left, turn)
    if at_right > alpha >= at_turn:
        rise = crossing(k, j, n, alpha, turn, right)
    return (ACCEPTED if at_left > alpha else REJECTED), fall, rise


@inner
def _note(thetas: Floats, verdicts: Ints, size: int, theta: float, verdict: int) -> int:
    """Append an edge, unless the verdict before it is the same."""
    if verdict == (verdicts[size - 1] if size else ACCEPTED):
        return size
    thetas[size], verdicts[size] = theta, verdict
    return size + 1
