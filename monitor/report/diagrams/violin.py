"""The distribution of a bin's scores as shapes to draw, apart where its outcomes reject them."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.special import expit, logit
from monitor.report.diagrams.scales import Ends, Scale

SLICES = 24  # at most
LEAST_SCORES, LEAST_HIGH = 4, 0.006  # distinct scores in a slice; its height on the axis
THINNEST = 0.008  # of the axis: what would be a hairline is drawn as a bar of this height


class Shape(NamedTuple):
    """An outline of shape (p, 2), and whether its scores are accepted."""

    outline: Floats
    accepted: bool


def violin(
    x: float,
    scores: Floats,
    counts: Ints,
    accepted: Floats,
    *,
    width: float,
    ends: Ends,
    scale: Scale,
) -> list[Shape]:
    """Draw a histogram of scores around a vertical line.

    Parameters
    ----------
    x : float
        Place of the line.
    scores, counts : ndarray of shape (m,)
        Distinct scores and their numbers, in order.
    accepted : ndarray of shape (i, 2)
        Intervals of the scores that are accepted.
    width : float
        Distance of the widest slice from the line.
    ends : tuple of float
        Ends of the vertical axis.
    scale : {"probability", "logit"}
        Its scale: slices look equally high on it.

    Returns
    -------
    list of Shape
        From the bottom up; neighbours differ in whether they are accepted.

    Examples
    --------
    >>> scores, counts, accepted = np.array([0.2, 0.6]), np.array([3, 1]), np.array([[0.1, 0.4]])
    >>> shapes = violin(
    ...     1.0, scores, counts, accepted, width=0.5, ends=(0.0, 1.0), scale="probability"
    ... )
    >>> [shape.accepted for shape in shapes]
    [True, False]
    """
    bottom, top, first, last = (to_axis(np.array(v), scale) for v in (*ends, scores[0], scores[-1]))
    if last - first < THINNEST * (top - bottom):
        middle, half = (first + last) / 2, THINNEST * (top - bottom) / 2
        taken = counts[_are_in(scores, accepted)].sum()
        box = _outline(x, np.array([middle - half, middle + half]), np.array([width]), scale)
        return [Shape(box, bool(2 * taken > counts.sum()))]
    high_enough = int((last - first) / (LEAST_HIGH * (top - bottom)))
    number = max(1, min(SLICES, scores.size // LEAST_SCORES, high_enough))
    edges = np.linspace(first, last, number + 1)
    heights, _ = np.histogram(to_axis(scores, scale), edges, weights=counts)
    cuts = to_axis(np.clip(accepted.ravel(), scores[0], scores[-1]), scale)
    finer = np.unique(np.concatenate([edges, cuts]))
    middles = (finer[1:] + finer[:-1]) / 2
    widths = width * heights[np.clip(np.searchsorted(edges, middles) - 1, 0, number - 1)]
    widths /= heights.max()
    kept = _are_in(from_axis(middles, scale), accepted)
    return [
        Shape(_outline(x, finer[i : j + 1], widths[i:j], scale), bool(kept[i]))
        for i, j in _runs(kept)
    ]


def to_axis(p: Floats, scale: Scale) -> Floats:
    """Measure probabilities along an axis."""
    return np.asarray(logit(p) if scale == "logit" else p)


def from_axis(positions: Floats, scale: Scale) -> Floats:
    """Undo `to_axis`."""
    return np.asarray(expit(positions) if scale == "logit" else positions)


def _are_in(scores: Floats, intervals: Floats) -> npt.NDArray[np.bool_]:
    low, high = intervals[:, :1], intervals[:, 1:]
    return np.asarray(((scores >= low) & (scores <= high)).any(axis=0))


def _runs(kept: npt.NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    borders = [0, *(np.flatnonzero(np.diff(kept)) + 1), kept.size]
    return pairwise(borders)


def _outline(x: float, edges: Floats, widths: Floats, scale: Scale) -> Floats:
    """Go up the right side of a stack of boxes, and down its left side."""
    y = from_axis(np.repeat(edges, 2)[1:-1], scale)
    side = np.repeat(widths, 2)
    return np.column_stack(
        [np.concatenate([x + side, (x - side)[::-1]]), np.concatenate([y, y[::-1]])]
    )
