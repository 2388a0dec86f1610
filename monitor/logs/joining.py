"""The one query: predictions meet outcomes, rows get a status and a cell, groups come back.

Written once in Narwhals, so DuckDB, Polars, PyArrow or Spark can run it.

Theory of the proof that no id repeats. A full join returns every row of both logs at least
once. If it returns as many rows with a prediction as there are predictions, no prediction met
two outcomes; likewise for outcomes. So two sums compared with two row counts settle all ids
that met, without a second pass. A prediction that met nobody is grouped by its id as well.
Only when a proof fails are the ids counted one by one.
"""

from dataclasses import dataclass
from enum import IntEnum

import narwhals as nw
import numpy as np
import pyarrow as pa

from monitor.logs.sources import Frame, Logs, choose
from monitor.metrics.grid import (
    CELL_COUNT,
    HIGHEST_SCORE,
    LAST_POSITION,
    LOGIT_LIMIT,
    LOWEST_SCORE,
    OFFSETS_PER_CELL,
    POSITIONS_PER_LOGIT,
    Ints,
)


class Status(IntEnum):
    """What became of a row of the join; each row has exactly one."""

    MATCHED = 0
    UNLABELLED = 1
    UNMATCHED_OUTCOME = 2
    PREDICTION_ID_MISSING = 3
    SCORE_MISSING = 4
    SCORE_OUT_OF_RANGE = 5
    OUTCOME_ID_MISSING = 6
    OUTCOME_INVALID = 7
    OUTCOME_EARLY = 8


# Predictions with a sound score. All but the first of these await an outcome that can be used.
IN_PREDICTED = (
    Status.MATCHED,
    Status.UNLABELLED,
    Status.OUTCOME_INVALID,
    Status.OUTCOME_EARLY,
)
OUTCOME_ONLY = (Status.UNMATCHED_OUTCOME, Status.OUTCOME_ID_MISSING)


@dataclass(frozen=True, eq=False)
class Groups:
    """The result of the query: rows of the join in groups, every array of shape (g,).

    Attributes
    ----------
    statuses, with_outcome, parts, cells : ndarray
        What is grouped: the status, 1 where the row holds an outcome else 0, the place of
        segment and stratum, and the cell (0 for rows without a sound score).
    counts, positives, offset_sums : ndarray
        Rows; and of matched rows outcomes of 1, and sums of offsets inside the cell.
    repeats : ndarray
        Predictions without outcome whose id another such prediction has too.
    """

    statuses: Ints
    with_outcome: Ints
    parts: Ints
    cells: Ints
    counts: Ints
    positives: Ints
    offset_sums: Ints
    repeats: Ints

    @property
    def prediction_rows(self) -> int:
        """Rows of the join that hold a prediction."""
        return int(self.counts[~np.isin(self.statuses, OUTCOME_ONLY)].sum())

    @property
    def outcome_rows(self) -> int:
        """Rows of the join that hold an outcome."""
        return int(self.counts[self.with_outcome == 1].sum())

    @property
    def met_rows(self) -> int:
        """Rows of the join that hold both."""
        met = (self.with_outcome == 1) & ~np.isin(self.statuses, OUTCOME_ONLY)
        return int(self.counts[met].sum())

    def rows_with(self, status: Status, part: int | None = None) -> int:
        """Count the rows of one status, in one part or in all."""
        chosen = self.statuses == status
        if part is not None:
            chosen &= self.parts == part
        return int(self.counts[chosen].sum())


def _status(*, timed: bool) -> nw.Expr:
    score, outcome = nw.col("score"), nw.col("outcome")
    cases = [
        (nw.col("predicted").is_null() & nw.col("outcome_id").is_null(), Status.OUTCOME_ID_MISSING),
        (nw.col("predicted").is_null(), Status.UNMATCHED_OUTCOME),
        (nw.col("id").is_null(), Status.PREDICTION_ID_MISSING),
        (score.is_null() | score.is_nan(), Status.SCORE_MISSING),
        ((score < 0.0) | (score > 1.0), Status.SCORE_OUT_OF_RANGE),
        (nw.col("observed").is_null(), Status.UNLABELLED),
        (outcome.is_null() | ~((outcome == 0) | (outcome == 1)), Status.OUTCOME_INVALID),
    ]
    if timed:
        cases.append((nw.col("observed_at") < nw.col("scored_at"), Status.OUTCOME_EARLY))
    return choose(
        [(condition, nw.lit(int(status))) for condition, status in cases],
        nw.lit(int(Status.MATCHED)),
    )


# The words of the query, which are the same for every day. Those of the place on the grid are
# `monitor.metrics.grid.locate`, in two steps that name the one before: every step costs time,
# and an expression used twice in a step is written out twice, five times nested thirty-two times.
STATUS = {timed: _status(timed=timed) for timed in (False, True)}
BOUNDED = nw.col("score").clip(LOWEST_SCORE, HIGHEST_SCORE)
ODDS = nw.col("bounded") / (1.0 - nw.col("bounded"))
POSITION = (
    ((ODDS.log() + LOGIT_LIMIT) * POSITIONS_PER_LOGIT).floor().clip(0.0, float(LAST_POSITION))
)
CELL = (nw.col("position") / OFFSETS_PER_CELL).floor()
OFFSET = nw.col("position") - CELL * OFFSETS_PER_CELL
ZERO = nw.lit(0)
MATCHED = nw.col("status") == Status.MATCHED
SCORED = nw.col("status").is_in([int(status) for status in IN_PREDICTED])
KIND = nw.col("status") * 2 + choose([(nw.col("observed").is_null(), ZERO)], nw.lit(1))
LONE = nw.col("observed").is_null() & ~nw.col("id").is_null()


def join(logs: Logs) -> Frame:
    """Let predictions and outcomes meet, and give every row its status."""
    met = logs.predictions.join(logs.outcomes, left_on="id", right_on="outcome_id", how="full")
    return met.with_columns(status=STATUS[logs.timed], bounded=BOUNDED)


def group(joined: Frame, part_count: int) -> Groups:
    """Run the query and unpack its groups.

    Parameters
    ----------
    joined : LazyFrame
        From `join`.
    part_count : int
        Number of the model's segments, times that of its strata.
    """
    key = (KIND * part_count + nw.col("part").fill_null(0)) * CELL_COUNT + choose(
        [(SCORED, CELL.cast(nw.Int32))], ZERO
    )
    # Two predictions that share an id need not share a key; which of their keys stays does
    # not matter, because without_repeats leaves them out.
    keyed = joined.with_columns(position=POSITION).select(
        key=key,
        place=choose([(LONE, nw.lit(-1))], key),
        lone_id=nw.when(LONE).then(nw.col("id")),
        positives=choose([(MATCHED, nw.col("outcome").cast(nw.Int64))], ZERO),
        offsets=choose([(MATCHED, OFFSET.cast(nw.Int64))], ZERO),
    )
    by_id = keyed.group_by("place", "lone_id").agg(
        nw.len().alias("rows"),
        *(nw.col(name).sum() for name in ("positives", "offsets")),
        nw.col("key").min(),
    )
    repeated = ~nw.col("lone_id").is_null() & (nw.col("rows") > 1)
    by_key = by_id.group_by("key").agg(
        *(nw.col(name).sum() for name in ("rows", "positives", "offsets")),
        choose([(repeated, nw.col("rows"))], ZERO).sum().alias("repeats"),
    )
    return _unpack(by_key.collect(backend="pyarrow").to_native(), part_count)


def count_rows(frame: Frame) -> int:
    """Count the rows of a log; Parquet knows it without reading them."""
    return int(frame.select(nw.len().alias("rows")).collect(backend="pyarrow").item())


def repeated_ids(frame: Frame, column: str) -> Frame:
    """List the ids that stand in a log more than once, with the number of their rows."""
    known = frame.filter(~nw.col(column).is_null())
    return known.group_by(column).agg(nw.len().alias("rows")).filter(nw.col("rows") > 1)


def merge_outcomes(outcomes: Frame, *, timed: bool) -> Frame:
    """Make one row of each outcome id: least and greatest outcome, nulls, and earliest time."""
    times = [nw.col("observed_at").min()] if timed else []
    return outcomes.group_by("outcome_id").agg(
        nw.col("outcome").min().alias("outcome"),
        nw.col("outcome").max().alias("greatest"),
        nw.col("outcome").null_count().alias("nulls"),
        nw.len().alias("rows"),
        *times,
    )


def _unpack(table: pa.Table, part_count: int) -> Groups:
    columns = {name: table[name].cast(pa.int64()).to_numpy() for name in table.column_names}
    order = np.argsort(columns["key"])
    columns = {name: column[order] for name, column in columns.items()}
    key, cells = np.divmod(columns["key"], CELL_COUNT)
    key, parts = np.divmod(key, part_count)
    statuses, with_outcome = np.divmod(key, 2)
    return Groups(
        statuses=statuses,
        with_outcome=with_outcome,
        parts=parts,
        cells=cells,
        counts=columns["rows"],
        positives=columns["positives"],
        offset_sums=columns["offsets"],
        repeats=columns["repeats"],
    )
