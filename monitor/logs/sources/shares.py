"""The parts of a log that tasks of Spark read: a file or some of its rows, or hours of a table.

A task runs the SQL of `opening` on its part, so a cluster reads what one machine reads.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import duckdb
from fsspec.implementations.local import LocalFileSystem

from monitor.base.files import open_filesystem
from monitor.logs.engines.conversions import Wanted
from monitor.logs.engines.session import ROW, Session
from monitor.logs.engines.spread import Spread
from monitor.logs.sources.opening import OpenLog

HOURS = 24  # the most parts of a day of a table
ROWS = 2_000_000  # of a part of a file


@dataclass(frozen=True)
class Share:
    """A part of a log, the filter, and the values to read, each with its columns and its SQL."""

    log: OpenLog
    row_filter: str | None
    values: Mapping[str, tuple[tuple[str, ...], str]]

    def read(self, session: Session) -> duckdb.DuckDBPyRelation:
        """Read the rows in a task."""
        log = replace(self.log, session=session)
        filesystem, _ = open_filesystem(next(iter(log.files)))
        if not (log.table or isinstance(filesystem, LocalFileSystem)):
            session.reach(filesystem, [*log.files], log.form)
        if log.layout:
            session.lay_out(log.files, log.layout)
        wanted = {
            name: Wanted(c, partial(_as_written, sql)) for name, (c, sql) in self.values.items()
        }
        rows: duckdb.DuckDBPyRelation = log.read(self.row_filter, **wanted)
        return rows


def spread(
    log: OpenLog,
    groups: Iterable[Sequence[str]],
    row_filter: str | None,
    wanted: Mapping[str, Wanted],
    empty: duckdb.DuckDBPyRelation | None = None,
) -> Spread:
    """Let tasks read columns of the chosen rows of groups of files, as `OpenLog.read`."""
    if empty is not None:
        return Spread(empty, ())
    return reduce(Spread.union, [_of_group(log, files, row_filter, wanted) for files in groups])


def _of_group(
    log: OpenLog, files: Sequence[str], row_filter: str | None, wanted: Mapping[str, Wanted]
) -> Spread:
    types = log.files[files[0]]
    values = {name: (value.columns, value.sql(types)) for name, value in wanted.items()}
    parts = (Share(part, row_filter, values) for part in _parts(log, files))
    return Spread(log.without_rows(types, row_filter, wanted), tuple((part, ()) for part in parts))


def _parts(log: OpenLog, files: Sequence[str]) -> Iterator[OpenLog]:
    """Divide files, or the hours of the days of a table, among tasks."""
    nothing: Any = None
    alone = replace(log, session=nothing, spread=None, settings=())
    if not (log.table and log.dating and log.days):
        for file in files:
            part = replace(alone, files={file: log.files[file]})
            whole = log.is_text or log.table or ROW in log.files[file]
            rows = 0 if whole else len(log.session.read([file]))
            spans = [(first, first + ROWS) for first in range(0, rows, ROWS)]
            yield from [replace(part, span=span) for span in spans] if spans[1:] else [part]
        return
    pieces = 1
    if log.dating.can_be_cut(log.type_of(log.dating.column)):
        wanted = int(log.session.spark.conf.get("spark.sql.shuffle.partitions"))
        pieces = max(1, min(HOURS, wanted // len(log.days)))
    for day in log.days:
        for piece in range(pieces):
            dating = replace(log.dating, piece=piece, pieces=pieces)
            yield replace(alone, days=[day], dating=dating)


def _as_written(sql: str, _: Mapping[str, Any]) -> str:
    return sql
