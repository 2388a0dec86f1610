"""Are the predictions with an outcome a sample of all that does not look at their scores? Pure.

And since when another rule chooses which predictions get one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from math import sqrt

import numpy as np

from monitor.days.summary import Segment, Summary
from monitor.metrics.core.coarse import CELLS_IN_ONE, CENTRES, COARSE_COUNT
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.special import chdtrc, expit, stdtr, xlogy

LEVEL = 1e-6  # probability on a day that labels drawn at random are called chosen
TIMES = 1.5  # between the rates of two groups: outcomes that are a little late differ by less
MOST_GROUPS = 10
LEAST_IN_GROUP = 20  # expected in a group, with an outcome and without
LEAST_DAYS = 5  # on each side of a change
GROUPS = 5  # of scores, at most
ALIKE = 1e-3  # probability that a change that is alike is said to differ among the scores
SURE = 1e-12  # variance of a rate of 1 on both sides, which none other is alike
POINTS = 0.1  # a change of a rate that counts, even if it is less than `TIMES`


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


@dataclass(frozen=True)
class RuleChange:
    """That the share of predictions with an outcome changed for good among some scores.

    Attributes
    ----------
    day : date
        The first day of the new rule.
    before, after : ScoreGroup
        The same scores, with the share that had an outcome until then, and has since.
    p : float
        Probability of a change this clear, at any day and among any scores, if there was none.
    alike : bool
        Whether the shares of all scores may have changed by one factor; then these are all scores,
        and nothing says that the score has a say.
    """

    day: date
    before: ScoreGroup
    after: ScoreGroup
    p: float
    alike: bool = False


def rule_change(days: Sequence[Summary]) -> RuleChange | None:
    """Find the day on which the share of predictions that have an outcome changed most clearly.

    Parameters
    ----------
    days : sequence of Summary
        Of single days, in order. Days whose outcomes can still arrive do not count.

    Returns
    -------
    RuleChange or None
        None if the shares may have stayed, if they changed by less than a factor of `TIMES` and
        less than `POINTS`, of fewer than twice `LEAST_DAYS` days, of several classes, and of
        samples by outcome.

    Notes
    -----
    Predictions in up to 5 groups of neighbouring scores, about as many in each. In each group, and
    at each day, the rates before and after are compared: ``t = (b - a) / sqrt(phi sum s**2 p
    (1 - p) (1 / n_b + 1 / n_a))``. Rates differ between segments and strata, and so does the
    traffic from day to day, so a and b are means of their rates with the shares s that they have
    after the day (direct standardisation). phi is Pearson's chi-squared of the daily counts
    around these rates, divided by its degrees of freedom and at least 1, because reviewers do not
    work alike on all days (McCullagh and Nelder, Generalized Linear Models, 1989, section 4.5).
    The p-value of Student's t is multiplied by the number of comparisons. Whether all groups
    changed alike is Cochran's test (Biometrics 10, 1954) of their ``ln(a / b)``, each with the
    variance of both rates by the delta method, at a level of `ALIKE`.

    Examples
    --------
    >>> from datetime import UTC, datetime, timedelta
    >>> from monitor.metrics.core.tally import tally_on_grid
    >>> from monitor.days.summary import Segment, awaited
    >>> known, first = datetime(2026, 4, 1, tzinfo=UTC), date(2026, 3, 1)
    >>> def day(i):
    ...     labelled = 780 if i < 9 else 410
    ...     late = awaited(np.array([9316]), np.array([1000 - labelled]))
    ...     part = Segment(tally_on_grid([1] * labelled, [0.9] * labelled), 1000, late)
    ...     return Summary("m", (first + timedelta(i),), {"all": part}, {}, True, known)
    >>> change = rule_change([day(i) for i in range(20)])
    >>> f"{change.day} {change.before.rate:.2f} {change.after.rate:.2f}"
    '2026-03-10 0.78 0.41'
    """
    kept = [d for d in days if d.final and d.is_unweighted]
    if len(kept) < 2 * LEAST_DAYS:
        return None
    total = sum(all_ for day in kept for _, all_ in _counts(day).values())
    seen = np.flatnonzero(total)
    if not seen.size:
        return None
    starts = starts_of_groups(np.asarray(total)[seen], GROUPS)
    with_, all_ = _by_group(kept, seen, starts)
    clearest = min(
        ((*_clearest(with_[..., i], all_[..., i]), i) for i in range(starts.size)),
        key=lambda change: change[0],
    )
    p, place, b, a, group = clearest
    p = min(1.0, p * starts.size)
    if p >= LEVEL or (max(a, b) < TIMES * min(a, b) and abs(a - b) < POINTS):
        return None
    lows, highs = score_ends(seen, starts)
    alike = _changed_alike(with_, all_, place)
    low, high = (lows[0], highs[-1]) if alike else (lows[group], highs[group])
    before, after = (ScoreGroup(float(low), float(high), rate) for rate in alike or (b, a))
    return RuleChange(kept[place].days[-1], before, after, p, alike is not None)


def _counts(day: Summary) -> dict[tuple[str, str], tuple[Ints, Ints]]:
    """Count labelled and all predictions by coarse cell, of each segment and stratum."""
    counts = dict[tuple[str, str], tuple[Ints, Ints]]()
    for segment, whole in day.segments.items():
        for stratum, part in whole.parts.items():
            labelled, late = by_coarse_cell(part)
            counts[segment, stratum] = labelled, labelled + late
    return counts


def _by_group(days: Sequence[Summary], seen: Ints, starts: Ints) -> tuple[Ints, Ints]:
    """Count labelled and all predictions, of shape (parts, days, groups of cells)."""
    parts = dict[tuple[str, str], Ints]()
    for number, day in enumerate(days):
        for name, counts in _counts(day).items():
            none = np.zeros((2, len(days), starts.size), np.int64)
            grouped = [np.add.reduceat(of[seen], starts) for of in counts]
            parts.setdefault(name, none)[:, number] = grouped
    with_, all_ = np.stack([*parts.values()], axis=1)
    return with_, all_


def _changed_alike(with_: Ints, all_: Ints, place: int) -> tuple[float, float] | None:
    """Give the rates of all scores before and after a place, if they changed by one factor.

    None if the score has a say in the change. Counts have the shape (parts, days, groups).
    """
    changes = [
        (*change, int(all_[:, place:, group].sum()))
        for group in range(with_.shape[2])
        if (change := _change(with_[..., group], all_[..., group], place))
    ]
    rates = np.array([of for _, of, _, _ in changes])
    if len(changes) < 2 or rates.min() <= 0.0:  # noqa: PLR2004 - groups that can differ
        return None
    sizes = [size for *_, size in changes]
    of_logs = [phi * sum(v / r**2 for r, v in zip(*of, strict=True)) for phi, *of, _ in changes]
    logs, weights = np.log(rates[:, 1] / rates[:, 0]), 1.0 / np.maximum(of_logs, SURE)
    q = float(weights @ (logs - np.average(logs, weights=weights)) ** 2)
    if float(chdtrc(len(changes) - 1, q)) < ALIKE:
        return None
    before, after = np.average(rates, axis=0, weights=sizes).tolist()
    return before, after


def _clearest(with_: Ints, all_: Ints) -> tuple[float, int, float, float]:
    """Give the p-value of the clearest change of a rate, its place, and the rates around it.

    Counts have the shape (parts, days).
    """
    best = 1.0, LEAST_DAYS, 0.0, 0.0
    days = with_.shape[1]
    positions = range(LEAST_DAYS, days - LEAST_DAYS + 1)
    for place in positions:
        if (change := _change(with_, all_, place, pooled=True)) is None:
            continue
        phi, (before, after), variances = change
        error = sqrt(phi * sum(variances))
        t = abs(after - before) / error if error else 0.0
        chance = min(1.0, 2.0 * float(stdtr(days - 2, -t)) * len(positions))
        best = min(best, (chance, place, before, after))
    return best


def _change(
    with_: Ints, all_: Ints, place: int, *, pooled: bool = False
) -> tuple[float, tuple[float, float], tuple[float, float]] | None:
    """Give phi, the rates before and after a place, and their variances over phi.

    They are with one rate for both sides if `pooled`. None if a side has too few predictions.
    Counts have the shape (parts, days).
    """
    sides = slice(None, place), slice(place, None)
    k, n = (np.array([of[:, side].sum(axis=1) for side in sides]) for of in (with_, all_))
    on_both = n.min(axis=0) > 0
    k, n = k[:, on_both], n[:, on_both]
    if not n.size or n.sum(axis=1).min() < LEAST_IN_GROUP:
        return None
    share = n[1] / n[1].sum()
    p = k.sum(axis=0) / n.sum(axis=0) if pooled else k / n
    phi = max(1.0, _pearson(with_[on_both], all_[on_both], place) / (with_.shape[1] - 2))
    before, after = (share * k / n).sum(axis=1).tolist()
    of_before, of_after = (share**2 * p * (1.0 - p) / n).sum(axis=1).tolist()
    return phi, (before, after), (of_before, of_after)


def _pearson(with_: Ints, all_: Ints, place: int) -> float:
    """Sum the squared distances of daily counts from those of both sides, in their variances."""
    total = 0.0
    for side in (slice(None, place), slice(place, None)):
        k, n = with_[:, side], all_[:, side].astype(np.float64)
        # Half a row more on each side, so that a rate of 0 or 1 has a variance.
        rate = ((k.sum(axis=1) + 0.5) / (n.sum(axis=1) + 1.0))[:, None]
        variance = (np.maximum(n, 1.0 / len(n)) * rate * (1.0 - rate)).sum(axis=0)
        total += float(((k - n * rate).sum(axis=0) ** 2 / variance).sum())
    return total
