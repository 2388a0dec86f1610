"""Are the predictions with an outcome a sample of all that does not look at their scores? Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

import numpy as np

from monitor.days.summary import Segment, Summary
from monitor.metrics.core.coarse import CELLS_IN_ONE, CENTRES, COARSE_COUNT
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.special import chdtrc, expit, xlogy

LEVEL = 1e-6  # probability on a day that labels drawn at random are called chosen
TIMES = 1.5  # between the rates of two groups: outcomes that are a little late differ by less
MOST_GROUPS = 10
LEAST_IN_GROUP = 20  # expected in a group, with an outcome and without


@dataclass(frozen=True)
class ScoreGroup:
    """Predictions with neighbouring scores, and the share of them that has an outcome.

    Attributes
    ----------
    low, high : float
        Between which their scores lie, in [0, 1], to the nearest 1/64 in logit.
    rate : float
        Share of them that has an outcome, a ratio in [0, 1].
    """

    low: float
    high: float
    rate: float


@dataclass(frozen=True)
class ChosenLabels:
    """That the share of predictions with an outcome depends on the score.

    Attributes
    ----------
    day : date
        The day.
    segment : str
        The segment in which that is most certain.
    most, least : ScoreGroup
        The scores that have outcomes most often, and least often.
    p : float
        Probability of rates this unequal if the score had no say.
    """

    day: date
    segment: str
    most: ScoreGroup
    least: ScoreGroup
    p: float


def chosen_labels(day: Summary) -> ChosenLabels | None:
    """Test whether the share of predictions that have an outcome depends on their score.

    Parameters
    ----------
    day : Summary
        Of a single day. Each of its segments is tested, so that segments may be labelled at
        different rates.

    Returns
    -------
    ChosenLabels or None
        None if the rates may be equal, if they differ by less than `TIMES`, if outcomes can still
        arrive, of several classes, and of a sample by outcome, whose weights say how it was drawn.

    Notes
    -----
    Predictions in up to 10 groups of neighbouring scores, about as many in each and at least 20
    with and without an outcome expected. ``G = 2 sum O log(O/E)`` over the groups, with an outcome
    and without, is chi-squared with one degree less than there are groups (Wilks, Annals of
    Mathematical Statistics 9, 1938) if rows are drawn one by one. The level is shared among the
    segments.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from monitor.metrics.core.tally import tally_on_grid
    >>> from monitor.days.summary import awaited
    >>> tally = tally_on_grid([0, 1] * 165, [0.2] * 30 + [0.9] * 300)
    >>> part = Segment(tally, 730, awaited(np.array([7482, 9316]), np.array([300, 100])))
    >>> known = datetime(2026, 3, 9, tzinfo=UTC)
    >>> chosen = chosen_labels(Summary("m", (date(2026, 3, 7),), {"all": part}, {}, True, known))
    >>> round(chosen.most.rate, 2), round(chosen.least.rate, 2)
    (0.75, 0.09)
    """
    if not (day.final and day.is_unweighted):
        return None
    tested = [
        (p, name, groups)
        for name, part in day.segments.items()
        for p, groups in _test(part)
        if p < LEVEL / len(day.segments)
    ]
    if not tested:
        return None
    p, name, groups = min(tested, key=lambda segment: segment[:2])
    ordered = sorted(groups, key=lambda group: group.rate)
    return ChosenLabels(day.days[-1], name, ordered[-1], ordered[0], p)


def _test(part: Segment) -> Iterator[tuple[float, list[ScoreGroup]]]:
    """Give the probability of rates as unequal as those of a segment, if they are unequal."""
    labelled, late = by_coarse_cell(part)
    fewest = min(labelled.sum(), late.sum())
    number = min(MOST_GROUPS, int(fewest) // LEAST_IN_GROUP)
    if number < 2:  # noqa: PLR2004 - groups that can differ
        return
    seen = np.flatnonzero(labelled + late)
    starts = starts_of_groups((labelled + late)[seen], number)
    if starts.size < 2:  # noqa: PLR2004 - the same
        return
    with_, without = (np.add.reduceat(rows[seen], starts) for rows in (labelled, late))
    rates = with_ / (with_ + without)
    if rates.max() < TIMES * rates.min():
        return
    p = float(chdtrc(starts.size - 1, _g_statistic(with_, without)))
    groups = zip(*(of.tolist() for of in (*score_ends(seen, starts), rates)), strict=True)
    yield p, [ScoreGroup(*group) for group in groups]


def by_coarse_cell(part: Segment) -> tuple[Ints, Ints]:
    """Count predictions with an outcome, and those without, by coarse cell.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally_on_grid
    >>> known, late = by_coarse_cell(Segment(tally_on_grid([1], [0.5]), 1))
    >>> int(known[512]), int(late.sum())
    (1, 0)
    """
    cells = part.tally.cells.numbers if part.tally.cells else part.awaited.cells[:0]
    sides = (cells, part.tally.counts), (part.awaited.cells, part.awaited.counts)
    labelled, late = np.zeros((2, COARSE_COUNT), np.int64)
    for sums, (numbers, counts) in zip((labelled, late), sides, strict=True):
        np.add.at(sums, numbers // CELLS_IN_ONE, counts)
    return labelled, late


def starts_of_groups(counts: Ints, number: int) -> Ints:
    """Cut cells into at most so many groups, each with at least that share of the predictions.

    Examples
    --------
    >>> starts_of_groups(np.array([4, 4, 1, 1, 2]), 3)
    array([0, 1, 2])
    """
    least, starts, size = int(counts.sum()) / number, [0], 0
    for cell, count in enumerate(counts.tolist()):
        if size >= least:
            starts.append(cell)
            size = 0
        size += count
    return np.array(starts if size >= least or len(starts) == 1 else starts[:-1], np.int64)


def score_ends(cells: Ints, starts: Ints) -> tuple[Floats, Floats]:
    """Give the lowest and the highest score of each group of coarse cells.

    Examples
    --------
    >>> [ends.round(3).tolist() for ends in score_ends(np.array([511, 512]), np.array([0]))]
    [[0.492], [0.508]]
    """
    lasts = np.append(starts[1:], cells.size) - 1
    reach = (CENTRES[1] - CENTRES[0]) / 2
    lows, highs = expit(CENTRES[cells[starts]] - reach), expit(CENTRES[cells[lasts]] + reach)
    return np.asarray(lows), np.asarray(highs)


def _g_statistic(with_: Ints, without: Ints) -> float:
    """Compare two rows of counts with what one rate for all groups would make of them."""
    observed: Floats = np.stack([with_, without]).astype(np.float64)
    expected = observed.sum(axis=1, keepdims=True) * observed.sum(axis=0) / observed.sum()
    return 2.0 * float(np.sum(xlogy(observed, observed / expected)))
