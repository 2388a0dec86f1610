"""Binomial probabilities and their tails, accurate to about 1e-13 for up to 1e9 trials.

In compiled functions of the binomial k is the observed number of successes, n of trials, x any
number of successes, and a probability q travels with its complement p = 1 - q, because next
to 1 only the complement shows how far away 1 is. Swapping the two, and k for n - k,
mirrors every statement, so only one side is ever written down.
"""

import math

from monitor.metrics.core.compiled import inner

MANY = 400.0  # of k p, about the variance: from here on the fraction is faster than the sum
BLOCK = 8  # steps of the fraction between two checks of its value
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


@inner
def lower_tail(k: int, n: int, q: float, p: float) -> float:
    """Give P(X <= k) for k at or below the mode, where the terms fall without end."""
    ratio = _tail_by_fraction(k, n, q, p) if k * p > MANY else _tail_by_sum(k, n, q, p)
    return math.exp(log_pmf(k, n, q, p)) * ratio


@inner
def upper_tail(k: int, n: int, q: float, p: float) -> float:
    """Give P(X >= k) for k at or above the mode, or n + 1: the mirrored lower tail."""
    return lower_tail(n - k, n, p, q) if k <= n else 0.0


@inner
def _tail_by_sum(k: int, n: int, q: float, p: float) -> float:
    """Give P(X <= k) / P(k): a few times the standard deviation of terms.

    A term is x/(n-x+1) p/q times the one before. Four at a time share one division, which takes
    as long as all their products.
    """
    term = total = 1.0
    odds = p / q
    x, y = float(k), n - k + 1.0
    while x > 3.0:  # noqa: PLR2004 (four are left)
        a, b, c, d = x * odds, (x - 1.0) * odds, (x - 2.0) * odds, (x - 3.0) * odds
        last_two, pair = (y + 2.0) * (y + 3.0), a * b
        share = term / (y * (y + 1.0) * last_two)
        total += share * ((a * (y + 1.0) + pair) * last_two + pair * c * ((y + 3.0) + d))
        term = share * (pair * (c * d))
        if term < 1e-17 * total:
            return total
        x, y = x - 4.0, y + 4.0
    while x > 0.0:
        term *= x / y * odds
        total += term
        x, y = x - 1.0, y + 1.0
    return total


@inner
def _tail_by_fraction(k: int, n: int, q: float, p: float) -> float:
    """Give P(X <= k) / P(k) by the continued fraction of the incomplete beta function.

    P(X <= k) is I_p(a, b) with a = n - k and b = k + 1, and the ratio
    ``a q / (b_0 + a_1 / (b_1 + a_2 / ...))`` with the a_m and b_m of Didonato and Morris (ACM
    TOMS 18, 1992, section 6), whose convergence needs some dozens of steps where the sum
    needs thousands of terms. Here they are cleared of their denominators, so that a step has
    no division, and everything is a multiple of n, so that no block leaves the range of numbers.
    """
    unit = 1.0 / n
    a, b, x = (n - k) * unit, (k + 1) * unit, p
    # (n+1) q - k, from the one of q and p whose rounding is the smaller.
    above = ((n + 1) * q - k if q <= p else (n + 1 - k) - (n + 1) * p) * unit
    scale = (a - unit) * (a + unit)
    before, here, before_below, here_below = 1.0, a * (a - unit) * above, 0.0, 1.0
    value, m, low = here, 0.0, a - unit
    while True:
        for _ in range(BLOCK):
            m += unit
            lower, low = low, low + 2.0 * unit  # a + 2m - 3 and a + 2m - 1, in units
            high = low + 2.0 * unit
            top = (a + m - unit) * (a + b + m - unit) * m * (b - m) * x * x * high * lower
            side = m * (low + (b - m) * x) * high + (a + m) * (above + m * (1.0 + q)) * low
            before, here = here, side * here + top * before
            before_below, here_below = here_below, side * here_below + top * before_below
        last, value = value, here / here_below
        if not abs(value - last) > 1e-15 * value:
            return a * q * scale / value
        shrink = 1.0 / here_below
        before, here, before_below = before * shrink, value, before_below * shrink
        here_below = 1.0


@inner
def log_pmf(x: int, n: int, q: float, p: float) -> float:
    """Give log P(x) by the saddle-point expansion (Loader, 2000), good to a few units.

    ``log P(x) = e(n) - e(x) - e(n-x) - D(x) - log(2 pi x (n-x)/n)/2`` with
    the errors e of Stirling's formula and the deviance D. Differences of log-gammas would
    lose seven digits at n = 1e7.
    """
    if x == 0:
        return n * (math.log1p(-q) if q < p else math.log(p))
    if x == n:
        return n * (math.log1p(-p) if p < q else math.log(q))
    rest = n - x
    errors = _stirling_error(n) - _stirling_error(x) - _stirling_error(rest)
    return errors - deviance(x, n, q, p) - 0.5 * math.log(2.0 * math.pi * x * (rest / n))


@inner
def _stirling_error(x: int) -> float:
    if x < len(STIRLING_ERRORS):
        return STIRLING_ERRORS[x]
    s = 1.0 / (float(x) * x)
    series = 1 / 1260 - s * (1 / 1680 - s * (1 / 1188 - s * (691 / 360360)))
    return (1 / 12 - s * (1 / 360 - s * series)) / x


@inner
def deviance(x: int, n: int, q: float, p: float) -> float:
    """Give ``x log(x/(nq)) + (n-x) log((n-x)/(np))`` for 0 < x < n."""
    return _deviance(x, n * q) + _deviance(n - x, n * p)


@inner
def _deviance(x: float, mean: float) -> float:
    """Give ``x log(x/mean) + mean - x`` without cancellation where x is near the mean."""
    v = (x - mean) / (x + mean)
    if abs(v) > SERIES_REACH:
        # The quotient is more accurate, but overflows for the smallest numbers.
        log_ratio = math.log(x / mean) if mean > TINY else math.log(x) - math.log(mean)
        return x * log_ratio + mean - x
    # log(x/mean) = 2 artanh(v), whose first term combines with mean - x to (x - mean) v.
    total, power, i = (x - mean) * v, 2.0 * x * v, 1
    while True:
        power *= v * v
        i += 2
        new = total + power / i
        if not abs(new - total) > 0.0:  # written so that nan ends it too
            return total
        total = new
