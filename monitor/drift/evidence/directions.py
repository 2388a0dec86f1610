"""What one day says of each distortion, whatever its priors. Pure.

Rule: evidence is a ratio of likelihoods given the number of positive outcomes, so a prior can
neither raise nor lower it. Segments are summed, never pooled: each has a prior of its own.
"""

from collections.abc import Mapping, Sequence
from math import isfinite, log
from typing import Any, NamedTuple

import numpy as np

from monitor.drift.curve.cubic import highest_points
from monitor.drift.curve.label_noise import Noise, said_of_labels
from monitor.drift.curve.reference import SOUGHT, TOLERATED, Reference, by_direction
from monitor.drift.curve.variance import WEEK
from monitor.drift.records.day_evidence import DIRECTIONS, SLOPES, Changed, DayEvidence, WrongLabels
from monitor.drift.records.detector import SHARES, no_sums
from monitor.metrics.core.coarse import Coarse
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.special import expit
from monitor.metrics.logistic.conditional import (
    adjusted_profile,
    profile_directions,
    project_directions,
    score_directions,
    score_slopes,
    weigh_directions,
)
from monitor.metrics.logistic.label_noise import noisy_curve, weigh_changes, weigh_shares
from monitor.metrics.logistic.level import compare_levels, fit_level

UPWARDS = np.array([0.05, 0.1, 0.2, 0.4, 0.7, 1.1, 1.7, 2.5])  # logit
SIZES = np.concatenate([-UPWARDS[::-1], UPWARDS])  # of a distortion, at which it is profiled
# Shares of the positive outcomes that got lost, and of the negative ones that were added to them,
# at which a change of the labels is profiled.
_SHARES = (0.01, 0.03, 0.06, *np.arange(0.1, 0.39, 0.05), 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
_FEW = (5e-4, 0.001, 0.002, 0.004, 0.007, 0.01, 0.015, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3)
LOST, ADDED = np.array(_SHARES), np.array([*_FEW, 0.5, 0.8])
CHANGES: dict[Changed, Floats] = {"lost": LOST, "added": ADDED}
_NONE = np.zeros(SIZES.size)
SLOPES_TRIED = np.array(SLOPES)
CROWDED, FEW_ROWS = 3.0, 3  # times the usual rows beyond the known scores, and as many more
ENOUGH = 50.0  # information of the days before by which a tolerance is smoothed
LONG_RUN = 2.0  # weeks hang together, so their sum varies more than that of independent ones
WANDERING = 4.0  # times the variance of weeks: what wanders stays away for some of them
FULL_GAIN = 0.1  # nats: a day that may add as much counts in full
LEAST_RATIO = 2.0  # of the effect to the tolerance
LARGEST_EFFECT = 100.0  # logit: the reference says nothing of such a direction, and exp overflows
MOST_OF_A_DAY = 2.0  # log10: one broken day makes no drift, and wipes out none


def day_evidence(
    reference: Reference,
    parts: Mapping[Any, Coarse],
    day_variances: Floats | None = None,
    recent: Floats | None = None,
    *,
    hedged: bool = True,
    rows: "DayRows | None" = None,
) -> DayEvidence:
    """Weigh the outcomes of one day, each part with a prior of its own.

    Parameters
    ----------
    reference : Reference
        Of the stream.
    parts : mapping to Coarse
        The day's outcomes by segment and stratum; those of one class only say nothing.
    day_variances : ndarray of shape (4,), optional
        Between-day variances, if more is known of them than the reference knows.
    recent : ndarray of shape (4, 1 + b), optional
        Where the scores of the last days were, as `cross` of an earlier day's evidence.
    hedged : bool
        Whether the ratios are `bounded`, as those of a single day must be.
    rows : DayRows, optional
        What `rows_of_day` gives, where several questions are asked of a day or some of its
        outcomes are recorded as their opposite.

    Returns
    -------
    DayEvidence
        The sum over the parts.

    Notes
    -----
    ``r = [log E(effect) - log E(tolerance)] / (phi ln 10)`` for each direction and sign, with E
    of `monitor.metrics.logistic.conditional.conditional_log_ratio`, tolerance and effect of
    `price`, and ``phi = 1 + day_variance I`` the dispersion of a day whose information on the
    direction is I; then `bounded`.

    Examples
    --------
    >>> from scipy.special import expit
    >>> from monitor.drift.records.day_evidence import KINDS
    >>> from monitor.drift.curve.reference import fit_reference
    >>> from monitor.metrics.core.coarse import CENTRES
    >>> n = np.where(abs(CENTRES) < 3, 50, 0)
    >>> def day(slope, prior):
    ...     p = expit(slope * CENTRES + prior)
    ...     return {"all": Coarse(n, np.rint(n * p).astype(np.int64))}
    >>> reference = fit_reference([day(1.0, 0.0)] * 28)
    >>> evidence = day_evidence(reference, day(0.8, 0.7))
    >>> KINDS[evidence.ratios.argmax()]
    'too_extreme'
    """
    day_variances = reference.day_variances if day_variances is None else day_variances
    rows = rows or rows_of_day(reference, parts)
    scores, cross = _projected(reference, rows.bent)
    informations = cross[:, 0].copy()
    cross = cross + _remembered(reference.cross if recent is None else recent)
    tolerances, effects = price(reference, cross, day_variances)
    moving = informations > 0.0
    tolerances, effects = np.where(moving, tolerances, 0.0), np.where(moving, effects, 0.0)
    ratios, slopes = np.zeros((len(DIRECTIONS), 2)), np.zeros(len(SLOPES))
    for part in rows.bent:
        ratios += weigh_directions(*part[:4], tolerances, effects)
        slopes += score_slopes(*part[:4], SLOPES_TRIED)
    phi, noise = 1.0 + day_variances * informations, reference.noise
    weighed = (ratios / phi[:, None]).ravel() / log(10.0)
    return DayEvidence(
        ratios=bounded(weighed) if hedged else weighed,
        tolerances=tolerances,
        effects=effects,
        scores=scores,
        informations=informations,
        cross=cross,
        slopes=slopes / phi[0],
        levels=_levels(reference, parts),
        unknown_share=rows.unknown_share,
        noise=said_of_labels(noise, _said_of_labels(noise, rows.plain) / phi.max())
        if noise
        else None,
    )


def _projected(reference: Reference, rows: Sequence["Rows"]) -> tuple[Floats, Floats]:
    """Add up the scores of parts along the directions, and where these scores are."""
    scores, cross = np.zeros(len(DIRECTIONS)), np.zeros_like(reference.cross)
    for part in rows:
        pull, products = project_directions(*part[:5])
        scores = scores + pull
        cross[:, : products.shape[1]] += products
        if part.group is not None:
            cross[:, products.shape[1] + part.group] += products[:, 0]
    return scores, cross


def _said_of_labels(noise: Noise, rows: Sequence["Rows"]) -> Floats:
    """Weigh the shares of wrong labels, each part with a prior of its own."""
    return sum((weigh_shares(*part[:4], *noise.added_and_lost) for part in rows), no_sums())


def _with_noise(rows: Sequence["Rows"], wrong: WrongLabels | None) -> Sequence["Rows"]:
    """Bend the curve of each part as wrong labels bend it at the prior of the day."""
    if not wrong:
        return rows
    shares = wrong.added_and_lost
    return [
        part._replace(curve=noisy_curve(*part[:2], int(part.positives.sum()), *shares))
        for part in rows
    ]


def price(reference: Reference, cross: Floats, day_variances: Floats) -> tuple[Floats, Floats]:
    """Find which deviations a day tolerates, and which it looks for, given where its scores are.

    Parameters
    ----------
    reference : Reference
        Of the stream.
    cross : ndarray of shape (4, 1 + b)
        Information of each direction, of the day and of those just before it: with itself, then
        with the functions of the curve.
    day_variances : ndarray of shape (4,)
        Between-day variances.

    Returns
    -------
    tuple of ndarray of shape (4,)
        Tolerances and effects, in logit; 0 along a direction that the scores do not move along, or
        of which the reference says so little that only an impossible effect could be found.

    Notes
    -----
    Projecting the functions of the curve on a direction under the day's weights gives
    coefficients ``c``, and the error of the curve along it has variance ``phi c' V c`` with the
    covariance V of the curve and its dispersion phi. Between-day variances that are larger than the
    reference's were learned from whole weeks, whose distortions vary by v, a fourteenth of the
    excess. ``tolerance = max(least, 1.25 sqrt(error**2 + 4 v))`` and
    ``effect = max(least, 6 error, 2 tolerance)``, least as in the reference. Both depend on the
    scores and on the number of positive outcomes only, so the conditional ratio stays a fair bet.
    """
    moving = cross[:, 0] > 0.0
    errors = curve_errors(reference, cross)
    wandering = (
        WANDERING * np.maximum(0.0, day_variances - reference.day_variances) / (LONG_RUN * WEEK)
    )
    least = by_direction(reference.sensitivity.tolerances)
    tolerances = np.maximum(least, TOLERATED * np.sqrt(errors**2 + wandering))
    effects = np.maximum(reference.least_effects, SOUGHT * errors)
    effects = np.maximum(effects, LEAST_RATIO * tolerances)
    looked_at = moving & (effects < LARGEST_EFFECT)
    return np.where(looked_at, tolerances, 0.0), np.where(looked_at, effects, 0.0)


def curve_errors(reference: Reference, cross: Floats) -> Floats:
    """Give the standard error of the reference curve along each direction, where scores are.

    Parameters
    ----------
    reference, cross : Reference, ndarray of shape (4, 1 + b)
        As for `price`.

    Returns
    -------
    ndarray of shape (4,)
        In logit; 0 along a direction that the scores do not move along.
    """
    informations = cross[:, 0]
    moving = informations > 0.0
    shares = cross[:, 1:] / np.where(moving, informations, 1.0)[:, None]
    coefficients, of_groups = np.split(shares, [len(reference.basis)], axis=1)
    variances = np.einsum("jb,bc,jc->j", coefficients, reference.covariance, coefficients)
    of_groups = of_groups - reference.usual_shares  # what the curve has made up for is no error
    variances = variances + (of_groups**2 * reference.group_variances.T).sum(axis=1)
    return np.asarray(np.sqrt(reference.dispersions * variances))


def _remembered(cross: Floats) -> Floats:
    """Let the days before count, where a day by itself hardly says where its scores are."""
    own = cross[:, :1]  # the information of each direction
    return np.asarray(cross * np.minimum(1.0, ENOUGH / np.where(own > 0.0, own, ENOUGH)))


def bounded(ratios: Floats) -> Floats:
    """Let no day say more than a hundred to one, either way.

    Parameters
    ----------
    ratios : ndarray
        Evidence, log10.

    Returns
    -------
    ndarray
        ``min(2, log10(0.01 + 0.99 10**ratio))``: a hundredth is kept back and the rest is bet.
        What has an expectation of at most 1 still has.

    Examples
    --------
    >>> bounded(np.array([-9.0, 0.0, 1.0, 9.0])).round(2) + 0.0
    array([-2.,  0.,  1.,  2.])
    """
    return np.asarray(np.log10(bounded_ratio(ratios * log(10.0))))


def bounded_ratio(gains: Floats, most_of_a_day: float = MOST_OF_A_DAY) -> Floats:
    """Give a likelihood ratio of which a part is kept back, and no more than it is one part of.

    Parameters
    ----------
    gains : ndarray
        Evidence of a day in nats.
    most_of_a_day : float
        log10 of the most that a day says, at most 3.9; a hundred to one.

    Examples
    --------
    >>> bounded_ratio(np.array([-np.inf, 0.0, 900.0]))
    array([1.e-02, 1.e+00, 1.e+02])
    """
    most = 10.0**most_of_a_day
    return np.asarray(
        np.minimum((1.0 - 1.0 / most) * np.exp(np.minimum(gains, 9.0)) + 1 / most, most)
    )


def _levels(reference: Reference, parts: Mapping[Any, Coarse]) -> Floats:
    sums = np.zeros(4)
    for name, part in parts.items():
        before, total = reference.levels.get(name), int(part.counts.sum())
        if not before or not isfinite(before.delta) or not total:
            continue
        p = expit(reference.curve + before.delta)
        sums[0] += (part.positives - part.counts * p).sum()
        sums[1] += (part.counts * p * (1.0 - p)).sum()
        now = fit_level(reference.curve, part)
        if isfinite(now.delta) and now.difference_variance > 0.0:
            change = compare_levels(now, before).kappa
            sums[2] += change / now.difference_variance
            sums[3] += 1.0 / now.difference_variance
    return sums


def recovery_evidence(rows: "DayRows", direction: int, size: float, near: float) -> float:
    """Weigh "back within the tolerance" against a distortion of a given size, for one day.

    Parameters
    ----------
    rows : DayRows
        Of the day.
    direction : int
        Row of the reference's directions.
    size : float
        The distortion that may still be there, signed, in logit.
    near : float
        The tolerated one, of the same sign.

    Returns
    -------
    float
        Natural logarithm of the likelihood ratio, not yet divided by the dispersion of the day.

    Examples
    --------
    >>> from scipy.special import expit
    >>> from monitor.drift.curve.reference import fit_reference
    >>> from monitor.metrics.core.coarse import CENTRES
    >>> n = np.where(abs(CENTRES) < 3, 50, 0)
    >>> day = {"all": Coarse(n, np.rint(n * expit(CENTRES)).astype(np.int64))}
    >>> reference = fit_reference([day] * 28)
    >>> recovery_evidence(rows_of_day(reference, day), 0, -0.2, -0.03) > 5.0
    True
    """
    total = 0.0
    for part in rows.bent:
        along = part.directions[direction]
        total += adjusted_profile(part.curve + near * along, part.counts, part.positives)
        total -= adjusted_profile(part.curve + size * along, part.counts, part.positives)
    return total


def no_profiles() -> Floats:
    """Begin with no day profiled; see `day_profiles`."""
    return np.zeros((len(DIRECTIONS) + len(CHANGES), SIZES.size))


def day_profiles(rows: "DayRows", day_variances: Floats, *, cautious: bool = False) -> Floats:
    """Weigh sixteen sizes of a distortion along each direction, and of labels that changed.

    Parameters
    ----------
    rows : DayRows
        Of the day.
    day_variances : ndarray of shape (4,)
        Between-day variances.
    cautious : bool
        Whether the largest dispersion of the directions counts instead of their mean.

    Returns
    -------
    ndarray of shape (6, 16)
        Natural logarithm of the likelihood of each of `SIZES` over that of the reference curve, by
        direction, then of each share of `LOST`, and of `ADDED`. It adds over days.

    Notes
    -----
    It is divided by the mean dispersion of the day, the same along all directions: what a drift
    has taught of how much days vary along its own direction must not favour the others.

    Examples
    --------
    >>> from scipy.special import expit
    >>> from monitor.drift.curve.reference import fit_reference
    >>> from monitor.metrics.core.coarse import CENTRES
    >>> n = np.where(abs(CENTRES) < 3, 50, 0)
    >>> def day(slope):
    ...     return {"all": Coarse(n, np.rint(n * expit(slope * CENTRES)).astype(np.int64))}
    >>> rows = rows_of_day(fit_reference([day(1.0)] * 28), day(0.8))
    >>> profiles = day_profiles(rows, np.zeros(4))
    >>> float(SIZES[profiles[0].argmax()])
    -0.2
    """
    ratios, informations = no_profiles(), np.zeros(len(DIRECTIONS))
    for part in rows.bent:
        ratios[: len(DIRECTIONS)] += profile_directions(*part[:4], SIZES)
        ratios[-2] += weigh_changes(*part[:3], _NONE, LOST)
        ratios[-1] += weigh_changes(*part[:3], ADDED, _NONE)
        informations += score_directions(*part[:4])[1]
    dispersions = 1.0 + day_variances * informations
    return np.asarray(ratios / (dispersions.max() if cautious else dispersions.mean()))


def highest_of_each(profiles: Floats) -> list[tuple[float, float]]:
    """Give how high each profile is at most, and the size at which it is.

    Parameters
    ----------
    profiles : ndarray of shape (m, 16)
        Logarithm of the likelihood of each of `SIZES` over that of 0, in nats.

    Examples
    --------
    >>> [(highest, size)] = highest_of_each(100.0 * SIZES[np.newaxis] * (0.6 - SIZES))
    >>> round(highest, 2), round(size, 3)
    (9.0, 0.3)
    """
    none = SIZES.size // 2
    return highest_points(np.insert(SIZES, none, 0.0), np.insert(profiles, none, 0.0, axis=1))


class Said(NamedTuple):
    """What one day or several say once more of distortions and of labels; it adds over days.

    Attributes
    ----------
    profiles : ndarray of shape (6, 16)
        Of `day_profiles`.
    fits : ndarray of shape (3, 13)
        Natural logarithm of the likelihood of labels that were wrong before the reference too, of
        each share of `Reference.noise`, over that of right labels, divided alike; 0 without any.
    """

    profiles: Floats
    fits: Floats


def nothing_said() -> Said:
    """Begin with no day."""
    return Said(no_profiles(), no_sums()[:, :SHARES])


def said_of_day(
    reference: Reference,
    parts: Mapping[Any, Coarse],
    day_variances: Floats,
    wrong: WrongLabels | None = None,
) -> Said:
    """Weigh a day once more for all that an open drift may be.

    Parameters
    ----------
    reference, parts, wrong
        As for `rows_of_day`.
    day_variances : ndarray of shape (4,)
        As for `day_profiles`.
    """
    rows = rows_of_day(reference, parts, wrong)
    profiles = day_profiles(rows, day_variances)
    informations = sum((score_directions(*part[:4])[1] for part in rows.plain), np.zeros(1))
    phi, noise = float(np.mean(1.0 + day_variances * informations)), reference.noise
    said = _said_of_labels(noise, rows.plain) if noise else no_sums()
    return Said(profiles, said[:, :SHARES] / phi)


class Rows(NamedTuple):
    """The predictions of one part of a day that lie where the reference knows its curve."""

    curve: Floats
    counts: Ints
    positives: Ints
    directions: Floats
    basis: Floats
    group: int | None


class DayRows(NamedTuple):
    """The predictions of a day that are evidence, by part.

    Attributes
    ----------
    plain, bent : sequence of Rows
        With the curve of the reference, and as wrong labels bend it.
    unknown_share : float
        As in `DayEvidence`.
    """

    plain: Sequence[Rows]
    bent: Sequence[Rows]
    unknown_share: float


def rows_of_day(
    reference: Reference, parts: Mapping[Any, Coarse], wrong: WrongLabels | None = None
) -> DayRows:
    """Take the predictions of a day that are evidence, once for all that is asked of them.

    Parameters
    ----------
    reference : Reference
        Of the stream.
    parts : mapping to Coarse
        The day's outcomes by segment and stratum.
    wrong : WrongLabels, optional
        The outcomes that are recorded as their opposite.
    """
    plain, unknown_share = _rows(reference, parts)
    return DayRows(plain, _with_noise(plain, wrong), unknown_share)


def known_cells(reference: Reference, parts: Sequence[Coarse]) -> slice:
    """Give the cells of a day that are evidence.

    Leaves out an end of the scores where the day has far more rows than the reference had.
    """
    first, *others = parts or [reference.counts]
    counts = sum((part.counts for part in others), first.counts)
    below, above, total = reference.beyond_known
    share, known = counts.sum() / total, reference.known
    lowest, highest = reference.outermost
    return slice(
        known.start if _is_crowded(counts[: known.start], share * below) else lowest,
        known.stop if _is_crowded(counts[known.stop :], share * above) else highest + 1,
    )


def _is_crowded(end: Ints, usual: float) -> bool:
    return bool(end.sum() > CROWDED * usual + FEW_ROWS)


def _rows(reference: Reference, parts: Mapping[Any, Coarse]) -> tuple[list[Rows], float]:
    """Take the parts with outcomes of both classes; also the share of rows that are not known."""
    span, rows, total, inside = known_cells(reference, list(parts.values())), [], 0, 0
    for name, part in parts.items():
        counts, positives = part.counts[span], part.positives[span]
        held, hits = int(counts.sum()), int(positives.sum())
        total, inside = total + int(part.counts.sum()), inside + held
        if 0 < hits < held:
            seen = np.nonzero(counts)[0]
            cells = seen + span.start
            directions = np.ascontiguousarray(reference.directions[:, cells])
            basis = np.ascontiguousarray(reference.basis[:, cells])
            curve = reference.curve[cells]
            group = reference.group_of(name)
            rows.append(Rows(curve, counts[seen], positives[seen], directions, basis, group))
    return rows, 1.0 - inside / total if total else 0.0
