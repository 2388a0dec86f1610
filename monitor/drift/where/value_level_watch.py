"""Errors of the level of single values, and scores of theirs that cannot be compared. Pure.

Rule 1: what accumulates, and what opens and closes an incident, is as for the level of a stream.
Rule 2: of each value one incident is open at most: what was found first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from math import inf, log, sqrt

import numpy as np

from monitor.base.segment_names import OTHER
from monitor.drift.curve.reference import TOLERATED
from monitor.drift.evidence.directions import bounded
from monitor.drift.incidents.level_watch import (
    FAR,
    FEW_SCORES,
    HALF,
    LEAST_AGE,
    LEAST_FAR,
    LEAST_ROWS,
    NEAR,
    SIDES,
    SIZES,
    Moves,
    is_certain,
    ratio_of,
)
from monitor.drift.records.day_evidence import KINDS
from monitor.drift.records.detector import LEVEL_KINDS, NOT_COMPARABLE, RECOVERED
from monitor.drift.records.places import Condition
from monitor.drift.records.values import ValueIncident, ValuePast, ValueWatch
from monitor.drift.where.value_levels import (
    KAPPA,
    SHIFT,
    SUMS,
    TOLERANCES,
    ValueLevels,
    accumulated_levels,
    aligned,
    level_ratios,
    no_levels,
    places_of,
    silent_values,
)
from monitor.drift.where.value_past import ValueSums, against_others, numbered
from monitor.drift.where.value_watch import (
    MOST_EVIDENCE,
    REMEMBERED,
    ValueDays,
    alarmed_among,
    may_be_part,
    with_beside,
)
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.samples import Bools

NEIGHBOURS = 7  # days among which the one before another is looked for


@dataclass(frozen=True, eq=False)
class _Day:
    """The levels of a day of m values.

    Against what they were in the reference, shape (m, 2) each; what the base rate leaves over
    against the others of the column, shape (m,) each; why scores cannot be compared, and whether
    those of the others can; and counts.
    """

    own: Floats
    informations: Floats
    pulls: Floats
    left: Floats
    silent: Sequence[str | None]
    alone: Bools
    counted: ValueLevels
    shares: Floats

    def collapsed(self, i: int) -> bool:
        """Say whether a value has few scores of which the reference says nothing."""
        return self.silent[i] is not None and int(self.counted.distinct[i]) <= FEW_SCORES

    def moves(self, i: int) -> Moves | None:
        """Estimate the error of a value, and the part that the base rate leaves over."""
        return _moves(self.own[i], self.informations[i])


def _moves(own: Floats, informations: Floats) -> Moves | None:
    if not informations.min() > 0.0:
        return None
    (shift, kappa), (error, of_kappa) = own / informations, 1.0 / np.sqrt(informations)
    return Moves(float(shift), float(error), float(kappa), float(of_kappa))


def watch_levels(
    watch: ValueWatch,
    day: date,
    sums: ValueSums,
    *,
    false_alert_days: float,
    least: tuple[float, float],
    days_of: ValueDays,
) -> ValueWatch:
    """Add a day to the evidence for an error of the level of every value, and to their incidents.

    Parameters
    ----------
    watch, day, sums, false_alert_days, days_of
        As for `watch_day`, which has added the day.
    least : tuple of float
        The least error of the log-odds that is worth a ticket, and that is urgent.
    """
    known = watch.past.levels
    if known is None or sums.levels is None:
        return watch
    today = _levels_of(watch.past, known, sums)
    names = watch.past.names
    before = np.zeros((len(names), SUMS)) if watch.levels is None else watch.levels
    now = accumulated_levels(known, before.astype(np.float64), *_evidence_of(today))
    levels = np.minimum(now, MOST_EVIDENCE).astype(np.float32)
    kept = (_carried_on(each, day, watch.past, today) for each in watch.incidents)
    watch = replace(watch, levels=levels, incidents=tuple(filter(None, kept)))
    alarmed = alarmed_among(names, watch.level_evidence, false_alert_days)
    watch = _with_alarms(watch, day, alarmed.tolist(), days_of, least[0])
    watch = _with_silent(watch, day, today)
    waiting = [i for i in watch.incidents if i.kind in LEVEL_KINDS and not i.urgent]
    if not waiting:
        return watch
    read = days_of(day - timedelta(days=NEIGHBOURS), day - timedelta(days=1))
    last = _levels_of(watch.past, known, read[max(read)]) if read else None
    urgent = {
        each.name
        for each in waiting
        if last and _is_urgent(watch.past, each, last, today, least[1])
    }
    found = tuple(replace(i, urgent=i.urgent or i.name in urgent) for i in watch.incidents)
    return replace(watch, incidents=found)


def _levels_of(past: ValuePast, known: Floats, sums: ValueSums) -> _Day:
    names, levels = (sums.names, sums.levels) if sums.levels else ((), no_levels())
    counted = aligned(levels, places_of(past.names, names))
    own = counted.scores - known[:, [SHIFT, KAPPA]] * counted.informations
    columns = numbered(past.names)
    of_kappa = own[:, KAPPA:], counted.informations[:, KAPPA:]
    pulls, left = (of[:, 0] for of in against_others(columns, *of_kappa))
    totals = np.bincount(columns, weights=counted.rows)[columns]
    return _Day(
        *(own, counted.informations, pulls, left),
        *silent_values(known, columns, counted),
        counted,
        shares=counted.rows / np.where(totals > 0.0, totals, 1.0),
    )


def _evidence_of(today: _Day) -> tuple[Floats, Floats, Floats, Floats]:
    """Give what a day says of levels; nothing of values whose scores are one or a few."""
    told = np.array([not today.collapsed(i) for i in range(len(today.silent))], bool)
    return today.own, np.where(told[:, None], today.informations, 0.0), today.pulls, today.left


def _carried_on(
    incident: ValueIncident, day: date, past: ValuePast, today: _Day
) -> ValueIncident | None:
    """Add a day to an open incident; None if it is over."""
    if incident.kind in KINDS or incident.name not in past.names:
        return incident
    i = past.names.index(incident.name)
    if incident.kind in NOT_COMPARABLE:
        return _still_silent(incident, i, today)
    moves = today.moves(i)
    if moves is None or today.collapsed(i):
        return incident
    recovery = max(0.0, incident.recovery + _recovery(incident, moves))
    if recovery >= RECOVERED and (day - incident.opened).days >= LEAST_AGE:
        return None
    score = incident.score + float(today.own[i, SHIFT])
    information = incident.information + float(today.informations[i, SHIFT])
    now = replace(incident, recovery=recovery, score=score, information=information)
    if recovery:
        return now
    return replace(now, size=score / information, size_error=1.0 / sqrt(information))


def _still_silent(incident: ValueIncident, i: int, today: _Day) -> ValueIncident | None:
    rows, hits = int(today.counted.rows[i]), int(today.counted.hits[i])
    if rows < LEAST_ROWS or not 0 < hits < rows:
        return incident
    kind = today.silent[i]
    if kind is None:
        return None
    return replace(_counted(incident, i, today), kind=kind, urgent=today.collapsed(i))


def _counted(incident: ValueIncident, i: int, today: _Day) -> ValueIncident:
    """Say which share of the rows a value has, what its scores are, and what comes of them."""
    counted = today.counted
    moves = today.moves(i)
    return replace(
        incident,
        share=float(today.shares[i]),
        mean=float(counted.means[i]),
        rate=float(counted.hits[i] / counted.rows[i]),
        expected=float(counted.expected[i]),
        size=moves.shift if moves else 0.0,
        size_error=moves.shift_error if moves else 0.0,
    )


def _recovery(incident: ValueIncident, moves: Moves) -> float:
    """Weigh of a day that an error is gone against that it is still there, log10.

    A base rate that moves by itself may cover the error for some days, so D says that it is gone
    only where less than half of it is left of kappa.
    """
    sign = SIDES[LEVEL_KINDS.index(incident.kind)]
    far = min(FAR, max(LEAST_FAR, abs(incident.size) - 2.0 * incident.size_error))
    of_shift, of_kappa = (
        -float(ratio_of(np.array(sign * value), error**2, NEAR * far, np.array(far)))
        for value, error in (
            (moves.shift, moves.shift_error),
            (moves.kappa, moves.kappa_error),
        )
    )
    covered = sign * moves.kappa >= HALF * abs(incident.size)
    gone = of_kappa if covered else max(of_shift, of_kappa)
    return float(bounded(np.array(gone / log(10.0))))


def _with_alarms(
    watch: ValueWatch, day: date, alarmed: Sequence[int], days_of: ValueDays, least: float
) -> ValueWatch:
    """Open an incident for each value that none explains; the others are named beside one."""
    known = watch.past.levels
    if known is None or not alarmed:
        return watch
    read = days_of(day - timedelta(days=REMEMBERED - 1), day)
    days = {of: _levels_of(watch.past, known, sums) for of, sums in sorted(read.items())}
    incidents, spent = [*watch.incidents], list[int]()
    for i in alarmed:
        name = watch.past.names[i]
        held = next((k for k, each in enumerate(incidents) if each.name == name), None)
        if held is not None and incidents[held].kind not in NOT_COMPARABLE:
            spent.append(i)
            continue
        opened = _opened(watch, i, day, days, least)
        if opened is None:
            continue
        spent.append(i)
        leader = next((k for k, o in enumerate(incidents) if _may_be(watch, o, opened, days)), None)
        if held is not None:  # the same incident, of which more is known now
            incidents[held] = replace(opened, opened=incidents[held].opened)
        elif leader is None:
            incidents.append(opened)
        else:
            incidents[leader] = with_beside(incidents[leader], name)
    levels = np.array(watch.levels)
    levels[spent] = 0.0
    return replace(watch, levels=levels, incidents=tuple(incidents))


def _opened(
    watch: ValueWatch, i: int, day: date, days: Mapping[date, _Day], least: float
) -> ValueIncident | None:
    """Make the incident that an alarm opens; None if the error is too small to be worth it."""
    known, levels = watch.past.levels, watch.levels
    if known is None or levels is None:
        return None
    side = int(levels[i].reshape(len(LEVEL_KINDS), -1).sum(axis=1).argmax())
    told = {of: said for of, said in days.items() if said.moves(i)}
    bet = side * len(SIZES) + 1
    one = slice(i, i + 1)
    gains = [
        float(
            level_ratios(
                known[one], said.own[one], said.informations[one], said.pulls[one], said.left[one]
            )[0][0, bet]
        )
        for said in told.values()
    ]
    since = np.cumsum(gains[::-1])[::-1]
    first = int(since.argmax()) if since.size else 0
    both = [*told.values()][first:]
    own, informations = (
        sum((getattr(of, name)[i] for of in both), np.zeros(2)) for name in ("own", "informations")
    )
    moves = _moves(own, informations)
    if moves is None or min(abs(moves.shift), abs(moves.kappa)) < least:
        return None
    begun = replace(
        _begun(watch.past.names[i], day, LEVEL_KINDS[side]),
        started=[*told][first],
        evidence=float(watch.level_evidence[i]),
        score=float(own[SHIFT]),
        information=float(informations[SHIFT]),
    )
    return replace(
        _counted(begun, i, both[-1]),
        size=moves.shift,
        size_error=moves.shift_error,
        share=float(sum(of.shares[i] for of in both)) / len(both),
    )


def _begun(name: Condition, day: date, kind: str) -> ValueIncident:
    """Begin an incident of which nothing is measured yet."""
    return ValueIncident(
        *(name.column, name.value, day, day, kind),
        size=0.0,
        size_error=0.0,
        evidence=0.0,
        recovery=0.0,
        score=0.0,
        information=0.0,
        urgent=False,
    )


def _may_be(
    watch: ValueWatch, leader: ValueIncident, other: ValueIncident, days: Mapping[date, _Day]
) -> bool:
    """Say whether what moved in a value may be rows that it shares with another that moved.

    Then it has no more of what moved than that one, and did not move further.
    """
    if leader.column == other.column or leader.kind != other.kind:
        return False
    i, k = (watch.past.names.index(incident.name) for incident in (leader, other))
    since = [of for day, of in days.items() if day >= min(leader.started, other.started)]
    moved, informations = (
        np.abs(sum((getattr(of, name)[[i, k], SHIFT] for of in since), np.zeros(2)))
        for name in ("own", "informations")
    )
    return may_be_part(moved, informations)


def _with_silent(watch: ValueWatch, day: date, today: _Day) -> ValueWatch:
    """Open incidents of values whose scores cannot be compared today."""
    incidents = [*watch.incidents]
    named = {incident.name for incident in incidents}
    new = [
        i
        for i, (name, why) in enumerate(zip(watch.past.names, today.silent, strict=True))
        if why and today.alone[i] and name not in named and name.value != OTHER
    ]
    for i in sorted(new, key=lambda i: -int(today.counted.rows[i])):
        name, why = watch.past.names[i], today.silent[i] or ""
        begun = _counted(_begun(name, day, why), i, today)
        leaders = (k for k, each in enumerate(incidents) if _shares_rows(each, begun))
        if (leader := next(leaders, None)) is None:
            incidents.append(begun)
        else:
            incidents[leader] = with_beside(incidents[leader], name)
    return replace(watch, incidents=tuple(incidents))


def _shares_rows(leader: ValueIncident, other: ValueIncident) -> bool:
    """Say whether rows that cannot be compared may be those of a value with more of them."""
    alike = (leader.kind, leader.opened) == (other.kind, other.opened)
    return alike and leader.column != other.column and (leader.share or 0.0) >= (other.share or 0.0)


def _is_urgent(
    past: ValuePast, incident: ValueIncident, last: _Day, today: _Day, least: float
) -> bool:
    """Say whether an error is large and certain on two days in a row, on the side it was found."""
    i = past.names.index(incident.name)
    tolerances = past.levels[i, TOLERANCES] if past.levels is not None else np.full(3, inf)
    days = last.moves(i), today.moves(i)
    sign = SIDES[LEVEL_KINDS.index(incident.kind)]
    for moves in days:
        if moves is None or not moves.are_off(least) or sign * moves.shift < 0.0:
            return False
        if abs(moves.kappa) <= tolerances[1]:
            return False
    both = _moves(last.own[i] + today.own[i], last.informations[i] + today.informations[i])
    # What is tolerated is at least so many errors of the reference.
    own, own_kappa = (float(of) / TOLERATED for of in tolerances[:2])
    return both is not None and is_certain(both, own, own_kappa)
