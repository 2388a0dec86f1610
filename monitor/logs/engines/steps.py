"""Named steps of SQL over the rows of two logs, which DuckDB and Spark both run.

Numbers with a point end with an exponent: without one, DuckDB reads them as decimal.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from monitor.base.sql_text import text_in_sql

# What stands for the rows of the logs in a text; no text of a log can hold it.
SCORED, KNOWN = "\0scored\0", "\0known\0"
Cases = Sequence[tuple[str, str]]  # conditions in SQL with their values
Steps = Sequence[tuple[str, str]]  # names with queries, each of the ones before it


@dataclass(frozen=True)
class Dialect:
    """Where the SQL of two engines differs.

    Attributes
    ----------
    logarithm : str
        The natural logarithm of `{}`.
    without : str
        The word before columns that a star leaves out.
    position : str
        The position of a text `{value}` among `{texts}`, or those of a list in `{json}`, from 1.
    engine : str
        Its name.
    """

    logarithm: str
    without: str
    position: str
    engine: Literal["duckdb", "spark"]

    def text(self, value: object) -> str:
        """Write a text."""
        return text_in_sql(f"{value}", self.engine)

    def place(self, values: Sequence[str], value: str) -> str:
        """Write the position of a text among some, from 1; null if it is none of them."""
        listed = self.text(json.dumps([*values], ensure_ascii=False))
        texts = ", ".join(map(self.text, values))
        return f"nullif({self.position.format(json=listed, texts=texts, value=value)}, 0)"


DUCKDB = Dialect(
    logarithm=f"(log({{}}) / log({math.e!r}e0))",
    without="EXCLUDE",
    position="list_position([{texts}]::VARCHAR[], {value})",
    engine="duckdb",
)
SPARK = Dialect(
    logarithm="ln({})",
    without="EXCEPT",
    # The word array would make its parser take >> for the ends of two types.
    position="array_position(from_json({json}, 'array<string>'), {value})",
    engine="spark",
)


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


def literal(value: object, dialect: Dialect) -> str:
    """Write a value of the configuration."""
    if isinstance(value, bool):
        return f"{value}".upper()
    if isinstance(value, float):
        return as_double(value)
    return dialect.text(value) if isinstance(value, str) else f"{value}"
