"""The command that prints the statement with which a warehouse counts the rows of a model."""

from typing import Annotated, Literal

import typer

from monitor.cli.options import DEFAULT_CONFIG, ConfigPath
from monitor.cli.printing import write_out

# As monitor.logs.warehouse.dialects, which loads more.
Language = Literal[
    "duckdb",
    "postgres",
    "redshift",
    "snowflake",
    "bigquery",
    "databricks",
    "clickhouse",
    "trino",
]
Form = Literal["plain", "dbt", "scheduled"]


def sql(
    name: Annotated[str, typer.Argument(metavar="MODEL", show_default=False)],
    dialect: Annotated[Language, typer.Argument(help="Whose SQL.", show_default=False)],
    form: Annotated[
        Form,
        typer.Argument(
            metavar="[AS]",
            help="plain, with parameters for the days; dbt, an incremental model with its tests; "
            "or scheduled, which replaces the days that wait for outcomes in a table.",
        ),
    ] = "plain",
    config_path: ConfigPath = DEFAULT_CONFIG,
) -> None:
    """Print the SQL that counts rows in a warehouse.

    The monitor then reads the counts instead of the rows (docs/counts.md). It needs no connection:
    what the statement reads are the queries under sql, or tables whose names you put into it.
    """
    from monitor.config import load_config
    from monitor.logs.warehouse.forms import statement

    model = load_config(config_path, only=name).model(name)
    write_out(f"{statement(name, model, dialect, form)}\n")
