"""What the stored arrivals say of the delay of outcomes, as known on each day."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from functools import cache

from monitor.arrivals import Delay, Late, days_to_count, delay_of, horizon, late
from monitor.config import Model
from monitor.store.store import Store
from monitor.summary import end_of_day


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
    longest = timedelta(days=horizon(model.settled_after))

    def delay_on(day: date, known_at: datetime | None) -> Delay | None:
        first, last = days_to_count(day)
        return delay_of(
            [
                read(counted)
                for counted in days
                if first <= counted <= last
                and (known_at is None or end_of_day(counted + longest, model.time_zone) <= known_at)
            ]
        )

    return delay_on


def late_now(store: Store, name: str, model: Model) -> Late | None:
    """Say whether too many outcomes arrive late, by all that is stored."""
    days = store.days("summaries", name)
    return late(delays(store, name, model)(days[-1], None), model.settled_after) if days else None
