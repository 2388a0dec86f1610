"""What a run does with a model: which days, which missing days before them, and which later ones.

Rule: the command and Airflow ask for the same plan, so both do the same on the same morning.
"""

from dataclasses import dataclass
from datetime import date

from monitor.config import Config
from monitor.logs import newest_day, newest_settled_day
from monitor.pipeline.days.task import Task
from monitor.pipeline.runs.beginning import Beginning, beginning
from monitor.pipeline.runs.catch_up import days_to_catch_up


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
