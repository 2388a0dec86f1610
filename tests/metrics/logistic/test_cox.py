"""Cox intercept and slope against other programs, a generic optimiser and the inverse Hessian."""

import json
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logit

from monitor.metrics.core.grid import Floats
from monitor.metrics.core.tally import Tally, shift, tally
from monitor.metrics.logistic.cox import Cox, fit_cox, slope_z
from monitor.metrics.logistic.intercept import fit_intercept
from tests.support.cases import few_examples
from tests.support.paths import GOLDEN

SMALL = json.loads((GOLDEN / "score_measures.json").read_text())["datasets"]

# Steps of 1/1000: scores one rounding apart can hold outcomes apart by nothing else, and then the
# line exists but its 16th digit decides its first.
thousandths = st.integers(1, 999).map(lambda i: i / 1000)
rows = st.lists(st.tuples(thousandths, st.booleans()), min_size=4, max_size=60)
any_rows = st.lists(st.tuples(st.floats(1e-9, 1 - 1e-9), st.booleans()), max_size=60)


def recorded(name: str) -> Tally:
    """Give a recorded data set."""
    data = SMALL[name]
    return Tally(*(np.array(data[key]) for key in ("scores", "counts", "positives")))


def of(pairs: list[tuple[float, bool]]) -> Tally:
    """Tally pairs of score and outcome."""
    return tally([y for _, y in pairs], [s for s, _ in pairs])


def overlap(t: Tally) -> bool:
    """Tell whether neither order of the two outcomes is perfect."""
    hit, missed = t.scores[t.positives > 0], t.scores[t.counts > t.positives]
    return bool(hit.size and missed.size and missed[-1] > hit[0] and hit[-1] > missed[0])


def loss_and_gradient(line: Floats, t: Tally) -> tuple[float, Floats]:
    """Negative log-likelihood of a line and its gradient, for a generic optimiser."""
    x, k, n = logit(t.scores), t.positives, t.counts
    z = line[0] + line[1] * x
    residuals = n * expit(z) - k
    loss = k @ np.logaddexp(0, -z) + (n - k) @ np.logaddexp(0, z)
    return float(loss), np.array([residuals.sum(), residuals @ x])


def hessian(line: Floats, t: Tally) -> Floats:
    """Fisher information of intercept and slope."""
    x, z = logit(t.scores), line[0] + line[1] * logit(t.scores)
    weights = t.counts * expit(z) * expit(-z)
    return np.array([[weights.sum(), weights @ x], [weights @ x, weights @ x**2]])


def assert_line(found: Cox, expected: dict[str, float], *, rel: float) -> None:
    """Compare coefficients within a share of their standard errors, and those relatively."""
    se_intercept, se_slope = expected["se_intercept"], expected["se_slope"]
    assert found.intercept == pytest.approx(expected["intercept"], abs=rel * se_intercept)
    assert found.slope == pytest.approx(expected["slope"], abs=rel * se_slope)
    assert found.intercept_standard_error == pytest.approx(se_intercept, rel=rel)
    assert found.slope_standard_error == pytest.approx(se_slope, rel=rel)


@pytest.mark.parametrize("name", SMALL)
def test_line_equals_60_digits(name: str) -> None:
    """Coefficients, errors, covariance, intercept alone and slope test, to 1e-12."""
    t, expected = recorded(name), SMALL[name]["exact"]
    found, alone = fit_cox(t), fit_intercept(t)

    assert_line(found, expected["cox"], rel=1e-12)
    assert found.covariance == pytest.approx(expected["cox"]["covariance"], rel=1e-11)
    # The search for the intercept stops at steps of 1e-12; on small_extreme each of its errors
    # moves the test's denominator by ten times as much.
    assert alone.delta == pytest.approx(expected["in_the_large"]["intercept"], abs=1e-11)
    assert alone.standard_error == pytest.approx(
        expected["in_the_large"]["se_intercept"], rel=1e-10
    )
    assert slope_z(t) == pytest.approx(expected["slope_z"], rel=1e-10, abs=1e-10)


@few_examples
@given(rows)
def test_line_equals_a_generic_optimiser(pairs: list[tuple[float, bool]]) -> None:
    """The gradient vanishes, BFGS finds nothing better, errors are the inverse Hessian's."""
    t = of(pairs)
    assume(overlap(t))
    found = fit_cox(t)
    line = np.array([found.intercept, found.slope])
    loss, gradient = loss_and_gradient(line, t)
    information = hessian(line, t)
    covariance = np.linalg.inv(information)

    # In standard errors; the information may be conditioned as badly as 1e8.
    assert math.sqrt(abs(gradient @ covariance @ gradient)) < 1e-7
    other = minimize(loss_and_gradient, [0.0, 0.0], args=(t,), jac=True, method="BFGS")
    assert loss <= other.fun + 1e-12 * abs(other.fun)
    assert found.intercept_standard_error**2 == pytest.approx(covariance[0, 0], rel=1e-6)
    assert found.slope_standard_error**2 == pytest.approx(covariance[1, 1], rel=1e-6)
    # A covariance near 0 is a difference of larger numbers.
    scale = found.intercept_standard_error * found.slope_standard_error
    assert found.covariance == pytest.approx(covariance[0, 1], rel=1e-6, abs=1e-8 * scale)


@pytest.mark.parametrize(
    ("logits", "counts", "positives"),
    [
        (
            [-3.561, -0.475, 0.086, 1.129, 1.473, 2.971, 12.486, 26.751],
            [95, 75, 196, 71, 181, 25, 33, 17],
            [0, 0, 0, 10, 2, 9, 25, 0],
        ),
        (
            [-605.078, -31.312, -5.174, -1.71, 2.442, 3.288, 15.499],
            [1243, 4766, 8220, 4022, 2410, 2349, 8046],
            [760, 121, 4, 1, 533, 2058, 160],
        ),
    ],
)
def test_full_steps_that_overshoot_are_halved(
    logits: list[float], counts: list[int], positives: list[int]
) -> None:
    """With far outliers a full Newton step lowers the likelihood on the way; the end is right."""
    t = Tally(expit(logits), np.array(counts), np.array(positives))
    found = fit_cox(t)
    line = np.array([found.intercept, found.slope])
    _, gradient = loss_and_gradient(line, t)

    assert math.sqrt(gradient @ np.linalg.inv(hessian(line, t)) @ gradient) < 1e-7


@few_examples
@given(rows, st.floats(-2, 2))
def test_a_prior_shift_moves_the_intercept_only(
    pairs: list[tuple[float, bool]], delta: float
) -> None:
    """Logits moved by delta: same slope, same slope test, intercept lower by slope * delta."""
    t = of(pairs)
    moved = shift(t, delta)
    assume(overlap(t) and moved.scores.size == t.scores.size)
    found, after = fit_cox(t), fit_cox(moved)

    # The shifted logits carry roundings of 1e-16 / s(1-s), which a steep slope magnifies.
    assert after.slope == pytest.approx(found.slope, rel=1e-6, abs=1e-6)
    assert after.intercept == pytest.approx(
        found.intercept - found.slope * delta, rel=1e-6, abs=1e-5 * (1 + abs(found.slope))
    )
    assert slope_z(moved) == pytest.approx(slope_z(t), rel=1e-6, abs=1e-6)


@few_examples
@given(any_rows)
def test_line_exists_or_is_refused(pairs: list[tuple[float, bool]]) -> None:
    """Finite numbers exactly when the outcomes overlap, one error otherwise, never another."""
    t = of(pairs)
    if overlap(t):
        assert math.isfinite(fit_cox(t).slope)
    else:
        with pytest.raises(ValueError, match=r"needs both outcomes|two different|separate"):
            fit_cox(t)
