"""A matrix of class probabilities and its labels, as days of the daily job."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from monitor.base.errors import DataError
from monitor.base.segment_names import WHOLE
from monitor.report.notebook.arrays import rows_by
from monitor.report.notebook.columns import (
    MATRIX,
    NAMES_SHOWN,
    Column,
    array_of,
    columns_named,
    is_label,
    names_in,
    numbers_in,
    one_column,
    whole,
)

if TYPE_CHECKING:
    from monitor.days.summary import Summary


def is_matrix(y_prob: Column) -> bool:
    """Say whether scores are those of more than two classes."""
    shape = array_of("y_prob", y_prob).shape
    return len(shape) == MATRIX and shape[1] > 2  # noqa: PLR2004 - both classes


@dataclass(frozen=True, eq=False)
class ClassRows:
    """Rows of a model with classes.

    Attributes
    ----------
    names : tuple of str
        The classes in the order of the columns.
    classes : ndarray of shape (n,)
        Which came true, a number for each.
    vectors : ndarray of shape (n, c)
        Probabilities that sum to 1.
    """

    names: tuple[str, ...]
    classes: npt.NDArray[np.int64]
    vectors: npt.NDArray[np.float64]


def class_rows(y_true: Column, y_prob: Column, labels: Sequence[Any] | None) -> ClassRows:
    """Read a matrix of class probabilities and its labels.

    Parameters
    ----------
    y_true : column of shape (n,)
        The class that came true.
    y_prob : matrix of shape (n, c)
        Probabilities that sum to 1, a column for each class.
    labels : sequence of length c, optional
        The classes in the order of the columns; by default the names of the columns of a frame if
        these are the labels, 0 to c - 1 if these are, or else the sorted labels.

    Raises
    ------
    DataError
        If labels and columns do not fit, or there are no rows.
    """
    from monitor.metrics.beyond_binary.multiclass import check_class_scores

    given = one_column("y_true", y_true)
    if not given.size:
        msg = "y_true and y_prob have no rows; give at least one prediction with its outcome."
        raise DataError(msg)
    names, numbers = _numbered(given, y_prob, labels)
    try:
        vectors = numbers_in("y_prob", array_of("y_prob", y_prob))
        return ClassRows(tuple(names), *check_class_scores(numbers, vectors))
    except ValueError as error:
        raise DataError(str(error)) from None


def class_days(rows: ClassRows, groups: Column | None) -> "list[Summary]":
    """Count vectors of class probabilities as the daily job does; each group is a day.

    Parameters
    ----------
    rows : ClassRows
        All rows.
    groups : column of shape (n,), optional
        Rows that share a prior.
    """
    from monitor.days.summary import Segment, Summary
    from monitor.metrics.beyond_binary.class_counts import choose_classes, count_classes
    from monitor.metrics.beyond_binary.class_priors import fit_class_weights
    from monitor.metrics.core.tally import tally_on_grid

    names, vectors, classes = rows.names, rows.vectors, rows.classes
    watched, pairs, _ = choose_classes([(vectors, classes)], len(names))
    known_at, days = datetime.min.replace(tzinfo=UTC), []
    for number, places in enumerate(rows_by(classes.size, groups).values(), 1):
        batches = [(vectors[places], classes[places])]
        weights = fit_class_weights(batches.copy, len(names))
        right = vectors[places].argmax(axis=1) == classes[places]
        top = tally_on_grid(right, vectors[places].max(axis=1))
        counts = count_classes(names, batches, weights, watched=watched, pairs=pairs)
        day, whole = (date.fromordinal(number),), {WHOLE: Segment(top, top.total)}
        days.append(Summary("", day, whole, {}, True, known_at, classes=counts))
    return days


def _numbered(
    values: npt.NDArray[Any], y_prob: Column, labels: Sequence[Any] | None
) -> tuple[list[str], npt.NDArray[np.int64]]:
    """Give the names of the classes, and the number of the class of each row."""
    present = [whole(label) for label in names_in(values)]
    count = np.shape(y_prob)[1]
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
    numbers = [places[whole(label)] for label in values.tolist()]
    return [str(label) for label in order], np.array(numbers, np.int64)


def _order(present: list[Any], y_prob: Column, count: int) -> list[Any]:
    """Find the classes of the columns, if nobody said them."""
    names = columns_named(y_prob)
    labels = [next((p for p in present if is_label(name, p)), name) for name in names]
    if any(label in labels for label in present):  # the names are classes
        return labels
    if all(isinstance(label, int) and 0 <= label < count for label in present):
        return list(range(count))
    return present


def _shown(labels: Sequence[Any]) -> str:
    more = ", …" if len(labels) > NAMES_SHOWN else ""
    return ", ".join(map(repr, labels[:NAMES_SHOWN])) + more
