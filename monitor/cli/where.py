"""The command that says where a drift sits."""

from datetime import date
from typing import TYPE_CHECKING, Annotated

import typer

from monitor.cli.options import DEFAULT_CONFIG, AsJson, ConfigPath, Day, ThisModel, now
from monitor.cli.printing import answer, say_aside

if TYPE_CHECKING:
    from monitor.config import Config


def where(
    name: ThisModel,
    config_path: ConfigPath = DEFAULT_CONFIG,
    day: Day = None,
    columns: Annotated[
        str | None,
        typer.Option(help="Search these columns of the logs only, such as device,amount."),
    ] = None,
    parts: Annotated[
        bool,
        typer.Option("--search", help="Search all columns of the logs for parts of the rows."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say where a drift sits: which values of which columns changed.

    Compares every value of the columns under segments with itself in the reference, from the
    estimated start of the open drift to the day (by default the newest), or in the last seven days
    if no drift is open. This reads the store. With --search it reads the logs instead, and looks
    for up to four parts of the rows, given by values of one column or two, that moved apart from
    all other rows. Every second day proposes parts; those that the other days confirm are named.
    """
    from monitor.config import load_config
    from monitor.pipeline.verdicts.asked_where import answer_where
    from monitor.report.where import repair_of, where_document, where_text

    config = load_config(config_path, only=name)
    if parts or columns:
        _search(config, name, columns or "", day.date() if day else None, as_json=as_json)
        return
    answered = answer_where(config, name, day.date() if day else None)
    commands = repair_of(name, answered) if config.model(name).maps == "parts" else []
    document = where_document(answered, commands)
    answer(document, where_text(name, answered, commands), as_json=as_json)


def _search(config: "Config", name: str, columns: str, day: date | None, *, as_json: bool) -> None:
    from monitor.pipeline.verdicts.part_search import search_parts
    from monitor.report.where import parts_document, parts_text

    wanted = [column.strip() for column in columns.split(",") if column.strip()]
    parts = search_parts(config, name, wanted, day, clock=now, say=say_aside)
    answer(parts_document(parts), parts_text(name, parts), as_json=as_json)
