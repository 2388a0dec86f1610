"""DuckDB cuts positions into cells and offsets by bits; in floating point it gives the same."""

import duckdb
import numpy as np
import pyarrow as pa
from scipy.special import expit

from monitor.logs.engines.steps import LOGARITHM, written
from monitor.logs.statement.statement import located
from monitor.metrics.core.grid import (
    CELL_COUNT,
    HIGHEST_SCORE,
    LOGIT_LIMIT,
    LOWEST_SCORE,
    OFFSETS_PER_CELL,
    POSITIONS_PER_LOGIT,
)

HALVES = np.arange(2 * CELL_COUNT + 1) / 2  # the borders of cells and their middles
HALFWAY = expit(HALVES / (CELL_COUNT / (2 * LOGIT_LIMIT)) - LOGIT_LIMIT)
ENDS = np.array([LOWEST_SCORE, HIGHEST_SCORE])
DRAWN = np.random.default_rng(7).uniform(size=100_000)
SCORES = np.concatenate(
    [HALFWAY, DRAWN, *(np.nextafter(ENDS, side) for side in (0.0, 1.0)), ENDS, [0.0, 1.0, 7.0]]
)


def test_bits_give_the_cells_and_offsets_of_floating_point() -> None:
    """At the borders and in the middle of every cell, at the ends of the grid, and elsewhere."""
    rows = duckdb.from_arrow(
        pa.table({"score": pa.array([*SCORES.tolist(), None, float("nan")], pa.float64())})
    )
    position = f"floor(({LOGARITHM.format('odds')} + {LOGIT_LIMIT!r}) * {POSITIONS_PER_LOGIT!r})"
    expected = "expected", f"SELECT *, {position} AS expected FROM located"  # noqa: S608
    query = written([*located("rows_of_scores"), expected])
    table = rows.query("rows_of_scores", query).to_arrow_table()
    cells, offsets = np.divmod(table["expected"].to_numpy(), OFFSETS_PER_CELL)
    np.testing.assert_array_equal(table["cell"].to_numpy(), cells)
    np.testing.assert_array_equal(table["offsets"].to_numpy(), offsets)
    assert set(cells) == set(range(CELL_COUNT))
