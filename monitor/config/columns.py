"""The columns of the predictions whose values are watched, besides the segments with own priors."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Any, Self

from pydantic import Discriminator, Field, Strict, Tag, model_validator

from monitor.base.segment_names import CROSSED
from monitor.config.choices import ONE, SEVERAL
from monitor.config.sections import Listed, Section

MOST_COLUMNS = 20

Name = Annotated[str, Field(min_length=1)]
Value = Annotated[str, Field(min_length=1, max_length=200)]
Values = Annotated[Listed[Value], Field(min_length=1, max_length=100)]
Number = Annotated[float, Strict(strict=False)]
Edges = Annotated[Listed[Number], Field(min_length=1, max_length=100)]
Crossed = Annotated[Listed[Name], Field(min_length=2, max_length=3)]
WAYS = ("values", "top", "edges", "quantiles")


class WatchedColumn(Section):
    """One column, and how its values make segments.

    Attributes
    ----------
    values : tuple of str
        The values with a segment each; all others count as `other`.
    top : int or None
        Or how many of the most frequent values of the reference have one.
    edges : tuple of float
        Or, of numbers, where they are cut; a number that is an edge counts above it.
    quantiles : int or None
        Or into how many parts of the reference, equally full, they are cut.
    """

    column: Name
    values: Values | None = None
    top: Annotated[int, Field(ge=1, le=100)] | None = None
    edges: Edges | None = None
    quantiles: Annotated[int, Field(ge=2, le=50)] | None = None

    @model_validator(mode="after")
    def _is_of_one_way(self) -> Self:
        given = [way for way in WAYS if getattr(self, way) is not None]
        if len(given) != 1:
            msg = f"needs exactly one of {', '.join(WAYS)}, got {' and '.join(given) or 'none'}"
            raise ValueError(msg)
        if self.edges and any(a >= b for a, b in pairwise(self.edges)):
            msg = "edges must increase"
            raise ValueError(msg)
        if self.values and len(set(self.values)) < len(self.values):
            msg = "values must differ"
            raise ValueError(msg)
        return self

    @property
    def name(self) -> str:
        """The name of its segments' column."""
        return self.column

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the log that it reads."""
        return (self.column,)

    @property
    def numeric(self) -> bool:
        """Whether its values are numbers that are cut."""
        return self.edges is not None or self.quantiles is not None


class Crossing(Section):
    """Two or three columns whose values are combined; the most frequent combinations count."""

    cross: Crossed
    top: Annotated[int, Field(ge=1, le=100)] = 20

    @property
    def name(self) -> str:
        """The name of its segments' column."""
        return CROSSED.join(self.cross)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the log that it reads."""
        return self.cross


def _kind(value: object) -> str:
    """Say by what is written which of the two it is to be, so that one of them complains."""
    crossed = "cross" in value if isinstance(value, dict) else isinstance(value, Crossing)
    return SEVERAL if crossed else ONE


Watched = WatchedColumn | Crossing
Watch = Annotated[
    Annotated[WatchedColumn, Tag(ONE)] | Annotated[Crossing, Tag(SEVERAL)], Discriminator(_kind)
]


def split_segments(content: Mapping[str, Any]) -> dict[str, Any]:
    """Divide a list of segments into the primary column and the others.

    Raises
    ------
    ValueError
        If two columns are primary, or the primary one has no `values`.
    """
    listed: Sequence[Any] = content["segments"]
    if any(not isinstance(entry, dict) for entry in listed):
        msg = "segments: must be a list of columns, such as {column: device, top: 20}"
        raise ValueError(msg)
    if any(not isinstance(entry.get("primary", False), bool) for entry in listed):
        msg = "segments: primary must be true or false"
        raise ValueError(msg)
    primary = [entry for entry in listed if entry.get("primary")]
    others = [{k: v for k, v in entry.items() if k != "primary"} for entry in listed]
    others = [
        entry for entry, whole in zip(others, listed, strict=True) if not whole.get("primary")
    ]
    if len(primary) > 1:
        msg = "segments: only one column can be primary: its segments have priors of their own"
        raise ValueError(msg)
    if primary and "values" not in primary[0]:
        msg = "segments: the primary column needs values: its segments have names of their own"
        raise ValueError(msg)
    first = {k: v for k, v in primary[0].items() if k != "primary"} if primary else None
    return {**content, "segments": first, "columns": others}


def check_watched(watched: Sequence[Watched]) -> None:
    """Check what concerns several columns.

    Raises
    ------
    ValueError
        If two have the same name, or a column that is crossed is cut at quantiles.
    """
    names = [entry.name for entry in watched]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        msg = f"segments: {twice!r} is listed twice"
        raise ValueError(msg)
    cut = {
        entry.column for entry in watched if isinstance(entry, WatchedColumn) and entry.quantiles
    }
    for entry in watched:
        if isinstance(entry, Crossing) and (wrong := cut.intersection(entry.cross)):
            msg = f"segments: {min(wrong)!r} is cut at quantiles; give it edges to cross it"
            raise ValueError(msg)
