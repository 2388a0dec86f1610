"""Class weights of many classes: the optimum, whatever the order of the rows."""

import numpy as np
import pytest

from monitor.metrics.beyond_binary.class_pairs import adjusted_vectors
from monitor.metrics.beyond_binary.class_priors import USUAL_WEIGHT, fit_class_weights


def drawn(classes: int, concentration: float) -> tuple[np.ndarray, np.ndarray]:
    """Draw vectors, and outcomes after a shift of all class priors."""
    rng = np.random.default_rng(classes)
    vectors = np.maximum(rng.dirichlet(np.full(classes, concentration), 1_500), 1e-12)
    vectors /= vectors.sum(axis=1, keepdims=True)
    moved = adjusted_vectors(vectors, rng.normal(0.0, 0.8, classes))
    return vectors, (moved.cumsum(axis=1) > rng.random((1_500, 1))).argmax(axis=1)


@pytest.mark.parametrize(("classes", "concentration"), [(100, 0.1), (150, 0.02), (150, 5.0)])
def test_the_pull_vanishes(classes: int, concentration: float) -> None:
    """Means equal the outcomes but for the weak prior: for sure vectors, and for vague ones."""
    vectors, labels = drawn(classes, concentration)
    weights = fit_class_weights(lambda: [(vectors, labels)], classes)

    means = adjusted_vectors(vectors, weights).sum(axis=0)
    pull = np.bincount(labels, minlength=classes) - means - weights / USUAL_WEIGHT**2

    # Weights are rounded to 1e-6, which moves a sum of at most 1,500 rows by less than this.
    # The prior pulls the mean of the weights too, which changes no score.
    np.testing.assert_allclose(pull - pull.mean(), 0.0, atol=2e-3)


def test_neither_order_nor_batches_change_the_weights() -> None:
    """Sums are exact, so the same rows give the same bits."""
    vectors, labels = drawn(150, 0.1)
    order = np.random.default_rng(2).permutation(len(labels))
    halves = [(vectors[part], labels[part]) for part in np.array_split(order, 2)]

    whole = fit_class_weights(lambda: [(vectors, labels)], 150)
    again = fit_class_weights(lambda: halves, 150)

    assert whole.tolist() == again.tolist()
