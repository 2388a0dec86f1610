"""What of a model's store is damaged, so that a run can make it again.

Rule: a run makes again what rests on logs and on other files of the store. Revisions cannot be made
again: they hold what verdicts said before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta

from monitor.arrivals import LATEST
from monitor.store.store import DAILY, Store


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
        return {*self.of("summaries"), *self.of("columns")}

    @property
    def first(self) -> date:
        """The first day from which evaluations and verdicts may have to be made again."""
        made_again = (*self.of_logs, *self.of("evaluations"), *self.of("verdicts"))
        judged_with = (day + timedelta(days=LATEST) for day in self.of("arrivals"))
        return min((*made_again, *judged_with), default=date.max)


def find_damage(store: Store, name: str, first: date = date.min, last: date = date.max) -> Damage:
    """Read every file of the days of a range, and list those that are damaged.

    Raises
    ------
    DataError
        If the store cannot be reached.
    """
    days = {
        kind: [
            day
            for day in store.days(kind, name)
            if first <= day <= last and store.damage(kind, name, day)
        ]
        for kind in DAILY
    }
    return Damage({kind: found for kind, found in days.items() if found})


def still_damaged(store: Store, name: str, damage: Damage) -> Damage:
    """Look at damaged files once more, and list those that still are."""
    days = {
        kind: [day for day in found if day in store.days(kind, name)]
        for kind, found in damage.days.items()
    }
    again = {
        kind: [day for day in found if store.damage(kind, name, day)]
        for kind, found in days.items()
    }
    return Damage({kind: found for kind, found in again.items() if found})


def files(name: str, damage: Damage, *, without: Damage = Damage()) -> tuple[str, ...]:
    """Name damaged files as they are called within the store."""
    return tuple(
        f"{kind}/{name}/{day}.parquet"
        for kind, days in damage.days.items()
        for day in days
        if day not in without.of(kind)
    )
