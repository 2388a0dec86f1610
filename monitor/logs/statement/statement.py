"""The one statement: join predictions to outcomes, give each row a status and a cell, and count.

It is one SQL text of named steps, for one day and for many, which each task of Spark runs over its
share of the rows. What a row is, is an ordered list of conditions: the first that is true counts.
Capabilities that a model does not use add no column, and so no condition.

How the statement proves that no id is repeated. A full join returns every row of both logs at least
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

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from monitor.logs.checks.checks import ROW_CHECKS, Groups, Status, checks_of
from monitor.logs.columns.canonical import Logs
from monitor.logs.engines.steps import LOGARITHM, Cases, Steps, as_double, first_true
from monitor.logs.sources.times import BEYOND
from monitor.logs.statement.weights import Totals, totals_of
from monitor.metrics.core.buckets import BUCKETS
from monitor.metrics.core.grid import (
    CELL_COUNT,
    HIGHEST_SCORE,
    LAST_POSITION,
    LOGIT_LIMIT,
    LOWEST_SCORE,
    OFFSETS_PER_CELL,
    POSITIONS_PER_LOGIT,
)

# The last part of a key: without an outcome, or with one, and if it is positive.
NO_OUTCOME, WITH_OUTCOME, POSITIVE, OUTCOMES = 0, 2, 3, 4
UNUSABLE, UNKNOWN_CLASS = 4, 2  # the least code of another outcome; the outcome of an unknown class
# The codes of outcomes that break a check.
OF_OUTCOMES = [check.status for check in ROW_CHECKS if check.of == "outcome"]
CODES = {status: code for code, status in enumerate(OF_OUTCOMES, UNUSABLE)}
LARGEST_INT32 = 2**31 - 1
# In the middle of the first position, so that rounding cannot make it the one before.
LOWEST = LOWEST_SCORE * (1 + 0.5 / POSITIONS_PER_LOGIT)
OFFSET_BITS = OFFSETS_PER_CELL.bit_length() - 1

OF_GROUPS = "counted", "repeats", "positives", "offsets"
SIDES = 0, 1  # the values of an outcome


@dataclass(frozen=True)
class Keys:
    """How the keys of a statement are made.

    Attributes
    ----------
    part_count : int
        Number of the parts of a status: the model's segments, times its strata, times the buckets.
    buckets : int
        Number of buckets that entities are in; 1 without entities.
    """

    part_count: int
    buckets: int = 1

    @property
    def limit(self) -> int:
        """How many keys a status has."""
        return self.part_count * CELL_COUNT * OUTCOMES

    @property
    def whole(self) -> str:
        """The smallest type of whole numbers that holds every key."""
        return "INTEGER" if (max(Status) + 1) * self.limit <= LARGEST_INT32 else "BIGINT"


@dataclass(frozen=True, eq=False)
class Query:
    """The statement over two logs, not run.

    Attributes
    ----------
    logs : Logs
        What it reads.
    steps : sequence of tuple of (str, str)
        Its steps up to `rows_of_day`, which has the columns `key` and `status`.
    keys : Keys
        How keys are made.
    """

    logs: Logs
    steps: Steps
    keys: Keys

    @property
    def rows(self) -> Logs:
        """The logs with the rows of their full join, `rows_of_day`."""
        return self.logs.also(self.steps)

    @property
    def totals(self) -> Totals:
        """What is added up of the weights of rows, if they have any."""
        return totals_of(self.logs.columns) if "weight" in self.logs.columns else {}

    @property
    def slim(self) -> str:
        """Take what is grouped: keys, ids without an outcome, what is added up, codes."""
        chosen = f"score_code < {int(Status.NOT_CHOSEN) * self.keys.limit}"
        place = "0" if self.logs.horizon is None else "day"
        codes = "".join(f"{code}, " for code in self.logs.codes)
        weights = "".join(f", {of_row} AS {name}" for name, (of_row, _) in self.totals.items())
        return (
            f"SELECT {codes}key, CASE WHEN outcome_code IS NULL AND {chosen} THEN id END "
            f"AS lone_id, -1 - {place} AS lone_place, offsets{weights} FROM rows_of_day"
        )


def write(
    logs: Logs, part_count: int, *, absent_is_negative: bool = False, odds_factor: float = 1.0
) -> Query:
    """Build the statement.

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
    buckets = BUCKETS if "entity" in logs.columns else 1
    keys = Keys(part_count * buckets, buckets)
    unobserved = Status.MATCHED if absent_is_negative else Status.UNLABELLED
    steps = [
        *located(logs.predictions, odds_factor),
        ("scores", f"SELECT *, {_score_code(logs, keys)} AS score_code FROM located"),
        *_meet(logs, keys),
        ("keyed", f"SELECT *, {_key(unobserved, logs, keys)} AS key FROM met"),
        (
            "stated",
            f"SELECT *, CAST(floor(key / {keys.limit}) AS INTEGER) AS status FROM keyed",
        ),
        (
            "rows_of_day",
            "SELECT * EXCLUDE (outcome), "
            "CASE WHEN outcome_code IS NULL THEN 0 ELSE outcome END AS outcome FROM stated"
            if absent_is_negative
            else "SELECT * FROM stated",
        ),
    ]
    return Query(logs, steps, keys)


def run(query: Query) -> Groups:
    """Run the statement and unpack its groups."""
    steps = [("slim", query.slim), *groups_of("slim", query.totals)]
    table = query.rows.fetch("SELECT * FROM grouped", steps, together(query.totals))
    return unpack(table, query)


def unpack(table: pa.Table, query: Query) -> Groups:
    """Unpack the keys of groups."""
    keys = query.keys
    columns = {name: table[name].cast(pa.int64()).to_numpy() for name in ("pair", *OF_GROUPS)}
    key, with_outcome = np.divmod(columns["pair"] // 2, 2)
    key, cells = np.divmod(key, CELL_COUNT)
    statuses, part_and_bucket = np.divmod(key, keys.part_count)
    parts, buckets = np.divmod(part_and_bucket, keys.buckets)
    return Groups(
        statuses=statuses,
        with_outcome=with_outcome,
        parts=parts,
        cells=cells,
        counts=columns["counted"],
        positives=columns["positives"],
        offset_sums=np.where(statuses == Status.MATCHED, columns["offsets"], 0),
        repeats=columns["repeats"],
        buckets=buckets,
        totals={
            name: [table[f"{name}_{side}"].to_numpy() for side in SIDES] for name in query.totals
        },
    )


def located(rows: str, odds_factor: float = 1.0) -> Steps:
    """Add `cell` and `offsets`, the place in it: `monitor.metrics.core.grid.locate` in SQL.

    The odds of every score are first multiplied by a factor. `inside` says whether a score is well
    within the grid, and so valid.
    """
    lowest, highest = as_double(LOWEST), as_double(HIGHEST_SCORE)
    # Statistics of Parquet leave out NaN, and DuckDB concludes from them that all lie in [0, 1].
    inside = f"NOT isnan(score) AND score >= {lowest} AND score <= {highest}"
    bounded = f"WHEN inside THEN score WHEN score > {highest} THEN {highest} ELSE {lowest}"
    factor = "" if odds_factor == 1.0 else f" * {as_double(odds_factor)}"
    logit = f"{LOGARITHM.format('odds')} + {as_double(LOGIT_LIMIT)}"
    position = f"floor(({logit}) * {as_double(POSITIONS_PER_LOGIT)})"
    if factor:
        position = f"least(greatest({position}, 0), {LAST_POSITION})"
    # Casts of integers cost less than those of floating-point numbers.
    cell = f"CAST(spot >> {OFFSET_BITS} AS INTEGER) AS cell"
    offsets = f"CAST(spot & {OFFSETS_PER_CELL - 1} AS INTEGER) AS offsets"
    return [
        ("checked", f"SELECT *, {inside} AS inside FROM {rows}"),
        ("bounded", f"SELECT *, CASE {bounded} END AS bounded FROM checked"),
        ("in_odds", f"SELECT *, bounded / (1e0 - bounded){factor} AS odds FROM bounded"),
        ("spotted", f"SELECT *, CAST({position} AS BIGINT) AS spot FROM in_odds"),
        ("located", f"SELECT *, {cell}, {offsets} FROM spotted"),
    ]


def _outcome_cases(logs: Logs) -> Cases:
    """List what an outcome may be, with its code: that of no outcome is null."""
    unusable = [
        (condition, f"{CODES[status]}")
        for status, condition in checks_of(logs.columns, "outcome")
        if status != Status.OUTCOME_INVALID  # what remains
    ]
    # Beside its prediction, any other outcome with a time beyond all days is awaited.
    awaited = [(f"undated = {BEYOND}", "NULL")] * (logs.joined and "undated" in logs.columns)
    usual = [("outcome = 0", f"{WITH_OUTCOME}"), ("outcome = 1", f"{POSITIVE}")]
    return [("observed IS NULL", "NULL"), *unusable, *awaited, *usual]


def _score_code(logs: Logs, keys: Keys) -> str:
    """Write the key of a matched row less its outcome, or that of a flaw."""
    checks = [(Status.NOT_CHOSEN, "predicted = 0")] * (logs.horizon is not None)
    checks += checks_of(logs.columns, "prediction")
    of_score = Status.SCORE_MISSING, Status.SCORE_OUT_OF_RANGE
    usual = ["inside", *(f"NOT ({flaw})" for status, flaw in checks if status not in of_score)]
    place = _whole("part", keys)
    if "entity" in logs.columns:
        # Rows without an entity are spread by the last digits of the score. So they count as
        # independent, and the bucket rests neither on their order nor on their number.
        by_score = f"floor(offsets * {as_double(BUCKETS / OFFSETS_PER_CELL)})"
        bucket = f"CASE WHEN entity IS NULL THEN {by_score} ELSE entity END"
        place = f"({place} * {BUCKETS} + {_whole(bucket, keys)})"
    part = f"{place} * {CELL_COUNT * OUTCOMES}"
    valid = f"{part} + {_whole('cell', keys)} * {OUTCOMES}"
    flaws = [(flaw, f"{part} + {int(status) * keys.limit}") for status, flaw in checks]
    return _whole(first_true([(" AND ".join(usual), valid), *flaws], valid), keys)


def _outcome_code(logs: Logs) -> str:
    """Write the code of an outcome; null where there is none."""
    invalid = f"{CODES[Status.OUTCOME_INVALID]}"
    return f"CAST({first_true(_outcome_cases(logs), invalid)} AS TINYINT) AS outcome_code"


def _meet(logs: Logs, keys: Keys) -> Steps:
    """Join the rows with the same id; those of many days only within the horizon of the day."""
    code = _outcome_code(logs)
    steps = list[tuple[str, str]]()
    if not logs.joined:
        same = "id = outcome_id"
        if logs.horizon is not None:
            most = f"day + {logs.horizon}"
            in_time = f"partition >= day AND partition <= {most}"
            same += f" AND {in_time if logs.horizon else 'partition = day'}"
        columns = "SELECT *" if logs.is_coded_late else f"SELECT *, {code}"
        steps = [
            ("coded", f"{columns} FROM {logs.outcomes}"),
            ("paired", f"SELECT * FROM scores FULL OUTER JOIN coded ON {same}"),
        ]
    last = steps[-1][0] if steps else "scores"
    if "vector" in logs.columns:
        steps.append(("choices", _first_choices(last)))
        last = "choices"
    met = f"SELECT *, {code} FROM {last}" if logs.is_coded_late else f"SELECT * FROM {last}"
    if logs.horizon is not None:
        # Most predictions of other days have no outcome here, and nothing asks for them.
        chosen = f"score_code < {int(Status.NOT_CHOSEN) * keys.limit}"
        met += f" WHERE score_code IS NULL OR {chosen} OR outcome_code IS NOT NULL"
    return [*steps, ("met", met)]


def _first_choices(rows: str) -> str:
    """Keep the class that came true as `label`; the outcome is whether the first choice was it."""
    cases = [
        ("outcome IS NULL", "NULL"),
        ("outcome < 0", f"{UNKNOWN_CLASS}"),
        ("outcome = best", "1"),
    ]
    right = f"CAST({first_true(cases, '0')} AS BIGINT)"
    return f"SELECT * EXCLUDE (outcome), outcome AS label, {right} AS outcome FROM {rows}"


def _key(unobserved: Status, logs: Logs, keys: Keys) -> str:
    """Write the key of a row: its status, part, cell and outcome.

    A valid prediction without an outcome has the status `unobserved`.
    """
    seen = f"CASE WHEN outcome_code IS NULL THEN {NO_OUTCOME} ELSE {WITH_OUTCOME} END"

    def of(status: Status) -> int:
        return int(status) * keys.limit

    nameless = f"outcome_id IS NULL THEN {of(Status.OUTCOME_ID_MISSING)}"
    alone = f"CASE WHEN {nameless} ELSE {of(Status.UNMATCHED_OUTCOME)} END + {WITH_OUTCOME}"
    if logs.horizon is not None:  # an outcome alone counts on the day on which it was logged
        alone += f" + {_whole('own_part', keys)} * {keys.buckets * CELL_COUNT * OUTCOMES}"
    usual = [f"score_code < {keys.limit}", f"outcome_code < {UNUSABLE}"]
    both = checks_of(logs.columns, "both")
    usual += [f"NOT ({flaw})" for _, flaw in both] + ["acted = 0"] * ("acted" in logs.columns)
    acted = f"acted = 1 AND score_code < {keys.limit}"
    cases = [
        (" AND ".join(usual), "score_code + outcome_code"),
        *[(acted, f"score_code + {of(Status.ACTED_ON)} + {seen}")] * ("acted" in logs.columns),
        ("score_code IS NULL", alone),
        (f"score_code >= {keys.limit}", f"score_code + {seen}"),
        ("outcome_code IS NULL", f"score_code + {of(unobserved) + NO_OUTCOME}"),
    ]
    flawed = [(s, f"outcome_code = {CODES[s]}") for s, _ in checks_of(logs.columns, "outcome")]
    cases += [
        (flaw, f"score_code + {of(status) + WITH_OUTCOME}") for status, flaw in (*flawed, *both)
    ]
    return _whole(first_true(cases, "score_code + outcome_code"), keys)


def groups_of(rows: str, totals: Totals) -> Steps:
    """Group rows of the same status, part and cell, and those with and without an outcome.

    The weights of rows with outcome 0 and with outcome 1 are added up separately.
    """
    # Two predictions with the same id may have different keys. Which key remains does not
    # matter, because without_repeats leaves both out.
    place = "CASE WHEN lone_id IS NULL THEN key ELSE lone_place END"
    weights = "".join(f", {how}({name}) AS {name}" for name, (_, how) in totals.items())
    by_id = (
        f"SELECT {place} AS place, lone_id, count(*) AS counted, sum(offsets) AS offsets, "
        f"min(key) AS key{weights} FROM {rows} GROUP BY {place}, lone_id"
    )
    twice = "lone_id IS NOT NULL AND counted > 1"
    of_sides = "".join(
        f", {_typed(f'{how}(CASE WHEN key % 2 = {side} THEN {name} END)', how)} AS {name}_{side}"
        for name, (_, how) in totals.items()
        for side in SIDES
    )
    grouped = (
        "SELECT key - key % 2 AS pair, CAST(sum(counted) AS BIGINT) AS counted, "
        f"CAST(sum(CASE WHEN {twice} THEN counted ELSE 0 END) AS BIGINT) AS repeats, "
        "CAST(sum(CASE WHEN key % 2 = 1 THEN counted ELSE 0 END) AS BIGINT) AS positives, "
        f"{_typed('sum(offsets)', 'sum')} AS offsets{of_sides} "
        "FROM by_id GROUP BY key - key % 2"
    )
    return [("by_id", by_id), ("grouped", grouped)]


def together(totals: Totals) -> str:
    """Write the query that adds up the groups of all shares."""
    added = [*((name, "sum") for name in OF_GROUPS)]
    added += [(f"{name}_{side}", how) for name, (_, how) in totals.items() for side in SIDES]
    values = ", ".join(f"{_typed(f'{how}({name})', how)} AS {name}" for name, how in added)
    return f"SELECT pair, {values} FROM shares GROUP BY pair ORDER BY pair"


def _typed(total: str, how: str) -> str:
    return f"CAST(coalesce({total}, 0) AS BIGINT)" if how == "sum" else total


def _whole(value: str, keys: Keys) -> str:
    return f"CAST({value} AS {keys.whole})"
