"""The p-value as a function of the probability: a saw of smooth pieces.

For one count, k of n, and q above k/n (the other side is its mirror image, see `binomial`)
let j(q) be the largest x with P(x) > (1 + 1e-7) P(k). It only grows with q, by one at each
boundary t_j. On piece j, which is (t_j, t_j+1], the p-value is ``1 - P(k < X <= j)``: it first
falls, then rises, and drops by P(j+1) at the end. Three facts make the saw cheap to search:

* Floor. The least value of 1 - P(k < X <= j) over *all* q falls as j grows, because the event
  grows; so the first piece that can reach alpha is found by bisection.
* Ceiling. From t_j on, p <= P(X <= k) + (1 + 1e-7) P(k) / (1 - r) with r = P(j+2)/P(j+1) at
  t_j+1, and every part of that bound falls as q grows. For r: the mean of the terms
  log(i/(n-i+1)) grows less per step than the last of them; for their convex part at most half
  as much, and for log i by induction, because x log(1 + 1/x) rises.
* Between the two lie one to three pieces, for large n about 0.1 standard deviations more;
  each meets alpha at most twice.

Places on the axis are kept as theta = logit q, exact near 0 and near 1.
"""

import math

from monitor.metrics.binomial.binomial import LOG_TIE, TIE_FACTOR, mirrored
from monitor.metrics.binomial.pmf import log_pmf, lower_tail, upper_tail
from monitor.metrics.core.compiled import inner

LAST_THETA = 700.0  # stands for infinity: 1 - q is 1e-304 there


@inner
def logit(q: float, p: float) -> float:
    """Give theta of a probability and its complement."""
    return math.log(q / p)


@inner
def expit(theta: float) -> float:
    """Give the probability of theta; of -theta, its complement."""
    return 1.0 / (1.0 + math.exp(-theta))


@inner
def _level(k: int, j: int, n: int) -> float:
    """Give the theta at which P(j) = P(k): the mean of log(i/(n-i+1)), i = k+1..j.

    log P(j)/P(k) is linear in theta with slope j - k, so one evaluation anywhere, best half
    way, replaces the sum over i.
    """
    q, p = (k + j) / (2.0 * n), (2 * n - k - j) / (2.0 * n)
    return logit(q, p) - (log_pmf(j, n, q, p) - log_pmf(k, n, q, p)) / (j - k)


@inner
def boundary(k: int, j: int, n: int) -> float:
    """Give t_j, the theta above which P(j) > (1 + 1e-7) P(k); infinity's stand-in for n + 1."""
    return _level(k, j, n) + LOG_TIE / (j - k) if j <= n else LAST_THETA


@inner
def turning_point(k: int, j: int, n: int) -> float:
    """Give the theta at which 1 - P(k < X <= j) is least: the mean of log(i/(n-i)), i = k+1..j."""
    if j == n:
        return LAST_THETA
    return _level(k, j, n) + math.log((n - k) / (n - j)) / (j - k)


@inner
def tails(k: int, j: int, n: int, theta: float) -> tuple[float, float]:
    """Give P(X <= k) and P(X > j), whose sum is the p-value on piece j."""
    q, p = expit(theta), expit(-theta)
    return lower_tail(k, n, q, p), upper_tail(j + 1, n, q, p)


@inner
def on_piece(k: int, j: int, n: int, theta: float) -> float:
    """Give 1 - P(k < X <= j), the p-value on piece j."""
    near, far = tails(k, j, n, theta)
    return near + far


@inner
def tie(k: int, n: int, theta: float) -> float:
    """Give (1 + 1e-7) P(k); at a boundary t_j that is P(j)."""
    return TIE_FACTOR * math.exp(log_pmf(k, n, expit(theta), expit(-theta)))


@inner
def ceiling(j: int, n: int, right: float, near: float, tied: float) -> float:
    """Bound the p-value from a place in piece j onwards.

    `right` is the end of the piece; `near`, P(X <= k), and `tied`, of `tie`, are of that place.
    """
    if j == n:
        return near
    ratio = (n - j - 1) / (j + 2) * math.exp(right)
    # Only ties between neighbours (n > 4e7) can make the ratio as large as 1.
    return near + tied / (1.0 - ratio) if ratio < 1.0 else 1.0


@inner
def first_doubtful_piece(k: int, n: int, alpha: float, deviate: float) -> tuple[int, float]:
    """Find the first j whose floor is at most alpha, and its floor.

    The search starts at the end of Wilson's interval.
    """
    square = deviate * deviate
    half_width = deviate * math.sqrt(k * ((n - k) / n) + square / 4.0)
    guess = mirrored(k, n, (k + square / 2.0 + half_width) / (n + square))
    above, reached, floor = k, n, 0.0  # the floors of k and n are 1 and 0
    x, step = max(guess, k + 1), 1
    while reached - above > 1:
        x = min(x, reached - 1)
        value = on_piece(k, x, n, turning_point(k, x, n))
        if value > alpha:
            above = x
            x = min(x + step, (above + reached) // 2)
        else:
            reached, floor = x, value
            x = max(x - step, (above + reached) // 2)
        step *= 2
    return reached, floor


@inner
def crossing(k: int, j: int, n: int, alpha: float, left: float, right: float) -> float:
    """Find where piece j meets alpha: Newton's method on log p, bisection where that leaves.

    Between left and right the p-value is monotone, and alpha lies between its ends.
    """
    rising = on_piece(k, j, n, right) > alpha
    theta = 0.5 * (left + right)
    for _ in range(100):
        value = on_piece(k, j, n, theta)
        if (value > alpha) == rising:
            right = theta
        else:
            left = theta
        step = math.log(value / alpha) * value / _slope(k, j, n, theta)
        if abs(step) <= 1e-15 * max(abs(theta), 1.0) or right - left <= 1e-15 * abs(theta):
            break
        theta -= step
        if not left < theta < right:  # or not a number, where p underflows
            theta = 0.5 * (left + right)
    return theta


@inner
def _slope(k: int, j: int, n: int, theta: float) -> float:
    """Give the derivative of the p-value on piece j by theta."""
    q, p = expit(theta), expit(-theta)
    falling = (n - k) * q * math.exp(log_pmf(k, n, q, p))
    rising = (j + 1) * p * math.exp(log_pmf(j + 1, n, q, p)) if j < n else 0.0
    return rising - falling
