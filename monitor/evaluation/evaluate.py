"""The measures of a window of days, for raw and for prior-adjusted scores. Pure.

Each calibration measure is computed twice. *Raw* uses the scores as the consumer of the model
got them. *Prior* uses ``sigma(logit s + delta)``, with the one intercept delta that makes the
window right on average: it shows the calibration error that remains without the prior shift.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
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
    FindLost,
    Stratum,
    causes_of,
    intercept_correction,
    lost_of,
    mean_causes,
    mean_lost,
)
from monitor.evaluation.errors import Errors
from monitor.evaluation.evaluation import (
    LEAST_RARER,
    ClassErrors,
    ClassMeasures,
    Evaluation,
    Expectation,
    MapGain,
    Population,
    TceNull,
    VectorErrors,
)
from monitor.evaluation.expected_prevalence import expected_of_population
from monitor.evaluation.population import (
    ExplainAll,
    mean_population_causes,
    population_causes,
    population_of,
)
from monitor.evaluation.score_errors import Settings, errors_of, errors_of_each, widened
from monitor.metrics.beyond_binary.class_counts import UNIT, ClassCounts, Reading, Sums
from monitor.metrics.beyond_binary.class_pairs import Pairs
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
from monitor.metrics.logistic.conditional import fit_slope, fit_slope_of_cells, slope_design_effect
from monitor.metrics.logistic.intercept import fit_intercept, has_intercept
from monitor.metrics.test_based.null_reference import tce_null_reference

# Enough for a 95 % interval: more would change its width by less than a tenth.
INTERVAL_REPLICATES = 20
_MAP, _ALL = crc32(b"map"), crc32(b"population")
Compress = Callable[[Tally], OccupiedCells]
Expect = Callable[[str, Segment], Expectation | None]
SLOPE_PAIRS = 50  # those of most rows, whose slope is fitted


@dataclass(frozen=True, eq=False)
class Finders:
    """What finds the parts of an evaluation; cached versions find what is of one day once.

    Attributes
    ----------
    explain, compress : callable
        `causes_of` and `coarsen_occupied`.
    expect : callable, optional
        Returns the expected prevalence of a segment whose outcomes are still arriving.
    gain : callable, optional
        Returns what a calibration map has gained in a segment up to this day.
    find_lost : callable, optional
        `lost_of` with the worth of the settings.
    explain_all : callable, optional
        `population_causes` with the rates of the settings.
    """

    explain: Explain = causes_of
    compress: Compress = coarsen_occupied
    expect: Expect | None = None
    gain: Callable[[str], MapGain | None] | None = None
    find_lost: FindLost | None = None
    explain_all: ExplainAll | None = None


@dataclass(frozen=True, eq=False)
class _Window:
    """The days of a window, and all that is the same for its segments."""

    days: Sequence[Summary]
    length: int
    settings: Settings
    finders: Finders

    @cached_property
    def merged(self) -> Summary:
        return merge_summaries(self.days)

    @cached_property
    def parts(self) -> Mapping[str, Segment]:
        """The whole, then the segments."""
        return {WHOLE: whole(self.merged), **self.merged.segments}

    @cached_property
    def strata(self) -> Mapping[str, Sequence[Stratum]]:
        """List what has a prior of its own in each segment, and in all."""
        strata: dict[str, list[Stratum]] = {WHOLE: []}
        for day in self.days:
            for name, segment in day.segments.items():
                stratum = segment.tally, buckets_of(day, name)
                strata[WHOLE].append(stratum)
                if name != WHOLE:  # it has this name where the model has no segments
                    strata.setdefault(name, []).append(stratum)
        return strata

    def generator(self, segment: str, *of: int) -> np.random.Generator:
        """Seed the generator by what is evaluated, so that every rerun draws the same numbers."""
        names = crc32(self.merged.model.encode()), crc32(segment.encode())
        day = self.merged.days[-1].toordinal()
        return np.random.default_rng([*of, *names, day, self.length])

    def slope(self, name: str) -> Estimate | None:
        """Fit the slope of a segment, with an intercept for each day and segment in it."""
        if self.merged.classes:
            return slope_of_pairs([day.classes.pairs_of(name) for day in self.days if day.classes])
        parts = [self.finders.compress(t) for t, _ in self.strata[name]]
        slope = fit_slope_of_cells(CENTRES, parts)
        if not slope:
            return None
        held = [held for _, held in self.strata[name]]
        effect = slope_design_effect(CENTRES, parts, held, slope[0])
        return Estimate.normal(*slope).widened(sqrt(effect))

    def with_interval(
        self,
        name: str,
        errors: Errors | None,
        t: Tally,
        rng: np.random.Generator,
        held: BucketCounts = NO_BUCKETS,
        adjusted: Adjustment = "raw",
    ) -> Errors | None:
        """Add the interval of ECE, of the whole of a settled window that is long enough."""
        long = self.merged.final and self.length >= self.settings.interval_days
        if not (errors and name == WHOLE and long):
            return errors
        interval = ece_interval(
            t, adjusted=adjusted, replicates=INTERVAL_REPLICATES, held=held, rng=rng
        )
        # The same value from another sum: the one that is stored, to its last digit.
        return replace(errors, ece_interval=replace(interval, value=errors.ece))

    def null(
        self, t: Tally, rng: np.random.Generator, shared: Hanging = INDEPENDENT
    ) -> TceNull | None:
        """Say what calibrated scores would have, once all is known of enough of each outcome."""
        rarer = min(t.total_positives, t.total - t.total_positives)
        if not self.merged.final or rarer < LEAST_RARER:
            return None
        smallest, largest = paper_sizes(t.total)
        null = tce_null_reference(
            t,
            min_size=smallest,
            max_size=largest,
            alpha=self.settings.alpha,
            replicates=self.settings.null_replicates,
            shared=shared,
            rng=rng,
        )
        return TceNull(null.mean, *null.quantiles)


def evaluate(
    days: Sequence[Summary],
    *,
    window_days: int,
    settings: Settings,
    finders: Finders = Finders(),
    mapped: Sequence[Summary] = (),
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
    finders : Finders
        Those of a run, which keeps what is of a day: it is part of many windows.
    mapped : sequence of Summary, optional
        The days as a calibration map would have made them.

    Returns
    -------
    list of Evaluation
        The whole first, then the segments in their stored order.
    """
    window = _Window(days, window_days, settings, finders)
    evaluate_part = _evaluate_vectors if window.merged.classes else _evaluate_scores
    evaluations = [evaluate_part(window, name, part) for name, part in window.parts.items()]
    if finders.gain:
        evaluations = [replace(e, map_gain=finders.gain(e.segment)) for e in evaluations]
    if not mapped:
        return evaluations
    return _with_map(evaluations, replace(window, days=mapped))


def _with_map(evaluations: Sequence[Evaluation], window: _Window) -> list[Evaluation]:
    """Add the measures of the mapped scores; their random numbers are their own.

    Segments that the days do not have any more stay as they are, and then the whole has no slope:
    it is not known which rows shared a prior.
    """
    undivided, added = len(window.parts) < len(evaluations), list[Evaluation]()
    for e in evaluations:
        if e.segment not in window.parts:
            added.append(e)
            continue
        t, held = window.parts[e.segment].tally, buckets_of(window.merged, e.segment)
        rng = window.generator(e.segment, _MAP)
        errors = _widened(errors_of(t, window.settings, rng), t, held) if t.total else None
        errors = window.with_interval(e.segment, errors, t, rng, held)
        slope = None if undivided and not window.merged.classes else window.slope(e.segment)
        added.append(replace(e, map=errors, map_slope=slope))
    return added


def _evaluate_vectors(window: _Window, name: str, part: Segment) -> Evaluation:
    """Evaluate first choices and the slope of pairs, and of the whole the vectors too."""
    t, settings, counts = part.tally, window.settings, window.merged.classes
    described, rng = _described(window, name, part), window.generator(name)
    if not (t.total and counts):
        return described
    described = replace(described, slope=window.slope(name))
    if name != WHOLE:
        return replace(described, raw=errors_of(t, settings, rng))
    adjusted = counts.adjusted.top if counts.adjusted else None
    # First: it is the same before a reference.
    null = window.null(adjusted, rng) if adjusted else None
    raw = errors_of(t, settings, rng)
    prior = errors_of(adjusted, settings, rng) if adjusted else None
    return replace(
        described,
        raw=window.with_interval(name, raw, t, rng),
        prior=window.with_interval(name, prior, adjusted or t, rng),
        null=null,
        classes=class_measures(counts, settings, rng),
    )


def _described(window: _Window, name: str, part: Segment) -> Evaluation:
    """Say what was evaluated, without any measure."""
    t, merged = part.tally, window.merged
    return Evaluation(
        model=merged.model,
        segment=name,
        day=merged.days[-1],
        window_days=window.length,
        days_present=len(merged.days),
        final=merged.final,
        known_at=merged.known_at,
        predicted=part.predicted,
        matched=t.total,
        positives=t.total_positives,
        rejected=merged.rejected if name == WHOLE else {},
        coverage=part.coverage,
        prevalence=t.prevalence,
        mean_score=t.mean_score,
        shift=None,
        raw=None,
        prior=None,
        null=None,
        acted=part.acted,
    )


def _evaluate_scores(window: _Window, name: str, part: Segment) -> Evaluation:
    """Evaluate the scores of a part, and what explains their error."""
    t, held, settings = part.tally, buckets_of(window.merged, name), window.settings
    days, finders, rng = window.days, window.finders, window.generator(name)
    shift_, prior, null, raw, effect = None, None, None, None, 1.0
    if has_intercept(t):
        fitted = fit_intercept(t)
        p = np.asarray(expit(logit(t.scores) + fitted.delta))
        effect = design_effect(t, held, 1.0 - p, -p)
        shift_ = Estimate.normal(fitted.delta, fitted.standard_error).widened(sqrt(effect))
        adjusted = shift(t, fitted.delta)
        null = window.null(adjusted, rng, hanging(adjusted, held, delta=fitted.delta))
        raw, prior = errors_of_each([t, adjusted], settings, rng)
        prior = _widened(prior, adjusted, held, delta=fitted.delta)
    elif t.total:
        raw = errors_of(t, settings, rng)
    raw = raw and window.with_interval(name, _widened(raw, t, held), t, rng, held)
    strata, merged, worth = window.strata[name], (t, held), settings.worth
    prevalence, mean_score = of_population(days, name) or (t.prevalence, t.mean_score)
    expect = None if window.merged.final else finders.expect
    expected = expect and expect(name, part)
    find_lost = finders.find_lost or (worth and partial(lost_of, worth))
    return replace(
        _described(window, name, part),
        shift=shift_,
        raw=raw,
        prior=window.with_interval(name, prior, t, rng, held, "prior"),
        null=null,
        correction=intercept_correction(t, held),
        design_effect=effect if held.counts.size and shift_ else None,
        prevalence=prevalence,
        mean_score=mean_score,
        slope=window.slope(name),
        causes=mean_causes(strata, merged, finders.explain),
        lost=mean_lost(strata, merged, worth, find_lost) if worth and find_lost else None,
        population=_population(window, name, part),
        expected=expected and expected_of_population(expected, days[-1].class_weights),
    )


def _population(window: _Window, name: str, part: Segment) -> Population | None:
    """Estimate the measures of all predictions where labels are chosen."""
    settings, rates = window.settings, window.settings.label_rates
    if not rates:
        return None
    rng, size = window.generator(name, _ALL), settings.tce_size
    of_all = population_of(part, settings.alpha, rates, tce_size=size, rng=rng)
    explain = window.finders.explain_all or partial(population_causes, rates=rates)
    every = (of for day in window.days for of in day.segments.items())
    strata = [segment for key, segment in every if name in (WHOLE, key)]
    return of_all and replace(of_all, causes=mean_population_causes(strata, part, explain))


def _widened(errors: Errors, t: Tally, held: BucketCounts, *, delta: float = 0.0) -> Errors:
    """Make intervals of independent rows those of rows that hang together."""
    of_brier = design_effect(t, held, (1.0 - t.scores) ** 2, t.scores**2, delta=delta)
    return widened(errors, of_brier=of_brier, of_tce=outcome_dispersion(held))


def class_measures(
    counts: ClassCounts, settings: Settings, rng: np.random.Generator
) -> ClassMeasures:
    """Measure the vectors of a window that has an outcome."""
    return ClassMeasures(
        count=len(counts.names),
        judged=counts.judged / counts.total,
        raw=_vector_errors(counts.raw, counts.total),
        prior=_vector_errors(counts.adjusted, counts.total),
        by_class=tuple(_of_class(counts, k, settings, rng) for k in _watched(counts, settings)),
        pairs=sum(bool(pair.counts.any()) for pair in counts.pairs.values()),
    )


def _watched(counts: ClassCounts, settings: Settings) -> list[int]:
    """Choose the classes with most outcomes among those whose scores are known on every day."""
    if counts.adjusted is None:  # of a log with the highest scores only
        return []
    ranked = sorted(counts.raw.by_class, key=lambda k: (-int(counts.outcomes[k]), k))
    return sorted(ranked[: settings.most_classes])


def slope_of_pairs(days: Sequence[Sequence[Pairs]]) -> Estimate | None:
    """Fit the slope that all pairs share, each with an intercept of its own every day.

    Parameters
    ----------
    days : sequence of sequence of mapping to Coarse
        The pairs of each day, by part of the traffic: those of a part have intercepts of their own.
    """
    totals: dict[tuple[int, int], int] = {}
    for part in chain.from_iterable(days):
        for pair, counted in part.items():
            totals[pair] = totals.get(pair, 0) + int(counted.counts.sum())
    chosen = sorted(totals, key=lambda pair: (-totals[pair], pair))[:SLOPE_PAIRS]
    strata = [part[pair] for day in days for pair in chosen for part in day if pair in part]
    slope = fit_slope(CENTRES, strata) if strata else None
    return Estimate.normal(*slope) if slope else None


def _vector_errors(reading: Reading | None, total: int) -> VectorErrors | None:
    if not (reading and reading.brier and reading.log):
        return None
    brier, error = _mean(reading.brier, total)
    root = sqrt(brier)
    of_root = error / (2.0 * root) if root > 0.0 else 0.0  # delta method
    return VectorErrors(
        rbs=Estimate.normal(root, of_root), log_score=Estimate.normal(*_mean(reading.log, total))
    )


def _mean(sums: Sums, total: int) -> tuple[float, float]:
    """Give mean and standard error of independent rows."""
    mean, square = sums.total / UNIT / total, sums.squares / UNIT / total
    return mean, sqrt(max(0.0, square - mean**2) / total)


def _of_class(
    counts: ClassCounts, k: int, settings: Settings, rng: np.random.Generator
) -> ClassErrors:
    name, scores = counts.names[k], counts.raw.by_class[k]
    own = Settings(
        settings.alpha, settings.null_replicates, tce_size=settings.class_sizes.get(name)
    )

    def measured(reading: Reading | None) -> Errors | None:
        return errors_of(reading.by_class[k], own, rng) if reading and scores.total else None

    return ClassErrors(
        name=name,
        outcomes=int(counts.outcomes[k]),
        prevalence=float(counts.outcomes[k] / counts.total),
        mean_score=scores.mean_score,
        raw=measured(counts.raw),
        prior=measured(counts.adjusted),
    )
