"""Maps of class vectors: what is fitted, what is chosen, and how it is applied."""

import os
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, logsumexp, softmax

from monitor.metrics import ClassMap, apply_class_map
from monitor.metrics.core.grid import Floats
from monitor.metrics.maps.class_choosing import choose_vector_map, vector_losses_by_day
from monitor.metrics.maps.class_fitting import (
    USUAL_LEVEL,
    USUAL_SLOPE,
    can_fit_classes,
    fit_vector_map,
    losses_at_own_levels,
)
from monitor.metrics.maps.class_rows import ClassRows, rows_of_days
from monitor.metrics.maps.mean_over_days import mean_over_days
from monitor.metrics.maps.vector_map import (
    VECTOR_KINDS,
    VectorKind,
    VectorMap,
    apply_vector_map,
    check_vector_map,
)

CLASSES = ("a", "b", "c")
Truth = Callable[[Floats], Floats]
MIXED = np.array([[1.0, 0.0, 0.0], [0.4, 0.6, 0.0], [0.0, 0.0, 1.0]])


def drawn(
    truth: Truth, *, days: int = 16, each: int = 1_500, spread: float = 0.2, level: float = 0.0
) -> ClassRows:
    """Draw days whose class priors vary; `truth` makes the true logits of those that are logged."""
    rng, found = np.random.default_rng(3), []
    for _ in range(days):
        logits = 1.5 * rng.normal(size=(each, 3))
        priors = rng.normal(0.0, spread, 3) + np.array([level, 0.0, 0.0])
        reached = softmax(truth(log_softmax(logits, axis=1)) + priors, axis=1).cumsum(axis=1)
        labels = (rng.random((each, 1)) > reached[:, :-1]).sum(axis=1)
        found.append((softmax(logits, axis=1), labels))
    return rows_of_days(CLASSES, found, 10**9)


def bent(z: Floats) -> Floats:
    """Bend all classes alike: steep near 1, flat below."""
    return np.where(z > -1.5, 1.5 * (z + 1.5), 0.4 * (z + 1.5))


@pytest.mark.parametrize(
    ("truth", "level", "kind", "worth_it"),
    [
        (lambda z: z, 0.0, "identity", False),
        (lambda z: z, 1.5, "intercept", True),
        (lambda z: 0.7 * z, 0.0, "temperature", True),
        (bent, 0.0, "order_preserving", True),
        (lambda z: np.array([0.5, 1.0, 1.3]) * z, 0.0, "vector", True),
        (lambda z: z @ MIXED.T, 0.0, "dirichlet", True),
    ],
)
def test_the_right_family_is_chosen(
    truth: Truth, level: float, kind: str, *, worth_it: bool
) -> None:
    """Sixteen days of 1,500 rows are enough for clear cases, whatever the class priors do."""
    found = choose_vector_map(drawn(truth, level=level))
    chosen = found.chosen if found.worth_it else found.candidates[0]

    assert (chosen.kind, found.worth_it) == (kind, worth_it)


@pytest.mark.parametrize("kind", ["temperature", "order_preserving", "vector", "dirichlet"])
def test_no_prior_enters_a_shape(kind: VectorKind) -> None:
    """Shapes of days with calm and with wild priors, of the same scores, agree.

    One class is up to e**6 times as frequent; 24,000 rows know a slope to about 0.02.
    """
    calm, wild = (
        fit_vector_map(drawn(lambda z: 0.7 * z, spread=spread), kind) for spread in (0.0, 2.0)
    )
    z = np.log([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4]])
    moved = [
        np.diff(
            np.log(
                apply_vector_map(
                    np.exp(z),
                    VectorMap(
                        found.kind,
                        CLASSES,
                        (0.0,) * 3 if found.level else (),
                        found.parameters,
                        found.knots,
                    ),
                )
            )[:, 0]
        )
        for found in (calm, wild)
    ]

    assert calm.parameters != wild.parameters
    np.testing.assert_allclose(moved[0], moved[1], atol=0.1)


def test_the_fit_is_the_maximum() -> None:
    """Slopes of classes with an intercept for each day: a plain objective finds no better ones."""
    rows = drawn(lambda z: np.array([0.6, 1.0, 1.2]) * z, days=3, each=200)
    z, day = np.log(rows.vectors), np.repeat(np.arange(3), 200)
    centred = z - z.mean(axis=0)

    def loss(flat: Floats) -> float:
        slopes, levels = flat[:3], flat[3:].reshape(3, 3)
        moved = z + (slopes - 1.0) * centred + levels[day]
        own = logsumexp(moved, axis=1) - moved[np.arange(600), rows.labels]
        held = ((slopes - 1.0) ** 2).sum() / USUAL_SLOPE**2 + (levels**2).sum() / USUAL_LEVEL**2
        return float(own.sum() + 0.5 * held)

    best = minimize(loss, np.concatenate([np.ones(3), np.zeros(9)]), tol=1e-10).x

    # Both stop when a step gains 1e-8 nats a row, where the curve is flat to 1e-3.
    np.testing.assert_allclose(fit_vector_map(rows, "vector").parameters, best[:3], atol=2e-3)


def test_losses_at_own_levels_know_no_prior() -> None:
    """A constant for each class changes nothing, and the least loss of a day is found."""
    rows = drawn(lambda z: z, days=2, each=300)
    plain = losses_at_own_levels(rows, rows.logs)

    def loss(level: Floats) -> float:
        moved = rows.logs[:300] + level
        own = logsumexp(moved, axis=1) - moved[np.arange(300), rows.labels[:300]]
        return float(own.sum() + 0.5 * (level**2).sum() / USUAL_LEVEL**2)

    np.testing.assert_allclose(
        plain, losses_at_own_levels(rows, rows.logs + np.array([3.0, -2.0, 0.0]))
    )
    assert plain[0] == pytest.approx(minimize(loss, np.zeros(3), tol=1e-10).fun, abs=1e-4)


def test_gains_are_those_of_days_left_out() -> None:
    """With one day a block, the gain is that of maps fitted to all other days."""
    rows = drawn(lambda z: 0.7 * z, days=5, each=400)
    gains = []
    for day in range(5):
        found = fit_vector_map(rows.take(np.setdiff1d(np.arange(5), [day])), "temperature")
        left = rows.take([day])
        same = VectorMap("identity", CLASSES)
        gains.append(vector_losses_by_day(left, same)[0] - vector_losses_by_day(left, found)[0])
    expected = mean_over_days(np.concatenate(gains), np.full(5, 400.0))

    found_gain = choose_vector_map(rows, "temperature").chosen.log_loss

    # Fits begin elsewhere, and stop within 1e-8 nats a row of the best.
    assert found_gain.value == pytest.approx(expected.value, abs=1e-6)


@pytest.mark.parametrize("kind", VECTOR_KINDS[1:])
def test_a_class_that_never_comes_has_a_finite_map(kind: VectorKind) -> None:
    """Its intercept and slope stay near what is usual, and its mean score falls."""
    rows = drawn(lambda z: z + np.array([0.0, 0.0, -40.0]), days=4, each=500)
    found = fit_vector_map(rows, kind)
    check_vector_map(found)
    mapped = apply_vector_map(rows.vectors, found)

    assert set(rows.labels.tolist()) == {0, 1}
    assert max(abs(np.array([*found.parameters, *found.level]))) < 20.0
    if found.level:
        assert mapped[:, 2].mean() < 0.05 < rows.vectors[:, 2].mean()


@pytest.mark.parametrize(
    ("found", "library"),
    [
        (
            VectorMap("temperature", CLASSES, (), (0.7,)),
            ClassMap("temperature", 3, np.array([0.7])),
        ),
        (
            VectorMap("order_preserving", CLASSES, (), (0.5, 2.0), (-3.0, -1.0)),
            ClassMap("order_preserving", 3, np.array([0.5, 2.0]), np.array([-3.0, -1.0])),
        ),
        (
            VectorMap("vector", CLASSES, (0.1, 0.0, -0.1), (0.5, 1.0, 1.5)),
            ClassMap("vector", 3, np.array([[0.5, 1.0, 1.5], [0.1, 0.0, -0.1]])),
        ),
        (
            VectorMap("dirichlet", CLASSES, (0.1, 0.0, -0.1), tuple(MIXED.ravel().tolist())),
            ClassMap("dirichlet", 3, np.column_stack([MIXED, [0.1, 0.0, -0.1]])),
        ),
    ],
)
def test_applies_as_the_measures_do(found: VectorMap, library: ClassMap) -> None:
    """`apply_class_map` gives the same probabilities to rounding, zeros included."""
    vectors = np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0], [1e-9, 0.5, 0.5 - 1e-9]])

    np.testing.assert_allclose(
        apply_vector_map(vectors, found), apply_class_map(vectors, library), rtol=1e-13
    )


def test_few_outcomes_bear_few_parameters() -> None:
    """A family needs ten outcomes besides the most frequent class for each parameter."""
    rows = drawn(lambda z: z, days=4, each=20, spread=0.0)
    kinds = [kind for kind in VECTOR_KINDS if can_fit_classes(rows, kind)]

    assert 10 <= rows.rarer < 60
    assert kinds == ["identity", "intercept", "temperature"]
    with pytest.raises(ValueError, match="too few for a map of the kind vector; take more days"):
        choose_vector_map(rows, "vector")
    with pytest.raises(ValueError, match="on 2 days, too few for a map that holds"):
        choose_vector_map(rows.take([0, 1]))


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (VectorMap("temperature", CLASSES, (), (-1.0,)), "not strictly increasing"),
        (VectorMap("temperature", CLASSES, (0.0,) * 3, (1.0,)), "cannot have 3 intercepts"),
        (VectorMap("vector", CLASSES, (0.0,) * 3, (1.0,)), "has 3 parameters, got 1"),
        (VectorMap("dirichlet", CLASSES, (0.0,) * 3, (1.0,) * 3), "has 9 parameters, got 3"),
        (VectorMap("order_preserving", CLASSES, (), (1.0,), (0.0,)), "cannot have the 1 knots"),
        (VectorMap("order_preserving", CLASSES, (), (1.0, 1.0), (0.0, -1.0)), "the 2 knots"),
        (VectorMap("vector", ("a", "a"), (0.0,) * 2, (1.0,) * 2), "two classes with different"),
        (VectorMap("vector", ("a", "b"), (0.0,) * 2, (1.0, np.inf)), "is not finite"),
    ],
)
def test_impossible_maps_are_refused(found: VectorMap, message: str) -> None:
    """What the types of a file do not say."""
    with pytest.raises(ValueError, match=message):
        check_vector_map(found)


FITS = """
from tests.metrics.maps.test_class_fitting import drawn, fit_vector_map
rows = drawn(lambda x: 0.7 * x, days=4)
for kind in ("temperature", "order_preserving", "vector", "dirichlet"):
    print(repr(fit_vector_map(rows, kind)))
"""


def test_fits_do_not_depend_on_threads() -> None:
    """The same bits with one thread of BLAS and with two, of sums that are long enough for two."""
    found = {
        subprocess.run(
            [sys.executable, "-c", FITS],
            env={**os.environ, "OPENBLAS_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2")
    }

    assert len(found) == 1
    assert found.pop().count("VectorMap") == 4
