"""One day in a query of its own, with all that only a day that is read alone needs.

Its outcomes without a prediction are looked up afterwards, among the ids of earlier days: a join
with these, as of many days, would take their memory for a single day.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from monitor.config import Classes, Model
from monitor.days.settling import Settling
from monitor.days.summary import CodedRows, Columns
from monitor.logs.checks.checks import Groups, Status
from monitor.logs.columns.canonical import Logs, open_logs
from monitor.logs.columns.class_columns import parts_of_vector
from monitor.logs.days.daily import DayRows, is_settled
from monitor.logs.days.days import Batch, parts_of, readable_days
from monitor.logs.engines.databases import Databases
from monitor.logs.engines.session import Session, open_session
from monitor.logs.sources.opening import KINDS
from monitor.logs.sources.source import has_day, open_log
from monitor.logs.statement import contract
from monitor.logs.statement.ages import LATE, MISSING, ORPHAN, outcomes_seen
from monitor.logs.statement.class_rows import (
    count_day,
    count_mapped_day,
    read_matched,
    read_pairs,
)
from monitor.logs.statement.column_codes import (
    Names,
    code_names,
    coded_rows,
    pairs_of_codes,
    run_with_codes,
    with_codes,
)
from monitor.logs.statement.statement import Query, run, write
from monitor.logs.statement.unlisted import unlisted_values
from monitor.logs.statement.weights import class_weights, count_rated
from monitor.metrics.beyond_binary.class_counts import Batch as Vectors
from monitor.metrics.beyond_binary.class_counts import ClassCounts
from monitor.metrics.core.grid import Ints
from monitor.metrics.core.tally import Tally
from monitor.metrics.maps.vector_map import VectorMap


@dataclass(frozen=True, eq=False)
class _Result:
    """A query that has run: its groups, and what watched columns count."""

    query: Query
    groups: Groups
    columns: Columns


def read_day(session: Session, batch: Batch) -> list[DayRows]:
    """Count the rows of a day, and check them.

    Raises
    ------
    DataError
        If its rows break a check that is set to fail, or cannot be counted.
    """
    model, (day,) = batch.model, batch.days
    opened = open_logs(session, model, day, batch.partitions[day])
    predictions, outcomes = _count_both(opened)
    names = code_names(model, opened, predictions) if model.columns else {}
    logs = with_codes(opened, model, names) if model.columns else opened
    result, violations = _counted(batch, logs, (predictions, outcomes), names)
    if result.groups.has_flaws:
        violations += contract.row_violations(result.groups, result.query, model)
    without_prediction = Status.UNMATCHED_OUTCOME, Status.OUTCOME_ID_MISSING
    if day in batch.partitions[day] and result.groups.rows_with(*without_prediction):
        violations += _unmatched_outcomes(session, model, day)
    if violations:
        contract.enforce(batch.what, violations, model.checks)
    filtered = _left_out_by_filters(session, model, day)
    weighted = model.predictions.weight or model.outcomes.weight
    result, weights = _weighed(batch, result, names) if weighted else (result, (1.0, 1.0))
    query, groups, columns = result.query, result.groups, result.columns
    apart = predictions and outcomes and not groups.met_rows and is_settled(batch, day, groups)
    of_classes = None
    if classes := model.predictions.classes:
        sizes = [len(names[watched.name]) + 1 for watched in model.columns]
        of_classes, by_code = count_day(query, classes, _parts(model), sizes)
        columns = pairs_of_codes(columns, model, names, classes.names, by_code)
    rows = DayRows(
        *(day, groups, violations, filtered, weights),
        hint=contract.no_common_id(query.logs) if apart else "",
        classes=of_classes,
        columns=columns,
        rated=count_rated(batch.what, groups) if model.rates_in_log else {},
        unlisted=unlisted_values(opened, model, groups, predictions) if model.segments else (),
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
        return read_matched(_joined(session, batch), classes)


def read_coded_rows(batch: Batch, engine: Databases, rank: int) -> CodedRows:
    """Read the rows that `read_day` counts, with the code of each in every watched column.

    Columns must name their values or edges, so that codes mean the same on all days. With classes
    they are those of the pairs of the highest score and that of a rank.

    Raises
    ------
    DataError
        If they cannot be read.
    """
    model, (day,) = batch.model, batch.days
    with open_session(batch.what, engine) as session:
        opened = open_logs(session, model, day, batch.partitions[day])
        logs = with_codes(opened, model, code_names(model))
        result, _ = _counted(batch, logs, _count_both(opened))
        if classes := model.predictions.classes:
            return read_pairs(result.query, classes, rank)
        weighted = model.predictions.weight or model.outcomes.weight
        return coded_rows((_weighed(batch, result)[0] if weighted else result).query)


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
        return count_mapped_day(_joined(session, batch), classes, vector_map, _parts(batch.model))


def read_parts_of_vector(batch: Batch, classes: Classes, engine: Databases) -> list[str]:
    """Give the probability of each class as the predictions of a day have it, in SQL of DuckDB."""
    with open_session(batch.what, engine) as session:
        log = open_log(session, batch.model, "predictions", batch.days)
        return parts_of_vector(log, classes)


def _joined(session: Session, batch: Batch) -> Query:
    """Join the rows of a day without those of repeated ids."""
    (day,) = batch.days
    logs = open_logs(session, batch.model, day, batch.partitions[day])
    return _counted(batch, logs, _count_both(logs))[0].query


def _count_both(logs: Logs) -> tuple[int, ...]:
    """Count the predictions and the outcomes, which Parquet stores in its metadata."""
    if logs.joined:
        return logs.numbers("SELECT count(*) AS a, count(observed) AS b FROM predictions")
    each = (f"(SELECT count(*) FROM {name}) AS {name}" for name in ("predictions", "outcomes"))
    return logs.numbers(f"SELECT {', '.join(each)}")


def _counted(
    batch: Batch, logs: Logs, rows: Sequence[int], names: Names | None = None
) -> tuple[_Result, list[contract.Violation]]:
    """Count the rows of a day without those of repeated ids."""
    result = _run(batch, logs, names)
    if result.groups.proves_unique(predictions=rows[0], outcomes=rows[1]):
        return result, []
    clean, violations = contract.without_repeats(
        logs, batch.model, result.groups, predictions=rows[0], outcomes=rows[1]
    )
    return (result if clean is logs else _run(batch, clean, names)), violations


def _run(batch: Batch, logs: Logs, names: Names | None, odds_factor: float = 1.0) -> _Result:
    """Run the statement, and count the values of watched columns if they have names."""
    query = write(
        logs, batch.part_count, absent_is_negative=batch.negative, odds_factor=odds_factor
    )
    groups, columns = run_with_codes(query, batch.model, names) if names else (run(query), {})
    return _Result(query, groups, columns)


def _weighed(
    batch: Batch, result: _Result, names: Names | None = None
) -> tuple[_Result, tuple[float, float]]:
    """Count with the odds of the population, if the rows are a sample by outcome.

    Then the cells are those of the scores that are right for the sample, and a row is counted by
    its key in the sample.
    """
    if not result.groups.predicted_rows:
        return result, (1.0, 1.0)
    weights = class_weights(batch.what, batch.model, result.groups, result.query.rows.fetch_rows)
    if weights[0] != weights[1]:
        result = _run(batch, result.query.logs, names, weights[0] / weights[1])
    return result, weights


def _parts(model: Model) -> list[tuple[str, str]]:
    """Name the parts of a model that has segments or strata; none of another."""
    return parts_of(model) if model.segments or model.strata else []


def _left_out_by_filters(session: Session, model: Model, day: date) -> dict[str, tuple[int, int]]:
    """Count the rows of the day's own partitions that a filter leaves out, and all of them."""
    return {
        f"{kind}.where": open_log(session, model, kind, [day]).left_out_by(row_filter)
        for kind in KINDS
        if (row_filter := getattr(model, kind).where) and has_day(model, kind, day)
    }


def _unmatched_outcomes(session: Session, model: Model, day: date) -> list[contract.Violation]:
    """List what is wrong with outcomes of `day` that have no prediction on any possible day."""
    settling = Settling(model)
    scored_on = readable_days(session, model, settling.read_by(day), [day])
    seen = outcomes_seen(session, model, scored_on, [day])
    if seen.of(day, ORPHAN):  # or it is late, which few days need to know
        scored_on = readable_days(session, model, settling.counting(day), [day])
        seen = outcomes_seen(session, model, scored_on, [day])
    return contract.outcome_violations(
        model,
        of=seen.of(day),
        missing=seen.of(day, MISSING),
        orphans=seen.of(day, ORPHAN),
        late=seen.of(day, LATE),
        show=lambda: contract.Example(f"first id {seen.first_orphan()}"),
    )
