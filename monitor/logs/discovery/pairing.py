"""Which logs belong together, and what their rows say of every role: the best configuration."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from monitor.logs.discovery.gathering import of_question
from monitor.logs.discovery.roles import arrivals, rules
from monitor.logs.discovery.roles.arrivals import MET, Arrived, Meaning
from monitor.logs.discovery.roles.classes import Labels, class_columns, labels_in, name_classes
from monitor.logs.discovery.roles.evidence import Choice, Rows, best_reading, choose, with_unread
from monitor.logs.discovery.roles.keys import LEAST_UNIQUENESS, UNIQUE, Key, find_key
from monitor.logs.discovery.roles.rules import CENSORED, CLEAR, DURATION, UNREAD, WEIGHT, Candidate
from monitor.logs.discovery.samples.profile import Column
from monitor.logs.discovery.samples.reading import PARTITION, Log, ask, read
from monitor.logs.discovery.subsets import (
    EntityColumn,
    about_scale,
    entity_column,
    live,
    newest_version,
    version_of_rows,
)
from monitor.logs.engines.conversions import quoted
from monitor.logs.engines.session import Session
from monitor.words.plausibility import Remark, about_times

OFFSETS = range(-12, 15)  # hours of time zones from UTC
HOURS_A_DAY = 24
OF_LABEL = "probability_of_label"


@dataclass(frozen=True)
class Weight:
    """A column of `predictions` or `outcomes` with weights, and whether a class has only one."""

    section: str
    column: Column
    constant: bool


@dataclass(frozen=True)
class Pair:
    """The logs of one model, and what their rows show.

    Attributes
    ----------
    scored, observed : Log or None
        Predictions and outcomes; the same log if outcomes are a column of the predictions. None
        where none was found, or they could not be joined.
    choice : Choice
        Columns that may be the score and the outcome, the best first.
    key : Key or None
        Joins the logs; None in one log.
    arrived : Arrived or None
        When outcomes come; None if that could not be measured.
    times : tuple of (Candidate, Candidate), or None
        Columns with the times of both logs.
    weight : Weight or None
        A column with weights of the rows.
    delivered_twice : bool
        Whether ids repeat, each with the same score and time.
    ahead : int or None
        Hours by which the days of the predictions are ahead of those of UTC; None if they need not
        be, or the times do not say it.
    entity : EntityColumn or None
        A column of ids that come again on other days.
    doubts : tuple of str
        What a person should look at, a sentence each.
    classes : mapping of str to object, or None
        What `predictions.classes` is to say, if the model has several.
    outcome : str or dict, or None
        How the configuration names what says which class came true.
    undated : tuple of int
        How many sampled outcomes of 0 are not known yet, because their time is null, and because it
        is impossible; empty if times do not say so.
    """

    scored: Log | None
    observed: Log | None
    choice: Choice
    key: Key | None = None
    arrived: Arrived | None = None
    times: tuple[Candidate, Candidate] | None = None
    weight: Weight | None = None
    delivered_twice: bool = False
    ahead: int | None = None
    entity: EntityColumn | None = None
    doubts: tuple[str, ...] = ()
    classes: Mapping[str, Any] | None = None
    outcome: str | dict[str, str] | None = None
    undated: tuple[int, ...] = ()

    @property
    def together(self) -> bool:
        """Whether the outcomes lie beside the scores."""
        return self.observed is self.scored


def is_dated(log: Log) -> bool:
    """Tell whether the path or a column dates the rows of a log."""
    return bool(log.days or rules.times(log.columns))


def pair_logs(
    session: Session, logs: Sequence[Log], on_progress: Callable[[str], None]
) -> list[Pair]:
    """Find the logs of every model, those with the clearest scores first."""
    logs = [live(session, log) for log in logs if is_dated(log)]
    pairs, used = list[Pair](), set[str]()
    scored = [log for log in logs if _has_score(log)]
    clear = {log.place: _points(log) for log in scored}
    for log in sorted(scored, key=lambda log: -clear[log.place]):
        if log.place in used:
            continue
        on_progress(f"looking for the outcomes of {log.place}")
        asked = [o if o is log else of_question(session, o, log.question) for o in logs]
        found = _of_classes(session, log, asked) or _of_scores(
            session, log, [other for other in asked if other is not log]
        )
        if found and found.observed and found.scored:
            pairs.append(replace(found, ahead=_ahead(session, found.scored)))
            used.add(found.observed.place)
    return pairs


def _dating(log: Log) -> Candidate | None:
    """Choose the column that dates the rows of a log, if its path does not."""
    return None if log.days else next(iter(rules.times(log.columns)), None)


def _has_score(log: Log) -> bool:
    return bool(rules.scores(log.columns) or rules.candidates(UNREAD, log.columns))


def _points(log: Log) -> float:
    return next((score.points for score in rules.scores(log.columns)), 0.0)


def _of_scores(session: Session, log: Log, others: Sequence[Log]) -> Pair | None:
    """Take the log of outcomes that shares most ids with the predictions, or none but their own."""
    keyed = [
        (other, key)
        for other in others
        if rules.outcomes(other.columns) and (key := find_key(session, log, other))
    ]
    worth = lambda m: (round(m[1].share * m[1].uniqueness, 1), _nearness(log, m[0]))  # noqa: E731
    other, key = max(keyed, key=worth, default=(None, None))
    if other and key and key.uniqueness < UNIQUE:
        names = [c.name for c in other.columns]
        if version := newest_version(session, log, key.names, names):
            log, key = version, find_key(session, version, other)
    joins = other and key and key.uniqueness >= LEAST_UNIQUENESS
    pair = _joined(session, log, other, key) if joins and other and key else _in_one(session, log)
    if pair is None or pair.scored is None:
        return None
    log, best = pair.scored, pair.choice.scores[0]
    dating = _dating(log)
    day = f"({rules.moment(dating)})::DATE" if dating else quoted(PARTITION)
    doubts = [*log.doubts, *about_scale(session, log, best), *pair.choice.doubts]
    return replace(
        pair,
        doubts=(*doubts, *_about_names(pair)),
        entity=entity_column(session, log, day),
    )


def _nearness(log: Log, other: Log) -> int:
    """Return how many folders two logs share."""
    both = zip(log.place.split("/"), other.place.split("/"), strict=False)
    return next((depth for depth, (a, b) in enumerate(both) if a != b), 0)


def _with_span(session: Session, log: Log) -> Log:
    """Find the first and the last day of a log whose path names none."""
    dating = _dating(log)
    rows = read(session, log, None, [dating.name]) if dating else None
    if dating is None or rows is None:
        return log
    day = f"({rules.moment(dating)})::TIMESTAMP::DATE"
    ((first, last),) = rows.aggregate(f"min({day}), max({day})").fetchall()
    return replace(log, span=(first, last) if first else None)


def _joined(session: Session, scored: Log, observed: Log, key: Key) -> Pair | None:
    taken = [column.name for column in key.observed]
    outcomes = rules.outcomes([c for c in observed.columns if c.name not in taken])
    times = _times(scored, observed)
    meaning = _meaning(scored, observed, times, {c.name: rules.is_one(c) for c in outcomes})
    scored, observed = _with_span(session, scored), _with_span(session, observed)
    asked, looked = arrivals.look_up(session, scored, observed, key, meaning)
    choice = _chosen(session, scored, key.names, outcomes)
    if not choice.scores:
        return None
    best, outcome = choice.scores[0], choice.outcomes[0]
    arrivals.take_outcome(session, [c.name for c in outcomes].index(outcome.name))
    arrived = arrivals.count(session, len(scored.sampled), asked=asked, looked=looked)
    if times:
        odd = [
            *_about_times(session, scored, "predictions.time", times[0]),
            *_about_times(session, observed, "outcomes.time", times[1]),
        ]
        choice = replace(choice, remarks=[*choice.remarks, *odd])
    weight = _weight(session, observed, "outcomes", observed.table, rules.is_one(outcome))
    if arrived.found:
        weight = _weight(session, scored, "predictions", MET, "cm_is_one") or weight
    columns = [*key.names, best.name, *(t.name for t in (times or ())[:1])]
    of = [f"count(DISTINCT ({', '.join(map(quoted, names))}))" for names in (columns, key.names)]
    rows, ids = ask(session, f"SELECT {', '.join(of)} FROM {scored.table}")
    twice = key.uniqueness < 1 and rows == ids
    return Pair(scored, observed, choice, key, arrived, times, weight, twice)


def _meaning(
    scored: Log,
    observed: Log,
    times: tuple[Candidate, Candidate] | None,
    are_one: Mapping[str, str],
) -> Meaning:
    return Meaning(
        are_one=are_one,
        scored_on=_dating(scored),
        observed_on=_dating(observed),
        scored_at=times[0] if times else None,
        observed_at=time_of_outcomes(observed, times),
    )


def time_of_outcomes(observed: Log, times: tuple[Candidate, Candidate] | None) -> Candidate | None:
    """Choose the time by which one outcome is later than another of the same prediction."""
    if times:
        return times[1]
    return next((t for t in _own_times(observed) if t.column.kind != "date"), None)


def _own_times(log: Log) -> list[Candidate]:
    """List the columns that may be the time of a row and do not only repeat the path."""
    own = [t for t in rules.times(log.columns) if f"{t.name}={{day" not in log.place]
    return [t for t in own if not t.column.form]


def _in_one(session: Session, log: Log) -> Pair | None:
    """Take outcomes from the predictions, unless the column is a decision made from the score."""
    candidates = rules.outcomes_beside(log.columns)
    clear = [c for c in candidates if c.points >= CLEAR]
    outcomes = clear or candidates
    if not outcomes:
        return None
    log = _with_span(session, version_of_rows(session, log))
    meaning = Meaning({c.name: rules.is_one(c) for c in outcomes})
    arrivals.keep_own(session, log, meaning)
    choice = _chosen(session, log, [], outcomes)
    decided = any(remark.key == "outcomes.outcome" for remark in choice.remarks)
    if not choice.scores or decided or not (clear or choice.predicts):
        return None
    outcome = choice.outcomes[0]
    arrivals.take_outcome(session, [c.name for c in outcomes].index(outcome.name))
    known, times, undated = _unknown_by(session, log, outcome)
    session.connection.execute(f"DELETE FROM {MET} WHERE ({known}) IS NULL")
    used = [outcome, *filter(None, [_dating(log)]), *(times or ())[1:]]
    names = [*dict.fromkeys(c.name for c in used)]
    arrived = arrivals.fill(session, log, known, _dating(log), names)
    times = times or _times_beside(log, outcome)
    arrived = arrivals.with_early(session, arrived, times) if times else arrived
    weight = _weight(session, log, "predictions", MET, "cm_is_one")
    return Pair(log, log, choice, None, arrived, times, weight, undated=undated)


def _unknown_by(
    session: Session, log: Log, outcome: Candidate
) -> tuple[str, tuple[Candidate, Candidate] | None, tuple[int, ...]]:
    """Find a time without which an outcome of 0 is not known yet: it is null, or impossible.

    If all outcomes of 0 lack the time, it is that of the positive ones.

    Returns
    -------
    str, tuple of (Candidate, Candidate) or None, and tuple of int
        SQL of the outcome; the times of the prediction and of the outcome; and how many are unknown
        because the time is null, and because it is impossible.
    """
    one, columns = rules.is_one(outcome), rules.times(log.columns)
    ours = [t for t in columns if not t.column.nulls]
    for theirs in columns:
        pairs = [(t, theirs) for t in ours if t != theirs and rules.comparable(t, theirs)]
        zero = f"({one}) = false"
        missing, impossible = f"{rules.moment(theirs)} IS NULL", rules.is_impossible(theirs)
        neither = f"({missing} OR {impossible})"
        counts = (
            f"{zero} AND {missing}",
            f"{zero} AND {impossible}",
            f"{zero} AND NOT {neither}",
            f"NOT ({zero}) AND {neither}",
        )
        asked = ", ".join(f"count_if({which})" for which in counts)
        no_time, odd, observed, positive = ask(session, f"SELECT {asked} FROM {MET}")
        if pairs and (no_time or odd) and observed and not positive:
            known = f"CASE WHEN NOT coalesce({zero} AND {neither}, false) THEN {one} END"
            return known, pairs[0], (no_time, odd)
    return one, None, ()


def _of_classes(session: Session, log: Log, logs: Sequence[Log]) -> Pair | None:
    """Pair a log whose columns are the probabilities of classes with what says which came true."""
    parts = class_columns(session, log)
    # The choice beside the probabilities of an answer is made from them.
    for observed in (o for o in logs if parts and not (log.question and o is log)):
        together = observed is log
        choices = [*labels_in(session, observed, len(parts), parts if together else ())]
        key = find_key(session, log, observed) if choices and not together else None
        if not choices or (not together and (key is None or key.uniqueness < LEAST_UNIQUENESS)):
            continue
        if pair := _with_classes(session, (log, observed, key), parts, choices):
            return pair
    return None


def _with_classes(
    session: Session,
    logs: tuple[Log, Log, Key | None],
    parts: Sequence[Column],
    choices: Sequence[Labels],
) -> Pair | None:
    scored, observed, key = logs
    are_one = {f"{n} {v}": sql for n, of in enumerate(choices) for v, sql in of.are_one.items()}
    times = _times(scored, observed) if key else None
    asked, looked = 0, 0
    if key:
        meaning = _meaning(scored, observed, times, are_one)
        asked, looked = arrivals.look_up(session, scored, observed, key, meaning)
    else:
        arrivals.keep_own(session, scored, Meaning(are_one))
    found = name_classes(session, scored, parts, choices)
    if found is None:
        return None
    scored = _with_span(session, scored)
    first = sum(len(of.are_one) for of in choices[: choices.index(found.labels)])
    arrivals.take_outcome(session, first)
    observed = _with_span(session, observed) if key else scored
    ones = found.labels.are_one
    if key:
        places = {name: first + n for n, name in enumerate(ones)}
        days = len(scored.sampled)
        arrived = arrivals.count(session, days, asked=asked, looked=looked, classes=places)
    else:
        known = f"CASE WHEN {' OR '.join(ones.values())} THEN {next(iter(ones.values()))} END"
        names = [c.name for c in scored.columns]
        arrived = arrivals.fill(session, scored, known, _dating(scored), names)
    best = Candidate(parts[0], CLEAR, "the probability of a class")
    return Pair(
        *(scored, observed, Choice([best], []), key, arrived, times),
        doubts=(*scored.doubts, *found.doubts),
        classes=found.setting,
        outcome=found.labels.outcome,
    )


def _chosen(
    session: Session, log: Log, taken: Sequence[str], outcomes: Sequence[Candidate]
) -> Choice:
    """Choose score and outcome by the matched rows."""
    names = [c.name for c in outcomes]
    own = {*taken, *(() if taken else names)}
    free = [c for c in log.columns if c.name not in own]
    scores = [
        _of_label(session, log, c, names) for c in rules.candidates(rules.SCORE, free, weak=True)
    ]
    probabilities, ones = arrivals.matched(
        session, {c.name: rules.probability(c) for c in scores}, names
    )
    chosen = choose(scores, outcomes, probabilities, ones)
    readable = {c.name for c in scores}
    unread = rules.candidates(UNREAD, [c for c in free if c.name not in readable])
    orders, same_ones = arrivals.matched(
        session, {c.name: rules.order_of(c.column) for c in unread}, names
    )
    return with_unread(chosen, unread, orders, Rows(probabilities, ones or same_ones, {}))


def _of_label(session: Session, log: Log, score: Candidate, outcomes: Sequence[str]) -> Candidate:
    """Take a score for the probability of a label beside it, if it predicts better so."""
    readings = [score, *_labelled(score, log, outcomes)]
    if len(readings) == 1:
        return score
    by_reading = {f"{number}": rules.probability(each) for number, each in enumerate(readings)}
    number = best_reading(*arrivals.matched(session, by_reading, outcomes))
    return readings[int(number)] if number else score


def _labelled(score: Candidate, log: Log, outcomes: Sequence[str]) -> Iterator[Candidate]:
    """Read a score as the probability of each label beside it, whichever of its words means 1."""
    for label in rules.labels_beside(score.column, log.columns):
        if score.settings or label.name in outcomes:
            continue
        settings = {"score_means": OF_LABEL, "predicted_label": label.name}
        a, b = sorted(label.values)
        both: list[tuple[object, object]] = [(b, a), (a, b)]
        if label.kind == "boolean" or {a, b} <= {"0", "1", "0.0", "1.0"}:
            both = []
        elif label.is_number:
            both = [(int(float(one)), int(float(zero))) for one, zero in ((b, a), (a, b))]
        said = [{"label_means": {"positive": [one], "negative": [zero]}} for one, zero in both]
        for means in said or [{}]:
            yield score.because(f"the probability of `{label.name}`", {**settings, **means})


def _weight(session: Session, log: Log, section: str, table: str, is_one: str) -> Weight | None:
    """Find weights, and see whether all rows of an outcome have the same."""
    for column in (candidate.column for candidate in rules.candidates(WEIGHT, log.columns)):
        values = f"SELECT count(DISTINCT {quoted(column.name)}) AS n FROM {table}"
        (most,) = ask(
            session, f"SELECT max(n) FROM ({values} WHERE {is_one} IS NOT NULL GROUP BY {is_one})"
        )
        return Weight(section, column, constant=most == 1)
    return None


def _times(scored: Log, observed: Log) -> tuple[Candidate, Candidate] | None:
    """Choose the times of both logs, if both have one of the same kind."""
    ours, theirs = _own_times(scored)[:3], _own_times(observed)[:3]
    return next(((a, b) for a in ours for b in theirs if rules.comparable(a, b)), None)


def _times_beside(log: Log, outcome: Candidate) -> tuple[Candidate, Candidate] | None:
    """Find the time of the prediction, and the time that is null exactly where the outcome is."""
    columns = [t for t in rules.times(log.columns) if not t.column.form]
    waiting = outcome.column.nulls
    theirs = [t for t in columns if waiting and t.column.nulls == waiting]
    ours = [t for t in columns if not t.column.nulls]
    return next(((a, b) for a in ours for b in theirs if rules.comparable(a, b)), None)


def _about_times(session: Session, log: Log, setting: str, time: Candidate) -> list[Remark]:
    """Say whether the times of the first sampled day that is odd are far from their partition."""
    for day in log.sampled:
        at = f"({rules.moment(time)})::TIMESTAMP"
        quantiles = f"quantile_disc({at}, [0.05, 0.25, 0.5, 0.75, 0.95])"
        of_day = f"FROM {log.table} WHERE {quoted(PARTITION)} = DATE '{day}'"
        (times,) = ask(session, f"SELECT {quantiles} {of_day}")
        if remarks := about_times(setting, day, times or []):
            return remarks
    return []


def _ahead(session: Session, log: Log) -> int | None:
    """Find the one offset from UTC, in whole hours, at which every time is on its own day."""
    zoned = [t for t in rules.times(log.columns) if rules.has_zone(t)]
    if not log.days or not zoned:
        return None
    at = f"({rules.moment(zoned[0])})::TIMESTAMP"
    after = f"date_diff('second', {quoted(PARTITION)}::TIMESTAMP, {at}) / 3600"
    first, last = ask(session, f"SELECT min({after}), max({after}) FROM {log.table}")
    if first is None:
        return None
    fits = [hours for hours in OFFSETS if first + hours >= 0 and last + hours < HOURS_A_DAY]
    return fits[0] if len(fits) == 1 and fits != [0] else None


def _about_names(pair: Pair) -> Iterator[str]:
    """Say what names and neighbours of score and outcome leave unsure."""
    score, outcome = pair.choice.scores[0], pair.choice.outcomes[0].name
    if pair.scored is None or pair.observed is None or pair.arrived is None:
        return
    if score.name in (parts := rules.parts_of_one(pair.scored.columns)):
        yield (
            f"{', '.join(f'`{name}`' for name in parts)} add up to 1; if they are the "
            f"probabilities of classes, write predictions.classes in place of score"
        )
    if "predicted_label" not in score.settings:
        yield from about_confidence(score.column, pair.scored.columns)
    ours, theirs = rules.horizon(score.name), rules.horizon(outcome)
    if ours and theirs and ours != theirs:
        yield f"`{score.name}` says {ours} days and `{outcome}` {theirs}"
    if (days := theirs or ours) and pair.arrived.wait < days:
        yield (
            f"`{outcome if theirs else score.name}` says {days} days, but the outcomes are there "
            f"after {pair.arrived.wait}; if a 0 can still become a 1 until then, write "
            f"settled_after: {days}"
        )
    columns = pair.observed.columns
    lasting = [c.name for c in columns if c.is_number and DURATION & {*rules.words(c.name)}]
    if CENSORED & {*rules.words(outcome)}:
        yield (
            f"`{outcome}` says that the time of a row was cut short, not what happened; set "
            f"outcomes.outcome to whether it happened within the horizon of the score"
        )
    elif lasting and outcome not in lasting:
        yield (
            f"`{outcome}` stands beside `{lasting[0]}`: a row without the event may only not have "
            f"been watched long enough; the outcome is whether it happened within the horizon"
        )


def about_confidence(score: Column, beside: Sequence[Column]) -> Iterator[str]:
    """Say whether a score may be the confidence in a predicted label.

    Of two columns with the same values it cannot be measured which is the label, because a label
    agrees with an outcome as often as the outcome with the label.
    """
    if not score.least >= rules.LEAST_CONFIDENCE or score.within != 1:
        return
    labels, of_label = rules.labels_beside(score, beside), "write score_means: probability_of_label"
    if labels:
        name = labels[0].name
        yield (
            f"`{score.name}` is never below 0.5 and stands beside `{name}`; if it is the "
            f'probability of that label, {of_label} and predicted_label: "{name}"'
        )
    elif twins := rules.twins_of_two(beside):
        yield (
            f"`{score.name}` is never below 0.5, and `{twins[0]}` and `{twins[1]}` have the same "
            f"two values; if it is the probability of one of them and the other is what came "
            f"true, {of_label}, the first as predicted_label and the other as outcome"
        )
