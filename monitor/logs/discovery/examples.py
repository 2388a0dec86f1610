"""Values of columns that were not understood, and the expression that may read what they hold."""

import base64
import binascii
import json
from collections.abc import Iterator
from textwrap import shorten
from typing import Any

from monitor.logs.conversions import quoted
from monitor.logs.discovery.columns import EXACT, PLAIN, in_sql
from monitor.logs.discovery.reading import PARTITION, Log
from monitor.logs.discovery.rows import LOOKED_AT, SUM_TOLERANCE, ask, open_rows
from monitor.logs.session import DAMAGE, Session

WIDTH = 60  # signs of a value that are shown
MOST_EXAMPLES = 30  # columns of a log
LEAST_BASE64 = 8  # signs
Steps = tuple[str | int, ...]  # keys and places on the way to a value; "" enters JSON in a text


def examples_of(session: Session, log: Log) -> dict[str, str]:
    """Give the longest value of each column of the sample, and of nested ones as JSON."""
    plain = [c.name for c in log.columns if c.name != PARTITION][:MOST_EXAMPLES]
    values = dict[str, str | None]()
    if plain:
        longest = ", ".join(_longest(f"{quoted(name)}::VARCHAR") for name in plain)
        values |= dict(zip(plain, ask(session, f"SELECT {longest} FROM {log.table}"), strict=True))
    nested = [name for name, _ in log.nested]
    day = log.sampled[0] if log.sampled else None
    try:
        rows = open_rows(session, log.source, day, files=1, nested=True) if nested else None
        if rows is not None:
            longest = ", ".join(_longest(f"to_json({quoted(name)})::VARCHAR") for name in nested)
            (row,) = rows.limit(LOOKED_AT).aggregate(longest).fetchall()
            values |= dict(zip(nested, row, strict=True))
    except DAMAGE:  # the listing is then without them
        pass
    return {name: value for name, value in values.items() if value is not None}


def _longest(text: str) -> str:
    return f"max({{'n': length({text}), 'v': {text}}}).v"


def described(log: Log, examples: dict[str, str]) -> list[str]:
    """Say of each column of a log its type, one of its values, and how it may be read."""
    types = {c.name: c.type for c in log.columns if c.name not in log.inner} | dict(log.nested)
    lines, lost = list[str](), {c.name for c in log.columns if c.lost}
    for name, type_ in list(types.items())[:MOST_EXAMPLES]:
        value = examples.get(name)
        said = f"{name} {shorten(type_, WIDTH, placeholder='…')}"
        if value is not None:
            length = f" (up to {len(value)} characters)" if type_ == "VARCHAR" else ""
            said += f" such as {_short(value)}{length}"
        hint = _how_to_read(name, value, is_nested=name in _structs(log)) if value else ""
        if name in lost:
            hint = (
                f": each stands for several whole numbers, because a {type_} holds them one by one "
                f"only up to {EXACT[type_]:,}; if these are ids, they were lost when the log was "
                f"written: write them as integers or text"
            )
        lines.append(f"{said}{hint}")
    return lines


def how_to_read(log: Log, examples: dict[str, str]) -> list[str]:
    """Say of each column that holds others how the score may be read from it."""
    nested = _structs(log)
    hints = (
        (name, _how_to_read(name, value, is_nested=name in nested))
        for name, value in examples.items()
        if name not in log.inner
    )
    return [f"{name}{hint}" for name, hint in hints if hint]


def _structs(log: Log) -> set[str]:
    """Name the columns that are structs or lists to an expression; in JSON lines all are texts."""
    return set() if log.format == "json" else {name for name, _ in log.nested}


def _short(value: str) -> str:
    shown = "".join(sign if sign.isprintable() else "?" for sign in value[: WIDTH + 1])
    return f"{shown[:WIDTH]}…" if len(value) > WIDTH else shown


def _how_to_read(name: str, value: str, *, is_nested: bool) -> str:
    """Say how a value may be read: one within JSON, a struct or a list, or base64."""
    document = _document(value)
    if document is None:
        return _of_base64(name, value)
    found = next(_numbers(document, ()), None)
    if found is None:
        return ""
    steps, several, place = found
    if several:
        at = ".".join(str(step) for step in place if step != "")
        return (
            f": {several} elements{f' at {at}' * bool(at)}; if each is a prediction, write "
            f"explode: {'.'.join(filter(None, [name, at]))}"
        )
    read = _in_struct(name, steps) if is_nested else _in_json(name, steps)
    return f': if that is it, write {{sql: "{read}"}}'


def _document(value: str) -> Any:
    if not value.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(value)
    except ValueError:
        return None


def _numbers(value: Any, steps: Steps) -> Iterator[tuple[Steps, int, Steps]]:
    """Walk to the numbers from 0 to 1 that are no whole ones.

    With each come the length of the outermost list of several on the way, and where it is.
    """
    if isinstance(value, float) and 0 < value < 1:
        yield steps, 0, ()
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _numbers(inner, (*steps, key))
    elif isinstance(value, list) and value:
        if _are_classes(value):
            yield (*steps, len(value) - 1), 0, ()
            return
        for inner_steps, several, place in _numbers(value[0], (*steps, 0)):
            yield (
                (inner_steps, len(value), steps)
                if len(value) > 1
                else (*(inner_steps, several, place),)
            )
    elif isinstance(value, str) and (inner := _document(value)) is not None:
        yield from _numbers(inner, (*steps, ""))  # JSON in a text begins again


def _are_classes(value: list[Any]) -> bool:
    numbers = [number for number in value if isinstance(number, (int, float))]
    return 1 < len(numbers) == len(value) and abs(sum(numbers) - 1) < SUM_TOLERANCE


def _in_json(name: str, steps: Steps) -> str:
    read, path = in_sql(name), "$"
    for step in (*steps, None):
        if step is None or step == "":
            read = f"{f'({read})' if '->>' in read else read}->>'{path}'" if path != "$" else read
            path = "$"
        else:
            path += f"[{step}]" if isinstance(step, int) else f".{_key(step)}"
    return f"CAST({read} AS DOUBLE)"


def _in_struct(name: str, steps: Steps) -> str:
    if "" in steps:
        text = steps.index("")
        return _in_json(_in_struct(name, steps[:text]), steps[text + 1 :]).replace('"', "")
    read = in_sql(name)
    for step in steps:
        read += f"[{step + 1}]" if isinstance(step, int) else f".{in_sql(step)}"
    return read


def _key(name: str) -> str:
    return name if PLAIN.fullmatch(name.lower()) else f'"{name}"'


def _of_base64(name: str, value: str) -> str:
    if len(value) < LEAST_BASE64 or len(value) % 4:
        return ""
    try:
        text = base64.b64decode(value, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return ""
    if not text.isprintable():
        return ""
    whole = f"decode(from_base64({in_sql(name)}))"
    return f": base64 of {_short(text)}; {whole} gives that text"
