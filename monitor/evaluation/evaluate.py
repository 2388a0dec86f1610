"""The measures of a window of days, for raw and for prior-adjusted scores. Pure.

Each calibration measure is computed twice. *Raw* uses the scores as the consumer of the model
got them. *Prior* uses ``sigma(logit s + delta)``, with the one intercept delta that makes the
window right on average: it shows the calibration error that remains without the prior shift.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from zlib import crc32

import numpy as np

from monitor.evaluation.attribution import (
    Attribution,
    Causes,
    InterceptCorrection,
    attribute,
    intercept_correction,
    mean_causes,
)
from monitor.evaluation.expected_prevalence import Expectation, expected_of_population
from monitor.metrics.binned.binning import monitor_sizes, paper_sizes, pava_bc
from monitor.metrics.binned.ece import ece
from monitor.metrics.core.coarse import CENTRES, Coarse, coarsen
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.tally import Tally, shift
from monitor.metrics.intervals.ece_interval import Adjustment, ece_interval
from monitor.metrics.intervals.intervals import rbs_interval
from monitor.metrics.logistic.conditional import fit_slope
from monitor.metrics.logistic.intercept import fit_intercept, has_intercept
from monitor.metrics.scores.brier import rbs
from monitor.metrics.test_based.null_reference import tce_null_reference
from monitor.metrics.test_based.tce import rejected_per_bin
from monitor.metrics.test_based.tce_at_size import tce_at_size
from monitor.segment_names import WHOLE
from monitor.summary import Segment, Summary, merge_summaries, of_population, whole

INTERVAL_REPLICATES = (
    20  # enough for a 95 % interval: more would change its width by less than a tenth
)
# Of the rarer outcome, for a null reference of TCE: five in the smallest of the paper's bins,
# N/20, the usual rule. With fewer, bins reject almost nothing, whatever the scores.
LEAST_RARER = 100
Explain = Callable[[Tally], Attribution | None]
Compress = Callable[[Tally], Coarse]
Expect = Callable[[str, Segment], Expectation | None]


@dataclass(frozen=True)
class Errors:
    """The calibration measures of one set of scores.

    Attributes
    ----------
    tce_published : float
        TCE over PAVA-BC bins of the paper's sizes, a ratio in [0, 1].
    ece : float
        ECE over PAVA-BC bins of the monitor's sizes, a ratio in [0, 1].
    rbs : float
        Root Brier score, in [0, 1].
    tce : Estimate or None
        TCE at the model's fixed size N*, a ratio in [0, 1]; comparable across days, volumes and
        models; None with fewer predictions, or before there is a reference, which determines N*.
    ece_interval, rbs_interval : Estimate or None
        Of 95 %. That of ECE is for the error of the scores themselves, which chance only adds
        to, so ECE may lie above it.
    """

    tce_published: float
    ece: float
    rbs: float
    tce: Estimate | None = None
    ece_interval: Estimate | None = None
    rbs_interval: Estimate | None = None


@dataclass(frozen=True)
class TceNull:
    """TCE of a calibrated model with the same predictions: mean and quantiles, ratios."""

    mean: float
    q05: float
    q50: float
    q95: float
    q99: float


@dataclass(frozen=True)
class Evaluation:
    """The measures of one segment over one window.

    `rejected` counts the rows left out, by check; only the whole has them, because rejected rows
    have no segment. `raw` is None without a prediction with an outcome. `shift` is the intercept,
    in logit, that makes the scores right on average; it and `prior` are None while all outcomes
    are equal, because then the intercept is not finite. `null` is None with fewer than
    `LEAST_RARER` of the rarer outcome. `slope` is that of the outcomes on the scores' log-odds,
    with a separate intercept for each day and segment. `causes` divides the error of raw scores;
    `correction` is the part of it that one intercept for the whole window would remove.
    """

    model: str
    segment: str
    day: date
    window_days: int
    days_present: int
    final: bool
    known_at: datetime
    predicted: int
    matched: int
    positives: int
    rejected: Mapping[str, int]
    coverage: float
    prevalence: float
    mean_score: float
    shift: Estimate | None
    raw: Errors | None
    prior: Errors | None
    null: TceNull | None
    slope: Estimate | None = None
    causes: Causes | None = None
    expected: Expectation | None = None
    correction: InterceptCorrection | None = None


@dataclass(frozen=True)
class Settings:
    """The settings of an evaluation.

    Attributes
    ----------
    alpha : float
        Level of the tests inside TCE.
    null_replicates : int
        Number of resampled data sets behind its null reference.
    tce_size : int or None
        N* of TCE; None before there is a reference.
    interval_days : int
        Least length of a window for which the whole gets an interval of ECE. The interval is by far
        the most expensive number, and of little use for short windows and segments.
    """

    alpha: float
    null_replicates: int
    tce_size: int | None = None
    interval_days: int = 28


def evaluate(
    days: Sequence[Summary],
    *,
    window_days: int,
    settings: Settings,
    explain: Explain = attribute,
    compress: Compress = coarsen,
    expect: Expect | None = None,
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
        `attribute` and `coarsen`, or cached versions of them: a day is part of many windows.
    expect : callable, optional
        Returns the expected prevalence of a segment whose outcomes are still arriving.

    Returns
    -------
    list of Evaluation
        The whole first, then the segments in their stored order.
    """
    window = merge_summaries(days)
    found = []
    for name, part in {WHOLE: whole(window), **window.segments}.items():
        strata = [
            segment.tally
            for day in days
            for key, segment in day.segments.items()
            if name in (WHOLE, key)
        ]
        slope = fit_slope(CENTRES, [compress(stratum) for stratum in strata])
        rates = of_population(days, name) or (part.tally.prevalence, part.tally.mean_score)
        evaluated = replace(
            _evaluate_segment(window, name, part, window_days, settings),
            prevalence=rates[0],
            mean_score=rates[1],
            slope=Estimate.normal(*slope) if slope else None,
            causes=mean_causes(strata, part.tally, explain),
        )
        if expect and not window.final:
            expected = expect(name, part)
            evaluated = replace(
                evaluated,
                expected=expected and expected_of_population(expected, days[-1].class_weights),
            )
        found.append(evaluated)
    return found


def _evaluate_segment(
    window: Summary,
    name: str,
    part: Segment,
    window_days: int,
    settings: Settings,
) -> Evaluation:
    t, rng = part.tally, _generator(window, name, window_days)
    shift_, prior, null, raw = None, None, None, None
    if has_intercept(t):
        fitted = fit_intercept(t)
        shift_ = Estimate.normal(fitted.delta, fitted.standard_error)
        adjusted = shift(t, fitted.delta)
        if min(t.total_positives, t.total - t.total_positives) >= LEAST_RARER:
            null = _tce_null(adjusted, settings, rng)
        prior = _errors(adjusted, settings, rng)
    if t.total:
        raw = _errors(t, settings, rng)
    if name == WHOLE and window_days >= settings.interval_days:
        raw = raw and _with_ece_interval(raw, t, "raw", rng)
        prior = prior and _with_ece_interval(prior, t, "prior", rng)
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
        shift=shift_,
        raw=raw,
        prior=prior,
        null=null,
        correction=intercept_correction(t),
    )


def _errors(t: Tally, settings: Settings, rng: np.random.Generator) -> Errors:
    smallest, largest = paper_sizes(t.total)
    bins = pava_bc(t, min_size=smallest, max_size=largest)
    # The same as `tce` without the accepted intervals, which are not needed here.
    rejected = rejected_per_bin(
        t.scores, t.counts, bins.starts, bins.counts, bins.positives, settings.alpha
    )
    smallest, largest = monitor_sizes(t.total)
    seen = pava_bc(t, min_size=smallest, max_size=largest)
    return Errors(
        int(rejected.sum()) / t.total,
        ece(seen),
        rbs(t),
        tce=_tce_at_size(t, settings, rng),
        rbs_interval=rbs_interval(t),
    )


def _with_ece_interval(
    errors: Errors, t: Tally, adjusted: Adjustment, rng: np.random.Generator
) -> Errors:
    found = ece_interval(t, adjusted=adjusted, replicates=INTERVAL_REPLICATES, rng=rng)
    # The same value from another sum: the one that is stored, to its last digit.
    return replace(errors, ece_interval=replace(found, value=errors.ece))


def _tce_at_size(t: Tally, settings: Settings, rng: np.random.Generator) -> Estimate | None:
    if settings.tce_size is None or t.total < settings.tce_size:
        return None
    return tce_at_size(t, size=settings.tce_size, alpha=settings.alpha, rng=rng).mean


def _tce_null(t: Tally, settings: Settings, rng: np.random.Generator) -> TceNull:
    smallest, largest = paper_sizes(t.total)
    null = tce_null_reference(
        t,
        min_size=smallest,
        max_size=largest,
        alpha=settings.alpha,
        replicates=settings.null_replicates,
        rng=rng,
    )
    return TceNull(null.mean, *null.quantiles)


def _generator(window: Summary, segment: str, window_days: int) -> np.random.Generator:
    """Seed the generator by what is evaluated, so that every rerun draws the same numbers."""
    return np.random.default_rng(
        [
            crc32(window.model.encode()),
            crc32(segment.encode()),
            window.days[-1].toordinal(),
            window_days,
        ]
    )
