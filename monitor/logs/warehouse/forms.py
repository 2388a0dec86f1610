"""The statement as people run it: with parameters, as a model of dbt, or every morning."""

from typing import Literal

from monitor.base.errors import ConfigError
from monitor.config import Model
from monitor.logs.statement.counts_table import NAMES
from monitor.logs.warehouse.asked import Asked, check_countable, own_logs
from monitor.logs.warehouse.counting import counting
from monitor.logs.warehouse.reading import Span, parts_of

Form = Literal["plain", "dbt", "scheduled"]
PARAMETERS = {"first_day": "2026-03-01", "last_day": "2026-03-07", "known_until": "2026-03-07"}


def statement(name: str, model: Model, language: str, form: Form) -> str:
    """Write the statement that counts the rows of a model in a warehouse.

    Parameters
    ----------
    name : str
        Name of the model.
    model : Model
        Describes its rows.
    language : str
        One of `DIALECTS`.
    form : str
        With parameters, as a model of dbt, or as a query for a scheduler.

    Raises
    ------
    ConfigError
        If the statement cannot count what the model describes, or the warehouse cannot say it.
    """
    asked = Asked(name, model, language)
    check_countable(asked)
    write = {"plain": _plain, "dbt": _dbt, "scheduled": _scheduled}[form]
    return "\n".join([*_heading(asked), *write(asked)])


def _heading(asked: Asked) -> list[str]:
    """Say what the statement needs."""
    model, zone = asked.model, asked.model.time_zone
    logs = own_logs(model).items()
    tables = [kind for kind, log in logs if not (log.sql or log.catalog)]
    lines = [
        f"counts the days of model {asked.name}, as calibration-monitor reads them with",
        "predictions: {format: counts, day: day, ...} and outcomes: {in_predictions: true}",
    ]
    if tables:
        lines.append(f"put the name of your table in the place of FROM {' and FROM '.join(tables)}")
    lines.append(f"the columns that date the rows are days, or times without zone of {zone};")
    set_zone = (asked.dialect.zone or "toTimeZone(column, {})").format(f"'{zone}'")
    lines.append(f"times with a zone count by that of the session: {set_zone}")
    return [f"-- {line}" for line in lines]


def _plain(asked: Asked) -> list[str]:
    """Write it with parameters."""
    parameter = asked.dialect.parameter
    if parameter is None:
        msg = (
            f"{asked.language} has no parameters with names; print it as dbt or as scheduled, and "
            f"change the days there."
        )
        raise ConfigError(msg)
    given = [asked.dialect.given.format(name=n, value=v) for n, v in PARAMETERS.items()]
    span = Span(*map(parameter.format, PARAMETERS))
    return [
        "-- first_day, last_day: of the predictions; known_until: the last day with all outcomes",
        *(f"-- {line}" for line in given),
        counting(asked, span),
    ]


def _dbt(asked: Asked) -> list[str]:
    """Write it as an incremental model of dbt, with its tests in a comment."""
    settings = ", ".join(["materialized='incremental'", *asked.dialect.strategy])
    zone = f"run_started_at.astimezone(modules.pytz.timezone('{asked.model.time_zone}'))"
    days = f"modules.datetime.timedelta(days={asked.model.settled_after})"
    jinja = [
        f"{{{{ config({settings}) }}}}",
        f"{{% set yesterday = {zone}.date() - modules.datetime.timedelta(days=1) %}}",
        "{% set known_until = var('known_until', yesterday | string) %}",
        "{% set last_day = var('last_day', yesterday | string) %}",
        f"{{% set first_day = var('first_day', (yesterday - {days}) | string) %}}",
        "-- each run counts again the days that wait for outcomes; the past, once:",
        "-- dbt run --select " + _table(asked) + " --vars '{first_day: 2026-01-01}'",
    ]
    span = Span(*(asked.as_day(f"'{{{{ {name} }}}}'") for name in PARAMETERS))
    text = counting(asked, span).removesuffix(asked.dialect.ending)
    return [*jinja, text.rstrip(), _tests(asked)]


def _tests(asked: Asked) -> str:
    """Write the tests of the model of dbt, in a comment of it."""
    table, parts = _table(asked), [name for name, _ in parts_of(asked)]
    columns = ("day", "known_until", "status", "cell", "rows", "positives", "offset_sum")
    lines = ["version: 2", "models:", f"  - name: {table}", "    columns:"]
    for column in columns:
        tests = "[not_null]"
        if column == "status":
            tests = f"[not_null, accepted_values: {{values: [{', '.join(NAMES)}]}}]"
        lines.append(f"      - {{name: {column}, quote: true, data_tests: {tests}}}")
    quoted = asked.dialect.quoted
    key = ", ".join(map(quoted, ("day", "status", *parts, "cell")))
    once = f"count(*) > 1 OR sum({quoted('positives')}) > sum({quoted('rows')})"
    return "\n".join(
        [
            "{#",
            f"{table}.yml, beside this file:",
            *lines,
            f"tests/{table}_once.sql, which finds what is there twice or cannot be:",
            f"SELECT {key} FROM {{{{ ref('{table}') }}}} GROUP BY {key} HAVING {once}",
            "#}",
        ]
    )


def _scheduled(asked: Asked) -> list[str]:
    """Write it so that each morning replaces the days that wait for outcomes."""
    dialect, table = asked.dialect, _table(asked)
    yesterday = dialect.after(dialect.today, -1)
    first = dialect.after(dialect.today, -1 - asked.model.settled_after)
    span = Span(first, yesterday, yesterday)
    types = {"version": dialect.whole, "day": dialect.day, "known_until": dialect.day}
    types |= dict.fromkeys(("status", *(name for name, _ in parts_of(asked))), dialect.text)
    types |= dict.fromkeys(("cell", "rows", "positives", "offset_sum"), dialect.whole)
    columns = ", ".join(f"{dialect.quoted(name)} {kind}" for name, kind in types.items())
    return [
        "-- each run counts again the days that wait for outcomes. Run it every morning when the",
        f"-- logs of yesterday are complete, with {dialect.scheduler};",
        f"-- then the monitor reads {table}, or what you unload of it. Put the statements into",
        "-- one transaction, if there are any: a run that ends between them leaves out days.",
        f"CREATE TABLE IF NOT EXISTS {table} ({columns}){dialect.stored};",
        f"DELETE FROM {table} WHERE {dialect.quoted('day')} >= {first};",
        f"INSERT INTO {table}\n{counting(asked, span)};",
    ]


def _table(asked: Asked) -> str:
    """Name the table of the counts of a model."""
    signs = (sign if sign.isalnum() else "_" for sign in asked.name.lower())
    return f"calibration_counts_{''.join(signs)}"
