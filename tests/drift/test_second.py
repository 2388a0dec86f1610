from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cache

import pytest

from monitor.drift.fold.inputs import Day, Limits, fit_model_reference
from monitor.drift.fold.second import FULL
from monitor.drift.records.verdict import Verdict
from monitor.drift.verdicts.judge import judge
from studies.drift.rules import follow_detector, pool
from studies.drift.worlds import Truth, World, stream, tilted
from tests.support.cases import some

FIRST = date(2026, 1, 5)
MOMENT = datetime(2027, 1, 1, tzinfo=UTC)
REFERENCE, CHANGE = 28, 60
MANY = World(0.05, 20_000)


@cache
def drawn(slopes: Sequence[tuple[int, float]], seed: int, length: int) -> list[Day]:
    """Draw a stream whose slope changes on some days after its reference."""
    of = [
        list(stream(MANY, Truth(tilted(slope)), seed, days=length))
        for _, slope in ((0, 1.0), *slopes)
    ]
    begins = [day + REFERENCE for day, _ in slopes]
    return [
        Day(
            FIRST + timedelta(n),
            True,
            MOMENT,
            1.0,
            {("all", ""): pool(of[sum(n >= b for b in begins)][n])},
        )
        for n in range(REFERENCE + length)
    ]


@cache
def judged(slopes: tuple[tuple[int, float], ...], seed: int, length: int) -> list[Verdict]:
    """Judge such a stream from the end of its reference on."""
    days = drawn(slopes, seed, length)
    reference = fit_model_reference(days[:REFERENCE], Limits())
    found = judge("m", days[REFERENCE:], references=[reference], limits=Limits())
    return [whole for whole, *_ in found]


def worse_on(verdicts: Sequence[Verdict]) -> list[int]:
    """List the days on which an open drift was found to have become worse."""
    incidents = [(n, v.day, v.detector.incident) for n, v in enumerate(verdicts)]
    return [n for n, day, i in incidents if i and i.worse and i.worse.found == day]


@pytest.mark.parametrize("slope", some([0.4, 0.7, 1.25], 2))
def test_a_change_away_from_the_reference_is_found_while_the_drift_is_open(slope: float) -> None:
    """A slope of 0.85, then another: found once, within 3 days, with what it was before."""
    found = judged(((0, 0.85), (CHANGE, slope)), 5, CHANGE + 20)
    (day,) = worse_on(found)
    incident = found[-1].detector.incident

    assert CHANGE <= day < CHANGE + 3
    assert incident.worse.slope == pytest.approx(0.85, abs=0.03)
    assert incident.worse.times == 1
    assert abs((incident.started - FIRST).days - REFERENCE - CHANGE) <= 1
    assert found[-1].slope.low < slope < found[-1].slope.high


def test_it_is_found_again() -> None:
    """The days of the incident begin again with the change, so a further one is found too."""
    found = judged(((0, 0.9), (40, 0.75), (80, 0.5)), 6, 100)

    assert [40 <= day < 43 or 80 <= day < 83 for day in worse_on(found)] == [True, True]
    assert found[-1].detector.incident.worse.times == 2
    assert found[-1].detector.incident.worse.slope == pytest.approx(0.75, abs=0.03)


@pytest.mark.parametrize("slope", some([1.0, 0.93], 2))
def test_a_change_towards_the_reference_is_never_worse(slope: float) -> None:
    """A slope of 0.8, then a milder one or none; a recovery closes on the day it always did."""
    found = judged(((0, 0.8), (CHANGE, slope)), 7, CHANGE + 60)
    days = drawn(((0, 0.8), (CHANGE, slope)), 7, CHANGE + 60)
    reference = fit_model_reference(days[:REFERENCE], Limits()).streams["all"]
    alone = follow_detector(reference, [day.parts for day in days[REFERENCE:]])

    assert worse_on(found) == []
    if slope == 1.0:
        (only,) = alone
        open_days = [v for v in found if v.detector.incident]
        assert len(open_days) == only.lasted


def test_nothing_is_kept_without_an_open_incident() -> None:
    """The column is empty before a drift and after it; its reference rests on 28 days of it."""
    found = judged(((20, 0.8), (CHANGE, 1.0)), 8, CHANGE + 20)

    for verdict in found:
        assert (verdict.detector.second is None) == (verdict.detector.incident is None)
    rests_on = {v.detector.second.fitted for v in found if v.detector.second}
    assert rests_on == {0, 14, FULL}
