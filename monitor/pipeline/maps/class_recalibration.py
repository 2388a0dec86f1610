"""From rows of the logs to a calibration map of class vectors: which days, which map, its worth.

The store has counts of classes and pairs, which determine no map of vectors, so rows are read.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from monitor.base import program
from monitor.base.errors import ConfigError, DataError
from monitor.config import Classes, Config
from monitor.days.summary import Summary
from monitor.logs import (
    batch_of,
    batch_of_summary,
    open_databases,
    read_parts_of_vector,
    read_vectors,
)
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.maps.choosing import Candidate, Choice, gains_of
from monitor.metrics.maps.class_choosing import choose_vector_map
from monitor.metrics.maps.class_map_file import ClassMapFile, ClassTraining
from monitor.metrics.maps.class_rows import ClassRows, rows_of_days
from monitor.metrics.maps.sql import sql_of_classes
from monitor.metrics.maps.vector_map import VectorKind, VectorMap
from monitor.pipeline.maps.recalibration import (
    days_to_fit,
    newest_of_whole,
    replaced_by,
    start_of_drift,
)
from monitor.store.store import Store

MOST_VALUES = 2**19  # probabilities that maps are fitted to: some seconds for each family
Step = Callable[[str, int, int], None]
Rows = tuple[Floats, Ints]


@dataclass(frozen=True)
class ClassRecalibration:
    """A calibration map of a model with classes, and how it was found.

    Attributes
    ----------
    choice : Choice
        The candidates and what they gained.
    content : ClassMapFile
        The chosen map; the identity unless one is worth it or was asked for.
    worth_it, since_drift, asked : bool
        As in `Recalibration`.
    """

    choice: Choice[VectorMap]
    content: ClassMapFile
    worth_it: bool
    since_drift: bool
    asked: bool


def recalibrate_classes(
    config: Config,
    name: str,
    classes: Classes,
    *,
    kind: VectorKind | None = None,
    span: tuple[date | None, date | None] = (None, None),
    on_step: Step = lambda *_: None,
) -> ClassRecalibration:
    """Fit a calibration map of class vectors to the rows of final days.

    Parameters
    ----------
    config, name : Config, str
        The model.
    classes : Classes
        Its classes.
    kind : str, optional
        A family; by default the one that is worth it.
    span : tuple of date or None
        The first day and the last, as for `recalibrate`.
    on_step : callable
        Is given what is done, and the number of its steps that are done, and of all.

    Returns
    -------
    ClassRecalibration
        The same for the same rows in any order.

    Raises
    ------
    ConfigError
        If the log is a sample by class, or has the highest scores only.
    DataError
        If there are too few final days or outcomes, or their logs cannot be read.
    """
    if classes.weights:
        msg = (
            f"{name}: a map of class vectors is fitted to rows of the population, but the log is a "
            f"sample of it (predictions.classes.weights); fit it to a log that has every row."
        )
        raise ConfigError(msg)
    if classes.top:
        msg = (
            f"{name}: a map of class vectors is fitted to the probabilities of all classes, but "
            f"the log has the highest only (predictions.classes.top); log whole vectors."
        )
        raise ConfigError(msg)
    store, (first, last) = Store(config.store), span
    started = start_of_drift(newest_of_whole(store, name))
    days, started = days_to_fit(store, name, first, last, started)
    final = _of_classes(days, name, classes, first or started, last)
    rows, read = _read(config, name, classes, final, on_step)
    try:
        choice = choose_vector_map(rows, kind, on_step=lambda *done: on_step("fit", *done))
    except ValueError as error:
        msg = f"{name}: {error}"
        raise DataError(msg) from None
    worth_it = choice.worth_it
    chosen = choice.chosen if kind or worth_it else choice.candidates[0]
    content = _content(config, name, rows, [day.days[0] for day in final], chosen, read)
    return ClassRecalibration(choice, content, worth_it, started is not None, kind is not None)


def sql_of_map(
    config: Config, content: ClassMapFile, classes: Classes, column: str | None
) -> list[str]:
    """Write a map in SQL, of the column of lists that is named, or of what the logs have."""
    name, count = content.model, len(classes.names)
    if column:
        scores = [f"{column}[{place}]" for place in range(1, count + 1)]
    else:
        day = content.training.last
        with open_databases(config.engine) as databases:
            batch = batch_of(name, config.model(name), day, as_of=date.max)
            scores = read_parts_of_vector(batch, classes, databases)
    scores = [f"CAST({score} AS DOUBLE)" for score in scores]
    if classes.sums == "normalise":
        total = " + ".join(scores)
        scores = [f"{score} / ({total})" for score in scores]
    return sql_of_classes(content.map, scores)


def _of_classes(
    final: Sequence[Summary], name: str, classes: Classes, first: date | None, last: date | None
) -> list[Summary]:
    """Choose the days with outcomes of these classes."""
    counted = [day for day in final if day.classes and day.classes.total]
    same = [day for day in counted if day.classes and day.classes.names == classes.names]
    if counted and not same:
        msg = (
            f"{name}: the days to {counted[-1].days[0]} were counted with other classes than "
            f"predictions.classes.names; run the daily job on days with the classes of now first."
        )
        raise DataError(msg)
    if not same:
        span = f"{f' from {first}' if first else ''}{f' to {last}' if last else ''}"
        msg = (
            f"{name}: no final day with outcomes is stored{span}; run the daily job first, or name "
            f"other days."
        )
        raise DataError(msg)
    return same


def _read(
    config: Config, name: str, classes: Classes, days: Sequence[Summary], on_step: Step
) -> tuple[ClassRows, int]:
    """Read the rows of days, and keep as many as maps are fitted to."""
    model, kept, read = config.model(name), list[Rows](), 0
    each = MOST_VALUES // len(days)
    with open_databases(config.engine) as databases:
        for done, day in enumerate(days, 1):
            vectors, labels = read_vectors(batch_of_summary(name, model, day), classes, databases)
            read += labels.size
            if labels.size:
                drawn = rows_of_days(classes.names, [(vectors, labels)], each)
                kept.append((drawn.vectors, drawn.labels))
            on_step("read", done, len(days))
    if not kept:
        msg = f"{name}: the logs have no row with an outcome on these days any more; name others."
        raise DataError(msg)
    return rows_of_days(classes.names, kept, MOST_VALUES), read


def _content(
    config: Config,
    name: str,
    rows: ClassRows,
    days: Sequence[date],
    chosen: Candidate[VectorMap],
    read: int,
) -> ClassMapFile:
    return ClassMapFile(
        model=name,
        map=chosen.fitted,
        training=ClassTraining(
            *(days[0], days[-1], len(days), read, rows.labels.size),
            tuple(np.bincount(rows.labels, minlength=len(rows.classes)).tolist()),
        ),
        replaces=replaced_by(config, name, days[-1]),
        gains=gains_of(chosen),
        version=program.version(),
    )
