"""What the statement reads of a model, and the settings that it cannot count with."""

from collections.abc import Iterator
from dataclasses import dataclass

from monitor.base.errors import ConfigError
from monitor.config import (
    FIELD,
    Model,
    OutcomeLog,
    PredictionLog,
    expression_of,
    id_columns,
    named,
    reasons_against_counts,
)
from monitor.logs.columns.canonical import may_be_undated, needs_times
from monitor.logs.warehouse.dialects import DIALECTS, Dialect, translated

Log = PredictionLog | OutcomeLog


def own_logs(model: Model) -> dict[str, Log]:
    """List the logs that have rows of their own."""
    logs: dict[str, Log] = {"predictions": model.predictions}
    return logs if model.outcomes.in_predictions else {**logs, "outcomes": model.outcomes}


@dataclass(frozen=True)
class Asked:
    """A model whose rows are counted, and the dialect that counts them.

    Attributes
    ----------
    name : str
        The model, for messages.
    model : Model
        What is counted.
    language : str
        The name of the dialect.
    """

    name: str
    model: Model
    language: str

    @property
    def dialect(self) -> Dialect:
        """How the warehouse writes what it writes otherwise than others."""
        return DIALECTS[self.language]

    @property
    def joined(self) -> bool:
        """Whether the outcomes lie beside the scores."""
        return self.model.outcomes.in_predictions

    @property
    def timed(self) -> bool:
        """Whether both logs have times."""
        return None not in (self.model.predictions.time, self.model.outcomes.time)

    @property
    def undated(self) -> bool:
        """Whether an outcome of 0 may be unknown because of its time."""
        return may_be_undated(self.model)

    @property
    def keeps_times(self) -> bool:
        """Whether the times of outcomes are read."""
        return bool(self.model.outcomes.time) and (needs_times(self.model) or self.undated)

    @property
    def keys(self) -> tuple[str, ...]:
        """Names for the columns that together identify a row."""
        count = len(id_columns(self.model.predictions))
        return ("id",) if count == 1 else tuple(f"id_{i}" for i in range(1, count + 1))

    def value(self, column: str, setting: str) -> str:
        """Write a column of a log, or an expression.

        Raises
        ------
        ConfigError
            If the dialect cannot say it.
        """
        place = f"models.{self.name}.{setting}"
        if expression := expression_of(column):
            return translated(expression, self.language, place)
        if FIELD in column:
            msg = (
                f"{place}: warehouses write the field of a column each in their own way; give "
                f"{named(column)} a name in the query under sql, and write the name here."
            )
            raise ConfigError(msg)
        return self.dialect.name(column)

    def as_real(self, value: str) -> str:
        """Write a value as a number of double precision."""
        return f"CAST({value} AS {self.dialect.real})"

    def as_whole(self, value: str) -> str:
        """Write a value as a whole number."""
        return f"CAST({value} AS {self.dialect.whole})"

    def as_text(self, value: str) -> str:
        """Write a value as text."""
        return f"CAST({value} AS {self.dialect.text})"

    def as_day(self, value: str) -> str:
        """Write a value as a day."""
        return f"CAST({value} AS {self.dialect.day})"

    def day_of(self, log: Log) -> str:
        """Write the column that dates the rows of a log."""
        return self.value(f"{log.day}", f"{self.kind_of(log)}.day")

    def kind_of(self, log: Log) -> str:
        """Name a log."""
        return "outcomes" if log is self.model.outcomes else "predictions"


def check_countable(asked: Asked, remedy: str = "") -> None:
    """Check that the rows of a model can be counted by one statement.

    Parameters
    ----------
    asked : Asked
        The model.
    remedy : str
        What else can be done.

    Raises
    ------
    ConfigError
        If not; has a line for each setting, with the reason and what works instead.
    """
    reasons = [*reasons_against_counts(asked.model), *_reasons(asked.model)]
    ending = f"; {remedy}" if remedy else ""
    if reasons:
        lines = [f"models.{asked.name}: {setting}: {why}{ending}." for setting, why in reasons]
        raise ConfigError("\n".join(lines))


def _reasons(model: Model) -> Iterator[tuple[str, str]]:
    """List the settings that need more than one statement, or types that are not known here."""
    elsewhere = "in the query under sql"
    for kind, log in own_logs(model).items():
        if log.day is None:
            yield f"{kind}.day", "name the column that dates the rows; a table has no path"
        if log.time_unit:
            yield f"{kind}.time_unit", f"make times of the numbers {elsewhere}, and remove it"
        if log.explode:
            yield f"{kind}.explode", f"make a row of each element {elsewhere}, and remove it"
    if model.predictions.predicted_label:
        yield (
            "predictions.score_means",
            f"make the score the probability of outcome 1 {elsewhere}, and remove it",
        )
    if model.ids and model.ids.cast != "text":
        yield "ids.cast", f"convert the ids {elsewhere}, and remove it"
