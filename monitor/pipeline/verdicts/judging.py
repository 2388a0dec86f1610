"""From stored summaries to stored verdicts: which days are the reference, and where to begin.

Rule 1: the file of the first judged day of every week holds what the fold carries after that day,
and the newest file what it carries after the newest settled day. So a morning goes on from the
newest, a redone day from the week before, and the files are the same whatever the order was.
Rule 2: a fold that begins without one begins with the first day after its reference. If that was
pruned, it is an error: what is left would answer otherwise.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cached_property, partial

from monitor.base import program
from monitor.base.errors import DataError
from monitor.base.segment_names import WHOLE
from monitor.config import Config, Model
from monitor.days.arrivals import late
from monitor.days.summary import end_of_day
from monitor.drift.evidence.history import week_of
from monitor.drift.fold.inputs import Day, failed_day, inputs_of, reference_of_day
from monitor.drift.records.verdict import Carried, Verdict
from monitor.drift.verdicts.judge import days_needed, judge
from monitor.pipeline.days.neighbours import known_until
from monitor.pipeline.days.progress import (
    ALONE,
    Failure,
    Pace,
    PhaseProgress,
    fingerprint,
    in_parallel,
)
from monitor.pipeline.verdicts.reading import Readings
from monitor.pipeline.verdicts.references import References, StrataFinder, limits_of
from monitor.pipeline.verdicts.watching import value_watcher, watches_values
from monitor.pipeline.verdicts.where import ColumnReader, place_adder
from monitor.read.delays import delays
from monitor.store.store import Store
from monitor.words.verdict import sentences


@dataclass(frozen=True)
class Known:
    """What a run knows beyond its store.

    Attributes
    ----------
    as_of : date or None
        As for `run`; needed with failures. What verdicts said before is kept, as known until then.
    failures : sequence of Failure
        Days of this run that have no summary because their logs broke the contract.
    may_heal : bool
        Whether to raise DataError for a damaged file from which to go on, instead of going on from
        an earlier one.
    """

    as_of: date | None = None
    failures: Sequence[Failure] = ()
    may_heal: bool = False


NOTHING_KNOWN = Known()


@dataclass(frozen=True, eq=False)
class _Days:
    """The days of a model that are judged: those with a summary, and `complaints` of others."""

    config: Config
    name: str
    references: References
    complaints: Mapping[date, Day]

    @cached_property
    def store(self) -> Store:
        return Store(self.config.store)

    @cached_property
    def model(self) -> Model:
        return self.config.model(self.name)

    @cached_property
    def summarised(self) -> set[date]:
        return set(self.store.days("summaries", self.name))

    @cached_property
    def days(self) -> list[date]:
        return sorted({*self.summarised, *self.complaints})


@dataclass(frozen=True)
class _Beginning:
    """From where a fold goes on.

    Attributes
    ----------
    basis : str
        What its verdicts rest on.
    carried : Carried or None
        What the fold carries; None if it begins with the first day.
    day : date
        The first day that is written.
    weekly : set of date
        The days whose files hold what is carried.
    held_before : date
        The file that held it as the newest one, and holds it no more; the first day if none does.
    """

    basis: str
    carried: Carried | None
    day: date
    weekly: set[date]
    held_before: date


def judge_days(
    config: Config,
    name: str,
    references: References,
    first: date,
    known: Known = NOTHING_KNOWN,
    pace: Pace = ALONE,
) -> list[date]:
    """Give every day from the first to the last stored one its verdict.

    Parameters
    ----------
    config, name : Config, str
        As for `run`.
    references : References
        What `read_references` found, after the summaries were written.
    first : date
        The first day whose summary may have changed; if limits or references have, the verdicts
        begin with the first stored day.
    known : Known
        What the run knows beyond the store.
    pace : Pace
        How the days are read.

    Returns
    -------
    list of date
        The days whose verdicts were written.

    Raises
    ------
    DataError
        If a file of the store cannot be read, or days were pruned that the verdicts need.
    """
    complaints = {of.day: of for of in _complaints(config, name, known)}
    held = _Days(config, name, references, complaints)
    begin, marks = _beginning(held, first, may_heal=known.may_heal), dict[date, str]()
    carried, read = begin.carried, _reader(held, marks)
    before = [d for d in held.days if carried and d <= carried.day]
    to_do, detectors = held.days[len(before) :], carried.detectors if carried else {}
    limits = limits_of(held.model)
    verdicts = judge(
        name,
        in_parallel(read, to_do, pace.jobs),
        references=references.fitted,
        limits=limits,
        recent=[read(d) for d in days_needed(before, detectors, limits)],
        detectors=detectors,
        recall=lambda day: read(day) if day in held.summarised else None,
    )
    columns = ColumnReader(held.model, held.store, name)
    placed = map(place_adder(columns, references, carried), verdicts)
    watched = map(value_watcher(columns, references, carried), placed)
    write = _writer(held, begin, known.as_of)
    for done, (of_day, holds) in enumerate(_with_carried(watched, begin, held.days), 1):
        day = of_day[0].day
        if day >= begin.day:  # earlier ones are folded again only to go on from them
            write(of_day, marks.get(day, ""), holds)
        pace.on_progress(PhaseProgress("judge", day, done, len(to_do)))
    if begin.held_before < begin.day:
        held.store.drop_carried(name, begin.held_before)
    held.store.clear_stale(name)
    return [day for day in to_do if day >= begin.day]


def _beginning(held: _Days, first: date, *, may_heal: bool) -> _Beginning:
    """Find from where the fold goes on, if a day may have changed, and mark what is made again."""
    store, name, days, model = held.store, held.name, held.days, held.model
    # Models without columns keep the basis that they had.
    unwatched = ["no values"] if model.columns and not watches_values(model) else []
    of_limits = repr(limits_of(model))
    basis = fingerprint([program.RULES, of_limits, held.references.marks, *unwatched])
    stale = store.mark_stale(name, first)
    carried = newest_before(store, name, stale, basis, may_heal=may_heal)
    begin, weekly = stale if carried else min([stale, *days]), {*first_of_weeks(days)}
    newest = max(store.days("verdicts", name), default=begin)
    held_before = newest if newest < begin and newest not in weekly else begin
    if held_before < stale:  # if this run is killed, the next one makes again all that it wrote
        store.mark_stale(name, held_before)
    if days and not carried:
        must_reach(store, name, held.references, days)
    return _Beginning(basis, carried, begin, weekly, held_before)


def _reader(held: _Days, marks: dict[date, str]) -> Callable[[date], Day]:
    """Return what reads a day as it is judged, and notes what its summary was made from."""
    store, name, model = held.store, held.name, held.model
    delay_on, finder = delays(store, name, model), StrataFinder(model, store, name)
    readings = Readings(store, name)

    def read(day: date) -> Day:
        if day in held.complaints:
            return held.complaints[day]
        summary, marks[day] = store.read_summary(name, day)
        compared = reference_of_day(day, held.references.fitted)
        prepared = finder.split(inputs_of(summary), compared.strata if compared else None)
        prepared = readings.compared(prepared, compared)
        return replace(prepared, late=late(delay_on(day, prepared.known_at), model.settled_after))

    return read


def _with_carried(
    verdicts: Iterable[list[Verdict]], begin: _Beginning, days: Sequence[date]
) -> Iterator[tuple[list[Verdict], Carried | None]]:
    """Add to each day what its file holds of what the fold carries: of a week, and of the end."""
    settled = begin.carried
    for of_day in verdicts:
        day, now = of_day[0].day, carried_after(of_day)
        settled = now if of_day[0].final else settled
        yield of_day, settled if day == days[-1] else now if day in begin.weekly else None


def _writer(
    held: _Days, begin: _Beginning, as_of: date | None
) -> Callable[[list[Verdict], str, Carried | None], None]:
    """Return what stores the verdicts of a day; what they said before is kept with `as_of`."""
    store, name, basis = held.store, held.name, begin.basis
    until = known_until(store, name, held.model, as_of) if as_of else None
    judged = set(store.days("verdicts", name)) if until else set()

    def write(of_day: list[Verdict], made_from: str, carried: Carried | None) -> None:
        day = of_day[0].day
        told = [replace(verdict, reasons=sentences(verdict)) for verdict in of_day]
        keep: Callable[..., None] = store.write_verdicts
        if until and day in judged:
            keep = partial(store.replace_verdicts, as_of=until)
        keep(name, day, told, basis=basis, made_from=made_from, carried=carried)

    return write


def _complaints(config: Config, name: str, known: Known) -> Iterator[Day]:
    """Collect the days without a summary whose logs broke the contract, now or before.

    A complaint of a day that was not over then is none, and is removed.
    """
    store, time_zone = Store(config.store), config.model(name).time_zone
    summarised = set(store.days("summaries", name))
    fresh = {f.day: f.message for f in known.failures if f.day not in summarised}
    for day in store.days("verdicts", name):
        if day not in summarised and day not in fresh:
            (verdict, *_), _ = store.read_verdicts(name, day)
            if verdict.state != "data_error":  # its summary was deleted: the day is not known
                continue
            if verdict.known_at < end_of_day(day, time_zone):  # told before the day was over
                store.remove("verdicts", name, [day])
            else:
                yield failed_day(day, verdict.known_at, verdict.facts.complaint)
    if known.as_of:
        known_at = end_of_day(known.as_of - timedelta(days=1), time_zone)
        yield from (failed_day(day, known_at, message) for day, message in fresh.items())


def carried_after(verdicts: Sequence[Verdict]) -> Carried:
    """Collect what later days need of the fold up to the day of these verdicts."""
    whole = next(verdict for verdict in verdicts if verdict.segment == WHOLE)
    return Carried(
        day=whole.day,
        detectors={verdict.segment: verdict.detector for verdict in verdicts},
        values=whole.values,
        opened=whole.incident.opened if whole.incident else None,
        explained=whole.explanation.every if whole.explanation else (),
    )


def first_of_weeks(days: Sequence[date]) -> list[date]:
    """Choose the first day of each week, of days that rise.

    Examples
    --------
    >>> days = [date(2026, 3, day) for day in (1, 2, 3, 7, 8, 17)]
    >>> [f"{day:%a %d}" for day in first_of_weeks(days)]
    ['Sun 01', 'Mon 02', 'Tue 17']
    """
    firsts = {week_of(day): day for day in reversed(days)}
    return sorted(firsts.values())


def newest_before(
    store: Store, name: str, first: date, basis: str, *, may_heal: bool
) -> Carried | None:
    """Read what the fold carries from the newest day before `first` of which a file holds it.

    None if none does, or if the files rest on other limits, references or rules. If one is damaged,
    a run that may heal it has to know; otherwise an earlier one is taken.
    """
    for day in _holding(store.days("verdicts", name), first):
        try:
            carried, theirs = store.read_carried(name, day)
        except DataError as error:
            if error.newer or (error.damaged and may_heal and day < first):
                raise
            continue
        if theirs != basis:
            return None
        if carried and carried.day < first:
            return carried
    return None


def _holding(stored: Sequence[date], first: date) -> Iterator[date]:
    """Name the files that may hold it: the newest one, then those of weeks, falling."""
    yield from stored[-1:]
    yield from (day for day in reversed(first_of_weeks(stored)) if day < first)


def must_reach(store: Store, name: str, references: References, days: Sequence[date]) -> None:
    """Raise DataError if days were pruned that a fold from its reference on needs."""
    compared = reference_of_day(days[-1], references.fitted)
    if not compared:
        return
    gone = {*store.read_pruned(name)}.difference(store.days("summaries", name))
    needed = sorted(day for day in gone if compared.last < day < days[-1])
    if needed:
        span = f"--from {needed[0]} --to {needed[-1]}"
        msg = (
            f"{name}: verdicts rest on all days since their reference, {compared.first} to "
            f"{compared.last}, and those from {needed[0]} to {needed[-1]} were pruned, so what is "
            f"left would give other answers; run calibration-monitor backfill --model {name} "
            f"{span}, or, if their logs are gone, begin a new reference with calibration-monitor "
            f"rebase {name}."
        )
        raise DataError(msg)
