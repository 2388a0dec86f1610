"""What was found becomes logs: files of one pattern, parts, lists, questions and queries."""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from os.path import commonprefix

import pyarrow as pa
from pydantic import ValidationError

from monitor.base.errors import ConfigError, DataError
from monitor.base.sql_text import text_in_sql
from monitor.config import ELEMENT, POSITION, PredictionLog, literal
from monitor.days.files import list_days
from monitor.logs.discovery.roles.keys import UNIQUE, is_id
from monitor.logs.discovery.roles.rules import scores, times, words
from monitor.logs.discovery.samples.listing import Survey
from monitor.logs.discovery.samples.naming import Pattern, patterns
from monitor.logs.discovery.samples.reading import (
    PARTITION,
    Log,
    ask,
    exploded,
    known,
    only,
    read,
    sample,
)
from monitor.logs.engines.conversions import quoted
from monitor.logs.engines.session import DAMAGE, Session
from monitor.logs.sources.queries import ask as ask_database
from monitor.logs.sources.query_days import days_of_query
from monitor.logs.sources.tables import CASTS, ROWS, Table, open_table
from monitor.logs.sources.times import Dating

MOST_LOGS = 40  # logs that are sampled; those with the most files first
BEGINS = re.compile(r"\s*(SELECT|WITH|VALUES|TABLE)(\s+\S|\s*[(*'\"])", re.IGNORECASE)
TYPES_OF_DAYS = pa.types.is_date, pa.types.is_timestamp
LOOKED_AT = 1000  # rows that say which column dates them
CHANGED = {"updated", "modified", "changed"}
OF_CASTS = "rows_with_casts"  # what a query is called within the one that casts its columns
VERSION = re.compile(r"(?<![A-Za-z])[vV]\d")
MOST_SHARED = 0.01  # of the ids: of a log that is cut into parts, none is in two
ROWS_COMPARED = 1_000_000
SHORT = 2  # signs of a name that says nothing
QUESTIONS = ("element.name", "element.question", "element.key")
ANSWERS = re.compile(r"((?:answers|decisions|questions)\.[^.\[]+)(?=[.\[]|$)", re.IGNORECASE)
REFUSAL = "element.type", "refusal"
MOST_QUESTIONS = 30


def read_logs(
    session: Session, surveys: Sequence[Survey], on_progress: Callable[[str], None]
) -> tuple[list[Log], list[ConfigError | DataError]]:
    """Sample every log; also say which cannot be read, and what to do about it."""
    found = [
        (whole, pattern)
        for whole in surveys
        for pattern in (
            *(Pattern(literal(table.place), (table.place,)) for table in whole.tables),
            *patterns(whole.files),
        )
    ]
    found.sort(key=lambda chosen: -len(chosen[1].files))
    logs, problems = list[Log](), list[ConfigError | DataError]()
    for number, (whole, pattern) in enumerate(found[:MOST_LOGS]):
        on_progress(f"reading a sample of {pattern.template or whole.root}")
        try:
            logs.append(_open(session, whole, pattern, f"sample_{number}"))
        except (ConfigError, DataError) as error:  # a package may be missing
            problems.append(error)
    together = _with_parts_together(session, logs)
    return [each for log in together for each in with_rows_of_lists(session, log)], problems


def _open(session: Session, whole: Survey, pattern: Pattern, table: str) -> Log:
    place = f"{literal(whole.root)}/{pattern.template}".rstrip("/")
    settings = {"path": place, "format": whole.format_of(pattern.files[0])}
    days = tuple(list_days(place)) if pattern.dated else ()
    return sample(session, Log(settings, days, table=table))


def is_query(text: str) -> bool:
    """Tell whether a text is a query and no path: its first word alone may name a folder.

    Examples
    --------
    >>> is_query("select * from scores"), is_query("logs/selected"), is_query("table/")
    (True, False, False)
    """
    return bool(BEGINS.match(text))


def open_query(session: Session, sql: str, connection: str, table: str) -> Log:
    """Read a sample of the rows of a query.

    Raises
    ------
    ConfigError
        If the query or the name of the variable cannot be used.
    DataError
        If the database refuses the query, or no column dates the rows.
    """
    settings = {"format": "sql", "sql": sql, "connection": connection, "day": "-"}
    try:
        settings["sql"] = _with_casts(open_table(PredictionLog.model_validate(settings)))
    except ValidationError as error:  # a name of a variable that is none may be an address
        key, why = error.errors()[0]["loc"][-1:], error.errors()[0]["msg"]
        what = "--connection" if key == ("connection",) else repr(sql)
        msg = f"{what}: {why.removeprefix('Value error, ')}; correct it."
        raise ConfigError(msg) from None
    opened = open_table(PredictionLog.model_validate(settings))
    days_in = [f.name for f in opened.schema if any(fits(f.type) for fits in TYPES_OF_DAYS)]
    few = f"SELECT * FROM ({settings['sql']}) AS few_rows LIMIT {LOOKED_AT}"
    log = sample(session, Log({**settings, "sql": few}, table=table))
    dating = [t.name for t in times(log.columns) if t.name in days_in]
    if not dating:
        msg = (
            f"the query of the database in {connection} gives no date and no timestamp, so nothing "
            f"dates its rows; add one to {sql!r}, such as created_at::timestamptz AS created_at."
        )
        raise DataError(msg)
    settings["day"] = dating[0]
    table_ = open_table(PredictionLog.model_validate(settings))
    days = sorted(day for day in days_of_query(table_, Dating(dating[0], None, "UTC")) if day)
    changed = (c for c in log.columns if c.kind == "time" and not c.nulls)
    told = [c.name for c in changed if CHANGED & {*words(c.name)}]
    settings |= {"changed": told[0]} if told else {}
    return sample(session, Log(settings, days=tuple(days), table=table))


def _with_casts(opened: Table) -> str:
    """Write a query whose columns arrive as numbers, which numeric and money do not."""
    sql = f"{opened.log.sql}"
    if not opened.unfit:
        return sql
    names = [field.name for field in opened.schema]
    numbers = [n for n in names if n in opened.unfit and opened.unfit[n].native in CASTS]
    tests = [f"bool_and(({quoted(n)})::numeric % 1 = 0) AS {quoted(n)}" for n in numbers]
    query = f"SELECT {', '.join(tests)} FROM (\n{sql}\n) AS {ROWS}"
    asked = ask_database(f"{opened.log.connection}", opened.snapshot, query) if tests else [{}]
    kinds = {
        n: "numeric::bigint" if w else "numeric::double precision" for n, w in asked[0].items()
    }
    listed = ", ".join(
        f"{quoted(n)}::{kinds.get(n, 'text')} AS {quoted(n)}" if n in opened.unfit else quoted(n)
        for n in names
    )
    return f"SELECT {listed} FROM ({sql}) AS {OF_CASTS}"


def _with_parts_together(session: Session, logs: list[Log]) -> list[Log]:
    """Put the parts of each log together; the others stay as they are, in their order.

    What has the same columns, and ids of its own, is one log. A second model beside the first has
    the same ids, and its columns are those of the first; a version says so in its name.
    """
    alike = defaultdict[tuple[object, ...], list[Log]](list)
    for log in logs:
        folder, _, _ = log.place.rpartition("/")
        names = frozenset(c.name for c in log.columns), frozenset(name for name, _ in log.nested)
        # What is written now has no day in its name yet, and is no part of what has.
        alike[folder, log.format, bool(log.days), *names].append(log)
    for parts in alike.values():
        places = [log.place for log in parts]
        place = _template(places) if len(parts) > 1 else ""
        rest = [log.place for log in logs if log.place not in places]
        before, _, after = place.rpartition("*")
        taken = re.compile(f"{re.escape(before)}[^/]*{re.escape(after)}")
        following = [*parts[1:], parts[0]]
        if (
            place
            and not any(map(taken.fullmatch, rest))
            and all(_has_own_ids(session, *two) for two in zip(parts, following, strict=True))
        ):
            at = logs.index(parts[0])
            logs = [log for log in logs if log not in parts[1:]]
            logs[at] = _joined(session, place, parts)
    return logs


def _template(places: Sequence[str]) -> str:
    """Write a template that has all of these; empty if only one log each has the name.

    Examples
    --------
    >>> _template(["{day}/part-a.parquet", "{day}/part-b.parquet"])
    '{day}/part-*.parquet'
    >>> _template(["data.1.log.{day}", "data.2.log.{day}"])
    'data.*.log.{day}'
    >>> _template(["scores-{day}.parquet", "clicks-{day}.parquet"])
    ''
    """
    before = _begin(places)
    after = _begin([place[: len(before) - 1 : -1] for place in places])[::-1]
    middles = [place[len(before) : len(place) - len(after)] for place in places]
    differ = before.count("{") == before.count("}") and not any("/" in m for m in middles)
    if not differ or any(map(VERSION.search, places)):
        return ""
    # Before the day, only numbers are parts: those of the workers of a service.
    are_parts = "{day" in before or all(map(str.isdecimal, middles))
    return re.sub(r"\*+", "*", f"{before}*{after}") if are_parts else ""


def _begin(texts: Sequence[str]) -> str:
    """Return what all texts begin with."""
    return commonprefix([*texts])  # noqa: RUF071 - of texts, not of folders


def _has_own_ids(session: Session, log: Log, other: Log) -> bool:
    """Tell whether a column that tells rows apart has values that the other log has not."""
    name = next((c.name for c in log.columns if is_id(c) and c.uniqueness >= UNIQUE), None)
    day = next((day for day in log.sampled if day in other.days), None)
    rows = read(session, other, day, [name], most=ROWS_COMPARED) if name and day else None
    if name is None or rows is None:
        return False
    rows.create_view("some_rows", replace=True)
    text = f"CAST({quoted(name)} AS VARCHAR)"
    shared = f"avg(({text} IN (SELECT {text} FROM some_rows))::INT)"
    of_day = f"WHERE {quoted(PARTITION)} = DATE '{day}' AND {quoted(name)} IS NOT NULL"
    (share,) = ask(session, f"SELECT {shared} FROM {log.table} {of_day}")
    return share is not None and share < MOST_SHARED


def _joined(session: Session, place: str, parts: Sequence[Log]) -> Log:
    """Read a sample of the parts as one log."""
    settings = {**parts[0].settings, "path": place}
    log = Log(settings, tuple(list_days(place)), table=f"{parts[0].table}_together")
    names = [part.place.rpartition("/")[2] for part in parts]
    stems = [re.sub(r"\W|\d|_", "", name.partition(".")[0]) for name in names]
    if max(map(len, stems)) - len(_begin(stems)) <= SHORT:
        return sample(session, log)
    doubt = (
        f"{' and '.join(names)} have the same columns and different ids, so they are taken for "
        f"parts of one log; if they are two models, name each in the path of its own"
    )
    return sample(session, replace(log, doubts=(doubt,)))


def with_rows_of_lists(session: Session, log: Log) -> list[Log]:
    """Take a log apart that has no scores but lists of them; each question is a log of its own."""
    if by_name := _by_name(log):
        return by_name
    if scores(log.columns):
        return [log]
    try:
        for found in exploded(session, log):
            if any(s.name.startswith((ELEMENT, POSITION)) for s in scores(found.columns)):
                return _questions(session, found)
    except (*DAMAGE, DataError):
        return [log]
    return [log]


def _by_name(log: Log) -> list[Log]:
    """Divide answers in an object with a key for each question; none if there is no such object."""
    asked = dict.fromkeys(match[1] for c in log.columns if (match := ANSWERS.match(c.name)))
    of = {a: [c for c in log.columns if f"{c.name}.".startswith(f"{a}.")] for a in asked}
    answered = [name for name in asked if scores(of[name])]
    if len(answered) < 2:  # noqa: PLR2004 - with one there is nothing to divide
        return []
    rest = [c for c in log.columns if not any(c in within for within in of.values())]
    return [
        replace(log, columns=(*rest, *of[name]), question=name.partition(".")[2])
        for name in answered[:MOST_QUESTIONS]
    ]


def of_question(session: Session, log: Log, question: str) -> Log:
    """Keep of a log of outcomes the rows of a question, if a column names it."""
    named = [c for c in log.columns if c.kind == "text" and question in c.values]
    if not question or log.question or not named:
        return log
    where = f"{named[0].written} = {text_in_sql(question)}"
    return replace(only(session, log, where, _suffix(question)), question=question)


def _questions(session: Session, log: Log) -> list[Log]:
    """Divide answers by their question, which is the name of each."""
    named = [c for c in log.columns if c.name in QUESTIONS and 0 < len(c.values) <= MOST_QUESTIONS]
    if not named:
        return [log]
    kind, refusal = REFUSAL
    refused = [c for c in log.columns if c.name == kind and refusal in c.values]
    logs = list[Log]()
    for question in sorted(named[0].values):
        where = f"({named[0].written}) = {text_in_sql(question)}"
        where += f" AND ({refused[0].written}) <> {text_in_sql(refusal)}" if refused else ""
        found = only(session, known(session, log), where, _suffix(question))
        logs.append(replace(found, question=question))
    return logs


def _suffix(question: str) -> str:
    return "q_" + re.sub(r"\W", "_", question)
