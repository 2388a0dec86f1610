"""Days that earlier runs left out because their logs were missing."""

from collections.abc import Iterator
from datetime import date, timedelta

from monitor.config import Config
from monitor.errors import DataError
from monitor.logs import check_logs_exist
from monitor.store.store import Store
from monitor.summary import days_between


def days_to_catch_up(config: Config, name: str, before: date) -> list[date]:
    """List the missing days of the last `catch_up_days` whose logs are there now.

    Parameters
    ----------
    config, name : Config, str
        As for `run`.
    before : date
        The first day of the run; every day before it has settled.

    Returns
    -------
    list of date
        Days that have no final summary. Days before the first one of the model are not missing:
        for those there is `backfill`.
    """
    model, store = config.model(name), Store(config.store)
    known = {*store.days("summaries", name), *store.days("verdicts", name)}
    first = before - timedelta(days=model.catch_up_days)
    recent = days_between(first, before - timedelta(days=1)) if model.catch_up_days else ()
    candidates = [day for day in recent if day > min(known, default=date.max)]

    def missing() -> Iterator[date]:
        for day in candidates:
            try:
                if day in summarised and store.read_summary(name, day)[0].final:
                    continue
                check_logs_exist(
                    name, model, day, as_of=before + timedelta(days=model.settled_after)
                )
            except DataError:
                continue
            yield day

    summarised = set(store.days("summaries", name))
    return list(missing())
