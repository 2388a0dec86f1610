"""What days would have looked like through a calibration map, and what it gained. Pure.

A map moves scores of the population. Where a log is a sample, the scores of its tallies have been
moved by the logarithm of the ratio of its weights, so they are moved back, mapped and moved again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log, nan, sqrt

import numpy as np

from monitor.base.segment_names import WHOLE
from monitor.days.summary import (
    NO_SAMPLE,
    Awaited,
    ColumnPart,
    Columns,
    Segment,
    Summary,
    awaited,
    buckets_of,
    stratified,
    whole,
)
from monitor.evaluation.evaluation import RECENT_DAYS, MapGain
from monitor.evaluation.population import mean_of_all, weigh
from monitor.evaluation.score_errors import LabelRates
from monitor.metrics.beyond_binary.class_counts import UNIT, ClassCounts
from monitor.metrics.core.buckets import (
    BIN_CENTRES,
    BUCKETS,
    NO_BUCKETS,
    BucketCounts,
    add_up_buckets,
    bins_of,
)
from monitor.metrics.core.coarse import CELLS_IN_ONE, CENTRES, COARSE_COUNT, coarsen
from monitor.metrics.core.dispersion import bins_of_tally, bucket_sums
from monitor.metrics.core.estimate import CONFIDENCE, Estimate
from monitor.metrics.core.grid import (
    OFFSETS_PER_CELL,
    Floats,
    Ints,
    locate,
    representative_scores,
)
from monitor.metrics.core.special import expit, log_expit, logit, stdtrit
from monitor.metrics.core.tally import Tally, on_grid
from monitor.metrics.maps.calibration_map import CalibrationMap, apply_calibration_map

LEAST_DAYS = 3  # for an interval: the gains of days vary more than their outcomes do


Weights = tuple[float, float] | tuple[Floats, Floats]  # of a negative and a positive, by score
Gains = tuple[tuple[Floats, Floats], tuple[Floats, Floats]]  # log loss and Brier, by outcome


@dataclass(frozen=True)
class Shadow:
    """A calibration map that is compared with the scores as they are.

    Attributes
    ----------
    map : CalibrationMap
        The map.
    segment : str
        The segment whose scores it maps, or the whole.
    """

    map: CalibrationMap
    segment: str = WHOLE

    def maps(self, segment: str) -> bool:
        """Say whether the scores of a segment are mapped."""
        return self.segment in (WHOLE, segment)


@dataclass(frozen=True, eq=False)
class DayGain:
    """By how much the losses of one day would have fallen: sums over its outcomes.

    Attributes
    ----------
    outcomes, log_loss, brier : float
        Of all outcomes.
    held : ndarray of shape (3, 64) or None
        The same three by bucket of the entity; None without entities.
    """

    outcomes: float
    log_loss: float
    brier: float
    held: Floats | None = None


def map_summary(summary: Summary, shadow: Shadow) -> Summary:
    """Give the summary that the mapped scores would have made.

    Parameters
    ----------
    summary : Summary
        Of a single day.
    shadow : Shadow
        The map, and whose scores it maps.

    Returns
    -------
    Summary
        On the same grid, so that days still add up. The members of a cell move together, by less
        than the width of a cell from where each would go; those of a bin, to the bin of its centre.
    """
    by, offset = shadow.map, _sample_offset(summary)
    moved = {
        name: _map_segment(part, by, offset)
        for name, part in summary.segments.items()
        if shadow.maps(name)
    }
    entities = {
        key: _map_buckets(part, by, offset)
        for key, part in summary.entities.items()
        if shadow.maps(key[0])
    }
    return replace(
        summary,
        segments={**summary.segments, **moved},
        entities={**summary.entities, **entities},
    )


def map_columns(summary: Summary, columns: Columns, shadow: Shadow) -> Columns:
    """Give the counts by value that the scores would have made through a map for all rows.

    The members of a coarse cell move together, to the cell of its mapped centre.
    """
    scores = _mapped(np.asarray(expit(CENTRES)), shadow.map, _sample_offset(summary))
    cells = locate(scores)[0] // CELLS_IN_ONE

    def moved(part: ColumnPart) -> ColumnPart:
        counts, positives = np.zeros((2, COARSE_COUNT), np.int64)
        np.add.at(counts, cells[part.cells], part.counts)
        np.add.at(positives, cells[part.cells], part.positives)
        seen = np.flatnonzero(counts)
        return ColumnPart(seen, counts[seen], positives[seen], part.predicted)

    return {
        column: {value: moved(part) for value, part in values.items()}
        for column, values in columns.items()
    }


def day_gains(
    summary: Summary, shadow: Shadow, rates: LabelRates | None = None
) -> dict[str, DayGain]:
    """Sum up what the map would have gained on one day, for each segment and the whole.

    Parameters
    ----------
    summary, shadow : Summary, Shadow
        The day and the map.
    rates : LabelRates, optional
        How the predictions were chosen that get an outcome, where they are.

    Returns
    -------
    dict of str to DayGain
        In the population, where the log is a sample of it; of all predictions, where labels are
        chosen (`mean_of_all`). Segments without outcomes have none, and those of days whose log
        does not say how they were chosen.
    """
    gains = dict[str, DayGain]()
    for name, part in summary.segments.items():
        if not part.tally.total or (rates and rates.in_log and part.rated is None):
            continue
        by = shadow.map if shadow.maps(name) else None
        if rates:
            gains[name] = _gain_of_all(part, by, rates)
        else:
            of_score = _gains(part.tally.scores, by, _sample_offset(summary))
            weights = summary.class_weights if by else NO_SAMPLE
            gains[name] = _day_gain(part.tally, buckets_of(summary, name), of_score, weights)
    return {WHOLE: _sum_of(list(gains.values())), **gains} if gains else {}


def _gain_of_all(part: Segment, by: CalibrationMap | None, rates: LabelRates) -> DayGain:
    """Estimate the gain of all predictions from that of the labelled ones."""
    of = weigh(part, rates)
    every = float(of.counts.sum())
    log_loss = mean_of_all(of, lambda scores: _gains(scores, by, 0.0)[0]).value
    brier = mean_of_all(of, lambda scores: _gains(scores, by, 0.0)[1]).value
    return DayGain(every, every * log_loss, every * brier)


def has_rows_of(summary: Summary, part: ColumnPart) -> bool:
    """Whether a day has all rows of a part, in every coarse cell: they were counted together."""
    everything = coarsen(whole(summary).tally)
    hits, misses = part.positives, part.counts - part.positives
    left = everything.counts - everything.positives
    enough = (hits <= everything.positives[part.cells]) & (misses <= left[part.cells])
    return bool(enough.all())


def map_part(summary: Summary, part: ColumnPart, calibration_map: CalibrationMap) -> Summary:
    """Give the whole of a day as a map for a part of its rows would have made it.

    Parameters
    ----------
    summary : Summary
        Of a single day.
    part : ColumnPart
        Some of its rows.
    calibration_map : CalibrationMap
        The map of their scores.

    Returns
    -------
    Summary
        One segment, the whole, because it is not known which segments the rows are in. Within a
        coarse cell, 1/32 wide in logit, the rows are taken to be spread as all rows with their
        outcome are. Predictions without an outcome stay where they are.
    """
    everything = whole(summary)
    inside, rest = _divided(everything.tally, part)
    moved = _mapped(inside.scores, calibration_map, _sample_offset(summary))
    tally = on_grid(
        np.concatenate([moved, rest.scores]),
        np.concatenate([inside.counts, rest.counts]),
        np.concatenate([inside.positives, rest.positives]),
    )
    return replace(
        summary, segments={WHOLE: replace(everything, tally=tally, strata={})}, entities={}
    )


def part_gains(
    summary: Summary,
    part: ColumnPart,
    calibration_map: CalibrationMap,
    rates: LabelRates | None = None,
) -> dict[str, DayGain]:
    """Sum up what a map for a part of the rows would have gained on one day.

    Parameters
    ----------
    summary, part, calibration_map
        As of `map_part`.
    rates : LabelRates, optional
        As of `day_gains`.

    Returns
    -------
    dict of str to DayGain
        Of the whole: the gain of the part, over the outcomes of all rows, or all predictions.
        Empty without outcomes.
    """
    everything = whole(summary)
    if rates and (rates.in_log and everything.rated is None):
        return {}
    t, coarse = everything.tally, _coarse_cells(everything.tally)
    hits = np.divide(*_of_part_and_all(coarse, t.positives, part.cells, part.positives))
    misses = np.divide(
        *_of_part_and_all(coarse, t.counts - t.positives, part.cells, part.counts - part.positives)
    )
    log_loss, brier = (
        (hits * of_hit, misses * of_missed)
        for of_hit, of_missed in _gains(t.scores, calibration_map, _sample_offset(summary))
    )
    weights: Weights = summary.class_weights
    if rates and t.total:
        of = weigh(everything, rates)
        positives, negatives = of.positives, of.rows - of.positives
        weights = (
            negatives / np.maximum(1, t.counts - t.positives),
            positives / np.maximum(1, t.positives),
        )
    day = _day_gain(t, NO_BUCKETS, (log_loss, brier), weights)
    return {WHOLE: day} if t.total else {}


def _divided(t: Tally, part: ColumnPart) -> tuple[Tally, Tally]:
    """Divide a tally into a part, which has counts by coarse cell only, and the rest."""
    coarse = _coarse_cells(t)
    hits = _taken(coarse, t.positives, part.cells, part.positives)
    misses = _taken(coarse, t.counts - t.positives, part.cells, part.counts - part.positives)
    inside = hits + misses
    return _kept(t, inside, hits), _kept(t, t.counts - inside, t.positives - hits)


def _taken(coarse: Ints, rows: Ints, cells: Ints, wanted: Ints) -> Ints:
    """Take rows of coarse cells, as evenly from the fine cells in them as whole rows allow."""
    share, among = _of_part_and_all(coarse, rows, cells, wanted)
    first = np.searchsorted(coarse, coarse)  # of each coarse cell
    reached = np.cumsum(rows)
    reached = reached - (reached - rows)[first]
    # To the nearest whole number, so that neither low nor high scores are preferred.
    upto = [(2 * many * share + among) // (2 * among) for many in (reached, reached - rows)]
    return upto[0] - upto[1]


def _of_part_and_all(coarse: Ints, rows: Ints, cells: Ints, wanted: Ints) -> tuple[Ints, Ints]:
    """Give the rows of a part in the coarse cell of each fine one, and all rows there, or 1."""
    of_all, of_part = np.zeros((2, COARSE_COUNT), np.int64)
    np.add.at(of_all, coarse, rows)
    of_part[cells] = wanted
    return of_part[coarse], np.maximum(of_all, 1)[coarse]


def _coarse_cells(t: Tally) -> Ints:
    return (t.cells.numbers if t.cells else locate(t.scores)[0]) // CELLS_IN_ONE


def _kept(t: Tally, counts: Ints, positives: Ints) -> Tally:
    some = counts > 0
    return Tally(t.scores[some], counts[some], positives[some])


def mapped_summary(summary: Summary, counts: ClassCounts, tops: Sequence[Tally]) -> Summary:
    """Give the summary that mapped vectors would have made, of the rows with an outcome.

    Parameters
    ----------
    summary : Summary
        Of a single day of a model with classes.
    counts : ClassCounts
        Its vectors, counted through a map.
    tops : sequence of Tally
        First choices in each of the parts of `counts`.
    """
    parts = zip(counts.parts or [(WHOLE, WHOLE)], tops or [counts.raw.top], strict=True)
    segments = dict[str, dict[str, Segment]]()
    for (segment, stratum), top in parts:
        segments.setdefault(segment, {})[stratum] = Segment(top, top.total)
    merged = {name: stratified(strata) for name, strata in segments.items()}
    return replace(summary, segments=merged, classes=counts)


def class_gains(logged: ClassCounts, mapped: ClassCounts) -> dict[str, DayGain]:
    """Sum up what a map of class vectors would have gained on one day.

    Parameters
    ----------
    logged, mapped : ClassCounts
        Of the same rows; the Brier score is that of the vector.

    Returns
    -------
    dict of str to DayGain
        Of the whole, as of `day_gains`; empty without outcomes.
    """
    gains = [
        (getattr(logged.raw, of).total - getattr(mapped.raw, of).total) / UNIT
        for of in ("log", "brier")
    ]
    return {WHOLE: DayGain(logged.total, *gains)} if logged.total else {}


def map_gain(days: Sequence[DayGain]) -> MapGain | None:
    """Estimate what a map gains from the days on which it was compared.

    Parameters
    ----------
    days : sequence of DayGain
        In their order, those with outcomes.

    Returns
    -------
    MapGain or None
        None of less than three days.

    Notes
    -----
    The gain of a prediction is the ratio ``sum g / sum n`` over the days, and its variance is
    ``k / (k - 1) sum (g - n ratio)**2 / (sum n)**2`` for k days, with Student's quantile of k - 1
    degrees of freedom. With entities, which come again on other days, the same over buckets is
    added and the same over buckets of days taken away (Cameron, Gelbach and Miller, Journal of
    Business and Economic Statistics 29, 2011), if that is more.

    Examples
    --------
    >>> gain = map_gain([DayGain(10, 1.0, 0.1), DayGain(20, 1.0, 0.1), DayGain(10, 0.6, 0.1)])
    >>> f"{gain.log_loss:.3f}"
    '0.065 (95 % 0.004 to 0.126)'
    """
    if len(days) < LEAST_DAYS:
        return None
    outcomes, log_loss, brier = np.array([(d.outcomes, d.log_loss, d.brier) for d in days]).T
    held = np.array([np.zeros((3, BUCKETS)) if day.held is None else day.held for day in days])
    rows, of_log_loss, of_brier = held.swapaxes(0, 1)
    recent = slice(-RECENT_DAYS, None)
    return MapGain(
        days=len(days),
        log_loss=_ratio(log_loss, outcomes, of_log_loss, rows),
        brier=_ratio(brier, outcomes, of_brier, rows),
        recent=_ratio(log_loss[recent], outcomes[recent], of_log_loss[recent], rows[recent]),
    )


def _sample_offset(summary: Summary) -> float:
    negative, positive = summary.class_weights
    return log(negative / positive)


def _mapped(scores: Floats, calibration_map: CalibrationMap, offset: float) -> Floats:
    if offset == 0.0:
        return apply_calibration_map(scores, calibration_map)
    population = apply_calibration_map(np.asarray(expit(logit(scores) - offset)), calibration_map)
    return np.asarray(expit(logit(population) + offset))


def _map_segment(part: Segment, calibration_map: CalibrationMap, offset: float) -> Segment:
    t = part.tally
    return replace(
        part,
        tally=on_grid(_mapped(t.scores, calibration_map, offset), t.counts, t.positives),
        awaited=_map_awaited(part.awaited, calibration_map, offset),
        strata={
            name: _map_segment(leaf, calibration_map, offset) for name, leaf in part.strata.items()
        },
    )


def _map_awaited(late: Awaited, calibration_map: CalibrationMap, offset: float) -> Awaited:
    middles = late.counts * (OFFSETS_PER_CELL // 2)
    scores = representative_scores(late.cells, middles, late.counts)
    return awaited(locate(_mapped(scores, calibration_map, offset))[0], late.counts)


def _map_buckets(
    part: BucketCounts, calibration_map: CalibrationMap, offset: float
) -> BucketCounts:
    scores = _mapped(np.asarray(expit(BIN_CENTRES)), calibration_map, offset)
    bins = bins_of(locate(scores)[0])[part.bins]
    return add_up_buckets(part.buckets, bins, part.counts, part.positives)


def _gains(scores: Floats, calibration_map: CalibrationMap | None, offset: float) -> Gains:
    """Give the gain of a positive and of a negative outcome at each score; 0 without a map."""
    if calibration_map is None:
        nothing = np.zeros(scores.size)
        return (nothing, nothing), (nothing, nothing)
    before = logit(scores) - offset
    after = logit(apply_calibration_map(np.asarray(expit(before)), calibration_map))
    p, q = expit(before), expit(after)
    return (
        (log_expit(after) - log_expit(before), log_expit(-after) - log_expit(-before)),
        ((1.0 - p) ** 2 - (1.0 - q) ** 2, p**2 - q**2),
    )


def _day_gain(t: Tally, held: BucketCounts, gains: Gains, weights: Weights) -> DayGain:
    negatives, positives = weights[0] * (t.counts - t.positives), weights[1] * t.positives
    log_loss, brier = (float((positives * hit + negatives * missed).sum()) for hit, missed in gains)
    outcomes = float((negatives + positives).sum())
    if not held.counts.size:
        return DayGain(outcomes, log_loss, brier)
    bins, ones = bins_of_tally(t), np.ones(t.scores.size)
    by_bucket = [
        bucket_sums(bins, t.counts, held, weights[1] * hit, weights[0] * missed)[0, :, 0]
        for hit, missed in ((ones, ones), *gains)
    ]
    return DayGain(outcomes, log_loss, brier, np.array(by_bucket))


def _sum_of(parts: Sequence[DayGain]) -> DayGain:
    return DayGain(
        sum(part.outcomes for part in parts),
        sum(part.log_loss for part in parts),
        sum(part.brier for part in parts),
        sum(held[1:], held[0]) if (held := [p.held for p in parts if p.held is not None]) else None,
    )


def _ratio(gains: Floats, outcomes: Floats, held: Floats, rows: Floats) -> Estimate:
    """Estimate a ratio over days; `held` and `rows` are gains and outcomes by day and bucket."""
    days, total = gains.size, float(outcomes.sum())
    value = float(gains.sum()) / total
    spread, left = _spread(gains - outcomes * value, outcomes), held - rows * value
    of_buckets = _spread(left.sum(axis=0), rows.sum(axis=0))
    # Also where days differ less than their rows: the sum of both is then too small.
    spread = max(spread, of_buckets, spread + of_buckets - _spread(left, rows))
    error = sqrt(spread) / total if days > 1 else nan
    reach = float(stdtrit(days - 1, 0.5 + CONFIDENCE / 2.0)) * error
    return Estimate(value, value - reach, value + reach, error)


def _spread(values: Floats, rows: Floats) -> float:
    """Estimate the variance of a sum of independent values with mean 0; 0 of a single one."""
    size = np.count_nonzero(rows)
    return size / (size - 1) * float((values**2).sum()) if size > 1 else 0.0
