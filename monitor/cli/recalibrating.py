"""The command that fits a calibration map to what is stored, and says what it is worth."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from monitor.cli.options import (
    DEFAULT_CONFIG,
    AsJson,
    ConfigPath,
    ThisModel,
    day_range,
    must_be_one_of,
)
from monitor.cli.printing import err, print_json, say, write_out
from monitor.cli.recalibrating_classes import AUTO, file_line, recalibrate_vectors
from monitor.config import load_config
from monitor.errors import ConfigError
from monitor.segment_names import WHOLE, shown

if TYPE_CHECKING:
    from monitor.metrics.maps.calibration_map import Kind
    from monitor.pipeline.recalibration import Recalibration

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
    segment: Annotated[str, typer.Option(help="A segment, or all.")] = WHOLE,
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
        bool,
        typer.Option(
            "--follow-prior",
            help="Give the map the level of the last 7 final days, or if these are more than a "
            "week older than the newest scores, the one that those suggest.",
        ),
    ] = False,
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

    Needs no logs: the stored summaries are enough. Of a model with classes it reads rows of the
    logs. The candidates are compared on days left out. A map of one score never reorders scores,
    and never gives 0 or 1.
    """
    from monitor.metrics.maps.sql import sql_expression
    from monitor.pipeline.recalibration import recalibrate as fit
    from monitor.store.map_file import write_map

    config = load_config(config_path, only=name)
    names = dict.fromkeys((WHOLE, *config.model(name).segment_names))
    must_be_one_of("--segment", segment, tuple(names))
    if first and last:
        day_range(first, last)
    if classes := config.model(name).predictions.classes:
        recalibrate_vectors(
            config,
            name,
            classes,
            first.date() if first else None,
            last.date() if last else None,
            kind=kind,
            out=out,
            sql=sql,
            column=column,
            follow_prior=follow_prior,
            as_json=as_json,
        )
        return
    fitted = fit(
        config,
        name,
        segment,
        first=first.date() if first else None,
        last=last.date() if last else None,
        kind=_kind(kind),
        follow_prior=follow_prior,
    )
    written = out if out and (fitted.asked or fitted.worth_it) else None
    if written:
        write_map(str(written), fitted.content)
    if sql:
        write_out(sql_expression(fitted.content.map, column or "score") + "\n")
        err.print("\n".join(_sentences(fitted)), soft_wrap=True, highlight=False)
    elif as_json:
        print_json(_document(fitted, written))
    else:
        _say(fitted)
        if out:
            say(file_line(out, written, "platt"), soft_wrap=True, highlight=False)


def _kind(given: str) -> "Kind | None":
    from monitor.metrics.maps.calibration_map import KINDS

    if given == AUTO:
        return None
    for kind in KINDS[1:]:
        if kind == given:
            return kind
    msg = f"--kind {given}: is no kind of map; choose one of {', '.join((AUTO, *KINDS[1:]))}."
    raise ConfigError(msg)


def _say(fitted: "Recalibration") -> None:
    from monitor.report.candidates import candidate_table
    from monitor.words.numbers import percent

    training, segment = fitted.content.training, fitted.content.segment
    why = ", since the estimated start of the open drift" if fitted.since_drift else ""
    say(
        f"{fitted.content.model}, segment {shown(segment)}: {training.days} days from "
        f"{training.first} to {training.last}{why}; {training.outcomes:,} outcomes, "
        f"{percent(fitted.prevalence)} positive",
        soft_wrap=True,
        highlight=False,
    )
    title = "Gain for each prediction on days left out"
    say(candidate_table(title, fitted.choice, worth_it=fitted.worth_it))
    for sentence in _sentences(fitted):
        say(f"  {sentence}", highlight=False)


def _sentences(fitted: "Recalibration") -> tuple[str, ...]:
    from monitor.words.maps import map_sentences

    return map_sentences(
        fitted.choice,
        fitted.content,
        worth_it=fitted.worth_it,
        asked=fitted.asked,
        extrapolated=fitted.extrapolated,
    )


def _document(fitted: "Recalibration", written: Path | None) -> dict[str, object]:
    choice = fitted.choice
    return {
        "worth_it": fitted.worth_it,
        "chosen": choice.chosen.kind,
        "best_shape": choice.best.kind,
        "days_to_settle": choice.days_to_settle,
        "sentences": _sentences(fitted),
        "since_drift": fitted.since_drift,
        "extrapolated": fitted.extrapolated,
        "candidates": choice.candidates,
        "map": fitted.content,
        "written": str(written) if written else None,
    }
