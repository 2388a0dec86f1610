"""What a measure is: one number of a record, declared once for all who store, export or show it.

Rule: a number that does not exist is None or nan. It has no sample, because panels and rules treat
nan as a value.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from math import inf, nan
from typing import Any, Generic, NamedTuple, TypeVar, cast

from monitor.measures.snapshot import Snapshot
from monitor.metrics.core.estimate import Estimate

R = TypeVar("R")
Labels = tuple[str, ...]
Parts = Iterable[tuple[Labels, R]]  # label values, and what they are of
Value = float | Estimate


class Unit(NamedTuple):
    """What a number counts, in words with its range, and the ends of the range."""

    text: str
    low: float = -inf
    high: float = inf


@dataclass(frozen=True)
class Base:
    """The records of a snapshot that measures are of: their labels, and how to list them."""

    labels: Labels
    records: Callable[[Snapshot], Parts[Any]]


def itself(record: R) -> Parts[R]:
    """Take a record as its only part."""
    return [((), record)]


@dataclass(frozen=True)
class Scope(Generic[R]):
    """What measures are of: records of a snapshot, or parts of them.

    Attributes
    ----------
    base : Base
        The records.
    absent : str
        When there is no such part: of a measure that does not say it itself.
    labels : tuple of str
        Labels of a part, after those of its record.
    parts : callable
        Lists the parts of a record that it has, with their label values; by default the record
        itself.
    """

    base: Base
    absent: str
    labels: Labels = ()
    parts: Callable[[Any], Parts[R]] = itself

    def of(self, snapshot: Snapshot) -> Parts[R]:
        """List all parts in a snapshot, with all their label values."""
        for first, record in self.base.records(snapshot):
            for further, part in self.parts(record):
                yield first + further, part


@dataclass(frozen=True)
class Panel:
    """How the dashboard of a model draws an error of raw, prior-adjusted and mapped scores.

    Attributes
    ----------
    title, says : str
        Its title, and what it shows.
    unit : str
        Of Grafana: percentunit for a ratio.
    decimals : int or None
        Digits after the point.
    calibrated : float or None
        What a calibrated model shows: a dashed line.
    """

    title: str
    says: str
    unit: str = "percentunit"
    decimals: int | None = None
    calibrated: float | None = None


def as_is(value: Any) -> Value:
    """Take a part that is the number itself."""
    return cast("Value", value)


@dataclass(frozen=True)
class Measure(Generic[R]):
    """One number of every part that a scope lists.

    Attributes
    ----------
    name : str
        Its gauge is `calibration_` and this name.
    scope : Scope
        What it is of.
    meaning : str
        A sentence: the help of the gauge.
    unit : Unit
        Unit and range.
    read : callable
        Takes it from a part; without it the part is the number.
    absent : str
        When it does not exist; by default as `scope` says.
    interval : bool
        Whether the ends of its interval have gauges too.
    heading : str
        Of its column in the tables of the terminal, the report page and notebooks, in which labels
        stand in braces; empty if no table shows it.
    row : str
        The name of its rows in the frames of notebooks, in which labels stand in braces; empty if
        it has none.
    column : str
        The name of its column in the frame of verdicts; empty if it has none.
    adjusted : str or None
        What its rows name as `adjusted` where that is no label.
    exported : bool
        Whether it has a gauge.
    of_segments : bool
        Whether segments have its gauge too, and not the whole of a model only.
    panel : Panel or None
        Its panel in the dashboard of a model.
    """

    name: str
    scope: Scope[R]
    meaning: str
    unit: Unit
    read: Callable[[R], Value | None] = as_is
    absent: str = ""
    interval: bool = False
    heading: str = ""
    row: str = ""
    column: str = ""
    adjusted: str | None = None
    exported: bool = True
    of_segments: bool = True
    panel: Panel | None = None

    @property
    def in_short(self) -> str:
        """The first sentence of its meaning, with its unit."""
        first = self.meaning.partition(". ")[0].rstrip(".")
        return f"{first} ({self.unit.text})."


def numbers(measure: Measure[Any], record: Any) -> Iterator[tuple[dict[str, str], Estimate]]:
    """Read a measure from every part of a record that has it, with the labels of the part."""
    for labels, part in measure.scope.parts(record):
        value = measure.read(part)
        if value is not None:
            estimate = value if isinstance(value, Estimate) else Estimate(value, nan, nan)
            yield dict(zip(measure.scope.labels, labels, strict=True)), estimate


def unexported(
    name: str,
    scope: Scope[R],
    meaning: str,
    unit: Unit,
    read: Callable[[R], Value | None] = as_is,
    *,
    adjusted: str | None = None,
    heading: str = "",
) -> Measure[R]:
    """Declare a measure without a gauge, whose rows have its name."""
    measure = Measure(name, scope, meaning, unit, read, row=name, adjusted=adjusted)
    return replace(measure, exported=False, heading=heading)


def held(name: str) -> Callable[[Any], Parts[Any]]:
    """Take what a record has under a name as its only part, if it has it."""

    def parts(record: Any) -> Parts[Any]:
        part = getattr(record, name)
        return [] if part is None else [((), part)]

    return parts
