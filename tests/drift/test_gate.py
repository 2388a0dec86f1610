"""When evidence is held down."""

from dataclasses import replace

import pytest

from monitor.base.segment_names import WHOLE
from monitor.days.arrivals import Late
from monitor.drift.fold.inputs import Limits, fit_model_reference, limit_alone
from monitor.drift.verdicts.judge import judge
from studies.drift.entity_worlds import customers, draw_days

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
