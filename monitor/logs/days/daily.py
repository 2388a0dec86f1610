"""What was counted of one day becomes one Summary."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

import numpy as np
import numpy.typing as npt

from monitor.base.errors import DataError, Fault
from monitor.base.segment_names import printable
from monitor.config import Model
from monitor.days.settling import Settling
from monitor.days.summary import (
    Awaited,
    Columns,
    Entities,
    Rated,
    Segment,
    Summary,
    Unlisted,
    awaited,
    end_of_day,
    stratified,
)
from monitor.logs.checks.checks import IN_PREDICTED, Groups, Status
from monitor.logs.days.days import Batch, all_known, parts_of
from monitor.logs.sources.source import place_of
from monitor.logs.statement.contract import Violation
from monitor.metrics.beyond_binary.class_counts import ClassCounts
from monitor.metrics.core.buckets import add_up_buckets, bins_of
from monitor.metrics.core.tally import Cells, Tally, from_cells, merge

# What is wrong with a day whose rows are all valid.
DAY_FAULTS = {
    "empty_day": Fault("predictions", "empty_day", "the log holds no valid prediction"),
    "no_outcomes": Fault("outcomes", "no_outcomes", "no prediction has an outcome"),
    "one_class": Fault("outcomes", "one_class", "all outcomes are equal"),
}


@dataclass(frozen=True, eq=False)
class DayRows:
    """What was counted of the rows of a day.

    Attributes
    ----------
    day : date
        Day of the predictions.
    groups : Groups
        Without rows of repeated ids.
    violations : sequence of Violation
        The rows that are left out, by the check that they break.
    filtered : mapping of str to (int, int)
        The rows that filters leave out, as in `Summary.left_out`.
    weights : tuple of (float, float)
        What a row of outcome 0 and of outcome 1 stands for.
    hint : str
        Why no outcome met a prediction, though both logs have rows.
    classes : ClassCounts, optional
        Of a model with classes.
    columns : mapping
        What its watched columns count.
    rated : mapping of int to Rated, optional
        What the outcomes of each part stand for.
    unlisted : tuple of (str or None, int)
        As in `Summary`.
    """

    day: date
    groups: Groups
    violations: Sequence[Violation]
    filtered: Mapping[str, tuple[int, int]]
    weights: tuple[float, float] = (1.0, 1.0)
    hint: str = ""
    classes: ClassCounts | None = None
    columns: Columns = field(default_factory=dict)
    rated: Mapping[int, Rated] = field(default_factory=dict)
    unlisted: Unlisted = ()


def summarise(batch: Batch, rows: DayRows) -> Summary:
    """Make a summary of what was counted of a day.

    Raises
    ------
    DataError
        If the day is settled and cannot be judged, unless the configuration accepts such days.
    """
    groups, day = rows.groups, rows.day
    settled = is_settled(batch, day, groups)
    summary = Summary(
        model=batch.name,
        days=(day,),
        segments=_segments(rows, batch.model),
        rejected={v.check: v.rows for v in rows.violations},
        # Predictions without a single outcome are never final, however old they are.
        final=settled and (groups.rows_with(Status.MATCHED) > 0 or not groups.predicted_rows),
        known_at=_known_at(day, batch.partitions[day], batch.model),
        class_weights=rows.weights,
        # No setting leaves out late outcomes: their day has settled.
        left_out={
            **rows.filtered,
            **{
                f"the check {v.check}": (v.rows, v.of)
                for v in rows.violations
                if v.check != "outcome_late"
            },
        },
        classes=rows.classes,
        columns=rows.columns,
        entities=_entities(groups, batch.model) if batch.model.predictions.entity else {},
        unlisted=rows.unlisted,
    )
    _check_day(batch, rows, settled=settled)
    return summary


def is_settled(batch: Batch, day: date, groups: Groups) -> bool:
    """Return whether no more outcomes can arrive: the time is up, or all are known."""
    if groups.observed_rows == groups.predicted_rows:
        return True
    settling = Settling(batch.model)
    return settling.is_over(day, batch.as_of) and all_known(
        settling.due(day), batch.partitions[day], batch.model
    )


def _known_at(day: date, partitions: Sequence[date], model: Model) -> datetime:
    """Return the time up to which outcomes were read, or the start of the day if none were."""
    last = partitions[-1] if partitions else day - timedelta(days=1)
    return end_of_day(last, model.time_zone)


def _segments(day: DayRows, model: Model) -> dict[str, Segment]:
    parts = (_part(day, model, place) for place in range(len(parts_of(model))))
    return {
        segment: stratified({stratum: next(parts) for stratum in model.stratum_names})
        for segment in model.segment_names
    }


def _part(day: DayRows, model: Model, place: int) -> Segment:
    groups = day.groups
    matched = (groups.statuses == Status.MATCHED) & (groups.parts == place)
    # Negatives without an outcome are groups of their own, which may have the same cells.
    parts = (_tally(groups, matched & (groups.with_outcome == seen)) for seen in (0, 1))
    return Segment(
        merge(parts),
        groups.rows_with(*IN_PREDICTED, part=place),
        _awaited(groups, place),
        rated=day.rated.get(place),
        acted=groups.rows_with(Status.ACTED_ON, part=place) if model.action else None,
    )


def _tally(groups: Groups, rows: npt.NDArray[np.bool_]) -> Tally:
    cells = Cells(groups.cells[rows], groups.offset_sums[rows])
    return from_cells(cells, groups.counts[rows], groups.positives[rows])


def _entities(groups: Groups, model: Model) -> Entities:
    """Count the matched rows of each part by bucket and bin of the score."""
    by_part = {}
    for place, key in enumerate(parts_of(model)):
        rows = (groups.statuses == Status.MATCHED) & (groups.parts == place)
        if rows.any():
            by_part[key] = add_up_buckets(
                groups.buckets[rows],
                bins_of(groups.cells[rows]),
                groups.counts[rows],
                groups.positives[rows],
            )
    return by_part


def _awaited(groups: Groups, place: int) -> Awaited:
    """Add up the predictions without a usable outcome; several statuses may share a cell."""
    rows = np.isin(groups.statuses, IN_PREDICTED) & (groups.statuses != Status.MATCHED)
    rows &= groups.parts == place
    return awaited(groups.cells[rows], groups.counts[rows])


def _only_outcome(positives: int, matched: int, classes: ClassCounts | None) -> str | None:
    """Name the outcome that all rows have; None if there are several."""
    if classes is None:
        return {0: "0", matched: "1"}.get(positives)
    seen = [name for name, rows in zip(classes.names, classes.outcomes, strict=True) if rows]
    return printable(seen[0]) if len(seen) == 1 else None


def _without_time(rows: DayRows) -> str:
    """Say how many outcomes of 0 are not counted because they have no time."""
    unknown = sum(v.rows for v in rows.violations if v.check == "outcome_time_missing")
    if not unknown:
        return ""
    return (
        f" and {unknown:,} more are 0 without a time, so they count as not known yet (if only "
        "positive outcomes ever get a time, list outcome_time_missing under checks.accept)"
    )


def _awaited_others(model: Model, unknown: int) -> str:
    """Say of predictions without an outcome that theirs may come later, as negatives often do."""
    if not unknown:
        return ""
    return (
        f", and {unknown:,} predictions have none; if theirs come later, raise settled_after "
        f"(days: {model.settled_after})"
    )


def _places(batch: Batch, day: date) -> str:
    """Name the logs of a day: its predictions, and the first and the last of its outcomes."""
    ends = [*batch.partitions[day][:1], *batch.partitions[day][-1:]]
    outcomes = dict.fromkeys(place_of(batch.model, "outcomes", end) for end in ends)
    places = [place_of(batch.model, "predictions", day), " to ".join(outcomes)]
    return "; ".join(dict.fromkeys(filter(None, places)))


def _check_day(batch: Batch, rows: DayRows, *, settled: bool) -> None:
    """Stop a settled day that cannot be judged, unless the configuration accepts such days."""
    groups, hint = rows.groups, rows.hint
    predicted = groups.predicted_rows
    matched = groups.rows_with(Status.MATCHED)
    positives = int(groups.positives.sum())
    complaint = None
    if predicted == 0:
        complaint = "empty_day", "the log contains no valid prediction"
    elif settled and (matched == 0 or hint):
        none = f"none of {predicted:,} predictions has an outcome"
        complaint = "no_outcomes", f"{none}; {hint}" if hint else none
    elif settled and (only := _only_outcome(positives, matched, rows.classes)) is not None:
        others = _without_time(rows) or _awaited_others(batch.model, predicted - matched)
        complaint = "one_class", f"all {matched:,} outcomes are {only}{others}"
    if complaint and batch.model.checks.of(complaint[0]) == "fail":
        msg = (
            f"{batch.name} {rows.day}: {complaint[1]}; check the logs and their ids "
            f"({_places(batch, rows.day)}), then rerun this day; or list {complaint[0]} under "
            f"checks.accept if such days are normal for this model."
        )
        raise DataError(msg, DAY_FAULTS[complaint[0]])
