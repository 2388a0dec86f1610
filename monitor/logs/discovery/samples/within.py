"""What columns hold: fields of structs, keys of maps, places of lists, JSON and base64 in texts.

Each value is one expression of SQL, which the sample is read with and the configuration gets. A run
reads JSON lines as texts, so an object in them is JSON in a text, as in any other format.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from monitor.base.sql_text import text_in_sql
from monitor.config import ELEMENT, POSITION
from monitor.logs.discovery.samples.profile import PLAIN, in_sql
from monitor.logs.engines.session import NESTED
from monitor.logs.sources.exploding import list_in_text

MOST_LEAVES = 200  # values within columns that are looked at
MOST_PLACES = 30  # of a list that is looked into
ROUNDED = 1e-2  # how far the sum of probabilities may be from 1
LEAST_FILLED = 0.3  # share of the rows that have a list, which may be that of a failure
LISTS = "list", "array"
WHOLE = ("tinyint", "smallint", "integer", "bigint", "utinyint", "usmallint", "uinteger", "ubigint")
REALS = ("double", "float", "decimal")
CASTS = {"UBIGINT": "BIGINT", **{kind: kind for kind in ("BIGINT", "HUGEINT", "DOUBLE", "BOOLEAN")}}
VECTOR_OF_SPARK = ["type", "size", "indices", "values"]  # fields of a struct
OF_SPARK = (
    "CASE WHEN {v}.type = 1 THEN {v}.values[2] WHEN {v}.indices[1] = 1 THEN {v}.values[1] "
    "WHEN {v}.indices[2] = 1 THEN {v}.values[2] WHEN {v}.type = 0 THEN 0.0 END"
)
SEPARATED = ",", ";", "\n"
NUMBER = r"\s*-?\d*\.?\d+([eE][-+]?\d+)?\s*"
WAY = re.compile(r"\w+(\.\w+)*")  # to a list that can be exploded
FIELDS = 3  # of a line of CSV, of which one may be an id
AT = POSITION
CAST = re.compile(r"CAST\((.*) AS \w+\)")
STEP = re.compile(r"(.*[^'])\[[^\[\]]*\]")  # into a list or a map
KEY = re.compile(r"""(.*->>)('\$.*?)(?:\.(?:\w+|"[^"]*")|\[\d+\])'""")  # into JSON


@dataclass(frozen=True)
class Leaf:
    """A value within a column: its name for people, the column, and its expression."""

    name: str
    whole: str
    sql: str


@dataclass(frozen=True)
class Few:
    """Some rows with all columns as they are, and whether a log of this format has no types."""

    rows: duckdb.DuckDBPyRelation
    textual: bool

    def ask(self, *aggregates: str, where: str = "true") -> tuple[Any, ...]:
        """Return some aggregates of the rows."""
        return tuple(self.rows.filter(where).aggregate(", ".join(aggregates)).fetchall()[0])

    def cast(self, sql: str, kind: str) -> str:
        """Write a text as what it is, where types are needed."""
        to = None if self.textual else CASTS.get(kind)
        return f"CAST({sql} AS {to})" if to else sql

    def columns(self) -> list[tuple[Leaf, Any]]:
        """List the columns with their types."""
        names = zip(self.rows.columns, self.rows.types, strict=True)
        return [(Leaf(name, name, in_sql(name)), native) for name, native in names]


def leaves_in(few: Few) -> list[Leaf]:
    """List the values within all columns."""
    found = [x for leaf, native in few.columns() for x in _inside(few, leaf, native) if x != leaf]
    return found[:MOST_LEAVES]


def _inside(few: Few, leaf: Leaf, native: Any) -> Iterator[Leaf]:
    """List a value, or what is in it."""
    if native.id == "struct" and [name for name, _ in native.children] == VECTOR_OF_SPARK:
        yield Leaf(f"{leaf.name} of 1", leaf.whole, OF_SPARK.format(v=leaf.sql))
    elif native.id == "struct":
        for name, kind in native.children:
            yield from _inside(few, _step(leaf, f".{name}", f".{in_sql(name)}"), kind)
    elif native.id in LISTS:
        yield from _in_list(few, leaf, dict(native.children)["child"])
    elif native.id == "map" and f"{native.children[0][1]}" == "VARCHAR":
        (keys,) = few.ask(f"list_sort(list_distinct(flatten(list(map_keys({leaf.sql})))))")
        for key in (keys or [])[:MOST_LEAVES]:
            yield _step(leaf, f"[{text_in_sql(key)}]", f"[{text_in_sql(key)}]")
    elif native.id == "varchar":
        yield leaf
        yield from _in_text(few, leaf)
    elif native.id not in NESTED:
        yield leaf


def _in_list(few: Few, leaf: Leaf, child: Any) -> Iterator[Leaf]:
    """List the options of a list, and the places of one that always has as many."""
    fields = child.children if child.id == "struct" else ()
    kinds = {name: _plain(kind) for name, kind in fields}
    if option := _option_of(kinds):
        named = kinds[option[0]] == "VARCHAR"
        yield from _options(few, leaf, f"map_from_entries({leaf.sql})", named=named)
    for place in _places(few, f"len({leaf.sql})", plain=child.id not in NESTED):
        yield from _inside(few, _step(leaf, f"[{place + 1}]", f"[{place + 1}]"), child)


def _step(leaf: Leaf, name: str, sql: str) -> Leaf:
    return Leaf(leaf.name + name, leaf.whole, leaf.sql + sql)


def _plain(kind: Any) -> str:
    return "VARCHAR" if kind.id == "varchar" else "BIGINT" if kind.id in WHOLE else "DOUBLE"


def _places(few: Few, size: str, *, plain: bool, where: str = "true") -> range:
    """List the places of lists that all have as many elements; none if they differ.

    A list of several objects is several predictions; one of several numbers may be those of the
    classes.
    """
    ask = f"min({size}), max({size}), count({size}) >= {LEAST_FILLED} * count(*)"
    least, most, filled = few.ask(ask, where=where)
    fits = filled and least == most and 1 <= (most or 0) <= (MOST_PLACES if plain else 1)
    return range(int(most) if fits else 0)


def _option_of(kinds: dict[str, Any]) -> tuple[str, str] | None:
    """Name the fields of a record that is an option, a text or an integer, with a probability."""
    options = [name for name, kind in kinds.items() if kind in ("VARCHAR", "BIGINT", "UBIGINT")]
    numbers = [name for name, kind in kinds.items() if kind == "DOUBLE"]
    return (options[0], numbers[0]) if len(options) == len(numbers) == len(kinds) - 1 == 1 else None


def _options(
    few: Few, leaf: Leaf, written: str, *, named: bool, where: str = "true"
) -> Iterator[Leaf]:
    """List the options that have a probability each, as the keys of a map.

    Integers with numbers are options only if the numbers are those of classes.
    """
    both = f"TRY({written})"
    ask = f"list_sort(list_distinct(flatten(list(map_keys({both})))))"
    found, adds = few.ask(ask, f"bool_and({_adds_up(f'map_values({both})')})", where=where)
    if adds or named:
        for key in (found or [])[:MOST_LEAVES]:
            step = f"[{text_in_sql(key) if isinstance(key, str) else key}]"
            yield Leaf(f"{leaf.name}{step}", leaf.whole, f"{written}{step}")


def _adds_up(values: str) -> str:
    """Write whether numbers are the probabilities of classes, rather than several predictions."""
    return f"abs(list_sum({values}) - 1) < {ROUNDED}"


def _in_text(few: Few, leaf: Leaf) -> Iterator[Leaf]:
    """List what JSON in a text holds, and what a text in base64 is, a number or JSON."""
    decoded = f"decode(from_base64({leaf.sql}))"
    number, is_json = f"TRY_CAST(TRY({decoded}) AS DOUBLE)", _is_json(leaf.sql)
    structure, numbers, documents = few.ask(
        f"json_group_structure(CASE WHEN {is_json} THEN TRY_CAST({leaf.sql} AS JSON) END)::VARCHAR",
        f"coalesce(bool_and({number} IS NOT NULL), false)",
        f"coalesce(bool_and({_is_json(f'TRY({decoded})')}), false)",
        where=f"{_apart(leaf.sql)} <> ''",
    )
    inner = Leaf(f"{leaf.name} decoded", leaf.whole, decoded)
    if numbers:
        yield Leaf(inner.name, leaf.whole, few.cast(decoded, "DOUBLE"))
    elif documents:
        yield from _in_text(few, inner)
    if structure:
        yield from _in_document(few, leaf, json.loads(structure), is_json)


def _is_json(text: str) -> str:
    text = _apart(text)
    return f"(({text} LIKE '{{%' OR {text} LIKE '[%') AND json_valid({text}))"


def _apart(sql: str) -> str:
    """Put steps into JSON, which bind more loosely than comparisons, in parentheses."""
    return f"({sql})" if "->" in sql else sql


def _in_document(few: Few, leaf: Leaf, structure: Any, where: str) -> Iterator[Leaf]:
    """List the plain values of documents, given the types of their keys."""
    text = _apart(leaf.sql)
    waiting: list[tuple[str, str, Any]] = [("", "$", structure)]
    while waiting:
        name, path, kind = waiting.pop(0)
        own = Leaf(leaf.name + name, leaf.whole, f"{text}->>{text_in_sql(path)}")
        if isinstance(kind, dict):
            waiting += [(f"{name}.{k}", f"{path}.{_key(k)}", inner) for k, inner in kind.items()]
        elif isinstance(kind, list) and kind:
            if isinstance(kind[0], dict) and (option := _option_of(kind[0])):
                of, p = (f"{text}->>{text_in_sql(f'{path}[*].{_key(name)}')}" for name in option)
                named = kind[0][option[0]] == "VARCHAR"
                written = f"map({of}, CAST({p} AS DOUBLE[]))"
                yield from _options(few, own, written, named=named, where=where)
            size = f"json_array_length({text}, {text_in_sql(path)})"
            size = f"CASE WHEN json_type({text}, {text_in_sql(path)}) = 'ARRAY' THEN {size} END"
            plain = isinstance(kind[0], str)
            places = _places(few, size, plain=plain, where=where)
            if plain and len(places) > 1 and not _sums(few, text, path, where):
                places = range(0)
            waiting += [(f"{name}[{n}]", f"{path}[{n}]", kind[0]) for n in places]
        elif isinstance(kind, str) and kind not in ("NULL", "JSON") and name:
            yield Leaf(own.name, leaf.whole, few.cast(own.sql, kind))
            if kind == "VARCHAR":
                yield from _in_text(few, own)


def _sums(few: Few, text: str, path: str, where: str) -> bool:
    numbers = f"TRY_CAST(json_extract({text}, {text_in_sql(path)}) AS DOUBLE[])"
    (adds,) = few.ask(f"bool_and({_adds_up(numbers)})", where=where)
    return bool(adds)


def _key(name: str) -> str:
    return name if PLAIN.fullmatch(name) else f'"{name}"'


def json_path(keys: Sequence[str]) -> str:
    """Write the way to a value in JSON as SQL does."""
    return text_in_sql(".".join(["$", *map(_key, keys)]))


def lists_in(few: Few) -> Iterator[str | dict[str, str]]:
    """List what may hold the predictions of a record, each as `explode` names it."""
    for leaf, native in _walk(few):
        if native.id in LISTS:
            if WAY.fullmatch(leaf.name):
                kind = dict(native.children)["child"].id
                of = "number" if kind in REALS else kind
                yield from [leaf.name] * _may_be(few, of, leaf.sql)
        elif native.id == "varchar":
            for path, kind in _lists_in_json(few, leaf.sql):
                listed = list_in_text(leaf.sql, path, None)
                of = {"DOUBLE": "number"}.get(f"{kind}", "struct" if kind else "other")
                way = ".".join([leaf.name, *path])
                fits = WAY.fullmatch(way) and leaf.name == leaf.whole
                yield from [way] * bool(fits and _may_be(few, of, listed))
    for leaf in _texts(few):
        yield from _separated(few, leaf)


def _walk(few: Few) -> Iterator[tuple[Leaf, Any]]:
    """Walk through the columns, and the fields of those that are structs."""
    waiting = few.columns()
    while waiting:
        leaf, native = waiting.pop(0)
        yield leaf, native
        if native.id == "struct":
            for name, kind in native.children:
                waiting.append((_step(leaf, f".{name}", f".{in_sql(name)}"), kind))


def _may_be(few: Few, kind: str, listed: str) -> bool:
    """Return whether a list may hold a prediction in each element; a vector has one length."""
    adds = f"coalesce(bool_and({_adds_up(f'TRY_CAST({listed} AS DOUBLE[])')}), false)"
    least, most, is_vector = few.ask(
        f"min(len({listed})), max(len({listed}))", adds if kind == "number" else "false"
    )
    of_numbers = kind == "number" and not (is_vector and least == most > 1)
    return bool(most) and (of_numbers or kind in ("struct", "varchar"))


def _lists_in_json(few: Few, text: str) -> Iterator[tuple[list[str], Any]]:
    """List the lists in documents, with the keys that lead to them and what is in them."""
    (structure,) = few.ask(f"json_group_structure({text}::JSON)::VARCHAR", where=_is_json(text))
    waiting = [(list[str](), json.loads(structure))] if structure else []
    while waiting:
        keys, kind = waiting.pop(0)
        if isinstance(kind, dict):
            waiting += [([*keys, key], inner) for key, inner in kind.items()]
        elif isinstance(kind, list) and kind:
            yield keys, kind[0]


def _texts(few: Few) -> list[Leaf]:
    """List the texts in columns, and in documents."""
    columns = [leaf for leaf, native in few.columns() if native.id == "varchar"]
    within = [leaf for leaf in leaves_in(few) if not CAST.fullmatch(leaf.sql)]
    return [Leaf(x.name, x.whole, _apart(x.sql)) for x in (*columns, *within)]


def _separated(few: Few, leaf: Leaf) -> Iterator[dict[str, str]]:
    for sign in SEPARATED:
        pattern = text_in_sql(rf"{NUMBER}({sign}{NUMBER})*{sign}?")
        fits = f"(trim({leaf.sql}) = '' OR regexp_full_match({leaf.sql}, {pattern}))"
        several = f"contains(rtrim({leaf.sql}, chr(10)), {text_in_sql(sign)})"
        if WAY.fullmatch(leaf.name) and all(few.ask(f"bool_and({fits})", f"bool_or({several})")):
            yield {"list": leaf.name, "separator": sign}


def beside(few: Few, listed: str) -> Iterator[Leaf]:
    """List what stands at the same position of other lists, and ids with the position."""
    for leaf, native in _walk(few):
        if leaf.whole in (ELEMENT, POSITION):
            continue
        if native.id in LISTS and leaf.name != listed and _reaches(few, f"len({leaf.sql})"):
            item = _step(leaf, f"[{AT}]", f"[{AT} + 1]")
            yield from _inside(few, item, dict(native.children)["child"])
        for path, _ in _lists_in_json(few, leaf.sql) if native.id == "varchar" else ():
            name, way = ".".join([leaf.name, *path]), json_path(path)
            if name != listed and _reaches(few, f"json_array_length({leaf.sql}, {way})"):
                item = Leaf(f"{name}[{AT}]", leaf.whole, f"{leaf.sql}->{way}->>{AT}")
                yield from (item, *_in_text(few, item))
        if native.id in ("varchar", "uuid") and leaf.name.lower().endswith("id"):
            yield Leaf(f"{leaf.name}_{AT}", "", f"{leaf.sql} || '_' || {AT}")
    for leaf in _texts(few):
        if leaf.whole != ELEMENT and _reaches(few, f"len({_lines(leaf.sql)})"):
            yield from _fields_of_line(few, leaf)


def _lines(text: str) -> str:
    return f"string_split({text}, chr(10))"


def _fields_of_line(few: Few, leaf: Leaf) -> Iterator[Leaf]:
    """List the first fields of the line at a position, where records have several lines."""
    (lines,) = few.ask(f"max(len({_lines(leaf.sql)}))")
    for place in range(1, FIELDS + 1) if (lines or 0) > 1 else ():
        sql = f"split_part(split_part({leaf.sql}, chr(10), {AT} + 1), ',', {place})"
        yield Leaf(f"{leaf.name} line[{AT}] field {place}", "", sql)


def _reaches(few: Few, length: str) -> bool:
    """Return whether a list has an element at each position that rows have."""
    reached = f"bool_and(coalesce({length} > {AT}, false))"
    return bool(few.ask(reached, where=f"{AT} IS NOT NULL")[0])


def vector_of(sql: Sequence[str]) -> str | None:
    """Write the list, the map or the object whose places or keys some expressions are.

    Examples
    --------
    >>> vector_of(["probs[1]", "probs[2]"]), vector_of(["a->>'$.p.x'", "a->>'$.p.y'"])
    ('probs', "a->>'$.p'")
    >>> vector_of(["CAST(a->>'$[0]' AS DOUBLE)", "b"])
    """
    wholes = set[str | None]()
    for each in sql:
        plain = match[1] if (match := CAST.fullmatch(each)) else each
        found = STEP.fullmatch(plain) or KEY.fullmatch(plain)
        above = found and found[1] + (f"{found[2]}'" if found.re is KEY and found[2] else "")
        wholes.add(above and above.removesuffix("->>'$'"))
    (whole, *others) = wholes
    return None if others else whole
