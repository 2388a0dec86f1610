"""The command that says where a drift sits."""

from typing import Annotated

import typer

from monitor.cli.options import DEFAULT_CONFIG, AsJson, ConfigPath, Day, ThisModel
from monitor.cli.printing import print_json, say
from monitor.config import load_config


def where(
    name: ThisModel,
    config_path: ConfigPath = DEFAULT_CONFIG,
    day: Day = None,
    most: Annotated[
        int, typer.Option(min=1, help="Show at most so many values: those that are most off.")
    ] = 20,
    as_json: AsJson = False,
) -> None:
    """Say where a drift sits: which of the segments changed.

    Compares every value with itself in the reference, from the estimated start of the open drift to
    the day (by default the newest), or in the last seven days if no drift is open. Reads the store,
    not the logs.
    """
    from monitor.pipeline.where import answer_where
    from monitor.report.where import where_document, where_text

    config = load_config(config_path, only=name)
    answer = answer_where(config, name, day.date() if day else None)
    if as_json:
        print_json(where_document(answer, most))
    else:
        say(where_text(name, answer, most))
