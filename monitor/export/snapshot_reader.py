"""Reads a snapshot of the newest results of each configured model from the store.

Rule: every file that matters is read each time; the record of the last run says which these are.
The cache only saves parsing bytes that have not changed, so a snapshot is never out of date.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from monitor.base import program
from monitor.base.errors import ConfigError, DataError, within_memory
from monitor.base.segment_names import FAMILIES, WHOLE
from monitor.config import Config
from monitor.days.arrivals import Delay
from monitor.days.decisions import rebased
from monitor.days.run_record import RunRecord
from monitor.drift.records.verdict import Verdict
from monitor.evaluation.evaluation import Evaluation
from monitor.export.few_classes import with_few_classes
from monitor.measures.snapshot import Snapshot
from monitor.read.acknowledgements import taken
from monitor.read.delays import delays
from monitor.read.plans import plans_of
from monitor.read.results import Files, Results, results_in, results_read_before
from monitor.read.standing import newest

MOST_SEGMENTS = 50


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
        by_model, errors = dict[str, Snapshot](), list[ConfigError | DataError]()
        for name in self.config.names:
            try:
                by_model[name] = self.snapshot(name)
            except (ConfigError, DataError) as error:
                errors.append(error)
                by_model[name] = self.without_results(name, error)
        if errors and len(errors) == len(by_model):
            raise errors[0]
        return by_model

    def without_results(self, name: str, error: ConfigError | DataError) -> Snapshot:
        """Say of a model what is configured, when it ran, and why its results cannot be read."""
        run = None
        with suppress(ConfigError, DataError):
            run = results_in(self.config.store, name).store.read_run(name)
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
        before, files = self._cached.get(name), Files()
        results = results_read_before(
            *(self.config.store, name, before.files if before else Files(), files),
            plans=plans_of(self.config.shown(name)),
        )
        run = results.store.read_run(name)
        try:
            latest = newest(replace(results, named=run.newest) if run else results)
        except DataError:  # files that the record names are gone, or damaged: see what is there
            if not run or not run.newest:
                raise
            files.clear()
            latest = newest(results)
        if not run and not latest.evaluations:
            must_be_there(results, before)
        holders = {(name, of): holder for of, holder in taken(results, latest.judged).items()}
        same = before and before.run == run and _are_the_same(before.files, files)
        if before and same and before.snapshot.taken == holders:
            return before.snapshot
        # Only runs count arrivals, so as long as there was none these are the same.
        delays = before.snapshot.delays if before and before.run == run else None
        # A new reference counts from the next run on.
        rebases = before.snapshot.rebased if before and before.run == run else None
        if rebases is None:
            rebases = {name: rebased(results.store.decisions(name))}
        exported, left_out = with_most_outcomes(latest.evaluations, self.most_segments)
        snapshot = Snapshot(
            models={name: self.config.shown(name)},
            evaluations=exported,
            runs={name: run} if run else {},
            version=self.version,
            verdicts=[
                with_few_places(v, self.most_segments)
                for v in verdicts_to_export(latest.judged, exported, self.most_segments)
            ],
            left_out={name: left_out} if exported else {},
            invalid=frozenset({name} & self.config.invalid.keys()),
            delays=self._delays(results, latest.evaluations) if delays is None else delays,
            taken=holders,
            rebased=rebases,
        )
        self._cached[name] = Cached(snapshot, run, files)
        return snapshot

    def _delays(self, results: Results, evaluations: Sequence[Evaluation]) -> dict[str, Delay]:
        store, name = results.store, results.model
        last = max((e.day for e in evaluations), default=None)
        delay = delays(store, name, self.config.shown(name))(last, None) if last else None
        return {name: delay} if delay else {}


def must_be_there(results: Results, before: Cached | None) -> None:
    """Raise DataError if there is no store, or if it had results of the model and has none.

    Who removes a model's results wilfully sees this until the model has new ones.
    """
    results.store.must_be_there()
    if before and (before.run or before.snapshot.evaluations):
        msg = (
            f"{results.model}: the store {results.store.root} had results of this model and has "
            f"none now; mount the volume that it was on, or restore it from a backup, or process "
            f"the model again with calibration-monitor backfill."
        )
        raise DataError(msg)


def _are_the_same(before: Files, now: Files) -> bool:
    return before.keys() == now.keys() and all(now[key] is before[key] for key in now)


def verdicts_to_export(
    verdicts: Sequence[Verdict], exported: Sequence[Evaluation], most: int
) -> list[Verdict]:
    """Keep the verdicts of the segments that are exported, and of every open drift: it may page.

    Pairs of classes have verdicts only; those with most evidence stay.
    """
    kept = {*FAMILIES, *(e.segment for e in exported)}
    if any(e.classes for e in exported):
        ranked = sorted(verdicts, key=lambda v: (-(v.reached or 0.0), v.segment))
        kept |= {v.segment for v in ranked[:most]}
    return [v for v in verdicts if v.segment in kept or v.incident]


def with_few_places(verdict: Verdict, most: int) -> Verdict:
    """Keep the values of columns that are most off, and the worst in every case."""
    where = verdict.where
    return replace(verdict, where=where.worst(max(1, most))) if where else verdict


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
