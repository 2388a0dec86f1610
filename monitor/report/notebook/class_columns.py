"""A matrix of class probabilities and its labels, as days of the daily job."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from monitor.errors import DataError
from monitor.report.notebook.arrays import MATRIX, Column, one_column, rows_by
from monitor.segment_names import WHOLE

if TYPE_CHECKING:
    from monitor.summary import Summary

NAMES_SHOWN = 5


def is_matrix(y_prob: Column) -> bool:
    """Say whether scores are those of more than two classes."""
    shape = np.shape(y_prob)
    return len(shape) == MATRIX and shape[1] > 2  # noqa: PLR2004 - both classes


def class_days(
    y_true: Column, y_prob: Column, labels: Sequence[Any] | None, groups: Column | None
) -> "list[Summary]":
    """Count vectors of class probabilities as the daily job does; each group is a day.

    Parameters
    ----------
    y_true : column of shape (n,)
        The class that came true.
    y_prob : matrix of shape (n, c)
        Probabilities that sum to 1, a column for each class.
    labels : sequence of length c, optional
        The classes in the order of the columns; by default the names of the columns of a frame if
        these are the labels, 0 to c - 1 if these are, or else the sorted labels.
    groups : column of shape (n,), optional
        Rows that share a prior.

    Raises
    ------
    DataError
        If labels and columns do not fit.
    """
    from monitor.metrics.beyond_binary.class_counts import choose_classes, count_classes
    from monitor.metrics.beyond_binary.class_priors import fit_class_weights
    from monitor.metrics.beyond_binary.multiclass import check_class_scores
    from monitor.metrics.core.tally import tally_on_grid
    from monitor.summary import Segment, Summary

    names, numbers = _numbered(one_column("y_true", y_true), y_prob, labels)
    try:
        classes, vectors = check_class_scores(numbers, np.asarray(y_prob))
    except ValueError as error:
        raise DataError(str(error)) from None
    watched, pairs, _ = choose_classes([(vectors, classes)], len(names))
    known_at, days = datetime.min.replace(tzinfo=UTC), []
    for number, rows in enumerate(rows_by(classes.size, groups).values(), 1):
        batches = [(vectors[rows], classes[rows])]
        weights = fit_class_weights(batches.copy, len(names))
        right = vectors[rows].argmax(axis=1) == classes[rows]
        top = tally_on_grid(right, vectors[rows].max(axis=1))
        counts = count_classes(names, batches, weights, watched=watched, pairs=pairs)
        day, whole = (date.fromordinal(number),), {WHOLE: Segment(top, top.total)}
        days.append(Summary("", day, whole, {}, True, known_at, classes=counts))
    return days


def _numbered(
    values: npt.NDArray[Any], y_prob: Column, labels: Sequence[Any] | None
) -> tuple[list[str], npt.NDArray[np.int64]]:
    """Give the names of the classes, and the number of the class of each row."""
    count, present = np.shape(y_prob)[1], sorted(set(values.tolist()), key=str)
    order = list(labels) if labels is not None else _order(present, y_prob, count)
    if len(order) != count or len(set(order)) != count:
        msg = (
            f"y_prob has {count} columns, but there are {len(order)} labels ({_shown(order)}); "
            "give labels= in the order of the columns, each once."
        )
        raise DataError(msg)
    places = {label: place for place, label in enumerate(order)}
    unknown = [label for label in present if label not in places]
    if unknown:
        msg = (
            f"y_true has the label {unknown[0]!r}, but the columns of y_prob are those of "
            f"{_shown(order)}; give labels= in the order of the columns."
        )
        raise DataError(msg)
    return [str(label) for label in order], np.array([places[v] for v in values.tolist()], np.int64)


def _order(present: list[Any], y_prob: Column, count: int) -> list[Any]:
    """Find the classes of the columns, if nobody said them."""
    columns = list(getattr(y_prob, "columns", ()))
    if columns and set(present) <= set(columns):
        return columns
    if all(isinstance(label, int) and 0 <= label < count for label in present):
        return list(range(count))
    return present


def _shown(labels: Sequence[Any]) -> str:
    more = ", …" if len(labels) > NAMES_SHOWN else ""
    return ", ".join(map(repr, labels[:NAMES_SHOWN])) + more
