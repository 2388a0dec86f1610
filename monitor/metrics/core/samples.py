"""Raw samples: a score and an outcome for each prediction, and which are rejected.

Rule 1: what a sample may be is said in `checked` alone. A compiled pass may test the same
conditions itself, so that rows are read only once. When one fails, it takes what `checked` makes of
the samples, which raises the error or puts scores that rounding left beyond an end at that end.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from monitor.metrics.core.grid import END_TOLERANCE, Floats, Ints

Bools = npt.NDArray[np.bool_]
Outcomes = Ints | npt.NDArray[np.uint8]
# Single precision over a thousand classes leaves 1e-6, and scores logged with 6 decimals over
# a hundred classes 5e-5; scores that are no distribution at all are off by far more.
SUM_TOLERANCE = 1e-4
SWAPPED = " They look swapped: give the outcomes first, as y_true, y_prob."
Rows = tuple[npt.ArrayLike, npt.ArrayLike]  # y_true and y_prob, in the same order


def checked(y_true: npt.ArrayLike, y_prob: npt.ArrayLike) -> tuple[Bools, Floats]:
    """Give outcomes as truths and scores as numbers, or say what is wrong with them.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        What happened, 0 or 1 (booleans too).
    y_prob : array-like of shape (n,)
        Predicted probabilities in [0, 1]; one that lies beyond an end by no more than rounding
        explains, 2e-5, is that end.

    Returns
    -------
    positive : ndarray of shape (n,)
        Whether the outcome was 1.
    scores : ndarray of shape (n,)
        The same array if it holds float64 already, and no score is beyond an end.

    Raises
    ------
    ValueError
        If a score is not a number in [0, 1], an outcome is not 0 or 1, or the two differ
        in shape. The message counts the offenders and shows the first, and says so if the two
        were given in the wrong order.

    Examples
    --------
    >>> checked([0, 1], [0.2, 0.9])
    (array([False,  True]), array([0.2, 0.9]))
    """
    outcome_array, score_array = _of_one_length(y_true, y_prob)
    score_array, outside = at_ends(score_array)
    if outside.any():
        row = int(np.flatnonzero(outside)[0])
        msg = (
            f"{int(outside.sum())} of {score_array.size} scores are not numbers in [0, 1], "
            f"first {score_array[row]} at row {row}.{_if_swapped(outcome_array, score_array)}"
        )
        raise ValueError(msg)
    positive = np.asarray(outcome_array == 1)
    other = ~(positive | (outcome_array == 0))
    if other.any():
        row = int(np.flatnonzero(other)[0])
        msg = (
            f"{int(other.sum())} of {outcome_array.size} outcomes are neither 0 nor 1, "
            f"first {outcome_array[row : row + 1].tolist()[0]!r} at row {row}."
            f"{_if_swapped(outcome_array, score_array)}"
        )
        raise ValueError(msg)
    return positive, score_array


def at_ends(scores: Floats) -> tuple[Floats, Bools]:
    """Give scores that lie within rounding of an end as that end, and which others lie outside.

    Examples
    --------
    >>> at_ends(np.array([0.5, 1.0000001, 1.5]))
    (array([0.5, 1. , 1.5]), array([False, False,  True]))
    """
    outside = ~((scores >= 0.0) & (scores <= 1.0))  # written so that nan is outside
    if not outside.any():
        return scores, outside
    near = outside & (scores >= -END_TOLERANCE) & (scores <= 1.0 + END_TOLERANCE)
    return np.where(near, np.clip(scores, 0.0, 1.0), scores), outside & ~near


def _if_swapped(outcomes: npt.NDArray[np.generic], scores: Floats) -> str:
    """Say that the two were given in the wrong order, if the other order would be right."""
    try:
        probabilities = outcomes.astype(np.float64)
    except (TypeError, ValueError):
        return ""
    is_outcome = (scores == 0.0) | (scores == 1.0)
    is_score = (probabilities >= 0.0) & (probabilities <= 1.0)
    return SWAPPED if is_outcome.all() and is_score.all() else ""


def unchecked(y_true: npt.ArrayLike, y_prob: npt.ArrayLike) -> tuple[Outcomes, Floats]:
    """Give two contiguous arrays of one length to a pass that tests their values itself.

    Parameters
    ----------
    y_true, y_prob : array-like of shape (n,)
        As `checked` takes them, but of any value.

    Returns
    -------
    outcomes : ndarray of shape (n,)
        Any int64, or 0 and 1 as uint8. There are no other types, so that a pass is compiled
        twice at most.
    scores : ndarray of shape (n,)
        Any float64.

    Raises
    ------
    ValueError
        If the two differ in shape; or as `checked`, if outcomes are of another type and wrong.

    Examples
    --------
    >>> unchecked([True, False], [0.2, 7.0])
    (array([1, 0], dtype=uint8), array([0.2, 7. ]))
    """
    outcome_array, score_array = _of_one_length(y_true, y_prob)
    if outcome_array.dtype == np.int64:
        return np.ascontiguousarray(outcome_array), np.ascontiguousarray(score_array)
    if outcome_array.dtype != np.bool_:
        outcome_array = checked(outcome_array, score_array)[0]
    positive = np.ascontiguousarray(outcome_array).view(np.uint8)
    return positive, np.ascontiguousarray(score_array)


def numbers_of(y_prob: npt.ArrayLike) -> Floats:
    """Give probabilities as an array of numbers, or say that they are none.

    Examples
    --------
    >>> numbers_of([0, 0.5])
    array([0. , 0.5])
    """
    try:
        given = unmasked("y_prob", y_prob)
        if given.dtype.kind == "c":  # an imaginary part would be lost
            return given.astype(np.float64, casting="safe")
        return given.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        msg = f"y_prob holds probabilities, after y_true, the outcomes: {str(error).rstrip('.')}."
        raise ValueError(msg) from None


def unmasked(name: str, column: npt.ArrayLike) -> npt.NDArray[Any]:
    """Give a column as an array, or raise ValueError if some of it is masked.

    Examples
    --------
    >>> unmasked("y_true", np.ma.array([0, 1], mask=False))
    array([0, 1])
    """
    # Arrays of pandas have a mask, too, but not that of numpy.
    if isinstance(column, np.ma.MaskedArray) and np.ma.is_masked(column):
        masked: Any = column
        count = int(masked.mask.sum())
        msg = f"{count} of {np.size(column)} values of {name} are masked; leave them out."
        raise ValueError(msg)
    return np.asarray(column)


def check_one_order(**columns: object) -> None:
    """Raise ValueError if columns of pandas have one index in different orders.

    Rows are taken by their position, as scikit-learn does, so each outcome would meet the score of
    another row.
    """
    indexes: dict[str, Any] = {
        name: column.index  # type: ignore[attr-defined]
        for name, column in columns.items()
        if hasattr(getattr(column, "index", None), "equals")  # lists have a method of this name
    }
    for name, index in indexes.items():
        first = next(iter(indexes))
        other = indexes[first]
        if len(index) != len(other) or index.equals(other):
            continue
        if index.is_unique and other.is_unique and index.isin(other).all():
            msg = (
                f"{first} and {name} have one index in different orders, but rows are taken by "
                f"their position; give {name}.loc[{first}.index], or arrays if the positions are "
                "meant."
            )
            raise ValueError(msg)


def check_sums(rows: Floats, of: str, next_step: str) -> None:
    """Raise ValueError if the probabilities of a row do not sum to 1.

    Rows with NaN pass: they have a message of their own.

    Parameters
    ----------
    rows : ndarray of shape (n, c)
        Probabilities.
    of, next_step : str
        What the rows are, and what to do if one is off.

    Examples
    --------
    >>> check_sums(np.array([[0.2, 0.2]]), "vectors", "divide each by its sum.")
    Traceback (most recent call last):
    ValueError: 1 of 1 vectors do not sum to 1 within 0.0001, first 0.4 at row 0: divide each ...
    """
    sums = rows.sum(axis=1)
    off = np.flatnonzero(np.abs(sums - 1.0) > SUM_TOLERANCE)
    if off.size:
        msg = (
            f"{off.size:,} of {sums.size:,} {of} do not sum to 1 within {SUM_TOLERANCE:g}, first "
            f"{sums[off[0]]:.6g} at row {off[0]}: {next_step}"
        )
        raise ValueError(msg)


def _of_one_length(
    y_true: npt.ArrayLike, y_prob: npt.ArrayLike
) -> tuple[npt.NDArray[np.generic], Floats]:
    check_one_order(y_true=y_true, y_prob=y_prob)
    outcome_array, score_array = unmasked("y_true", y_true), numbers_of(y_prob)
    if score_array.ndim != 1 or score_array.shape != outcome_array.shape:
        msg = (
            f"y_true and y_prob must be two lists of one length, got shapes "
            f"{outcome_array.shape} and {score_array.shape}."
        )
        raise ValueError(msg)
    return outcome_array, score_array
