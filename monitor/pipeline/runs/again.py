"""Which days of a run have predictions that were delivered the day before."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from statistics import median

from monitor.base.errors import DataError
from monitor.config import Config
from monitor.days.summary import whole
from monitor.logs import Again, delivered_again, is_counted_there, open_databases
from monitor.store.store import Store

LARGE = 1.2  # times the predictions of the median day


def delivered_in(config: Config, name: str, days: Sequence[date]) -> tuple[Again, ...]:
    """Look at the newest of the days that were read, and at those that are much larger than usual.

    Each look reads the ids of two days, so not every day of a backfill gets one, and none whose
    rows stay where they are.

    Parameters
    ----------
    config, name : Config, str
        The model.
    days : sequence of date
        Days that the store has a summary of, in order.
    """
    model, store = config.model(name), Store(config.store)
    if not days or is_counted_there(model, config.engine):
        return ()
    rows = {day: whole(store.read_summary(name, day)[0]).predicted for day in days}
    usual = median(rows.values())
    chosen = [day for day in days if day == days[-1] or rows[day] > LARGE * usual]
    found = list[Again]()
    with open_databases(config.engine) as databases:
        for day in chosen:
            with suppress(DataError):  # the day before may be damaged, and says so itself
                again = delivered_again(name, model, day, rows=rows[day], engine=databases)
                found += [again] if again else []
    return tuple(found)
