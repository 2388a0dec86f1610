"""What the summary of a day rests on, and whether that is still what it was."""

from contextlib import suppress
from datetime import date, timedelta
from itertools import dropwhile

from monitor.base import program
from monitor.base.errors import DataError
from monitor.config import Model
from monitor.days.settling import Settling
from monitor.logs import describe_inputs, has_files_of_days, outcome_days, present_days
from monitor.pipeline.days.progress import fingerprint
from monitor.store.store import Store

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


def is_unchanged(store: Store, name: str, model: Model, day: date, as_of: date) -> bool:
    """Tell whether the summary of a day is sound and rests on the files and settings of now.

    Where its logs are not all there it does not; who reads them says which is missing.
    """
    try:
        inputs = log_fingerprint(name, model, day, as_of)
    except DataError:
        return False
    beside = {"columns": model.columns, "entities": model.predictions.entity}
    kinds = ("summaries", *(kind for kind, counted in beside.items() if counted))
    return store.is_made_from(name, day, inputs, kinds)


def changed_since_read(
    store: Store, name: str, model: Model, before: date, *, as_of: date
) -> tuple[date, ...]:
    """List the final days of the last `catch_up_days` whose files are others than were read.

    Runs leave a final day alone, so somebody has to ask for it. Where it is all days up to one, the
    logs moved, or a setting or the program changed, which reads no day again either. A table and
    a query change with each day, and of a log that is deleted after some days nobody can say.
    """
    if not has_files_of_days(model):
        return ()
    first = before - timedelta(days=model.catch_up_days)

    def is_known(day: date) -> bool:
        read = Settling(model).read_by(day)
        there = len(present_days(model, "predictions", read)) == len(read)
        return there and store.read_summary(name, day)[0].final

    def is_changed(day: date) -> bool:
        return _reads_otherwise(store, name, model, day, as_of)

    known = filter(is_known, [d for d in store.days("summaries", name) if first <= d < before])
    return tuple(filter(is_changed, dropwhile(is_changed, known)))


def _reads_otherwise(store: Store, name: str, model: Model, day: date, as_of: date) -> bool:
    with suppress(DataError):  # its logs are not all there
        return log_fingerprint(name, model, day, as_of) != store.read_inputs(name, day)
    return False


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
