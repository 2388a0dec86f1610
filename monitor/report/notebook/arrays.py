"""Columns of a data frame, Arrow arrays and lists as the arrays that tallies are made of."""

from collections.abc import Sequence
from hashlib import md5
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from monitor.base.errors import ConfigError, DataError
from monitor.base.segment_names import OTHER
from monitor.report.notebook.columns import (
    MATRIX,
    NAMES_SHOWN,
    Column,
    array_of,
    columns_named,
    is_label,
    is_missing,
    missing_in,
    names_in,
    numbers_in,
    one_column,
)

if TYPE_CHECKING:
    from monitor.metrics.core.buckets import BucketCounts
    from monitor.metrics.core.tally import Tally

BOTH = 2  # columns of `predict_proba` with two labels
MOST_ROWS = 100_000_000  # that weights may stand for; each is a row in memory


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
    buckets, missing = (np.array(digests) % BUCKETS)[numbers], missing_in(values)
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
    y_true: Column, y_prob: Column, pos_label: object = None, labels: Sequence[Any] | None = None
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]:
    """Give outcomes and scores, or say in the caller's words what is wrong with them.

    Parameters
    ----------
    y_true : column
        Outcomes: 0 and 1, or two labels, of which `pos_label` is the positive one.
    y_prob : column, or matrix of shape (n, 2)
        Scores; of both columns of `predict_proba` the one of the positive label is taken.
    pos_label : object
        The positive label; None if it is 1.
    labels : sequence of length 2, optional
        The labels in the order of the columns of a matrix; by default those that its names are,
        or the sorted labels, which is scikit-learn's order.

    Raises
    ------
    DataError
        If they are no outcomes and scores.
    ConfigError
        If `labels` are given for one column.
    """
    from monitor.metrics.core.samples import checked

    given, scores = one_column("y_true", y_true), array_of("y_prob", y_prob)
    outcomes = _outcomes(given, pos_label)
    if scores.ndim == MATRIX and scores.shape[1] == BOTH:
        values = _checked_pair(numbers_in("y_prob", scores))
        scores = values[:, _column_of(given, columns_named(y_prob), pos_label, labels)]
    elif labels is not None:
        msg = "labels are those of the columns of a matrix, but y_prob is one column; leave it out."
        raise ConfigError(msg)
    try:
        column = one_column("y_prob", scores if scores.ndim else y_prob)
        return checked(outcomes, numbers_in("y_prob", column))
    except ValueError as error:
        msg = (
            f"y_true holds the outcomes (0 or 1) and y_prob the scores (0 to 1), in this order; "
            f"missing values are not allowed: {error}"
        )
        raise DataError(msg) from None


def _outcomes(labels: npt.NDArray[Any], pos_label: Any) -> npt.NDArray[Any]:
    """Say which labels are the positive one; without one, labels must be 0 and 1 themselves."""
    if np.ndim(pos_label) or (pos_label is not None and is_missing(pos_label)):
        msg = f"pos_label is {pos_label!r}, but must be one label of y_true; give it."
        raise DataError(msg)
    names = None if labels.dtype.kind in "biuf" and pos_label is None else names_in(labels)
    if names is None or (pos_label is None and set(names) <= {0, 1}):
        return labels
    shown = ", ".join(map(repr, names[:NAMES_SHOWN]))
    if pos_label is None:
        msg = (
            f"y_true has the labels {shown}; say which one is positive, such as "
            f"pos_label={names[-1]!r}."
        )
        raise DataError(msg)
    if len(names) > BOTH or (len(names) == BOTH and not _is_one_of(pos_label, names)):
        msg = (
            f"pos_label is {pos_label!r}, but y_true has the labels {shown}; give the positive one "
            "of two, or of more labels a matrix y_prob with one column for each."
        )
        raise DataError(msg)
    return np.asarray(labels == pos_label)


def _checked_pair(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Refuse two columns that are not the probabilities of two labels."""
    from monitor.metrics.core.samples import check_sums

    try:
        check_sums(
            values, "rows of the two columns of y_prob", "give the column of the positive label."
        )
    except ValueError as error:
        raise DataError(str(error)) from None
    return values


def _column_of(
    outcomes: npt.NDArray[Any],
    names: list[Any],
    pos_label: object,
    labels: Sequence[Any] | None,
) -> int:
    """Say which of two columns is that of the positive label."""
    positive: Any = 1 if pos_label is None else pos_label
    if labels is not None:
        if len(labels) != BOTH or not _is_one_of(positive, list(labels)):
            msg = (
                f"labels are {list(labels)!r}, but must be the labels of the two columns of "
                f"y_prob, one of them {positive!r}, the positive one."
            )
            raise DataError(msg)
        return list(labels).index(positive)
    others = [label for label in names_in(outcomes) if label != positive]
    for place, name in enumerate(names):
        if is_label(name, positive):
            return place
        if len(others) == 1 and is_label(name, others[0]):
            return 1 - place
    if positive in {0, 1} and set(others) <= {0, 1}:
        return int(positive)
    if not others:
        msg = (
            f"y_true has the label {positive!r} only, which does not say which of the two columns "
            "of y_prob is its own; give that column, or labels= in the order of the columns."
        )
        raise DataError(msg)
    return int(any(other < positive for other in others))


def _is_one_of(label: Any, labels: Sequence[Any]) -> bool:
    """Say whether a label is one of these; arrays are none."""
    return np.ndim(label) == 0 and label in labels


def repeated(weights: Column, *columns: Column | None) -> list[Any]:
    """Repeat the rows of columns as often as their weights say, which are whole numbers.

    Raises
    ------
    DataError
        If a weight is no whole number from 0, or there is not one for each row.
    """
    numbers = numbers_in("sample_weight", one_column("sample_weight", weights))
    wrong = ~((numbers >= 0.0) & (numbers == np.floor(numbers)) & np.isfinite(numbers))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        msg = (
            f"sample_weight is {numbers[row]} at row {row}, but weights are whole numbers: how "
            "many rows a row stands for. Others do not say how many outcomes there are, which "
            "tests and intervals count; leave them out: of rows that were chosen at known rates "
            "the daily job weighs means (label_rate)."
        )
        raise DataError(msg)
    arrays = [c if c is None else array_of("a column", c) for c in columns]
    lengths = {len(values) for values in arrays if values is not None and values.ndim}
    if lengths != {numbers.size}:
        rows = ", ".join(map(str, sorted(lengths)))
        msg = f"there are {numbers.size} weights for columns of {rows} rows; give one a row."
        raise DataError(msg)
    if numbers.sum() > MOST_ROWS:
        msg = (
            f"sample_weight stands for {numbers.sum():,.0f} rows, more than {MOST_ROWS:,}; divide "
            "the weights, or give a sample of the rows."
        )
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
    missing = missing_in(values)
    if values.dtype == object or missing.any():
        values = np.where(missing, OTHER, values.astype(str))  # as in the daily job
    labels, numbers = np.unique(values, return_inverse=True)
    names = [str(label) for label in labels]
    halves = [name for name in names if any("\ud800" <= sign <= "\udfff" for sign in name)]
    if halves:
        msg = f"the label {halves[0]!r} has half of a pair of surrogates; give it as text."
        raise DataError(msg)
    return names, numbers.astype(np.int64)
