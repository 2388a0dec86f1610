"""Which columns join two logs: those whose values both have and that tell predictions apart."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import combinations, product

from monitor.logs.conversions import quoted
from monitor.logs.discovery.columns import Column
from monitor.logs.discovery.reading import PARTITION, Log
from monitor.logs.discovery.roles import words
from monitor.logs.discovery.rows import add, ask, open_rows, tables
from monitor.logs.session import Session

ROWS_PER_PARTITION = 1_000_000  # of outcomes
ROWS_COMPARED = 200_000  # of the ids of a partition, to find the columns that join
AGES = 15  # days of outcomes among which ids are compared
PROBED_DAYS = 2  # sampled days of predictions whose outcomes are looked for
MOST_COLUMNS = 8  # of each log that may be ids
ID_KINDS = ("integer", "text", "uuid", "binary")
ID_WORDS = ("id", "ids", "uuid", "guid", "key", "hash", "no", "number", "nr")
LEAST_SHARE = 0.002  # of the predictions with an outcome: fewer are chance
LEAST_UNIQUENESS = 0.5  # of an id
UNIQUE = 0.99  # a few repeats are errors of single rows
OFFERED = "offered"  # the table with ids of outcomes


@dataclass(frozen=True)
class Key:
    """Columns that identify a row in both logs.

    Attributes
    ----------
    scored, observed : tuple of str
        The columns of the predictions and of the outcomes.
    share : float
        Share of the sampled predictions whose id is among the outcomes.
    uniqueness : float
        Different ids in the sample of predictions, by its rows.
    cast : str or None
        What both must be converted to, because they are written differently.
    """

    scored: tuple[str, ...]
    observed: tuple[str, ...]
    share: float
    uniqueness: float
    cast: str | None = None


def find_key(session: Session, scored: Log, observed: Log) -> Key | None:
    """Find the columns that join two logs.

    Content decides: the share of predictions that is found among the outcomes, times how unique the
    column is. Names break ties.
    """
    asked, offered = _candidates(scored, observed), _candidates(observed, scored)
    if not asked or not offered:
        return None
    _offer(session, scored, observed, offered)
    pairs = product(asked, [column for column in offered if OFFERED in tables(session)])
    keys = [key for a, b in pairs if (key := _single(session, scored, a, b))]
    best = max(keys, key=_worth, default=None)
    if best is None or best.uniqueness >= UNIQUE:
        return best
    wider = [k for k in _wider(session, scored, observed, best) if k.uniqueness >= UNIQUE]
    best = min(wider, key=lambda key: (len(key.scored), key.scored), default=best)
    return best if best.uniqueness >= LEAST_UNIQUENESS else None


def probed_days(scored: Log) -> tuple[date | None, ...]:
    """Choose the days whose outcomes are looked for; None if the path names no day."""
    return scored.sampled[:PROBED_DAYS] or (None,)


def later_days(observed: Log, day: date | None, most: int) -> tuple[date | None, ...]:
    """List the partitions of outcomes from a day on; None if the path names no day."""
    if not observed.days:
        return (None,)
    return tuple(d for d in observed.days if day is None or 0 <= (d - day).days < most)[:most]


def joined_on(key: Key, of_scored: str, of_observed: str) -> str:
    """Write in SQL that two rows have the same id."""
    ours = (_text(f"{of_scored}.{quoted(name)}", key.cast) for name in key.scored)
    theirs = (_text(f"{of_observed}.{quoted(name)}", key.cast) for name in key.observed)
    return " AND ".join(f"{a} = {b}" for a, b in zip(ours, theirs, strict=True))


def _candidates(log: Log, other: Log) -> list[Column]:
    """List the columns that may identify a row, alone or with others, likely ones first."""
    shared = {column.name for column in other.columns}
    varied = [
        c
        for c in log.columns
        if (c.kind in ID_KINDS and c.first is None and (c.uniqueness > 0.5 or c.distinct > 50))  # noqa: PLR2004 - fewer are categories
        or (c.kind in ID_KINDS and c.name in shared and c.distinct > 5)  # noqa: PLR2004 - a part of a key
    ]
    ordered = sorted(varied, key=lambda c: (not _is_named_id(c.name), -c.uniqueness))
    return ordered[:MOST_COLUMNS]


def _is_named_id(name: str) -> bool:
    return any(word in ID_WORDS for word in words(name))


def _offer(session: Session, scored: Log, observed: Log, columns: Sequence[Column]) -> None:
    """Collect the ids of outcomes among which those of predictions are looked for."""
    session.connection.execute(f"DROP TABLE IF EXISTS {OFFERED}")
    starts = probed_days(scored)
    days = {later: None for day in starts for later in later_days(observed, day, AGES)}
    for day in days:
        rows = open_rows(session, observed.place, observed.format, day, most=ROWS_COMPARED)
        if rows is not None:
            rows.create_view("some_rows", replace=True)
            names = [quoted(c.name) for c in columns if c.name in rows.columns]
            add(session, f"SELECT {', '.join(names)} FROM some_rows", OFFERED)


def _single(session: Session, scored: Log, a: Column, b: Column) -> Key | None:
    """Compare two columns as they are and, if nothing is equal, after a conversion."""
    for cast in dict.fromkeys((None if a.type == b.type else _cast_between(a, b), "uuid")):
        if (cast is None and a.type != b.type) or (
            cast == "uuid" and "integer" in (a.kind, b.kind)
        ):
            continue
        share = _share(session, scored, a.name, b.name, cast)
        if share >= LEAST_SHARE:
            return Key((a.name,), (b.name,), share, a.uniqueness, cast)
    return None


def _cast_between(a: Column, b: Column) -> str | None:
    kinds = {a.kind, b.kind}
    if kinds <= {"integer", "text"}:
        return "integer"
    return "uuid" if kinds <= {"uuid", "text"} else None


def _share(session: Session, scored: Log, a: str, b: str, cast: str | None) -> float:
    """Return which share of the probed predictions has its id among the outcomes."""
    ours, theirs = _text(quoted(a), cast), _text(quoted(b), cast)
    share = f"avg(({ours} IN (SELECT {theirs} FROM {OFFERED}))::INT)"
    days = ", ".join(f"DATE '{day}'" for day in probed_days(scored) if day)
    only = f"WHERE {quoted(PARTITION)} IN ({days})" if days else ""
    return float(ask(session, f"SELECT {share} FROM {scored.table} {only}")[0] or 0.0)


def _text(expression: str, cast: str | None) -> str:
    return f"lower({expression}::VARCHAR)" if cast == "uuid" else f"{expression}::VARCHAR"


def _worth(key: Key) -> tuple[float, bool, bool]:
    same = key.scored == key.observed
    return round(key.share * key.uniqueness, 2), same, _is_named_id(key.scored[0])


def _wider(session: Session, scored: Log, observed: Log, best: Key) -> Iterator[Key]:
    """Add columns of the same name and type to a key that does not tell predictions apart."""
    theirs = {column.name: column for column in observed.columns}
    shared = [
        c.name
        for c in scored.columns
        if c.name in theirs and theirs[c.name].type == c.type and c.name not in best.scored
        if c.kind in (*ID_KINDS, "date")
    ]
    for size in (1, 2):
        for more in combinations(shared[:MOST_COLUMNS], size):
            a, b = (*best.scored, *more), (*best.observed, *more)
            different = f"count(DISTINCT ({', '.join(map(quoted, a))})) / count(*)"
            (uniqueness,) = ask(session, f"SELECT {different} FROM {scored.table}")
            yield Key(a, b, best.share, float(uniqueness), best.cast)
