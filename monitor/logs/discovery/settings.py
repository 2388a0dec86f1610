"""What the logs of a model show becomes settings, each with its reason."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from monitor.base.sql_text import text_in_sql
from monitor.config import LONGEST_WAIT, TODO, WEEKDAYS
from monitor.days.arrivals import COMPLETE
from monitor.days.summary import days_between
from monitor.logs.discovery.databases import changed_by
from monitor.logs.discovery.pairing import CLEAR, Pair, time_of_outcomes
from monitor.logs.discovery.roles import candidates as roles
from monitor.logs.discovery.roles.arrivals import TWO, Arrivals
from monitor.logs.discovery.roles.filling import Filling
from monitor.logs.discovery.roles.segments import SegmentColumn, segment_columns
from monitor.logs.discovery.roles.unread import how_to_map
from monitor.logs.discovery.samples.columns import in_sql, number_in
from monitor.logs.discovery.samples.reading import Log, filter_of, value_of
from monitor.words.numbers import percent

KEY_OF_DAY = re.compile(r"([^/=]+)=[^/]*\{day")  # month={day:%m}
FEW = 5  # positives of a day: with fewer, a day without any is not rare
MOST_SHOWN = 4  # ages, columns or values in one comment
MOST_SERVED = 5  # models that answer
MOST_NAMED = 12  # columns of a log
FEW_WITHOUT = 3  # days of predictions after the first outcomes, before another round is missed
LEAST_SPAN = 13  # days after the first: with two weeks, every day of the week came twice
MOST_REJECTED = 0.05  # share of the rows of a day that a check may leave out unasked
OF_COLUMNS = (
    "id",
    "score",
    "predicted_label",
    "time",
    "weight",
    "entity",
    "outcome",
)  # keys that name columns
DAYS_OF_CLICKS = 0.5  # share of predictions with an outcome, below which absence means something


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
    together = pair.observed is pair.scored
    settings = [*_place("predictions", pair.scored), *_id("predictions", pair)]
    settings += [*_score(pair), *_time("predictions", pair), *_weight("predictions", pair)]
    settings += _entity(pair)
    if together:
        why = "The predictions have the outcome as a column, null until it is known."
        settings.append(Setting("outcomes", "in_predictions", True, why))
    else:
        settings += [*_place("outcomes", pair.observed), *_id("outcomes", pair)]
        settings += _calendar_of_outcomes(pair)
    settings += [
        *_outcome(pair),
        *_time("outcomes", pair),
        *_weight("outcomes", pair),
        *_repeats(pair),
    ]
    if isinstance(pair.arrived, Arrivals):
        settings += [*_absent(pair.arrived), *_cast(pair), _settled(pair, pair.arrived)]
    else:
        settings.append(_settled_in_one(pair.arrived))
    settings += [*_zone(pair), *_calendar(pair)]
    settings += [*(_served_model(pair) or _segments(pair)), *_checks(pair)]
    return [_with_fields(setting, _log(setting.section, pair)) for setting in settings]


def _with_fields(setting: Setting, log: Log) -> Setting:
    """Write the names of fields of structs as expressions, which a dotted name is not."""
    if setting.key == "segments" and isinstance(setting.value, list):
        return setting
    if setting.key == "segments":
        value = dict(setting.value)
        return replace(setting, value={**value, "column": value_of(value["column"], log)})
    if setting.key == "day" and not isinstance(setting.value, dict) and setting.value in log.inner:
        whole, *fields = setting.value.split(".")
        is_field = len(fields) == 1 and whole in dict(log.nested)
        field = {"column": whole, "field": fields[0]} if is_field else None
        return replace(setting, value=field or value_of(setting.value, log))
    if setting.key not in OF_COLUMNS or isinstance(setting.value, dict):
        return setting
    several = isinstance(setting.value, list)
    named = [value_of(name, log) for name in (setting.value if several else [setting.value])]
    return replace(setting, value=named if several else named[0])


def _place(section: str, log: Log) -> Iterator[Setting]:
    if log.days:
        gaps = _gaps(log)
        missing = f", {gaps:,} between them missing" if gaps else ""
        why = f"Days {log.days[0]} to {log.days[-1]}{missing}."
    else:
        days = f", from {log.span[0]} to {log.span[1]}" if log.span else ""
        why = f"The path names no day, so a column dates the rows{days}."
    yield from place_of(section, log, why)
    if log.row_filter and (section == "predictions" or log.question):
        why = ". ".join(log.doubts) or f"the rows of the question {log.question}"
        yield Setting(section, "where", filter_of(log), f"{_sentence(why)}.")
    if not log.days:
        first, *_ = roles.times(log.columns)
        yield Setting(section, "day", day_of(log, first), f"{_sentence(first.reason)}.")
        if "time_unit" in first.settings:
            yield Setting(section, "time_unit", first.settings["time_unit"])


def day_of(log: Log, time: roles.Candidate) -> str | dict[str, str]:
    """Name the column that dates the rows; a date in another order needs an expression."""
    within = log.inner.get(time.column, in_sql(time.column))
    written = f"try_strptime({within}, {text_in_sql(time.form)})"
    return {"sql": written} if time.form else time.column


def place_of(section: str, log: Log, why: str = "") -> Iterator[Setting]:
    """Say where the rows of a log are."""
    if log.format != "sql":
        yield Setting(section, "path", log.place, why)
        yield Setting(section, "format", log.format, active=log.format != "parquet")
        yield from _layout(section, log)
        if log.source.taken:
            exploded = log.source.taken.exploded
            value = exploded.model_dump(exclude_none=True) if exploded.separator else exploded.list
            why = "Each record has a list of predictions; its elements are rows, from position 0."
            yield Setting(section, "explode", value, why)
        return
    yield Setting(section, "format", "sql", why)
    yield Setting(section, "sql", log.place)
    yield Setting(section, "connection", log.source.connection)
    yield Setting(section, "day", log.source.dated_by)
    if changed := changed_by(log):
        why = "Tells that a row has changed, without reading whole rows."
        yield Setting(section, "changed", changed, why)


def _layout(section: str, log: Log) -> Iterator[Setting]:
    """Name the columns of files without a header, with a value of each."""
    layout = log.source.layout
    if layout is None:
        return
    of = {c.name: f" such as {next(iter(c.values))}" if c.values else "" for c in log.columns}
    shown = ", ".join(f"{c.name} {c.kind}{of[c.name]}" for c in log.columns[:MOST_NAMED])
    why = f"The files have no header, so these name their columns, in order: {shown}."
    yield Setting(section, "columns", list(layout.columns), why)
    for key in ("separator", "null_text"):
        if value := getattr(layout, key):
            yield Setting(section, key, value)


def _id(section: str, pair: Pair) -> Iterator[Setting]:
    if pair.key is None:
        return
    names = pair.key.scored if section == "predictions" else pair.key.observed
    why = ""
    if section == "predictions":
        assert isinstance(pair.arrived, Arrivals)
        share = pair.arrived.found / max(1, pair.arrived.asked)
        why = (
            f"Different in {percent(pair.key.uniqueness, 2)} of the sampled rows, and "
            f"{percent(share)} of {pair.arrived.asked:,} predictions are found among the "
            f"outcomes by it."
        )
    read = pair.key.read[section == "outcomes"]
    if read != "{}":
        column = value_of(names[0], _log(section, pair))
        within = column["sql"] if isinstance(column, dict) else in_sql(column)
        yield Setting(section, "id", {"sql": read.format(within)}, why)
        return
    yield Setting(section, "id", names[0] if len(names) == 1 else list(names), why)
    if section == "predictions" and pair.delivered_twice:
        why = "The ids that repeat in the sample have the same score: delivered more than once."
        yield Setting(section, "duplicates", "keep_identical", why)


def _score(pair: Pair) -> Iterator[Setting]:
    if pair.classes:
        classes = {**pair.classes}
        if isinstance(vector := classes.get("vector"), str):
            classes["vector"] = value_of(vector, pair.scored)
        yield Setting("predictions", "classes", classes, "These columns add up to 1.")
        return
    if pair.unread:
        other = pair.scores[0].column
        better = "" if other == pair.unread else f" better than {other}"
        why = f"{pair.unread} predicts{better}, but it is no probability: {_how_to_map(pair)}"
        yield Setting("predictions", "score", TODO, why)
        return
    best, *others = pair.scores
    why = f"{_sentence(best.reason)}."
    if others:
        named = "; ".join(f"{c.column} ({c.reason})" for c in others[:MOST_SHOWN])
        why += f" Other columns that could be the score: {named}."
    yield Setting("predictions", "score", _number(best, pair.scored), why)
    means = {r.value: r.sentence for r in pair.remarks if r.key == "predictions.score_means"}
    if "score_means" in best.settings:
        why = f"{_sentence(best.reason)}."
        yield Setting("predictions", "score_means", best.settings["score_means"], why)
        for key in ("predicted_label", "label_means"):
            if key in best.settings:
                yield Setting("predictions", key, best.settings[key])
    elif means:
        value, sentence = next(iter(means.items()))
        yield Setting("predictions", "score_means", value, f"{_sentence(sentence)}")


def _number(score: roles.Candidate, log: Log) -> str | dict[str, str]:
    """Name the score; a number that is written as a text needs an expression."""
    within = log.inner.get(score.column, in_sql(score.column))
    return {"sql": number_in(within, score.mark)} if score.mark else score.column


def _how_to_map(pair: Pair) -> str:
    return how_to_map(pair.scored.column(f"{pair.unread}"))


def _weight(section: str, pair: Pair) -> Iterator[Setting]:
    if pair.weight is None or pair.weight.section != section:
        return
    column = _log(section, pair).column(pair.weight.column)
    values = ", ".join(list(column.values)[:MOST_SHOWN]) or f"{column.distinct:,} values"
    why = f"Weights {values}, the same for all rows of an outcome: the log keeps only some rows."
    if not pair.weight.constant:
        why = f"Weights {values}. Not set, because rows of the same outcome have different ones."
    yield Setting(section, "weight", column.name, why, active=pair.weight.constant)


def _entity(pair: Pair) -> Iterator[Setting]:
    if pair.entity:
        why = (
            f"{percent(pair.entity.again, 0)} of its sampled values are there on several of the "
            f"sampled days, so rows of different days hang together."
        )
        yield Setting("predictions", "entity", pair.entity.column, why)


def _time(section: str, pair: Pair) -> Iterator[Setting]:
    if pair.times is None:
        return
    time = pair.times[0] if section == "predictions" else pair.times[1]
    early = pair.arrived.early
    why = f"{_sentence(time.reason)}."
    if early:
        why += f" Not set, because {early:,} sampled outcomes are earlier than their prediction."
    odd = [remark.sentence for remark in pair.remarks if remark.key == f"{section}.time"]
    why += "".join(f" Look at this: {sentence}" for sentence in odd)
    yield Setting(section, "time", time.column, why, active=not early)
    own_path = section == "predictions" or pair.observed is not pair.scored
    set_already = own_path and not _log(section, pair).days
    if "time_unit" in time.settings and not set_already:
        yield Setting(section, "time_unit", time.settings["time_unit"], active=not early)


def _outcome(pair: Pair) -> Iterator[Setting]:
    if pair.classes:
        (labels,) = pair.outcomes
        value = {"sql": labels.column} if labels.column.startswith("CASE ") else labels.column
        yield Setting("outcomes", "outcome", value, f"{labels.reason}.")
        return
    best, *others = pair.outcomes
    if pair.refuted and best.points <= CLEAR:
        beside = ", ".join(f"{c.name} {c.type}" for c in pair.observed.columns[:MOST_NAMED])
        why = (
            f"The column with what came true: no score predicts {best.column}, nor does its name "
            f"say that it is the outcome. The log has: {beside}. For other values than 0 and 1 add "
            f"outcome_means: {{positive: [fraud], negative: [ok]}}."
        )
        yield Setting("outcomes", "outcome", TODO, why)
        return
    why = f"{_sentence(best.reason)}."
    if others:
        named = ", ".join(c.column for c in others[:MOST_SHOWN])
        why += f" Other columns that could be the outcome: {named}."
    elsewhere = "predictions.score_means", "predictions.time", "outcomes.time"
    wrong = [remark.sentence for remark in pair.remarks if remark.key not in elsewhere]
    for sentence in wrong:
        why += f" Look at this: {sentence}"
    if _is_mixed(best):
        of = value_of(best.column, pair.observed)
        within = of["sql"] if isinstance(of, dict) else in_sql(of)
        why += " Some files have text, and others true and false."
        yield Setting("outcomes", "outcome", {"sql": f"CAST({within} AS BOOLEAN)"}, why)
        return
    yield Setting("outcomes", "outcome", best.column, why)
    if best.unknown_words:
        yield Setting("outcomes", "outcome_means", TODO, how_words_may_mean(best))
    elif "outcome_means" in best.settings:
        yield Setting("outcomes", "outcome_means", best.settings["outcome_means"])


def _is_mixed(outcome: roles.Candidate) -> bool:
    """Tell whether True and False are text in some files, and booleans in others."""
    means = outcome.settings.get("outcome_means", {})
    assert isinstance(means, dict)
    spoken = [{f"{word}".lower() for word in words} for words in means.values() if len(words) > 1]
    return spoken == [{"true"}, {"false"}]


def how_words_may_mean(outcome: roles.Candidate) -> str:
    """Say which two settings are possible for words that nobody knows."""
    means = outcome.settings["outcome_means"]
    assert isinstance(means, dict)
    (likely,), (other,) = means["positive"], means["negative"]
    return (
        f"Which word of {outcome.column} means 1? {{positive: [{likely}], negative: [{other}]}} if "
        f"the score is the probability of {likely}, or {{positive: [{other}], negative: "
        f"[{likely}]}} if it is that of {other}."
    )


def _repeats(pair: Pair) -> Iterator[Setting]:
    arrived = pair.arrived
    if not isinstance(arrived, Arrivals) or not arrived.conflicts:
        return
    time = time_of_outcomes(pair.observed, pair.times)
    why = f"{arrived.conflicts:,} predictions have outcomes that contradict each other"
    if time is None or arrived.ties or arrived.early:
        which = f"{time.column} does not say" if time else "no time says"
        why += (
            f", and {which} which is the latest. If the later one corrects the earlier, set "
            f"outcomes.time to the column that says when an outcome was written and this key to "
            f"latest. Else remove this line, and list outcome_conflicting under checks.reject."
        )
        yield Setting("outcomes", "duplicates", TODO, why)
        return
    yield Setting("outcomes", "duplicates", "latest", f"{why}; the latest counts.")
    if pair.times is None:
        yield Setting("outcomes", "time", time.column, f"{_sentence(time.reason)}.")
        if "time_unit" in time.settings and pair.observed.days:
            yield Setting("outcomes", "time_unit", time.settings["time_unit"])


def _absent(arrived: Arrivals) -> Iterator[Setting]:
    if arrived.found and arrived.positives == arrived.found < DAYS_OF_CLICKS * arrived.asked:
        why = (
            f"Every outcome is 1, and {percent(1 - arrived.found / arrived.asked)} of the "
            f"predictions have none: a log of clicks, where absence means 0."
        )
        yield Setting("outcomes", "absent_means", f"negative after {_wait(arrived)}d", why)


def _cast(pair: Pair) -> Iterator[Setting]:
    if pair.key and pair.key.cast:
        a, b = pair.scored.column(pair.key.scored[0]), pair.observed.column(pair.key.observed[0])
        why = f"The ids are {a.type} in the predictions and {b.type} in the outcomes"
        why += ", written differently." if a.type == b.type else "."
        yield Setting("", "ids", {"cast": pair.key.cast}, why)


def _wait(arrived: Arrivals) -> int:
    return min(LONGEST_WAIT, arrived.age_of(COMPLETE))


def _settled(pair: Pair, arrived: Arrivals) -> Setting:
    wait = _wait(arrived)
    ages = sorted({0, *(a for a in (1, 3, 7, 14, 30) if a < wait), wait})[-MOST_SHOWN:]
    why = f"{_said_of_arrivals(arrived, ages)} after the day of the prediction."
    if not arrived.found:
        why = "No outcome of the sampled predictions was found."
    elif wait >= arrived.looked:
        why += f" The log ends {arrived.looked} days after a sampled day: later ones are unknown."
    if _comes_in_rounds(pair):
        weekdays = _weekdays(pair.observed)
        waited = [_until_next(day, weekdays) for day in (pair.key.days if pair.key else ())]
        longer = max(_until_next(day, weekdays) for day in pair.scored.days) - max(waited or [0])
        wait = min(LONGEST_WAIT, wait + longer)
        why += f" Other days of the week wait up to {longer} days longer." * (longer > 0)
    return Setting("", "settled_after", wait, why)


def _said_of_arrivals(arrived: Arrivals, ages: Sequence[int]) -> str:
    """Say how many of the outcomes came up to some ages: of 0 and of 1, or of the slowest class."""
    shares = {age: arrived.arrived(age) for age in ages}
    kinds, of_what = arrived.kinds, "0 and 1 that came"
    if kinds != TWO:
        slowest = min(kinds, key=lambda kind: [of[kind] for of in shares.values()])
        late = shares[ages[0]][slowest] < 1
        later = f"{slowest} that came, later than those of the other classes"
        kinds, of_what = (slowest,), later if late else "of each class that came"
    said = (
        f"{' and '.join(percent(of[kind], 0) for kind in kinds)} within {age} day{'s' * (age != 1)}"
        for age, of in shares.items()
    )
    return f"Of the outcomes {of_what}: {', '.join(said)}"


def _settled_in_one(filling: Filling) -> Setting:
    wait = min(LONGEST_WAIT, filling.complete_after)
    newest = ", ".join(
        f"{percent(filling.shares[a], 0)}" for a in sorted(filling.shares)[:MOST_SHOWN]
    )
    why = (
        f"Predictions with an outcome, from the newest day back: {newest}; "
        f"{percent(filling.usual, 0)} on older days."
    )
    if wait == 0 and filling.usual < COMPLETE:
        why += " It does not rise with age, so the others are not waited for."
    return Setting("", "settled_after", wait, why)


def _zone(pair: Pair) -> Iterator[Setting]:
    if pair.ahead is not None:
        why = (
            f"The sampled predictions of each day have times from midnight to midnight at UTC"
            f"{pair.ahead:+d}, not at UTC. If the clocks of that place change, write its name, "
            f"such as Europe/Berlin."
        )
        yield Setting("", "time_zone", f"Etc/GMT{-pair.ahead:+d}", why)


def _calendar(pair: Pair) -> Iterator[Setting]:
    if weekdays := _weekdays(pair.scored):
        why = "There are predictions on all of these days of the week, and on no others."
        yield Setting("", "calendar", {"weekdays": weekdays}, why)


def _calendar_of_outcomes(pair: Pair) -> Iterator[Setting]:
    if rounds := _first_rounds(pair):
        yield Setting("outcomes", "calendar", TODO, _what_rounds_say(rounds))
        return
    value, reasons = dict[str, Any](), list[str]()
    if _comes_in_rounds(pair):
        value["weekdays"] = _weekdays(pair.observed)
        reasons.append("There are outcomes on all of these days of the week, and on no others.")
    if closed := _days_before(pair.observed, pair.scored, value.get("weekdays", WEEKDAYS)):
        value["closed"] = [f"{closed[0]}/{closed[-1]}"]
        reasons.append(f"The log of outcomes begins on {closed[-1] + timedelta(1)}.")
    if value:
        yield Setting("outcomes", "calendar", value, " ".join(reasons))


def _what_rounds_say(rounds: Sequence[date]) -> str:
    came = " and ".join(f"{day}" for day in rounds)
    return (
        f"Outcomes have come on {came} only, which is too short to see on which days of the week "
        f"they come. Write them, as {{weekdays: [{WEEKDAYS[rounds[0].weekday()]}]}}, or leave the "
        f"key out if they come every day and files are missing."
    )


def _first_rounds(pair: Pair) -> Sequence[date]:
    """Give the days of outcomes that seem weekly in a log too short to show it; else none."""
    came, scored = pair.observed.days, pair.scored.days
    short = came and (came[-1] - came[0]).days < LEAST_SPAN
    if not short or len({day.weekday() for day in came}) > 1 or not scored:
        return ()
    waiting = (scored[-1] - came[0]).days >= FEW_WITHOUT
    return came if waiting else ()


def _days_before(late: Log, early: Log, weekdays: Sequence[str]) -> list[date]:
    """List the days before a log begins that another one has, if one is on these weekdays."""
    (first, _), (start, _) = (
        (log.days[0], log.days[-1]) if log.days else log.span or (date.min, date.min)
        for log in (early, late)
    )
    if not date.min < first < start:
        return []
    days = list(days_between(first, start - timedelta(1)))
    return days if any(WEEKDAYS[day.weekday()] in weekdays for day in days) else []


def _comes_in_rounds(pair: Pair) -> bool:
    """Return whether predictions have days of the week on which no outcomes come."""
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
    expected = [
        d for d in days_between(log.days[0], log.days[-1]) if WEEKDAYS[d.weekday()] in named
    ]
    complete = expected == list(log.days) and len(named) < len(WEEKDAYS)
    return [name for name in WEEKDAYS if name in named] if complete else []


def _served_model(pair: Pair) -> list[Setting]:
    """Watch which model answered, where an answer says it."""
    served = [c for c in pair.scored.columns if c.name == "model" and c.kind == "text" and c.values]
    if not (pair.scored.question and served):
        return []
    why = "The model that answered: calibration-monitor where says whether a drift sits in one."
    return [Setting("", "segments", [{"column": "model", "top": MOST_SERVED}], why)]


def _segments(pair: Pair) -> Iterator[Setting]:
    taken = {c.column for c in (*pair.scores, *pair.outcomes)} | {
        c.name for c in roles.weights(pair.scored.columns)
    }
    taken |= set(pair.key.scored) if pair.key else set()
    taken |= {f"{c.settings.get('predicted_label')}" for c in pair.scores[:1]}
    taken |= {*KEY_OF_DAY.findall(pair.scored.place)}
    for segment in segment_columns(pair.scored.columns, taken)[:MOST_SHOWN]:
        value = {"column": segment.column, "values": list(segment.shares)}
        yield Setting("", "segments", value, _shares(segment), active=False)


def _shares(segment: SegmentColumn) -> str:
    said = ", ".join(f"{value} {percent(share, 0)}" for value, share in segment.shares.items())
    return f"{said}; other {percent(segment.rest, 0)}"


def _checks(pair: Pair) -> Iterator[Setting]:
    """Leave out the few rows that would stop every day, and say how many they are."""
    score = pair.scored.column(pair.scores[0].column)
    is_read = not (pair.unread or pair.classes)
    if _repeats_often(pair) and pair.key:
        why = (
            f"{percent(1 - pair.key.uniqueness, 0)} of the sampled ids are repeats, and no column "
            f"says why. Write a filter such as model_version = 'v3', if the log holds several "
            f"models; or replace this line by duplicates: keep_identical, if rows are delivered "
            f"more than once; or add a column to the id in both logs."
        )
        yield Setting("predictions", "where", TODO, why)
    elif pair.key and pair.key.uniqueness < 1 and not pair.delivered_twice:
        why = f"{percent(1 - pair.key.uniqueness, 3)} of the sampled ids are repeats."
        yield Setting("checks", "prediction_repeated", "reject", why)
    if pair.key and any(pair.scored.column(name).nulls for name in pair.key.scored):
        why = "Some sampled predictions have no id."
        yield Setting("checks", "prediction_id_missing", "reject", why)
    if score.nulls and not pair.unread:
        why = f"{score.nulls:,} of {score.rows:,} sampled predictions have no score."
        yield Setting("checks", "score_missing", "reject", why)
    if is_read and score.within < 1 and "score_means" not in pair.scores[0].settings:
        why = f"{percent(1 - score.within, 3)} of the sampled scores lie outside [0, 1]."
        yield Setting("checks", "score_out_of_range", "reject", why)
    yield from _invalid_outcomes(pair)
    yield from _undated_outcomes(pair)
    if pair.scored.days and (gaps := _gaps(pair.scored)) and not _weekdays(pair.scored):
        why = f"{gaps:,} days between the first and the last have no predictions."
        yield Setting("checks", "missing_day", "accept", why)
    if _positives_a_day(pair) < FEW and not pair.classes:
        why = "Days without a positive outcome are normal at this volume."
        yield Setting("checks", "one_class", "accept", why)


def _invalid_outcomes(pair: Pair) -> Iterator[Setting]:
    if pair.classes:
        return
    outcome = pair.observed.column(pair.outcomes[0].column)
    means = pair.outcomes[0].settings.get("outcome_means")
    lists = means.values() if isinstance(means, dict) else [outcome.values]
    given = {str(value) for values in lists for value in values}
    unlisted = [
        f"{rows:,} are {value}" for value, rows in outcome.values.items() if value not in given
    ]
    missing = outcome.nulls - outcome.not_numbers  # nan is an outcome that is not known yet
    nulls = [f"{missing:,} are null"] if pair.key and missing else []
    if unlisted or nulls:
        why = f"Of {outcome.rows:,} sampled outcomes {', '.join([*nulls, *unlisted])}."
        yield Setting("checks", "outcome_invalid", "reject", why)


def _undated_outcomes(pair: Pair) -> Iterator[Setting]:
    """Count outcomes of 0 with a time that means "not yet" as unknown, and say how many they are.

    The same of outcomes without a time is what the check does unasked.
    """
    if pair.times and any(pair.undated):
        time, (missing, impossible) = pair.times[1].column, pair.undated
        policy = f"sampled outcomes are 0 and their {time} is"
        if missing:
            why = f"{missing:,} {policy} null, so they count as not known yet."
            yield Setting("checks", "outcome_time_missing", "unknown", why)
        if impossible:
            why = f"{impossible:,} {policy} impossible, so they count as not known yet."
            yield Setting("checks", "outcome_time_impossible", "unknown", why)


def _repeats_often(pair: Pair) -> bool:
    """Tell whether leaving out repeated ids would leave out more than errors of single rows."""
    often = pair.key is not None and pair.key.uniqueness < 1 - MOST_REJECTED
    return often and not pair.delivered_twice


def _positives_a_day(pair: Pair) -> float:
    if isinstance(pair.arrived, Filling):
        return sum(pair.arrived.ones.values()) / max(1, len(pair.arrived.ones))
    return pair.arrived.positives / max(1, min(2, len(pair.scored.sampled)))


def _gaps(log: Log) -> int:
    return (log.days[-1] - log.days[0]).days + 1 - len(log.days)


def _log(section: str, pair: Pair) -> Log:
    return pair.observed if section == "outcomes" else pair.scored


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def span(pair: Pair) -> tuple[date, date] | None:
    """Return the first and the last day that can be processed, if they are known.

    Outcomes beside the scores are those that the files have now; the newest days wait for theirs.
    """
    days = pair.scored.days
    bounds = (days[0], days[-1]) if days else pair.scored.span
    if bounds is None:
        return None
    first, last = bounds
    if isinstance(pair.arrived, Filling):
        last = max(first, last - timedelta(pair.arrived.complete_after))
    return first, last
