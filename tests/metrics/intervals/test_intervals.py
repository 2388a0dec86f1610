"""Closed-form intervals against their definitions, ECE's own, and the page of coverages."""

import json
from collections.abc import Callable
from math import isnan, nan

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binomtest, norm, sem, ttest_ind

from monitor.metrics.binned.binning import monitor_sizes, pava_bc
from monitor.metrics.binned.ece import ece
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.tally import Tally, shift, tally
from monitor.metrics.intervals.bootstrap import bootstrap_interval
from monitor.metrics.intervals.ece_interval import (
    Adjustment,
    ece_interval,
    join_neighbours,
    pava_bc_ece,
)
from monitor.metrics.intervals.intervals import (
    auc_interval,
    brier_interval,
    log_score_interval,
    mean_score_interval,
    normal_interval,
    prevalence_interval,
    rbs_interval,
    tjur_interval,
    uncertainty_interval,
    wilson,
)
from monitor.metrics.logistic.intercept import fit_intercept
from monitor.metrics.scores.bounds import ScoringRule
from monitor.metrics.scores.brier import brier, rbs
from monitor.metrics.scores.corp import corp
from monitor.metrics.scores.discrimination import auc, tjur_r2
from monitor.metrics.scores.log_score import log_score
from studies.coverage.page import page as coverage_page
from tests.support.paths import ROOT

scores = np.round(np.random.default_rng(1).random(300), 2)
outcomes = np.random.default_rng(2).random(300) < scores
some = tally(outcomes, scores)


CLOSED = {
    prevalence_interval: lambda t: t.prevalence,
    mean_score_interval: lambda t: t.mean_score,
    uncertainty_interval: lambda t: corp(t).uncertainty,
    rbs_interval: rbs,
    brier_interval: brier,
    log_score_interval: log_score,
    auc_interval: lambda t: auc(t).value,
    tjur_interval: tjur_r2,
}


@pytest.mark.parametrize("interval", CLOSED)
def test_value_is_the_measure_itself(interval: Callable[[Tally], Estimate]) -> None:
    """An interval comes with the number that it belongs to, which is inside."""
    found = interval(some)

    # Some take another sum to it: a few roundings of 300 terms.
    assert found.value == pytest.approx(CLOSED[interval](some), rel=1e-13)
    assert found.low < found.value < found.high


@pytest.mark.parametrize("adjusted", ["raw", "prior"])
def test_value_of_ece_is_that_of_all_its_groups(adjusted: Adjustment) -> None:
    """Groups are put together to find the interval, not for the value."""
    moved = some if adjusted == "raw" else shift(some, fit_intercept(some).delta)
    smallest, largest = monitor_sizes(some.total)
    expected = ece(pava_bc(moved, min_size=smallest, max_size=largest))
    rng = np.random.default_rng(1)

    found = ece_interval(some, adjusted=adjusted, replicates=20, rng=rng)
    assert found.value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("n", "k"), [(10, 0), (10, 10), (1_000, 5), (200, 90)])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_prevalence_equals_wilson(n: int, k: int, level: float) -> None:
    """The ends are those of SciPy's Wilson interval, to the precision of both."""
    found = prevalence_interval(tally([1] * k + [0] * (n - k), [0.5] * n), level=level)
    expected = binomtest(k, n).proportion_ci(level, method="wilson")

    assert found.low == pytest.approx(expected.low, abs=1e-12)
    assert found.high == pytest.approx(expected.high, abs=1e-12)


def test_wilson_stays_within_0_and_1() -> None:
    """By no rounding an end lies beyond, whatever the number of rows."""
    ends = [wilson(rate, 3.84 / n) for n in range(1, 300) for rate in (0.0, 1.0)]

    assert min(interval.low for interval in ends) == 0.0
    assert max(interval.high for interval in ends) == 1.0


def test_mean_score_equals_scipy() -> None:
    """The ends are those of the normal law around the mean of the rows."""
    low, high = norm.interval(0.95, scores.mean(), sem(scores))
    found = mean_score_interval(some)

    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-12)


@pytest.mark.parametrize("positives", [0, 1, 8, 10, 20])
@pytest.mark.parametrize("rule", ["brier", "log"])
def test_uncertainty_is_the_image_of_the_prevalence(positives: int, rule: ScoringRule) -> None:
    """The ends are least and greatest uncertainty of 100,001 prevalences inside, to 1e-6."""
    t = tally([1] * positives + [0] * (20 - positives), [0.5] * 20)
    prevalence = prevalence_interval(t)
    p = np.linspace(prevalence.low, prevalence.high, 100_001)
    p = np.clip(p, 1e-300, 1.0 - 1e-16)
    values = p * (1 - p) if rule == "brier" else -p * np.log(p) - (1 - p) * np.log1p(-p)
    found = uncertainty_interval(t, rule=rule)

    assert found.low == pytest.approx(values.min(), abs=1e-6)
    assert found.high == pytest.approx(values.max(), abs=1e-6)


def test_tjur_has_welch_s_width() -> None:
    """In the logarithm the half width is Welch's, as SciPy has it, over the value."""
    test = ttest_ind(scores[outcomes], scores[~outcomes], equal_var=False)
    expected = test.confidence_interval()
    value = (expected.low + expected.high) / 2
    found = tjur_interval(some)

    half = (expected.high - expected.low) / 2 / value
    assert found.high == pytest.approx(value * np.exp(half), rel=1e-12)
    assert found.low == pytest.approx(value * np.exp(-half), rel=1e-12)


def test_tjur_without_a_logarithm_or_a_variance() -> None:
    """An R2 below 0 has a plain interval around it; one positive has none."""
    reversed_ = tjur_interval(tally([1, 1, 0, 0], [0.1, 0.2, 0.8, 0.9]))

    assert (reversed_.low + reversed_.high) / 2 == pytest.approx(-0.7, abs=1e-12)
    assert isnan(tjur_interval(tally([0, 0, 1], [0.1, 0.2, 0.8])).low)


def test_an_interval_without_knowledge_is_everything() -> None:
    """An error of a million times the value leaves nothing out, and nothing overflows."""
    found = normal_interval(1e-6, 1.0, scale="log")

    assert found.low == pytest.approx(0.0, abs=1e-100)
    assert found.high > 1e100
    nearly_alike = tally([1, 0, 1, 0], [0.5, 0.5 + 1e-9, 0.3, 0.7])
    assert 0.0 <= tjur_interval(nearly_alike).high <= 1.0


@pytest.mark.parametrize(("value", "scale"), [(0.0, "log"), (-0.1, "log"), (1.0, "logit")])
def test_values_without_a_scale_are_plain(value: float, scale: str) -> None:
    """Where there is no logarithm the plain interval is given; without an error there is none."""
    assert normal_interval(value, 0.1, scale=scale) == normal_interval(value, 0.1)
    assert isnan(normal_interval(value, nan, scale=scale).low)


def test_scores_keep_their_range() -> None:
    """Brier's ends are the squares of RBS's, none is negative, and AUC stays inside (0, 1)."""
    root, square = rbs_interval(some), brier_interval(some)
    two = tally([0, 0], [0.2, 0.9])

    assert (square.low, square.high) == (root.low**2, root.high**2)
    assert rbs_interval(two, level=0.99) == Estimate(rbs(two), 0.0, 1.0)
    assert log_score_interval(two).low > 0.0
    assert 0.0 < auc_interval(some).low < auc_interval(some).high < 1.0
    assert auc_interval(tally([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9])) == Estimate(1.0, 1.0, 1.0)


def test_ece_interval_is_the_inverted_one() -> None:
    """On scores that are coarse already it is the bootstrap interval with that method."""
    t = join_neighbours(some)
    found = ece_interval(t, replicates=40, rng=np.random.default_rng(5))
    rng = np.random.default_rng(5)

    assert found == bootstrap_interval(t, pava_bc_ece, replicates=40, method="inverted", rng=rng)


def test_the_prior_reading_forgives_the_prior() -> None:
    """Doubling the odds of all scores changes the raw interval, and the other not at all."""
    logits = (np.arange(-128, 128) + 0.5) / 64  # mid-cell, so rounding moves none to the next
    rng = np.random.default_rng(6)
    t = Tally(expit(logits), np.full(256, 20), rng.binomial(20, expit(logits)))
    moved = shift(t, np.log(2.0))

    def find(t: Tally, adjusted: str) -> Estimate:
        rng = np.random.default_rng(7)
        return ece_interval(t, adjusted=adjusted, replicates=40, rng=rng)

    assert find(moved, "raw").low > find(t, "raw").high
    one, other = find(t, "prior"), find(moved, "prior")
    assert (other.low, other.high) == pytest.approx((one.low, one.high), rel=1e-6, abs=1e-9)


def test_the_page_of_coverages_is_that_of_the_counts() -> None:
    """docs/coverage.md holds what studies/coverage/run.json says, and nothing else."""
    counts = json.loads((ROOT / "studies" / "coverage" / "run.json").read_text())
    page = coverage_page(counts)

    assert page == (ROOT / "docs" / "coverage.md").read_text()
