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

    outcomes, scores = _checked(y_true, y_prob)
    return {
        key: tally_on_grid(outcomes[rows], scores[rows])
        for key, rows in _rows_by(scores.size, *labels).items()
    }


def _rows_by(size: int, *labels: Column | None) -> dict[tuple[str, ...], npt.NDArray[np.int64]]:
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

    outcomes, scores = _checked(y_true, y_prob)
    names, numbers = _label_numbers(entity, scores.size)
    values = _one_column("entity", entity)
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
        for key, rows in _rows_by(scores.size, *labels).items()
    }


def _checked(
    y_true: Column, y_prob: Column
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]:
    """Give outcomes and scores, or say in the caller's words what is wrong with them."""
    from monitor.metrics.core.samples import checked

    outcomes, scores = np.asarray(y_true), _one_column("y_prob", y_prob)
    try:
        scores = scores.astype(np.float64)
        return checked(outcomes, scores)
    except (ValueError, TypeError) as error:
        msg = (
            f"y_true holds the outcomes (0 or 1) and y_prob the scores (0 to 1), in this order; "
            f"missing values are not allowed: {error}"
        )
        raise DataError(msg) from None


def _one_column(name: str, column: Column) -> npt.NDArray[Any]:
    values = np.asarray(column)
    if values.ndim > 1:
        msg = (
            f"{name} has the shape {values.shape}, but must be one column; of "
            "model.predict_proba(X) take [:, 1], the probability of outcome 1."
        )
        raise DataError(msg)
    return values


def _label_numbers(column: Column | None, size: int) -> tuple[Sequence[str], npt.NDArray[np.int64]]:
    """Give the names of labels in their order, and the number of the label of each row."""
    if column is None:
        return [""], np.zeros(size, np.int64)
    values = _one_column("a column of labels", column)
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
