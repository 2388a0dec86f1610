"""What this process has read of the models whose lock it holds.

Rule: other processes do not write results of such a model, so what was read once is still true. All
is forgotten when the lock is released.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date

from monitor.store.holder import Hold

MOST_BYTES = 64_000_000  # of a model: its past does not fit, however long it is


@dataclass
class Held:
    """What was listed of each kind, and the bytes of files by their names in the store.

    Attributes
    ----------
    hold : Hold
        The lock.
    kinds : set of str or None
        The folders of an object store, of which each that is missing costs two requests; None if
        nobody has looked.
    days, alone : dict of str to set of date
        All days, and those with a file of their own.
    months : dict of str to dict
        The files of months, with their tags.
    files : dict of str to bytes
        What was read.
    made : dict of str to str or None
        The digests of daily files that were read or written; None of those that were removed.
    digests : dict of date to mapping
        What records hold, by the first day of the month.
    before : set of str
        Names of files that were listed, among them those that a program of before gave.
    unfinished : date or None
        The first day that an earlier run left unfinished; None if nobody has looked.
    """

    hold: Hold
    kinds: set[str] | None = None
    days: dict[str, set[date]] = field(default_factory=dict)
    alone: dict[str, set[date]] = field(default_factory=dict)
    months: dict[str, dict[str, str]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    made: dict[str, str | None] = field(default_factory=dict)
    digests: dict[date, Mapping[str, Mapping[str, str]]] = field(default_factory=dict)
    before: set[str] = field(default_factory=set)
    unfinished: date | None = None

    def keep(self, name: str, content: bytes) -> None:
        """Keep the bytes of a file; the first that were kept make room."""
        self.files[name] = content
        while sum(map(len, [*self.files.values()])) > MOST_BYTES:
            self.files.pop(next(iter(self.files)), None)


_HELD: dict[tuple[str, str], Held] = {}


@contextmanager
def holding(root: str, model: str, hold: Hold) -> Iterator[None]:
    """Remember what is read of a model of a store, as long as the block lasts."""
    _HELD[root, model] = Held(hold)
    try:
        yield
    finally:
        del _HELD[root, model]


def held(root: str, model: str) -> Held | None:
    """Give what was read of a model; None if its lock is not held."""
    return _HELD.get((root, model))
