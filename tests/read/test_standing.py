"""What the terminal makes of many verdicts: the newest that counts, and the drifts there were."""

from collections.abc import Sequence
from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest

from monitor.drift.records.detector import EndReason
from monitor.read.incidents import IncidentSummary, incidents
from monitor.read.results import Results
from monitor.read.standing import newest
from monitor.report.incidents import described


def day(number: int) -> date:
    """Give a day of March."""
    return date(2026, 3, number)


def incident(opened: int, started: int, kind: str = "too_extreme") -> Any:
    """Make what the report looks at of an incident."""
    return SimpleNamespace(
        opened=day(opened),
        started=day(started),
        start_low=day(1),
        start_high=day(opened),
        kind=kind,
        evidence=3.25,
    )


def ended(found: Sequence[Any]) -> Any:
    """Say which drift is over after some days, none of which has one today."""
    before = [i for i, incident in enumerate(found, 1) if incident]
    return SimpleNamespace(closed=day(before[-1] + 1), reason="recovered") if before else None


def stored(verdicts: Sequence[tuple[str, bool, Any]]) -> Results:
    """Make a store of one verdict a day, of a segment and of the whole, from the first of March."""
    of_all = [found for _, _, found in verdicts]
    kept = {
        day(i): [
            SimpleNamespace(
                segment=segment,
                day=day(i),
                state=state,
                final=final,
                shown=final or state == "data_error",
                headline=lambda incident: incident,  # no values explain it
                explaining=lambda _: None,
                detector=SimpleNamespace(
                    incident=found if segment == "all" else None,
                    ended=None if found or segment == "DE" else ended(of_all[:i]),
                    level=SimpleNamespace(incident=None, ended=None),
                ),
            )
            for segment in ("DE", "all")
        ]
        for i, (state, final, found) in enumerate(verdicts, 1)
    }
    store: Any = SimpleNamespace(days=lambda kind, _: list(kept) if kind == "verdicts" else [])
    return Results(store, "ctr", lambda _, of: kept[of])


@pytest.mark.parametrize(
    ("states", "judged"),
    [
        ([("ok", True), ("insufficient_data", False), ("insufficient_data", False)], 1),
        ([("ok", True), ("data_error", False), ("insufficient_data", False)], 2),
        ([("insufficient_data", False), ("insufficient_data", False)], 2),
    ],
)
def test_the_newest_verdict_is_of_a_day_that_was_judged_or_refused(
    states: list[tuple[str, bool]], judged: int
) -> None:
    """Days that await outcomes hide no verdict, unless there is no other."""
    stands = newest(stored([(state, final, None) for state, final in states]))

    for segment in ("DE", "all"):
        found = stands.of(segment, 7).verdict
        assert (found.segment, found.day) == (segment, day(judged))
    assert stands.of("FR", 7).verdict is None


def test_drifts_are_listed_under_their_first_name_until_they_close() -> None:
    """A drift lasts while its incident is open, also when it is renamed or another replaces it."""
    first, renamed, second = incident(2, 1), incident(2, 1, "too_timid"), incident(5, 4)
    days = [None, first, renamed, None, second, incident(6, 6), None, incident(8, 7)]
    drifts = incidents(stored([("ok", True, found) for found in days]))

    def found(
        opened: int, started: int, closed: int | None, reason: EndReason | None = "recovered"
    ) -> IncidentSummary:
        return IncidentSummary(
            opened=day(opened),
            started=day(started),
            start_low=day(1),
            start_high=day(opened),
            kind="too_extreme",
            evidence=3.25,
            closed=day(closed) if closed else None,
            ended=reason if closed else None,
            kind_now=None if closed else "too_extreme",
        )

    assert drifts["all"] == [
        found(2, 1, 4),
        found(5, 4, 6, None),
        found(6, 6, 7),
        found(8, 7, None),
    ]
    assert drifts["DE"] == []


@pytest.mark.parametrize("waiting", [0, 2])
def test_an_open_drift_has_its_first_name_and_that_of_the_newest_day_that_was_judged(
    waiting: int,
) -> None:
    """Days that await outcomes name nothing."""
    judged = [("ok", True, incident(2, 1)), ("ok", True, incident(2, 1, "too_timid"))]
    later = [("insufficient_data", False, incident(2, 1, "ends_overpredicted"))] * waiting
    (drift,) = incidents(stored([("ok", True, None), *judged, *later]))["all"]

    assert (drift.kind, drift.kind_now) == ("too_extreme", "too_timid")
    assert described(drift) == "too timid, at first too extreme"
