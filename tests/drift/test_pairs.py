"""Pairs of classes: no class prior moves the verdict, and the worst pair is named."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import islice

import numpy as np
from scipy.special import expit

from monitor.base.segment_names import FAMILIES, WHOLE
from monitor.drift.classes.pairs import (
    SAME,
    ClassDay,
    Key,
    PairCurves,
    coded,
    fit_codes,
    parts_of_pairs,
    with_curves,
)
from monitor.drift.curve.reference import Reference, fit_reference
from monitor.drift.evidence.directions import day_evidence
from monitor.drift.fold.inputs import Day, Limits, ModelReference, fit_model_reference
from monitor.drift.records.verdict import Verdict
from monitor.drift.verdicts.class_facts import class_shifts
from monitor.drift.verdicts.judge import judge
from monitor.metrics.beyond_binary.class_counts import count_classes
from monitor.metrics.beyond_binary.class_pairs import adjusted_vectors
from monitor.metrics.core.coarse import CENTRES, Coarse
from monitor.words.verdict import sentences
from studies.classes.worlds import (
    DRIFTS,
    NONE,
    REFERENCE,
    WORLDS,
    Drift,
    World,
    day_of_pairs,
    stream,
)

SLOPES_OF_PARTS: dict[
    Key, float
] = {  # the segments of a pair are bent in ways of their own, its mean is not
    (segment, WHOLE, pair): slope
    for pair, slopes in {"a against b": (0.7, 1.3), "a against c": (1.25, 0.75)}.items()
    for segment, slope in zip(("DE", "FR"), slopes, strict=True)
}
THREE = WORLDS[0]
BENT = next(world for world in WORLDS if world.bent and world.classes == 10)
START = 10
COUPLES = World("10 classes, confused in couples", 10, group=2)
CONFUSED = replace(DRIFTS[1], pair=2.0)


def days_of(world: World, drift: Drift, seed: int, *, days: int, start: int) -> Iterator[Day]:
    """Draw the days of a stream."""
    return map(day_of_pairs, stream(world, drift, seed, days=days, start=start))


def judged(
    world: World, drift: Drift, *, days: int, seed: int = 1
) -> tuple[ModelReference, list[list[Verdict]]]:
    """Fit the reference of a stream, and judge the days after it."""
    drawn = days_of(world, drift, seed, days=days, start=START)
    reference = fit_model_reference(list(islice(drawn, REFERENCE)), Limits())
    verdicts = judge("pets", drawn, references=[reference], limits=Limits())
    return reference, list(verdicts)


@cache
def of_couples(drift: Drift) -> list[Day]:
    """Draw a stream whose classes are confused in couples; its reference is not touched."""
    return list(days_of(COUPLES, drift, 4, days=START + 8, start=START))


@cache
def reference_of_couples() -> ModelReference:
    """Fit the reference of these streams, which all share."""
    return fit_model_reference(of_couples(NONE)[:REFERENCE], Limits())


def test_no_class_prior_opens_a_drift() -> None:
    """All class priors wander, and one class is five times as frequent from day 20 on."""
    _, found = judged(BENT, NONE, days=60)

    assert [v[0].day for v in found if v[0].detector.incident] == []
    assert found[-1][0].state == "prior_shift"
    assert "More frequent than in the reference: class 2" in " ".join(sentences(found[-1][0]))


def test_sharper_logits_are_found_and_the_worst_pair_is_named() -> None:
    """Temperature 1.25 is found within 3 days at 5,000 rows a day, the median; its slope is 0.8."""
    streams = [judged(THREE, DRIFTS[0], days=START + 6, seed=seed)[1] for seed in (1, 2, 3)]
    opened = [next(i for i, v in enumerate(s) if v[0].detector.incident) for s in streams]
    whole = streams[0][-1][0]

    assert sorted(opened)[1] < START + 3
    assert whole.detector.incident.kind == "too_extreme"
    assert whole.slope.low < 0.8 < whole.slope.high
    assert "The worst pair is class" in " ".join(sentences(whole))


def test_of_one_confused_pair_the_others_are_as_before() -> None:
    """The sentence separates the pair from the rest."""
    after = of_couples(CONFUSED)[REFERENCE:]
    found = list(judge("pets", after, references=[reference_of_couples()], limits=Limits()))
    said = " ".join(sentences(found[-1][0]))

    assert "The worst pair is class 0 against class 1: too extreme, slope 0." in said
    assert "the others are as before" in said


def test_verdicts_of_pairs_are_limited() -> None:
    """100 classes have hundreds of pairs; the 20 that the reference knows best get a verdict."""
    world = replace(WORLDS[2], rows=1_000)  # enough for 200 pairs
    drawn = list(islice(days_of(world, NONE, 1, days=1, start=9), REFERENCE + 1))
    reference = fit_model_reference(drawn[:REFERENCE], Limits())
    (verdicts,) = judge("pets", drawn[-1:], references=[reference], limits=Limits())

    assert len({pair for day in drawn for *_, pair in day.parts}) > 100
    assert [v.segment for v in verdicts[: len(FAMILIES)]] == [*FAMILIES]
    assert len(verdicts) == len(FAMILIES) + 20


def day_of_parts(rows: dict[Key, int]) -> dict[Key, Coarse]:
    """Count the outcomes to expect of so many rows in each cell of a part."""
    seen = abs(CENTRES) < 2.5
    chances = {key: expit(SLOPES_OF_PARTS[key] * CENTRES) for key in rows}
    return {
        key: Coarse(of_part * seen, np.rint(of_part * seen * chances[key]).astype(np.int64))
        for key, of_part in rows.items()
    }


def reference_of_parts(curves: PairCurves, days: list[dict[Key, Coarse]]) -> Reference:
    """Fit the reference of all parts with some curves."""
    return with_curves(fit_reference([coded(day, curves) for day in days]), days, curves)


def test_a_mix_of_bent_parts_that_moves_is_no_drift() -> None:
    """Rows move to the parts whose scores are too extreme: of pairs alone that looks like one."""
    days = [day_of_parts(dict.fromkeys(SLOPES_OF_PARTS, 5))] * 20
    moved = day_of_parts({key: 20 if slope < 1.0 else 2 for key, slope in SLOPES_OF_PARTS.items()})
    curves, ratios = fit_codes(days), {}
    for name, of in {"parts": curves, "pairs": SAME}.items():
        ratios[name] = day_evidence(reference_of_parts(of, days), coded(moved, of)).ratios[0]

    assert {name for name in curves.codes if isinstance(name, tuple)} == {*SLOPES_OF_PARTS}
    assert ratios["pairs"] > 1.5  # of at most 2, that it has become too extreme
    assert ratios["parts"] < 0.0


def test_a_label_shift_moves_a_pair_by_one_constant() -> None:
    """The share of one class of a pair at equal scores moves by log w_a / w_b, whatever the third.

    With vectors on three points each, counted exactly; the outcomes are expectations.
    """
    grid = np.array([[0.5, 0.3, 0.2], [0.45, 0.5, 0.05], [0.4, 0.35, 0.25]])
    weights = np.log([3.0, 1.0, 0.2])
    moved = adjusted_vectors(grid, weights)

    def log_odds(vectors: np.ndarray) -> np.ndarray:
        return np.log(vectors[:, 0] / vectors[:, 1])

    # Rounding of doubles only.
    np.testing.assert_allclose(log_odds(moved) - log_odds(grid), np.log(3.0), atol=1e-12)


def test_classes_that_moved_are_listed_clearest_first() -> None:
    """A change of 1.25 in odds that could be chance is not."""
    before = ClassDay(("a", "b", "c"), np.array([5000, 4900, 100]), 9000, 7000)
    now = ClassDay(("a", "b", "c"), np.array([500, 487, 13]), 900, 700)
    moved = ClassDay(("a", "b", "c"), np.array([700, 280, 20]), 900, 700)

    assert class_shifts(before, now, 0.22) == []
    assert [shift.name for shift in class_shifts(before, moved, 0.22)][:2] == ["b", "a"]


def test_a_pair_that_says_nothing_is_left_out() -> None:
    """Outcomes of one class only are no part of a day."""
    rows = np.array([[0.6, 0.3, 0.1]] * 5 + [[0.1, 0.5, 0.4]] * 4), np.array([0] * 5 + [1, 2, 1, 2])
    counts = count_classes("abc", [rows], np.zeros(3), watched=[], pairs=[(0, 1), (1, 2)])

    assert counts.pairs[0, 1].counts.sum() == 5
    assert list(parts_of_pairs(counts, "pairs")) == [("all", "all", "b against c")]
