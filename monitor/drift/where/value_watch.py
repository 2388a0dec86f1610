"""Evidence of every value of the watched columns, accumulated over days; incidents of values. Pure.

Rule 1: a fold over days, as the detector of a stream: the same days give the same state, however
they arrive.
Rule 2: a value is off if it moved against the others of its column *and* against its own past. The
first keeps a prior that moves in other columns from being taken for a drift of one value, the
second keeps the values that stayed from being named for the one that moved.
Rule 3: of values of several columns that may share the rows that moved, one is named, with the
others beside it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from math import log, sqrt

import numpy as np

from monitor.base.segment_names import OTHER
from monitor.drift.evidence.directions import bounded, bounded_ratio
from monitor.drift.incidents.detecting import LEAST_AGE, LEAST_SIZE, alarms_among, share_of_start
from monitor.drift.records.day_evidence import KINDS
from monitor.drift.records.detector import RECOVERED, WEIGHTS
from monitor.drift.records.places import Condition
from monitor.drift.records.values import ValueIncident, ValuePast, ValueWatch
from monitor.drift.where.value_past import ValueSums, against_others, numbered
from monitor.metrics.core.grid import Floats, Ints, Singles

MOST_EVIDENCE = 1e30  # of a kind: beyond, a recovery of years would be needed to forget it
MOST_BESIDE = 5  # values that an incident names beside its own
REMEMBERED = 28  # days that an incident may have begun before it opens
SIGNS = np.array([-1.0, 1.0])  # of the kinds of a direction
DOUBT = 3.0  # standard errors by which a value must differ to be no part of another
LEFT = 2.0  # standard errors below its estimate that a drift may still be there

ValueDays = Callable[[date, date], Mapping[date, ValueSums]]  # the days from one to another


@dataclass(frozen=True, eq=False)
class _Day:
    """A day of m values: against their own past, and against the others; shape (m, 4) each."""

    scores: Floats
    informations: Floats
    pulls: Floats
    left: Floats


def new_watch(reference: date, past: ValuePast) -> ValueWatch:
    """Begin with no evidence of anything."""
    none = np.zeros((len(past.names), len(KINDS)), np.float32)
    return ValueWatch(reference, single(past), none, none)


def single(past: ValuePast) -> ValuePast:
    """Round to the precision that is stored, so that a stored fold goes on as one in memory."""
    levels = None if past.levels is None else _single(past.levels)
    return replace(past, known=_single(past.known), new=_single(past.new), levels=levels)


def _single(values: Floats) -> Floats:
    return np.asarray(values.astype(np.float32).astype(np.float64))


def watch_day(
    watch: ValueWatch,
    day: date,
    sums: ValueSums,
    *,
    false_alert_days: float,
    days_of: ValueDays,
) -> ValueWatch:
    """Add a day to the evidence of every value; open, carry on and close their incidents.

    Parameters
    ----------
    watch : ValueWatch
        Of the days before.
    day : date
        The day.
    sums : ValueSums
        What its values say.
    false_alert_days : float
        A: days between false alerts of all values together, at least and on average.
    days_of : function of two dates
        Reads the days from one to another, the last one included, once more; asked when an
        incident opens.

    Notes
    -----
    For each kind the day's evidence is ``E = exp((s (e - t) U - (e**2 - t**2) I / 2) / phi)`` with
    score U and information I, tolerance t, effect e, sign s and the dispersion
    ``phi = 1 + day_variance I``, and ``M = (M + w) E`` as in `monitor.drift.records.detector`; once
    with both sums against the others of the column, and once with those against the own past. The
    evidence of a value is the weighted mean over the kinds of the smaller one, so it rises no
    faster than either. Alerts are those of e-d-BH over all values (`alarms_among`).
    """
    watch = _with_new(watch, sums.names)
    today = _compared(watch.past, sums)
    watch = replace(
        watch,
        sums=_accumulated(watch.past, watch.sums, today.pulls, today.left, today),
        own=_accumulated(watch.past, watch.own, today.scores, today.informations, today),
        incidents=tuple(
            kept
            for incident in watch.incidents
            if (kept := _carried_on(incident, day, watch.past, today))
        ),
    )
    alarmed = _alarmed(watch, false_alert_days)
    if not alarmed.size:
        return watch
    spent = np.isin(np.arange(len(watch.sums)), alarmed)[:, None]
    incidents = _with_alarms(watch, day, alarmed, days_of)
    none = np.float32(0.0)
    return replace(
        watch,
        sums=np.where(spent, none, watch.sums),
        own=np.where(spent, none, watch.own),
        incidents=incidents,
    )


def _with_new(watch: ValueWatch, names: Sequence[Condition]) -> ValueWatch:
    past = watch.past.with_new(names)
    if past is watch.past:
        return watch
    before = {name: i for i, name in enumerate(watch.past.names)}
    place = np.array([before.get(name, -1) for name in past.names])
    none = np.zeros((1, len(KINDS)), np.float32)
    sums, own = (np.vstack([of, none])[place] for of in (watch.sums, watch.own))
    levels = watch.levels
    if levels is not None:
        levels = np.vstack([levels, np.zeros((1, levels.shape[1]), np.float32)])[place]
    return replace(watch, past=past, sums=sums, own=own, levels=levels)


def _compared(past: ValuePast, sums: ValueSums) -> _Day:
    scores, informations = sums.of(past.names)
    scores = scores - past.offsets * informations
    return _Day(scores, informations, *against_others(numbered(past.names), scores, informations))


def _accumulated(
    past: ValuePast, before: Singles, scores: Floats, informations: Floats, today: _Day
) -> Singles:
    """Add a day to the sums of every kind; days without a value leave its sums alone."""
    phi = 1.0 + past.day_variances * today.left
    gains = _gains(past, scores, informations) / phi[..., None]
    begun = share_of_start(past.tolerances, past.effects, today.left, past.day_variances)
    seen = (today.left > 0.0)[..., None]
    m = before.reshape(*begun.shape, 2).astype(np.float64)
    now = np.minimum((m + begun[..., None]) * bounded_ratio(gains), MOST_EVIDENCE)
    return np.where(seen, now, m).reshape(before.shape).astype(np.float32)


def _gains(past: ValuePast, scores: Floats, informations: Floats) -> Floats:
    """Give the log-likelihood of each effect over its tolerance, in nats; shape (m, 4, 2)."""
    between = past.effects - past.tolerances
    middle = 0.5 * (past.effects + past.tolerances)
    pulls = SIGNS * scores[..., None]
    return np.asarray(between[..., None] * (pulls - (middle * informations)[..., None]))


def _alarmed(watch: ValueWatch, false_alert_days: float) -> Ints:
    """List the values over the limit, the one with most evidence first."""
    return alarmed_among(watch.past.names, watch.evidence, false_alert_days)


def alarmed_among(names: Sequence[Condition], evidence: Floats, false_alert_days: float) -> Ints:
    """List the places of the values over the limit that have a name, strongest first."""
    named = np.flatnonzero([name.value != OTHER for name in names])
    alarmed, _ = alarms_among(evidence[named].tolist(), false_alert_days)
    return named[np.argsort(-evidence[named], kind="stable")[:alarmed]]


def _carried_on(
    incident: ValueIncident, day: date, past: ValuePast, today: _Day
) -> ValueIncident | None:
    """Add a day to an open drift; None if it is over."""
    if incident.name not in past.names or incident.kind not in KINDS:
        return incident
    i, (j, side) = past.names.index(incident.name), divmod(KINDS.index(incident.kind), 2)
    pull, left = float(today.pulls[i, j]), float(today.left[i, j])
    phi = 1.0 + float(past.day_variances[i, j]) * left
    far = min(
        float(past.effects[i, j]),
        max(abs(incident.size) - LEFT * incident.size_error, LEAST_SIZE),
    )
    near = min(float(past.tolerances[i, j]), 0.5 * far)
    said = ((far - near) * (0.5 * (far + near) * left - SIGNS[side] * pull)) / phi / log(10.0)
    recovery = max(0.0, incident.recovery + float(bounded(np.array(said))))
    if recovery >= RECOVERED and (day - incident.opened).days >= LEAST_AGE:
        return None
    now = replace(
        incident,
        recovery=recovery,
        score=incident.score + pull / phi,
        information=incident.information + left / phi,
    )
    return now if recovery else _measured(now)


def _measured(incident: ValueIncident) -> ValueIncident:
    information = incident.information
    if not information > 0.0:
        return incident
    return replace(incident, size=incident.score / information, size_error=1.0 / sqrt(information))


def _with_alarms(
    watch: ValueWatch, day: date, alarmed: Ints, days_of: ValueDays
) -> tuple[ValueIncident, ...]:
    """Open an incident for each value that none explains; the others are named beside one."""
    read = days_of(day - timedelta(days=REMEMBERED - 1), day)
    days = {of: _compared(watch.past, sums) for of, sums in sorted(read.items())}
    incidents = [*watch.incidents]
    for i in alarmed.tolist():
        name = watch.past.names[i]
        opened = [k for k, incident in enumerate(incidents) if incident.name == name]
        if opened:
            if incidents[opened[0]].kind in KINDS:
                incidents[opened[0]] = _measured(replace(incidents[opened[0]], recovery=0.0))
            continue
        incident_now = _opened(watch, i, day, days)
        leader = next(
            (
                k
                for k, incident in enumerate(incidents)
                if _may_be(watch.past, incident, incident_now, days)
            ),
            None,
        )
        if leader is None:
            incidents.append(incident_now)
        else:
            incidents[leader] = with_beside(incidents[leader], name)
    return tuple(incidents)


def with_beside(leader: ValueIncident, name: Condition) -> ValueIncident:
    """Name a value beside the one whose rows it may share."""
    beside = dict.fromkeys([*leader.beside, f"{name.column} = {name.value}"])
    return replace(leader, beside=tuple(beside)[:MOST_BESIDE])


def _opened(watch: ValueWatch, i: int, day: date, days: Mapping[date, _Day]) -> ValueIncident:
    """Make the incident that an alarm opens, dated by the kind with most evidence."""
    past, name = watch.past, watch.past.names[i]
    # Before its first day a value says nothing, so its drift did not begin there.
    days = {of: said for of, said in days.items() if said.informations[i].any()}
    kind = int((WEIGHTS * np.minimum(watch.sums[i], watch.own[i])).argmax())
    j, side = divmod(kind, 2)
    gains, pulls, informations = [], [], []
    for of in days.values():
        phi = 1.0 + float(past.day_variances[i, j]) * float(of.left[i, j])
        gains.append(float(_gains(past, of.pulls, of.left)[i, j, side]) / phi)
        pulls.append(float(of.pulls[i, j]) / phi)
        informations.append(float(of.left[i, j]) / phi)
    since = np.cumsum(gains[::-1])[::-1]
    first = int(since.argmax()) if since.size else 0
    return _measured(
        ValueIncident(
            column=name.column,
            value=name.value,
            opened=day,
            started=[*days][first] if days else day,
            kind=KINDS[kind],
            size=0.0,
            size_error=0.0,
            evidence=float(watch.evidence[i]),
            recovery=0.0,
            score=sum(pulls[first:]),
            information=sum(informations[first:]),
        )
    )


def _may_be(
    past: ValuePast, leader: ValueIncident, other: ValueIncident, days: Mapping[date, _Day]
) -> bool:
    """Say whether what moved in a value may be rows that it shares with another that moved.

    Then it has no more of what moved than that one, and did not move further.
    """
    if leader.column == other.column or leader.kind != other.kind:
        return False
    j = KINDS.index(leader.kind) // 2
    since = [of for day, of in days.items() if day >= min(leader.started, other.started)]
    moved, informations = (
        np.abs(sum(getattr(of, sums)[:, j] for of in since)) for sums in ("scores", "informations")
    )
    both = [past.names.index(incident.name) for incident in (leader, other)]
    return may_be_part(moved[both], informations[both])


def may_be_part(moved: Floats, informations: Floats) -> bool:
    """Say whether what moved in a second value may be part of what moved in a first.

    Parameters
    ----------
    moved, informations : ndarray of shape (2,)
        Sizes of the summed scores, and their informations.
    """
    if not informations.min() > 0.0:
        return False
    further = float(np.diff(moved / informations)[0])
    error = sqrt(float((1.0 / informations).sum()))
    return bool(
        moved[1] <= moved[0] + DOUBT * sqrt(float(informations[1])) and further <= DOUBT * error
    )
