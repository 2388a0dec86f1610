"""Which column says whom or what a row is about: ids that come again on other days."""

from collections.abc import Sequence
from dataclasses import dataclass

from monitor.logs.discovery.roles.candidates import words
from monitor.logs.discovery.roles.keys import ID_WORDS
from monitor.logs.discovery.samples.columns import Column
from monitor.logs.discovery.samples.reading import Log
from monitor.logs.discovery.samples.rows import ask
from monitor.logs.engines.conversions import quoted
from monitor.logs.engines.session import Session

KINDS = ("integer", "text", "uuid")
WHO = ("customer", "user", "client", "account", "member", "patient", "device", "merchant",
       "campaign", "card", "household", "subscriber", "advertiser")  # fmt: skip
FEWEST = 50  # values: fewer are categories
LEAST_AGAIN = 0.1  # of the values; a sample misses many that do come again


@dataclass(frozen=True)
class EntityColumn:
    """A column of ids, and the share of its sampled values that are there on several days."""

    column: str
    again: float


def entity_column(session: Session, log: Log, day: str) -> EntityColumn | None:
    """Find the column of ids whose values come again on most days.

    Parameters
    ----------
    session, log : Session, Log
        Has the sample of the predictions.
    day : str
        SQL of the day of a row.
    """
    candidates = [
        EntityColumn(column.name, share)
        for column in _candidates(log.columns)
        if (share := _again(session, log, column.name, day)) >= LEAST_AGAIN
    ]
    return max(candidates, key=lambda candidate: candidate.again, default=None)


def _candidates(columns: Sequence[Column]) -> list[Column]:
    return [
        column
        for column in columns
        if column.kind in KINDS
        and column.first is None
        and column.distinct >= FEWEST
        and {*ID_WORDS, *WHO}.intersection(words(column.name))
    ]


def _again(session: Session, log: Log, column: str, day: str) -> float:
    values = (
        f"SELECT count(DISTINCT {day}) AS days FROM {log.table} "
        f"WHERE {quoted(column)} IS NOT NULL GROUP BY {quoted(column)}"
    )
    return float(ask(session, f"SELECT avg((days > 1)::INT) FROM ({values})")[0] or 0.0)
