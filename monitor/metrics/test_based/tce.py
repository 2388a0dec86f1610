"""The test-based calibration error: the share of predictions that their bin's outcomes reject.

Every decision is that of the exact binomial test, reached at a cost that hardly depends on the
number of predictions.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from monitor.base.short_text import shown_shortly
from monitor.metrics.binned.binning import Bins, check_sizes, paper_sizes
from monitor.metrics.binned.default_bins import Sizes, pava_bc_of
from monitor.metrics.binned.pooling import pool_rows
from monitor.metrics.binomial.acceptance import (
    ACCEPTED,
    REJECTED,
    Significance,
    acceptance,
    accepted_intervals,
    ceiling_from,
    certainly_accepted,
    check_alpha,
    significance,
)
from monitor.metrics.binomial.binomial import pvalue, pvalue_bounds
from monitor.metrics.binomial.pvalue_curve import logit
from monitor.metrics.core.compiled import ZERO, compiled, inner
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.reading import takes_rows_by
from monitor.metrics.core.samples import Rows
from monitor.metrics.core.sorted_rows import sort_rows
from monitor.metrics.core.sorted_scores import count_below, count_up_to
from monitor.metrics.core.tally import Tally

# Edges are computed to about 1e-14 and p-values to about 1e-13 relative. Whatever is nearer
# than this is decided by the test itself, so that rounding cannot change a decision.
RELATIVE_DOUBT = 1e-9
ABSOLUTE_DOUBT = 5e-16
DOUBTFUL_GROUPS = 4  # on a side of k/n: up to here testing them is faster than finding the edges
UNKNOWN = -1
FEW_GROUPS = 32  # in a bin: up to here bounds of their p-values are faster than its edges
EMPTY = "an empty tally has no calibration error: give it at least one prediction."
FEW_OUTCOMES = 200  # of the rarer kind: up to here the p-value itself is faster than its bounds


@shown_shortly
@dataclass(frozen=True, eq=False)
class Tce:
    """A test-based calibration error and how it came about.

    Attributes
    ----------
    value : float
        Rejected predictions divided by all, a ratio in [0, 1].
    rejected : ndarray of shape (b,)
        Predictions rejected in each bin.
    find_accepted : callable
        Finds `accepted`, which takes longer than the rest and is seldom asked for.
    """

    value: float
    rejected: Ints
    find_accepted: Callable[[], tuple[Floats, ...]] = field(repr=False)

    @cached_property
    def accepted(self) -> tuple[Floats, ...]:
        """The closed intervals of probabilities that each bin's outcomes accept.

        One ndarray of shape (i, 2) for each of the b bins.
        """
        return self.find_accepted()


def _tce_of_rows(
    rows: Rows, bins: Bins | None = None, *, sizes: Sizes = paper_sizes, alpha: float = 0.05
) -> Tce | None:
    """Measure `tce` of sorted rows, without a table of their distinct scores."""
    check_alpha(alpha)
    if bins is not None:
        return None
    keys = sort_rows(*rows)
    if not keys.size:
        raise ValueError(EMPTY)
    smallest, largest = sizes(keys.size)
    check_sizes(smallest, largest)
    starts = pool_rows(keys, smallest, largest)
    rejected, positives = _rejected_per_bin_of_rows(keys, starts, float(alpha))
    return _tce_of(rejected, np.diff(starts), positives, float(alpha))


@takes_rows_by(_tce_of_rows)
def tce(
    t: Tally,
    bins: Bins | None = None,
    *,
    sizes: Sizes = paper_sizes,
    alpha: float = 0.05,
) -> Tce:
    """Measure the test-based calibration error [TCE, Definition 2 and Algorithm 1].

    Parameters
    ----------
    t : Tally or rows
        m groups of equal score, N predictions in all. Of rows without `bins` no tally is made,
        which halves the time.
    bins : Bins, optional
        A partition of the tally into b runs; not one of rows. By default PAVA-BC bins.
    sizes : callable, optional
        `paper_sizes`, or another function that gives the smallest and the largest PAVA-BC bin of
        N predictions, such as `monitor_sizes`; has no effect on given `bins`.
    alpha : float
        Significance level in (0, 1); a prediction whose p-value equals it is rejected.

    Returns
    -------
    Tce
        Value (a ratio in [0, 1]; the paper prints percent), counts and accepted intervals.

    Raises
    ------
    ValueError
        If the tally is empty, the bins are not its own or alpha is not in (0, 1).

    Notes
    -----
    ``TCE = sum_b #{predictions q in bin b: p-value of (k_b, n_b) at q <= alpha} / N``
    [TCE, Definition 2] with the p-value of `binomial_pvalues`; decisions
    are the same as testing every prediction, at a cost that hardly depends on N.

    Interval: it has no population value, for with more rows the test rejects more of the same
    model; `bootstrap_interval` with ``method="inverted_mean"`` is for its mean at this size (at
    95 % it holds that mean 92-93 % of the time, docs/coverage.md). `tce_null_reference` says what
    the value would be if the model were calibrated.

    Examples
    --------
    >>> from monitor.metrics.binned.binning import quantile_bins
    >>> from monitor.metrics.core.tally import tally
    >>> t = tally([0] * 10 + [0] * 10, [0.1] * 10 + [0.9] * 10)
    >>> result = tce(t, quantile_bins(t, 2))
    >>> result.value, result.rejected
    (0.5, array([ 0, 10]))
    """
    check_alpha(alpha)
    if not t.scores.size:
        raise ValueError(EMPTY)
    bins = pava_bc_of(t, sizes) if bins is None else bins
    if bins.starts[-1] != t.scores.size:
        msg = (
            f"the bins are of {bins.starts[-1]} groups of equal score and the tally has "
            f"{t.scores.size}: cut the bins from this tally."
        )
        raise ValueError(msg)
    rejected = rejected_per_bin(
        t.scores, t.counts, bins.starts, bins.counts, bins.positives, float(alpha)
    )
    return _tce_of(rejected, bins.counts, bins.positives, float(alpha))


def _tce_of(rejected: Ints, counts: Ints, positives: Ints, alpha: float) -> Tce:
    accepted = partial(_accepted_per_bin, counts, positives, alpha)
    return Tce(int(rejected.sum()) / int(counts.sum()), rejected, accepted)


def _accepted_per_bin(counts: Ints, positives: Ints, alpha: float) -> tuple[Floats, ...]:
    return tuple(
        accepted_intervals(int(k), int(n), alpha=alpha)
        for k, n in zip(positives, counts, strict=True)
    )


def count_rejected(
    scores: Floats, counts: Ints, positives: Ints, starts: Ints, alpha: float
) -> Ints:
    """Sum up the bins that begin at `starts`, then count what each rejects.

    Examples
    --------
    >>> scores, ten, hits = np.array([0.1, 0.2, 0.9]), np.full(3, 10), np.array([0, 1, 0])
    >>> count_rejected(scores, ten, hits, np.array([0, 2, 3]), 0.05)
    array([ 0, 10])
    """
    below = np.zeros((2, counts.size + 1), np.int64)
    np.cumsum([counts, positives], axis=1, out=below[:, 1:])
    # Contiguous like all others, or the count is compiled once more for these.
    bin_counts, bin_positives = np.ascontiguousarray(np.diff(below[:, starts]))
    return rejected_per_bin(scores, counts, starts, bin_counts, bin_positives, alpha)


@compiled
def _rejected_per_bin_of_rows(keys: Ints, starts: Ints, alpha: float) -> tuple[Ints, Ints]:
    """Count what each bin of sorted rows rejects, and its positives.

    The groups of equal score of one bin at a time are written into a small table, which stays
    in the processor's cache.
    """
    against = significance(alpha, RELATIVE_DOUBT)
    bins, largest = starts.size - 1, 0
    for b in range(bins):
        largest = max(largest, starts[b + 1] - starts[b])
    scores, ends = np.empty(largest, np.int64), np.empty(largest, np.int64)
    rejected, positives = np.zeros(bins, np.int64), np.zeros(bins, np.int64)
    for b in range(bins):
        first, size, hits, group = starts[b], starts[b + 1] - starts[b], 0, np.uint64(0)
        score = keys[first] >> 1
        for i in range(size):
            key = keys[first + i]
            group += np.uint64(key >> 1 != score)
            score = key >> 1
            # Of a run of equal scores the last row is written last: without a branch.
            scores[group], ends[group] = score, i + 1
            hits += key & 1
        groups = int(group) + 1
        for g in range(groups - 1, 0, -1):
            ends[g] -= ends[g - 1]
        rejected[b] = _rejected_in_bin(
            scores[:groups].view(np.float64), ends[:groups], hits, size, against
        )
        positives[b] = hits
    return rejected, positives


@compiled
def rejected_per_bin(
    scores: Floats,
    counts: Ints,
    starts: Ints,
    bin_counts: Ints,
    bin_positives: Ints,
    alpha: float,
) -> Ints:
    """Count the predictions that each bin rejects; nothing is checked here.

    The arrays are those of a `Tally` and of its `Bins`; callable from other compiled functions.
    Groups and bins without a prediction are allowed, as resampling makes them.
    """
    against = significance(alpha, RELATIVE_DOUBT)
    rejected = np.zeros(bin_counts.size, np.int64)
    for b in range(bin_counts.size):
        first, last = starts[b], starts[b + 1]
        if bin_counts[b] > 0:
            rejected[b] = _rejected_in_bin(
                scores[first:last],
                counts[first:last],
                bin_positives[b],
                bin_counts[b],
                against,
            )
    return rejected


@inner
def _rejected_in_bin(scores: Floats, counts: Ints, k: int, n: int, against: Significance) -> int:
    if scores.size <= FEW_GROUPS:
        return _rejected_by_group(scores, counts, k, n, against)
    centre = count_below(scores, k / n)
    total = 0
    for first, step in ((centre - 1, -1), (centre, 1)):  # in a loop, to be compiled once
        rejected = _rejected_beyond(scores, counts, first, step, k, n, against)
        if rejected == UNKNOWN:
            return _rejected_by_edge(scores, counts, k, n, against)
        total += rejected
    return total


@inner
def _rejected_beyond(
    scores: Floats, counts: Ints, first: int, step: int, k: int, n: int, against: Significance
) -> int:
    """Judge the groups on one side of k/n, if few of them lie where no bound decides.

    The groups begin with the first and go up or down by the step. What is certainly accepted
    is next to k/n, and what lies beyond a rejected ceiling is rejected. UNKNOWN if the groups
    between the two are too many.
    """
    size = scores.size - first if step > 0 else first + 1
    accepted, beyond = 0, size
    while accepted < beyond:
        middle = (accepted + beyond) // 2
        if _is_accepted(scores[first + step * middle], step, k, n, against):
            accepted = middle + 1
        else:
            beyond = middle
    total, last = 0, accepted + DOUBTFUL_GROUPS
    if last < size and not _is_rejected(scores[first + step * last], step, k, n, against):
        return UNKNOWN
    for i in range(accepted, size):
        group = first + step * i
        if _is_rejected(scores[group], step, k, n, against):
            rest = counts[group:] if step > 0 else counts[: group + 1]
            return total + int(rest.sum())
        total += _rejected_of_group(scores[group], counts[group], k, n, against)
    return total


@inner
def _is_accepted(q: float, side: int, k: int, n: int, against: Significance) -> bool:
    """Check whether q, and everything between k/n and q, is accepted for sure."""
    if side > 0:
        return certainly_accepted(k, n, against, q, 1.0 - q)
    return certainly_accepted(n - k, n, against, 1.0 - q, q)


@inner
def _is_rejected(q: float, side: int, k: int, n: int, against: Significance) -> bool:
    """Check whether q, and everything on its side of k/n beyond it, is rejected for sure."""
    if not 0.0 < q < 1.0:
        return False
    theta = logit(q, 1.0 - q)
    highest = ceiling_from(k, n, theta) if side > 0 else ceiling_from(n - k, n, -theta)
    return highest <= against.alpha * (1.0 - against.doubt)


@inner
def _rejected_by_group(scores: Floats, counts: Ints, k: int, n: int, against: Significance) -> int:
    """Judge group after group from both ends of the bin, up to where all others are accepted."""
    total, below, above = 0, 0, scores.size - 1
    while below <= above and scores[below] * n < k:
        if certainly_accepted(n - k, n, against, 1.0 - scores[below], scores[below]):
            break
        total += _rejected_of_group(scores[below], counts[below], k, n, against)
        below += 1
    while above >= below and scores[above] * n >= k:
        if certainly_accepted(k, n, against, scores[above], 1.0 - scores[above]):
            break
        total += _rejected_of_group(scores[above], counts[above], k, n, against)
        above -= 1
    return total


@inner
def _rejected_of_group(score: float, count: int, k: int, n: int, against: Significance) -> int:
    return count if count > 0 and rejects(score, k, n, against) else 0


@inner
def rejects(score: float, k: int, n: int, against: Significance) -> bool:
    """Test one score."""
    if min(k, n - k) > FEW_OUTCOMES:
        least, most = pvalue_bounds(k, n, score)
        if least > against.alpha * (1.0 + against.doubt):
            return False
        if most < against.alpha * (1.0 - against.doubt):
            return True
    return pvalue(k, n, score) <= against.alpha


@inner
def _rejected_by_edge(scores: Floats, counts: Ints, k: int, n: int, against: Significance) -> int:
    """Find the edges of what the bin accepts, and so judge all groups between two at once."""
    low, high = scores[0], scores[-1]
    edges, verdicts = acceptance(
        k,
        n,
        against,
        max(low - _doubt(low), 0.0),
        min(high + _doubt(high), 1.0),
    )
    alpha, total, place = against.alpha, 0, ZERO
    for e in range(edges.size):
        near = count_below(scores, edges[e] - _doubt(edges[e]))
        beyond = count_up_to(scores, edges[e] + _doubt(edges[e]))
        total += _rejected_in_run(scores, counts, place, near, k, n, alpha, verdicts[e])
        place = max(place, near)
        total += _tested_in_run(scores, counts, place, beyond, k, n, alpha)
        place = max(place, beyond)
    return total + _rejected_in_run(scores, counts, place, scores.size, k, n, alpha, verdicts[-1])


@inner
def _doubt(q: float) -> float:
    return RELATIVE_DOUBT * q + ABSOLUTE_DOUBT


@inner
def _rejected_in_run(
    scores: Floats, counts: Ints, first: int, last: int, k: int, n: int, alpha: float, verdict: int
) -> int:
    if verdict == ACCEPTED:
        return 0
    if verdict == REJECTED:
        total = 0
        for i in range(first, last):
            total += counts[i]
        return total
    return _tested_in_run(scores, counts, first, last, k, n, alpha)


@inner
def _tested_in_run(
    scores: Floats, counts: Ints, first: int, last: int, k: int, n: int, alpha: float
) -> int:
    total = 0
    for i in range(first, last):
        if counts[i] > 0 and pvalue(k, n, scores[i]) <= alpha:
            total += counts[i]
    return total
