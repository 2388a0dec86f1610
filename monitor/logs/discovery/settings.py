"""The best configuration, as settings: each with its reason, and what nobody could tell as TODO."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, timedelta
from typing import Any

from monitor.base.sql_text import text_in_sql
from monitor.config import LONGEST_WAIT, TODO, WEEKDAYS
from monitor.days.summary import days_between
from monitor.logs.discovery.pairing import (
    Pair,
    Setting,
    about_confidence,
    is_dated,
    time_of_outcomes,
)
from monitor.logs.discovery.roles import rules
from monitor.logs.discovery.roles.evidence import Choice
from monitor.logs.discovery.roles.keys import LEAST_UNIQUENESS, find_key
from monitor.logs.discovery.roles.rules import CLEAR
from monitor.logs.discovery.samples.profile import Column, number_in
from monitor.logs.discovery.samples.reading import Log
from monitor.logs.engines.session import Session
from monitor.words.guesses import say, say_how_to_map
from monitor.words.numbers import percent

KEY_OF_DAY = re.compile(r"([^/=]+)=[^/]*\{day")  # month={day:%m}
MOST_SHOWN = 4  # columns or values in one comment
MOST_SERVED = 5  # models that answer
MOST_NAMED = 12  # columns of a log
FEW_WITHOUT = 3  # days of predictions after the first outcomes, before another round is missed
LEAST_SPAN = 13  # days after the first: with two weeks, every day of the week came twice
FEW_GRADES = 12  # values in texts


def settings_of(pair: Pair) -> list[Setting]:
    """List the settings of a model in the order in which they are written."""
    parts = [*_place("predictions", pair.scored), *_id("predictions", pair), *_score(pair)]
    parts += _time("predictions", pair)
    if pair.together and pair.scored:
        why = say("together" if pair.arrived else "only log")
        parts.append(Setting("outcomes", "in_predictions", True, why))
    else:
        parts += [*_place("outcomes", pair.observed), *_id("outcomes", pair)]
        parts += _calendar_of_outcomes(pair)
    parts += [*_outcome(pair), *_time("outcomes", pair), *pair.further]
    parts += [*_delay(pair), *_segments(pair)]
    log = pair.scored
    if pair.arrived and log and log.days and (gaps := _gaps(log)) and not _weekdays(log):
        parts.append(Setting("checks", "missing_day", "accept", say("gaps", gaps=gaps)))
    return parts


def unfinished(session: Session, logs: Sequence[Log]) -> Pair:
    """Give what is known of logs that make no model, of which a person decides the rest."""
    scored, observed = _most_likely(logs)
    scores = rules.scores(scored.columns) if scored else []
    columns = observed.columns if observed else ()
    outcomes, key = rules.outcomes(columns), None
    if scored is observed:
        beside = rules.outcomes_beside(columns)
        outcomes = beside if len(beside) == 1 else []
    elif scored and observed:
        found = find_key(session, scored, observed)
        key = found if found and found.uniqueness >= LEAST_UNIQUENESS else None
    doubts = dict.fromkeys(doubt for log in (scored, observed) if log for doubt in log.doubts)
    return Pair(scored, observed, Choice(scores[:1], outcomes[:1]), key, doubts=tuple(doubts))


def _most_likely(logs: Sequence[Log]) -> tuple[Log | None, Log | None]:
    """Choose the logs that could be the predictions and the outcomes of a model."""
    tests: list[Callable[[Log], object]] = [
        lambda log: rules.scores(log.columns),
        lambda log: any(map(rules.could_be_score, log.columns)),
        lambda log: log.twins,
    ]
    scored = next((of for test in tests if (of := [*filter(test, logs)])), [])
    ours = max(scored, key=lambda log: len(log.days), default=None)
    observed = [log for log in logs if rules.outcomes(log.columns)]
    tests = [lambda log: log is not ours, lambda log: rules.outcomes_beside(log.columns), tests[-1]]
    apart = next((of for test in tests if (of := [*filter(test, observed)])), [])
    worth = lambda log: (rules.outcomes(log.columns)[0].points, len(log.days))  # noqa: E731
    theirs = max(apart, key=worth, default=None)
    if ours is None and theirs is not None:  # its score may be within a column
        others = [log for log in logs if log is not theirs and is_dated(log)]
        ours = max(others, key=lambda log: len(log.days), default=None)
    return ours, theirs


def _place(section: str, log: Log | None) -> Iterator[Setting]:
    """Say where the rows of a log are, how they are laid out, which count, and what dates them."""
    if log is None:
        yield Setting(section, "path", TODO, say("no log", section=section))
        return
    if log.days:
        gaps = _gaps(log)
        missing = f", {gaps:,} between them missing" if gaps else ""
        why = say("days", first=log.days[0], last=log.days[-1], missing=missing)
    else:
        days = f", from {log.span[0]} to {log.span[1]}" if log.span else ""
        why = say("a column dates", days=days)
    for key, value in log.settings.items():
        if key == "where":
            if section == "predictions" or log.question:
                said = [f"{_sentence(doubt)}." for doubt in log.doubts]
                told = " ".join(said) or say("question", question=log.question)
                yield Setting(section, key, value, told)
            continue
        if not why and key in ("explode", "columns", "changed"):
            why = say(key, like=_like(log))
        yield Setting(section, key, value, why, active=value != "parquet")
        why = ""
    if not is_dated(log):
        yield Setting(section, "day", TODO, say("which day", columns=_list(log)))
    elif not log.days:
        first, *_ = rules.times(log.columns)
        sql = f"try_strptime({first.column.written}, {text_in_sql(first.column.form)})"
        day = {"sql": sql} if first.column.form else first.column.setting
        yield Setting(section, "day", day, f"{_sentence(first.reason)}.")
        yield from (Setting(section, key, value) for key, value in first.settings.items())


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
    key, arrived, is_ours, why = pair.key, pair.arrived, section == "predictions", ""
    if key is None:
        if arrived is None and not (pair.scored and pair.together):
            listed = _list(pair.scored if is_ours else pair.observed)
            yield Setting(section, "id", TODO, say("which id", columns=listed))
        return
    if is_ours and arrived:
        found = percent(arrived.found / max(1, arrived.asked))
        unique = percent(key.uniqueness, 2)
        why = say("id", unique=unique, found=found, asked=arrived.asked)
    columns = key.scored if is_ours else key.observed
    reading = key.reading[not is_ours]
    named: list[Any] = [column.setting for column in columns]
    if reading != "{}":
        named = [{"sql": reading.format(columns[0].written)}]
    yield Setting(section, "id", named[0] if len(named) == 1 else named, why)


def _why_no_score(pair: Pair) -> tuple[str, str] | None:
    """Say which key a person has to decide in place of a score, and why; None if there is one."""
    choice, log = pair.choice, pair.scored
    if choice.unread:
        facts = {"name": choice.unread.name, "other": choice.scores[0].name}
        return "score", say("not a probability", **facts, how=how_to_map(choice.unread))
    if log and pair.arrived is None and (parts := rules.parts_of_one(log.columns)):
        return "classes", say("which classes", parts=", ".join(parts))
    if choice.scores:
        return None
    twins = [f"{_sentence(doubt)}." for doubt in log.doubts if log.twins] if log else []
    hints = [how_to_map(c) for c in (log.columns if log else ()) if rules.could_be_score(c)]
    return "score", say("which score", hints=" ".join([*hints, *twins]), columns=_list(log))


def _score(pair: Pair) -> Iterator[Setting]:
    choice, log = pair.choice, pair.scored
    if pair.classes:
        yield Setting("predictions", "classes", pair.classes, say("classes"))
        return
    if none := _why_no_score(pair):
        yield Setting("predictions", none[0], TODO, none[1])
        return
    best, *others = choice.scores
    reason = why = f"{_sentence(best.reason)}."
    if others:
        named = "; ".join(f"{c.name} ({c.reason})" for c in others[:MOST_SHOWN])
        why += say("other scores", named=named)
    number = {"sql": number_in(best.column.written, best.column.mark)}
    yield Setting("predictions", "score", number if best.column.mark else best.column.setting, why)
    remark = next((r for r in choice.remarks if r.key == "predictions.score_means"), None)
    if "score_means" in best.settings:
        yield Setting("predictions", "score_means", best.settings["score_means"], reason)
        if log and (label := best.settings.get("predicted_label")):
            yield Setting("predictions", "predicted_label", log.column(f"{label}").setting)
        if means := best.settings.get("label_means"):
            yield Setting("predictions", "label_means", means)
    elif remark:
        yield Setting("predictions", "score_means", remark.value, _sentence(remark.sentence))


def how_to_map(column: Column) -> str:
    """Say of a column that is named like a score why it is none, and how it becomes one."""
    facts: dict[str, object] = {"written": column.written}
    begin, values, kind = f"{column.name} is {column.type}", sorted(column.values), "other"
    if column.is_number:
        begin = f"{begin} from {column.least:.4g} to {column.greatest:.4g},"
        if column.distinct == 2:  # noqa: PLR2004 - as of a threshold
            kind = "decision"
        elif rules.are_points(column):
            kind = "points"
        elif column.has_grades:
            kind, facts["first"] = "grades", min(values, key=float)
    elif column.kind == "text" and 0 < column.distinct <= FEW_GRADES:
        kind, facts["first"] = "letters", text_in_sql(values[0])
        facts["shown"] = ", ".join(values[:3])
    elif column.mark:
        kind = column.mark if column.mark in ",%" else "mark"
        facts["number"] = number_in(column.written, column.mark)
    else:
        begin += ","
    return f"{begin} {say_how_to_map(kind, **facts)}"


def _time(section: str, pair: Pair) -> Iterator[Setting]:
    """Name the time of a row; that of outcomes alone is only for those that come again."""
    is_ours, time = section == "predictions", None
    log = pair.scored if is_ours else pair.observed
    if pair.arrived and pair.times:
        time = pair.times[not is_ours]
    elif pair.arrived and log and not is_ours and not pair.together:
        time = time_of_outcomes(log, None)
    if time is None:
        return
    active = pair.times is not None
    why = f"{_sentence(time.reason)}." * active
    yield Setting(section, "time", time.column.setting, why, active=active)
    has_unit = log and not log.days and (is_ours or not pair.together)  # beside its day
    for key, unit in time.settings.items() if not has_unit else ():
        yield Setting(section, key, unit, active=active)


def _outcome(pair: Pair) -> Iterator[Setting]:
    choice = pair.choice
    if not choice.outcomes:
        yield Setting("outcomes", "outcome", TODO, _why_no_outcome(pair))
        return
    best, *others = choice.outcomes
    if pair.classes:
        why = say("of classes", named=", ".join(pair.classes["names"][:MOST_SHOWN]))
        yield Setting("outcomes", "outcome", best.column.setting, why)
        return
    if choice.refuted and best.points <= CLEAR:
        why = say("refuted", name=best.name, columns=_list(pair.observed))
        yield Setting("outcomes", "outcome", TODO, why)
        return
    why = f"{_sentence(best.reason)}."
    if others:
        why += say("other outcomes", named=", ".join(c.name for c in others[:MOST_SHOWN]))
    means = best.settings.get("outcome_means")
    lists = [*means.values()] if isinstance(means, dict) else []
    if [{f"{word}".lower() for word in of} for of in lists if len(of) > 1] == [{"true"}, {"false"}]:
        value = {"sql": f"CAST({best.column.written} AS BOOLEAN)"}
        yield Setting("outcomes", "outcome", value, why + say("mixed"))
        return
    yield Setting("outcomes", "outcome", best.column.setting, why)
    if best.unknown_words:
        (likely,), (other,) = lists
        why = say("which word", name=best.name, likely=likely, other=other)
        yield Setting("outcomes", "outcome_means", TODO, why)
    elif means:
        yield Setting("outcomes", "outcome_means", means)


def _why_no_outcome(pair: Pair) -> str:
    log, scores = pair.observed, pair.choice.scores
    if log and pair.together and (beside := rules.outcomes_beside(log.columns)):
        doubts = about_confidence(scores[0].column, log.columns) if scores else ()
        named = ", ".join(c.name for c in beside)
        return say("one of", named=named, doubts=" ".join(f"{doubt}." for doubt in doubts))
    return say("which outcome", columns=_list(log))


def _delay(pair: Pair) -> Iterator[Setting]:
    """Say what absence means, how ids are compared, when a day is settled, and what a day is."""
    arrived, key = pair.arrived, pair.key
    if arrived and arrived.clicks:
        why = say("clicks", absent=percent(1 - arrived.found / arrived.asked))
        yield Setting("outcomes", "absent_means", f"negative after {arrived.wait}d", why)
    if key and key.cast:
        ours, theirs = key.scored[0].type, key.observed[0].type
        same = ", written differently" if ours == theirs else ""
        why = say("cast", ours=ours, theirs=theirs, same=same)
        yield Setting("", "ids", {"cast": key.cast}, why)
    if not arrived:
        return
    wait, why = arrived.wait, arrived.why
    if pair.scored and (rounds := _rounds(pair)):
        waited = [_until_next(day, rounds) for day in (key.days if key else ())]
        longer = max(_until_next(day, rounds) for day in pair.scored.days) - max(waited or [0])
        wait = min(LONGEST_WAIT, wait + longer)
        why += say("longer", days=longer) if longer > 0 else ""
    yield Setting("", "settled_after", wait, why)
    if pair.scored and (own := _weekdays(pair.scored)):
        yield Setting("", "calendar", {"weekdays": own}, say("weekdays", what="predictions"))


def _calendar_of_outcomes(pair: Pair) -> Iterator[Setting]:
    if not (pair.arrived and pair.scored and pair.observed):
        return
    came, last = pair.observed.days, [date.min, *pair.scored.days][-1]
    is_short = came and (came[-1] - came[0]).days < LEAST_SPAN
    if is_short and len(_names(came)) == 1 and (last - came[0]).days >= FEW_WITHOUT:
        why = say("rounds", came=" and ".join(map(str, came)), weekday=WEEKDAYS[came[0].weekday()])
        yield Setting("outcomes", "calendar", TODO, why)
        return
    value, reasons = dict[str, Any](), list[str]()
    if rounds := _rounds(pair):
        value["weekdays"] = rounds
        reasons.append(say("weekdays", what="outcomes"))
    first, start = (log.ends[0] if log.ends else None for log in (pair.scored, pair.observed))
    closed = days_between(first, start - timedelta(1)) if first and start else ()
    if closed and _names(closed) & {*(rounds or WEEKDAYS)}:
        value["closed"] = [f"{first}/{closed[-1]}"]
        reasons.append(say("begins", day=start))
    if value:
        yield Setting("outcomes", "calendar", value, " ".join(reasons))


def _rounds(pair: Pair) -> list[str]:
    """Name the days of the week on which outcomes come, if predictions have others too."""
    if pair.together or not (pair.scored and pair.observed):
        return []
    weekdays = _weekdays(pair.observed)
    return [] if _names(pair.scored.days) <= {*weekdays} else weekdays


def _names(days: Iterable[date]) -> set[str]:
    return {WEEKDAYS[day.weekday()] for day in days}


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
    named, every = _names(log.days), days_between(log.days[0], log.days[-1])
    complete = [day for day in every if WEEKDAYS[day.weekday()] in named] == [*log.days]
    return (
        [name for name in WEEKDAYS if name in named]
        if complete and len(named) < len(WEEKDAYS)
        else []
    )


def _segments(pair: Pair) -> Iterator[Setting]:
    """Watch which model answered, where an answer says it; offer columns with a few values."""
    log = pair.scored
    if not (pair.arrived and log):
        return
    served = [c for c in log.columns if c.name == "model" and c.kind == "text" and c.values]
    if log.question and served:
        yield Setting("", "segments", [{"column": "model", "top": MOST_SERVED}], say("served"))
        return
    taken = {c.name for c in (*pair.choice.scores, *pair.choice.outcomes)}
    taken |= {c.name for c in rules.candidates(rules.WEIGHT, log.columns)}
    taken |= {*(pair.key.names if pair.key else ()), *KEY_OF_DAY.findall(log.place)}
    taken |= {f"{c.settings.get('predicted_label')}" for c in pair.choice.scores[:1]}
    free = [c for c in log.columns if c.name not in taken]
    offered = [c.column for c in rules.candidates(rules.SEGMENT, free)]
    for column in sorted(offered, key=_rest)[:MOST_SHOWN]:
        shares = rules.shares_of(column)
        said = ", ".join(f"{value} {percent(share, 0)}" for value, share in shares.items())
        value = {"column": column.setting, "values": [*shares]}
        why = f"{said}; other {percent(_rest(column), 0)}"
        yield Setting("", "segments", value, why, active=False)


def _rest(column: Column) -> float:
    return max(0.0, 1 - sum(rules.shares_of(column).values()))


def _gaps(log: Log) -> int:
    return (log.days[-1] - log.days[0]).days + 1 - len(log.days)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def span(pair: Pair) -> tuple[date, date] | None:
    """Return the first and the last day that can be processed, if they are known.

    Outcomes beside the scores are those that the files have now; the newest days wait for theirs.
    """
    if not (pair.scored and pair.scored.ends):
        return None
    first, last = pair.scored.ends
    wait = pair.arrived.wait if pair.together and pair.arrived else 0
    return first, max(first, last - timedelta(wait))
