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
from monitor.drift.records.detector import SUMS, History, Span
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


def test_days_of_a_drift_that_is_over_teach_no_variance() -> None:
    """Three weeks that were far off count as usual, unless a drift was found in them."""
    reference = fit_reference(list(stream(World(0.05, 20_000), Truth(), 1, days=0)))
    slopes = chance(np.random.default_rng(1), 98)
    slopes[28:49] += 0.4
    sound = new_history()
    for t in np.r_[0:28, 49:98]:
        sound = remember(sound, day(int(t)), evidence(slopes[t]))
    found = (Span(day(29), day(47)),)  # the rest of its weeks is left out with them

    taught = learned_day_variances(reference, history_of(slopes), day(98))
    left_out = learned_day_variances(reference, history_of(slopes), day(98), found)

    assert taught[0] > left_out[0]
    np.testing.assert_array_equal(left_out, learned_day_variances(reference, sound, day(98)))
