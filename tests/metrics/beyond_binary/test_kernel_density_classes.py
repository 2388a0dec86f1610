"""The Dirichlet kernel against the formula of the paper, by rows, and against two classes."""

import numpy as np
import pytest
from scipy.stats import dirichlet

from monitor.metrics import kernel_density_class_error, kernel_density_error, tally
from monitor.metrics.beyond_binary.kernel_density_classes import likeliest_class_bandwidth
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.smooth.kernel_density import BANDWIDTHS


def drawn(size: int, classes: int = 3, *, sharpened: float = 1.0) -> tuple[Floats, Ints]:
    """Draw probabilities and calibrated labels, then move the logits from 0."""
    rng = np.random.default_rng([17, size, classes])
    logits = rng.normal(0.0, 1.2, (size, classes))
    true, seen = (
        np.exp(x) / np.exp(x).sum(axis=1, keepdims=True) for x in (logits, sharpened * logits)
    )
    return seen, (rng.random((size, 1)) > true.cumsum(axis=1)[:, :-1]).sum(axis=1)


def kernels(scores: Floats, bandwidth: float) -> Floats:
    """Evaluate the density around each row (columns) at each row (rows), 0 at itself."""
    found = np.array([dirichlet.pdf(scores.T, one / bandwidth + 1.0) for one in scores]).T
    np.fill_diagonal(found, 0.0)
    return found


@pytest.mark.parametrize("order", [1.0, 2.0])
@pytest.mark.parametrize("classes", [3, 6])
def test_it_is_the_formula_by_rows(order: float, classes: int) -> None:
    """300 rows, so more than one block of them; densities agree to 1e-10 relative."""
    scores, labels = drawn(300, classes)
    weights, total = kernels(scores, 0.02), 0.0
    for j in range(300):
        rates = (weights[j][:, None] * np.eye(classes)[labels]).sum(axis=0) / weights[j].sum()
        total += (np.abs(rates - scores[j]) ** order).sum()

    found = kernel_density_class_error(labels, scores, order=order, bandwidth=0.02)

    assert found.value == pytest.approx((total / 300) ** (1.0 / order), rel=1e-9)


def test_the_bandwidth_makes_the_rows_likeliest() -> None:
    """Of the paper's candidates, each row left out in turn, with densities by rows."""
    scores, labels = drawn(120)
    candidates = BANDWIDTHS[8:]  # with a narrower kernel densities underflow
    likelihoods = [np.log(kernels(scores, h).sum(axis=1)).sum() for h in candidates]
    best = int(np.argmax(likelihoods))

    assert 0 < best < len(candidates) - 1
    assert likeliest_class_bandwidth(scores) == candidates[best]
    found = kernel_density_class_error(labels, scores)
    assert found.bandwidth == likeliest_class_bandwidth(scores)


@pytest.mark.parametrize("order", [1.0, 2.0])
def test_two_classes_count_the_error_of_one_twice(order: float) -> None:
    """The Dirichlet kernel of two classes is the Beta kernel, to 1e-9 relative."""
    scores, labels = drawn(400, 2)
    one = kernel_density_error(tally(labels, scores[:, 1]), order=order, bandwidth=0.01)

    both = kernel_density_class_error(labels, scores, order=order, bandwidth=0.01)

    assert both.value == pytest.approx(2.0 ** (1.0 / order) * one.value, rel=1e-9)


def test_certain_rows_are_safe() -> None:
    """Scores of 0 and 1 have no logarithm; among rows like themselves they are judged by those."""
    scores = [[1.0, 0.0, 0.0]] * 3 + [[0.0, 1.0, 0.0], [0.2, 0.3, 0.5]]
    for width in BANDWIDTHS:
        found = kernel_density_class_error([0, 0, 0, 1, 2], scores, bandwidth=width)
        assert 0.0 <= found.value <= 2.0
