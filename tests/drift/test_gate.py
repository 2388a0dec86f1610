"""When evidence is held down."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from monitor.base.segment_names import WHOLE
from monitor.days.arrivals import Late
from monitor.drift.fold import gate
from monitor.drift.fold.inputs import Day, Limits, fit_model_reference, limit_alone
from monitor.drift.records.day_evidence import WrongLabels
from monitor.drift.records.verdict import Verdict
from monitor.drift.verdicts.judge import judge
from studies.drift.entity_worlds import customers, draw_days
from studies.drift.noise import flipped_days
from studies.drift.worlds import World

REFERENCE = 28


def test_segments_share_their_limit_and_the_whole_has_its_own() -> None:
    """One of four segments needs four times the evidence; the whole as much as without segments."""
    limits = Limits(1000, 365)

    assert limit_alone(limits, WHOLE, 4) == limit_alone(limits, WHOLE) == pytest.approx(3.0)
    assert 10 ** limit_alone(limits, "DE", 4) == pytest.approx(4 * 365)
    assert 10 ** limit_alone(limits, "DE", 0) == pytest.approx(365)


def test_what_is_withheld_is_not_held_down() -> None:
    """While late outcomes could explain a drift it stays withheld, with entities as without."""
    days = list(draw_days(customers(0.03), 4, 0.4, REFERENCE + 5, REFERENCE + 30))
    late = [
        replace(day, late=Late(30, 0.9, 0.9, None) if n > REFERENCE else None)
        for n, day in enumerate(days)
    ]
    verdicts = judge(
        *("model", late[REFERENCE:]),
        references=[fit_model_reference(days[:REFERENCE], Limits())],
        limits=Limits(),
        recall={day.day: day for day in late}.get,
    )
    found = [whole.withheld for whole, *_ in verdicts]

    assert 5 <= found.index(True) < 10
    assert all(found[found.index(True) :])


def judged(days: list[Day], late: list[Day]) -> list[Verdict]:
    """Judge the days after the reference; the whole of each."""
    return [
        whole
        for whole, *_ in judge(
            *("model", late[REFERENCE:]),
            references=[fit_model_reference(days[:REFERENCE], Limits())],
            limits=Limits(),
            recall={day.day: day for day in late}.get,
        )
    ]


def test_evidence_that_was_withheld_begins_again_once_outcomes_are_complete() -> None:
    """What rests on incomplete outcomes is no evidence: a day of a drift after them stands alone.

    It says 0.46; if what was withheld counted too it would be 1.04, all that entities allow.
    """
    days = list(draw_days(customers(0.03), 4, 0.4, REFERENCE + 5, REFERENCE + 20))[: REFERENCE + 17]
    late = [replace(day, late=Late(30, 0.9, 0.9, None)) for day in days[:-1]]

    *before, after = judged(days, [*late, days[-1]])

    assert before[-1].withheld
    assert not after.withheld
    assert 0.3 < after.detector.evidence < 0.7


def test_the_fold_asks_whether_labels_were_always_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of the positives was never recorded: without the gate that opens a drift."""
    lost, few = WrongLabels("lost", 0.1), World(0.18, 2_000)
    drawn = [*flipped_days(few, lost, 73_023, days=365)][:98]
    days = [
        Day(date(2026, 1, 1) + timedelta(t), True, datetime(2027, 1, 1, tzinfo=UTC), 1.0, parts)
        for t, parts in enumerate({(n, ""): part for n, part in of.items()} for of in drawn)
    ]
    held = [verdict.state for verdict in judged(days, days)]
    monkeypatch.setattr(gate, "GATES", (gate.rows_hang_together, gate.labels_are_told))
    opened = [verdict.state for verdict in judged(days, days)]

    assert "calibration_drift" not in held
    assert "calibration_drift" in opened
