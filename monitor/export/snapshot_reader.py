"""Reads a snapshot of the newest results of each configured model from the store.

Rule: every file that matters is read each time; the record of the last run says which these are.
The cache only saves parsing bytes that have not changed, so a snapshot is never out of date.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from monitor import program
from monitor.arrivals import Delay
from monitor.config import Config
from monitor.drift.verdict import Verdict
from monitor.errors import ConfigError, DataError, within_memory
from monitor.evaluation.evaluate import Evaluation
from monitor.export.few_classes import with_few_classes
from monitor.measures.snapshot import Snapshot
from monitor.run_record import RunRecord
from monitor.segment_names import WHOLE
from monitor.store.delays import delays
from monitor.store.settled import settled_model
from monitor.store.store import Store

MOST_SEGMENTS = 50

Parse = Callable[[str, date, bytes], tuple[list[Any], str]]
Files = dict[tuple[str, date], tuple[bytes, list[Any]]]  # by kind and day: bytes, parsed


@dataclass(frozen=True, eq=False)
class Cached:
    """The last snapshot of a model, and the run and files that it was made from."""

    snapshot: Snapshot
    run: RunRecord | None
    files: Files


@dataclass(frozen=True)
class Reader:
    """Reads the newest results of every model, as often as you ask.

    Attributes
    ----------
    config : Config
        Which models, and where the store is.
    most_segments : int
        How many segments of a model are exported, besides `all`; also how many classes, pairs and
        values of columns.
    version : str
        Version of this program.
    """

    config: Config
    most_segments: int = MOST_SEGMENTS
    version: str = field(default_factory=program.version)
    _cached: dict[str, Cached] = field(default_factory=dict, repr=False)

    def snapshots(self) -> dict[str, Snapshot]:
        """Read the newest evaluations and the last run of every model.

        A model whose results cannot be read has none, and its fault.

        Raises
        ------
        ConfigError
            If no model can be read because the store is not a folder, or of an unknown kind.
        DataError
            If no model can be read.
        """
        found, errors = dict[str, Snapshot](), list[ConfigError | DataError]()
        for name in self.config.names:
            try:
                found[name] = self.snapshot(name)
            except (ConfigError, DataError) as error:
                errors.append(error)
                found[name] = self.without_results(name, error)
        if errors and len(errors) == len(found):
            raise errors[0]
        return found

    def without_results(self, name: str, error: ConfigError | DataError) -> Snapshot:
        """Say of a model what is configured, when it ran, and why its results cannot be read."""
        run = None
        with suppress(ConfigError, DataError):
            run = Store(self.config.store).read_run(name)
        return Snapshot(
            models={name: self.config.shown(name)},
            evaluations=[],
            runs={name: run} if run else {},
            version=self.version,
            invalid=frozenset({name} & self.config.invalid.keys()),
            faults={name: str(error)},
        )

    def snapshot(self, name: str) -> Snapshot:
        """Read the newest results and the last run of one model.

        Returns the object of the last call if nothing has changed.

        Raises
        ------
        ConfigError
            If the store is not a folder, or of an unknown kind.
        DataError
            If a file of the store cannot be reached or parsed, or the memory does not suffice.
        """
        with within_memory(name):
            return self._read(name)

    def _read(self, name: str) -> Snapshot:
        store, before, files = Store(self.config.store), self._cached.get(name), Files()
        parse: dict[str, Callable[..., tuple[list[Any], str]]] = {
            "evaluations": store.parse_evaluations,
            "verdicts": store.parse_verdicts,
        }

        def read(kind: str, day: date) -> list[Any]:
            content = store.content(kind, name, day)
            known = before.files.get((kind, day)) if before else None
            if not known or known[0] != content:
                known = content, parse[kind](name, day, content)[0]
            files[kind, day] = known
            return known[1]

        run = store.read_run(name)
        try:
            verdicts, evaluations = _newest(store, name, read, run)
        except DataError:  # files that the record names are gone, or damaged: see what is there
            if not run or not run.newest:
                raise
            files.clear()
            verdicts, evaluations = _newest(store, name, read, None)
        if before and before.run == run and _are_the_same(before.files, files):
            return before.snapshot
        # Only runs count arrivals, so as long as there was none these are the same.
        known = before.snapshot.delays if before and before.run == run else None
        exported, left_out = with_most_outcomes(evaluations, self.most_segments)
        snapshot = Snapshot(
            models={name: settled_model(store, name, self.config.shown(name))},
            evaluations=exported,
            runs={name: run} if run else {},
            version=self.version,
            verdicts=[
                with_few_places(v, self.most_segments)
                for v in verdicts_to_export(verdicts, exported, self.most_segments)
            ],
            left_out={name: left_out} if exported else {},
            invalid=frozenset({name} & self.config.invalid.keys()),
            delays=self._delays(store, name, evaluations) if known is None else known,
        )
        self._cached[name] = Cached(snapshot, run, files)
        return snapshot

    def _delays(
        self, store: Store, name: str, evaluations: Sequence[Evaluation]
    ) -> dict[str, Delay]:
        newest = max((e.day for e in evaluations), default=None)
        model = settled_model(store, name, self.config.shown(name))
        delay = delays(store, name, model)(newest, None) if newest else None
        return {name: delay} if delay else {}


Read = Callable[[str, date], list[Any]]


def _newest(
    store: Store, name: str, read: Read, run: RunRecord | None
) -> tuple[list[Verdict], list[Evaluation]]:
    """Read the newest verdicts, then the newest evaluations.

    In this order, because a run that is under way writes verdicts last.
    """
    verdicts = newest_verdicts(_newest_first(store, name, "verdicts", run), read)
    days = _newest_first(store, name, "evaluations", run)
    return verdicts, newest_evaluations(days, read, verdicts)


def _newest_first(store: Store, name: str, kind: str, run: RunRecord | None) -> Iterator[date]:
    """Give the stored days, the newest first: those that the record names need no listing."""
    named = run.newest.get(kind, ()) if run else ()
    yield from reversed(named)
    yield from (day for day in reversed(store.days(kind, name)) if not named or day < min(named))


def newest_evaluations(
    days: Iterable[date], read: Read, verdicts: Sequence[Verdict] = ()
) -> list[Evaluation]:
    """Find the newest final evaluation of each segment and window, and newer provisional ones.

    The days are given with the newest first.

    A final evaluation that is newer than the verdicts waits for its own.
    """
    found: dict[tuple[str, int, bool], Evaluation] = {}
    for day in days:
        evaluations: list[Evaluation] = read("evaluations", day)
        if _awaits_its_verdict(evaluations, verdicts):
            continue
        for e in evaluations:
            if (e.segment, e.window_days, True) not in found:
                found.setdefault((e.segment, e.window_days, e.final), e)
        if all(e.final for e in evaluations):
            break
    return sorted(found.values(), key=lambda e: (e.segment, e.window_days, e.final))


def _awaits_its_verdict(evaluations: Sequence[Evaluation], verdicts: Sequence[Verdict]) -> bool:
    """Say whether the verdicts are of an earlier day, or of fewer outcomes of the same day."""
    if not verdicts:
        return False
    (day, known_at) = verdicts[0].day, verdicts[0].known_at
    return any(
        e.final and (e.day > day or (e.day == day and e.window_days == 1 and e.known_at > known_at))
        for e in evaluations
    )


def newest_verdicts(days: Iterable[date], read: Read) -> list[Verdict]:
    """Find the verdicts of the newest day that was judged: a settled one, or one with bad logs."""
    for day in days:
        verdicts: list[Verdict] = read("verdicts", day)
        if any(v.shown for v in verdicts):
            return verdicts
    return []


def _are_the_same(before: Files, now: Files) -> bool:
    return before.keys() == now.keys() and all(now[key] is before[key] for key in now)


def verdicts_to_export(
    verdicts: Sequence[Verdict], exported: Sequence[Evaluation], most: int
) -> list[Verdict]:
    """Keep the verdicts of the segments that are exported, and of every open drift: it may page.

    Pairs of classes have verdicts only; those with most evidence stay.
    """
    kept = {WHOLE, *(e.segment for e in exported)}
    if any(e.classes for e in exported):
        ranked = sorted(verdicts, key=lambda v: (-(v.reached or 0.0), v.segment))
        kept |= {v.segment for v in ranked[:most]}
    return [v for v in verdicts if v.segment in kept or v.detector.incident]


def with_few_places(verdict: Verdict, most: int) -> Verdict:
    """Keep the values of columns that are most off, and the worst in every case."""
    found = verdict.where
    return replace(verdict, where=found.worst(max(1, most))) if found else verdict


def with_most_outcomes(
    evaluations: Sequence[Evaluation], most: int
) -> tuple[list[Evaluation], int]:
    """Keep `all` and the segments with most outcomes, and count the segments left out.

    The count of a segment is that of its fullest window; of equal ones the first by name stay.
    """
    outcomes: dict[str, int] = {}
    for e in evaluations:
        if e.segment != WHOLE:
            outcomes[e.segment] = max(e.matched, outcomes.get(e.segment, 0))
    ranked = sorted(outcomes, key=lambda segment: (-outcomes[segment], segment))
    kept = {WHOLE, *ranked[:most]}
    exported = [e for e in evaluations if e.segment in kept]
    return with_few_classes(exported, most), len(ranked[most:])
