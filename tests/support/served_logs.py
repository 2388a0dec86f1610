"""Logs as serving systems write them: several predictions in a record, no header, other dates."""

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

import pyarrow as pa

Rows = list[dict[str, Any]]

RECORD = "request->'records'->position->>"
OF_RECORDS: dict[str, Any] = {
    "id": {"sql": f"CAST({RECORD}'id' AS BIGINT)"},
    "time": {"sql": f"CAST({RECORD}'at' AS TIMESTAMPTZ)"},
}
COUNTRY = {"column": {"sql": f"{RECORD}'country'"}, "values": ["DE", "FR"]}
AS_JSON = "CAST(element AS DOUBLE)"


def _sure(p: float) -> str:
    return json.dumps({"scores": [1 - p, p], "classes": ["0", "1"]})


# How a record writes its scores, and what the configuration says of it.
FORMS: Mapping[str, tuple[Callable[[list[float]], Any], dict[str, Any]]] = {
    "numbers": (lambda p: p, {"explode": "response", "score": "element"}),
    "records": (
        lambda p: {"predictions": [{"p": one} for one in p]},
        {"explode": "response.predictions", "score": {"sql": "element.p"}},
    ),
    "texts": (
        lambda p: [_sure(one) for one in p],
        {"explode": "response", "score": {"sql": "CAST(element->'scores'->>1 AS DOUBLE)"}},
    ),
    "json": (
        lambda p: json.dumps({"predictions": p}),
        {"explode": "response.predictions", "score": {"sql": AS_JSON}},
    ),
    "json in json": (
        lambda p: json.dumps({"body": json.dumps(p)}),
        {"explode": {"sql": "response->>'body'"}, "score": {"sql": AS_JSON}},
    ),
    "separated": (
        lambda p: "".join(f"{one!r}\n" for one in p),
        {"explode": {"list": "response", "separator": "\n"}, "score": {"sql": AS_JSON}},
    ),
}


def records(rows: Rows, write: Callable[[list[float]], Any]) -> Iterator[dict[str, Any]]:
    """Put rows into records of three; one more record has an empty list."""
    for some in [*(rows[i : i + 3] for i in range(0, len(rows), 3)), []]:
        known = [
            {"id": row["prediction_id"], "country": row["country"], "at": f"{row['scored_at']}"}
            for row in some
        ]
        scores = write([row["score"] for row in some])
        yield {"request": json.dumps({"records": known}), "response": scores}


def requests(rows: Rows, form: str) -> pa.Table:
    """Write a table with a row for each record."""
    return pa.Table.from_pylist([*records(rows, FORMS[form][0])])


def of_form(form: str, place: Mapping[str, Any]) -> dict[str, Any]:
    """Say how such a log of predictions is read."""
    return {**place, **OF_RECORDS, **FORMS[form][1]}


def lines(rows: Rows, write: Callable[[dict[str, Any]], Any]) -> bytes:
    """Write lines of JSON."""
    return "".join(f"{json.dumps(write(row))}\n" for row in rows).encode()


def captured(row: dict[str, Any]) -> dict[str, Any]:
    """Write a score as text in base64, in an object in an object."""
    score = base64.b64encode(f"{row['score']!r}".encode()).decode()
    return {
        "captureData": {"endpointOutput": {"data": score, "encoding": "BASE64"}},
        "country": row["country"],
        "event": {"id": row["prediction_id"], "time": f"{row['scored_at']:%d/%m/%Y %H:%M %z}"},
    }


CAPTURED: dict[str, Any] = {
    "id": {"column": "event", "field": "id"},
    "score": {"sql": "decode(from_base64(captureData->'endpointOutput'->>'data'))"},
    "time": {"sql": "strptime(event->>'time', '%d/%m/%Y %H:%M %z')"},
}


def bare(rows: Rows, columns: list[str]) -> bytes:
    r"""Write values between pipes, without a header, null as \N."""
    cells = ([row[column] for column in columns] for row in rows)
    return "".join(
        "|".join("\\N" if cell is None else f"{cell}" for cell in each) + "\n" for each in cells
    ).encode()


BARE = {"format": "csv", "separator": "|", "null_text": "\\N"}


def day_month_year(moment: datetime) -> str:
    """Write a time as much of Europe does."""
    return f"{moment:%d/%m/%Y %H:%M}"
