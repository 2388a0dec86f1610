"""What `recalibrate` does for a model with classes."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from monitor.cli.printing import err, print_json, progress_of_steps, say, write_out
from monitor.config import Classes, Config
from monitor.errors import ConfigError

if TYPE_CHECKING:
    from monitor.metrics.maps.vector_map import VectorKind
    from monitor.pipeline.class_recalibration import ClassRecalibration

AUTO = "auto"


def recalibrate_vectors(
    config: Config,
    name: str,
    classes: Classes,
    first: date | None,
    last: date | None,
    *,
    kind: str,
    out: Path | None,
    sql: bool,
    column: str | None,
    follow_prior: bool,
    as_json: bool,
) -> None:
    """Fit a map of class vectors, and say what it is worth; the options are those of the command.

    Raises
    ------
    ConfigError
        If an option is not for a model with classes.
    """
    from monitor.pipeline.class_recalibration import recalibrate_classes, sql_of_map
    from monitor.store.map_file import write_map

    chosen_kind = _kind(name, kind)
    if follow_prior:
        msg = (
            f"--follow-prior: {name} predicts classes, and their map has the level of its own "
            f"days; leave the option out, and fit again when the class priors have moved."
        )
        raise ConfigError(msg)
    if column and classes.columns:
        msg = (
            f"--column {column}: the probabilities of {name} are in several columns, those of "
            f"predictions.classes.columns, which the SQL names; leave the option out."
        )
        raise ConfigError(msg)
    with progress_of_steps(name, quiet=as_json) as on_step:
        fitted = recalibrate_classes(
            config, name, classes, first=first, last=last, kind=chosen_kind, on_step=on_step
        )
    written = out if out and (fitted.asked or fitted.worth_it) else None
    if written:
        write_map(str(written), fitted.content)
    if sql:
        write_out(select_list(classes.names, sql_of_map(config, fitted.content, classes, column)))
        err.print("\n".join(_sentences(fitted)), soft_wrap=True, highlight=False)
    elif as_json:
        print_json(_document(fitted, written))
    else:
        _say(fitted)
        if out:
            say(file_line(out, written, "temperature"), soft_wrap=True, highlight=False)


def file_line(out: Path, written: Path | None, kind: str) -> str:
    """Say whether the file was written, and which kind is written in any case."""
    if written:
        return f"written: {out}"
    return f"not written: {out}, because no map is worth it; --kind {kind} writes one all the same."


def _kind(name: str, given: str) -> "VectorKind | None":
    from monitor.metrics.maps.vector_map import VECTOR_KINDS

    if given == AUTO:
        return None
    for kind in VECTOR_KINDS[1:]:
        if kind == given:
            return kind
    msg = (
        f"--kind {given}: is no kind of map for {name}, which predicts classes; choose one of "
        f"{', '.join((AUTO, *VECTOR_KINDS[1:]))}."
    )
    raise ConfigError(msg)


def select_list(names: Sequence[str], expressions: Sequence[str]) -> str:
    """Write an expression for each class, under its name."""
    quoted = ('"' + name.replace('"', '""') + '"' for name in names)
    items = (f"{sql} AS {name}" for sql, name in zip(expressions, quoted, strict=True))
    return ",\n".join(items) + "\n"


def _say(fitted: "ClassRecalibration") -> None:
    from monitor.report.candidates import candidate_table

    training, count = fitted.content.training, len(fitted.content.map.classes)
    why = ", since the estimated start of the open drift" if fitted.since_drift else ""
    rows = f"{training.read:,} rows were read"
    if training.read != training.outcomes:
        rows += f", and {training.outcomes:,} of them drawn"
    say(
        f"{fitted.content.model}, {count:,} classes: {training.days} days from {training.first} "
        f"to {training.last}{why}; {rows}",
        soft_wrap=True,
        highlight=False,
    )
    title = "Gain for each prediction on days left out"
    say(candidate_table(title, fitted.choice, worth_it=fitted.worth_it))
    for sentence in _sentences(fitted):
        say(f"  {sentence}", highlight=False)


def _sentences(fitted: "ClassRecalibration") -> tuple[str, ...]:
    from monitor.words.maps import class_map_sentences

    return class_map_sentences(
        fitted.choice, fitted.content, worth_it=fitted.worth_it, asked=fitted.asked
    )


def _document(fitted: "ClassRecalibration", written: Path | None) -> dict[str, object]:
    choice = fitted.choice
    return {
        "worth_it": fitted.worth_it,
        "chosen": choice.chosen.kind,
        "best_shape": choice.best.kind,
        "days_to_settle": choice.days_to_settle,
        "sentences": _sentences(fitted),
        "since_drift": fitted.since_drift,
        "candidates": choice.candidates,
        "map": fitted.content,
        "written": str(written) if written else None,
    }
