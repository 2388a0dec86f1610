"""Smooth ECE: the calibration error after smoothing along the scores, just enough of it.

Too narrow a kernel sees noise, too wide a one sees nothing; the measure is the one value
at which the kernel's width and the error that it finds are equal. No bins to choose.
"""

from math import ceil, exp, inf, log, sqrt

import numpy as np

from monitor.metrics.core.compiled import compiled, inner
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.reading import takes_rows
from monitor.metrics.core.tally import Tally

NARROWEST = 2.0**-17
NODES_PER_WIDTH = 10
REACH = 7.0  # of the kernel, in widths: 3e-12 of its mass lies beyond
MOMENTS = 8  # of the residuals next to a node: what is left out is below 1e-11
FIRST_WIDTH = 2.0**-6
TYPICAL_SLOPE = -1.3  # of log(error/width) in log(width): -1 for pure bias, -1.5 for noise
TOLERANCE = 1e-9  # relative, of the fixed point; below the error of the mesh
MOST_STEPS = 100


@takes_rows
def smooth_ece(t: Tally) -> float:
    """Find the smooth ECE: the kernel width that equals the error found with it.

    For analysis, not used by the daily job.

    Parameters
    ----------
    t : Tally or rows
        At least one prediction.

    Returns
    -------
    float
        Ratio in [0, 1], to about 1e-6 relative. A fixed point below 2**-17 is not resolved:
        then the error at that width is given, which is at most so much too small.

    Raises
    ------
    ValueError
        If the tally is empty.

    Notes
    -----
    The width w with ``smooth_ece_at(w) = w`` (Blasiok and Nakkiran, *Smooth ECE*, ICLR
    2024). Smoothing more never increases the error, so there is just one, and an error
    found at any width bounds it from the other side: it lies between the two. That bracket
    shrinks by secant steps in logarithms, and by geometric bisection where those fail.

    The authors' program (relplot) halves its way to the next multiple of 2**-10 and gives
    the error at that width, from a mesh that counts scores of 0 and 1 by half and divides
    by the smoothed density; it differs from the definition by up to 3 %.

    Interval: `bootstrap_interval` by inversion, for the smooth ECE of endless rows, which is 0 if
    calibrated. At 95 % it holds the truth 94 % of the time, over all prevalences and volumes
    together (docs/coverage.md).

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> round(smooth_ece(tally([1] * 5 + [0] * 5, [0.2] * 10)), 6)
    0.3
    """
    residuals = _residuals(t)
    if not residuals.any():
        return 0.0
    low, high, width, error = NARROWEST, 1.0, FIRST_WIDTH, 0.0
    slope, last = TYPICAL_SLOPE, (inf, inf)
    for _ in range(MOST_STEPS):
        error = _error(t.scores, residuals, width)
        low, high = max(low, min(width, error)), min(high, max(width, error))
        if high <= low * (1.0 + TOLERANCE):
            break
        guess = sqrt(low * high)
        if error > 0.0:
            here = (log(width), log(error / width))
            if last[0] < inf:
                slope = min((here[1] - last[1]) / (here[0] - last[0]), -1.0)
            secant = min(max(exp(here[0] - here[1] / slope), low), high)
            guess, last = (guess if secant == width else secant), here
        width = guess
    return error


@takes_rows
def smooth_ece_at(t: Tally, *, bandwidth: float) -> float:
    """Average the absolute residual, smoothed along the scores by a kernel of given width.

    For analysis, not used by the daily job.

    Parameters
    ----------
    t : Tally or rows
        At least one prediction.
    bandwidth : float
        Standard deviation of the Gaussian kernel in units of probability, in [2**-17, 1].

    Returns
    -------
    float
        Ratio in [0, 1], never increasing with the bandwidth.

    Raises
    ------
    ValueError
        If the tally is empty or the bandwidth outside its range.

    Notes
    -----
    ``integral_0^1 |1/N sum_j (k_j - n_j s_j) K(u, s_j)| du``, where K is the Gaussian kernel
    reflected at 0 and 1 so that no mass leaves [0, 1] (Blasiok and Nakkiran, ICLR 2024,
    section 3).

    The smoothed residual is summed exactly, but for the kernel beyond seven widths, at nodes
    0, h, ..., 1 with at least ten to a width. The trapezoidal rule of a function that smooth
    is exact to rounding; what errs is the kink of the absolute value at each change of sign,
    and that is corrected up to the order ``h**4``. The rest is below 1e-6 relative.

    Interval: as for `smooth_ece`, with the bandwidth fixed; only at the bandwidth of `smooth_ece`
    was its coverage measured.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> t = tally([1, 0], [0.4, 0.6])  # two opposite errors cancel more the wider the kernel
    >>> round(smooth_ece_at(t, bandwidth=0.01), 6), round(smooth_ece_at(t, bandwidth=0.1), 6)
    (0.6, 0.409614)
    """
    if not NARROWEST <= bandwidth <= 1.0:
        msg = f"the bandwidth must lie in [{NARROWEST:.3g}, 1], got {bandwidth}."
        raise ValueError(msg)
    return _error(t.scores, _residuals(t), bandwidth)


def _residuals(t: Tally) -> Floats:
    if not t.total:
        msg = "the smooth ECE of an empty tally is undefined: give at least one prediction."
        raise ValueError(msg)
    return (t.positives - t.counts * t.scores) / t.total


def _error(scores: Floats, residuals: Floats, width: float) -> float:
    size = ceil(NODES_PER_WIDTH / width)
    # Many groups to a node: gather them there first, as moments.
    smooth = _smoothed_at_nodes if scores.size > MOMENTS * size else _smoothed
    values = smooth(scores, residuals, width * size, size)
    return _integral_of_absolute(values)


@compiled
def _smoothed(scores: Floats, residuals: Floats, width: float, size: int) -> Floats:
    """Smooth the residuals by a kernel of `width` steps; values per step at size + 1 nodes."""
    reach = ceil(REACH * width)
    line = np.zeros(size + 2 * reach + 2)  # from `reach` nodes left of 0 to as many beyond 1
    height, curve = 1.0 / (width * sqrt(2.0 * np.pi)), exp(-1.0 / width**2)
    for i in range(scores.size):
        place = scores[i] * size
        first = int(place) - reach
        offset = first - place
        value = residuals[i] * height * exp(-0.5 * (offset / width) ** 2)
        # Ratios of neighbouring values of a Gaussian are themselves in constant ratio.
        ratio = exp(-(offset + 0.5) / width**2)
        for node in range(first + reach, first + 3 * reach + 2):
            line[node] += value
            value *= ratio
            ratio *= curve
    return _reflected(line, reach, size)


@compiled
def _smoothed_at_nodes(scores: Floats, residuals: Floats, width: float, size: int) -> Floats:
    """Do the same by the kernel's Taylor series about the node nearest to each group.

    A group is at most 1/20 of a width from it, so eight terms are enough: moments
    ``sum r d**p / p!`` of each node, times derivatives ``(-1)**p He_p(x) exp(-x**2/2)`` of the
    kernel, He_p being Hermite's polynomials.
    """
    moments = np.zeros((size + 1, MOMENTS))
    for i in range(scores.size):
        place = scores[i] * size
        node = int(place + 0.5)
        term = residuals[i]
        for p in range(MOMENTS):
            moments[node, p] += term
            term *= (node - place) / width / (p + 1)
    reach = ceil(REACH * width)
    kernel = np.empty((2 * reach + 1, MOMENTS))
    for step in range(-reach, reach + 1):
        x = step / width
        value = exp(-0.5 * x * x) / (width * sqrt(2.0 * np.pi))
        this, following = 1.0, x
        for p in range(MOMENTS):
            kernel[step + reach, p] = value * this
            this, following = following, x * following - (p + 1) * this
            value = -value
    line = np.zeros(size + 2 * reach + 2)
    for node in range(size + 1):
        if moments[node].any():
            for step in range(2 * reach + 1):
                for p in range(MOMENTS):
                    line[node + step] += moments[node, p] * kernel[step, p]
    return _reflected(line, reach, size)


@inner
def _reflected(line: Floats, reach: int, size: int) -> Floats:
    """Fold what lies beyond 0 and 1 back onto the nodes between."""
    values = np.zeros(size + 1)
    for i in range(line.size):
        node = abs(i - reach) % (2 * size)
        values[min(node, 2 * size - node)] += line[i]
    values[0] *= 2.0  # the ends are their own mirror images
    values[size] *= 2.0
    return values


@compiled
def _integral_of_absolute(values: Floats) -> float:
    """Sum |f| over steps of 1 by the trapezoidal rule, corrected where f changes sign."""
    last = values.size - 1
    total: float = 0.5 * (abs(values[0]) + abs(values[last]))
    for i in range(1, last):
        total += abs(values[i])
    for i in range(last):
        if (values[i] < 0.0) != (values[i + 1] < 0.0):
            beyond = values[last - abs(last - i - 2)]  # f is mirrored at its ends
            total += _kink(values[abs(i - 1)], values[i], values[i + 1], beyond)
    return total


@inner
def _kink(before: float, left: float, right: float, beyond: float) -> float:
    """Give what the trapezoidal rule of |f| lacks for a change of sign between two nodes.

    Euler-Maclaurin summation on both sides of the zero z, with f the cubic through the four
    nodes: ``f'(z) B2(z) - f''(z) B3(z)/3 + f'''(z) B4(z)/12`` times the sign of the rise, B
    the Bernoulli polynomials.
    """
    sign = 1.0 if right > left else -1.0
    third = (beyond - 3.0 * right + 3.0 * left - before) / 6.0
    second = 0.5 * (before + right) - left
    first = right - left - second - third
    z = left / (left - right)
    for _ in range(3):
        slope = first + z * (2.0 * second + z * 3.0 * third)
        if sign * slope > 0.0:
            z -= (left + z * (first + z * (second + z * third))) / slope
            z = min(max(z, 0.0), 1.0)
    slope = first + z * (2.0 * second + z * 3.0 * third)
    bernoulli_2 = z * z - z + 1.0 / 6.0
    bernoulli_3 = z * (z - 0.5) * (z - 1.0)
    bernoulli_4 = (z * (z - 1.0)) ** 2 - 1.0 / 30.0
    bend = (2.0 * second + 6.0 * third * z) / 3.0
    return sign * (slope * bernoulli_2 - bend * bernoulli_3 + 0.5 * third * bernoulli_4)
