"""Columns of a data frame, Arrow arrays and lists as the arrays that tallies are made of."""

from collections.abc import Sequence
from hashlib import md5
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from monitor.errors import DataError
from monitor.segment_names import OTHER

if TYPE_CHECKING:
    from monitor.metrics.core.buckets import BucketCounts
    from monitor.metrics.core.tally import Tally

MATRIX = 2  # dimensions
NAMES_SHOWN = 5
Column = Any  # whatever numpy can read: a list, an array, a column of pandas, Polars or Arrow


def tallies_by(
    y_true: Column, y_prob: Column, *labels: Column | None
) -> "dict[tuple[str, ...], Tally]":
    """Count predictions and outcomes by score on the grid of the daily job, for each label.

    Parameters
    ----------
    y_true, y_prob : column
        Outcomes and scores.
    labels : column or None
        Each gives every row a label, and `other` where it has no value; None gives all rows the
        empty one.

    Returns
    -------
    dict
        A tally for each combination of labels, in the order of the labels.

    Raises
    ------
    DataError
        If outcomes, scores or labels are not what they should be.
    """
    from monitor.metrics.core.tally import tally_on_grid

    outcomes, scores = binary_columns(y_true, y_prob)
    return {
        key: tally_on_grid(outcomes[rows], scores[rows])
        for key, rows in rows_by(scores.size, *labels).items()
    }


def rows_by(size: int, *labels: Column | None) -> dict[tuple[str, ...], npt.NDArray[np.int64]]:
    """List the rows of each combination of labels."""
    kinds = [_label_numbers(column, size) for column in labels]
    if all(names == [""] for names, _ in kinds):
        return {("",) * len(kinds): np.arange(size)}
    group = np.zeros(size, np.int64)
    for names, numbers in kinds:
        group = group * len(names) + numbers
    order = np.argsort(group, kind="stable")
    present, starts = np.unique(group[order], return_index=True)
    by_key = {}
    for number, rows in zip(present, np.split(order, starts[1:]), strict=True):
        place = np.unravel_index(number, [len(names) for names, _ in kinds])
        key = tuple(names[i] for (names, _), i in zip(kinds, place, strict=True))
        by_key[key] = rows
    return by_key


def buckets_by(
    y_true: Column, y_prob: Column, entity: Column, *labels: Column | None
) -> "dict[tuple[str, ...], BucketCounts]":
    """Count predictions by bucket of their entity and bin of their score, for each label.

    Parameters, order and errors are those of `tallies_by`; rows without an entity count as
    independent, as in the daily job.
    """
    from monitor.metrics.core.buckets import BUCKETS, add_up_buckets, bins_of
    from monitor.metrics.core.grid import OFFSETS_PER_CELL, locate

    outcomes, scores = binary_columns(y_true, y_prob)
    names, numbers = _label_numbers(entity, scores.size)
    values = one_column("entity", entity)
    if values.dtype.kind == "f":  # whole numbers with gaps, as pandas has them
        names = [name.removesuffix(".0") for name in names]
    digests = [int(md5(name.encode(), usedforsecurity=False).hexdigest()[:8], 16) for name in names]
    cells, offsets = locate(scores)
    buckets, missing = (np.array(digests) % BUCKETS)[numbers], _missing(values)
    buckets[missing] = offsets[missing] * BUCKETS // OFFSETS_PER_CELL
    return {
        key: add_up_buckets(
            buckets[rows],
            bins_of(cells[rows]),
            np.ones(rows.size, np.int64),
            outcomes[rows].astype(np.int64),
        )
        for key, rows in rows_by(scores.size, *labels).items()
    }


def binary_columns(
    y_true: Column, y_prob: Column, pos_label: object = None
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]:
    """Give outcomes and scores, or say in the caller's words what is wrong with them.

    Parameters
    ----------
    y_true : column
        Outcomes: 0 and 1, or two labels, of which `pos_label` is the positive one.
    y_prob : column, or matrix of shape (n, 2)
        Scores; of both columns of `predict_proba` the second is taken, or that of `pos_label` in
        the sorted order of the labels, which is scikit-learn's.
    pos_label : object
        The positive label; None if it is 1.

    Raises
    ------
    DataError
        If they are no outcomes and scores.
    """
    from monitor.metrics.core.samples import checked

    labels, scores = one_column("y_true", y_true), np.asarray(y_prob)
    if scores.ndim == MATRIX and scores.shape[1] == 2:  # noqa: PLR2004 - both classes
        scores = scores[:, _column_of(labels, pos_label)]
    try:
        values = one_column("y_prob", scores).astype(np.float64)
        return checked(_outcomes(labels, pos_label), values)
    except (ValueError, TypeError) as error:
        msg = (
            f"y_true holds the outcomes (0 or 1) and y_prob the scores (0 to 1), in this order; "
            f"missing values are not allowed: {error}"
        )
        raise DataError(msg) from None


def _outcomes(labels: npt.NDArray[Any], pos_label: object) -> npt.NDArray[Any]:
    """Say which labels are the positive one; without one, labels must be 0 and 1 themselves."""
    names = None if labels.dtype.kind in "biuf" and pos_label is None else _names(labels)
    if names is None or (pos_label is None and set(names) <= {0, 1}):
        return labels
    shown = ", ".join(map(repr, names[:NAMES_SHOWN]))
    if pos_label is None:
        msg = (
            f"y_true has the labels {shown}; say which one is positive, such as "
            f"pos_label={names[-1]!r}."
        )
        raise DataError(msg)
    if len(names) > 2 or (len(names) == 2 and pos_label not in names):  # noqa: PLR2004
        msg = (
            f"pos_label is {pos_label!r}, but y_true has the labels {shown}; give the positive one "
            "of two, or of more labels a matrix y_prob with one column for each."
        )
        raise DataError(msg)
    return np.asarray(labels == pos_label)


def _column_of(labels: npt.NDArray[Any], pos_label: object) -> int:
    """Give the column of the positive label, in the sorted order of the labels."""
    names = _names(labels) if pos_label is not None else []
    return names.index(pos_label) if len(names) == 2 and pos_label in names else 1  # noqa: PLR2004


def _names(labels: npt.NDArray[Any]) -> list[Any]:
    """List the labels in their order."""
    missing = int(_missing(labels).sum())
    if missing:
        msg = (
            f"{missing} of {labels.size} values of y_true are missing; leave out the rows that "
            "have no outcome."
        )
        raise DataError(msg)
    try:
        return [name.item() if isinstance(name, np.generic) else name for name in np.unique(labels)]
    except TypeError:
        msg = "y_true has labels of several types; give labels of one type."
        raise DataError(msg) from None


def one_column(name: str, column: Column) -> npt.NDArray[Any]:
    """Give a column as an array: a frame of one column is a column."""
    values = np.asarray(column)
    if values.ndim == MATRIX and values.shape[1] == 1:
        return values[:, 0]
    if values.ndim > 1:
        msg = f"{name} has the shape {values.shape}, but must be one column."
        raise DataError(msg)
    return values


def repeated(weights: Column, *columns: Column | None) -> list[Column | None]:
    """Repeat the rows of columns as often as their weights say, which are whole numbers.

    Raises
    ------
    DataError
        If a weight is no whole number from 0, or there is not one for each row.
    """
    try:
        numbers = one_column("sample_weight", weights).astype(np.float64)
    except (TypeError, ValueError):
        msg = "sample_weight holds a number for each row: how many rows it stands for."
        raise DataError(msg) from None
    wrong = ~((numbers >= 0.0) & (numbers == np.floor(numbers)) & np.isfinite(numbers))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        msg = (
            f"sample_weight is {numbers[row]} at row {row}, but weights are whole numbers: how "
            "many rows a row stands for. Others do not say how many outcomes there are, which "
            "tests and intervals count; of rows that were chosen at known rates the daily job "
            "weighs means (label_rate)."
        )
        raise DataError(msg)
    arrays = [None if column is None else np.asarray(column) for column in columns]
    lengths = {len(values) for values in arrays if values is not None and values.ndim}
    if lengths != {numbers.size}:
        rows = ", ".join(map(str, sorted(lengths)))
        msg = f"there are {numbers.size} weights for columns of {rows} rows; give one a row."
        raise DataError(msg)
    counts = numbers.astype(np.int64)
    return [None if values is None else np.repeat(values, counts, axis=0) for values in arrays]


def _label_numbers(column: Column | None, size: int) -> tuple[Sequence[str], npt.NDArray[np.int64]]:
    """Give the names of labels in their order, and the number of the label of each row."""
    if column is None:
        return [""], np.zeros(size, np.int64)
    values = one_column("a column of labels", column)
    if values.shape != (size,):
        msg = f"there are {size:,} scores, but labels of shape {values.shape}; give one a row."
        raise DataError(msg)
    missing = _missing(values)
    if values.dtype == object or missing.any():
        values = np.where(missing, OTHER, values.astype(str))  # as in the daily job
    names, numbers = np.unique(values, return_inverse=True)
    return [str(name) for name in names], numbers.astype(np.int64)


def _missing(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Find missing values of every kind: None, NaN, NaT and NA, but not the text "nan"."""
    if values.dtype.kind in "fcmM":
        return np.asarray(values != values)  # noqa: PLR0124 - true of NaN and NaT alone
    if values.dtype != object:
        return np.zeros(values.shape, bool)
    return np.array([_is_missing(value) for value in values], bool)


def _is_missing(value: object) -> bool:
    try:
        return value is None or bool(value != value)  # noqa: PLR0124 - as above
    except TypeError:  # NA of pandas is neither equal to itself nor not
        return True
