"""DuckDB cuts positions into cells and offsets by bits; in floating point it gives the same."""

import duckdb
import narwhals as nw
import numpy as np
import pyarrow as pa
from scipy.special import expit

from monitor.logs.joining import located
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
    rows = pa.table({"score": pa.array([*SCORES.tolist(), None, float("nan")])})
    frame = located(nw.from_native(duckdb.from_arrow(rows)).lazy(), 1.0)
    position = ((nw.col("odds").log() + LOGIT_LIMIT) * POSITIONS_PER_LOGIT).floor()
    seen = frame.with_columns(expected=position).select("cell", "offset", "expected")
    table = seen.collect(backend="pyarrow").to_native()
    cells, offsets = np.divmod(table["expected"].to_numpy(), OFFSETS_PER_CELL)
    np.testing.assert_array_equal(table["cell"].to_numpy(), cells)
    np.testing.assert_array_equal(table["offset"].to_numpy(), offsets)
    assert set(cells) == set(range(CELL_COUNT))
