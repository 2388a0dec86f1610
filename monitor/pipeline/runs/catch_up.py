"""Days that earlier runs left out because their logs were missing."""

from datetime import date, timedelta

from monitor.base.errors import DataError
from monitor.config import Config
from monitor.days.settling import Settling
from monitor.days.summary import days_between
from monitor.logs import check_logs_exist
from monitor.pipeline.days.unchanged import is_unchanged
from monitor.store.store import Store


def days_to_catch_up(config: Config, name: str, before: date, *, as_of: date) -> list[date]:
    """List the missing days of the last `catch_up_days` whose logs are there now.

    Parameters
    ----------
    config, name, as_of : Config, str, date
        As for `run`.
    before : date
        The first day of the run; every day before it has settled.

    Returns
    -------
    list of date
        Days without a final summary that is sound, unless their logs have not changed since they
        were read; of a model that may have days without logs, all days whose logs have changed.
        Days before the first one of the model are not missing: `backfill` processes those.
    """
    model, store = config.model(name), Store(config.store)
    summarised = set(store.days("summaries", name))
    stored = summarised.union(store.days("verdicts", name))
    first = before - timedelta(days=model.catch_up_days)

    def is_missing(day: date) -> bool:
        try:
            check_logs_exist(name, model, day, as_of=as_of)
            if day not in summarised:
                return True
            # A day that settled because a log was absent is read again if that log comes.
            due = Settling(model).due(day)
            complete = not any(model.may_lack(d) or model.may_lack_outcomes(d) for d in due)
            settled = complete and store.read_summary(name, day)[0].final
            return not (settled or is_unchanged(store, name, model, day, as_of))
        except DataError as error:
            return bool(error.damaged)

    recent = days_between(first, before - timedelta(days=1)) if first < before else ()
    return [day for day in recent if day > min(stored, default=date.max) and is_missing(day)]
