"""What the stored arrivals say of the delay of outcomes, as known on each day."""

from collections.abc import Callable
from datetime import date, datetime
from functools import cache

from monitor.config import Model
from monitor.days.arrivals import Delay, days_to_count, delay_of
from monitor.days.settling import Settling
from monitor.days.summary import end_of_day
from monitor.store.store import Store


def delays(
    store: Store, name: str, model: Model
) -> Callable[[date, datetime | None], Delay | None]:
    """Prepare to add up the arrivals that the verdicts of many days look at.

    Returns
    -------
    callable
        Of the day that is judged, and of the moment up to which outcomes are known: later ones do
        not count, so the same day always sees the same. None is now.
    """
    days = store.days("arrivals", name)
    read = cache(lambda day: store.read_arrivals(name, day))
    settling = Settling(model)

    def is_known(counted: date, known_at: datetime) -> bool:
        return end_of_day(settling.counted(counted)[-1], model.time_zone) <= known_at

    def delay_on(day: date, known_at: datetime | None) -> Delay | None:
        first, last = days_to_count(day)
        return delay_of(
            [
                read(counted)
                for counted in days
                if first <= counted <= last and (known_at is None or is_known(counted, known_at))
            ]
        )

    return delay_on


def delay_now(store: Store, name: str, model: Model) -> Delay | None:
    """Add up all stored arrivals that the newest verdict looks at; None if there are none."""
    days = store.days("summaries", name)
    return delays(store, name, model)(days[-1], None) if days else None
