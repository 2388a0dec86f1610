"""The store: what goes in comes out, whole or not at all, for any reader of Parquet."""

import json
from datetime import UTC, date, datetime
from pathlib import Path
from unittest.mock import patch

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from monitor.base.errors import ConfigError, DataError
from monitor.days.summary import Segment, Summary, awaited
from monitor.evaluation.errors import Errors
from monitor.evaluation.evaluation import Evaluation, TceNull
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import CELL_COUNT
from monitor.metrics.core.tally import tally_on_grid
from monitor.store.sealing import sealed_table
from monitor.store.store import Store

DAY = date(2026, 3, 1)
KNOWN = datetime(2026, 3, 2, 23, tzinfo=UTC)


def a_summary(day: date = DAY) -> Summary:
    """Make a summary of three segments, one of them empty."""
    rng = np.random.default_rng(day.toordinal())
    return Summary(
        model="ctr",
        days=(day,),
        segments={
            "DE": Segment(
                tally_on_grid(rng.random(500) < 0.3, rng.random(500)),
                600,
                awaited(rng.integers(0, CELL_COUNT, 100), np.ones(100, np.int64)),
            ),
            "FR": Segment(tally_on_grid([1, 0], [0.0, 1.0]), 2),
            "other": Segment(tally_on_grid([], []), 7, awaited(np.array([5]), np.array([7]))),
        },
        rejected={"score_missing": 3},
        final=False,
        known_at=KNOWN,
    )


def an_evaluation(segment: str, **changes: object) -> Evaluation:
    """Make an evaluation with every field filled."""
    fields = {
        "model": "ctr",
        "segment": segment,
        "day": DAY,
        "window_days": 7,
        "days_present": 6,
        "final": True,
        "known_at": KNOWN,
        "predicted": 1000,
        "matched": 900,
        "positives": 90,
        "rejected": {"score_missing": 3, "outcome_orphan": 1},
        "coverage": 0.9,
        "prevalence": 0.1,
        "mean_score": 0.125,
        "shift": Estimate(-0.25, -0.5, 0.0),
        "raw": Errors(
            0.5,
            0.0625,
            0.3,
            tce=Estimate(0.12, 0.1, 0.14),
            ece_interval=Estimate(0.0625, 0.0, 0.07),
            rbs_interval=Estimate(0.3, 0.29, 0.31),
        ),
        "prior": Errors(0.25, 0.03125, 0.29),
        "null": TceNull(0.1, 0.0, 0.1, 0.2, 0.3),
    }
    return Evaluation(**{**fields, **changes})  # type: ignore[arg-type]


def test_a_summary_comes_back(tmp_path: Path) -> None:
    """Every integer and every word of a summary is read as it was written."""
    store, written = Store(str(tmp_path)), a_summary()

    store.write_summary(written)
    read, mark = store.read_summary("ctr", DAY)

    assert (read.model, read.days, read.final, read.known_at, read.rejected) == (
        written.model,
        written.days,
        written.final,
        written.known_at,
        written.rejected,
    )
    assert list(read.segments) == ["DE", "FR", "other"]
    for name, part in written.segments.items():
        again = read.segments[name]
        assert again.predicted == part.predicted
        assert again.tally.scores.tolist() == part.tally.scores.tolist()
        assert again.tally.counts.tolist() == part.tally.counts.tolist()
        assert again.tally.positives.tolist() == part.tally.positives.tolist()
        assert again.awaited.cells.tolist() == part.awaited.cells.tolist()
        assert again.awaited.counts.tolist() == part.awaited.counts.tolist()
    assert len(mark) == 64


def test_a_summary_of_an_older_format_is_refused(tmp_path: Path) -> None:
    """A file without the predictions that await outcomes is named, with what to do."""
    store, path = Store(str(tmp_path)), tmp_path / f"summaries/ctr/{DAY}.parquet"
    store.write_summary(a_summary())
    table = pq.read_table(path)
    about = json.loads(table.schema.metadata[b"summary"]) | {"format": 1}
    old = table.drop_columns(["awaited"]).replace_schema_metadata({"summary": json.dumps(about)})
    pq.write_table(old, path)

    with pytest.raises(
        DataError, match=r"format 1 on 16384 cells, not 3 on .*; .* backfill --model"
    ):
        store.read_summary("ctr", DAY)


def test_a_summary_whose_segments_are_torn_apart_is_refused(tmp_path: Path) -> None:
    """Rows of a segment in two places would be lost, so such a file is damaged, and says so."""
    store, path = Store(str(tmp_path)), tmp_path / f"summaries/ctr/{DAY}.parquet"
    store.write_summary(a_summary())
    table = pq.read_table(path)
    path.write_bytes(sealed_table(table.take([*range(1, len(table)), 0])))

    with pytest.raises(DataError, match=r"the rows of a part are not together.*; it is damaged"):
        store.read_summary("ctr", DAY)


def test_evaluations_come_back(tmp_path: Path) -> None:
    """Evaluations with and without numbers are read as they were written; nan stays nan."""
    store, full = Store(str(tmp_path)), an_evaluation("all")
    nothing = an_evaluation("FR", shift=None, raw=None, prior=None, null=None, rejected={})
    empty = an_evaluation("IT", coverage=float("nan"), prevalence=float("nan"))

    store.write_evaluations("ctr", DAY, [full, nothing, empty], inputs="abc")
    (first, second, third), inputs = store.read_evaluations("ctr", DAY)

    assert first == full
    assert second == nothing
    assert np.isnan([third.coverage, third.prevalence]).all()
    assert inputs == "abc"


def test_writing_again_gives_the_same_bytes(tmp_path: Path) -> None:
    """The same content is the same file."""
    store, path = Store(str(tmp_path)), tmp_path / f"summaries/ctr/{DAY}.parquet"

    store.write_summary(a_summary())
    before = path.read_bytes()
    store.write_summary(a_summary())

    assert path.read_bytes() == before


def test_only_whole_files_are_days(tmp_path: Path) -> None:
    """Leftovers of a killed run and files of other names are no days."""
    store = Store(str(tmp_path))
    store.write_summary(a_summary())
    store.write_summary(a_summary(date(2025, 12, 31)))
    folder = tmp_path / "summaries/ctr"
    (folder / f".{DAY}.parquet.77.tmp").write_bytes(b"half")
    (folder / "2026-3-1.parquet").write_bytes(b"")
    (folder / "notes.parquet").write_bytes(b"")

    assert store.days("summaries", "ctr") == [date(2025, 12, 31), DAY]
    assert store.days("summaries", "nobody") == []


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    """When the disk refuses, the old file stays, no leftover remains, and the message says so."""
    store, path = Store(str(tmp_path)), tmp_path / f"summaries/ctr/{DAY}.parquet"
    store.write_summary(a_summary())
    before = path.read_bytes()

    with (
        patch("os.fsync", side_effect=OSError(28, "No space left on device")),
        pytest.raises(DataError, match="No space left on device"),
    ):
        store.write_summary(a_summary())

    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_files_are_plain_parquet(tmp_path: Path) -> None:
    """Any reader of Parquet can sum up the store."""
    store = Store(str(tmp_path))
    store.write_summary(a_summary())

    with duckdb.connect() as connection:
        totals = connection.sql(
            f"select segment, sum(count), sum(awaited) from '{tmp_path}/summaries/ctr/*.parquet' "  # noqa: S608
            "group by segment order by segment"
        ).fetchall()
    assert totals == [("DE", 500, 100), ("FR", 2, 0), ("other", 0, 7)]


def test_what_is_worked_out_is_a_plain_stream(tmp_path: Path) -> None:
    """Arrow reads it as it is, in any language: a stream that Zstandard compressed."""
    Store(str(tmp_path)).write_evaluations("ctr", DAY, [an_evaluation("all")], inputs="abc")

    file = tmp_path / f"evaluations/ctr/{DAY}.arrows.zst"
    (row,) = pa.ipc.open_stream(pa.input_stream(file, compression="zstd")).read_all().to_pylist()

    assert (row["segment"], row["window_days"], row["prior"]["ece"]) == ("all", 7, 0.03125)


@pytest.mark.parametrize("name", ["models [v2]", "{day}", "a*b?", "plain"])
def test_any_folder_may_hold_the_store(tmp_path: Path, name: str) -> None:
    """Signs that mean something in a pattern mean nothing in the name of the store's folder."""
    store = Store(str(tmp_path / name))
    store.write_evaluations("ctr", DAY, [an_evaluation("all")], inputs="")
    (tmp_path / name / "evaluations" / "ctr" / "2026-02-30.arrows.zst").touch()
    (tmp_path / name / "evaluations" / "ctr" / ".2026-03-02.parquet.1.tmp").touch()

    assert store.days("evaluations", "ctr") == [DAY]
    assert store.days("summaries", "ctr") == []


def test_a_file_is_no_store(tmp_path: Path) -> None:
    """A file in the place of the store is a wrong configuration, not a store without days."""
    (tmp_path / "store").touch()

    with pytest.raises(ConfigError, match=r"store: \S+/store is a file; name a folder"):
        Store(str(tmp_path / "store")).days("evaluations", "ctr")
