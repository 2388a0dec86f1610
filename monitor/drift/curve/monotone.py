"""The curve through a few points that rises or falls as they do. Pure.

It gives the same bits as `scipy.interpolate.PchipInterpolator`, without the import of
`scipy.interpolate`, which takes longer than all else that the day of a small model does with SciPy.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]


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
