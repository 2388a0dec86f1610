"""Rates, medians and shares of the study, each with what is known of it."""

from collections.abc import Sequence
from math import inf, isinf, sqrt

import numpy as np
from scipy.stats import binom, chi2


def rate(counts: Sequence[int], years: float = 1.0) -> tuple[float, float, float]:
    """Estimate openings a stream-year.

    Parameters
    ----------
    counts : sequence of int
        Openings of each stream.
    years : float
        How long each stream was judged.

    Returns
    -------
    tuple of float
        The rate and its 95 % limits, two-sided.

    Notes
    -----
    Openings come in clusters, because a stream with an unlucky reference has several. With
    ``phi = max(1, variance / mean)`` of the counts, ``total / phi`` is taken for a Poisson number
    with exact limits (Garwood, 1936), which are multiplied by phi again. Without any opening the
    upper limit is 3.69 / stream-years.

    Examples
    --------
    >>> [round(v, 3) for v in rate([0] * 20)]
    [0.0, 0.0, 0.184]
    >>> [round(v, 3) for v in rate([5] + [0] * 19)]
    [0.25, 0.006, 1.393]
    """
    total, exposure = sum(counts), len(counts) * years
    phi = 1.0
    if total and len(counts) > 1:
        phi = max(1.0, float(np.var(counts, ddof=1) / np.mean(counts)))
    number = total / phi
    low = phi * chi2.ppf(0.025, 2 * number) / 2 if total else 0.0
    high = phi * chi2.ppf(0.975, 2 * number + 2) / 2
    return total / exposure, float(low / exposure), float(high / exposure)


def median(values: Sequence[float]) -> tuple[float, float, float]:
    """Find a median and a 95 % interval of the true one, which needs no distribution.

    The interval is between the k-th smallest and the k-th largest value, k the largest with
    ``P(B < k) <= 0.025`` for B binomial(n, 1/2); without such a k it is unbounded.

    Examples
    --------
    >>> median([3, 1, 2, 5, 4, 7, 6, 9, 8])
    (5.0, 2.0, 8.0)
    >>> median([3, 1, 2])
    (2.0, -inf, inf)
    """
    ordered, n = sorted(map(float, values)), len(values)
    k = int(binom.ppf(0.025, n, 0.5))  # P(B < k) <= 0.025 < P(B <= k), or equal
    middle = ordered[(n - 1) // 2]
    return (middle, ordered[k - 1], ordered[n - k]) if k else (middle, -inf, inf)


def print_rate(counts: Sequence[int], years: float = 1.0, goal: float | None = None) -> str:
    """Print a rate with its limits; in bold if it is above its goal."""
    if not counts:
        return "-"
    value, low, high = rate(counts, years)
    if not sum(counts):
        return f"0 (to {high:.2f})"
    digits = 1 if value >= 1 else 2
    text = f"{value:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"
    return f"**{text}**" if goal is not None and value > goal else text


def print_median(values: Sequence[float], followed: int) -> str:
    """Print a median delay with its interval; what lasts longer than it was followed as such."""
    if not values:
        return "-"
    middle, low, high = (_delay(value, followed) for value in median(values))
    return middle if low == middle == high else f"{middle} ({low} to {high})"


def _delay(value: float, followed: int) -> str:
    if isinf(value):
        return f"> {followed}" if value > 0 else "0"
    return f"{value:.0f}"


def print_share(right: Sequence[bool]) -> str:
    """Print a share in percent with its standard error, two tries of each kind added."""
    if not right:
        return "-"
    smooth = (sum(right) + 2) / (len(right) + 4)
    error = 100 * sqrt(smooth * (1 - smooth) / (len(right) + 4))
    return f"{100 * np.mean(right):.0f} ± {error:.0f}"
