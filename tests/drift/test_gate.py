"""When evidence is held down."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from monitor.arrivals import Late
from monitor.drift.curve.reference import Reference
from monitor.drift.evidence.directions import day_evidence
from monitor.drift.evidence.entities import BucketSums, held_down_by_entities, sum_buckets
from monitor.drift.evidence.overlap import held_down_by_overlap
from monitor.drift.fold.gate import held_down
from monitor.drift.fold.inputs import Day, Limits, fit_model_reference, limit_alone
from monitor.drift.incidents.detecting import accumulate, new_detector
from monitor.drift.records.day_evidence import DayEvidence
from monitor.drift.records.detector import Detector
from monitor.drift.verdicts.judge import judge
from monitor.segment_names import WHOLE
from studies.drift.entity_worlds import customers, draw_days

REFERENCE = 28
Stream = tuple[Reference, Detector, DayEvidence, list[Day], Mapping[date, BucketSums]]


@pytest.fixture(scope="module")
def over() -> Stream:
    """Accumulate ten weeks of a slope that wanders, of customers who come again."""
    days = list(draw_days(customers(0.03), 4, 0.8, REFERENCE + 35, REFERENCE + 70))
    reference = fit_model_reference(days[:REFERENCE], Limits()).streams[WHOLE]
    assert isinstance(reference, Reference)
    detector, later = new_detector(), days[REFERENCE:]
    for day in later:
        evidence = day_evidence(reference, day.parts, recent=detector.cross)
        detector = accumulate(detector, day.day, evidence, reference.day_variances)
    sums = {day.day: sum_buckets(reference, day.parts, day.entities) for day in later}
    return reference, detector, evidence, later, sums


@pytest.mark.parametrize("entities", [False, True])
@pytest.mark.parametrize("overlap", [1.0, 30.0])
def test_only_an_alert_is_held_down_by_what_is_asked_for(
    over: Stream, *, overlap: float, entities: bool
) -> None:
    """Below its limit evidence stays; at it, it is that of the rules one after the other.

    Entities know more of what hangs together than days that are alike.
    """
    reference, detector, evidence, days, sums = over
    reference = replace(reference, overlap=overlap)
    seen = days[-7:] if entities else [replace(day, entities={}) for day in days[-7:]]
    known = {"sums_of": sums.__getitem__}

    above = held_down(detector, evidence, reference, seen, enough=detector.evidence + 1e-9, **known)
    held = held_down(detector, evidence, reference, seen, enough=detector.evidence, **known)

    expected = detector
    if entities:
        expected = held_down_by_entities(expected, evidence, days[-1].day, sums_of=sums.__getitem__)
    elif overlap > 1.0:
        expected = held_down_by_overlap(expected, reference, evidence)
    assert above is detector
    assert np.array_equal(held.sums, expected.sums)
    assert (held.evidence < detector.evidence) == (entities or overlap > 1.0)


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
