"""Past results as one tidy table, of Parquet or of a database, for people's own dashboards.

Rule: a row is a day of a segment whose verdict stands, beside the window nearest to a week that
ends on it, so that what stands in one row belongs together.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from monitor.base.errors import DataError
from monitor.base.files import replacing, writing
from monitor.base.sql_text import text_in_sql
from monitor.config import Model
from monitor.drift.records.verdict import Verdict
from monitor.evaluation.evaluation import Evaluation
from monitor.read.results import Results
from monitor.read.standing import nearest_to_week

NAME, SERVER = "calibration_results", "postgresql:"
Days = tuple[date, date]
IntoServer = Callable[[str, str, pa.Table, str], None]  # variable, table, rows, which are old
TEXT: pa.DataType = pa.string()
NUMBER: pa.DataType = pa.float64()
COUNT: pa.DataType = pa.int64()
DAY: pa.DataType = pa.date32()
MOMENT: pa.DataType = pa.timestamp("s", "UTC")
SCHEMA = pa.schema(
    {
        "model": TEXT,
        "segment": TEXT,
        "day": DAY,
        "known_at": MOMENT,
        "state": TEXT,
        "kind": TEXT,
        "since": DAY,
        "evidence": NUMBER,
        "slope": NUMBER,
        "slope_low": NUMBER,
        "slope_high": NUMBER,
        "shift": NUMBER,
        "shift_low": NUMBER,
        "shift_high": NUMBER,
        "window_days": COUNT,
        "predicted": COUNT,
        "outcomes": COUNT,
        "prevalence": NUMBER,
        "mean_score": NUMBER,
        "ece": NUMBER,
        "ece_prior": NUMBER,
        "rbs": NUMBER,
        "rbs_prior": NUMBER,
        "tce_prior": NUMBER,
        "tce_by_chance": NUMBER,
    }
)


def rows(results: Results, model: Model, first: date, last: date) -> Iterator[dict[str, Any]]:
    """Give a row for each segment of each day whose verdict stands, rising by day.

    Parameters
    ----------
    results : Results
        Of the model.
    model : Model
        Whose windows are known.
    first, last : date
        The first and the last day.
    """
    window, evaluated = nearest_to_week(model.windows), {*results.days("evaluations", last)}
    for day in results.days("verdicts", last):
        if day < first:
            continue
        windows = results.evaluations(day) if day in evaluated else []
        of = {e.segment: e for e in windows if e.window_days == window}
        for verdict in results.verdicts(day):
            if verdict.shown:
                yield _of_verdict(verdict) | _of_window(of.get(verdict.segment))


def _of_verdict(v: Verdict) -> dict[str, Any]:
    incident = v.incident
    return {
        "model": v.model,
        "segment": v.segment,
        "day": v.day,
        "known_at": v.known_at,
        "state": v.state,
        "kind": incident.kind if incident else None,
        "since": incident.started if incident else None,
        "evidence": v.reached,
    } | {
        f"{name}{end}": value
        for name, number in (("slope", v.slope), ("shift", v.shift))
        if number
        for end, value in (("", number.value), ("_low", number.low), ("_high", number.high))
    }


def _of_window(e: Evaluation | None) -> dict[str, Any]:
    if e is None:
        return {}
    return {
        "window_days": e.window_days,
        "predicted": e.predicted,
        "outcomes": e.matched,
        "prevalence": e.prevalence,
        "mean_score": e.mean_score,
        "ece": e.raw and e.raw.ece,
        "ece_prior": e.prior and e.prior.ece,
        "rbs": e.raw and e.raw.rbs,
        "rbs_prior": e.prior and e.prior.rbs,
        "tce_prior": e.prior and e.prior.tce_published,
        "tce_by_chance": e.null and e.null.q95,
    }


def write(
    place: str,
    found: Sequence[dict[str, Any]],
    models: Sequence[str],
    days: Days,
    into_server: IntoServer,
) -> int:
    """Write the rows in the place of those of the same models and days, and count them.

    Parameters
    ----------
    place : str
        A file of Parquet, which is replaced; a database of DuckDB, whose name ends with .duckdb; or
        `postgresql:VARIABLE`, the environment variable that holds the address. A database gets the
        table `calibration_results`.
    found : sequence of dict
        The rows.
    models : sequence of str
        Whose rows are replaced.
    days : tuple of (date, date)
        The first and the last day whose rows are replaced.
    into_server : function
        Replaces rows of a table of a server.

    Raises
    ------
    ConfigError
        If a package is not installed, or the variable is not set.
    DataError
        If it cannot be written.
    """
    table = pa.Table.from_pylist([*found], schema=SCHEMA)
    names = ", ".join(map(text_in_sql, models)) or "NULL"
    old = f"model IN ({names}) AND day BETWEEN '{days[0]}' AND '{days[1]}'"
    if place.startswith(SERVER):
        into_server(place.removeprefix(SERVER), NAME, table, old)
    elif place.endswith(".duckdb"):
        _into_duckdb(place, table, old)
    else:
        path = Path(place)
        with writing(place), replacing(path) as file:
            pq.write_table(table, file)
    return int(table.num_rows)


def _into_duckdb(place: str, table: pa.Table, old: str) -> None:
    """Replace rows of a database in a file."""
    import duckdb  # noqa: PLC0415 - most commands export to something else

    try:
        with duckdb.connect(place) as connection:
            connection.register("found", table)
            connection.begin()
            connection.execute(f"CREATE TABLE IF NOT EXISTS {NAME} AS FROM found LIMIT 0")
            connection.execute(f"DELETE FROM {NAME} WHERE {old}")  # noqa: S608
            connection.execute(f"INSERT INTO {NAME} BY NAME FROM found")
            connection.commit()
    except duckdb.Error as error:
        why = str(error).splitlines()[0]
        msg = (
            f"{place}: cannot be written ({why}); close other programs that use it, or name "
            f"another file, then run again."
        )
        raise DataError(msg) from error
