"""Planned labels: no other rates say more of a distortion, and a table of them says the same."""

from functools import cache

import numpy as np
import pytest
from scipy.special import expit

from monitor.drift.curve.reference import Reference, fit_reference
from monitor.drift.incidents.label_plan import (
    LabelPlan,
    days_with,
    evenly_drawn,
    plan_labels,
    score_ranges,
)
from monitor.metrics.core.coarse import CELLS_IN_ONE, CENTRES, COARSE_COUNT, Coarse
from monitor.metrics.core.grid import Floats, locate
from tests.support.cases import some

CENTRE = {"rare": -3.0, "usual": -1.5, "even": 0.0}


@cache
def world(name: str) -> tuple[Reference, Floats]:
    """Fit a reference, and give predictions a day by cell."""
    density = np.exp(-0.5 * ((CENTRES - CENTRE[name]) / 1.3) ** 2)
    predictions = 20_000 * density / density.sum()
    rng = np.random.default_rng(1)
    counts = rng.poisson(predictions, (28, COARSE_COUNT))
    days = [{"all": Coarse(n, rng.binomial(n, expit(CENTRES)))} for n in counts]
    return fit_reference(days), predictions


def says(reference: Reference, predictions: Floats, rates: Floats, direction: int) -> float:
    """Compute what labels say of a distortion: the Schur complement of the intercept."""
    p = expit(reference.curve)
    n = np.zeros(COARSE_COUNT)
    n[reference.known] = (rates * predictions)[reference.known]
    terms = np.stack([np.ones(COARSE_COUNT), reference.directions[direction]])
    fisher = (terms * n * p * (1.0 - p)) @ terms.T
    return float(fisher[1, 1] - fisher[0, 1] ** 2 / fisher[0, 0])


@pytest.mark.parametrize(
    ("name", "direction", "budget", "uniform"),
    some(
        [
            (name, direction, *of)
            for name in CENTRE
            for direction in (0, 3)
            for of in ((250, 0.25), (2_000, 0.25), (2_000, 0.9))
        ],
        4,
    ),
)
def test_no_other_rates_say_more(name: str, direction: int, budget: int, uniform: float) -> None:
    """Of 200 drawn designs with the budget and its uniform part, whatever they prefer."""
    reference, predictions = world(name)
    plan = plan_labels(reference, predictions, budget, direction=direction, uniform=uniform)
    rng, least = np.random.default_rng(2), uniform * budget / predictions.sum()

    def with_budget(shape: Floats) -> Floats:
        """Scale rates so that they cost the budget, none above 1."""
        low, high = 0.0, 1e9
        for _ in range(60):
            middle = 0.5 * (low + high)
            cost = (np.clip(least + middle * shape, least, 1.0) * predictions).sum()
            low, high = (middle, high) if cost < budget else (low, middle)
        return np.clip(least + low * shape, least, 1.0)

    most = says(reference, predictions, plan.rates, direction)
    others = [
        says(
            reference,
            predictions,
            with_budget(np.abs(CENTRES - a) ** b * expit(c * CENTRES)),
            direction,
        )
        for a, b, c in rng.uniform([-6, 0, -2], [4, 6, 2], (200, 3))
    ]

    assert (plan.rates * predictions).sum() == pytest.approx(budget)
    assert plan.rates.min() >= least * (1 - 1e-9)
    assert most > 0.995 * max(others)  # whole cells, of which each is a thirtieth of a logit
    even = says(reference, predictions, evenly_drawn(predictions, budget).rates, direction)
    assert plan.worth / budget == pytest.approx(most / even)
    assert plan.worth >= plan.labels


def test_all_are_labelled_where_the_budget_is_large() -> None:
    """Then there is nothing to choose."""
    reference, predictions = world("usual")
    plan = plan_labels(reference, predictions, 30_000)

    assert plan.rates.tolist() == [1.0] * COARSE_COUNT
    assert plan.labels == plan.worth == pytest.approx(20_000)


def test_a_table_says_the_rates() -> None:
    """Looking each score up in the ranges gives the rate of its cell."""
    reference, predictions = world("usual")
    rates = plan_labels(reference, predictions, 1_000).rates
    lows, highs, table = np.array([*score_ranges(rates)]).T
    scores = expit(CENTRES[np.abs(CENTRES) < 8.0])

    assert highs[:-1].tolist() == lows[1:].tolist()
    assert (lows[0], highs[-1]) == (0.0, 1.0)
    looked_up = table[np.searchsorted(highs[:-1], scores, side="right")]
    assert looked_up.tolist() == rates[locate(scores)[0] // CELLS_IN_ONE].tolist()


def test_planned_labels_find_a_slope_sooner() -> None:
    """With six tenths of the labels no later, and too few labels make no reference."""
    reference, predictions = world("usual")
    fewer = plan_labels(reference, predictions, 600)
    planned = days_with(reference, fewer, predictions, 0.2, 3.0)
    uniform = days_with(reference, evenly_drawn(predictions, 1_000), predictions, 0.2, 3.0)
    none = LabelPlan(np.full(COARSE_COUNT, 1e-6), 0.02, 20_000.0, 0.02)

    assert planned
    assert uniform
    assert planned <= uniform
    assert days_with(reference, none, predictions, 0.2, 3.0) is None
