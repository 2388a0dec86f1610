"""An error of the level that the base rate does not explain, accumulated over days. Pure.

On the curve of the reference the intercept of a day is off by D; kappa is the part of D that did
not come with the base rate. Under a prior shift kappa is 0, whatever the shift. Of a calibrated
model whose inputs move D is 0. So scores that are off by a factor show in both, on the same side,
and the base rate explains less than half of D.

Rule: what is bet on a day is the smallest of three likelihood ratios: that D is off, that kappa is,
and that kappa is more than half of D. Each is a fair bet while its own null hypothesis holds, so
the smallest is one while any of them does, and may hold another one on each day.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta
from math import inf, isfinite, log, sqrt
from typing import Any, NamedTuple

import numpy as np

from monitor.drift.curve.reference import TOLERATED, Reference, sum_levels, variance_of_kappa
from monitor.drift.curve.variance import WEEK, sums_of_weeks
from monitor.drift.evidence.directions import bounded, known_cells
from monitor.drift.evidence.history import since_counted, week_of, weeks_of
from monitor.drift.incidents.start import start_of
from monitor.drift.records.detector import (
    LEVEL_KINDS,
    LEVEL_SIZES,
    NOT_COMPARABLE,
    SCORES_EQUAL,
    SCORES_OUTSIDE,
    History,
    Incident,
    LevelWatch,
    Worse,
    no_level_sums,
    over_on,
)
from monitor.drift.records.life import LIFE, weighed_incident
from monitor.drift.records.values import ValueIncident
from monitor.metrics.core.coarse import CENTRES, Coarse
from monitor.metrics.core.grid import Floats, Ints

SIZES = np.array([0.2, 0.9, 2.0])  # of an error that is looked for, at least, in logit
LEAST_TOLERANCE = 0.05  # logit
USUAL = 3.0  # standard deviations by which the level moves by itself
USUAL_ON_A_DAY = 2.5  # the same of each of two days in a row
HALF = 0.5  # of the error: what the base rate may explain of it
NEAR_HALF = 0.02, 0.4  # of kappa less half of D: what is tolerated, and the share of D sought
WEEKS_BACK, WEEKS_LEFT_OUT = 8, 2  # weeks that say how the level moves by itself
CERTAIN = 5.0  # standard errors of an error that pages
FAR, LEAST_FAR, NEAR = 0.3, 0.1, 1.0 / 3.0  # logit: what a recovery is weighed against
LEAST_ROWS, LEAST_DISTINCT = 30, 5  # of a day, and cells of a reference, to call scores equal
FEW_SCORES = 10  # different ones, by coarse cell: scores that are so few have collapsed
MOSTLY, HARDLY = 0.5, 0.1  # of the rows of a day
SIDES = np.array([-1.0, 1.0])  # in the order of LEVEL_KINDS: scores too high have D below 0


class Moves(NamedTuple):
    """Estimates of D and of kappa with their standard errors, in logit."""

    shift: float
    shift_error: float
    kappa: float
    kappa_error: float

    def are_off(self, least: float) -> bool:
        """Say whether both are at least as large, on the same side, and kappa is half of D."""
        shift, kappa = abs(self.shift), abs(self.kappa)
        return self.shift * self.kappa > 0.0 and min(shift, kappa) >= least and kappa > HALF * shift


def level_curve(reference: Reference, parts: Mapping[Any, Coarse]) -> Floats:
    """Continue the curve of a reference where a day has far more scores than the reference had.

    Parameters
    ----------
    reference : Reference
        Of the stream.
    parts : mapping to Coarse
        The day's outcomes.

    Returns
    -------
    ndarray of shape (1024,)
        Log-odds by coarse cell: beyond the known cells with slope 1, if the day is crowded there.
    """
    span, known = known_cells(reference, list(parts.values())), reference.known
    return continued(reference, below=span.start == known.start, above=span.stop == known.stop)


def continued(reference: Reference, *, below: bool = True, above: bool = True) -> Floats:
    """Continue the curve of a reference beyond its known cells with slope 1, shape (1024,)."""
    curve, known = reference.curve, reference.known
    first, last = known.start, known.stop - 1
    if below and first > 0:
        longer = curve[first] + CENTRES[:first] - CENTRES[first]
        curve = np.concatenate([longer, curve[first:]])
    if above and last + 1 < CENTRES.size:
        longer = curve[last] + CENTRES[last + 1 :] - CENTRES[last]
        curve = np.concatenate([curve[: last + 1], longer])
    return curve


def moves_of(levels: Floats) -> Moves | None:
    """Estimate D and kappa from the sum of some days; None if they say nothing."""
    pull, information, kappa, of_kappa = (float(value) for value in levels)
    if not (information > 0.0 and of_kappa > 0.0):
        return None
    return Moves(pull / information, information**-0.5, kappa / of_kappa, of_kappa**-0.5)


def advance_level(
    watch: LevelWatch, reference: Reference, day: date, parts: Mapping[Any, Coarse]
) -> LevelWatch:
    """Weigh the level of a day, and accumulate it; the incident is not brought up to date yet.

    Parameters
    ----------
    watch : LevelWatch
        Of the days before.
    reference : Reference
        Of the stream.
    day : date
        The day, or the first of a span of days judged together.
    parts : mapping to Coarse
        Its outcomes by segment and stratum.

    Notes
    -----
    ``M = (M + 1) E`` for either side and three sizes, with E the smallest of three likelihood
    ratios of normal estimates x with variance v, ``exp(((e - t) x - (e**2 - t**2) / 2) / v)``: of
    D, of kappa and of kappa - D / 2; then `bounded`. What is tolerated, t, is the largest of 0.05,
    1.25 standard errors of the reference and, of kappa, three times what it moves by itself. A
    Shiryaev-Roberts detector (Shin, Ramdas and Rinaldo, 2024): its mean reaches A once in A days
    on average, at most, while the smaller of D and kappa is tolerated.
    """
    levels = sum_levels(level_curve(reference, parts), reference.levels, parts)
    now = moves_of(levels)
    if now is None:
        return watch
    tolerances = _tolerances(reference, usual_variances(reference, watch, day))
    ratios = bounded(bets_of(now, tolerances) / log(10.0))
    kept = watch.days > (week_of(day) - WEEKS_BACK) * WEEK
    return replace(
        watch,
        sums=(watch.sums + 1.0) * 10.0 ** ratios.ravel(),
        counted=watch.counted + 1,
        days=np.append(watch.days[kept], day.toordinal()),
        levels=np.vstack([watch.levels[kept], levels.astype(np.float32)]),
    )


def _tolerances(reference: Reference, usual: Floats) -> Floats:
    """Give what is tolerated of D and of kappa, in logit."""
    own = TOLERATED * np.array(_own_errors(reference))
    by_itself = USUAL * np.sqrt([0.0, usual[1]])
    return np.asarray(np.maximum(LEAST_TOLERANCE, np.maximum(own, by_itself)))


def _own_errors(reference: Reference) -> tuple[float, float]:
    """Give the standard errors of the level of a reference, and of its distance from the prior."""
    known = [level for level in reference.levels.values() if isfinite(level.delta)]
    shift = sum(1.0 / level.delta_variance for level in known)
    kappa = sum(1.0 / variance_of_kappa(level) for level in known)
    return (shift**-0.5, kappa**-0.5) if known else (inf, inf)


def bets_of(now: Moves, tolerances: Floats) -> Floats:
    """Give the logarithm of what is bet on each side and size, in nats; shape (..., 2, 3).

    Of several streams at once, each estimate and tolerance has shape (m, 1, 1).
    """
    sides, (of_shift, of_kappa) = SIDES[:, np.newaxis], tolerances
    shift, kappa = (np.maximum(SIZES, 2.0 * of) for of in (of_shift, of_kappa))
    (near, share), variance = NEAR_HALF, now.kappa_error**2 + (HALF * now.shift_error) ** 2
    half = np.maximum(HALF * share * shift, 2.0 * near)
    bets = (
        ratio_of(sides * now.shift, now.shift_error**2, of_shift, shift),
        ratio_of(sides * now.kappa, now.kappa_error**2, of_kappa, kappa),
        ratio_of(sides * (now.kappa - HALF * now.shift), variance, near, half),
    )
    return np.asarray(np.minimum.reduce(bets))


def ratio_of(value: Floats, variance: Any, near: Any, far: Floats) -> Floats:
    """Compare how likely a normal value is around `far` and around `near`."""
    return np.asarray(((far - near) * value - 0.5 * (far**2 - near**2)) / variance)


def usual_variances(reference: Reference, watch: LevelWatch, day: date) -> Floats:
    """Find how far D and kappa move by themselves, from one week to another.

    Parameters
    ----------
    reference : Reference
        Of the stream.
    watch : LevelWatch
        Of the days before. Days since an incident began say nothing, nor do the week of the day and
        the one before: a break must not teach that breaks are usual before it is found.
    day : date
        Whose week is looked for.

    Returns
    -------
    ndarray of shape (2,)
        The larger of the variance between the days of the reference, and of the mean square of
        weeks less their sampling variance.
    """
    number = week_of(day)
    rows = watch.days <= (number - WEEKS_LEFT_OUT + 1) * WEEK
    if watch.incident:
        rows &= watch.days < watch.incident.started.toordinal()
    if watch.ended:
        begun, over = watch.ended.started.toordinal(), watch.ended.closed.toordinal()
        rows &= (watch.days < begun) | (watch.days > over)
    own = np.arange(len(reference.level_days)) * reference.judge_every // WEEK
    weeks = weeks_of(watch.days[rows])
    beginning = week_of(day) - WEEKS_BACK
    own = own - (own[-1] + 1 if own.size else 0) + (weeks[0] if weeks.size else number)
    numbers = np.concatenate([own, weeks])
    chosen = numbers >= beginning
    levels = np.vstack([reference.level_days, watch.levels[rows].astype(np.float64)])
    of_weeks = _between_weeks(numbers[chosen], levels[chosen])
    return np.asarray(np.maximum(reference.level_variances, of_weeks))


def _between_weeks(numbers: Ints, levels: Floats) -> Floats:
    """Give the mean square of the weeks, less their sampling variance; shape (2,)."""
    _, sums = sums_of_weeks(numbers, levels)
    pulls, informations = sums[:, ::2], sums[:, 1::2]
    told = informations.min(axis=1) > 0.0
    if not told.any():
        return np.zeros(2)
    excess = (pulls[told] / informations[told]) ** 2 - 1.0 / informations[told]
    return np.asarray(np.maximum(0.0, excess.sum(axis=0) / max(1, told.sum() - 1)))


def decide_level(
    watch: LevelWatch,
    reference: Reference,
    day: date,
    *,
    enough: float,
    least: tuple[float, float],
    silent: str | None = None,
) -> LevelWatch:
    """Open, carry on or close the incident of a watch that has accumulated the day.

    Parameters
    ----------
    watch : LevelWatch
        After `advance_level`.
    reference : Reference
        Of the stream.
    day : date
        The day.
    enough : float
        The evidence at which the stream alerts, log10.
    least : tuple of float
        The least error of the log-odds that is worth a ticket, and that is urgent.
    silent : str, optional
        What `not_comparable` says of the day, or that outcomes went missing with the base rate.

    Notes
    -----
    An incident is urgent once D and kappa exceed the second of `least` on each of two days in a
    row, on the same side, and five standard errors over both days, and 2.5 times what they move by
    themselves on each. It closes when the days since then say with 1,000 to 1 that D or kappa is
    within a third of what is left of the error, with the variance that they have by themselves.
    """
    usual = usual_variances(reference, watch, day)
    urgent = _is_urgent(watch, reference, usual, least[1])
    incident = watch.incident
    side = int(watch.sums.reshape(len(LEVEL_KINDS), LEVEL_SIZES).sum(axis=1).argmax())
    if watch.evidence >= enough and not (incident and incident.kind == LEVEL_KINDS[side]):
        opened = _opened(watch, reference, day, side, usual, urgent=urgent)
        if min(abs(opened.size), abs(opened.unexplained or 0.0)) >= least[0]:
            return _replaced(watch, opened, day)
    if silent and not incident:
        return replace(watch, incident=_begun(watch, day, silent))
    if incident and incident.kind in LEVEL_KINDS:
        return _carried_on(watch, incident, day, usual, urgent=urgent)
    if incident and silent:
        again = replace(measured(watch, incident), kind=silent, urgent=False)
        return replace(watch, incident=again)
    return _replaced(watch, None, day) if incident else watch


def collapsed(watch: LevelWatch, day: date, silent: str) -> LevelWatch:
    """Open or carry on the incident of scores that are few, urgent from its second day on.

    Such a day says nothing of the level.
    """
    incident = watch.incident
    if incident is None:
        return replace(watch, incident=_begun(watch, day, silent))
    if incident.kind in LEVEL_KINDS:
        return watch
    return replace(watch, incident=replace(incident, kind=silent, urgent=day > incident.opened))


def are_few(parts: Mapping[Any, Coarse]) -> bool:
    """Say whether a day has so few different scores that they have collapsed."""
    counts = sum((part.counts for part in parts.values()), np.zeros(CENTRES.size, np.int64))
    return int(np.count_nonzero(counts)) <= FEW_SCORES


def _replaced(watch: LevelWatch, opened: Incident | None, day: date) -> LevelWatch:
    """Let another incident, or none, take the place of the open one."""
    before = watch.incident
    ended = over_on(watch, day)
    if opened is None:
        return replace(watch, incident=None, ended=ended)
    if before and before.kind in NOT_COMPARABLE:  # the same incident, of which more is known now
        opened, ended = replace(opened, opened=before.opened), watch.ended
    return replace(watch, sums=no_level_sums(), counted=0, incident=opened, ended=ended)


def not_comparable(reference: Reference, parts: Mapping[Any, Coarse]) -> str | None:
    """Say why the scores of a day cannot be compared with a reference, though outcomes vary.

    Parameters
    ----------
    reference : Reference
        Of the stream.
    parts : mapping to Coarse
        The day's outcomes.

    Returns
    -------
    str or None
        One of `NOT_COMPARABLE`: all scores are equal and those of the reference were not; or most
        lie beyond all scores of the reference, or nine of ten where it does not know its curve.
        None if they can be compared, and of days with few rows.
    """
    counts = sum((part.counts for part in parts.values()), np.zeros(CENTRES.size, np.int64))
    hits, rows = sum(int(part.positives.sum()) for part in parts.values()), int(counts.sum())
    if rows < LEAST_ROWS or not 0 < hits < rows:
        return None
    if np.count_nonzero(counts) == 1:
        usual = np.count_nonzero(reference.counts.counts)
        return SCORES_EQUAL if usual >= LEAST_DISTINCT else None
    first, last = reference.outermost
    known, seen = (int(counts[of].sum()) for of in (reference.known, slice(first, last + 1)))
    return SCORES_OUTSIDE if known < HARDLY * rows or seen < MOSTLY * rows else None


def _begun(watch: LevelWatch, day: date, kind: str) -> Incident:
    """Make the incident of a day whose scores cannot be compared."""
    return measured(watch, Incident(day, day, day, day, kind, 0.0, urgent=False))


def off_today(watch: LevelWatch, reference: Reference, day: date, least: float) -> float | None:
    """Give the error of a single day, if it would be urgent were the next one like it.

    Parameters
    ----------
    watch : LevelWatch
        Up to the day.
    reference : Reference
        Of the stream.
    day : date
        The day.
    least : float
        The least error that is urgent, in logit.

    Returns
    -------
    float or None
        D, in logit; None if the day says no such thing, or an incident is open that does.
    """
    if watch.incident or not watch.days.size or watch.days[-1] != day.toordinal():
        return None
    now = moves_of(watch.levels[-1].astype(np.float64))
    usual = usual_variances(reference, watch, day)
    is_off = now and now.are_off(least) and is_unusual(now, usual)
    return now.shift if now and is_off and is_certain(now, *_own_errors(reference)) else None


def _is_urgent(watch: LevelWatch, reference: Reference, usual: Floats, least: float) -> bool:
    days, apart = watch.levels[-2:].astype(np.float64), np.diff(watch.days[-2:])
    if not apart.size or apart[0] > max(WEEK, 2 * reference.judge_every):
        return False
    first, second, both = (moves_of(of) for of in (*days, days.sum(axis=0)))
    if not (first and second and both) or first.shift * second.shift < 0.0:
        return False
    each = all(one.are_off(least) and is_unusual(one, usual) for one in (first, second))
    return each and is_certain(both, *_own_errors(reference))


def is_certain(moves: Moves, own: float = 0.0, own_kappa: float = 0.0) -> bool:
    """Say whether an error that pages is no chance, with the errors of the reference if apart."""
    of_shift = abs(moves.shift) / sqrt(moves.shift_error**2 + own**2)
    return min(of_shift, abs(moves.kappa) / sqrt(moves.kappa_error**2 + own_kappa**2)) > CERTAIN


def is_unusual(moves: Moves, usual: Floats) -> bool:
    """Say whether an error is more than D and kappa move by themselves, of these variances."""
    most = USUAL_ON_A_DAY * np.sqrt(usual)
    return bool(abs(moves.shift) > most[0] and abs(moves.kappa) > most[1])


def _opened(
    watch: LevelWatch, reference: Reference, day: date, side: int, usual: Floats, *, urgent: bool
) -> Incident:
    """Make the incident that an alarm on this day opens."""
    _, own = _own_errors(reference)
    start = start_of(
        since_counted(_as_history(watch), watch.counted),
        direction=0,
        sign=int(SIDES[side]),
        day_variance=0.0,
        effect=float(SIZES[1]),
        error=max(own, sqrt(usual[1])),
    )
    opened = Incident(
        *(day, start.day, start.low, start.high, LEVEL_KINDS[side], watch.evidence),
        gradual=start.gradual,
        urgent=urgent,
    )
    return measured(watch, opened)


def _as_history(watch: LevelWatch) -> History:
    """Lay out kappa as the scores of a direction, to look for its start.

    The base rate moves D on all days, and kappa on none.
    """
    scores, informations, *none = np.split(watch.levels[:, 2:], [1, 2, 2], axis=1)
    return History(watch.days, np.ones_like(watch.days), scores, informations, *none)


def measured(watch: LevelWatch, incident: Incident) -> Incident:
    """Measure an error over the days since its start, of the last nine weeks."""
    since = watch.days >= incident.started.toordinal()
    moves = moves_of(watch.levels[since].astype(np.float64).sum(axis=0))
    if moves is None:
        return incident
    return replace(
        incident, size=moves.shift, size_error=moves.shift_error, unexplained=moves.kappa
    )


def _carried_on(
    watch: LevelWatch, incident: Incident, day: date, usual: Floats, *, urgent: bool
) -> LevelWatch:
    event, now = weighed_incident(incident, day, _recovery(watch, incident, usual), day)
    if LIFE[event].ends:
        return LevelWatch(days=watch.days, levels=watch.levels, ended=over_on(watch, day))
    if LIFE[event].named:
        now = measured(watch, now)
    now = replace(now, urgent=incident.urgent or urgent)
    return replace(watch, incident=paged_later(incident, now, day, watch.evidence))


def paged_later(before: Incident, now: Incident, day: date, evidence: float) -> Incident:
    """Note what an incident was that became urgent only after its second day: it is worse now."""
    if before.urgent or not now.urgent or day - before.opened <= timedelta(days=1):
        return now
    return replace(now, worse=Worse(day, evidence, 1, before.kind, before.size, None))


def _recovery(watch: LevelWatch, incident: Incident, usual: Floats) -> float:
    """Weigh of the last day that the error is gone against that it is still there, log10.

    A base rate that moves by itself may cover the error for some days, so each of D and kappa says
    no more than how far it moves by itself leaves it.
    """
    moves = moves_of(watch.levels[-1].astype(np.float64))
    return float(bounded(gone(incident, moves, usual).max() / log(10.0))) if moves else 0.0


def gone(incident: Incident | ValueIncident, moves: Moves, usual: Floats | float = 0.0) -> Floats:
    """Weigh that an error of the level is gone against that it is still there, in nats.

    Parameters
    ----------
    incident : Incident or ValueIncident
        Of one of `LEVEL_KINDS`.
    moves : Moves
        Of a day.
    usual : ndarray of shape (2,)
        The variances of D and of kappa by themselves.

    Returns
    -------
    ndarray of shape (2,)
        What D says, and what kappa says.
    """
    sign = SIDES[LEVEL_KINDS.index(incident.kind)]
    far = min(FAR, max(LEAST_FAR, abs(incident.size) - 2.0 * incident.size_error))
    values, errors = sign * np.array(moves[::2]), np.array(moves[1::2])
    return -ratio_of(values, errors**2 + usual, NEAR * far, np.array(far))
