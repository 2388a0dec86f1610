"""How far the outcomes of neighbouring days are the same ones, and what that leaves of evidence.

Pure. Rule: it is read off the days of the reference alone, and where these differ as independent
days do, nothing changes.

Where the same entities are scored every day for an event within h days, the outcomes of two days
share all but the days that they are apart, so their scores have the correlation ``1 - apart / h``.
"""

from dataclasses import replace
from datetime import date

import numpy as np

from monitor.drift.curve.reference import Reference, with_hanging
from monitor.drift.curve.variance import neighbour_ratio
from monitor.drift.evidence.entities import hanging_beyond, held_down_to
from monitor.drift.evidence.history import rows_since, since_counted
from monitor.drift.records.day_evidence import DayEvidence
from monitor.drift.records.detector import Detector, History
from monitor.metrics.core.grid import Floats, Ints

CAUTION = 1.5  # times the days that neighbouring days suggest
MOST_DAYS = 400  # the longest that outcomes may be awaited


def with_overlap(reference: Reference) -> Reference:
    """Let the errors of a reference grow where the same entities seem to be counted again.

    Parameters
    ----------
    reference : Reference
        As fitted to rows that were taken for independent.

    Returns
    -------
    Reference
        The same where neighbouring days differ as chance makes them.

    Notes
    -----
    With Q of `monitor.drift.curve.variance.neighbour_ratio`, outcomes are taken to overlap for
    ``1.5 / Q`` days. Half more than Q says, because an entity with a high risk has most of its
    events early, so its outcomes change sooner than ``1 - apart / h``.

    Examples
    --------
    >>> from scipy.special import expit
    >>> from monitor.drift.curve.reference import fit_reference
    >>> from monitor.metrics.core.coarse import CENTRES, Coarse
    >>> n, rng = np.where(abs(CENTRES) < 3, 50, 0), np.random.default_rng(1)
    >>> days = [{"all": Coarse(n, rng.binomial(n, expit(CENTRES)))} for _ in range(28)]
    >>> with_overlap(fit_reference(days)).overlap
    1.0
    >>> again = [days[day // 14] for day in range(28)]
    >>> with_overlap(fit_reference(again)).overlap > 14
    True
    """
    ratio = neighbour_ratio(reference.scores, reference.informations)
    if ratio is None:
        return reference
    overlap = min(CAUTION * reference.judge_every / max(ratio, 1.0 / MOST_DAYS), MOST_DAYS)
    days = np.arange(len(reference.scores)) * reference.judge_every
    of_all = overlap_dispersions(days, reference.informations, overlap)[0]
    growth = hanging_beyond(of_all, reference.day_variances, reference.informations)
    of_intercept = float(overlap_dispersions(days, np.ones((days.size, 1)), overlap)[0, 0])
    return replace(with_hanging(reference, growth, of_intercept), overlap=overlap)


def overlap_dispersions(days: Ints, informations: Floats, overlap: float) -> Floats:
    """Compare the variance of the sum of scores since each day with that of independent days.

    Parameters
    ----------
    days : ndarray of shape (n,)
        Number of each day, rising.
    informations : ndarray of shape (n, j)
        Of each day, along several directions.
    overlap : float
        Days for which outcomes overlap, at least 1.

    Returns
    -------
    ndarray of shape (n, j)
        ``sum sqrt(I I') max(0, 1 - apart / overlap) / sum I`` over the pairs of days since each
        one; 1 where nothing is known.

    Examples
    --------
    >>> overlap_dispersions(np.arange(3), np.full((3, 1), 50.0), 2.0).ravel().round(2)
    array([1.67, 1.5 , 1.  ])
    """
    apart = np.abs(days[:, None] - days)
    roots = np.sqrt(informations.T)
    shared = roots[:, :, None] * roots[:, None] * np.maximum(0.0, 1.0 - apart / overlap)
    # The last day first: then the sum over the pairs since a day is that up to a place, twice.
    sums = shared[:, ::-1, ::-1].cumsum(axis=1).cumsum(axis=2).diagonal(axis1=1, axis2=2)
    total = informations[::-1].cumsum(axis=0)
    informed = total > 0.0
    return np.asarray(np.where(informed, sums.T / np.where(informed, total, 1.0), 1.0)[::-1])


def held_down_by_overlap(
    detector: Detector, reference: Reference, evidence: DayEvidence
) -> Detector:
    """Let the evidence be at most three times as strong as if outcomes overlap.

    Parameters
    ----------
    detector : Detector
        After `monitor.drift.incidents.detecting.accumulate`.
    reference : Reference
        Of the stream; its `overlap` is above 1.
    evidence : DayEvidence
        Of the day.

    Notes
    -----
    As `monitor.drift.evidence.entities.held_down_by_entities`, with the dispersion of
    `overlap_dispersions` in place of that of buckets.
    """
    kept = since_counted(detector.history, detector.counted)
    return held_down_to(detector, evidence, kept, _since_each(kept, reference))


def overlapping_since(first: date, *, detector: Detector, reference: Reference) -> Floats:
    """Find by how much the rows of the days from one on hang together, as `Reference.hanging`."""
    kept = rows_since(detector.history, first)
    of_all = _since_each(kept, reference)[0]
    return hanging_beyond(of_all, detector.jitters, kept.informations.astype(np.float64))


def _since_each(history: History, reference: Reference) -> Floats:
    """Give the dispersion of the days since each row of a history; shape (r, 4)."""
    counts = history.days
    starts = np.cumsum(counts) - counts
    positions = np.arange(counts.sum()) - np.repeat(starts, counts)
    days = np.repeat(history.firsts, counts) + positions * reference.judge_every
    each = history.informations.astype(np.float64) / counts[:, None]
    of_days = overlap_dispersions(days, np.repeat(each, counts, axis=0), reference.overlap)
    return np.asarray(of_days[starts])
