"""Records with several predictions, and answers to several questions, in lists.

Rule: a list is taken apart only where its record has no score of its own. What identifies an
element stands in it, at the same position of another list of the record, or is the position.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import duckdb

from monitor.base.errors import DataError
from monitor.base.sql_text import text_in_sql
from monitor.config import ELEMENT, POSITION, Exploded
from monitor.logs.discovery.roles import candidates as roles
from monitor.logs.discovery.samples.columns import in_sql
from monitor.logs.discovery.samples.reading import Log, sample_of
from monitor.logs.discovery.samples.rows import (
    LISTS,
    LOOKED_AT,
    Leaf,
    Source,
    Taken,
    adds_up,
    json_path,
    look_into,
    open_rows,
    walk,
)
from monitor.logs.engines.conversions import quoted
from monitor.logs.engines.session import DAMAGE, Session
from monitor.logs.sources.exploding import list_in_text

NUMBERS = ("double", "float", "decimal")
SEPARATED = ",", ";", "\n"
NUMBER = r"\s*-?\d*\.?\d+([eE][-+]?\d+)?\s*"
QUESTIONS = ("element.name", "element.question", "element.key")
ANSWERS = re.compile(r"((?:answers|decisions|questions)\.[^.\[]+)(?=[.\[]|$)", re.IGNORECASE)
REFUSAL = "element.type", "refusal"
MOST_QUESTIONS = 30
FIELDS = 3  # of a line of CSV, of which one may be an id
MOST_TRIED = 5  # lists of a log
OF_ELEMENT = ELEMENT, POSITION  # not what another list has at one place for all of them
WAY = re.compile(r"\w+(\.\w+)*")


def with_rows_of_lists(session: Session, log: Log) -> list[Log]:
    """Take a log apart that has no scores but lists of them; each question is a log of its own."""
    if by_name := _by_name(log):
        return by_name
    if roles.scores(log.columns):
        return [log]
    day = log.sampled[0] if log.sampled else None
    try:
        rows = open_rows(session, log.source, day, most=LOOKED_AT, files=1, nested=True)
        lists = [*_lists(rows, log.format)][:MOST_TRIED] if rows else []
        for number, taken in enumerate(lists):
            source = replace(log.source, taken=taken, leaves=())
            apart = open_rows(session, source, day, most=LOOKED_AT, files=1, nested=True)
            assert apart is not None  # its lists were there
            leaves = [*look_into(apart, log.format), *_beside(apart, log.format, taken)]
            found = _sampled(session, log, replace(source, leaves=tuple(leaves)), f"of_{number}")
            if any(c.column.startswith(OF_ELEMENT) for c in roles.scores(found.columns)):
                return _questions(session, found)
    except (*DAMAGE, DataError):
        return [log]
    return [log]


def _by_name(log: Log) -> list[Log]:
    """Divide answers in an object with a key for each question; none if there is no such object."""
    asked = dict.fromkeys(match[1] for c in log.columns if (match := ANSWERS.match(c.name)))
    within = {name: [c for c in log.columns if _is_within(c.name, name)] for name in asked}
    answered = [name for name in asked if roles.scores(within[name])]
    if len(answered) < 2:  # noqa: PLR2004 - with one there is nothing to divide
        return []
    return [
        replace(
            log,
            columns=tuple(
                c
                for c in log.columns
                if c in within[name] or not any(c in of for of in within.values())
            ),
            question=name.partition(".")[2],
        )
        for name in answered[:MOST_QUESTIONS]
    ]


def _is_within(name: str, of: str) -> bool:
    return name == of or name.startswith(f"{of}.")


def of_question(session: Session, log: Log, question: str) -> Log:
    """Keep of a log of outcomes the rows of a question, if a column names it."""
    named = [c.name for c in log.columns if c.kind == "text" and question in c.values]
    if not question or log.question or not named:
        return log
    kept = f"{quoted(named[0])} = {text_in_sql(question)}"
    return _of_question(session, log, question, kept)


def _of_question(session: Session, log: Log, question: str, kept: str) -> Log:
    suffix = re.sub(r"\W", "_", question)
    found = _sampled(session, log, replace(log.source, kept=kept), f"q_{suffix}")
    return replace(found, row_filter=kept, question=question)


def _sampled(session: Session, log: Log, source: Source, suffix: str) -> Log:
    """Sample a log again, as its source is now."""
    table = f"{log.table}_{suffix}"
    session.connection.execute(f"DROP TABLE IF EXISTS {table}")
    return sample_of(session, source, log.pattern, log.days, table)


def _questions(session: Session, log: Log) -> list[Log]:
    """Divide answers by their question, which is the name of each."""
    named = [c for c in log.columns if c.name in QUESTIONS and 0 < len(c.values) <= MOST_QUESTIONS]
    if not named:
        return [log]
    logs = list[Log]()
    for question in sorted(named[0].values):
        kept = f"{quoted(named[0].name)} = {text_in_sql(question)}"
        column, value = REFUSAL
        if any(c.name == column and value in c.values for c in log.columns):
            kept += f" AND {quoted(column)} <> {text_in_sql(value)}"
        logs.append(_of_question(session, log, question, kept))
    return logs


def _lists(rows: duckdb.DuckDBPyRelation, format_: str) -> Iterator[Taken]:
    """List what may hold the predictions of a record."""
    few = rows.limit(LOOKED_AT)
    for leaf, native in walk(rows, format_):
        if native.id in LISTS:
            child = dict(native.children)["child"]
            sizes = few.aggregate(f"min(len({leaf.read})), max(len({leaf.read}))").fetchall()
            if WAY.fullmatch(leaf.name) and _may_be(child.id, *sizes[0]):
                yield Taken(Exploded(list=leaf.name), leaf.read)
        elif native.id == "varchar":
            yield from _in_text(few, leaf, format_)


def _may_be(kind: str, least: int | None, most: int | None) -> bool:
    """Return whether a list may hold a prediction in each element; a vector has one length."""
    of_numbers = kind in NUMBERS and (least != most or most == 1)
    return bool(most) and (of_numbers or kind in ("struct", "varchar"))


def _in_text(few: duckdb.DuckDBPyRelation, leaf: Leaf, format_: str) -> Iterator[Taken]:
    for path, kind in _lists_in_json(few, leaf) if format_ != "json" else ():
        way = ".".join([leaf.name, *path])
        listed = list_in_text(leaf.read, path, None)
        sizes = few.aggregate(f"min(len({listed})), max(len({listed}))").fetchall()
        of = "struct" if isinstance(kind, dict) else "double" if kind == "DOUBLE" else "other"
        plain = bool(WAY.fullmatch(way)) and leaf.name == leaf.whole
        rows_each = of == "double" and not adds_up(few, f"TRY_CAST({listed} AS DOUBLE[])")
        if plain and (rows_each or _may_be(of, *sizes[0])):
            yield Taken(Exploded(list=way), listed)
    for sign in SEPARATED:
        pattern = text_in_sql(rf"{NUMBER}({sign}{NUMBER})*{sign}?")
        fits = f"(trim({leaf.read}) = '' OR regexp_full_match({leaf.read}, {pattern}))"
        several = f"bool_or(contains(rtrim({leaf.read}, chr(10)), {text_in_sql(sign)}))"
        ((all_fit, some),) = few.aggregate(f"bool_and({fits}), {several}").fetchall()
        if all_fit and some and WAY.fullmatch(leaf.name):
            exploded = Exploded(list=leaf.name, separator=sign)
            yield Taken(exploded, list_in_text(leaf.read, (), sign))


def _lists_in_json(few: duckdb.DuckDBPyRelation, leaf: Leaf) -> Iterator[tuple[list[str], Any]]:
    """List the lists in documents, with the keys that lead to them and what is in them."""
    documents = few.filter(f"{leaf.read} LIKE '{{%' AND json_valid({leaf.read})")
    ((structure,),) = documents.aggregate(
        f"json_group_structure({leaf.read}::JSON)::VARCHAR"
    ).fetchall()
    waiting = [([key], inner) for key, inner in json.loads(structure or "{}").items()]
    while waiting:
        keys, kind = waiting.pop(0)
        if isinstance(kind, dict):
            waiting += [([*keys, key], inner) for key, inner in kind.items()]
        elif isinstance(kind, list) and kind:
            yield keys, kind[0]


def _beside(rows: duckdb.DuckDBPyRelation, format_: str, taken: Taken) -> Iterator[Leaf]:
    """List what stands at the same position of other lists, and ids with the position."""
    few = rows.limit(LOOKED_AT)
    for leaf, native in walk(rows, format_):
        if leaf.name in (ELEMENT, POSITION) or leaf.whole == ELEMENT:
            continue
        if native.id in LISTS and leaf.name != taken.exploded.list:
            if _reaches(few, f"len({leaf.read})"):
                yield from _at_position(few, leaf, dict(native.children)["child"], format_)
        elif native.id == "varchar" and format_ != "json" and leaf.name == leaf.whole:
            for path, kind in _lists_in_json(few, leaf):
                listed = f"json_extract({leaf.read}, {json_path(path)})"
                if _reaches(few, f"json_array_length({listed})"):
                    way = f"{leaf.written}->{json_path(path)}->{POSITION}"
                    name = ".".join([leaf.name, *path])
                    yield from _of_document(leaf, name, f"{listed}->{POSITION}", way, kind)
        elif native.id == "varchar" and _reaches(few, f"len({_lines(leaf.read)})"):
            yield from _fields_of_line(few, leaf)
        if native.id in ("varchar", "uuid") and leaf.name.lower().endswith("id"):
            both = f" || '_' || {POSITION}"
            written = f"({leaf.written})" if "->>" in leaf.written else leaf.written
            name = f"{leaf.name}_{POSITION}"
            yield Leaf(name, leaf.whole, f"({leaf.read}::VARCHAR{both})", f"{written}{both}")


def _lines(text: str) -> str:
    return f"string_split({text}, chr(10))"


def _fields_of_line(few: duckdb.DuckDBPyRelation, leaf: Leaf) -> Iterator[Leaf]:
    """List the first fields of the line at a position, where records have several lines."""
    ((lines,),) = few.aggregate(f"max(len({_lines(leaf.read)}))").fetchall()
    for place in range(1, FIELDS + 1) if lines and lines > 1 else ():
        read, written = (
            f"split_part(split_part({text}, chr(10), {POSITION} + 1), ',', {place})"
            for text in (leaf.read, leaf.written)
        )
        yield Leaf(f"{leaf.name} line[{POSITION}] field {place}", leaf.whole, read, written)


def _reaches(few: duckdb.DuckDBPyRelation, length: str) -> bool:
    """Return whether a list has an element at each position that rows have."""
    ((reached,),) = (
        few.filter(f"{POSITION} IS NOT NULL")
        .aggregate(f"bool_and(coalesce({length} > {POSITION}, false))")
        .fetchall()
    )
    return bool(reached)


def _at_position(
    few: duckdb.DuckDBPyRelation, leaf: Leaf, child: Any, format_: str
) -> Iterator[Leaf]:
    """List the values of an element of a list, which may be a record or JSON in a text."""
    name, read = f"{leaf.name}[{POSITION}]", f"{leaf.read}[{POSITION} + 1]"
    whole, *path = leaf.name.split(".")
    in_json = f"{in_sql(whole)}" + f"->{json_path(path)}" * bool(path) + f"->{POSITION}"
    written = in_json if format_ == "json" else f"{leaf.written}[{POSITION} + 1]"
    if child.id == "struct":
        for key, _ in child.children:
            own = f"->>{text_in_sql(key)}" if format_ == "json" else f".{in_sql(key)}"
            yield Leaf(f"{name}.{key}", leaf.whole, f"{read}.{quoted(key)}", f"{written}{own}")
    elif child.id == "varchar" and format_ != "json":
        ((structure,),) = (
            few.filter(f"json_valid({read})")
            .aggregate(f"json_group_structure({read}::JSON)::VARCHAR")
            .fetchall()
        )
        kinds = json.loads(structure or "{}")
        yield from _of_document(leaf, name, read, written, kinds)
    elif child.id not in LISTS:
        plain = in_json.removesuffix(f"->{POSITION}") + f"->>{POSITION}"
        yield Leaf(name, leaf.whole, read, plain if format_ == "json" else written)


def _of_document(leaf: Leaf, name: str, read: str, written: str, kinds: Any) -> Iterator[Leaf]:
    for key, kind in kinds.items() if isinstance(kinds, dict) else ():
        if not isinstance(kind, str):
            continue
        value, said = (f"{each}->>{text_in_sql(key)}" for each in (read, written))
        kind = "BIGINT" if kind == "UBIGINT" else kind  # noqa: PLW2901 - others may be negative
        if kind in ("BIGINT", "DOUBLE", "BOOLEAN"):
            value, said = f"TRY_CAST({value} AS {kind})", f"CAST({said} AS {kind})"
        yield Leaf(f"{name}.{key}", leaf.whole, f"({value})", said)
