"""The regions of a reference: where a break is looked for, and what is usual there. Pure.

Rule: what is learnt here rests on the days of the reference alone, each part of a day with an
intercept of its own, so no prior enters it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from monitor.drift.curve.variance import between_day_variances, span_starts
from monitor.metrics.core.coarse import COARSE_COUNT, Coarse
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.special import expit, logit
from monitor.metrics.logistic.regions import tilt_regions

PARTS, WIDTHS = 8, (1, 2, 4)  # of equal information; how many neighbours make a region
CELLS_IN_GROUP = 4  # an eighth of a logit
LEAST_INFORMATION = 5.0  # of a region over the reference
SURE = 2.0  # standard errors
FLAT = 0.1  # logit by which the outermost known scores may be off the extreme of their part
ZONES = ("below", "below all", "above", "above all")  # the known scores, and all of the reference
SIGNS = (1, 1, -1, -1)  # which side of the edge is wrong there: lower scores may come true less


@dataclass(frozen=True, eq=False)
class Regions:
    """Where breaks are looked for in a stream.

    Attributes
    ----------
    known : slice
        The cells in which the reference knows its curve.
    starts : ndarray of shape (g,)
        The first known cell of each group of cells; a region begins with a group.
    curve : ndarray of shape (g,)
        Log-odds of each group in the reference.
    cells : ndarray of shape (1024,)
        Log-odds of each cell in the reference; beyond the known cells those of their edge.
    firsts, ends : ndarray of shape (r,)
        The first group of each region, and the one after its last.
    centres : ndarray of shape (r,)
        Tilt of each region against the rest in the reference, in logit.
    errors : ndarray of shape (r,)
        Its standard error.
    day_variances : ndarray of shape (r,)
        Between-day variance of the tilt, in logit squared.
    scores, informations : ndarray of shape (days, r)
        What each day of the reference says of each tilt, at its curve.
    shares : ndarray of shape (1024,)
        The share of the reference's rows in each cell.
    rows : int
        All of them.
    outermost : tuple of int
        The first and the last cell that has any.
    lifts : ndarray of shape (4,)
        For each of `ZONES`, how far the reference's own outcomes there may be on the wrong side of
        the edge, in logit; nan where no side is wrong, because the edge is no extreme.
    """

    known: slice
    starts: Ints
    curve: Floats
    cells: Floats
    firsts: Ints
    ends: Ints
    centres: Floats
    errors: Floats
    day_variances: Floats
    scores: Floats
    informations: Floats
    shares: Floats
    rows: int
    outermost: tuple[int, int]
    lifts: Floats

    @cached_property
    def zones(self) -> tuple[slice, ...]:
        """The cells of each of `ZONES`."""
        first, last = self.outermost
        below, above = self.known.start, self.known.stop
        of_none = slice(0, min(below, first)), slice(max(above, last + 1), COARSE_COUNT)
        return slice(0, below), of_none[0], slice(above, COARSE_COUNT), of_none[1]

    def group(self, values: Ints) -> Ints:
        """Add the values of the known cells up by group."""
        return np.add.reduceat(values[self.known], self.starts - self.known.start)


class _Layout(NamedTuple):
    starts: Ints
    curve: Floats
    firsts: Ints
    ends: Ints


def fit_regions(
    curve: Floats,
    known: slice,
    days: Sequence[Mapping[Any, Coarse]],
    rarer: Sequence[int],
) -> Regions | None:
    """Cut the scores of a reference into regions, and learn what is usual in each.

    Parameters
    ----------
    curve : ndarray of shape (1024,)
        Of the reference; right on average over it.
    known : slice
        The cells in which it is known.
    days : sequence of mapping to Coarse
        The parts of each day.
    rarer : sequence of int
        The number of the rarer outcome of each day.

    Returns
    -------
    Regions or None
        None if there are not two scores with outcomes.

    Notes
    -----
    The known range is cut into 8 parts of equal information ``n p (1 - p)``; regions are 1, 2 and 4
    neighbouring parts, in steps of half a width. With score U and information I of a tilt on each
    day, the centre is ``sum U / sum I``, and its variance ``(1 + v sum I**2 / sum I) / sum I`` with
    the between-day variance v of `monitor.drift.curve.variance.between_day_variance`.
    """
    everything = [part for day in days for part in day.values()]
    counts = np.sum([part.counts for part in everything], axis=0)
    layout = _layout(curve, known, counts)
    scores, informations = _by_day(layout, known, days)
    total = informations.sum(axis=0)
    looked_at = total >= LEAST_INFORMATION
    if not looked_at.any():
        return None
    scores, informations = (
        np.ascontiguousarray(values[:, looked_at]) for values in (scores, informations)
    )
    total, squares = total[looked_at], informations**2
    variances = between_day_variances(scores, informations, span_starts(rarer))
    seen = np.flatnonzero(counts)
    fitted = Regions(
        known=known,
        starts=layout.starts,
        curve=layout.curve,
        cells=curve[np.clip(np.arange(COARSE_COUNT), known.start, known.stop - 1)],
        firsts=layout.firsts[looked_at],
        ends=layout.ends[looked_at],
        centres=scores.sum(axis=0) / total,
        errors=np.sqrt((1.0 + variances * squares.sum(axis=0) / total) / total),
        day_variances=variances,
        scores=scores,
        informations=informations,
        shares=counts / counts.sum(),
        rows=int(counts.sum()),
        outermost=(int(seen[0]), int(seen[-1])),
        lifts=np.full(len(ZONES), np.nan),
    )
    positives = np.sum([part.positives for part in everything], axis=0)
    return replace(fitted, lifts=_lifts(fitted, counts, positives))


def _layout(curve: Floats, known: slice, counts: Ints) -> _Layout:
    """Choose groups of cells and regions of groups."""
    p = expit(curve[known])
    weights = counts[known] * p * (1.0 - p)
    shares = np.cumsum(weights) / weights.sum() if weights.any() else np.ones(weights.size)
    cuts = np.searchsorted(shares, np.arange(1, PARTS) / PARTS) + 1
    borders = np.unique(np.concatenate([[0], cuts[cuts < weights.size], [weights.size]]))
    spans = [*pairwise(borders)]
    starts = np.concatenate([np.arange(a, b, CELLS_IN_GROUP) for a, b in spans])
    at = np.searchsorted(starts, borders)  # of each border the group that begins there
    parts = len(spans)
    regions = [
        (at[i], at[i + width])
        for width in WIDTHS
        for i in range(0, parts - width + 1, max(1, width // 2))
        if width < parts
    ]
    firsts, ends = np.array(sorted(set(regions)), np.int64).reshape(-1, 2).T.copy()
    ones = np.add.reduceat(np.ones(weights.size), starts)
    plain = np.add.reduceat(curve[known], starts) / ones
    weighed = np.add.reduceat(curve[known] * counts[known], starts)
    rows = np.add.reduceat(counts[known], starts)
    middle = np.where(rows > 0, weighed / np.maximum(rows, 1), plain)
    return _Layout(starts + known.start, middle, firsts, ends)


def _by_day(
    layout: _Layout, known: slice, days: Sequence[Mapping[Any, Coarse]]
) -> tuple[Floats, Floats]:
    """Sum score and information of each region over the parts of each day."""
    scores = np.zeros((len(days), layout.firsts.size))
    informations, none = np.zeros_like(scores), np.zeros((layout.firsts.size, 0))
    at = layout.starts - known.start
    for i, day in enumerate(days):
        for part in day.values():
            counts, positives = (
                np.add.reduceat(of[known], at) for of in (part.counts, part.positives)
            )
            pull, information, _ = tilt_regions(
                layout.curve, counts, positives, layout.firsts, layout.ends, none
            )
            scores[i] += pull
            informations[i] += information
    return scores, informations


def _lifts(regions: Regions, counts: Ints, positives: Ints) -> Floats:
    """Find how far the reference itself is on the wrong side of its edges, beyond them.

    Where it is so with certainty, by its estimate and two standard errors.
    """
    low, high = np.split(regions.curve, [regions.curve.size // 2])
    edges = [(low[0], low.min()), (high[-1], high.max())] if low.size else [(np.nan, np.nan)] * 2
    lifts = []
    for zone, (edge, extreme), sign in zip(
        regions.zones, np.repeat(edges, 2, axis=0), SIGNS, strict=True
    ):
        n, k = int(counts[zone].sum()), int(positives[zone].sum())
        off = sign * (float(logit((k + 0.5) / (n + 1.0))) - edge)
        error = sqrt(1.0 / (k + 0.5) + 1.0 / (n - k + 0.5))
        lift = off + SURE * error if n and off > SURE * error else 0.0
        lifts.append(lift if abs(edge - extreme) <= FLAT else np.nan)
    return np.array(lifts)
