"""The command that fits a calibration map to what is stored, and says what it is worth."""

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from monitor.base.errors import ConfigError
from monitor.base.segment_names import WHOLE
from monitor.cli.fitted_maps import AUTO, hand_over, kind_among, span
from monitor.cli.options import (
    DEFAULT_CONFIG,
    AsJson,
    ConfigPath,
    ThisModel,
    day_range,
    must_be_one_of,
)
from monitor.cli.recalibrating_classes import recalibrate_vectors

Start = Annotated[
    datetime | None,
    typer.Option(
        "--from",
        formats=["%Y-%m-%d"],
        help="First day. Default: the estimated start of the open drift, or the last 28 days.",
    ),
]
End = Annotated[
    datetime | None,
    typer.Option("--to", formats=["%Y-%m-%d"], help="Last day. Default: the newest final day."),
]


def recalibrate(
    name: ThisModel,
    config_path: ConfigPath = DEFAULT_CONFIG,
    segment: Annotated[
        str | None,
        typer.Option(
            help="A segment, or all. Default: the part that explains the open drift, or all."
        ),
    ] = None,
    part: Annotated[
        list[str] | None,
        typer.Option(
            "--part",
            help="The rows with a value of a watched column, such as 'device = tv', as where names "
            "it; several times for several values of one column.",
        ),
    ] = None,
    first: Start = None,
    last: End = None,
    kind: Annotated[
        str,
        typer.Option(
            help="auto, intercept, platt, beta, spline or isotonic; with classes auto, intercept, "
            "temperature, order_preserving, vector or dirichlet. auto takes the simplest that is "
            "worth it."
        ),
    ] = AUTO,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the map to this JSON file.")
    ] = None,
    follow_prior: Annotated[
        bool | None,
        typer.Option(
            "--follow-prior/--no-follow-prior",
            help="Give the map the level of the last 7 final days, or if these are more than a "
            "week older than the newest scores, the one that those suggest. Default: if the "
            "verdict says that the level moved and has stayed.",
        ),
    ] = None,
    sql: Annotated[
        bool,
        typer.Option(
            "--sql",
            help="Print only the map, as an SQL expression for DuckDB and Spark; with classes as "
            "one for each class, for DuckDB.",
        ),
    ] = False,
    column: Annotated[
        str | None,
        typer.Option(
            "--column",
            help="With --sql: the column of the scores, score if it is not given; with classes a "
            "column of lists, by default as in the predictions.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Fit a calibration map, and say what it is worth.

    If one part of the rows explains the open drift, the map is for that part. A map for all is not
    worth it if it harms a part. Needs no logs: the stored summaries are enough. Of a model with
    classes it reads rows of the logs. The candidates are compared on days left out. A map of one
    score never reorders scores, and never gives 0 or 1.
    """
    from monitor.config import load_config
    from monitor.metrics.maps.calibration_map import KINDS
    from monitor.metrics.maps.sql import sql_of_steps
    from monitor.pipeline.days.parts import conditions_named
    from monitor.pipeline.maps.recalibration import Asked
    from monitor.pipeline.maps.recalibration import recalibrate as fit
    from monitor.report.maps import recalibration_sentences
    from monitor.words.labels import fitted_sentence
    from monitor.words.maps import rows_of
    from monitor.words.numbers import percent

    config = load_config(config_path, only=name)
    model = config.model(name)
    if segment is not None:
        must_be_one_of("--segment", segment, model.every_segment)
        if part:
            msg = f"--segment {segment} and --part: leave one of them out."
            raise ConfigError(msg)
    if first and last:
        day_range(first, last)
    start, end = (day.date() if day else None for day in (first, last))
    if classes := model.predictions.classes:
        if segment not in (None, WHOLE) or part:
            option = "--part" if part else f"--segment {segment}"
            msg = (
                f"{option}: {name} predicts classes, and their map is for all rows; leave the "
                f"option out."
            )
            raise ConfigError(msg)
        recalibrate_vectors(
            config,
            name,
            classes,
            (start, end),
            kind=kind,
            out=out,
            sql=sql,
            column=column,
            follow_prior=bool(follow_prior),
            as_json=as_json,
        )
        return
    asked = Asked(start, end, kind_among(kind, KINDS[1:]), follow_prior)
    fitted = fit(config, name, segment, asked, part=conditions_named(model, name, part or ()))

    def write_sql() -> str:
        return sql_of_steps(fitted.content.steps, column or "score") + "\n"

    hand_over(
        fitted,
        f"{name}, {rows_of(fitted.content)}: {span(fitted)}; "
        f"{fitted.content.training.outcomes:,} outcomes, {percent(fitted.prevalence)} positive",
        (*recalibration_sentences(fitted), *([fitted_sentence()] if model.label_rate else [])),
        out=out,
        sql=write_sql if sql else None,
        as_json=as_json,
        anyway="platt",
        more={
            "extrapolated": fitted.extrapolated,
            "for_all": fitted.for_all,
            "lasting": fitted.lasting,
        },
    )
