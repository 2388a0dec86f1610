"""What of a model's store is damaged, so that a run can make it again.

Rule: a run makes again what rests on logs and on other files of the store. Revisions cannot be made
again: they hold what verdicts said before.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta

from monitor.days.arrivals import LATEST
from monitor.store.names import DAILY, OF_LOGS, day_file
from monitor.store.store import Store


@dataclass(frozen=True)
class Damage:
    """The damaged files of a model.

    Attributes
    ----------
    days : mapping of str to sequence of date
        Their days by kind, rising.
    """

    days: Mapping[str, Sequence[date]] = field(default_factory=dict)

    def of(self, kind: str) -> Sequence[date]:
        """Give the days of one kind."""
        return self.days.get(kind, ())

    @property
    def of_logs(self) -> set[date]:
        """The days whose logs have to be read again."""
        return {day for kind in OF_LOGS for day in self.of(kind)}

    @property
    def first(self) -> date:
        """The first day from which evaluations and verdicts may have to be made again."""
        made_again = (*self.of_logs, *self.of("evaluations"), *self.of("verdicts"))
        judged_with = (day + timedelta(days=LATEST) for day in self.of("arrivals"))
        return min((*made_again, *judged_with), default=date.max)


def find_damage(store: Store, name: str, first: date, last: date) -> Damage:
    """Compare every file of the days of a range with its digest, and list those that are damaged.

    Raises
    ------
    DataError
        If the store cannot be reached.
    """
    return _among(
        *(store, name),
        lambda kind, day: (
            first <= day <= last
            and not store.is_sound(kind, name, day)
            and store.damage(kind, name, day) is not None
        ),
    )


def find_all_damage(store: Store, name: str) -> Damage:
    """Read every file of a model, and list those that are damaged, or not those of their records.

    Raises
    ------
    DataError
        If the store cannot be reached.
    """
    broken = {(kind, day) for kind, day, _ in store.broken_links(name)}
    return _among(
        *(store, name),
        lambda kind, day: (kind, day) in broken or store.damage(kind, name, day) is not None,
    )


def _among(store: Store, name: str, is_damaged: Callable[[str, date], bool]) -> Damage:
    days = {
        kind: [day for day in store.days(kind, name) if is_damaged(kind, day)] for kind in DAILY
    }
    return Damage({kind: of_kind for kind, of_kind in days.items() if of_kind})


def still_damaged(store: Store, name: str, damage: Damage) -> Damage:
    """Look at damaged files once more, and list those that still are."""
    if not damage.days:
        return damage
    return _among(
        *(store, name),
        lambda kind, day: day in damage.of(kind) and store.damage(kind, name, day) is not None,
    )


def files(name: str, damage: Damage, *, without: Damage = Damage()) -> tuple[str, ...]:
    """Name damaged files as they are called within the store."""
    return tuple(
        day_file(kind, name, day)
        for kind, days in damage.days.items()
        for day in days
        if day not in without.of(kind)
    )
