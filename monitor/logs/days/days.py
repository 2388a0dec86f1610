"""Which days have logs, and what to read for some of them."""

from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import reduce
from itertools import groupby
from zoneinfo import ZoneInfo

from monitor.base.errors import DataError
from monitor.config import Engine, Model
from monitor.days.settling import Settling
from monitor.days.summary import Summary
from monitor.logs.columns.canonical import read_ids
from monitor.logs.engines.session import DAMAGE, Session
from monitor.logs.sources.opening import Kind
from monitor.logs.sources.source import (
    MISSING,
    days_of,
    has_day,
    no_partition,
    place_key,
    place_of,
    present_days,
)

LOOK_BACK = 7  # days, of which the newest with predictions is compared with a day


@dataclass(frozen=True)
class Batch:
    """Days that one query reads, and what it reads for them.

    Attributes
    ----------
    name, model, as_of
        As for `summarise_day`.
    partitions : mapping of date to sequence of date
        The days of predictions, in order, each with its partitions of outcomes.
    negative : bool
        Whether predictions without an outcome are negatives.
    """

    name: str
    model: Model
    as_of: date
    partitions: Mapping[date, Sequence[date]]
    negative: bool

    @property
    def days(self) -> list[date]:
        """The days of predictions."""
        return [*self.partitions]

    @property
    def what(self) -> str:
        """Model and days, for messages."""
        first, *later = self.days
        return f"{self.name} {first} to {later[-1]}" if later else f"{self.name} {first}"

    @property
    def outcome_days(self) -> list[date]:
        """The partitions of outcomes that belong to any of the days."""
        return sorted({partition for each in self.partitions.values() for partition in each})

    @property
    def part_count(self) -> int:
        """The number of the model's parts."""
        return len(parts_of(self.model))

    def known_until(self, last: date) -> "Batch":
        """Leave out the partitions of outcomes after a day."""
        kept = {day: [p for p in of if p <= last] for day, of in self.partitions.items()}
        negative = self.negative and all(
            _absent_is_negative(self.model, day, of, as_of=self.as_of) for day, of in kept.items()
        )
        return replace(self, partitions=kept, negative=negative)

    def halves(self) -> "list[Batch]":
        """Divide the days."""
        middle = len(self.days) // 2
        return [
            replace(self, partitions={day: self.partitions[day] for day in half})
            for half in (self.days[:middle], self.days[middle:])
        ]


def parts_of(model: Model) -> list[tuple[str, str]]:
    """Name segment and stratum of each part, as rows are numbered."""
    return [(name, stratum) for name in model.segment_names for stratum in model.stratum_names]


def batch_of(name: str, model: Model, day: date, *, as_of: date) -> Batch:
    """Decide what to read for one day; raises what `outcome_days` raises."""
    partitions = outcome_days(f"{name} {day}", model, day, as_of=as_of)
    negative = _absent_is_negative(model, day, partitions, as_of=as_of)
    return Batch(name, model, as_of, {day: partitions}, negative)


def batch_of_summary(name: str, model: Model, summary: Summary) -> Batch:
    """Decide what to read for the rows of a summary: the outcomes that were known then."""
    (day,) = summary.days
    as_of = summary.known_at.astimezone(ZoneInfo(model.time_zone)).date()
    return batch_of(name, model, day, as_of=max(as_of, day + timedelta(days=1)))


def batches_of(name: str, model: Model, days: Iterable[date], *, as_of: date) -> list[Batch]:
    """Decide what to read for days, as few batches as may be; days that lack a log are left out."""
    alone = list[Batch]()
    for day in days:
        with suppress(DataError):
            if has_day(model, "predictions", day):
                alone.append(batch_of(name, model, day, as_of=as_of))
    return [
        reduce(lambda a, b: replace(a, partitions={**a.partitions, **b.partitions}), alike)
        for _, alike in groupby(alone, key=lambda batch: batch.negative)
    ]


def newest_settled_day(name: str, model: Model, *, as_of: date) -> date:
    """Find the newest day with predictions whose outcomes have all arrived.

    Parameters
    ----------
    name : str
        Name of the model, for messages.
    model : Model
        Where the logs are and when a day is settled.
    as_of : date
        Partitions of this day and later are still being written, so they do not count.

    Raises
    ------
    DataError
        If there is no such day.
    """
    settling = Settling(model)
    observed = set(_partitions_before(model, "outcomes", as_of))
    for day in reversed(_partitions_before(model, "predictions", as_of)):
        due = settling.due(day)
        over = due[-1] < as_of and (
            model.outcomes.in_predictions
            or (awaits_no_outcomes(model, due[-1]) and _has_last_of_calendar(model, due, observed))
        )
        if over or due[-1] in observed:
            return day
    wait = f"{model.settled_after} day{'s' * (model.settled_after != 1)}"
    msg = (
        f"{name}: no day before {as_of} has predictions at {place_of(model, 'predictions')} and "
        f"outcomes {wait} later at {place_of(model, 'outcomes')}; wait for the "
        f"logs, correct the paths, or choose an unsettled day with --day."
    )
    raise DataError(msg)


def _has_last_of_calendar(model: Model, due: Sequence[date], observed: Container[date]) -> bool:
    """Return whether the last partition of a calendar of outcomes is there, if one is due."""
    if model.outcomes.calendar is None:
        return True
    last = next((day for day in reversed(due) if not model.may_lack_outcomes(day)), None)
    return last is None or last in observed or awaits_no_outcomes(model, last)


def newest_day(model: Model, *, as_of: date) -> date:
    """Find the newest day with predictions before `as_of`, or `date.min` if there is none."""
    return max(_partitions_before(model, "predictions", as_of), default=date.min)


def is_counted_there(model: Model, engine: Engine) -> bool:
    """Return whether rows are counted where they lie; those of files and counts are read here."""
    asked = model.predictions.sql or model.outcomes.sql
    return engine.kind == "warehouse" and bool(asked) and not holds_counts(model)


def holds_counts(model: Model) -> bool:
    """Return whether the predictions are counts, which have no single rows."""
    return model.predictions.format == "counts"


def day_before(model: Model, day: date) -> date | None:
    """Find the newest day with predictions of the week before a day."""
    earlier = (day - timedelta(days=i) for i in range(1, LOOK_BACK + 1))
    return next((other for other in earlier if has_day(model, "predictions", other)), None)


def first_morning(model: Model, *, as_of: date) -> date | None:
    """Find the day on which the first day of a new model settles; None if that has passed."""
    first = min(_partitions_before(model, "predictions", as_of), default=date.min)
    if first == date.min or Settling(model).is_over(first, as_of):
        return None
    return Settling(model).settles(first)


def awaits_no_outcomes(model: Model, day: date) -> bool:
    """Return whether a day needs no partition of outcomes.

    It lies outside the calendar of outcomes, or it has no log at all and the model may have such
    days.
    """
    return model.may_lack_outcomes(day) or (
        model.may_lack(day)
        and not (has_day(model, "predictions", day) or has_day(model, "outcomes", day))
    )


def outcome_days(what: str, model: Model, day: date, *, as_of: date) -> list[date]:
    """List the complete partitions that may contain outcomes of a day.

    Until the day's time is up, a missing partition may still arrive. After that, the day's own
    partition must exist and none may be missing before a later one, except on quiet days. A log
    that ends early leaves the day provisional.

    Raises
    ------
    DataError
        If the day is not over, or its time is up and a partition is missing.
    """
    if day >= as_of:
        msg = (
            f"{what}: as of {as_of} the outcomes of {day} are still being written; rerun this "
            f"day when it is over, or pass a later --as-of."
        )
        raise DataError(msg)
    due = Settling(model).due(day)
    together = model.outcomes.in_predictions  # the file of the day has all that is known
    over = [d for d in due if d < as_of]
    present = over if together else present_days(model, "outcomes", over)
    if due[-1] < as_of:
        _must_be_present(what, model, [d for d in due if d <= max(present, default=day)], present)
    return present


def check_logs_exist(name: str, model: Model, day: date, *, as_of: date) -> None:
    """Check that a day has predictions and all partitions of outcomes up to `as_of`.

    Raises
    ------
    DataError
        If a file is missing, even the last one, without which the day would stay provisional.
    """
    check_predictions_exist(name, model, day)
    if not model.outcomes.in_predictions:
        over = [d for d in Settling(model).due(day) if d < as_of]
        _must_be_present(f"{name} {day}", model, over, present_days(model, "outcomes", over))


def check_predictions_exist(name: str, model: Model, day: date) -> None:
    """Raise DataError if a day has no predictions."""
    if not has_day(model, "predictions", day):
        msg = no_partition(f"{name} {day}", model, "predictions", day)
        raise DataError(msg, MISSING["predictions"])


def _absent_is_negative(
    model: Model, day: date, partitions: Sequence[date], *, as_of: date
) -> bool:
    """Return whether predictions of a day without an outcome are negatives by now."""
    due = Settling(model).concluded(day)
    return due is not None and due[-1] < as_of and all_known(due, partitions, model)


def all_known(due: Sequence[date], partitions: Sequence[date], model: Model) -> bool:
    """Return whether every partition that is due was read, or belongs to a quiet day."""
    missing = sorted(set(due).difference(partitions))
    return all(awaits_no_outcomes(model, day) for day in missing)


def _must_be_present(what: str, model: Model, due: Sequence[date], present: Sequence[date]) -> None:
    """Raise DataError for a partition of outcomes that is missing, unless its day is quiet."""
    for missing in sorted(set(due).difference(present)):
        if not awaits_no_outcomes(model, missing):
            msg = (
                f"{what}: no outcomes of {missing} at {place_of(model, 'outcomes', missing)}; "
                f"wait for the log (a day without outcomes needs an empty file, unless "
                f"outcomes.calendar leaves it out), or correct "
                f"{place_key(model, 'outcomes')} in the configuration."
            )
            raise DataError(msg, MISSING["outcomes"])


def _partitions_before(model: Model, kind: Kind, as_of: date) -> list[date]:
    return [day for day in days_of(model, kind) if day < as_of]


def readable_days(
    session: Session, model: Model, days: Iterable[date], seen_on: Sequence[date]
) -> list[date]:
    """List the days whose predictions can be read, and joined with the outcomes of some days.

    A log that is broken, or had ids of another type, must not stop other days: its own day fails.
    """

    def is_readable(day: date) -> bool:
        try:
            if not has_day(model, "predictions", day):
                return False  # without the message, for which all days are listed
            read_ids(session, model, [day], seen_on)
        except (DataError, *DAMAGE):
            return False
        return True

    return [day for day in days if is_readable(day)]
