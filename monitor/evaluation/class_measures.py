"""The measures of vectors of class probabilities over a window. Pure."""

from collections.abc import Sequence
from itertools import chain
from math import sqrt

import numpy as np

from monitor.evaluation.errors import Errors
from monitor.evaluation.evaluation import ClassErrors, ClassMeasures, VectorErrors
from monitor.evaluation.score_errors import Settings, errors_of
from monitor.metrics.beyond_binary.class_counts import UNIT, ClassCounts, Reading, Sums
from monitor.metrics.beyond_binary.class_pairs import Pairs
from monitor.metrics.core.coarse import CENTRES
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.logistic.conditional import fit_slope

SLOPE_PAIRS = 50  # those of most rows, whose slope is fitted


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
