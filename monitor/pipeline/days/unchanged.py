"""What the summary of a day rests on, and whether that is still what it was."""

from datetime import date

from monitor.base import program
from monitor.base.errors import DataError
from monitor.config import Model
from monitor.logs import describe_inputs, outcome_days
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
