"""Which logs belong together, and what their rows say of every role: the best configuration."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from monitor.base.sql_text import text_in_sql
from monitor.logs.discovery.gathering import of_question
from monitor.logs.discovery.roles import arrivals, rules
from monitor.logs.discovery.roles.arrivals import MET, Arrived, Meaning
from monitor.logs.discovery.roles.classes import are_one, class_columns, labels_in, name_classes
from monitor.logs.discovery.roles.evidence import Choice, choose
from monitor.logs.discovery.roles.keys import LEAST_UNIQUENESS, UNIQUE, Key, find_key, is_id
from monitor.logs.discovery.roles.rules import (
    CENSORED,
    CLEAR,
    DURATION,
    ENTITY,
    FLAGS,
    LIVE,
    OTHERS,
    SCORE,
    TESTED,
    WEIGHT,
    Candidate,
)
from monitor.logs.discovery.samples.profile import Column, number_in
from monitor.logs.discovery.samples.reading import PARTITION, TEXTUAL, Log, ask, only, read
from monitor.logs.engines.conversions import quoted
from monitor.logs.engines.session import Session
from monitor.words.guesses import say
from monitor.words.numbers import percent

OFFSETS = range(-12, 15)  # hours of time zones from UTC
HOURS_A_DAY = 24
OF_LABEL = "probability_of_label"
MOST_VALUES = 6  # of a column that tells parts of a log apart
MOST_VERSIONS = 5  # of a model, with a row for each id
EACH = 0.6  # share of the ids that have a row for each value
LEAST_AGAIN = 0.1  # of the values of an entity; a sample misses many that do come again
LEAST_ROWS = 100  # of a day
FAR = 10.0  # how far scores reach that are no probabilities

Times = tuple[Candidate, Candidate]


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
    ahead : int or None
        Hours by which the days of the predictions are ahead of those of UTC; None if they need not
        be, or the times do not say it.
    entity : tuple of (Column, float), or None
        A column of ids, and the share of its sampled values that are there on several days.
    doubts : tuple of str
        What a person should look at, a sentence each.
    classes : mapping of str to object, or None
        What `predictions.classes` is to say, if the model has several.
    """

    scored: Log | None
    observed: Log | None
    choice: Choice
    key: Key | None = None
    arrived: Arrived | None = None
    times: Times | None = None
    weight: Weight | None = None
    ahead: int | None = None
    entity: tuple[Column, float] | None = None
    doubts: tuple[str, ...] = ()
    classes: Mapping[str, Any] | None = None

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
    logs = [_live(session, log) for log in logs if is_dated(log)]
    pairs, used = list[Pair](), set[str]()
    points = {
        log.place: max((s.points for s in rules.scores(log.columns)), default=0) for log in logs
    }
    for log in sorted(logs, key=lambda log: -points[log.place]):
        if log.place in used or not points[log.place]:
            continue
        on_progress(f"looking for the outcomes of {log.place}")
        asked = [o if o is log else of_question(session, o, log.question) for o in logs]
        parts = class_columns(session, log)
        others = [other for other in asked if other is not log]
        found = _of_classes(session, log, asked, parts) or _of_scores(session, log, others, parts)
        if found and found.observed and found.scored:
            pairs.append(replace(found, ahead=_ahead(session, found.scored)))
            used.add(found.observed.place)
    return pairs


def _live(session: Session, log: Log) -> Log:
    """Leave out the rows of other splits and environments, where a log has scores."""
    for column in log.columns if rules.scores(log.columns) else ():
        spoken = {value: value.strip().lower() for value in column.values}
        chosen = list[str]()
        if column.kind == "text" and 1 < len(spoken) <= MOST_VALUES:
            known = {*spoken.values()} <= LIVE | TESTED | OTHERS
            live = [v for of in (LIVE, TESTED) for v, word in spoken.items() if word in of]
            chosen = live[:1] if known else []
        flag = column.kind == "boolean" or {*spoken} == {"0", "1"}
        if flag and len(spoken) > 1 and {*rules.words(column.name)} & FLAGS:
            chosen = [v for v in spoken if v.lower() in ("true", "1")]
        if chosen:
            return _subset(session, log, column, chosen[0])
    return log


def _version(
    session: Session, log: Log, key: Sequence[str], others: Sequence[str] = ()
) -> Log | None:
    """Keep the rows of the newest version, if a column tells rows of one id apart.

    Of the columns of the outcomes, one that both logs have belongs to the id.
    """
    for column in log.columns:
        if not 1 < len(column.values) <= MOST_VALUES or column.name in (*key, *others):
            continue
        alone, values = ", ".join(map(quoted, key)), column.values
        both, ids, rows = ask(
            session,
            f"SELECT count(DISTINCT ({alone}, {quoted(column.name)})), "
            f"count(DISTINCT ({alone})), count(*) FROM {log.table}",
        )
        if both >= UNIQUE * rows > ids and rows >= EACH * len(values) * ids:
            named = [value for value in values if value.strip().lower() in LIVE]
            newest = max(values, key=lambda v: ([int(n) for n in re.findall(r"\d+", v)], v))
            before = "an id has a row for each of them; "
            return _subset(session, log, column, [*named, newest][0], before)
    return None


def _subset(session: Session, log: Log, column: Column, value: str, before: str = "") -> Log:
    """Choose the rows of a value of a column, and say what the others are."""
    name = f"({column.sql})" if "->>" in column.sql else column.written
    where = name
    if column.type != "BOOLEAN":
        plain = column.is_number and column.type != "VARCHAR" and log.format not in TEXTUAL
        where = f"{name} = {value if plain else text_in_sql(value)}"
    shares = ", ".join(f"{v} {percent(n / column.rows, 0)}" for v, n in column.values.items())
    doubt = say("subset", where=where, column=column.name, shares=shares, before=before)
    return only(session, log, where, "only", doubt=doubt)


def _dating(log: Log) -> Candidate | None:
    """Choose the column that dates the rows of a log, if its path does not."""
    return None if log.days else next(iter(rules.times(log.columns)), None)


def _of_scores(
    session: Session, log: Log, others: Sequence[Log], parts: Sequence[Column]
) -> Pair | None:
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
        if version := _version(session, log, key.names, names):
            log, key = version, find_key(session, version, other)
    joins = other and key and key.uniqueness >= LEAST_UNIQUENESS
    pair = _joined(session, log, other, key) if joins and other and key else _in_one(session, log)
    if pair is None or pair.scored is None:
        return None
    doubts = [*pair.scored.doubts, *_about_scale(session, pair), *pair.choice.doubts]
    entity = _entity(session, pair.scored)
    if pair.choice.scores[0].name in (names := [part.name for part in parts]):
        doubts.append(say("parts of one", parts=", ".join(f"`{name}`" for name in names)))
    return replace(pair, doubts=(*doubts, *_about_names(pair)), entity=entity)


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


def _meaning(scored: Log, observed: Log, times: Times | None, ones: Mapping[str, str]) -> Meaning:
    at = times[0] if times else None
    return Meaning(ones, _dating(scored), _dating(observed), at, time_of_outcomes(observed, times))


def time_of_outcomes(observed: Log, times: Times | None) -> Candidate | None:
    """Choose the time by which one outcome is later than another of the same prediction."""
    if times:
        return times[1]
    return next((t for t in _own_times(observed) if t.column.kind != "date"), None)


def _own_times(log: Log) -> list[Candidate]:
    """List the columns that may be the time of a row and do not only repeat the path."""
    own = [t for t in rules.times(log.columns) if f"{t.name}={{day" not in log.place]
    return [t for t in own if not t.column.form]


def _times(scored: Log, observed: Log) -> Times | None:
    """Choose the times of both logs, if both have one of the same kind."""
    ours, theirs = _own_times(scored)[:3], _own_times(observed)[:3]
    return next(((a, b) for a in ours for b in theirs if rules.comparable(a, b)), None)


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
    outcome = choice.outcomes[0]
    arrivals.take_outcome(session, [c.name for c in outcomes].index(outcome.name))
    arrived = arrivals.count(session, asked, looked)
    weight = _weight(session, observed, "outcomes", observed.table, rules.is_one(outcome))
    if arrived.found:
        weight = _weight(session, scored, "predictions", MET, "cm_is_one") or weight
    return Pair(scored, observed, choice, key, arrived, times, weight)


def _in_one(session: Session, log: Log) -> Pair | None:
    """Take outcomes from the predictions, unless the column is a decision made from the score."""
    candidates = rules.outcomes_beside(log.columns)
    clear = [c for c in candidates if c.points >= CLEAR]
    outcomes = clear or candidates
    if not outcomes:
        return None
    ids = [c for c in log.columns if is_id(c)]
    if not any(c.uniqueness >= UNIQUE for c in ids):
        repeated = (c.name for c in ids if c.uniqueness >= 1 / MOST_VERSIONS)
        log = next(filter(None, (_version(session, log, [name]) for name in repeated)), log)
    log = _with_span(session, log)
    arrivals.keep_own(session, log, Meaning({c.name: rules.is_one(c) for c in outcomes}))
    choice = _chosen(session, log, [], outcomes)
    decided = any(remark.key == "outcomes.outcome" for remark in choice.remarks)
    if not choice.scores or decided or not (clear or choice.predicts):
        return None
    outcome = choice.outcomes[0]
    arrivals.take_outcome(session, [c.name for c in outcomes].index(outcome.name))
    known, times = _unknown_by(session, log, outcome)
    session.connection.execute(f"DELETE FROM {MET} WHERE ({known}) IS NULL")
    used = [outcome, *filter(None, [_dating(log)]), *(times or ())[1:]]
    names = [*dict.fromkeys(c.name for c in used)]
    arrived = arrivals.fill(session, log, known, _dating(log), names)
    times = times or _times_beside(log, outcome)
    weight = _weight(session, log, "predictions", MET, "cm_is_one")
    return Pair(log, log, choice, None, arrived, times, weight)


def _unknown_by(session: Session, log: Log, outcome: Candidate) -> tuple[str, Times | None]:
    """Find a time without which an outcome of 0 is not known yet: it is null, or impossible.

    If all outcomes of 0 lack the time, it is that of the positive ones.

    Gives SQL of the outcome, and the times of the prediction and of the outcome.
    """
    one, columns = rules.is_one(outcome), rules.times(log.columns)
    zero = f"({one}) = false"
    for theirs in columns:
        ours = [t for t in columns if not t.column.nulls and t != theirs]
        pairs = [(t, theirs) for t in ours if rules.comparable(t, theirs)]
        neither = f"({rules.moment(theirs)} IS NULL OR {rules.is_impossible(theirs)})"
        counts = f"{zero} AND {neither}", f"{zero} AND NOT {neither}", f"NOT ({zero}) AND {neither}"
        asked = ", ".join(f"count_if({which})" for which in counts)
        waiting, observed, positive = ask(session, f"SELECT {asked} FROM {MET}")
        if pairs and waiting and observed and not positive:
            known = f"CASE WHEN NOT coalesce({zero} AND {neither}, false) THEN {one} END"
            return known, pairs[0]
    return one, None


def _times_beside(log: Log, outcome: Candidate) -> Times | None:
    """Find the time of the prediction, and the time that is null exactly where the outcome is."""
    columns = [t for t in rules.times(log.columns) if not t.column.form]
    waiting = outcome.column.nulls
    theirs = [t for t in columns if waiting and t.column.nulls == waiting]
    ours = [t for t in columns if not t.column.nulls]
    return next(((a, b) for a in ours for b in theirs if rules.comparable(a, b)), None)


def _of_classes(
    session: Session, log: Log, logs: Sequence[Log], parts: Sequence[Column]
) -> Pair | None:
    """Pair a log whose columns are the probabilities of classes with what says which came true."""
    # The choice beside the probabilities of an answer is made from them.
    for observed in (o for o in logs if parts and not (log.question and o is log)):
        together = observed is log
        labels = labels_in(observed, parts)
        key = find_key(session, log, observed) if labels and not together else None
        if not labels or (not together and (key is None or key.uniqueness < LEAST_UNIQUENESS)):
            continue
        if pair := _with_classes(session, (log, observed, key), parts, labels):
            return pair
    return None


def _with_classes(
    session: Session,
    logs: tuple[Log, Log, Key | None],
    parts: Sequence[Column],
    labels: Sequence[Column],
) -> Pair | None:
    scored, observed, key = logs
    times = _times(scored, observed) if key else None
    ones = are_one(labels)
    meaning = _meaning(scored, observed, times, ones) if key else Meaning(ones)
    counted = (0, 0)
    if key:
        counted = arrivals.look_up(session, scored, observed, key, meaning)
    else:
        arrivals.keep_own(session, scored, meaning)
    numbers = [f"try_cast({quoted(part.name)} AS DOUBLE)" for part in parts]
    values, happened = arrivals.matched(session, numbers, [*ones])
    p = dict(zip([part.name for part in parts], values, strict=False))
    found = name_classes(session, scored, parts, labels, (p, happened))
    if found is None:
        return None
    scored = _with_span(session, scored)
    observed = _with_span(session, observed) if key else scored
    mine = f"{labels.index(found.label)} "
    of = {name.removeprefix(mine): n for n, name in enumerate(ones) if name.startswith(mine)}
    if key:
        arrived = arrivals.count(session, *counted, of)
    else:
        sql = [[*ones.values()][n] for n in of.values()]
        known = f"CASE WHEN {' OR '.join(sql)} THEN {sql[0]} END"
        columns = [c.name for c in scored.columns]
        arrived = arrivals.fill(session, scored, known, _dating(scored), columns)
    best, label = (Candidate(c, CLEAR, "") for c in (parts[0], found.label))
    doubts = (*scored.doubts, *found.doubts)
    choice = Choice([best], [label])
    return Pair(scored, observed, choice, key, arrived, times, doubts=doubts, classes=found.setting)


def _chosen(
    session: Session, log: Log, taken: Sequence[str], outcomes: Sequence[Candidate]
) -> Choice:
    """Choose score and outcome by the matched rows."""
    names = [c.name for c in outcomes]
    own = {*taken, *(() if taken else names)}
    free = [c for c in log.columns if c.name not in own]
    scores = rules.candidates(SCORE, free, weak=True)
    readings = [each for score in scores for each in (score, *_labelled(score, log, names))]
    values, ones = arrivals.matched(session, [*map(rules.probability, readings)], names)
    if not values:
        return Choice([c for c in scores if c.points > 0], [*outcomes])
    choice = choose([*zip(readings, values, strict=True)], outcomes, ones)
    if not choice.scores:
        return choice
    score, refuted = choice.scores[0].column, choice.refuted
    return replace(choice, unread=rules.unread_score(free, score, refuted=refuted))


def _labelled(score: Candidate, log: Log, outcomes: Sequence[str]) -> Iterator[Candidate]:
    """Read a score as the probability of each label beside it, whichever of its words means 1."""
    for label in rules.labels_beside(score.column, log.columns):
        if score.settings or label.name in outcomes:
            continue
        settings = {"score_means": OF_LABEL, "predicted_label": label.name}
        a, b = sorted(label.values)
        both: list[tuple[Any, Any]] = [(b, a), (a, b)]
        if label.kind == "boolean" or {a, b} <= {"0", "1", "0.0", "1.0"}:
            both = []
        elif label.is_number:
            both = [(int(float(one)), int(float(zero))) for one, zero in both]
        said = [{"label_means": {"positive": [one], "negative": [zero]}} for one, zero in both]
        for means in said or [{}]:
            yield score.because(f"the probability of `{label.name}`", {**settings, **means})


def _weight(session: Session, log: Log, section: str, table: str, is_one: str) -> Weight | None:
    """Find weights, and see whether all rows of an outcome have the same."""
    for column in (candidate.column for candidate in rules.candidates(WEIGHT, log.columns)):
        values = f"SELECT count(DISTINCT {quoted(column.name)}) AS n FROM {table}"
        of_each = f"{values} WHERE {is_one} IS NOT NULL GROUP BY {is_one}"
        (most,) = ask(session, f"SELECT max(n) FROM ({of_each})")
        return Weight(section, column, constant=most == 1)
    return None


def _entity(session: Session, log: Log) -> tuple[Column, float] | None:
    """Find the column of ids whose values come again on most days."""
    dating, found = _dating(log), list[tuple[Column, float]]()
    day = f"({rules.moment(dating)})::DATE" if dating else quoted(PARTITION)
    for column in (candidate.column for candidate in rules.candidates(ENTITY, log.columns)):
        name = quoted(column.name)
        values = (
            f"SELECT count(DISTINCT {day}) AS days FROM {log.table} "
            f"WHERE {name} IS NOT NULL GROUP BY {name}"
        )
        (again,) = ask(session, f"SELECT avg((days > 1)::INT) FROM ({values})")
        found.append((column, again or 0.0))
    best = max(found, key=lambda candidate: candidate[1], default=None)
    return best if best and best[1] >= LEAST_AGAIN else None


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


def _about_scale(session: Session, pair: Pair) -> Iterator[str]:
    """Say which sampled day has probabilities where the scores of another are something else."""
    log, score = pair.scored, pair.choice.scores[0]
    means = score.settings.get("score_means")
    if not log or not log.days or means not in ("percent", "logit"):
        return
    value = f"try_{number_in(quoted(score.name), score.column.mark)}"
    days = session.connection.execute(
        f"SELECT {quoted(PARTITION)}::VARCHAR, greatest(-min({value}), max({value}) - 1), "
        f"greatest(-min({value}), max({value})) "
        f"FROM {log.table} GROUP BY 1 HAVING count({value}) >= ? ORDER BY 1",
        [LEAST_ROWS],
    ).fetchall()
    within = [day for day, beyond, _ in days if beyond <= 0]
    other = [of for of in days if of[1] > 0 and (means == "logit" or of[2] >= FAR)]
    if within and other:
        day, _, reach = other[0]
        yield say("scale", score=score.name, within=within[0], reach=reach, day=day, means=means)


def _about_names(pair: Pair) -> Iterator[str]:
    """Say what names and neighbours of score and outcome leave unsure."""
    score, outcome = pair.choice.scores[0], pair.choice.outcomes[0].name
    if pair.scored is None or pair.observed is None or pair.arrived is None:
        return
    if "predicted_label" not in score.settings:
        yield from about_confidence(score.column, pair.scored.columns)
    ours, theirs = rules.horizon(score.name), rules.horizon(outcome)
    if ours and theirs and ours != theirs:
        yield say("two horizons", score=score.name, ours=ours, outcome=outcome, theirs=theirs)
    if (days := theirs or ours) and pair.arrived.wait < days:
        name = outcome if theirs else score.name
        yield say("horizon", name=name, days=days, wait=pair.arrived.wait)
    columns = pair.observed.columns
    lasting = [c.name for c in columns if c.is_number and DURATION & {*rules.words(c.name)}]
    if CENSORED & {*rules.words(outcome)}:
        yield say("censored", outcome=outcome)
    elif lasting and outcome not in lasting:
        yield say("duration", outcome=outcome, duration=lasting[0])


def about_confidence(score: Column, beside: Sequence[Column]) -> Iterator[str]:
    """Say whether a score may be the confidence in a predicted label.

    Of two columns with the same values it cannot be measured which is the label, because a label
    agrees with an outcome as often as the outcome with the label.
    """
    if not score.least >= rules.LEAST_CONFIDENCE or score.within != 1:
        return
    if labels := rules.labels_beside(score, beside):
        yield say("confidence", score=score.name, label=labels[0].name)
    elif twins := rules.twins_of_two(beside):
        yield say("confidence of two", score=score.name, one=twins[0], other=twins[1])
