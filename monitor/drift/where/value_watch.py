"""Evidence of every value of the watched columns, accumulated over days; incidents of values. Pure.

Rule 1: a fold over days, as the detector of a stream: the same days give the same state, however
they arrive. What accumulates for the level, and what opens and closes its incidents, is as there.
Rule 2: a value is off if it moved against the others of its column *and* against its own past. The
first keeps a prior that moves in other columns from being taken for a drift of one value, the
second keeps the values that stayed from being named for the one that moved.
Rule 3: of values of several columns that may share the rows that moved, one is named, with the
others beside it. Of each value one incident is open at most: what was found first.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache, cached_property, partial
from math import inf, log, sqrt

import numpy as np

from monitor.base.segment_names import OTHER
from monitor.drift.curve.reference import TOLERATED
from monitor.drift.evidence.directions import bounded, bounded_ratio
from monitor.drift.incidents.detecting import LEAST_SIZE, alarms_among, share_of_start
from monitor.drift.incidents.level_watch import (
    FEW_SCORES,
    HALF,
    SIDES,
    SIZES,
    Moves,
    gone,
    is_certain,
)
from monitor.drift.records.day_evidence import KINDS, direction_of, sign_of
from monitor.drift.records.detector import LEVEL_KINDS, NOT_COMPARABLE, WEIGHTS
from monitor.drift.records.life import LIFE, LifeEvent, weighed
from monitor.drift.records.places import Condition
from monitor.drift.records.values import (
    ValueIncident,
    ValuePast,
    ValueWatch,
    no_level_sums_of,
)
from monitor.drift.where import value_past
from monitor.drift.where.value_past import WIDTH, ValueSums, against_others, numbered
from monitor.metrics.core.grid import Floats, Singles
from monitor.metrics.core.ratio import ratio
from monitor.metrics.core.samples import Bools

SHIFT, KAPPA = WIDTH, WIDTH + 1  # what a day says of a level, after the four directions
MOST_EVIDENCE = 1e30  # of a kind: beyond, a recovery of years would be needed to forget it
MOST_BESIDE = 5  # values that an incident names beside its own
REMEMBERED = 28  # days that an incident may have begun before it opens
NEIGHBOURS = 7  # days among which the one before another is looked for
SIGNS = np.array([-1.0, 1.0])  # of the kinds of a direction
DOUBT = 3.0  # standard errors by which a value must differ to be no part of another
LEFT = 2.0  # standard errors below its estimate that a drift may still be there

ValueDays = Callable[[date, date], Mapping[date, ValueSums]]  # the days from one to another


@dataclass(frozen=True, eq=False)
class ComparedDay:
    """A day of m values, compared with their own past and with the others of their columns.

    Attributes
    ----------
    past : ValuePast
        What is known of the values.
    scores, informations : ndarray of shape (m, 6)
        Against their own past: along the four directions, then the intercept and what the base rate
        leaves over of it.
    pulls, left : ndarray of shape (m, 6)
        The same against the others, of `against_others`.
    levels : ndarray of shape (m, 10)
        What was counted for the levels; see `monitor.drift.where.value_past.value_levels`.
    """

    past: ValuePast
    scores: Floats
    informations: Floats
    pulls: Floats
    left: Floats
    levels: Floats

    @cached_property
    def shares(self) -> Floats:
        """Each value's share of the rows of its column."""
        columns, rows = numbered(self.past.names), self.levels[:, value_past.ROWS]
        totals = np.bincount(columns, weights=rows)[columns]
        return ratio(rows, totals)

    @cached_property
    def silence(self) -> tuple[Sequence[str | None], Bools]:
        """Why scores cannot be compared, and whether those of most others can."""
        return value_past.silent_values(self.past.levels, numbered(self.past.names), self.levels)

    def collapsed(self, i: int) -> bool:
        """Say whether a value has few scores of which the reference says nothing."""
        few = self.levels[i, value_past.DISTINCT] <= FEW_SCORES
        return bool(few) and self.silence[0][i] is not None

    def bets(self, some: slice) -> tuple[Floats, Bools]:
        """Give what is bet on errors of the level, log10, and of which values it says anything."""
        own = self.scores[some, SHIFT:], self.informations[some, SHIFT:]
        apart = self.pulls[some, KAPPA], self.left[some, KAPPA]
        return value_past.level_ratios(self.past.levels[some], *own, *apart)


ComparedDays = Mapping[date, ComparedDay]


def new_watch(reference: date, past: ValuePast) -> ValueWatch:
    """Begin with no evidence of anything."""
    none = np.zeros((len(past.names), len(KINDS)), np.float32)
    levels = no_level_sums_of(len(past.names))
    return ValueWatch(reference, single(past), none, none, levels=levels)


def single(past: ValuePast) -> ValuePast:
    """Round to the precision that is stored, so that a stored fold goes on as one in memory."""
    rounded = {
        name: getattr(past, name).astype(np.float32).astype(np.float64)
        for name in ("known", "new", "levels")
    }
    return replace(past, **rounded)


def watch_day(
    watch: ValueWatch,
    day: date,
    sums: ValueSums,
    *,
    false_alert_days: float,
    days_of: ValueDays,
    least: tuple[float, float] = (inf, inf),
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
        A: days between false alerts of all values together, at least and on average; as many again
        for errors of their levels.
    days_of : function of two dates
        Reads the days from one to another, the last one included, once more; asked when an
        incident opens.
    least : tuple of float
        The least error of the log-odds that is worth a ticket, and that is urgent.

    Notes
    -----
    For each kind the day's evidence is ``E = exp((s (e - t) U - (e**2 - t**2) I / 2) / phi)`` with
    score U and information I, tolerance t, effect e, sign s and the dispersion
    ``phi = 1 + day_variance I``, and ``M = (M + w) E`` as in `monitor.drift.records.detector`; once
    with both sums against the others of the column, and once with those against the own past. The
    evidence of a value is the weighted mean over the kinds of the smaller one, so it rises no
    faster than either. Alerts are those of e-d-BH over all values (`alarms_among`). Of the level
    the evidence is that of `advance_level`, and a third bet is on a move against the other values.
    """
    watch = _with_new(watch, sums.names)
    past, today = watch.past, compared(watch.past, sums)

    @cache
    def days() -> ComparedDays:
        read = days_of(day - timedelta(days=REMEMBERED - 1), day)
        return {of: compared(past, said) for of, said in sorted(read.items())}

    watch = replace(
        watch,
        sums=_accumulated(past, watch.sums, today.pulls, today.left, today),
        own=_accumulated(past, watch.own, today.scores, today.informations, today),
        incidents=_carried_on(watch, day, today, KINDS),
    )
    if alarmed := _alarmed(past.names, watch.evidence, false_alert_days):
        open_one = partial(_opened, watch, day=day, days=days)
        spent, found = _with_alarms(watch, alarmed, open_one, days, of_level=False)
        sums_left, own = (_without(of, spent) for of in (watch.sums, watch.own))
        watch = replace(watch, sums=sums_left, own=own, incidents=found)
    carried = _carried_on(watch, day, today, (*LEVEL_KINDS, *NOT_COMPARABLE))
    levels = _accumulated_levels(watch, today)
    watch = replace(watch, levels=levels, incidents=carried)
    if alarmed := _alarmed(past.names, watch.level_evidence, false_alert_days):
        open_off = partial(_off, watch, day=day, days=days, least=least[0])
        spent, found = _with_alarms(watch, alarmed, open_off, days, of_level=True)
        watch = replace(watch, levels=_without(levels, spent), incidents=found)
    return _with_urgent(_with_silent(watch, day, today), day, today, days_of, least[1])


def _with_new(watch: ValueWatch, names: Sequence[Condition]) -> ValueWatch:
    past = watch.past.with_new(names)
    if past is watch.past:
        return watch
    before = {name: i for i, name in enumerate(watch.past.names)}
    place = np.array([before.get(name, -1) for name in past.names])
    sums, own, levels = (
        np.vstack([of, np.zeros((1, of.shape[1]), np.float32)])[place]
        for of in (watch.sums, watch.own, watch.levels)
    )
    return replace(watch, past=past, sums=sums, own=own, levels=levels)


def compared(past: ValuePast, sums: ValueSums) -> ComparedDay:
    """Compare the values of a day with their own past, and with the others of their columns."""
    of = sums.of(past.names)
    offsets = np.hstack([past.offsets, past.levels[:, :2]])
    informations = np.hstack([of.informations, of.levels[:, value_past.KNOWN]])
    scores = np.hstack([of.scores, of.levels[:, value_past.PULLS]]) - offsets * informations
    others = against_others(numbered(past.names), scores, informations)
    return ComparedDay(past, scores, informations, *others, of.levels)


def _accumulated(
    past: ValuePast, before: Singles, scores: Floats, informations: Floats, today: ComparedDay
) -> Singles:
    """Add a day to the sums of every kind; days without a value leave its sums alone."""
    left = today.left[:, :WIDTH]
    phi = 1.0 + past.day_variances * left
    gains = _gains(past, scores[:, :WIDTH], informations[:, :WIDTH]) / phi[..., None]
    begun = share_of_start(past.tolerances, past.effects, left, past.day_variances)
    seen = (left > 0.0)[..., None]
    m = before.reshape(*begun.shape, 2).astype(np.float64)
    now = np.minimum((m + begun[..., None]) * bounded_ratio(gains), MOST_EVIDENCE)
    return np.where(seen, now, m).reshape(before.shape).astype(np.float32)


def _gains(past: ValuePast, scores: Floats, informations: Floats) -> Floats:
    """Give the log-likelihood of each effect over its tolerance, in nats; shape (m, 4, 2)."""
    between = past.effects - past.tolerances
    middle = 0.5 * (past.effects + past.tolerances)
    pulls = SIGNS * scores[..., None]
    return np.asarray(between[..., None] * (pulls - (middle * informations)[..., None]))


def _accumulated_levels(watch: ValueWatch, today: ComparedDay) -> Singles:
    """Add a day to the sums of both sides and three sizes; nothing of scores that are few."""
    before = watch.levels.astype(np.float64)
    ratios, says = today.bets(slice(None))
    says &= [not today.collapsed(i) for i in range(len(says))]
    now = np.where(says[:, None], (before + 1.0) * 10.0**ratios, before)
    return np.minimum(now, MOST_EVIDENCE).astype(np.float32)


def _alarmed(names: Sequence[Condition], evidence: Floats, false_alert_days: float) -> list[int]:
    """List the places of the values over the limit that have a name, strongest first."""
    named = np.flatnonzero([name.value != OTHER for name in names])
    alarmed, _ = alarms_among(evidence[named].tolist(), false_alert_days)
    strongest = np.argsort(-evidence[named], kind="stable")[:alarmed]
    return [int(i) for i in named[strongest]]


def _carried_on(
    watch: ValueWatch, day: date, today: ComparedDay, kinds: Collection[str]
) -> tuple[ValueIncident, ...]:
    """Add a day to the open incidents of some kinds; leave out those that are over."""
    there = {name: i for i, name in enumerate(watch.past.names)}
    carried = list[ValueIncident]()
    for each in watch.incidents:
        mine = each.kind in kinds and each.name in there
        happened = event_of_day(each, there[each.name], day, today) if mine else None
        carried += lived(*happened) if happened else [each]
    return tuple(carried)


def lived(event: LifeEvent, incident: ValueIncident) -> list[ValueIncident]:
    """Let an event happen to the incident of a value, a row of `LIFE`; none is left of an end."""
    if LIFE[event].ends:
        return []
    return [_measured(incident) if LIFE[event].named else incident]


def event_of_day(
    incident: ValueIncident, i: int, day: date, today: ComparedDay
) -> tuple[LifeEvent, ValueIncident] | None:
    """Choose what a day makes happen to an open incident; None if it says nothing of the value."""
    if incident.kind in NOT_COMPARABLE:
        return _silent_or_over(incident, i, today)
    if incident.kind in LEVEL_KINDS:
        moves = _moves([today], i)
        if moves is None or today.collapsed(i):
            return None
        said, phi = _recovery(incident, moves), 1.0
        pull, left = float(today.scores[i, SHIFT]), float(today.informations[i, SHIFT])
    else:
        j, sign = direction_of(incident.kind), sign_of(incident.kind)
        pull, left = float(today.pulls[i, j]), float(today.left[i, j])
        phi, past = 1.0 + float(today.past.day_variances[i, j]) * left, today.past
        sure = max(abs(incident.size) - LEFT * incident.size_error, LEAST_SIZE)
        far = min(float(past.effects[i, j]), sure)
        near = min(float(past.tolerances[i, j]), 0.5 * far)
        said = ((far - near) * (0.5 * (far + near) * left - sign * pull)) / phi / log(10.0)
    event, recovery = weighed(incident, day, float(bounded(np.array(said))))
    return event, replace(
        incident,
        recovery=recovery,
        score=incident.score + pull / phi,
        information=incident.information + left / phi,
    )


def _recovery(incident: ValueIncident, moves: Moves) -> float:
    """Weigh of a day that an error is gone against that it is still there, log10.

    A base rate that moves by itself may cover the error for some days, so D says that it is gone
    only where less than half of it is left of kappa.
    """
    of_shift, of_kappa = gone(incident, moves).tolist()
    sign = SIDES[LEVEL_KINDS.index(incident.kind)]
    covered = sign * moves.kappa >= HALF * abs(incident.size)
    return float(of_kappa if covered else max(of_shift, of_kappa)) / log(10.0)


def _measured(incident: ValueIncident) -> ValueIncident:
    information = incident.information
    if not information > 0.0:
        return incident
    return replace(incident, size=incident.score / information, size_error=1.0 / sqrt(information))


def _moves(days: Sequence[ComparedDay], i: int) -> Moves | None:
    """Estimate the error of a value over some days, and what the base rate leaves over of it."""
    pulls, informations = (of[SHIFT:] for of in _summed(days, i))
    if not informations.min() > 0.0:
        return None
    (shift, kappa), (error, of_kappa) = pulls / informations, 1.0 / np.sqrt(informations)
    return Moves(float(shift), float(error), float(kappa), float(of_kappa))


def _summed(days: Sequence[ComparedDay], i: int | list[int]) -> tuple[Floats, Floats]:
    """Add up what days say of some values, against their own past; at least one day."""
    scores, informations = (
        sum((getattr(day, of)[i] for day in days[1:]), getattr(days[0], of)[i])
        for of in ("scores", "informations")
    )
    return scores, informations


def _with_alarms(
    watch: ValueWatch,
    alarmed: Sequence[int],
    open_one: Callable[[int], ValueIncident | None],
    days: Callable[[], ComparedDays],
    *,
    of_level: bool,
) -> tuple[list[int], tuple[ValueIncident, ...]]:
    """Open an incident for each value that none explains; the others are named beside one.

    Gives also the places of the values whose evidence is spent: all but errors that are too small.
    """
    incidents, spent = [*watch.incidents], list[int]()
    for i in alarmed:
        name = watch.past.names[i]
        held = next((k for k, each in enumerate(incidents) if each.name == name), None)
        if held is not None and not (of_level and incidents[held].kind in NOT_COMPARABLE):
            if not of_level and incidents[held].kind in KINDS:
                calm = replace(incidents[held], recovery=0.0)
                incidents[held : held + 1] = lived("found again", calm)
        elif not (begun := open_one(i)):
            continue
        elif held is not None:  # the same incident, of which more is known now
            known = replace(begun, opened=incidents[held].opened)
            incidents[held : held + 1] = lived("found", known)
        else:
            [opened] = lived("found", begun)
            may_be = (_may_be(watch.past, each, opened, days()) for each in incidents)
            _add(incidents, opened, next((k for k, it_is in enumerate(may_be) if it_is), None))
        spent.append(i)
    return spent, tuple(incidents)


def _without(sums: Singles, spent: Sequence[int]) -> Singles:
    left = np.array(sums)
    left[[*spent]] = 0.0
    return left


def _add(incidents: list[ValueIncident], opened: ValueIncident, leader: int | None) -> None:
    """Add an incident, or name its value beside the one whose rows it may share."""
    if leader is None:
        incidents.append(opened)
        return
    name, before = opened.name, incidents[leader]
    beside = dict.fromkeys([*before.beside, f"{name.column} = {name.value}"])
    incidents[leader] = replace(before, beside=tuple(beside)[:MOST_BESIDE])


def _begun(watch: ValueWatch, i: int, day: date, kind: str) -> ValueIncident:
    """Begin an incident of which nothing is measured yet."""
    name = watch.past.names[i]
    return ValueIncident(
        *(name.column, name.value, day, day, kind), *(0.0,) * 6, urgent=kind in KINDS
    )


def _since_start(days: ComparedDays, gains: Sequence[float]) -> ComparedDays:
    """Keep the days since the one from which on they gain most."""
    since = np.cumsum(gains[::-1])[::-1]
    return dict([*days.items()][int(since.argmax()) if since.size else 0 :])


def _opened(
    watch: ValueWatch, i: int, day: date, days: Callable[[], ComparedDays]
) -> ValueIncident:
    """Make the incident that an alarm opens, dated by the kind with most evidence."""
    past = watch.past
    # Before its first day a value says nothing, so its drift did not begin there.
    told_of = {of: said for of, said in days().items() if said.informations[i, :WIDTH].any()}
    kind = int((WEIGHTS * np.minimum(watch.sums[i], watch.own[i])).argmax())
    j, side = divmod(kind, 2)

    def phi(said: ComparedDay) -> float:
        return 1.0 + float(past.day_variances[i, j]) * float(said.left[i, j])

    gains = [
        float(_gains(past, said.pulls[:, :WIDTH], said.left[:, :WIDTH])[i, j, side]) / phi(said)
        for said in told_of.values()
    ]
    since = _since_start(told_of, gains)
    pulls, informations = (
        sum(float(getattr(said, name)[i, j]) / phi(said) for said in since.values())
        for name in ("pulls", "left")
    )
    return replace(
        _begun(watch, i, day, KINDS[kind]),
        started=next(iter(since), day),
        evidence=float(watch.evidence[i]),
        score=pulls,
        information=informations,
    )


def _off(
    watch: ValueWatch, i: int, day: date, days: Callable[[], ComparedDays], least: float
) -> ValueIncident | None:
    """Make the incident that an alarm of the level opens; None if the error is too small."""
    side = int(watch.levels[i].reshape(len(LEVEL_KINDS), -1).sum(axis=1).argmax())
    known = {of: said for of, said in days().items() if _moves([said], i)}
    bet = side * len(SIZES) + 1
    since = _since_start(
        known, [float(said.bets(slice(i, i + 1))[0][0, bet]) for said in known.values()]
    )
    both = [*since.values()]
    moves = _moves(both, i) if both else None
    if moves is None or min(abs(moves.shift), abs(moves.kappa)) < least:
        return None
    scores, informations = _summed(both, i)
    return replace(
        _counted(_begun(watch, i, day, LEVEL_KINDS[side]), i, both[-1]),
        started=next(iter(since)),
        evidence=float(watch.level_evidence[i]),
        score=float(scores[SHIFT]),
        information=float(informations[SHIFT]),
        share=float(sum(of.shares[i] for of in both)) / len(both),
    )


def _counted(incident: ValueIncident, i: int, today: ComparedDay) -> ValueIncident:
    """Say which share of the rows a value has, what its scores are, and what comes of them."""
    levels, moves = today.levels[i], _moves([today], i)
    return replace(
        incident,
        share=float(today.shares[i]),
        mean=float(levels[value_past.MEAN]),
        rate=float(levels[value_past.HITS] / levels[value_past.ROWS]),
        expected=float(levels[value_past.EXPECTED]),
        size=moves.shift if moves else 0.0,
        size_error=moves.shift_error if moves else 0.0,
    )


def _may_be(
    past: ValuePast, leader: ValueIncident, other: ValueIncident, days: ComparedDays
) -> bool:
    """Say whether what moved in a value may be rows that it shares with another that moved.

    Then it has no more of what moved than that one, and did not move further.
    """
    if leader.column == other.column or leader.kind != other.kind:
        return False
    j = direction_of(leader.kind) if leader.kind in KINDS else SHIFT
    since = [of for day, of in days.items() if day >= min(leader.started, other.started)]
    both = [past.names.index(incident.name) for incident in (leader, other)]
    scores, informations = (of[:, j] for of in _summed(since, both))
    if not informations.min() > 0.0:
        return False
    moved = np.abs(scores)
    further = float(np.diff(moved / informations)[0])
    error = sqrt(float((1.0 / informations).sum()))
    return bool(
        moved[1] <= moved[0] + DOUBT * sqrt(float(informations[1])) and further <= DOUBT * error
    )


def _silent_or_over(
    incident: ValueIncident, i: int, today: ComparedDay
) -> tuple[LifeEvent, ValueIncident] | None:
    """Say again why scores cannot be compared, or that they can; None if the day is small."""
    if not value_past.can_tell(today.levels[i, value_past.ROWS], today.levels[i, value_past.HITS]):
        return None
    kind = today.silence[0][i]
    if kind is None:
        return "over", incident
    again = replace(_counted(incident, i, today), kind=kind, urgent=today.collapsed(i))
    return "cannot be compared", again


def _with_silent(watch: ValueWatch, day: date, today: ComparedDay) -> ValueWatch:
    """Open incidents of values whose scores cannot be compared today."""
    incidents, names = [*watch.incidents], watch.past.names
    named, (silent, alone) = {incident.name for incident in incidents}, today.silence
    new = [
        (i, why)
        for i, why in enumerate(silent)
        if why and alone[i] and names[i] not in named and names[i].value != OTHER
    ]
    for i, why in sorted(new, key=lambda each: -today.levels[each[0], value_past.ROWS]):
        begun = _counted(_begun(watch, i, day, why), i, today)
        leaders = (k for k, each in enumerate(incidents) if _shares_rows(each, begun))
        _add(incidents, begun, next(leaders, None))
    return replace(watch, incidents=tuple(incidents))


def _shares_rows(leader: ValueIncident, other: ValueIncident) -> bool:
    """Say whether rows that cannot be compared may be those of a value with more of them."""
    alike = (leader.kind, leader.opened) == (other.kind, other.opened)
    return alike and leader.column != other.column and (leader.share or 0.0) >= (other.share or 0.0)


def _with_urgent(
    watch: ValueWatch, day: date, today: ComparedDay, days_of: ValueDays, least: float
) -> ValueWatch:
    """Call errors of the level urgent that are large and certain on two days in a row."""
    waiting = [i for i in watch.incidents if i.kind in LEVEL_KINDS and not i.urgent]
    read = days_of(day - timedelta(days=NEIGHBOURS), day - timedelta(days=1)) if waiting else {}
    if not read:
        return watch
    days = compared(watch.past, read[max(read)]), today
    urgent = {each.name for each in waiting if _is_urgent(watch.past, each, days, least)}
    found = tuple(replace(i, urgent=i.urgent or i.name in urgent) for i in watch.incidents)
    return replace(watch, incidents=found)


def _is_urgent(
    past: ValuePast, incident: ValueIncident, days: tuple[ComparedDay, ComparedDay], least: float
) -> bool:
    """Say whether an error is large and certain on each of two days, on the side it was found."""
    i = past.names.index(incident.name)
    # What is tolerated is at least so many errors of the reference.
    most = past.levels[i, value_past.TOLERANCES][:2].tolist()
    sign = SIDES[LEVEL_KINDS.index(incident.kind)]
    off = (
        moves and moves.are_off(least) and sign * moves.shift >= 0.0 and abs(moves.kappa) > most[1]
        for moves in (_moves([of], i) for of in days)
    )
    both = _moves(days, i)
    return all(off) and both is not None and is_certain(both, *(of / TOLERATED for of in most))
