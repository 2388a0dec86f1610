"""Cumulative differences against row-by-row formulas, their tails against exact decimals."""

from decimal import Decimal, getcontext, localcontext
from itertools import product
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.metrics.core.tally import shift, tally
from monitor.metrics.logistic.intercept import fit_intercept, has_intercept
from monitor.metrics.smooth.cumulative import (
    Null,
    cumulative_differences,
    log10_tail_of_maximum,
    log10_tail_of_range,
)
from tests.support.cases import few_examples, some

TAILS = [
    (tail, null)
    for tail in (log10_tail_of_maximum, log10_tail_of_range)
    for null in ("calibrated", "intercept_fitted")
]
# Both sides of every change of series, and tails down to 1e-348 (motion), 1e-1389 (bridge).
PLACES = [
    0.05, 0.1, 0.3, 0.6, 0.79, 0.8, 0.99, 1.0, 1.19, 1.2, 1.49, 1.5, 2.0, 5.0, 12.0, 37.0, 40.0
]  # fmt: skip

scores = st.one_of(st.sampled_from([0.0, 0.05, 0.3, 0.5, 0.9, 1.0]), st.floats(1e-200, 1.0))
moderate = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0.001, 0.999))
rows = st.lists(st.tuples(scores, st.booleans()), min_size=1, max_size=40)


def columns(pairs: list[tuple[float, bool]]) -> tuple[list[float], list[bool]]:
    """Split rows into scores and outcomes."""
    return [s for s, _ in pairs], [y for _, y in pairs]


@few_examples
@given(rows)
def test_extremes_equal_a_search_over_all_intervals(pairs: list[tuple[float, bool]]) -> None:
    """KS is the largest sum of residuals up to a score, Kuiper between any two scores."""
    s, y = map(np.array, columns(pairs))
    marks = [-1.0, *sorted(set(s.tolist()))]
    sums = {
        (low, high): abs((y - s)[(s > low) & (s <= high)].sum()) / s.size
        for low in marks
        for high in marks
        if low <= high
    }
    found = cumulative_differences(tally(y, s))

    # 40 rows: a few dozen roundings of sums below 40.
    assert found.ks == pytest.approx(max(sums[-1.0, high] for high in marks), abs=1e-14)
    assert found.kuiper == pytest.approx(max(sums.values()), abs=1e-14)
    assert found.deviation == pytest.approx(np.sqrt((s * (1 - s)).sum()) / s.size, rel=1e-13)


def circle_ratio() -> Decimal:
    """Compute pi by Machin's formula to the precision in force."""
    unit = 10 ** (getcontext().prec + 10)

    def arccot(n: int) -> int:
        total, power, k = 0, unit // n, 1
        while power:
            total += power // k if k % 4 == 1 else -(power // k)
            power, k = power // (n * n), k + 2
        return total

    return Decimal(4 * (4 * arccot(5) - arccot(239))) / unit


def exact_log10_tail(tail: object, null: Null, x: Decimal, digits: int) -> float:
    """Subtract from 1 the series for small x, with so many digits that enough are left."""
    with localcontext() as context:
        context.prec = digits
        pi = circle_ratio()
        maximum, motion = tail is log10_tail_of_maximum, null == "calibrated"
        step = 2 if maximum or motion else 1
        root, square = (2 * pi).sqrt(), pi**2
        base, total, n, k = (-square / (x**2 * (8 if maximum else 2))).exp(), Decimal(0), 1, 0
        # From one base ** (n * n) to the next there are two products.
        power, growth, acceleration = base, base ** (2 * step + step**2), base ** (2 * step**2)
        while True:
            if maximum:
                factor = Decimal((-1) ** k * 4) / (n * pi) if motion else root / x
            elif motion:
                factor = 8 / x**2 + 8 / (square * n**2)
            else:
                factor = root * square / x**3 * n**2
            term = factor * power
            total += term
            if abs(term) < Decimal(10) ** -digits:
                return float((1 - total).log10())
            n, k, power, growth = n + step, k + 1, power * growth, growth * acceleration


@pytest.mark.parametrize(("x", "of"), some(product(PLACES, TAILS), 3))
def test_tails_equal_exact_decimals(of: tuple[object, Null], x: float) -> None:
    """Relative error of log10 p below 1e-12 where p is nearly 1 and where it is 1e-1389."""
    tail, null = of
    expected = exact_log10_tail(tail, null, Decimal(x), 60 + int(0.9 * x**2 + 3 / x**2))

    # Next to p = 1 the exact value underflows below 1e-308 to nothing.
    assert tail(x, null=null) == pytest.approx(expected, rel=1e-12, abs=1e-307)


@few_examples
@given(st.lists(st.tuples(moderate, st.booleans()), min_size=2, max_size=40))
def test_a_fitted_intercept_is_demanded(pairs: list[tuple[float, bool]]) -> None:
    """The bridge is taken after the fit, even with wrong scores of 0 and 1, and refused before."""
    t = tally(*columns(pairs)[::-1])
    if not has_intercept(t):
        return
    moved = shift(t, fit_intercept(t).delta)

    assert cumulative_differences(moved, null="intercept_fitted").ks_log10_p <= 0
    with pytest.raises(ValueError, match=r"^after an intercept fitted to this tally"):
        cumulative_differences(shift(moved, 0.1), null="intercept_fitted")


def test_certain_scores_leave_no_room() -> None:
    """Scores of 0 and 1 have no variance: right is p = 1, wrong is p = 0."""
    right = cumulative_differences(tally([0, 1], [0.0, 1.0]))
    wrong = cumulative_differences(tally([1, 1], [0.0, 1.0]))

    assert (right.ks, right.ks_log10_p, right.kuiper_log10_p) == (0.0, 0.0, 0.0)
    assert (wrong.ks, wrong.ks_log10_p, wrong.kuiper_log10_p) == (0.5, -inf, -inf)
