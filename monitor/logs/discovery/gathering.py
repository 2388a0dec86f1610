"""What was found becomes logs: files of one pattern, lists, questions and queries."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import pyarrow as pa
from pydantic import ValidationError

from monitor.base.errors import ConfigError, DataError
from monitor.base.sql_text import text_in_sql
from monitor.config import ELEMENT, POSITION, TABLES, PredictionLog, literal
from monitor.days.files import list_days
from monitor.logs.discovery.roles.rules import scores, times, words
from monitor.logs.discovery.samples.listing import Survey
from monitor.logs.discovery.samples.naming import Pattern, patterns
from monitor.logs.discovery.samples.reading import Log, exploded, known, only, sample
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
            *(Pattern(literal(t), (t,)) for t, form in whole.files.items() if form in TABLES),
            *patterns(name for name, form in whole.files.items() if form not in TABLES),
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
    return [each for log in logs for each in with_rows_of_lists(session, log)], problems


def _open(session: Session, whole: Survey, pattern: Pattern, table: str) -> Log:
    place = f"{literal(whole.root)}/{pattern.template}".rstrip("/")
    settings = {"path": place, "format": whole.files[pattern.files[0]]}
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
    asked = ask_database(f"{opened.log.connection}", opened.snapshot, query) if tests else [()]
    kinds = {
        n: "numeric::bigint" if is_whole else "numeric::double precision"
        for n, is_whole in zip(numbers, asked[0], strict=True)
    }
    listed = ", ".join(
        f"{quoted(n)}::{kinds.get(n, 'text')} AS {quoted(n)}" if n in opened.unfit else quoted(n)
        for n in names
    )
    return f"SELECT {listed} FROM ({sql}) AS {OF_CASTS}"


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
