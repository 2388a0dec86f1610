"""Which columns join two logs: those whose values both have and that tell predictions apart."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from itertools import combinations, product
from math import isqrt

from monitor.base.errors import DataError
from monitor.config import LONGEST_WAIT, POSITION
from monitor.logs.discovery.roles.rules import ID, points, times
from monitor.logs.discovery.samples.profile import Column
from monitor.logs.discovery.samples.reading import (
    PARTITION,
    ROWS_PER_DAY,
    Log,
    add_day,
    ask,
    drop,
    has_table,
    keep,
)
from monitor.logs.engines.conversions import quoted
from monitor.logs.engines.session import Session

ROWS_COMPARED = 200_000  # of the ids of a partition, to find the columns that join
AGES = 15  # days of outcomes among which ids are compared first
PROBED_DAYS = 2  # sampled days of predictions whose outcomes are looked for
MOST_COLUMNS = 8  # of each log that may be ids
ID_KINDS = ("integer", "text", "uuid", "binary")
LEAST_SHARE = 0.002  # of the predictions with an outcome: fewer are chance
LEAST_UNIQUENESS = 0.5  # of an id
UNIQUE = 0.99  # a few repeats are errors of single rows
AS_THEY_ARE = "{}", "{}"
HEX_OF_BYTES, HEX_OF_TEXT = "lower(hex({}))", "replace(lower({}), '-', '')"
# The rest of a text that begins or ends with a date.
AFTER_DATE = r"regexp_extract({}, '^\d{{4}}-?\d\d-?\d\d[^0-9A-Za-z](.+)$', 1)"
BEFORE_DATE = r"regexp_extract({}, '^(.+)[^0-9A-Za-z]\d{{4}}-?\d\d-?\d\d$', 1)"
OF_TEXTS = (
    *(("trim({})",) * 2, ("lower(trim({}))",) * 2),  # CHAR columns, and upper case
    *((AFTER_DATE, "{}"), ("{}", AFTER_DATE), (BEFORE_DATE, "{}"), ("{}", BEFORE_DATE)),
)
CLEARLY = 1.1  # times as many ids must be found by a conversion that is not needed for the others
Days = Sequence[date | None]
ASKED, OFFERED = "asked", "offered"  # the tables with ids of predictions and of outcomes


@dataclass(frozen=True)
class Key:
    """Columns that identify a row in both logs.

    Attributes
    ----------
    scored, observed : tuple of Column
        Those of the predictions and of the outcomes.
    share : float
        Share of the sampled predictions whose id is among the outcomes.
    uniqueness : float
        Different ids in the sample of predictions, by its rows.
    cast : str or None
        What both must be converted to, because they are written differently.
    days : tuple of date
        The days of predictions whose outcomes are looked for; none if the path names no day.
    since : int
        Days after the prediction before which no outcome came.
    reading : tuple of (str, str)
        SQL that makes the ids of both logs equal, with `{}` for the column.
    """

    scored: tuple[Column, ...]
    observed: tuple[Column, ...]
    share: float = 0.0
    uniqueness: float = 0.0
    cast: str | None = None
    days: tuple[date, ...] = ()
    since: int = 0
    reading: tuple[str, str] = AS_THEY_ARE

    @property
    def names(self) -> list[str]:
        """The columns of the predictions."""
        return [column.name for column in self.scored]

    def on(self) -> str:
        """Write in SQL that rows with the columns `cm_a0`, … and `cm_o0`, … have the same id."""
        return " AND ".join(f"cm_a{n} = cm_o{n}" for n in range(len(self.scored)))

    def ids(self, kind: str) -> str:
        """Write the columns `cm_a0`, … of predictions, or `cm_o0`, … of outcomes, to compare."""
        columns = self.observed if kind == "o" else self.scored
        is_number = "real" in (self.scored[0].kind, self.observed[0].kind)
        cast, reading = self.cast or ("integer" if is_number else None), self.reading[kind == "o"]
        texts = (_text(reading.format(quoted(column.name)), cast) for column in columns)
        return ", ".join(f"{text} AS cm_{kind}{n}" for n, text in enumerate(texts))


def find_key(session: Session, scored: Log, observed: Log) -> Key | None:
    """Find the columns that join two logs.

    Content decides: the share of predictions that is found among the outcomes, times how unique the
    column is, which the caller checks. Names break ties. If no outcome comes within `AGES` days,
    later ones are looked at.
    """
    asked, offered = _candidates(scored, observed), _candidates(observed, scored)
    sampled: Days = scored.sampled[:PROBED_DAYS] or (None,)
    soon = sampled, later_days(observed, sampled, AGES)
    for ours, theirs in (soon, _late(scored, observed)):
        drop(session, ASKED, OFFERED)
        both = (
            *((scored, day, ASKED, asked, ROWS_PER_DAY) for day in ours),
            *((observed, day, OFFERED, offered, ROWS_COMPARED) for day in theirs),
        )
        for log, day, table, columns, most in both if asked and offered else ():
            with suppress(DataError):
                keep(session, log, day, table, columns=[c.name for c in columns], most=most)
        if best := _best(session, asked, offered):
            best = _with_days(session, scored, best, ours)
            if best.uniqueness >= UNIQUE:
                return best
            wider = [k for k in _wider(session, scored, observed, best) if k.uniqueness >= UNIQUE]
            return min(wider, key=lambda key: (len(key.scored), key.names), default=best)
    return None


def later_days(observed: Log, days: Days, most: int, since: int = 0) -> Days:
    """List the partitions of outcomes of some ages; None if the path names no day."""
    asked = [day for day in days if day]
    if not (asked and observed.days):
        return observed.days[:most] or (None,)
    return [d for d in observed.days if any(since <= (d - a).days < since + most for a in asked)]


def is_id(column: Column) -> bool:
    """Tell whether a column may identify rows by itself."""
    return column.kind in ID_KINDS and column.first is None


def _candidates(log: Log, other: Log) -> list[Column]:
    """List the columns that may identify a row, alone or with others, likely ones first."""
    shared = {column.name for column in other.columns}
    varied = [
        c
        for c in log.columns
        if (c.kind in ID_KINDS or c.is_whole) and not times([c])
        if c.uniqueness > 0.5 or c.distinct > 50 or (c.name in shared and c.distinct > 5)  # noqa: PLR2004 - fewer are categories, unless they are a part of a key
    ]
    return sorted(varied, key=lambda c: (not points(ID, c), -c.uniqueness))[:MOST_COLUMNS]


def _late(scored: Log, observed: Log) -> tuple[Days, Days]:
    """Choose few days of both logs with which each age up to `LONGEST_WAIT` is that of one pair.

    The predictions of `step` days in a row are looked for in every `step`-th partition of outcomes.
    """
    if not scored.days or not observed.days:
        return (), ()
    first = scored.days[0]
    span = max(0, min(LONGEST_WAIT, (observed.days[-1] - first).days))
    step = isqrt(span) + 1
    ages = {d: (d - first).days for d in observed.days}
    every = {age // step: d for d, age in ages.items() if 0 <= age < span + step}
    return [d for d in scored.days if (d - first).days < step], [*every.values()]


def _with_days(session: Session, scored: Log, key: Key, asked: Days) -> Key:
    """Note the days to probe, and the first age; the sample then has these days.

    Of days that are not in the sample, those with the most matches.
    """
    on = quoted(PARTITION)
    by_day = session.connection.execute(
        f"SELECT a.{on}, count(*) AS rows, min(o.{on} - a.{on}) "
        f"FROM (SELECT {on}, {key.ids('a')} FROM {ASKED}) a "
        f"JOIN (SELECT {on}, {key.ids('o')} FROM {OFFERED}) o "
        f"ON {key.on()} AND coalesce(o.{on} >= a.{on}, true) GROUP BY 1 ORDER BY rows DESC, 1"
    ).fetchall()
    most = sorted(day for day, *_ in by_day[:PROBED_DAYS] if day)
    days = tuple(filter(None, asked)) if {*asked} <= {*scored.sampled, None} else tuple(most)
    for day in days:
        if day not in scored.sampled:
            add_day(session, scored, day)
    return replace(key, days=days, since=min((age or 0 for *_, age in by_day), default=0))


def _best(session: Session, asked: Sequence[Column], offered: Sequence[Column]) -> Key | None:
    """Choose the columns of the two tables of ids that join them best."""
    if not (has_table(session, ASKED) and has_table(session, OFFERED)):
        return None
    known = [{*session.connection.table(table).columns} for table in (ASKED, OFFERED)]
    both = ((a, b) for a, b in product(asked, offered) if a.name in known[0] and b.name in known[1])
    keys = [key for a, b in both if (key := _single(session, a, b))]
    return max(keys, key=_worth, default=None)


def _single(session: Session, a: Column, b: Column) -> Key | None:
    """Compare two columns as they are and after each conversion that may make them equal."""
    best = None
    for cast, reading in _readings(a, b):
        key = Key((a,), (b,), 0.0, a.uniqueness, cast, reading=reading)
        theirs = f"SELECT cm_o0 FROM (SELECT {key.ids('o')} FROM {OFFERED})"
        ours = f"SELECT *, {key.ids('a')} FROM {ASKED}"
        share = f"avg(coalesce(cm_a0 IN ({theirs}), false)::INT) AS share"
        of_days = f"SELECT {share} FROM ({ours}) GROUP BY {quoted(PARTITION)}"
        found = float(ask(session, f"SELECT max(share) FROM ({of_days})")[0] or 0.0)
        if found >= LEAST_SHARE and (best is None or found > CLEARLY * best.share):
            best = replace(key, share=found)
    return best


def _readings(a: Column, b: Column) -> Iterator[tuple[str | None, tuple[str, str]]]:
    """List the conversions of two columns that may make them equal, the plainest first."""
    kinds = a.kind, b.kind
    if a.type == b.type or {*kinds} <= {"integer", "real"}:
        yield None, AS_THEY_ARE
    if {*kinds} <= {"integer", "real", "text"} and "text" in kinds:
        yield "integer", AS_THEY_ARE
    if {*kinds} <= {"uuid", "text"}:
        yield "uuid", AS_THEY_ARE
    if "binary" in kinds and {*kinds} <= {"binary", "text"}:
        ours, theirs = (HEX_OF_BYTES if kind == "binary" else HEX_OF_TEXT for kind in kinds)
        yield None, (ours, theirs)
    if kinds == ("text", "text"):
        yield from ((None, reading) for reading in OF_TEXTS)


def _text(expression: str, cast: str | None) -> str:
    if cast in ("integer", "uuid"):  # UUIDs with braces, in upper case or without hyphens too
        return f"try_cast({expression}::VARCHAR AS {cast.replace('integer', 'HUGEINT')})"
    return f"nullif({expression}::VARCHAR, '')"  # of a text without what is looked for


def _worth(key: Key) -> tuple[float, bool, bool]:
    same = key.names == [column.name for column in key.observed]
    return round(key.share * key.uniqueness, 2), same, points(ID, key.scored[0]) > 0


def _wider(session: Session, scored: Log, observed: Log, best: Key) -> Iterator[Key]:
    """Add columns of the same name and type to a key that does not tell predictions apart."""
    theirs = {column.name: column for column in observed.columns}
    shared = [
        (c, theirs[c.name])
        for c in scored.columns
        if c.name in theirs and c.name not in best.names
        if theirs[c.name].type == c.type or c.name == POSITION
        if c.kind in (*ID_KINDS, "date")
    ]
    for size in (1, 2):
        for more in combinations(shared[:MOST_COLUMNS], size):
            a, b = (*best.scored, *(m[0] for m in more)), (*best.observed, *(m[1] for m in more))
            different = f"count(DISTINCT ({', '.join(quoted(c.name) for c in a)})) / count(*)"
            (uniqueness,) = ask(session, f"SELECT {different} FROM {scored.table}")
            yield replace(best, scored=a, observed=b, uniqueness=float(uniqueness))
