"""The kernel density estimate of the calibration error against the paper's formula, by rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from monitor.metrics import kernel_density_error, tally, tally_on_grid
from monitor.metrics.core.grid import Floats
from monitor.metrics.smooth.kernel_density import BANDWIDTHS, likeliest_bandwidth, merge_neighbours
from tests.support.cases import few_examples

inside = st.one_of(st.sampled_from([0.05, 0.3, 0.5, 0.9]), st.floats(0.01, 0.99))
rows = st.lists(st.tuples(inside, st.booleans()), min_size=2, max_size=25)


def kernels(scores: Floats, bandwidth: float) -> Floats:
    """Evaluate the density around each score (columns) at each score (rows), 0 at itself."""
    a, b = scores / bandwidth + 1.0, (1.0 - scores) / bandwidth + 1.0
    found = beta.pdf(scores[:, None], a, b)
    np.fill_diagonal(found, 0.0)
    return found


def by_rows(scores: Floats, outcomes: Floats, order: float, bandwidth: float) -> float:
    """Evaluate equations 7 to 10 of the paper as they stand, one row after the other."""
    weights, total = kernels(scores, bandwidth), 0.0
    for j in range(scores.size):
        rate = (weights[j] * outcomes).sum() / weights[j].sum()
        total += abs(rate - scores[j]) ** order
    return float((total / scores.size) ** (1.0 / order))


def drawn(size: int, slope: float = 1.0, seed: int = 0) -> tuple[Floats, Floats]:
    """Draw scores with normal logits; the true ones are `slope` times as far from 0."""
    rng = np.random.default_rng([31, seed])
    logits = rng.normal(-0.5, 1.2, size)
    scores, true = (1.0 / (1.0 + np.exp(-x)) for x in (logits, slope * logits))
    return scores, (rng.random(size) < true).astype(float)


@few_examples
@given(rows, st.sampled_from([1.0, 1.5, 2.0]), st.sampled_from([0.02, 0.1, 1.0]))
def test_it_is_the_formula_by_rows(
    pairs: list[tuple[float, bool]], order: float, bandwidth: float
) -> None:
    """Ties and all. Densities there come from another function, good to 1e-12 relative."""
    scores, outcomes = (np.array(column, float) for column in zip(*pairs, strict=True))

    found = kernel_density_error(tally(outcomes, scores), order=order, bandwidth=bandwidth)

    assert found.value == pytest.approx(by_rows(scores, outcomes, order, bandwidth), abs=1e-9)
    assert found.bandwidth == bandwidth


def test_the_bandwidth_makes_the_scores_likeliest() -> None:
    """Of the paper's candidates, each score left out in turn, with densities by rows."""
    scores, outcomes = drawn(150)
    likelihoods = [np.log(kernels(scores, h).sum(axis=1)).sum() for h in BANDWIDTHS]

    found = kernel_density_error(tally(outcomes, scores)).bandwidth

    assert found == BANDWIDTHS[int(np.argmax(likelihoods))]
    assert BANDWIDTHS[0] < found < BANDWIDTHS[-1]


def test_cells_choose_the_bandwidth_that_rows_choose() -> None:
    """A grid, or merged cells, make rows tie: they must not choose the narrowest kernel.

    Cells may choose a neighbour of what rows choose, as they only nearly know the places.
    """
    scores, outcomes = drawn(1_300)
    candidates = BANDWIDTHS[7:14]
    likelihoods = [np.log(kernels(scores, h).sum(axis=1)).sum() for h in candidates]
    best = int(np.argmax(likelihoods))

    assert 0 < best < len(candidates) - 1
    exact, grid = tally(outcomes, scores), tally_on_grid(outcomes, scores)
    assert merge_neighbours(exact) is not exact
    assert merge_neighbours(grid) is grid
    assert likeliest_bandwidth(exact) in candidates[best - 1 : best + 2]
    assert likeliest_bandwidth(grid) in candidates[best - 1 : best + 2]


def test_certain_scores_are_safe() -> None:
    """Scores of 0 and 1 have no logarithm; among rows like themselves they are judged by those."""
    t = tally([0, 0, 1, 1, 0, 1, 1], [0.0, 0.0, 0.0, 0.5, 0.6, 1.0, 1.0])
    apart = kernel_density_error(t, bandwidth=1e-4).value

    # 0: rates 1/2, 1/2, 0; 0.5 and 0.6 are judged by each other; 1: rates 1, 1.
    assert apart == pytest.approx((0.5 + 0.5 + 0.0 + 0.5 + 0.4) / 7, abs=1e-12)
    for width in BANDWIDTHS:
        assert 0.0 <= kernel_density_error(t, bandwidth=width).value <= 1.0
    assert 0.0 <= kernel_density_error(tally([0, 0], [0.0, 1.0])).value <= 1.0
