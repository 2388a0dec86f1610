"""Named steps of SQL over the rows of two logs.

Numbers with a point end with an exponent: without one, DuckDB reads them as decimal.
"""

import math
from collections.abc import Sequence

from monitor.base.sql_text import text_in_sql

# What stands for the rows of the logs in a text; no text of a log can hold it.
SCORED, KNOWN = "\0scored\0", "\0known\0"
Cases = Sequence[tuple[str, str]]  # conditions in SQL with their values
Steps = Sequence[tuple[str, str]]  # names with queries, each of the ones before it


LOGARITHM = f"(log({{}}) / log({math.e!r}e0))"  # the natural one, alike on all machines
ALL = "SELECT * FROM shares"


def added(*by: str, sums: Sequence[str] = ("rows",)) -> str:
    """Write the query that adds up the counts of all shares."""
    values = [f"CAST(sum({name}) AS BIGINT) AS {name}" for name in sums]
    group = f" GROUP BY {', '.join(by)}" if by else ""
    return f"SELECT {', '.join([*by, *values])} FROM shares{group}"


def place(values: Sequence[str], value: str) -> str:
    """Write the position of a text among some, from 1; null if it is none of them."""
    texts = ", ".join(map(text_in_sql, values))
    return f"nullif(list_position([{texts}]::VARCHAR[], {value}), 0)"


def written(steps: Steps) -> str:
    """Write steps as one query, of what the last one gives."""
    named = ",\n".join(f"{name} AS ({query})" for name, query in steps)
    return f"WITH {named}\nSELECT * FROM {steps[-1][0]}"


def first_true(cases: Cases, otherwise: str) -> str:
    """Write the value of the first condition that is true."""
    each = " ".join(f"WHEN {condition} THEN {value}" for condition, value in cases)
    return f"CASE {each} ELSE {otherwise} END" if cases else otherwise


def as_double(number: float) -> str:
    """Write a number of double precision."""
    text = repr(number)
    return text if "e" in text else f"{text}e0"


def literal(value: object) -> str:
    """Write a value of the configuration."""
    if isinstance(value, bool):
        return f"{value}".upper()
    if isinstance(value, float):
        return as_double(value)
    return text_in_sql(value) if isinstance(value, str) else f"{value}"
