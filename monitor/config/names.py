"""What names a value of a row: a column, a field of a column, or an SQL expression."""

from typing import Annotated

from pydantic import BeforeValidator, StringConstraints

from monitor.base.segment_names import FIELD
from monitor.config.filters import check_expression

EXPRESSION = FIELD + "="  # begins an SQL expression in the place of a name


def read_field(value: object) -> object:
    """Read {column: prediction, field: score} as the name that `FIELD` describes."""
    if not isinstance(value, dict):
        return value
    parts = value.get("column"), value.get("field")
    named = [part for part in parts if isinstance(part, str) and part and FIELD not in part]
    if len(named) < len(parts) or len(value) > len(parts):
        msg = (
            "must be the name of a column or, for a field of a struct, {column: NAME, field: NAME}"
        )
        raise ValueError(msg)
    return FIELD.join(named)


def read_expression(value: object) -> object:
    """Read {sql: EXPRESSION} as the name that `EXPRESSION` describes, and names as they are."""
    if not isinstance(value, dict) or "sql" not in value:
        return read_field(value)
    if [*value] != ["sql"] or not isinstance(value["sql"], str):
        msg = "must be {sql: EXPRESSION}, one SQL expression on the columns of the log"
        raise ValueError(msg)
    return EXPRESSION + check_expression(value["sql"])


def expression_of(column: str) -> str | None:
    """Return the SQL expression that stands in the place of a name; None for a name.

    Examples
    --------
    >>> expression_of(EXPRESSION + "a.b.c"), expression_of("a.b.c")
    ('a.b.c', None)
    """
    return column.removeprefix(EXPRESSION) if column.startswith(EXPRESSION) else None


def named(column: str) -> str:
    """Write the name of a column, or of a field of a column, or an expression, for people.

    Examples
    --------
    >>> named("event" + FIELD + "by"), named(EXPRESSION + "lower(device)")
    ('event (field by)', 'lower(device)')
    """
    if expression := expression_of(column):
        return expression
    whole, _, field = column.partition(FIELD)
    return f"{whole} (field {field})" if field else whole


Column = Annotated[str, BeforeValidator(read_field), StringConstraints(min_length=1)]
Value = Annotated[str, BeforeValidator(read_expression), StringConstraints(min_length=1)]
