"""Fitted maps: they recover the truth whatever the prior does, and always increase."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression, minimize
from scipy.special import expit, logit

from monitor.metrics.core.tally import tally
from monitor.metrics.logistic.cox import fit_cox
from monitor.metrics.maps.calibration_map import KINDS, Kind, check_map, functions_of, shape_of
from monitor.metrics.maps.centred_isotonic import fit_centred_isotonic
from monitor.metrics.maps.daily_counts import DailyCounts, daily_counts, merge_spans, spans_of
from monitor.metrics.maps.fitting import fit_calibration_map
from monitor.metrics.maps.mean_over_days import LEVEL_MEMORY, mean_over_days
from tests.support.cases import few_examples

LOGITS = np.arange(-4.0, 4.0, 0.125)
PRIORS = np.array([-1.5, 0.3, 0.9, -0.2])
SHAPES = {
    "platt": 0.7 * LOGITS,
    "beta": -0.5 * np.logaddexp(0.0, -LOGITS) + 1.6 * np.logaddexp(0.0, LOGITS),
    "wave": LOGITS + 0.3 * np.sin(1.5 * LOGITS),
}


def expected(shape: np.ndarray, priors: np.ndarray = PRIORS, rows: float = 1e4) -> DailyCounts:
    """Give days whose outcomes are exactly as the shape and the priors say."""
    counts = rows * np.exp(-0.1 * LOGITS**2) * np.ones((priors.size, 1))
    return DailyCounts(LOGITS, counts, counts * expit(shape + priors[:, None]))


def centred(values: np.ndarray) -> np.ndarray:
    """Take the mean away: a shape is known up to a constant."""
    return np.asarray(values - values.mean())


@pytest.mark.parametrize(
    ("shape", "kind", "off"),
    [
        ("platt", "platt", 1e-6),
        ("platt", "beta", 1e-6),
        ("platt", "spline", 1e-6),
        ("beta", "beta", 1e-6),
        # Six knots follow the wave to 0.1, most at the ends; blocks join no two groups here, so
        # the isotonic regression follows it but for its half an outcome.
        ("wave", "spline", 0.1),
        ("wave", "isotonic", 1e-2),
        ("platt", "isotonic", 1e-2),
    ],
)
def test_shape_is_recovered_whatever_the_prior_does(shape: str, kind: Kind, off: float) -> None:
    """With outcomes as the shape says on days of any prior, the fit is the shape."""
    found = fit_calibration_map(expected(SHAPES[shape]), kind).map
    inside = np.abs(LOGITS) < 3.0

    np.testing.assert_allclose(
        centred(shape_of(LOGITS, found)[inside]), centred(SHAPES[shape][inside]), atol=off
    )


def test_one_day_gives_the_line_of_cox() -> None:
    """With one day the intercept and slope are those of a plain logistic regression."""
    rng = np.random.default_rng(1)
    scores = rng.uniform(0.05, 0.95, 900)
    t = tally(rng.random(900) < expit(0.5 + 0.6 * logit(scores)), scores)
    line, found = fit_cox(t), fit_calibration_map(daily_counts([t]), "platt")

    assert found.map.parameters[0] == pytest.approx(line.slope, rel=1e-7)
    assert found.map.level == pytest.approx(line.intercept, abs=1e-7)


@pytest.mark.parametrize("outcomes", [[0, 1, 1], [1, 0, 1], [0, 0, 1], [0] * 25 + [1] * 30])
def test_few_rows_and_separated_ones_have_the_line_of_platt(outcomes: list[int]) -> None:
    """With Platt's targets of 1999; a beta map of such rows is about the same line."""
    y = np.array(outcomes, float)
    x = np.linspace(-2.2, 1.4, y.size)
    rows = DailyCounts(x, np.ones((1, y.size)), y[None])
    found, beta = (fit_calibration_map(rows, kind).map for kind in ("platt", "beta"))
    targets = np.where(y > 0, (y.sum() + 1) / (y.sum() + 2), 1 / (y.size - y.sum() + 2))

    def loss(line: np.ndarray) -> float:
        z = line[0] + max(line[1], 1e-3) * x
        return float((np.logaddexp(0.0, z) - targets * z).sum())

    best = minimize(loss, [0.0, 0.5], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13})
    # The simplex ends within 1e-6 of the minimum; slopes of maps are 0.001 at least.
    level, slope = best.x[0], max(best.x[1], 1e-3)
    assert [found.level, *found.parameters] == pytest.approx([level, slope], abs=1e-4)
    assert (abs(found.level) < 1.0) == (slope < 1.0) == (y.size == 3)
    assert slope < 8.0
    assert np.ptp(beta.parameters) < 1.0  # two standard deviations of what is usual


def test_beta_is_the_optimum_that_another_optimiser_finds() -> None:
    """Quasi-Newton steps on slopes and all intercepts at once end at the same beta map."""
    data, rng = expected(SHAPES["wave"], rows=200.0), np.random.default_rng(2)
    positives = rng.binomial(data.counts.astype(int), expit(SHAPES["wave"] + PRIORS[:, None]))
    drawn = DailyCounts(LOGITS, np.floor(data.counts), positives.astype(float))
    functions = functions_of(LOGITS, "beta")

    def loss(theta: np.ndarray) -> float:
        z = theta[:2] @ functions + theta[2:, None]
        return float((drawn.counts * np.logaddexp(0.0, z) - drawn.positives * z).sum()) / 1e3

    best = minimize(loss, np.ones(6), bounds=[(1e-3, 10.0)] * 2 + [(None, None)] * 4, tol=1e-14)

    found = fit_calibration_map(drawn, "beta").map.parameters
    # Quasi-Newton stops where its finite differences see no slope.
    np.testing.assert_allclose(found, best.x[:2], atol=2e-3)
    assert loss(np.array([*found, *best.x[2:]])) <= best.fun + 1e-5


def test_isotonic_has_the_blocks_of_the_plain_regression() -> None:
    """On one day the knots are the means of the blocks that SciPy finds, if all keep apart."""
    rng = np.random.default_rng(3)
    counts = rng.integers(500, 900, (1, LOGITS.size)).astype(float)
    positives = rng.binomial(counts.astype(int), expit(0.8 * LOGITS)).astype(float)
    rates = positives / counts
    blocks = isotonic_regression(rates[0], weights=counts[0]).blocks
    pairs = list(pairwise(blocks))
    middle = [np.average(LOGITS[a:b], weights=counts[0, a:b]) for a, b in pairs]
    values = [
        logit((positives[0, a:b].sum() + 0.5) / (counts[0, a:b].sum() + 1.0)) for a, b in pairs
    ]

    knots, found = fit_centred_isotonic(LOGITS, counts, positives)

    np.testing.assert_allclose(knots, middle, rtol=1e-12)
    np.testing.assert_allclose(centred(found), centred(np.array(values)), atol=1e-9)


@few_examples
@given(st.data())
def test_any_map_increases(data: st.DataObject) -> None:
    """Whatever the outcomes are, also where the scores separate them, maps increase strictly."""
    days = data.draw(st.integers(1, 3))
    flat = data.draw(st.lists(st.integers(0, 9), min_size=days * 6, max_size=days * 6))
    hits = data.draw(st.lists(st.integers(0, 9), min_size=days * 6, max_size=days * 6))
    counts = np.array(flat, float).reshape(days, 6)
    positives = np.minimum(counts, np.array(hits, float).reshape(days, 6))
    counts[0, 0], positives[0, 0] = counts[0, 0] + 2.0, positives[0, 0] + 1.0  # both outcomes
    groups = DailyCounts(np.array([-3.0, -1.0, -0.9, 0.0, 0.5, 4.0]), counts, positives)

    for kind in KINDS:
        check_map(fit_calibration_map(groups, kind).map)


def test_level_lets_days_differ() -> None:
    """With priors of standard deviation s on D days, the error of the level is about s / root D."""
    rng = np.random.default_rng(4)
    found = fit_calibration_map(expected(LOGITS, rng.normal(0.0, 0.3, 100)), "intercept")

    # The sample deviation of 100 draws has an error of 7 %.
    assert found.level_standard_error == pytest.approx(0.03, rel=0.25)


def test_days_with_few_outcomes_share_an_intercept() -> None:
    """Spans have 30 outcomes of each kind, or a twentieth of the rarer kind."""
    few = DailyCounts(np.zeros(1), np.full((9, 1), 30.0), np.full((9, 1), 10.0))
    rare = DailyCounts(np.zeros(1), np.full((200, 1), 1000.0), np.full((200, 1), 6.0))

    assert len(set(spans_of(few).tolist())) == 9  # 90 / 20 is less than the 10 of a day
    assert spans_of(rare).tolist() == sorted(list(range(40)) * 5)
    assert merge_spans(rare, spans_of(rare)).positives.tolist() == [[30.0]] * 40


def test_a_sample_of_negatives_gives_the_map_of_the_population() -> None:
    """Logs that keep a tenth of the negatives, with scores moved to suit, give the same map."""
    data = expected(SHAPES["platt"], np.zeros(1), rows=1e6)
    hits = np.rint(data.positives[0]).astype(int)
    misses = np.rint(data.counts[0] - data.positives[0]).astype(int)
    whole = type(tally([1], [0.5]))(expit(LOGITS), hits + misses, hits)
    kept = misses // 10
    moved = type(whole)(expit(LOGITS + np.log(10.0)), hits + kept, hits)
    expected_map = fit_calibration_map(daily_counts([whole]), "platt").map

    found = fit_calibration_map(daily_counts([moved], [(10.0, 1.0)]), "platt").map

    # Rounding down loses up to nine of some thousand negatives in a group.
    assert found.parameters[0] == pytest.approx(expected_map.parameters[0], abs=1e-3)
    assert found.level == pytest.approx(expected_map.level, abs=1e-3)


def wandering(shift: float, spread: float) -> DailyCounts:
    """Make 28 days of expected counts whose prior is a wave around a shift, in logit."""
    x = np.linspace(-2.0, 2.0, 21)
    prior = shift + spread * np.sin(np.arange(28) / 4.0)
    counts = np.full((28, x.size), 100.0)
    return DailyCounts(x, counts, counts * expit(0.7 * x + prior[:, None]))


@pytest.mark.parametrize(
    ("shift", "spread", "least", "most"),
    [(0.1, 0.8, 0.0, 0.1), (1.0, 0.2, 0.95, 1.0), (1.0, 0.0, 1.0, 1.0), (0.0, 0.5, 0.0, 0.1)],
)
def test_a_level_is_shrunk_by_what_the_prior_wanders(
    shift: float, spread: float, least: float, most: float
) -> None:
    """It moves with a prior that has moved for good, and hardly with one that wanders."""
    data = wandering(shift, spread)
    full = fit_calibration_map(data, "platt").map
    found = fit_calibration_map(data, "platt", shrink_level=True).map

    assert found.parameters == full.parameters
    # Scores and slopes are symmetric, so the level that keeps the mean is 0, but for rounding.
    assert least - 1e-9 <= found.level / full.level <= most + 1e-9


def test_the_share_of_a_level_is_that_of_its_formula() -> None:
    """`d**2 / (d**2 + v)`, v the variance of the mean over days of the level's score."""
    data = wandering(0.3, 0.4)
    full = fit_calibration_map(data, "intercept").map.level
    p = expit(data.logits + full)
    scores = (data.positives - data.counts * p).sum(axis=1)
    weights = (data.counts * p * (1.0 - p)).sum(axis=1)
    error = mean_over_days(scores, weights, least_memory=LEVEL_MEMORY).standard_error

    found = fit_calibration_map(data, "intercept", shrink_level=True).map.level

    assert found == pytest.approx(full * full**2 / (full**2 + error**2), rel=1e-9)
