"""One day of logs becomes one Summary."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta

import numpy as np
import numpy.typing as npt

from monitor.config import Engine, Model
from monitor.errors import DataError, Fault
from monitor.logs import contract
from monitor.logs.class_rows import count_day
from monitor.logs.column_codes import (
    Counted,
    code_names,
    count_codes,
    group_with_codes,
    with_codes,
)
from monitor.logs.column_rows import count_columns, frequent_values
from monitor.logs.databases import Databases
from monitor.logs.joining import IN_PREDICTED, Groups, Query, Status, read_counts, run, write
from monitor.logs.lateness import count_late, days_of_late
from monitor.logs.opening import Kind
from monitor.logs.places import (
    MISSING,
    days_of,
    has_day,
    no_partition,
    open_log,
    place_of,
    present_days,
)
from monitor.logs.session import DAMAGE, Session, open_session
from monitor.logs.sources import check_readable, open_ids, open_logs
from monitor.logs.weights import class_weights
from monitor.metrics.beyond_binary.class_counts import ClassCounts
from monitor.metrics.core.tally import Cells, Tally, from_cells, merge
from monitor.segment_names import printable
from monitor.summary import (
    Awaited,
    Columns,
    Segment,
    Summary,
    awaited,
    days_between,
    end_of_day,
    stratified,
)

# What is wrong with a day whose rows are all valid.
DAY_FAULTS = {
    "empty_day": Fault("predictions", "empty_day", "the log holds no valid prediction"),
    "no_outcomes": Fault("outcomes", "no_outcomes", "no prediction has an outcome"),
    "one_class": Fault("outcomes", "one_class", "all outcomes are equal"),
}


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
    wait = timedelta(days=model.settled_after)
    observed = set(_partitions_before(model, "outcomes", as_of))
    for day in reversed(_partitions_before(model, "predictions", as_of)):
        over = day + wait < as_of and (model.outcomes.in_predictions or is_quiet(model, day + wait))
        if over or day + wait in observed:
            return day
    msg = (
        f"{name}: no day before {as_of} has predictions at {place_of(model, 'predictions')} and "
        f"outcomes {model.settled_after} days later at {place_of(model, 'outcomes')}; wait for the "
        f"logs, "
        f"correct the paths, or choose an unsettled day with --day."
    )
    raise DataError(msg)


def newest_day(model: Model, *, as_of: date) -> date:
    """Find the newest day with predictions before `as_of`, or `date.min` if there is none."""
    return max(_partitions_before(model, "predictions", as_of), default=date.min)


def first_morning(model: Model, *, as_of: date) -> date | None:
    """Find the day on which the first day of a new model settles; None if that has passed."""
    first = min(_partitions_before(model, "predictions", as_of), default=date.min)
    if first == date.min or first + timedelta(days=model.settled_after) < as_of:
        return None
    return first + timedelta(days=model.settled_after + 1)


def is_quiet(model: Model, day: date) -> bool:
    """Return whether a day has no log at all, and the model may have such days."""
    return model.may_lack(day) and not (
        has_day(model, "predictions", day) or has_day(model, "outcomes", day)
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
    last = day + timedelta(days=model.settled_after)
    due = days_between(day, last)
    together = model.outcomes.in_predictions  # the file of the day has all that is known
    over = [d for d in due if d < as_of]
    present = over if together else present_days(model, "outcomes", over)
    if as_of <= last:
        return present
    wanted = [d for d in due if d <= max(present, default=day)]
    for missing in sorted(set(wanted).difference(present)):
        if not is_quiet(model, missing):
            raise DataError(_no_outcomes_of(what, model, missing), MISSING["outcomes"])
    return present


def check_logs_exist(name: str, model: Model, day: date, *, as_of: date) -> None:
    """Check that a day has predictions and all partitions of outcomes up to `as_of`.

    Raises
    ------
    DataError
        If a file is missing, even the last one, without which the day would stay provisional.
    """
    what = f"{name} {day}"
    check_predictions_exist(name, model, day)
    if model.outcomes.in_predictions:
        return
    over = [d for d in days_between(day, day + timedelta(model.settled_after)) if d < as_of]
    for missing in sorted(set(over).difference(present_days(model, "outcomes", over))):
        if not is_quiet(model, missing):
            raise DataError(_no_outcomes_of(what, model, missing), MISSING["outcomes"])


def check_predictions_exist(name: str, model: Model, day: date) -> None:
    """Raise DataError if a day has no predictions."""
    if not has_day(model, "predictions", day):
        msg = no_partition(f"{name} {day}", model, "predictions", day)
        raise DataError(msg, MISSING["predictions"])


def summarise_day(
    name: str,
    model: Model,
    day: date,
    *,
    as_of: date,
    engine: Engine | Databases | None = None,
) -> Summary:
    """Read, check, join and tally one day.

    Parameters
    ----------
    name : str
        Name of the model.
    model : Model
        Its configuration.
    day : date
        Day of the predictions.
    as_of : date
        Outcome partitions of this day and later are not read.
    engine : Engine or Databases, optional
        Threads and memory to use; `Databases` where many days are read.

    Returns
    -------
    Summary
        The same bits for the same rows, whatever the order of files, the threads or the memory.

    Raises
    ------
    DataError
        If the logs are missing, unreadable, or break a check that is set to fail.
    """
    what = f"{name} {day}"
    partitions = outcome_days(what, model, day, as_of=as_of)
    with open_session(what, engine or Engine()) as session:
        logs = open_logs(session, model, day, partitions)
        part_count = len(model.segment_names) * len(model.stratum_names)
        negative = absent_is_negative(model, day, partitions, as_of=as_of)
        query = session.once(
            (logs, negative), lambda: write(logs, part_count, absent_is_negative=negative)
        )
        predictions, outcomes = read_counts(query.counted)
        frequent = frequent_values(logs.predictions, model, predictions)
        names = code_names(model, frequent.values) if model.columns and not session.spark else {}
        if names:
            logs = with_codes(logs, model, names)
            query = write(logs, part_count, absent_is_negative=negative)
        groups, rows = _run(session, query, logs.codes)
        clean, violations = contract.without_repeats(
            logs, groups, predictions=predictions, outcomes=outcomes
        )
        if clean is not logs:
            query = write(clean, part_count, absent_is_negative=negative)
            groups, rows = _run(session, query, logs.codes)
        violations += contract.row_violations(groups, query.joined, model)
        unmatched = (Status.UNMATCHED_OUTCOME, Status.OUTCOME_ID_MISSING)
        if day in partitions and any(groups.rows_with(status) for status in unmatched):
            violations += _invalid_outcomes(session, model, day)
        rejected = contract.enforce(what, violations, model.checks)
        left_out = left_out_by_filters(session, model, day)
        left_out |= {
            f"checks.{v.check}": (v.rows, v.of) for v in violations if v.check != "outcome_late"
        }
        classes = model.predictions.classes
        counted = count_day(query.joined, classes) if classes else None
        weights = _class_weights(what, model, groups, query)
        odds_factor = weights[0] / weights[1]
        if odds_factor != 1.0:
            query = write(clean, part_count, absent_is_negative=negative, odds_factor=odds_factor)
            groups, rows = _run(session, query, logs.codes)
        if rows:
            columns = count_codes(rows, model, names)
        elif model.columns:
            columns = count_columns(query.joined, model, frequent)
        else:
            columns = {}
        apart = predictions and outcomes and not groups.met_rows
        apart = apart and _is_settled(groups, day, partitions, model, as_of=as_of)
        hint = contract.no_common_id(clean) if apart else ""
    return summarise_groups(
        *(name, model, day, groups, partitions),
        as_of=as_of,
        rejected=rejected,
        left_out=left_out,
        weights=weights,
        hint=hint,
        classes=counted,
        columns=columns,
    )


def _run(session: Session, query: Query, codes: Sequence[str]) -> tuple[Groups, Counted | None]:
    """Run a query; if its rows have codes, so that they are stored and can be counted by them."""
    if codes:
        counted = group_with_codes(session, query, codes)
        return counted.groups, counted
    return run(query), None


def summarise_groups(
    name: str,
    model: Model,
    day: date,
    groups: Groups,
    partitions: Sequence[date],
    *,
    as_of: date,
    rejected: Mapping[str, int],
    left_out: Mapping[str, tuple[int, int]],
    weights: tuple[float, float] = (1.0, 1.0),
    hint: str = "",
    classes: ClassCounts | None = None,
    columns: Columns | None = None,
) -> Summary:
    """Make a summary of the groups of a day.

    Parameters
    ----------
    name, model, day, as_of
        As for `summarise_day`.
    groups : Groups
        Without rows of repeated ids.
    partitions : sequence of date
        The days of outcomes that were read.
    rejected : mapping of str to int
        Rows left out, by the check that they failed.
    left_out : mapping of str to (int, int)
        As in `Summary`.
    weights : tuple of (float, float)
        What a row of outcome 0 and of outcome 1 stands for.
    hint : str
        Why no outcome met a prediction, though both logs have rows.
    classes : ClassCounts, optional
        Of a model with classes.
    columns : mapping, optional
        What its watched columns count.

    Raises
    ------
    DataError
        If the day is settled and cannot be judged, unless the configuration accepts such days.
    """
    settled = _is_settled(groups, day, partitions, model, as_of=as_of)
    summary = Summary(
        model=name,
        days=(day,),
        segments=_segments(groups, model),
        rejected=rejected,
        # Predictions without a single outcome are never final, however old they are.
        final=settled and (groups.rows_with(Status.MATCHED) > 0 or not _predicted(groups)),
        known_at=_known_at(day, partitions, model),
        class_weights=weights,
        left_out=left_out,
        classes=classes,
        columns=columns or {},
    )
    _check_day(f"{name} {day}", model, groups, settled=settled, hint=hint, classes=classes)
    return summary


def left_out_by_filters(session: Session, model: Model, day: date) -> dict[str, tuple[int, int]]:
    """Count the rows of the day's own partitions that a filter leaves out, and all of them."""
    kinds: tuple[Kind, ...] = ("predictions", "outcomes")
    return {
        f"{kind}.where": open_log(session, model, kind, [day]).left_out_by(where)
        for kind in kinds
        if (where := getattr(model, kind).where) and has_day(model, kind, day)
    }


def _class_weights(what: str, model: Model, groups: Groups, query: Query) -> tuple[float, float]:
    """Find what a row of each outcome stands for; both 1 if the log is not a sample."""
    weighted = model.predictions.weight or model.outcomes.weight
    if not weighted or not _predicted(groups):
        return 1.0, 1.0
    return class_weights(what, query.joined, model)


def absent_is_negative(model: Model, day: date, partitions: Sequence[date], *, as_of: date) -> bool:
    """Return whether predictions of a day without an outcome are negatives by now."""
    horizon = model.outcomes.absent_means
    if horizon is None:
        return False
    due = days_between(day, day + timedelta(days=horizon))
    return due[-1] < as_of and _all_known(due, partitions, model)


def _no_outcomes_of(what: str, model: Model, missing: date) -> str:
    return (
        f"{what}: no outcomes of {missing} at {place_of(model, 'outcomes', missing)}; "
        f"wait for the log (a day without outcomes needs an empty file), "
        f"or correct outcomes.path in the configuration."
    )


def _known_at(day: date, partitions: Sequence[date], model: Model) -> datetime:
    """Return the time up to which outcomes were read, or the start of the day if none were."""
    last = partitions[-1] if partitions else day - timedelta(days=1)
    return end_of_day(last, model.time_zone)


def _partitions_before(model: Model, kind: Kind, as_of: date) -> list[date]:
    return [day for day in days_of(model, kind) if day < as_of]


def _invalid_outcomes(session: Session, model: Model, day: date) -> list[contract.Violation]:
    """List what is wrong with outcomes of `day` that have no prediction on any possible day."""
    possible = days_between(day - timedelta(days=model.settled_after), day)
    sources = readable_days(session, model, possible)
    scored, outcomes = open_ids(session, model, sources, [day])
    unmatched = session.once(
        (outcomes, scored),
        lambda: contract.find_unmatched_outcomes(session.frame(outcomes), session.frame(scored)),
    )

    def late() -> int:
        candidates = readable_days(session, model, days_of_late(model, [day]))
        return count_late(session, model, candidates, [day]).get(day, 0)

    return contract.outcome_violations(unmatched, model, late)


def readable_days(session: Session, model: Model, days: Iterable[date]) -> list[date]:
    """List the days whose predictions can be read.

    A broken log is reported on its own day and must not stop others.
    """

    def is_readable(day: date) -> bool:
        try:
            check_readable(session, model, day)
        except (DataError, *DAMAGE):
            return False
        return True

    return [day for day in days if is_readable(day)]


def _segments(groups: Groups, model: Model) -> dict[str, Segment]:
    parts = (
        _part(groups, place) for place in range(len(model.segment_names) * len(model.stratum_names))
    )
    return {
        segment: stratified({stratum: next(parts) for stratum in model.stratum_names})
        for segment in model.segment_names
    }


def _part(groups: Groups, place: int) -> Segment:
    matched = (groups.statuses == Status.MATCHED) & (groups.parts == place)
    # Negatives without an outcome are groups of their own, which may have the same cells.
    parts = (_tally(groups, matched & (groups.with_outcome == seen)) for seen in (0, 1))
    return Segment(
        merge(parts),
        sum(groups.rows_with(status, place) for status in IN_PREDICTED),
        _awaited(groups, place),
    )


def _tally(groups: Groups, rows: npt.NDArray[np.bool_]) -> Tally:
    cells = Cells(groups.cells[rows], groups.offset_sums[rows])
    return from_cells(cells, groups.counts[rows], groups.positives[rows])


def _predicted(groups: Groups) -> int:
    return sum(groups.rows_with(status) for status in IN_PREDICTED)


def _awaited(groups: Groups, place: int) -> Awaited:
    """Add up the predictions without a usable outcome; several statuses may share a cell."""
    rows = np.isin(groups.statuses, IN_PREDICTED) & (groups.statuses != Status.MATCHED)
    rows &= groups.parts == place
    return awaited(groups.cells[rows], groups.counts[rows])


def _is_settled(
    groups: Groups, day: date, partitions: Sequence[date], model: Model, *, as_of: date
) -> bool:
    """Return whether no more outcomes can arrive: the time is up, or all are known."""
    if groups.observed_rows == _predicted(groups):
        return True
    due = days_between(day, day + timedelta(days=model.settled_after))
    return due[-1] < as_of and _all_known(due, partitions, model)


def _all_known(due: Sequence[date], partitions: Sequence[date], model: Model) -> bool:
    """Return whether every partition that is due was read, or belongs to a quiet day."""
    missing = sorted(set(due).difference(partitions))
    return all(is_quiet(model, one) for one in missing)


def _only_outcome(positives: int, matched: int, classes: ClassCounts | None) -> str | None:
    """Name the outcome that all rows have; None if there are several."""
    if classes is None:
        return {0: "0", matched: "1"}.get(positives)
    seen = [name for name, rows in zip(classes.names, classes.outcomes, strict=True) if rows]
    return printable(seen[0]) if len(seen) == 1 else None


def _check_day(
    what: str,
    model: Model,
    groups: Groups,
    *,
    settled: bool,
    hint: str,
    classes: ClassCounts | None,
) -> None:
    """Stop a settled day that cannot be judged, unless the configuration accepts such days.

    The hint says why no outcome met a prediction, though both logs have rows.
    """
    predicted = _predicted(groups)
    matched = groups.rows_with(Status.MATCHED)
    positives = int(groups.positives.sum())
    complaint = None
    if predicted == 0:
        complaint = "empty_day", "the log contains no valid prediction"
    elif settled and (matched == 0 or hint):
        none = f"none of {predicted:,} predictions has an outcome"
        complaint = "no_outcomes", f"{none}; {hint}" if hint else none
    elif settled and (only := _only_outcome(positives, matched, classes)) is not None:
        complaint = "one_class", f"all {matched:,} outcomes are {only}"
    if complaint and getattr(model.checks, complaint[0]) == "fail":
        msg = (
            f"{what}: {complaint[1]}; check the logs and their ids, then rerun this day; or set "
            f"checks.{complaint[0]} to accept if such days are normal for this model."
        )
        raise DataError(msg, DAY_FAULTS[complaint[0]])
