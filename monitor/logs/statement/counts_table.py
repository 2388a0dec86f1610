"""The columns of a log of counts, and what must be true of them. `docs/counts.md` documents both.

A row has the counts of one status, segment, stratum and place of the scores: a cell of the fixed
grid, or an interval from one score to another.
"""

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from monitor.base.errors import DataError, Fault
from monitor.config import Model
from monitor.logs.checks.checks import IN_PREDICTED, OF_OTHER_ROWS, ROW_CHECKS, Status
from monitor.logs.engines.conversions import Wanted, as_it_is, label
from monitor.logs.engines.session import Session
from monitor.logs.sources.opening import raise_all
from monitor.logs.sources.source import open_log
from monitor.metrics.core.grid import CELL_COUNT, OFFSETS_PER_CELL
from monitor.metrics.core.samples import Bools

VERSION = 1
MOST_ROWS = 2**40  # of a day, so that no sum of offsets overflows
NONE = -1  # the place of a row without one
MATCHED, UNLABELLED = "matched", "unlabelled"
STATUSES = {
    MATCHED: Status.MATCHED,
    UNLABELLED: Status.UNLABELLED,
    **{check.name: check.status for check in ROW_CHECKS if check.name != "score_sum"},
}
# Statuses of predictions with a valid score, which have a place among the scores.
SCORED = [name for name, status in STATUSES.items() if status in IN_PREDICTED]
NAMES = [*STATUSES, *OF_OTHER_ROWS]

WHOLE, REAL, TEXT, DAY = pa.int64(), pa.float64(), pa.string(), pa.date32()
Kinds = Mapping[str, pa.DataType]
COUNTS: Kinds = {"rows": WHOLE, "positives": WHOLE}
OF_CELLS: Kinds = {"version": WHOLE, "status": TEXT, "cell": WHOLE, "offset_sum": WHOLE}
OF_INTERVALS: Kinds = {"score_from": REAL, "score_to": REAL}
OPTIONAL: Kinds = {"version": WHOLE, "status": TEXT, "day": DAY, "known_until": DAY}
PARTS = {"segment": "segments", "stratum": "strata"}  # each with the setting that needs it
SETTING = "predictions.path (docs/counts.md lists the columns)"
CONTRADICTION = Fault("predictions", "column", "counts contradict themselves or their day")


@dataclass(frozen=True, eq=False)
class Table:
    """The checked counts of a day, every column of shape (n,).

    Attributes
    ----------
    columns : mapping of str to ndarray
        Counts, and `cell` and `offset_sum` or `score_from` and `score_to`; -1 or nan where a row
        has none.
    texts : mapping of str to list of str or None
        `status`, and `segment` and `stratum` where the log has them.
    known_until : date or None
        The last day whose outcomes are counted, if the log says it.
    """

    columns: Mapping[str, Any]
    texts: Mapping[str, Sequence[str | None]]
    known_until: date | None

    @property
    def has_intervals(self) -> bool:
        """Whether scores are known by interval only."""
        return "score_from" in self.columns

    @property
    def scored(self) -> Bools:
        """Which rows are of predictions with a valid score."""
        return np.isin(np.array(self.texts["status"], object), SCORED)


def read_table(session: Session, model: Model, day: date) -> Table:
    """Read and check the counts of a day.

    Raises
    ------
    DataError
        If a column is missing or has another type, or what is counted cannot be true.
    """
    log = open_log(session, model, "predictions", [day])
    present = {name for types in log.files.values() for name in types}
    kinds = _kinds(present)
    # Rows also differ by a part that the model does not ask for.
    parts = [name for name, key in PARTS.items() if name in present or getattr(model, key)]
    for name in (*kinds, *parts):
        log.check(name, SETTING)
    raise_all(log)
    wanted = {name: as_it_is(name) for name in kinds} | {name: _text(name) for name in parts}
    rows = log.read(None, **wanted).to_arrow_table()
    place = ", ".join(log.files) or log.kind
    return checked_table(rows, session.what, day, place, kinds=kinds, parts=parts)


def checked_table(
    rows: pa.Table, what: str, day: date, place: str, *, kinds: Kinds, parts: Sequence[str]
) -> Table:
    """Check the counts of a day.

    Parameters
    ----------
    rows : Table
        Has the columns of `kinds` and `parts`.
    what, place : str
        Model and day, and where the counts come from, for messages.
    day : date
        The day that they are of.
    kinds : mapping of str to DataType
        The columns with their types.
    parts : sequence of str
        Which of `segment` and `stratum` there are.

    Raises
    ------
    DataError
        If what is counted cannot be true.
    """
    complaints = _Complaints(what, place)
    typed = {name: complaints.cast(rows[name], name, kind) for name, kind in kinds.items()}
    status = typed["status"].to_pylist() if "status" in typed else [MATCHED] * len(rows)
    texts = {"status": status} | {name: rows[name].to_pylist() for name in parts}
    known_until = _check_day(typed, day, complaints)
    table = Table(_numbers(typed), texts, known_until)
    for bad, said, remedy in _contradictions(table):
        complaints.first(bad, table, said, remedy)
    if int(table.columns["rows"].astype(object).sum()) > MOST_ROWS:
        complaints.stop(
            f"the counts have more than {MOST_ROWS:,} rows of predictions and outcomes",
            "correct the statement that counts",
        )
    _check_once(table, complaints)
    return table


def _text(column: str) -> Wanted:
    """Read a value of a segment as the statement writes it."""
    return Wanted((column,), lambda types: f"CAST({label(column).sql(types)} AS VARCHAR)")


def _kinds(present: Container[str]) -> dict[str, pa.DataType]:
    """Give the columns to read with their types: those of intervals, or those of cells."""
    by_interval = "cell" not in present and any(name in present for name in OF_INTERVALS)
    optional = {name: kind for name, kind in OPTIONAL.items() if name in present}
    return {**COUNTS, **(OF_INTERVALS if by_interval else OF_CELLS), **optional}


@dataclass(frozen=True)
class _Complaints:
    """Words what is wrong with the counts of a day, and where."""

    what: str
    place: str

    def stop(self, wrong: str, remedy: str) -> NoReturn:
        """Raise it as an error of the data."""
        msg = f"{self.what}: {wrong} ({self.place}); {remedy}, then rerun this day."
        raise DataError(msg, CONTRADICTION)

    def cast(self, values: Any, name: str, kind: pa.DataType) -> Any:
        """Convert a column."""
        try:
            return values.combine_chunks().cast(kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            wrong = f"column '{name}' of the counts is {values.type}, and not all of it is {kind}"
            self.stop(f"{wrong}: {str(error).splitlines()[0]}", "correct the statement that counts")

    def first(self, bad: Bools, table: Table, said: str, remedy: str) -> None:
        """Raise for the first row that is wrong, with all of its values."""
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            values = {name: of[row] for name, of in (*table.texts.items(), *table.columns.items())}
            shown = ", ".join(f"{name} {value}" for name, value in values.items())
            self.stop(f"{int(bad.sum()):,} rows of counts {said}, first {shown}", remedy)


def _numbers(typed: Mapping[str, Any]) -> dict[str, Any]:
    """Take the numbers; a missing one is negative, and a missing score nan."""
    given = {name: typed[name] for name in typed if typed[name].type in (WHOLE, REAL)}
    given.pop("version", None)
    return {
        name: of.fill_null(math.nan if of.type == REAL else NONE).to_numpy(zero_copy_only=False)
        for name, of in given.items()
    }


def _check_day(typed: Mapping[str, Any], day: date, complaints: _Complaints) -> date | None:
    """Check version and day, and return the last day whose outcomes are counted."""
    for version in _distinct(typed, "version"):
        if version != VERSION:
            newer = version is not None and version > VERSION
            complaints.stop(
                f"the counts have version {version}, and this program reads version {VERSION}",
                "upgrade calibration-monitor" if newer else "count again as docs/counts.md says",
            )
    if other := [of for of in _distinct(typed, "day") if of != day]:
        complaints.stop(
            f"the counts of {day} have rows of {other[0]}", "write each day to its own file"
        )
    ends = _distinct(typed, "known_until")
    if len(ends) > 1 or None in ends:
        complaints.stop(
            f"the counts have the values {', '.join(map(str, ends))} of known_until",
            "write one day in all rows: the last whose outcomes are counted",
        )
    return ends[0] if ends else None


def _distinct(typed: Mapping[str, Any], name: str) -> list[Any]:
    """List the values of a column in order, a missing one first."""
    values = pc.unique(typed[name]).to_pylist() if name in typed else []
    return [*[None] * (None in values), *sorted(value for value in values if value is not None)]


def _contradictions(table: Table) -> Iterator[tuple[Bools, str, str]]:
    """List what rows of counts cannot be: which of them are, what is said of them, the remedy."""
    columns, scored = table.columns, table.scored
    status, rows, positives = (
        np.array(table.texts["status"], object),
        columns["rows"],
        columns["positives"],
    )
    remedy = "correct the statement that counts"
    yield ~np.isin(status, NAMES), "have an unknown status", f"write one of {', '.join(NAMES)}"
    yield (rows < 0) | (positives < 0), "are negative or missing", remedy
    yield positives > rows, "have more positives than rows", remedy
    without = (status != MATCHED) & (positives > 0)
    yield without, "have positives, though no outcome counts there", remedy
    if table.has_intervals:
        low, high = columns["score_from"], columns["score_to"]
        out = scored & ~((low >= 0) & (low <= high) & (high <= 1))
        write = "write 0 <= score_from <= score_to <= 1"
        yield out, "have no interval of probabilities", write
        return
    cell, sums = columns["cell"], columns["offset_sum"]
    out = scored & ((cell < 0) | (cell >= CELL_COUNT))
    yield out, "have a cell out of range", f"write cells 0 to {CELL_COUNT - 1}"
    out = scored & ((sums < 0) | (sums > rows * (OFFSETS_PER_CELL - 1)))
    write = f"add up one offset of 0 to {OFFSETS_PER_CELL - 1} for each row"
    yield out, "have an offset_sum that so many rows cannot have", write


def _check_once(table: Table, complaints: _Complaints) -> None:
    """Check that nothing is counted twice."""
    places = ("score_from", "score_to") if table.has_intervals else ("cell",)
    keys = [*table.texts.values(), *(table.columns[name].tolist() for name in places)]
    seen, twice = set[tuple[Any, ...]](), np.zeros(len(table.columns["rows"]), bool)
    for row, key in enumerate(zip(*keys, strict=True)):
        twice[row] = key in seen
        seen.add(key)
    remedy = "remove what was added a second time, and add up rows of one status, part and place"
    complaints.first(twice, table, "are there twice", remedy)
