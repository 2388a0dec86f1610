"""Binomial probabilities and their tails, accurate to about 1e-13 for up to 1e9 trials.

In compiled functions of the binomial k is the observed number of successes, n of trials, x any
number of successes, and a probability q travels with its complement p = 1 - q, because next
to 1 only the complement knows how far away 1 is. Swapping the two, and k for n - k,
mirrors every statement, so only one side is ever written down.
"""

import math

from monitor.metrics.compiled import compiled

SERIES_REACH = 0.1  # beyond it the logarithm itself is as accurate as its series
TINY = 1e-290

# log(x!) minus Stirling's (x + 1/2) log x - x + log(2 pi)/2, for x = 0 (never used) to 11.
STIRLING_ERRORS = (
    math.nan,
    0.08106146679532726,
    0.0413406959554093,
    0.02767792568499834,
    0.020790672103765093,
    0.016644691189821193,
    0.013876128823070748,
    0.01189670994589177,
    0.010411265261972096,
    0.009255462182712733,
    0.00833056343336287,
    0.007573675487951841,
)


@compiled
def lower_tail(k: int, n: int, q: float, p: float) -> float:
    """Give P(X <= k) for k at or below the mode, where the terms fall without end."""
    term = total = 1.0
    odds = p / q
    for x in range(k, 0, -1):
        term *= x / (n - x + 1.0) * odds
        total += term
        if term < 1e-17 * total:
            break
    return math.exp(log_pmf(k, n, q, p)) * total


@compiled
def upper_tail(k: int, n: int, q: float, p: float) -> float:
    """Give P(X >= k) for k at or above the mode, or n + 1: the mirrored lower tail."""
    return lower_tail(n - k, n, p, q) if k <= n else 0.0


@compiled
def log_pmf(x: int, n: int, q: float, p: float) -> float:
    """Give log P(x) by the saddle-point expansion (Loader, 2000), good to a few units.

    ``log P(x) = e(n) - e(x) - e(n-x) - D(x, nq) - D(n-x, np) - log(2 pi x (n-x)/n)/2`` with
    the errors e of Stirling's formula and the deviances D. Differences of log-gammas would
    lose seven digits at n = 1e7.
    """
    if x == 0:
        return n * (math.log1p(-q) if q < p else math.log(p))
    if x == n:
        return n * (math.log1p(-p) if p < q else math.log(q))
    rest = n - x
    errors = _stirling_error(n) - _stirling_error(x) - _stirling_error(rest)
    deviances = _deviance(x, n * q) + _deviance(rest, n * p)
    return errors - deviances - 0.5 * math.log(2.0 * math.pi * x * (rest / n))


@compiled
def _stirling_error(x: int) -> float:
    if x < len(STIRLING_ERRORS):
        return STIRLING_ERRORS[x]
    s = 1.0 / (float(x) * x)
    series = 1 / 1260 - s * (1 / 1680 - s * (1 / 1188 - s * (691 / 360360)))
    return (1 / 12 - s * (1 / 360 - s * series)) / x


@compiled
def _deviance(x: float, mean: float) -> float:
    """Give ``x log(x/mean) + mean - x`` without cancellation where x is near the mean."""
    v = (x - mean) / (x + mean)
    if abs(v) > SERIES_REACH:
        # The quotient is more accurate, but overflows beside the smallest numbers.
        log_ratio = math.log(x / mean) if mean > TINY else math.log(x) - math.log(mean)
        return x * log_ratio + mean - x
    # log(x/mean) = 2 artanh(v), whose first term combines with mean - x to (x - mean) v.
    total, power, i = (x - mean) * v, 2.0 * x * v, 1
    while True:
        power *= v * v
        i += 2
        new = total + power / i
        if new == total:
            return total
        total = new
