"""Bands of reliability diagrams hold what they say, and nothing less."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import beta

from monitor.metrics import Band, Tally, confidence_band, consistency_band, pava, tally


def drawn(size: int, seed: int) -> tuple[Tally, np.ndarray]:
    """Draw calibrated scores of a prevalence near 30 % and their outcomes."""
    rng = np.random.default_rng(seed)
    scores = expit(rng.normal(-1.0, 1.0, size))
    return tally(rng.random(size) < scores, scores), scores


def limits_at(band: Band, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Read a confidence band at any scores: the lower limit to the left, the upper to the right."""
    left = np.searchsorted(band.scores, scores, side="right") - 1
    right = np.searchsorted(band.scores, scores)
    low = np.where(left >= 0, band.low[np.maximum(left, 0)], 0.0)
    last = band.scores.size - 1
    return low, np.where(right <= last, band.high[np.minimum(right, last)], 1.0)


def test_confidence_band_of_one_score_is_exact() -> None:
    """With one run there is nothing to share the error with: Clopper and Pearson's interval."""
    band = confidence_band(tally([1] * 5 + [0] * 15, [0.3] * 20), level=0.9)

    assert band.low == pytest.approx([beta.ppf(0.05, 5, 16)], rel=1e-9)
    assert band.high == pytest.approx([beta.ppf(0.95, 6, 15)], rel=1e-9)


def test_confidence_band_is_the_best_of_all_runs() -> None:
    """Three scores make six runs; every limit is found by the definition."""
    counts, positives = np.array([30, 40, 50]), np.array([3, 20, 21])
    t = Tally(np.array([0.2, 0.5, 0.8]), counts, positives)
    error = 0.1 / (2 * 6)
    runs = {
        (i, j): (counts[i : j + 1].sum(), positives[i : j + 1].sum())
        for i in range(3)
        for j in range(i, 3)
    }

    band = confidence_band(t, level=0.9)

    for s in range(3):
        lower = [beta.ppf(error, k, n - k + 1) for (_, j), (n, k) in runs.items() if j <= s]
        upper = [beta.ppf(1 - error, k + 1, n - k) for (i, _), (n, k) in runs.items() if i >= s]
        assert band.low[s] == pytest.approx(max(lower), rel=1e-9)
        assert band.high[s] == pytest.approx(min(upper), rel=1e-9)


def test_confidence_band_holds_the_whole_curve() -> None:
    """Of 24 samples at 90 % at most 7 may lose the curve; the probability of more is 0.003."""
    lost = 0
    for seed in range(24):
        t, scores = drawn(2_000, seed)
        low, high = limits_at(confidence_band(t, level=0.9), scores)
        lost += bool(((scores < low) | (scores > high)).any())

    assert lost <= 7


def test_consistency_band_holds_calibrated_curves() -> None:
    """At 90 % the isotonic curve of calibrated scores is inside at 86 to 96 % of them.

    Measured are 89 to 93 % with more samples; the mean of 20 has a standard error of 0.014.
    """
    shares = []
    for seed in range(20):
        t, _ = drawn(2_000, seed)
        band = consistency_band(t, replicates=200, rng=np.random.default_rng(seed))
        bins = pava(t)
        curve = np.interp(band.scores, t.scores, np.repeat(bins.rates, np.diff(bins.starts)))
        shares.append(np.mean((band.low <= curve) & (curve <= band.high)))

    assert 0.86 < np.mean(shares) < 0.96


@given(st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=1, max_size=120))
def test_bands_are_bands(rows: list[tuple[int, bool]]) -> None:
    """Any sample: scores rise, limits never fall, the lower is below the upper, all in [0, 1]."""
    t = tally([outcome for _, outcome in rows], [score / 20 for score, _ in rows])

    for band in (
        confidence_band(t),
        consistency_band(t, replicates=20, rng=np.random.default_rng(1)),
    ):
        assert (np.diff(band.scores) > 0).all()
        for limit in (band.low, band.high):
            assert (np.diff(limit) >= 0).all()
            assert ((limit >= 0) & (limit <= 1)).all()
        assert (band.low <= band.high).all()
        assert band.scores[0] >= t.scores[0] - 1e-12
