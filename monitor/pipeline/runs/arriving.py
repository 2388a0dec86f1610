"""Count when the outcomes of complete days arrived, once for each of a fourth of the days."""

from collections.abc import Collection, Sequence
from datetime import date, timedelta

from monitor.base.errors import DataError
from monitor.config import Config, Model
from monitor.days.arrivals import LATEST, LOOK_BACK, Arrivals, Delay, delay_of, is_counted
from monitor.days.settling import Settling
from monitor.logs import (
    Databases,
    awaits_no_outcomes,
    can_count_arrivals,
    count_arrivals,
    days_of,
    open_databases,
    present_days,
)
from monitor.read.delays import delay_now
from monitor.store.store import Store

AT_A_TIME = 16  # days of one query: with the days between, two months and those of their outcomes


def count_new_arrivals(
    config: Config, name: str, first: date, redone: Collection[date], *, as_of: date
) -> list[date]:
    """Count the arrivals of the days that are complete and not counted yet.

    Parameters
    ----------
    config, name : Config, str
        As for `run`.
    first : date
        The first day of the run; days that only earlier verdicts look at are left out.
    redone : collection of date
        Days that are counted again, because their logs or those of their outcomes are others.
    as_of : date
        As for `run`.

    Returns
    -------
    list of date
        The days that were counted. A day whose logs cannot be read, or lack a day of outcomes, is
        left out: a run has reported it already, or will.
    """
    model, store = config.model(name), Store(config.store)
    stored = store.days("summaries", name)
    if not can_count_arrivals(model) or not stored:
        return []
    settling = Settling(model)
    longest = settling.longest
    last = min(stored[-1] - timedelta(days=LATEST), as_of - timedelta(days=longest + 1))
    present = set(store.days("arrivals", name)).difference(redone)
    oldest = min([first - timedelta(days=LATEST + LOOK_BACK), *redone])
    days = [
        day
        for day in stored
        if is_counted(day) and oldest <= day <= last and day not in present
        if _has_outcomes(model, settling.counted(day))
    ]
    counted = list[date]()
    with open_databases(config.engine) as databases:
        for begin in range(0, len(days), AT_A_TIME):
            some = days[begin : begin + AT_A_TIME]
            for arrivals in _count(config, name, some, longest, databases):
                store.write_arrivals(name, arrivals)
                counted.append(arrivals.day)
    return counted


def delay_in_logs(config: Config, name: str, *, as_of: date, engine: Databases) -> Delay | None:
    """Measure the delays of outcomes, by what is stored or by one complete day of logs.

    Raises
    ------
    DataError
        If the store or the logs cannot be read.
    """
    model, store = config.model(name), Store(config.store)
    if store.days("arrivals", name) or not can_count_arrivals(model):
        return delay_now(store, name, model)
    settling = Settling(model)
    complete = [d for d in days_of(model, "predictions") if settling.are_counted(d, as_of)]
    if not complete:
        return None
    counted = count_arrivals(name, model, complete[-1:], longest=settling.longest, engine=engine)
    return delay_of(counted)


def _has_outcomes(model: Model, days: Sequence[date]) -> bool:
    """Tell whether the outcomes of some days are there, except of quiet days."""
    if model.outcomes.in_predictions:
        return True
    missing = set(days).difference(present_days(model, "outcomes", days))
    return all(awaits_no_outcomes(model, day) for day in missing)


def _count(
    config: Config, name: str, days: Sequence[date], longest: int, databases: Databases
) -> list[Arrivals]:
    """Count some days together, or one by one if a log of them is damaged."""
    model = config.model(name)
    try:
        return count_arrivals(name, model, days, longest=longest, engine=databases)
    except DataError:
        if len(days) == 1:
            return []
        return [a for day in days for a in _count(config, name, [day], longest, databases)]
