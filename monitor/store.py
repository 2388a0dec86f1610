"""The only state: summaries and evaluations as Parquet, one file per model and day, replaced whole.

::

    <root>/summaries/<model>/2026-03-01.parquet     one day's tallies by segment
    <root>/evaluations/<model>/2026-03-01.parquet   every window that ends that day
    <root>/runs/<model>/2026-03-01.json             when and from which files; not reproducible

Rule 1: the same input gives the same bytes in the first two; times of runs live in the third.
Rule 2: nothing is ever changed in place, so a killed run leaves a readable store.
"""

import hashlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from datetime import date, datetime
from functools import cached_property
from math import isnan, nan
from typing import Any

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from monitor.days import Segment, Summary
from monitor.errors import DataError
from monitor.evaluate import Errors, Evaluation, PriorShift, TceNull
from monitor.files import list_days, open_filesystem, reaching, replace
from monitor.metrics.grid import CELL_COUNT
from monitor.metrics.tally import Cells, from_cells

FORMAT = 1

TALLY_COLUMNS: dict[str, pa.DataType] = {
    "segment": pa.string(),
    "cell": pa.int32(),
    "count": pa.int64(),
    "positives": pa.int64(),
    "offset_sum": pa.int64(),
}
TALLIES = pa.schema(TALLY_COLUMNS)


def _numbers(kind: type) -> pa.DataType:
    return pa.struct([pa.field(f.name, pa.float64()) for f in fields(kind)])


EVALUATION_COLUMNS: dict[str, pa.DataType] = {
    "model": pa.string(),
    "segment": pa.string(),
    "day": pa.date32(),
    "window_days": pa.int32(),
    "days_present": pa.int32(),
    "final": pa.bool_(),
    "known_at": pa.timestamp("s", "UTC"),
    "predicted": pa.int64(),
    "matched": pa.int64(),
    "positives": pa.int64(),
    "rejected": pa.map_(pa.string(), pa.int64()),
    "coverage": pa.float64(),
    "prevalence": pa.float64(),
    "mean_score": pa.float64(),
    "shift": _numbers(PriorShift),
    "raw": _numbers(Errors),
    "prior": _numbers(Errors),
    "null": _numbers(TceNull),
}
EVALUATIONS = pa.schema(EVALUATION_COLUMNS)
NESTED = {"shift": PriorShift, "raw": Errors, "prior": Errors, "null": TceNull}


@dataclass(frozen=True)
class RunRecord:
    """When the last run of a model was, and the last one in which no day failed."""

    started: datetime
    finished: datetime
    succeeded: datetime | None


@dataclass(frozen=True)
class Store:
    """A folder or an object-store prefix.

    Attributes
    ----------
    root : str
        A local path or a URL such as ``s3://bucket/prefix``.
    """

    root: str

    @cached_property
    def _place(self) -> tuple[fsspec.AbstractFileSystem, str]:
        filesystem, path = open_filesystem(self.root)
        return filesystem, path.rstrip("/")

    def days(self, kind: str, model: str) -> list[date]:
        """List the days of one kind (`summaries`, `evaluations`), rising."""
        return list_days(f"{self.root.rstrip('/')}/{kind}/{model}/{{day}}.parquet")

    def write_summary(self, summary: Summary) -> None:
        """Replace the summary of the one day that `summary` covers."""
        (day,) = summary.days
        self._write(f"summaries/{summary.model}/{day}.parquet", _summary_table(summary))

    def read_summary(self, model: str, day: date) -> tuple[Summary, str]:
        """Read one day's summary and the fingerprint of its bytes."""
        name = f"summaries/{model}/{day}.parquet"
        content = self._read(name)
        with _understanding(self.root, name):
            table = pq.read_table(io.BytesIO(content))
            return _summary(model, day, table), hashlib.sha256(content).hexdigest()

    def write_evaluations(
        self, model: str, day: date, evaluations: Sequence[Evaluation], *, inputs: str
    ) -> None:
        """Replace the evaluations of one day; `inputs` is the fingerprint of all they rest on."""
        table = _evaluation_table(evaluations).replace_schema_metadata(
            {"format": str(FORMAT), "inputs": inputs}
        )
        self._write(f"evaluations/{model}/{day}.parquet", table)

    def read_evaluations(self, model: str, day: date) -> tuple[list[Evaluation], str]:
        """Read the evaluations of one day and the fingerprint of all they rest on."""
        name = f"evaluations/{model}/{day}.parquet"
        content = self._read(name)
        with _understanding(self.root, name):
            table = pq.read_table(io.BytesIO(content))
            inputs = (table.schema.metadata or {})[b"inputs"].decode()
            return [_evaluation(row) for row in table.to_pylist()], inputs

    def evaluation_inputs(self, model: str, day: date) -> str | None:
        """Read what the evaluations of a day rest on; None if there are no readable ones."""
        try:
            return self.read_evaluations(model, day)[1]
        except DataError:
            return None

    def write_inputs(self, model: str, day: date, inputs: str) -> None:
        """Note from which files the summary of a day was made, as a fingerprint."""
        self._write_record(f"{model}/{day}", {"inputs": inputs})

    def read_inputs(self, model: str, day: date) -> str | None:
        """Recall from which files the summary of a day was made; None if it is not known."""
        return self._read_record(f"{model}/{day}").get("inputs")

    def write_run(self, model: str, *, started: datetime, finished: datetime, failed: bool) -> None:
        """Note when the last run was, and when the last one without a failed day."""
        before = self.read_run(model)
        success = before.succeeded if failed and before else None if failed else finished
        record = {
            "started": started.isoformat(),
            "finished": finished.isoformat(),
            "succeeded": success.isoformat() if success else None,
        }
        self._write_record(f"{model}/last", record)

    def read_run(self, model: str) -> RunRecord | None:
        """Recall the last run; None if there was none."""
        record = self._read_record(f"{model}/last")
        if not record:
            return None
        with _understanding(self.root, f"runs/{model}/last.json"):
            return RunRecord(
                started=datetime.fromisoformat(record["started"]),
                finished=datetime.fromisoformat(record["finished"]),
                succeeded=datetime.fromisoformat(record["succeeded"])
                if record["succeeded"]
                else None,
            )

    def _write_record(self, name: str, record: Mapping[str, str | None]) -> None:
        filesystem, root = self._place
        content = json.dumps(record, indent=1, sort_keys=True) + "\n"
        replace(filesystem, f"{root}/runs/{name}.json", content.encode())

    def _read_record(self, name: str) -> dict[str, Any]:
        filesystem, root = self._place
        path = f"{root}/runs/{name}.json"
        with reaching(path):
            content = filesystem.cat_file(path) if filesystem.exists(path) else b"{}"
        try:
            record = json.loads(content)
        except ValueError:  # a record is a convenience: without it the day is read again
            return {}
        return record if isinstance(record, dict) else {}

    def _write(self, name: str, table: pa.Table) -> None:
        filesystem, root = self._place
        sink = io.BytesIO()
        pq.write_table(table, sink, compression="zstd")
        replace(filesystem, f"{root}/{name}", sink.getvalue())

    def _read(self, name: str) -> bytes:
        filesystem, root = self._place
        with reaching(f"{self.root}/{name}"):
            return filesystem.cat_file(f"{root}/{name}")  # type: ignore[no-any-return]


@contextmanager
def _understanding(root: str, name: str) -> Iterator[None]:
    """Turn whatever a damaged file makes the reader raise into a DataError that says so."""
    try:
        yield
    except (pa.ArrowException, OSError, LookupError, TypeError, ValueError) as error:
        msg = (
            f"{root}/{name}: is not a readable file of this store ({type(error).__name__}: "
            f"{error}); delete it, then run its day again."
        )
        raise DataError(msg) from error


def _summary_table(summary: Summary) -> pa.Table:
    about = {
        "format": FORMAT,
        "cells": CELL_COUNT,
        "predicted": {name: part.predicted for name, part in summary.segments.items()},
        "rejected": dict(summary.rejected),
        "final": summary.final,
        "known_at": summary.known_at.isoformat(),
    }
    columns: dict[str, list[Any]] = {name: [] for name in TALLIES.names}
    for name, part in summary.segments.items():
        t = part.tally
        if t.cells is None:
            msg = "only tallies on the grid are stored; use tally_on_grid."
            raise TypeError(msg)
        columns["segment"].append(np.full(t.scores.size, name, dtype=object))
        columns["cell"].append(t.cells.numbers)
        columns["count"].append(t.counts)
        columns["positives"].append(t.positives)
        columns["offset_sum"].append(t.cells.offset_sums)
    table = pa.table({k: np.concatenate(v) for k, v in columns.items()}, schema=TALLIES)
    return table.replace_schema_metadata({"summary": json.dumps(about)})


def _summary(model: str, day: date, table: pa.Table) -> Summary:
    about = json.loads((table.schema.metadata or {})[b"summary"])
    if about["format"] != FORMAT or about["cells"] != CELL_COUNT:
        msg = f"format {about['format']} on {about['cells']} cells, not {FORMAT} on {CELL_COUNT}"
        raise ValueError(msg)
    names = table["segment"].to_numpy(zero_copy_only=False)
    columns = {
        name: table[name].to_numpy().astype(np.int64)
        for name in ("cell", "count", "positives", "offset_sum")
    }
    segments = {}
    for name, predicted in about["predicted"].items():
        rows = names == name
        cells = Cells(columns["cell"][rows], columns["offset_sum"][rows])
        segments[name] = Segment(
            from_cells(cells, columns["count"][rows], columns["positives"][rows]), predicted
        )
    return Summary(
        model=model,
        days=(day,),
        segments=segments,
        rejected=about["rejected"],
        final=about["final"],
        known_at=datetime.fromisoformat(about["known_at"]),
    )


def _evaluation_table(evaluations: Sequence[Evaluation]) -> pa.Table:
    rows = [
        {
            name: None if isinstance(value, float) and isnan(value) else value
            for name, value in asdict(evaluation).items()
        }
        | {"rejected": sorted(evaluation.rejected.items())}
        for evaluation in evaluations
    ]
    return pa.Table.from_pylist(rows, schema=EVALUATIONS)


def _evaluation(row: dict[str, Any]) -> Evaluation:
    numbers = {k: nan for k in ("coverage", "prevalence", "mean_score") if row[k] is None}
    nested = {k: kind(**row[k]) for k, kind in NESTED.items() if row[k] is not None}
    return Evaluation(**{**row, **numbers, **nested, "rejected": dict(row["rejected"])})
