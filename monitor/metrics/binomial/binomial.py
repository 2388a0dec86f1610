"""The exact two-sided binomial test, fast and accurate for any number of trials.

Rule 1: which predictions a bin rejects is decided by `pvalue` alone. Whatever is faster must
decide the same.
"""

import math

import numpy as np
import numpy.typing as npt

from monitor.metrics.binomial.pmf import deviance, log_pmf, lower_tail, upper_tail
from monitor.metrics.core.compiled import compiled, inner
from monitor.metrics.core.grid import Floats, Ints

# Outcomes whose probabilities differ by less than this factor count as equally likely, so
# that rounding cannot part the two outcomes of a symmetric pair.
TIE_FACTOR = 1.0 + 1e-7
LOG_TIE = math.log1p(1e-7)
NEIGHBOURS_TIE = 40_000_000  # at least this many trials put two neighbours within that factor


def binomial_pvalues(
    successes: npt.ArrayLike, trials: npt.ArrayLike, probabilities: npt.ArrayLike
) -> Floats:
    """Test whether a success probability explains a count, exactly and two-sided.

    For analysis, not used by the daily job.

    Parameters
    ----------
    successes : array-like of integers
        Observed successes k, between 0 and n.
    trials : array-like of integers
        Trials n, at least 1; the three arguments broadcast.
    probabilities : array-like
        Supposed success probabilities q in [0, 1].

    Returns
    -------
    ndarray of the broadcast shape
        p-values, ratios in [0, 1].

    Raises
    ------
    ValueError
        If counts are not integers, ``0 <= k <= n`` or ``n >= 1`` fails, or a probability is
        not a number in [0, 1].

    Notes
    -----
    With ``P(x) = C(n, x) q**x (1-q)**(n-x)``, the p-value is the sum of P(x) over all x with
    ``P(x) <= (1 + 1e-7) P(k)``, the "minimum likelihood" test of [TCE, Definition 2]. At
    q = 0 it is 1 if k = 0 and else 0; at q = 1 likewise. `scipy.stats.binomtest` decides the
    same; the definition is frozen here because no gauge may move with a library.

    Examples
    --------
    >>> binomial_pvalues([1, 3], 30, 0.1).round(4)
    array([0.3592, 1.    ])
    """
    k, n = _integers("successes", successes), _integers("trials", trials)
    q = np.asarray(probabilities, dtype=np.float64)
    k, n, q = np.broadcast_arrays(k, n, q)
    _refuse(n < 1, n, "trials must be at least 1")
    _refuse((k < 0) | (k > n), k, "successes must be between 0 and the trials")
    # Written so that nan fails too.
    _refuse(~((q >= 0.0) & (q <= 1.0)), q, "probabilities must be numbers in [0, 1]")
    # Copies, because asking a view of a broadcast array whether it is writeable raises a warning.
    return _pvalues(k.flatten(), n.flatten(), q.flatten()).reshape(q.shape)


def _integers(name: str, values: npt.ArrayLike) -> Ints:
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        msg = f"{name} must be integers, got an array of {array.dtype}: count whole predictions."
        raise ValueError(msg)
    return array.astype(np.int64)


def _refuse(
    wrong: npt.NDArray[np.bool_], values: npt.NDArray[np.generic], requirement: str
) -> None:
    if wrong.any():
        msg = f"{requirement}, got {values[wrong][0]} ({int(wrong.sum())} of {wrong.size})."
        raise ValueError(msg)


@compiled
def _pvalues(successes: Ints, trials: Ints, probabilities: Floats) -> Floats:
    pvalues = np.empty(probabilities.size, np.float64)
    for i in range(probabilities.size):
        pvalues[i] = pvalue(successes[i], trials[i], probabilities[i])
    return pvalues


@inner
def pvalue(k: int, n: int, q: float) -> float:
    """Give the p-value of `binomial_pvalues` for one count and one probability."""
    if q <= 0.0:
        return 1.0 if k == 0 else 0.0
    if q >= 1.0:
        return 1.0 if k == n else 0.0
    if k <= n * q:
        return _pvalue_above(k, n, q, 1.0 - q)
    return _pvalue_above(n - k, n, 1.0 - q, q)


@inner
def _pvalue_above(k: int, n: int, q: float, p: float) -> float:
    """Test a probability not below k/n: find the outcomes likelier than k, sum the others."""
    likely = log_pmf(k, n, q, p) + LOG_TIE
    high = last_likelier(k, n, q, p)
    if high == k:
        return 1.0
    low = k + 1
    # More than one step only beyond NEIGHBOURS_TIE.
    while log_pmf(low, n, q, p) <= likely:
        low += 1
    return min(lower_tail(low - 1, n, q, p) + upper_tail(high + 1, n, q, p), 1.0)


@inner
def pvalue_bounds(k: int, n: int, q: float) -> tuple[float, float]:
    """Bound `pvalue` from both sides without a sum, the closer the larger n is.

    Where k is 0 or n, and where neighbours can tie, the bounds say nothing: they are 0 and 1.
    """
    if not 0 < k < n <= NEIGHBOURS_TIE or not 0.0 < q < 1.0:
        return 0.0, 1.0
    if k > n * q:
        k, q, p = n - k, 1.0 - q, q
    else:
        p = 1.0 - q
    high = last_likelier(k, n, q, p)
    if high == k:
        return 0.0, 1.0
    least, most = _tail_bounds(k, n, q, p)
    least_far, most_far = _tail_bounds(n - high - 1, n, p, q) if high < n else (0.0, 0.0)
    return least + least_far, most + most_far


@inner
def _tail_bounds(x: int, n: int, q: float, p: float) -> tuple[float, float]:
    """Bound P(X <= x) for an x below n - 1 and the mean (Zubkov and Serov, 2013, theorem 1).

    With C(x) = Phi(-sqrt(2 D(x))) up to the mean, and its complement beyond, D being the deviance:
    ``C(x) <= P(X <= x) <= C(x + 1)``.
    """
    most = _normal_tail(x + 1, n, q, p) if x + 1 <= n * q else 1.0
    return (_normal_tail(x, n, q, p) if x > 0 else 0.0), most


@inner
def _normal_tail(x: int, n: int, q: float, p: float) -> float:
    return 0.5 * math.erfc(math.sqrt(deviance(x, n, q, p)))


@inner
def last_likelier(k: int, n: int, q: float, p: float) -> int:
    """Find the largest x with P(x) > (1 + 1e-7) P(k) for a k not above nq; k if there is none.

    A guess, steps that double until both sides are known, then bisection.
    """
    likely = log_pmf(k, n, q, p) + LOG_TIE
    inside, outside = min(int((n + 1) * q), n), n + 1
    if log_pmf(inside, n, q, p) <= likely:
        return k
    x, step = max(mirrored(k, n, q), inside + 1), 1
    while outside - inside > 1:
        x = min(x, outside - 1)
        if log_pmf(x, n, q, p) > likely:
            inside = x
            x = min(x + step, (inside + outside) // 2)
        else:
            outside = x
            x = max(x - step, (inside + outside) // 2)
        step *= 2
    return inside


@inner
def mirrored(k: int, n: int, q: float) -> int:
    """Guess the outcome beyond the mode that is as likely as k, from a skewed normal curve."""
    mean = n * q
    away = mean - k
    skew = (1.0 - 2.0 * q) / (3.0 * max(mean * (1.0 - q), 1e-3))
    return int(min(mean + away + skew * away * away, float(n)))
