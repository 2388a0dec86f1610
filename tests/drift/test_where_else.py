"""Where an error of the level and a break at one place sit: the values that have them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from monitor.days.summary import Columns, column_part
from monitor.drift.curve.reference import Reference, fit_reference
from monitor.drift.records.places import Where
from monitor.drift.records.region_state import Break, Family
from monitor.drift.where.column_sums import over_days
from monitor.drift.where.values_off import (
    Measure,
    ValueSums,
    level_sums,
    of_level,
    of_place,
    place_sums,
    where_else,
)
from monitor.metrics.core.coarse import CENTRES, Coarse
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.samples import Bools
from monitor.metrics.core.special import expit
from monitor.words.where import where_sentence

DAYS, LATER, ROWS = 28, 6, 1_500
NAMES = ("DE", "FR", "US", "IT", "ES")
Change = Callable[[Floats, Ints, Floats], Floats]


def day(rng: np.random.Generator, change: Change, of_outcomes: Change) -> tuple[Coarse, Columns]:
    """Draw a day; the prior of all rows moves from day to day, and of US on its own."""
    country, device = rng.integers(0, 5, ROWS), rng.integers(0, 3, ROWS)
    logits, chance = rng.normal(-0.5, 1.3, ROWS), rng.random(ROWS)
    prior = rng.normal(0.0, 0.1) + rng.normal(0.0, 0.3) * (country == 2)
    hits = rng.random(ROWS) < expit(of_outcomes(logits, country, chance) + prior)
    cells = np.clip(np.searchsorted(CENTRES, change(logits, country, chance)), 0, CENTRES.size - 1)

    def counted(rows: Bools) -> Coarse:
        found = cells[rows], cells[rows & hits]
        return Coarse(*(np.bincount(of, minlength=CENTRES.size) for of in found))

    parts = {
        "country": {name: counted(country == i) for i, name in enumerate(NAMES)},
        "device": {name: counted(device == i) for i, name in enumerate(("tv", "web", "car"))},
    }
    columns = {
        column: {
            name: column_part(of.counts, of.positives, int(of.counts.sum()))
            for name, of in values.items()
        }
        for column, values in parts.items()
    }
    return counted(cells >= 0), columns


def same(logits: Floats, *_: Any) -> Floats:
    """Change nothing."""
    return logits


@pytest.fixture(scope="module")
def past() -> tuple[Reference, list[Columns]]:
    """Fit a reference, and keep its days."""
    drawn = [day(np.random.default_rng([1, i]), same, same) for i in range(DAYS)]
    return fit_reference([{"all": whole} for whole, _ in drawn], regions=True), [
        of for _, of in drawn
    ]


def later(change: Change, of_outcomes: Change = same) -> list[Columns]:
    """Draw the days since."""
    seeds = range(LATER)
    return [day(np.random.default_rng([2, i]), change, of_outcomes)[1] for i in seeds]


def found(
    measure: Measure, sums: Callable[[Columns], ValueSums], days: list[list[Columns]]
) -> tuple[Where, list[str] | None]:
    """Give what was found, and name what explains the whole."""
    where = where_else(measure, *(over_days([sums(of) for of in period]) for period in days))
    explained = where.explanation
    return where, [c.value for c in explained.conditions] if explained else None


@pytest.mark.parametrize(
    ("lifted", "named"),
    [((1,), ["FR"]), ((1, 3), ["FR", "IT"]), ((0, 1, 2, 3, 4), None), ((), None)],
)
def test_the_values_whose_level_is_off_are_named(
    past: tuple[Reference, list[Columns]], lifted: tuple[int, ...], named: list[str] | None
) -> None:
    """Few of them explain the whole; all of them do not, nor does a prior that moves."""
    reference, before = past
    after = later(lambda logits, country, _: logits + 1.0 * np.isin(country, lifted))
    measure = of_level("scores_too_high", reference.level_variances, (DAYS, LATER))

    where, explained = found(measure, lambda of: level_sums(reference, of), [before, after])

    assert (sorted(explained) if explained else explained) == named
    if where.explanation:
        assert where.explanation.size == pytest.approx(-1.0, abs=0.15)  # the prior of days moves
        assert where.explanation.rows == pytest.approx(0.2 * len(lifted), abs=0.03)
        assert "times too high in odds); without" in where_sentence(where)
    of_level_flagged = {p.value for p in where.flagged if p.column == "country"}
    assert of_level_flagged == {NAMES[i] for i in lifted}


def place(family: Family, low: float, high: float) -> Break:
    """Make a break between two logits."""
    first, end = np.searchsorted(CENTRES, [low, high])
    nothing = np.zeros(16)
    return Break(family, int(first), int(end), 0, 0, 0, 0, 0, 0, 0, nothing, 0.0)


@pytest.mark.parametrize("family", ["value", "region"])
def test_the_value_that_has_a_break_is_named(
    past: tuple[Reference, list[Columns]], family: Family
) -> None:
    """By its rows where the scores are new there, else by their outcomes."""
    reference, before = past

    def default(logits: Floats, country: Ints, chance: Floats) -> Floats:
        return np.where((country == 1) & (chance < 0.2), 6.0, logits)

    def tilted(logits: Floats, country: Ints, _: Floats) -> Floats:
        return logits - np.where((country == 1) & (logits > 0.0) & (logits < 1.5), 1.5, 0.0)

    at = place("value", 5.9, 6.1) if family == "value" else place("region", 0.0, 1.5)
    after = later(default) if family == "value" else later(same, tilted)
    sums = lambda of: place_sums(reference, of, at.family, at.first_cell, at.end_cell)  # noqa: E731

    where, explained = found(of_place("place", at), sums, [before, after])
    calm, nothing = found(of_place("place", at), sums, [before, later(same)])

    assert explained == ["FR"]
    assert "country = FR, " in where_sentence(where)
    assert nothing is None
    assert not calm.flagged
