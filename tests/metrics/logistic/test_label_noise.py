"""Wrong labels: the curve that they bend, and which share of them a day shows."""

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import expit, logit

from monitor.metrics.core.grid import Floats
from monitor.metrics.logistic.conditional import adjusted_profile
from monitor.metrics.logistic.label_noise import (
    FARTHEST,
    MOST_OF_A_RATE,
    NEIGHBOURS,
    noisy_curve,
    prior_responses,
    weigh_shares,
)

groups = st.lists(
    st.tuples(st.floats(-8, 8), st.integers(1, 300), st.floats(0, 1)), min_size=2, max_size=12
)
SOME = [0.0, 0.1, 0.3]
shares_of_wrong = st.tuples(st.floats(0.0, 0.2), st.floats(0.0, 0.5))  # added and lost


def recorded(curve: Floats, added: float, lost: float, shift: float) -> Floats:
    """Give the probabilities of recorded outcomes once the prior has moved, score by score."""
    found = []
    for p in expit(curve):
        a, b = min(added, MOST_OF_A_RATE * p), min(lost, MOST_OF_A_RATE * (1.0 - p))
        own = logit((p - a) / (1.0 - a - b))
        found.append(a + (1.0 - a - b) * expit(own + shift))
    return np.array(found)


@given(groups, shares_of_wrong)
def test_the_curve_is_that_of_a_plain_root(
    rows: list[tuple[float, int, float]], wrong: tuple[float, float]
) -> None:
    """The prior is the one that SciPy finds; a number that labels alone exceed has none."""
    curve, counts, rates = (np.array(column) for column in zip(*rows, strict=True))
    hits = int(np.rint(counts * rates).sum())
    assume(0 < hits < counts.sum())

    def excess(shift: float) -> float:
        return float((counts * recorded(curve, *wrong, shift)).sum() - hits)

    found = expit(noisy_curve(curve, counts, hits, *wrong))

    if excess(-FARTHEST) * excess(FARTHEST) < 0.0:
        expected = recorded(curve, *wrong, brentq(excess, -FARTHEST, FARTHEST, xtol=1e-13))
        assert found == pytest.approx(expected, rel=1e-7, abs=1e-12)  # to 1e-10 of log-odds
    else:
        assert abs((counts * found).sum() - hits) == pytest.approx(
            min(abs(excess(-FARTHEST)), abs(excess(FARTHEST))), abs=1e-6
        )


@given(st.lists(st.floats(-8, 8), min_size=2, max_size=12), shares_of_wrong)
def test_responses_are_slopes(curve: list[float], wrong: tuple[float, float]) -> None:
    """They are the derivative of the recorded log-odds by those of the prior."""
    at, step = np.array(curve), 1e-5
    ends = [logit(recorded(at, *wrong, side * step)) for side in (-1, 1)]

    found = prior_responses(at, *wrong)

    assert found == pytest.approx((ends[1] - ends[0]) / (2 * step), rel=1e-4, abs=1e-6)


@example(363_960)  # 1.2e-9 beside the plain sum
@given(st.integers(0, 2**32))
def test_shares_are_weighed_at_the_prior_of_the_day(seed: int) -> None:
    """Scores farther apart than neighbours: likelihoods of a plain sum, score and information too.

    The score is that of right labels, so that the curve alone may be wrong. Families differ in
    nothing but their shares.
    """
    rng = np.random.default_rng(seed)
    curve = np.cumsum(rng.uniform(2 * NEIGHBOURS, 1.0, 12)) - 4.0
    counts = rng.integers(20, 400, curve.size)
    positives = rng.binomial(counts, recorded(curve, 0.02, 0.1, rng.normal()))
    assume(0 < positives.sum() < counts.sum())
    directions = rng.normal(size=(2, curve.size))
    added, lost = np.array([[0.0, 0.01, 0.04], [0.0] * 3]), np.array([[0.0, 0.01, 0.04], SOME])

    said = weigh_shares(curve, counts, positives, directions, added, lost)

    for of_family, *shares in zip(said, added, lost, strict=True):
        fits, scores, informations = np.split(of_family, [3, 6])
        pairs = list(zip(*shares, strict=True))
        curves = [noisy_curve(curve, counts, int(positives.sum()), *pair) for pair in pairs]
        expected = np.array([adjusted_profile(moved, counts, positives) for moved in curves])
        # The prior is found to the square of 1e-5 in logit, and up to 4,800 rows depend on it.
        assert fits == pytest.approx(expected - expected[0], abs=1e-7)
        p, along = expit(curves[0]), np.vstack([directions, prior_responses(curve, *pairs[1])])
        weights = counts * p * (1.0 - p)
        off = along - (along @ weights / weights.sum())[:, None]
        assert scores == pytest.approx(along @ (positives - counts * p), abs=1e-6)
        assert informations.reshape(3, 3) == pytest.approx((off * weights) @ off.T, abs=1e-6)


@pytest.mark.parametrize(("rows", "hits"), [(2, 7), (40, 3), (40, 479)])
def test_shares_are_weighed_where_few_rows_or_outcomes_are(rows: int, hits: int) -> None:
    """The exact likelihood of few rows, and fewer positives than labels alone would make."""
    curve, counts = np.linspace(-4.0, 2.0, 12), np.full(12, rows)
    positives, shares = np.zeros(12, np.int64), np.array([[0.0, 0.1, 0.2]])
    for hit in range(hits):
        positives[-1 - hit % 12] += 1
    none = np.zeros((0, 12))

    for added, lost in ((shares, shares), (0.0 * shares, shares), (shares, 0.0 * shares)):
        found = weigh_shares(curve, counts, positives, none, added, lost)[0, :3]

        curves = [
            noisy_curve(curve, counts, hits, *pair) for pair in zip(added[0], lost[0], strict=True)
        ]
        expected = np.array([adjusted_profile(moved, counts, positives) for moved in curves])
        assert found == pytest.approx(expected - expected[0], abs=1e-9)
