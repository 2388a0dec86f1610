"""How far rows of the same entities, or of neighbouring days, hang together; what is left. Pure.

Rule: what rows of an entity share stays in one bucket for ever, so the spread of the sums of the
buckets over any span of days is the variance of that span, however its rows hang together (Liang
and Zeger, Biometrika 73, 1986; buckets instead of entities, so that a day stays small).

Without the key of an entity, it is read off the days of the reference alone, and where these differ
as independent days do, nothing changes. Where the same entities are scored every day for an event
within h days, the outcomes of two days share all but the days that they are apart, so their scores
have the correlation ``1 - apart / h``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from math import log, log10
from typing import Any

import numpy as np

from monitor.drift.curve.reference import Reference, dispersions, with_hanging
from monitor.drift.curve.variance import neighbour_ratio
from monitor.drift.evidence.directions import known_cells
from monitor.drift.evidence.history import rows_since, since_counted
from monitor.drift.records.day_evidence import DIRECTIONS, DayEvidence
from monitor.drift.records.detector import Detector, History
from monitor.metrics.core.buckets import BIN_COUNT, BUCKETS, CELLS_IN_BIN, BucketCounts
from monitor.metrics.core.coarse import COARSE_COUNT, Coarse, occupied
from monitor.metrics.core.compiled import compiled, inner
from monitor.metrics.core.dispersion import bucket_sums, span_dispersions
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.special import expit, logsumexp
from monitor.metrics.logistic.intercept import solve_factor

HEADROOM = 3.0  # times the evidence of rows that hang together that evidence may be
BLOCK = 32  # bins: a sum over whole blocks has the bits of one over all, which adds zeros
SIGNS = np.array([-1.0, 1.0])  # of the two kinds of a direction
MOST_HANGING = 1e4  # a single entity says nothing of how much entities differ
MOST = 200.0  # log10 of an evidence that is far above every limit
CAUTION = 1.5  # times the days that neighbouring days suggest
MOST_DAYS = 400  # the longest that outcomes may be awaited


@dataclass(frozen=True, eq=False)
class BucketSums:
    """What the rows of each bucket say of each direction; it adds over parts and days.

    Attributes
    ----------
    scores, informations : ndarray of shape (64, 4)
        As those of `monitor.drift.records.day_evidence.DayEvidence`, at the reference curve with
        the intercept of the day, of each bucket.
    """

    scores: Floats
    informations: Floats

    def __add__(self, other: "BucketSums") -> "BucketSums":
        """Add up."""
        return BucketSums(self.scores + other.scores, self.informations + other.informations)


NOTHING = BucketSums(*np.zeros((2, BUCKETS, len(DIRECTIONS))))


def sum_buckets(
    reference: Reference, parts: Mapping[Any, Coarse], entities: Mapping[Any, BucketCounts]
) -> BucketSums:
    """Sum up what the buckets of a day say, each part with an intercept of its own.

    Parameters
    ----------
    reference : Reference
        Of the stream.
    parts : mapping to Coarse
        The day's outcomes by segment and stratum.
    entities : mapping to BucketCounts
        The same rows by bucket of their entity.

    Returns
    -------
    BucketSums
        Of the parts that have both outcomes.

    Notes
    -----
    ``U_b = sum (D - mean_w D) (y - p)`` and ``I_b = sum w (D - mean_w D)**2`` over the rows of a
    bucket in the cells that are evidence, with ``w = p (1 - p)``. Rows are known by their bin of
    score: each counts with the mean of its bin, of p by rows and of D by information.

    Examples
    --------
    >>> from scipy.special import expit
    >>> from monitor.drift.curve.reference import fit_reference
    >>> from monitor.metrics.core.coarse import CENTRES
    >>> n = np.where(abs(CENTRES) < 3, 64, 0)
    >>> day = {"all": Coarse(n, np.rint(n * expit(CENTRES)).astype(np.int64))}
    >>> places = np.arange(BUCKETS * 24)  # a row in every bucket for each of its 8 cells
    >>> rows = np.full(places.size, 8)
    >>> hits = np.rint(rows * expit(-2.9 + 0.25 * (places % 24))).astype(np.int64)
    >>> held = BucketCounts(places // 24, 52 + places % 24, rows, hits)
    >>> sums = sum_buckets(fit_reference([day] * 28), day, {"all": held})
    >>> sums.informations.shape, bool(np.ptp(sums.informations[:, 0]) < 1e-9)
    ((64, 4), True)
    """
    span = known_cells(reference, list(parts.values()))
    both = [(part, entities[name]) for name, part in parts.items() if name in entities]
    return sum((_of_part(reference, span, *of_part) for of_part in both), NOTHING)


def _of_part(reference: Reference, span: slice, part: Coarse, held: BucketCounts) -> BucketSums:
    inside = np.zeros(COARSE_COUNT, np.int64)
    inside[span] = part.counts[span]
    hits = int(part.positives[span].sum())
    if not (held.bins.size and 0 < hits < inside.sum()):
        return NOTHING
    seen = np.nonzero(inside)[0]
    odds = np.exp(reference.curve - reference.curve[seen].max())
    factor, information = solve_factor(odds[seen], inside[seen], hits)
    p = factor * odds / (1.0 + factor * odds)
    weights = inside * p * (1.0 - p)
    middles = (weights * reference.directions).sum(axis=1) / information
    chances, pulls, informations = _by_bin(
        part.counts, inside, p, weights, reference.directions, middles
    )
    first = int(held.bins.min()) // BLOCK * BLOCK
    last = (int(held.bins.max()) // BLOCK + 1) * BLOCK
    counts, beyond = np.zeros((2, BUCKETS, last - first))
    places = held.buckets, held.bins - first
    counts[places] = held.counts
    beyond[places] = held.positives - held.counts * chances[held.bins]
    return BucketSums(
        np.einsum("bi,ji->bj", beyond, pulls[:, first:last]),
        np.einsum("bi,ji->bj", counts, informations[:, first:last]),
    )


@compiled
def _by_bin(
    counts: Ints, inside: Ints, p: Floats, weights: Floats, directions: Floats, middles: Floats
) -> tuple[Floats, Floats, Floats]:
    """Give what a row of each bin stands for: its chance, and pull and information (j, bins)."""
    width = directions.shape[0]
    chances = np.zeros(BIN_COUNT)
    pulls, informations = np.zeros((width, BIN_COUNT)), np.zeros((width, BIN_COUNT))
    expected, pulled, known = np.empty((3, CELLS_IN_BIN))
    for i in range(BIN_COUNT):
        first = i * CELLS_IN_BIN
        last = first + CELLS_IN_BIN
        rows, told = counts[first:last].sum(), inside[first:last].sum()
        if told == 0:
            continue
        weight = _in_pairs(weights[first:last])
        for c in range(CELLS_IN_BIN):
            expected[c] = inside[first + c] * p[first + c]
        chances[i] = _in_pairs(expected) / told
        for j in range(width):
            for c in range(CELLS_IN_BIN):
                along = directions[j, first + c] - middles[j]
                pulled[c] = weights[first + c] * along
                known[c] = weights[first + c] * along**2
            informations[j, i] = _in_pairs(known) / rows
            if weight > 0.0:
                pulls[j, i] = _in_pairs(pulled) * told / (weight * rows)
    return chances, pulls, informations


@inner
def _in_pairs(of_cells: Floats) -> float:
    """Add up the eight cells of a bin in the order of numpy."""
    low: float = (of_cells[0] + of_cells[1]) + (of_cells[2] + of_cells[3])
    high: float = (of_cells[4] + of_cells[5]) + (of_cells[6] + of_cells[7])
    return low + high


def hanging(reference: Reference, sums: BucketSums) -> Floats:
    """Find by how much the rows of a reference hang together beyond what its days show.

    Parameters
    ----------
    reference : Reference
        Of the stream.
    sums : BucketSums
        Of all its days.

    Returns
    -------
    ndarray of shape (4,)
        `Reference.hanging`.
    """
    of_span = span_dispersions(sums.scores, sums.informations)
    return hanging_beyond(of_span, reference.day_variances, reference.informations)


def hanging_beyond(of_span: Floats, day_variances: Floats, informations: Floats) -> Floats:
    """Compare the dispersion of a span with that which its days by themselves show."""
    return np.clip(of_span / dispersions(day_variances, informations), 1.0, MOST_HANGING)


def hanging_since(
    first: date, *, day: date, day_variances: Floats, sums_of: Callable[[date], BucketSums]
) -> Floats:
    """Find `hanging` of the days from the first to a day; 1 where none has entities."""
    days = [sums_of(date.fromordinal(n)) for n in range(first.toordinal(), day.toordinal() + 1)]
    informations = np.array([of_day.informations.sum(axis=0) for of_day in days])
    sums = sum(days, NOTHING)
    of_span = span_dispersions(sums.scores, sums.informations)
    return hanging_beyond(of_span, day_variances, informations)


def intercept_hanging(log_odds: Floats, everything: Coarse, held: BucketCounts) -> float:
    """Find by how much the variance of an intercept exceeds that of independent rows.

    Parameters
    ----------
    log_odds : ndarray of shape (1024,)
        Of a positive outcome by coarse cell, with the fitted intercept.
    everything : Coarse
        The rows.
    held : BucketCounts
        The same rows by bucket of their entity.

    Returns
    -------
    float
        At least 1: `span_dispersions` of ``y - p``.
    """
    seen = occupied(everything)
    p = expit(log_odds[seen.cells])
    sums = bucket_sums(seen.cells // CELLS_IN_BIN, seen.counts, held, 1.0 - p, -p)
    return float(np.clip(span_dispersions(*sums)[0], 1.0, MOST_HANGING))


def held_down_by_entities(
    detector: Detector, evidence: DayEvidence, day: date, sums_of: Callable[[date], BucketSums]
) -> Detector:
    """Let the evidence be at most three times as strong as if outcomes hang together.

    Parameters
    ----------
    detector : Detector
        After `monitor.drift.incidents.detecting.accumulate`.
    evidence : DayEvidence
        Of the day.
    day : date
        The day, the last of its span.
    sums_of : function of a date
        What the buckets of that day say; of all 0 for a day without.

    Returns
    -------
    Detector
        The same where no day has entities.

    Notes
    -----
    For each kind M is at most ``3 G``, with
    ``G = sum_s days_s exp(((e - t) (+-U) - (e**2 - t**2) I / 2) / phi_s)`` over the starts s, each
    of the last 28 days and the weeks before them; e and t are effect and tolerance of the day, and
    ``phi_s = max(1 + day_variance I / days, phi)`` with phi of `span_dispersions`, of the span
    since s.
    """
    kept = since_counted(detector.history, detector.counted)
    buckets, known_of_buckets = _since_each(kept, day, sums_of)
    if not known_of_buckets.any():
        return detector
    return held_down_to(detector, evidence, kept, span_dispersions(buckets, known_of_buckets))


def held_down_to(
    detector: Detector, evidence: DayEvidence, kept: History, dispersion: Floats
) -> Detector:
    """Let the evidence be at most `most_evidence` of the rows of a history.

    Parameters
    ----------
    detector, evidence : Detector, DayEvidence
        As for `held_down_by_entities`.
    kept : History
        The rows on which a drift may have begun.
    dispersion : ndarray of shape (r, 4)
        Of the span since each of them; days that differ by nature raise it.
    """
    days, pull, informations = (
        np.cumsum(values[::-1].astype(np.float64), axis=0)[::-1]
        for values in (kept.days, kept.scores, kept.informations)
    )
    phi = np.maximum(1.0 + detector.jitters * informations / days[:, None], dispersion)
    most = most_evidence(kept.days, pull, informations, phi, evidence.tolerances, evidence.effects)
    return replace(detector, sums=np.minimum(detector.sums, most.ravel()))


def most_evidence(
    days: Ints, pull: Floats, informations: Floats, phi: Floats, tolerances: Floats, effects: Floats
) -> Floats:
    """Give the most that evidence may be, where outcomes hang together.

    Parameters
    ----------
    days : ndarray of shape (s,)
        Days on which a drift may have begun, by start.
    pull, informations, phi : ndarray of shape (s, ..., 4)
        Scores, informations and dispersion of the span since each start.
    tolerances, effects : ndarray of shape (4,)
        Of the last day.

    Returns
    -------
    ndarray of shape (..., 4, 2)
        ``3 G`` of `held_down_by_entities`, down and up each direction.
    """
    reach, middles = effects - tolerances, 0.5 * (effects**2 - tolerances**2)
    gains = ((reach * pull)[..., None] * SIGNS - (middles * informations)[..., None]) / phi[
        ..., None
    ]
    begun = np.where(np.isfinite(phi), days.reshape(-1, *[1] * (phi.ndim - 1)), 0.0)
    together = logsumexp(gains, axis=0, b=begun[..., None]) / log(10.0)
    return np.asarray(10.0 ** np.minimum(together + log10(HEADROOM), MOST))


def _since_each(
    history: History, day: date, sums_of: Callable[[date], BucketSums]
) -> tuple[Floats, Floats]:
    """Sum up the buckets from each row of a history to the day; shape (r, 64, 4) each."""
    firsts = history.firsts.tolist()
    rows = [
        sum((sums_of(date.fromordinal(n)) for n in range(first, end)), NOTHING)
        for first, end in zip(firsts, [*firsts[1:], day.toordinal() + 1], strict=True)
    ]
    each = np.array([(row.scores, row.informations) for row in rows])
    scores, informations = np.cumsum(each[::-1], axis=0)[::-1].swapaxes(0, 1)
    return scores, informations


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
    return held_down_to(detector, evidence, kept, _overlap_since_each(kept, reference))


def overlapping_since(first: date, *, detector: Detector, reference: Reference) -> Floats:
    """Find by how much the rows of the days from one on hang together, as `Reference.hanging`."""
    kept = rows_since(detector.history, first)
    of_all = _overlap_since_each(kept, reference)[0]
    return hanging_beyond(of_all, detector.jitters, kept.informations.astype(np.float64))


def _overlap_since_each(history: History, reference: Reference) -> Floats:
    """Give the dispersion of the days since each row of a history; shape (r, 4)."""
    counts = history.days
    starts = np.cumsum(counts) - counts
    positions = np.arange(counts.sum()) - np.repeat(starts, counts)
    days = np.repeat(history.firsts, counts) + positions * reference.judge_every
    each = history.informations.astype(np.float64) / counts[:, None]
    of_days = overlap_dispersions(days, np.repeat(each, counts, axis=0), reference.overlap)
    return np.asarray(of_days[starts])
