"""Levels of classes: a shift of priors says nothing, a class that is off is named with its size."""

from collections.abc import Sequence
from functools import cache
from itertools import combinations

import numpy as np
import pytest

from monitor.drift.classes.class_levels import ClassLevels, PairLevel, off_class
from monitor.drift.classes.pairs import ClassDay
from monitor.drift.curve.reference import Reference
from monitor.drift.fold.inputs import Day, Limits, ModelReference, fit_model_reference
from monitor.drift.records.verdict import Verdict
from monitor.drift.verdicts.judge import judge
from monitor.words.verdict import sentences
from studies.classes.worlds import NONE, REFERENCE, Drift, World, day_of_pairs, stream
from tests.support.cases import some

THREE, FIVE = World("3 classes", 3, rows=1_000), World("5 classes", 5, rows=1_000, group=5)
LEAST = float(np.log(1.10))
AFTER = 7  # days


@cache
def days_of(world: World, drift: Drift, seed: int) -> Sequence[Day]:
    """Draw a reference, and days after it with the drift."""
    return [day_of_pairs(rows) for rows in stream(world, drift, seed, days=AFTER, start=0)]


@cache
def fitted(world: World, seed: int) -> ModelReference:
    """Fit the reference, which is the same before any drift."""
    return fit_model_reference(days_of(world, NONE, seed)[:REFERENCE], Limits())


def last_week(world: World, drift: Drift, seed: int) -> list[Verdict]:
    """Judge the days after the reference; give the verdicts of the last one."""
    days = days_of(world, drift, seed)[REFERENCE:]
    return [*judge("pets", days, references=[fitted(world, seed)], limits=Limits())][-1]


@pytest.mark.parametrize("world", [THREE, FIVE], ids=lambda world: world.name)
@pytest.mark.parametrize(("bias", "often", "low"), [(0.7, "less", "high"), (-0.7, "more", "low")])
def test_a_class_that_is_off_is_named_with_its_size(
    world: World, bias: float, often: str, low: str
) -> None:
    """The scores of a class are biased while all priors move: its size is within four errors."""
    whole, *_ = last_week(world, Drift("biased", biased=bias), 9)

    change = whole.level_change
    assert whole.state == "level_drift"
    assert abs(change.value + bias) < 4 * change.error
    said = " ".join(sentences(whole))
    assert f"class 0 comes true {often} often than its scores" in said
    assert f"too {low} by {abs(change.value):.2f} in logit" in said
    assert "Only" not in said


@pytest.mark.parametrize("world", [THREE, FIVE], ids=lambda world: world.name)
def test_priors_that_move_put_no_class_off(world: World) -> None:
    """All class weights wander, and nothing else does."""
    whole, *_ = last_week(world, NONE, 6)

    assert whole.facts.classes.shifts
    assert whole.facts.classes.off is None
    assert whole.level_change is None
    assert whole.state == "prior_shift"
    assert "The frequencies of classes moved; pairs of classes show nothing else." in sentences(
        whole
    )


def drawn_levels(
    rng: np.random.Generator, whole: Reference, shifts: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> tuple[ClassDay, ClassLevels, ClassLevels]:
    """Draw levels of pairs that connect two sets of classes, and move each class by its shift."""
    size = len(shifts)
    some = [pair for pair in combinations(range(size), 2) if (pair[0] < 4) == (pair[1] < 4)]
    chain = [pair for pair in some if pair[1] == pair[0] + 1]
    pairs = {f"{a}-{b}": (a, b) for a, b in some if (a, b) in chain or rng.random() < 0.5}
    place = rng.normal(size=len(whole.basis) + len(whole.directions))
    weights = rng.integers(1, 5, size)
    outcomes = rng.integers(500, 5_000, size)
    before = ClassLevels(
        {pair: PairLevel("", rng.normal(), rng.uniform(0.01, 0.1), place) for pair in pairs},
        outcomes,
        1.7,
    )
    now = ClassLevels(
        {
            pair: PairLevel(
                "",
                before.pairs[pair].delta + np.log(weights[a] / weights[b]) + shifts[a] - shifts[b],
                rng.uniform(0.01, 0.1),
                place + 0.1 * rng.normal(size=place.size),
            )
            for pair, (a, b) in pairs.items()
        },
        outcomes * weights,
    )
    names = tuple(f"class {k}" for k in range(size))
    return ClassDay(names, outcomes, 0, 0, pairs), before, now


@pytest.mark.parametrize("seed", some(range(8), 3))
def test_only_what_priors_do_not_explain_is_compared(seed: int) -> None:
    """Two sets of classes, unequal priors now and before, any pairs.

    What one class is off by comes back to rounding, and the others are not named.
    """
    rng = np.random.default_rng(seed)
    whole = fitted(THREE, 6).streams["all"]
    shifts = np.zeros(8)
    classes, before, same = drawn_levels(rng, whole, shifts)
    assert off_class(whole, before, same, classes, LEAST) is None
    off = int(rng.integers(8))
    shifts[off] = 3.0 * rng.choice([-1, 1])
    classes, before, now = drawn_levels(rng, whole, shifts)
    named = off_class(whole, before, now, classes, LEAST)
    assert named.name == f"class {off}"
    assert named.change.value == pytest.approx(shifts[off], abs=1e-9)


def test_what_several_classes_explain_names_none() -> None:
    """Two of five classes are off by as much, in the same direction."""
    whole = fitted(THREE, 6).streams["all"]
    classes, before, now = drawn_levels(
        np.random.default_rng(3), whole, np.array([3.0, 3.0, 0.0, 0.0])
    )

    found = off_class(whole, before, now, classes, LEAST)
    assert found.name == ""
    assert found.change.error > 0
