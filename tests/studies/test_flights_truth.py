"""The regressions that tell what is true of the flights: `studies/flights/truth.py`."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from studies.flights.truth import regress

SIZE, DAYS = 1_200, 12


def drawn() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw outcomes on two variables, with an intercept for each day."""
    rng = np.random.default_rng(1)
    days = np.sort(rng.integers(0, DAYS, SIZE))
    x = rng.normal(size=(SIZE, 2))
    late = rng.random(SIZE) < expit(rng.normal(size=DAYS)[days] + x[:, 0] - 0.5 * x[:, 1])
    return late, x, days


def test_slopes_maximise_the_likelihood() -> None:
    """They are what a general optimiser finds with an intercept for each day written out."""
    late, x, days = drawn()
    design = np.hstack([x, np.eye(DAYS)[days]])

    def loss(beta: np.ndarray) -> tuple[float, np.ndarray]:
        eta = design @ beta
        return float((np.logaddexp(0, eta) - late * eta).sum()), design.T @ (expit(eta) - late)

    expected = minimize(loss, np.zeros(design.shape[1]), jac=True, options={"gtol": 1e-9}).x[:2]

    assert regress(late, x, days, days)[0] == pytest.approx(expected, abs=1e-7)


def test_errors_are_clustered_by_day() -> None:
    """Every flight ten times on its own day makes no error smaller, but for the days' number."""
    late, x, days = drawn()

    once = regress(late, x, days, days)
    often = regress(np.repeat(late, 10), np.repeat(x, 10, axis=0), *[np.repeat(days, 10)] * 2)

    assert often[0] == pytest.approx(once[0], abs=1e-9)
    assert often[1] == pytest.approx(once[1], rel=1e-9)
