"""The files of a store as bytes: those of days, and those of months that hold days.

Rule 1: files are replaced, never changed in place, so a killed run leaves a readable store.
Rule 2: who has lost the lock of a model writes nothing to it. Every write and removal is fenced: on
a disk the lock is looked at right before a file is renamed; of an object store see `lease`.
Rule 3: the file of a day wins over that of its month, so a correction writes only the former. The
file of a month is written and read back before those of its days are removed, so every day is there
at every moment.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property, partial
from pathlib import Path
from secrets import token_bytes, token_hex
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from monitor.base.errors import ConfigError, DataError, unless_newer
from monitor.base.files import (
    create,
    folder_on_disk,
    open_filesystem,
    reaching,
    replace,
    version_of,
    writing,
)
from monitor.base.temporary import sweep
from monitor.store.held import Held, holding
from monitor.store.held import held as held_of
from monitor.store.holder import Hold, lost
from monitor.store.lease import is_leased, leased
from monitor.store.lock import is_locked, locked
from monitor.store.months import contents_of, days_of_month, month_name, month_table
from monitor.store.names import (
    BACKFILLED,
    DAILY,
    day_file,
    day_of,
    name_before,
    stem,
)
from monitor.store.sealing import (
    FORMAT,
    digest_of_table,
    must_be_known,
    must_be_of,
    open_record,
    open_table,
    owner_of,
    said_digest,
    sealed,
    sealed_record,
)

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

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
TRIES = 3  # to read from the file of a month that another process replaces
IDENTITY = "store.json"  # at the top of a store, written once when it begins
PROBE_BYTES = 65_536  # that no file system compresses or keeps in its own tables
MONTHS_KEPT = 4  # files of months that a store keeps in memory


@dataclass(frozen=True)
class DayFiles:
    """The files of a folder or an object-store prefix; `Store` reads and writes what is in them.

    Attributes
    ----------
    root : str
        A local path or a URL such as ``s3://bucket/prefix``.
    """

    root: str

    @cached_property
    def _folder(self) -> Path | None:
        """The folder of a store on a disk, read without fsspec; None of an object store."""
        return folder_on_disk(self.root)

    @cached_property
    def _location(self) -> "tuple[AbstractFileSystem, str]":
        filesystem, path = open_filesystem(self.root)
        return filesystem, path.rstrip("/")

    @cached_property
    def _opened(self) -> dict[str, tuple[str | None, dict[date, bytes]]]:
        """The last files of months that were read, with the tags that they had."""
        return {}

    def begin(self, now: datetime) -> bool:
        """Give the store its identity unless it has one, and say whether it begins here.

        A store of an earlier version gets one too, but does not begin.

        Raises
        ------
        ConfigError
            If there cannot be a store.
        DataError
            If it cannot be reached or written.
        """
        about = self._identity()
        if about and about.get("format") == FORMAT:
            return False
        is_new = not self.is_there()
        filesystem, root = self._location
        path, what = f"{root}/{IDENTITY}", f"store: {self.root}"
        if about:  # of a program of before, which may touch this store no longer
            replace(filesystem, path, sealed_record({**about, "format": FORMAT}), what=what)
            return False
        about = {"store": token_hex(16), "begun": now.isoformat(), "format": FORMAT}
        with writing(what):
            create(filesystem, path, sealed_record(about))
        return is_new

    def is_there(self) -> bool:
        """Say whether there is a store at this place: its identity, or files that a run wrote.

        Raises
        ------
        ConfigError
            If there cannot be a store.
        DataError
            If it cannot be reached, or a newer version of this program wrote to it.
        """
        self._no_files_yet()
        if self._identity() is not None:
            return True
        kinds = "runs", "summaries"
        if self._folder:
            return any((self._folder / kind).is_dir() for kind in kinds)
        filesystem, root = self._location
        with reaching(self.root):
            return any(filesystem.isdir(f"{root}/{kind}") for kind in kinds)

    def must_be_there(self) -> None:
        """Raise DataError if there is no store at this place; other errors as of `is_there`."""
        if not self.is_there():
            msg = (
                f"store: {self.root} is no store: neither {IDENTITY} nor a result is there; mount "
                f"its volume, or correct store in the configuration. To begin a new store there, "
                f"run calibration-monitor backfill, or calibration-monitor run --begin."
            )
            raise DataError(msg)

    def _identity(self) -> dict[str, Any] | None:
        """Read what the store says of itself; None if it says nothing, empty if that is damaged."""
        with reaching(f"{self.root}/{IDENTITY}"):
            content = self._read_file(IDENTITY)
        if content is None:
            return None
        try:
            about = open_record(content)
        except ValueError:  # it holds no result, so the next run writes it again
            return {}
        must_be_known(f"{self.root}/{IDENTITY}", about)
        return about

    def days(self, kind: str, model: str) -> list[date]:
        """List the days of one kind (`summaries`, `evaluations`, `verdicts`), rising."""
        held = held_of(self.root, model)
        if held and kind in held.days:
            return sorted(held.days[kind])
        names = self._listing(kind, model)
        if names is None:
            # Who holds the lock has found the store already.
            names = {} if held else dict.fromkeys(self._no_files_yet(), "")
        days = {day for name in names for day in [*days_of_month(name), day_of(name)] if day}
        if held:
            held.days[kind], held.months[kind] = {*days}, _months_among(names)
            held.alone[kind] = {day for name in names if (day := day_of(name))}
            held.before |= {f"{kind}/{model}/{name}" for name in names}
        return sorted(days)

    def days_alone(self, kind: str, model: str) -> list[date]:
        """List the days that have a file of their own, rising."""
        return sorted({day for name in self._listing(kind, model) or {} if (day := day_of(name))})

    def months(self, kind: str, model: str) -> dict[str, str]:
        """List the files that hold days of a month, in order, each with a tag as `tags` gives."""
        held = held_of(self.root, model)
        if held and kind in held.months:
            return held.months[kind]
        months = _months_among(self._listing(kind, model) or {})
        if held:
            held.months[kind] = months
        return months

    def models(self) -> list[str]:
        """List the models that have a summary, rising by name."""
        filesystem, root = self._location
        folder = f"{root}/summaries"
        with reaching(f"{self.root}/summaries"):
            try:
                entries = filesystem.ls(folder, detail=True)
            except (FileNotFoundError, NotADirectoryError):
                entries = self._no_files_yet()
        folders = (entry["name"] for entry in entries if entry["type"] == "directory")
        return sorted(name.rstrip("/").rpartition("/")[2] for name in folders)

    def names(self, model: str) -> list[str]:
        """List every file of a model by its name within the store, in order."""
        filesystem, root = self._location
        with reaching(self.root):
            kinds = filesystem.ls(root, detail=False) if filesystem.isdir(root) else []
            paths = [path for kind in kinds for path in filesystem.find(f"{kind}/{model}")]
        return sorted(path[len(root) :].lstrip("/") for path in paths)

    def tags(self, kind: str, model: str) -> dict[date, str]:
        """Give a tag to the file of each day, which changes with the file."""
        tags = self._listing(kind, model, tagged=True) or {}
        of_months = {day: tag for name, tag in tags.items() for day in days_of_month(name)}
        return of_months | {day: tag for name, tag in tags.items() if (day := day_of(name))}

    def content(self, kind: str, model: str, day: date) -> bytes:
        """Read the bytes of one kind and day, for `parse_evaluations` or `parse_verdicts`."""
        return self._read(day_file(kind, model, day))

    def is_sound(self, kind: str, model: str, day: date) -> bool:
        """Say whether the file of a day is there with a digest that fits."""
        digest = None
        with unless_newer():
            digest = self._digest(day_file(kind, model, day))
        return digest is not None

    def month_damage(self, kind: str, model: str, month: str) -> DataError | None:
        """Read a file that holds days of a month, and give what is wrong with it."""
        return damage_of(lambda: self._open_month(kind, model, month))

    def compact(self, kind: str, model: str, days: Sequence[date]) -> str:
        """Write the files of days of one month as one more file, read it back, and name it.

        Raises
        ------
        DataError
            If a file is damaged, or what is read back is not what was written.
        """
        contents = {day: self._read(day_file(kind, model, day)) for day in days}
        return self._write_month(kind, model, contents)

    def drop_replaced(self, kind: str, model: str, month: str) -> None:
        """Remove the files of days and of months whose content a file of a month has too."""
        contents = self._open_month(kind, model, month)
        for other in [*self.months(kind, model)]:
            if {*days_of_month(other)} < contents.keys():
                self._remove_file(f"{kind}/{model}/{other}")
        for file in self._listing(kind, model) or {}:
            name, day = f"{kind}/{model}/{file}", day_of(file)
            if day in contents and self._read_file(name) == contents[day]:
                self._remove_file(name)

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
            its_days = days_of_month(month)
            kept = [day for day in its_days if day not in days]
            if len(kept) < len(its_days):
                contents = self._open_month(kind, model, month) if kept else {}
                if kept:
                    self._write_month(kind, model, {day: contents[day] for day in kept})
                self._remove_file(f"{kind}/{model}/{month}")
        # After the months, else what they hold of a day would be read instead.
        gone = {*days}
        for file in sorted(self._listing(kind, model) or {}):
            if day_of(file) in gone:
                self._remove_file(f"{kind}/{model}/{file}")
        held = held_of(self.root, model)
        if held and kind in held.days:
            held.days[kind].difference_update(days)
        if kind == "summaries":
            self.remove("runs", model, days)

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
            It raises DataError if the lock was lost since: to another process, or because the
            store was removed, replaced or unmounted.
        """
        lock = (
            locked(_lock_file(self._folder, model), what=model, wait=wait)
            if self._folder
            else leased(*self._leases(model), what=model, wait=wait)
        )
        with ExitStack() as held:
            with writing(f"store: {self.root}"):
                hold = held.enter_context(lock)
            with holding(self.root, model, hold):
                yield partial(must_hold, self.root, model, hold)

    def is_locked(self, model: str, *, now: datetime) -> bool:
        """Return whether a process holds the lock of a model; `now` is compared with its lease.

        Of a lease whose holder was killed it is known after five minutes.
        """
        with reaching(f"{self.root}/runs/{model}"):
            if self._folder:
                return is_locked(_lock_file(self._folder, model))
            return is_leased(*self._leases(model), now=now)

    def _leases(self, model: str) -> "tuple[AbstractFileSystem, str]":
        filesystem, root = self._location
        return filesystem, f"{root}/runs/{model}/leases"

    def sweep(self, model: str) -> None:
        """Remove the temporary files that killed runs of a model left on a local disk."""
        if self._folder:
            for kind in (*DAILY, "runs"):
                sweep(self._folder / kind / model)

    def try_to_write(self, name: str) -> None:
        """Write a file beside the results, as large as one of a day, and remove it again.

        Raises
        ------
        DataError
            If the store cannot be written: its disk is full, it is mounted read-only, or this user
            may not.
        """
        filesystem, root = self._location
        path, what = f"{root}/probe/{name}", f"store: {self.root}"
        replace(filesystem, path, token_bytes(PROBE_BYTES), what=what)
        with writing(what), suppress(FileNotFoundError):
            filesystem.rm_file(path)

    def _no_files_yet(self) -> list[Any]:
        """List no files, or raise ConfigError if the store is not a folder."""
        if self._folder:
            wrong = "is a file" if self._folder.is_file() else ""
            if self._folder.is_symlink() and not self._folder.exists():
                wrong = "is a link to nothing"
        else:
            filesystem, root = self._location
            with reaching(self.root):
                wrong = "is a file" if filesystem.isfile(root) else ""
        if wrong:
            msg = f"store: {self.root} {wrong}; name a folder for the store in the configuration."
            raise ConfigError(msg)
        return []

    def _write(self, name: str, table: pa.Table) -> str | None:
        """Write a table, and give its digest."""
        content = content_of(name, table)
        self._replace(name, content)
        return said_digest(content)

    def _replace(self, name: str, content: bytes) -> None:
        filesystem, root = self._location
        # A run sweeps once; to look for leftovers on each write would take longer with each day.
        kind, model, *_ = name.split("/")
        held, day = held_of(self.root, model), day_of(name)
        if held:
            held.files.pop(name, None)
        path, what = f"{root}/{name}", f"store: {self.root}"
        before = partial(must_hold, self.root, model, held.hold) if held else lambda: None
        if held and held.hold.replace:
            with writing(what):
                held.hold.replace(path, content, before)
        else:
            replace(filesystem, path, content, what=what, sweeps=False, before=before)
        if held:
            held.keep(name, content)
            if held.kinds is not None:
                held.kinds.add(kind)
            for listed in (held.days, held.alone):
                if day and kind in listed:
                    listed[kind].add(day)
            self._drop_earlier(held, name, name_before(name))

    def _drop_earlier(self, held: Held, name: str, earlier: str | None) -> None:
        """Remove the file that a program of before wrote by another name."""
        kind, model, _ = name.split("/")
        if earlier and kind not in held.days:
            self.days(kind, model)
        if earlier in held.before:
            held.before.discard(earlier)
            self._unlink(earlier)

    def _digest(self, name: str) -> str | None:
        """Check the bytes of a file and give their digest; None of a version that wrote none."""
        content = self._read(name)
        with parsing(self.root, name):
            return digest_of_table(name, content)

    @contextmanager
    def _table(
        self, name: str, content: bytes, columns: list[str] | None = None
    ) -> Iterator[tuple[pa.Table, str | None]]:
        """Check and read the table of a file, with its digest; what follows parses its rows."""
        with parsing(self.root, name):
            table, digest = open_table(content, columns)
            must_be_of(name, table.schema.metadata or {})
        kind, model, _ = name.split("/")
        of_same_version = partial(self.days, kind, model) if day_of(name) else tuple[date, ...]
        with parsing(self.root, name, of_same_version):  # it is whole: then all are of its version
            yield table, digest

    def _read(self, name: str) -> bytes:
        with reaching(f"{self.root}/{name}"):
            content = self._read_bytes(name)
            if content is None:
                raise FileNotFoundError(name)
        return content

    def _read_bytes(self, name: str) -> bytes | None:
        """Read a file whole; None if it does not exist."""
        held = held_of(self.root, name.split("/")[1])
        if held and name in held.files:
            return held.files[name]
        kind, day = name.split("/", maxsplit=1)[0], day_of(name)
        alone = held.alone.get(kind) if held else None
        content = None
        if day is None or alone is None or day in alone:
            content = self._read_file(name)
        if content is None and day:
            content = self._read_in_month(name, day)
        if held and content is not None:
            held.keep(name, content)
        return content

    def _read_file(self, name: str) -> bytes | None:
        """Read a file, by the name it had before if it has it still; None if it is not there."""
        content = self._read_named(name)
        earlier = name_before(name)
        return self._read_named(earlier) if content is None and earlier else content

    def _read_named(self, name: str) -> bytes | None:
        try:
            if self._folder:
                return (self._folder / name).read_bytes()
            filesystem, root = self._location
            # With a start, s3fs sends one request; without, it first asks for the size.
            return filesystem.cat_file(f"{root}/{name}", start=0)  # type: ignore[no-any-return]
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _read_in_month(self, name: str, day: date) -> bytes | None:
        """Read a day from the file of its month; None if none holds it."""
        kind, model, _ = name.split("/")
        for _ in range(TRIES):
            months = self.months(kind, model)
            month = next((listed for listed in months if day in days_of_month(listed)), None)
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
        with self._table(name, content) as (table, _):
            contents = contents_of(days_of_month(month), table)
        self._opened[name] = tag, contents
        while len(self._opened) > MONTHS_KEPT:
            self._opened.pop(next(iter(self._opened)), None)
        return contents

    def _write_month(self, kind: str, model: str, contents: Mapping[date, bytes]) -> str:
        """Write days of a month into one file, read it back, and name it."""
        month = month_name(sorted(contents))
        self._write(f"{kind}/{model}/{month}", month_table(contents))
        self._forget_months(kind, model)
        if self._open_month(kind, model, month) != contents:
            msg = (
                f"{self.root}/{kind}/{model}/{month}: is not what was written; nothing was "
                f"removed; check the disk or the object store, then run again."
            )
            raise DataError(msg)
        return month

    def _remove_file(self, name: str) -> None:
        self._unlink(name)
        kind, model, _ = name.split("/")
        held = held_of(self.root, model)
        if held:
            held.files.pop(name, None)
            day = day_of(name)
            if day and kind in held.alone:
                held.alone[kind].discard(day)
        self._forget_months(kind, model)

    def _unlink(self, name: str) -> None:
        filesystem, root = self._location
        model = name.split("/")[1]
        held, path = held_of(self.root, model), f"{root}/{name}"
        with writing(f"store: {self.root}"):
            if held:
                held.hold.remove(path, partial(must_hold, self.root, model, held.hold))
            else:
                filesystem.rm_file(path)

    def _forget_months(self, kind: str, model: str) -> None:
        held = held_of(self.root, model)
        if held:
            held.months.pop(kind, None)

    def _listing(self, kind: str, model: str, *, tagged: bool = False) -> dict[str, str] | None:
        """List the files of one kind; None if there is no such folder.

        Each has its tag if it holds days of a month, or if all are to be tagged.
        """
        with reaching(f"{self.root}/{kind}/{model}"):
            try:
                if self._folder:
                    with os.scandir(self._folder / kind / model) as entries:
                        return {
                            entry.name: _tag(entry.stat())
                            if tagged or days_of_month(entry.name)
                            else ""
                            for entry in entries
                        }
                filesystem, root = self._location
                if not self._has(kind, model):
                    return None
                objects = filesystem.ls(f"{root}/{kind}/{model}", detail=True)
            except (FileNotFoundError, NotADirectoryError):
                return None
        return {entry["name"].rpartition("/")[2]: version_of(entry) for entry in objects}

    def _has(self, kind: str, model: str) -> bool:
        """Say whether an object store has the kind at all; who holds the lock looks once."""
        held = held_of(self.root, model)
        if held is None:
            return True
        if held.kinds is None:
            filesystem, root = self._location
            listed = filesystem.ls(root, detail=False)  # some list folders with a slash behind
            held.kinds = {path.rstrip("/").rpartition("/")[2] for path in listed}
        return kind in held.kinds


def content_of(name: str, table: pa.Table) -> bytes:
    """Give the bytes of a file of the store, which says by what name it is read."""
    said = {**owner_of(name), "format": f"{FORMAT}"}
    owner = {key.encode(): value.encode() for key, value in said.items()}
    about = {**(table.schema.metadata or {}), **owner}
    return sealed(name, table.replace_schema_metadata(about))


def _lock_file(folder: Path, model: str) -> Path:
    return folder / "runs" / model / "lock"


def _months_among(names: Mapping[str, str]) -> dict[str, str]:
    return {name: names[name] for name in sorted(names) if days_of_month(name)}


def _tag(status: os.stat_result) -> str:
    """Describe a file on a disk; what replaces it has another number, also in the same moment."""
    return f"{status.st_ino} {status.st_size} {status.st_mtime_ns}"


@contextmanager
def parsing(root: str, name: str, days: Callable[[], Sequence[date]] = tuple) -> Iterator[None]:
    """Turn the errors of parsing a file, damaged or of another version, into a DataError.

    `days` gives those that have to be made again with it, if it is of another version.
    """
    try:
        yield
    except MemoryError:  # Arrow's own is an ArrowException too
        raise
    except PARSING_ERRORS as error:
        msg = (
            f"{root}/{name}: is not a readable file of this store ({type(error).__name__}: "
            f"{error}); it is damaged or of another version: {remedy(name, days())}."
        )
        raise DataError(msg, damaged=name) from error


def damage_of(read: Callable[[], object]) -> DataError | None:
    """Read a file, and give what is wrong with it; other errors are raised."""
    try:
        read()
    except DataError as error:
        if not error.damaged:
            raise
        return error
    return None


def must_hold(root: str, model: str, hold: Hold) -> None:
    """Raise DataError if this process has lost the lock of a model."""
    with reaching(f"{root}/runs/{model}"):
        if hold.is_held():
            return
        successor = hold.successor()
    raise lost(model, successor) if successor else DataError(_vanished(root, model))


def _vanished(root: str, model: str) -> str:
    return (
        f"{model}: the store {root} was removed, replaced or unmounted while this command wrote to "
        f"it, so what is there now is incomplete; bring the store back, then run again."
    )


def remedy(name: str, together: Sequence[date] = ()) -> str:
    """Give the command that writes a file of the store again."""
    kind, model, file = name.split("/")
    if kind == "decisions":
        return "restore it from a backup, or delete it, and what it decided no longer holds"
    if kind in {"runs", "arrivals", "revisions"}:
        return "delete it, then run again"
    command = "backfill" if kind in BACKFILLED else "evaluate"
    days = [*map(str, together or days_of_month(file))] or [stem(file)]
    span = f"--from {days[0]} --to {days[-1]}"
    return f"run calibration-monitor {command} --model {model} {span}"
