"""Verdict and plan together: what a plan covers is silent, and what was found stays on record."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import cache

import numpy as np
import pytest
from scipy.special import expit

from monitor.days.decisions import Plan
from monitor.drift.fold.inputs import Day, Limits, fit_model_reference
from monitor.drift.records.places import Condition, Explanation, Where
from monitor.drift.records.verdict import STATES, UNJUDGED, Verdict
from monitor.drift.verdicts.judge import judge
from monitor.metrics.core.coarse import coarsen
from monitor.metrics.core.tally import tally_on_grid
from monitor.read.failing import failing
from monitor.read.incidents import of_segment
from monitor.read.plans import with_plans
from monitor.read.results import Results
from monitor.read.standing import Standing
from monitor.store.store import Store
from monitor.words.trust import trust
from monitor.words.verdict import sentences
from tests.support.filled_store import VALUES
from tests.words.test_facts import Drawn, verdict_of

FIRST, ROWS, REFERENCE_DAYS = date(2026, 1, 1), 3_000, 28
DAYS = [FIRST + timedelta(days=i) for i in range(90)]
SLOPES = {range(36, 42): 1.5, range(64, 90): 1.5}  # the first drift recovers, the second lasts
SEGMENTS = ("all", "DE", "FR")


def slope(place: int) -> float:
    """Give the slope of the outcomes on a day."""
    return next((found for days, found in SLOPES.items() if place in days), 1.0)


@cache
def days() -> list[Day]:
    """Draw days of two segments with priors of their own."""
    found = []
    for place, day in enumerate(DAYS):
        rng, parts = np.random.default_rng(place), {}
        for segment, centre in (("DE", -1.0), ("FR", 0.0)):
            x = rng.normal(centre, 1.2, ROWS)
            outcomes = rng.random(ROWS) < expit(slope(place) * x + rng.normal(0.0, 0.5))
            parts[segment, "all"] = coarsen(tally_on_grid(outcomes, expit(x)))
        known_at = datetime.combine(day + timedelta(days=3), datetime.min.time(), UTC)
        found.append(Day(day, True, known_at, 1.0, parts))
    return found


@cache
def judged() -> dict[date, list[Verdict]]:
    """Judge all days after the reference."""
    reference = fit_model_reference(days()[:REFERENCE_DAYS], Limits())
    found = judge("ctr", days()[REFERENCE_DAYS:], references=[reference], limits=Limits())
    return {of_day[0].day: of_day for of_day in found}


def plan(first: int, last: int, segment: str = "all") -> Plan:
    """Plan a change, given by the numbers of its first and last day."""
    return Plan(DAYS[first], DAYS[last], segment, why="new features")


def results(plans: Sequence[Plan] = ()) -> Results:
    """Read the days with some plans."""
    return Results(Store(""), "ctr", lambda _, day: judged()[day], plans=plans)


def standing(segment: str, plans: Sequence[Plan]) -> dict[date, Verdict]:
    """Give what stands of a segment on every day."""
    read = results(plans)
    return {day: next(v for v in read.verdicts(day) if v.segment == segment) for day in judged()}


def check(segment: str, plans: Sequence[Plan]) -> None:
    """Compare what stands with what is stored, day by day, and the incidents on record."""
    for day, stands in standing(segment, plans).items():
        stored = next(v for v in judged()[day] if v.segment == segment)
        assert stored.plan is None
        inside = [p for p in plans if p.first <= day <= p.last]
        found = stored.detector.incident
        recovers = found is not None and found.recovering is not None
        after = [p for p in plans if p.last < day and found and found.opened <= p.last and recovers]
        if inside or after:
            assert stands.state == "acknowledged"
            assert stands.incident is None
            assert stands.detector.history is stored.detector.history
            assert (stands.reached, stands.slope) == (stored.reached, stored.slope)
            assert stands.reasons == sentences(stands)
            acknowledged = stands.ended is not None and stands.ended.reason == "acknowledged"
            assert acknowledged == (found is not None)
        else:
            assert stands is stored
    plain, kept = (of_segment(results(p), [*judged()], segment) for p in ((), plans))
    silent_now = stands.state == "acknowledged"  # on the last day
    for before, now in zip(plain, kept, strict=True):
        last = (before.closed or date.max) - timedelta(days=1)
        planned = any(p.first <= last <= p.last for p in plans) if before.closed else silent_now
        assert now == (replace(before, ended="acknowledged") if planned else before)


def test_the_world_has_two_drifts() -> None:
    """The whole finds both; the first recovers and the second is open at the end."""
    first, second = of_segment(results(), [*judged()], "all")

    assert (first.ended, second.ended) == ("recovered", None)
    assert DAYS[36] < first.opened < DAYS[42] <= (first.closed or date.min)
    assert second.opened > DAYS[64]


@pytest.mark.parametrize("segment", SEGMENTS)
def test_plans_around_an_incident(segment: str) -> None:
    """Before it, at its start only, on the day of its opening, inside, over it, and after it."""
    for first in of_segment(results(), [*judged()], segment)[:1]:
        opened = DAYS.index(first.opened)
        over = DAYS.index(first.closed) if first.closed else len(DAYS) - 1
        for span in [
            (opened - 8, opened - 2),
            (opened, opened),
            (opened + 1, opened + 3),
            (opened - 3, min(over + 3, 89)),
            (opened, 89),
        ]:
            check(segment, [plan(*span)])


def test_plans_drawn_at_random() -> None:
    """One or two plans anywhere, also of days that overlap, in any order."""
    rng = np.random.default_rng(23)
    for _ in range(12):
        ends = np.sort(rng.integers(REFERENCE_DAYS, 90, (rng.integers(1, 3), 2)))
        for segment in SEGMENTS:
            check(segment, [plan(int(first), int(last)) for first, last in ends])


def test_a_change_that_went_well_alerts_nobody_and_one_that_lasts_does_at_once() -> None:
    """The first drift recovers after its plan: silent until it is over. The second lasts on."""
    first, second = of_segment(results(), [*judged()], "all")
    stands = standing("all", [plan(35, 41), plan(63, 75)])
    after = [day for day in judged() if DAYS[41] < day < (first.closed or date.max)]

    assert after
    assert {stands[day].state for day in after} == {"acknowledged"}
    assert "recovering" in stands[after[0]].reasons[0]
    assert second.opened <= DAYS[75]
    assert stands[DAYS[76]].state == "calibration_drift"


def test_a_plan_of_a_segment_covers_that_segment_only() -> None:
    """The other segment, and the whole that no values explain, are as stored."""
    of_segment_only = [plan(35, 89, "DE")]
    check("DE", of_segment_only)

    for name in ("all", "FR"):
        assert all(v.state != "acknowledged" for v in standing(name, of_segment_only).values())


def test_a_plan_of_the_segment_that_explains_the_whole_covers_both() -> None:
    """Of the whole it is asked which segments its drift sits in."""
    day = next(day for day, (whole, *_) in judged().items() if whole.incident)
    whole = judged()[day][0]
    for segments, covers in ((["DE"], True), (["FR"], False), (["DE", "FR"], False)):
        explained = Explanation(
            tuple(Condition("country", name) for name in segments),
            *(0.9, None, None, 0.5),
            in_segments=True,
        )
        located = replace(whole, where=Where("too_timid", None, (), explained))
        (stands,) = with_plans([located], [plan(28, 89, "DE")])
        assert (stands.state == "acknowledged") == covers


def test_a_plan_hides_the_values_that_drift_by_themselves() -> None:
    """While it covers their day; on record they stay."""
    whole = judged()[DAYS[50]][0]
    value = replace(VALUES.incidents[0], opened=whole.day)
    found = replace(whole, values=replace(VALUES, incidents=(value,)))
    (stands,) = with_plans([found], [plan(50, 52)])

    assert whole.drifts_found == {}
    assert list(found.drifts_found.values()) == [whole.day]
    assert stands.drifts_found == {}
    assert with_plans([found], [plan(51, 52)]) == [found]


def test_whatever_is_found_a_plan_leaves_nothing_open() -> None:
    """Of every state, kind and fact that can be drawn: nothing is open, and the words fit."""
    states = set[str]()
    for verdict in (verdict_of(Drawn(seed)) for seed in range(400)):
        covering = Plan(verdict.day, verdict.day, why="new features")
        (stands,) = with_plans([verdict], [covering])
        states.add(verdict.state)
        if not verdict.final or verdict.state in UNJUDGED:
            assert stands is verdict
            continue
        assert (stands.state, stands.plan) == ("acknowledged", covering)
        assert not any((stands.incident, stands.distortion, stands.level_incident, stands.labels))
        assert (stands.drifts_found, stands.shifted) == ({}, None)
        assert stands.reasons == sentences(stands)
        assert "(new features) is planned" in stands.reasons[0]
        assert trust(stands).answer == f"Not asked: a change is planned until {verdict.day}."
        after = replace(stands, plan=replace(covering, last=verdict.day - timedelta(days=1)))
        assert "was planned until" in trust(after).answer
        assert "recovering" in sentences(after)[0]
        assert not failing({"all": Standing(stands)}, ["drift", "level", "labels"])
    assert states == {*STATES}
