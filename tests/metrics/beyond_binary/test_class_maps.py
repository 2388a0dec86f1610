"""Recalibration maps of class probabilities: gradients, invariants, and maps that are known."""

import doctest

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import softmax

from monitor.metrics import ClassMap, apply_class_map, fit_class_map
from monitor.metrics.beyond_binary.class_maps import KINDS, Kind
from monitor.metrics.core.grid import Floats, Ints
from tests.support.paths import ROOT

ROWS, CLASSES = 4_000, 4
KEEP_ORDER: tuple[Kind, ...] = ("temperature", "ensemble", "order_preserving")


def drawn(logits: Floats, seed: int) -> Ints:
    """Draw labels as calibrated logits say."""
    rng = np.random.default_rng([7, seed])
    reached = softmax(logits, axis=1).cumsum(axis=1)
    return (rng.uniform(size=(len(logits), 1)) > reached[:, :-1]).sum(axis=1)


def truth(seed: int = 1) -> tuple[Floats, Ints]:
    """Draw logits that are calibrated, and their labels."""
    logits = 1.5 * np.random.default_rng(seed).normal(size=(ROWS, CLASSES))
    return logits, drawn(logits, seed)


def log_score(scores: Floats, labels: Ints) -> float:
    """Average the negative logarithm of what the true class was given."""
    return float(-np.log(scores[np.arange(labels.size), labels]).mean())


@pytest.mark.parametrize("kind", KINDS)
def test_calibrated_scores_stay_as_they_are(kind: Kind) -> None:
    """The fitted map is the identity but for chance: its gain is that of its free parameters.

    Twice a log-likelihood ratio is chi-squared with at most 20 degrees; 45 is its 99.9 % quantile.
    Scores of 4,000 rows move by about the square root of 20 / 4,000, times their spread of 0.3.
    """
    logits, labels = truth()
    scores = softmax(logits, axis=1)

    moved = apply_class_map(scores, fit_class_map(labels, scores, kind))

    assert np.abs(moved - scores).mean() < 0.02
    assert 0.0 <= 2.0 * ROWS * (log_score(scores, labels) - log_score(moved, labels)) < 45.0


@pytest.mark.parametrize("kind", KINDS)
def test_sharpened_scores_are_repaired(kind: Kind) -> None:
    """Logits that were doubled come back on rows that the map has not seen.

    The log score comes within 0.01 of the truth's; the sharpened one is 0.1 away and more.
    """
    (logits, labels), (fresh, seen) = truth(), truth(2)
    found = fit_class_map(labels, softmax(2.0 * logits, axis=1), kind)
    sharp = softmax(2.0 * fresh, axis=1)

    right = log_score(softmax(fresh, axis=1), seen)
    assert log_score(sharp, seen) > right + 0.1
    assert log_score(apply_class_map(sharp, found), seen) == pytest.approx(right, abs=0.01)


@pytest.mark.parametrize("kind", ["vector", "dirichlet"])
def test_classes_that_are_overrated_are_repaired(kind: Kind) -> None:
    """Maps that move classes against each other undo biases; those that keep the order cannot."""
    (logits, labels), (fresh, seen) = truth(), truth(2)
    biases = np.array([0.0, 1.0, -1.0, 0.5])
    biased = softmax(logits + biases, axis=1)
    right = log_score(softmax(fresh, axis=1), seen)

    def repaired(by: Kind) -> float:
        found = fit_class_map(labels, biased, by)
        return log_score(apply_class_map(softmax(fresh + biases, axis=1), found), seen)

    assert repaired(kind) == pytest.approx(right, abs=0.01)
    assert repaired("order_preserving") > right + 0.05


@pytest.mark.parametrize("kind", KEEP_ORDER)
def test_the_order_of_the_classes_is_kept(kind: Kind) -> None:
    """In every row, whatever the labels say: here they are noise."""
    rng = np.random.default_rng(5)
    scores = rng.dirichlet(np.full(6, 0.5), size=2_000)
    found = fit_class_map(rng.integers(0, 6, 1_000), scores[:1_000], kind)

    moved = apply_class_map(scores[1_000:], found)

    assert found.keeps_order
    order = np.argsort(scores[1_000:], axis=1)
    assert np.all(np.diff(np.take_along_axis(moved, order, axis=1), axis=1) >= -1e-15)
    assert not ClassMap("vector", 6, np.zeros((2, 6))).keeps_order


def test_the_temperature_is_that_of_a_search_in_one_dimension() -> None:
    """Another optimiser without gradients finds the same minimum, to its own tolerance of 1e-6."""
    logits, labels = truth()
    scores = softmax(0.6 * logits, axis=1)

    def loss(inverse: float) -> float:
        return log_score(softmax(inverse * np.log(scores), axis=1), labels)

    best = minimize_scalar(loss, bounds=(0.1, 10.0), method="bounded", options={"xatol": 1e-7})
    found = fit_class_map(labels, scores, "temperature").parameters[0]

    assert found == pytest.approx(best.x, abs=1e-6 + 1e-5)


def test_the_parts_of_an_ensemble_are_a_mixture() -> None:
    """Weights are not negative and sum to 1; labels of which half are noise need the uniform part.

    Half the labels are drawn evenly: the true weights are 0, 0.5 and 0.5 of parts that are one
    temperature and the original, which agree. The standard error of the last is 0.02.
    """
    logits, labels = truth()
    rng = np.random.default_rng(9)
    noisy = np.where(rng.uniform(size=ROWS) < 0.5, rng.integers(0, CLASSES, ROWS), labels)

    weights = fit_class_map(noisy, softmax(logits, axis=1), "ensemble").parameters[1:]

    assert weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert weights.min() >= 0.0
    assert weights[2] == pytest.approx(0.5, abs=0.08)


def test_certain_scores_can_be_mapped() -> None:
    """Scores of 0 and 1 have no logarithm; every map gives numbers above 0 that sum to 1."""
    scores = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.2, 0.3, 0.5], [0.5, 0.5, 0.0]] * 5)
    labels = np.array([0, 2, 2, 1] * 5)
    for kind in KINDS:
        moved = apply_class_map(scores, fit_class_map(labels, scores, kind))
        assert np.all(moved >= 0.0)
        assert moved.sum(axis=1) == pytest.approx(1.0, abs=1e-12)


def test_one_score_for_all_rows_can_be_mapped() -> None:
    """Rows that all say the same leave the slope free, and the map finite."""
    scores, labels = np.full((20, 2), 0.5), np.array([0, 1] * 10)
    for kind in KINDS:
        moved = apply_class_map(scores, fit_class_map(labels, scores, kind))
        assert moved == pytest.approx(scores, abs=1e-6)


def test_examples_of_the_page_run() -> None:
    """What docs/recalibrate.md says of models with classes runs, and prints what it says."""
    failed, tried = doctest.testfile(str(ROOT / "docs/recalibrate.md"), module_relative=False)

    assert tried > 2
    assert failed == 0
