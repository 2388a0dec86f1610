"""The files of some days of a log, with the columns of each of them.

Rule: every file is checked separately. If all files were read like the first one, a column missing
from another file would become null, and a 0.4 could become the integer 0.
"""

import difflib
import json
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import reduce
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import duckdb
import pyarrow as pa
from fsspec.implementations.local import LocalFileSystem
from pydantic import BaseModel

from monitor.base.errors import DataError, Fault
from monitor.base.files import open_filesystem
from monitor.base.sql_text import text_in_sql
from monitor.config import (
    FIELD,
    Exploded,
    Format,
    Model,
    OutcomeLog,
    PredictionLog,
    expression_of,
    named,
)
from monitor.config.filters import columns_of_filter
from monitor.logs.engines.conversions import Type, Wanted, as_it_is, columns_in, quoted
from monitor.logs.engines.formats import FORMATS, FileFormat, with_structs
from monitor.logs.engines.session import (
    Layout,
    Session,
    first_line,
    readable,
    without_number,
)
from monitor.logs.sources.exploding import ADDED, explode, list_in, types_of_elements, way_of
from monitor.logs.sources.tables import Range, Table, reading_table
from monitor.logs.sources.times import Dating, dating_of, is_day

PATH_PART = re.compile(r"([^/=]+)=[^/]*/")  # country=DE/
NULL_IN_PATH = "__HIVE_DEFAULT_PARTITION__"  # how Hive and Spark write a null
TEXT = Type("VARCHAR")
NO_TYPE = "INTEGER"  # what DuckDB calls the type of a column of nothing but nulls in Parquet
IN_PATH = Type("VARCHAR", in_path=True)
TIME_TYPES = "a text such as 2026-03-01T10:00:00Z, or a number with time_unit"
Fits = Callable[[Type], bool]
Kind = Literal["predictions", "outcomes"]
KINDS: tuple[Kind, ...] = ("predictions", "outcomes")


def anything(_: Type) -> bool:
    """Take a column of any type."""
    return True


@dataclass(frozen=True)
class OpenLog:
    """The files of one log, and the types of the columns of each of them.

    Attributes
    ----------
    session : Session
        Reads them.
    kind : str
        Predictions or outcomes.
    form : str
        The format of the files.
    files : mapping
        From file to column to type.
    dating : Dating or None
        The column that dates the rows, if the path does not.
    days : sequence of date or None
        The days whose rows are read, if they are dated by a column; None for all.
    table : Table or None
        The table that the rows are read from instead of files.
    spread : callable or None
        Lets tasks of Spark read it, if the session has a session of Spark.
    span : tuple of (int, int) or None
        The rows of its only file that are read, if they are not all.
    problems : list of DataError
        What is wrong with the columns, so that one run shows all mistakes.
    settings : sequence of object
        What of the configuration may name columns.
    layout : Layout or None
        How its files of CSV are laid out, if the configuration says it.
    exploded : Exploded or None
        The list in each record whose elements are a row each.
    """

    session: Session
    kind: Kind
    form: Format
    files: Mapping[str, dict[str, Type]]
    dating: Dating | None = None
    days: Sequence[date] | None = None
    table: Table | None = None
    spread: Callable[..., Any] | None = None
    span: tuple[int, int] | None = None
    problems: list[DataError] = field(default_factory=list)
    settings: Sequence[Any] = ()
    layout: Layout | None = None
    exploded: Exploded | None = None

    @property
    def is_text(self) -> bool:
        """Whether all columns are text, whatever they contain."""
        return self.reader.is_text

    @property
    def reader(self) -> FileFormat | Table:
        """What reads the rows."""
        return self.table or FORMATS[self.form]

    def check(
        self, column: str, setting: str, fits: Fits = anything, wanted: str = "of any type"
    ) -> bool:
        """Note the first file in which a required column is missing or has the wrong type.

        Text is converted later, so it fits.
        """
        look = self._wrong_value if expression_of(column) else self._wrong_column
        if expression_of(column) and not all(
            self.check(name, setting) for name in self._names_in(column)
        ):
            return False
        for file, types in self.files.items():
            if wrong := look(file, types, column, setting, fits, wanted):
                self.note(*wrong)
                return False
        return True

    def _wrong_column(
        self, file: str, types: dict[str, Type], column: str, setting: str, fits: Fits, wanted: str
    ) -> tuple[str, str] | None:
        """Word what is wrong with a column of a file, and say it without its name."""
        what = self.session.what
        if twice := self._of_one_name(file, column):
            return self._twins(file, twice)
        if FIELD in column and (of_field := self._type_of_field(file, column, types)):
            types[column] = of_field
        if column not in types:
            msg = (
                f"{what}: the {self.kind} have no column '{named(column)}', only "
                f"{', '.join(name for name in types if FIELD not in name)} ({file}); "
                f"{self._hint(types, column, fits)}correct {setting} in the configuration, or the "
                f"log."
            )
            return msg, "is missing"
        if unfit := self.reader.unfit.get(column):
            msg = (
                f"{what}: column '{column}' of the {self.kind} is {unfit.native}; write "
                f"{column}::{unfit.target} AS {column} in sql."
            )
            return msg, "has another type"
        if not (self.is_text or fits(types[column])):
            msg = (
                f"{what}: column '{named(column)}' of the {self.kind} is {types[column]}, "
                f"must be {wanted} ({file}); correct the log, or {setting} "
                f"in the configuration, then rerun this day."
            )
            return msg, "has another type"
        return None

    def _hint(self, types: Mapping[str, Type], column: str, fits: Fits) -> str:
        """Say what a missing column may be called."""
        near = difflib.get_close_matches(column, types, n=1)
        hint = f"did you mean '{near[0]}'? " if near else ""
        if FIELD in column:
            return hint if self.reader.has_fields else f"{self.reader.name} has no structs; "
        if self.table:
            return hint
        old = self._formerly(types, near, fits) or "OLD_NAME"
        return (
            f"{hint}if older files call it something else, write renamed: {{{_key(old)}: "
            f"{_key(column)}}} for that log; else "
        )

    def _twins(self, file: str, twins: Sequence[str]) -> tuple[str, str]:
        kind = "fields" if FIELD in twins[0] else "columns"
        msg = (
            f"{self.session.what}: the {self.kind} have {len(twins)} {kind} of one name, "
            f"{', '.join(readable(twins))} ({file}); upper and lower case do not differ; rename "
            f"one in the log, then rerun this day."
        )
        return msg, "is there twice"

    def _formerly(self, types: Mapping[str, Type], near: Sequence[str], fits: Fits) -> str | None:
        """Name the column of a file that may be what is missing: of those that nothing names."""
        dumped = [of.model_dump() if isinstance(of, BaseModel) else of for of in self.settings]
        given = {*_texts(dumped)}
        free = [
            name
            for name, type_ in types.items()
            if name not in given and (self.is_text or fits(type_))
        ]
        likely = [name for name in near if name in free] or free
        return likely[0] if len(likely) == 1 else None

    def _wrong_value(
        self, file: str, types: dict[str, Type], column: str, setting: str, fits: Fits, wanted: str
    ) -> tuple[str, str] | None:
        """Word what is wrong with the value of an expression, whose columns a file has."""
        if twice := self._fields_in(file, column):
            return self._twins(file, twice)
        known = {name: f"{types[name]}" for name in self._names_in(column)}
        try:
            type_ = self.session.type_of_expression(quoted(column), known)
        except duckdb.Error as error:
            wrong = f"cannot be applied ({first_line(error)})"
        else:
            if self.is_text or fits(type_):
                types[column] = type_
                return None
            wrong = f"gives {type_}, must be {wanted}"
        msg = (
            f"{self.session.what}: {setting} {wrong}: {named(column)} ({file}); correct it "
            f"in the configuration, then rerun this day."
        )
        return msg, "has another type"

    def note(self, msg: str, wrong: str) -> None:
        """Keep what is wrong with a column; the second text says it without its name."""
        self.problems.append(DataError(msg, Fault(self.kind, "column", f"a column {wrong}")))

    def _type_of_field(self, file: str, column: str, types: Mapping[str, Type]) -> Type | None:
        """Return the type of a field of a column; None if there is none.

        Whether a row of JSON lines has it is known when the row is read, as of any key.
        """
        if self.is_text:
            whole = column.partition(FIELD)[0]
            return TEXT if self.reader.has_fields and whole in types else None
        return self.session.type_of_field(file, column, self.reader.schema)

    def _of_one_name(self, file: str, column: str) -> list[str]:
        """List the columns of a file with this name, or with the name that it has in DuckDB."""
        wanted = {column.lower(), without_number(column).lower()}
        return [name for name in self.session.twins.get(file, ()) if name.lower() in wanted]

    def _fields_in(self, file: str, expression: str) -> list[str]:
        """List the fields of a file that an expression may mean, and that have one name."""
        spoken = {*re.findall(r"\w+", expression.lower())}
        met = {word for name in spoken for word in (name, without_number(name))}
        return [
            name
            for name in self.session.twins.get(file, ())
            if FIELD in name and met.issuperset(re.findall(r"\w+", name.lower()))
        ]

    def type_of(self, column: str) -> Type:
        """Return the type of a checked column in the first file."""
        return next(iter(self.files.values()))[column]

    def check_filter(self, row_filter: str) -> None:
        """Note the columns of a filter that a file lacks; SQL ignores the case of their names."""
        for column in columns_of_filter(row_filter):
            self.check(self.same_name(column), f"{self.kind}.where")
        twins = ((file, self._fields_in(file, row_filter)) for file in self.files)
        if found := next(((file, twice) for file, twice in twins if twice), None):
            self.note(*self._twins(*found))

    def read(self, row_filter: str | None = None, **columns: str | Wanted) -> Any:
        """Read columns of the chosen rows under new names, in the widest type of any file."""
        by_types = defaultdict[tuple[Any, ...], list[str]](list)
        for file, types in self.files.items():
            by_types[tuple(types.items())].append(file)
        wanted = {n: as_it_is(c) if isinstance(c, str) else c for n, c in columns.items()}
        if not by_types:
            return self._nothing(wanted)
        if self.spread:
            return self.spread(self, by_types.values(), row_filter, wanted)
        parts = [self._part(files, row_filter, wanted) for files in by_types.values()]
        return reduce(duckdb.DuckDBPyRelation.union, parts)

    def left_out_by(self, row_filter: str) -> tuple[int, int]:
        """Count the rows that a filter leaves out, and all rows."""
        of = self.count_rows()
        return (of - self.count_rows(row_filter) if of else 0), of

    def count_rows(self, row_filter: str | None = None) -> int:
        """Count the rows, or those that a filter chooses; Parquet stores the number of all."""
        first = next(iter(self.files.values()), {})
        shared = (c for c in first if all(c in types for types in self.files.values()))
        column = next(shared, None)
        return self.session.count(self.read(row_filter, counted=column)) if column else 0

    def used(
        self, types: Mapping[str, Type], row_filter: str | None, wanted: Iterable[Wanted]
    ) -> tuple[list[str], list[str]]:
        """Name the columns that the chosen rows need: those in the path, and the others."""
        filtered = map(self.same_name, columns_of_filter(row_filter) if row_filter else ())
        dated = self._names_in(self.dating.column) if self.dating else []
        named_by = [name for value in wanted for c in value.columns for name in self._names_in(c)]
        used = dict.fromkeys([*named_by, *filtered, *dated])
        if self.exploded:
            listed = map(self.same_name, columns_in(way_of(self.exploded, types).column))
            used = dict.fromkeys([*(c for c in used if c not in ADDED), *listed])
        return [c for c in used if types[c].in_path], [c for c in used if not types[c].in_path]

    def _names_in(self, column: str) -> list[str]:
        """Name the columns of a value as the log does."""
        names = columns_in(column)
        return [*map(self.same_name, names)] if expression_of(column) else names

    def _part(
        self, files: Sequence[str], row_filter: str | None, wanted: Mapping[str, Wanted]
    ) -> duckdb.DuckDBPyRelation:
        """Read files whose columns are equal."""
        types = self.files[files[0]]
        in_path, in_rows = self.used(types, row_filter, wanted.values())
        if self.reader.has_keys and not in_rows:  # whose rows cannot be read without a column
            in_rows = [column for column in types if not types[column].in_path][:1]
        rows = (
            self._rows_of_table(self.table, in_rows)
            if self.table
            else self.session.read(
                *(files, self.form),
                columns=_as_written(in_rows, types),
                with_name=bool(in_path),
                span=self.span,
            )
        )
        if in_path or any(types[column].written for column in in_rows):
            rows = rows.select(
                # An expression of a column would read "a.b" as the field b of the column a.
                *(
                    duckdb.SQLExpression(
                        f"coalesce({', '.join(map(quoted, _as_written([c], types)))})"
                    ).alias(c)
                    for c in _whole(in_rows)
                ),
                *(duckdb.SQLExpression(_in_path(column)).alias(column) for column in in_path),
            )
        return self.choose(rows, types, row_filter, wanted)

    def choose(
        self,
        rows: duckdb.DuckDBPyRelation,
        types: Mapping[str, Type],
        row_filter: str | None,
        wanted: Mapping[str, Wanted],
    ) -> duckdb.DuckDBPyRelation:
        """Choose the rows of the days that the filter chooses, and convert their values."""
        if self.dating and self.days is not None:
            rows = rows.filter(duckdb.SQLExpression(self.dating.is_in(self.days, types)))
        if self.exploded:
            way = way_of(self.exploded, types)
            rows = explode(rows, list_in(way, types[way.column]))
        rows = rows.filter(self._bound(rows, row_filter)) if row_filter else rows
        written = {new: _of_chosen(value, types, row_filter) for new, value in wanted.items()}
        return rows.select(*(duckdb.SQLExpression(sql).alias(new) for new, sql in written.items()))

    def without_rows(
        self, types: Mapping[str, Type], row_filter: str | None, wanted: Mapping[str, Wanted]
    ) -> duckdb.DuckDBPyRelation:
        """Make what `read` gives of files without rows."""
        columns = chain(*self.used(types, row_filter, wanted.values()))
        whole = with_structs({column: f"{types[column]}" for column in columns})
        nulls = ", ".join(f"CAST(NULL AS {name}) AS {quoted(c)}" for c, name in whole.items())
        rows = self.session.connection.sql(f"SELECT {nulls} LIMIT 0")
        return self.choose(rows, types, row_filter, wanted)

    def scan(self, table: Table, columns: Sequence[str]) -> pa.RecordBatchReader:
        """Read columns of a table, of the rows of some days; it may give more rows."""
        ranges = list[Range]()
        dated_by = ""
        # A predicate knows columns only; the rows of other days are left out later.
        plain = self.dating and columns_in(self.dating.column) == [self.dating.column]
        if self.dating and self.days is not None and plain and FIELD not in self.dating.column:
            dated_by = self.dating.column
            ranges = self.dating.ranges(self.days, self.type_of(dated_by))
        return table.scan(_whole(columns), dated_by, ranges)

    def _rows_of_table(self, table: Table, columns: Sequence[str]) -> duckdb.DuckDBPyRelation:
        """Read columns of a table; the rows of some days are kept, because a query reads twice."""
        rows = self.scan(table, columns)
        if table.finds_days:
            return self.session.keep_batches(rows)
        if self.days is None:
            return self.session.connection.from_arrow(rows)
        with reading_table(table.log):
            return self.session.keep(rows)

    def _nothing(self, wanted: Mapping[str, Wanted]) -> Any:
        """Make a log without rows, which text is if all of its files are empty."""
        null = Wanted((), lambda _: "CAST(NULL AS VARCHAR)")
        wanted = {n: null if any(map(expression_of, v.columns)) else v for n, v in wanted.items()}
        columns = chain.from_iterable(value.columns for value in wanted.values())
        undated = replace(self, dating=None, exploded=None)
        rows = undated.without_rows(dict.fromkeys(columns, TEXT), None, wanted)
        return self.spread(self, [], None, wanted, rows) if self.spread else rows

    def same_name(self, column: str) -> str:
        """Write a column of a filter as the log does."""
        written = chain.from_iterable(self.files.values())
        return next((name for name in written if name.lower() == column.lower()), column)

    def _bound(self, rows: duckdb.DuckDBPyRelation, row_filter: str) -> duckdb.Expression:
        """Check the types of a filter with the columns that it meets."""
        condition = duckdb.SQLExpression(row_filter)
        try:
            (sql_type,) = rows.select(condition).types
        except duckdb.Error as error:
            wrong = f"cannot be applied ({first_line(error)})"
        else:
            if str(sql_type) == "BOOLEAN":
                return condition
            wrong = f"gives {sql_type}, not true or false"
        raise self.unsuitable(row_filter, wrong)

    def unsuitable(self, row_filter: str, wrong: str) -> DataError:
        """Word that a filter cannot be applied to the rows."""
        msg = (
            f"{self.session.what}: {self.kind}.where {wrong}: {row_filter}; correct it in the "
            f"configuration, then rerun this day."
        )
        return DataError(msg, Fault(self.kind, "column", "the filter does not suit the columns"))


def open_files(
    session: Session, model: Model, kind: Kind, names: Sequence[str], days: Sequence[date] | None
) -> OpenLog:
    """Open files of a log, whose rows of some days are read, or all if it is None.

    Raises
    ------
    DataError
        If a file is not readable.
    """
    log = log_of(model, kind)
    names = [name for name in names if name.removeprefix("file://") not in session.refused]
    filesystem, _ = open_filesystem(log.path)
    if isinstance(filesystem, LocalFileSystem):
        names = [name.removeprefix("file://") for name in names]
        for name in names:
            _must_be_a_readable_file(session.what, kind, name, log.stored_as)
    else:
        session.reach(filesystem, names, log.stored_as)
    layout = layout_of(log)
    if layout:
        session.lay_out(names, layout)
    files = _inspect(session, log.stored_as, names)
    if log.renamed:
        files = {name: _renamed(types, log) for name, types in files.items()}
    opened = OpenLog(
        *(session, kind, log.stored_as, files),
        dating=dating_of(log, model.time_zone) if log.day else None,
        days=days,
        settings=[log, model.segments and model.segments.column],
        layout=layout,
        exploded=log.explode,
    )
    return _checked(opened)


def _checked(log: OpenLog) -> OpenLog:
    """Check the list that is exploded and the column that dates the rows, which others rest on."""
    if log.exploded and not _check_list(log, log.exploded):
        raise_all(log)
    if log.dating:
        _check_dating(log, log.dating)
    return log


def _check_list(log: OpenLog, exploded: Exploded) -> bool:
    """Note a file without the list, and add the columns of its elements to the others."""
    setting = f"{log.kind}.explode"
    for file, types in log.files.items():
        if own := [name for name in types if name.lower() in ADDED]:
            msg = (
                f"{log.session.what}: the {log.kind} have a column '{own[0]}' of their own "
                f"({file}), which is what explode calls {' and '.join(ADDED)}; write renamed: "
                f"{{{own[0]}: its_{own[0]}}} for that log, or name the column otherwise there."
            )
            log.note(msg, "is there twice")
            return False
    ways = {file: way_of(exploded, types) for file, types in log.files.items()}
    if not all(log.check(way.column, setting) for way in ways.values()):
        return False
    for file, types in log.files.items():
        try:
            types.update(types_of_elements(log.session, ways[file], types))
        except (ValueError, duckdb.Error) as error:
            msg = (
                f"{log.session.what}: column '{named(ways[file].column)}' of the {log.kind} "
                f"{str(error).splitlines()[0]} ({file}); correct {setting} in the configuration: "
                f"it needs a list, JSON with a list in a text, or a text with separator."
            )
            log.note(msg, "has another type")
            return False
    return True


def _check_dating(log: OpenLog, dating: Dating) -> None:
    """Note a column that cannot date the rows."""
    wanted = f"a date, a time, {TIME_TYPES}"
    fits: Fits = lambda type_: is_day(type_, dating.unit)  # noqa: E731
    if log.reader.finds_days:
        wanted = "a date or a timestamp; convert it in sql"
        fits = lambda type_: type_.is_date or type_.is_time  # noqa: E731
    log.check(dating.column, f"{log.kind}.day", fits, wanted)


def open_table_of(
    session: Session, model: Model, kind: Kind, table: Table, days: Sequence[date] | None
) -> OpenLog:
    """Open a table, whose rows of some days are read, or all if it is None."""
    log = log_of(model, kind)
    types = session.types_of_arrow(log.path, table.schema)
    files = {} if days is not None and not days else {log.path: dict(types)}
    dating = dating_of(log, model.time_zone)
    opened = OpenLog(session, kind, log.stored_as, files, dating, days, table, exploded=log.explode)
    return _checked(opened)


def log_of(model: Model, kind: Kind) -> PredictionLog | OutcomeLog:
    """Return where a log is; outcomes may be columns of the predictions."""
    apart = kind == "outcomes" and not model.outcomes.in_predictions
    return model.outcomes if apart else model.predictions


def layout_of(log: PredictionLog | OutcomeLog) -> Layout | None:
    """Return how the files of a log of CSV are laid out; None if they say it themselves."""
    configured = log.columns or log.separator or log.null_text
    return Layout(log.columns, log.separator, log.null_text) if configured else None


def raise_all(*logs: OpenLog) -> None:
    """Raise one DataError with everything that is wrong with the columns, if anything is."""
    problems = [problem for log in logs for problem in log.problems]
    if problems:
        raise DataError("\n".join(map(str, problems)), problems[0].fault)


def _inspect(session: Session, form: Format, names: Sequence[str]) -> dict[str, dict[str, Type]]:
    """Return the columns of each file, those in its path included."""
    files = {name: session.types_of(name, form) for name in names}
    of = FORMATS[form]
    untyped = not of.is_text and any(map(_may_be_untyped, files.values()))
    if untyped or any(types != files[names[0]] for types in files.values()):
        # A program that writes an empty file often does not know its types, and no row needs them.
        filled = {
            name: types for name, types in files.items() if not _is_empty(session, form, name)
        }
        files = filled or ({} if untyped else files)
    if of.is_text:
        files = {
            name: types
            for name, types in files.items()
            if [*types] != [of.of_nothing] or not _is_empty(session, form, name)
        }
    if of.has_keys:
        keys = {key: type_ for types in files.values() for key, type_ in types.items()}
        files = dict.fromkeys(files, keys)
    return {
        name: dict.fromkeys(PATH_PART.findall(name), IN_PATH) | dict(types)
        for name, types in files.items()
    }


def _may_be_untyped(types: Mapping[str, Type]) -> bool:
    """Return whether a column may be one without a type, which DuckDB reads as integers."""
    return any(type_.name == NO_TYPE for type_ in types.values())


def _is_empty(session: Session, form: Format, name: str) -> bool:
    keys = [*session.types_of(name, form)] if FORMATS[form].has_keys else []
    rows = session.read([name], form, columns=keys)
    return not len(rows.limit(1) if FORMATS[form].is_text else rows)  # Parquet knows its length


def _whole(columns: Iterable[str]) -> list[str]:
    """Name the columns, instead of their fields, each once."""
    return [*dict.fromkeys(column.partition(FIELD)[0] for column in columns)]


def _as_written(columns: Iterable[str], types: Mapping[str, Type]) -> list[str]:
    """Name columns as their file does."""
    named_by = ((types[c].written if c in types else ()) or (c,) for c in columns)
    return [*dict.fromkeys(chain.from_iterable(named_by))]


def _renamed(types: Mapping[str, Type], log: PredictionLog | OutcomeLog) -> dict[str, Type]:
    """Give the columns of a file the names of today; any row of JSON lines may have either."""
    today = dict(types)
    for old, new in log.renamed or ():
        if log.format in FORMATS and FORMATS[log.format].has_keys and old in types:
            today[new] = replace(types[old], written=(new, old))
        elif old in types and new not in types:
            today = {
                new if name == old else name: replace(kind, written=(old,)) if name == old else kind
                for name, kind in today.items()
            }
    return today


def _texts(value: object) -> Iterator[str]:
    """List the texts in a value, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def _key(name: str) -> str:
    """Write a name in YAML, in quotes if it needs them."""
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) else json.dumps(name, ensure_ascii=False)


def _of_chosen(value: Wanted, types: Mapping[str, Type], row_filter: str | None) -> str:
    """Write a value that can be an error so that only chosen rows have it.

    A later filter may be run with that of the log, in any order.
    """
    sql = value.sql(types)
    may_fail = "error(" in sql or any(map(expression_of, value.columns))
    return f"CASE WHEN {row_filter} THEN {sql} END" if row_filter and may_fail else sql


def _in_path(column: str) -> str:
    """Write the value of a column that stands in the path, such as country=DE/, in SQL."""
    pattern = text_in_sql(f"/{re.escape(column)}=([^/]*)/")
    value = f"regexp_extract('/' || \"filename\", {pattern}, 1)"
    return f"url_decode(nullif({value}, '{NULL_IN_PATH}'))"


def _must_be_a_readable_file(what: str, kind: Kind, name: str, form: Format) -> None:
    """Raise DataError for a path that would block DuckDB or give a misleading message."""
    path = Path(name)
    if path.is_dir():
        wrong = (
            f"is a folder; name the files in it with {kind}.path in the configuration, such as "
            f"/*.parquet"
        )
    elif not path.is_file():
        wrong = f"is not a regular file; replace it with a {FORMATS[form].name} file"
    elif not os.access(path, os.R_OK, effective_ids=True):
        wrong = "may not be read by this user; grant read permission"
    else:
        return
    msg = f"{what}: {name} {wrong}, then rerun this day."
    raise DataError(msg, Fault(kind, "unreadable", "a file cannot be read"))
