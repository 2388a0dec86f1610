"""What days lack to be a reference, as facts. Pure."""

from dataclasses import dataclass
from datetime import date
from typing import Literal

LEAST_OF_EACH = 300  # positive outcomes, and negative ones


@dataclass(frozen=True)
class Lack:
    """What there is too little of.

    Attributes
    ----------
    of : str
        Final days, outcomes of a kind, or days of the first reference while there is none.
    there, least : int
        How many there are, and how many it takes; of the first reference `there` is 0.
    uncounted : bool
        Whether they are days with third choices, which earlier versions did not count.
    span : tuple of date
        First and last day of the configured reference, or of the days that a map was fitted to;
        only the first one of a reference that `rebase` has begun; empty for the days of one stream,
        and while the first days do not make a reference.
    map_file : str
        The file of that map; empty for other references.
    """

    of: Literal["final days", "positive outcomes", "negative outcomes", "first reference"]
    there: int
    least: int
    uncounted: bool = False
    span: tuple[date, ...] = ()
    map_file: str = ""
