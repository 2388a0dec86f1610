"""Whether the curve changed between two samples, apart from the prior. Pure.

Rule: the mathematics is that of the daily verdict. The first sample is the reference, the second
one is weighed as a day is. Because both samples are given, no sum over possible starts is needed:
the likelihood ratio itself is the evidence, and under an unchanged curve its mean is at most 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log, log10, nan, sqrt

import numpy as np

from monitor.base.segment_names import WHOLE
from monitor.drift.curve.reference import (
    Reference,
    fit_reference,
    lift_since,
    merge_days,
    what_a_reference_lacks,
    with_hanging,
)
from monitor.drift.evidence.directions import (
    curve_errors,
    day_evidence,
    day_profiles,
    rows_of_day,
)
from monitor.drift.evidence.entities import (
    HEADROOM,
    NOTHING,
    BucketSums,
    hanging,
    intercept_hanging,
    most_evidence,
    sum_buckets,
)
from monitor.drift.evidence.history import new_history
from monitor.drift.fold.inputs import Limits
from monitor.drift.incidents.detecting import best_profile, best_slope
from monitor.drift.incidents.levels import what_moved
from monitor.drift.records.day_evidence import DIRECTIONS, DayEvidence, direction_of
from monitor.drift.records.detector import WEIGHTS
from monitor.drift.records.facts import Level
from monitor.drift.records.lack import Lack
from monitor.drift.records.verdict import State
from monitor.metrics.core.buckets import BucketCounts, merge_buckets
from monitor.metrics.core.coarse import Coarse, sum_of
from monitor.metrics.core.dispersion import span_dispersions
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.special import logsumexp
from monitor.metrics.logistic.level import Lift, fit_level

LIMITS = Limits()  # those of the daily verdict by default
Held = tuple[Sequence[BucketCounts], Sequence[BucketCounts]]  # the groups of both samples by bucket


@dataclass(frozen=True, eq=False)
class Change:
    """What two samples say of the curve.

    Attributes
    ----------
    state : str
        A word of the daily verdict: `ok`, `prior_shift`, `level_drift`, `calibration_drift` or
        `insufficient_data`.
    lack : Lack or None
        What the first sample has too little of. If the data are insufficient without it, the
        second sample has no group with outcomes of both classes.
    evidence, limit : float
        log10 of the evidence for another curve, and the one at which the curve counts as changed.
    kind : str or None
        The distortion that fits best; see `monitor.drift.records.day_evidence.KINDS`.
    size : Estimate or None
        That distortion, in logit: of a slope, its difference from 1.
    slope : Estimate or None
        Of the second sample's outcomes on the curve of the first; 1 if it is unchanged.
    detectable : float
        The change of the slope that more than half of such comparisons find; nan if none is.
    prevalences : tuple of float
        Of the first sample and of the second; ratios in [0, 1].
    shift : Estimate or None
        Change of the intercept, in logit: what a prior shift moves.
    level_change : Estimate or None
        The part of it that did not come with the prevalence, in logit.
    moved : str
        What the intercept moved with; see `monitor.drift.incidents.levels.what_moved`.
    unknown_share : float
        Share of the second sample where the first has too few outcomes; they are no evidence.
    reference : Reference or None
        The first sample as a curve; None if it has too few outcomes.
    independent : float or None
        Of how many independent rows the second sample says as much of the slope, with entities.
    """

    state: State
    lack: Lack | None = None
    evidence: float = 0.0
    limit: float = nan
    kind: str | None = None
    size: Estimate | None = None
    slope: Estimate | None = None
    detectable: float = nan
    prevalences: tuple[float, float] = (nan, nan)
    shift: Estimate | None = None
    level_change: Estimate | None = None
    moved: Level = "as before"
    unknown_share: float = 0.0
    reference: Reference | None = None
    independent: float | None = None


def find_change(
    before: Sequence[Coarse],
    after: Sequence[Coarse],
    *,
    alpha: float,
    held: Held | None = None,
) -> Change:
    """Compare two samples.

    Parameters
    ----------
    before, after : sequence of Coarse
        The groups of each sample, such as days; each has a prior of its own. How much groups of
        the first sample differ beyond chance is learned from it and expected of the second.
    alpha : float
        Most probable share of comparisons of unchanged curves that find a calibration drift.
    held : tuple of sequences of BucketCounts, optional
        The groups of both samples by bucket of their entity, whose rows may hang together.

    Returns
    -------
    Change
        Of the second sample against the first.

    Notes
    -----
    The evidence is the weighted mean over the kinds of ``prod_g E_g``, with E_g the conditional
    likelihood ratio of group g of `monitor.drift.evidence.directions.day_evidence`, and the limit
    is
    ``1 / alpha`` (Markov's inequality; Vovk and Wang, Annals of Statistics 49, 2021). With entities
    the ratio of each kind is at most ``exp(((e - t) (+-U) - (e**2 - t**2) I / 2) / phi)``, the same
    if outcomes hang together, with the dispersion phi of the second sample; and errors grow.

    Examples
    --------
    >>> from scipy.special import expit
    >>> from monitor.metrics.core.coarse import CENTRES
    >>> n = np.where(abs(CENTRES) < 3, 50, 0)
    >>> def sample(slope, prior):
    ...     return [Coarse(n, np.rint(n * expit(slope * CENTRES + prior)).astype(np.int64))]
    >>> find_change(sample(1.0, 0.0), sample(1.0, 0.0), alpha=0.001).state
    'ok'
    >>> find_change(sample(1.0, 0.0), sample(0.7, 0.7), alpha=0.001).state
    'calibration_drift'
    """
    prevalences = _prevalence(before), _prevalence(after)
    if lack := what_a_reference_lacks([{WHOLE: group} for group in before], least_days=1):
        return Change("insufficient_data", lack, prevalences=prevalences)
    reference = fit_reference([{WHOLE: group} for group in before], least_days=1, noise=False)
    phi, of_level = np.ones(len(DIRECTIONS)), 1.0
    if held:
        reference, phi, of_level = _with_entities(reference, before, after, held)
    groups = [day_evidence(reference, {WHOLE: group}, hedged=False) for group in after]
    if not any(group.informations[0] > 0.0 for group in groups):
        return Change("insufficient_data", prevalences=prevalences, reference=reference)
    evidence, limit = _evidence(groups, phi), -log10(alpha)
    lift = _lift(reference, after, of_level)
    moved = what_moved(reference, new_history(), lift, LIMITS.level)
    errors = curve_errors(
        reference, np.sum([g.cross for g in groups if g.cross is not None], axis=0)
    )
    kind, size = _best_kind(reference, after, _informations(reference, groups, phi), errors)
    return Change(
        state="calibration_drift" if evidence >= limit else _level_state(moved, lift),
        evidence=evidence,
        limit=limit,
        kind=kind,
        size=size,
        slope=best_slope(np.sum([g.slopes for g in groups], axis=0) / phi[0], float(errors[0])),
        detectable=_detectable(reference, groups, alpha, float(phi[0])),
        prevalences=prevalences,
        shift=Estimate.normal(lift.shift, lift.shift_error) if lift else None,
        level_change=Estimate.normal(lift.kappa, lift.kappa_error) if lift else None,
        moved=moved,
        unknown_share=_unknown_share(groups, after),
        reference=reference,
        independent=int(sum_of(after).counts.sum()) / float(phi[0]) if held else None,
    )


def _with_entities(
    reference: Reference, before: Sequence[Coarse], after: Sequence[Coarse], held: Held
) -> tuple[Reference, Floats, float]:
    """Let the errors of a reference grow where rows hang together.

    Gives also the dispersion of the second sample, and the design effect of the intercept.
    """
    reference = with_hanging(
        reference, hanging(reference, _bucket_sums(reference, before, held[0]))
    )
    by_bucket = _bucket_sums(reference, after, held[1])
    phi = np.maximum(1.0, span_dispersions(by_bucket.scores, by_bucket.informations))
    both = zip((before, after), held, strict=True)
    return reference, phi, max(_level_effect(reference, *of) for of in both)


def _lift(reference: Reference, after: Sequence[Coarse], of_level: float) -> Lift | None:
    """Say how far the second sample is lifted, with the design effect of the intercept."""
    lift = lift_since(reference.curve, reference.levels, merge_days([{WHOLE: g} for g in after]))
    if lift is None:
        return None
    of_shift, of_kappa = (sqrt(of_level) * of for of in (lift.shift_error, lift.kappa_error))
    return replace(lift, shift_error=of_shift, kappa_error=of_kappa)


def _bucket_sums(
    reference: Reference, groups: Sequence[Coarse], held: Sequence[BucketCounts]
) -> BucketSums:
    both = zip(groups, held, strict=True)
    return sum((sum_buckets(reference, {WHOLE: c}, {WHOLE: of}) for c, of in both), NOTHING)


def _level_effect(
    reference: Reference, groups: Sequence[Coarse], held: Sequence[BucketCounts]
) -> float:
    """Give the design effect of the intercept of a sample."""
    together = sum_of(groups)
    log_odds = reference.curve + fit_level(reference.curve, together).delta
    if not np.isfinite(log_odds).all():
        return 1.0
    return intercept_hanging(log_odds, together, merge_buckets(held))


def _evidence(groups: Sequence[DayEvidence], phi: Floats) -> float:
    """Give log10 of the weighted mean over the kinds of the product over the groups."""
    ratios = np.sum([group.ratios for group in groups], axis=0)
    if (phi > 1.0).any():
        both = np.array([(group.scores, group.informations) for group in groups])
        pull, informations = both.sum(axis=0)[:, None]
        of = groups[-1].tolerances, groups[-1].effects
        most = most_evidence(np.ones(1, np.int64), pull, informations, phi[None], *of) / HEADROOM
        ratios = np.minimum(ratios, np.log10(most).reshape(ratios.shape))
    return float(logsumexp(ratios * log(10.0), b=WEIGHTS)) / log(10.0)


def _level_state(moved: Level, lift: Lift | None) -> State:
    if moved == "lift":
        return "level_drift"
    large = lift is not None and abs(lift.shift) > LIMITS.prior_shift
    return "prior_shift" if moved == "prior or inputs" or (moved == "prior" and large) else "ok"


def _informations(reference: Reference, groups: Sequence[DayEvidence], phi: Floats) -> Floats:
    """Sum informations, each group's over its dispersion, at least phi."""
    of = np.array([group.informations for group in groups])
    return np.asarray((of / np.maximum(1.0 + reference.day_variances * of, phi)).sum(axis=0))


def _best_kind(
    reference: Reference, after: Sequence[Coarse], informations: Floats, errors: Floats
) -> tuple[str | None, Estimate | None]:
    """Name and measure the distortion that fits best, by exact profiles of the likelihood."""
    rows = [rows_of_day(reference, {WHOLE: group}) for group in after]
    profiles = [day_profiles(of, reference.day_variances) for of in rows]
    kind, size = best_profile(np.sum(profiles, axis=0))
    direction = direction_of(kind)
    if not informations[direction] > 0.0:
        return None, None
    error = sqrt(1.0 / informations[direction] + errors[direction] ** 2)
    return kind, Estimate.normal(size, error)


def _detectable(
    reference: Reference, groups: Sequence[DayEvidence], alpha: float, phi: float
) -> float:
    """Find the change of the slope at which the evidence reaches its limit on average.

    As `monitor.drift.incidents.detectable.days_to_find` does, for one day.
    """
    gain, missing = 0.0, -log(alpha * WEIGHTS[0])
    for group in groups:
        near, far = float(group.tolerances[0]), float(group.effects[0])
        information = float(group.informations[0])
        information /= max(1.0 + float(reference.day_variances[0]) * information, phi)
        gain += (far - near) * information
        missing += 0.5 * (far**2 - near**2) * information
    return missing / gain if gain > 0.0 and missing < gain else nan


def _unknown_share(groups: Sequence[DayEvidence], after: Sequence[Coarse]) -> float:
    sizes = [int(group.counts.sum()) for group in after]
    return float(np.average([group.unknown_share for group in groups], weights=sizes))


def _prevalence(groups: Sequence[Coarse]) -> float:
    total = sum(int(group.counts.sum()) for group in groups)
    return sum(int(group.positives.sum()) for group in groups) / total if total else nan
