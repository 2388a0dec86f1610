"""Outcomes of a class at scores where neither priors nor inputs that moved put them. Pure.

Under a shift of priors the rows of a class have the scores that they have in the reference,
whatever the priors are. If inputs move and the model stays right, a score comes true as often as
before. So outcomes that contradict both, at one place of the scores of a class, are explained by
neither.

Rule: what is bet on a day is the smaller of two likelihood ratios: that another share of the
outcomes of a class has such scores, and that another share of the rows with such scores is of the
class, on the same side, each by more than it moves by itself from week to week. Each is a fair bet
while its own null hypothesis holds, so the smaller is one while either does, and may hold another
one on each day.

Scores that are adjusted for the priors of the day are judged too. If priors move, or inputs, or
both, a row of a model that was right is of class k with ``p_k w_k / sum_j p_j w_j``, w the weights
of the day. So these scores come true as often as before whatever moved, and of them the second
ratio alone is bet. It is blind to a class whose odds are off by a factor: that is a weight.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from monitor.drift.curve.fitting import fit_curve
from monitor.drift.curve.variance import WEEK
from monitor.drift.incidents.level_watch import USUAL
from monitor.drift.records.detector import LEVEL_SUMS
from monitor.metrics.core.coarse import CENTRES, COARSE_COUNT, Coarse
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.samples import Bools
from monitor.metrics.core.special import expit
from monitor.metrics.logistic.level import fit_level

LOW, HIGH = (0.01, 0.05, 0.2, 0.5), (0.5, 0.8)  # up to, and from, these quantiles of the outcomes
PLACES = len(LOW) + len(HIGH) + 1  # the last one: below all scores of the reference
BELOW, NEW = PLACES - 1, PLACES  # and the scores that are new
ALL = tuple(range(PLACES + 1))
SIDES = np.array([-1.0, 1.0])  # fewer outcomes than the scores say, which are too high; more
SIZES = np.array([0.5, 1.5])  # logit, beyond what is tolerated
LEAST_TOLERANCE, TOLERATED = 0.15, 2.0  # logit, and standard errors of the reference
LEAST_OUTCOMES = 30  # of a class in a reference, where its score was logged
LEAST_INFORMATION = 10.0  # of a week, in logit: with less it does not say what is usual
CHANCE = 2.0  # standard errors of how far weeks of a class differ by chance
LEAST_OTHERS, TINY = 0.1, 1e-9  # rows of other classes among those at a place; no division by 0
ADJUSTED = "\0"  # begins the name of a class where its scores are adjusted for the day's priors
NEAR_CELLS = 16  # on either side of a score, a logit: outcomes there say what the curve is at it
LEAST_OF_DAY = 10  # outcomes of a class, for its weight on a day to be free of the prior it has
BENT = 2.0  # times how far the scores of a reference do not fit: adjusted ones move by as much
MOST_CLASSES = 50
# Of new scores: rows, share of the rows, times as many as usual, and standard deviations more.
LEAST_ROWS, LEAST_SHARE, LEAST_TIMES, LEAST_DEVIATIONS = 5, 0.003, 3.0, 4.0


@dataclass(frozen=True, eq=False)
class ClassScores:
    """The scores of k classes, each against the rest, in a reference.

    Attributes
    ----------
    names : tuple of str
        The classes.
    counts, positives : ndarray of shape (k, 1024)
        Rows, and rows of the class, by coarse cell of its score.
    curves : ndarray of shape (2, k, 1024)
        Log-odds to expect for either of `SIDES`: beyond the scores of the reference they are
        continued so that the contradiction can only be smaller than it seems.
    starts, ends : ndarray of shape (k, 7)
        The cells of each place: the first, and the one after the last.
    shares, centres : ndarray of shape (k, 7)
        Log-odds of the share of the outcomes that is there; how far the log-odds of the rows there
        are from the curve.
    dispersions : ndarray of shape (2, k, 7)
        The variance of the days of the reference compared with that of independent outcomes, at
        least 1: of the share of the outcomes, and of the rows.
    places : tuple of int
        The places that are judged. Where parts of the traffic have priors of their own, only scores
        below all of the reference say something; in one segment scores that are new do too.
    weeks : ndarray of shape (w, k, 7, 4) or None
        The sums of `levels_of_day` over each whole week of the reference.
    adjusted : ClassScores or None
        The same classes with their scores adjusted for the priors of each day; None where parts of
        the traffic have priors of their own, and where logs lack scores.
    bent : float
        How far the outcomes of the reference are from the scores themselves, beyond chance, at the
        worst place of any class, in logit.
    highest : bool
        Whether logs have the highest scores only. Then the first cell holds the rows where the
        score of a class was not logged, and is no part of its curve.
    """

    names: tuple[str, ...]
    counts: Ints
    positives: Ints
    curves: Floats
    starts: Ints
    ends: Ints
    shares: Floats
    centres: Floats
    dispersions: Floats
    places: tuple[int, ...] = ALL
    weeks: Floats | None = None
    adjusted: "ClassScores | None" = None
    bent: float = 0.0
    highest: bool = False

    @property
    def readings(self) -> "list[ClassScores]":
        """The scores as logged, and adjusted ones if there are any."""
        return [self, self.adjusted] if self.adjusted else [self]

    def rows_of(self, of: int) -> Coarse:
        """Give the rows of the reference by the scores of a class, given by its number."""
        return Coarse(self.counts[of], self.positives[of])


def fit_class_scores(
    days: Sequence[Mapping[str, Coarse]],
    *,
    places: tuple[int, ...] = ALL,
    highest: bool = False,
) -> ClassScores | None:
    """Learn where the outcomes of each class are among its scores.

    Parameters
    ----------
    days : sequence of mapping of str to Coarse
        Each class against the rest, on every day of the reference; with `ADJUSTED` before its name
        with the adjusted scores, which logs with the highest scores only do not have.
    places, highest : tuple of int, bool
        As in `ClassScores`.

    Returns
    -------
    ClassScores or None
        The classes with most outcomes, at least 30; None if there are none.
    """
    named = [name for name in days[0] if all(name in day for day in days)] if days else []
    adjusted = [name for name in named if name.startswith(ADJUSTED)]
    logged = [name for name in named if name not in adjusted]
    fitted = _fitted(logged, days, places, highest=highest)
    own = _fitted(adjusted, days, places) if places == ALL else None
    return replace(fitted, adjusted=own and replace(own, bent=_bent(own))) if fitted else None


def only_highest(rest: Mapping[str, Coarse]) -> bool:
    """Say whether a day has the highest scores of its rows only."""
    return bool(rest) and not any(name.startswith(ADJUSTED) for name in rest)


def _fitted(
    named: Sequence[str],
    days: Sequence[Mapping[str, Coarse]],
    places: tuple[int, ...],
    *,
    highest: bool = False,
) -> ClassScores | None:
    logged = slice(int(highest), None)
    seen = {name: sum(int(day[name].positives[logged].sum()) for day in days) for name in named}
    names = [
        name
        for name in sorted(named, key=lambda name: (-seen[name], name))[:MOST_CLASSES]
        if seen[name] >= LEAST_OUTCOMES
    ]
    if not names:
        return None
    of_days = np.array([stacked(names, day) for day in days])
    counts, positives = of_days.sum(axis=0)
    curves = np.stack(
        [_continued(*each, logged) for each in zip(counts, positives, strict=True)], axis=1
    )
    starts, ends = _places(counts, positives, logged)
    there, total = _within(positives, starts, ends), positives.sum(axis=1, keepdims=True)
    expected = _within(counts * expit(curves[1]), starts, ends)
    fitted = ClassScores(
        *(tuple(names), counts, positives, curves, starts, ends),
        shares=np.log((there + 0.5) / (total - there + 0.5)),
        centres=np.log((there + 0.5) / (expected + 0.5)),
        dispersions=np.ones((2, *starts.shape)),
        places=places,
        highest=highest,
    )
    of_weeks = [levels_of_day(fitted, day) for day in days]
    weeks = [np.sum(of_weeks[i - WEEK : i], axis=0) for i in range(WEEK, len(days) + 1, WEEK)]
    return replace(
        fitted,
        dispersions=_dispersions(fitted, of_days),
        weeks=np.array(weeks).reshape(-1, *starts.shape, LEVEL_SUMS),
    )


def stacked(names: Sequence[str], rest: Mapping[str, Coarse]) -> Ints:
    """Give rows, and rows of the class, of each class; 0 of one that the day does not count.

    The shape is (2, k, 1024).
    """
    none = np.zeros(COARSE_COUNT, np.int64)
    of_class = [rest.get(name, Coarse(none, none)) for name in names]
    return np.array([[c.counts for c in of_class], [c.positives for c in of_class]])


def _continued(counts: Ints, positives: Ints, logged: slice) -> Floats:
    """Fit the curve of a class, falling and level below the scores that were seen; (2, 1024).

    Above them it is level and rising. Rows whose score was not logged are a point beside it.
    """
    inside = np.zeros((2, 1, COARSE_COUNT), np.int64)
    inside[:, 0, logged] = counts[logged], positives[logged]
    curve, seen = fit_curve(*inside).values, np.nonzero(inside[0, 0])[0]
    first, last = int(seen[0]), int(seen[-1])
    level = curve[np.clip(np.arange(COARSE_COUNT), first, last)]
    falling, rising = level.copy(), level
    falling[:first] += CENTRES[:first] - CENTRES[first]
    rising[last:] += CENTRES[last:] - CENTRES[last]
    continued = np.stack([falling, rising])
    beside = slice(0, logged.start)
    continued[:, beside] = np.log((positives + 0.5) / (counts - positives + 0.5))[beside]
    return continued


def _bent(fitted: ClassScores) -> float:
    """Find how far the outcomes of a reference are from its scores at the worst place, in logit."""
    scores, at = expit(CENTRES), (fitted.starts[:, :BELOW], fitted.ends[:, :BELOW])
    usual = np.maximum(_within(fitted.counts * scores, *at), TINY)
    known = np.maximum(_within(fitted.counts * scores * (1.0 - scores), *at), TINY)
    there = _within(fitted.positives, *at)
    off = np.log((there + 0.5) / (usual + 0.5)) / np.maximum(known / usual, LEAST_OTHERS)
    return max(0.0, float((abs(off) - TOLERATED / np.sqrt(known)).max()))


def _places(counts: Ints, positives: Ints, logged: slice) -> tuple[Ints, Ints]:
    below = np.cumsum(positives, axis=1) / positives.sum(axis=1, keepdims=True)
    low, high = (
        1 + np.stack([(below < share).sum(axis=1) for share in shares], axis=1)
        for shares in (LOW, HIGH)
    )
    below = np.cumsum(counts[:, logged], axis=1) == 0
    first = logged.start + below.sum(axis=1, keepdims=True)
    starts = np.hstack([np.zeros_like(low), high, np.full_like(first, logged.start)])
    return starts, np.hstack([low, np.full_like(high, COARSE_COUNT), first])


def _within(values: Floats | Ints, starts: Ints, ends: Ints) -> Floats:
    """Sum the cells of each place up; shape (k, p)."""
    sums = np.zeros((len(values), COARSE_COUNT + 1))
    np.cumsum(values, axis=1, out=sums[:, 1:])
    return np.asarray(np.take_along_axis(sums, ends, 1) - np.take_along_axis(sums, starts, 1))


def _dispersions(reference: ClassScores, of_days: Ints) -> Floats:
    """Compare how far days are from the whole reference with chance; shape (2, k, p)."""
    at = reference.starts, reference.ends
    off, chance = np.zeros((2, 2, *reference.starts.shape))
    rates, share = expit(reference.curves[1]), expit(reference.shares)
    for counts, positives in of_days:
        there, total = _within(positives, *at), positives.sum(axis=1, keepdims=True)
        expected = np.exp(reference.centres) * _within(counts * rates, *at)
        off += np.stack([there - total * share, there - expected]) ** 2
        chance += [total * share * (1.0 - share), _within(counts * rates * (1.0 - rates), *at)]
    return np.maximum(1.0, np.where(chance > 1.0, off / np.maximum(chance, 1.0), 1.0))


def levels_of_day(reference: ClassScores, rest: Mapping[str, Coarse]) -> Floats:
    """Compare where the rows and the outcomes of a day are with the reference.

    Parameters
    ----------
    reference : ClassScores
        Of the model.
    rest : mapping of str to Coarse
        Each class against the rest.

    Returns
    -------
    ndarray of shape (k, 7, 4)
        At each place but the last the change of the log-odds of the rows over its sampling
        variance, one over this variance, and the same of the share of the outcomes. In place of the
        last one, where the reference has nothing to compare with, stand the level of all rows and
        what of it did not come with the base rate. All add up over days.
    """
    counts, positives = stacked(reference.names, rest)
    at, rates = (reference.starts, reference.ends), expit(reference.curves[1])
    there, total = _within(positives, *at), positives.sum(axis=1, keepdims=True)
    usual = np.maximum(_within(counts * rates, *at), TINY)
    known = np.maximum(_within(counts * rates * (1.0 - rates), *at), TINY)
    expected, others = np.exp(reference.centres) * usual, np.maximum(known / usual, LEAST_OTHERS)
    off = np.log((there + 0.5) / (expected + 0.5)) / others
    share = expit(reference.shares)
    moved = np.log((there + 0.5) / (total - there + 0.5)) - reference.shares
    of_share = total * share * (1.0 - share)
    levels = np.stack([off * known, known, moved * of_share, of_share], axis=-1)
    levels[:, BELOW] = [
        _level(reference, of, counts[of], hits) for of, hits in enumerate(positives)
    ]
    return levels


def _level(reference: ClassScores, of: int, counts: Ints, positives: Ints) -> list[float]:
    """Give D and kappa of a class, each over its sampling variance and one over that."""
    if not 0 < positives.sum() < counts.sum():
        return [0.0] * LEVEL_SUMS
    parts = reference.rows_of(of), Coarse(counts, positives)
    before, now = (fit_level(reference.curves[1, of], part) for part in parts)
    shift = now.delta - before.delta
    kappa = shift - (now.log_odds - before.log_odds)
    precise = 1.0 / now.delta_variance, 1.0 / (now.difference_variance or inf)
    return [shift * precise[0], precise[0], kappa * precise[1], precise[1]]


def usual_variances(reference: ClassScores, weeks: Floats) -> Floats:
    """Find how far outcomes and rows move by themselves from week to week.

    Parameters
    ----------
    reference : ClassScores
        Of the model.
    weeks : ndarray of shape (w, k, 7, 4)
        Sums of `levels_of_day` over past weeks.

    Returns
    -------
    ndarray of shape (2, k, 7)
        Variances of the share of the outcomes and of the rows, in logit squared; the last place as
        in `levels_of_day`.

    Notes
    -----
    The mean square of the weeks, those of the reference among them, beyond what chance gives and
    two standard errors of that, so that it adds nothing to classes that stay. A few weeks that hang
    together say little of one class, so it is at least the same of all classes, with one standard
    error.
    """
    known = weeks if reference.weeks is None else np.concatenate([reference.weeks, weeks])
    pulls, informations = known[..., [2, 0]], known[..., [3, 1]]
    enough = informations >= LEAST_INFORMATION
    precise = np.where(enough, informations, 1.0)
    squares = np.where(enough, pulls**2 / precise, 0.0).sum(axis=0)
    number = enough.sum(axis=0)
    freedom = np.maximum(number - 1.0, 0.0)
    precision = np.where(enough, informations, 0.0).sum(axis=0) * freedom / np.maximum(number, 1)
    own = squares * (number > 1) - freedom - CHANCE * np.sqrt(2.0 * freedom)
    of_all = squares.sum(axis=0) - freedom.sum(axis=0) - np.sqrt(2.0 * freedom.sum(axis=0))
    shared = of_all / np.maximum(precision.sum(axis=0), 1.0)
    moved = np.maximum(own / np.maximum(precision, 1.0), shared)
    return np.asarray(np.moveaxis(np.maximum(moved, 0.0), -1, 0))


def gains_of_day(
    reference: ClassScores, rest: Mapping[str, Coarse], usual: Floats | None = None
) -> Floats:
    """Weigh the outcomes of a day against the reference.

    Parameters
    ----------
    reference : ClassScores
        Of the model.
    rest : mapping of str to Coarse
        Each class against the rest.
    usual : ndarray of shape (2, k, 7), optional
        As `usual_variances` gives them; otherwise 0.

    Returns
    -------
    ndarray of shape (2, k, 8, 2)
        The logarithm of what is bet, in nats, by side, class, place and size. The last place are
        scores that are new on the day.

    Notes
    -----
    Of n outcomes of a class m have such scores, in the reference the share q. The first ratio is
    that of the binomial likelihoods of m at ``logit q + s (t + e)`` and at ``logit q + s t``, with
    the side s, the size e and t what is tolerated: two standard errors of the reference, three
    standard deviations of `usual`, at least 0.15. The second one is the same of the rows there,
    each with its own rate on the curve. Each is divided by its dispersion. The expectation of
    either is at most 1 at t and on the other side of it, the second one's by Jensen's inequality
    for rows with different rates. So the smaller is a fair bet while either the inputs or the
    priors move no more than that.
    """
    counts, positives = stacked(reference.names, rest)
    new = new_scores(reference.counts - reference.positives, counts - positives)
    least = np.full((2, *reference.starts.shape), LEAST_TOLERANCE)
    if usual is not None:
        least = np.maximum(least, USUAL * np.sqrt(usual))
    gains = np.minimum(
        _of_outcomes(reference, positives, new, least[0]),
        _of_rows(reference, counts, positives, new, _with_worst(least[1])),
    )
    gains[0, :, BELOW:] = 0.0  # fewer outcomes below all scores contradict nothing
    gains[:, :, [place for place in ALL if place not in reference.places]] = 0.0
    return gains


def gains_of_adjusted(
    adjusted: ClassScores, rest: Mapping[str, Coarse], usual: Floats | None = None
) -> Floats:
    """Weigh the adjusted scores of a day against the reference.

    Parameters
    ----------
    adjusted : ClassScores
        Of the adjusted scores.
    rest, usual : mapping of str to Coarse, ndarray of shape (2, k, 7), optional
        As for `gains_of_day`.

    Returns
    -------
    ndarray of shape (2, k, 8, 2)
        As `gains_of_day` gives them, of the rows alone.

    Notes
    -----
    Given the scores and how often each class came true, the weights of a day are fixed, and if its
    vectors are right up to weights the rows at a place come true as independent ones do, or vary
    less. So the ratio is a fair bet under every move of priors and inputs, as far as the
    reference was right; twice its own error is tolerated on top.
    """
    counts, positives = stacked(adjusted.names, rest)
    least = np.full((len(counts), PLACES + 1), max(LEAST_TOLERANCE, BENT * adjusted.bent))
    if usual is not None:  # which says nothing of scores that are new
        least[:, :NEW] = np.maximum(least[:, :NEW], USUAL * np.sqrt(usual[1]))
    # Chosen by the scores of all rows, given which the rows of a class come by chance.
    new = new_scores(adjusted.counts, counts)
    least[:, NEW] = np.maximum(least[:, NEW], TOLERATED * _curve_error(adjusted, counts * new))
    gains = _of_rows(adjusted, counts, positives, new, least)
    gains[0, :, BELOW] = 0.0
    gains[:, positives.sum(axis=1) < LEAST_OF_DAY] = 0.0
    return gains


def _curve_error(reference: ClassScores, rows: Ints) -> Floats:
    """Say how well the curve of each class is known at some rows, by the outcomes near them."""
    near = np.arange(COARSE_COUNT) + np.array([[-NEAR_CELLS], [NEAR_CELLS + 1]])
    ends = near.clip(0, COARSE_COUNT)
    sums = np.pad(reference.positives.cumsum(axis=1), ((0, 0), (1, 0)))
    outcomes = (rows * (sums[:, ends[1]] - sums[:, ends[0]])).sum(axis=1)
    there = np.maximum(outcomes / np.maximum(rows.sum(axis=1), 1), 0.5)
    return np.asarray(np.sqrt(reference.dispersions[1].max(axis=1) / there))


def new_scores(before: Ints, rows: Ints) -> Bools:
    """Say in which cells a day holds far more rows than the reference; shape (k, 1024).

    Parameters
    ----------
    before, rows : ndarray of shape (k, 1024)
        Of the reference, and of the day: of all other classes where the share of the outcomes of a
        class is compared, so that these are not chosen with the cells.
    """
    total, total_before = (of.sum(axis=1, keepdims=True) for of in (rows, before))
    usual = total * before / np.maximum(total_before, 1)
    return np.asarray(
        (rows >= np.maximum(LEAST_ROWS, LEAST_SHARE * total))
        & (rows >= LEAST_TIMES * usual + LEAST_ROWS * total / np.maximum(total_before, 1))
        & (rows >= usual + LEAST_DEVIATIONS * np.sqrt(usual))
    )


def _of_outcomes(reference: ClassScores, positives: Ints, new: Bools, least: Floats) -> Floats:
    """Weigh the share of the outcomes that each place has; shape (2, k, 8, 2)."""
    at = reference.starts, reference.ends
    there, before = (
        np.hstack([_within(hits, *at), (new * hits).sum(axis=1, keepdims=True)])
        for hits in (positives, reference.positives)
    )
    total, total_before = (
        hits.sum(axis=1, keepdims=True) for hits in (positives, reference.positives)
    )
    phi = _with_worst(reference.dispersions[0])
    elsewhere = total_before - before + 0.5
    shares = np.log((before + 0.5) / elsewhere)
    errors = np.sqrt(phi * (1.0 / (before + 0.5) + 1.0 / elsewhere))
    tolerated = np.maximum(_with_worst(least), TOLERATED * errors)
    near = shares + SIDES[:, np.newaxis, np.newaxis] * tolerated
    far = near[..., np.newaxis] + SIDES[:, np.newaxis, np.newaxis, np.newaxis] * SIZES
    moved = far - near[..., np.newaxis]
    rise = np.logaddexp(0.0, far) - np.logaddexp(0.0, near)[..., np.newaxis]
    return np.asarray(
        (there[..., np.newaxis] * moved - total[..., np.newaxis] * rise) / phi[..., np.newaxis]
    )


def _with_worst(dispersions: Floats) -> Floats:
    return np.hstack([dispersions, dispersions.max(axis=1, keepdims=True)])


def _of_rows(
    reference: ClassScores, counts: Ints, positives: Ints, new: Bools, least: Floats
) -> Floats:
    """Weigh the share of the rows at each place that is of the class; shape (2, k, 8, 2)."""
    held = np.nonzero(counts.any(axis=0))[0]
    phi = _with_worst(reference.dispersions[1])
    there = np.maximum(_within(reference.positives, reference.starts, reference.ends), 0.5)
    tolerated = np.hstack([TOLERATED * np.sqrt(phi[:, :PLACES] / there), np.zeros((len(phi), 1))])
    tolerated = np.maximum(tolerated, least)
    centres = np.hstack([reference.centres, np.zeros((len(counts), 1))])
    gains = np.zeros((2, *tolerated.shape, SIZES.size))
    for place in range(PLACES + 1):
        chosen = new[:, held] if place == NEW else _cells(reference, place, held)
        rows, hits = counts[:, held] * chosen, (positives[:, held] * chosen).sum(axis=1)
        for i, side in enumerate(SIDES):
            shift = centres[:, place] + side * tolerated[:, place]
            near = reference.curves[i][:, held] + shift[:, np.newaxis]
            at_near = np.logaddexp(0.0, near)
            for j, size in enumerate(SIZES):
                rise = np.logaddexp(0.0, near + side * size) - at_near
                gains[i, :, place, j] = side * size * hits - (rows * rise).sum(axis=1)
    return np.asarray(gains / phi[..., np.newaxis])


def _cells(reference: ClassScores, place: int, held: Ints) -> Bools:
    """Say which of the cells are part of a place; shape (k, m)."""
    first, end = reference.starts[:, [place]], reference.ends[:, [place]]
    return np.asarray((held >= first) & (held < end))
