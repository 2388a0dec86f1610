"""Evidence for a distortion of a calibration curve, whatever the prior: the heart of the verdict.

A prior shift moves all log-odds by one constant. Conditional on how many outcomes were positive
that constant drops out of the likelihood, so a ratio of conditional likelihoods compares the
*shapes* of two curves and nothing else.
"""

from collections.abc import Sequence
from math import log, log1p, sqrt

import numpy as np
import numpy.typing as npt

from monitor.metrics.core.buckets import CELLS_IN_BIN, BucketCounts
from monitor.metrics.core.coarse import Coarse, OccupiedCells, occupied
from monitor.metrics.core.compiled import ZERO, compiled, inner
from monitor.metrics.core.dispersion import bucket_sums, span_dispersions
from monitor.metrics.core.extremes import highest
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.logistic.intercept import solve_factor

MOST_STEPS = 100
STEEPEST, SLOPE_TOLERANCE = 10.0, 1e-8
MOST_EXACT = 60  # rows whose conditional distribution is computed exactly
MOST_CORRECTION = 0.25  # beyond, fewer than one outcome is uncertain and the series means nothing


def conditional_log_ratio(
    curve: npt.ArrayLike, counts: npt.ArrayLike, positives: npt.ArrayLike, distortion: npt.ArrayLike
) -> float:
    """Weigh a distorted curve against the curve itself, given the number of positive outcomes.

    For analysis, not used by the daily job.

    Parameters
    ----------
    curve : array-like of shape (m,)
        Log-odds of each group under the null, up to one constant; finite.
    counts, positives : array-like of shape (m,)
        Integers; predictions and positive outcomes of each group.
    distortion : array-like of shape (m,)
        What is added to the log-odds under the alternative; a constant is no distortion.

    Returns
    -------
    float
        Natural logarithm of the likelihood ratio; positive favours the distorted curve. 0 if
        all outcomes are equal, which say nothing about a shape.

    Notes
    -----
    The difference between ``eta + h`` and ``eta`` of the adjusted profile log-likelihood (Cox and
    Reid, JRSS B 49, 1987), ``l + log(I) / 2 - log(1 + k4 / (8 I**2) - 5 k3**2 / (24 I**3))``, with
    ``l`` the Bernoulli log-likelihood maximised over the intercept and ``I, k3, k4`` the second,
    third and fourth cumulant of the number of positive outcomes at the maximum. The last term
    is the saddlepoint approximation's own (Daniels, Annals of Mathematical Statistics 25, 1954):
    with it the ratio agrees with the exact conditional one, of elementary symmetric polynomials,
    to 1e-3 even with one positive outcome among 400.

    Examples
    --------
    >>> timid = conditional_log_ratio([-1, 1], [50, 50], [2, 48], [-1, 1])
    >>> timid > 0  # outcomes are more extreme than the curve
    True
    >>> abs(timid - conditional_log_ratio([2, 4], [50, 50], [2, 48], [-1, 1])) < 1e-8
    True
    """
    eta, h = np.asarray(curve, np.float64), np.asarray(distortion, np.float64)
    n, k = np.asarray(counts, np.int64), np.asarray(positives, np.int64)
    return float(adjusted_profile(eta + h, n, k) - adjusted_profile(eta, n, k))


def fit_slope(curve: Floats, strata: Sequence[Coarse]) -> tuple[float, float] | None:
    """Find the slope of the outcomes on a curve, each stratum with an intercept of its own.

    Parameters
    ----------
    curve : ndarray of shape (1024,)
        Log-odds by coarse cell.
    strata : sequence of Coarse
        Days and segments, whose priors may differ.

    Returns
    -------
    tuple of float or None
        The slope and its standard error for independent outcomes; None if no slope between
        -10 and 10 is the best, as when the outcomes are separated.

    Notes
    -----
    Maximises the Bernoulli likelihood by Newton's method inside a shrinking bracket. One
    intercept for all would take a prior that differs between days for a flatter slope.

    Examples
    --------
    >>> from scipy.special import expit
    >>> from monitor.metrics.core.coarse import CENTRES
    >>> n = np.where(abs(CENTRES) < 3, 1000, 0)
    >>> days = [Coarse(n, np.rint(n * expit(0.8 * CENTRES + d)).astype(int)) for d in (-1, 0, 2)]
    >>> round(fit_slope(CENTRES, days)[0], 3)
    0.8
    """
    return fit_slope_of_cells(curve, [occupied(part) for part in strata])


def fit_slope_of_cells(
    curve: Floats, strata: Sequence[OccupiedCells]
) -> tuple[float, float] | None:
    """Find the slope as `fit_slope` does, from the cells that have predictions.

    Examples
    --------
    >>> from scipy.special import expit
    >>> from monitor.metrics.core.coarse import CENTRES
    >>> some = np.arange(416, 609)  # log-odds from -3 to 3
    >>> hits = np.rint(1000 * expit(0.8 * CENTRES[some])).astype(int)
    >>> day = OccupiedCells(some, np.full(193, 1000), hits)
    >>> round(fit_slope_of_cells(CENTRES, [day])[0], 3)
    0.8
    """
    seen = [part for part in strata if part.cells.size]
    if not seen:
        return None
    x = curve[np.concatenate([part.cells for part in seen])]
    counts = np.concatenate([part.counts for part in seen])
    positives = np.concatenate([part.positives for part in seen])
    ends, straight = np.cumsum([part.cells.size for part in seen]), np.zeros(x.size)
    low, high, slope = -STEEPEST, STEEPEST, 1.0
    for _ in range(MOST_STEPS):
        scores, informations = _score_bends(straight, counts, positives, ends, x, np.array([slope]))
        score, information = float(scores[0]), float(informations[0])
        if not information > 0.0:
            return None
        low, high = (slope, high) if score > 0.0 else (low, slope)
        moved = slope + score / information
        if not low < moved < high:
            moved = 0.5 * (low + high)
        if abs(moved - slope) <= SLOPE_TOLERANCE:
            break
        slope = moved
    slope_and_error = moved, sqrt(1.0 / information)
    return slope_and_error if abs(moved) < STEEPEST - SLOPE_TOLERANCE * 2 else None


def slope_design_effect(
    curve: Floats, strata: Sequence[OccupiedCells], held: Sequence[BucketCounts], slope: float
) -> float:
    """Tell by how much the variance of a slope exceeds that of independent outcomes.

    Parameters
    ----------
    curve : ndarray of shape (1024,)
        Log-odds by coarse cell.
    strata : sequence of OccupiedCells
        As for `fit_slope_of_cells`.
    held : sequence of BucketCounts
        The same predictions by bucket of their entity; none where entities are unknown.
    slope : float
        The fitted slope.

    Returns
    -------
    float
        At least 1, and at most the number of predictions.

    Notes
    -----
    `span_dispersions` of ``(x - mean_w x)(y - p)``, each stratum with its intercept and mean.

    Examples
    --------
    >>> slope_design_effect(np.zeros(1024), [], [], 1.0)
    1.0
    """
    sums = [
        _slope_sums(slope, curve[part.cells], part, counts)
        for part, counts in zip(strata, held, strict=True)
        if counts.counts.size and 0 < part.positives.sum() < part.counts.sum()
    ]
    if not sums:
        return 1.0
    rows = float(sum(part.counts.sum() for part in strata))
    return float(np.clip(span_dispersions(*np.sum(sums, axis=0))[0], 1.0, rows))


def _slope_sums(slope: float, x: Floats, part: OccupiedCells, held: BucketCounts) -> Floats:
    odds = np.exp(slope * x - (slope * x).max())
    factor, information = solve_factor(odds, part.counts, int(part.positives.sum()))
    p = factor * odds / (1.0 + factor * odds)
    along = x - float((part.counts * p * (1.0 - p) * x).sum()) / information
    bins = part.cells // CELLS_IN_BIN
    return bucket_sums(bins, part.counts, held, along * (1.0 - p), -along * p)


@compiled
def adjusted_profile(eta: Floats, counts: Ints, positives: Ints) -> float:
    """Return the adjusted profile log-likelihood of a curve; 0 if all outcomes are equal.

    With at most 60 rows it is the exact conditional one, but for a constant of the outcomes.
    """
    odds = _scaled_odds(eta)
    hits, total = positives.sum(), counts.sum()
    if hits in (0, total):
        return 0.0
    factor, information = solve_factor(odds, counts, hits)
    if total <= MOST_EXACT:
        scaled = factor * odds
        return float((positives * np.log(scaled)).sum()) - log_sets(scaled, counts, hits)
    return profile_at(odds, counts, positives, factor, information)


@inner
def profile_at(
    odds: Floats, counts: Ints, positives: Ints, factor: float, information: float
) -> float:
    """Return what `adjusted_profile` does of odds whose factor is known, with many rows."""
    hits = positives.sum()
    fit: float = hits * log(factor) + 0.5 * log(information)
    third = fourth = 0.0
    for i in range(odds.size):
        p = factor * odds[i] / (1.0 + factor * odds[i])
        weight = counts[i] * p * (1.0 - p)
        third += weight * (1.0 - 2.0 * p)
        fourth += weight * (1.0 - 6.0 * p * (1.0 - p))
        if positives[i]:
            fit += positives[i] * log(odds[i]) - counts[i] * log1p(factor * odds[i])
        else:
            fit -= counts[i] * log1p(factor * odds[i])
    correction = fourth / information**2 / 8.0 - 5.0 * third**2 / information**3 / 24.0
    return fit - log1p(min(max(correction, -MOST_CORRECTION), MOST_CORRECTION))


def score_directions(
    eta: Floats, counts: Ints, positives: Ints, directions: Floats
) -> tuple[Floats, Floats]:
    """Return score and efficient information of each direction at the curve; shape (j,) each.

    ``U = sum D (k - n p)`` and ``I = sum w (D - mean_w D)**2``, ``w = n p (1 - p)``, at the fitted
    intercept: the first step towards the best size of a distortion is ``U / I``. With at most 60
    rows they are the exact ones given the number of positive outcomes; see `exact_moments`.

    Examples
    --------
    >>> eta, n, k = np.array([-1.0, 0.0, 1.0]), np.full(3, 100), np.array([10, 50, 90])
    >>> score, information = score_directions(eta, n, k, eta[np.newaxis])
    >>> (score / information).round(2)  # outcomes are more extreme than the curve
    array([0.86])
    """
    scores, cross = project_directions(eta, counts, positives, directions, directions[:0])
    return scores, cross[:, 0]


@compiled
def project_directions(
    eta: Floats, counts: Ints, positives: Ints, directions: Floats, basis: Floats
) -> tuple[Floats, Floats]:
    """Return the score of each direction, shape (j,), and its information with other functions.

    The second has shape (j, 1 + b): the information of the direction itself as in
    `score_directions`, then ``sum w (D - mean_w D) B`` for every row B of the basis.
    """
    scores = np.zeros(directions.shape[0])
    cross = np.zeros((directions.shape[0], 1 + basis.shape[0]))
    hits, total = positives.sum(), counts.sum()
    if hits in (0, total):
        return scores, cross
    odds = _scaled_odds(eta)
    factor, information = solve_factor(odds, counts, hits)
    weights, rest, centred = np.empty(eta.size), np.empty(eta.size), np.empty(eta.size)
    seen = _find_seen(counts)  # a cell without predictions adds 0
    for i in range(eta.size):
        odds[i] *= factor
    for i in seen:
        p = odds[i] / (1.0 + odds[i])
        weights[i] = counts[i] * p * (1.0 - p)
        rest[i] = positives[i] - counts[i] * p
    for j in range(directions.shape[0]):
        along, middle, score, known, hit = directions[j], 0.0, 0.0, 0.0, 0.0
        for i in seen:
            middle += weights[i] * along[i]
        middle /= information
        for i in seen:
            centred[i] = weights[i] * (along[i] - middle)
            score += along[i] * rest[i]
            hit += along[i] * positives[i]
            known += centred[i] * along[i]
        known, scale = max(0.0, known), 1.0
        if total <= MOST_EXACT:
            mean, variance = exact_moments(odds, counts, hits, along)
            score = hit - mean
            scale = variance / known if known > 0.0 else 0.0
        scores[j], cross[j, 0] = score, scale * known
        for b in range(basis.shape[0]):
            both = 0.0
            for i in seen:
                both += centred[i] * basis[b, i]
            cross[j, 1 + b] = scale * both
    return scores, cross


@inner
def _find_seen(counts: Ints) -> Ints:
    """List the cells that have predictions."""
    seen, number = np.empty(counts.size, np.int64), 0
    for cell in range(counts.size):
        if counts[cell]:
            seen[number] = cell
            number += 1
    return seen[:number]


@inner
def _scaled_odds(eta: Floats) -> Floats:
    """Give odds that are 1 at most, so that nothing overflows."""
    odds, most = np.empty(eta.size), highest(eta)
    for i in range(eta.size):
        odds[i] = np.exp(eta[i] - most)
    return odds


@inner
def exact_moments(odds: Floats, counts: Ints, hits: int, values: Floats) -> tuple[float, float]:
    """Return mean and variance of a sum of values over the positive outcomes, given their number.

    Of the rows, `hits` are positive, each set of them with a probability that is proportional to
    the product of their odds. With few rows this is far from independent outcomes at the fitted
    intercept: of two outcomes, one positive, the latter know half of what they should.

    The odds are those at the fitted intercept. Then the mass of a number of positive rows is its
    probability for independent outcomes, which no product of odds overflows. A row changes only the
    numbers that the rows before it can have reached and from which those after it still can make
    `hits`.
    """
    middle = values.mean()
    mass, first, second = np.zeros(hits + 1), np.zeros(hits + 1), np.zeros(hits + 1)
    mass[0] = 1.0
    left = rows = counts.sum()
    for i in range(odds.size):
        value, q = values[i] - middle, 1.0 / (1.0 + odds[i])
        p = odds[i] * q
        for _ in range(counts[i]):
            left -= 1
            for k in range(min(hits, rows - left), max(0, hits - left - 1), -1):
                second[k] = q * second[k] + p * (
                    second[k - 1] + value * (2.0 * first[k - 1] + value * mass[k - 1])
                )
                first[k] = q * first[k] + p * (first[k - 1] + value * mass[k - 1])
                mass[k] = q * mass[k] + p * mass[k - 1]
            mass[0] *= q
    mean = first[hits] / mass[hits]
    return hits * middle + mean, max(0.0, second[hits] / mass[hits] - mean**2)


@inner
def exact_means(odds: Floats, counts: Ints, hits: int, values: Floats, means: Floats) -> None:
    """Fill in the means that `exact_moments` returns of several sums of values; (j, n) and (j,)."""
    mass, first = np.zeros(hits + 1), np.zeros((means.size, hits + 1))
    mass[0], middles, value = 1.0, np.empty(means.size), np.empty(means.size)
    for j in range(means.size):
        middles[j] = values[j].mean()
    left = rows = counts.sum()
    for i in range(odds.size):
        q = 1.0 / (1.0 + odds[i])
        p = odds[i] * q
        for j in range(means.size):
            value[j] = values[j, i] - middles[j]
        for _ in range(counts[i]):
            left -= 1
            for k in range(min(hits, rows - left), max(0, hits - left - 1), -1):
                for j in range(means.size):
                    first[j, k] = q * first[j, k] + p * (first[j, k - 1] + value[j] * mass[k - 1])
                mass[k] = q * mass[k] + p * mass[k - 1]
            mass[0] *= q
    for j in range(means.size):
        means[j] = hits * middles[j] + first[j, hits] / mass[hits]


@inner
def log_sets(odds: Floats, counts: Ints, hits: int) -> float:
    """Return the logarithm of the sum over all sets of `hits` rows of the product of their odds.

    The odds are those at the fitted intercept, as for `exact_moments`.
    """
    mass = np.zeros(hits + 1)
    mass[0] = 1.0
    left = rows = counts.sum()
    for i in range(odds.size):
        q = 1.0 / (1.0 + odds[i])
        p = odds[i] * q
        for _ in range(counts[i]):
            left -= 1
            for k in range(min(hits, rows - left), max(0, hits - left - 1), -1):
                mass[k] = q * mass[k] + p * mass[k - 1]
            mass[0] *= q
    return log(mass[hits]) + float((counts * np.log1p(odds)).sum())


def score_slopes(
    eta: Floats, counts: Ints, positives: Ints, directions: Floats, slopes: Floats
) -> Floats:
    """Return the score along the first direction where the curve has several slopes; (s,).

    Examples
    --------
    >>> eta, n, k = np.array([-1.0, 0.0, 1.0]), np.full(3, 100), np.array([10, 50, 90])
    >>> score_slopes(eta, n, k, eta[np.newaxis], np.array([1.0, 2.0, 3.0])).round(1)
    array([ 33.8,   3.8, -10.5])
    """
    end = np.array([eta.size])
    return _score_bends(eta, counts, positives, end, directions[0], slopes - 1.0)[0]


@compiled
def _score_bends(
    eta: Floats, counts: Ints, positives: Ints, ends: Ints, direction: Floats, sizes: Floats
) -> tuple[Floats, Floats]:
    """Return score and information along a direction where sizes bend the curve; (s,) each.

    Both are added up over strata, given where each ends.
    """
    scores, informations, bent = np.zeros(sizes.size), np.zeros(sizes.size), np.empty(eta.size)
    for i in range(sizes.size):
        for cell in range(eta.size):
            bent[cell] = eta[cell] + sizes[i] * direction[cell]
        first = ZERO
        for end in ends:
            along = direction[first:end].reshape(1, -1)
            score, cross = project_directions(
                bent[first:end], counts[first:end], positives[first:end], along, along[:0]
            )
            scores[i] += score[0]
            informations[i] += cross[0, 0]
            first = end
    return scores, informations


def weigh_directions(
    eta: Floats,
    counts: Ints,
    positives: Ints,
    directions: Floats,
    tolerances: Floats,
    effects: Floats,
) -> Floats:
    """Return log E(effect) - log E(tolerance) down and up each direction; shape (j, 2).

    Examples
    --------
    >>> eta, n, k = np.array([-1.0, 0.0, 1.0]), np.full(3, 100), np.array([10, 50, 90])
    >>> effect, tolerance = np.array([0.3]), np.array([0.05])
    >>> weigh_directions(eta, n, k, eta[np.newaxis], tolerance, effect).round(1)
    array([[-10.2,   6.8]])
    """
    sizes = np.column_stack([-effects, effects, -tolerances, tolerances])
    profiles = _profiles(eta, counts, positives, directions, sizes)
    return profiles[:, :2] - profiles[:, 2:]


def profile_directions(
    eta: Floats, counts: Ints, positives: Ints, directions: Floats, sizes: Floats
) -> Floats:
    """Return log E of several sizes along each direction; shape (j, s).

    Examples
    --------
    >>> eta, n, k = np.array([-1.0, 0.0, 1.0]), np.full(3, 100), np.array([10, 50, 90])
    >>> profile_directions(eta, n, k, eta[np.newaxis], np.array([-0.5, 0.0, 0.5, 1.0])).round(1)
    array([[-22.1,   0. ,  12.3,  17.1]])
    """
    alike = np.tile(sizes, (directions.shape[0], 1))
    profiles = _profiles(eta, counts, positives, directions, alike)
    return profiles - adjusted_profile(eta, counts, positives)


def _profiles(
    eta: Floats, counts: Ints, positives: Ints, directions: Floats, sizes: Floats
) -> Floats:
    """Return `adjusted_profile` of the curve bent by sizes along each direction; shape (j, s)."""
    bent = eta + sizes[:, :, np.newaxis] * directions[:, np.newaxis]
    profiles = [adjusted_profile(one, counts, positives) for of in bent for one in of]
    return np.reshape(profiles, sizes.shape)
