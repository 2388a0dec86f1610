"""The rows of the join in groups, and the rows of repeated ids as one."""

from dataclasses import dataclass, fields

import narwhals as nw
import numpy as np

from monitor.logs.checks import IN_PREDICTED, WITHOUT_PREDICTION, Status
from monitor.logs.rows import choose
from monitor.logs.session import Frame
from monitor.logs.sources import Logs
from monitor.metrics.core.grid import (
    Ints,
)


@dataclass(frozen=True, eq=False)
class Groups:
    """The result of the query: rows of the join in groups, every array of shape (g,).

    Attributes
    ----------
    statuses, with_outcome, parts, cells : ndarray
        The keys: the status, 1 if the row has an outcome else 0, the index of segment and
        stratum, and the cell (0 for rows without a valid score).
    buckets : ndarray
        One more key of a model with `entity`: the bucket; else 0.
    counts, positives, offset_sums : ndarray
        Rows; for matched rows also outcomes of 1 and sums of offsets inside the cell.
    repeats : ndarray
        Predictions without an outcome that share their id with another such prediction.
    """

    statuses: Ints
    with_outcome: Ints
    parts: Ints
    cells: Ints
    counts: Ints
    positives: Ints
    offset_sums: Ints
    repeats: Ints
    buckets: Ints

    @property
    def prediction_rows(self) -> int:
        """Rows of the join that have a prediction."""
        return int(self.counts[~np.isin(self.statuses, WITHOUT_PREDICTION)].sum())

    @property
    def predicted_rows(self) -> int:
        """Rows with a valid prediction."""
        return int(self.counts[np.isin(self.statuses, IN_PREDICTED)].sum())

    @property
    def outcome_rows(self) -> int:
        """Rows of the join that have an outcome."""
        return int(self.counts[self.with_outcome == 1].sum())

    @property
    def observed_rows(self) -> int:
        """Matched rows whose outcome is in the log, not concluded from its absence."""
        seen = (self.statuses == Status.MATCHED) & (self.with_outcome == 1)
        return int(self.counts[seen].sum())

    @property
    def unmatched_rows(self) -> int:
        """Rows of the join whose outcome has no prediction, or no id."""
        alone = (Status.UNMATCHED_OUTCOME, Status.OUTCOME_ID_MISSING)
        return int(self.counts[np.isin(self.statuses, alone)].sum())

    @property
    def met_rows(self) -> int:
        """Rows of the join that have both."""
        met = (self.with_outcome == 1) & ~np.isin(self.statuses, WITHOUT_PREDICTION)
        return int(self.counts[met].sum())

    def of_place(self, place: int, part_count: int) -> "Groups":
        """Take the groups of one day out of those of many."""
        rows = self.parts // part_count == place
        taken = {array.name: getattr(self, array.name)[rows] for array in fields(self)}
        return Groups(**{**taken, "parts": taken["parts"] % part_count})

    def rows_with(self, status: Status, part: int | None = None) -> int:
        """Count the rows of one status, in one part or in all."""
        chosen = self.statuses == status
        if part is not None:
            chosen &= self.parts == part
        return int(self.counts[chosen].sum())


def read_counts(frame: Frame) -> tuple[int, ...]:
    """Run a query that returns one row of counts; a null, the sum of no rows, counts as 0."""
    return tuple(int(count or 0) for count in frame.collect(backend="pyarrow").row(0))


def count_rows(logs: Logs) -> Frame:
    """Query the numbers of predictions and of outcomes, which Parquet stores in its metadata."""
    predictions, outcomes = (
        frame.select(nw.len().alias(name))
        for name, frame in (("predictions", logs.predictions), ("outcomes", logs.outcomes))
    )
    return predictions.join(outcomes, how="cross")


def repeated_ids(frame: Frame, column: str, *among: str) -> Frame:
    """List the ids that occur more than once in a log, or among equal rows, with their number."""
    named = frame.filter(~nw.col(column).is_null())
    return named.group_by(column, *among).agg(nw.len().alias("rows")).filter(nw.col("rows") > 1)


def merge_predictions(predictions: Frame) -> Frame:
    """Make one row of the identical predictions of each id; rows without an id stay."""
    columns = predictions.collect_schema().names()
    named = predictions.filter(~nw.col("id").is_null()).group_by(*columns).agg(nw.len().alias("n"))
    nameless = predictions.filter(nw.col("id").is_null())
    return nw.concat([named.select(*columns), nameless.select(*columns)], how="vertical")


def merge_outcomes(logs: Logs) -> Frame:
    """Make one row of each outcome id: least and greatest outcome, nulls, and earliest time.

    If the latest outcome counts, only rows with the latest time of their id are merged. Outcomes
    that were never observed count only where an id has no other.
    """
    outcomes = logs.outcomes
    if logs.undated:
        doubtful = choose(
            [((nw.col("outcome") == 0) & (nw.col("undated") > 0), nw.lit(1))], nw.lit(0)
        )
        outcomes = outcomes.with_columns(doubtful=doubtful)
        least = nw.col("doubtful").min().over("outcome_id")
        outcomes = outcomes.with_columns(least=least).filter(nw.col("doubtful") == nw.col("least"))
    if logs.latest:
        newest = nw.col("observed_at").max().over("outcome_id")
        outcomes = outcomes.with_columns(newest=newest).filter(
            (nw.col("observed_at") == nw.col("newest")) | nw.col("newest").is_null()
        )
    times = [nw.col("observed_at").min()] if logs.timed else []
    times += [nw.col("undated").min()] if logs.undated else []
    said = [nw.col("said").min()] if logs.said else []
    weights = [nw.col("weight").min()] if logs.outcomes_weighted else []
    return outcomes.group_by("outcome_id").agg(
        nw.col("outcome").min().alias("outcome"),
        nw.col("outcome").max().alias("greatest"),
        nw.col("outcome").null_count().alias("nulls"),
        nw.len().alias("rows"),
        *times,
        *said,
        *weights,
    )
