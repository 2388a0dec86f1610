"""The rows that a calibration map is for, where it is not for all: their rule, in SQL.

Rule: a row whose value is missing is `other`, so it meets a clause only if that takes others.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from monitor.base.segment_names import FIELD
from monitor.base.sql_text import text_in_sql

Engine = Literal["duckdb", "spark"]


@dataclass(frozen=True)
class Clause:
    """What the value of one column must be.

    Attributes
    ----------
    column : str
        The column, a field of a column after the sign `FIELD`, or an SQL expression on columns.
    values : tuple of str
        One of these, as text.
    others : bool
        None of the values instead, or missing.
    low, high : float or None
        Of a number: at least, and below.
    expression : bool
        Whether `column` is an expression.
    """

    __pydantic_config__: ClassVar = {"extra": "forbid", "strict": True, "allow_inf_nan": False}

    column: str
    values: tuple[str, ...] = ()
    others: bool = False
    low: float | None = None
    high: float | None = None
    expression: bool = False


@dataclass(frozen=True)
class Part:
    """Some rows of a log.

    Attributes
    ----------
    name : str
        For people, such as ``device = tv``.
    any_of : tuple of tuple of Clause
        A row belongs to it if it meets all clauses of any of these.
    """

    __pydantic_config__: ClassVar = {"extra": "forbid", "strict": True}

    name: str
    any_of: tuple[tuple[Clause, ...], ...]


def condition_of(part: Part, engine: Engine = "duckdb") -> str:
    """Write the condition that a row belongs to a part.

    Parameters
    ----------
    part : Part
        The rows.
    engine : {"duckdb", "spark"}
        Which quotes names and texts have.

    Returns
    -------
    str
        A condition in SQL; false or NULL for other rows.

    Examples
    --------
    >>> tv, child = Clause("device", ("tv's",)), Clause("age", high=18.0)
    >>> print(condition_of(Part("", ((tv, child),))))
    CAST("device" AS STRING) = 'tv''s' AND CAST("age" AS DOUBLE) < 18.0e0
    >>> print(condition_of(Part("", ((child,), (Clause("b", ("x", "y")),))), "spark"))
    (CAST(`age` AS DOUBLE) < 18.0e0) OR (CAST(`b` AS STRING) IN ('x', 'y'))
    """
    met = [" AND ".join(_clause(clause, engine) for clause in all_of) for all_of in part.any_of]
    return met[0] if len(met) == 1 else " OR ".join(f"({clause})" for clause in met)


def _clause(clause: Clause, engine: Engine) -> str:
    column = f"({clause.column})" if clause.expression else _name(clause.column, engine)
    if clause.low is not None or clause.high is not None:
        number = f"CAST({column} AS DOUBLE)"
        # NaN is above all numbers in both engines, so only a clause without an end lets it in.
        least = [] if clause.low is None else [f"{number} >= {_number(clause.low)}"]
        end = (
            f"NOT isnan({number})" if clause.high is None else f"{number} < {_number(clause.high)}"
        )
        return " AND ".join([*least, end])
    texts, value = (
        [text_in_sql(text, escapes=engine == "spark") for text in clause.values],
        f"CAST({column} AS STRING)",
    )
    if clause.others:
        return f"coalesce({value} NOT IN ({', '.join(texts)}), TRUE)" if texts else "TRUE"
    return f"{value} = {texts[0]}" if len(texts) == 1 else f"{value} IN ({', '.join(texts)})"


def _number(value: float) -> str:
    """Write a double; with an exponent, because engines take others for decimals."""
    written = repr(float(value))
    return written if "e" in written else f"{written}e0"


def _name(column: str, engine: Engine) -> str:
    mark = "`" if engine == "spark" else '"'
    parts = [mark + part.replace(mark, 2 * mark) + mark for part in column.split(FIELD)]
    return ".".join(parts)
