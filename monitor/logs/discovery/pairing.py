"""Which logs belong together, and what their rows say of every role: the best configuration."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from monitor.base.sql_text import text_in_sql
from monitor.logs.discovery.gathering import of_question
from monitor.logs.discovery.roles import arrivals, rules
from monitor.logs.discovery.roles.arrivals import MET, Arrived
from monitor.logs.discovery.roles.classes import are_one, class_columns, labels_in, name_classes
from monitor.logs.discovery.roles.evidence import Choice, choose
from monitor.logs.discovery.roles.keys import LEAST_UNIQUENESS, UNIQUE, Key, find_key, is_id
from monitor.logs.discovery.roles.rules import CLEAR, Candidate
from monitor.logs.discovery.samples.profile import Column
from monitor.logs.discovery.samples.reading import (
    PARTITION,
    TEXTUAL,
    Log,
    ask,
    drop,
    has_table,
    keep,
    only,
)
from monitor.logs.engines.conversions import quoted
from monitor.logs.engines.session import Session
from monitor.words.guesses import say
from monitor.words.numbers import percent

OFFSETS = range(-12, 15)  # hours of time zones from UTC
HOURS_A_DAY = 24
MOST_SHOWN = 4  # values in a comment
OF_LABEL = "probability_of_label"
MOST_VALUES = 6  # of a column that tells parts of a log apart
MOST_VERSIONS = 5  # of a model, with a row for each id
EACH = 0.6  # share of the ids that have a row for each value
LEAST_AGAIN = 0.1  # of the values of an entity; a sample misses many that do come again

Times = tuple[Candidate, Candidate]


@dataclass(frozen=True)
class Setting:
    """One key of the configuration.

    Attributes
    ----------
    section : str
        `predictions`, `outcomes`, `checks`, or empty for a key of the model.
    key : str
        Its name.
    value : object
        What it is set to.
    why : str
        The reason, and what to look at.
    active : bool
        Whether it is set, or only offered in a comment.
    """

    section: str
    key: str
    value: Any
    why: str = ""
    active: bool = True


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
    classes : mapping of str to object, or None
        What `predictions.classes` is to say, if the model has several.
    further : tuple of Setting
        Weights, entities, and the time zone.
    doubts : tuple of str
        What a person should look at, a sentence each.
    """

    scored: Log | None
    observed: Log | None
    choice: Choice
    key: Key | None = None
    arrived: Arrived | None = None
    times: Times | None = None
    classes: Mapping[str, Any] | None = None
    further: tuple[Setting, ...] = ()
    doubts: tuple[str, ...] = ()

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
        found = _search(session, log, asked)
        if found and found.observed:
            pairs.append(found)
            used.add(found.observed.place)
    return pairs


def _search(session: Session, log: Log, logs: Sequence[Log]) -> Pair | None:
    """Take what says which class came true; else the outcomes that share most ids; or its own."""
    parts, joined = class_columns(session, log), list[tuple[Log, Key]]()
    for other in logs:
        may_be = parts and labels_in(other, parts)
        if other is not log and (may_be or rules.outcomes(other.columns)):
            joined += [(other, key)] if (key := find_key(session, log, other)) else []
        # The choice beside the probabilities of an answer is made from them.
        key = next((key for of, key in joined if of is other), None)
        joins = key.uniqueness >= LEAST_UNIQUENESS if key else other is log and not log.question
        if may_be and joins and (pair := _measured(session, log, other, key, parts)):
            return pair
    worth = lambda m: (round(m[1].share * m[1].uniqueness, 1), _nearness(log, m[0]))  # noqa: E731
    known = [(other, key) for other, key in joined if rules.outcomes(other.columns)]
    other, best = max(known, key=worth, default=(log, None))
    if best and best.uniqueness < UNIQUE:
        names = [c.name for c in other.columns]
        if version := _version(session, log, best.names, names):
            log, best = version, find_key(session, version, other)
    if best is None or best.uniqueness < LEAST_UNIQUENESS:
        log = _of_one_version(session, log)
        other, best = log, None
    pair = _measured(session, log, other, best)
    if pair and pair.choice.scores[0].name in (names := [part.name for part in parts]):
        said = say("parts of one", parts=", ".join(f"`{name}`" for name in names))
        pair = replace(pair, doubts=(*pair.doubts, said))
    return pair


def _live(session: Session, log: Log) -> Log:
    """Leave out the rows of other splits and environments, where a log has scores."""
    for column in log.columns if rules.scores(log.columns) else ():
        spoken = {value: value.strip().lower() for value in column.values}
        chosen = list[str]()
        if column.kind == "text" and 1 < len(spoken) <= MOST_VALUES:
            known = {*spoken.values()} <= rules.LIVE | rules.TESTED | rules.OTHERS
            live = [
                v for of in (rules.LIVE, rules.TESTED) for v, word in spoken.items() if word in of
            ]
            chosen = live[:1] if known else []
        flag = column.kind == "boolean" or {*spoken} == {"0", "1"}
        if flag and len(spoken) > 1 and {*rules.words(column.name)} & rules.FLAGS:
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
            named = [value for value in values if value.strip().lower() in rules.LIVE]
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


def _nearness(log: Log, other: Log) -> int:
    """Return how many folders two logs share."""
    both = zip(log.place.split("/"), other.place.split("/"), strict=False)
    return next((depth for depth, (a, b) in enumerate(both) if a != b), 0)


def _with_span(session: Session, log: Log) -> Log:
    """Find the first and the last day of a log whose path names none."""
    if dating := _dating(log):
        drop(session, "ends")
        ends = f"SELECT min({rules.day_of(dating)}), max({rules.day_of(dating)}) FROM some_rows"
        keep(session, log, None, "ends", ends, [dating.name])
        first, last = ask(session, "SELECT * FROM ends")
        return replace(log, span=(first, last) if first else None)
    return log


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


def _measured(
    session: Session, scored: Log, observed: Log, key: Key | None, parts: Sequence[Column] = ()
) -> Pair | None:
    """Join the rows of both logs, or take those of one, and see what they say of every role."""
    labels = labels_in(observed, parts) if parts else []
    outcomes = [Candidate(c, CLEAR, "") for c in labels] or _outcomes(observed, key)
    if not outcomes:
        return None
    ones = are_one(labels) if parts else {c.name: rules.is_one(c) for c in outcomes}
    times = _times(scored, observed) if key else None
    scored = _with_span(session, scored)
    observed = _with_span(session, observed) if key else scored
    dated_by = _dating(scored), _dating(observed), time_of_outcomes(observed, times)
    asked, looked = arrivals.look_up(session, (scored, observed), key, ones.values(), dated_by)
    said = (
        _of_classes(session, scored, parts, labels, ones)
        if parts
        else _of_outcomes(session, scored, key, outcomes, ones)
    )
    if said is None:
        return None
    times = said.times or times
    if key:
        arrived = arrivals.count(session, asked, looked, said.kinds)
    else:
        dating = _dating(scored)
        used = [*labels, said.choice.outcomes[0], *filter(None, [dating]), *(times or ())[1:]]
        names = [*dict.fromkeys(column.name for column in used)]
        arrived = arrivals.fill(session, scored, said.known, dating, names)
    pair = Pair(scored, observed, said.choice, key, arrived, times, said.classes)
    doubts, further = [*scored.doubts, *said.choice.doubts], [*_zone(session, scored)]
    if not said.classes:
        doubts += _about_names(pair)
        weights = [*_weight(session, scored, "predictions", MET, said.kinds["1"])]
        if key and not weights:
            weights += _weight(session, observed, "outcomes", observed.table, said.known)
        further += [*weights, *_entity(session, scored)]
    return replace(pair, further=tuple(further), doubts=tuple(doubts))


@dataclass(frozen=True)
class _Said:
    """What the matched rows say of score and outcome.

    Attributes
    ----------
    choice : Choice
        Both, the best first.
    kinds : mapping of str to str
        Each kind of outcome, with SQL of `met` whether a row has it.
    known : str
        SQL of the log of outcomes: whether the outcome is 1; null where it is not known.
    times : tuple of (Candidate, Candidate), or None
        Of one log: the times of predictions and outcomes.
    classes : mapping of str to object, or None
        As in `Pair`.
    """

    choice: Choice
    kinds: Mapping[str, str]
    known: str
    times: Times | None = None
    classes: Mapping[str, Any] | None = None


def _of_classes(
    session: Session,
    log: Log,
    parts: Sequence[Column],
    labels: Sequence[Column],
    ones: Mapping[str, str],
) -> _Said | None:
    """Choose the column that says which class came true, and name the probabilities by it."""
    values = [f"try_cast({quoted(part.name)} AS DOUBLE)" for part in parts]
    p, happened = arrivals.matched(session, values, len(ones))
    named = name_classes(session, log, parts, labels, p, dict(zip(ones, happened, strict=False)))
    if named is None:
        return None
    classes, column, doubts = named
    of_column = f"{labels.index(column)} "
    kinds = {
        name.removeprefix(of_column): f"cm_one_{n}"
        for n, name in enumerate(ones)
        if name.startswith(of_column)
    }
    known = f"nullif({' OR '.join(ones[f'{of_column}{kind}'] for kind in kinds)}, false)"
    best, label = (Candidate(c, CLEAR, "") for c in (parts[0], column))
    return _Said(Choice([best], [label], doubts=doubts), kinds, known, classes=classes)


def _of_outcomes(
    session: Session,
    log: Log,
    key: Key | None,
    outcomes: Sequence[Candidate],
    ones: Mapping[str, str],
) -> _Said | None:
    """Choose score and outcome; in one log no decision that was made from the score."""
    choice = _chosen(session, log, key, outcomes)
    decided = any(remark.key == "outcomes.outcome" for remark in choice.remarks)
    unsure = outcomes[0].points < CLEAR and not choice.predicts
    if not choice.scores or (not key and (decided or unsure)):
        return None
    outcome = choice.outcomes[0]
    one = f"cm_one_{[*ones].index(outcome.name)}"
    known, times = (ones[outcome.name], None) if key else _known(session, log, outcome)
    return _Said(choice, {"0": f"NOT {one}", "1": one}, known, times)


def _outcomes(observed: Log, key: Key | None) -> list[Candidate]:
    """List the columns that may be the outcome; beside scores, clear ones if there are any."""
    if key:
        taken = [column.name for column in key.observed]
        return rules.outcomes([c for c in observed.columns if c.name not in taken])
    beside = rules.outcomes_beside(observed.columns)
    return [c for c in beside if c.points >= CLEAR] or beside


def _of_one_version(session: Session, log: Log) -> Log:
    """Keep the rows of the newest version of a log whose ids repeat for each."""
    ids = [c for c in log.columns if is_id(c)]
    if any(c.uniqueness >= UNIQUE for c in ids):
        return log
    repeated = (c.name for c in ids if c.uniqueness >= 1 / MOST_VERSIONS)
    return next(filter(None, (_version(session, log, [name]) for name in repeated)), log)


def _known(session: Session, log: Log, outcome: Candidate) -> tuple[str, Times | None]:
    """Find the time of outcomes beside the scores, and write in SQL those that are known.

    It is null exactly where they are; or an outcome of 0 is not known yet without it, or if it is
    impossible. If all outcomes of 0 lack a time, it is that of the positive ones.
    """
    one, columns, waiting = rules.is_one(outcome), rules.times(log.columns), outcome.column.nulls
    zero = f"({one}) = false"
    for theirs in columns:
        ours = (t for t in columns if not t.column.nulls and t != theirs)
        pair = next(((t, theirs) for t in ours if rules.comparable(t, theirs)), None)
        if pair and waiting and theirs.column.nulls == waiting:
            return one, pair
        neither = f"({rules.moment(theirs)} IS NULL OR {rules.is_impossible(theirs)})"
        counts = f"{zero} AND {neither}", f"{zero} AND NOT {neither}", f"NOT ({zero}) AND {neither}"
        counted = ask(session, f"SELECT {', '.join(f'count_if({c})' for c in counts)} FROM {MET}")
        if pair and counted[0] and counted[1] and not counted[2]:
            return f"CASE WHEN NOT coalesce({zero} AND {neither}, false) THEN {one} END", pair
    return one, None


def _chosen(session: Session, log: Log, key: Key | None, outcomes: Sequence[Candidate]) -> Choice:
    """Choose score and outcome by the matched rows."""
    names = [c.name for c in outcomes]
    own = key.names if key else names
    free = [c for c in log.columns if c.name not in own]
    scores = rules.candidates(rules.SCORE, free, weak=True)
    readings = [each for score in scores for each in (score, *_labelled(score, log, names))]
    sql = [*map(rules.probability, readings)]
    values, happened = arrivals.matched(session, sql, len(names))
    ones = dict(zip(names, happened, strict=False))
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


def _weight(session: Session, log: Log, section: str, table: str, is_one: str) -> Iterator[Setting]:
    """Find weights, and see whether all rows of an outcome have the same."""
    found = rules.candidates(rules.WEIGHT, log.columns) if has_table(session, table) else ()
    for column in (candidate.column for candidate in found[:1]):
        values = f"SELECT count(DISTINCT {quoted(column.name)}) AS n FROM {table}"
        of_each = f"{values} WHERE {is_one} IS NOT NULL GROUP BY {is_one}"
        (most,) = ask(session, f"SELECT max(n) FROM ({of_each})")
        shown = ", ".join([*column.values][:MOST_SHOWN]) or f"{column.distinct:,} values"
        why = say("weight" if most == 1 else "weights differ", values=shown)
        yield Setting(section, "weight", column.setting, why, active=most == 1)


def _entity(session: Session, log: Log) -> Iterator[Setting]:
    """Find the column of ids whose values come again on most days."""
    day, found = rules.day_of(_dating(log)), list[tuple[float, Column]]()
    for column in (candidate.column for candidate in rules.candidates(rules.ENTITY, log.columns)):
        name = quoted(column.name)
        values = (
            f"SELECT count(DISTINCT {day}) AS days FROM {log.table} "
            f"WHERE {name} IS NOT NULL GROUP BY {name}"
        )
        (again,) = ask(session, f"SELECT avg((days > 1)::INT) FROM ({values})")
        found.append((again or 0.0, column))
    again, best = max(found, key=lambda candidate: candidate[0], default=(0.0, None))
    if best and again >= LEAST_AGAIN:
        why = say("entity", again=percent(again, 0))
        yield Setting("predictions", "entity", best.setting, why)


def _zone(session: Session, log: Log) -> Iterator[Setting]:
    """Find the one offset from UTC, in whole hours, at which every time is on its own day."""
    zoned = [t for t in rules.times(log.columns) if rules.has_zone(t)]
    if not log.days or not zoned:
        return
    at = f"({rules.moment(zoned[0])})::TIMESTAMP"
    after = f"date_diff('second', {quoted(PARTITION)}::TIMESTAMP, {at}) / 3600"
    first, last = ask(session, f"SELECT min({after}), max({after}) FROM {log.table}")
    fits = [h for h in OFFSETS if first is not None and first + h >= 0 and last + h < HOURS_A_DAY]
    if len(fits) == 1 and fits != [0]:
        yield Setting("", "time_zone", f"Etc/GMT{-fits[0]:+d}", say("zone", ahead=fits[0]))


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
    lasting = [c.name for c in columns if c.is_number and rules.DURATION & {*rules.words(c.name)}]
    if rules.CENSORED & {*rules.words(outcome)}:
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
