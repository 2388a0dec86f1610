"""Where the SQL of warehouses differs: one object for each. What all of them share needs none.

Filters and expressions of the configuration are DuckDB's SQL; of these only what means the same in
every warehouse is translated, and all else is refused by name.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from monitor.base.errors import ConfigError
from monitor.base.sql_text import text_in_sql

PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Words that name no column without quotes somewhere; `user` would even be another value.
RESERVED = {
    *("all", "and", "any", "array", "as", "between", "by", "case", "cast", "check", "column"),
    *("create", "cross", "current", "default", "desc", "distinct", "else", "end", "except"),
    *("exists", "false", "for", "from", "full", "group", "groups", "having", "if", "in", "inner"),
    *("interval", "into", "is", "join", "left", "like", "limit", "merge", "natural", "new", "no"),
    *("not", "null", "of", "on", "or", "order", "outer", "over", "partition", "primary", "range"),
    *("references", "right", "row", "rows", "select", "set", "some", "table", "tag", "then", "to"),
    *("true", "union", "unique", "unnest", "user", "using", "when", "where", "window", "with"),
}
# Parts of an expression that sqlglot writes in every dialect without a change of meaning.
PORTABLE = {
    *("Column", "Identifier", "Literal", "Boolean", "Null", "Paren", "Tuple"),
    *("And", "Or", "Not", "EQ", "NEQ", "GT", "GTE", "LT", "LTE", "In", "Between", "Is", "Like"),
    *("Add", "Sub", "Mul", "Div", "Neg", "Abs", "DPipe", "Case", "If", "Coalesce", "Nullif"),
    *("Lower", "Upper", "Trim", "Length", "Substring", "Cast", "DataType", "IsNan"),
}


@dataclass(frozen=True)
class Dialect:
    """How a warehouse writes what it writes otherwise than others.

    Attributes
    ----------
    real, whole, text, day : str
        The types of numbers of double precision, of whole numbers, of texts and of days.
    is_nan, logarithm : str
        A condition and a function of `{}`.
    later : str
        The day that is `{days}` days after `{day}`.
    quote : str
        What stands around a name that needs it.
    folds : str
        What becomes of the letters of a name without quotes: lower, upper, or "".
    escapes : bool
        Whether a backslash begins an escape in a text.
    parameter : str or None
        The parameter `{}`, a day; None if there are no named ones.
    given : str
        How the parameter `{name}` is given.
    today : str
        The day of the session.
    zone : str or None
        Sets the time zone `{}` of the session; None if the statement cannot.
    ending, stored : str
        Stand behind the statement, and behind the columns of a new table.
    fence : str
        Ends a step whose values would be computed again wherever a later step names them.
    by_id : bool
        Whether one pass that groups both logs by their ids is cheaper than to join them.
    strategy : tuple of str
        The settings of an incremental model of dbt that replaces whole days.
    scheduler : str
        What runs a statement every morning.
    translated : str or None
        The dialect of sqlglot whose expressions it reads; None for the one of its own name.
    """

    real: str = "DOUBLE"
    whole: str = "BIGINT"
    text: str = "VARCHAR"
    day: str = "DATE"
    is_nan: str = "isnan({})"
    logarithm: str = "ln({})"
    later: str = "({day} + {days})"
    quote: str = '"'
    folds: str = ""
    escapes: bool = False
    parameter: str | None = None
    given: str = ""
    today: str = "CURRENT_DATE"
    zone: str | None = None
    ending: str = ""
    stored: str = ""
    fence: str = ""
    by_id: bool = False
    strategy: tuple[str, ...] = ("incremental_strategy='delete+insert'", "unique_key='day'")
    scheduler: str = "cron or your orchestrator"
    translated: str | None = None

    def name(self, column: str) -> str:
        """Write the name of a column of a log, in quotes only if it needs them.

        Examples
        --------
        >>> DIALECTS["snowflake"].name("country"), DIALECTS["snowflake"].name("order")
        ('country', '"ORDER"')
        >>> DIALECTS["postgres"].name("isFraud")
        '"isFraud"'
        """
        plain = PLAIN_NAME.fullmatch(column)
        kept = not self.folds or self.folds == "upper" or column == column.lower()
        if plain and kept and column.lower() not in RESERVED:
            return column
        is_usual = plain and self.folds == "upper" and column == column.lower()
        return self.quoted(column.upper() if is_usual else column)

    def quoted(self, column: str) -> str:
        """Write a name in quotes."""
        return f"{self.quote}{column.replace(self.quote, self.quote * 2)}{self.quote}"

    def literal(self, value: str) -> str:
        r"""Write a text.

        Examples
        --------
        >>> DIALECTS["trino"].literal("it's"), DIALECTS["bigquery"].literal("it's")
        ("'it''s'", "'it\\'s'")
        """
        return text_in_sql(value, escapes=self.escapes)

    def after(self, day: str, days: int) -> str:
        """Write the day that is some days after another."""
        return self.later.format(day=day, days=days) if days else day


DIALECTS: Mapping[str, Dialect] = {
    "duckdb": Dialect(
        parameter="CAST(${} AS DATE)",
        given='connection.execute(statement, {{"{name}": "{value}", ...}})',
        zone="SET TimeZone = {}",
    ),
    "postgres": Dialect(
        fence="\n  OFFSET 0",
        by_id=True,
        real="DOUBLE PRECISION",
        text="TEXT",
        is_nan="({} = 'NaN')",
        folds="lower",
        parameter="CAST(:'{}' AS DATE)",
        given="psql -v {name}={value}",
        zone="SET TIME ZONE {}",
        scheduler="pg_cron, or cron with psql",
    ),
    "datafusion": Dialect(
        later="CAST({day} + INTERVAL '{days} DAY' AS DATE)",
        zone="SET TIME ZONE = {}",
        translated="postgres",
    ),
    "redshift": Dialect(
        real="DOUBLE PRECISION",
        text="VARCHAR(1000)",
        is_nan="({} = 'NaN')",
        folds="lower",
        escapes=True,
        parameter="CAST(:'{}' AS DATE)",
        given="psql -v {name}={value}",
        zone="SET TIMEZONE TO {}",
        scheduler="a schedule of the query editor v2",
    ),
    "snowflake": Dialect(
        is_nan="({} = 'NaN')",
        folds="upper",
        escapes=True,
        parameter="CAST(${} AS DATE)",
        given="SET {name} = '{value}';",
        zone="ALTER SESSION SET TIMEZONE = {}",
        strategy=("incremental_strategy='delete+insert'", "unique_key='\"day\"'"),
        scheduler="a task: CREATE TASK ... SCHEDULE = 'USING CRON 0 5 * * * UTC' AS BEGIN ... END",
    ),
    "bigquery": Dialect(
        real="FLOAT64",
        whole="INT64",
        text="STRING",
        is_nan="IS_NAN({})",
        later="DATE_ADD({day}, INTERVAL {days} DAY)",
        quote="`",
        escapes=True,
        parameter="@{}",
        given="bq query --parameter={name}:DATE:{value}",
        zone="SET @@time_zone = {}",
        strategy=(
            "incremental_strategy='insert_overwrite'",
            "partition_by={'field': 'day', 'data_type': 'date'}",
        ),
        scheduler="a scheduled query",
    ),
    "databricks": Dialect(
        text="STRING",
        later="date_add({day}, {days})",
        quote="`",
        escapes=True,
        parameter="CAST(:{} AS DATE)",
        given="EXECUTE IMMEDIATE ..., or a parameter of the query: {name} = {value}",
        zone="SET TIME ZONE {}",
        strategy=("incremental_strategy='insert_overwrite'", "partition_by=['day']"),
        scheduler="a job with a SQL task",
    ),
    "clickhouse": Dialect(
        real="Nullable(Float64)",
        whole="Nullable(Int64)",
        text="Nullable(String)",
        day="Nullable(Date32)",
        is_nan="isNaN({})",
        later="addDays({day}, {days})",
        quote="`",
        escapes=True,
        parameter="{{{}:Date32}}",
        given="clickhouse-client --param_{name}={value}",
        # Without the first, what a join does not find is 0, not null.
        ending="SETTINGS join_use_nulls = 1, prefer_column_name_to_alias = 1",
        stored=" ENGINE = MergeTree ORDER BY tuple()",
        today="today()",
        strategy=(
            "incremental_strategy='delete+insert'",
            "unique_key='day'",
            "query_settings={'join_use_nulls': 1, 'prefer_column_name_to_alias': 1}",
        ),
        scheduler="cron with clickhouse-client",
    ),
    "trino": Dialect(
        is_nan="is_nan({})",
        later="date_add('day', {days}, {day})",
        zone="SET TIME ZONE {}",
    ),
}


def translated(text: str, dialect: str, setting: str) -> str:
    """Write an expression of DuckDB in another dialect.

    Raises
    ------
    ConfigError
        If the dialect may give it another meaning, or sqlglot is not installed.
    """
    if dialect == "duckdb":
        return f"({text})"
    try:
        import sqlglot  # noqa: PLC0415 - an extra
    except ImportError:
        msg = (
            f"{setting}: an expression is translated with sqlglot, which is not installed; pip "
            f"install 'calibration-monitor[sql]'."
        )
        raise ConfigError(msg) from None
    try:
        tree = sqlglot.parse_one(text, read="duckdb")
    except sqlglot.errors.SqlglotError:  # DuckDB reads it, and it knows more
        msg = (
            f"{setting}: {text} cannot be translated; compute it in the query under sql, give it a "
            f"name there, and write the name here."
        )
        raise ConfigError(msg) from None
    odd = [part for part in tree.walk() if type(part).__name__ not in PORTABLE]
    if odd:
        msg = (
            f"{setting}: {odd[0].sql('duckdb')} may mean something else in {dialect}; compute it "
            f"in the query under sql, give it a name there, and write the name here."
        )
        raise ConfigError(msg)
    written = DIALECTS[dialect].translated or dialect
    return f"({_with_own_nan(tree, dialect, written).sql(written)})"


def _with_own_nan(tree: Any, dialect: str, written: str) -> Any:
    """Write the question whether a number is one as the dialect does, which sqlglot does not."""
    from sqlglot import exp, parse_one  # noqa: PLC0415

    def replaced(part: Any) -> Any:
        if not isinstance(part, exp.IsNan):
            return part
        return parse_one(DIALECTS[dialect].is_nan.format(part.this.sql(written)), read=written)

    return tree.transform(replaced)
