"""`settled_after: auto`: the days to wait for outcomes, found once from the first days of the logs.

Rule: they are found from the first days only and then kept, so that the results do not depend on
when the monitor was started.
"""

import logging
from datetime import date, timedelta

from monitor.arrivals import DAYS_LOOKED_AT, delay_of, enough_after
from monitor.config import AUTO_SETTLED_AFTER, Config
from monitor.errors import DataError
from monitor.store.store import Store

log = logging.getLogger(__name__)


def settle(
    config: Config, name: str, *, as_of: date, look: bool = True, keep: bool = False
) -> Config:
    """Replace `settled_after: auto` of a model by a number of days.

    Parameters
    ----------
    config, name : Config, str
        A model with a number is left alone.
    as_of : date
        As for `run`.
    look : bool
        Whether the logs may be read, if no run has found the number yet.
    keep : bool
        Whether a number that is found is kept in the store; only for who holds the model's lock.

    Returns
    -------
    Config
        While the first days are not complete, their outcomes are awaited as long as possible.

    Raises
    ------
    DataError
        If the logs or the store cannot be read.
    """
    model, store = config.model(name), Store(config.store)
    if not model.settles_by_itself:
        return config
    days = _kept(store, name, can_find_again=look)
    if days is None and look:
        days = _found(config, name, as_of)
        if days is not None and keep:
            store.write_settled_after(name, days)
    settled = model.settled(AUTO_SETTLED_AFTER if days is None else days)
    return config.model_copy(update={"models": {**config.models, name: settled}})


def _kept(store: Store, name: str, *, can_find_again: bool) -> int | None:
    try:
        return store.read_settled_after(name)
    except DataError as error:
        if not (error.damaged and can_find_again):
            raise
        log.warning("%s: %s is damaged; settled_after is found again", name, error.damaged)
        return None


def _found(config: Config, name: str, as_of: date) -> int | None:
    """Count how late the outcomes of the first days came; None if these are not complete."""
    # A command that only reads the store need not load what reads logs.
    from monitor.logs import can_count_arrivals, count_arrivals, days_of  # noqa: PLC0415

    model, longest = config.model(name), AUTO_SETTLED_AFTER
    first = days_of(model, "predictions")[:DAYS_LOOKED_AT]
    if (
        not can_count_arrivals(model)
        or len(first) < DAYS_LOOKED_AT
        or first[-1] + timedelta(days=longest) >= as_of
    ):
        return None
    counted = count_arrivals(name, model, first, longest=longest, engine=config.engine)
    delay = delay_of(counted)
    enough = enough_after(delay) if delay else None
    horizon = model.outcomes.absent_means
    return None if enough is None else max(enough, horizon or 0)
