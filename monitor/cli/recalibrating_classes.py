"""What `recalibrate` does for a model with classes."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from monitor.base.errors import ConfigError
from monitor.cli.fitted_maps import hand_over, kind_among, span
from monitor.cli.printing import progress_of_steps

if TYPE_CHECKING:
    from monitor.config import Classes, Config
    from monitor.pipeline.maps.class_recalibration import ClassRecalibration


def recalibrate_vectors(
    config: "Config",
    name: str,
    classes: "Classes",
    days: tuple[date | None, date | None],
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
    from monitor.metrics.maps.vector_map import VECTOR_KINDS
    from monitor.pipeline.maps.class_recalibration import recalibrate_classes, sql_of_map
    from monitor.words.maps import class_map_sentences

    of = f" for {name}, which predicts classes"
    chosen_kind = kind_among(kind, VECTOR_KINDS[1:], of)
    if follow_prior:
        msg = (
            f"--follow-prior: {name} predicts classes, and their map has the level of its own "
            f"days; leave the option out, and fit again when the class priors have moved."
        )
        raise ConfigError(msg)
    if column and classes.columns:
        msg = (
            f"--column {column}: the probabilities of {name} are in several columns, those of "
            f"predictions.classes.vector, which the SQL names; leave the option out."
        )
        raise ConfigError(msg)
    with progress_of_steps(name, quiet=as_json) as on_step:
        fitted = recalibrate_classes(
            config, name, classes, kind=chosen_kind, span=days, on_step=on_step
        )

    def write_sql() -> str:
        return select_list(classes.names, sql_of_map(config, fitted.content, classes, column))

    hand_over(
        fitted,
        _head(fitted),
        class_map_sentences(
            fitted.choice, fitted.content, worth_it=fitted.worth_it, asked=fitted.asked
        ),
        out=out,
        sql=write_sql if sql else None,
        as_json=as_json,
        anyway="temperature",
        more={},
    )


def _head(fitted: "ClassRecalibration") -> str:
    training, count = fitted.content.training, len(fitted.content.map.classes)
    rows = f"{training.read:,} rows were read"
    if training.read != training.outcomes:
        rows += f", and {training.outcomes:,} of them drawn"
    return f"{fitted.content.model}, {count:,} classes: {span(fitted)}; {rows}"


def select_list(names: Sequence[str], expressions: Sequence[str]) -> str:
    """Write an expression for each class, under its name."""
    quoted = ('"' + name.replace('"', '""') + '"' for name in names)
    items = (f"{sql} AS {name}" for sql, name in zip(expressions, quoted, strict=True))
    return ",\n".join(items) + "\n"
