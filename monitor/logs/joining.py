"""The one query: join predictions to outcomes, give rows a status and a cell, and group them.

Written once in Narwhals, so DuckDB, Polars, PyArrow or Spark can run it.

How the query proves that no id is repeated. A full join returns every row of both logs at least
once. If it returns as many rows with a prediction as there are predictions, no prediction matched
two outcomes; likewise for outcomes. So comparing two sums with two row counts settles all matched
ids without a second pass. A prediction without an outcome is also grouped by its id. Only if a
proof fails are the ids counted one by one.

What the join carries is what it costs. So all that one log alone can say of a row becomes one small
number before the join: `score_code` holds what is wrong with a prediction, its part and its cell;
`outcome_code` holds the outcome. Other columns are only carried where a query shows examples.
"""

from dataclasses import dataclass, fields, replace
from enum import IntEnum
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from monitor.logs.rows import choose
from monitor.logs.session import Frame
from monitor.logs.sources import Logs
from monitor.logs.spark_days import meet
from monitor.metrics.core.grid import (
    CELL_COUNT,
    HIGHEST_SCORE,
    LAST_POSITION,
    LOGIT_LIMIT,
    LOWEST_SCORE,
    OFFSETS_PER_CELL,
    POSITIONS_PER_LOGIT,
    Ints,
)


class Status(IntEnum):
    """The status of a row of the join; each row has exactly one."""

    MATCHED = 0
    UNLABELLED = 1
    UNMATCHED_OUTCOME = 2
    PREDICTION_ID_MISSING = 3
    SCORE_MISSING = 4
    SCORE_OUT_OF_RANGE = 5
    OUTCOME_ID_MISSING = 6
    OUTCOME_INVALID = 7
    OUTCOME_EARLY = 8
    SCORE_SUM = 9  # class probabilities that do not add up to 1
    NOT_CHOSEN = 10  # a prediction of another day, or one that the filter leaves out


# Predictions with a valid score. All but the first still need a usable outcome.
IN_PREDICTED = (
    Status.MATCHED,
    Status.UNLABELLED,
    Status.OUTCOME_INVALID,
    Status.OUTCOME_EARLY,
)
# What a prediction alone can show, the greatest first.
FLAWS = (
    Status.NOT_CHOSEN,
    Status.SCORE_SUM,
    Status.SCORE_OUT_OF_RANGE,
    Status.SCORE_MISSING,
    Status.PREDICTION_ID_MISSING,
)
UNUSABLE = 2  # the code of an outcome that is neither 0 nor 1
# The last part of a key: without an outcome, or with one, and 1 more if it is positive.
NO_OUTCOME, WITH_OUTCOME, POSITIVE, OUTCOMES = 0, 2, 3, 4
LARGEST_INT32 = 2**31 - 1
WITHOUT_PREDICTION = (
    Status.UNMATCHED_OUTCOME,
    Status.OUTCOME_ID_MISSING,
    Status.NOT_CHOSEN,
)


@dataclass(frozen=True, eq=False)
class Query:
    """The queries of a day, built but not run.

    Attributes
    ----------
    counted : LazyFrame
        One row: the numbers of predictions and of outcomes.
    joined : LazyFrame
        The full join of predictions and outcomes, each row with its `status`.
    keyed : LazyFrame
        Those rows with a `key` for status, part, cell and outcome, and what is added up.
    grouped : LazyFrame
        Those rows in groups.
    part_count : int
        Number of the model's segments, times that of its strata.
    """

    counted: Frame
    joined: Frame
    keyed: Frame
    grouped: Frame
    part_count: int


@dataclass(frozen=True, eq=False)
class Groups:
    """The result of the query: rows of the join in groups, every array of shape (g,).

    Attributes
    ----------
    statuses, with_outcome, parts, cells : ndarray
        The keys: the status, 1 if the row has an outcome else 0, the index of segment and
        stratum, and the cell (0 for rows without a valid score).
    counts, positives, offset_sums : ndarray
        Rows; for matched rows also outcomes of 1 and sums of offsets inside the cell.
    repeats : ndarray
        Predictions without an outcome that share their id with another such prediction.
    """

    statuses: Ints
    with_outcome: Ints
    parts: Ints
    cells: Ints
    counts: Ints
    positives: Ints
    offset_sums: Ints
    repeats: Ints

    @property
    def prediction_rows(self) -> int:
        """Rows of the join that have a prediction."""
        return int(self.counts[~np.isin(self.statuses, WITHOUT_PREDICTION)].sum())

    @property
    def outcome_rows(self) -> int:
        """Rows of the join that have an outcome."""
        return int(self.counts[self.with_outcome == 1].sum())

    @property
    def observed_rows(self) -> int:
        """Matched rows whose outcome is in the log, not concluded from its absence."""
        seen = (self.statuses == Status.MATCHED) & (self.with_outcome == 1)
        return int(self.counts[seen].sum())

    @property
    def met_rows(self) -> int:
        """Rows of the join that have both."""
        met = (self.with_outcome == 1) & ~np.isin(self.statuses, WITHOUT_PREDICTION)
        return int(self.counts[met].sum())

    def of_place(self, place: int, part_count: int) -> "Groups":
        """Take the groups of one day out of those of many."""
        rows = self.parts // part_count == place
        taken = {one.name: getattr(self, one.name)[rows] for one in fields(self)}
        return Groups(**{**taken, "parts": taken["parts"] % part_count})

    def rows_with(self, status: Status, part: int | None = None) -> int:
        """Count the rows of one status, in one part or in all."""
        chosen = self.statuses == status
        if part is not None:
            chosen &= self.parts == part
        return int(self.counts[chosen].sum())


def write(
    logs: Logs, part_count: int, *, absent_is_negative: bool = False, odds_factor: float = 1.0
) -> Query:
    """Build the query.

    Parameters
    ----------
    logs : Logs
        From `open_logs` or `without_repeats`.
    part_count : int
        Number of the model's segments, times that of its strata.
    absent_is_negative : bool
        Whether a prediction without an outcome has the outcome 0.
    odds_factor : float
        By which the odds of outcome 1 in the log are larger than in its population.
    """
    coded = _coded(logs, part_count, odds_factor)
    joined = _join(coded, part_count, absent_is_negative=absent_is_negative)
    keyed = _key(joined, part_count, coded)
    return Query(_count(logs), joined, keyed, group(keyed), part_count)


def _coded(logs: Logs, part_count: int, odds_factor: float) -> Logs:
    """Give the rows of each log their code, as far as they can have one before the join."""
    predictions = _with_score_code(logs, part_count, odds_factor)
    late = logs.joined or logs.classes  # then an outcome is only one beside its prediction
    outcomes = logs.outcomes if late else _with_outcome_code(logs.outcomes)
    return replace(logs, predictions=predictions, outcomes=outcomes)


def _with_score_code(logs: Logs, part_count: int, odds_factor: float) -> Frame:
    """Add `score_code`, which is what is wrong, the part and the cell, and `offset`."""
    score = nw.col("score")
    # Statistics of Parquet leave out NaN, and DuckDB concludes from them that all lie in [0, 1].
    usable = ~score.is_nan() & (score >= 0.0) & (score <= 1.0)
    cases = [
        (score.is_null() | score.is_nan(), Status.SCORE_MISSING),
        ((score < 0.0) | (score > 1.0), Status.SCORE_OUT_OF_RANGE),
    ]
    if logs.classes:
        usable &= nw.col("off") == 0
        cases.append((nw.col("off") == 1, Status.SCORE_SUM))
    if not logs.joined:  # there no row needs an id
        usable &= ~nw.col("id").is_null()
        cases.insert(0, (nw.col("id").is_null(), Status.PREDICTION_ID_MISSING))
    if logs.horizon is not None:
        usable &= nw.col("predicted") == 1
        cases.insert(0, (nw.col("predicted") == 0, Status.NOT_CHOSEN))
    whole = _whole(part_count)
    flaws = [(case, nw.lit(int(flaw) * part_count, whole)) for case, flaw in cases]
    part = nw.col("part").cast(whole)
    # The usual case comes first, because the others are then looked at for few rows.
    flawed = (choose(flaws, nw.lit(0, whole)) + part) * CELL_COUNT
    code = choose([(usable, part * CELL_COUNT + nw.col("cell").cast(whole))], flawed)
    return located(logs.predictions, odds_factor).with_columns(
        score_code=code, offset=nw.col("offset").cast(nw.Int32)
    )


def _with_outcome_code(rows: Frame) -> Frame:
    """Add `outcome_code`: 0, 1, or 2 for any other outcome; null where there is none."""
    outcome = nw.col("outcome")
    cases = [
        (nw.col("observed").is_null(), nw.lit(None, nw.Int8)),
        (outcome == 0, nw.lit(0, nw.Int8)),
        (outcome == 1, nw.lit(1, nw.Int8)),
    ]
    return rows.with_columns(outcome_code=choose(cases, nw.lit(UNUSABLE, nw.Int8)))


def _whole(part_count: int) -> Any:
    """Return the smallest type of whole numbers that holds every key."""
    largest = (max(Status) + 1) * part_count * CELL_COUNT * OUTCOMES
    return nw.Int32 if largest <= LARGEST_INT32 else nw.Int64


def _join(logs: Logs, part_count: int, *, absent_is_negative: bool) -> Frame:
    """Join predictions and outcomes, and give every row its status."""
    met = logs.predictions if logs.joined else _meet(logs, part_count)
    met = _first_choices(met) if logs.classes else met
    met = _with_outcome_code(met) if logs.joined or logs.classes else met
    if not absent_is_negative:
        return met.with_columns(status=_status(Status.UNLABELLED, logs, part_count))
    outcome = choose([(nw.col("outcome_code").is_null(), nw.lit(0))], nw.col("outcome"))
    return met.with_columns(status=_status(Status.MATCHED, logs, part_count), outcome=outcome)


def _first_choices(met: Frame) -> Frame:
    """Keep the class that came true as `label`; the outcome is whether the first choice was it."""
    label = nw.col("outcome")
    right = choose(
        [
            (label.is_null(), nw.lit(None, nw.Int64)),
            (label < 0, nw.lit(UNUSABLE, nw.Int64)),
            (label == nw.col("best"), nw.lit(1, nw.Int64)),
        ],
        nw.lit(0, nw.Int64),
    )
    return met.with_columns(label=label, outcome=right)


def _meet(logs: Logs, part_count: int) -> Frame:
    """Join the rows with the same id; those of many days only within the horizon of the day.

    Narwhals joins on equal columns alone, so each engine has its join of many days.
    """
    if logs.horizon is None:
        return logs.predictions.join(logs.outcomes, left_on="id", right_on="outcome_id", how="full")
    of_spark = logs.predictions.implementation.is_spark_like()
    join = meet if of_spark else _meet_in_duckdb
    met: Frame = nw.from_native(
        join(logs.predictions.to_native(), logs.outcomes.to_native(), logs.horizon)
    ).lazy()
    # Most predictions of other days have no outcome here, and nothing asks for them.
    code = nw.col("score_code")
    return met.filter(code.is_null() | _is_chosen(part_count) | ~nw.col("outcome_code").is_null())


def _is_chosen(part_count: int) -> nw.Expr:
    return nw.col("score_code") < int(Status.NOT_CHOSEN) * part_count * CELL_COUNT


def _meet_in_duckdb(predictions: Any, outcomes: Any, horizon: int) -> Any:
    in_time = "partition = day"
    if horizon:
        in_time = f"partition >= day AND partition <= day + {horizon}"
    return predictions.set_alias("predictions").join(
        outcomes.set_alias("outcomes"), f"id = outcome_id AND {in_time}", how="outer"
    )


def _key(joined: Frame, part_count: int, logs: Logs) -> Frame:
    """Give every row the key of status, part, cell and outcome; codes of columns stay beside it."""
    whole = _whole(part_count)
    code, status = nw.col("score_code"), nw.col("status").cast(whole)
    limit, outcome = part_count * CELL_COUNT, nw.col("outcome_code")
    # An outcome alone counts on the day on which it was logged.
    alone = status * limit
    alone = alone if logs.horizon is None else alone + nw.col("own_part").cast(whole) * CELL_COUNT
    seen = choose([(outcome.is_null(), nw.lit(NO_OUTCOME))], nw.lit(WITH_OUTCOME))
    rare = choose([(code < limit, status * limit + code), (~code.is_null(), code)], alone)
    usual = (nw.col("status") == int(Status.MATCHED)) & ~outcome.is_null()
    key = choose([(usual, code * OUTCOMES + WITH_OUTCOME + outcome)], rare * OUTCOMES + seen)
    lone = outcome.is_null() & _is_chosen(part_count)
    return joined.select(
        *logs.codes,
        key=key,
        lone_id=nw.when(lone).then(nw.col("id")),
        lone_place=-1 - nw.col("day") if logs.horizon is not None else nw.lit(-1),
        offsets=nw.col("offset"),
    )


def group(keyed: Frame) -> Frame:
    """Group rows of the same status, part and cell, and those with and without an outcome."""
    # Two predictions with the same id may have different keys. Which key remains does not
    # matter, because without_repeats leaves both out.
    lone = ~nw.col("lone_id").is_null()
    by_id = (
        keyed.with_columns(place=choose([(lone, nw.col("lone_place"))], nw.col("key")))
        .group_by("place", "lone_id")
        .agg(nw.len().alias("rows"), nw.col("offsets").sum(), nw.col("key").min())
    )
    repeated, zero = lone & (nw.col("rows") > 1), nw.lit(0)
    return (
        by_id.with_columns(
            repeats=choose([(repeated, nw.col("rows"))], zero),
            positives=choose([(nw.col("key") % 2 == 1, nw.col("rows"))], zero),
            key=nw.col("key") // 2,
        )
        .group_by("key")
        .agg(*(nw.col(name).sum() for name in ("rows", "repeats", "positives", "offsets")))
        .sort("key")
    )


def run(query: Query) -> Groups:
    """Run the query and unpack its groups."""
    return unpack(query.grouped.collect(backend="pyarrow").to_native(), query.part_count)


def read_counts(frame: Frame) -> tuple[int, ...]:
    """Run a query that returns one row of counts; a null, the sum of no rows, counts as 0."""
    return tuple(int(count or 0) for count in frame.collect(backend="pyarrow").row(0))


def _count(logs: Logs) -> Frame:
    """Count the rows of both logs, which Parquet stores in its metadata."""
    predictions, outcomes = (
        frame.select(nw.len().alias(name))
        for name, frame in (("predictions", logs.predictions), ("outcomes", logs.outcomes))
    )
    return predictions.join(outcomes, how="cross")


def repeated_ids(frame: Frame, column: str, *among: str) -> Frame:
    """List the ids that occur more than once in a log, or among equal rows, with their number."""
    known = frame.filter(~nw.col(column).is_null())
    return known.group_by(column, *among).agg(nw.len().alias("rows")).filter(nw.col("rows") > 1)


def merge_predictions(predictions: Frame) -> Frame:
    """Make one row of the identical predictions of each id; rows without an id stay."""
    columns = predictions.collect_schema().names()
    known = predictions.filter(~nw.col("id").is_null()).group_by(*columns).agg(nw.len().alias("n"))
    nameless = predictions.filter(nw.col("id").is_null())
    return nw.concat([known.select(*columns), nameless.select(*columns)], how="vertical")


def merge_outcomes(logs: Logs) -> Frame:
    """Make one row of each outcome id: least and greatest outcome, nulls, and earliest time.

    If the latest outcome counts, only rows with the latest time of their id are merged.
    """
    outcomes = logs.outcomes
    if logs.latest:
        newest = nw.col("observed_at").max().over("outcome_id")
        outcomes = outcomes.with_columns(newest=newest).filter(
            (nw.col("observed_at") == nw.col("newest")) | nw.col("newest").is_null()
        )
    times = [nw.col("observed_at").min()] if logs.timed else []
    said = [nw.col("said").min()] if logs.said else []
    weights = [nw.col("weight").min()] if logs.outcomes_weighted else []
    return outcomes.group_by("outcome_id").agg(
        nw.col("outcome").min().alias("outcome"),
        nw.col("outcome").max().alias("greatest"),
        nw.col("outcome").null_count().alias("nulls"),
        nw.len().alias("rows"),
        *times,
        *said,
        *weights,
    )


def _status(unobserved: Status, logs: Logs, part_count: int) -> nw.Expr:
    """Write the status of a row, given that of a valid prediction without an outcome."""
    code, outcome, limit = nw.col("score_code"), nw.col("outcome_code"), part_count * CELL_COUNT
    usual = (code < limit) & (outcome < UNUSABLE)
    if logs.timed:
        usual &= nw.col("observed_at") >= nw.col("scored_at")
    cases = [
        (usual, Status.MATCHED),  # first, because the others are then looked at for few rows
        (code.is_null() & nw.col("outcome_id").is_null(), Status.OUTCOME_ID_MISSING),
        (code.is_null(), Status.UNMATCHED_OUTCOME),
        *((code >= int(flaw) * limit, flaw) for flaw in FLAWS),
        (outcome.is_null(), unobserved),
        (outcome == UNUSABLE, Status.OUTCOME_INVALID),
    ]
    if logs.timed:
        cases.append((nw.col("observed_at") < nw.col("scored_at"), Status.OUTCOME_EARLY))
    return choose(
        [(condition, nw.lit(int(status))) for condition, status in cases],
        nw.lit(int(Status.MATCHED)),
    )


def located(predictions: Frame, odds_factor: float) -> Frame:
    """Add `cell` and `offset`: `monitor.metrics.core.grid.locate` as a query.

    The odds of every score are first multiplied by a factor.

    Each step has a name, because an expression that is used twice is written twice into the
    query; nested five times, that would be thirty-two copies.
    """
    position, cell = nw.col("position"), nw.col("cell")
    odds = nw.col("bounded") / (1.0 - nw.col("bounded"))
    return (
        predictions.with_columns(bounded=_between("score", LOWEST_SCORE, HIGHEST_SCORE))
        .with_columns(odds=odds if odds_factor == 1.0 else odds * odds_factor)
        .with_columns(position=((nw.col("odds").log() + LOGIT_LIMIT) * POSITIONS_PER_LOGIT).floor())
        .with_columns(position=_between("position", 0.0, float(LAST_POSITION)))
        .with_columns(cell=(position / OFFSETS_PER_CELL).floor())
        .with_columns(offset=position - cell * OFFSETS_PER_CELL)
    )


def _between(name: str, lowest: float, highest: float) -> nw.Expr:
    """Bound a number; DuckDB takes a third of the time of `clip` if few rows are beyond."""
    value = nw.col(name)
    cases = [(value < lowest, nw.lit(lowest)), (value > highest, nw.lit(highest))]
    return choose(cases, value)


def unpack(table: pa.Table, part_count: int) -> Groups:
    """Unpack the keys of groups."""
    columns = {name: table[name].cast(pa.int64()).to_numpy() for name in table.column_names}
    key, with_outcome = np.divmod(columns["key"], 2)
    key, cells = np.divmod(key, CELL_COUNT)
    statuses, parts = np.divmod(key, part_count)
    return Groups(
        statuses=statuses,
        with_outcome=with_outcome,
        parts=parts,
        cells=cells,
        counts=columns["rows"],
        positives=columns["positives"],
        offset_sums=np.where(statuses == Status.MATCHED, columns["offsets"], 0),
        repeats=columns["repeats"],
    )
