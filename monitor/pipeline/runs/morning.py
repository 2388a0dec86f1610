"""What a run does with a model: which days, which missing days before them, and which later ones.

Of a new model: when its first day settles, and when its first verdict can come.

Rule: the command and Airflow ask for the same plan, so both do the same on the same morning.
"""

from dataclasses import dataclass
from datetime import date, timedelta

from monitor.base.errors import DataError
from monitor.config import Config
from monitor.days.settling import Settling
from monitor.days.summary import days_between
from monitor.drift.curve.reference import REFERENCE_DAYS
from monitor.drift.records.lack import LEAST_OF_EACH
from monitor.logs import check_logs_exist, first_morning, newest_day, newest_settled_day
from monitor.pipeline.days.task import Task
from monitor.pipeline.days.unchanged import is_unchanged
from monitor.store.store import Store


@dataclass(frozen=True)
class Beginning:
    """A model of which no day has settled yet.

    Attributes
    ----------
    model : str
        Its name.
    first : date
        The first day with predictions.
    settles : date
        The morning on which that day is settled, if its outcomes are there.
    verdict : date
        The first morning on which a verdict other than insufficient_data is possible.
    """

    model: str
    first: date
    settles: date
    verdict: date

    def __str__(self) -> str:
        return (
            f"{self.model}: no day has settled yet, which is normal for a new model. Its first "
            f"day, {self.first}, settles on {self.settles}. The first verdict is possible on "
            f"{self.verdict}: the days before it are the reference, and it takes "
            f"{LEAST_OF_EACH} outcomes of each kind."
        )


def beginning(config: Config, name: str, *, as_of: date) -> Beginning | None:
    """Describe a model whose first day has not settled; None if one could have settled."""
    model = config.model(name)
    settling = Settling(model)
    settles = first_morning(model, as_of=as_of)
    if settles is None:
        return None
    first = settling.newest(settles)
    configured = model.verdicts.references
    judged = configured[0].last + timedelta(days=1) if configured else date.min
    if judged <= first:  # a reference from before this log will not come
        judged = first + timedelta(days=REFERENCE_DAYS)
    return Beginning(name, first, settles, settling.settles(judged))


@dataclass(frozen=True)
class Call:
    """What a run of a model is asked to do.

    Attributes
    ----------
    as_of : date
        Outcome partitions of this day and later are not read.
    day : date or None
        The only day to process, whether it has settled or not.
    due : tuple of (date, date) or None
        The first and the last day that have settled by a schedule: without all their logs they
        fail. Without a schedule it is the newest day that has settled by the logs.
    unsettled : bool
        Whether to process later days too, whose outcomes are still arriving.
    catch_up : bool
        Whether to process missing days before, unless a `day` is asked for.
    """

    as_of: date
    day: date | None = None
    due: tuple[date, date] | None = None
    unsettled: bool = False
    catch_up: bool = True


@dataclass(frozen=True)
class Morning:
    """The plan of a run: its task, or None while no day of a new model has settled.

    `begun` says of a new model when its first day settles.
    """

    task: Task | None
    begun: Beginning | None = None


def plan_morning(config: Config, name: str, call: Call) -> Morning:
    """Plan the run of a model, without reading a row of its logs.

    Raises
    ------
    DataError
        If no day has settled though the model is not new, or the logs cannot be listed.
    """
    model = config.model(name)
    new = None if call.day else beginning(config, name, as_of=call.as_of)
    if new and not call.unsettled:
        return Morning(None, new)
    if new:
        first = last = new.first
    elif call.day:
        first = last = call.day
    elif call.due:
        first, last = call.due
    else:
        first = last = newest_settled_day(name, model, as_of=call.as_of)
    alone = bool(call.day or new) or not call.catch_up
    task = Task(
        name,
        first,
        max(last, newest_day(model, as_of=call.as_of)) if call.unsettled else last,
        call.as_of,
        catch_up=() if alone else tuple(days_to_catch_up(config, name, first, as_of=call.as_of)),
        must_settle=bool(call.due) and not call.unsettled,
    )
    return Morning(task, new)


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
