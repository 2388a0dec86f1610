"""Raw samples: a score and an outcome for each prediction, and which are rejected.

Rule 1: what a sample may be is said in `checked` alone. A compiled pass may test the same
conditions itself, so that rows are read only once. When one fails, it calls `refuse`, which
raises the error of `checked`.
"""

from typing import NoReturn

import numpy as np
import numpy.typing as npt

from monitor.metrics.core.grid import Floats, Ints

Bools = npt.NDArray[np.bool_]
Outcomes = Ints | npt.NDArray[np.uint8]
Rows = tuple[npt.ArrayLike, npt.ArrayLike]  # scores and outcomes, in the same order


def checked(scores: npt.ArrayLike, outcomes: npt.ArrayLike) -> tuple[Floats, Bools]:
    """Give scores as numbers and outcomes as truths, or say what is wrong with them.

    Parameters
    ----------
    scores : array-like of shape (n,)
        Predicted probabilities in [0, 1].
    outcomes : array-like of shape (n,)
        What happened, 0 or 1 (booleans too).

    Returns
    -------
    scores : ndarray of shape (n,)
        The same array if it holds float64 already.
    positive : ndarray of shape (n,)
        Whether the outcome was 1.

    Raises
    ------
    ValueError
        If a score is not a number in [0, 1], an outcome is not 0 or 1, or the two differ
        in shape. The message counts the offenders and shows the first.

    Examples
    --------
    >>> checked([0.2, 0.9], [0, 1])
    (array([0.2, 0.9]), array([False,  True]))
    """
    score_array, outcome_array = _of_one_length(scores, outcomes)
    outside = ~((score_array >= 0.0) & (score_array <= 1.0))  # written so that nan is outside
    if outside.any():
        row = int(np.flatnonzero(outside)[0])
        msg = (
            f"{int(outside.sum())} of {score_array.size} scores are not numbers in [0, 1], "
            f"first {score_array[row]} at row {row}."
        )
        raise ValueError(msg)
    positive = np.asarray(outcome_array == 1)
    other = ~(positive | (outcome_array == 0))
    if other.any():
        row = int(np.flatnonzero(other)[0])
        msg = (
            f"{int(other.sum())} of {outcome_array.size} outcomes are neither 0 nor 1, "
            f"first {outcome_array[row]!r} at row {row}."
        )
        raise ValueError(msg)
    return score_array, positive


def unchecked(scores: npt.ArrayLike, outcomes: npt.ArrayLike) -> tuple[Floats, Outcomes]:
    """Give two contiguous arrays of one length to a pass that tests their values itself.

    Parameters
    ----------
    scores, outcomes : array-like of shape (n,)
        As `checked` takes them, but of any value.

    Returns
    -------
    scores : ndarray of shape (n,)
        Any float64.
    outcomes : ndarray of shape (n,)
        Any int64, or 0 and 1 as uint8. There are no other types, so that a pass is compiled
        twice at most.

    Raises
    ------
    ValueError
        If the two differ in shape; or as `checked`, if outcomes are of another type and wrong.

    Examples
    --------
    >>> unchecked([0.2, 7.0], [True, False])
    (array([0.2, 7. ]), array([1, 0], dtype=uint8))
    """
    score_array, outcome_array = _of_one_length(scores, outcomes)
    if outcome_array.dtype == np.int64:
        return np.ascontiguousarray(score_array), np.ascontiguousarray(outcome_array)
    if outcome_array.dtype != np.bool_:
        outcome_array = checked(score_array, outcome_array)[1]
    positive = np.ascontiguousarray(outcome_array).view(np.uint8)
    return np.ascontiguousarray(score_array), positive


def refuse(scores: npt.ArrayLike, outcomes: npt.ArrayLike) -> NoReturn:
    """Raise the error of `checked` for samples that a compiled pass rejected."""
    checked(scores, outcomes)
    msg = "a compiled pass rejected samples that `checked` accepts."
    raise AssertionError(msg)


def _of_one_length(
    scores: npt.ArrayLike, outcomes: npt.ArrayLike
) -> tuple[Floats, npt.NDArray[np.generic]]:
    score_array = np.asarray(scores, dtype=np.float64)
    outcome_array = np.asarray(outcomes)
    if score_array.ndim != 1 or score_array.shape != outcome_array.shape:
        msg = (
            f"scores and outcomes must be two lists of one length, got shapes "
            f"{score_array.shape} and {outcome_array.shape}."
        )
        raise ValueError(msg)
    return score_array, outcome_array
