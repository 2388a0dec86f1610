"""The statement that counts the rows of some days, as a log of counts has them, step by step.

What a row is comes from the same checks as everywhere (`monitor.logs.checks.checks`). A cell is
found with whole numbers in double precision, which all warehouses have alike; only their logarithms
differ, in the last bit.
"""

from monitor.config import LATEST, UNDATED
from monitor.days.settling import Settling
from monitor.logs.checks.checks import IN_PREDICTED, ROW_CHECKS, Status, checks_of
from monitor.logs.engines.steps import Cases, Steps, as_double, first_true
from monitor.logs.sources.times import BEFORE, BEYOND, NO_TIME, OBSERVED
from monitor.logs.statement.contract import outcomes_that_count
from monitor.logs.statement.counts_table import MATCHED, UNLABELLED, VERSION
from monitor.logs.statement.statement import LOWEST
from monitor.logs.warehouse.asked import Asked
from monitor.logs.warehouse.by_id import SEVERAL, alone_once, grouped, paired_once
from monitor.logs.warehouse.dialects import Dialect
from monitor.logs.warehouse.reading import (
    Span,
    ids_before,
    observed,
    parts_of,
    scored,
    select,
)
from monitor.metrics.core.grid import (
    HIGHEST_SCORE,
    LAST_POSITION,
    LOGIT_LIMIT,
    OFFSETS_PER_CELL,
    POSITIONS_PER_LOGIT,
)

NAMES = {check.status: check.name for check in ROW_CHECKS}
FIRST_DAY, LAST_DAY = "'1970-01-02'", f"'{LATEST}'"  # of what can have been observed
PLACED = [MATCHED, UNLABELLED, *(NAMES[status] for status in IN_PREDICTED if status in NAMES)]


def counting(asked: Asked, span: Span) -> str:
    """Write the statement that counts some days.

    Parameters
    ----------
    asked : Asked
        The model.
    span : Span
        The days.

    Raises
    ------
    ConfigError
        If the dialect cannot say a setting of the model.
    """
    among = SEVERAL if asked.dialect.by_id and not asked.joined else None
    steps = [*grouped(asked, span, Settling(asked.model).longest)] if among else []
    steps += [("scored", scored(asked, span, among)), *_paired(asked, span, among)]
    if among:
        once = paired_once(asked, _undated(asked, "observed_at"))
        steps.append(("all_paired", f"  SELECT *\n  FROM paired\n  UNION ALL\n{once}"))
    steps += [("stated", _stated(asked, steps[-1][0])), *_placed(asked)]
    parts = [_counts(asked, span)]
    if not asked.joined:
        steps += _without_prediction(asked, span, among)
        parts.append(_counts_of_outcomes(asked, span))
    written = ",\n".join(f"{name} AS (\n{query}\n)" for name, query in steps)
    ending = f"\n{asked.dialect.ending}" if asked.dialect.ending else ""
    return f"WITH {written}\n" + "\nUNION ALL\n".join(parts) + ending


def _paired(asked: Asked, span: Span, among: str | None) -> Steps:
    """Give each prediction what is known of its outcome; `has_outcome` is 0 where nothing is."""
    if asked.joined:
        return [("paired", _paired_rows(asked, span))]
    keys, rows, steps = ", ".join(asked.keys), "scored", list[tuple[str, str]]()
    if asked.model.predictions.duplicates == "keep_identical":
        rows = "distinct_scored"
        steps.append((rows, _without_identical(asked)))
    times = f"count(*) OVER (PARTITION BY scored_on, {keys}) AS times"
    steps += [
        ("counted", f"  SELECT *, {times}\n  FROM {rows}"),
        ("observed", observed(asked, span, among)),
        *_met(asked, rows),
    ]
    steps.append(("known", _known(asked, steps[-1][0])))
    return [*steps, ("paired", _paired_apart(asked))]


def _without_identical(asked: Asked) -> str:
    """Make one row of the predictions of an id that are equal in all that is read."""
    parts = [name for name, _ in parts_of(asked)]
    names = ", ".join(["scored_on", *asked.keys, "score", *parts, *["scored_at"] * asked.timed])
    has_id = " AND ".join(f"{key} IS NOT NULL" for key in asked.keys)
    return (
        f"  SELECT DISTINCT {names}\n  FROM scored\n  WHERE {has_id}\n"
        f"  UNION ALL\n  SELECT {names}\n  FROM scored\n  WHERE NOT ({has_id})"
    )


def _met(asked: Asked, rows: str) -> Steps:
    """Bring outcomes to the days that they count for, and leave out those that others replace."""
    keys = ", ".join(asked.keys)
    same = " AND ".join(f"s.{key} = o.outcome_{key}" for key in asked.keys)
    last = asked.dialect.after("s.scored_on", asked.model.settled_after)
    columns = [(name, f"s.{name}") for name in ("scored_on", *asked.keys)]
    columns.append(("outcome", "o.outcome"))
    columns += [("observed_at", "o.observed_at")] * asked.keeps_times
    columns += [("undated", _undated(asked, "o.observed_at"))] * asked.undated
    met = select(
        columns,
        f"FROM (SELECT DISTINCT scored_on, {keys} FROM {rows}) AS s\n"
        f"  INNER JOIN observed AS o ON {same}\n"
        f"  WHERE o.seen_on >= s.scored_on AND o.seen_on <= {last}",
    )
    latest = asked.model.outcomes.duplicates == "latest"
    group = f"scored_on, {keys}"
    return [("met", met), *outcomes_that_count("met", group, undated=asked.undated, latest=latest)]


def _known(asked: Asked, rows: str) -> str:
    """Make one row of the outcomes of each prediction; those that differ contradict each other."""
    keys = ", ".join(["scored_on", *asked.keys])
    missing = "count(outcome) > 0 AND count(outcome) < count(*)"
    columns = [
        ("known_on", "scored_on"),
        *((f"known_{key}", key) for key in asked.keys),
        ("known_outcome", "min(outcome)"),
        *[("known_at", "min(observed_at)")] * asked.keeps_times,
        *[("known_undated", "min(undated)")] * asked.undated,
        ("outcomes_of_id", "count(*)"),
        ("differs", f"CASE WHEN min(outcome) <> max(outcome) OR ({missing}) THEN 1 ELSE 0 END"),
    ]
    return select(columns, f"FROM {rows}\n  GROUP BY {keys}")


def _paired_apart(asked: Asked) -> str:
    """Put each prediction beside its outcome."""
    own = ["scored_on", *asked.keys, "score", *(name for name, _ in parts_of(asked)), "times"]
    own += ["scored_at"] * asked.timed
    columns = [(name, f"c.{name}") for name in own]
    columns += [
        ("outcome", "k.known_outcome"),
        *[("observed_at", "k.known_at")] * asked.keeps_times,
        *[("undated", "k.known_undated")] * asked.undated,
        ("has_outcome", "CASE WHEN k.differs = 0 THEN 1 ELSE 0 END"),
    ]
    same = [f"c.{key} = k.known_{key}" for key in asked.keys]
    on = " AND ".join([*same, "c.scored_on = k.known_on"])
    return select(columns, f"FROM counted AS c\n  LEFT JOIN known AS k ON {on}")


def _paired_rows(asked: Asked, span: Span) -> str:
    """Leave out outcomes beside scores that were observed later than is counted."""
    if not asked.keeps_times:
        return "  SELECT *\n  FROM scored"
    undated = f", {_undated(asked, 'observed_at')} AS undated" if asked.undated else ""
    rows = f"  SELECT *, has_outcome AS there{undated}\n  FROM scored"
    columns = ["scored_on", "score", *(name for name, _ in parts_of(asked)), "outcome"]
    columns += ["observed_at", *["scored_at"] * asked.timed, *["undated"] * asked.undated]
    late = f"{asked.as_day('observed_at')} > {_known_until(asked, span)}"
    late += f" AND undated <> {BEYOND}" if asked.undated else ""
    named = [(name, name) for name in columns]
    named.append(("has_outcome", f"CASE WHEN {late} THEN 0 ELSE there END"))
    return select(named, f"FROM (\n{rows}\n  ) AS with_times")


def _undated(asked: Asked, at: str) -> str:
    """Write whether a time is one at which an outcome may have been observed."""
    missing, impossible = (asked.model.checks.of(name) != "accept" for name in UNDATED)
    day = asked.as_day(at)
    cases = [(f"{at} IS NULL", f"{NO_TIME}")] * missing
    if impossible:
        cases += [
            (f"{day} < {asked.as_day(FIRST_DAY)}", f"{BEFORE}"),
            (f"{day} > {asked.as_day(LAST_DAY)}", f"{BEYOND}"),
        ]
    return first_true(cases, f"{OBSERVED}")


def _stated(asked: Asked, rows: str) -> str:
    """Say of each prediction what it is."""
    status = first_true(_cases(asked), _text(MATCHED))
    return f"  SELECT *,\n    {status} AS status\n  FROM {rows}{asked.dialect.fence}"


def _cases(asked: Asked) -> Cases:
    """List what a prediction may be, in the order of the statement of this machine."""
    columns = {*["scored_at", "observed_at"] * asked.timed, *["undated"] * asked.undated}
    columns |= {"outcome_id"} if not asked.joined else set()
    no_id = " OR ".join(f"{key} IS NULL" for key in asked.keys)

    def of(kind: str, *but: Status) -> list[tuple[str, str]]:
        return [
            (_said(asked, condition, no_id), _text(NAMES[status]))
            for status, condition in checks_of(columns, kind)
            if status not in but
        ]

    repeated = [(f"times > 1 AND NOT ({no_id})", _text("prediction_repeated"))]
    invalid = "outcome IS NULL OR outcome NOT IN (0, 1)"
    awaited = [(f"undated = {BEYOND}", _text(UNLABELLED))]
    return [
        *([] if asked.joined else repeated),
        *of("prediction"),
        ("has_outcome = 0", _text(UNLABELLED)),
        *of("outcome", Status.OUTCOME_INVALID),
        *(awaited if asked.joined and asked.undated else []),
        (invalid, _text(NAMES[Status.OUTCOME_INVALID])),
        *of("both"),
    ]


def _said(asked: Asked, condition: str, no_id: str) -> str:
    """Write the condition of a check in the dialect."""
    if condition == "id IS NULL":
        return no_id
    return condition.replace("isnan(score)", asked.dialect.is_nan.format("score"))


def placing(dialect: Dialect, scores: str) -> str:
    """Write the statement that gives each `score` of a query its `cell`, and its `place` there."""
    steps = [("rows_of", scores), *_in_cells(dialect, "rows_of")]
    written = ",\n".join(f"{name} AS (\n{query}\n)" for name, query in steps)
    place = f"spot - cell * {OFFSETS_PER_CELL} AS place"
    ending = f"\n{dialect.ending}" if dialect.ending else ""
    return f"WITH {written}\nSELECT score, cell, {place} FROM in_cells{ending}"


def _in_cells(dialect: Dialect, rows: str) -> Steps:
    """Find the `cell` of each score, and its `spot` among all places of all cells."""
    lowest, highest = as_double(LOWEST), as_double(HIGHEST_SCORE)
    inside = f"score >= {lowest} AND score <= {highest}"
    bounded = first_true([(inside, "score"), (f"score > {highest}", highest)], lowest)
    logit = dialect.logarithm.format("bounded_score / (1e0 - bounded_score)")
    spot = f"floor(({logit} + {as_double(LOGIT_LIMIT)}) * {as_double(POSITIONS_PER_LOGIT)})"
    last = as_double(float(LAST_POSITION))
    within = first_true([("raw_spot < 0e0", "0e0"), (f"raw_spot > {last}", last)], "raw_spot")
    cell = f"floor(spot / {as_double(float(OFFSETS_PER_CELL))})"
    return [
        (
            "bounded",
            f"  SELECT *, CAST({bounded} AS {dialect.real}) AS bounded_score\n  FROM {rows}",
        ),
        ("spotted", f"  SELECT *, CAST({spot} AS {dialect.real}) AS raw_spot\n  FROM bounded"),
        (
            "limited",
            f"  SELECT *, CAST({within} AS {dialect.whole}) AS spot\n  FROM spotted{dialect.fence}",
        ),
        ("in_cells", f"  SELECT *, CAST({cell} AS {dialect.whole}) AS cell\n  FROM limited"),
    ]


def _placed(asked: Asked) -> Steps:
    """Take the cell of each score, and its place in it; other predictions are in no cell."""
    has_place = f"status IN ({', '.join(map(_text, PLACED))})"
    names = ["scored_on", "status", *(name for name, _ in parts_of(asked)), "outcome"]
    own = [
        ("own_cell", f"CASE WHEN {has_place} THEN cell ELSE 0 END"),
        ("place", f"CASE WHEN {has_place} THEN spot - cell * {OFFSETS_PER_CELL} ELSE 0 END"),
    ]
    rows = select([*((name, name) for name in names), *own], "FROM in_cells")
    return [*_in_cells(asked.dialect, "stated"), ("placed", rows)]


def _counts(asked: Asked, span: Span) -> str:
    """Count the predictions of each day, status, part and cell."""
    parts = [name for name, _ in parts_of(asked)]
    positive = f"CASE WHEN status = {_text(MATCHED)} AND outcome = 1 THEN 1 ELSE 0 END"
    by = ", ".join(["scored_on", "status", *parts, "own_cell"])
    counts = "own_cell", "count(*)", f"sum({positive})", "sum(place)"
    return _columns(asked, span, counts, f"FROM placed\n  GROUP BY {by}")


def _columns(asked: Asked, span: Span, counts: tuple[str, ...], rest: str) -> str:
    """Write the columns of a log of counts: all but the first and the parts as whole numbers."""
    quoted = asked.dialect.quoted
    nothing = asked.as_text("NULL")
    parts = [(name, name if "placed" in rest else nothing) for name, _ in parts_of(asked)]
    named = zip(("cell", "rows", "positives", "offset_sum"), counts, strict=True)
    columns = [
        ("version", f"{VERSION}"),
        ("day", "scored_on"),
        ("known_until", _known_until(asked, span)),
        ("status", "status"),
        *parts,
        *((name, asked.as_whole(value)) for name, value in named),
    ]
    return select([(quoted(name), value) for name, value in columns], rest)


def _known_until(asked: Asked, span: Span) -> str:
    """Write the last day whose outcomes are counted of a day."""
    settled = asked.dialect.after("scored_on", asked.model.settled_after)
    return asked.as_day(first_true([(f"{settled} < {span.known}", settled)], span.known))


def _without_prediction(asked: Asked, span: Span, among: str | None) -> Steps:
    """Find out on which day outcomes were predicted that came on one of the days."""
    longest = Settling(asked.model).longest
    same = " AND ".join(f"a.{key} = o.outcome_{key}" for key in asked.keys)
    keys = [f"outcome_{key}" for key in asked.keys]
    of_o = ", ".join(f"o.{key}" for key in keys)
    first = asked.dialect.after("o.seen_on", -longest)
    arrived = ", ".join(["seen_on", *keys])
    came = (
        f"  SELECT {arrived}, count(*) AS arrivals\n  FROM observed\n"
        f"  WHERE seen_on <= {span.last}\n  GROUP BY {arrived}"
    )
    predicted = (
        f"  SELECT o.seen_on AS predicted_for, {_named('o', keys, 'predicted_')},\n"
        "    max(a.asked_on) AS asked_on\n  FROM arrived AS o\n"
        f"  INNER JOIN asked AS a ON {same}\n"
        f"  WHERE a.asked_on <= o.seen_on AND a.asked_on >= {first}\n"
        f"  GROUP BY o.seen_on, {of_o}"
    )
    return [
        ("asked", ids_before(asked, span, longest, among)),
        ("arrived", came),
        ("predicted", predicted),
        ("alone", _alone(asked, keys, alone_once(asked, span, longest) if among else None)),
    ]


def _alone(asked: Asked, keys: list[str], once: str | None) -> str:
    """Say of outcomes why no prediction of a day that reads them is theirs, if none is."""
    on = " AND ".join(f"o.{key} = p.predicted_{key}" for key in keys)
    nameless = " OR ".join(f"o.{key} IS NULL" for key in keys)
    in_time = asked.dialect.after("o.seen_on", -asked.model.settled_after)
    status = first_true(
        [
            (nameless, _text("outcome_id_missing")),
            ("p.asked_on IS NULL", _text("outcome_orphan")),
            (f"p.asked_on < {in_time}", _text("outcome_late")),
        ],
        _text(MATCHED),
    )
    columns = ("scored_on", "o.seen_on"), ("status", status), ("arrivals", "o.arrivals")
    rest = f"FROM arrived AS o\n  LEFT JOIN predicted AS p ON o.seen_on = p.predicted_for AND {on}"
    contradicting = (
        f"  UNION ALL\n  SELECT known_on, {_text('outcome_conflicting')}, outcomes_of_id\n"
        "  FROM known\n  WHERE differs = 1"
    )
    others = f"\n  UNION ALL\n{once}" if once else ""
    return f"{select(columns, rest)}\n{contradicting}{others}"


def _counts_of_outcomes(asked: Asked, span: Span) -> str:
    """Count the outcomes of each day and status that belong to no prediction."""
    rest = f"FROM alone\n  WHERE status <> {_text(MATCHED)}\n  GROUP BY scored_on, status"
    return _columns(asked, span, ("0", "sum(arrivals)", "0", "0"), rest)


def _named(table: str, names: list[str], prefix: str) -> str:
    return ", ".join(f"{table}.{name} AS {prefix}{name}" for name in names)


def _text(status: str) -> str:
    return f"'{status}'"
