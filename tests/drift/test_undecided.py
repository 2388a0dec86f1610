from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.drift.evidence.history import week_of
from monitor.drift.fold.inputs import Day, Limits, fit_model_reference
from monitor.drift.incidents.detecting import new_detector
from monitor.drift.incidents.undecided import LASTS, QUARTER, with_recovery
from monitor.drift.records.detector import WEEKS, Incident, Quarter
from monitor.drift.records.verdict import Verdict
from monitor.drift.verdicts.judge import judge
from studies.drift.rules import pool
from studies.drift.worlds import Truth, World, stream

FIRST = date(2026, 1, 1)
Said = list[tuple[int, float]]  # days since the last one, and what a day says of the recovery
gaps = st.one_of(st.integers(1, 3), st.integers(1, 120))
quarters = st.integers(-8, 8).map(lambda n: n / 4)  # they add up exactly
said = st.lists(st.tuples(gaps, quarters), min_size=1, max_size=150)


def followed(days: Said) -> list[Quarter]:
    """Count the days one after the other."""
    quarter, found, day = None, list[Quarter](), FIRST
    for gap, recovery in days:
        day += timedelta(days=gap)
        quarter = with_recovery(quarter, day, recovery)
        found.append(quarter)
    return found


def plainly(days: Said) -> list[bool]:
    """Decide each day from all that were counted, by the calendar."""
    dates = [FIRST + timedelta(days=n) for n in np.cumsum([gap for gap, _ in days]).tolist()]
    undecided, found = False, list[bool]()
    for place, day in enumerate(dates):
        mondays = [when - timedelta(days=when.weekday()) for when in dates[: place + 1]]
        last = sorted(set(mondays))[-WEEKS:]
        pairs = zip(mondays, days, strict=False)
        lasts = -sum(recovery for monday, (_, recovery) in pairs if monday in last)
        enough = LASTS if undecided else 0.0
        counted = len(last) == WEEKS and (day - dates[0]).days >= QUARTER
        undecided = counted and lasts < enough
        found.append(undecided)
    return found


@given(said)
def test_the_last_weeks_decide(days: Said) -> None:
    """The fold says the same as one look at all days of the last 13 weeks with outcomes."""
    assert [quarter.undecided for quarter in followed(days)] == plainly(days)


@pytest.mark.parametrize(("recovery", "undecided"), [(0.01, True), (0.0, False), (-0.01, False)])
def test_nothing_is_undecided_before_90_days(recovery: float, undecided: bool) -> None:  # noqa: FBT001
    """What speaks a little for the end makes a drift undecided on the 91st day, and not before."""
    found = followed([(1, recovery)] * 120)

    assert [quarter.undecided for quarter in found] == [
        undecided and n >= QUARTER for n in range(120)
    ]


def test_an_undecided_drift_comes_back_at_ten_to_one() -> None:
    """Outcomes that speak as often for the drift as against it change nothing; ten to one do."""
    middling = followed([(1, 0.01)] * 100 + [(1, -0.5), (1, 0.5)] * 20)
    lasting = followed([(1, 0.01)] * 100 + [(1, -0.5)] * 5)

    assert all(quarter.undecided for quarter in middling[QUARTER:])
    assert [quarter.undecided for quarter in lasting[-5:]] == [True, True, True, False, False]


def judged(*, undecided: bool) -> Verdict:
    """Judge one day of a stream of which an incident is open."""
    drawn = stream(World(0.5, 200), Truth(), 71_000, days=1)
    *before, last = (
        Day(
            FIRST + timedelta(n),
            True,
            datetime(2026, 6, 1, tzinfo=UTC),
            1.0,
            {("all", ""): pool(of)},
        )
        for n, of in enumerate(drawn)
    )
    found = fit_model_reference(before, Limits())
    weeks = week_of(FIRST) - np.arange(WEEKS, 0, -1)
    quarter = Quarter(FIRST - timedelta(200), weeks, np.zeros(WEEKS), undecided)
    arrays = np.array([-2.0, 0, 0, 0]), np.full(4, 20.0), np.linspace(60, -60, 6)
    sizes = (4.0, 0.0, -0.1, 0.2)
    incident = Incident(*[FIRST] * 4, "too_extreme", *sizes, *arrays, quarter=quarter)
    detectors = {"all": replace(new_detector(), incident=incident)}
    ((verdict, *_),) = judge(
        "ctr", [last], references=[found], limits=Limits(), recent=before[-6:], detectors=detectors
    )
    return verdict


def test_the_state_is_that_of_the_incident() -> None:
    """While its weeks say neither, the verdict is `undecided`, and else `calibration_drift`."""
    assert judged(undecided=False).state == "calibration_drift"
    assert judged(undecided=True).state == "undecided"
