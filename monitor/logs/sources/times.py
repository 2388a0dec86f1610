"""Times and days of rows in SQL, whatever a log writes: a date, a time, text or a number.

A time with a zone, a number that counts from 1970 and a text with an offset are moments, so their
day depends on the model's time zone. A time without a zone has the day that it says.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from monitor.base.sql_text import text_in_sql
from monitor.config import EARLIEST, LATEST, OutcomeLog, PredictionLog, TimeUnit
from monitor.days.summary import end_of_day
from monitor.logs.engines.conversions import WITH_ZONE, Type, Wanted, or_misfit, quoted
from monitor.logs.sources.tables import Range

MICROSECONDS = {"s": 1_000_000, "ms": 1000, "us": 1}
NUMBER = r"-?\d+(\.\d+)?"
OFFSET = r".*\d\s*(Z|UTC|[+-]\d\d(:?\d\d)?)"
OBSERVED, NO_TIME, BEFORE, BEYOND = 0, 1, 2, 3  # what `undated` says of the time of an outcome
PLAIN_DAY, COMPACT_DAY = r"\d{4}-\d{2}-\d{2}", r"\d{8}"


@dataclass(frozen=True)
class Dating:
    """The column that dates the rows of a log.

    Attributes
    ----------
    column : str
        Its name.
    unit : str or None
        The unit if it is a number.
    zone : str
        The time zone of the days.
    piece, pieces : int
        Which of how many equal pieces of every run of days is meant, if the column has times.
    """

    column: str
    unit: TimeUnit | None
    zone: str
    piece: int = 0
    pieces: int = 1

    def day(self) -> Wanted:
        """Read the day of a row; null if there is none, or none that may have logs."""

        def write(types: Mapping[str, Type]) -> str:
            day = self._day(types)
            return f"CASE WHEN {day} BETWEEN DATE '{EARLIEST}' AND DATE '{LATEST}' THEN {day} END"

        return Wanted((self.column,), write)

    def is_in(self, days: Sequence[date], types: Mapping[str, Type]) -> str:
        """Write in SQL that the day of a row is one of some days."""
        type_, column = types[self.column], quoted(self.column)
        if type_.is_text or not days:
            listed = ", ".join(f"DATE '{day}'" for day in days) or "NULL"
            return f"{self._day(types)} IN ({listed})"
        return " OR ".join(
            f"({column} >= {_literal(first)} AND {column} < {_literal(end)})"
            for first, end in self.ranges(days, type_)
        )

    def ranges(self, days: Sequence[date], type_: Type) -> list[Range]:
        """Return ranges of the column's values for some days; of text, ranges that hold them."""
        if type_.is_text:
            return [] if self.unit else _ranges_of_text(days)
        return [
            self._cut(self._start(first, type_), self._start(last + timedelta(days=1), type_))
            for first, last in _runs(days)
        ]

    def can_be_cut(self, type_: Type) -> bool:
        """Return whether a day has many values, so that it can be cut into pieces."""
        return type_.is_time or self.unit_of(type_) is not None

    def _cut(self, low: Any, high: Any) -> Range:
        """Take the piece of a range."""
        if self.pieces == 1:
            return low, high
        span = high - low
        return low + span * self.piece // self.pieces, low + span * (self.piece + 1) // self.pieces

    def _day(self, types: Mapping[str, Type]) -> str:
        type_, column = types[self.column], quoted(self.column)
        if type_.is_text:
            return self._day_of_text(column)
        if type_.has_zone:
            return self._local_day(column)
        return (
            self._local_day(since_1970(column, self.unit))
            if self.unit_of(type_)
            else (f"CAST({column} AS DATE)")
        )

    def _day_of_text(self, column: str) -> str:
        number = (
            f"WHEN regexp_full_match({column}, '{NUMBER}') "
            f"THEN {self._local_day(since_1970(column, self.unit))} "
            if self.unit
            else f"WHEN regexp_full_match({column}, '{COMPACT_DAY}') "
            f"THEN CAST(try_strptime({column}, '%Y%m%d') AS DATE) "
        )
        return (
            f"CASE WHEN regexp_full_match({column}, '{PLAIN_DAY}') THEN TRY_CAST({column} AS DATE) "
            f"{number}WHEN regexp_full_match({column}, '{OFFSET}') "
            f"THEN {self._local_day(f'TRY_CAST({column} AS TIMESTAMPTZ)')} "
            f"ELSE CAST(TRY_CAST({column} AS TIMESTAMP) AS DATE) END"
        )

    def _local_day(self, moment: str) -> str:
        return f"CAST(timezone({text_in_sql(self.zone)}, {moment}) AS DATE)"

    def unit_of(self, type_: Type) -> TimeUnit | None:
        """Return the unit if the type needs one."""
        return self.unit if type_.is_number else None

    def _start(self, day: date, type_: Type) -> date | datetime | int:
        """Return the first value of a day."""
        midnight = end_of_day(day - timedelta(days=1), self.zone)
        if unit := self.unit_of(type_):
            return round(midnight.timestamp()) * 1_000_000 // MICROSECONDS[unit]
        if type_.has_zone:
            return midnight
        return day if type_.is_date else datetime.combine(day, datetime.min.time())


def dating_of(log: PredictionLog | OutcomeLog, zone: str) -> Dating:
    """Return the column that dates the rows of a log whose path does not."""
    return Dating(f"{log.day}", log.time_unit, zone)


def since_1970(column: str, unit: TimeUnit | None) -> str:
    """Write a number as a time with zone; null if it is beyond the years of the calendar."""
    factor = MICROSECONDS[unit or "s"]
    return f"TRY(make_timestamptz(CAST(round(CAST({column} AS DOUBLE) * {factor}) AS BIGINT)))"


def moment(column: str, setting: str, unit: TimeUnit | None, *, zoned: bool) -> Wanted:
    """Read a time; text becomes a time with zone, or without one if no value has an offset."""

    def write(types: Mapping[str, Type]) -> str:
        type_, value = types[column], quoted(column)
        if type_.is_number:
            kind = f"a time in {unit} since 1970"
            return or_misfit(column, since_1970(value, unit), kind, f"{setting}_unit")
        if not type_.is_text:
            return value
        if not zoned:
            plain = (
                f"TRY_CAST(CASE WHEN NOT regexp_full_match({value}, '{OFFSET}') THEN {value} END"
            )
            kind = "a time without zone, as the other log has"
            return or_misfit(column, f"{plain} AS TIMESTAMP)", kind, setting)
        cast, kind = f"TRY_CAST({value} AS TIMESTAMPTZ)", "a time such as 2026-03-01T10:00:00Z"
        if unit:
            number = f"regexp_full_match({value}, '{NUMBER}')"
            cast = f"CASE WHEN {number} THEN {since_1970(value, unit)} ELSE {cast} END"
            kind = f"{kind} or in {unit} since 1970"
        return or_misfit(column, cast, kind, setting)

    return Wanted((column,), write)


def undated(observed_at: Wanted, *, missing: bool, impossible: bool) -> Wanted:
    """Read whether the time of an outcome is one at which it may have been observed.

    Parameters
    ----------
    observed_at : Wanted
        The time.
    missing, impossible : bool
        Whether null is none; and neither the first day of 1970, or one before, nor one beyond all
        days that may have logs.
    """
    first = datetime.combine(date(1970, 1, 2), datetime.min.time())
    last = datetime.combine(LATEST, datetime.min.time())

    def write(types: Mapping[str, Type]) -> str:
        at = observed_at.sql(types)
        before, beyond = _compared(at, "<", first), _compared(at, ">", last)
        cases = [f"WHEN {at} IS NULL THEN {NO_TIME}"] * missing
        cases += [f"WHEN {before} THEN {BEFORE}", f"WHEN {beyond} THEN {BEYOND}"] * impossible
        return f"CAST(CASE {' '.join(cases)} ELSE {OBSERVED} END AS TINYINT)"

    return Wanted(observed_at.columns, write)


def _compared(at: str, sign: str, moment: datetime) -> str:
    """Compare a time with a moment of UTC, or one without zone with the same on a clock."""
    zoned = moment.replace(tzinfo=UTC)
    return _by_zone(
        at,
        f"CAST({at} AS TIMESTAMPTZ) {sign} {_literal(zoned)}",
        f"CAST({at} AS TIMESTAMP) {sign} {_literal(moment)}",
    )


def _by_zone(at: str, zoned: str, local: str) -> str:
    """Write a value of times with a zone, and one of times without."""
    return f"CASE typeof({at}) WHEN '{WITH_ZONE}' THEN {zoned} ELSE {local} END"


def known_by(
    day: date, zone: str, outcome: Wanted, observed_at: Wanted, dated: Wanted | None
) -> Wanted:
    """Read an outcome that was observed by the end of a day; a later one is null.

    `dated` is what `undated` reads, if an impossible time is no later one.
    """
    end = end_of_day(day, zone)
    local = datetime.combine(day + timedelta(days=1), datetime.min.time())

    def write(types: Mapping[str, Type]) -> str:
        at, value = observed_at.sql(types), outcome.sql(types)
        is_late = _by_zone(at, f"{at} >= {_literal(end)}", f"{at} >= {_literal(local)}")
        late = f"coalesce({is_late}, FALSE)"
        if dated:
            late += f" AND {dated.sql(types)} <> {BEYOND}"
        return f"CASE WHEN {late} THEN NULL ELSE {value} END"

    return Wanted((*outcome.columns, *observed_at.columns), write)


def age_on(day: date, zone: str, observed_at: Wanted) -> Wanted:
    """Read how many days after a day an outcome was observed; a time without zone is local."""

    def write(types: Mapping[str, Type]) -> str:
        at = observed_at.sql(types)
        there = f"CAST(timezone({text_in_sql(zone)}, {at}) AS DATE)"
        return f"{_by_zone(at, there, f'CAST({at} AS DATE)')} - {_literal(day)}"

    return Wanted(observed_at.columns, write)


def is_time(type_: Type, unit: TimeUnit | None) -> bool:
    """Return whether values of a type can be times; numbers need a unit."""
    by_itself = type_.is_time or type_.is_text
    return by_itself or (type_.is_number and unit is not None)


def is_day(type_: Type, unit: TimeUnit | None) -> bool:
    """Return whether values of a type can be days."""
    return type_.is_date or is_time(type_, unit)


def _literal(value: date | datetime | int) -> str:
    if isinstance(value, datetime):
        return f"{'TIMESTAMPTZ' if value.tzinfo else 'TIMESTAMP'} '{value.isoformat(sep=' ')}'"
    return f"DATE '{value}'" if isinstance(value, date) else str(value)


def _runs(days: Sequence[date]) -> list[tuple[date, date]]:
    """Return the first and last day of each run of days that follow each other."""
    runs = list[tuple[date, date]]()
    for day in sorted(days):
        if runs and day - runs[-1][1] <= timedelta(days=1):
            runs[-1] = runs[-1][0], day
        else:
            runs.append((day, day))
    return runs


def _ranges_of_text(days: Sequence[date]) -> list[Range]:
    """Return ranges of text that hold all forms of the days; an offset may move one by a day."""
    margin = timedelta(days=1)
    return [
        ((first - margin).strftime(form), (last + 2 * margin).strftime(form))
        for first, last in _runs(days)
        for form in ("%Y-%m-%d", "%Y%m%d")
    ]
