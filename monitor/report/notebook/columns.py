"""What a caller may give as columns, read as arrays: one place says what they are.

Rule: whatever cannot be read is a DataError that names the column, never a number of other rows.
Masked values are missing values.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from monitor.base.errors import DataError

Column = Any  # whatever numpy can read: a list, an array, a column of pandas, Polars or Arrow
MATRIX = 2  # dimensions
NAMES_SHOWN = 5


def one_column(name: str, column: Column) -> npt.NDArray[Any]:
    """Give a column as an array: a frame of one column is a column."""
    values = array_of(name, column)
    if values.ndim == MATRIX and values.shape[1] == 1:
        return values[:, 0]
    if values.ndim == 1:
        return values
    given = f"has the shape {values.shape}" if values.ndim else f"is {_kind_of(column)}"
    msg = f"{name} {given}, but must be one column: a list, an array, or a column of a frame."
    raise DataError(msg)


def array_of(name: str, column: Column) -> npt.NDArray[Any]:
    """Give columns as an array of as many dimensions as they have."""
    if isinstance(column, np.ma.MaskedArray) and np.ma.is_masked(column):
        values = column.data.astype(object)
        values[np.ma.getmaskarray(column)] = None
        return np.asarray(values)
    try:
        return np.asarray(column)
    except (ValueError, TypeError):
        msg = (
            f"{name} cannot be read as an array: its rows differ in length, or in kind; write "
            f"them alike."
        )
        raise DataError(msg) from None


def numbers_in(name: str, values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Give an array as numbers, NaN for a missing value; whole numbers and decimals too."""
    if values.dtype.kind not in "biufOUS":  # of complex numbers and times a part would be lost
        msg = f"{name} must be numbers, got an array of {values.dtype}."
        raise DataError(msg)
    if values.dtype == object:
        values = np.where(missing_in(values), np.nan, values)
    try:
        return values.astype(np.float64)
    except (ValueError, TypeError):
        place, value = next(
            (place, value)
            for place, value in enumerate(values.ravel().tolist())
            if not _is_number(value)
        )
        msg = (
            f"{name} must be numbers, got {value!r} at row {place // (values.size // len(values))}."
        )
        raise DataError(msg) from None


def names_in(labels: npt.NDArray[Any]) -> list[Any]:
    """List the labels of `y_true` in their order."""
    missing = int(missing_in(labels).sum())
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


def columns_named(y_prob: Column) -> list[Any]:
    """Give the names of the columns of a frame, none of an array."""
    return list(getattr(y_prob, "column_names", getattr(y_prob, "columns", ())))


def is_label(name: Any, label: Any) -> bool:
    """Say whether the name of a column is a label; files have numbers as texts.

    Examples
    --------
    >>> is_label("1", 1), is_label("1", 1.0), is_label("1", "one")
    (True, True, False)
    """
    return bool(name == label) or str(name) == str(whole(label))


def whole(label: Any) -> Any:
    """Give a whole number as such, as of integers that became floats; other labels as they are."""
    return int(label) if isinstance(label, float) and label.is_integer() else label


def check_one_order(**columns: Column) -> None:
    """Refuse columns of pandas with one index in different orders."""
    from monitor.metrics.core import samples

    try:
        samples.check_one_order(**columns)
    except ValueError as error:
        raise DataError(str(error)) from None


def missing_in(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Find missing values of every kind: None, NaN, NaT and NA, but not the text "nan"."""
    if values.dtype.kind in "fcmM":
        return np.asarray(values != values)  # noqa: PLR0124 - true of NaN and NaT alone
    if values.dtype != object:
        return np.zeros(values.shape, bool)
    return np.array([is_missing(value) for value in values.ravel()], bool).reshape(values.shape)


def is_missing(value: Any) -> bool:
    """Say whether a value is None, NaN, NaT or NA."""
    try:
        return value is None or bool(value != value)  # noqa: PLR0124 - as above
    except (TypeError, ValueError):  # NA of pandas is neither equal to itself nor not
        return not hasattr(value, "__len__")


def _kind_of(column: Column) -> str:
    return "one value" if isinstance(column, np.ndarray) else f"of the type {type(column).__name__}"


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (ValueError, TypeError):
        return False
    return True
