"""Which rows of the predictions count, whom they are about, and whether they have one scale."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from monitor.base.sql_text import text_in_sql
from monitor.logs.discovery.roles.keys import UNIQUE, is_id
from monitor.logs.discovery.roles.rules import (
    ENTITY,
    Candidate,
    candidates,
    scores,
    several,
    words,
)
from monitor.logs.discovery.samples.profile import Column, number_in
from monitor.logs.discovery.samples.reading import PARTITION, TEXTUAL, Log, ask, only
from monitor.logs.engines.conversions import quoted
from monitor.logs.engines.session import Session
from monitor.words.numbers import percent

LIVE = several("prod production live online serving champion active primary")
TESTED = several("test testing holdout oot")
OTHERS = several(
    "train training valid validation val dev development staging stage qa uat sandbox "
    "offline backtest canary challenger candidate shadow baseline previous inactive "
    "retired secondary"
)
FLAGS = {*["champion", "live", "prod", "production", "active"]}  # of a column of two values
MOST_VALUES = 6
MOST_VERSIONS = 5  # of a model, with a row for each id
EACH = 0.6  # share of the ids that have a row for each value
LEAST_AGAIN = 0.1  # of the values of an entity; a sample misses many that do come again
LEAST_ROWS = 100  # of a day
FAR = 10.0  # how far scores reach that are no probabilities


@dataclass(frozen=True)
class EntityColumn:
    """A column of ids, and the share of its sampled values that are there on several days."""

    column: Column
    again: float


def live(session: Session, log: Log) -> Log:
    """Leave out the rows of other splits and environments, where a log has scores."""
    for column in log.columns if scores(log.columns) else ():
        spoken = {value: value.strip().lower() for value in column.values}
        if column.kind == "text" and 1 < len(spoken) <= MOST_VALUES:
            for meant in (LIVE, TESTED) if {*spoken.values()} <= LIVE | TESTED | OTHERS else ():
                if chosen := [value for value, word in spoken.items() if word in meant]:
                    return _subset(session, log, column, chosen[0])
        flag = column.kind == "boolean" or {*column.values} == {"0", "1"}
        if flag and len(column.values) > 1 and {*words(column.name)} & FLAGS:
            true = next(v for v in column.values if v.lower() in ("true", "1"))
            return _subset(session, log, column, true)
    return log


def newest_version(
    session: Session, log: Log, key: Sequence[str], others: Sequence[str]
) -> Log | None:
    """Keep the rows of one version, if a column tells rows of one id apart.

    Parameters
    ----------
    session, log : Session, Log
        The predictions.
    key : sequence of str
        The columns of the id, which repeat.
    others : sequence of str
        The columns of the outcomes: one that both logs have belongs to the id.
    """
    for column in log.columns:
        if not 1 < len(column.values) <= MOST_VALUES or column.name in (*key, *others):
            continue
        alone = ", ".join(map(quoted, key))
        both, ids, rows = ask(
            session,
            f"SELECT count(DISTINCT ({alone}, {quoted(column.name)})), "
            f"count(DISTINCT ({alone})), count(*) FROM {log.table}",
        )
        if both >= UNIQUE * rows > ids and rows >= EACH * len(column.values) * ids:
            before = "an id has a row for each of them; "
            return _subset(session, log, column, _newest(column), before)
    return None


def version_of_rows(session: Session, log: Log) -> Log:
    """Keep the rows of one version, if a value of another column comes once with each of them."""
    ids = [c for c in log.columns if is_id(c)]
    if any(c.uniqueness >= UNIQUE for c in ids):
        return log
    repeated = [c.name for c in ids if c.uniqueness >= 1 / MOST_VERSIONS]
    versions = (newest_version(session, log, (name,), ()) for name in repeated)
    return next(filter(None, versions), log)


def _subset(session: Session, log: Log, column: Column, value: str, before: str = "") -> Log:
    """Choose the rows of a value of a column, and say what the others are."""
    name = f"({column.sql})" if "->>" in column.sql else column.written
    where = name
    if column.type != "BOOLEAN":
        plain = column.is_number and column.type != "VARCHAR" and log.format not in TEXTUAL
        where = f"{name} = {value if plain else text_in_sql(value)}"
    shares = ", ".join(
        f"{other} {percent(rows / max(1, column.rows), 0)}" for other, rows in column.values.items()
    )
    doubt = (
        f"only rows with {where} are counted, of `{column.name}`: {shares}; {before}to watch the "
        f"others too, write a model for each with its own predictions.where"
    )
    return only(session, log, where, "only", doubt=doubt)


def _newest(column: Column) -> str:
    """Choose the value that says production, or else the last version."""
    named = [value for value in column.values if value.strip().lower() in LIVE]
    numbers = {v: [int(n) for n in re.findall(r"\d+", v)] for v in column.values}
    return named[0] if named else max(column.values, key=lambda v: (numbers[v], v))


def entity_column(session: Session, log: Log, day: str) -> EntityColumn | None:
    """Find the column of ids whose values come again on most days, given SQL of the day."""
    found = list[EntityColumn]()
    for column in (candidate.column for candidate in candidates(ENTITY, log.columns)):
        name = quoted(column.name)
        values = (
            f"SELECT count(DISTINCT {day}) AS days FROM {log.table} "
            f"WHERE {name} IS NOT NULL GROUP BY {name}"
        )
        (again,) = ask(session, f"SELECT avg((days > 1)::INT) FROM ({values})")
        found.append(EntityColumn(column, again or 0.0))
    best = max(found, key=lambda candidate: candidate.again, default=None)
    return best if best and best.again >= LEAST_AGAIN else None


def about_scale(session: Session, log: Log, score: Candidate) -> list[str]:
    """Say which sampled day has probabilities where the scores of another are something else."""
    means = score.settings.get("score_means")
    if not log.days or means not in ("percent", "logit"):
        return []
    value = f"try_{number_in(quoted(score.name), score.column.mark)}"
    days = session.connection.execute(
        f"SELECT {quoted(PARTITION)}::VARCHAR AS day, min({value}), max({value}) "
        f"FROM {log.table} GROUP BY 1 HAVING count({value}) >= ? ORDER BY 1",
        [LEAST_ROWS],
    ).fetchall()
    within = [day for day, least, greatest in days if least >= 0 and greatest <= 1]
    reach = {day: max(-least, greatest) for day, least, greatest in days if day not in within}
    other = [day for day in reach if means == "logit" or reach[day] >= FAR]
    if not within or not other:
        return []
    doubt = (
        f"`{score.name}` lies from 0 to 1 on {within[0]} and reaches {reach[other[0]]:.3g} on "
        f"{other[0]}, as if its scale had changed between; a run takes all days for {means}, so "
        f"write an expression that gives one scale"
    )
    return [doubt]
