"""The one query: join predictions to outcomes, give rows a status and a cell, and group them.

Written once in Narwhals, so DuckDB, Polars, PyArrow or Spark can run it.

How the query proves that no id is repeated. A full join returns every row of both logs at least
once. If it returns as many rows with a prediction as there are predictions, no prediction matched
two outcomes; likewise for outcomes. So comparing two sums with two row counts settles all matched
ids without a second pass. A prediction without an outcome is also grouped by its id. Only if a
proof fails are the ids counted one by one.

What the join carries is what it costs. So all that one log alone can say of a row becomes one small
number before the join: `score_code` holds what is wrong with a prediction, its part and its cell;
`outcome_code` holds the outcome. For most rows the sum of both is the key of its group. Other
columns are only carried where a query shows examples. Of every choice the usual case comes first,
because an engine looks at the other cases only for the other rows.
"""

import math
from dataclasses import dataclass, fields, replace
from enum import IntEnum
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pyarrow as pa

from monitor.logs.rows import choose
from monitor.logs.session import Frame
from monitor.logs.sources import Logs
from monitor.logs.spark_days import meet
from monitor.logs.times import BEYOND, NO_TIME
from monitor.metrics.core.buckets import BUCKETS
from monitor.metrics.core.grid import (
    CELL_COUNT,
    END_TOLERANCE,
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
    ACTED_ON = 11  # a prediction whose outcome is not the one that was predicted
    OUTCOME_TIME_MISSING = 12  # an outcome of 0 that was never observed
    OUTCOME_TIME_IMPOSSIBLE = 13


# Predictions with a valid score. All but the first still need a usable outcome.
IN_PREDICTED = (
    Status.MATCHED,
    Status.UNLABELLED,
    Status.OUTCOME_INVALID,
    Status.OUTCOME_EARLY,
    Status.OUTCOME_TIME_MISSING,
    Status.OUTCOME_TIME_IMPOSSIBLE,
    Status.ACTED_ON,
)
# The last part of a key: without an outcome, or with one, and if it is positive.
NO_OUTCOME, WITH_OUTCOME, POSITIVE, OUTCOMES = 0, 2, 3, 4
# The codes of outcomes: 0 and 1 are that part of a key.
CODES = {0: WITH_OUTCOME, 1: POSITIVE}
UNUSABLE, UNKNOWN_CLASS = 4, 2  # the code of another outcome, and the outcome of an unknown class
# The codes of outcomes of 0 that nobody observed.
NOT_OBSERVED = {5: Status.OUTCOME_TIME_MISSING, 6: Status.OUTCOME_TIME_IMPOSSIBLE}
LARGEST_INT32 = 2**31 - 1
# In the middle of the first position, so that rounding cannot make it the one before.
LOWEST = LOWEST_SCORE * (1 + 0.5 / POSITIONS_PER_LOGIT)
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
    joined : LazyFrame
        The full join of predictions and outcomes, each row with its `status`.
    keyed : LazyFrame
        Those rows with a `key` for status, part, cell and outcome, and what is added up.
    grouped : LazyFrame
        Those rows in groups.
    part_count : int
        Number of the parts that a key tells apart: the model's segments, times its strata, times
        the buckets.
    buckets : int
        Number of buckets that entities are in; 1 without entities.
    """

    joined: Frame
    keyed: Frame
    grouped: Frame
    part_count: int
    buckets: int = 1


@dataclass(frozen=True, eq=False)
class Groups:
    """The result of the query: rows of the join in groups, every array of shape (g,).

    Attributes
    ----------
    statuses, with_outcome, parts, cells : ndarray
        The keys: the status, 1 if the row has an outcome else 0, the index of segment and
        stratum, and the cell (0 for rows without a valid score).
    buckets : ndarray
        One more key of a model with `entity`: the bucket; else 0.
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
    buckets: Ints

    @property
    def prediction_rows(self) -> int:
        """Rows of the join that have a prediction."""
        return int(self.counts[~np.isin(self.statuses, WITHOUT_PREDICTION)].sum())

    @property
    def predicted_rows(self) -> int:
        """Rows with a valid prediction."""
        return int(self.counts[np.isin(self.statuses, IN_PREDICTED)].sum())

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
    def unmatched_rows(self) -> int:
        """Rows of the join whose outcome has no prediction, or no id."""
        alone = (Status.UNMATCHED_OUTCOME, Status.OUTCOME_ID_MISSING)
        return int(self.counts[np.isin(self.statuses, alone)].sum())

    @property
    def met_rows(self) -> int:
        """Rows of the join that have both."""
        met = (self.with_outcome == 1) & ~np.isin(self.statuses, WITHOUT_PREDICTION)
        return int(self.counts[met].sum())

    def of_place(self, place: int, part_count: int) -> "Groups":
        """Take the groups of one day out of those of many."""
        rows = self.parts // part_count == place
        taken = {array.name: getattr(self, array.name)[rows] for array in fields(self)}
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
    buckets = BUCKETS if logs.entity else 1
    part_count *= buckets
    coded = _coded(logs, part_count, odds_factor)
    joined = _join(coded, part_count, absent_is_negative=absent_is_negative)
    keyed = _slim(joined, part_count, coded)
    return Query(joined, keyed, group(keyed), part_count, buckets)


def _coded(logs: Logs, part_count: int, odds_factor: float) -> Logs:
    """Give the rows of each log their code, as far as they can have one before the join."""
    predictions = _with_score_code(logs, part_count, odds_factor)
    outcomes = logs.outcomes if logs.is_coded_late else _with_outcome_code(logs.outcomes, logs)
    return replace(logs, predictions=predictions, outcomes=outcomes)


def _with_score_code(logs: Logs, part_count: int, odds_factor: float) -> Frame:
    """Add `score_code`, the key of a matched row less its outcome, or of a flaw; and `offset`."""
    score, limit, whole = nw.col("score"), _limit(part_count), _whole(part_count)
    usual, cases = nw.col("inside"), list[tuple[nw.Expr, Status]]()
    if logs.horizon is not None:
        usual &= nw.col("predicted") == 1
        cases.append((nw.col("predicted") == 0, Status.NOT_CHOSEN))
    if not logs.joined:  # there no row needs an id
        usual &= ~nw.col("id").is_null()
        cases.append((nw.col("id").is_null(), Status.PREDICTION_ID_MISSING))
    cases += [
        (score.is_null() | score.is_nan(), Status.SCORE_MISSING),
        ((score < -END_TOLERANCE) | (score > 1.0 + END_TOLERANCE), Status.SCORE_OUT_OF_RANGE),
    ]
    if logs.classes:
        usual &= nw.col("off") == 0
        cases.append((nw.col("off") == 1, Status.SCORE_SUM))
    place = nw.col("part").cast(whole)
    place = place * BUCKETS + _bucket().cast(whole) if logs.entity else place
    part = place * (CELL_COUNT * OUTCOMES)
    valid = part + nw.col("cell").cast(whole) * OUTCOMES
    flaws = [(case, part + nw.lit(int(flaw) * limit, whole)) for case, flaw in cases]
    return located(logs.predictions, odds_factor).with_columns(
        score_code=choose([(usual, valid), *flaws], valid), offset=nw.col("offset").cast(nw.Int32)
    )


def _bucket() -> nw.Expr:
    """Give the bucket of the entity; rows without one are spread by the last digits of the score.

    So they count as independent, and the bucket rests neither on their order nor on their number.
    """
    by_score = (nw.col("offset") * (BUCKETS / OFFSETS_PER_CELL)).floor().cast(nw.Int32)
    return choose([(nw.col("entity").is_null(), by_score)], nw.col("entity").cast(nw.Int32))


def _with_outcome_code(rows: Frame, logs: Logs) -> Frame:
    """Add `outcome_code`; null where there is no outcome."""
    cases = [
        (nw.col("observed").is_null(), nw.lit(None, nw.Int8)),
        *_not_observed(joined=logs.joined) * logs.undated,
        *((nw.col("outcome") == value, nw.lit(code, nw.Int8)) for value, code in CODES.items()),
    ]
    return rows.with_columns(outcome_code=choose(cases, nw.lit(UNUSABLE, nw.Int8)))


def _not_observed(*, joined: bool) -> list[tuple[nw.Expr, nw.Expr]]:
    """Tell outcomes of 0 without a possible time from those that were observed.

    Beside its prediction, any other outcome with a time beyond all days is one that is awaited.
    """
    zero, undated = nw.col("outcome") == 0, nw.col("undated")
    missing, impossible = (nw.lit(code, nw.Int8) for code in NOT_OBSERVED)
    awaited = [(undated == BEYOND, nw.lit(None, nw.Int8))] * joined
    return [
        (zero & (undated == NO_TIME), missing),
        (zero & (undated > NO_TIME), impossible),
        *awaited,
    ]


def _limit(part_count: int) -> int:
    """Return how many keys a status has."""
    return part_count * CELL_COUNT * OUTCOMES


def _whole(part_count: int) -> Any:
    """Return the smallest type of whole numbers that holds every key."""
    return nw.Int32 if (max(Status) + 1) * _limit(part_count) <= LARGEST_INT32 else nw.Int64


def _join(logs: Logs, part_count: int, *, absent_is_negative: bool) -> Frame:
    """Join predictions and outcomes, and give every row its key and its status."""
    met = logs.predictions if logs.joined else _meet(logs, part_count)
    met = _first_choices(met) if logs.classes else met
    met = _with_outcome_code(met, logs) if logs.is_coded_late else met
    unobserved = Status.MATCHED if absent_is_negative else Status.UNLABELLED
    keyed = met.with_columns(key=_key(unobserved, logs, part_count))
    joined = keyed.with_columns(status=_status(part_count))
    if not absent_is_negative:
        return joined
    outcome = choose([(nw.col("outcome_code").is_null(), nw.lit(0))], nw.col("outcome"))
    return joined.with_columns(outcome=outcome)


def _first_choices(met: Frame) -> Frame:
    """Keep the class that came true as `label`; the outcome is whether the first choice was it."""
    label = nw.col("outcome")
    right = choose(
        [
            (label.is_null(), nw.lit(None, nw.Int64)),
            (label < 0, nw.lit(UNKNOWN_CLASS, nw.Int64)),
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
    return nw.col("score_code") < int(Status.NOT_CHOSEN) * _limit(part_count)


def _meet_in_duckdb(predictions: Any, outcomes: Any, horizon: int) -> Any:
    in_time = "partition = day"
    if horizon:
        in_time = f"partition >= day AND partition <= day + {horizon}"
    return predictions.set_alias("predictions").join(
        outcomes.set_alias("outcomes"), f"id = outcome_id AND {in_time}", how="outer"
    )


def _key(unobserved: Status, logs: Logs, part_count: int) -> nw.Expr:
    """Write the key of a row: its status, part, cell and outcome.

    A valid prediction without an outcome has the status `unobserved`.
    """
    code, outcome = nw.col("score_code"), nw.col("outcome_code")
    whole, limit = _whole(part_count), _limit(part_count)

    def of(status: Status) -> nw.Expr:
        return nw.lit(int(status) * limit, whole)

    usual = (code < limit) & (outcome < UNUSABLE)
    early = []
    if logs.timed:
        usual &= nw.col("observed_at") >= nw.col("scored_at")
        is_early = nw.col("observed_at") < nw.col("scored_at")
        early = [(is_early, code + of(Status.OUTCOME_EARLY) + WITH_OUTCOME)]
    acted = list[tuple[nw.Expr, nw.Expr]]()
    seen = choose([(outcome.is_null(), nw.lit(NO_OUTCOME))], nw.lit(WITH_OUTCOME))
    if logs.acted:
        usual &= nw.col("acted") == 0
        acted = [((nw.col("acted") == 1) & (code < limit), code + of(Status.ACTED_ON) + seen)]
    unobserved_ones = [
        (outcome == undated, code + of(status) + WITH_OUTCOME)
        for undated, status in NOT_OBSERVED.items()
        if logs.undated
    ]
    nameless = code.is_null() & nw.col("outcome_id").is_null()
    alone = choose([(nameless, of(Status.OUTCOME_ID_MISSING))], of(Status.UNMATCHED_OUTCOME))
    if logs.horizon is not None:  # an outcome alone counts on the day on which it was logged
        own = nw.col("own_part").cast(whole)
        alone += own * ((BUCKETS if logs.entity else 1) * CELL_COUNT * OUTCOMES)
    return choose(
        [
            (usual, code + outcome),
            *acted,
            (code.is_null(), alone + WITH_OUTCOME),
            (code >= limit, code + seen),
            (outcome.is_null(), code + of(unobserved) + NO_OUTCOME),
            (outcome == UNUSABLE, code + of(Status.OUTCOME_INVALID) + WITH_OUTCOME),
            *unobserved_ones,
            *early,
        ],
        code + outcome,
    )


def _status(part_count: int) -> nw.Expr:
    """Write the status that a key begins with."""
    return (nw.col("key") / _limit(part_count)).floor().cast(nw.Int32)


def _slim(joined: Frame, part_count: int, logs: Logs) -> Frame:
    """Take what is grouped: keys, ids without an outcome, what is added up, codes of columns."""
    lone = nw.col("outcome_code").is_null() & _is_chosen(part_count)
    return joined.select(
        *logs.codes,
        "key",
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
    return unpack(query.grouped.collect(backend="pyarrow").to_native(), query)


def read_counts(frame: Frame) -> tuple[int, ...]:
    """Run a query that returns one row of counts; a null, the sum of no rows, counts as 0."""
    return tuple(int(count or 0) for count in frame.collect(backend="pyarrow").row(0))


def count_rows(logs: Logs) -> Frame:
    """Query the numbers of predictions and of outcomes, which Parquet stores in its metadata."""
    predictions, outcomes = (
        frame.select(nw.len().alias(name))
        for name, frame in (("predictions", logs.predictions), ("outcomes", logs.outcomes))
    )
    return predictions.join(outcomes, how="cross")


def repeated_ids(frame: Frame, column: str, *among: str) -> Frame:
    """List the ids that occur more than once in a log, or among equal rows, with their number."""
    named = frame.filter(~nw.col(column).is_null())
    return named.group_by(column, *among).agg(nw.len().alias("rows")).filter(nw.col("rows") > 1)


def merge_predictions(predictions: Frame) -> Frame:
    """Make one row of the identical predictions of each id; rows without an id stay."""
    columns = predictions.collect_schema().names()
    named = predictions.filter(~nw.col("id").is_null()).group_by(*columns).agg(nw.len().alias("n"))
    nameless = predictions.filter(nw.col("id").is_null())
    return nw.concat([named.select(*columns), nameless.select(*columns)], how="vertical")


def merge_outcomes(logs: Logs) -> Frame:
    """Make one row of each outcome id: least and greatest outcome, nulls, and earliest time.

    If the latest outcome counts, only rows with the latest time of their id are merged. Outcomes
    that were never observed count only where an id has no other.
    """
    outcomes = logs.outcomes
    if logs.undated:
        doubtful = choose(
            [((nw.col("outcome") == 0) & (nw.col("undated") > 0), nw.lit(1))], nw.lit(0)
        )
        outcomes = outcomes.with_columns(doubtful=doubtful)
        least = nw.col("doubtful").min().over("outcome_id")
        outcomes = outcomes.with_columns(least=least).filter(nw.col("doubtful") == nw.col("least"))
    if logs.latest:
        newest = nw.col("observed_at").max().over("outcome_id")
        outcomes = outcomes.with_columns(newest=newest).filter(
            (nw.col("observed_at") == nw.col("newest")) | nw.col("newest").is_null()
        )
    times = [nw.col("observed_at").min()] if logs.timed else []
    times += [nw.col("undated").min()] if logs.undated else []
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


def located(predictions: Frame, odds_factor: float) -> Frame:
    """Add `cell` and `offset`: `monitor.metrics.core.grid.locate` as a query.

    The odds of every score are first multiplied by a factor. `inside` says whether a score is well
    within the grid, and so valid.

    Each step has a name, because an expression that is used twice is written twice into the
    query; nested five times, that would be thirty-two copies.
    """
    score, position, cell = nw.col("score"), nw.col("position"), nw.col("cell")
    odds = nw.col("bounded") / (1.0 - nw.col("bounded"))
    # Statistics of Parquet leave out NaN, and DuckDB concludes from them that all lie in [0, 1].
    inside = ~score.is_nan() & (score >= LOWEST) & (score <= HIGHEST_SCORE)
    ends = choose([(score > HIGHEST_SCORE, nw.lit(HIGHEST_SCORE))], nw.lit(LOWEST))
    rows = (
        predictions.with_columns(inside=inside)
        .with_columns(bounded=choose([(nw.col("inside"), score)], ends))
        .with_columns(odds=odds if odds_factor == 1.0 else odds * odds_factor)
    )
    if odds_factor == 1.0 and rows.implementation.is_duckdb():
        return _located_in_duckdb(rows)
    rows = rows.with_columns(
        position=((nw.col("odds").log() + LOGIT_LIMIT) * POSITIONS_PER_LOGIT).floor()
    )
    if odds_factor != 1.0:
        rows = rows.with_columns(position=position.clip(0.0, float(LAST_POSITION)))
    return rows.with_columns(cell=(position / OFFSETS_PER_CELL).floor()).with_columns(
        offset=position - cell * OFFSETS_PER_CELL
    )


def _located_in_duckdb(rows: Frame) -> Frame:
    """Add `cell` and `offset` to rows with `odds` within the grid, with the bits of an integer.

    It has the same logarithm as Narwhals writes, so the same bits, without its cases of odds of 0
    and below. Casts of integers cost less than those of floating-point numbers.
    """
    logit = f"(log(odds) / log({math.e!r}) + {LOGIT_LIMIT!r})"
    position = f"CAST(floor({logit} * {POSITIONS_PER_LOGIT!r}) AS BIGINT)"
    cell = f"CAST(position >> {OFFSETS_PER_CELL.bit_length() - 1} AS INTEGER)"
    offset = f"CAST(position & {OFFSETS_PER_CELL - 1} AS INTEGER)"
    steps = ({"position": position}, {"cell": cell, "offset": offset})
    native: Any = rows.to_native()
    for step in steps:
        new = (duckdb.SQLExpression(sql).alias(name) for name, sql in step.items())
        native = native.select(duckdb.StarExpression(), *new)
    located: Frame = nw.from_native(native).lazy()
    return located


def unpack(table: pa.Table, query: Query) -> Groups:
    """Unpack the keys of groups."""
    columns = {name: table[name].cast(pa.int64()).to_numpy() for name in table.column_names}
    key, with_outcome = np.divmod(columns["key"], 2)
    key, cells = np.divmod(key, CELL_COUNT)
    statuses, part_and_bucket = np.divmod(key, query.part_count)
    parts, buckets = np.divmod(part_and_bucket, query.buckets)
    return Groups(
        statuses=statuses,
        with_outcome=with_outcome,
        parts=parts,
        cells=cells,
        counts=columns["rows"],
        positives=columns["positives"],
        offset_sums=np.where(statuses == Status.MATCHED, columns["offsets"], 0),
        repeats=columns["repeats"],
        buckets=buckets,
    )
