"""Dawid-Sebastiani score and scaling of variances: plain loops, searches, and what must hold."""

import math
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student

from monitor.metrics.beyond_binary.regression import (
    dawid_sebastiani,
    squared_error_ratio,
    squared_error_ratio_interval,
)
from monitor.metrics.beyond_binary.variance_scaling import fit_variance_scaling, scale_variances
from monitor.metrics.core.grid import Floats
from tests.support.cases import a_fifth

seeds = st.integers(0, 2**32 - 1)


def draw(seed: int, size: int, *, slope: float = 2.0, intercept: float = 0.5) -> dict[str, Floats]:
    """Draw normal outcomes whose true variance is a line through the predicted one."""
    rng = np.random.default_rng(seed)
    means, variances = rng.normal(3.0, 2.0, size), rng.gamma(4.0, 0.25, size) + 0.1
    outcomes = rng.normal(means, np.sqrt(slope * variances + intercept))
    return {"outcomes": outcomes, "means": means, "variances": variances}


def mean_score(sample: dict[str, Floats], variances: Floats | None = None) -> float:
    """Average the score, with other variances if given."""
    v = sample["variances"] if variances is None else variances
    return float(dawid_sebastiani(sample["outcomes"], means=sample["means"], variances=v).mean())


class TestScore:
    """The score and the ratio."""

    @given(seeds, st.integers(1, 30))
    def test_equals_a_loop(self, seed: int, size: int) -> None:
        """Row by row, by the formula."""
        sample = draw(seed, size)
        scores, ratios = [], []
        for y, mu, v in zip(*sample.values(), strict=True):
            ratios.append((mu - y) ** 2 / v)
            scores.append(ratios[-1] + math.log(v))

        assert dawid_sebastiani(**sample).tolist() == pytest.approx(scores, rel=1e-13, abs=1e-13)
        assert squared_error_ratio(**sample) == pytest.approx(sum(ratios) / size, rel=1e-13)


class TestFit:
    """Platt scaling of the variance."""

    @settings(max_examples=a_fifth(40))
    @given(seeds, st.integers(5, 60), st.floats(-0.4, 3.0))
    def test_no_line_is_better(self, seed: int, size: int, slope: float) -> None:
        """None of 500 lines that are positive where it matters has a lower mean score."""
        rng = np.random.default_rng(seed)
        sample = draw(seed, size, slope=slope, intercept=max(0.2, 0.2 - 6 * slope))
        v = sample["variances"]
        fitted = fit_variance_scaling(**sample)
        least = mean_score(sample, scale_variances(v, fitted))
        at_ends = np.sort(v)[[0, -1]] * fitted.slope + fitted.intercept

        spread = np.concatenate([np.full(250, 0.02), np.full(250, 2.0)])[:, None]
        for at_low, at_high in at_ends * np.exp(spread * rng.normal(size=(500, 2))):
            place = (v - v.min()) / (v.max() - v.min())
            # 1e-12 is the rounding of the mean; the best line is flat to second order.
            assert least <= mean_score(sample, at_low + (at_high - at_low) * place) + 1e-12

    def test_falling_line(self) -> None:
        """Larger errors at smaller variances are reported as a negative slope, not hidden."""
        line = fit_variance_scaling(
            [3.0, -3.0, 1.0, -1.0], means=[0.0] * 4, variances=[1.0, 1.0, 2.0, 2.0]
        )

        assert (line.slope, line.intercept) == pytest.approx((-8.0, 17.0), rel=1e-6)
        with pytest.raises(ValueError, match=r"^1 of 2 scaled variances are not finite numbers"):
            scale_variances([1.0, 3.0], line)


THREE = "outcomes, means and variances must be three lists of one length, got shapes"
GOOD = {"outcomes": [1.0, 2.0], "means": [0.0, 0.0], "variances": [1.0, 2.0]}


FINITE = "are not finite numbers"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"means": [0.0]}, f"{THREE} (2,), (1,) and (2,)."),
        ({"variances": [[1.0, 2.0]]}, f"{THREE} (2,), (2,) and (1, 2)."),
        ({"outcomes": 1.0, "means": 0.0, "variances": 1.0}, f"{THREE} (), () and ()."),
        ({"outcomes": [1.0, nan]}, f"1 of 2 outcomes {FINITE}, first nan at row 1."),
        ({"means": [-inf, 0.0]}, f"1 of 2 means {FINITE}, first -inf at row 0."),
        (
            {"variances": [0.0, -1.0]},
            f"2 of 2 predicted variances {FINITE} above 0, first 0 at row 0.",
        ),
        (
            {"variances": [1.0, inf]},
            f"1 of 2 predicted variances {FINITE} above 0, first inf at row 1.",
        ),
    ],
)
def test_bad_samples_are_refused(changes: dict[str, Any], message: str) -> None:
    """A sample that breaks a rule is refused by every function, with its first offender."""
    for refuse in (dawid_sebastiani, squared_error_ratio, fit_variance_scaling):
        with pytest.raises(ValueError) as refused:  # noqa: PT011 - the whole message is compared
            refuse(**{**GOOD, **changes})

        assert str(refused.value) == message


LINE = "a line through variances needs two different ones"
RATIO = "rescale by squared_error_ratio instead."
NONE = "is exactly 0, so no positive variance is the best there: take a larger sample."


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"variances": [2.0, 2.0]}, f"{LINE}, got 2 for all 2: {RATIO}"),
        (dict.fromkeys(GOOD, ()), f"{LINE}: {RATIO}"),
        ({"outcomes": [0.0, 1.0]}, f"every error at the smallest variance 1 {NONE}"),
        ({"outcomes": [1.0, 0.0]}, f"every error at the largest variance 2 {NONE}"),
    ],
)
def test_samples_without_a_best_line(changes: dict[str, Any], message: str) -> None:
    """Where no line is the best the fit says why."""
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the whole message is compared
        fit_variance_scaling(**{**GOOD, **changes})

    assert str(refused.value) == message


def test_interval_of_the_ratio_is_students_in_the_logarithm() -> None:
    """Its ends are the mean times and over one factor, that of the delta method; no error is 1."""
    errors, v = np.array([1.0, -2.0, 0.5, 1.5]), np.array([1.0, 2.0, 1.0, 0.5])
    ratios = errors**2 / v
    factor = np.exp(student.ppf(0.95, 3) * ratios.std(ddof=1) / 2.0 / ratios.mean())

    found = squared_error_ratio_interval(errors, means=np.zeros(4), variances=v, level=0.9)

    # A quantile, and some roundings.
    assert found.low == pytest.approx(ratios.mean() / factor, rel=1e-12)
    assert found.high == pytest.approx(ratios.mean() * factor, rel=1e-12)
