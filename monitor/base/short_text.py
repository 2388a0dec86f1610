"""Results as short text: what `print()` shows of them, at most ten lines."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from textwrap import shorten, wrap
from typing import Any, TypeVar

T = TypeVar("T")
WIDTH, MOST_LINES = 100, 10
DIGITS = 6  # of numbers
FEW = 6  # values of an array, or members of a list, that are shown in full


def shown_shortly(cls: type[T]) -> type[T]:
    """Let a dataclass be printed in ten lines at most, whatever its fields hold.

    Long arrays are said by their size and range, and fields that are None are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from dataclasses import dataclass
    >>> @shown_shortly
    ... @dataclass
    ... class Curve:
    ...     name: str
    ...     heights: object
    ...     error: float | None = None
    >>> Curve("whole", np.linspace(0, 1, 500))
    Curve(name='whole', heights=<500 values, 0 to 1>)
    """
    cls.__repr__ = _text  # type: ignore[method-assign]
    return cls


def _text(self: Any) -> str:
    lines = wrap(_brief(self), WIDTH, subsequent_indent="  ")
    return "\n".join(lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 1], "  …)"])


def _brief(record: Any) -> str:
    """Write a dataclass without the fields that are None."""
    shown = ((field.name, getattr(record, field.name)) for field in fields(record) if field.repr)
    inside = ", ".join(f"{name}={_value(value)}" for name, value in shown if value is not None)
    return f"{type(record).__name__}({inside})"


def _value(value: Any) -> str:
    if hasattr(value, "dtype") and getattr(value, "size", 0) > FEW:
        numbers = value.dtype.kind in "iuf"
        ends = f", {value.min():.4g} to {value.max():.4g}" if numbers else ""
        return f"<{value.size:,} values{ends}>"
    if isinstance(value, tuple | list | Mapping | set | frozenset) and len(value) > FEW:
        return f"<{len(value):,} members>"
    if isinstance(value, float):
        return f"{float(value):.{DIGITS}g}"
    if is_dataclass(value):
        return _brief(value)
    return shorten(" ".join(repr(value).split()), 2 * WIDTH, placeholder=" …")
