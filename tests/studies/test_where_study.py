"""The study of where a drift sits: its worlds are what their names say, its searches search."""

from dataclasses import replace

import numpy as np

from studies.where.searches import chi_squared_search, discoveries
from studies.where.worlds import COLUMNS, PAIR, ROWS, WORLDS, draw_day


def test_worlds_touch_the_values_that_they_name() -> None:
    """Slopes differ from 1 in exactly the rows with such a value."""
    values = np.random.default_rng(1).integers(0, 60, (5_000, COLUMNS))
    five, crossing = (world.slopes(values) for world in WORLDS if world.off)

    off = [int(value.removeprefix("v")) for _, value in sorted(WORLDS[2].off)]
    assert np.array_equal(five < 1.0, (values == off).any(axis=1))
    assert np.array_equal(crossing < 1.0, (values[:, :2] == 0).all(axis=1))


def test_every_column_counts_every_row_once() -> None:
    """Also the pairs."""
    day = draw_day(np.random.default_rng(2), WORLDS[0], drifted=True)

    assert len(day.columns) == COLUMNS + 1
    assert PAIR in day.columns
    for parts in day.columns.values():
        assert sum(part.predicted for part in parts.values()) == ROWS
        assert sum(int(p.positives.sum()) for p in parts.values()) == day.whole.positives.sum()


def test_a_chi_squared_test_flags_the_prior_of_a_day() -> None:
    """At most one in 500 where the scores are right; one in ten where the prior is another one."""
    sound, moved = (
        draw_day(np.random.default_rng(3), world, drifted=False)
        for world in (WORLDS[1], replace(WORLDS[1], prior_sd=1.0))
    )

    assert len(chi_squared_search([sound])) <= 1
    assert len(chi_squared_search([moved])) > 50


def test_discoveries_are_those_of_benjamini_and_hochberg() -> None:
    """The largest rank whose p-value is below its share of 5 % decides."""
    p_values = {("c", f"v{i}"): p for i, p in enumerate((0.001, 0.021, 0.026, 0.9))}

    assert discoveries(p_values) == {("c", "v0"), ("c", "v1"), ("c", "v2")}
