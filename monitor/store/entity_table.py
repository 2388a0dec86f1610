"""The rows of a day by bucket of their entity, as a table of the store. Pure."""

import json
from typing import Any

import numpy as np
import pyarrow as pa

from monitor.days.summary import Entities
from monitor.metrics.core.buckets import BIN_COUNT, BUCKETS, BucketCounts
from monitor.store.summary_table import rows_by_part

FORMAT = 1
NAMES = ("segment", "stratum")
NUMBERS: dict[str, pa.DataType] = {
    "bucket": pa.uint8(),
    "bin": pa.uint8(),
    "count": pa.int64(),
    "positives": pa.int64(),
}
FIELDS = ("buckets", "bins", "counts", "positives")  # of `BucketCounts`, in that order


def entity_table(entities: Entities) -> pa.Table:
    """Lay out the counts of a day: a row for each part, bucket and bin."""
    lengths = [part.buckets.size for part in entities.values()]
    table: dict[str, Any] = {
        name: pa.array(np.repeat(np.array([key[i] for key in entities], object), lengths))
        for i, name in enumerate(NAMES)
    }
    for (name, kind), field in zip(NUMBERS.items(), FIELDS, strict=True):
        joined = [getattr(part, field) for part in entities.values()]
        table[name] = pa.array(np.concatenate(joined), kind)
    about = {"format": FORMAT, "buckets": BUCKETS, "bins": BIN_COUNT}
    return pa.table(table).replace_schema_metadata({"entities": json.dumps(about)})


def entities_of(table: pa.Table) -> Entities:
    """Read the table of a day back.

    Raises
    ------
    ValueError, LookupError, TypeError
        If this program did not write it.
    """
    about = json.loads((table.schema.metadata or {})[b"entities"])
    if about != {"format": FORMAT, "buckets": BUCKETS, "bins": BIN_COUNT}:
        msg = f"format {about}, not {FORMAT} with {BUCKETS} buckets and {BIN_COUNT} bins"
        raise ValueError(msg)
    columns = [table[name].to_numpy().astype(np.int64) for name in NUMBERS]
    parts = {
        part: BucketCounts(*(column[rows] for column in columns))
        for part, rows in rows_by_part(table).items()
    }
    for part in parts.values():
        _check(part)
    return parts


def _check(part: BucketCounts) -> None:
    keys = part.buckets * BIN_COUNT + part.bins
    if part.bins.max() >= BIN_COUNT or part.buckets.max() >= BUCKETS or np.any(np.diff(keys) < 1):
        msg = "a bucket or a bin is out of range or out of order"
        raise ValueError(msg)
    if part.counts.min() < 1 or part.positives.min() < 0 or np.any(part.positives > part.counts):
        msg = "a count is below 1, or there are more positives than outcomes"
        raise ValueError(msg)
