"""What happened to the scores themselves since the reference, whatever their outcomes. Pure."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np

from monitor.drift.curve.reference import Reference
from monitor.drift.incidents.level_watch import continued
from monitor.drift.records.facts import FewScore, ScoreMap, Scores
from monitor.metrics.core.coarse import CENTRES, Coarse, sum_of
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.special import expit
from monitor.metrics.logistic.level import fit_level

LEAST_ROWS = 100  # of a week, to say what happened to its scores
SHARES = np.linspace(0.05, 0.95, 19)  # at which quantiles are compared
LEAST_MOVE = 0.3  # logit: of a shift that is worth naming
CLOSE = 0.1  # of what moved: the mean distance of quantiles from a map that explains it
CELL = 1.0 / 32.0  # logit: what the grid blurs
PERCENT, NEARLY = 100.0, 0.05  # the factor of percent, and how close the measured one has to be
MOST_FEW, FEWER = 12, 5.0  # different scores that are few, and times as many as before
DOUBT = 3.5  # standard errors by which the outcomes of a score may be off by chance
CERTAINTIES = 0.99  # of the rows: scores that are 0 or 1


def scores_since(reference: Reference, parts: Mapping[Any, Coarse], prevalence: float) -> Scores:
    """Compare the scores of some days with those of the reference.

    Parameters
    ----------
    reference : Reference
        Of the stream.
    parts : mapping to Coarse
        The outcomes of the days; at least one row.
    prevalence : float
        Share of positive outcomes on these days, in [0, 1].
    """
    before, every = reference.counts.counts, sum_of([*parts.values()])
    now = every.counts
    first, last = reference.outermost
    rows = int(now.sum())
    kind, by = _score_map(before, now) if rows >= LEAST_ROWS else (None, 0.0)
    return Scores(
        mean_before=_mean(before),
        mean=_mean(now),
        outcomes_before=reference.prevalence,
        outcomes=prevalence,
        below=int(now[:first].sum()) / rows,
        above=int(now[last + 1 :].sum()) / rows,
        like=kind,
        by=by,
        few=_few_scores(reference, every) if rows >= LEAST_ROWS else (),
        different_before=int(np.count_nonzero(before)),
        spread_before=_spread(before) if rows >= LEAST_ROWS else None,
        spread=_spread(now) if rows >= LEAST_ROWS else None,
    )


def _few_scores(reference: Reference, every: Coarse) -> tuple[FewScore, ...]:
    """Describe few different scores where there were many, and what the outcomes say of each."""
    counts, hits, cells = every.counts, every.positives, np.flatnonzero(every.counts)
    enough = np.count_nonzero(reference.counts.counts) >= FEWER * cells.size
    if not (enough and 0 < cells.size <= MOST_FEW):
        return ()
    curve = continued(reference)[cells]
    delta = fit_level(curve, Coarse(counts[cells], hits[cells])).delta
    expected = expit(curve)
    at_prior = expit(curve + (delta if isfinite(delta) else 0.0))
    errors = np.sqrt(at_prior * (1.0 - at_prior) / counts[cells]) + 0.5 / counts[cells]
    rates = hits[cells] / counts[cells]
    scores = np.where(
        cells == 0, 0.0, np.where(cells == CENTRES.size - 1, 1.0, expit(CENTRES[cells]))
    )
    shares, fits = counts[cells] / counts.sum(), np.abs(rates - at_prior) <= DOUBT * errors
    told = np.column_stack([scores, shares, rates, expected]).tolist()
    found = [
        FewScore(at, share, rate, expect, fits=fit)
        for (at, share, rate, expect), fit in zip(told, fits.tolist(), strict=True)
    ]
    return tuple(sorted(found, key=lambda of: (-of.share, of.score)))


def _mean(counts: Ints) -> float:
    return float(counts @ expit(CENTRES) / counts.sum())


def _spread(counts: Ints) -> float:
    mean = counts @ CENTRES / counts.sum()
    return float(np.sqrt(counts @ (CENTRES - mean) ** 2 / counts.sum()))


def _score_map(before: Ints, now: Ints) -> tuple[ScoreMap | None, float]:
    """Find the simple map that made the scores of now of those before, if one did."""
    ends = slice(1, -1)
    if now[ends].sum() <= (1.0 - CERTAINTIES) * now.sum() and before[ends].sum() > 0:
        return "rounded", 0.0
    was, is_now = _quantiles(before), _quantiles(now)
    moved = float(np.abs(is_now - was).mean())
    if moved < LEAST_MOVE:
        return None, 0.0
    shift, of_shift = _constant(is_now - was)
    logs, of_ratio = _constant(np.log(expit(is_now)) - np.log(expit(was)))
    enough = CLOSE * moved + CELL
    # The rarer coincidence first: of rare outcomes, 1/100 is nearly a constant in log-odds.
    for factor in (PERCENT, 1.0 / PERCENT):
        if abs(logs - np.log(factor)) < NEARLY and of_ratio <= enough:
            return "percent", factor
    if np.abs(is_now + was[::-1]).mean() <= enough:
        return "other class", 0.0
    return ("log odds", shift) if of_shift <= enough else (None, 0.0)


def _quantiles(counts: Ints) -> Floats:
    """Find the log-odds below which shares of the rows lie, within cells by interpolation."""
    seen = np.flatnonzero(counts)
    middles = np.cumsum(counts[seen]) - 0.5 * counts[seen]
    return np.asarray(np.interp(SHARES * counts.sum(), middles, CENTRES[seen]))


def _constant(differences: Floats) -> tuple[float, float]:
    """Give the median of differences, and their mean distance from it."""
    middle = float(np.median(differences))
    return middle, float(np.abs(differences - middle).mean())
