"""Which changes of the slope a reference allows to find, how soon, and at which limit. Pure.

Rule: what is said of it is what the detector does on simulated days, so it holds for few rows too.
A reference of a few weeks is known with an error, and days differ in what they know. Both are
drawn, so that no asymptotic formula is needed for how soon a change is found, or for how often
chance alone reaches a limit.
"""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from itertools import islice, tee
from math import ceil, inf, log10, nan
from typing import NamedTuple

import numpy as np

from monitor.drift.curve.reference import Reference
from monitor.drift.curve.variance import WEEK
from monitor.drift.evidence.directions import bounded_ratio, curve_errors, price
from monitor.drift.evidence.entities import SIGNS, most_evidence
from monitor.drift.evidence.history import WEEKS_APART
from monitor.drift.incidents.detecting import mean_evidence, share_of_start
from monitor.drift.records.day_evidence import DIRECTIONS
from monitor.drift.records.detector import WEIGHTS
from monitor.drift.records.facts import (
    FEW_A_DAY,
    LONGER,
    LONGEST,
    PATIENCE,
    STRONG_CHANGE,
    USUAL_CHANGE,
    Detectable,
    Together,
)
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.ratio import ratio

FLATTEST = 0.95  # of a change: a curve that says nothing at all
PATHS = 300
NEAR = 0.01  # of a change of the slope: no more digits are said
REFERENCE_ERROR = 0.5  # share of the tolerance that the reference's own error may take
SHARE, SPAN = 1 / 4, 1 / 3  # of the paths that reach the limit within this part of A
MOST_SIMULATED = 1_000  # days between false alerts; the limit of more days grows with them
NOTICED = 1.5  # times the variance of independent rows: what hangs together beyond chance
LEAST_LIMIT = 2.0  # log10: a lower one is reached too often in rougher worlds
MOST = 1e100  # evidence that is far above every limit
SPANS_AT_ONCE = 16  # are drawn together: few long arrays cost less than many short ones


@dataclass(frozen=True, eq=False)
class Starts:
    """What the days since each possible start of a drift say, on simulated paths.

    Attributes
    ----------
    days : ndarray of shape (s,)
        Days on which a drift may have begun: one, or a week.
    scores, informations : ndarray of shape (s, paths, 4)
        Sums from the first of them on.
    """

    days: Ints
    scores: Floats
    informations: Floats


class Drawn(NamedTuple):
    """Spans of days on streams without a change.

    Attributes
    ----------
    informations, scores : ndarray of shape (16, 4, paths)
        Of each span, along the directions.
    """

    informations: Floats
    scores: Floats


def what_is_detectable(reference: Reference, limit: float) -> Detectable:
    """Find out what the detector can find, by simulated days like those of the reference.

    Parameters
    ----------
    reference : Reference
        Of the stream.
    limit : float
        Evidence at which an incident opens, log10.

    Returns
    -------
    Detectable
        For days like those of the reference.

    Examples
    --------
    >>> from scipy.special import expit
    >>> from monitor.drift.curve.reference import fit_reference
    >>> from monitor.metrics.core.coarse import CENTRES, Coarse
    >>> n = np.where(abs(CENTRES) < 3, 50, 0)
    >>> day = {"all": Coarse(n, np.rint(n * expit(CENTRES)).astype(np.int64))}
    >>> detectable = what_is_detectable(fit_reference([day] * 28), 3.0)
    >>> detectable.tolerated, detectable.found, round(detectable.days)
    (0.015, 0.1, 2)
    """
    days = len(reference.scores) * reference.judge_every
    positives, total = int(reference.counts.positives.sum()), int(reference.counts.counts.sum())
    rarer, drawn = min(positives, total - positives) / days, drawn_days(reference, PATHS)
    return Detectable(
        tolerated=REFERENCE_ERROR * float(reference.tolerances[0]),
        found=float(reference.effects[0]),
        rarer=rarer,
        days=days_to_find(reference, USUAL_CHANGE, limit, drawn=drawn),
        days_strong=days_to_find(reference, STRONG_CHANGE, limit, drawn=drawn),
        within_patience=_found_in_time(reference, drawn, limit) if rarer < FEW_A_DAY else None,
        together=_together(reference, drawn, limit) if reference.hanging[0] > NOTICED else None,
    )


def _together(reference: Reference, drawn: Iterator[Drawn], limit: float) -> Together:
    """Say what a reference is worth whose rows hang together."""
    days = len(reference.scores) * reference.judge_every
    times, longer = LONGER / days, None
    if times > 1.0:
        more = replace(
            reference, covariance=reference.covariance / times, cross=reference.cross * times
        )
        longer = days_to_find(more, USUAL_CHANGE, limit)
    independent = days / float(reference.dispersions[0])
    return Together(days, independent, _found_in_time(reference, drawn, limit), longer)


def days_to_find(
    reference: Reference,
    change: float,
    limit: float,
    most: int = LONGEST,
    drawn: Iterator[Drawn] | None = None,
) -> float:
    """Find how long a change of the slope takes to be found in half of all cases.

    Parameters
    ----------
    reference : Reference
        Of the stream.
    change : float
        By how much the slope differs from 1, above 0.
    limit : float
        Evidence at which an incident opens, log10.
    most : int
        Days that are simulated.
    drawn : iterator of Drawn, optional
        Of `drawn_days`, where several changes are looked for.

    Returns
    -------
    float
        The median over 300 simulated streams; infinite if it is more than the most days.

    Examples
    --------
    >>> from scipy.special import expit
    >>> from monitor.drift.curve.reference import fit_reference
    >>> from monitor.metrics.core.coarse import CENTRES, Coarse
    >>> n = np.where(abs(CENTRES) < 3, 5, 0)
    >>> day = {"all": Coarse(n, np.rint(n * expit(CENTRES)).astype(np.int64))}
    >>> reference = fit_reference([day] * 28)
    >>> days_to_find(reference, 0.4, 3.0) < days_to_find(reference, 0.2, 3.0) < 30
    True
    """
    drawn = drawn or drawn_days(reference, PATHS)
    has_alerted, spans = np.zeros(PATHS, bool), most // reference.judge_every
    paths = evidence_paths(reference, drawn, change, limit)
    for span, evidence in enumerate(islice(paths, spans), 1):
        has_alerted |= evidence >= limit
        if 2 * has_alerted.sum() >= PATHS:
            return float(span * reference.judge_every)
    return inf


def calibrated_limit(
    reference: Reference, false_alert_days: float, third: Reference | None = None
) -> float:
    """Find the evidence that chance alone reaches as often as promised, log10.

    Parameters
    ----------
    reference : Reference
        Of the stream.
    false_alert_days : float
        A: days between false alerts, on average over references and days.
    third : Reference, optional
        Of a second family of pairs; then the limit is that of the mean of both evidences, of days
        that are drawn independently.

    Returns
    -------
    float
        At least 2, and at most log10 A, which chance reaches at most as often whatever the
        reference.

    Notes
    -----
    A quarter of the simulated streams without a change reach the limit within A / 3 days: a third
    would be due, but some streams open more than one incident. The limit of more than 1,000 days
    grows in proportion to them, as Ville's inequality has it.

    Examples
    --------
    >>> from scipy.special import expit
    >>> from monitor.drift.curve.reference import fit_reference
    >>> from monitor.metrics.core.coarse import CENTRES, Coarse
    >>> n = np.where(abs(CENTRES) < 3, 5, 0)
    >>> day = {"all": Coarse(n, np.rint(n * expit(CENTRES)).astype(np.int64))}
    >>> 2.0 <= calibrated_limit(fit_reference([day] * 28), 1000) < 2.5
    True
    """
    simulated = min(false_alert_days, MOST_SIMULATED)
    spans = ceil(simulated * SPAN / reference.judge_every)
    families = [family for family in (reference, third) if family]
    drawn = [(family, drawn_days(family, PATHS, seed)) for seed, family in enumerate(families)]
    paths = [evidence_paths(*of_family) for of_family in drawn]
    highest = np.zeros(PATHS)
    for evidences in islice(zip(*paths, strict=True), spans):
        highest = np.maximum(highest, mean_evidence(evidences))
    reached = float(np.quantile(highest, 1.0 - SHARE))
    most, beyond = log10(false_alert_days), log10(false_alert_days / simulated)
    return min(most, max(LEAST_LIMIT, reached + beyond))


def _found_in_time(reference: Reference, drawn: Iterator[Drawn], limit: float) -> float:
    """Find the least change that is found within the patience, to two digits, by halving."""
    low, high = 0.0, FLATTEST
    if days_to_find(reference, high, limit, PATIENCE, drawn) == inf:
        return nan
    while high - low > NEAR:
        middle = 0.5 * (low + high)
        in_time = days_to_find(reference, middle, limit, PATIENCE, drawn) < inf
        low, high = (low, middle) if in_time else (middle, high)
    return high


def drawn_days(reference: Reference, paths: int, seed: int = 0) -> Iterator[Drawn]:
    """Draw days like those of a reference on streams without a change, without end.

    A copy begins where its original is and draws nothing again.

    Parameters
    ----------
    reference : Reference
        Of the stream; its own days are drawn again and again.
    paths : int
        Number of streams, each with a reference of its own error. The same number gives the same
        days.
    seed : int
        Of the random numbers: another one gives days that are independent of the first.
    """
    return tee(_drawn(reference, paths, seed), 1)[0]


def evidence_paths(
    reference: Reference, drawn: Iterator[Drawn], change: float = 0.0, limit: float = inf
) -> Iterator[Floats]:
    """Simulate the evidence against a reference, span of days after span of days, without end.

    Parameters
    ----------
    reference : Reference
        Of the stream.
    drawn : iterator of Drawn
        Of `drawn_days`; it stays where it is, for other changes.
    change : float
        By how much the slope differs from 1, from the first day on.
    limit : float
        log10 of the evidence that is held down, where the rows of the reference hang together; see
        `monitor.drift.evidence.entities.held_down_by_entities`.

    Yields
    ------
    ndarray of shape (paths,)
        log10 of the weighted mean of the evidence over the kinds, after another span of days that
        are judged together; it is never set back.

    Notes
    -----
    With I the information of a day of the reference and phi its dispersion, the scores along the
    directions are ``U = (b + c) I + sqrt(I phi) z``: z is normal with the correlations of the
    directions, c is the change projected on each, and b, normal too and the same for all days of
    a path, is the error of the curve. The evidence follows as in
    `monitor.drift.evidence.directions` and `monitor.drift.incidents.detecting.accumulate`, of a
    log-likelihood that is quadratic in the distortion.

    Where rows hang together, b also holds what the entities of these days share, as large as what
    those of the reference did. The dispersion of a span grows evenly up to that of the reference.

    Examples
    --------
    >>> from itertools import islice
    >>> from scipy.special import expit
    >>> from monitor.drift.curve.reference import fit_reference
    >>> from monitor.metrics.core.coarse import CENTRES, Coarse
    >>> n = np.where(abs(CENTRES) < 3, 5, 0)
    >>> day = {"all": Coarse(n, np.rint(n * expit(CENTRES)).astype(np.int64))}
    >>> reference = fit_reference([day] * 28)
    >>> *_, later = islice(evidence_paths(reference, drawn_days(reference, 100), 0.4), 10)
    >>> bool(np.median(later) > 3.0)
    True
    """
    tolerances, effects = price(reference, reference.cross, reference.day_variances)
    reach, middles = effects - tolerances, 0.5 * (effects**2 - tolerances**2)
    moved = change * _projected(reference, _between_directions(reference)[0])
    sums = np.zeros((len(SIGNS), *next(copy(drawn)).scores.shape[1:]))
    starts = Starts(np.zeros(0, np.int64), *np.zeros((2, 0, *sums[0].T.shape)))
    hangs, alarmed = limit < inf and reference.hanging.max() > 1.0, np.zeros(sums.shape[-1], bool)
    for informations, chance in copy(drawn):
        pulls = chance + moved[:, None] * informations
        phi = 1.0 + reference.day_variances[:, None] * informations
        gains = [sign * reach[:, None] * pulls - middles[:, None] * informations for sign in SIGNS]
        ratios = bounded_ratio(np.array(gains) / phi)
        begun = share_of_start(
            *(tolerances[:, None], effects[:, None], informations, reference.day_variances[:, None])
        )
        for day in range(SPANS_AT_ONCE):
            sums = np.minimum((sums + begun[day]) * ratios[:, day], MOST)
            if hangs:
                starts = _with_day(starts, pulls[day].T, informations[day].T)
                over = np.nonzero((_evidence(sums) >= limit) & ~alarmed)[0]
                if over.size:
                    most = _most(reference, starts, over, tolerances, effects)
                    sums[..., over] = np.minimum(sums[..., over], most.T)
                alarmed |= _evidence(sums) >= limit
            yield _evidence(sums)


def _drawn(reference: Reference, paths: int, seed: int) -> Iterator[Drawn]:
    rng = np.random.default_rng(seed)
    correlations, covariance = _between_directions(reference)
    shared = np.sqrt(2.0 - 1.0 / reference.hanging)  # 1 where rows are independent
    offsets = rng.standard_normal((2, paths, len(DIRECTIONS)))[0] @ _root(covariance).T * shared
    days, spread = len(reference.informations), _root(correlations)
    while True:
        drawn = [
            (rng.integers(days, size=paths), rng.standard_normal(offsets.shape).T)
            for _ in range(SPANS_AT_ONCE)
        ]
        informations = reference.informations.T[:, np.array([day for day, _ in drawn])].swapaxes(
            0, 1
        )
        noise = spread @ np.array([noise for _, noise in drawn])
        spreads = np.sqrt(informations * (1.0 + reference.day_variances[:, None] * informations))
        yield Drawn(informations, offsets.T * informations + spreads * noise)


def _evidence(sums: Floats) -> Floats:
    """Give log10 of the weighted mean over the kinds; sums are of shape (2, 4, paths)."""
    weighted = WEIGHTS.reshape(-1, 2).T.ravel() @ sums.reshape(WEIGHTS.size, -1)
    return np.asarray(np.log10(np.maximum(1.0, weighted)))


def _with_day(starts: Starts, pull: Floats, information: Floats) -> Starts:
    """Add a day to all spans, and begin one; of the oldest days that are apart a week is one."""
    days = np.append(starts.days, 1)
    scores, informations = np.empty((2, days.size, *pull.shape))
    np.add(starts.scores, pull, out=scores[:-1])
    np.add(starts.informations, information, out=informations[:-1])
    scores[-1], informations[-1] = pull, information
    weeks = int((days > 1).sum())
    if days.size - weeks <= WEEKS_APART * WEEK + WEEK:
        return Starts(days, scores, informations)
    kept = np.delete(np.arange(days.size), np.s_[weeks + 1 : weeks + WEEK])
    days[weeks] = WEEK
    return Starts(days[kept], scores[kept], informations[kept])


def _most(
    reference: Reference, starts: Starts, over: Ints, tolerances: Floats, effects: Floats
) -> Floats:
    """Give the most that the evidence of some paths may be; shape (paths, 4, 2)."""
    ages = np.cumsum(starts.days[::-1])[::-1]
    informations = starts.informations[:, over]
    share = np.minimum(1.0, ages / len(reference.informations))[:, None]
    phi = np.maximum(
        1.0 + reference.day_variances * informations / ages[:, None, None],
        (1.0 + (reference.dispersions - 1.0) * share)[:, None],
    )
    return most_evidence(
        starts.days, starts.scores[:, over], informations, phi, tolerances, effects
    )


def _between_directions(reference: Reference) -> tuple[Floats, Floats]:
    """Give the correlations of the scores along the directions, and the covariance of the error."""
    inverse = ratio(1.0, reference.cross[:, 0])
    of_basis = reference.cross[:, 1 : 1 + len(reference.basis)]
    cells = np.nonzero(reference.counts.counts[reference.known])[0] + reference.known.start
    functions = np.vstack([np.ones(cells.size), reference.basis[:, cells]]).T
    made_of = np.linalg.lstsq(functions, reference.directions[:, cells].T)[0][1:]
    shared = of_basis @ made_of * np.sqrt(np.outer(inverse, inverse))
    projected = of_basis * inverse[:, None]
    wider = np.sqrt(reference.dispersions)
    covariance = projected @ reference.covariance @ projected.T * np.outer(wider, wider)
    np.fill_diagonal(covariance, curve_errors(reference, reference.cross) ** 2)
    return 0.5 * (shared + shared.T), np.asarray(covariance)


def _projected(reference: Reference, correlations: Floats) -> Floats:
    """Give how far a change of the slope by 1 moves the outcomes along each direction."""
    total = np.sqrt(reference.cross[:, 0])
    return np.asarray(correlations[0] * ratio(total[0], total))


def _root(matrix: Floats) -> Floats:
    """Give a matrix that gives this one, times its transpose."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
