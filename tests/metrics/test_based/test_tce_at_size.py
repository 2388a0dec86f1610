"""TCE at a fixed size: exactly hypergeometric draws, and a level that volume does not move."""

from collections import Counter
from functools import cache
from itertools import product
from math import comb, isnan, prod

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import chisquare, norm
from scipy.stats import t as student

from monitor.metrics.binned.binning import pava_bc
from monitor.metrics.core.resampling import drawn, index_rows, lay_out
from monitor.metrics.core.tally import Tally, shift, tally
from monitor.metrics.logistic.intercept import fit_intercept
from monitor.metrics.test_based.tce import tce
from monitor.metrics.test_based.tce_at_size import standard_size, tce_at_size, tces_at_size
from tests.support.cases import ALL

DRAWS = 20_000 if ALL else 8_000


def groups(counts: list[int], positives: list[int]) -> Tally:
    """Make a tally with evenly spread scores."""
    scores = np.linspace(0.1, 0.9, len(counts))
    return Tally(scores, np.array(counts), np.array(positives))


def kinds(t: Tally, scores: np.ndarray) -> tuple[int, ...]:
    """Count negatives and positives at each of the scores, those that are missing as 0."""
    counts, positives = np.zeros(scores.size, int), np.zeros(scores.size, int)
    place = np.searchsorted(scores, t.scores)
    counts[place], positives[place] = t.counts, t.positives
    return tuple((counts - positives).tolist() + positives.tolist())


def subsample(t: Tally, size: int, rng: np.random.Generator) -> Tally:
    """Draw rows of a tally without replacement, as `tce_at_size` does."""
    rows = lay_out(t.counts, t.positives)
    ends = np.cumsum(rows)
    places, counts, positives = drawn(rng, rows, ends, *index_rows(ends), size)
    return Tally(t.scores[places], counts, positives)


@cache
def logit_normal(prevalence: float) -> tuple[np.ndarray, np.ndarray]:
    """Give scores and shares of a population whose logits are normal, sd 1.2."""
    logits = (np.arange(2**14) + 0.5) / 512 - 16

    def shares(centre: float) -> np.ndarray:
        weights = norm.pdf(logits, centre, 1.2)
        return weights / weights.sum()

    centre = brentq(lambda c: shares(c) @ expit(logits) - prevalence, -12, 12)
    return expit(logits), shares(centre)


def calibrated_day(prevalence: float, size: int, rng: np.random.Generator) -> Tally:
    """Draw a day of a calibrated model and forgive its prior."""
    scores, shares = logit_normal(prevalence)
    counts = rng.multinomial(size, shares)
    positives, kept = rng.binomial(counts, scores), counts > 0
    day = Tally(scores[kept], counts[kept], positives[kept])
    return shift(day, fit_intercept(day).delta)


@pytest.mark.parametrize(
    ("counts", "positives", "size"),
    [
        pytest.param([1, 3, 2], [1, 1, 0], 2, id="row by row"),
        pytest.param([2, 1, 3], [1, 0, 2], 3, id="half of the rows"),
        pytest.param([1, 3, 2], [1, 1, 0], 5, id="the rows left behind"),
        pytest.param([40], [15], 19, id="thinned, one group"),
        pytest.param([24, 18], [7, 3], 20, id="thinned, two groups"),
    ],
)
def test_draws_are_multivariate_hypergeometric(
    counts: list[int], positives: list[int], size: int
) -> None:
    """Every possible draw comes as often as it should: chi-square over all of them.

    Of seeded draws; outcomes expected fewer than five times are counted together.
    """
    t, rng = groups(counts, positives), np.random.default_rng(1)
    whole = kinds(t, t.scores)
    expected = {
        draw: prod(comb(n, k) for n, k in zip(whole, draw, strict=True)) / comb(t.total, size)
        for draw in product(*(range(min(n, size) + 1) for n in whole))
        if sum(draw) == size
    }
    seen = Counter(kinds(subsample(t, size, rng), t.scores) for _ in range(DRAWS))

    assert set(seen) <= set(expected)
    assert sum(expected.values()) == pytest.approx(1.0, abs=1e-12)
    common = [draw for draw, share in expected.items() if share * DRAWS >= 5]
    observed = [seen[draw] for draw in common]
    shares = [DRAWS * expected[draw] for draw in common]
    rare = DRAWS - sum(shares)
    if rare > 1e-6:
        observed, shares = [*observed, DRAWS - sum(observed)], [*shares, rare]
    assert chisquare(observed, np.array(shares) * sum(observed) / sum(shares)).pvalue > 1e-3


def test_mean_and_deviation_equal_a_naive_version() -> None:
    """Rows chosen by numpy, binned and tested by the public functions, give the same moments.

    Two independent sets of 300 subsamples: means within four standard errors of their
    difference, deviations within a fifth.
    """
    rng = np.random.default_rng(4)
    scores = rng.random(4_000)
    outcomes = rng.random(4_000) < scores**1.2
    values = []
    for _ in range(300):
        rows = rng.choice(4_000, 1_000, replace=False)
        part = tally(outcomes[rows], scores[rows])
        values.append(tce(part, pava_bc(part, min_size=50, max_size=200)).value)

    found = tce_at_size(tally(outcomes, scores), size=1_000, subsamples=300, rng=rng)

    assert abs(found.mean.value - np.mean(values)) < 4 * np.std(values) * np.sqrt(2 / 300)
    assert found.standard_deviation == pytest.approx(np.std(values), rel=0.2)
    assert found.size == 1_000


def test_interval_follows_its_formula() -> None:
    """Mean plus or minus Student's t times the bound of the standard error, cut to [0, 1]."""
    t = calibrated_day(0.3, 8_000, np.random.default_rng(5))
    rng = np.random.default_rng(5)
    found = tce_at_size(t, size=2_000, subsamples=10, level=0.9, rng=rng)
    few = tce_at_size(t, size=2_000, subsamples=2, level=0.999, rng=rng)

    reach = student.ppf(0.95, 9) * found.standard_deviation * np.sqrt(0.25 / 0.75 + 1 / 10)
    assert 0.0 < found.mean.low == pytest.approx(found.mean.value - reach, abs=1e-12)
    assert found.mean.high == pytest.approx(found.mean.value + reach, abs=1e-12)
    assert (few.mean.low, few.mean.high) == (0.0, 1.0)


def test_the_whole_tally_has_one_subsample() -> None:
    """With as many rows as asked for, the value is plain TCE and no interval is made up."""
    t = calibrated_day(0.3, 2_000, np.random.default_rng(7))
    found = tce_at_size(t, size=2_000, rng=np.random.default_rng(7))

    assert found.mean.value == tce(t, pava_bc(t, min_size=100, max_size=400)).value
    assert found.standard_deviation == 0.0
    assert isnan(found.mean.low)
    assert isnan(found.mean.high)


@pytest.mark.parametrize("volume", [1, 20])
@pytest.mark.parametrize("prevalence", [0.5, 0.05, 0.005])
def test_calibrated_days_are_near_12_percent(prevalence: float, volume: int) -> None:
    """The mean of 20 days lies within 12 +- 3 %, whatever the prevalence and the volume."""
    rng = np.random.default_rng(9)
    size = standard_size(prevalence)
    days = [
        tce_at_size(calibrated_day(prevalence, volume * size, rng), size=size, rng=rng).mean.value
        for _ in range(20)
    ]

    assert np.mean(days) == pytest.approx(0.12, abs=0.03)


@pytest.mark.parametrize(
    ("prevalence", "size"),
    [(0.5, 5_000), (0.1, 5_000), (0.05, 10_000), (0.95, 10_000), (0.005, 100_000), (0.03, 16_667)],
)
def test_standard_size(prevalence: float, size: int) -> None:
    """5,000 rows, or as many as bring 500 of the rarer outcome; to the nearest row."""
    assert standard_size(prevalence) == size


def test_scores_of_the_same_predictions_share_their_subsamples() -> None:
    """The first is what it is alone, one and the same tally twice gives the same twice."""
    t = calibrated_day(0.3, 3_000, np.random.default_rng(8))
    moved = shift(t, 0.2)
    alone = tce_at_size(t, size=1_000, rng=np.random.default_rng(9))

    first, again, other = tces_at_size([t, t, moved], size=1_000, rng=np.random.default_rng(9))

    assert first == again == alone
    assert other.mean.value > first.mean.value
    with pytest.raises(ValueError, match=r"^tallies share subsamples only if they differ in noth"):
        tces_at_size(
            [t, tally([0] * 3_000, [0.5] * 3_000)], size=1_000, rng=np.random.default_rng(1)
        )
