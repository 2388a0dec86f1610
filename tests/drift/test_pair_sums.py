"""Pairs of classes as values of a column: which pair, or which segment, explains a drift."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import islice

import numpy as np
import pytest

from monitor.base.segment_names import CROSSED, FAMILIES, PAIR, WHOLE
from monitor.days.summary import Columns, paired_part
from monitor.drift.curve.reference import Reference
from monitor.drift.fold.inputs import Day, Limits, ModelReference, fit_model_reference
from monitor.drift.records.places import Condition, Where
from monitor.drift.verdicts.pair_sums import columns_of_pairs, sum_day
from monitor.drift.where.column_sums import DaySums, in_both, over_days
from monitor.drift.where.values_off import where_of
from studies.classes.segments import day_of_segments
from studies.classes.worlds import NONE, REFERENCE, Drift, Rows, World, stream

BENT = World("5 classes, each bent in its own way", 5, group=5, bent=0.3)
ROWS = {"DE": 5_000, "FR": 2_000}  # a day, by segment
SINCE = 7  # days of a drift
PLANTED = Condition(PAIR, "class 0 against class 1")
SEGMENT = Condition("country", "FR")
Summed = tuple[DaySums, DaySums]  # by value, and shared with each pair


def drawn(named: Condition | None) -> Iterator[dict[str, Rows]]:
    """Draw a reference in two segments, and the days of a drift of a segment or of a pair."""
    drift = Drift("all logits", sharpened=2.0)
    streams = [
        stream(
            replace(BENT, rows=rows),
            drift if named == Condition("country", name) else NONE,
            number,
            days=SINCE,
            start=0,
        )
        for number, (name, rows) in enumerate(ROWS.items())
    ]
    rng = np.random.default_rng(3)
    for number, of_day in enumerate(zip(*streams, strict=True)):
        off = named == PLANTED and number >= REFERENCE
        rows = [flattened(rng, of) if off else of for of in of_day]
        yield dict(zip(ROWS, rows, strict=True))


@cache
def reference_days() -> list[Day]:
    """Count the days of the reference, which are the same whatever drifts."""
    return [*map(day_of_segments, islice(drawn(None), REFERENCE))]


def flattened(rng: np.random.Generator, rows: Rows) -> Rows:
    """Draw the outcomes of the first pair again, at half the log-odds of its scores."""
    first = np.sort(np.argsort(-rows.vectors, axis=1)[:, :2], axis=1)
    mine = (first == [0, 1]).all(axis=1) & (rows.labels <= 1)
    odds = (rows.vectors[:, 0] / rows.vectors[:, 1]) ** 0.5
    drawn = rng.random(len(odds)) < 1.0 / (1.0 + odds)
    return replace(rows, labels=np.where(mine, drawn, rows.labels))


@pytest.fixture(scope="module")
def fitted() -> ModelReference:
    """Fit the reference."""
    return fit_model_reference(reference_days(), Limits())


@pytest.fixture(scope="module")
def before(fitted: ModelReference) -> list[Summed]:
    """Sum up the days of the reference."""
    return [sums_of(day, fitted) for day in reference_days()]


def columns(day: Day) -> Columns:
    """Count a day by segment and pair."""
    rows = {name: of.total for name, of in day.classes.segments.items()} if day.classes else {}
    return columns_of_pairs(day, "country", rows)


def sums_of(day: Day, fitted: ModelReference) -> Summed:
    """Sum up a day of the whole."""
    return sum_day(whole_of(fitted), columns(day), WHOLE, fitted.curves_of(WHOLE))


def whole_of(fitted: ModelReference) -> Reference:
    """Give the reference of the whole."""
    return fitted.streams[WHOLE]


def place(days: Iterator[Day], fitted: ModelReference, before: list[Summed]) -> Where:
    """Say where the drift of the whole sits."""
    after = [sums_of(day, fitted) for day in days]
    found, shared = (
        in_both(*(over_days([of[i] for of in days]) for days in (before, after))) for i in (0, 1)
    )
    assert {*shared} == {"country x pair"}
    return where_of(whole_of(fitted), found, "too_extreme", (), shared)


@pytest.mark.parametrize("named", [None, PLANTED, SEGMENT], ids=["nothing", "pair", "segment"])
def test_what_drifts_is_named(
    named: Condition | None, fitted: ModelReference, before: list[Summed]
) -> None:
    """A pair in both segments, or a segment in all its pairs, though all priors wander."""
    found = place(map(day_of_segments, islice(drawn(named), REFERENCE, None)), fitted, before)

    assert {p.column for p in found.places} == {PAIR, "country"}
    assert bool(found.flagged) is bool(named)
    assert bool(found.explanation) is bool(named)
    if found.explanation and named:
        assert found.explanation.conditions == (named,)
        assert found.explanation.counted
        assert found.explanation.slope.high < 0.8
        assert found.explanation.rest.low < 1.0 < found.explanation.rest.high


def test_sums_add_over_the_parts_of_a_pair(fitted: ModelReference) -> None:
    """Each segment's pairs have intercepts of their own: a value sums them, and pools none."""
    day = columns(reference_days()[0])
    for family in FAMILIES:
        reference = fitted.streams[family]
        assert isinstance(reference, Reference)
        curves = fitted.curves_of(family)
        found, shared = sum_day(reference, day, family, curves)
        parts = [
            (segment, pair, sum_day(reference, {PAIR: {pair: one}}, family, curves)[0][PAIR])
            for segment, of in day["country"].items()
            for (which, *key, pair), part in of.pairs.items()
            if which == family
            for one in [paired_part({(family, *key, pair): part}, 0)]
        ]
        crossed = {f"{segment}{CROSSED}{pair}": sums[pair] for segment, pair, sums in parts}
        assert {*shared["country x pair"]} == {*crossed}
        for name, mine in (*found["country"].items(), *found[PAIR].items()):
            alone = [sums[pair] for segment, pair, sums in parts if name in (segment, pair)]
            assert mine.rows == sum(of.rows for of in alone)
            # Sums of a few hundred floats in another order.
            np.testing.assert_allclose(mine.scores, sum(of.scores for of in alone), rtol=1e-9)
            np.testing.assert_allclose(mine.squares, mine.informations**2)
