"""The same rows in every shape and format leave the same bytes, and the same faults.

Each shape is a line of the table in docs/logs.md.
"""

import gzip
import json
import re
import sqlite3
import struct
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pyiceberg.catalog
import pytest
import yaml
from deltalake import DeltaTable, write_deltalake
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.utils.config import Config

from monitor.base.errors import DataError, Fault
from monitor.base.files import looking_once
from monitor.config import Config as Configuration
from monitor.config import Engine, Model
from monitor.logs import (
    Databases,
    days_of,
    describe_inputs,
    newest_settled_day,
    open_databases,
    summarise_day,
)
from monitor.pipeline.days.task import Task
from monitor.pipeline.runs.run import run
from monitor.store.store import Store
from tests.support import served_logs
from tests.support.cases import some

DAYS = [date(2026, 3, 2) + timedelta(days=i) for i in range(4)]  # the last has only outcomes
LONG_AFTER = date(2026, 12, 31)
SEGMENTS = {"column": "country", "values": ["DE", "FR"]}
COUNTRIES = ["DE", "FR", "A/B", None]
ENGINE = Engine(threads=2, memory_mb=200)

HTTP = {"allow_http": "true"}  # of the object store on this machine

Row = dict[str, Any]
Rows = list[Row]


def predictions() -> Rows:
    """Return 60 predictions of each of three days, some of which have no outcome."""
    rng, rows = np.random.default_rng(3), []
    for day in DAYS[:3]:
        for i in range(60):
            scored = datetime(day.year, day.month, day.day, int(rng.integers(24)), 5, tzinfo=UTC)
            score = float(rng.beta(1, 2))
            delay = timedelta(days=int(rng.integers(2)))
            rows.append(
                {
                    "prediction_id": day.day * 1000 + i,
                    "score": score,
                    "country": COUNTRIES[int(rng.integers(4))],
                    "scored_at": scored,
                    "outcome": None if i % 10 == 7 else int(rng.random() < score),
                    "observed_at": None if i % 10 == 7 else scored + delay,
                }
            )
    return rows


ROWS = predictions()
TYPES = pa.schema(
    {
        "prediction_id": pa.int64(),
        "score": pa.float64(),
        "country": pa.string(),
        "scored_at": pa.timestamp("us", "UTC"),
        "outcome": pa.int8(),
        "observed_at": pa.timestamp("us", "UTC"),
    }
)
SCORED = ["prediction_id", "score", "country", "scored_at"]
OBSERVED = ["prediction_id", "outcome", "observed_at"]


Time = tuple[Callable[[datetime], Any], pa.DataType]  # another form of a time, and its type
MILLISECONDS: Time = (lambda t: round(t.timestamp() * 1000), pa.int64())
MICROSECONDS: Time = (lambda t: round(t.timestamp() * 1_000_000), pa.int64())
ISO: Time = (lambda t: t.astimezone(timezone(timedelta(hours=5))).isoformat(), pa.string())
NAIVE: Time = (lambda t: t.replace(tzinfo=None), pa.timestamp("ns"))
A_DATE: Time = (lambda t: t.date(), pa.date32())
DATE_TEXT: Time = (lambda t: t.date().isoformat(), pa.string())


def table_of(rows: Iterable[Row], columns: Sequence[str], **times: Time) -> pa.Table:
    """Make a table of some columns; a time in another form has its own type."""
    fields = {c: times[c][1] if c in times else TYPES.field(c).type for c in columns}
    written = [
        {c: times[c][0](row[c]) if c in times and row[c] else row[c] for c in columns}
        for row in rows
    ]
    return pa.Table.from_pylist(written, schema=pa.schema(fields))


@dataclass(frozen=True)
class Root:
    """A folder or a prefix to write files below."""

    place: str

    def write(self, name: str, content: bytes) -> None:
        """Write a file."""
        filesystem, path = fsspec.core.url_to_fs(f"{self.place}/{name}")
        filesystem.makedirs(path.rpartition("/")[0], exist_ok=True)
        filesystem.pipe_file(path, content)

    def rows(self, name: str, rows: Iterable[Row], columns: Sequence[str], **times: Time) -> None:
        """Write rows in the format that the name ends with, and times in another form."""
        table = table_of(rows, columns, **times)
        plain = name.removesuffix(".gz").removesuffix(".zst")
        pack = PACKED[name.removeprefix(plain)]
        self.write(name, pack(ENCODED[plain.rpartition(".")[2]](table)))


def as_parquet(table: pa.Table) -> bytes:
    """Encode Parquet."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return sink.getvalue().to_pybytes()


def as_csv(table: pa.Table) -> bytes:
    """Encode CSV as pandas does: empty for null, and an offset behind each time."""
    rows = [
        ["" if v is None else f'"{v}"' if "/" in str(v) else str(v) for v in row.values()]
        for row in table.to_pylist()
    ]
    return "".join(",".join(row) + "\n" for row in [table.column_names, *rows]).encode()


def as_json(table: pa.Table) -> bytes:
    """Encode JSON lines, in which a null is left out."""
    return "".join(
        json.dumps({k: v for k, v in row.items() if v is not None}, default=datetime.isoformat)
        + "\n"
        for row in table.to_pylist()
    ).encode()


ENCODED: dict[str, Callable[[pa.Table], bytes]] = {
    "parquet": as_parquet,
    "csv": as_csv,
    "json": as_json,
    "jsonl": as_json,
}


def with_zstandard(content: bytes) -> bytes:
    """Compress as the programs do that do not know the size at the beginning."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as packed:
        packed.write(content)
    return sink.getvalue().to_pybytes()


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".zst": with_zstandard,
}


def of_day(day: date, time: str) -> Rows:
    """Return the rows whose time lies in a day."""
    return [row for row in ROWS if row[time] and row[time].date() == day]


def dated(root: Root, predicted: str, observed: str) -> dict[str, Any]:
    """Write a file for each day under names with {day}."""
    for day in DAYS:
        root.rows(predicted.format(day=day), of_day(day, "scored_at"), SCORED)
        root.rows(observed.format(day=day), of_day(day, "observed_at"), OBSERVED)
    return {
        "predictions": {"path": f"{root.place}/{predicted}", "time": "scored_at"},
        "outcomes": {"path": f"{root.place}/{observed}", "time": "observed_at"},
    }


def hourly(root: Root) -> dict[str, Any]:
    """Write a folder for each hour."""
    config = dated(root, "p/{day}.parquet", "outcomes/{day}.parquet")
    for day in DAYS[:3]:
        for hour in range(24):
            rows = [row for row in of_day(day, "scored_at") if row["scored_at"].hour == hour]
            if rows:
                root.rows(f"hourly/ds={day}/hour={hour:02}/part-0.parquet", rows, SCORED)
    config["predictions"]["path"] = f"{root.place}/hourly/ds={{day}}/hour=*/*.parquet"
    return config


def column_in_path(root: Root, ending: str) -> dict[str, Any]:
    """Write the country only into the path, as Spark does with partitionBy."""
    config = dated(root, "p/{day}.parquet", "outcomes/{day}.parquet")
    for day in DAYS[:3]:
        for country, name in zip(
            COUNTRIES, ("DE", "FR", "A%2FB", "__HIVE_DEFAULT_PARTITION__"), strict=True
        ):
            rows = [row for row in of_day(day, "scored_at") if row["country"] == country]
            root.rows(
                f"by/ds={day}/country={name}/part-0.{ending}",
                rows,
                ["prediction_id", "score", "scored_at"],
            )
    path = f"{root.place}/by/ds={{day}}/country=*/*.{ending}"
    return config | {"predictions": {"path": path, "time": "scored_at"}}


def spark_folder(root: Root) -> dict[str, Any]:
    """Write the files that Spark writes beside the data, and an unfinished attempt."""
    config = dated(root, "p/ds={day}/part-00000-1f.parquet", "o/ds={day}/part-00000-2e.parquet")
    of_log = {
        "p": ("part-00000-1f.parquet", "scored_at", SCORED),
        "o": ("part-00000-2e.parquet", "observed_at", OBSERVED),
    }
    for day in DAYS:
        for log, (name, time, columns) in of_log.items():
            folder = f"{log}/ds={day}"
            root.write(f"{folder}/_SUCCESS", b"")
            root.write(f"{folder}/._SUCCESS.crc", b"crc\x00")
            root.rows(f"{folder}/_temporary/0/part-00000-1f.parquet", ROWS, SCORED)
            content = as_parquet(table_of(of_day(day, time), columns))
            root.write(f"{folder}/.{name}.crc", checksums(content))
    for log, name in (("predictions", "p"), ("outcomes", "o")):
        config[log]["path"] = f"{root.place}/{name}/ds={{day}}/**"
    return config


def checksums(content: bytes) -> bytes:
    """Return the checksums of a file as Spark writes them beside it."""
    chunks = (content[i : i + 512] for i in range(0, len(content), 512))
    return (
        b"crc\x00"
        + struct.pack(">i", 512)
        + b"".join(struct.pack(">I", zlib.crc32(chunk)) for chunk in chunks)
    )


def together(root: Root, ending: str) -> dict[str, Any]:
    """Write score and outcome into one row, and no id."""
    columns = ["score", "country", "scored_at", "outcome", "observed_at"]
    for day in DAYS[:3]:
        root.rows(f"{day}.{ending}", of_day(day, "scored_at"), columns)
    return {
        "predictions": {"path": f"{root.place}/{{day}}.{ending}", "time": "scored_at"},
        "outcomes": {"in_predictions": True, "time": "observed_at"},
    }


def times(root: Root, ending: str, form: Time, unit: str | None = None) -> dict[str, Any]:
    """Write the times in another form."""
    config = {
        "predictions": {"path": f"{root.place}/p/{{day}}.{ending}", "time": "scored_at"},
        "outcomes": {"path": f"{root.place}/o/{{day}}.{ending}", "time": "observed_at"},
    }
    for day in DAYS:
        scored, observed = of_day(day, "scored_at"), of_day(day, "observed_at")
        root.rows(f"p/{day}.{ending}", scored, SCORED, scored_at=form)
        root.rows(f"o/{day}.{ending}", observed, OBSERVED, observed_at=form)
    return {
        log: settings | ({"time_unit": unit} if unit else {}) for log, settings in config.items()
    }


def one_table(root: Root, ending: str, form: Time, unit: str | None = None) -> dict[str, Any]:
    """Write all predictions into two files and all outcomes into one; a column dates the rows."""
    known = [row for row in ROWS if row["observed_at"]]
    root.rows(f"p/0.{ending}", ROWS[::2], SCORED, scored_at=form)
    root.rows(f"p/1.{ending}", ROWS[1::2], SCORED, scored_at=form)
    root.rows(f"outcomes.{ending}", known[::-1], OBSERVED, observed_at=form)
    common = {"time_unit": unit} if unit else {}
    return {
        "predictions": {"path": f"{root.place}/p/*.{ending}", "day": "scored_at", **common},
        "outcomes": {"path": f"{root.place}/outcomes.{ending}", "day": "observed_at", **common},
    }


def all_in_one(root: Root, ending: str) -> dict[str, Any]:
    """Write everything into one file without ids: the shape of a table that is updated."""
    columns = ["score", "country", "scored_at", "outcome", "observed_at"]
    root.rows(f"all.{ending}", ROWS, columns)
    path = f"{root.place}/all.{ending}"
    return {
        "predictions": {"path": path, "day": "scored_at", "time": "scored_at"},
        "outcomes": {"in_predictions": True, "time": "observed_at"},
    }


def changed(rows: Rows) -> Rows:
    """Return the rows as they were first written: wrong scores, and rows that go away."""
    other = [row | {"prediction_id": row["prediction_id"] + 500} for row in rows[::7]]
    return [row | {"score": 0.5, "outcome": 1} for row in rows] + other


def delta(
    root: Root, form: Time, unit: str | None = None, *, by_day: bool = False, **options: str
) -> dict[str, Any]:
    """Write Delta tables whose rows were updated and deleted; a column dates them."""
    known = [row for row in ROWS if row["observed_at"]]
    store = HTTP if "://" in root.place else None
    for name, rows, columns in (("p", ROWS, SCORED), ("o", known, OBSERVED)):
        place, time = f"{root.place}/{name}", columns[-1]
        first = table_of(changed(rows), columns, **{time: form})
        by = [time] if by_day else None
        write_deltalake(place, first, partition_by=by, storage_options=store, configuration=options)
        table = DeltaTable(place, storage_options=store)
        table.delete("prediction_id % 1000 >= 500")
        value = "score" if name == "p" else "outcome"
        merge = table.merge(
            table_of(rows, columns, **{time: form}),
            "t.prediction_id = s.prediction_id",
            source_alias="s",
            target_alias="t",
        )
        merge.when_matched_update({value: f"s.{value}"}).execute()
    common = {"format": "delta"} | ({"time_unit": unit} if unit else {})
    return {
        "predictions": {"path": f"{root.place}/p", "day": "scored_at", **common},
        "outcomes": {"path": f"{root.place}/o", "day": "observed_at", **common},
    }


def delta_together(root: Root) -> dict[str, Any]:
    """Write one Delta table into which outcomes are merged as they come."""
    columns = ["prediction_id", "score", "country", "scored_at", "outcome", "observed_at"]
    awaited = [row | {"outcome": None, "observed_at": None} for row in ROWS]
    write_deltalake(root.place, table_of(awaited, columns))
    merge = DeltaTable(root.place).merge(
        table_of(ROWS, columns),
        "t.prediction_id = s.prediction_id",
        source_alias="s",
        target_alias="t",
    )
    merge.when_matched_update({c: f"s.{c}" for c in ("outcome", "observed_at")}).execute()
    return {
        "predictions": {"path": root.place, "format": "delta", "day": "scored_at"},
        "outcomes": {"in_predictions": True, "time": "observed_at"},
    }


def iceberg(root: Root, form: Time, unit: str | None = None) -> dict[str, Any]:
    """Write Iceberg tables whose rows were overwritten and deleted; a column dates them."""
    catalog = iceberg_catalog(root)
    known = [row for row in ROWS if row["observed_at"]]
    for name, rows, columns in (("p", ROWS, SCORED), ("o", known, OBSERVED)):
        time = columns[-1]
        first = table_of(changed(rows), columns, **{time: form})
        table = catalog.create_table(f"logs.{name}", schema=first.schema)
        table.append(first)
        table.delete("prediction_id >= 2500 and prediction_id < 3000")
        table.overwrite(table_of(rows, columns, **{time: form}))
    common = {"format": "iceberg"} | ({"time_unit": unit} if unit else {})
    return {
        "predictions": {"path": f"{root.place}/logs/p", "day": "scored_at", **common},
        "outcomes": {"path": f"{root.place}/logs/o", "day": "observed_at", **common},
    }


def iceberg_catalog(root: Root) -> SqlCatalog:
    """Make a catalog in a file, as people do with one machine."""
    Path(root.place).mkdir(parents=True)
    place = f"sqlite:///{root.place}/catalog.db"
    catalog = SqlCatalog("logs", uri=place, warehouse=f"file://{root.place}")
    catalog.create_namespace("logs", {"location": f"file://{root.place}/logs"})
    return catalog


def in_structs(root: Root, form: str) -> dict[str, Any]:
    """Write each row as one struct, in one file or table; its field dates it."""
    known = [row for row in ROWS if row["observed_at"]]
    catalog = iceberg_catalog(root) if form == "iceberg" else None
    for name, rows, columns in (("p", ROWS, SCORED), ("o", known, OBSERVED)):
        flat = table_of(rows, columns, **{columns[-1]: A_DATE})
        whole = pa.table({"row": pa.array(flat.to_pylist(), pa.struct(flat.schema))})
        if catalog:
            catalog.create_table(f"logs.{name}", schema=whole.schema).append(whole)
        elif form == "delta":
            write_deltalake(f"{root.place}/{name}", whole)
        else:
            root.write(f"{name}.{form}", ENCODED[form](whole))
    path = {"delta": "", "iceberg": "logs/"}.get(form, "")
    ending = {"delta": "", "iceberg": ""}.get(form, f".{form}")
    common = {"format": form} if not ending else {}

    def field(name: str) -> dict[str, str]:
        return {"column": "row", "field": name}

    scored = {"id": field("prediction_id"), "score": field("score"), "day": field("scored_at")}
    observed = {
        "id": field("prediction_id"),
        "outcome": field("outcome"),
        "day": field("observed_at"),
    }
    return {
        "segments": SEGMENTS | {"column": field("country")},
        "predictions": {"path": f"{root.place}/{path}p{ending}", **scored, **common},
        "outcomes": {"path": f"{root.place}/{path}o{ending}", **observed, **common},
    }


IN_STRUCTS = "data.inner.{name}"
IN_JSON = "CAST(data->>'$.inner.{name}' AS {type})"
IN_MAP = "CAST(data['{name}'] AS {type})"
IN_LIST = "CAST(data[{place}] AS {type})"
SQL_TYPES = {"prediction_id": "BIGINT", "score": "DOUBLE", "country": "VARCHAR"} | {
    **dict.fromkeys(("scored_at", "observed_at"), "TIMESTAMPTZ"),
    "outcome": "TINYINT",
}


def as_text(value: Any) -> str | None:
    """Write a value as text; null stays null."""
    return (
        value.isoformat() if isinstance(value, datetime) else None if value is None else f"{value}"
    )


def computed(root: Root, ending: str, kind: str) -> dict[str, Any]:
    """Write a file for each day whose only column holds each row, to be read by expressions."""
    sql = {"structs": IN_STRUCTS, "json": IN_JSON, "map": IN_MAP, "list": IN_LIST}[kind]

    def column(rows: Rows, names: Sequence[str]) -> pa.Array:
        inner = [{name: row[name] for name in names} for row in rows]
        texts = [{name: as_text(value) for name, value in row.items()} for row in inner]
        if kind == "structs":
            of_row = pa.struct([TYPES.field(name) for name in names])
            return pa.array([{"inner": row} for row in inner], pa.struct({"inner": of_row}))
        if kind == "json":
            return pa.array([json.dumps({"inner": row}, default=as_text) for row in inner])
        if kind == "map":
            return pa.array([[*row.items()] for row in texts], pa.map_(pa.string(), pa.string()))
        return pa.array([[*row.values()] for row in texts], pa.list_(pa.string()))

    def value(name: str, names: Sequence[str]) -> dict[str, str]:
        place = names.index(name) + 1
        return {"sql": sql.format(name=name, type=SQL_TYPES[name], place=place)}

    for day in DAYS:
        for log, at, names in (("p", "scored_at", SCORED), ("o", "observed_at", OBSERVED)):
            rows = of_day(day, at)
            if ending == "jsonl":
                lines = [{"data": {"inner": {n: row[n] for n in names}}} for row in rows]
                text = "".join(f"{json.dumps(line, default=as_text)}\n" for line in lines)
                root.write(f"{log}/{day}.jsonl", text.encode())
            else:
                table = pa.table({"data": column(rows, names)})
                root.write(f"{log}/{day}.{ending}", ENCODED[ending](table))
    return {
        "segments": SEGMENTS | {"column": value("country", SCORED)},
        "predictions": {
            "path": f"{root.place}/p/{{day}}.{ending}",
            "id": value("prediction_id", SCORED),
            "score": value("score", SCORED),
            "time": value("scored_at", SCORED),
        },
        "outcomes": {
            "path": f"{root.place}/o/{{day}}.{ending}",
            "id": value("prediction_id", OBSERVED),
            "outcome": value("outcome", OBSERVED),
            "time": value("observed_at", OBSERVED),
        },
    }


def semicolons(root: Root) -> dict[str, Any]:
    """Write CSV as programs of many countries do."""
    config = dated(root, "p/{day}.csv", "o/{day}.csv")
    for day in DAYS:
        text = as_csv(table_of(of_day(day, "scored_at"), SCORED)).decode()
        root.write(f"p/{day}.csv", text.replace(",", ";").replace(".", ",").encode())
    scored = {
        "score": {"sql": "CAST(replace(score, ',', '.') AS DOUBLE)"},
        "time": {"sql": "CAST(replace(scored_at, ',', '.') AS TIMESTAMPTZ)"},
    }
    return config | {"predictions": config["predictions"] | scored}


def renamed(root: Root, ending: str) -> dict[str, Any]:
    """Give columns of the first two days other names; a row of JSON lines may have either."""
    config = dated(root, f"p/{{day}}.{ending}", f"o/{{day}}.{ending}")
    for log, at, columns, new, old in (
        ("predictions", "scored_at", SCORED, "score", "prob"),
        ("outcomes", "observed_at", OBSERVED, "outcome", "clicked"),
    ):
        for day in DAYS[:2]:
            table = table_of(of_day(day, at), columns)
            names = [old if name == new else name for name in table.column_names]
            root.write(f"{log[0]}/{day}.{ending}", ENCODED[ending](table.rename_columns(names)))
        config[log]["renamed"] = {old: new}
    config["predictions"]["where"] = "score IS NOT NULL"
    return config


def retyped(root: Root) -> dict[str, Any]:
    """Write ids and times of the first two days as text, and scores in single precision."""
    config = dated(root, "p/{day}.parquet", "o/{day}.parquet")
    for log, at, columns in (("p", "scored_at", SCORED), ("o", "observed_at", OBSERVED)):
        for day in DAYS[:2]:
            table = table_of(of_day(day, at), columns, **{at: ISO})
            ids = table["prediction_id"].cast(pa.string())
            root.write(
                f"{log}/{day}.parquet", as_parquet(table.set_column(0, "prediction_id", ids))
            )
    for log, time in (("predictions", "scored_at"), ("outcomes", "observed_at")):
        config[log] |= {
            "id": {"sql": "CAST(prediction_id AS BIGINT)"},
            "time": {"sql": f"CAST({time} AS TIMESTAMPTZ)"},
        }
    return config


def served(root: Root, ending: str, form: str) -> dict[str, Any]:
    """Write several predictions into each record."""
    for day in DAYS:
        rows = of_day(day, "scored_at")
        if ending == "jsonl":
            write = served_logs.FORMS[form][0]
            root.write(
                f"p/{day}.jsonl", served_logs.lines([*served_logs.records(rows, write)], dict)
            )
        else:
            root.write(f"p/{day}.parquet", as_parquet(served_logs.requests(rows, form)))
        root.rows(f"o/{day}.parquet", of_day(day, "observed_at"), OBSERVED)
    place = {"path": f"{root.place}/p/{{day}}.{ending}"}
    return {
        "predictions": served_logs.of_form(form, place),
        "outcomes": {"path": f"{root.place}/o/{{day}}.parquet", "time": "observed_at"},
        "segments": served_logs.COUNTRY,
    }


def served_delta(root: Root) -> dict[str, Any]:
    """Write such records into a Delta table, with the day of each."""
    config = served(root, "parquet", "json")
    for day in DAYS[:3]:
        table = served_logs.requests(of_day(day, "scored_at"), "json")
        table = table.append_column("date", pa.array([day] * len(table), pa.date32()))
        write_deltalake(f"{root.place}/table", table, mode="append")
    place = {"path": f"{root.place}/table", "format": "delta", "day": "date"}
    return config | {"predictions": served_logs.of_form("json", place)}


def without_header(root: Root) -> dict[str, Any]:
    """Write CSV with pipes and without a header, packed, in two files a day."""
    config = dated(root, "p/{day}.parquet", "o/{day}.parquet")
    for day in DAYS:
        for log, time, columns in (("p", "scored_at", SCORED), ("o", "observed_at", OBSERVED)):
            for part in range(2):
                rows = served_logs.bare(of_day(day, time)[part::2], columns)
                root.write(f"bare/{log}/{day}/{part:04}_part_00.gz", gzip.compress(rows))
    for log, name, columns in (("predictions", "p", SCORED), ("outcomes", "o", OBSERVED)):
        path = f"{root.place}/bare/{name}/{{day}}/*.gz"
        config[log] |= {"path": path, "columns": columns, **served_logs.BARE}
    return config


def captured(root: Root) -> dict[str, Any]:
    """Write scores in base64."""
    config = dated(root, "p/{day}.parquet", "o/{day}.parquet")
    for day in DAYS:
        rows = of_day(day, "scored_at")
        root.write(f"c/{day}.jsonl", served_logs.lines(rows, served_logs.captured))
    place = {"path": f"{root.place}/c/{{day}}.jsonl"}
    return config | {"predictions": place | served_logs.CAPTURED}


def in_columns(root: Root) -> dict[str, Any]:
    """Write a column for each of the two outcomes."""
    config = dated(root, "p/{day}.parquet", "o/{day}.parquet")
    for day in DAYS:
        table = table_of(of_day(day, "observed_at"), OBSERVED)
        happened = [value == 1 for value in table["outcome"].to_pylist()]
        table = table.drop_columns("outcome").append_column("clicked", pa.array(happened))
        table = table.append_column("left", pa.array([not value for value in happened]))
        root.write(f"o/{day}.parquet", as_parquet(table))
    outcome = {"sql": 'CASE WHEN clicked THEN 1 WHEN "left" THEN 0 END'}
    return config | {"outcomes": config["outcomes"] | {"outcome": outcome}}


def decimal_commas(root: Root) -> dict[str, Any]:
    """Write scores as text with a decimal comma."""
    config = dated(root, "p/{day}.parquet", "o/{day}.parquet")
    for day in DAYS:
        table = table_of(of_day(day, "scored_at"), SCORED)
        texts = pa.array([f"{score!r}".replace(".", ",") for score in table["score"].to_pylist()])
        table = table.set_column(table.column_names.index("score"), "Score, %", texts)
        root.write(f"p/{day}.parquet", as_parquet(table))
    score = {"sql": """CAST(replace("Score, %", ',', '.') AS DOUBLE)"""}
    return config | {"predictions": config["predictions"] | {"score": score}}


def day_month_year(root: Root, ending: str) -> dict[str, Any]:
    """Write days in another order into two files, and read them by an expression."""
    form: Time = (served_logs.day_month_year, pa.string())
    config = one_table(root, ending, form)
    for log, time in (("predictions", "scored_at"), ("outcomes", "observed_at")):
        config[log]["day"] = {"sql": f"try_strptime({time}, '%d/%m/%Y %H:%M')"}
    return config


def day_in_key(root: Root) -> dict[str, Any]:
    """Write the day of messages only into their keys."""
    config = dated(root, "p/{day}.parquet", "o/{day}.parquet")
    messages = [
        {"key": f"{row['scored_at'].date()}/{row['prediction_id']}", **row, "scored_at": None}
        for row in ROWS
    ]
    root.write(
        "all.jsonl", served_logs.lines(messages, lambda m: {"m": json.dumps(m, default=str)})
    )
    of_message = {name: {"sql": f"m->>'{name}'"} for name in ("score",)}
    return config | {
        "predictions": {
            "path": f"{root.place}/all.jsonl",
            "day": {"sql": "split_part(m->>'key', '/', 1)"},
            "id": {"sql": "CAST(split_part(m->>'key', '/', 2) AS BIGINT)"},
            **of_message,
        },
        "segments": SEGMENTS | {"column": {"sql": "m->>'country'"}},
    }


SHAPES: Mapping[str, Callable[[Root], dict[str, Any]]] = {
    "a file for each day": lambda root: dated(root, "p/{day}.parquet", "o/{day}.parquet"),
    "nested dates without zeros": lambda root: dated(
        root, "p/{day:%Y/%-m/%-d}/0.parquet", "o/{day:%Y}-{day:%-m}-{day:%-d}.parquet"
    ),
    "hours": hourly,
    "a column in the path": lambda root: column_in_path(root, "parquet"),
    "a column in the path of CSV": lambda root: column_in_path(root, "csv"),
    "Spark": spark_folder,
    "CSV with gzip": lambda root: dated(root, "p/{day}.csv.gz", "o/{day}.csv.gz"),
    "JSON lines": lambda root: dated(root, "p/{day}.jsonl", "o/{day}.json"),
    "Zstandard": lambda root: dated(root, "p/{day}.csv.zst", "o/{day}.jsonl.zst"),
    "times in microseconds of CSV": lambda root: times(root, "csv", MICROSECONDS, "us"),
    "one file with a date": lambda root: one_table(root, "parquet", A_DATE),
    "one file with a date as text": lambda root: one_table(root, "parquet", DATE_TEXT),
    "one file with ISO times": lambda root: one_table(root, "parquet", ISO),
    "everything in one file of CSV": lambda root: all_in_one(root, "csv.gz"),
    "Delta": lambda root: delta(root, (lambda t: t, pa.timestamp("us", "UTC"))),
    "Delta with partitions": lambda root: delta(root, DATE_TEXT, by_day=True),
    "Delta with deletion vectors": lambda root: delta(
        root, A_DATE, **{"delta.enableDeletionVectors": "true"}
    ),
    "Delta that is updated as outcomes come": delta_together,
    "Iceberg with a date as text": lambda root: iceberg(root, DATE_TEXT),
    "Iceberg with milliseconds": lambda root: iceberg(root, MILLISECONDS, "ms"),
    "structs of Delta": lambda root: in_structs(root, "delta"),
    "structs of Iceberg": lambda root: in_structs(root, "iceberg"),
    "maps": lambda root: computed(root, "parquet", "map"),
    "lists": lambda root: computed(root, "parquet", "list"),
    "JSON in text": lambda root: computed(root, "parquet", "json"),
    "a column renamed half-way of CSV": lambda root: renamed(root, "csv"),
    "a column retyped half-way": retyped,
    "a list in JSON in JSON": lambda root: served(root, "jsonl", "json in json"),
    "values between separators": lambda root: served(root, "jsonl", "separated"),
    "a list in JSON of Delta": served_delta,
    "CSV without a header": without_header,
    "base64": captured,
    "nested dates": lambda root: dated(
        root, "p/{day:%Y/%m/%d}/0.parquet", "o/year={day:%Y}/month={day:%m}/day={day:%d}/0.parquet"
    ),
    "structs in structs": lambda root: computed(root, "parquet", "structs"),
    "decimal commas": decimal_commas,
    "semicolons of CSV": semicolons,
    "outcomes in columns": in_columns,
    "records in a list": lambda root: served(root, "parquet", "records"),
    "days as day/month/year": lambda root: day_month_year(root, "csv"),
    "the day in a key": day_in_key,
}


def stored(config: Mapping[str, Any], folder: Path) -> list[bytes]:
    """Summarise two days as a backfill does, over one connection, and return the bytes."""
    with looking_once(), open_databases(ENGINE) as databases:
        return stored_with(databases, config, folder)


def stored_with(engine: Engine | Databases, config: Mapping[str, Any], folder: Path) -> list[bytes]:
    """Summarise the second and the third day, between which some logs change; the bytes."""
    model = Model.model_validate({"segments": SEGMENTS, "settled_after": 1, **config})
    store = Store(str(folder / "store"))
    for day in DAYS[1:3]:
        store.write_summary(summarise_day("ctr", model, day, as_of=LONG_AFTER, engine=engine))
    return [store.content("summaries", "ctr", day) for day in DAYS[1:3]]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """Return the bytes of the shape that every other test uses, each day from a new connection."""
    folder = tmp_path_factory.mktemp("expected")
    return stored_with(ENGINE, SHAPES["a file for each day"](Root(f"{folder}/logs")), folder)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_leaves_the_same_bytes(
    shape: str, expected: list[bytes], duckdb: Databases, tmp_path: Path
) -> None:
    """Where rows lie and how they are written changes no byte of a summary.

    All shapes are read over one connection, as those of many models are.
    """
    config = SHAPES[shape](Root(f"{tmp_path}/logs"))

    with looking_once():
        assert stored_with(duckdb, config, tmp_path) == expected


def test_an_outcome_that_came_too_late_is_not_known(expected: list[bytes], tmp_path: Path) -> None:
    """A table that was updated since gives what it gave when the day was settled."""
    root = Root(f"{tmp_path}/logs")
    config = all_in_one(root, "parquet")
    after = timedelta(days=2)
    late = [
        row
        if row["outcome"] is not None
        else row | {"outcome": 1, "observed_at": row["scored_at"] + after}
        for row in ROWS
    ]
    columns = ["score", "country", "scored_at", "outcome", "observed_at"]
    root.rows("all.parquet", late, columns)

    assert stored(config, tmp_path) == expected
    config["outcomes"] = {"in_predictions": True}
    assert stored(config, tmp_path) != expected


def test_more_days_may_wait_for_a_table(tmp_path: Path) -> None:
    """The days of a table are those of its rows; outcomes have every day up to their last."""
    root = Root(f"{tmp_path}/logs")
    config = one_table(root, "parquet", NAIVE)
    model = Model.model_validate({"segments": SEGMENTS, "settled_after": 1, **config})

    assert days_of(model, "predictions") == DAYS[:3]
    assert newest_settled_day("ctr", model, as_of=LONG_AFTER) == DAYS[2]
    assert newest_settled_day("ctr", model, as_of=DAYS[3]) == DAYS[1]
    root.rows("outcomes.parquet", [ROWS[0], ROWS[-1]], OBSERVED, observed_at=NAIVE)
    assert days_of(model, "outcomes") == DAYS[:4]
    root.rows(
        "p/1.parquet",
        [ROWS[1] | {"scored_at": datetime(2026, 3, 9, tzinfo=UTC)}],
        SCORED,
        scored_at=NAIVE,
    )
    assert days_of(model, "predictions") == [*DAYS[:3], date(2026, 3, 9)]
    with pytest.raises(DataError) as refusal:
        summarise_day("ctr", model, DAYS[3], as_of=LONG_AFTER, engine=ENGINE)
    assert str(refusal.value) == (
        f"ctr {DAYS[3]}: no predictions of {DAYS[3]} at {root.place}/p/*.parquet; there are days "
        "2026-03-02 to 2026-03-09. Wait for the log, or correct predictions.path in the "
        "configuration."
    )


REFUSED: dict[str, tuple[Callable[[Root], dict[str, Any]], str]] = {
    "numbers without unit": (
        lambda root: times(root, "parquet", MILLISECONDS),
        (
            "column 'scored_at' of the predictions is BIGINT, must be a timestamp, a text such as "
            "2026-03-01T10:00:00Z, or a number with time_unit ("
        ),
    ),
    "numbers with a wrong unit": (
        lambda root: times(root, "parquet", MICROSECONDS, "s"),
        "contains '17725",
    ),
    "text that is no time": (
        lambda root: times(root, "csv", (lambda _: "yesterday", pa.string())),
        (
            "column 'scored_at' contains 'yesterday', which is not a time such as "
            "2026-03-01T10:00:00Z; correct the log, or predictions.time in the configuration, "
            "then rerun this day."
        ),
    ),
    "a day that is no day": (
        lambda root: one_table(root, "csv", (lambda _: "yesterday", pa.string())),
        "rows of the outcomes at ",
    ),
    "a score that is no number": (
        lambda root: (
            dated(root, "p/{day}.csv", "o/{day}.csv")
            | {"predictions": {"path": f"{root.place}/p/{{day}}.csv", "score": "country"}}
        ),
        (
            "which is not a number; correct the log, or predictions.score in the configuration, "
            "then rerun this day."
        ),
    ),
    "an id that does not fit": (
        lambda root: (
            dated(root, "p/{day}.parquet", "o/{day}.csv")
            | {"outcomes": {"path": f"{root.place}/o/{{day}}.csv", "id": "observed_at"}}
        ),
        "which is not of type BIGINT as in the other log; correct the log, or outcomes.id",
    ),
    "a missing column of CSV": (
        lambda root: (
            dated(root, "p/{day}.csv", "o/{day}.csv")
            | {"outcomes": {"path": f"{root.place}/o/{{day}}.csv", "outcome": "outcom"}}
        ),
        "the outcomes have no column 'outcom', only prediction_id, outcome, observed_at (",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_named(case: str, tmp_path: Path) -> None:
    """A value or a column that does not fit names itself and the setting."""
    prepare, expected = REFUSED[case]
    config = prepare(Root(f"{tmp_path}/logs"))

    with pytest.raises(DataError) as refusal:
        stored(config, tmp_path)

    assert expected in str(refusal.value)


@pytest.mark.parametrize("seed", some(range(8), 7))
@pytest.mark.parametrize("packed", ["csv.gz", "jsonl.gz", "csv.zst", "jsonl.zst"])
def test_a_stream_that_ends_too_early_is_damaged(packed: str, seed: int, tmp_path: Path) -> None:
    """Wherever it is cut, even between two rows, the rest of the day is missing."""
    rng = np.random.default_rng(seed)
    kind = str(rng.choice(["predictions", "outcomes"]))
    root = Root(f"{tmp_path}/logs")
    config = dated(root, f"predictions/{{day}}.{packed}", f"outcomes/{{day}}.{packed}")
    file = tmp_path / f"logs/{kind}/{DAYS[1]}.{packed}"
    content = file.read_bytes()
    if seed % 2:  # whole streams one after the other, as programs that append write them
        content += content
    file.write_bytes(content[: -int(rng.integers(1, len(content) // 3))])

    with pytest.raises(DataError) as refusal:
        stored(config, tmp_path)

    name = "gzip" if packed.endswith("gz") else "Zstandard"
    assert f"{file} ends in the middle of its {name} stream" in str(refusal.value)
    assert refusal.value.fault == Fault("logs", "unreadable", "a file cannot be read")


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_the_line_of_the_message_reads_a_renamed_column(
    ending: str, expected: list[bytes], tmp_path: Path
) -> None:
    """What a day says of a missing column is the line with which its bytes are those of all."""
    config = renamed(Root(f"{tmp_path}/logs"), ending)
    config["predictions"].pop("where")
    for log in config.values():
        del log["renamed"]
    while any("renamed" not in log for log in config.values()):
        with pytest.raises(DataError) as refusal:
            stored(config, tmp_path)
        missing = r"the (\w+) have no column .* write renamed: ({.*?}) for that log"
        lines = dict(re.findall(missing, f"{refusal.value}"))
        assert lines
        for log, line in lines.items():
            assert "renamed" not in config[log]
            config[log]["renamed"] = yaml.safe_load(line)

    assert stored(config, tmp_path) == expected


IN_A_STORE = [
    "nested dates without zeros",
    "a column in the path",
    "Spark",
    "CSV with gzip",
    "JSON lines",
    "one file with ISO times",
    "everything in one file of CSV",
    "Delta",
]


@pytest.mark.filterwarnings("ignore:datetime.datetime.utcnow:DeprecationWarning")
@pytest.mark.parametrize("shape", some(IN_A_STORE, 3))
def test_an_object_store_leaves_the_same_bytes(
    shape: str, expected: list[bytes], bucket: str, tmp_path: Path
) -> None:
    """Logs in an object store are read as those on a disk."""
    root = Root(f"{bucket}/{shape.replace(' ', '-')}")

    assert stored(SHAPES[shape](root), tmp_path) == expected


def test_a_table_of_a_catalog(
    expected: list[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An Iceberg table is found by its name in a catalog of PyIceberg's configuration."""
    root = Root(f"{tmp_path}/logs")
    config = iceberg(root, A_DATE)
    monkeypatch.setenv("PYICEBERG_CATALOG__SHOP__URI", f"sqlite:///{root.place}/catalog.db")
    monkeypatch.setenv("PYICEBERG_CATALOG__SHOP__TYPE", "sql")
    monkeypatch.setattr(pyiceberg.catalog, "_ENV_CONFIG", Config())  # read at the import
    # The catalog was written under the name that it had then.
    with sqlite3.connect(f"{root.place}/catalog.db") as database:
        database.execute("UPDATE iceberg_tables SET catalog_name = 'shop'")
    database.close()
    for log, name in (("predictions", "p"), ("outcomes", "o")):
        config[log] |= {"connection": "shop", "path": f"logs.{name}"}

    assert stored(config, tmp_path) == expected


@pytest.mark.parametrize("form", ["delta", "iceberg"])
def test_a_new_version_of_a_table_is_noticed(form: str, tmp_path: Path) -> None:
    """A run that leaves out unchanged days reads a day again after the table has changed.

    All days of one run are of the version that was the newest when the run first looked.
    """
    root = Root(f"{tmp_path}/logs")
    config = delta(root, A_DATE) if form == "delta" else iceberg(root, A_DATE)
    model = Model.model_validate(config)
    before = describe_inputs(model, DAYS[0], DAYS[:2])
    with looking_once():
        assert describe_inputs(model, DAYS[0], DAYS[:2]) == before
        if form == "delta":
            DeltaTable(f"{root.place}/o").delete("outcome = 1")
        else:
            place = f"sqlite:///{root.place}/catalog.db"
            SqlCatalog("logs", uri=place).load_table("logs.o").delete("outcome = 1")
        assert describe_inputs(model, DAYS[0], DAYS[:2]) == before

    assert describe_inputs(model, DAYS[0], DAYS[:2]) != before


def test_the_record_of_a_run_names_the_version_of_a_table(tmp_path: Path) -> None:
    """The record and the report say which version of each table was read; files have none."""
    root = Root(f"{tmp_path}/logs")
    config = Configuration.model_validate(
        {"store": str(tmp_path / "store"), "models": {"ctr": delta(root, A_DATE)}}
    )
    now = datetime.now(UTC)

    report = run(config, Task("ctr", DAYS[0], DAYS[0], DAYS[3]), clock=lambda: now)

    record = Store(config.store).read_run("ctr")
    tables = {log: DeltaTable(f"{root.place}/{log[0]}") for log in ("predictions", "outcomes")}
    assert record
    assert (
        record.tables
        == report.tables
        == {log: f"{table.metadata().id} {table.version()}" for log, table in tables.items()}
    )


def files_of_delta(root: Root) -> dict[str, Any]:
    """Configure the files of a Delta table as plain files."""
    table = table_of(ROWS, SCORED, scored_at=DATE_TEXT)
    write_deltalake(f"{root.place}/p", table, partition_by=["scored_at"])
    config = dated(root, "dated/{day}.parquet", "o/{day}.parquet")
    path = f"{root.place}/p/scored_at={{day}}/*.parquet"
    return config | {"predictions": {"path": path}}


def files_of_iceberg(root: Root) -> dict[str, Any]:
    """Configure the files of an Iceberg table as plain files."""
    config = iceberg(root, A_DATE)
    return config | {
        "predictions": {"path": f"{root.place}/logs/p/data/*.parquet", "day": "scored_at"}
    }


def test_files_of_a_table_are_refused(tmp_path: Path) -> None:
    """Files of a table would count rows that were deleted; the message has the setting to use."""
    for folder, prepare, said, form in (
        ("delta", files_of_delta, "a Delta Lake table", "delta"),
        ("iceberg", files_of_iceberg, "an Iceberg table", "iceberg"),
    ):
        root = Root(f"{tmp_path}/{folder}")
        config = prepare(root)
        table = f"{root.place}/p" if form == "delta" else f"{root.place}/logs/p"
        with pytest.raises(DataError) as refusal:
            stored(config, tmp_path)
        expected = (
            f"are files of {said}, {table}, which keeps rows that were deleted or replaced; set "
            f"predictions.format to {form}, predictions.path to {table} and predictions.day to the "
            f"column that dates its rows, then rerun this day."
        )
        assert expected in str(refusal.value)


def test_a_folder_that_is_no_table(tmp_path: Path) -> None:
    """The message names the folder and what it was read as."""
    for form, said in (("delta", "a Delta Lake table"), ("iceberg", "an Iceberg table")):
        config = one_table(Root(f"{tmp_path}/{form}"), "parquet", A_DATE)
        config["predictions"] |= {"path": f"{tmp_path}/{form}/p", "format": form}
        with pytest.raises(DataError, match=f"{form}/p: cannot be read as {said}"):
            stored(config, tmp_path)
