"""The only state: summaries and evaluations as Parquet, one file per model and day, replaced whole.

::

    <root>/summaries/<model>/2026-03-01.parquet     one day's tallies by segment
    <root>/columns/<model>/2026-03-01.parquet       its counts by the values of other columns
    <root>/evaluations/<model>/2026-03-01.parquet   every window that ends that day
    <root>/verdicts/<model>/2026-03-01.parquet      verdicts of that day, and their detectors
    <root>/arrivals/<model>/2026-03-01.parquet      its outcomes by the age at which they came
    <root>/revisions/<model>/2026-03-01.parquet     what verdicts of that day said before
    <root>/runs/<model>/2026-03-01.json             times and input files; not reproducible
    <root>/<kind>/<model>/2026-03.01-31.parquet     the files of those days as one, by `compact`

Rule 1: the same input gives the same bytes in all but the last two, which depend on when runs were.
Rule 2: files are replaced, never changed in place, so a killed run leaves a readable store.
Rule 3: every file carries a digest of its bytes, and no byte is used before the digest is checked.
Rule 4: the file of a day wins over that of its month, so a correction writes only the former. The
file of a month is written and read back before those of its days are removed, so every day is there
at every moment.
"""

import hashlib
import os
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
from fsspec.implementations.local import LocalFileSystem

from monitor.arrivals import Arrivals
from monitor.drift.inputs import ModelReference
from monitor.drift.verdict import Verdict
from monitor.errors import ConfigError, DataError, Fault
from monitor.evaluation.attribution import Causes
from monitor.evaluation.evaluate import Evaluation
from monitor.files import open_filesystem, reaching, replace, writing
from monitor.store.column_table import column_table, columns_of
from monitor.store.evaluation_table import (
    OF_CAUSES,
    causes_of_day,
    evaluation_of,
    evaluation_table,
)
from monitor.store.fit_record import laid_out, read_back
from monitor.store.held import held as held_of
from monitor.store.held import holding
from monitor.store.lease import leased
from monitor.store.lock import locked
from monitor.store.months import contents_of, days_of_month, month_name, month_table
from monitor.store.ranges import (
    check_arrivals,
    check_evaluations,
    check_owner,
    check_revisions,
    check_verdicts,
)
from monitor.store.revisions import Revision, revision_table, revisions_of, superseded
from monitor.store.sealing import (
    is_sealed,
    open_record,
    open_table,
    rows_of,
    sealed_record,
    sealed_table,
)
from monitor.store.summary_table import summary_of, summary_table
from monitor.store.verdict_table import verdict_table, verdicts_of
from monitor.summary import Columns, Summary
from monitor.temporary import sweep

FORMAT = 2
PARSING_ERRORS = (
    pa.ArrowException,
    ArithmeticError,
    AttributeError,
    LookupError,
    OSError,
    RecursionError,
    TypeError,
    ValueError,
)
# Kinds of daily files; what rests on others comes after them.
DAILY = "summaries", "columns", "arrivals", "evaluations", "verdicts", "revisions"
TRIES = 3  # to read from the file of a month that another process replaces
MONTHS_KEPT = 4  # files of months that a store keeps in memory
KINDS = *DAILY, "runs"  # whose files `compact` writes as months
NEWEST = 40  # days that the record of a run names: more than a scrape usually reads
# Of runs, besides one for each day with a summary.
RECORDS = "last", "settled", "stale", "counts", "references"


@dataclass(frozen=True)
class FailedDay:
    """A day whose logs broke the contract, and how, as far as gauges can say it."""

    day: date
    fault: Fault | None = None


@dataclass(frozen=True)
class RunRecord:
    """When the last run of a model was, and the last one in which no day failed.

    Attributes
    ----------
    started, finished : datetime
        Of the last run.
    succeeded : datetime or None
        When the last run without a failed day finished.
    failing_since : datetime or None
        When the first run after that one finished, if the last run has a failed day.
    failed : FailedDay or None
        The newest failed day of the last run.
    tables : mapping of str to str
        Of each log that is a Delta Lake or Iceberg table, the version that the last run read: the
        table's own id, and the number of the version or snapshot.
    newest : mapping of str to sequence of date
        The newest days of evaluations and verdicts when that run or `evaluate` ended, rising. With
        them a scrape need not list the days. Records of earlier versions have none.
    """

    started: datetime
    finished: datetime
    succeeded: datetime | None
    failing_since: datetime | None = None
    failed: FailedDay | None = None
    tables: Mapping[str, str] = field(default_factory=dict)
    newest: Mapping[str, Sequence[date]] = field(default_factory=dict)


@dataclass(frozen=True)
class Store:
    """A folder or an object-store prefix.

    Attributes
    ----------
    root : str
        A local path or a URL such as ``s3://bucket/prefix``.
    """

    root: str

    @cached_property
    def _location(self) -> tuple[fsspec.AbstractFileSystem, str]:
        filesystem, path = open_filesystem(self.root)
        return filesystem, path.rstrip("/")

    @cached_property
    def _opened(self) -> dict[str, tuple[str | None, dict[date, bytes]]]:
        """The last files of months that were read, with the tags that they had."""
        return {}

    def days(self, kind: str, model: str) -> list[date]:
        """List the days of one kind (`summaries`, `evaluations`, `verdicts`), rising."""
        known = held_of(self.root, model)
        if known and kind in known.days:
            return sorted(known.days[kind])
        found = self._listing(kind, model)
        if found is None:
            # Who holds the lock has found the store already.
            found = {} if known else dict.fromkeys(self._no_files_yet(), "")
        days = {day for name in found for day in [*days_of_month(name), _day_of(name)] if day}
        if known:
            known.days[kind], known.months[kind] = {*days}, _months_among(found)
            known.alone[kind] = {day for name in found if (day := _day_of(name))}
        return sorted(days)

    def months(self, kind: str, model: str) -> dict[str, str]:
        """List the files that hold days of a month, in order, each with a tag as `tags` gives."""
        known = held_of(self.root, model)
        if known and kind in known.months:
            return known.months[kind]
        found = _months_among(self._listing(kind, model) or {})
        if known:
            known.months[kind] = found
        return found

    def models(self) -> list[str]:
        """List the models that have a summary, rising by name."""
        filesystem, root = self._location
        folder = f"{root}/summaries"
        with reaching(f"{self.root}/summaries"):
            try:
                found = filesystem.ls(folder, detail=True)
            except (FileNotFoundError, NotADirectoryError):
                found = self._no_files_yet()
        folders = (entry["name"] for entry in found if entry["type"] == "directory")
        return sorted(name.rstrip("/").rpartition("/")[2] for name in folders)

    def content(self, kind: str, model: str, day: date) -> bytes:
        """Read the bytes of one kind and day, for `parse_evaluations` or `parse_verdicts`."""
        return self._read(_name(kind, model, day))

    def is_sound(self, kind: str, model: str, day: date) -> bool:
        """Say whether the file of a day is there with a digest that fits."""
        try:
            return is_sealed(self.content(kind, model, day))
        except DataError:
            return False

    def names(self, model: str) -> list[str]:
        """List every file of a model by its name within the store, in order."""
        filesystem, root = self._location
        with reaching(self.root):
            kinds = filesystem.ls(root, detail=False) if filesystem.isdir(root) else []
            found = [path for kind in kinds for path in filesystem.find(f"{kind}/{model}")]
        return sorted(path[len(root) :].lstrip("/") for path in found)

    def records(self, model: str) -> list[str]:
        """List the records of runs of a model, without `.json`."""
        names = {*self.names(model)}
        of_runs = [one for one in RECORDS if f"runs/{model}/{one}.json" in names]
        days = {*self.days("runs", model)}.intersection(self.days("summaries", model))
        return [*map(str, sorted(days)), *of_runs]

    def record_damage(self, model: str, record: str) -> DataError | None:
        """Read a record of runs, and give what is wrong with it."""
        try:
            self._read_record(f"{model}/{record}")
        except DataError as error:
            if not error.damaged:
                raise
            return error
        return None

    def damage(self, kind: str, model: str, day: date) -> DataError | None:
        """Read the file of one kind and day, and give what is wrong with it.

        Raises
        ------
        DataError
            If it cannot be reached.
        """
        read: dict[str, Callable[[str, date], object]] = {
            "summaries": self.read_summary,
            "columns": self.read_columns,
            "arrivals": self.read_arrivals,
            "evaluations": self.read_evaluations,
            "verdicts": self.read_verdicts,
            "revisions": self.read_revisions,
        }
        try:
            read[kind](model, day)
        except DataError as error:
            if not error.damaged:
                raise
            return error
        return None

    def month_damage(self, kind: str, model: str, month: str) -> DataError | None:
        """Read a file that holds days of a month, and give what is wrong with it."""
        try:
            self._open_month(kind, model, month)
        except DataError as error:
            if not error.damaged:
                raise
            return error
        return None

    def days_alone(self, kind: str, model: str) -> list[date]:
        """List the days that have a file of their own, rising."""
        return sorted(day for name in self._listing(kind, model) or {} if (day := _day_of(name)))

    def compact(self, kind: str, model: str, days: Sequence[date]) -> str:
        """Write the files of days of one month as one more file, read it back, and name it.

        Raises
        ------
        DataError
            If a file is damaged, or what is read back is not what was written.
        """
        contents = {day: self._read(_name(kind, model, day)) for day in days}
        return self._write_month(kind, model, contents)

    def drop_replaced(self, kind: str, model: str, month: str) -> None:
        """Remove the files of days and of months whose content a file of a month has too."""
        contents = self._open_month(kind, model, month)
        for other in [*self.months(kind, model)]:
            if {*days_of_month(other)} < contents.keys():
                self._remove_file(f"{kind}/{model}/{other}")
        for day in self.days_alone(kind, model):
            name = _name(kind, model, day)
            if day in contents and self._read_file(name) == contents[day]:
                self._remove_file(name)

    def write_summary(self, summary: Summary) -> None:
        """Replace the summary of the one day that `summary` covers, its watched columns first."""
        (day,) = summary.days
        if summary.columns:
            self._write(f"columns/{summary.model}/{day}.parquet", column_table(summary.columns))
        self._write(f"summaries/{summary.model}/{day}.parquet", summary_table(summary))

    def read_summary(self, model: str, day: date) -> tuple[Summary, str]:
        """Read one day's summary and the fingerprint of its bytes."""
        name = f"summaries/{model}/{day}.parquet"
        content = self._read(name)
        with _parsing(self.root, name):
            table, digest = open_table(content)
            return summary_of(model, day, table), digest or hashlib.sha256(content).hexdigest()

    def read_columns(self, model: str, day: date) -> Columns:
        """Read what each watched column counts on a day."""
        name = f"columns/{model}/{day}.parquet"
        content = self._read(name)
        with _parsing(self.root, name):
            return columns_of(open_table(content)[0])

    def write_evaluations(
        self,
        model: str,
        day: date,
        evaluations: Sequence[Evaluation],
        *,
        inputs: str,
        summary: str = "",
    ) -> None:
        """Replace the evaluations of one day.

        `inputs` is the fingerprint of all that they rest on, `summary` that of their own day.
        """
        table = evaluation_table(evaluations).replace_schema_metadata(
            {"format": str(FORMAT), "inputs": inputs, "summary": summary}
        )
        self._write(f"evaluations/{model}/{day}.parquet", table)

    def read_evaluations(self, model: str, day: date) -> tuple[list[Evaluation], str]:
        """Read the evaluations of one day and the fingerprint of their inputs."""
        return self.parse_evaluations(model, day, self.content("evaluations", model, day))

    def parse_evaluations(
        self, model: str, day: date, content: bytes
    ) -> tuple[list[Evaluation], str]:
        """Parse the bytes of the file of one day."""
        with _parsing(self.root, f"evaluations/{model}/{day}.parquet"):
            table, _ = open_table(content)
            inputs = (table.schema.metadata or {})[b"inputs"].decode()
            evaluations = [evaluation_of(row) for row in rows_of(table)]
            check_evaluations(model, day, evaluations)
            return evaluations, inputs

    def read_causes(self, model: str, day: date) -> tuple[Mapping[str, Causes | None], str]:
        """Read the causes of each segment over one day, and the fingerprint of its summary.

        There are none without evaluations, and of a file that is damaged or of an earlier version.
        """
        try:
            content = self.content("evaluations", model, day)
            with _parsing(self.root, f"evaluations/{model}/{day}.parquet"):
                table, digest = open_table(content, OF_CAUSES)
                of = (table.schema.metadata or {}).get(b"summary", b"").decode()
                return (causes_of_day(table), of) if digest else ({}, "")
        except DataError:
            return {}, ""

    def evaluation_inputs(self, model: str, day: date) -> str | None:
        """Read the fingerprint of the evaluations' inputs; None if none are sound."""
        try:
            content = self.content("evaluations", model, day)
            return self.parse_evaluations(model, day, content)[1] if is_sealed(content) else None
        except DataError:
            return None

    def write_verdicts(
        self, model: str, day: date, verdicts: Sequence[Verdict], *, basis: str
    ) -> None:
        """Replace the verdicts of one day; `basis` is the fingerprint of limits and references."""
        table = verdict_table(verdicts, about={"format": str(FORMAT), "basis": basis})
        self._write(f"verdicts/{model}/{day}.parquet", table)

    def replace_verdicts(
        self, model: str, day: date, verdicts: Sequence[Verdict], *, basis: str, as_of: date
    ) -> None:
        """Replace verdicts that are stored already, and keep what they said if it changes."""
        try:
            before, earlier = self.read_verdicts(model, day)[0], self.read_revisions(model, day)
        except DataError:  # of another version or damaged: what they said is lost
            before, earlier = [], []
        if kept := superseded(before, verdicts, earlier, as_of):
            table = revision_table([*earlier, *kept])
            self._write(f"revisions/{model}/{day}.parquet", table)
        self.write_verdicts(model, day, verdicts, basis=basis)

    def read_revisions(self, model: str, day: date) -> list[Revision]:
        """Read what was said of a day before, the oldest first; empty if never otherwise."""
        name = f"revisions/{model}/{day}.parquet"
        with reaching(f"{self.root}/{name}"):
            content = self._read_bytes(name)
        if content is None:
            return []
        with _parsing(self.root, name):
            revisions = revisions_of(open_table(content)[0])
            check_revisions(day, revisions)
            return revisions

    def read_verdicts(self, model: str, day: date) -> tuple[list[Verdict], str]:
        """Read the verdicts of one day and the fingerprint of limits and references."""
        return self.parse_verdicts(model, day, self.content("verdicts", model, day))

    def parse_verdicts(self, model: str, day: date, content: bytes) -> tuple[list[Verdict], str]:
        """Parse the bytes of the file of one day."""
        with _parsing(self.root, f"verdicts/{model}/{day}.parquet"):
            table, _ = open_table(content)
            verdicts = verdicts_of(table)
            check_verdicts(model, day, verdicts)
            return verdicts, (table.schema.metadata or {})[b"basis"].decode()

    def write_arrivals(self, model: str, arrivals: Arrivals) -> None:
        """Replace the arrivals of one day."""
        columns = {
            "age": pa.array(range(len(arrivals.positives)), pa.int32()),
            "positives": pa.array(arrivals.positives, pa.int64()),
            "negatives": pa.array(arrivals.negatives, pa.int64()),
        }
        table = pa.table(columns, metadata={"model": model, "day": str(arrivals.day)})
        self._write(f"arrivals/{model}/{arrivals.day}.parquet", table)

    def read_arrivals(self, model: str, day: date) -> Arrivals:
        """Read how many outcomes of a day arrived at each age."""
        return self.parse_arrivals(model, day, self.content("arrivals", model, day))

    def parse_arrivals(self, model: str, day: date, content: bytes) -> Arrivals:
        """Parse the bytes of the file of one day."""
        with _parsing(self.root, f"arrivals/{model}/{day}.parquet"):
            table = open_table(content)[0]
            columns, about = table.to_pydict(), table.schema.metadata or {}
            its_model = about.get(b"model", model.encode()).decode()
            check_owner(model, day, its_model, about.get(b"day", str(day).encode()).decode())
            arrivals = Arrivals(day, tuple(columns["positives"]), tuple(columns["negatives"]))
            check_arrivals(arrivals, columns["age"])
            return arrivals

    def remove(self, kind: str, model: str, days: Sequence[date]) -> None:
        """Remove the files of days of one kind; with summaries, the records of their inputs too.

        Raises
        ------
        DataError
            If a damaged file of a month holds other days too.
        """
        if not days:
            return
        for month in [*self.months(kind, model)]:
            held = days_of_month(month)
            kept = [day for day in held if day not in days]
            if len(kept) < len(held):
                contents = self._open_month(kind, model, month) if kept else {}
                if kept:
                    self._write_month(kind, model, {day: contents[day] for day in kept})
                self._remove_file(f"{kind}/{model}/{month}")
        # After the months, else what they hold of a day would be read instead.
        for day in sorted({*days}.intersection(self.days_alone(kind, model))):
            self._remove_file(_name(kind, model, day))
        known = held_of(self.root, model)
        if known and kind in known.days:
            known.days[kind].difference_update(days)
        if kind == "summaries":
            self.remove("runs", model, days)

    def write_inputs(self, model: str, day: date, inputs: str) -> None:
        """Record the files from which the summary of a day was made, as a fingerprint."""
        self._write_record(f"{model}/{day}", {"inputs": inputs})

    def read_inputs(self, model: str, day: date) -> str | None:
        """Read the fingerprint that `write_inputs` recorded; None if no readable one exists.

        Without it the day is only read again.
        """
        return self._read_record(f"{model}/{day}", damaged={}).get("inputs")

    def write_run(
        self,
        model: str,
        *,
        started: datetime,
        finished: datetime,
        failed: FailedDay | None = None,
        tables: Mapping[str, str] | None = None,
        newest: Mapping[str, Sequence[date]] | None = None,
    ) -> None:
        """Note when the last run was, and when the last one without a failed day.

        `newest` are the newest stored days of evaluations and verdicts.
        """
        before = self._run_before(model)
        success = before.succeeded if failed and before else None if failed else finished
        failing = ((before and before.failing_since) or finished) if failed else None
        record = {
            "started": started.isoformat(),
            "finished": finished.isoformat(),
            "succeeded": success.isoformat() if success else None,
            "failing_since": failing.isoformat() if failing else None,
            "failed_day": failed.day.isoformat() if failed else None,
            "fault": asdict(failed.fault) if failed and failed.fault else None,
            **({"tables": dict(tables)} if tables else {}),
            **({"newest": _written(newest)} if newest else {}),
        }
        self._write_record(f"{model}/last", record)

    def newest_days(self, model: str) -> dict[str, Sequence[date]]:
        """List the newest days of what a scrape reads."""
        return {kind: self.days(kind, model)[-NEWEST:] for kind in ("evaluations", "verdicts")}

    def note_newest(self, model: str) -> None:
        """Note the newest days again, after results were written that belong to no run."""
        record = self._read_record(f"{model}/last", damaged={})
        if record.get("newest"):
            newest = _written(self.newest_days(model))
            self._write_record(f"{model}/last", {**record, "newest": newest})

    def read_run(self, model: str) -> RunRecord | None:
        """Read the record of the last run; None if there was none."""
        record = self._read_record(f"{model}/last")
        if not record:
            return None
        with _parsing(self.root, f"runs/{model}/last.json"):
            times = {
                name: datetime.fromisoformat(record[name]) if record.get(name) else None
                for name in ("succeeded", "failing_since")
            }
            day, fault = record.get("failed_day"), record.get("fault")
            return RunRecord(
                started=datetime.fromisoformat(record["started"]),
                finished=datetime.fromisoformat(record["finished"]),
                succeeded=times["succeeded"],
                failing_since=times["failing_since"],
                failed=FailedDay(date.fromisoformat(day), Fault(**fault) if fault else None)
                if day
                else None,
                tables=dict(record.get("tables") or {}),
                newest={
                    kind: [date.fromisoformat(day) for day in days]
                    for kind, days in (record.get("newest") or {}).items()
                },
            )

    def _run_before(self, model: str) -> RunRecord | None:
        """Read the record that a run replaces; None if it is damaged."""
        try:
            return self.read_run(model)
        except DataError as error:
            if not error.damaged:
                raise
            return None

    def tags(self, kind: str, model: str) -> dict[date, str]:
        """Give a tag to the file of each day, which changes with the file."""
        found = self._listing(kind, model, tagged=True) or {}
        of_months = {day: tag for name, tag in found.items() for day in days_of_month(name)}
        return of_months | {day: tag for name, tag in found.items() if (day := _day_of(name))}

    def keep_counts(self, model: str, counts: Mapping[date, Sequence[Any]]) -> None:
        """Keep what was counted of each day, unless another process may be writing the model."""
        if held_of(self.root, model):
            days = {day.isoformat(): list(counted) for day, counted in counts.items()}
            self._write_record(f"{model}/counts", {"days": days})

    def read_counts(self, model: str) -> dict[date, Any]:
        """Read what was counted of each day; empty if there is no sound record."""
        record = self._read_record(f"{model}/counts", damaged={})
        return {
            date.fromisoformat(day): tuple(counted)
            for day, counted in record.get("days", {}).items()
        }

    def keep_fits(self, model: str, fits: Mapping[str, ModelReference]) -> None:
        """Keep fitted references by the fingerprints of all that they rest on.

        Nothing is kept if another process may be writing the model.
        """
        if held_of(self.root, model):
            kept = {basis: laid_out(fit) for basis, fit in fits.items()}
            self._write_record(f"{model}/references", {"fits": kept})

    def read_fits(self, model: str) -> dict[str, ModelReference]:
        """Read the references that were kept; empty if there is no sound record."""
        record = self._read_record(f"{model}/references", damaged={})
        try:
            return {basis: read_back(fit) for basis, fit in record.get("fits", {}).items()}
        except (*PARSING_ERRORS, zlib.error):
            return {}

    def write_settled_after(self, model: str, days: int) -> None:
        """Keep the number of days that `settled_after: auto` was found to be."""
        self._write_record(f"{model}/settled", {"settled_after": days})

    def read_settled_after(self, model: str) -> int | None:
        """Read the number of days that was kept; None if there is none."""
        days = self._read_record(f"{model}/settled").get("settled_after")
        return days if isinstance(days, int) else None

    @contextmanager
    def locked(self, model: str, *, wait: bool = True) -> Iterator[Callable[[], None]]:
        """Keep other processes from writing results of a model; wait until none does.

        Parameters
        ----------
        model : str
            Its name.
        wait : bool
            Whether to wait for a process that works on the model, or else to raise DataError.

        Yields
        ------
        callable
            It raises DataError if the store was removed, replaced or unmounted since.
        """
        filesystem, root = self._location
        lock = (
            locked(Path(root, "runs", model, "lock"), what=model, wait=wait)
            if isinstance(filesystem, LocalFileSystem)
            else leased(filesystem, f"{root}/runs/{model}/leases", what=model, wait=wait)
        )
        with ExitStack() as held:
            with writing(f"store: {self.root}"):
                is_held = held.enter_context(lock)

            def must_be_there() -> None:
                with reaching(f"{self.root}/runs/{model}"):
                    there = is_held()
                if not there:
                    raise DataError(_vanished(self.root, model))

            with holding(self.root, model):
                yield must_be_there

    def sweep(self, model: str) -> None:
        """Remove the temporary files that killed runs of a model left on a local disk."""
        filesystem, root = self._location
        if isinstance(filesystem, LocalFileSystem):
            for kind in (*DAILY, "runs"):
                sweep(Path(root, kind, model))

    def mark_stale(self, model: str, first: date, last: date | None = None) -> date:
        """Record that the verdicts from a day on are stale, and return the first stale day.

        The record of a killed run stays, so the next run begins no later than that one did. `last`
        is the last day that the run processes.
        """
        earliest = min(first, self._stale_since(model))
        span = self.unfinished(model)
        ends = [day for day in (last, span and span[1]) if day]
        self._write_record(
            f"{model}/stale",
            {"first": earliest.isoformat(), "last": max(ends).isoformat() if ends else None},
        )
        return earliest

    def unfinished(self, model: str) -> tuple[date, date | None] | None:
        """Give the first and last day of a run that has not finished; None if each has."""
        first = self._stale_since(model)
        if first == date.max:
            return None
        try:
            return first, date.fromisoformat(
                self._read_record(f"{model}/stale", damaged={})["last"]
            )
        except (LookupError, TypeError, ValueError):
            return first, None

    def clear_stale(self, model: str) -> None:
        """Record that every verdict is up to date with the stored summaries."""
        self._write_record(f"{model}/stale", {"first": None})

    def _stale_since(self, model: str) -> date:
        """Read the first day with stale verdicts; all are stale if the record is damaged."""
        noted = self._read_record(f"{model}/stale", damaged={"first": ""}).get("first")
        try:
            return date.max if noted is None else date.fromisoformat(noted)
        except (TypeError, ValueError):
            return date.min

    def _no_files_yet(self) -> list[Any]:
        """List no files, or raise ConfigError if the store is not a folder."""
        filesystem, root = self._location
        wrong = "is a file" if filesystem.isfile(root) else ""
        if isinstance(filesystem, LocalFileSystem) and Path(root).is_symlink():
            wrong = wrong or ("" if Path(root).exists() else "is a link to nothing")
        if wrong:
            msg = f"store: {self.root} {wrong}; name a folder for the store in the configuration."
            raise ConfigError(msg)
        return []

    def _write_record(self, name: str, record: Mapping[str, Any]) -> None:
        self._replace(f"runs/{name}.json", sealed_record(record))

    def _read_record(
        self, name: str, *, damaged: Mapping[str, Any] | None = None
    ) -> Mapping[str, Any]:
        """Read a record, empty if there is none; `damaged` stands for one that is damaged."""
        try:
            with reaching(f"{self.root}/runs/{name}.json"):
                content = self._read_bytes(f"runs/{name}.json")
            with _parsing(self.root, f"runs/{name}.json"):
                return {} if content is None else open_record(content)
        except DataError as error:
            if damaged is None or not error.damaged:
                raise
            return damaged

    def _write(self, name: str, table: pa.Table) -> None:
        self._replace(name, sealed_table(table))

    def _replace(self, name: str, content: bytes) -> None:
        filesystem, root = self._location
        # A run sweeps once; to look for leftovers on each write would take longer with each day.
        kind, model, *_ = name.split("/")
        known, day = held_of(self.root, model), _day_of(name)
        if known:
            known.files.pop(name, None)
        replace(filesystem, f"{root}/{name}", content, what=f"store: {self.root}", sweeps=False)
        if known:
            known.keep(name, content)
            for listed in (known.days, known.alone):
                if day and kind in listed:
                    listed[kind].add(day)

    def _read(self, name: str) -> bytes:
        with reaching(f"{self.root}/{name}"):
            content = self._read_bytes(name)
            if content is None:
                raise FileNotFoundError(name)
        return content

    def _read_bytes(self, name: str) -> bytes | None:
        """Read a file whole; None if it does not exist."""
        known = held_of(self.root, name.split("/")[1])
        if known and name in known.files:
            return known.files[name]
        kind, day = name.split("/", maxsplit=1)[0], _day_of(name)
        alone = known.alone.get(kind) if known else None
        content = None
        if day is None or alone is None or day in alone:
            content = self._read_file(name)
        if content is None and day:
            content = self._read_in_month(name, day)
        if known and content is not None:
            known.keep(name, content)
        return content

    def _read_file(self, name: str) -> bytes | None:
        filesystem, root = self._location
        try:
            # With a start, s3fs sends one request; without, it first asks for the size.
            return filesystem.cat_file(f"{root}/{name}", start=0)  # type: ignore[no-any-return]
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _read_in_month(self, name: str, day: date) -> bytes | None:
        """Read a day from the file of its month; None if none holds it."""
        kind, model, _ = name.split("/")
        for _ in range(TRIES):
            months = self.months(kind, model)
            month = next((one for one in months if day in days_of_month(one)), None)
            if month is None:
                return None
            with suppress(FileNotFoundError):  # another process has just replaced it
                return self._open_month(kind, model, month)[day]
        raise FileNotFoundError(name)

    def _open_month(self, kind: str, model: str, month: str) -> dict[date, bytes]:
        """Read and check a file of days of a month, unless it is the one of the last time."""
        name, tag = f"{kind}/{model}/{month}", self.months(kind, model).get(month)
        seen = self._opened.get(name)
        if seen and seen[0] == tag:
            return seen[1]
        content = self._read_file(name)
        if content is None:
            raise FileNotFoundError(name)
        with _parsing(self.root, name):
            found = contents_of(kind, model, days_of_month(month), open_table(content)[0])
        self._opened[name] = tag, found
        while len(self._opened) > MONTHS_KEPT:
            self._opened.pop(next(iter(self._opened)), None)
        return found

    def _write_month(self, kind: str, model: str, contents: Mapping[date, bytes]) -> str:
        """Write days of a month into one file, read it back, and name it."""
        month = month_name(sorted(contents))
        self._write(f"{kind}/{model}/{month}", month_table(kind, model, contents))
        self._forget_months(kind, model)
        if self._open_month(kind, model, month) != contents:
            msg = (
                f"{self.root}/{kind}/{model}/{month}: is not what was written; nothing was "
                f"removed; check the disk or the object store, then run again."
            )
            raise DataError(msg)
        return month

    def _remove_file(self, name: str) -> None:
        filesystem, root = self._location
        with writing(f"store: {self.root}"):
            filesystem.rm_file(f"{root}/{name}")
        kind, model, _ = name.split("/")
        known = held_of(self.root, model)
        if known:
            known.files.pop(name, None)
            day = _day_of(name)
            if day and kind in known.alone:
                known.alone[kind].discard(day)
        self._forget_months(kind, model)

    def _forget_months(self, kind: str, model: str) -> None:
        known = held_of(self.root, model)
        if known:
            known.months.pop(kind, None)

    def _listing(self, kind: str, model: str, *, tagged: bool = False) -> dict[str, str] | None:
        """List the files of one kind; None if there is no such folder.

        Each has its tag if it holds days of a month, or if all are to be tagged.
        """
        filesystem, root = self._location
        folder = f"{root}/{kind}/{model}"
        with reaching(f"{self.root}/{kind}/{model}"):
            try:
                if isinstance(filesystem, LocalFileSystem):
                    with os.scandir(folder) as entries:
                        return {
                            entry.name: _tag(entry.stat())
                            if tagged or days_of_month(entry.name)
                            else ""
                            for entry in entries
                        }
                found = filesystem.ls(folder, detail=True)
            except (FileNotFoundError, NotADirectoryError):
                return None
        return {one["name"].rpartition("/")[2]: _tag_of_object(one) for one in found}


def _months_among(names: Mapping[str, str]) -> dict[str, str]:
    return {name: names[name] for name in sorted(names) if days_of_month(name)}


def _name(kind: str, model: str, day: date) -> str:
    """Name the file of a day within the store."""
    return f"{kind}/{model}/{day}.{'json' if kind == 'runs' else 'parquet'}"


def _tag_of_object(found: Mapping[str, Any]) -> str:
    return f"{found.get('ETag', found.get('mtime'))}"


def _tag(found: os.stat_result) -> str:
    """Describe a file on a disk; what replaces it has another number, also in the same moment."""
    return f"{found.st_ino} {found.st_size} {found.st_mtime_ns}"


def _written(days: Mapping[str, Sequence[date]]) -> dict[str, list[str]]:
    """Write days as a record has them."""
    return {kind: [day.isoformat() for day in of_kind] for kind, of_kind in days.items()}


def _day_of(name: str) -> date | None:
    """Take the day from the name of a file of results or of a record; None if it is another."""
    day, _, kind = name.rpartition("/")[2].partition(".")
    if kind not in {"parquet", "json"} or [len(part) for part in day.split("-")] != [4, 2, 2]:
        return None
    try:
        return date.fromisoformat(day)
    except ValueError:
        return None


@contextmanager
def _parsing(root: str, name: str) -> Iterator[None]:
    """Turn the errors of parsing a file, damaged or of another version, into a DataError."""
    try:
        yield
    except MemoryError:  # Arrow's own is an ArrowException too
        raise
    except PARSING_ERRORS as error:
        msg = (
            f"{root}/{name}: is not a readable file of this store ({type(error).__name__}: "
            f"{error}); it is damaged or of another version: {_remedy(name)}."
        )
        raise DataError(msg, damaged=name) from error


def _vanished(root: str, model: str) -> str:
    return (
        f"{model}: the store {root} was removed, replaced or unmounted while this command wrote to "
        f"it, so what is there now is incomplete; bring the store back, then run again."
    )


def _remedy(name: str) -> str:
    """Give the command that writes a file of the store again."""
    kind, model, file = name.split("/")
    if kind in {"runs", "arrivals", "revisions"}:
        return "delete it, then run again"
    command = "backfill" if kind in {"summaries", "columns"} else "evaluate"
    days = [*map(str, days_of_month(file))] or [file.removesuffix(".parquet")]
    span = f"--from {days[0]} --to {days[-1]}"
    return f"run calibration-monitor {command} --model {model} {span}"
