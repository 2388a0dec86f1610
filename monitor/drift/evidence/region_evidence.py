"""What one day says of a break in one place of the scores, whatever its priors. Pure.

Rule: which cells are compared is chosen by the scores of the day and the number of its positive
outcomes alone, so every ratio stays a fair bet. Parts are summed, never pooled: each has a prior of
its own.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from monitor.drift.curve.regions import SIGNS, Regions
from monitor.drift.curve.variance import WEEK
from monitor.drift.evidence.directions import FULL_GAIN, LONG_RUN
from monitor.drift.records.day_evidence import WrongLabels
from monitor.drift.records.region_state import RegionDay
from monitor.metrics.core.coarse import CENTRES, Coarse
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.logistic.conditional import adjusted_profile
from monitor.metrics.logistic.label_noise import noisy_curve
from monitor.metrics.logistic.regions import tilt_regions

TOLERATED, STANDARD_ERRORS = 0.15, 2.0  # logit of a region, at least; and of the reference's tilt
SOUGHT, TIMES_TOLERATED = np.array([0.4, 1.0]), 3.0  # logit, at least, and times the tolerance
LARGEST_TOLERANCE = 1.0  # logit: the reference knows too little of such a region
AT_EDGE = np.array([0.3, 1.0, 2.0])  # logit: tolerated, and sought, beyond the known scores
AT_VALUE = np.array([0.2, 0.6, 1.2])  # the same of one value, if a region tolerates no more
OUTWARDS = np.array(SIGNS)
LEAST_ROWS, LEAST_SHARE = 5, 0.003  # of a value that is looked at
TIMES_USUAL, FEW_ROWS = 3.0, 5.0  # its share, compared with the reference and with its neighbours
STANDARD_DEVIATIONS = 4.0  # above what is expected
NEIGHBOURS = 8  # cells on either side: a quarter of a logit
LARGEST = 30.0  # logit


class _Rows(NamedTuple):
    """The predictions of a part, by group of cells, from low scores to high ones."""

    curve: Floats
    counts: Ints
    positives: Ints


class _Weighed(NamedTuple):
    """What parts say, summed up: of each tilt its information, and the likelihood of three sizes.

    The first size is the tolerated one.
    """

    informations: Floats
    profiles: Floats
    sizes: Floats


def region_evidence(
    regions: Regions,
    parts: Mapping[Any, Coarse],
    day_variances: Floats | None = None,
    *,
    wrong: WrongLabels | None = None,
    hanging: float = 1.0,
) -> RegionDay:
    """Weigh the outcomes of one day in every region, beyond the known scores, and at one value.

    Parameters
    ----------
    regions : Regions
        Of the reference.
    parts : mapping to Coarse
        The day's outcomes by segment and stratum.
    day_variances : ndarray of shape (r,), optional
        Between-day variances, if more is known of them than the reference knows.
    wrong : WrongLabels, optional
        The outcomes that are recorded as their opposite.
    hanging : float
        By how much the variance of sums over days grows because their rows hang together.

    Returns
    -------
    RegionDay
        Hypotheses in this order: of each region two sizes down and two up; two sizes beyond each of
        `monitor.drift.curve.regions.ZONES`; two sizes up and two down at one value.

    Notes
    -----
    The ratio of a sought tilt to the tolerated one, each as `monitor.metrics.logistic.regions` has
    it, over ``1 + v I`` with the between-day variance v of the region and the information I of the
    day. Beyond the known scores and at one value it is over the mean of the regions.

    Examples
    --------
    A fifth of the rows gets the score 0, and half of them come true.

    >>> from scipy.special import expit
    >>> from monitor.drift.curve.reference import fit_reference
    >>> n = np.where(abs(CENTRES) < 3, 50, 0)
    >>> k = np.rint(n * expit(CENTRES)).astype(np.int64)
    >>> regions = fit_reference([{"all": Coarse(n, k)}] * 28, regions=True).regions
    >>> bool(region_evidence(regions, {"all": Coarse(n, k)}).gains.max() <= 0.0)
    True
    >>> n[0], k[0] = 2_000, 1_000
    >>> new_values(regions, {"all": Coarse(n, k)})
    array([0])
    >>> bool(region_evidence(regions, {"all": Coarse(n, k)}).gains.max() > 100.0)
    True
    """
    variances = regions.day_variances if day_variances is None else day_variances
    sizes = region_sizes(regions, variances, hanging)
    scores, of_regions = _of_regions(regions, parts, sizes, wrong)
    at_value = _at_value(regions, parts, sizes, wrong)
    all_said = of_regions, _beyond(regions, parts, wrong), at_value
    said = _Weighed(*(np.concatenate(values) for values in zip(*all_said, strict=True)))
    phi = 1.0 + np.repeat(variances, 2) * of_regions.informations
    # Rows that hang together have one score, so where few rows are, they vary as much as elsewhere:
    # on average, because the largest of many estimates is large by chance.
    phi = np.append(phi, np.full(len(said.informations) - phi.size, phi.mean()))
    phi = hanging * phi[:, None]
    apart = said.sizes[:, 1:] - said.sizes[:, :1]
    may_add = 0.5 * apart**2 * said.informations[:, None] / phi
    return RegionDay(
        gains=((said.profiles[:, 1:] - said.profiles[:, :1]) / phi).ravel(),
        begun=np.minimum(1.0, may_add / FULL_GAIN).ravel(),
        scores=scores,
        informations=of_regions.informations[::2],
    )


def _of_regions(
    regions: Regions, parts: Mapping[Any, Coarse], sizes: Floats, wrong: WrongLabels | None
) -> tuple[Floats, _Weighed]:
    """Weigh every region against the rest of the known scores; also the score of each tilt."""
    tilts = (regions.centres[:, None] + sizes.reshape(-1, 6)).clip(-LARGEST, LARGEST)
    sums = [np.zeros(len(tilts)), np.zeros(len(tilts)), np.zeros(tilts.shape)]
    for part in parts.values():
        if rows := _bent(_known(regions, part), wrong):
            said = tilt_regions(*rows, regions.firsts, regions.ends, tilts)
            sums = [before + now for before, now in zip(sums, said, strict=True)]
    return sums[0], _Weighed(np.repeat(sums[1], 2), sums[2].reshape(-1, 3), sizes)


def region_sizes(regions: Regions, day_variances: Floats, hanging: float = 1.0) -> Floats:
    """Give the tilts that a day tolerates, and those it looks for, down and up each region.

    Returns
    -------
    ndarray of shape (2 r, 3)
        Signed, in logit, around the centre of the region; all 0 of a region of which the reference
        says too little.

    Notes
    -----
    ``tolerated = max(0.15, 2 sqrt(error**2 + w))`` with w the variance of whole weeks beyond the
    reference, and ``sought = max(0.4 or 1, 3 tolerated)``.
    """
    wandering = np.maximum(0.0, day_variances - regions.day_variances) / (LONG_RUN * WEEK)
    errors = np.sqrt(hanging * regions.errors**2 + wandering)
    tolerated = np.maximum(TOLERATED, STANDARD_ERRORS * errors)[:, None]
    sizes = np.hstack([tolerated, np.maximum(SOUGHT, TIMES_TOLERATED * tolerated)])
    sizes = np.where(tolerated <= LARGEST_TOLERANCE, sizes, 0.0)
    return np.stack([-sizes, sizes], axis=1).reshape(-1, 3)


def value_sizes(regions: Regions, of_regions: Floats) -> Floats:
    """Give the tilts that a day tolerates at one value, and those it looks for, up and down.

    Parameters
    ----------
    regions : Regions
        Of the reference.
    of_regions : ndarray of shape (2 r, 3)
        What `region_sizes` gives.

    Returns
    -------
    ndarray of shape (2, 3)
        Signed, in logit.

    Notes
    -----
    Tolerated is what regions tolerate on average, at least 0.2 because a curve may miss a single
    value by more than a region. Sought are 3 and 6 times as much.
    """
    up = of_regions[1::2, 0]
    up = np.where(up > 0.0, up, LARGEST_TOLERANCE)
    usual = np.average(up, weights=regions.informations.sum(axis=0))
    return np.outer([1.0, -1.0], AT_VALUE * max(1.0, usual / AT_VALUE[0]))


def _known(regions: Regions, part: Coarse) -> _Rows:
    return _Rows(regions.curve, regions.group(part.counts), regions.group(part.positives))


def _bent(rows: _Rows, wrong: WrongLabels | None) -> _Rows | None:
    """Bend the curve as wrong labels bend it; None if not both outcomes are there."""
    hits = int(rows.positives.sum())
    if not 0 < hits < rows.counts.sum():
        return None
    if not wrong:
        return rows
    return rows._replace(curve=noisy_curve(rows.curve, rows.counts, hits, *wrong.added_and_lost))


def _beyond(regions: Regions, parts: Mapping[Any, Coarse], wrong: WrongLabels | None) -> _Weighed:
    """Weigh the rows beyond the known scores against the curve at its edge, on the wrong side."""
    sizes = OUTWARDS[:, None] * (AT_EDGE + regions.lifts[:, None])
    said = _Weighed(np.zeros(len(SIGNS)), np.zeros(sizes.shape), np.nan_to_num(sizes))
    for part in parts.values():
        known = None
        for at, (zone, lift) in enumerate(zip(regions.zones, regions.lifts, strict=True)):
            rows = int(part.counts[zone].sum())
            if rows and lift == lift:  # noqa: PLR0124 - it is no nan
                known = known or _known(regions, part)
                beside = regions.curve[0 if SIGNS[at] > 0 else -1], rows, part.positives[zone].sum()
                _add_last(said, at, _with(known, *(np.array([each]) for each in beside)), wrong)
    return said


def _at_value(
    regions: Regions, parts: Mapping[Any, Coarse], of_regions: Floats, wrong: WrongLabels | None
) -> _Weighed:
    """Weigh the rows of single values that are new against the curve there."""
    values = new_values(regions, parts)
    sizes = value_sizes(regions, of_regions) if values.size else np.zeros((2, AT_VALUE.size))
    said = _Weighed(np.zeros(2), np.zeros(sizes.shape), sizes)
    # Beyond the known scores only the side that contradicts every monotone curve counts.
    sides = values[values < regions.known.stop], values[values >= regions.known.start]
    for part in parts.values() if values.size else ():
        others = _without(part, values)
        for side, cells in enumerate(sides):
            if part.counts[cells].any():
                beside = regions.cells[cells], part.counts[cells], part.positives[cells]
                _add_last(said, side, _with(_known(regions, others), *beside), wrong, cells.size)
    return said


def _without(part: Coarse, cells: slice | Ints) -> Coarse:
    left = Coarse(part.counts.copy(), part.positives.copy())
    left.counts[cells], left.positives[cells] = 0, 0
    return left


def _with(known: _Rows, curve: Floats, counts: Ints, positives: Ints) -> _Rows:
    """Put groups behind the known ones."""
    added = curve, counts, positives
    return _Rows(*(np.concatenate(both) for both in zip(known, added, strict=True)))


def _add_last(
    said: _Weighed, at: int, rows: _Rows, wrong: WrongLabels | None, number: int = 1
) -> None:
    """Add what the last groups of a part say against all others."""
    if bent := _bent(rows, wrong):
        end = np.array([rows.curve.size])
        _, information, profile = tilt_regions(*bent, end - number, end, said.sizes[at : at + 1])
        said.informations[at] += information[0]
        said.profiles[at] += profile[0]


def tilts_of_cells(
    regions: Regions,
    parts: Mapping[Any, Coarse],
    cells: slice,
    sizes: Floats,
    wrong: WrongLabels | None = None,
) -> tuple[float, Floats]:
    """Weigh several tilts of some cells against all other known ones, for one day.

    Parameters
    ----------
    regions, parts : Regions, mapping to Coarse
        As for `region_evidence`.
    cells : slice
        Within the known cells, or beyond them.
    sizes : ndarray of shape (s,)
        In logit.
    wrong : WrongLabels, optional
        The outcomes that are recorded as their opposite.

    Returns
    -------
    tuple of float and ndarray of shape (s,)
        What is known of the tilt, and the logarithm of the likelihood of each over that of none.
    """
    information, profile = 0.0, np.zeros(sizes.size)
    for part in parts.values():
        others = _without(part, cells)
        seen = np.flatnonzero(part.counts[cells]) + cells.start
        beside = regions.cells[seen], part.counts[seen], part.positives[seen]
        if seen.size and (bent := _bent(_with(_known(regions, others), *beside), wrong)):
            end = np.array([bent.curve.size])
            said = tilt_regions(*bent, end - seen.size, end, sizes[np.newaxis])
            information, profile = information + float(said[1][0]), profile + said[2][0]
    return information, profile


def maps_of_cells(
    regions: Regions, parts: Mapping[Any, Coarse], cells: slice, moves: Floats, stretches: Floats
) -> tuple[Floats, Floats]:
    """Weigh what may have been done to all scores alike against the curve, for one day.

    Parameters
    ----------
    regions, parts, cells
        As for `tilts_of_cells`.
    moves : ndarray of shape (s,)
        What was added to the log-odds of all scores, in logit.
    stretches : ndarray of shape (t,)
        By how much they were multiplied.

    Returns
    -------
    tuple of ndarray of shape (s,) and (t,)
        The logarithm of the likelihood of each over that of the curve that `tilts_of_cells` tilts.
        Beyond the known scores the curve goes on with slope 1.
    """
    first, last = CENTRES[regions.known.start], CENTRES[regions.known.stop - 1]
    longer = regions.cells + np.minimum(CENTRES - first, 0.0) + np.maximum(CENTRES - last, 0.0)
    before = [*(CENTRES - by for by in moves), *(CENTRES / by for by in stretches)]
    gains, counted = np.zeros(len(before)), np.zeros(CENTRES.size, bool)
    counted[regions.known], counted[cells] = True, True
    for part in parts.values():
        seen = np.flatnonzero(counted & (part.counts > 0))
        if seen.size:
            rows = part.counts[seen], part.positives[seen]
            moved = [np.interp(scores[seen], CENTRES, longer) for scores in before]
            usual = adjusted_profile(regions.cells[seen], *rows)
            gains += [adjusted_profile(curve, *rows) - usual for curve in moved]
    return gains[: moves.size], gains[moves.size :]


def new_values(regions: Regions, parts: Mapping[Any, Coarse]) -> Ints:
    """Find the cells that hold far more rows than in the reference, and than their neighbours.

    Parameters
    ----------
    regions, parts : Regions, mapping to Coarse
        As for `region_evidence`.

    Returns
    -------
    ndarray of int
        The cells, rising. Outcomes have no part in it.
    """
    counts = sum((part.counts for part in parts.values()), np.zeros_like(regions.shares))
    rows = counts.sum()
    cells: Ints = np.flatnonzero(counts >= max(LEAST_ROWS, LEAST_SHARE * rows))
    held, usual = counts[cells], regions.shares[cells]
    more = held >= rows * (TIMES_USUAL * usual + FEW_ROWS / regions.rows)
    more &= held >= rows * usual + STANDARD_DEVIATIONS * np.sqrt(rows * usual)
    cells, held = cells[more], held[more]
    if not cells.size:
        return cells
    summed = np.concatenate([[0], np.cumsum(counts)])
    low, high = np.maximum(cells - NEIGHBOURS, 0), np.minimum(cells + NEIGHBOURS + 1, counts.size)
    beside = (summed[high] - summed[low] - held) / (high - low - 1)
    return np.asarray(cells[held >= TIMES_USUAL * beside])
