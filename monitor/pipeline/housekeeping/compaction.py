"""Write the files of a month as one, once its days have settled; what is read stays the same.

Rule: the files of all months are written and read back before one file of a day is removed. So a
process that lists the store meanwhile misses no day.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby

from monitor.config import Config, Model
from monitor.days.settling import Settling
from monitor.drift.records.verdict import WEEK
from monitor.store.months import days_of_month
from monitor.store.names import KINDS
from monitor.store.store import Store

Months = Sequence[Sequence[date]]


@dataclass(frozen=True)
class Compaction:
    """What of a model is written as files of months.

    Attributes
    ----------
    model : str
        Its name.
    months : mapping of str to sequence of sequence of date
        The days of each file that is written, by kind, rising.
    files : int
        How many files they replace.
    damaged : tuple of str
        What is wrong with files because of which a month stays as it is.
    """

    model: str
    months: Mapping[str, Months]
    files: int
    damaged: tuple[str, ...] = ()


def plan(config: Config, name: str, *, today: date) -> Compaction:
    """Find the months that are over and settled, and of which a day has a file of its own.

    Raises
    ------
    DataError
        If the store cannot be reached.
    """
    store, model = Store(config.store), config.model(name)
    months, files, damaged = dict[str, Months](), 0, list[str]()
    for kind in KINDS:
        alone, chosen = {*store.days_alone(kind, name)}, list[list[date]]()
        for _, group in groupby(store.days(kind, name), lambda day: (day.year, day.month)):
            days = [*group]
            parts = [m for m in store.months(kind, name) if {*days_of_month(m)} & {*days}]
            count = len(parts) + len(alone.intersection(days))
            if not _has_settled(model, days[-1], today) or count < 2:  # noqa: PLR2004 - it is one file
                continue
            if wrong := _damage(store, name, kind, days):
                damaged += wrong
                continue
            chosen.append(days)
            files += count
        months[kind] = chosen
    return Compaction(name, months, files, tuple(dict.fromkeys(damaged)))


def compact(config: Config, compaction: Compaction) -> None:
    """Remove what killed runs left, write what was planned, then remove what it replaces.

    Raises
    ------
    DataError
        If a file cannot be written, or is not what was written.
    """
    store, name = Store(config.store), compaction.model
    store.sweep(name)
    written = [
        (kind, store.compact(kind, name, days))
        for kind, months in compaction.months.items()
        for days in months
    ]
    for kind, month in written:
        store.drop_replaced(kind, name, month)


def _has_settled(model: Model, day: date, today: date) -> bool:
    """Say whether the month of a day is over, and no run looks at its days by itself any more."""
    after = (day.replace(day=1) + timedelta(days=31)).replace(day=1)
    return Settling(model).last(after) + timedelta(days=max(WEEK, model.catch_up_days)) < today


def _damage(store: Store, name: str, kind: str, days: Sequence[date]) -> list[str]:
    """List what is wrong with the files of days."""
    errors = [
        store.record_damage(name, f"{day}")
        if kind == "runs"
        else None
        if store.is_sound(kind, name, day)
        else store.damage(kind, name, day)
        for day in days
    ]
    return [str(error) for error in errors if error]
