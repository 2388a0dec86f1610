"""What moved with the intercept: prior, inputs or level, in a week and over a year."""

from copy import deepcopy
from dataclasses import replace
from datetime import date, timedelta
from functools import cache
from math import log

import numpy as np
import pytest

from monitor.drift.curve.reference import Reference, fit_reference, lift_since
from monitor.drift.evidence.directions import day_evidence
from monitor.drift.evidence.history import new_history, remember
from monitor.drift.incidents.levels import lasting_shift, what_moved
from monitor.drift.records.facts import LastingShift
from monitor.metrics.logistic.level import Lift
from studies.drift.worlds import centre, draw_day, shares, standardised
from tests.support.cases import some

MIDDLE, UNIT = centre(0.05), standardised(0.05)
LEAST = log(1.10)
FIRST = date(2026, 1, 1)


@cache
def reference() -> Reference:
    """Fit the reference of a sound stream whose prior is that of the scores on average."""
    rng = np.random.default_rng(0)
    priors = rng.normal(0.0, 0.1, 28)
    days = [draw_day(rng, shares(MIDDLE), 20_000, prior, 0.0) for prior in priors - priors.mean()]
    return fit_reference([{"segment 0": day} for day in days])


def week(seed: int, *, prior: float = 0.0, lift: float = 0.0, tilt: float = 0.0) -> Lift:
    """Draw a week and compare its level with the reference's."""
    rng = np.random.default_rng(seed)
    weights = shares(MIDDLE) * np.exp(tilt * UNIT)
    found = lift_since(
        reference().curve,
        reference().levels,
        {"segment 0": draw_day(rng, weights, 140_000, prior, lift)},
    )
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("moved", "said"),
    [
        ({}, "as before"),
        ({"prior": 0.5}, "prior"),
        ({"prior": -0.5}, "prior"),
        ({"lift": 0.3}, "lift"),
        ({"lift": -0.3}, "lift"),
        ({"prior": 0.5, "tilt": -0.6}, "prior or inputs"),
        ({"prior": -0.5, "tilt": 0.6}, "prior or inputs"),
    ],
)
def test_each_cause_has_its_word(moved: dict[str, float], said: str) -> None:
    """In 19 of 20 weeks of 140,000 predictions or more; only a lift alone is called one."""
    words = [what_moved(reference(), new_history(), week(s, **moved), LEAST) for s in range(20)]

    assert words.count(said) >= 19


def test_without_a_comparison_nothing_moved() -> None:
    """A week of one class has no level."""
    nothing = replace(week(1), kappa=float("nan"))

    assert what_moved(reference(), new_history(), None, LEAST) == "as before"
    assert what_moved(reference(), new_history(), nothing, LEAST) == "as before"
    assert lasting_shift(reference(), new_history(), LEAST) is None


@cache
def period_of(seed: int) -> tuple[Reference, np.random.Generator]:
    """Fit a reference of 2,400 predictions, and give the generator that goes on from it."""
    rng, weights = np.random.default_rng(seed), shares(0.0)
    days = [{"all": draw_day(rng, weights, 20.0, 0.0, 0.0)} for _ in range(120)]
    return fit_reference(days, noise=False), rng  # wrong labels are no matter of levels


@cache
def first_said(shift: float, seed: int) -> tuple[int, LastingShift] | None:
    """Find the first week of a year of 1,200 predictions that says of a shift that it lasts."""
    period, generator = period_of(seed)
    rng, weights, history = deepcopy(generator), shares(0.0), new_history()
    for t in range(365):
        day = {"all": draw_day(rng, weights, 1_200 / 365, shift, 0.0)}
        evidence = day_evidence(period, day)
        if evidence.informations.any():
            history = remember(history, FIRST + timedelta(t), evidence)
        if t % 7 == 6:
            found = lasting_shift(period, history, LEAST)
            if found:
                return t, found
    return None


def test_a_shift_that_stays_is_told_in_some_years_of_few_predictions() -> None:
    """1,200 a year against a reference of 2,400: +0.4 is five standard errors.

    Measured on 30 streams: told in 73 % of the years, and in 7 % without a shift. Here
    in at most a quarter without one, and half or more of +0.4.
    """
    seeds = some(range(12), 4)
    told = {
        shift: [found for seed in seeds if (found := first_said(shift, seed))]
        for shift in (0.0, 0.4)
    }

    assert len(told[0.0]) <= len(seeds) / 4
    assert len(told[0.4]) >= len(seeds) / 2
    assert len(told[0.0]) < len(told[0.4])
    for day, lasting in told[0.4]:
        assert lasting.shift.value > LEAST
        assert FIRST <= lasting.since <= FIRST + timedelta(day)
