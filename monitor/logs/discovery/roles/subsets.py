"""Logs that hold more than the model that decides: other splits, environments and versions."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from monitor.base.sql_text import text_in_sql
from monitor.logs.discovery.roles.candidates import words
from monitor.logs.discovery.samples.columns import Column, columns_of
from monitor.logs.discovery.samples.reading import PARTITION, Log, in_where
from monitor.logs.discovery.samples.rows import TEXTUAL, ask
from monitor.logs.engines.conversions import quoted
from monitor.logs.engines.session import Session
from monitor.words.numbers import percent

LIVE = ("prod", "production", "live", "online", "serving", "champion", "active", "primary")
TESTED = ("test", "testing", "holdout", "oot")
OTHERS = (
    *("train", "training", "valid", "validation", "val", "dev", "development", "staging", "stage"),
    *("qa", "uat", "sandbox", "offline", "backtest", "canary", "challenger", "candidate"),
    *("shadow", "baseline", "previous", "inactive", "retired", "secondary"),
)
FLAGS = ("champion", "live", "prod", "production", "active")  # of a column of two values
MOST_VALUES = 6
UNIQUE = 0.99


EACH = 0.6  # share of the ids that have a row for each value


@dataclass(frozen=True)
class Subset:
    """The rows that are counted, and what a person should look at.

    Attributes
    ----------
    row_filter : str
        SQL on the columns of a sample, where a field of a struct is a column with a dotted name.
    doubt : str
        A sentence.
    """

    row_filter: str
    doubt: str


def live_rows(log: Log) -> Subset | None:
    """Find a column whose values say which rows are those of the model in production."""
    for column in log.columns:
        spoken = {value: value.strip().lower() for value in column.values}
        understood = all(word in (*LIVE, *TESTED, *OTHERS) for word in spoken.values())
        if column.kind == "text" and 1 < len(spoken) <= MOST_VALUES and understood:
            for meant in (LIVE, TESTED):
                if chosen := [value for value, word in spoken.items() if word in meant]:
                    return subset(log, column, chosen[0])
        flag = column.kind == "boolean" or set(column.values) == {"0", "1"}
        if flag and len(column.values) > 1 and set(words(column.name)) & {*FLAGS}:
            true = next(v for v in column.values if v.lower() in ("true", "1"))
            return subset(log, column, true)
    return None


def version_rows(
    session: Session, log: Log, key: Sequence[str], others: Sequence[str]
) -> Subset | None:
    """Find a column that tells rows of one id apart, such as the version of the model.

    Parameters
    ----------
    session, log : Session, Log
        The predictions.
    key : sequence of str
        The columns of the id, which repeat.
    others : sequence of str
        The columns of the outcomes: one that both logs have belongs to the id.
    """
    for column in log.columns:
        if not 1 < len(column.values) <= MOST_VALUES or column.name in (*key, *others):
            continue
        together = ", ".join(map(quoted, (*key, column.name)))
        alone = ", ".join(map(quoted, key))
        both, ids, rows = ask(
            session,
            f"SELECT count(DISTINCT ({together})), count(DISTINCT ({alone})), count(*) "
            f"FROM {log.table}",
        )
        if both >= UNIQUE * rows > ids and rows >= EACH * len(column.values) * ids:
            return subset(log, column, _newest(column), "an id has a row for each of them; ")
    return None


def subset(log: Log, column: Column, value: str, before: str = "") -> Subset:
    """Choose the rows of a value of a column."""
    of_value = ""
    if column.type != "BOOLEAN":
        number = column.kind in ("integer", "real") and column.type != "VARCHAR"
        of_value = f" = {value if number else text_in_sql(value)}"
    shares = ", ".join(
        f"{other} {percent(rows / max(1, column.rows), 0)}" for other, rows in column.values.items()
    )
    doubt = (
        f"only rows with {in_where(column.name, log)}{of_value} are counted, of `{column.name}`: "
        f"{shares}; {before}to watch the others too, write a model for each with its own "
        f"predictions.where"
    )
    return Subset(f"{quoted(column.name)}{of_value}", doubt)


def only(session: Session, log: Log, chosen: Subset) -> Log:
    """Leave out the other rows of a sample."""
    session.connection.execute(
        f"CREATE OR REPLACE TABLE {log.table} AS "
        f"SELECT * FROM {log.table} WHERE {chosen.row_filter}"
    )
    columns = columns_of(session.connection, log.table, textual=log.format in TEXTUAL)
    named = tuple(column for column in columns if column.name != PARTITION)
    row_filters = [*filter(None, (log.row_filter, chosen.row_filter))]
    row_filter = " AND ".join(row_filters)
    return replace(log, columns=named, row_filter=row_filter, doubts=(*log.doubts, chosen.doubt))


def _newest(column: Column) -> str:
    """Choose the value that says production, or else the last version."""
    live = [value for value in column.values if value.strip().lower() in LIVE]
    numbers = {v: [int(n) for n in re.findall(r"\d+", v)] for v in column.values}
    return live[0] if live else max(column.values, key=lambda v: (numbers[v], v))
