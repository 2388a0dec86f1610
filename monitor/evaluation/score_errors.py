"""Sets of scores, measured by the settings of an evaluation. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import sqrt

import numpy as np

from monitor.evaluation.attribution import Worth
from monitor.evaluation.errors import Errors, measure
from monitor.metrics.beyond_binary.class_counts import MOST_WATCHED
from monitor.metrics.core.tally import Tally, have_same_groups
from monitor.metrics.test_based.tce_at_size import tce_at_size, tces_at_size


@dataclass(frozen=True)
class LabelRates:
    """How the predictions were chosen that get an outcome.

    Attributes
    ----------
    by_score : tuple of (float, float)
        The highest score of each range, in rising order, and the rate there; empty if rates are
        only counted.
    in_log : bool
        Whether the log says with which probability each row was chosen.
    """

    by_score: tuple[tuple[float, float], ...] = ()
    in_log: bool = False


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
    class_sizes : mapping of str to int
        N* of each class against the rest.
    most_classes : int
        Classes that are measured one by one: those with most outcomes in the window.
    label_rates : LabelRates or None
        How the predictions were chosen that get an outcome, so that all are measured too.
    worth : Worth or None
        What an error is worth, where that is known.
    """

    alpha: float
    null_replicates: int
    tce_size: int | None = None
    interval_days: int = 28
    class_sizes: Mapping[str, int] = field(default_factory=dict, repr=False)
    most_classes: int = field(default=MOST_WATCHED, repr=False)
    label_rates: LabelRates | None = field(default=None, repr=False)
    worth: Worth | None = field(default=None, repr=False)


def errors_of(t: Tally, settings: Settings, rng: np.random.Generator) -> Errors:
    """Measure one set of scores, a tally of at least one prediction."""
    size = _size_of_tce(t, settings)
    tce = tce_at_size(t, size=size, alpha=settings.alpha, rng=rng).mean if size else None
    return measure(t, tce, settings.alpha)


def errors_of_each(
    tallies: Sequence[Tally], settings: Settings, rng: np.random.Generator
) -> list[Errors]:
    """Measure several sets of scores of the same predictions, at least one.

    Where they have the same groups, TCE at size takes the same subsamples of all of them.
    """
    size = _size_of_tce(tallies[0], settings)
    if size is None or not all(have_same_groups(tallies[0], t) for t in tallies):
        return [errors_of(t, settings, rng) for t in tallies]
    tces = tces_at_size(tallies, size=size, alpha=settings.alpha, rng=rng)
    return [measure(t, tce.mean, settings.alpha) for t, tce in zip(tallies, tces, strict=True)]


def widened(errors: Errors, *, of_brier: float, of_tce: float) -> Errors:
    """Widen the intervals of RBS and of TCE by the roots of their design effects."""
    tce, rbs_ends = errors.tce, errors.rbs_interval
    return replace(
        errors,
        tce=tce and tce.widened(sqrt(of_tce), 0.0, 1.0),
        rbs_interval=rbs_ends and rbs_ends.widened(sqrt(of_brier), 0.0, 1.0),
    )


def _size_of_tce(t: Tally, settings: Settings) -> int | None:
    return settings.tce_size if settings.tce_size and settings.tce_size <= t.total else None
