"""What was found stays on record, whatever span of known drifts is configured afterwards."""

from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import expit

from monitor.drift.inputs import Day, Limits, ModelReference, fit_model_reference
from monitor.drift.judge import judge
from monitor.drift.verdict import Verdict
from monitor.metrics.core.coarse import coarsen
from monitor.metrics.core.tally import tally_on_grid
from monitor.read.incidents import IncidentSummary, of_segment
from monitor.read.results import Results
from monitor.store.store import Store
from monitor.store.verdict_table import verdict_table, verdicts_of
from tests.drift.test_spans import assert_same
from tests.support.cases import some

FIRST, ROWS, REFERENCE_DAYS = date(2026, 1, 1), 3_000, 28
DAYS = [FIRST + timedelta(days=i) for i in range(90)]
SLOPES = {range(36, 42): 1.5, range(64, 90): 1.5}  # the first drift recovers, the second lasts
SEGMENTS = ("all", "DE", "FR")
Span = tuple[int, int]


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


def limits(*spans: Span) -> Limits:
    """Acknowledge spans of days, given by the numbers of their first and last day."""
    return Limits(known_drifts=tuple((DAYS[first], DAYS[last]) for first, last in spans))


@cache
def reference() -> ModelReference:
    """Fit the first days."""
    return fit_model_reference(days()[:REFERENCE_DAYS], Limits())


def fold(
    place: int, *spans: Span, before: list[Verdict] | None = None, end: int | None = None
) -> dict[date, list[Verdict]]:
    """Fold the days from a place on, up to another, with what the day before it left."""
    found = judge(
        "ctr",
        days()[place:end],
        references=[reference()],
        limits=limits(*spans),
        recent=days()[:place],
        detectors={v.segment: v.detector for v in before or ()},
    )
    return {of_day[0].day: of_day for of_day in found}


@cache
def judged(*spans: Span) -> dict[date, list[Verdict]]:
    """Fold all days; up to the last span they are those of a fold without it."""
    if not spans:
        return fold(0)
    earlier, first = judged(*spans[:-1]), spans[-1][0]
    return {
        **{day: earlier[day] for day in DAYS[:first]},
        **fold(first, *spans, before=earlier[DAYS[first - 1]]),
    }


def record(segment: str, *spans: Span) -> list[IncidentSummary]:
    """List the incidents."""
    found = judged(*spans)
    results = Results(Store(""), "ctr", lambda _, day: found[day])
    return of_segment(results, DAYS, segment)


def facts(found: IncidentSummary) -> tuple[object, ...]:
    """Give what an acknowledgement must not change."""
    return (found.opened, found.started, found.start_low, found.start_high, found.evidence)


def opens(segment: str, *spans: Span) -> list[date]:
    """Find the days on which the verdicts themselves open an incident."""
    states = [next(v for v in judged(*spans)[day] if v.segment == segment) for day in DAYS]
    return [v.day for v in states if v.detector.incident and v.detector.incident.opened == v.day]


def check_record(segment: str, *spans: Span) -> None:
    """Check what the last span leaves of all that was found without it.

    From the first drift on that the verdicts find after its first day, they differ by right.
    """
    plain, kept = record(segment, *spans[:-1]), record(segment, *spans)
    begin = DAYS[spans[-1][0]]
    again = next((day for day in opens(segment, *spans) if day > begin), date.max)
    by_opening = {found.opened: found for found in kept}
    assert [found.opened for found in kept] == sorted(by_opening)
    for before in plain:
        if before.opened >= again:  # on that day the verdicts themselves find it
            assert before.opened > again or again in by_opening
            continue
        now = by_opening[before.opened]
        assert facts(now) == facts(before)
        over = before.closed or date.max
        if over < begin:
            assert (now.closed, now.ended) == (before.closed, before.ended)
        else:  # it ends as acknowledged, when it would have ended, or where another begins
            assert now.ended == "acknowledged"
            if len(spans) == 1:
                assert now.closed == (min(over, again) if min(over, again) < date.max else None)


def silent(*spans: Span) -> bool:
    """Say whether no verdict of an acknowledged day reports a drift."""
    known = {DAYS[place] for first, last in spans for place in range(first, last + 1)}
    return all(
        v.state == "acknowledged" and v.detector.incident is None
        for day in known
        if day >= DAYS[REFERENCE_DAYS]
        for v in judged(*spans)[day]
    )


def test_the_world_has_two_drifts() -> None:
    """The whole finds both; the first recovers and the second is open at the end."""
    first, second = record("all")

    assert (first.ended, second.ended) == ("recovered", None)
    assert DAYS[36] < first.opened < DAYS[42] <= (first.closed or date.min)
    assert second.opened > DAYS[64]


def test_the_days_since_its_start_are_acknowledged() -> None:
    """The alert names the day; the incident stays, with the length that it would have had."""
    first, _ = record("all")
    begin, end = DAYS.index(first.started), DAYS.index(first.closed or date.max)

    kept, *_ = record("all", (begin, end + 5))

    assert facts(kept) == facts(first)
    assert (kept.closed, kept.ended) == (first.closed, "acknowledged")


@pytest.mark.parametrize("segment", SEGMENTS)
def test_spans_around_an_incident(segment: str) -> None:
    """Before it, at its start only, on the day of its opening, inside, over it, and after it."""
    for first in record(segment)[:1]:
        opened = DAYS.index(first.opened)
        start = min(DAYS.index(first.started), opened - 1)
        over = DAYS.index(first.closed) if first.closed else len(DAYS) - 1
        spans = [
            (start - 8, start - 2),
            (start, start),
            (start, opened - 1),
            (start, opened),
            (opened, opened),
            (opened + 1, opened + 3),
            (start - 3, min(over + 3, 89)),
            (opened, 89),
        ]
        for span in spans:
            check_record(segment, span)
            assert silent(span)


def test_spans_drawn_at_random() -> None:
    """One or two spans anywhere after the reference: no incident is lost or moved."""
    rng = np.random.default_rng(23)
    for _ in some(range(12), 3):
        ends = sorted(rng.choice(np.arange(REFERENCE_DAYS, 90), 2 * rng.integers(1, 3), False))
        spans = [(int(one), int(other)) for one, other in zip(ends[::2], ends[1::2], strict=True)]
        for segment in SEGMENTS:
            check_record(segment, *spans)
        assert silent(*spans)


def test_a_fold_goes_on_from_what_is_stored() -> None:
    """Ended and run again on some days, the verdicts are the same, forks and record included."""
    spans = ((38, 45), (70, 75))
    whole, found = fold(0, *spans), fold(0, *spans, end=39)
    for place, end in pairwise((39, 47, 60, 72, 80, len(DAYS))):
        stored = verdicts_of(verdict_table(found[DAYS[place - 1]], about={}))
        found |= fold(place, *spans, before=stored, end=end)
    assert [*found] == DAYS
    assert_same([*found.values()], [*whole.values()])
    assert_same([*judged(*spans).values()], [*whole.values()])
