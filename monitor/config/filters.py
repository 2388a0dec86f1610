"""A filter in SQL: checked before it is run, so that it can only choose rows of its log.

Rule: what is not listed here is refused. A filter is one expression over the columns of a row, made
of comparisons, arithmetic and functions whose result depends on their arguments alone. So it can
read no file, ask no clock, and give other rows on another day only if the log is another.
"""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

# Parts of an expression that only look at values of the row.
ALLOWED_PARTS = {
    "BETWEEN",
    "CASE",
    "CAST",
    "COLUMN_REF",
    "COMPARISON",
    "CONJUNCTION",
    "CONSTANT",
    "FUNCTION",
    "LAMBDA",  # how the parser takes a->'x', because it cannot know that a is JSON
    "OPERATOR",
}
# Operators such as + and LIKE have names of signs.
ALLOWED_FUNCTIONS = {
    *("abs", "ceil", "ceiling", "floor", "round", "sign", "sqrt", "ln", "log", "exp", "pow", "mod"),
    *("lower", "upper", "trim", "ltrim", "rtrim", "length", "substr", "substring", "left", "right"),
    *("concat", "replace", "reverse", "contains", "starts_with", "ends_with", "prefix", "suffix"),
    *("regexp_matches", "regexp_full_match", "regexp_replace", "regexp_extract", "split_part"),
    *("year", "month", "day", "hour", "minute", "second", "dayofweek", "dayofyear", "week"),
    *("date_part", "date_trunc", "date_diff", "datediff", "make_date", "epoch", "to_timestamp"),
    *("strftime", "strptime", "timezone", "md5", "greatest", "least", "isnan", "isfinite", "isinf"),
    *("list_value", "list_contains", "row", "struct_pack", "struct_extract", "list_extract"),
    *("array_extract", "like_escape", "ilike_escape", "not_like_escape", "not_ilike_escape"),
    *("trunc", "to_years", "to_months", "to_weeks", "to_days", "to_hours"),
    *("to_minutes", "to_seconds", "position", "strpos", "instr", "ascii", "hex", "nullif"),
    *("ifnull", "coalesce", "date_add", "date_sub"),
    *("->", "->>", "json_extract", "json_extract_string", "json_value", "json_exists"),
    *("json_array_length", "json_type", "json_valid", "from_base64", "to_base64", "base64"),
    *("decode", "encode", "unhex", "from_hex", "chr", "string_split", "str_split", "len"),
    *("array_length", "list_position", "cardinality", "map", "map_from_entries"),
    *("try_strptime", "make_timestamp", "epoch_ms"),
}  # fmt: skip
# Where the parser places functions that have a syntax of their own.
BUILT_IN = {"", "main", "pg_catalog"}
NAMES_OF_PARTS = {
    "SUBQUERY": "a subquery",
    "WINDOW": "a window function",
    "STAR": "a *",
    "PARAMETER": "a parameter",
}
# Quoted text, in which no sign has a meaning: 'it''s', E'it\\'s', "a column", $$text$$.
QUOTED = (
    r"""(?<![\w$])[eE]'(?:[^'\\]|''|\\.)*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|"""
    r"""(?<![\w$])\$(?P<tag>\w*)\$.*?\$(?P=tag)\$"""
)
# What ends a filter before its last sign.
ENDS = re.compile(rf"{QUOTED}|(?P<sign>--|/\*|;)", re.DOTALL)
CLOCKS = ("current_date", "current_time", "current_timestamp", "localtime", "localtimestamp")
EXAMPLE = "write one condition on the columns of the log, such as model_version = 'v3'"


def check_filter(text: str) -> str:
    """Return the text of a filter, or raise ValueError if it may do more than choose rows.

    Examples
    --------
    >>> check_filter("tenant = 'acme' AND lower(country) IN ('de', 'at')")
    "tenant = 'acme' AND lower(country) IN ('de', 'at')"
    """
    return _checked(text, EXAMPLE)


def check_expression(text: str) -> str:
    """Return the text of an expression, or raise ValueError if it may do more than give a value.

    Examples
    --------
    >>> check_expression("prediction.result.score / 100")
    'prediction.result.score / 100'
    """
    example = "write one expression on the columns of the log, such as prediction.result.score"
    return _checked(text, example)


def _checked(text: str, example: str) -> str:
    _check_end(text, example)
    expression = _parsed(text, example)
    for part in _parts(expression):
        if part["class"] not in ALLOWED_PARTS:
            named = NAMES_OF_PARTS.get(part["class"], f"{part['class']}")
            msg = f"contains {named}; {example}"
            raise ValueError(msg)
        name = part.get("function_name", "").lower()
        if part["class"] == "FUNCTION" and not _is_allowed(name, part):
            msg = f"calls {name}(), which it must not call; {example}"
            raise ValueError(msg)
        _check_access(part, example)
    _check_clock(text, example)
    return text


def _check_access(part: dict[str, Any], example: str) -> None:
    """Raise ValueError for a sign that SQL applies to the key of a JSON access, not to its value.

    It reads a->'x' || 'b' as a->('x' || 'b'), and gives the value of another key.
    """
    arrow = _arrow_of(part)
    if arrow and not _is_place(part["expr"] if arrow == "->" else part["children"][1]):
        msg = (
            f"has {arrow} beside a sign that binds closer, so that SQL reads more than the key as "
            f"its key; put each access in parentheses, such as (a{arrow}'x') = 'y' or "
            f"CAST((a->>'x') AS DOUBLE); {example}"
        )
        raise ValueError(msg)


def _arrow_of(part: dict[str, Any]) -> str:
    """Return the sign of an access to JSON; empty for anything else."""
    if part["class"] == "LAMBDA":
        return "->"
    return "->>" if part.get("function_name") == "->>" else ""


def _is_place(part: dict[str, Any]) -> bool:
    """Return whether an expression is a key or a position: a constant, a column, a sum of these."""
    if part["class"] in ("CONSTANT", "COLUMN_REF"):
        return True
    signed = part["class"] == "FUNCTION" and part["function_name"] in ("+", "-")
    below = part["children"] if signed else [part["child"]] if part["class"] == "CAST" else []
    texts = (isinstance(value, str) for each in below for value in _constants(each))
    return bool(below) and all(map(_is_place, below)) and not any(texts)


def _constants(part: dict[str, Any]) -> list[Any]:
    return [p["value"]["value"] for p in _parts(part) if p["class"] == "CONSTANT"]


def _check_clock(text: str, example: str) -> None:
    """Raise ValueError for the words that ask the clock without parentheses.

    To the parser they are names of columns, so the name of a column is in double quotes.
    """
    bare = re.sub(QUOTED, "''", text, flags=re.DOTALL)
    for name in CLOCKS:
        if re.search(rf"(?<![\w.]){name}(?!\w)", bare, re.IGNORECASE):
            msg = (
                f"contains {name}, which asks the clock; put the name of a column in double "
                f"quotes; {example}"
            )
            raise ValueError(msg)


def _check_end(text: str, example: str) -> None:
    """Raise ValueError for what hides a part of the text from the parser.

    The reader would take that part for a condition, and it would choose no rows. Inside quotes
    signs are only text, but a null character ends even that.
    """
    if "\0" in text:
        msg = f"contains the null character, behind which nothing would count; {example}"
        raise ValueError(msg)
    sign = next((match["sign"] for match in ENDS.finditer(text) if match["sign"]), "")
    if sign == ";":
        msg = f"contains a semicolon, behind which nothing would count; {example}"
        raise ValueError(msg)
    if sign:
        msg = (
            f"contains {sign}, which begins a comment in SQL; write comments in YAML, behind #, "
            f"and two minus signs with a space between them; {example}"
        )
        raise ValueError(msg)


def columns_of_filter(text: str) -> list[str]:
    """List the columns that a checked filter names, each once.

    Examples
    --------
    >>> columns_of_filter('a > 1 OR "b c" IS NULL OR a < 0')
    ['a', 'b c']
    """
    named = (part for part in _parts(_parsed(text)) if part["class"] == "COLUMN_REF")
    return list(dict.fromkeys(part["column_names"][0] for part in named))


@lru_cache(maxsize=256)
def _answer(text: str) -> dict[str, Any]:
    """Let DuckDB parse one expression; to start it takes longer than that."""
    import duckdb  # noqa: PLC0415 - most configurations have no filter, and it takes long to load

    with duckdb.connect() as connection:
        (serialised,) = connection.execute(
            "SELECT json_serialize_sql(?)", [f"SELECT {text}\n"]
        ).fetchone() or ("{}",)
    return json.loads(serialised)  # type: ignore[no-any-return]


def _parsed(text: str, example: str = EXAMPLE) -> dict[str, Any]:
    """Parse one expression without running it; ValueError for anything else."""
    answer = _answer(text)
    if answer.get("error"):
        message = str(answer.get("error_message", "")).splitlines()[0]
        msg = f"is not an SQL expression ({message}); {example}"
        raise ValueError(msg)
    nodes = [statement["node"] for statement in answer["statements"]]
    if len(nodes) != 1 or not _is_one_expression(nodes[0]):
        msg = f"must be one expression without FROM, ORDER BY or a semicolon; {example}"
        raise ValueError(msg)
    return nodes[0]["select_list"][0]  # type: ignore[no-any-return]


def _is_one_expression(node: dict[str, Any]) -> bool:
    """Return whether a query is SELECT with one unnamed expression, and has no further clause."""
    clauses = "where_clause", "having", "qualify", "sample", "group_expressions", "modifiers"
    return (
        node["type"] == "SELECT_NODE"
        and len(node["select_list"]) == 1
        and not node["select_list"][0]["alias"]
        and node["from_table"]["type"] == "EMPTY"
        and not any(node.get(clause) for clause in clauses)
        and not node["cte_map"]["map"]
    )


def _is_allowed(name: str, part: dict[str, Any]) -> bool:
    is_sign = not any(sign.isalnum() for sign in name)
    plain = part["schema"] in BUILT_IN and not part["catalog"] and not part["distinct"]
    return plain and (is_sign or name in ALLOWED_FUNCTIONS)


def _parts(node: Any) -> Iterator[dict[str, Any]]:
    """Yield every expression below a node of the parsed text, the node itself included."""
    if isinstance(node, list):
        for item in node:
            yield from _parts(item)
    elif isinstance(node, dict):
        if "class" in node:
            yield node
        for key, value in node.items():
            if key != "value":  # of a constant
                yield from _parts(value)
