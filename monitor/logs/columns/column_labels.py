"""What the value of a watched column is called: itself, a range of numbers, or a combination."""

from collections.abc import Iterator
from itertools import pairwise

from monitor.base.segment_names import CROSSED, OTHER
from monitor.base.sql_text import text_in_sql
from monitor.config import Model, Watched, WatchedColumn
from monitor.logs.engines.steps import LOGARITHM, as_double, first_true

# Numbers to be cut at quantiles are counted in steps of a quarter of a power of two.
STEPS = 4
FARTHEST = 400  # steps from 1: beyond 2**100, and below 2**-100, numbers are alike
LARGEST_STEP = 2 * FARTHEST + 1  # of a number; the smallest is its negative


def watched_columns(model: Model) -> list[str]:
    """List the columns of the log that watched columns read, once each."""
    return [*dict.fromkeys(column for watched in model.columns for column in watched.columns)]


def watched_name(column: str) -> str:
    """Name a watched column so that it meets no other name of the query, and needs no quotes."""
    return f"watched_{column.encode().hex()}"


def label_of(watched: Watched, model: Model) -> str:
    """Write the label of a row in a watched column, in SQL.

    A value that is missing is `other`, or null until it has been counted. Numbers that are cut at
    quantiles are the numbers of their steps; see `step_edge`.
    """
    if isinstance(watched, WatchedColumn):
        return _label(watched)
    named = {w.column: _label(w) for w in model.columns if isinstance(w, WatchedColumn)}
    if model.segments:
        column = model.segments.column
        named.setdefault(column, _among(column, model.segments.values))
    parts = (named.get(column) or text_of(column) for column in watched.cross)
    other = text_in_sql(OTHER)
    return f" || {text_in_sql(CROSSED)} || ".join(f"coalesce({part}, {other})" for part in parts)


def step_edge(step: int) -> float:
    """Give the number at which a step begins, seen from 0.

    Examples
    --------
    >>> [round(step_edge(step), 3) for step in (-401, 0, 401, 405)]
    [-0.917, 0.0, 0.917, 1.834]
    """
    if step == 0:
        return 0.0
    size = 2.0 ** ((abs(step) - FARTHEST - 1 - 0.5) / STEPS)
    return float(size if step > 0 else -size)


def range_names(edges: tuple[float, ...], digits: int = 6) -> Iterator[str]:
    """Name the ranges between edges, which are written with some digits.

    Examples
    --------
    >>> list(range_names((10.0, 100.0)))
    ['below 10', '10 to 100', '100 and more']
    """
    written = [f"{edge:.{digits}g}" for edge in edges]
    yield f"below {written[0]}"
    yield from (f"{low} to {high}" for low, high in pairwise(written))
    yield f"{written[-1]} and more"


def text_of(column: str) -> str:
    """Write the value of a watched column as text."""
    return f"CAST({watched_name(column)} AS STRING)"


def step_of(column: str) -> str:
    """Write the step of a number: quarters of powers of two, and half a step off.

    So no power of two is an edge. It is null where there is no number.
    """
    number = f"CAST({watched_name(column)} AS DOUBLE)"
    apart = f"CASE WHEN {number} = 0e0 THEN 1e0 ELSE abs({number}) END"
    quarters = f"floor({LOGARITHM.format(apart)} / ln(2e0) * {STEPS}e0 + 0.5e0)"
    step = f"greatest(least({quarters}, {FARTHEST}), -{FARTHEST}) + {FARTHEST + 1}"
    cases = [
        (is_no_number(column), "NULL"),
        (f"{number} < 0e0", f"-CAST({step} AS BIGINT)"),
        (f"{number} > 0e0", f"CAST({step} AS BIGINT)"),
    ]
    return first_true(cases, "0")


def is_no_number(column: str) -> str:
    """Write that a value of a watched column is no number."""
    number = f"CAST({watched_name(column)} AS DOUBLE)"
    return f"({number} IS NULL OR isnan({number}))"


def below_edges(column: str, edges: tuple[float, ...]) -> list[tuple[str, int]]:
    """List the conditions that a number is below an edge, each with the number of its range."""
    number = f"CAST({watched_name(column)} AS DOUBLE)"
    return [(f"{number} < {as_double(edge)}", i) for i, edge in enumerate(edges, 1)]


def _label(watched: WatchedColumn) -> str:
    if watched.values:
        return _among(watched.column, watched.values)
    if watched.edges:
        names = [text_in_sql(name) for name in range_names(watched.edges)]
        cases = [(is_no_number(watched.column), text_in_sql(OTHER))]
        cases += [(c, names[i - 1]) for c, i in below_edges(watched.column, watched.edges)]
        return first_true(cases, names[-1])
    if watched.quantiles:
        step = f"CAST({step_of(watched.column)} AS STRING)"
        return f"coalesce({step}, {text_in_sql(OTHER)})"
    return text_of(watched.column)


def _among(column: str, values: tuple[str, ...]) -> str:
    text = text_of(column)
    listed = ", ".join(map(text_in_sql, values))
    return f"CASE WHEN {text} IN ({listed}) THEN {text} ELSE {text_in_sql(OTHER)} END"
