"""The best configuration, as settings: each with its reason, and what nobody could tell as TODO."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from monitor.base.sql_text import text_in_sql
from monitor.config import LONGEST_WAIT, TODO, WEEKDAYS
from monitor.days.summary import days_between
from monitor.logs.discovery.pairing import Pair, about_confidence, is_dated, time_of_outcomes
from monitor.logs.discovery.roles import rules
from monitor.logs.discovery.roles.evidence import Choice
from monitor.logs.discovery.roles.keys import Key
from monitor.logs.discovery.roles.rules import CLEAR, Candidate
from monitor.logs.discovery.samples.profile import Column, number_in
from monitor.logs.discovery.samples.reading import Log, about_twins
from monitor.words.numbers import percent

KEY_OF_DAY = re.compile(r"([^/=]+)=[^/]*\{day")  # month={day:%m}
FEW = 5  # positives of a day: with fewer, a day without any is not rare
MOST_SHOWN = 4  # columns or values in one comment
MOST_SERVED = 5  # models that answer
MOST_NAMED = 12  # columns of a log
FEW_WITHOUT = 3  # days of predictions after the first outcomes, before another round is missed
LEAST_SPAN = 13  # days after the first: with two weeks, every day of the week came twice
MOST_REJECTED = 0.05  # share of the rows of a day that a check may leave out unasked
FEW_GRADES = 12  # values in texts


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


def settings_of(pair: Pair) -> list[Setting]:
    """List the settings of a model in the order in which they are written."""
    return [
        *_place("predictions", pair.scored),
        *_id("predictions", pair),
        *_score(pair),
        *_time("predictions", pair),
        *_weight("predictions", pair),
        *_entity(pair),
        *_outcomes(pair),
        *_outcome(pair),
        *_time("outcomes", pair),
        *_weight("outcomes", pair),
        *_repeats(pair),
        *_delay(pair),
        *_zone(pair),
        *_calendar(pair),
        *_segments(pair),
        *_checks(pair),
    ]


def unfinished(scored: Log | None, observed: Log | None, key: Key | None) -> Pair:
    """Give what is known of logs that make no model, of which a person decides the rest."""
    found = rules.scores(scored.columns) if scored else []
    columns = observed.columns if observed else ()
    if scored is observed:
        beside = rules.outcomes_beside(columns)
        outcomes = beside if len(beside) == 1 else []
    else:
        outcomes = rules.outcomes(columns)
    choice = Choice(found[:1], outcomes[:1])
    doubts = dict.fromkeys(doubt for log in (scored, observed) if log for doubt in log.doubts)
    return Pair(scored, observed, choice, key, doubts=tuple(doubts))


def most_likely(logs: Sequence[Log]) -> tuple[Log | None, Log | None]:
    """Choose the logs that could be the predictions and the outcomes of a model."""
    scored = (
        [log for log in logs if rules.scores(log.columns)]
        or [log for log in logs if any(map(rules.could_be_score, log.columns))]
        or [log for log in logs if log.twins]
    )
    ours = max(scored, key=lambda log: len(log.days), default=None)
    observed = [log for log in logs if rules.outcomes(log.columns)]
    apart = (
        [log for log in observed if log is not ours]
        or [log for log in observed if rules.outcomes_beside(log.columns)]
        or [log for log in observed if log.twins]
    )
    worth = lambda log: (rules.outcomes(log.columns)[0].points, len(log.days))  # noqa: E731
    theirs = max(apart, key=worth, default=None)
    others = [log for log in logs if log is not theirs and is_dated(log)]
    if ours is None and theirs is not None:  # its score may be within a column
        ours = max(others, key=lambda log: len(log.days), default=None)
    return ours, theirs


def _place(section: str, log: Log | None) -> Iterator[Setting]:
    """Say where the rows of a log are, how they are laid out, which count, and what dates them."""
    if log is None:
        why = f"No log that could be the {section} was found: such as {section}/{{day}}.parquet."
        yield Setting(section, "path", TODO, why)
        return
    if log.days:
        gaps = _gaps(log)
        missing = f", {gaps:,} between them missing" if gaps else ""
        why = f"Days {log.days[0]} to {log.days[-1]}{missing}."
    else:
        days = f", from {log.span[0]} to {log.span[1]}" if log.span else ""
        why = f"The path names no day, so a column dates the rows{days}."
    reasons = {
        "explode": "Each record has a list of predictions; its elements are rows, from position 0.",
        "columns": f"No file has a header, so these name the columns, in order: {_like(log)}.",
        "changed": "Tells that a row has changed, without reading whole rows.",
    }
    for key, value in log.settings.items():
        if key == "where":
            if section == "predictions" or log.question:
                said = ". ".join(log.doubts) or f"the rows of the question {log.question}"
                yield Setting(section, key, value, f"{_sentence(said)}.")
            continue
        active = value != "parquet"
        yield Setting(section, key, value, why or reasons.get(key, ""), active=active)
        why = ""
    if not is_dated(log):
        why = (
            f"The column that says the day of a row, a date, a time or ISO text; of another form "
            f"such as 01/02/2026 write {{sql: \"strptime(NAME, '%d/%m/%Y')\"}}. {_list(log)}"
        )
        yield Setting(section, "day", TODO, why)
    elif not log.days:
        first, *_ = rules.times(log.columns)
        sql = f"try_strptime({first.column.written}, {text_in_sql(first.column.form)})"
        day = {"sql": sql} if first.column.form else first.column.setting
        yield Setting(section, "day", day, f"{_sentence(first.reason)}.")
        if "time_unit" in first.settings:
            yield Setting(section, "time_unit", first.settings["time_unit"])


def _like(log: Log) -> str:
    """Name the first columns of a log, each with a value."""
    of = {c.name: f" such as {next(iter(c.values))}" if c.values else "" for c in log.columns}
    return ", ".join(f"{c.name} {c.kind}{of[c.name]}" for c in log.columns[:MOST_NAMED])


def _list(log: Log | None) -> str:
    if log is None:
        return ""
    columns = ", ".join(f"{c.name} {c.type}" for c in log.columns[:MOST_NAMED])
    nested = ", ".join(f"{name} {type_}" for name, type_ in log.nested[:MOST_NAMED])
    fields = f' Of a map or a list write {{sql: "NAME[1]"}}: {nested}.' if nested else ""
    return f"The log has: {columns}.{fields}"


def _id(section: str, pair: Pair) -> Iterator[Setting]:
    if pair.key is None:
        if pair.arrived is None and not (pair.scored and pair.together):
            log = pair.scored if section == "predictions" else pair.observed
            why = (
                "The column, or a list of columns, that identifies a prediction in both logs; if "
                "both write it differently, also set ids: {cast: integer}, uuid or text."
            )
            yield Setting(section, "id", TODO, f"{why} {_list(log)}".rstrip())
        return
    key, arrived, why = pair.key, pair.arrived, ""
    if section == "predictions" and arrived:
        why = (
            f"Different in {percent(key.uniqueness, 2)} of the sampled rows, and "
            f"{percent(arrived.found / max(1, arrived.asked))} of {arrived.asked:,} predictions "
            f"are found among the outcomes by it."
        )
    columns, reading = (
        (key.scored, key.reading[0]) if section == "predictions" else (key.observed, key.reading[1])
    )
    if reading != "{}":
        yield Setting(section, "id", {"sql": reading.format(columns[0].written)}, why)
        return
    named = [column.setting for column in columns]
    yield Setting(section, "id", named[0] if len(named) == 1 else named, why)
    if section == "predictions" and pair.delivered_twice:
        why = "The ids that repeat in the sample have the same score: delivered more than once."
        yield Setting(section, "duplicates", "keep_identical", why)


def _why_no_score(pair: Pair) -> tuple[str, str] | None:
    """Say which key a person has to decide in place of a score, and why; None if there is one."""
    choice, log = pair.choice, pair.scored
    if choice.unread:
        named = [c.name for c in choice.scores if c.column != choice.unread.column]
        better = f" better than {named[0]}" if named else ""
        how = how_to_map(choice.unread.column)
        return "score", f"{choice.unread.name} predicts{better}, but it is no probability: {how}"
    if log and pair.arrived is None and (parts := rules.parts_of_one(log.columns)):
        return "classes", (
            f"{', '.join(parts)} add up to 1, so the model has several classes: write classes: "
            f"{{names: [NAME, …], columns: [{', '.join(parts)}]}}, with the values of the outcome "
            f"as names. If it has not, write score: COLUMN in place of classes."
        )
    if choice.scores:
        return None
    hints = [f"{_sentence(doubt)}." for doubt in about_twins(log.twins)] if log else []
    said = [how_to_map(c) for c in (log.columns if log else ()) if rules.could_be_score(c)]
    why = f"The column with the predicted probability, a number. {' '.join([*said, *hints])}"
    return "score", f"{why} {_list(log)}".rstrip()


def _score(pair: Pair) -> Iterator[Setting]:
    choice, log = pair.choice, pair.scored
    if pair.classes:
        yield Setting("predictions", "classes", pair.classes, "These columns add up to 1.")
        return
    if none := _why_no_score(pair):
        yield Setting("predictions", none[0], TODO, none[1])
        return
    best, *others = choice.scores
    why = f"{_sentence(best.reason)}."
    if others:
        named = [f"{c.name} ({c.reason})" for c in others[:MOST_SHOWN]]
        why += f" Other columns that could be the score: {'; '.join(named)}."
    number = {"sql": number_in(best.column.written, best.column.mark)}
    yield Setting("predictions", "score", number if best.column.mark else best.column.setting, why)
    remark = next((r for r in choice.remarks if r.key == "predictions.score_means"), None)
    if "score_means" in best.settings:
        why = f"{_sentence(best.reason)}."
        yield Setting("predictions", "score_means", best.settings["score_means"], why)
        for key in ("predicted_label", "label_means"):
            if log and (value := best.settings.get(key)):
                label = key == "predicted_label"
                shown = log.column(f"{value}").setting if label else value
                yield Setting("predictions", key, shown)
    elif remark:
        yield Setting("predictions", "score_means", remark.value, _sentence(remark.sentence))


def how_to_map(column: Column) -> str:
    """Say of a column that is named like a score why it is none, and how it becomes one."""
    begin, name, values = f"{column.name} is {column.type}", column.written, [*column.values]
    cases = (
        'write the probability that each stands for, {{sql: "CASE {} WHEN {} THEN 0.01 … END"}}.'
    )
    if column.is_number:
        begin = f"{begin} from {column.least:.4g} to {column.greatest:.4g}"
        if column.distinct == 2:  # noqa: PLR2004 - as of a threshold
            return f"{begin}, a decision and no probability: log the probability beside it."
        if rules.are_points(column):
            return (
                f"{begin}, points of a scorecard: write the probability that they stand for, "
                f'{{sql: "1 / (1 + exp(({name} - offset) / factor))"}}, with the numbers of the '
                f"scorecard."
            )
        if column.has_grades:
            return f"{begin}, grades: {cases.format(name, min(values, key=float))}"
    elif column.kind == "text" and 0 < column.distinct <= FEW_GRADES:
        shown = ", ".join(sorted(values)[:3])
        written = cases.format(name, text_in_sql(min(values)))
        return f"{begin} with grades such as {shown}: {written}"
    if column.mark:
        how = {",": "with a decimal comma", "%": "with percent signs"}
        said = how.get(column.mark, "that is a number")
        return f'{begin} {said}: write it as {{sql: "{number_in(name, column.mark)}"}}.'
    return f"{begin}, not a number from 0 to 1; write the probability that it stands for."


def _weight(section: str, pair: Pair) -> Iterator[Setting]:
    if pair.weight and pair.weight.section == section:
        column = pair.weight.column
        values = ", ".join([*column.values][:MOST_SHOWN]) or f"{column.distinct:,} values"
        why = f"Weights {values}, equal for all rows of an outcome: the log keeps only some rows."
        if not pair.weight.constant:
            why = f"Weights {values}. Not set, because rows of one outcome have different ones."
        yield Setting(section, "weight", column.setting, why, active=pair.weight.constant)


def _entity(pair: Pair) -> Iterator[Setting]:
    if pair.entity:
        why = (
            f"{percent(pair.entity.again, 0)} of its sampled values are there on several of the "
            f"sampled days, so rows of different days hang together."
        )
        yield Setting("predictions", "entity", pair.entity.column.setting, why)


def _time(section: str, pair: Pair) -> Iterator[Setting]:
    if pair.times is None or pair.arrived is None:
        return
    time, log = (
        (pair.times[0], pair.scored) if section == "predictions" else (pair.times[1], pair.observed)
    )
    early, why = pair.arrived.early, f"{_sentence(time.reason)}."
    if early:
        why += f" Not set, because {early:,} sampled outcomes are earlier than their prediction."
    odd = [remark.sentence for remark in pair.choice.remarks if remark.key == f"{section}.time"]
    why += "".join(f" Look at this: {sentence}" for sentence in odd)
    yield Setting(section, "time", time.column.setting, why, active=not early)
    own_place = section == "predictions" or not pair.together
    if "time_unit" in time.settings and not (own_place and log and not log.days):
        yield Setting(section, "time_unit", time.settings["time_unit"], active=not early)


def _outcomes(pair: Pair) -> Iterator[Setting]:
    """Say where the outcomes are."""
    if pair.together and pair.scored:
        why = "The predictions have the outcome as a column, null until it is known."
        why = why if pair.arrived else "The only log that was found."
        yield Setting("outcomes", "in_predictions", True, why)
        return
    yield from _place("outcomes", pair.observed)
    yield from _id("outcomes", pair)
    yield from _calendar_of_outcomes(pair)


def _outcome(pair: Pair) -> Iterator[Setting]:
    if pair.outcome:
        named = ", ".join((pair.classes or {})["names"][:MOST_SHOWN])
        yield Setting("outcomes", "outcome", pair.outcome, f"The classes {named}.")
        return
    choice = pair.choice
    if not choice.outcomes:
        yield Setting("outcomes", "outcome", TODO, _why_no_outcome(pair))
        return
    best, *others = choice.outcomes
    if choice.refuted and best.points <= CLEAR and pair.observed:
        beside = ", ".join(f"{c.name} {c.type}" for c in pair.observed.columns[:MOST_NAMED])
        why = (
            f"The column with what came true: no score predicts {best.name}, nor does its name "
            f"say that it is the outcome. The log has: {beside}. For other values than 0 and 1 add "
            f"outcome_means: {{positive: [fraud], negative: [ok]}}."
        )
        yield Setting("outcomes", "outcome", TODO, why)
        return
    why = f"{_sentence(best.reason)}."
    if others:
        named = ", ".join(c.name for c in others[:MOST_SHOWN])
        why += f" Other columns that could be the outcome: {named}."
    elsewhere = "predictions.score_means", "predictions.time", "outcomes.time"
    wrong = [remark.sentence for remark in choice.remarks if remark.key not in elsewhere]
    why += "".join(f" Look at this: {sentence}" for sentence in wrong)
    means = best.settings.get("outcome_means")
    if isinstance(means, dict) and _is_mixed(means):
        why += " Some files have text, and others true and false."
        value = {"sql": f"CAST({best.column.written} AS BOOLEAN)"}
        yield Setting("outcomes", "outcome", value, why)
        return
    yield Setting("outcomes", "outcome", best.column.setting, why)
    if means and best.unknown_words:
        yield Setting("outcomes", "outcome_means", TODO, _how_words_may_mean(best))
    elif means:
        yield Setting("outcomes", "outcome_means", means)


def _why_no_outcome(pair: Pair) -> str:
    log = pair.observed
    if log and pair.together and (beside := rules.outcomes_beside(log.columns)):
        listed = ", ".join(c.name for c in beside)
        score = pair.choice.scores[0].column if pair.choice.scores else None
        doubts = about_confidence(score, log.columns) if score else ()
        why = (
            f"The column with what came true: one of {listed}; the score predicts none of them as "
            f"it stands, so it could not be measured which."
        )
        return " ".join([why, *(f"{doubt}." for doubt in doubts)])
    why = (
        "The column with what happened, 0 or 1. For other values add outcome_means: {positive: "
        "[fraud], negative: [ok]}; if the log holds only positives, such as clicks, write outcome: "
        f"null and absent_means: negative after 7d. {_list(log)}"
    )
    return why.rstrip()


def _is_mixed(means: Mapping[str, Sequence[object]]) -> bool:
    """Tell whether True and False are text in some files, and booleans in others."""
    spoken = [{f"{word}".lower() for word in words} for words in means.values() if len(words) > 1]
    return spoken == [{"true"}, {"false"}]


def _how_words_may_mean(outcome: Candidate) -> str:
    """Say which two settings are possible for words that nobody knows."""
    means = outcome.settings["outcome_means"]
    assert isinstance(means, dict)
    (likely,), (other,) = means["positive"], means["negative"]
    return (
        f"Which word of {outcome.name} means 1? {{positive: [{likely}], negative: [{other}]}} if "
        f"the score is the probability of {likely}, or {{positive: [{other}], negative: "
        f"[{likely}]}} if it is that of {other}."
    )


def _repeats(pair: Pair) -> Iterator[Setting]:
    arrived = pair.arrived
    if not arrived or not arrived.conflicts or not pair.observed:
        return
    time = time_of_outcomes(pair.observed, pair.times)
    why = f"{arrived.conflicts:,} predictions have outcomes that contradict each other"
    if time is None or arrived.ties or arrived.early:
        which = f"{time.name} does not say" if time else "no time says"
        why += (
            f", and {which} which is the latest. If the later one corrects the earlier, set "
            f"outcomes.time to the column that says when an outcome was written and this key to "
            f"latest. Else remove this line, and list outcome_conflicting under checks.reject."
        )
        yield Setting("outcomes", "duplicates", TODO, why)
        return
    yield Setting("outcomes", "duplicates", "latest", f"{why}; the latest counts.")
    if pair.times is None:
        yield Setting("outcomes", "time", time.column.setting, f"{_sentence(time.reason)}.")
        if "time_unit" in time.settings and pair.observed.days:
            yield Setting("outcomes", "time_unit", time.settings["time_unit"])


def _delay(pair: Pair) -> Iterator[Setting]:
    """Say what absence means, how ids are compared, and when a day is settled."""
    arrived = pair.arrived
    if arrived and arrived.clicks:
        why = (
            f"Every outcome is 1, and {percent(1 - arrived.found / arrived.asked)} of the "
            f"predictions have none: a log of clicks, where absence means 0."
        )
        yield Setting("outcomes", "absent_means", f"negative after {arrived.wait}d", why)
    if pair.key and pair.key.cast:
        a, b = pair.key.scored[0], pair.key.observed[0]
        why = f"The ids are {a.type} in the predictions and {b.type} in the outcomes"
        why += ", written differently." if a.type == b.type else "."
        yield Setting("", "ids", {"cast": pair.key.cast}, why)
    if not arrived:
        return
    wait, why = arrived.wait, arrived.why
    if pair.scored and pair.observed and not pair.together and _comes_in_rounds(pair):
        weekdays = _weekdays(pair.observed)
        waited = [_until_next(day, weekdays) for day in (pair.key.days if pair.key else ())]
        longer = max(_until_next(day, weekdays) for day in pair.scored.days) - max(waited or [0])
        wait = min(LONGEST_WAIT, wait + longer)
        why += f" Other days of the week wait up to {longer} days longer." * (longer > 0)
    yield Setting("", "settled_after", wait, why)


def _zone(pair: Pair) -> Iterator[Setting]:
    if pair.ahead is not None:
        why = (
            f"The sampled predictions of each day have times from midnight to midnight at UTC"
            f"{pair.ahead:+d}, not at UTC. If the clocks of that place change, write its name, "
            f"such as Europe/Berlin."
        )
        yield Setting("", "time_zone", f"Etc/GMT{-pair.ahead:+d}", why)


def _calendar(pair: Pair) -> Iterator[Setting]:
    if pair.arrived and pair.scored and (weekdays := _weekdays(pair.scored)):
        why = "There are predictions on all of these days of the week, and on no others."
        yield Setting("", "calendar", {"weekdays": weekdays}, why)


def _calendar_of_outcomes(pair: Pair) -> Iterator[Setting]:
    if not (pair.arrived and pair.scored and pair.observed):
        return
    if rounds := _first_rounds(pair.scored, pair.observed):
        came = " and ".join(f"{day}" for day in rounds)
        why = (
            f"Outcomes have come on {came} only, which is too short to see on which days of the "
            f"week they come. Write them, as {{weekdays: [{WEEKDAYS[rounds[0].weekday()]}]}}, or "
            f"leave the key out if they come every day and files are missing."
        )
        yield Setting("outcomes", "calendar", TODO, why)
        return
    value, reasons = dict[str, Any](), list[str]()
    if _comes_in_rounds(pair):
        value["weekdays"] = _weekdays(pair.observed)
        reasons.append("There are outcomes on all of these days of the week, and on no others.")
    closed = _days_before(pair.observed, pair.scored)
    if any(WEEKDAYS[day.weekday()] in value.get("weekdays", WEEKDAYS) for day in closed):
        value["closed"] = [f"{closed[0]}/{closed[-1]}"]
        reasons.append(f"The log of outcomes begins on {closed[-1] + timedelta(1)}.")
    if value:
        yield Setting("outcomes", "calendar", value, " ".join(reasons))


def _first_rounds(scored: Log, observed: Log) -> Sequence[date]:
    """Give the days of outcomes that seem weekly in a log too short to show it; else none."""
    came = observed.days
    short = came and (came[-1] - came[0]).days < LEAST_SPAN
    if not short or len({day.weekday() for day in came}) > 1 or not scored.days:
        return ()
    return came if (scored.days[-1] - came[0]).days >= FEW_WITHOUT else ()


def _days_before(late: Log, early: Log) -> list[date]:
    """List the days before a log begins that another one has."""
    first, start = (log.days[0] if log.days else (log.span or [None])[0] for log in (early, late))
    if not first or not start or first >= start:
        return []
    return [*days_between(first, start - timedelta(1))]


def _comes_in_rounds(pair: Pair) -> bool:
    """Return whether predictions have days of the week on which no outcomes come."""
    if not (pair.scored and pair.observed):
        return False
    weekdays = _weekdays(pair.observed)
    scored_on = {WEEKDAYS[day.weekday()] for day in pair.scored.days}
    return bool(weekdays) and not scored_on.issubset(weekdays)


def _until_next(day: date, weekdays: Sequence[str]) -> int:
    """Count the days from a day to the next of some days of the week, which it may be itself.

    Examples
    --------
    >>> _until_next(date(2026, 3, 2), ["mon"]), _until_next(date(2026, 3, 3), ["mon", "thu"])
    (0, 2)
    """
    positions = (WEEKDAYS.index(name) for name in weekdays)
    return min((place - day.weekday()) % len(WEEKDAYS) for place in positions)


def _weekdays(log: Log) -> list[str]:
    """Name the days of the week that a log has, if it has all of those and lacks the others."""
    if not log.days or (log.days[-1] - log.days[0]).days < LEAST_SPAN:
        return []
    named = {WEEKDAYS[day.weekday()] for day in log.days}
    every = days_between(log.days[0], log.days[-1])
    expected = [day for day in every if WEEKDAYS[day.weekday()] in named]
    complete = expected == [*log.days] and len(named) < len(WEEKDAYS)
    return [name for name in WEEKDAYS if name in named] if complete else []


def _segments(pair: Pair) -> Iterator[Setting]:
    """Watch which model answered, where an answer says it; offer columns with a few values."""
    log = pair.scored
    if not (pair.arrived and log):
        return
    served = [c for c in log.columns if c.name == "model" and c.kind == "text" and c.values]
    if log.question and served:
        why = "The model that answered: calibration-monitor where says whether a drift sits in one."
        yield Setting("", "segments", [{"column": "model", "top": MOST_SERVED}], why)
        return
    taken = {c.name for c in (*pair.choice.scores, *pair.choice.outcomes)}
    taken |= {c.name for c in rules.candidates(rules.WEIGHT, log.columns)}
    taken |= {*(pair.key.names if pair.key else ()), *KEY_OF_DAY.findall(log.place)}
    taken |= {f"{c.settings.get('predicted_label')}" for c in pair.choice.scores[:1]}
    free = [c for c in log.columns if c.name not in taken]
    offered = [c.column for c in rules.candidates(rules.SEGMENT, free)]
    offered.sort(key=_rest)
    for column in offered[:MOST_SHOWN]:
        shares = rules.shares_of(column)
        said = ", ".join(f"{value} {percent(share, 0)}" for value, share in shares.items())
        value = {"column": column.setting, "values": [*shares]}
        why = f"{said}; other {percent(_rest(column), 0)}"
        yield Setting("", "segments", value, why, active=False)


def _rest(column: Column) -> float:
    return max(0.0, 1 - sum(rules.shares_of(column).values()))


def _checks(pair: Pair) -> Iterator[Setting]:
    """Leave out the few rows that would stop every day, and say how many they are."""
    key, log, choice, arrived = pair.key, pair.scored, pair.choice, pair.arrived
    if not (arrived and log):
        return
    score = choice.scores[0].column
    if key and key.uniqueness < 1 and not pair.delivered_twice:
        repeats = 1 - key.uniqueness
        why = f"{percent(repeats, 3)} of the sampled ids are repeats."
        if repeats > MOST_REJECTED:
            why = (
                f"{percent(repeats, 0)} of the sampled ids are repeats, and no column says why. "
                f"Write a filter such as model_version = 'v3', if the log holds several models; or "
                f"replace this line by duplicates: keep_identical, if rows are delivered more than "
                f"once; or add a column to the id in both logs."
            )
            yield Setting("predictions", "where", TODO, why)
        else:
            yield Setting("checks", "prediction_repeated", "reject", why)
    if key and any(column.nulls for column in key.scored):
        why = "Some sampled predictions have no id."
        yield Setting("checks", "prediction_id_missing", "reject", why)
    if score.nulls and not choice.unread:
        why = f"{score.nulls:,} of {score.rows:,} sampled predictions have no score."
        yield Setting("checks", "score_missing", "reject", why)
    is_read = not (choice.unread or pair.classes or "score_means" in choice.scores[0].settings)
    if is_read and score.within < 1:
        why = f"{percent(1 - score.within, 3)} of the sampled scores lie outside [0, 1]."
        yield Setting("checks", "score_out_of_range", "reject", why)
    yield from _unknown_outcomes(pair)
    if log.days and (gaps := _gaps(log)) and not _weekdays(log):
        why = f"{gaps:,} days between the first and the last have no predictions."
        yield Setting("checks", "missing_day", "accept", why)
    if arrived.positives < FEW and not pair.classes:
        why = "Days without a positive outcome are normal at this volume."
        yield Setting("checks", "one_class", "accept", why)


def _unknown_outcomes(pair: Pair) -> Iterator[Setting]:
    """Say how many outcomes are invalid, and how many of 0 have a time that means "not yet".

    The same of outcomes without a time is what the check does unasked.
    """
    if pair.classes:
        return
    best = pair.choice.outcomes[0]
    outcome, means = best.column, best.settings.get("outcome_means")
    lists = means.values() if isinstance(means, dict) else [outcome.values]
    given = {f"{value}" for values in lists for value in values}
    wrong = [f"{n:,} are {value}" for value, n in outcome.values.items() if value not in given]
    missing = outcome.nulls - outcome.not_numbers  # nan is an outcome that is not known yet
    wrong = [f"{missing:,} are null", *wrong] if pair.key and missing else wrong
    if wrong:
        why = f"Of {outcome.rows:,} sampled outcomes {', '.join(wrong)}."
        yield Setting("checks", "outcome_invalid", "reject", why)
    for check, count, what in zip(
        ("outcome_time_missing", "outcome_time_impossible"),
        pair.undated,
        ("null", "impossible"),
        strict=False,
    ):
        if pair.times and count:
            why = (
                f"{count:,} sampled outcomes are 0 and their {pair.times[1].name} is {what}, so "
                f"they count as not known yet."
            )
            yield Setting("checks", check, "unknown", why)


def _gaps(log: Log) -> int:
    return (log.days[-1] - log.days[0]).days + 1 - len(log.days)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def span(pair: Pair) -> tuple[date, date] | None:
    """Return the first and the last day that can be processed, if they are known.

    Outcomes beside the scores are those that the files have now; the newest days wait for theirs.
    """
    log = pair.scored
    bounds = log and ((log.days[0], log.days[-1]) if log.days else log.span)
    if not bounds:
        return None
    first, last = bounds
    wait = pair.arrived.wait if pair.together and pair.arrived else 0
    return first, max(first, last - timedelta(wait))
