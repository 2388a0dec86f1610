"""The study of where a drift sits: its worlds are what their names say."""

import numpy as np

from studies.where.run import COLUMNS, PAIR, ROWS, WORLDS, draw_day, plain


def test_worlds_touch_the_values_that_they_name() -> None:
    """Slopes differ from 1 in exactly the rows with such a value."""
    values = np.random.default_rng(1).integers(0, 60, (5_000, COLUMNS))
    five, crossing = (world.slopes(values) for world in WORLDS[1:3])

    off = [int(value.removeprefix("v")) for _, value in sorted(WORLDS[1].off)]
    assert np.array_equal(five < 1.0, (values == off).any(axis=1))
    assert np.array_equal(crossing < 1.0, (values[:, :2] == 0).all(axis=1))


def test_every_column_counts_every_row_once() -> None:
    """Also the pairs; a plain test of sound rows with a prior of their own flags very much."""
    columns, whole = draw_day(np.random.default_rng(2), WORLDS[0].slopes)

    assert len(columns) == COLUMNS + 1
    for parts in columns.values():
        assert sum(part.predicted for part in parts.values()) == ROWS
        assert sum(int(part.positives.sum()) for part in parts.values()) == whole.positives.sum()
    assert {name for name, _ in plain([columns])} <= {*(f"c{i}" for i in range(COLUMNS)), PAIR}
