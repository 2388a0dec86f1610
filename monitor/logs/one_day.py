"""One day in a query of its own, with all that only a day that is read alone needs.

Its outcomes without a prediction are looked up afterwards, among the ids of earlier days: a join
with these, as of many days, would take their memory for a single day.
"""

from dataclasses import dataclass
from datetime import date

import narwhals as nw

from monitor.config import Classes, Model
from monitor.logs import contract
from monitor.logs.checks import Status
from monitor.logs.class_columns import parts_of_vector
from monitor.logs.class_rows import count_day, count_mapped_day, read_matched
from monitor.logs.column_codes import (
    Counted,
    Names,
    code_names,
    coded_rows,
    count_codes,
    group_with_codes,
    labels_of_codes,
    pairs_of_codes,
    with_codes,
)
from monitor.logs.column_rows import Frequent, count_columns, frequent_values
from monitor.logs.daily import DayRows, is_settled
from monitor.logs.databases import Databases
from monitor.logs.days import Batch, readable_days
from monitor.logs.joining import (
    Groups,
    count_rows,
    read_counts,
)
from monitor.logs.label_rates import Parts, count_rated
from monitor.logs.lateness import count_late, days_of_late
from monitor.logs.opening import KINDS
from monitor.logs.partitions import has_day, open_log
from monitor.logs.session import Frame, Session, open_session
from monitor.logs.sources import Logs, open_ids, open_logs
from monitor.logs.statement import Query, run, write
from monitor.logs.unlisted import unlisted_values
from monitor.logs.weights import class_weights
from monitor.metrics.beyond_binary.class_counts import Batch as Vectors
from monitor.metrics.beyond_binary.class_counts import ClassCounts
from monitor.metrics.core.grid import Ints
from monitor.metrics.core.tally import Tally
from monitor.metrics.maps.vector_map import VectorMap
from monitor.settling import Settling
from monitor.summary import CodedRows, Columns


@dataclass(frozen=True, eq=False)
class _Result:
    """A query that has run: its groups, and its rows with codes if they have any."""

    query: Query
    groups: Groups
    coded: Counted | None


def read_day(session: Session, batch: Batch) -> list[DayRows]:
    """Count the rows of a day, and check them.

    Raises
    ------
    DataError
        If its rows break a check that is set to fail, or cannot be counted.
    """
    model, (day,) = batch.model, batch.days
    opened = open_logs(session, model, day, batch.partitions[day])
    predictions, outcomes = _count_both(session, opened)
    frequent = frequent_values(session, opened.predictions, model, predictions)
    names = code_names(model, frequent.values)
    coded = model.columns and not session.spark
    logs = with_codes(session, opened, model, names) if coded else opened
    query = _query(session, batch, logs)
    result = _run(session, query, logs)
    clean, violations = contract.without_repeats(
        session, logs, result.groups, predictions=predictions, outcomes=outcomes
    )
    if clean is not logs:
        result = _run(session, _write(session, batch, clean), clean)
    violations += contract.row_violations(result.groups, result.query, model)
    if day in batch.partitions[day] and result.groups.unmatched_rows:
        violations += _unmatched_outcomes(session, model, day)
    contract.enforce(batch.what, violations, model.checks)
    filtered = _left_out_by_filters(session, model, day)
    weights = _class_weights(session, batch, result)
    if weights[0] != weights[1]:
        query = _write(session, batch, clean, odds_factor=weights[0] / weights[1])
        result = _run(session, query, clean)
    groups = result.groups
    apart = predictions and outcomes and not groups.met_rows and is_settled(batch, day, groups)
    columns, of_classes = _columns(result, model, names, frequent), None
    if classes := model.predictions.classes:
        sizes = (len(names[watched.name]) + 1 for watched in model.columns)
        of_classes, by_code = count_day(
            session,
            result.query.joined,
            classes,
            _parts(model),
            dict(zip(logs.codes, sizes, strict=False)),  # Spark has labels instead
            labels_of_codes(model, names) if session.spark else {},
        )
        columns = pairs_of_codes(columns, model, names, classes.names, by_code)
    rows = DayRows(
        *(day, groups, violations, filtered, weights),
        hint=contract.no_common_id(clean) if apart else "",
        classes=of_classes,
        columns=columns,
        rated=_rated(session, batch, result),
        unlisted=unlisted_values(logs.predictions, model, groups, predictions),
    )
    return [rows]


def read_vectors(batch: Batch, classes: Classes, engine: Databases) -> Vectors:
    """Read the vectors and labels that `read_day` counts, in any order.

    Raises
    ------
    DataError
        If they cannot be read.
    """
    with open_session(batch.what, engine) as session:
        return read_matched(session, _joined(session, batch), classes)


def read_coded_rows(batch: Batch, engine: Databases) -> CodedRows:
    """Read the rows that `read_day` counts, with the code of each in every watched column.

    Columns must name their values or edges, so that codes mean the same on all days.

    Raises
    ------
    DataError
        If they cannot be read.
    """
    model, (day,) = batch.model, batch.days
    with open_session(batch.what, engine) as session:
        opened = open_logs(session, model, day, batch.partitions[day])
        predictions, outcomes = _count_both(session, opened)
        logs = with_codes(session, opened, model, code_names(model, {}))
        query = _query(session, batch, logs)
        coded = group_with_codes(session, query, logs.codes)
        clean, _ = contract.without_repeats(
            session, logs, coded.groups, predictions=predictions, outcomes=outcomes
        )
        if clean is not logs:
            query = _write(session, batch, clean)
            coded = group_with_codes(session, query, clean.codes)
        weights = _class_weights(session, batch, _Result(query, coded.groups, coded))
        if weights[0] != weights[1]:
            query = _write(session, batch, clean, odds_factor=weights[0] / weights[1])
            coded = group_with_codes(session, query, clean.codes)
        return coded_rows(coded, len(model.columns))


def count_through_map(
    batch: Batch, classes: Classes, vector_map: VectorMap, engine: Databases
) -> tuple[Ints, ClassCounts, list[Tally]]:
    """Count the rows that `read_day` counts through a map; see `count_mapped_day`.

    Raises
    ------
    DataError
        If they cannot be read.
    """
    with open_session(batch.what, engine) as session:
        return count_mapped_day(
            session, _joined(session, batch), classes, vector_map, _parts(batch.model)
        )


def read_parts_of_vector(batch: Batch, classes: Classes, engine: Databases) -> list[str]:
    """Give the probability of each class as the predictions of a day have it, in SQL of DuckDB."""
    with open_session(batch.what, engine) as session:
        log = open_log(session, batch.model, "predictions", batch.days)
        return parts_of_vector(log, classes)


def _joined(session: Session, batch: Batch) -> Frame:
    """Join the rows of a day without those of repeated ids."""
    (day,) = batch.days
    logs = open_logs(session, batch.model, day, batch.partitions[day])
    predictions, outcomes = _count_both(session, logs)
    query = _query(session, batch, logs)
    clean, _ = contract.without_repeats(
        session, logs, run(query), predictions=predictions, outcomes=outcomes
    )
    return (query if clean is logs else _write(session, batch, clean)).joined


def _count_both(session: Session, logs: Logs) -> tuple[int, ...]:
    """Count the predictions and the outcomes."""
    return read_counts(session.once((logs, "rows"), lambda: count_rows(logs)))


def _query(session: Session, batch: Batch, logs: Logs) -> Query:
    """Write the query over logs, which is the same for all days with logs of the same shape."""
    return session.once((logs, batch.negative), lambda: _write(session, batch, logs))


def _write(session: Session, batch: Batch, logs: Logs, odds_factor: float = 1.0) -> Query:
    negative = batch.negative
    count = batch.part_count
    return write(session, logs, count, absent_is_negative=negative, odds_factor=odds_factor)


def _run(session: Session, query: Query, logs: Logs) -> _Result:
    """Run a query; if its rows have codes, so that they are stored and can be counted by them."""
    if not logs.codes:
        return _Result(query, run(query), None)
    coded = group_with_codes(session, query, logs.codes)
    return _Result(query, coded.groups, coded)


def _columns(result: _Result, model: Model, names: Names, frequent: Frequent) -> Columns:
    """Count the rows by the values of watched columns."""
    if result.coded:
        return count_codes(result.coded, model, names)
    return count_columns(result.query.joined, model, frequent) if model.columns else {}


def _parts(model: Model) -> list[tuple[str, str]]:
    """Name segment and stratum of each part, as rows are numbered; none of a model without."""
    if not (model.segments or model.strata):
        return []
    return [(name, stratum) for name in model.segment_names for stratum in model.stratum_names]


def _left_out_by_filters(session: Session, model: Model, day: date) -> dict[str, tuple[int, int]]:
    """Count the rows of the day's own partitions that a filter leaves out, and all of them."""
    return {
        f"{kind}.where": open_log(session, model, kind, [day]).left_out_by(row_filter)
        for kind in KINDS
        if (row_filter := getattr(model, kind).where) and has_day(model, kind, day)
    }


def _class_weights(session: Session, batch: Batch, result: _Result) -> tuple[float, float]:
    """Find what a row of each outcome stands for; both 1 if the log is not a sample."""
    weighted = batch.model.predictions.weight or batch.model.outcomes.weight
    if not weighted or not result.groups.predicted_rows:
        return 1.0, 1.0
    return class_weights(session, result.query.joined, batch.model)


def _rated(session: Session, batch: Batch, result: _Result) -> Parts:
    """Add up what the outcomes stand for; nothing if the log does not say it."""
    if not batch.model.rates_in_log or not result.groups.rows_with(Status.MATCHED):
        return {}
    return count_rated(session, result.query.joined)


def _unmatched_outcomes(session: Session, model: Model, day: date) -> list[contract.Violation]:
    """List what is wrong with outcomes of `day` that have no prediction on any possible day."""
    possible = Settling(model).read_by(day)
    scored, outcomes = open_ids(session, model, readable_days(session, model, possible), [day])
    unmatched = session.once(
        (outcomes, scored),
        lambda: contract.find_unmatched_outcomes(session.frame(outcomes), session.frame(scored)),
    )
    rows, missing = read_counts(unmatched.counted)
    if not rows:
        return []
    late = 0
    if rows > missing:
        candidates = readable_days(session, model, days_of_late(model, [day]))
        late = count_late(session, model, candidates, [day]).get(day, 0)
    return contract.outcome_violations(
        model,
        of=read_counts(unmatched.outcomes.select(nw.len()))[0],
        missing=missing,
        unmatched=rows - missing,
        late=late,
        show=unmatched.first,
    )
