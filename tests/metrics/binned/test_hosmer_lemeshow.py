"""Hosmer-Lemeshow: another program, Pearson's formula, the tail of chi-squared, its size."""

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from monitor.metrics.binned.binning import Bins, quantile_bins, uniform_bins
from monitor.metrics.binned.hosmer_lemeshow import hosmer_lemeshow, log10_chi_squared_tail
from monitor.metrics.core.tally import Tally, tally
from tests.support.paths import GOLDEN

CASES = [
    case
    for case in json.loads((GOLDEN / "binned_measures.json").read_text())["binned"]
    if "hosmer_lemeshow" in case["expected"]
]

tallies = st.lists(st.tuples(st.floats(0.01, 0.99), st.booleans()), min_size=1, max_size=60).map(
    lambda rows: tally([y for _, y in rows], [s for s, _ in rows])
)


def sums(counts: list[int], positives: list[int], score_sums: list[float]) -> Bins:
    """Make bins of their sums."""
    starts = np.arange(len(counts) + 1)
    return Bins(starts, np.array(counts), np.array(positives), np.array(score_sums))


def clipped(bins: Bins) -> Bins:
    """Do as calzone does before anything else, which moves bins of one class a little."""
    rates = np.clip(bins.rates, 1e-7, 1 - 1e-7)
    return replace(bins, positives=rates * bins.counts)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['dataset']}-{case['bins']}")
def test_calzone(case: dict[str, Any]) -> None:
    """Statistic and p of calzone are reproduced, with two degrees lost as it has them."""
    bins = clipped(sums(case["counts"], case["positives"], case["score_sums"]))
    statistic, p = case["expected"]["hosmer_lemeshow"], case["expected"]["p"]

    assert hosmer_lemeshow(bins).statistic == pytest.approx(statistic, rel=1e-12)
    if p is None:  # one bin, so no degree is left
        with pytest.raises(ValueError, match=r"got 2 and 1: make more bins"):
            hosmer_lemeshow(bins, degrees_lost=2)
        return
    found = hosmer_lemeshow(bins, degrees_lost=2)
    assert found.degrees == bins.counts.size - 2
    # It takes 1 - cdf, which is good to 1e-16 at best.
    assert 10**found.log10_p == pytest.approx(p, rel=1e-11, abs=1e-15)


@given(tallies)
def test_statistic_is_pearsons(t: Tally) -> None:
    """Summed over both classes, (observed - expected)**2 / expected is the same number."""
    for bins in (uniform_bins(t, 7), quantile_bins(t, 5)):
        pearson = 0.0
        for n, k, s in zip(bins.counts, bins.positives, bins.score_sums, strict=True):
            pearson += (k - s) ** 2 / s + ((n - k) - (n - s)) ** 2 / (n - s)

        found = hosmer_lemeshow(bins)

        assert found.statistic == pytest.approx(pearson, rel=1e-11, abs=1e-24)
        assert found.degrees == bins.counts.size
        assert found.log10_p <= 0.0


def test_certainties() -> None:
    """Scores of 0 and 1 that come true are no bin at all; one that fails settles the matter."""
    chance = hosmer_lemeshow(sums([10], [7], [5.0]))

    assert hosmer_lemeshow(sums([4, 10, 3], [0, 7, 3], [0.0, 5.0, 3.0])) == chance
    for positives in ([1, 7, 3], [0, 7, 2]):
        failed = hosmer_lemeshow(sums([4, 10, 3], positives, [0.0, 5.0, 3.0]))
        assert (failed.statistic, failed.log10_p) == (math.inf, -math.inf)


class TestTail:
    """The logarithm of the chi-squared tail."""

    @given(st.floats(0.0, 600.0), st.integers(1, 300))
    def test_equals_scipy(self, x: float, degrees: int) -> None:
        """Where nothing underflows it is the logarithm of SciPy's tail, to 1e-10.

        SciPy's own gamma function is good to about 1e-11 in the far tail.
        """
        expected = chi2.logsf(x, degrees) / math.log(10.0)

        assert log10_chi_squared_tail(x, degrees) == pytest.approx(expected, rel=1e-10, abs=1e-12)

    @given(st.floats(2_000.0, 1e12), st.integers(1, 100))
    def test_equals_a_continued_fraction(self, x: float, degrees: int) -> None:
        """Where everything underflows it is Legendre's continued fraction, to 1e-12."""
        a, h = degrees / 2, x / 2
        fraction = 0.0
        for i in range(200, 0, -1):
            fraction = i * (i - a) / (h + 2 * i + 1 - a - fraction)
        log_tail = a * math.log(h) - h - math.lgamma(a) - math.log(h + 1 - a - fraction)

        assert log10_chi_squared_tail(x, degrees) == pytest.approx(
            log_tail / math.log(10.0), rel=1e-12
        )

    def test_ends(self) -> None:
        """At 0 the tail is everything, at infinity nothing."""
        for degrees in (1, 2, 7, 8):
            assert log10_chi_squared_tail(0.0, degrees) == 0.0
            assert log10_chi_squared_tail(math.inf, degrees) == -math.inf
