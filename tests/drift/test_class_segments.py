"""Segments of a model with classes: a small one is named, and no prior of any opens a drift."""

from collections.abc import Sequence
from functools import cache
from itertools import islice

import numpy as np
import pytest

from monitor.drift.classes.pairs import by_pair
from monitor.drift.curve.reference import RARE, Reference
from monitor.drift.fold.inputs import Day, Limits, ModelReference, fit_model_reference
from monitor.drift.records.verdict import Verdict
from monitor.drift.verdicts.judge import judge
from monitor.segment_names import FAMILIES, THIRD, WHOLE
from monitor.words.verdict import sentences
from studies.classes.segments import day_of_segments, divided_rows
from studies.classes.worlds import NONE, REFERENCE, Drift, Rows, World, stream
from tests.support.cases import some

FIVE = World("5 classes", 5, rows=20_000, group=5)
BENT = World("5 classes, each bent in its own way", 5, rows=20_000, group=5, bent=0.3)
START, SOUND, SEGMENTS = 2, 25, 4


@cache
def days_of(world: World) -> list[Day]:
    """Draw a reference and the sound days after it."""
    rows = divided_rows(world, NONE, 1, days=SOUND, start=START, segments=SEGMENTS)
    return [*map(day_of_segments, rows)]


def drifting(world: World, drift: Drift, days: int) -> list[Day]:
    """Draw days of a drift after the same reference."""
    rows = divided_rows(world, drift, 1, days=days, start=START, segments=SEGMENTS)
    return [*map(day_of_segments, islice(rows, REFERENCE, None))]


@cache
def reference_of(world: World) -> ModelReference:
    """Fit the reference of all streams of a world."""
    return fit_model_reference(days_of(world)[:REFERENCE], Limits())


def judged(world: World, days: Sequence[Day]) -> list[dict[str, Verdict]]:
    """Judge the days after the reference, by stream."""
    reference = reference_of(world)
    verdicts = judge("pets", days, references=[reference], limits=Limits())
    return [{v.segment: v for v in of_day} for of_day in verdicts]


def test_a_small_segment_that_bends_is_found_and_named() -> None:
    """3 % of the rows, 600 a day, get logits 1.6 times as large; nothing else opens."""
    found = judged(FIVE, drifting(FIVE, Drift("sharper", sharpened=1.6), START + 6))
    opened = [name for name, v in found[-1].items() if v.incident]
    small = found[-1]["small"]

    assert opened == ["small"]
    assert small.incident is not None
    assert small.incident.kind == "too_extreme"
    assert small.slope is not None
    assert small.slope.low < 1.0 / 1.6 < small.slope.high
    assert not any(found[START - 1][name].incident for name in found[0])


@pytest.mark.parametrize("world", [FIVE, BENT], ids=lambda world: world.name)
def test_no_class_prior_of_a_segment_opens_a_drift(world: World) -> None:
    """The priors of each segment wander by themselves, and its curves may have bends of its own."""
    found = judged(world, days_of(world)[REFERENCE:])

    assert not any(v.incident for of_day in found for v in of_day.values())
    assert {v.state for v in found[-1].values()} <= {"ok", "prior_shift"}
    assert found[-1]["small"].facts.classes is not None
    assert found[-1]["small"].facts.classes.shifts
    said = " ".join(sentences(found[-1]["small"]))
    assert "The frequencies of classes moved. " in said
    assert "More frequent than in the reference: class 2 (" in said


def test_streams_sum_the_parts_that_are_theirs() -> None:
    """The whole has every part, a segment and a pair have their own."""
    days, reference = days_of(BENT)[:REFERENCE], reference_of(BENT)
    pairs = by_pair([day.parts for day in days])
    rows = {
        name: int(own.counts.counts.sum())
        for name, own in reference.streams.items()
        if isinstance(own, Reference)
    }
    segments = [f"segment {number}" for number in range(1, SEGMENTS)]

    assert [*rows][: 2 + SEGMENTS] == [*FAMILIES, "small", *segments]
    assert rows[WHOLE] == sum(rows[name] for name in ("small", *segments))
    assert {name: rows[name] for name in pairs} == {
        name: sum(int(part.counts.sum()) for part in parts) for name, parts in pairs.items()
    }
    assert reference.classes is not None
    assert reference.classes.total == sum(s.total for s in reference.classes.segments.values())
    np.testing.assert_array_equal(
        reference.classes.outcomes,
        np.sum([s.outcomes for s in reference.classes.segments.values()], axis=0),
    )
    # A segment has the curves of the pairs in common with the whole.
    small = reference.streams["small"]
    assert isinstance(small, Reference)
    of_pairs = [name for name in reference.curves.codes if isinstance(name, str)]
    assert {*of_pairs} == {*pairs}
    assert [*small.groups] == [*of_pairs, RARE, *(("small", WHOLE, pair) for pair in pairs)]
    assert THIRD in rows


def test_parts_have_curves_of_their_own_where_segments_are_bent() -> None:
    """In calibrated segments chance explains how the parts of a pair differ."""
    bent, calibrated = (reference_of(world).curves for world in (BENT, FIVE))

    assert bent.of_parts
    assert {key[0] for key in bent.codes if isinstance(key, tuple)} == {
        "small",
        *(f"segment {number}" for number in range(1, SEGMENTS)),
    }
    assert not calibrated.of_parts
    assert all(isinstance(name, str) for name in calibrated.codes)


def test_a_part_is_known_no_worse_than_its_outcomes_say() -> None:
    """Slope and shapes of few scores are hard to tell apart, but what they add up to is not.

    Twice the inverse of the information, because it is that of coded scores, which spread at least
    0.7 times as far as those before.
    """
    reference = reference_of(BENT)
    small, variances = reference.streams["small"], reference.curves.variances
    assert isinstance(small, Reference)
    of_groups = small.cross[0, 1 + len(small.basis) :]
    known = {key: of_groups[at] for key, at in small.groups.items() if isinstance(key, tuple)}
    well = {key: information for key, information in known.items() if information > 100.0}

    assert len(well) > 3
    assert all(0.0 < variances[key][0] < 2.0 / information for key, information in well.items())


@pytest.mark.parametrize("seed", some([1, 2], 2))
def test_the_order_of_the_names_means_nothing(seed: int) -> None:
    """The same streams, classes and counts; slopes that differ by less than they are known."""
    classes, days = 4, 5
    order = np.random.default_rng(seed).permutation(classes)
    worlds = [World(name, classes, rows=700, group=4, bent=0.3) for name in ("a", "b")]
    drift = Drift("sharper", sharpened=1.4)
    drawn = [
        dict(zip(("a", "b"), rows, strict=True))
        for rows in zip(
            *(stream(w, drift, seed + 10 * i, days=days, start=2) for i, w in enumerate(worlds)),
            strict=True,
        )
    ]
    renamed = [
        {
            name: Rows(of.day, of.vectors[:, order], np.argsort(order)[of.labels])
            for name, of in rows.items()
        }
        for rows in drawn
    ]
    plain, other = (last_verdicts([*map(day_of_segments, of)]) for of in (drawn, renamed))

    def name_of(stream_name: str) -> str:
        """Name a stream of the other order by the classes of this one."""
        if " against " not in stream_name:
            return stream_name
        places = sorted(int(order[int(k.split()[-1])]) for k in stream_name.split(" against "))
        return " against ".join(f"class {k}" for k in places)

    assert {*plain} == {*map(name_of, other)}
    for name, verdict in other.items():
        same = plain[name_of(name)]
        if verdict.facts.classes and same.facts.classes:
            # Sums of the same whole numbers, so the same ratios.
            assert verdict.facts.classes.judged == same.facts.classes.judged
            assert verdict.facts.classes.right == same.facts.classes.right
            assert len(verdict.facts.classes.shifts) == len(same.facts.classes.shifts)
        assert verdict.slope
        assert same.slope
        # The curve that pairs share follows them as they are written: with the class that comes
        # first. In drawn worlds 95 % of the differences are below 0.4 standard errors.
        error = (same.slope.high - same.slope.low) / 3.92
        assert verdict.slope.value == pytest.approx(same.slope.value, abs=error)


def last_verdicts(days: list[Day]) -> dict[str, Verdict]:
    """Fit the reference, and give the verdicts of the last day by stream."""
    reference = fit_model_reference(days[:REFERENCE], Limits())
    *_, last = judge("pets", days[REFERENCE:], references=[reference], limits=Limits())
    return {v.segment: v for v in last}
