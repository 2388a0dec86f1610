"""A window of days judged: every measure, as scored and with the prior forgiven. Pure.

Two readings of the same predictions stand side by side. *Raw* takes the scores as the
consumer of the model got them. *Prior* takes ``sigma(logit s + delta)``, with the one
intercept delta that makes the window right on average: what is left of the calibration error
when a shift of the prior is forgiven.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from zlib import crc32

import numpy as np

from monitor.days import WHOLE, Segment, Summary, whole
from monitor.metrics.binning import monitor_sizes, paper_sizes, pava_bc
from monitor.metrics.brier import rbs
from monitor.metrics.ece import ece
from monitor.metrics.intercept import fit_intercept, has_intercept
from monitor.metrics.resampling import tce_null_reference
from monitor.metrics.tally import Tally, shift
from monitor.metrics.tce import tce

NORMAL_95 = 1.959963984540054  # two-sided 95 % quantile of the normal distribution


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
    """

    tce_published: float
    ece: float
    rbs: float


@dataclass(frozen=True)
class TceNull:
    """TCE of a calibrated model with the same predictions: mean and quantiles, ratios."""

    mean: float
    q05: float
    q50: float
    q95: float
    q99: float


@dataclass(frozen=True)
class PriorShift:
    """The intercept by which the scores miss the prevalence, in logit units, with 95 % interval."""

    delta: float
    low: float
    high: float


@dataclass(frozen=True)
class Evaluation:
    """What one window says of one segment.

    `rejected` counts the rows left out by check; rows have no segment before they are read, so
    it is filled for the whole only. `raw` is None without a single labelled prediction; `shift`,
    `prior` and `null` are None while only one class of outcomes has been seen, because then no
    intercept is finite.
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
    shift: PriorShift | None
    raw: Errors | None
    prior: Errors | None
    null: TceNull | None


@dataclass(frozen=True)
class Settings:
    """The choices behind the numbers: test level and number of resampled worlds."""

    alpha: float
    null_replicates: int


def evaluate(window: Summary, *, window_days: int, settings: Settings) -> list[Evaluation]:
    """Judge every segment of a window, and the whole.

    Parameters
    ----------
    window : Summary
        The merge of the window's days; its last day is the day that is judged.
    window_days : int
        Length of the window in days, of which some may be missing.
    settings : Settings
        The same for every window of a model.

    Returns
    -------
    list of Evaluation
        The whole first, then the segments in their stored order.
    """
    parts = {WHOLE: whole(window), **window.segments}
    return [
        _evaluate_segment(window, name, part, window_days, settings) for name, part in parts.items()
    ]


def _evaluate_segment(
    window: Summary, name: str, part: Segment, window_days: int, settings: Settings
) -> Evaluation:
    t = part.tally
    shift_, prior, null = None, None, None
    if has_intercept(t):
        fitted = fit_intercept(t)
        margin = NORMAL_95 * fitted.standard_error
        shift_ = PriorShift(fitted.delta, fitted.delta - margin, fitted.delta + margin)
        adjusted = shift(t, fitted.delta)
        prior = _errors(adjusted, settings)
        null = _tce_null(adjusted, settings, _generator(window, name, window_days))
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
        raw=_errors(t, settings) if t.total else None,
        prior=prior,
        null=null,
    )


def _errors(t: Tally, settings: Settings) -> Errors:
    smallest, largest = paper_sizes(t.total)
    published = tce(t, pava_bc(t, min_size=smallest, max_size=largest), alpha=settings.alpha)
    smallest, largest = monitor_sizes(t.total)
    seen = pava_bc(t, min_size=smallest, max_size=largest)
    return Errors(published.value, ece(seen), rbs(t))


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
    """Seed chance by what is evaluated, so that every rerun draws the same worlds."""
    return np.random.default_rng(
        [
            crc32(window.model.encode()),
            crc32(segment.encode()),
            window.days[-1].toordinal(),
            window_days,
        ]
    )
