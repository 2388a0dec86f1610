"""What the value of a watched column is called: itself, a range of numbers, or a combination."""

from collections.abc import Iterator
from itertools import pairwise

import narwhals as nw

from monitor.config import Crossing, Model, Watched, WatchedColumn
from monitor.logs.rows import choose
from monitor.segment_names import CROSSED, OTHER

# Numbers to be cut at quantiles are counted in steps of a quarter of a power of two.
STEPS = 4
FARTHEST = 400  # steps from 1: beyond 2**100, and below 2**-100, numbers are alike
LARGEST_STEP = 2 * FARTHEST + 1  # of a number; the smallest is its negative


def watched_columns(model: Model) -> list[str]:
    """List the columns of the log that watched columns read, once each."""
    return [*dict.fromkeys(column for watched in model.columns for column in watched.columns)]


def watched_name(column: str) -> str:
    """Name a watched column so that it meets no other name of the query."""
    return f"watched {column}"


def label_name(watched: Watched) -> str:
    """Name the column of the query that holds the labels."""
    return f"label {watched.name}"


def labels(model: Model) -> dict[str, nw.Expr]:
    """Write the label of a row in every watched column, by the name of its column.

    A value that is missing is `other`, or null until it has been counted. Numbers that are cut at
    quantiles are the numbers of their steps; see `step_edge`.
    """
    named = {w.column: _label(w) for w in model.columns if isinstance(w, WatchedColumn)}
    if model.segments and model.segments.column in watched_columns(model):
        column = model.segments.column
        named.setdefault(column, _among(column, model.segments.values))
    written = dict[str, nw.Expr]()
    for watched in model.columns:
        if isinstance(watched, Crossing):
            parts = [named.get(column, _text(column)) for column in watched.cross]
            parts = [part.fill_null(OTHER) for part in parts]
            written[label_name(watched)] = nw.concat_str(*parts, separator=CROSSED)
        else:
            written[label_name(watched)] = named[watched.column]
    return written


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


def range_names(edges: tuple[float, ...]) -> Iterator[str]:
    """Name the ranges between edges.

    Examples
    --------
    >>> list(range_names((10.0, 100.0)))
    ['below 10', '10 to 100', '100 and more']
    """
    yield f"below {edges[0]:g}"
    yield from (f"{low:g} to {high:g}" for low, high in pairwise(edges))
    yield f"{edges[-1]:g} and more"


def _label(watched: WatchedColumn) -> nw.Expr:
    if watched.values:
        return _among(watched.column, watched.values)
    if watched.edges:
        return _range(watched.column, watched.edges)
    return _step(watched.column) if watched.quantiles else _text(watched.column)


def _text(column: str) -> nw.Expr:
    return nw.col(watched_name(column)).cast(nw.String)


def _among(column: str, values: tuple[str, ...]) -> nw.Expr:
    text = _text(column)
    return nw.when(text.is_in(values)).then(text).otherwise(nw.lit(OTHER))


def _range(column: str, edges: tuple[float, ...]) -> nw.Expr:
    number, names = nw.col(watched_name(column)).cast(nw.Float64), [*range_names(edges)]
    cases = [(_is_no_number(number), nw.lit(OTHER))]
    cases += [(number < edge, nw.lit(name)) for edge, name in zip(edges, names[:-1], strict=True)]
    return choose(cases, nw.lit(names[-1]))


def _step(column: str) -> nw.Expr:
    """Count quarters of powers of two; half a step off, so that no power of two is an edge."""
    number = nw.col(watched_name(column)).cast(nw.Float64)
    apart = nw.when(number == 0.0).then(nw.lit(1.0)).otherwise(number.abs())
    step = (apart.log(2.0) * STEPS + 0.5).floor().clip(-FARTHEST, FARTHEST) + (FARTHEST + 1)
    signed = choose([(number < 0.0, -step), (number > 0.0, step)], nw.lit(0.0))
    written = signed.cast(nw.Int64).cast(nw.String)
    return choose([(_is_no_number(number), nw.lit(OTHER))], written)


def _is_no_number(number: nw.Expr) -> nw.Expr:
    return number.is_null() | number.is_nan()
