"""What a stream remembers: bounded, learned from weeks, and how it dates the start of a drift."""

from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pytest

from monitor.drift.curve.reference import Reference, fit_reference
from monitor.drift.evidence.history import (
    MOST_WEEKS,
    WEEKS_APART,
    learned_day_variances,
    new_history,
    remember,
    variances_before,
    week_of,
)
from monitor.drift.incidents.detecting import new_detector
from monitor.drift.records.day_evidence import DIRECTIONS, SLOPES, DayEvidence
from monitor.drift.records.detector import SUMS, History
from studies.drift.worlds import Truth, World, stream

MONDAY = date(2026, 1, 5)
KNOWN = 400.0  # information of a day on the slope: a standard error of 0.05
NONE = np.zeros(len(DIRECTIONS))


def day(number: int) -> date:
    """Count days from a Monday."""
    return MONDAY + timedelta(number)


def evidence(slope: float, known: float = KNOWN) -> DayEvidence:
    """Make a day whose outcomes have a slope off by so much, as its score says."""
    informations = np.array([known, 0.0, 0.0, 0.0])
    return DayEvidence(
        ratios=np.zeros(8),
        tolerances=NONE,
        effects=np.ones(len(DIRECTIONS)),
        scores=slope * informations,
        informations=informations,
        slopes=known * (1.0 + slope - np.array(SLOPES)),
        levels=np.array([1.0, 2.0, 3.0, 4.0]),
    )


def history_of(slopes: np.ndarray, known: float = KNOWN) -> History:
    """Remember a day for each slope, from the first on."""
    found = new_history()
    for t, slope in enumerate(slopes):
        found = remember(found, day(t), evidence(slope, known))
    return found


def chance(rng: np.random.Generator, days: int, known: float = KNOWN) -> np.ndarray:
    """Draw how far a day's own slope is off by sampling alone."""
    return rng.normal(size=days) / np.sqrt(known)


@pytest.mark.parametrize("days", [1, 27, 28, 29, 200, 364, 1_000])
def test_a_history_holds_a_year_and_its_last_weeks_by_day(days: int) -> None:
    """Four weeks day by day and 48 as sums: at most 76 rows, and what they hold adds up."""
    found = history_of(np.full(days, 0.1))

    assert found.firsts.size <= 7 * WEEKS_APART + MOST_WEEKS - WEEKS_APART
    assert found.days.sum() == min(days, 7 * (MOST_WEEKS - 1) + (days - 1) % 7 + 1)
    assert np.all(np.diff(found.firsts) > 0)
    assert week_of(day(days - 1)) - week_of(date.fromordinal(int(found.firsts[0]))) < MOST_WEEKS
    recent = found.firsts > day(days - 1).toordinal() - 7 * (WEEKS_APART - 1)
    assert np.all(found.days[recent] == 1)
    assert found.informations[:, 0] == pytest.approx(KNOWN * found.days)
    assert found.levels == pytest.approx(np.outer(found.days, [1, 2, 3, 4]))
    assert all(getattr(found, name).dtype == np.float32 for name in SUMS)


def test_a_gap_of_two_years_empties_the_history() -> None:
    """Nothing of it is left but the first day after; a gap of months leaves what was before."""
    before = history_of(np.zeros(60))

    assert remember(before, day(60 + 730), evidence(0.0)).days.tolist() == [1]
    after_summer = remember(before, day(60 + 120), evidence(0.0))
    assert after_summer.days.sum() == 61
    assert after_summer.firsts.size == 9 + 1  # weeks, the last of them not whole; and today


@pytest.fixture(scope="module")
def calm() -> Reference:
    """Fit a reference whose days do not differ."""
    found = fit_reference(list(stream(World(0.05, 20_000), Truth(), 1, days=0)))
    return replace(
        found, day_variances=NONE, scores=np.zeros((28, 4)), informations=np.zeros((28, 4))
    )


def learned(reference: Reference, slopes: np.ndarray, known: float = KNOWN) -> float:
    """Give the standard deviation between days that is learned of the slope."""
    past = history_of(slopes, known)
    return float(np.sqrt(learned_day_variances(reference, past, day(slopes.size))[0]))


def test_independent_days_teach_no_variance(calm: Reference) -> None:
    """Where days differ by chance alone: nothing in at least 51 of 60 histories of half a year.

    An excess counts from two standard errors on. Of 800 histories 6 % learned something: a
    deviation of 0.08 to 0.14, four times the error of a week (0.05 / sqrt(7)), because what is
    learned is meant for weeks that hang together. None is above 0.2.
    """
    rng = np.random.default_rng(1)

    found = np.array([learned(calm, chance(rng, 182)) for _ in range(60)])

    assert np.sum(found > 0.0) <= 9
    assert found.max() < 0.2


def test_a_wandering_slope_is_learned(calm: Reference) -> None:
    """An AR(1) of memory 0.9 and sd 0.05 differs by week: as days with one of 0.06 to 0.2 do.

    The difference of two weekly means of it has a variance of about 0.0026, as of days of
    sd 0.095 without memory; the error of the mean over 12 histories of 52 weeks is a tenth.
    """
    rng = np.random.default_rng(2)
    found = []
    for _ in range(12):
        steps = rng.normal(size=364)
        wander = np.zeros(364)
        for t in range(1, 364):
            wander[t] = 0.9 * wander[t - 1] + np.sqrt(1 - 0.81) * 0.05 * steps[t]
        found.append(learned(calm, wander + chance(rng, 364, 10_000.0), 10_000.0))

    assert 0.06 < np.mean(found) < 0.2


def test_a_step_teaches_little(calm: Reference) -> None:
    """A slope that falls by 0.3 at once, for good, adds less than 0.06 to the deviation of days.

    It enters three of about 100 differences. Without the cap it would add 0.12.
    """
    rng = np.random.default_rng(3)
    step = np.where(np.arange(364) < 180, 0.0, -0.3)

    found = [learned(calm, step + chance(rng, 364)) for _ in range(12)]

    assert np.mean(found) < 0.06


def test_what_is_learned_rests_on_the_weeks_before(calm: Reference) -> None:
    """The week of the day itself is not looked at, so that the bet on it is fair."""
    slopes = np.tile([0.0] * 7 + [0.4] * 7, 10)
    past = history_of(slopes)
    wednesday = day(slopes.size + 2)
    wild = remember(remember(past, day(140), evidence(9.0)), day(141), evidence(-9.0))

    before, with_week = (learned_day_variances(calm, found, wednesday) for found in (past, wild))

    assert before[0] > 0.0
    assert np.array_equal(with_week, before)

    now = replace(new_detector(), history=history_of(np.append(slopes, [9.0] * 21)), jitters=before)
    assert np.array_equal(variances_before(calm, now, wednesday), before)
    now = replace(now, history=history_of(np.full(9, 0.0)), jitters=2.0 * before)
    assert np.array_equal(variances_before(calm, now, day(-1)), 2.0 * before)
