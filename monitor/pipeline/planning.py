"""What a run does with each day, decided before any log is read.

Rule: the plan that `backfill --dry-run` prints and the run itself ask the same function.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal, get_args

from monitor import program
from monitor.config import EARLIEST, Config, Model
from monitor.errors import ConfigError, DataError
from monitor.logs import check_predictions_exist, describe_inputs, has_day, outcome_days
from monitor.pipeline.evaluations import reach, stale_evaluations
from monitor.pipeline.progress import Failure, fingerprint
from monitor.pipeline.references import read_references
from monitor.pipeline.settling import settle
from monitor.pipeline.task import Task
from monitor.store.store import Store
from monitor.summary import days_between, end_of_day

# The settings that a summary depends on. A change of any other setting reads no log again.
SUMMARY_SETTINGS = {
    "predictions",
    "outcomes",
    "segments",
    "columns",
    "strata",
    "time_zone",
    "settled_after",
    "calendar",
    "checks",
}

# A day is summarised, or is left as it is: because nothing has changed, because the model has no
# log of that day and may have such days, or because it is final and would become provisional.
Action = Literal["summarise", "unchanged", "quiet", "kept"]


@dataclass(frozen=True)
class Plan:
    """What a run would do.

    Attributes
    ----------
    model : str
        Its name.
    summarise, unchanged, quiet, kept : tuple of date
        The days of the range by what would become of them; see `Action`.
    failures : tuple of Failure
        The days whose logs are missing. Rows are not checked before a run reads them.
    evaluate : tuple of date
        The days that would be evaluated if no summary fails.
    perhaps : tuple of date
        Later days that are evaluated again if the summaries change a reference.
    """

    model: str
    summarise: tuple[date, ...]
    unchanged: tuple[date, ...]
    quiet: tuple[date, ...]
    kept: tuple[date, ...]
    failures: tuple[Failure, ...]
    evaluate: tuple[date, ...]
    perhaps: tuple[date, ...]


def what_to_do(
    store: Store,
    name: str,
    model: Model,
    day: date,
    *,
    as_of: date,
    may_skip: bool,
    recompute: bool,
) -> Action:
    """Decide what becomes of a day.

    Raises
    ------
    DataError
        If there are no predictions, or a summary of the store cannot be read.
    """
    if model.may_lack(day):
        if not has_day(model, "predictions", day):
            return "quiet"
    else:
        check_predictions_exist(name, model, day)
    if not recompute and _is_known_better(store, name, model, day, as_of):
        return "kept"
    if may_skip and is_unchanged(store, name, model, day, as_of):
        return "unchanged"
    return "summarise"


def plan(config: Config, task: Task) -> Plan:
    """Find what `run` would do with a task, without reading a row or writing anything.

    Raises
    ------
    ConfigError
        If a day is not over.
    DataError
        If a summary of the store cannot be read.
    """
    name, as_of = task.model, task.as_of
    config = settle(config, name, as_of=as_of)
    model, store = config.model(name), Store(config.store)
    check_days(name, task.first, task.last, as_of=as_of)
    stored = store.days("summaries", name)
    actions = dict[date, Action | Failure]()
    for day in task.days:
        try:
            actions[day] = what_to_do(
                *(store, name, model, day),
                as_of=as_of,
                may_skip=task.skip_unchanged and day in stored,
                recompute=task.recompute,
            )
            if actions[day] == "summarise":
                outcome_days(f"{name} {day}", model, day, as_of=as_of)
        except DataError as error:
            actions[day] = Failure(day, str(error), error.fault)
    done = {
        action: tuple(d for d, a in actions.items() if a == action) for action in get_args(Action)
    }
    evaluate, perhaps = _evaluations(config, task, done["summarise"])
    failures = tuple(action for action in actions.values() if isinstance(action, Failure))
    return Plan(name, **done, failures=failures, evaluate=evaluate, perhaps=perhaps)


def _evaluations(
    config: Config, task: Task, redone: Sequence[date]
) -> tuple[tuple[date, ...], tuple[date, ...]]:
    """Find the days that are evaluated for sure, and those that depend on a new reference."""
    name, model, store = task.model, config.model(task.model), Store(config.store)
    references = read_references(config, name)
    stored = store.days("summaries", name)
    touched = {d for day in redone for d in days_between(day, reach(model, day))}
    days = sorted({*stored, *redone})
    in_reach = [day for day in days if task.first <= day <= reach(model, task.last)]
    others = [day for day in in_reach if day not in touched]
    if task.skip_unchanged:
        others = stale_evaluations(config, name, references, others)
    evaluate = {*touched.intersection(in_reach), *others}
    moving = not references.fitted or any(day <= references.last for day in redone)
    later = [day for day in days if redone and day > task.first and day not in evaluate]
    return tuple(sorted(evaluate)), tuple(later) if moving else ()


def _is_known_better(store: Store, name: str, model: Model, day: date, as_of: date) -> bool:
    """Return whether a final summary rests on outcomes that a run with this date may not read.

    A damaged one is not known better.
    """
    if as_of > day + timedelta(days=model.settled_after) or day not in store.days(
        "summaries", name
    ):
        return False
    try:
        summary, _ = store.read_summary(name, day)
    except DataError as error:
        if not error.damaged:
            raise
        return False
    return summary.final and summary.known_at > end_of_day(
        as_of - timedelta(days=1), model.time_zone
    )


def check_days(name: str, first: date, last: date, *, as_of: date) -> None:
    """Raise ConfigError for days whose logs cannot be complete.

    Raises
    ------
    ConfigError
        If the last day is not before `as_of`, or the first is before `EARLIEST`.
    """
    if first < EARLIEST:
        msg = f"{name}: no logs are as old as {first}; begin with {EARLIEST} or later."
        raise ConfigError(msg)
    if last >= as_of:
        msg = (
            f"{name}: as of {as_of} the logs of {last} are still to be written; the last "
            f"possible day is {as_of - timedelta(days=1)}; do later ones when they are over, or "
            f"pass a later --as-of."
        )
        raise ConfigError(msg)


def is_unchanged(store: Store, name: str, model: Model, day: date, as_of: date) -> bool:
    """Tell whether the summary of a day is sound and rests on the files and settings of now."""
    beside = {"columns": model.columns, "entities": model.predictions.entity}
    kinds = ("summaries", *(kind for kind, counted in beside.items() if counted))
    return store.is_made_from(name, day, log_fingerprint(name, model, day, as_of), kinds)


def log_fingerprint(name: str, model: Model, day: date, as_of: date) -> str:
    """Identify everything that a summary depends on: its logs, the settings and the program.

    Files are named by size and age.
    """
    partitions = outcome_days(f"{name} {day}", model, day, as_of=as_of)
    return fingerprint(
        [
            program.digest("summaries"),
            describe_inputs(model, day, partitions),
            model.model_dump_json(include=SUMMARY_SETTINGS),
            *_columns_of_rows(model),
        ]
    )


def _columns_of_rows(model: Model) -> list[str]:
    """Name further columns that are read with the rows; none of a model that has none."""
    rate = model.label_rate if model.rates_in_log else None
    columns = {"action": model.action, "label_rate": rate}
    return [f"{setting}: {column}" for setting, column in columns.items() if column is not None]
