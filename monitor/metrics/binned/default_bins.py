"""The bins of a measure that is called with a tally or with rows."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast, overload

import numpy as np
import numpy.typing as npt

from monitor.metrics.binned.binning import (
    Bins,
    bins_of,
    monitor_sizes,
    paper_sizes,
    pava_bc,
    quantile_bins,
)
from monitor.metrics.core.reading import split_sample
from monitor.metrics.core.samples import Rows
from monitor.metrics.core.tally import Tally, tally

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)
Sizes = Callable[[int], tuple[int, int]]  # of the number of predictions: smallest and largest bin


class BinnedMeasure(Protocol[P, R_co]):
    """A measure that can be called with bins, a tally, a pair of columns, or two columns."""

    @overload
    def __call__(self, bins: Bins | Tally | Rows, /, *args: P.args, **kwargs: P.kwargs) -> R_co: ...
    @overload
    def __call__(
        self, y_true: npt.ArrayLike, y_prob: npt.ArrayLike, /, *args: P.args, **kwargs: P.kwargs
    ) -> R_co: ...


def takes_bins(
    cut: Callable[[Tally], Bins],
) -> Callable[[Callable[Concatenate[Bins, P], R_co]], BinnedMeasure[P, R_co]]:
    """Let a measure of bins be called with a tally or with rows, which are cut so.

    Examples
    --------
    >>> size = takes_bins(deciles)(lambda bins: bins.counts.size)
    >>> size([0, 1, 1], [0.2, 0.5, 0.9]), size(deciles(tally([0, 1, 1], [0.2, 0.5, 0.9])))
    (3, 3)
    """

    def decorate(measure: Callable[Concatenate[Bins, P], R_co]) -> BinnedMeasure[P, R_co]:
        @wraps(measure)
        def of_sample(*given: Any, **options: Any) -> R_co:
            sample, rest = split_sample(measure.__name__, given, options, (Bins,))
            bins = (
                sample
                if isinstance(sample, Bins)
                else cut(sample if isinstance(sample, Tally) else tally(*sample))
            )
            return measure(bins, *rest, **options)

        return cast("BinnedMeasure[P, R_co]", of_sample)

    return decorate


def daily_bins(t: Tally) -> Bins:
    """Cut the bins of the daily job's ECE: PAVA-BC bins of the monitor's sizes.

    Examples
    --------
    >>> daily_bins(tally([0, 0, 1, 1], [0.2, 0.2, 0.9, 0.9])).counts
    array([4])
    """
    return pava_bc_of(t, monitor_sizes)


def paper_bins(t: Tally) -> Bins:
    """Cut the bins of the published TCE: PAVA-BC bins of the paper's sizes.

    Examples
    --------
    >>> paper_bins(tally([0, 0, 1, 1], [0.2, 0.2, 0.9, 0.9])).counts
    array([2, 2])
    """
    return pava_bc_of(t, paper_sizes)


def fifteen_quantiles(t: Tally) -> Bins:
    """Cut fifteen bins of equal size without looking at the outcomes.

    Examples
    --------
    >>> fifteen_quantiles(tally([0, 1], [0.2, 0.9])).counts
    array([1, 1])
    """
    return quantile_bins(t, 15)


def each_score(t: Tally) -> Bins:
    """Make a bin of each distinct score.

    Examples
    --------
    >>> each_score(tally([0, 1, 1], [0.2, 0.2, 0.9])).counts
    array([2, 1])
    """
    return bins_of(t, np.arange(t.scores.size + 1))


def deciles(t: Tally) -> Bins:
    """Cut ten bins of equal size without looking at the outcomes.

    Examples
    --------
    >>> deciles(tally([0, 1], [0.2, 0.9])).counts
    array([1, 1])
    """
    return quantile_bins(t, 10)


def pava_bc_of(t: Tally, sizes: Sizes) -> Bins:
    """Cut PAVA-BC bins of the sizes that suit the number of predictions.

    Examples
    --------
    >>> pava_bc_of(tally([0, 0, 1, 1], [0.2, 0.2, 0.9, 0.9]), lambda total: (1, total // 2)).counts
    array([2, 2])
    """
    if not t.total:
        msg = "bins of an empty sample are undefined: give at least one prediction."
        raise ValueError(msg)
    smallest, largest = sizes(t.total)
    return pava_bc(t, min_size=smallest, max_size=largest)
