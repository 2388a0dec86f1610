"""Which logs belong together: predictions with the outcomes that share their ids."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from monitor.base.errors import ConfigError, DataError
from monitor.base.sql_text import text_in_sql
from monitor.config import LATEST, literal
from monitor.days.arrivals import COMPLETE
from monitor.logs.discovery.lists import of_question, with_rows_of_lists
from monitor.logs.discovery.parts import with_parts_together
from monitor.logs.discovery.roles import arrivals, choosing, filling
from monitor.logs.discovery.roles import candidates as roles
from monitor.logs.discovery.roles.arrivals import Arrivals, Meaning
from monitor.logs.discovery.roles.candidates import Candidate
from monitor.logs.discovery.roles.class_columns import (
    Labels,
    class_columns,
    labels_in,
    name_classes,
)
from monitor.logs.discovery.roles.entities import EntityColumn, entity_column
from monitor.logs.discovery.roles.filling import Filling
from monitor.logs.discovery.roles.keys import ID_KINDS, LEAST_UNIQUENESS, UNIQUE, Key, find_key
from monitor.logs.discovery.roles.meanings import (
    about_confidence,
    about_names,
    labels_beside,
    meanings_of_label,
    parts_of_one,
)
from monitor.logs.discovery.roles.ranking import best_reading
from monitor.logs.discovery.roles.scales import about_scale
from monitor.logs.discovery.roles.subsets import Subset, live_rows, only, version_rows
from monitor.logs.discovery.roles.unread import unread_scores
from monitor.logs.discovery.samples.columns import number_in
from monitor.logs.discovery.samples.listing import Survey, Table
from monitor.logs.discovery.samples.naming import Pattern, patterns
from monitor.logs.discovery.samples.reading import PARTITION, Log, open_log
from monitor.logs.discovery.samples.rows import ask, open_rows
from monitor.logs.engines.conversions import quoted
from monitor.logs.engines.session import Session
from monitor.words.plausibility import Remark, about_times

MOST_LOGS = 40  # logs that are sampled; those with the most files first
MOST_VERSIONS = 5  # of a model, with a row for each id
OFFSETS = range(-12, 15)  # hours of time zones from UTC
HOURS_A_DAY = 24
OF_LABEL = "probability_of_label"
CLEAR = 4.0  # points of a candidate whose content fits


@dataclass(frozen=True)
class Weight:
    """A column of `predictions` or `outcomes` with weights, and whether a class has only one."""

    section: str
    column: str
    constant: bool


@dataclass(frozen=True)
class Pair:
    """The logs of one model, and what their rows show.

    Attributes
    ----------
    scored, observed : Log
        Predictions and outcomes; the same log if outcomes are a column of the predictions.
    scores, outcomes : list of Candidate
        Columns that may be the score and the outcome, the best first.
    key : Key or None
        Joins the logs; None in one log.
    times : tuple of (Candidate, Candidate), or None
        Columns with the times of both logs.
    arrived : Arrivals or Filling
        When outcomes come.
    remarks : list of Remark
        What looks implausible.
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
    unread : str or None
        A column that is no probability, but predicts better than the score.
    refuted : bool
        Whether no score predicts any outcome, measured on enough rows.
    classes : mapping of str to object, or None
        What `predictions.classes` is to say, if the model has several.
    undated : tuple of int
        How many sampled outcomes of 0 are not known yet, because their time is null, and because it
        is impossible; empty if times do not say so.
    """

    scored: Log
    observed: Log
    scores: list[Candidate]
    outcomes: list[Candidate]
    key: Key | None
    times: tuple[Candidate, Candidate] | None
    arrived: Arrivals | Filling
    remarks: list[Remark]
    weight: Weight | None = None
    delivered_twice: bool = False
    ahead: int | None = None
    entity: EntityColumn | None = None
    doubts: tuple[str, ...] = ()
    unread: str | None = None
    classes: Mapping[str, Any] | None = None
    refuted: bool = False
    undated: tuple[int, ...] = ()


def read_logs(
    session: Session, surveys: Sequence[Survey], on_progress: Callable[[str], None]
) -> tuple[list[Log], list[ConfigError | DataError]]:
    """Sample every log; also say which cannot be read, and what to do about it."""
    patterned = [
        (whole, pattern)
        for whole in surveys
        for pattern in (*map(_pattern_of_table, whole.tables), *patterns(whole.files))
    ]
    patterned.sort(key=lambda chosen: -len(chosen[1].files))
    logs, problems = list[tuple[Survey, Log]](), list[ConfigError | DataError]()
    for number, (whole, pattern) in enumerate(patterned[:MOST_LOGS]):
        on_progress(f"reading a sample of {pattern.template or whole.root}")
        try:
            logs.append((whole, open_log(session, whole, pattern, f"sample_{number}")))
        except (ConfigError, DataError) as error:  # a package may be missing
            problems.append(error)
    together = with_parts_together(session, logs)
    return [each for log in together for each in with_rows_of_lists(session, log)], problems


def is_dated(log: Log) -> bool:
    """Tell whether the path or a column dates the rows of a log."""
    return bool(log.days or roles.times(log.columns))


def _pattern_of_table(table: Table) -> Pattern:
    return Pattern(literal(table.place), dated=False, files=(table.place,), keys=())


def _with_span(session: Session, log: Log) -> Log:
    """Find the first and the last day of a log whose path names none."""
    times = roles.times(log.columns)
    if log.days or not times:
        return log
    rows = open_rows(session, log.source, None, columns=[times[0].column])
    assert rows is not None  # the sample is from there
    rows.create_view("all_rows", replace=True)
    day = f"({moment(times[0])})::TIMESTAMP::DATE"
    first, last = ask(session, f"SELECT min({day}), max({day}) FROM all_rows")
    return replace(log, span=(first, last) if first else None)


def pair_logs(
    session: Session, logs: Sequence[Log], on_progress: Callable[[str], None]
) -> list[Pair]:
    """Find the logs of every model, those with the clearest scores first."""
    logs = [_live(session, log) for log in logs if is_dated(log)]
    points = {log.place: score[0].points for log in logs if (score := roles.scores(log.columns))}
    points |= {
        log.place: 0.0 for log in logs if log.place not in points and unread_scores(log.columns, ())
    }
    ranked = sorted((log for log in logs if log.place in points), key=lambda o: -points[o.place])
    pairs = list[Pair]()
    used = set[str]()
    for log in ranked:
        if log.place in used:
            continue
        on_progress(f"looking for the outcomes of {log.pattern.template}")
        asked = [
            other if other is log else of_question(session, other, log.question) for other in logs
        ]
        if of_classes := _of_classes(session, log, asked):
            pairs.append(of_classes)
            used.add(of_classes.observed.place)
            continue
        match = _match(session, log, [other for other in asked if other is not log])
        if match and match[1].uniqueness < UNIQUE:
            names = [c.name for c in match[0].columns]
            version = version_rows(session, log, match[1].scored, names)
            log = only(session, log, version) if version else log  # noqa: PLW2901 - its rows
            again = find_key(session, log, match[0]) if version else None
            match = (match[0], again) if again else match
        if match and match[1].uniqueness < LEAST_UNIQUENESS:
            match = None
        pair = _joined(session, log, *match) if match else _in_one(session, log)
        if pair:
            of_scale = [d for score in pair.scores[:1] for d in about_scale(session, log, score)]
            doubts = (*log.doubts, *of_scale, *pair.doubts, *_about_names(pair))
            pair = replace(pair, doubts=doubts)
            day = (
                quoted(PARTITION) if log.days else f"({moment(roles.times(log.columns)[0])})::DATE"
            )
            entity = entity_column(session, log, day)
            pairs.append(replace(pair, ahead=_ahead(session, log), entity=entity))
            used.add(pair.observed.place)
    return pairs


def _about_names(pair: Pair) -> list[str]:
    if not pair.scores or not pair.outcomes:
        return []
    wait = (
        pair.arrived.complete_after
        if isinstance(pair.arrived, Filling)
        else pair.arrived.age_of(COMPLETE)
    )
    names = pair.scores[0].column, pair.outcomes[0].column
    confident = (
        []
        if "predicted_label" in pair.scores[0].settings
        else about_confidence(pair.scored.column(names[0]), pair.scored.columns)
    )
    classes = parts_of_one(pair.scored.columns)
    if names[0] in classes:
        several = (
            f"{', '.join(f'`{name}`' for name in classes)} add up to 1; if they are the "
            f"probabilities of classes, write predictions.classes in place of score"
        )
        confident = [several, *confident]
    return [*confident, *about_names(*names, wait, pair.observed.columns)]


def _live(session: Session, log: Log) -> Log:
    """Leave out the rows of other splits and environments, where a log has scores."""
    live = live_rows(log) if roles.scores(log.columns) else None
    return only(session, log, live) if live else log


def _match(session: Session, log: Log, others: Sequence[Log]) -> tuple[Log, Key] | None:
    """Find the log of outcomes that shares most ids with the predictions."""
    keyed = [
        (other, key)
        for other in others
        if roles.outcomes(other.columns) and (key := find_key(session, log, other))
    ]
    near = [(other, key, _nearness(log, other)) for other, key in keyed]
    best = max(near, key=lambda m: (round(m[1].share * m[1].uniqueness, 1), m[2]), default=None)
    return best[:2] if best else None


def _nearness(log: Log, other: Log) -> int:
    """Return how many folders two logs share."""
    both = zip(log.place.split("/"), other.place.split("/"), strict=False)
    return next((depth for depth, (a, b) in enumerate(both) if a != b), 0)


def _joined(session: Session, scored: Log, observed: Log, key: Key) -> Pair | None:
    outcomes = roles.outcomes([c for c in observed.columns if c.name not in key.observed])
    times = _times(scored, observed)
    meaning = _meaning(scored, observed, times, [*map(is_one, outcomes)])
    scored, observed = _with_span(session, scored), _with_span(session, observed)
    asked, looked = arrivals.look_up(session, scored, observed, key, meaning)
    chosen = _chosen(session, scored, key.scored, outcomes)
    if not chosen.scores:
        return None
    outcome = chosen.outcomes[0]
    arrivals.take_outcome(session, [c.column for c in outcomes].index(outcome.column))
    arrived, remarks = arrivals.count(session, asked=asked, looked=looked), [*chosen.remarks]
    if times:
        remarks += _about_times(session, scored, "predictions.time", times[0])
        remarks += _about_times(session, observed, "outcomes.time", times[1])
    weight = _weight(session, observed, "outcomes", observed.table, is_one(outcome))
    if arrived.found:
        weight = _weight(session, scored, "predictions", arrivals.MET, "cm_is_one") or weight
    scores = chosen.scores
    columns = [*key.scored, *(c.column for c in scores[:1]), *(t.column for t in (times or ())[:1])]
    twice = key.uniqueness < 1 and _different(session, scored, columns) == _different(
        session, scored, key.scored
    )
    return Pair(
        *(scored, observed, scores, chosen.outcomes, key, times, arrived, remarks, weight, twice),
        doubts=chosen.doubts,
        unread=chosen.unread,
        refuted=chosen.refuted,
    )


def _meaning(
    scored: Log, observed: Log, times: tuple[Candidate, Candidate] | None, are_one: Sequence[str]
) -> Meaning:
    return Meaning(
        are_one=are_one,
        scored_on=None if scored.days else _moment(roles.times(scored.columns)),
        observed_on=None if observed.days else _moment(roles.times(observed.columns)),
        scored_at=moment(times[0]) if times else None,
        observed_at=moment(time) if (time := time_of_outcomes(observed, times)) else None,
    )


def time_of_outcomes(observed: Log, times: tuple[Candidate, Candidate] | None) -> Candidate | None:
    """Choose the time by which one outcome is later than another of the same prediction."""
    if times:
        return times[1]
    own = (t for t in _own_columns(observed) if observed.column(t.column).kind != "date")
    return next(own, None)


def _own_columns(log: Log) -> list[Candidate]:
    """List the columns that may be the time of a row and do not only repeat the path."""
    own = [t for t in roles.times(log.columns) if f"{t.column}={{day" not in log.place]
    return [t for t in own if not t.form]


def _in_one(session: Session, log: Log) -> Pair | None:
    """Take outcomes from the predictions, unless the column is a decision made from the score."""
    candidates = roles.outcomes_beside(log.columns)
    clear = [c for c in candidates if c.points >= CLEAR]
    outcomes = clear or candidates
    if not outcomes:
        return None
    if version := _version_of_rows(session, log):
        log = only(session, log, version)
    filling.keep_own(session, log, [*map(is_one, outcomes)])
    chosen = _chosen(session, log, [], outcomes)
    decided = any(remark.key == "outcomes.outcome" for remark in chosen.remarks)
    if not chosen.scores or decided or not (clear or chosen.predicts):
        return None
    outcome = chosen.outcomes[0]
    arrivals.take_outcome(session, [c.column for c in outcomes].index(outcome.column))
    unknown_by = _unknown_by(session, log, outcome)
    known = is_one(outcome)
    if unknown_by:
        known = f"CASE WHEN NOT {unknown_by[1]} THEN {known} END"
        session.connection.execute(f"DELETE FROM {arrivals.MET} WHERE {unknown_by[1]}")
    session.connection.execute(f"DELETE FROM {arrivals.MET} WHERE cm_is_one IS NULL")
    dated = [] if log.days else roles.times(log.columns)[:1]
    log = _with_span(session, log)
    of_outcomes = [unknown_by[0][1]] if unknown_by else []
    columns = [outcome.column, *dict.fromkeys(time.column for time in (*dated, *of_outcomes))]
    filled = filling.fill(session, log, known, _moment(dated), columns)
    times = unknown_by[0] if unknown_by else _own_times(log, outcome)
    if times:
        earlier = f"count_if({moment(times[1])} < {moment(times[0])})"
        (early,) = ask(session, f"SELECT {earlier} FROM {arrivals.MET}")
        filled = replace(filled, early=early or 0)
    weight = _weight(session, log, "predictions", arrivals.MET, "cm_is_one")
    return Pair(
        *(log, log, chosen.scores, chosen.outcomes, None, times, filled, chosen.remarks, weight),
        doubts=chosen.doubts,
        unread=chosen.unread,
        refuted=chosen.refuted,
        undated=unknown_by[2] if unknown_by else (),
    )


def _unknown_by(
    session: Session, log: Log, outcome: Candidate
) -> tuple[tuple[Candidate, Candidate], str, tuple[int, int]] | None:
    """Find a time without which an outcome of 0 is not known yet: it is null, or impossible.

    Returns
    -------
    tuple of (Candidate, Candidate), str and (int, int), or None
        The times of the prediction and of the outcome; whether an outcome is unknown, in SQL; and
        how many are because the time is null, and because it is impossible. None if all outcomes
        of 0 lack the time, which then is that of the positive ones, or if none does.
    """
    columns = roles.times(log.columns)
    ours = [t for t in columns if not log.column(t.column).nulls]
    for theirs in columns:
        pairs = [t for t in ours if t != theirs and _comparable(log, t, log, theirs)]
        at, zero = f"({moment(theirs)})::TIMESTAMP", f"({is_one(outcome)}) = false"
        impossible = f"coalesce({at} < '1970-01-02' OR {at} > '{LATEST}', false)"
        missing = f"{at} IS NULL"
        counts = ", ".join(
            f"count_if({which})"
            for which in (
                f"{zero} AND {missing}",
                f"{zero} AND {impossible}",
                f"{zero} AND NOT ({missing} OR {impossible})",
                f"NOT ({zero}) AND ({missing} OR {impossible})",
            )
        )
        no_time, odd, observed, positive = ask(session, f"SELECT {counts} FROM {arrivals.MET}")
        if pairs and (no_time or odd) and observed and not positive:
            unknown = f"coalesce({zero} AND ({missing} OR {impossible}), false)"
            return (pairs[0], theirs), unknown, (no_time, odd)
    return None


def _of_classes(session: Session, log: Log, logs: Sequence[Log]) -> Pair | None:
    """Pair a log whose columns are the probabilities of classes with what says which came true."""
    parts = class_columns(session, log)
    # The choice beside the probabilities of an answer is made from them.
    for observed in (o for o in logs if parts and not (log.question and o is log)):
        together = observed is log
        choices = labels_in(session, observed, len(parts), parts if together else ())
        key = find_key(session, log, observed) if choices and not together else None
        if not choices or (not together and (key is None or key.uniqueness < LEAST_UNIQUENESS)):
            continue
        if pair := _with_classes(session, log, observed, key, parts, choices):
            return pair
    return None


def _with_classes(
    session: Session,
    scored: Log,
    observed: Log,
    key: Key | None,
    parts: Sequence[str],
    choices: Sequence[Labels],
) -> Pair | None:
    are_one = [sql for of in choices for sql in of.are_one]
    times = _times(scored, observed) if key else None
    asked, looked = 0, 0
    if key:
        meaning = _meaning(scored, observed, times, are_one)
        asked, looked = arrivals.look_up(session, scored, observed, key, meaning)
    else:
        filling.keep_own(session, scored, are_one)
    chosen = name_classes(session, scored, parts, choices)
    if chosen is None:
        return None
    labels, classes = chosen
    first = sum(len(of.are_one) for of in choices[: choices.index(labels)])
    arrivals.take_outcome(session, first)
    arrived: Arrivals | Filling
    if key:
        scored, observed = _with_span(session, scored), _with_span(session, observed)
        positions = {name: first + i for i, name in enumerate(labels.values)}
        arrived = arrivals.count(session, asked=asked, looked=looked, classes=positions)
    else:
        dated = [] if scored.days else roles.times(scored.columns)[:1]
        scored = observed = _with_span(session, scored)
        outcome_of_any = f"CASE WHEN {' OR '.join(labels.are_one)} THEN {labels.are_one[0]} END"
        columns = [c.name for c in scored.columns]
        arrived = filling.fill(session, scored, outcome_of_any, _moment(dated), columns)
    score = Candidate(parts[0], CLEAR, "the probability of a class")
    doubts = (*scored.doubts, *classes.doubts)
    return Pair(
        *(scored, observed, [score], [labels.candidate], key, times, arrived, []),
        ahead=_ahead(session, scored),
        doubts=doubts,
        classes=classes.setting,
    )


def _version_of_rows(session: Session, log: Log) -> Subset | None:
    """Choose the rows of one version, if a value of another column comes once with each of them."""
    ids = [c for c in log.columns if c.kind in ID_KINDS and c.first is None]
    if any(c.uniqueness >= UNIQUE for c in ids):
        return None
    repeated = [c.name for c in ids if c.uniqueness >= 1 / MOST_VERSIONS]
    versions = (version_rows(session, log, (name,), ()) for name in repeated)
    return next(filter(None, versions), None)


def _chosen(
    session: Session, log: Log, taken: Sequence[str], outcomes: Sequence[Candidate]
) -> choosing.Choice:
    """Choose score and outcome by the matched rows."""
    own = {c.column for c in outcomes} if not taken else set[str]()
    scores = [
        c
        for c in roles.scores(log.columns, weak=True)
        if c.column not in taken and c.column not in own
    ]
    names = [c.column for c in outcomes]
    scores = [_of_label(session, log, score, names) for score in scores]
    probabilities, ones = arrivals.matched(
        session, {c.column: probability(c) for c in scores}, names
    )
    chosen = choosing.choose(scores, outcomes, probabilities, ones)
    readable = {*own, *taken, *(c.column for c in scores)}
    unread, same_ones = arrivals.matched(session, unread_scores(log.columns, readable), names)
    return choosing.with_unread(chosen, probabilities, ones or same_ones, unread)


def _of_label(session: Session, log: Log, score: Candidate, outcomes: Sequence[str]) -> Candidate:
    """Take a score for the probability of a label beside it, if it predicts better so."""
    column = log.column(score.column)
    readings = [score] + [
        roles.with_reason(score, f"the probability of `{label.name}`", settings)
        for label in labels_beside(column, log.columns)
        if not score.settings and label.name not in outcomes
        for means in meanings_of_label(label)
        for settings in [
            {"score_means": OF_LABEL, "predicted_label": label.name}
            | ({"label_means": means} if means else {})
        ]
    ]
    if len(readings) == 1:
        return score
    by_reading = {f"{number}": probability(reading) for number, reading in enumerate(readings)}
    number = best_reading(*arrivals.matched(session, by_reading, outcomes))
    return readings[int(number)] if number else score


def _weight(session: Session, log: Log, section: str, table: str, is_one: str) -> Weight | None:
    """Find weights, and see whether all rows of an outcome have the same."""
    for column in roles.weights(log.columns):
        values = f"SELECT count(DISTINCT {quoted(column.name)}) AS n FROM {table}"
        (most,) = ask(
            session, f"SELECT max(n) FROM ({values} WHERE {is_one} IS NOT NULL GROUP BY {is_one})"
        )
        return Weight(section, column.name, constant=most == 1)
    return None


def _different(session: Session, log: Log, columns: Sequence[str]) -> int:
    """Count the different values of some columns together in the sample."""
    values = ", ".join(map(quoted, columns))
    return int(ask(session, f"SELECT count(DISTINCT ({values})) FROM {log.table}")[0])


def _times(scored: Log, observed: Log) -> tuple[Candidate, Candidate] | None:
    """Choose the times of both logs, if both have one of the same kind."""
    ours, theirs = _own_columns(scored), _own_columns(observed)
    pairs = [(a, b) for a in ours[:3] for b in theirs[:3] if _comparable(scored, a, observed, b)]
    return pairs[0] if pairs else None


def _about_times(session: Session, log: Log, setting: str, time: Candidate) -> list[Remark]:
    """Say whether the times of the first sampled day that is odd are far from their partition."""
    for day in log.sampled:
        quantiles = f"quantile_disc(({moment(time)})::TIMESTAMP, [0.05, 0.25, 0.5, 0.75, 0.95])"
        (times,) = ask(
            session, f"SELECT {quantiles} FROM {log.table} WHERE {quoted(PARTITION)} = DATE '{day}'"
        )
        if remarks := about_times(setting, day, times or []):
            return remarks
    return []


def _ahead(session: Session, log: Log) -> int | None:
    """Find the one offset from UTC, in whole hours, at which every time is on its own day."""
    zoned = [t for t in roles.times(log.columns) if _has_zone(log, t)]
    if not log.days or not zoned:
        return None
    after = f"date_diff('second', {quoted(PARTITION)}::TIMESTAMP, ({moment(zoned[0])})::TIMESTAMP)"
    first, last = ask(session, f"SELECT min({after}) / 3600, max({after}) / 3600 FROM {log.table}")
    if first is None:
        return None
    fits = [hours for hours in OFFSETS if first + hours >= 0 and last + hours < HOURS_A_DAY]
    return fits[0] if len(fits) == 1 and fits != [0] else None


def _has_zone(log: Log, time: Candidate) -> bool:
    """Return whether a column tells moments: with a zone, or as numbers since 1970."""
    return "TIME ZONE" in log.column(time.column).type or "time_unit" in time.settings


def _own_times(log: Log, outcome: Candidate) -> tuple[Candidate, Candidate] | None:
    """Find the time of the prediction, and the time that is null exactly where the outcome is."""
    columns = [t for t in roles.times(log.columns) if not t.form]
    waiting = log.column(outcome.column).nulls
    theirs = [t for t in columns if waiting and log.column(t.column).nulls == waiting]
    ours = [t for t in columns if not log.column(t.column).nulls]
    pairs = [(a, b) for a in ours for b in theirs if _comparable(log, a, log, b)]
    return pairs[0] if pairs else None


def _comparable(scored: Log, a: Candidate, observed: Log, b: Candidate) -> bool:
    """Tell whether the times of two logs can be compared, whatever their precision and unit."""
    kinds = [scored.column(a.column).kind, observed.column(b.column).kind]
    if "date" in kinds:
        return False
    if "text" in kinds:
        other = next((c for c, kind in zip((a, b), kinds, strict=True) if kind != "text"), None)
        return other is None or _has_zone(scored if other is a else observed, other)
    return _has_zone(scored, a) == _has_zone(observed, b)


def probability(score: Candidate) -> str:
    """Write the probability that a score column means in SQL."""
    number = f"try_{number_in(quoted(score.column), score.mark)}"
    if label := score.settings.get("predicted_label"):
        said = score.settings.get("label_means")
        settings = {"outcome_means": said} if said else {}
        hit = is_one(Candidate(f"{label}", 0, "", settings))
        return f"CASE {hit} WHEN true THEN {number} WHEN false THEN 1 - {number} END"
    means = score.settings.get("score_means")
    return {
        "percent": f"({number} / 100)",
        "logit": f"(1 / (1 + exp(-{number})))",
        "probability_of_0": f"(1 - {number})",
    }.get(str(means), number)


def is_one(outcome: Candidate) -> str:
    """Write in SQL whether the outcome of a row is 1; null if it is neither 1 nor 0."""
    text = f"lower({quoted(outcome.column)}::VARCHAR)"
    means = outcome.settings.get("outcome_means")
    positive, negative = ("1", "1.0", "true"), ("0", "0.0", "false")
    if isinstance(means, dict):
        positive, negative = means["positive"], means["negative"]
    ones, zeros = (
        ", ".join(text_in_sql(str(v).lower()) for v in vs) for vs in (positive, negative)
    )
    zero = f"WHEN {text} IN ({zeros}) THEN false " if zeros else ""
    return f"CASE WHEN {text} IN ({ones}) THEN true {zero}END"


def moment(time: Candidate) -> str:
    """Write the time of a row in SQL."""
    column = quoted(time.column)
    per_second = {"s": 1, "ms": 1e3, "us": 1e6}.get(str(time.settings.get("time_unit")))
    if time.form:
        return f"try_strptime({column}::VARCHAR, {text_in_sql(time.form)})"
    if per_second:
        return f"to_timestamp(try_cast({column} AS DOUBLE) / {per_second:.0f})"
    return f"try_cast({column}::VARCHAR AS TIMESTAMPTZ)"


def _moment(times: Sequence[Candidate]) -> str | None:
    return moment(times[0]) if times else None
