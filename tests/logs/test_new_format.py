"""A format is one function: what is read through another one is the same day to the bit."""

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from duckdb import DuckDBPyConnection, DuckDBPyRelation

from monitor.config import Model
from monitor.logs import days_of, describe_inputs, summarise_day
from monitor.logs.engines.formats import FORMATS, FileFormat
from monitor.store.summary_table import summary_table

DAY, NEXT, AS_OF = date(2026, 3, 1), date(2026, 3, 2), date(2026, 3, 3)
PREDICTIONS = {"id": [1, 2, 3, 4], "score": [0.1, 0.4, 0.6, 0.9], "market": ["a", "b", "a", "c"]}
OUTCOMES = {"id": [4, 3, 2, 1], "outcome": [1, 0, 1, 0]}


def _read(
    connection: DuckDBPyConnection,
    places: Sequence[str],
    _: Sequence[str],
    __: Mapping[str, Any],
    ___: Mapping[str, Any],
) -> DuckDBPyRelation:
    """Read files of Arrow, which the product does not."""
    tables = [pa.ipc.open_file(place).read_all() for place in places]
    return connection.from_arrow(pa.concat_tables(tables))


def _names(_: DuckDBPyConnection, place: str) -> list[str]:
    return [*pa.ipc.open_file(place).schema.names]


def write_logs(root: Path, ending: str, *, segments: bool = False) -> Model:
    """Write a day of both logs, and describe them."""
    for kind, rows in (("p", PREDICTIONS), ("o", OUTCOMES)):
        table, place = pa.table(rows), f"{root}/{kind}-{DAY}.{ending}"
        if ending == "parquet":
            pq.write_table(table, place)
        else:
            with pa.ipc.new_file(place, table.schema) as file:
                file.write_table(table)
    parts = {"segments": {"column": "market", "values": ["a", "b"]}} if segments else {}
    name = f"{{day}}.{ending}"
    return Model.model_validate(
        {
            "predictions": {"path": f"{root}/p-{name}", "id": "id", "score": "score"},
            "outcomes": {"path": f"{root}/o-{name}", "id": "id", "outcome": "outcome"},
            **parts,
            "settled_after": 0,
        }
    )


def test_a_new_format_gives_the_same_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing behind the reader asks for the format."""
    formats = {**FORMATS, "arrow": FileFormat("Arrow", _read, _names, is_text=False)}
    for module in ("engines.session", "sources.opening"):
        monkeypatch.setattr(f"monitor.logs.{module}.FORMATS", formats)
    usual, other = (write_logs(tmp_path, form, segments=True) for form in ("parquet", "arrow"))
    for log in (other.predictions, other.outcomes):
        object.__setattr__(log, "format", "arrow")  # which the configuration does not know
    assert days_of(other, "predictions") == [DAY]
    assert describe_inputs(other, DAY, [DAY]) != describe_inputs(usual, DAY, [DAY])
    read = [summarise_day("m", of, DAY, as_of=AS_OF) for of in (usual, other)]
    assert summary_table(read[0]).equals(summary_table(read[1]))
    assert read[0].segments["a"].tally.total == 2
