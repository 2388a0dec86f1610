"""Which column has priors that move apart."""

from itertools import product

import numpy as np
import pytest

from monitor.base.segment_names import OTHER
from monitor.days.summary import ColumnPart, Columns
from monitor.drift.records.values import MovingPriors
from monitor.drift.where.moving_priors import moving_priors, split_by
from monitor.metrics.core.coarse import CENTRES
from monitor.metrics.core.special import expit
from tests.support.cases import some

CELLS = np.flatnonzero(abs(CENTRES) < 3)[::8]
SIZES = {"country": 5, "device": 4, "customer": 10}
DAYS, ROWS = 21, 6_000


def draw(
    seed: int, moving: dict[str, float], day_sd: float = 0.5, level: float = 0.0
) -> list[Columns]:
    """Draw days whose priors move by column, value and day, and differ by value for good."""
    rng = np.random.default_rng([27, seed])
    levels = {name: rng.normal(0.0, 0.5, size) for name, size in SIZES.items()}
    days = []
    for _ in range(DAYS):
        values = {name: rng.integers(0, size, ROWS) for name, size in SIZES.items()}
        places = rng.integers(0, CELLS.size, ROWS)
        logits = CENTRES[CELLS[places]] + level + rng.normal(0.0, day_sd)
        for name, of in values.items():
            moved = rng.normal(0.0, moving.get(name, 0.0), SIZES[name])
            logits = logits + (levels[name] + moved)[of]
        hits = rng.random(ROWS) < expit(logits)
        days.append({name: count(of, places, hits) for name, of in values.items()})
    return days


def count(values: np.ndarray, places: np.ndarray, hits: np.ndarray) -> dict[str, ColumnPart]:
    """Count rows by value."""
    found = {}
    for value in np.unique(values):
        here = values == value
        counts = np.bincount(places[here], minlength=CELLS.size)
        positives = np.bincount(places[here & hits], minlength=CELLS.size)
        found[f"v{value}"] = ColumnPart(CELLS, counts, positives, int(counts.sum()))
    return found


@pytest.mark.parametrize(("seed", "level"), some(product(range(3), [0.0, -3.0, 2.0]), 4))
def test_the_column_that_moves_most_is_named(seed: int, level: float) -> None:
    """With about its spread, whatever the order of days, and if all scores are too high or low."""
    days = draw(seed, {"device": 0.6, "country": 0.3}, level=level)

    found = moving_priors(days)

    assert found.column == "device"
    assert 0.3 < found.spread < 0.8
    assert sorted(found.values) == ["v0", "v1", "v2", "v3"]
    again = moving_priors(days[::-1])
    assert again.column == found.column
    assert again.spread == pytest.approx(found.spread, rel=1e-9)  # sums in another order


@pytest.mark.parametrize("seed", some(range(5), 2))
def test_priors_of_days_and_of_values_for_good_are_no_reason(seed: int) -> None:
    """They bend no pooled curve from one day to the next."""
    assert moving_priors(draw(seed, {})) is None


def test_few_days_say_nothing() -> None:
    """A column is proposed from a week on."""
    assert moving_priors(draw(1, {"device": 0.6})[:6]) is None


@pytest.mark.parametrize("seed", some(range(3), 2))
def test_days_are_split_into_all_their_rows(seed: int) -> None:
    """Whatever values are named, parts add up to the rows of the column, in one order."""
    rng = np.random.default_rng(seed)
    for column in draw(seed, {})[0].values():
        values = tuple(rng.permutation([*column, "of another day"])[: rng.integers(1, 5)].tolist())
        parts = split_by(column, MovingPriors("any", 0.5, values, 28))

        assert {*parts} <= {*values, OTHER}
        assert [*parts] == [
            *split_by(dict(reversed(column.items())), MovingPriors("any", 0.5, values, 28))
        ]
        assert sum(int(part.counts.sum()) for part in parts.values()) == ROWS
        for value in {*values} & {*column}:
            np.testing.assert_array_equal(parts[value].counts[CELLS], column[value].counts)
            np.testing.assert_array_equal(parts[value].positives[CELLS], column[value].positives)
        hits = sum(int(part.positives.sum()) for part in column.values())
        assert sum(int(part.positives.sum()) for part in parts.values()) == hits


def test_values_that_are_not_named_are_one_part() -> None:
    """Days are split into all their rows, in the order of the names."""
    column = draw(0, {})[0]["country"]
    parts = split_by(column, MovingPriors("country", 0.5, ("v3", "absent", "v1"), 28))

    assert [*parts] == ["v3", "v1", "other"]
    for of in ("counts", "positives"):
        assert np.array_equal(getattr(parts["v3"], of)[CELLS], getattr(column["v3"], of))
        every = sum(getattr(part, of) for part in column.values())
        assert np.array_equal(sum(getattr(part, of) for part in parts.values())[CELLS], every)
