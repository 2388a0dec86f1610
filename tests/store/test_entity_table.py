"""The buckets of a day are stored beside its summary, which names their digest."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from monitor.base.errors import DataError
from monitor.days.summary import Entities, Summary
from monitor.metrics.core.buckets import BIN_COUNT, BUCKETS, BucketCounts, add_up_buckets
from monitor.store.entity_table import entities_of, entity_table
from monitor.store.store import Store
from tests.store.test_store import DAY, a_summary

FIELDS = ("buckets", "bins", "counts", "positives")


def drawn(seed: int = 1, rows: int = 300) -> BucketCounts:
    """Draw rows of a part."""
    rng = np.random.default_rng(seed)
    positives = rng.integers(0, 2, rows)
    buckets, bins = rng.integers(0, BUCKETS, rows), rng.integers(0, BIN_COUNT, rows)
    return add_up_buckets(buckets, bins, np.ones(rows, np.int64), positives)


def with_entities(seed: int = 1) -> Summary:
    """Make a summary with buckets."""
    return replace(a_summary(), entities={("DE", "all"): drawn(seed), ("FR", "all"): drawn(9, 2)})


def as_lists(entities: Entities) -> dict[tuple[str, str], list[list[int]]]:
    """Write counts as lists, to be compared."""
    return {k: [getattr(p, name).tolist() for name in FIELDS] for k, p in entities.items()}


def test_a_summary_is_read_with_its_buckets(tmp_path: Path) -> None:
    """Every integer comes back, in the order of the segments."""
    store, written = Store(str(tmp_path)), with_entities()
    store.write_summary(written)

    read, _ = store.read_summary("ctr", DAY)

    assert as_lists(read.entities) == as_lists(written.entities)
    assert [*read.entities] == [*written.entities]


def test_the_fingerprint_is_that_of_the_buckets_too(tmp_path: Path) -> None:
    """A summary with the same tallies and other buckets has another fingerprint."""
    store, marks = Store(str(tmp_path)), set[str]()
    for seed in (1, 2, 1):
        store.write_summary(with_entities(seed))
        marks.add(store.read_summary("ctr", DAY)[1])

    assert len(marks) == 2


def test_buckets_of_another_summary_are_refused(tmp_path: Path) -> None:
    """A sound file that the summary does not name, and one that is missing, are named."""
    store, other = Store(str(tmp_path / "one")), Store(str(tmp_path / "other"))
    store.write_summary(with_entities(1))
    other.write_summary(with_entities(2))
    path = tmp_path / f"one/entities/ctr/{DAY}.parquet"
    path.write_bytes(other.content("entities", "ctr", DAY))

    with pytest.raises(DataError, match=r"entities.*older or newer.*run calibration-monitor backf"):
        store.read_summary("ctr", DAY)
    path.unlink()
    with pytest.raises(DataError, match=r"entities.*is missing.*run calibration-monitor backfill"):
        store.read_summary("ctr", DAY)
    assert store.damage("summaries", "ctr", DAY) is not None


WRONG: dict[str, Callable[[pa.Table], pa.Table]] = {
    "a bucket too many": lambda t: t.set_column(2, "bucket", pa.array([64] * t.num_rows)),
    "a bin too many": lambda t: t.set_column(3, "bin", pa.array([128] * t.num_rows)),
    "an order": lambda t: t.take(list(range(t.num_rows))[::-1]),
    "no rows": lambda t: t.set_column(4, "count", pa.array([0] * t.num_rows)),
    "more positives than rows": lambda t: t.set_column(5, "positives", pa.array([99] * t.num_rows)),
    "another format": lambda t: t.replace_schema_metadata({"entities": '{"format": 2}'}),
    "no format": lambda t: t.replace_schema_metadata({}),
    "a column less": lambda t: t.drop_columns(["bin"]),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_table_that_says_what_no_day_can_is_refused(case: str) -> None:
    """What a digest cannot prove is checked: places, their order, counts and the format."""
    table = entity_table({("DE", "all"): drawn()})
    entities_of(table)

    with pytest.raises((ValueError, LookupError)):
        entities_of(WRONG[case](table))
