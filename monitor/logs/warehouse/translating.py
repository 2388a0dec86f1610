"""Filters and expressions of the configuration, which are DuckDB's SQL, in that of a warehouse.

Rule: only what means the same in every warehouse is translated. All else is refused by name.
"""

from typing import Any

from monitor.base.errors import ConfigError
from monitor.logs.warehouse.dialects import DIALECTS

# Parts of an expression that sqlglot writes in every dialect without a change of meaning.
PORTABLE = {
    *("Column", "Identifier", "Literal", "Boolean", "Null", "Paren", "Tuple"),
    *("And", "Or", "Not", "EQ", "NEQ", "GT", "GTE", "LT", "LTE", "In", "Between", "Is", "Like"),
    *("Add", "Sub", "Mul", "Div", "Neg", "Abs", "DPipe", "Case", "If", "Coalesce", "Nullif"),
    *("Lower", "Upper", "Trim", "Length", "Substring", "Cast", "DataType", "IsNan"),
}


def translated(text: str, dialect: str, setting: str) -> str:
    """Write an expression of DuckDB in another dialect.

    Raises
    ------
    ConfigError
        If the dialect may give it another meaning, or sqlglot is not installed.
    """
    if dialect == "duckdb":
        return f"({text})"
    try:
        import sqlglot  # noqa: PLC0415 - an extra
    except ImportError:
        msg = (
            f"{setting}: an expression is translated with sqlglot, which is not installed; pip "
            f"install 'calibration-monitor[sql]'."
        )
        raise ConfigError(msg) from None
    try:
        tree = sqlglot.parse_one(text, read="duckdb")
    except sqlglot.errors.SqlglotError:  # DuckDB reads it, and it knows more
        msg = (
            f"{setting}: {text} cannot be translated; compute it in the query under sql, give it a "
            f"name there, and write the name here."
        )
        raise ConfigError(msg) from None
    odd = [part for part in tree.walk() if type(part).__name__ not in PORTABLE]
    if odd:
        msg = (
            f"{setting}: {odd[0].sql('duckdb')} may mean something else in {dialect}; compute it "
            f"in the query under sql, give it a name there, and write the name here."
        )
        raise ConfigError(msg)
    written = DIALECTS[dialect].translated or dialect
    return f"({_with_own_nan(tree, dialect, written).sql(written)})"


def _with_own_nan(tree: Any, dialect: str, written: str) -> Any:
    """Write the question whether a number is one as the dialect does, which sqlglot does not."""
    from sqlglot import exp, parse_one  # noqa: PLC0415

    def replaced(part: Any) -> Any:
        if not isinstance(part, exp.IsNan):
            return part
        return parse_one(DIALECTS[dialect].is_nan.format(part.this.sql(written)), read=written)

    return tree.transform(replaced)
