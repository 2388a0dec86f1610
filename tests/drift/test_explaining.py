"""Which values explain a drift: those that were planted, in worlds that are drawn at random."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import pytest

from monitor.drift.records.places import Condition, Explanation
from monitor.drift.where.column_sums import Periods, Sums, nothing
from monitor.drift.where.explaining import explain
from monitor.drift.where.values_off import where_of
from monitor.words.where import where_sentence
from studies.where import planted as worlds
from studies.where.planted import Planted
from tests.support.cases import some

WORLDS = 5  # of one cause, and as many of two
planted = cache(worlds.planted)  # the tests only read them


@pytest.fixture(scope="module", params=some(range(2 * WORLDS), 3), ids=lambda i: f"world{i}")
def world(request: pytest.FixtureRequest) -> Planted:
    """Draw a world with one cause or two."""
    return planted(request.param // 2, causes=1 + request.param % 2)


def explained(world: Planted) -> Explanation:
    """Explain the drift of a world; there is an explanation."""
    found = explain(world.reference, world.sums)
    assert found
    return found


def test_what_is_named_was_planted(world: Planted) -> None:
    """One cause is named as it is; of two, what is named is among them, or they are both."""
    found = explained(world)

    assert {*found.conditions} <= world.causes
    assert len(world.causes) > 1 or {*found.conditions} == world.causes
    assert found.counted is (len(found.conditions) == 1)  # no columns are crossed


def test_its_kind_and_size_are_those_of_the_cause(world: Planted) -> None:
    """Not those of the mixture. The slope is within four standard errors of what was planted."""
    found = explained(world)

    assert found.kind == ("too_extreme" if world.slope < 1.0 else "too_timid")
    assert abs(found.slope.value - world.slope) < 4.0 * found.slope.error
    assert abs(found.rest.value - 1.0) < 4.0 * found.rest.error + 0.03  # the tolerance


@pytest.mark.parametrize("seed", some([1, 6, 9, 22, 107, 128], 2))
def test_a_smaller_cause_is_named_beside_a_larger_one(seed: int) -> None:
    """Although the rest without the larger one looks as before."""
    world = planted(seed, causes=2)

    explanation = explain(world.reference, world.sums)

    assert {*explanation.conditions} == world.causes


@pytest.mark.parametrize("seed", some([2, 4, 7, 23, 29], 2))
def test_rows_that_are_only_shared_are_named_nowhere(seed: int) -> None:
    """A customer of the country that drifts, and the system that goes with the device, are off."""
    world = planted(seed, causes=1)

    explanation = explain(world.reference, world.sums)

    assert {*explanation.conditions} == world.causes
    assert not explanation.beside


def test_what_may_only_share_rows_is_said_to() -> None:
    """In a world in which the outcomes tell neither."""
    world = planted(3, causes=2)
    where = where_of(world.reference, world.sums, "too_timid")

    assert {*where.explanation.conditions} < world.causes
    (left,) = world.causes - {*where.explanation.conditions}
    assert f"{left.column} = {left.value}" in where.explanation.beside
    assert "may be off too, or only share rows: cross their columns" in where_sentence(where)


def test_it_stays_what_was_named_before(world: Planted) -> None:
    """What explains it stays; what does not is given up."""
    found = explained(world)
    other = Condition("hour", "v1")

    again = explain(world.reference, world.sums, held=found.conditions)
    assert again == found
    assert explain(world.reference, world.sums, held=[other]) == found


def renamed(sums: Mapping[str, Periods], column: str, name: str) -> dict[str, Periods]:
    """Add a column with the same rows under other names."""
    old, now = sums[column]

    def other(period: Mapping[str, Sums]) -> dict[str, Sums]:
        return {value.replace("v", "w"): of for value, of in period.items()}

    return {**sums, name: (other(old), other(now))}


def test_two_names_of_the_same_rows_cannot_be_told_apart() -> None:
    """Both are said."""
    world = planted(1, causes=1)
    (cause,) = world.causes
    sums = renamed(world.sums, cause.column, "twin")
    found = where_of(world.reference, sums, "tails_too_extreme")

    names = {f"{c.column} = {c.value}" for c in found.explanation.conditions}
    names |= {*found.explanation.instead}
    assert names == {f"{cause.column} = {cause.value}", f"twin = {cause.value.replace('v', 'w')}"}
    assert "would explain it nearly as well: the outcomes do not tell these apart" in (
        where_sentence(found)
    )


def test_a_new_value_that_is_broken_is_named() -> None:
    """Its rows were others before: it has no past, so it is compared with the curve of all."""
    world = planted(1, causes=1)
    (cause,) = world.causes
    old, now = world.sums[cause.column]
    past = {v: of for v, of in old.items() if v != cause.value}
    other = next(iter(past))
    past[other] = past[other] + old[cause.value]
    sums = {**world.sums, cause.column: (past, now)}
    found = explain(world.reference, sums)

    assert found.conditions == (cause,)
    assert abs(found.slope.value - world.slope) < 4.0 * found.slope.error + 0.05  # mixed levels


def test_most_of_the_rows_are_no_explanation() -> None:
    """Eight of ten rows drift: that is the whole, whatever the other two do."""
    world = planted(1, causes=1)
    (cause,) = world.causes
    old, now = world.sums[cause.column]
    few = min((v for v in now if v != cause.value), key=lambda v: now[v].rows)

    def two(period: Mapping[str, Sums], flipped: str) -> dict[str, Sums]:
        rest = sum((of for value, of in period.items() if value != flipped), nothing())
        return {"few": period[flipped], "most": rest}

    sums = {"half": (two(old, few), two(now, few))}
    assert now[few].rows < sum(of.rows for of in now.values()) / 2
    found = explain(world.reference, sums)

    assert found is None


def test_a_sound_world_has_no_explanation() -> None:
    """The reference's own days beside themselves: no value is off."""
    world = planted(2, causes=1)
    sums = {column: (old, old) for column, (old, _) in world.sums.items()}

    assert explain(world.reference, sums) is None


def test_too_few_outcomes_explain_nothing() -> None:
    """Without outcomes since the drift began there is nothing to compare."""
    world = planted(2, causes=1)
    sums = {
        column: (old, {v: replace(nothing(), predicted=9) for v in now})
        for column, (old, now) in world.sums.items()
    }

    assert explain(world.reference, sums) is None
    assert explain(world.reference, {}) is None
