"""The commands about maps: what a file says, its SQL, one map on top of another, and an end."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from monitor.base.errors import ConfigError
from monitor.cli.options import DEFAULT_CONFIG, ConfigPath, ThisModel
from monitor.cli.printing import say, say_line, write_out
from monitor.cli.recalibrating_classes import select_list
from monitor.metrics.maps.part import Engine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from monitor.config import MapSetting
    from monitor.metrics.maps.map_file import MapFile

File = Annotated[str, typer.Argument(help="A map file that recalibrate wrote.")]


def show(path: File) -> None:
    """Say what a map does, what it was fitted to, and what it gained."""
    from monitor.metrics.maps.map_file import MapFile
    from monitor.report.maps import mapped_table
    from monitor.store.map_file import read_map
    from monitor.words.maps import file_sentences

    content = read_map(path)
    sentences = file_sentences(content)
    steps = content.steps if isinstance(content, MapFile) else ()
    for said in (*sentences, *([mapped_table(steps)] if steps else ())):
        say(said, highlight=False)


def sql(
    path: File,
    column: Annotated[
        str | None,
        typer.Option(
            "--column",
            help="The column of the scores, by default score; of vectors a column of lists, which "
            "must be named.",
        ),
    ] = None,
    engine: Annotated[
        Engine,
        typer.Option(help="Of a map for some rows: whose quotes its condition has."),
    ] = "duckdb",
) -> None:
    """Print a map as an SQL expression for DuckDB and Spark.

    Of a map for some rows it has their condition, and leaves all other scores as they are. A map of
    class vectors is one expression for each class, for DuckDB.
    """
    from monitor.metrics.maps.map_file import MapFile
    from monitor.metrics.maps.sql import sql_of_classes, sql_of_steps
    from monitor.store.map_file import read_map

    content = read_map(path)
    if isinstance(content, MapFile):
        expression = sql_of_steps(content.steps, column or "score", engine)
        write_out(f"{expression}\n")  # as it is, for it may be wider than a terminal
        return
    names = content.map.classes
    if not column:
        msg = (
            f"{path}: maps vectors of {len(names):,} classes; name the column that holds them as "
            f"lists, such as --column probabilities."
        )
        raise ConfigError(msg)
    scores = [f"CAST({column}[{place}] AS DOUBLE)" for place in range(1, len(names) + 1)]
    expressions = sql_of_classes(content.map, scores)
    write_out(select_list(names, expressions))


def compose(
    deployed: Annotated[str, typer.Argument(help="The map that made the logged scores.")],
    newer: Annotated[str, typer.Argument(help="The map that was fitted to these scores.")],
    out: Annotated[Path, typer.Option("--out", help="Write both as one map to this file.")],
) -> None:
    """Put a newer map behind a deployed one, in one file.

    After a map is deployed the log holds mapped scores, and recalibrate fits the next map to those.
    The program that serves the model maps its own scores: it needs both maps in their order.
    """
    from monitor.metrics.maps.map_file import composed
    from monitor.store.map_file import write_map

    first, second = _of_scores(deployed), _of_scores(newer)
    try:
        content = composed(first, second)
    except ValueError as error:
        msg = f"{deployed} and {newer}: {error} Give two maps of the same scores."
        raise ConfigError(msg) from None
    write_map(str(out), content)
    say_line(f"written: {out}")


def retire(
    name: ThisModel,
    day: Annotated[
        datetime,
        typer.Option(
            "--on",
            formats=["%Y-%m-%d"],
            help="The first day on which the log holds scores without the map.",
        ),
    ],
    config_path: ConfigPath = DEFAULT_CONFIG,
) -> None:
    """Say what to write when a deployed map ends, and change nothing.

    Also says what the days from then on are compared with. The date belongs into the configuration,
    beside that of the deployment, so that the same days give the same verdicts however often they
    are judged.
    """
    from monitor.config import config_files, load_config
    from monitor.drift.fold.inputs import reference_of_day
    from monitor.pipeline.verdicts.references import read_references

    config, on = load_config(config_path, only=name), day.date()
    *earlier, setting = config.model(name).map or (None,)
    if not setting or not setting.deploy:
        msg = f"{name}: no map is deployed, so none can be retired; see models.{name}.map."
        raise ConfigError(msg)
    if on <= setting.deploy:
        msg = f"--on {on}: the map is deployed since {setting.deploy}; name a later day."
        raise ConfigError(msg)
    maps = (*earlier, setting.model_copy(update={"retire": on}))
    models = {**config.models, name: config.model(name).model_copy(update={"map": maps})}
    planned = config.model_copy(update={"models": models})
    compared = reference_of_day(on, read_references(planned, name).fitted)
    line = _written(maps, config_files(config_path)[0].absolute().parent)
    reference = (
        f"From {on} on its days are compared with the reference of {compared.first} to "
        f"{compared.last}, as before the map was deployed."
        if compared
        else "There is no reference yet that its days could be compared with."
    )
    again = f"calibration-monitor evaluate --model {name} --from {on}"
    said = (
        f"Write into the configuration of {name}: {line}",
        reference,
        "If the model is another one by then, name days of its own in verdicts.references.",
        f"If days from then on are stored already, judge them again: {again}",
    )
    for sentence in said:
        say_line(sentence)


def _written(maps: "Sequence[MapSetting]", folder: Path) -> str:
    """Write the maps of a model as its configuration in a folder has them."""
    entries = list[str]()
    for each in maps:
        days = {key: getattr(each, key) for key in ("since", "deploy", "retire")}
        said = [f"{key}: {day}" for key, day in days.items() if day]
        entries.append(f"{{file: {each.file.removeprefix(f'{folder}/')}, {', '.join(said)}}}")
    return f"map: {entries[0]}" if len(entries) == 1 else f"map: [{', '.join(entries)}]"


def _of_scores(path: str) -> "MapFile":
    from monitor.metrics.maps.map_file import MapFile
    from monitor.store.map_file import read_map

    content = read_map(path)
    if isinstance(content, MapFile):
        return content
    msg = (
        f"{path}: maps vectors of {len(content.map.classes):,} classes, and such maps are not "
        f"composed; fit one to the vectors that the model itself gives."
    )
    raise ConfigError(msg)
