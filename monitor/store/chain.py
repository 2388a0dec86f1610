"""Which version of a file is the right one: the records of a store, and the chain of digests.

::

    <root>/runs/<model>/2026-03-01.json         from which logs the summary of a day was made, and
                                                the digests of that summary and the files beside it
    <root>/runs/<model>/digests-2026-03.json    the digests of the files of the days of a month
    <root>/runs/<model>/stale.json              from which day on a run has not finished

Evaluations and verdicts name the digest of the summary of their day themselves.

Rule 1: who holds the lock compares each file that it reads with its recorded digest. A file without
one, of an earlier version, gets it then.
Rule 2: the digests are recorded when a run ends. Those of days that a killed run may have written
are void: there a summary is compared with the record of its day, and what rests on it with it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import date
from functools import cache
from typing import Any

from monitor.base.errors import DataError
from monitor.base.files import reaching
from monitor.store.day_files import PARSING_ERRORS, DayFiles, parsing, remedy
from monitor.store.held import Held
from monitor.store.held import held as held_of
from monitor.store.names import DAILY, OF_LOGS, day_file, day_of, stem
from monitor.store.sealing import (
    FORMAT,
    is_readable,
    is_sealed,
    metadata_of,
    must_be_of,
    open_record,
    owner_of,
    said_digest,
    sealed_record,
)
from monitor.store.summary_table import named_entities

MADE_FROM = "made_from"  # the digest of the summary on which results of the same day rest
DIGESTS = "digests-"  # begins the name of the record of a month
Digests = Mapping[str, Mapping[str, str]]  # by day and kind


class Chain(DayFiles):
    """The files of a store, each checked against what the runs that made them recorded."""

    @contextmanager
    def locked(self, model: str, *, wait: bool = True) -> Iterator[Callable[[], None]]:
        """Keep other processes from writing results of a model, as `DayFiles` does.

        Raises
        ------
        DataError
            If a newer version of this program has written the store.
        """
        with super().locked(model, wait=wait) as must_be_there:
            self._unfinished_before(model)  # reads a record, which every run writes
            yield must_be_there

    def _read_bytes(self, name: str) -> bytes | None:
        content, held = super()._read_bytes(name), held_of(self.root, name.split("/")[1])
        if held and content is not None and (place := _place(name)):
            self._must_be_recorded(held, name, *place, content)
        return content

    def _replace(self, name: str, content: bytes) -> None:
        super()._replace(name, content)
        held = held_of(self.root, name.split("/")[1])
        if held and _place(name):
            held.made[name] = said_digest(content)

    def remove(self, kind: str, model: str, days: Iterable[date]) -> None:
        """Remove the files of days of one kind, as `DayFiles` does, and their digests."""
        days = [*days]
        super().remove(kind, model, days)
        held = held_of(self.root, model)
        if held and kind in DAILY:
            held.made |= {day_file(kind, model, day): None for day in days}

    def _must_be_recorded(
        self, held: Held, name: str, kind: str, day: date, content: bytes
    ) -> None:
        """Compare what a file says its digest is with its record, or note it to be recorded."""
        said, model = said_digest(content), name.split("/")[1]
        is_void = name not in held.made and day >= self._unfinished_before(model)
        expected = held.made.get(name) or self._digests(model, day).get(f"{day}", {}).get(kind)
        if expected and said != expected and not is_void and is_readable(content):
            with suppress(*PARSING_ERRORS):
                must_be_of(name, metadata_of(content))  # a file of a newer program is no damage
            raise self._another_version(name)
        if name not in held.made and said and (expected or is_sealed(content)):
            held.made[name] = said

    def _another_version(self, name: str) -> DataError:
        msg = (
            f"{self.root}/{name}: is sound, but older or newer than its record: it is not the file "
            f"that the last run made, so it was put back or exchanged since; {remedy(name)}."
        )
        return DataError(msg, damaged=name)

    def broken_links(self, model: str) -> Iterator[tuple[str, date, DataError]]:
        """Compare every file of a model with its record, and with the summary that it rests on.

        Days that an unfinished run may have written are left out, but for their summaries.

        Yields
        ------
        tuple of (str, date, DataError)
            Kind and day of each file that is not the one that its record names.
        """
        void, summaries = self._unfinished_before(model), dict[date, str | None]()
        buckets = dict[date, str | None]()  # the digests that these summaries name
        digests = cache(lambda month: self._digests(model, month))
        for kind in DAILY:
            for day in self.days(kind, model):
                if day >= void and kind != "summaries":
                    continue
                name = day_file(kind, model, day)
                recorded = digests(day.replace(day=1)).get(f"{day}", {}) if day < void else {}
                on = buckets if kind == "entities" else summaries
                rests_on = on.get(day)
                with suppress(DataError, *PARSING_ERRORS):  # which is told of as damage
                    content = self._read(name)
                    if self._is_another(name, content, recorded.get(kind), rests_on):
                        yield kind, day, self._another_version(name)
                    elif kind == "summaries":
                        summaries[day] = said_digest(content)
                        buckets[day] = named_entities(metadata_of(content))

    def _is_another(
        self, name: str, content: bytes, recorded: str | None, rests_on: str | None
    ) -> bool:
        """Compare a file with its digests in records, and with the summary of its day."""
        kind, model, file = name.split("/")
        expected = {None, said_digest(content)}
        if kind in OF_LOGS:
            made = self._read_record(f"{model}/{stem(file)}", damaged={})
            named = rests_on if kind == "entities" else None
            return not {recorded, made.get("made", {}).get(kind), named} <= expected
        of = metadata_of(content).get(MADE_FROM.encode(), b"").decode()
        return recorded not in expected or bool(of and rests_on and of != rests_on)

    def digest_records(self, model: str) -> list[str]:
        """List the records of digests, without `.json`."""
        names = (name.rpartition("/")[2] for name in self.names(model))
        return [name.removesuffix(".json") for name in names if name.startswith(DIGESTS)]

    def record_digests(self, model: str) -> None:
        """Record the digests of all that this process has read and made of a model."""
        held = held_of(self.root, model)
        if not held:
            return
        made, void = dict(held.made), self._unfinished_before(model)
        for kind in DAILY if void < date.max else ():  # what nobody has read is not known any more
            for day in self.days(kind, model):
                if day >= void:
                    made.setdefault(day_file(kind, model, day), None)
        by_month = defaultdict[date, list[tuple[str, date, str | None]]](list)
        for name, digest in made.items():
            if place := _place(name):
                by_month[place[1].replace(day=1)].append((*place, digest))
        for month, digests in by_month.items():
            self._record_month(model, month, digests)

    def _record_month(
        self, model: str, month: date, made: Iterable[tuple[str, date, str | None]]
    ) -> None:
        """Change the record of a month where something else was made, or nothing is left."""
        before = self._digests(model, month)
        days = {day: dict(kinds) for day, kinds in before.items()}
        for kind, day, digest in made:
            of_day = days.setdefault(f"{day}", {})
            if digest:
                of_day[kind] = digest
            else:
                of_day.pop(kind, None)
        days = {day: kinds for day, kinds in days.items() if kinds}
        held = held_of(self.root, model)
        if held and days != before:
            held.digests[month] = days
            self._write_record(f"{model}/{DIGESTS}{month:%Y-%m}", {"days": days})

    def _digests(self, model: str, day: date) -> Digests:
        """Read the digests of the month of a day; empty if there is no sound record."""
        month, held = day.replace(day=1), held_of(self.root, model)
        if held and month in held.digests:
            return held.digests[month]
        name = f"{model}/{DIGESTS}{month:%Y-%m}"
        digests: Digests = self._read_record(name, damaged={}).get("days", {})
        if held:
            held.digests[month] = digests
        return digests

    def _unfinished_before(self, model: str) -> date:
        """Give the first day that a run before this one left unfinished, else the last possible."""
        held = held_of(self.root, model)
        if not held:
            return self._stale_since(model)
        if held.unfinished is None:
            held.unfinished = self._stale_since(model)
        return held.unfinished

    def mark_stale(self, model: str, first: date, last: date | None = None) -> date:
        """Record that the verdicts from a day on are stale, and return the first stale day.

        The record of a killed run stays, so the next run begins no later than that one did. `last`
        is the last day that the run processes.
        """
        self._unfinished_before(model)
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
        """Record what was made, and that every verdict is up to date with the stored summaries."""
        self.record_digests(model)
        self._write_record(f"{model}/stale", {"first": None})

    def _stale_since(self, model: str) -> date:
        """Read the first day with stale verdicts; all are stale if the record is damaged."""
        noted = self._read_record(f"{model}/stale", damaged={"first": ""}).get("first")
        try:
            return date.max if noted is None else date.fromisoformat(noted)
        except (TypeError, ValueError):
            return date.min

    def _write_record(self, name: str, record: Mapping[str, Any]) -> None:
        file = f"runs/{name}.json"
        self._replace(file, sealed_record({**record, **owner_of(file), "format": FORMAT}))

    def _read_record(
        self, name: str, *, damaged: Mapping[str, Any] | None = None
    ) -> Mapping[str, Any]:
        """Read a record, empty if there is none; `damaged` stands for one that is damaged."""
        file = f"runs/{name}.json"
        try:
            with reaching(f"{self.root}/{file}"):
                content = self._read_bytes(file)
            with parsing(self.root, file):
                record = {} if content is None else open_record(content)
                must_be_of(file, record)
                said = {*owner_of(file), "format"}
                return {key: value for key, value in record.items() if key not in said}
        except DataError as error:
            if damaged is None or not error.damaged:
                raise
            return damaged


def _place(name: str) -> tuple[str, date] | None:
    """Give kind and day of a daily file by its name; None for any other."""
    kind, day = name.partition("/")[0], day_of(name)
    return (kind, day) if day and kind in DAILY else None
