"""Days judged together: none is lost, and a fold day by day is the same as all at once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from scipy.special import expit

from monitor.base.segment_names import WHOLE
from monitor.drift.curve.reference import merge_days
from monitor.drift.evidence.directions import day_evidence
from monitor.drift.fold.inputs import Day, Limits, ModelReference, fit_model_reference
from monitor.drift.records.lack import Lack
from monitor.drift.records.verdict import Verdict
from monitor.drift.verdicts.judge import days_needed, judge
from monitor.metrics.core.coarse import CENTRES, Coarse
from studies.drift.worlds import draw_day, shares
from tests.support.cases import some
from tests.support.stored import detectors_again, whole_table

MONDAY = date(2026, 1, 5)
MOMENT = datetime(2026, 12, 31, tzinfo=UTC)
LENGTH = 28 + 70


MISSING: Mapping[str, Sequence[int]] = {
    "a gap": range(46, 56),
    "none": (),
    "Sundays": (34, 41, 48),
    "every other day": range(29, 82, 2),
}


def days_of(
    rows: float = 300.0,
    *,
    seed: int = 1,
    without: Sequence[int] = (),
    resting: Sequence[int] = (),
    bent: range = range(50, 80),
    length: int = LENGTH,
) -> list[Day]:
    """Draw two segments; some days are missing, and on some of them the second has no rows."""
    rng = np.random.default_rng(seed)
    days = []
    for t in range(length):
        bend = -0.4 * CENTRES * (t in bent)
        parts: dict[tuple[str, str], Coarse] = {
            (name, "all"): draw_day(rng, shares(0.0), rows, rng.normal(0, 0.3), bend)
            for name in ("DE", "FR")
        }
        if t in resting:
            del parts["FR", "all"]
        if t not in without:
            days.append(Day(MONDAY + timedelta(t), True, MOMENT, 1.0, parts))
    return days


@cache
def days_without(*without: int) -> list[Day]:
    """Draw days of which some are missing and on some of which a segment has no rows."""
    return days_of(without=without, resting=(33, 39, 43, 44, 45), bent=range(36, 68), length=82)


def at_once(
    days: Sequence[Day], references: Sequence[ModelReference], limits: Limits
) -> list[list[Verdict]]:
    """Judge all days in one go."""
    return list(judge("m", days, references=references, limits=limits))


def day_by_day(
    days: Sequence[Day], references: Sequence[ModelReference], limits: Limits
) -> list[list[Verdict]]:
    """Judge each day by itself, from what the store holds of the day before it."""
    found: list[list[Verdict]] = []
    for i, day in enumerate(days):
        before = {earlier.day: earlier for earlier in days[:i]}
        detectors = detectors_again(found[-1] if found else [])
        found += judge(
            "m", [day], references=references, limits=limits,
            recent=[before[d] for d in days_needed([*before], detectors, limits)],
            detectors=detectors,
        )  # fmt: skip
    return found


def table(verdicts: Sequence[Verdict]) -> pa.Table:
    """Lay out the verdicts of a day as the store does."""
    return whole_table(verdicts)


def are_equal(one: pa.Table, other: pa.Table) -> bool:
    """Compare tables; an end of an interval that does not exist is nan in both."""
    return one.equals(other) or repr(one.to_pylist()) == repr(other.to_pylist())


def assert_same(found: Sequence[Sequence[Verdict]], expected: Sequence[Sequence[Verdict]]) -> None:
    """Compare what the store would hold of every day.

    One table of all days is made much sooner than one of each, which only name the day.
    """
    assert [len(day) for day in found] == [len(day) for day in expected]
    one, other = (table([v for day in days for v in day]) for days in (found, expected))
    if not are_equal(one, other):
        pairs = zip(found, expected, strict=True)
        differ = [a for a, b in pairs if not are_equal(table(a), table(b))]
        pytest.fail(f"the verdicts of {differ[0][0].day} differ")


@pytest.mark.parametrize(("judge_every", "missing"), some(product([7, 1, 2, 10], MISSING), 16))
def test_day_by_day_is_all_at_once(judge_every: int, missing: str) -> None:
    """With missing days, a resting segment and a second reference: equal tables.

    What the store holds of the day before is all that the fold needs.
    """
    limits = Limits(judge_every=judge_every)
    days = days_without(*MISSING[missing])
    last = MONDAY + timedelta(28)
    references = [fit_model_reference([d for d in days if d.day < last], limits)]
    second = [d for d in days if MONDAY + timedelta(68) <= d.day < MONDAY + timedelta(80)]
    if second and judge_every == 1:
        references.append(
            ModelReference(second[0].day, second[-1].day, {}, Lack("final days", 12, 14))
        )

    assert_same(day_by_day(days, references, limits), at_once(days, references, limits))


def test_a_segment_that_a_new_reference_lacks_is_forgotten_in_both() -> None:
    """Its open drift ends with the old reference; it comes back weeks later without a past."""
    days = days_of(1_500.0)
    days = [
        replace(day, parts={k: v for k, v in day.parts.items() if k[0] == "DE"})
        if 62 <= t < 90
        else day
        for t, day in enumerate(days)
    ]
    limits = Limits()
    references = [fit_model_reference(part, limits) for part in (days[:28], days[62:78])]

    whole = at_once(days, references, limits)

    assert any(v.segment == "FR" and v.detector.incident for v in whole[61])
    assert_same(day_by_day(days, references, limits), whole)


def test_a_week_of_single_outcomes_is_not_lost() -> None:
    """One prediction a day says nothing given its outcome; seven of them together do."""
    rng = np.random.default_rng(3)
    reference = days_of(300.0)[:28]
    single = []
    for t in range(28, 98):
        counts = np.zeros(CENTRES.size, np.int64)
        counts[rng.integers(450, 570)] = 1
        part = Coarse(counts, rng.binomial(counts, expit(CENTRES)))
        single.append(Day(MONDAY + timedelta(t), True, MOMENT, 1.0, {("DE", "all"): part}))
    found = {}
    for every in (1, 7):
        limits = Limits(judge_every=every)
        references = [fit_model_reference(reference, limits)]
        found[every] = [v[0] for v in at_once([*reference, *single], references, limits)][28:]

    assert all(v.detector.history.firsts.size == 0 for v in found[1])
    assert {v.state for v in found[1]} == {"insufficient_data"}
    rows = found[7][-1].detector.history
    assert rows.firsts.size >= 8  # of ten weeks; about one in 60 is of one class
    assert found[7][-1].state in ("ok", "prior_shift")
    assert rows.informations[:, 0].sum() > 0.0


def spans_judged(verdicts: Sequence[Verdict]) -> list[date]:
    """List the days on which evidence was added."""
    return [v.day for v in verdicts if v.evidence]


def test_a_span_whose_last_day_is_missing_is_judged_on_the_next() -> None:
    """Weeks end on Sunday; without that Sunday the Monday after it judges what there was."""
    sunday = 34
    days = days_of(without=(sunday, *range(37, 60)))
    limits = Limits(judge_every=7)
    reference = fit_model_reference(days[:28], limits)

    verdicts = [found[0] for found in at_once(days, [reference], limits)]

    judged = spans_judged(verdicts)
    assert judged[0] == MONDAY + timedelta(sunday + 1)
    # Monday and Tuesday of the next week wait for the first day after the gap.
    assert judged[1] == MONDAY + timedelta(60)
    by_day = {v.day: v for v in verdicts}
    of_stream = reference.streams[WHOLE]
    first_week = merge_days([day.parts for day in days[28:34]])
    expected = day_evidence(of_stream, first_week, by_day[judged[0]].detector.jitters)
    assert np.array_equal(by_day[judged[0]].evidence.ratios, expected.ratios)


def test_a_reference_without_a_segment_leaves_it_unjudged() -> None:
    """A segment that the reference does not know has insufficient data; the others are judged."""
    days = days_of()
    old = [replace(day, parts={k: v for k, v in day.parts.items() if k[0] == "DE"}) for day in days]
    limits = Limits()
    reference = fit_model_reference(old[:28], limits)

    found = at_once([*old[:28], *days[28:40]], [reference], limits)[-1]

    states = {v.segment: v.state for v in found}
    assert states["FR"] == "insufficient_data"
    assert states[WHOLE] in ("ok", "prior_shift")
