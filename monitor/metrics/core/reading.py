"""What every measure takes: a tally, or the rows that it would count.

Rule 1: a measure is written for one kind of sample. `takes_rows` lets it be called in every other
form too, so what the forms are is said here alone.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast, overload

import numpy.typing as npt

from monitor.metrics.core.samples import Rows
from monitor.metrics.core.tally import Tally, tally

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)
PAIR = 2


class Measure(Protocol[P, R_co]):
    """A measure that can be called with a tally, a pair of columns, or two columns."""

    @overload
    def __call__(self, t: Tally | Rows, /, *args: P.args, **kwargs: P.kwargs) -> R_co: ...
    @overload
    def __call__(
        self, y_true: npt.ArrayLike, y_prob: npt.ArrayLike, /, *args: P.args, **kwargs: P.kwargs
    ) -> R_co: ...


def takes_rows(measure: Callable[Concatenate[Tally, P], R_co]) -> Measure[P, R_co]:
    """Let a measure of a tally be called with rows: `y_true, y_prob`, or the pair of them.

    Examples
    --------
    >>> share = takes_rows(lambda t: t.prevalence)
    >>> share([0, 1], [0.2, 0.9]), share(([0, 1], [0.2, 0.9])), share(tally([0, 1], [0.2, 0.9]))
    (0.5, 0.5, 0.5)
    """

    @wraps(measure)
    def of_sample(*given: Any, **options: Any) -> R_co:
        sample, rest = split_sample(measure.__name__, given, options)
        return measure(sample if isinstance(sample, Tally) else tally(*sample), *rest, **options)

    return cast("Measure[P, R_co]", of_sample)


def takes_rows_by(
    short_way: Callable[Concatenate[Rows, P], R_co | None],
) -> Callable[[Callable[Concatenate[Tally, P], R_co]], Measure[P, R_co]]:
    """Let a measure of a tally be called with rows, which take a way of their own if it can be.

    The short way gives the same result, or None if it needs the tally.

    Examples
    --------
    >>> size = takes_rows_by(lambda rows: len(rows[0]))(lambda t: t.total)
    >>> size([0, 1], [0.2, 0.9]), size(tally([0, 1], [0.2, 0.9]))
    (2, 2)
    """

    def decorate(measure: Callable[Concatenate[Tally, P], R_co]) -> Measure[P, R_co]:
        of_tally = takes_rows(measure)

        @wraps(measure)
        def of_sample(*given: Any, **options: Any) -> R_co:
            sample, rest = split_sample(measure.__name__, given, options)
            if not isinstance(sample, Tally):
                result = short_way(sample, *rest, **options)
                if result is not None:
                    return result
            return of_tally(sample, *rest, **options)

        return cast("Measure[P, R_co]", of_sample)

    return decorate


def reads_pairs(measure: Callable[Concatenate[Tally | Rows, P], R_co]) -> Measure[P, R_co]:
    """Let a measure that reads a pair of columns itself be called with the two columns.

    Examples
    --------
    >>> first = reads_pairs(lambda rows: rows[0])
    >>> first([0, 1], [0.2, 0.9])
    [0, 1]
    """

    @wraps(measure)
    def of_sample(*given: Any, **options: Any) -> R_co:
        sample, rest = split_sample(measure.__name__, given, options)
        return measure(sample, *rest, **options)

    return cast("Measure[P, R_co]", of_sample)


def split_sample(
    name: str, given: tuple[Any, ...], options: dict[str, Any], others: tuple[type, ...] = ()
) -> tuple[Any, tuple[Any, ...]]:
    """Give the sample that a measure was called with, and its further arguments.

    Raises
    ------
    TypeError
        If there is none.

    Examples
    --------
    >>> split_sample("ace", ([0, 1], [0.2, 0.9], 10), {})
    (([0, 1], [0.2, 0.9]), (10,))
    """
    given = _named_first(given, options)
    first = given[0] if given else None
    if isinstance(first, (Tally, *others)):
        return first, given[1:]
    if isinstance(first, tuple) and len(first) == PAIR and all(map(_is_column, first)):
        return first, given[1:]
    if len(given) >= PAIR and all(map(_is_column, given[:PAIR])):
        return given[:PAIR], given[PAIR:]
    kinds = ", ".join(type(value).__name__ for value in given) or "nothing"
    forms = "y_true and y_prob, the pair of them, or a Tally"
    scores = "" if others or not hasattr(first, "score_sums") else "; bins have lost the scores"
    msg = f"{name} takes {forms}{' or Bins' if others else ''}, got {kinds}{scores}."
    raise TypeError(msg)


def _named_first(given: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
    """Take the sample out of the named arguments, if it is there."""
    for name in ("t", "bins"):
        if not given and name in options:
            given = (options.pop(name),)
    if "y_true" in options:
        given = (options.pop("y_true"), *given)
    if "y_prob" in options:
        given = (*given[:1], options.pop("y_prob"), *given[1:])
    return given


def _is_column(value: object) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str | bytes | dict)
