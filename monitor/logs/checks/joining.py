"""The rows of the join in groups."""

from dataclasses import dataclass, fields

import numpy as np

from monitor.logs.checks.checks import IN_PREDICTED, WITHOUT_PREDICTION, Status
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
