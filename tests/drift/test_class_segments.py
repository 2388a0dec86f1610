"""Segments of a model with classes: a small one is named, and no prior of any opens a drift."""

from dataclasses import replace

import numpy as np
import pytest

from monitor.drift.fold.inputs import Day, Limits, fit_model_reference, inputs_of
from monitor.drift.records.verdict import Verdict
from monitor.drift.verdicts.judge import judge
from monitor.store.summary_table import summary_of, summary_table
from monitor.words.trust import trust
from monitor.words.verdict import sentences
from studies.classes.segments import day_of_segments, divided_rows, summary_of_segments
from studies.classes.worlds import NONE, REFERENCE, Drift, Rows, World, stream
from tests.support.cases import some

FIVE = World("5 classes", 5, rows=20_000, group=5)
BENT = World("5 classes, each bent in its own way", 5, rows=20_000, group=5, bent=0.3)
START, SOUND, SEGMENTS = 2, 25, 4


def judged(world: World, drift: Drift, days: int) -> list[dict[str, Verdict]]:
    """Draw a reference and days after it, and judge these, by stream."""
    rows = divided_rows(world, drift, 1, days=days, start=START, segments=SEGMENTS)
    drawn = [*map(day_of_segments, rows)]
    reference = fit_model_reference(drawn[:REFERENCE], Limits())
    verdicts = judge("pets", drawn[REFERENCE:], references=[reference], limits=Limits())
    return [{v.segment: v for v in of_day} for of_day in verdicts]


def test_a_small_segment_that_bends_is_found_and_named() -> None:
    """3 % of the rows, 600 a day, get logits 1.6 times as large; nothing else opens."""
    found = judged(FIVE, Drift("sharper", sharpened=1.6), START + 6)
    opened = [name for name, v in found[-1].items() if v.incident]
    small = found[-1]["small"]

    assert opened == ["small"]
    assert small.incident is not None
    assert small.incident.kind == "too_extreme"
    assert small.slope is not None
    assert small.slope.low < 1.0 / 1.6 < small.slope.high
    assert not any(found[START - 1][name].incident for name in found[0])


def without_one(rows: dict[str, Rows]) -> dict[str, Rows]:
    """Set the scores of class 1 in the small segment to 0, and scale up the others."""
    small = rows["small"]
    left = small.vectors * (np.arange(small.vectors.shape[1]) != 1)
    return {**rows, "small": Rows(small.day, left / left.sum(axis=1, keepdims=True), small.labels)}


def through_the_store(rows: dict[str, Rows]) -> Day:
    """Count a day, and read it back from the table that is stored."""
    summary = summary_of_segments(rows)
    return inputs_of(summary_of("study", summary.days[0], summary_table(summary)))


def test_a_class_that_a_segment_leaves_out_is_named_with_both() -> None:
    """The segment with 3 % of the rows, and the whole; no other opens."""
    world = replace(FIVE, rows=6_000)
    rows = divided_rows(world, NONE, 1, days=3, start=START, segments=2)
    days = [
        through_the_store(of if t < REFERENCE else without_one(of)) for t, of in enumerate(rows)
    ]
    reference = fit_model_reference(days[:REFERENCE], Limits())
    *_, last = judge("pets", days[REFERENCE:], references=[reference], limits=Limits())
    found = {v.segment: v for v in last}

    assert {name for name, v in found.items() if v.incident} == {"small", "all"}
    for name, share in (("small", "100 %"), ("all", "3 %")):
        incident = found[name].incident
        assert (incident.of_class, incident.kind) == ("class 1", "class_place")
        assert incident.urgent
        said = " ".join(sentences(found[name]))
        assert f"where its score is 0: these are {share} of all rows (none in" in said
    assert trust(found["small"]).answer.startswith("No: class 1 comes true more often where")


def test_no_class_prior_of_a_segment_opens_a_drift() -> None:
    """The priors of each segment wander by themselves, and its curves may have bends of its own."""
    found = judged(BENT, NONE, SOUND)

    assert not any(v.incident for of_day in found for v in of_day.values())
    assert {v.state for v in found[-1].values()} <= {"ok", "prior_shift"}
    assert found[-1]["small"].facts.classes.shifts
    said = " ".join(sentences(found[-1]["small"]))
    assert "The frequencies of classes moved. " in said
    assert "More frequent than in the reference: class 2 (" in said


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
