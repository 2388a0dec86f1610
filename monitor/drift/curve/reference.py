"""The reference period as a calibration curve with its uncertainty, and what counts as a drift.

Rule 1: a reference is a fixed set of days. It is moved by a person only, because one that
trails the present follows every slow drift and hides it.
Rule 2: every day and every segment has an intercept of its own, so no prior enters the curve.
Rule 3: whether it was calibrated itself is said of its days as they are. Its intercept is that of
these days, and its interval says nothing of the priors of others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import isfinite, sqrt
from typing import Any

import numpy as np

from monitor.base.short_text import shown_shortly
from monitor.drift.curve.fitting import Curve, fit_curve
from monitor.drift.curve.label_noise import (
    FAMILIES,
    MOST_REMEMBERED,
    Noise,
    noise_of_days,
    possible_noise,
    scores_bent,
)
from monitor.drift.curve.regions import Regions, fit_regions
from monitor.drift.curve.variance import between_day_variances, span_starts
from monitor.drift.records.day_evidence import WrongLabels
from monitor.drift.records.facts import NOT_CALIBRATED, Fault
from monitor.drift.records.lack import LEAST_OF_EACH, Lack
from monitor.metrics.core.coarse import CENTRES, Coarse, sum_of
from monitor.metrics.core.dispersion import NO_DESIGN_EFFECTS, DesignEffects
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.ratio import ratio
from monitor.metrics.logistic.conditional import fit_slope, project_directions
from monitor.metrics.logistic.level import Level, Lift, combine_lifts, compare_levels, fit_level

LEAST_DAYS = 14
REFERENCE_DAYS = 28  # of the default reference, which is the first days
RARE = "rare pairs"  # of classes: those without a curve of their own
TOLERATED, SOUGHT = 1.25, 6.0  # standard errors of the reference curve
LEAST_SHARE = 0.01  # of the variance of the intercept: that of what the base rate leaves over
MONTH, SOUGHT_IN_A_MONTH = 30, 1.5  # days, and standard errors of what they say


@dataclass(frozen=True)
class Sensitivity:
    """What deviation from the reference is tolerated, and what is worth an alert, in logit.

    Each is a pair: of the slope, per unit of log-odds; of a shape, per standard deviation of
    it. Both grow where the reference itself is not known better.
    """

    tolerances: tuple[float, float] = (0.03, 0.05)
    effects: tuple[float, float] = (0.10, 0.20)


@shown_shortly
@dataclass(frozen=True, eq=False)
class Reference:
    """What "as before" means for one stream of predictions.

    Attributes
    ----------
    curve : ndarray of shape (1024,)
        Log-odds of a positive outcome by coarse cell; right on average over the reference.
    directions : ndarray of shape (4, 1024)
        The ways in which a curve may be distorted; see `DIRECTIONS`.
    basis : ndarray of shape (b, 1024)
        The functions that the curve was fitted with.
    covariance : ndarray of shape (b, b)
        Covariance of their coefficients for independent outcomes.
    known : slice
        The cells in which the reference knows its curve; the others are no evidence.
    sensitivity : Sensitivity
        Least tolerance and least effect, as configured.
    least_effects : ndarray of shape (4,)
        The least effect along each direction at this volume, in logit.
    day_variances : ndarray of shape (4,)
        The between-day variance (tau squared of a random-effects model) of the distortion along
        each direction: every day has a distortion of its own, drawn with this variance around
        the reference, in logit squared; 0 if the outcomes of a day are independent.
    scores, informations : ndarray of shape (days, 4)
        What each day of the reference says of each direction.
    cross : ndarray of shape (4, 1 + b)
        Information of each direction with itself, then with the functions of the curve; the sum
        over the reference.
    counts : Coarse
        All predictions of the reference.
    prevalence : float
        Share of positive outcomes.
    levels : mapping to Level
        Intercept and prevalence of each part, with their uncertainty.
    level_dispersion : float
        Variance of a day's standardised level change, at least 1.
    usual_input_move : float
        Root mean square of how far the scores of a day moved by themselves, in logit; see
        `monitor.drift.incidents.levels.what_moved`.
    level_days : ndarray of shape (days, 4)
        What each day says of the level; see `monitor.drift.records.detector.LevelWatch`. No rows of
        a stream whose parts share no level, and of a reference of `fit_bare`.
    level_variances : ndarray of shape (2,)
        Variances between the days of the intercept, and of the part of it that did not come with
        the base rate, in logit squared.
    own_slope : Estimate or None
        Slope of the reference's outcomes on its scores: 1 if they are calibrated, but for the
        prior. None if they do not tell.
    own_intercept : Estimate or None
        How far the log-odds of all its scores are off, on average. None if they do not tell.
    judge_every : int
        Number of days that are judged together.
    noise : Noise or None
        What the days say of wrong labels; None where outcomes cannot be recorded as their opposite
        at random.
    groups : mapping of str to int
        Of a stream whose pairs of classes, or parts of them, got curves of their own before, by
        pair and by part: the place of each curve in `group_variances`, and that of `RARE`. Empty
        for all others.
    group_variances : ndarray of shape (g, 4)
        Variance of each such curve along each direction. Then `cross` has g further columns: the
        information of each direction with itself, by curve.
    usual_shares : ndarray of shape (4, g)
        The share of each such curve in the information of the reference, if the curve of the stream
        has made up for what these are off on average; else 0.
    hanging : ndarray of shape (4,)
        By how much the variance of the curve along each direction is larger than `day_variances`
        make it, because rows of an entity hang together; at least 1. See
        `monitor.drift.evidence.entities`.
    design_effects : DesignEffects
        Of its rows, where those of an entity hang together.
    overlap : float
        Days from one on which outcomes are independent of its own, where the same entities seem to
        be counted again; 1 elsewhere, and with the key `entity`. See
        `monitor.drift.evidence.entities`.
    regions : Regions or None
        Where breaks at one place of the scores are looked for; None where they are not.
    starts : tuple of int
        The first day of each span that holds enough outcomes to say how much days differ.
    """

    curve: Floats
    directions: Floats
    basis: Floats
    covariance: Floats
    known: slice
    sensitivity: Sensitivity
    least_effects: Floats
    day_variances: Floats
    scores: Floats
    informations: Floats
    cross: Floats
    counts: Coarse
    prevalence: float
    levels: Mapping[Any, Level]
    level_dispersion: float = 1.0
    usual_input_move: float = 0.0
    own_slope: Estimate | None = None
    own_intercept: Estimate | None = None
    judge_every: int = 1
    noise: Noise | None = None
    groups: Mapping[Any, int] = field(default_factory=dict)
    group_variances: Floats = field(default_factory=lambda: np.zeros((0, 4)))
    usual_shares: Floats = field(default_factory=lambda: np.zeros((4, 0)))
    hanging: Floats = field(default_factory=lambda: np.ones(4))
    design_effects: DesignEffects = NO_DESIGN_EFFECTS
    overlap: float = 1.0
    regions: Regions | None = None
    level_days: Floats = field(default_factory=lambda: np.zeros((0, 4)))
    level_variances: Floats = field(default_factory=lambda: np.zeros(2))
    starts: tuple[int, ...] = ()

    def group_of(self, part: Any) -> int | None:
        """Give the place in `group_variances` of the curve of a part; None if there are none."""
        if not self.groups:
            return None
        return self.groups.get(part, self.groups.get(part[-1], self.groups[RARE]))

    @cached_property
    def outermost(self) -> tuple[int, int]:
        """The first and the last cell in which it has predictions."""
        seen = np.flatnonzero(self.counts.counts)
        return int(seen[0]), int(seen[-1])

    @cached_property
    def beyond_known(self) -> tuple[int, int, int]:
        """How many predictions it has below the known cells, above them, and in all."""
        counts = self.counts.counts
        below, above = counts[: self.known.start], counts[self.known.stop :]
        return below.sum(), above.sum(), counts.sum()

    @cached_property
    def dispersions(self) -> Floats:
        """Compare the variance of the sum of its scores with that of independent outcomes."""
        return dispersions(self.day_variances, self.informations) * self.hanging

    @cached_property
    def errors(self) -> Floats:
        """Standard errors with which the reference knows its own curve along each direction.

        0 where no score moves along it, so that it is never looked at.
        """
        total = self.informations.sum(axis=0)
        return np.sqrt(ratio(self.dispersions, total))

    @cached_property
    def tolerances(self) -> Floats:
        """Deviations that are tolerated where scores are as in the reference, in logit."""
        least = by_direction(self.sensitivity.tolerances)
        return np.where(self.errors > 0.0, np.maximum(least, TOLERATED * self.errors), 0.0)

    @cached_property
    def effects(self) -> Floats:
        """Deviations that are looked for there, in logit."""
        sought = np.maximum(self.least_effects, SOUGHT * self.errors)
        return np.where(self.errors > 0.0, sought, 0.0)

    @property
    def curve_errors(self) -> Floats:
        """Standard errors of the curve by coarse cell, apart from the one constant of its level.

        Days that differ widen them by the dispersion along the slope.
        """
        variances = np.einsum("ic,ij,jc->c", self.basis, self.covariance, self.basis)
        return np.asarray(np.sqrt(variances * self.dispersions[0]))


def what_a_reference_lacks(
    days: Sequence[Mapping[Any, Coarse]], least_days: int = LEAST_DAYS
) -> Lack | None:
    """Find what is missing before a reference can be fitted; None if nothing is."""
    # Too few days lack days, whatever they hold.
    parts = [part for day in days for part in day.values()] if len(days) >= least_days else []
    positives = sum(int(part.positives.sum()) for part in parts)
    total = sum(int(part.counts.sum()) for part in parts)
    return what_counts_lack(len(days), positives, total - positives, least_days)


def what_counts_lack(
    days: int, positives: int, negatives: int, least_days: int = LEAST_DAYS
) -> Lack | None:
    """Find the same from the numbers of final days and of their outcomes."""
    if days < least_days:
        return Lack("final days", days, least_days)
    if positives < LEAST_OF_EACH:
        return Lack("positive outcomes", positives, LEAST_OF_EACH)
    if negatives < LEAST_OF_EACH:
        return Lack("negative outcomes", negatives, LEAST_OF_EACH)
    return None


def fit_reference(
    days: Sequence[Mapping[Any, Coarse]],
    sensitivity: Sensitivity = Sensitivity(),
    *,
    judge_every: int = 1,
    least_days: int = LEAST_DAYS,
    noise: bool = True,
    regions: bool = False,
) -> Reference:
    """Learn the calibration curve of a period, whatever its priors were.

    Parameters
    ----------
    days : sequence of mapping to Coarse
        The parts of each day, each with a prior of its own, by any name.
    sensitivity : Sensitivity
        Least tolerance and least effect.
    judge_every : int
        Number of days that are judged together, with one intercept for each part.
    least_days : int
        Days without which the between-day variance is not known well enough.
    noise : bool
        Whether outcomes may be recorded as their opposite at random.
    regions : bool
        Whether breaks at one place of the scores are looked for.

    Returns
    -------
    Reference
        For the stream whose evidence is the sum over these parts.

    Raises
    ------
    ValueError
        If `what_a_reference_lacks` names something.

    Notes
    -----
    The curve is that of `monitor.drift.curve.fitting.fit_curve`. Its directions are: the curve
    itself (slope); a quadratic and a cubic, orthonormal under the information; the top tenth of the
    reference. The variances are those of `monitor.drift.curve.variance.between_day_variance`, over
    spans of days that hold enough outcomes. Tolerances and effects depend on where a day's scores
    are; see `monitor.drift.evidence.directions.price`.

    Examples
    --------
    >>> from scipy.special import expit
    >>> from monitor.metrics.core.coarse import CENTRES
    >>> n = np.where(abs(CENTRES) < 3, 50, 0)
    >>> days = [{"all": Coarse(n, np.rint(n * expit(CENTRES)).astype(np.int64))}] * 28
    >>> reference = fit_reference(days)
    >>> bool(abs(reference.curve - CENTRES)[n > 0].max() < 0.05)
    True
    """
    if lack := what_a_reference_lacks(days, least_days):
        msg = f"a reference needs more {lack.of}: {lack.there} of at least {lack.least}."
        raise ValueError(msg)
    fitted = fit_bare(days, sensitivity, judge_every=judge_every, noise=noise)
    days = _spans(days, judge_every)
    if regions:
        of_days = fit_regions(fitted.curve, fitted.known, days, [_rarer(day) for day in days])
        fitted = replace(fitted, regions=of_days)
    return _with_what_days_say(fitted, days)


def _spans(days: Sequence[Mapping[Any, Coarse]], length: int) -> list[dict[Any, Coarse]]:
    return [merge_days(days[i : i + length]) for i in range(0, len(days), length)]


def fit_bare(
    days: Sequence[Mapping[Any, Coarse]],
    sensitivity: Sensitivity = Sensitivity(),
    *,
    judge_every: int = 1,
    noise: bool = True,
) -> Reference:
    """Learn what evidence rests on and no more, which takes less time than `fit_reference`.

    Not whether the days were calibrated, how their levels vary, and what they say of wrong labels.
    The days must lack nothing.
    """
    days = _spans(days, judge_every)
    strata = [part for day in days for part in day.values()]
    counts = np.stack([part.counts for part in strata])
    positives = np.stack([part.positives for part in strata])
    everything = Coarse(counts.sum(axis=0), positives.sum(axis=0))
    fitted = fit_curve(counts, positives)
    curve = fitted.values + fit_level(fitted.values, everything).delta
    directions = _directions(fitted)
    scores, crosses = _scores_by_day(curve, directions, fitted, days)
    informations = np.ascontiguousarray(crosses[:, :, 0])  # a kept reference has no view either
    starts = span_starts([_rarer(day) for day in days])
    return Reference(
        curve=curve,
        directions=directions,
        basis=fitted.basis,
        covariance=fitted.covariance,
        known=fitted.known,
        sensitivity=sensitivity,
        least_effects=_least_effects(sensitivity, informations, judge_every),
        day_variances=between_day_variances(scores, informations, starts),
        scores=scores,
        informations=informations,
        cross=crosses.sum(axis=0),
        counts=everything,
        prevalence=float(everything.positives.sum() / everything.counts.sum()),
        levels={name: fit_level(curve, part) for name, part in merge_days(days).items()},
        judge_every=judge_every,
        noise=possible_noise(curve, fitted.known, days) if noise else None,
        starts=tuple(starts),
    )


def _with_what_days_say(reference: Reference, days: Sequence[Mapping[Any, Coarse]]) -> Reference:
    """Add what evidence does not rest on: of calibration, of levels and of wrong labels."""
    strata = [part for day in days for part in day.values()]
    curve, noise = reference.curve, reference.noise
    lifts = [lift for day in days if (lift := lift_since(curve, reference.levels, day))]
    level_dispersion, usual_input_move = _level_spread(lifts)
    level_days = np.array([sum_levels(curve, reference.levels, day) for day in days])
    of_days = 1.0 + (reference.day_variances * reference.informations).max(axis=1)
    if noise:
        noise = noise_of_days(noise, curve, reference.directions, reference.known, days, of_days)
    return replace(
        reference,
        level_dispersion=level_dispersion,
        usual_input_move=usual_input_move,
        own_slope=own_slope(strata, reference.dispersions[0]),
        own_intercept=own_intercept(strata),
        noise=noise,
        level_days=level_days,
        level_variances=level_variances(level_days),
    )


def judged_with(reference: Reference, wrong: WrongLabels | None) -> Reference:
    """Let the days of a reference differ only by what wrong labels do not explain.

    A prior that moves bends the curve of wrong labels, so days look as if they varied by nature.
    """
    if wrong is None or reference.noise is None or not reference.noise.bends.size:
        return reference
    shares = reference.noise.shares[FAMILIES.index(wrong.family)]
    nearest = float(shares[np.abs(shares - wrong.share).argmin()])
    return _judged_with(reference, replace(wrong, share=nearest))


@lru_cache(MOST_REMEMBERED)  # asked on every day
def _judged_with(reference: Reference, wrong: WrongLabels) -> Reference:
    scores = reference.scores + (scores_bent(reference.noise, wrong) if reference.noise else 0.0)
    day_variances = between_day_variances(scores, reference.informations, reference.starts)
    return replace(reference, scores=scores, day_variances=day_variances)


def with_hanging(reference: Reference, hanging: Floats, of_intercept: float = 1.0) -> Reference:
    """Let the errors of a reference grow where its rows hang together.

    Parameters
    ----------
    reference : Reference
        As fitted to rows that were taken for independent.
    hanging : ndarray of shape (4,)
        The field of that name.
    of_intercept : float
        By how much the variance of its own intercept grows.
    """
    own, level = reference.own_slope, reference.own_intercept
    slope = own and Estimate.normal(own.value, own.standard_error * sqrt(float(hanging[0])))
    intercept = level and Estimate.normal(level.value, level.standard_error * sqrt(of_intercept))
    return replace(reference, hanging=hanging, own_slope=slope, own_intercept=intercept)


def merge_days(days: Sequence[Mapping[Any, Coarse]]) -> dict[Any, Coarse]:
    """Add the parts of several days up, each part by itself."""
    names = dict.fromkeys(name for day in days for name in day)
    return {name: sum_of([day[name] for day in days if name in day]) for name in names}


def lift_since(
    curve: Floats, levels: Mapping[Any, Level], parts: Mapping[Any, Coarse]
) -> Lift | None:
    """Compare the level of each part with its own in the reference, and average.

    Pooled, parts whose priors move apart would look like a lifted curve. A part that the
    reference has not seen says nothing.
    """
    known = [(part, levels[name]) for name, part in parts.items() if name in levels]
    return combine_lifts([compare_levels(fit_level(curve, part), of) for part, of in known])


def sum_levels(curve: Floats, levels: Mapping[Any, Level], parts: Mapping[Any, Coarse]) -> Floats:
    """Compare the level of each part with its own in the reference, as sums that add over days.

    Parameters
    ----------
    curve : ndarray of shape (1024,)
        Log-odds of a positive outcome by coarse cell.
    levels : mapping to Level
        Of the parts in the reference.
    parts : mapping to Coarse
        The outcomes of a day.

    Returns
    -------
    ndarray of shape (4,)
        The change of the intercept over its variance, one over this variance, and the same of the
        part of the change that did not come with the base rate. All 0 if no part has outcomes of
        both classes.
    """
    sums = np.zeros(4)
    for name, part in parts.items():
        before = levels.get(name)
        if before and isfinite(before.delta) and isfinite((now := fit_level(curve, part)).delta):
            lift = compare_levels(now, before)
            of_shift, of_kappa = now.delta_variance, variance_of_kappa(now)
            sums += [lift.shift / of_shift, 1.0 / of_shift, lift.kappa / of_kappa, 1.0 / of_kappa]
    return sums


def variance_of_kappa(level: Level) -> float:
    """Give the sampling variance of what the base rate leaves over; not 0 if scores are equal."""
    return max(level.difference_variance, LEAST_SHARE * level.delta_variance)


def by_direction(pair: tuple[float, float]) -> Floats:
    """Give the value of each direction from that of the slope and that of the shapes."""
    slope, shape = pair
    return np.array([slope, shape, shape, shape])


def dispersions(day_variances: Floats, informations: Floats) -> Floats:
    """Compare the variance of the sum of all days' scores with that of independent outcomes.

    Parameters
    ----------
    day_variances : ndarray of shape (4,)
        Between-day variances.
    informations : ndarray of shape (days, 4)
        Of each day.

    Returns
    -------
    ndarray of shape (4,)
        ``1 + day_variance sum I**2 / sum I``, at least 1.

    Examples
    --------
    >>> dispersions(np.array([0.01, 0, 0, 0]), np.full((28, 4), 100.0))
    array([2., 1., 1., 1.])
    """
    total = informations.sum(axis=0)
    squares = (informations**2).sum(axis=0)
    return 1.0 + ratio(day_variances * squares, total)


def _directions(fitted: Curve) -> Floats:
    slope = fitted.values - fitted.values[fitted.known].mean()
    return np.stack([slope, *fitted.shapes])


def _scores_by_day(
    curve: Floats, directions: Floats, fitted: Curve, days: Sequence[Mapping[Any, Coarse]]
) -> tuple[Floats, Floats]:
    """Sum scores, shape (days, 4), and informations, (days, 4, 1 + b), over the parts."""
    span = fitted.known
    at, along, basis = (
        np.ascontiguousarray(values[..., span]) for values in (curve, directions, fitted.basis)
    )
    scores = np.zeros((len(days), len(along)))
    crosses = np.zeros((len(days), len(along), 1 + len(basis)))
    for i, day in enumerate(days):
        for part in day.values():
            pull, cross = project_directions(
                at, part.counts[span], part.positives[span], along, basis
            )
            scores[i] += pull
            crosses[i] += cross
    return scores, crosses


def _rarer(day: Mapping[Any, Coarse]) -> int:
    """Count the rarer outcome of a day, part by part."""
    both = ((int(part.positives.sum()), int(part.counts.sum())) for part in day.values())
    return sum(min(hits, total - hits) for hits, total in both)


def _least_effects(sensitivity: Sensitivity, informations: Floats, judge_every: int) -> Floats:
    """Give the least effects worth looking for: no smaller than a month can hint at.

    With twelve outcomes a day, looking for the least effect takes years, and a drift three times as
    large hardly less. So the effect is at least 1.5 standard errors of what a month says.
    """
    rows = MONTH / judge_every
    with np.errstate(divide="ignore"):
        month = SOUGHT_IN_A_MONTH / np.sqrt(rows * informations.mean(axis=0))
    return np.maximum(by_direction(sensitivity.effects), np.where(np.isfinite(month), month, 0.0))


def _level_spread(lifts: Sequence[Lift]) -> tuple[float, float]:
    """Compare the days' levels: the dispersion of their changes, and how far inputs moved."""
    squares = [(lift.kappa / lift.kappa_error) ** 2 for lift in lifts if lift.kappa_error > 0.0]
    moves = [(lift.separation * lift.shift - lift.kappa) ** 2 for lift in lifts]
    dispersion = max(1.0, sum(squares) / max(1, len(squares) - 1))
    return dispersion, sqrt(sum(moves) / len(moves)) if moves else 0.0


def level_variances(level_days: Floats) -> Floats:
    """Estimate the variances of levels between days, by DerSimonian and Laird's moments."""
    pulls, precisions = level_days[:, ::2], level_days[:, 1::2]
    told = precisions.min(axis=1) > 0.0
    if not told.any():
        return np.zeros(2)
    weights, values = precisions[told], pulls[told] / precisions[told]
    total = weights.sum(axis=0)
    means = (weights * values).sum(axis=0) / total
    excess = (weights * (values - means) ** 2).sum(axis=0) - (told.sum() - 1)
    spread = total - (weights**2).sum(axis=0) / total
    return np.maximum(0.0, ratio(excess, spread))


def faults_of(reference: Reference, least_shift: float) -> tuple[Fault, ...]:
    """Find how the reference itself was not calibrated, or not made of days that are apart.

    Parameters
    ----------
    reference : Reference
        Of the stream.
    least_shift : float
        The least intercept that is reported, in logit.
    """
    slope, intercept = reference.own_slope, reference.own_intercept
    faults = list[Fault]()
    if slope and (slope.low > 1.0 or slope.high < 1.0) and abs(slope.value - 1) > NOT_CALIBRATED:
        faults.append("slope")
    beyond_chance = intercept and (intercept.low > 0.0 or intercept.high < 0.0)
    if intercept and beyond_chance and abs(intercept.value) > least_shift:
        faults.append("intercept")
    if reference.overlap > 1.0:
        faults.append("counted again")
    return tuple(faults)


def own_slope(strata: Sequence[Coarse], dispersion: float) -> Estimate | None:
    """Estimate the slope of the reference's outcomes on its scores, apart from every prior.

    Parameters
    ----------
    strata : sequence of Coarse
        The parts of each day, each with an intercept of its own.
    dispersion : float
        By how much the variance is larger than that of independent outcomes.

    Returns
    -------
    Estimate or None
        1 if the scores are calibrated; None if the outcomes do not tell.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.special import expit
    >>> n = np.where(abs(CENTRES) < 3, 10_000, 0)
    >>> extreme = Coarse(n, np.rint(n * expit(0.5 * CENTRES)).astype(np.int64))
    >>> round(own_slope([extreme], 1.0).value, 2)
    0.5
    """
    fitted = fit_slope(CENTRES, strata)
    return Estimate.normal(fitted[0], fitted[1] * sqrt(dispersion)) if fitted else None


def own_intercept(strata: Sequence[Coarse]) -> Estimate | None:
    """Estimate how far the log-odds of all scores of the reference are off, on average.

    Parameters
    ----------
    strata : sequence of Coarse
        The parts of each day.

    Returns
    -------
    Estimate or None
        0 if as many predictions came true as expected, above 0 if more did; None if all outcomes
        are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.special import expit
    >>> n = np.where(abs(CENTRES) < 3, 10_000, 0)
    >>> low = Coarse(n, np.rint(n * expit(0.4 + CENTRES)).astype(np.int64))
    >>> round(own_intercept([low]).value, 2)
    0.4
    """
    level = fit_level(CENTRES, sum_of(strata))
    if not isfinite(level.delta):
        return None
    return Estimate.normal(level.delta, sqrt(level.delta_variance))
