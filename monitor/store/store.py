"""The only state: counts, and what is worked out of them, a file per model and day, replaced whole.

::

    <root>/summaries/<model>/2026-03-01.parquet     one day's tallies by segment
    <root>/columns/<model>/2026-03-01.parquet       its counts by the values of other columns
    <root>/entities/<model>/2026-03-01.parquet      its counts by bucket of their entity
    <root>/mapped/<model>/2026-03-01.parquet        its counts of classes through a map
    <root>/evaluations/<model>/2026-03-01.arrows.zst
                                                    every window that ends that day
    <root>/verdicts/<model>/2026-03-01.arrows.zst   verdicts of that day; in the newest and
                                                    one a week, what the fold carries
    <root>/arrivals/<model>/2026-03-01.arrows.zst   its outcomes by the age at which they came
    <root>/revisions/<model>/2026-03-01.arrows.zst  what verdicts of that day said before
    <root>/runs/<model>/2026-03-01.json             times and input files; not reproducible
    <root>/<kind>/<model>/2026-03.01-31.parquet     the files of those days as one, by `compact`
    <root>/store.json                               that a store is here, and which one
    <root>/decisions/<model>/1.json                 what people have decided about the model

Rule 1: the same input gives the same bytes in all but revisions and runs, which depend on when runs
were, and decisions.
Rule 2: every file carries a digest of its bytes, and no byte is used before the digest is checked.
Rule 3: to read results needs their classes, and nothing that computes them: a command that shows
them starts sooner. Fits, which only a run reads, are imported where they are read.
Rules about the files themselves are those of `day_files`.
"""

import hashlib
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from monitor.base.errors import DataError, Fault, unless_newer
from monitor.base.files import reaching
from monitor.days.arrivals import Arrivals
from monitor.days.run_record import FailedDay, RunRecord
from monitor.days.summary import Columns, Entities, Summary, days_between
from monitor.drift.records.verdict import Brief, Carried, Verdict
from monitor.evaluation.evaluation import Causes, Evaluation
from monitor.store.chain import MADE_FROM
from monitor.store.column_table import column_table, columns_of, volumes_of
from monitor.store.day_files import (
    PARSING_ERRORS,
    TRIES,
    content_of,
    damage_of,
    parsing,
    remedy,
)
from monitor.store.decision_log import DecisionLog
from monitor.store.entity_table import entities_of, entity_table
from monitor.store.evaluation_table import OF_CAUSES, causes_of_day, evaluation_of, evaluation_table
from monitor.store.held import held as held_of
from monitor.store.holder import this_process
from monitor.store.months import spans_of
from monitor.store.names import OF_LOGS, day_file
from monitor.store.ranges import (
    check_arrivals,
    check_briefs,
    check_evaluations,
    check_revisions,
    check_verdicts,
)
from monitor.store.revisions import Revision, revision_table, revisions_of, superseded
from monitor.store.sealing import rows_of, said_digest
from monitor.store.summary_table import named_entities, says_final, summary_of, summary_table
from monitor.store.verdict_table import (
    OF_BRIEF,
    briefs_of,
    carried_of,
    verdict_table,
    verdicts_of,
    without_carried,
)

if TYPE_CHECKING:
    from monitor.drift.fold.inputs import ModelReference

NEWEST = 40  # days that the record of a run names: more than a scrape usually reads
MAPPED_BY = "map"  # the fingerprint of the map that a day was counted through
# Of runs, besides one for each day with a summary.
RECORDS = "last", "begun", "stale", "counts", "references", "pruned"


@dataclass(frozen=True, eq=False)
class Mapped:
    """What a map made of a day with classes.

    Attributes
    ----------
    summary : Summary
        As mapped vectors would have made it, of the rows with an outcome.
    by, made_from, mark : str
        Fingerprints: of the map, of the summary of the day, and of this file.
    """

    summary: Summary
    by: str
    made_from: str
    mark: str


@dataclass(frozen=True)
class Store(DecisionLog):
    """What is in the files of a store, as the values that the other rooms use.

    Attributes
    ----------
    root : str
        A local path or a URL such as ``s3://bucket/prefix``.
    """

    def records(self, model: str) -> list[str]:
        """List the records of runs of a model, without `.json`."""
        names = {*self.names(model)}
        of_runs = [record for record in RECORDS if f"runs/{model}/{record}.json" in names]
        days = {*self.days("runs", model)}.intersection(self.days("summaries", model))
        return [*map(str, sorted(days)), *of_runs, *self.digest_records(model)]

    def record_damage(self, model: str, record: str) -> DataError | None:
        """Read a record of runs, and give what is wrong with it."""
        return damage_of(lambda: self._read_record(f"{model}/{record}"))

    def damage(self, kind: str, model: str, day: date) -> DataError | None:
        """Read the file of one kind and day, and give what is wrong with it.

        Raises
        ------
        DataError
            If it cannot be reached.
        """
        read: dict[str, Callable[[str, date], object]] = {
            "summaries": self._read_summary,
            "columns": self.read_columns,
            "entities": self.read_entities,
            "mapped": self.read_mapped,
            "arrivals": self.read_arrivals,
            "evaluations": self.read_evaluations,
            "verdicts": lambda *of: (self.read_verdicts(*of), self.read_carried(*of)),
            "revisions": self.read_revisions,
        }
        return damage_of(lambda: read[kind](model, day))

    def write_summary(self, summary: Summary) -> None:
        """Replace the summary of the one day that `summary` covers, the files beside it first."""
        (day,) = summary.days
        made = None
        if summary.entities:
            name = day_file("entities", summary.model, day)
            made = self._write(name, entity_table(summary.entities))
        if summary.columns:
            self._write(day_file("columns", summary.model, day), column_table(summary.columns))
        self._write(day_file("summaries", summary.model, day), summary_table(summary, made))

    def read_summary(self, model: str, day: date) -> tuple[Summary, str]:
        """Read one day's summary, with its buckets, and the fingerprint of its bytes.

        The fingerprint is also that of the buckets, because the summary names their digest.
        """
        name = day_file("entities", model, day)
        for _ in range(TRIES):  # another process may be replacing both files
            summary, mark, made, content = self._read_summary(model, day)
            if made is None:
                return summary, mark
            entities = self._entities(name, content)
            if said_digest(content) == made:
                return replace(summary, entities=entities), mark
        raise self._another_version(name)

    def _read_summary(self, model: str, day: date) -> tuple[Summary, str, str | None, bytes]:
        """Read a summary, the digest that its file of buckets must have, and that file's bytes."""
        name, beside = (day_file(kind, model, day) for kind in ("summaries", "entities"))
        content = self._read(name)
        with self._table(name, content) as (table, digest):
            summary, made = summary_of(model, day, table), named_entities(table.schema.metadata)
        mark = digest or hashlib.sha256(content).hexdigest()
        if made is None:
            return summary, mark, None, b""
        with reaching(f"{self.root}/{beside}"):
            buckets = self._read_bytes(beside)
        if buckets is None:
            msg = (
                f"{self.root}/{beside}: is missing, but the summary of the day rests on it; "
                f"{remedy(beside)}."
            )
            raise DataError(msg, damaged=beside)
        return summary, mark, made, buckets

    def summary_mark(self, model: str, day: date) -> str:
        """Check the bytes of one day's summary and give their fingerprint."""
        name = day_file("summaries", model, day)
        return self._digest(name) or hashlib.sha256(self._read(name)).hexdigest()

    def read_columns(self, model: str, day: date) -> Columns:
        """Read what each watched column counts on a day."""
        name = day_file("columns", model, day)
        content = self._read(name)
        with self._table(name, content) as (table, _):
            return columns_of(table)

    def read_volumes(self, model: str, day: date) -> Mapping[str, Mapping[str, int]]:
        """Read how many predictions each value of a watched column has on a day, and no counts."""
        name = day_file("columns", model, day)
        with self._table(name, self._read(name), columns=[]) as (table, _):
            return volumes_of(table)

    def is_final(self, model: str, day: date) -> bool:
        """Whether no more outcomes of a stored day can arrive."""
        name = day_file("summaries", model, day)
        with self._table(name, self._read(name), columns=[]) as (table, _):
            return says_final(model, day, table)

    def read_entities(self, model: str, day: date) -> Entities:
        """Read the rows of a day by bucket of their entity."""
        name = day_file("entities", model, day)
        return self._entities(name, self._read(name))

    def _entities(self, name: str, content: bytes) -> Entities:
        with self._table(name, content) as (table, _):
            return entities_of(table)

    def write_mapped(self, summary: Summary, *, by: str, made_from: str) -> None:
        """Replace what a map makes of a day with classes.

        `by` is the fingerprint of the map, and `made_from` the digest of the summary of the day.
        """
        (day,) = summary.days
        table = summary_table(summary)
        said = {MAPPED_BY: by, MADE_FROM: made_from}
        own = {key.encode(): value.encode() for key, value in said.items()}
        about = {**(table.schema.metadata or {}), **own}
        name = day_file("mapped", summary.model, day)
        self._write(name, table.replace_schema_metadata(about))

    def read_mapped(self, model: str, day: date) -> Mapped:
        """Read what a map made of a day."""
        name = day_file("mapped", model, day)
        content = self._read(name)
        with self._table(name, content) as (table, digest):
            about = table.schema.metadata or {}
            by, of = (about[key.encode()].decode() for key in (MAPPED_BY, MADE_FROM))
            return Mapped(summary_of(model, day, table), by, of, digest or "")

    def write_evaluations(
        self,
        model: str,
        day: date,
        evaluations: Sequence[Evaluation],
        *,
        inputs: str,
        made_from: str = "",
        program: str = "",
    ) -> None:
        """Replace the evaluations of one day.

        `inputs` is the fingerprint of all that they rest on, `made_from` the digest of the summary
        of their own day, and `program` that of the sources that evaluate.
        """
        about = {"inputs": inputs, MADE_FROM: made_from, "program": program}
        table = evaluation_table(evaluations).replace_schema_metadata(about)
        self._write(day_file("evaluations", model, day), table)

    def read_evaluations(self, model: str, day: date) -> tuple[list[Evaluation], str]:
        """Read the evaluations of one day and the fingerprint of their inputs."""
        return self.parse_evaluations(model, day, self.content("evaluations", model, day))

    def parse_evaluations(
        self, model: str, day: date, content: bytes
    ) -> tuple[list[Evaluation], str]:
        """Parse the bytes of the file of one day."""
        with self._table(day_file("evaluations", model, day), content) as (table, _):
            inputs = (table.schema.metadata or {})[b"inputs"].decode()
            evaluations = [evaluation_of(row) for row in rows_of(table)]
            check_evaluations(model, day, evaluations)
            return evaluations, inputs

    def read_causes(
        self, model: str, day: date
    ) -> tuple[Mapping[str, Causes | None], tuple[str, str]]:
        """Read the causes of each segment over one day, the digests of its summary and program.

        There are none without evaluations, and of a file that is damaged or of an earlier version.
        """
        name = day_file("evaluations", model, day)
        with (
            unless_newer(),
            self._table(name, self._read(name), OF_CAUSES) as (table, digest),
        ):
            about = table.schema.metadata or {}
            of, by = (about.get(key, b"").decode() for key in (MADE_FROM.encode(), b"program"))
            if digest:
                return causes_of_day(table), (of, by)
        return {}, ("", "")

    def evaluation_inputs(self, model: str, day: date) -> str | None:
        """Read the fingerprint of the evaluations' inputs; None if none are sound."""
        name = day_file("evaluations", model, day)
        with unless_newer(), self._table(name, self._read(name), columns=[]) as (table, digest):
            if digest:
                return (table.schema.metadata or {})[b"inputs"].decode()
        return None

    def write_verdicts(
        self,
        model: str,
        day: date,
        verdicts: Sequence[Verdict],
        *,
        basis: str,
        made_from: str = "",
        carried: Carried | None = None,
    ) -> None:
        """Replace the verdicts of one day.

        `basis` is the fingerprint of limits, references and rules, `made_from` the digest of the
        summary of the day; empty if it has none, because its logs broke the contract. `carried` is
        what the fold carries, of files that hold it.
        """
        about = {"basis": basis, MADE_FROM: made_from}
        self._replace(*_file_of_verdicts(model, day, verdicts, about, carried))

    def replace_verdicts(
        self,
        model: str,
        day: date,
        verdicts: Sequence[Verdict],
        *,
        basis: str,
        made_from: str = "",
        carried: Carried | None = None,
        as_of: date,
    ) -> None:
        """Replace verdicts that are stored already, and keep what they said if it changes."""
        about = {"basis": basis, MADE_FROM: made_from}
        name, content = _file_of_verdicts(model, day, verdicts, about, carried)
        before, earlier = list[Verdict](), list[Revision]()
        with unless_newer():  # of an earlier version or damaged: what they said is lost
            stored = self.content("verdicts", model, day)
            said = self.parse_verdicts(model, day, stored)[0] if stored != content else []
            before, earlier = said, self.read_revisions(model, day)
        if kept := superseded(before, verdicts, earlier, as_of):
            table = revision_table([*earlier, *kept])
            self._write(day_file("revisions", model, day), table)
        self._replace(name, content)

    def read_revisions(self, model: str, day: date) -> list[Revision]:
        """Read what was said of a day before, the oldest first; empty if never otherwise."""
        name = day_file("revisions", model, day)
        with reaching(f"{self.root}/{name}"):
            content = self._read_bytes(name)
        if content is None:
            return []
        with self._table(name, content) as (table, _):
            revisions = revisions_of(table)
            check_revisions(day, revisions)
            return revisions

    def read_verdicts(self, model: str, day: date) -> tuple[list[Verdict], str]:
        """Read the verdicts of one day and the fingerprint of limits and references."""
        return self.parse_verdicts(model, day, self.content("verdicts", model, day))

    def parse_verdicts(self, model: str, day: date, content: bytes) -> tuple[list[Verdict], str]:
        """Parse the bytes of the file of one day."""
        with self._table(day_file("verdicts", model, day), content) as (table, _):
            verdicts = verdicts_of(table, model, day)
            check_verdicts(model, day, verdicts)
            return verdicts, (table.schema.metadata or {})[b"basis"].decode()

    def read_carried(self, model: str, day: date) -> tuple[Carried | None, str]:
        """Read what the fold carries, if the file of a day holds it, and the basis of that file."""
        content = self.content("verdicts", model, day)
        with self._table(day_file("verdicts", model, day), content) as (table, _):
            return carried_of(table), (table.schema.metadata or {})[b"basis"].decode()

    def drop_carried(self, model: str, day: date) -> None:
        """Write the verdicts of a day again, without what the fold carries."""
        name = day_file("verdicts", model, day)
        with self._table(name, self._read(name)) as (table, _):
            said = without_carried(table)
        about = table.schema.metadata or {}
        kept = {key: about[key] for key in (b"basis", MADE_FROM.encode())}
        self._write(name, said.replace_schema_metadata(kept))

    def read_briefs(self, model: str, day: date) -> list[Brief]:
        """Read what a line over many days draws of the verdicts of one day."""
        content = self.content("verdicts", model, day)
        with self._table(day_file("verdicts", model, day), content, OF_BRIEF) as (table, _):
            briefs = briefs_of(table)
            check_briefs(briefs or ())
        if briefs is None:  # it was stored by an earlier version
            return [v.brief for v in self.parse_verdicts(model, day, content)[0]]
        return briefs

    def write_arrivals(self, model: str, arrivals: Arrivals) -> None:
        """Replace the arrivals of one day."""
        columns = {
            "age": pa.array(range(len(arrivals.positives)), pa.int32()),
            "positives": pa.array(arrivals.positives, pa.int64()),
            "negatives": pa.array(arrivals.negatives, pa.int64()),
        }
        self._write(day_file("arrivals", model, arrivals.day), pa.table(columns))

    def read_arrivals(self, model: str, day: date) -> Arrivals:
        """Read how many outcomes of a day arrived at each age."""
        name = day_file("arrivals", model, day)
        with self._table(name, self._read(name)) as (table, _):
            columns = table.to_pydict()
            arrivals = Arrivals(day, tuple(columns["positives"]), tuple(columns["negatives"]))
            check_arrivals(arrivals, columns["age"])
            return arrivals

    def write_inputs(
        self, model: str, day: date, inputs: str, reading: Mapping[str, Any] | None = None
    ) -> None:
        """Record what a summary was made from, its digest, and the settings of what it counts."""
        held = held_of(self.root, model)
        made = {
            kind: digest
            for kind in OF_LOGS
            if held and (digest := held.made.get(day_file(kind, model, day)))
        }
        further = {"made": made, "reading": reading}
        record = {"inputs": inputs, **{key: value for key, value in further.items() if value}}
        self._write_record(f"{model}/{day}", record)

    def read_reading(self, model: str, day: date) -> Mapping[str, Any] | None:
        """Read the settings of what a day counts; None if no readable record has them."""
        reading = self._read_record(f"{model}/{day}", damaged={}).get("reading")
        return reading if isinstance(reading, dict) else None

    def read_inputs(self, model: str, day: date) -> str | None:
        """Read the fingerprint that `write_inputs` recorded; None if no readable one exists.

        Without it the day is only read again.
        """
        return self._read_record(f"{model}/{day}", damaged={}).get("inputs")

    def is_made_from(self, model: str, day: date, inputs: str, kinds: Sequence[str]) -> bool:
        """Say whether the files of a day are sound, and those that were made of these inputs."""
        record = self._read_record(f"{model}/{day}", damaged={})
        if record.get("inputs") != inputs:
            return False
        made = record.get("made", {})
        try:
            digests = {kind: self._digest(day_file(kind, model, day)) for kind in kinds}
        except DataError as error:
            if error.newer:
                raise
            return False
        return all(digest and made.get(kind, digest) == digest for kind, digest in digests.items())

    def write_begin(self, model: str, started: datetime) -> None:
        """Note that this process has begun a run; `write_run` notes its end."""
        record = {"started": started.isoformat(), "process": this_process()}
        self._write_record(f"{model}/begun", record)

    def read_begin(self, model: str) -> tuple[datetime, str] | None:
        """Read when the last run began, and in which process; None if no sound record says it."""
        record = self._read_record(f"{model}/begun", damaged={})
        try:
            return datetime.fromisoformat(record["started"]), str(record["process"])
        except (LookupError, TypeError, ValueError):
            return None

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
        with parsing(self.root, f"runs/{model}/last.json"):
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

    def note_pruned(self, model: str, days: Sequence[date]) -> None:
        """Note that the summaries of some days were removed."""
        removed = sorted({*self.read_pruned(model), *days})
        spans = [[f"{first}", f"{last}"] for first, last in spans_of(removed)] if removed else []
        self._write_record(f"{model}/pruned", {"spans": spans})

    def read_pruned(self, model: str) -> list[date]:
        """Read whose summaries were removed, rising; empty if there is no sound record."""
        spans = self._read_record(f"{model}/pruned", damaged={}).get("spans", [])
        both = [(date.fromisoformat(first), date.fromisoformat(last)) for first, last in spans]
        return [day for first, last in both for day in days_between(first, last)]

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

    def keep_fits(self, model: str, fits: Mapping[str, "ModelReference"]) -> None:
        """Keep fitted references by the fingerprints of all that they rest on.

        Nothing is kept if another process may be writing the model.
        """
        from monitor.store.fit_record import laid_out  # noqa: PLC0415 - see the rule above

        if held_of(self.root, model):
            kept = {basis: laid_out(fit) for basis, fit in fits.items()}
            self._write_record(f"{model}/references", {"fits": kept})

    def read_fits(self, model: str) -> dict[str, "ModelReference"]:
        """Read the references that were kept; empty if there is no sound record."""
        from monitor.store.fit_record import read_back  # noqa: PLC0415 - see the rule above

        record = self._read_record(f"{model}/references", damaged={})
        try:
            return {basis: read_back(fit) for basis, fit in record.get("fits", {}).items()}
        except (*PARSING_ERRORS, zlib.error):
            return {}


def _written(days: Mapping[str, Sequence[date]]) -> dict[str, list[str]]:
    """Write days as a record has them."""
    return {kind: [day.isoformat() for day in of_kind] for kind, of_kind in days.items()}


def _file_of_verdicts(
    model: str,
    day: date,
    verdicts: Sequence[Verdict],
    about: Mapping[str, str],
    carried: Carried | None,
) -> tuple[str, bytes]:
    """Give the name of a file in the store and its bytes."""
    name = day_file("verdicts", model, day)
    return name, content_of(name, verdict_table(verdicts, about=about, carried=carried))
