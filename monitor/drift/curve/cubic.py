"""Curves through a few points: their highest points, and one that rises or falls as they do. Pure.

They give the same bits as `CubicSpline` and `PchipInterpolator` of `scipy.interpolate`, whose
import takes longer than all else that the day of a small model does with SciPy.
"""

from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from monitor.metrics.core.special import dgtsv

Floats: TypeAlias = NDArray[np.float64]

MEETING = 1e-12  # of a length: zeros so near to the end of a piece belong to it


def highest_points(x: Floats, curves: Floats) -> list[tuple[float, float]]:
    """Find the highest point of the cubic spline through the points of each curve.

    Parameters
    ----------
    x : ndarray of shape (k,), k at least 4
        Where the points are; rising.
    curves : ndarray of shape (m, k)
        Their heights.

    Returns
    -------
    list of tuple of float
        Of each curve the height, and the place; of points of equal height the last.

    Notes
    -----
    The pieces are cubics with equal slopes and bends where they meet; the first two are one, and
    so are the last two ("not a knot": de Boor, "A Practical Guide to Splines", 1978, ch. IV). A
    curve is highest at an end, or where the slope of a piece, a quadratic, is 0.

    Examples
    --------
    >>> x = np.array([-2.0, -1.0, 0.0, 1.0, 3.0])
    >>> [(height, at)] = highest_points(x, np.array([x - x**2]))
    >>> round(height, 6), round(at, 6)
    (0.25, 0.5)
    """
    knots = _knots(x.tobytes())
    pieces = _pieces(knots, np.asarray(curves, np.float64).T)
    with np.errstate(all="ignore"):
        zeros = _zeros(3.0 * pieces[0], 2.0 * pieces[1], pieces[2])
        inside = (zeros >= knots.least) & (zeros <= knots.most)
    _, piece, curve = np.nonzero(inside)
    ends = len(curves)
    at = np.concatenate([zeros[inside] + x[piece], x[[0] * ends + [-1] * ends]])
    curve = np.concatenate([curve, [*range(ends)] * 2])
    # A place where two pieces meet belongs to the later one.
    piece = np.minimum(np.searchsorted(x, at, side="right"), x.size - 1) - 1
    c3, c2, c1, c0 = pieces[:, np.maximum(piece, 0), curve]
    s = at - x[np.maximum(piece, 0)]
    heights = c0 + c1 * s + c2 * (s * s) + c3 * (s * s * s)
    highest = [(-np.inf, 0.0)] * ends
    for of, height, place in zip(curve.tolist(), heights.tolist(), at.tolist(), strict=True):
        highest[of] = max(highest[of], (height, place))
    return highest


class _Knots(NamedTuple):
    """What the equations of a spline hold of the places of its points, and no heights."""

    lengths: Floats
    lower: Floats
    middle: Floats
    upper: Floats
    near: Floats  # factors of the lines at both ends, and of those next to them
    next: Floats
    over: Floats
    least: Floats
    most: Floats


@lru_cache(1)
def _knots(places: bytes) -> _Knots:
    x = np.frombuffer(places)
    lengths = np.diff(x)
    over, ends, inner = x[[2, -1]] - x[[0, -3]], lengths[[0, -1]], lengths[[1, -2]]
    return _Knots(
        lengths[:, None],
        lower=np.append(lengths[1:], over[1]),
        middle=np.concatenate([inner[:1], 2 * (lengths[:-1] + lengths[1:]), inner[1:]]),
        upper=np.append(over[0], lengths[:-1]),
        near=((ends + 2 * over) * inner)[:, None],
        next=(ends**2)[:, None],
        over=over[:, None],
        least=-MEETING * lengths[:, None],
        most=(1.0 + MEETING) * lengths[:, None],
    )


def _pieces(knots: _Knots, y: Floats) -> Floats:
    """Give the coefficients of the cubic of each piece, the highest power first; (4, k - 1, m)."""
    lengths = knots.lengths
    lines = (y[1:] - y[:-1]) / lengths
    right = np.empty_like(y)
    right[[0, -1]] = (knots.near * lines[[0, -1]] + knots.next * lines[[1, -2]]) / knots.over
    right[1:-1] = 3 * (lengths[1:] * lines[:-1] + lengths[:-1] * lines[1:])
    *_, slopes, _ = dgtsv(knots.lower, knots.middle, knots.upper, right)
    bend = (slopes[:-1] + slopes[1:] - 2 * lines) / lengths
    return np.stack([bend / lengths, (lines - slopes[:-1]) / lengths - bend, slopes[:-1], y[:-1]])


def _zeros(a: Floats, b: Floats, c: Floats) -> Floats:
    """Give both zeros of ``a z**2 + b z + c``, not finite where there are none; shape (2, ...).

    Of a sum and a difference the one is taken in which nothing cancels, and one step of Newton's
    method mends its last digits.
    """
    root = np.sqrt(b * b - 4 * a * c)
    away = np.where(b < 0, root - b, -b - root)
    z = np.stack([away / (2 * a), 2 * c / away])
    if not a.all():
        z = np.where(a != 0, z, -c / b)
    fall = b + 2 * a * z
    return np.asarray(np.where(fall != 0, z - (c + b * z + a * (z * z)) / fall, z))


def monotone_at(x: Floats, y: Floats, at: float) -> tuple[float, float]:
    """Evaluate the curve through points, and its slope, at a place between the first and last.

    Parameters
    ----------
    x, y : ndarray of shape (k,), k at least 3
        The points; `x` rises, and `y` rises or falls throughout.
    at : float
        The place, from ``x[0]`` to ``x[-1]``.

    Returns
    -------
    tuple of float
        The height of the curve, and its slope.

    Notes
    -----
    A cubic between each two points. Its slope at an inner point is a weighted harmonic mean of the
    slopes m of the lines before and after, ``(w1 + w2) / (w1 / m1 + w2 / m2)`` with
    ``w1 = 2 h2 + h1`` and ``w2 = h2 + 2 h1`` for their lengths h (Fritsch and Butland 1984); at the
    first and last it comes from three points (Moler, "Numerical Computing with MATLAB", 2004, 3.6).

    Examples
    --------
    >>> x, y = np.array([0.0, 1.0, 3.0]), np.array([0.0, 2.0, 3.0])
    >>> [round(value, 4) for value in monotone_at(x, y, 1.0)]
    [2.0, 0.8571]
    """
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)  # sums are stored with 32 bits
    lengths = np.diff(x)
    lines = np.diff(y) / lengths
    first, second = 2 * lengths[1:] + lengths[:-1], lengths[1:] + 2 * lengths[:-1]
    mean = (first / lines[:-1] + second / lines[1:]) / (first + second)
    slopes = np.empty_like(x)
    slopes[1:-1] = 1.0 / mean
    slopes[0] = _at_end(lengths[0], lengths[1], lines[0], lines[1])
    slopes[-1] = _at_end(lengths[-1], lengths[-2], lines[-1], lines[-2])
    i = min(int(np.searchsorted(x, at, side="right")), x.size - 1) - 1
    bend = (slopes[i] + slopes[i + 1] - 2 * lines[i]) / lengths[i]
    c3, c2 = bend / lengths[i], (lines[i] - slopes[i]) / lengths[i] - bend
    s = at - x[i]
    height = y[i] + slopes[i] * s + c2 * (s * s) + c3 * (s * s * s)
    return float(height), float(slopes[i] + c2 * s * 2.0 + c3 * (s * s) * 3.0)


def _at_end(length: float, next_length: float, line: float, next_line: float) -> float:
    """Give the slope at an end; flat if three points would turn the curve around."""
    slope = ((2 * length + next_length) * line - length * next_line) / (length + next_length)
    return slope if (slope > 0.0) == (line > 0.0) else 0.0
