"""Scores of a class that neither priors nor inputs that moved explain, over days. Pure.

A Shiryaev-Roberts e-detector, as `monitor.drift.incidents.detecting` has it, of what
`monitor.drift.classes.class_scores` bets on every class, place, side and size.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import islice
from math import exp, log, log1p
from typing import NamedTuple

import numpy as np

from monitor.drift.classes.class_scores import (
    ADJUSTED,
    ALL,
    BELOW,
    NEW,
    PLACES,
    SIDES,
    SIZES,
    ClassScores,
    gains_of_adjusted,
    gains_of_day,
    levels_of_day,
    new_scores,
    stacked,
    usual_variances,
)
from monitor.drift.curve.variance import WEEK
from monitor.drift.evidence.directions import bounded, bounded_ratio
from monitor.drift.evidence.history import week_of, weeks_of, with_week
from monitor.drift.incidents.broken import LIKELY, begun_break, with_rows
from monitor.drift.incidents.level_watch import (
    NEAR,
    WEEKS_LEFT_OUT,
    Moves,
    is_certain,
    is_unusual,
    paged_later,
    ratio_of,
)
from monitor.drift.records.detector import (
    CLASS_PLACE,
    LEVEL_KINDS,
    LEVEL_SUMS,
    Incident,
    LevelWatch,
    over_on,
)
from monitor.drift.records.life import LIFE, weighed_incident
from monitor.drift.records.region_state import Family
from monitor.metrics.core.coarse import COARSE_COUNT, Coarse, sum_of
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.samples import Bools
from monitor.metrics.logistic.level import fit_level

STILL = 0.8  # of what an open incident has measured: weighed against NEAR of it, as if it was over
ALIKE = 0.5  # of the error at one place: as much elsewhere, and it is one of all scores
FAR = 2.0  # times the least error of the level that is urgent, of a break among known scores
OFF, AS_BEFORE, BESIDE = log(50.0), 2.0, 0.05  # nats of a class that is off too; of all others
MOST = 2.7  # log10 of what a day says at most: two of them suffice with 50 classes, none alone
WEEKS_BACK = 8  # that say how far classes move by themselves
MEASURED = 14  # days after the opening on which an error of the level is measured again
Rest = Mapping[str, Coarse]  # each class against the rest
DaysBack = Callable[[], Iterable[tuple[date, Rest]]]  # the newest first


class _Again(NamedTuple):
    """What an open incident is measured with: see `decide_classes`."""

    back: DaysBack
    least_to_page: float
    usual: Floats


class Found(NamedTuple):
    """What stands out: numbers of its side, class and place, and the days since it began.

    `scores` are those of the reading in which it does, `other` is the one class beside it that is
    off, if there is one.
    """

    scores: ClassScores
    other: str | None
    side: int
    of: int
    place: int
    days: Sequence[tuple[date, Rest]]
    low: date
    high: date


def advance_classes(watch: LevelWatch, reference: ClassScores, day: date, rest: Rest) -> LevelWatch:
    """Weigh a day, and accumulate it; the incident is not brought up to date yet.

    While an incident is open nothing accumulates, and a day that says nothing begins nothing.
    """
    if watch.incident:
        return replace(watch, counted=watch.counted + 1)
    gains = _gains(reference, rest, _usual(watch, reference, day)).ravel()
    before = watch.sums if watch.sums.size == gains.size else np.zeros(gains.size)
    sums = (before + (gains != 0.0)) * bounded_ratio(gains, MOST)
    counted = replace(watch, sums=sums, counted=watch.counted + 1)
    if reference.places != ALL:  # what weeks move by at other places says nothing of these
        return counted
    levels = np.concatenate([levels_of_day(of, rest) for of in reference.readings])
    return _with_levels(counted, day, levels)


def _gains(reference: ClassScores, rest: Rest, usual: Floats) -> Floats:
    """Weigh a day, of each class the scores as logged and then the adjusted ones."""
    gains = gains_of_day(reference, rest, usual[:, : len(reference.names)])
    if reference.adjusted is None:
        return gains
    adjusted = gains_of_adjusted(reference.adjusted, rest, usual[:, len(reference.names) :])
    return np.concatenate([gains, adjusted], axis=1)


def _with_levels(watch: LevelWatch, day: date, levels: Floats) -> LevelWatch:
    """Add a day to its week, and forget weeks that are long past."""
    if watch.levels.size != watch.days.size * levels.size:  # of other classes
        watch = replace(watch, days=watch.days[:0], levels=watch.levels[:0])
    number, numbers = week_of(day), weeks_of(watch.days)
    kept = numbers > number - WEEKS_BACK
    days = watch.days[kept] if number in numbers else np.append(watch.days[kept], day.toordinal())
    weeks = watch.levels.reshape(watch.days.size, *levels.shape)[kept].astype(np.float64)
    _, weeks = with_week(numbers[kept], weeks, number, levels)
    rows = weeks.reshape(-1, LEVEL_SUMS).astype(np.float32)
    return replace(watch, days=days, levels=rows)


def _usual(watch: LevelWatch, reference: ClassScores, day: date) -> Floats:
    """Give how far classes move by themselves; the own week and the one before do not say that.

    A break must not teach that breaks are usual before it is found.
    """
    readings = reference.readings
    shape = sum(len(of.names) for of in readings), PLACES, LEVEL_SUMS
    past = weeks_of(watch.days) <= week_of(day) - WEEKS_LEFT_OUT
    if watch.levels.size != watch.days.size * np.prod(shape):  # of other classes
        past = past[:0]
    weeks = watch.levels[: past.size * shape[0] * PLACES].reshape(past.size, *shape)[past]
    parts = np.split(
        weeks.astype(np.float64), np.cumsum([len(of.names) for of in readings])[:-1], 1
    )
    of_each = (usual_variances(*each) for each in zip(readings, parts, strict=True))
    return np.concatenate([*of_each], axis=1)


def decide_classes(
    watch: LevelWatch,
    reference: ClassScores,
    today: tuple[date, Rest],
    *,
    enough: float,
    least: tuple[float, float],
    back: DaysBack,
) -> LevelWatch:
    """Open, carry on or close the incident of a watch that has accumulated the day.

    Parameters
    ----------
    watch : LevelWatch
        After `advance_classes`.
    reference : ClassScores
        Of the model.
    today : tuple of date and mapping of str to Coarse
        The day, and on it each class against the rest.
    enough : float
        The evidence at which it alerts, log10.
    least : tuple of float
        The least error of the level that is worth a ticket, and that is urgent, in logit.
    back : function
        Gives the days up to this one once more, the newest first.

    Notes
    -----
    What stands out is the class, place and side with the largest gain since any day. It is an error
    of the level of the class where its outcomes are off elsewhere too, by half as much at least,
    and the base rate of the class explains less than half of it; else a break at that place. It is
    urgent by the rule of `monitor.drift.incidents.level_watch`: once both changes exceed the second
    of `least` on each of two days in a row, on the same side, and 2.5 times what they move by
    themselves. Those of the level are also five standard errors over both days; those among scores
    that the reference has exceed it twice, because less may be inputs and priors that moved
    against each other.
    """
    again = _Again(back, least[1], _usual(watch, reference, today[0]))
    if watch.incident:
        return _carried_on(watch, watch.incident, reference, today, again)
    if watch.evidence < enough:
        return watch
    days = [*back()]
    if not days:
        return watch
    found = _found(reference, days, again.usual)
    incident = _begun(watch, found)
    levels = _levels(reference, found, least[0])
    if levels:  # a class that is off puts the others off too, by less and to the other side
        name = max(levels, key=lambda name: abs(levels[name].shift))
        incident = _with_level(replace(incident, of_class=name, other_class=None), levels[name])
    else:
        incident = _with_place(incident, reference, found)
    opened = replace(incident, urgent=_is_urgent(incident, reference, days, again))
    return replace(_without_sums(watch, opened, incident.started), ended=watch.ended)


def _without_sums(watch: LevelWatch, incident: Incident | None, before: date) -> LevelWatch:
    """Begin to accumulate again; the weeks that began before a day go on to say what is usual."""
    kept = weeks_of(watch.days) < week_of(before)
    rows = np.repeat(kept, len(watch.levels) // max(1, kept.size))
    return LevelWatch(
        watch.sums * 0.0, days=watch.days[kept], levels=watch.levels[rows], incident=incident
    )


def _is_urgent(
    incident: Incident, reference: ClassScores, days: Iterable[tuple[date, Rest]], again: _Again
) -> bool:
    """Say whether the newest two days are off by enough to page, each of them."""
    (reference, name), place = _measured_by(incident, reference), incident.place
    newest = [(day, rest[name]) for day, rest in islice(days, 2) if name in rest]
    if place and place.family in ("beyond", "value"):
        return abs(incident.size) >= again.least_to_page
    if len(newest) < 2 or newest[0][0] - newest[1][0] > timedelta(days=WEEK):  # noqa: PLR2004
        return False
    of, parts = reference.names.index(name), [part for _, part in newest]
    if place is None:
        each = [moves_of_class(reference, name, part) for part in parts]
        far = all(moves.are_off(again.least_to_page) for moves in each)
        far = far and is_certain(moves_of_class(reference, name, sum_of(parts)))
        usual = slice(BELOW, PLACES)
    else:
        cells = slice(place.first_cell, place.end_cell)
        each = [_moves_at(reference, of, part, cells) for part in parts]
        far = all(min(map(abs, m[::2])) >= FAR * again.least_to_page for m in each)
        usual = slice(BELOW)
    if name == incident.of_class:
        most = _by_itself(again.usual, of, usual)
    else:  # of adjusted scores the rows say all
        most = _by_itself(again.usual[[1, 1]], len(reference.names) + of, usual)
    sides = {np.sign(value) for moves in each for value in moves[::2]}
    return far and sides == {np.sign(incident.size)} and all(is_unusual(m, most) for m in each)


def _measured_by(incident: Incident, reference: ClassScores) -> tuple[ClassScores, str]:
    """Give the scores that an incident is measured by, and the name that the class has there."""
    if reference.adjusted and incident.place and incident.place.family == "adjusted":
        return reference.adjusted, ADJUSTED + incident.of_class
    return reference, incident.of_class


def _by_itself(usual: Floats, of: int, places: slice) -> Floats:
    """Give the variances of a class at its places, shape (2,): of its rows first."""
    return np.asarray(usual[::-1, of, places].max(axis=1))


def _moves_at(reference: ClassScores, of: int, rows: Coarse, cells: slice) -> Moves:
    """Measure how far rows at some scores, and the share of the outcomes there, are off.

    Of adjusted scores the rows say all.
    """
    off, hits = _off_at(reference.curves[1, of], rows, cells), int(rows.positives[cells].sum())
    error = (1.0 / (hits + 0.5)) ** 0.5
    if reference.names[of].startswith(ADJUSTED):
        return Moves(off, error, off, error)
    shares = [_log_odds_within(part, cells) for part in (reference.rows_of(of), rows)]
    return Moves(off, error, shares[1] - shares[0], error)


def _found(reference: ClassScores, days: Sequence[tuple[date, Rest]], usual: Floats) -> Found:
    """Find what explains most since any day, and when that began."""
    classes, readings = len(reference.names), reference.readings
    shape = len(SIDES), classes * len(readings), PLACES + 1, SIZES.size
    sums = np.cumsum([_gains(reference, rest, usual).ravel() for _, rest in days], axis=0)
    best = int(sums.max(axis=0).argmax())
    gained = sums[:, best]
    first, likely = int(gained.argmax()), np.flatnonzero(gained >= gained.max() - LIKELY)
    side, of, place, _ = (int(number) for number in np.unravel_index(best, shape))
    low, high = days[int(likely[-1])][0], days[int(likely[0])][0]
    scores, of = readings[of // classes], of % classes
    other = _other(reference, sums[first].reshape(shape), of)
    return Found(scores, other, side, of, place, days[: first + 1], low, high)


def _other(reference: ClassScores, gains: Floats, of: int) -> str | None:
    """Find the one class beside the first that is off, where all others are as before.

    Where a class is left out all others are off; of two that changed places, only these.
    """
    of_classes = gains.max(axis=(0, 2, 3)).reshape(-1, len(reference.names)).max(axis=0)
    second, *rest = sorted((float(gain), k) for k, gain in enumerate(of_classes) if k != of)[::-1]
    stands_out = rest and second[0] > OFF and rest[0][0] < max(AS_BEFORE, BESIDE * second[0])
    return reference.names[second[1]] if stands_out else None


def _rows(found: Found, name: str) -> Coarse:
    """Add up what the days since it began have of a class."""
    return sum_of([rest[name] for _, rest in found.days if name in rest])


def _begun(watch: LevelWatch, found: Found) -> Incident:
    return Incident(
        opened=found.days[0][0],
        started=found.days[-1][0],
        start_low=found.low,
        start_high=found.high,
        kind=LEVEL_KINDS[found.side],
        evidence=watch.evidence,
        urgent=False,
        of_class=found.scores.names[found.of].removeprefix(ADJUSTED),
        other_class=found.other,
    )


def _levels(reference: ClassScores, found: Found, least: float) -> dict[str, Moves]:
    """Measure the levels that are off since it began; of no class if only one place is off."""
    if found.place in (BELOW, NEW) or found.scores is not reference:
        return {}
    of, rows = found.of, _rows(found, reference.names[found.of])
    here = slice(int(reference.starts[of, found.place]), int(reference.ends[of, found.place]))
    inside = np.zeros(COARSE_COUNT, np.bool_)
    inside[here] = True
    curve, sign = reference.curves[1, of], SIDES[found.side]
    there, elsewhere = (
        sign * fit_level(curve, Coarse(rows.counts * cells, rows.positives * cells)).delta
        for cells in (inside, ~inside)
    )
    if not elsewhere >= ALIKE * there:  # nan without outcomes of both kinds
        return {}
    levels = {name: moves_of_class(reference, name, _rows(found, name)) for name in reference.names}
    return {
        name: moves for name, moves in levels.items() if moves.are_off(least) and is_certain(moves)
    }


def moves_of_class(reference: ClassScores, name: str, rows: Coarse) -> Moves:
    """Measure how far the level of a class is off its curve, and what its base rate leaves of that.

    Parameters
    ----------
    reference : ClassScores
        Of the model.
    name : str
        The class.
    rows : Coarse
        Of the class against the rest, over some days.
    """
    of = reference.names.index(name)
    ends = [fit_level(reference.curves[1, of], part) for part in (reference.rows_of(of), rows)]
    shift = ends[1].delta - ends[0].delta
    kappa = shift - (ends[1].log_odds - ends[0].log_odds)
    return Moves(
        shift,
        sum(end.delta_variance for end in ends) ** 0.5,
        kappa,
        sum(end.difference_variance for end in ends) ** 0.5,
    )


def _with_level(incident: Incident, moves: Moves) -> Incident:
    return replace(
        incident,
        kind=LEVEL_KINDS[int(moves.shift > 0.0)],
        size=moves.shift,
        size_error=moves.shift_error,
        unexplained=moves.kappa,
    )


def _with_place(incident: Incident, logged: ClassScores, found: Found) -> Incident:
    """Say at which scores the outcomes are, and by how much they are off."""
    (cells, family), reference = _cells(logged, found), logged
    if family == "adjusted":
        reference = found.scores
    name = reference.names[found.of]
    rows = _rows(found, name)
    place = with_rows(begun_break(family, cells, reference.rows_of(found.of)), {name: rows})
    moves = _moves_at(reference, found.of, rows, cells)
    return replace(
        incident,
        other_class=None if family == "value" else incident.other_class,
        kind=CLASS_PLACE,
        place=place,
        size=moves.shift,
        size_error=moves.shift_error,
        unexplained=moves.kappa,
    )


def _cells(logged: ClassScores, found: Found) -> tuple[slice, Family]:
    """Give the cells of what was found; one value that is new there, if it has most of the rows.

    What is new is a value as logged, if there is one.
    """
    of, newest, here = found.of, found.days[0][1], slice(0, COARSE_COUNT)
    if found.place != NEW:
        starts, ends = found.scores.starts[of, found.place], found.scores.ends[of, found.place]
        here = slice(int(starts), int(ends))
    new = np.flatnonzero(_new(logged, newest)[of])
    new = new[(new >= here.start) & (new < here.stop)]
    (rows,), (hits,) = stacked([logged.names[of]], newest)
    if logged.highest and (0 in new if found.place == NEW else here.start == 0):
        most = found.place == NEW or hits[0] >= ALIKE * hits[here].sum()
        return slice(0, 1 if most else here.stop), "unlogged"
    if new.size:
        value = int(new[rows[new].argmax()])
        if found.place == NEW or rows[value] >= ALIKE * rows[here].sum():
            return slice(value, value + 1), "value"
    if found.scores is logged:
        return here, "beyond" if found.place == BELOW else "region"
    new = np.flatnonzero(_new(found.scores, newest)[of])
    if found.place == NEW and new.size:
        here = slice(int(new[0]), int(new[-1]) + 1)
    return here, "adjusted"


def _new(reference: ClassScores, rest: Rest) -> Bools:
    """Say which scores are new on a day, by the rows of other classes."""
    counts, positives = stacked(reference.names, rest)
    return new_scores(reference.counts - reference.positives, counts - positives)


def _off_at(curve: Floats, rows: Coarse, cells: slice) -> float:
    """Give how far the log-odds of the rows in some cells are off the curve, half a row apart."""
    counts, hits = rows.counts[cells], float(rows.positives[cells].sum())
    total = float(counts.sum())
    usual = float((counts / (1.0 + np.exp(-curve[cells]))).sum())
    return log((hits + 0.5) / (total - hits + 0.5)) - log((usual + 0.5) / (total - usual + 0.5))


def _log_odds_within(part: Coarse, cells: slice) -> float:
    """Give the log-odds of the share of the outcomes that is in some cells, half a row apart."""
    there, total = int(part.positives[cells].sum()), int(part.positives.sum())
    return log((there + 0.5) / (total - there + 0.5))


def _carried_on(
    watch: LevelWatch,
    incident: Incident,
    reference: ClassScores,
    today: tuple[date, Rest],
    again: _Again,
) -> LevelWatch:
    own, name = _measured_by(incident, reference)
    day, part = today[0], today[1].get(name)
    if part is None or name not in own.names:
        return watch
    gone = _gone(incident, (own, name), part, again.usual)
    event, now = weighed_incident(incident, day, float(bounded(np.array(gone / log(10.0)))), day)
    if LIFE[event].ends:
        return replace(_without_sums(watch, None, incident.started), ended=over_on(watch, day))
    if LIFE[event].named:
        now = _measured(now, reference, part, day, again)
        urgent = now.urgent or _is_urgent(now, reference, again.back(), again)
        now = replace(now, urgent=urgent)
    return replace(watch, incident=paged_later(incident, now, day, incident.evidence))


def _measured(
    incident: Incident,
    reference: ClassScores,
    part: Coarse,
    day: date,
    again: _Again,
) -> Incident:
    """Add the day to what was measured since it began."""
    young, place = (day - incident.opened).days <= MEASURED, incident.place
    days = [rest for of, rest in again.back() if of >= incident.started] if young else []
    if days and place and place.family != "value" and not incident.other_class:
        gains = np.sum([_gains(reference, rest, again.usual) for rest in days], axis=0)
        other = _other(reference, gains, reference.names.index(incident.of_class))
        incident = replace(incident, other_class=other)
    if place:
        return replace(incident, place=with_rows(place, {incident.of_class: part}))
    if not days:
        return incident
    since = [rest[incident.of_class] for rest in days if incident.of_class in rest]
    moves = moves_of_class(reference, incident.of_class, sum_of(since))
    return _with_level(incident, moves)


def _gone(incident: Incident, by: tuple[ClassScores, str], part: Coarse, usual: Floats) -> float:
    """Weigh of a day that it is over against that it is still there, in nats.

    It is over where the outcomes fit the curve again, or where they do given their number.
    """
    (reference, name), unexplained = by, incident.unexplained or 0.0
    of = reference.names.index(name)
    curve = reference.curves[1, of]
    if incident.place is None:
        moves = moves_of_class(reference, incident.of_class, part)
        by_itself = _by_itself(usual, of, slice(BELOW, PLACES))
        pairs = (
            (moves.shift, moves.shift_error**2 + by_itself[0], incident.size),
            (moves.kappa, moves.kappa_error**2 + by_itself[1], unexplained),
        )
        return max(
            -float(ratio_of(np.array(value), variance, NEAR * far, np.array(STILL * far)))
            for value, variance, far in pairs
            if variance == variance  # noqa: PLR0124 nan of a day without both outcomes
        )
    cells = slice(incident.place.first_cell, incident.place.end_cell)
    hits, total = int(part.positives[cells].sum()), int(part.positives.sum())
    share = _log_odds_within(reference.rows_of(of), cells)
    of_outcomes = _kept(hits, total, share, unexplained)
    counts = part.counts[cells]
    near, far = (curve[cells] + of * incident.size for of in (NEAR, STILL))
    of_rows = (
        float((counts * (np.logaddexp(0.0, far) - np.logaddexp(0.0, near))).sum())
        - hits * (STILL - NEAR) * incident.size
    )
    return of_rows if incident.place.family == "adjusted" else max(of_outcomes, of_rows)


def _kept(hits: int, total: int, share: float, change: float) -> float:
    """Weigh a share of the outcomes near the usual one against the changed one, in nats."""
    near, far = share + NEAR * change, share + STILL * change
    return total * (log1p(exp(far)) - log1p(exp(near))) - hits * (far - near)
