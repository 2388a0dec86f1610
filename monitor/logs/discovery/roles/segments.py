"""Which columns could be segments: a few values, each with a fair share of the predictions."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from monitor.base.segment_names import RESERVED
from monitor.logs.discovery.samples.columns import Column

LEAST_SHARE = 0.02  # of the predictions: smaller parts say little
MOST_SHARE = 0.98  # of the largest value: then the segment is the whole
MOST_SEGMENTS = 12  # values that are listed
KINDS = ("text", "boolean", "integer", "uuid")


@dataclass(frozen=True)
class SegmentColumn:
    """A column that could be monitored separately: its listed values with their shares."""

    column: str
    shares: dict[str, float]

    @property
    def rest(self) -> float:
        """Return the share of all other values."""
        return max(0.0, 1 - sum(self.shares.values()))


def segment_columns(columns: Sequence[Column], taken: Collection[str]) -> list[SegmentColumn]:
    """List candidates, those with the least rest first.

    Parameters
    ----------
    columns : sequence of Column
        Of the predictions.
    taken : collection of str
        Columns that have another role.
    """
    chosen = []
    for column in columns:
        if column.name in taken or column.kind not in KINDS or column.first is not None:
            continue
        shares = {
            value: rows / column.rows
            for value, rows in column.values.items()
            if rows >= LEAST_SHARE * column.rows and value not in RESERVED
        }
        listed = dict(list(shares.items())[:MOST_SEGMENTS])
        if len(column.values) > 1 and listed and max(listed.values()) <= MOST_SHARE:
            chosen.append(SegmentColumn(column.name, listed))
    return sorted(chosen, key=lambda segment: segment.rest)
