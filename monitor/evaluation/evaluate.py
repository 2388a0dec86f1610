"""The measures of a window of days, for raw and for prior-adjusted scores. Pure.

Each calibration measure is computed twice. *Raw* uses the scores as the consumer of the model
got them. *Prior* uses ``sigma(logit s + delta)``, with the one intercept delta that makes the
window right on average: it shows the calibration error that remains without the prior shift.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import sqrt
from zlib import crc32

import numpy as np

from monitor.base.segment_names import WHOLE
from monitor.days.summary import (
    Segment,
    Summary,
    buckets_of,
    merge_summaries,
    of_population,
    whole,
)
from monitor.evaluation.attribution import (
    Explain,
    Stratum,
    causes_of,
    intercept_correction,
    mean_causes,
)
from monitor.evaluation.class_measures import class_measures, slope_of_pairs
from monitor.evaluation.errors import Errors
from monitor.evaluation.evaluation import (
    LEAST_RARER,
    Evaluation,
    Expectation,
    Lost,
    Population,
    TceNull,
)
from monitor.evaluation.expected_prevalence import expected_of_population
from monitor.evaluation.lost import FindLost, lost_of, mean_lost
from monitor.evaluation.map_gain import MapGain
from monitor.evaluation.population import population_of
from monitor.evaluation.population_causes import (
    ExplainAll,
    mean_population_causes,
    population_causes,
)
from monitor.evaluation.score_errors import Settings, errors_of, errors_of_each, widened
from monitor.metrics.beyond_binary.class_counts import ClassCounts
from monitor.metrics.binned.binning import paper_sizes
from monitor.metrics.core.buckets import NO_BUCKETS, BucketCounts
from monitor.metrics.core.coarse import CENTRES, OccupiedCells, coarsen_occupied
from monitor.metrics.core.dispersion import (
    INDEPENDENT,
    Hanging,
    design_effect,
    hanging,
    outcome_dispersion,
)
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.special import expit, logit
from monitor.metrics.core.tally import Tally, shift
from monitor.metrics.intervals.ece_interval import Adjustment, ece_interval
from monitor.metrics.logistic.conditional import fit_slope_of_cells, slope_design_effect
from monitor.metrics.logistic.intercept import fit_intercept, has_intercept
from monitor.metrics.test_based.null_reference import tce_null_reference

INTERVAL_REPLICATES = (
    20  # enough for a 95 % interval: more would change its width by less than a tenth
)
_MAP, _ALL = crc32(b"map"), crc32(b"population")
Compress = Callable[[Tally], OccupiedCells]
Expect = Callable[[str, Segment], Expectation | None]
Gain = Callable[[str], MapGain | None]


def evaluate(
    days: Sequence[Summary],
    *,
    window_days: int,
    settings: Settings,
    explain: Explain = causes_of,
    compress: Compress = coarsen_occupied,
    expect: Expect | None = None,
    mapped: Sequence[Summary] = (),
    gain: Gain | None = None,
    find_lost: FindLost | None = None,
    explain_all: ExplainAll | None = None,
) -> list[Evaluation]:
    """Evaluate every segment of a window, and the whole.

    Parameters
    ----------
    days : sequence of Summary
        The window's days; the last is the day that the evaluations belong to.
    window_days : int
        Length of the window in days, of which some may be missing.
    settings : Settings
        The same for every window of a day.
    explain, compress : callable
        `causes_of` and `coarsen_occupied`, or cached versions: a day is part of many windows.
    expect : callable, optional
        Returns the expected prevalence of a segment whose outcomes are still arriving.
    mapped : sequence of Summary, optional
        The days as a calibration map would have made them.
    gain : callable, optional
        Returns what the map has gained in a segment up to this day.
    find_lost : callable, optional
        `lost_of` with the worth of the settings, or a cached version.
    explain_all : callable, optional
        `population_causes` with the rates of the settings, or a cached version.

    Returns
    -------
    list of Evaluation
        The whole first, then the segments in their stored order.
    """
    window = merge_summaries(days)
    evaluate_part = (
        partial(_evaluate_vectors, counts=window.classes)
        if window.classes
        else partial(
            _evaluate_scores,
            strata_of=_strata(days),
            explain=explain,
            compress=compress,
            expect=expect,
            find_lost=find_lost,
            explain_all=explain_all,
        )
    )
    evaluations = [
        evaluate_part(days, window, name, part, window_days, settings)
        for name, part in {WHOLE: whole(window), **window.segments}.items()
    ]
    if gain:
        evaluations = [replace(e, map_gain=gain(e.segment)) for e in evaluations]
    return _with_map(evaluations, mapped, settings, compress) if mapped else evaluations


def _population(
    part: Segment,
    strata: Sequence[Segment],
    settings: Settings,
    explain: ExplainAll | None,
    rng: np.random.Generator,
) -> Population | None:
    """Estimate the measures of all predictions where labels are chosen."""
    rates = settings.label_rates
    if not rates:
        return None
    of_all = population_of(part, settings.alpha, rates, tce_size=settings.tce_size, rng=rng)
    explain = explain or partial(population_causes, rates=rates)
    return of_all and replace(of_all, causes=mean_population_causes(strata, part, explain))


def _segments(days: Sequence[Summary], name: str) -> list[Segment]:
    """List a segment, or all of them, on each day."""
    parts = [part for day in days for part in day.segments.items()]
    return [part for segment, part in parts if name in (WHOLE, segment)]


def _lost(
    strata: Sequence[Stratum], merged: Stratum, settings: Settings, find: FindLost | None
) -> Lost | None:
    worth = settings.worth
    return mean_lost(strata, merged, worth, find or partial(lost_of, worth)) if worth else None


def _strata(days: Sequence[Summary]) -> dict[str, list[Stratum]]:
    """List what has a prior of its own in each segment, and in all."""
    strata: dict[str, list[Stratum]] = {WHOLE: []}
    for day in days:
        for name, segment in day.segments.items():
            stratum = segment.tally, buckets_of(day, name)
            strata[WHOLE].append(stratum)
            if name != WHOLE:  # it has this name where the model has no segments
                strata.setdefault(name, []).append(stratum)
    return strata


def _slope(strata: Sequence[Stratum], compress: Compress) -> Estimate | None:
    parts = [compress(t) for t, _ in strata]
    slope = fit_slope_of_cells(CENTRES, parts)
    if not slope:
        return None
    effect = slope_design_effect(CENTRES, parts, [held for _, held in strata], slope[0])
    return Estimate.normal(*slope).widened(sqrt(effect))


def _with_map(
    evaluations: Sequence[Evaluation],
    days: Sequence[Summary],
    settings: Settings,
    compress: Compress,
) -> list[Evaluation]:
    """Add the measures of the mapped scores; their random numbers are their own.

    Segments that the days do not have any more stay as they are, and then the whole has no slope:
    it is not known which rows shared a prior.
    """
    window = merge_summaries(days)
    parts, strata_of = {WHOLE: whole(window), **window.segments}, _strata(days)
    undivided, added = len(parts) < len(evaluations), list[Evaluation]()
    for e in evaluations:
        if e.segment not in parts:
            added.append(e)
            continue
        t, held = parts[e.segment].tally, buckets_of(window, e.segment)
        rng = _generator(window, e.segment, e.window_days, _MAP)
        errors = _widened(errors_of(t, settings, rng), t, held) if t.total else None
        if errors and e.segment == WHOLE and _has_interval(window, e.window_days, settings):
            errors = _with_ece_interval(errors, t, "raw", rng, held)
        slope = (
            _slope_of_pairs(days, e.segment)
            if window.classes
            else None
            if undivided
            else _slope(strata_of[e.segment], compress)
        )
        added.append(replace(e, map=errors, map_slope=slope))
    return added


def _evaluate_vectors(
    days: Sequence[Summary],
    window: Summary,
    name: str,
    part: Segment,
    window_days: int,
    settings: Settings,
    *,
    counts: ClassCounts,
) -> Evaluation:
    """Evaluate first choices and the slope of pairs, and of the whole the vectors too."""
    t, rng = part.tally, _generator(window, name, window_days)
    described = _described(window, name, part, window_days)
    if not t.total:
        return described
    described = replace(described, slope=_slope_of_pairs(days, name))
    if name != WHOLE:
        return replace(described, raw=errors_of(t, settings, rng))
    adjusted = counts.adjusted.top if counts.adjusted else None
    # First: it is the same before a reference.
    null = _tce_null(window, adjusted, settings, rng) if adjusted else None
    raw = errors_of(t, settings, rng)
    prior = errors_of(adjusted, settings, rng) if adjusted else None
    if _has_interval(window, window_days, settings):
        raw = _with_ece_interval(raw, t, "raw", rng)
        if prior and adjusted:
            prior = _with_ece_interval(prior, adjusted, "raw", rng)
    of_classes = class_measures(counts, settings, rng)
    return replace(described, raw=raw, prior=prior, null=null, classes=of_classes)


def _slope_of_pairs(days: Sequence[Summary], name: str) -> Estimate | None:
    return slope_of_pairs([day.classes.pairs_of(name) for day in days if day.classes])


def _described(window: Summary, name: str, part: Segment, window_days: int) -> Evaluation:
    """Say what was evaluated, without any measure."""
    t = part.tally
    return Evaluation(
        model=window.model,
        segment=name,
        day=window.days[-1],
        window_days=window_days,
        days_present=len(window.days),
        final=window.final,
        known_at=window.known_at,
        predicted=part.predicted,
        matched=t.total,
        positives=t.total_positives,
        rejected=window.rejected if name == WHOLE else {},
        coverage=part.coverage,
        prevalence=t.prevalence,
        mean_score=t.mean_score,
        shift=None,
        raw=None,
        prior=None,
        null=None,
        acted=part.acted,
    )


def _evaluate_scores(
    days: Sequence[Summary],
    window: Summary,
    name: str,
    part: Segment,
    window_days: int,
    settings: Settings,
    *,
    strata_of: Mapping[str, Sequence[Stratum]],
    explain: Explain,
    compress: Compress,
    expect: Expect | None,
    find_lost: FindLost | None,
    explain_all: ExplainAll | None,
) -> Evaluation:
    """Evaluate the scores of a part, and what explains their error."""
    strata, merged = strata_of[name], (part.tally, buckets_of(window, name))
    rates = of_population(days, name) or (part.tally.prevalence, part.tally.mean_score)
    expected = expect(name, part) if expect and not window.final else None
    return replace(
        _evaluate_segment(window, name, part, window_days, settings),
        prevalence=rates[0],
        mean_score=rates[1],
        slope=_slope(strata, compress),
        causes=mean_causes(strata, merged, explain),
        lost=_lost(strata, merged, settings, find_lost),
        population=_population(
            *(part, _segments(days, name), settings, explain_all),
            rng=_generator(window, name, window_days, _ALL),
        ),
        expected=expected and expected_of_population(expected, days[-1].class_weights),
    )


def _evaluate_segment(
    window: Summary,
    name: str,
    part: Segment,
    window_days: int,
    settings: Settings,
) -> Evaluation:
    t, held = part.tally, buckets_of(window, name)
    rng = _generator(window, name, window_days)
    shift_, prior, null, raw, effect = None, None, None, None, 1.0
    if has_intercept(t):
        fitted = fit_intercept(t)
        p = np.asarray(expit(logit(t.scores) + fitted.delta))
        effect = design_effect(t, held, 1.0 - p, -p)
        shift_ = Estimate.normal(fitted.delta, fitted.standard_error).widened(sqrt(effect))
        adjusted = shift(t, fitted.delta)
        shared = hanging(adjusted, held, delta=fitted.delta)
        null = _tce_null(window, adjusted, settings, rng, shared)
        raw, prior = errors_of_each([t, adjusted], settings, rng)
        raw, prior = _widened(raw, t, held), _widened(prior, adjusted, held, delta=fitted.delta)
    elif t.total:
        raw = _widened(errors_of(t, settings, rng), t, held)
    if name == WHOLE and _has_interval(window, window_days, settings):
        raw = raw and _with_ece_interval(raw, t, "raw", rng, held)
        prior = prior and _with_ece_interval(prior, t, "prior", rng, held)
    return replace(
        _described(window, name, part, window_days),
        shift=shift_,
        raw=raw,
        prior=prior,
        null=null,
        correction=intercept_correction(t, held),
        design_effect=effect if held.counts.size and shift_ else None,
    )


def _widened(errors: Errors, t: Tally, held: BucketCounts, *, delta: float = 0.0) -> Errors:
    """Make intervals of independent rows those of rows that hang together."""
    of_brier = design_effect(t, held, (1.0 - t.scores) ** 2, t.scores**2, delta=delta)
    return widened(errors, of_brier=of_brier, of_tce=outcome_dispersion(held))


def _has_interval(window: Summary, window_days: int, settings: Settings) -> bool:
    return window.final and window_days >= settings.interval_days


def _with_ece_interval(
    errors: Errors,
    t: Tally,
    adjusted: Adjustment,
    rng: np.random.Generator,
    held: BucketCounts = NO_BUCKETS,
) -> Errors:
    interval = ece_interval(
        t, adjusted=adjusted, replicates=INTERVAL_REPLICATES, held=held, rng=rng
    )
    # The same value from another sum: the one that is stored, to its last digit.
    return replace(errors, ece_interval=replace(interval, value=errors.ece))


def _tce_null(
    window: Summary,
    t: Tally,
    settings: Settings,
    rng: np.random.Generator,
    shared: Hanging = INDEPENDENT,
) -> TceNull | None:
    """Say what calibrated scores would have, once all is known of enough outcomes of each kind."""
    if not window.final or min(t.total_positives, t.total - t.total_positives) < LEAST_RARER:
        return None
    smallest, largest = paper_sizes(t.total)
    null = tce_null_reference(
        t,
        min_size=smallest,
        max_size=largest,
        alpha=settings.alpha,
        replicates=settings.null_replicates,
        shared=shared,
        rng=rng,
    )
    return TceNull(null.mean, *null.quantiles)


def _generator(window: Summary, segment: str, window_days: int, *of: int) -> np.random.Generator:
    """Seed the generator by what is evaluated, so that every rerun draws the same numbers."""
    names = crc32(window.model.encode()), crc32(segment.encode())
    return np.random.default_rng([*of, *names, window.days[-1].toordinal(), window_days])
