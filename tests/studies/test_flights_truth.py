"""The regressions that tell what is true of the flights: `studies/flights/truth.py`."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from studies.flights.truth import Flights, parts_of_score, regress

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


def test_a_group_of_one_class_says_nothing() -> None:
    """Without both outcomes an intercept is infinite, and the slopes are those of the others."""
    late, x, days = drawn()
    more = np.full(50, DAYS)

    found = regress(
        np.append(late, np.ones(50, bool)),
        np.vstack([x, x[:50]]),
        np.append(days, more),
        np.append(days, more),
    )

    assert np.array_equal(found, regress(late, x, days, days))


def test_the_parts_of_the_score_add_up() -> None:
    """What hour, carrier and destination give differs from the score by the origin's constant."""
    rng = np.random.default_rng(2)
    number = 3_000
    columns = {name: rng.choice([*"abcd"], number) for name in ("origin", "carrier", "destination")}
    hour = rng.integers(6, 10, number)
    effects = {name: dict(zip("abcd", rng.normal(size=4), strict=True)) for name in columns}
    given = {name: np.array([effects[name][v] for v in values]) for name, values in columns.items()}
    day = np.full(number, np.datetime64("2013-05-01"))
    logit = sum(given.values()) + 0.3 * hour

    parts = parts_of_score(Flights(day, logit, hour > 7, hour=hour, **columns))

    rest = logit - parts.sum(axis=1) - given["origin"]
    assert rest == pytest.approx(np.full(number, rest[0]), abs=1e-9)
    spread = parts[:, 1] - given["carrier"]
    assert spread == pytest.approx(np.full(number, spread[0]), abs=1e-9)
