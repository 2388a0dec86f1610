"""The page of one model, assembled from the store."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from typing import TypeVar

from monitor.config import Config
from monitor.drift.inputs import ModelReference
from monitor.drift.verdict import WEEK, Verdict
from monitor.errors import DataError
from monitor.evaluation.evaluate import Evaluation
from monitor.metrics.core.tally import Tally, merge
from monitor.report.classes import COLUMNS, NOTE, class_rows, vector_sentences
from monitor.report.page import tables
from monitor.report.page.bins import curve_of, reliability
from monitor.report.page.content import DayOnPage, Page, Table
from monitor.report.page.day import day_on_page
from monitor.report.page.facts import facts
from monitor.segment_names import WHOLE
from monitor.store.settled import settled_model
from monitor.store.store import Store
from monitor.summary import days_between, whole

DAYS_SHOWN = 90
READERS = 8  # files that are read at a time: an object store takes its time for each
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Results:
    """The stored results of the days of a page, by day."""

    verdicts: dict[date, list[Verdict]]
    evaluations: dict[date, list[Evaluation]]
    tallies: dict[date, Tally]


def model_page(
    config: Config, name: str, references: Sequence[ModelReference], *, day: date | None = None
) -> Page:
    """Assemble the page of a model.

    Parameters
    ----------
    config, name : Config, str
        The configuration, and which model.
    references : sequence of ModelReference
        What its days are compared with.
    day : date, optional
        The last day of the page; by default the newest in the store. Without it the page opens
        with the newest day that was judged.

    Returns
    -------
    Page
        The same for the same store.

    Raises
    ------
    DataError
        If nothing is stored of the model or of the day, or a file cannot be read.
    """
    store = Store(config.store)
    model = settled_model(store, name, config.model(name))
    stored = sorted({*store.days("verdicts", name), *store.days("evaluations", name)})
    stored = [d for d in stored if day is None or d <= day]
    if not stored or (day and stored[-1] != day):
        asked = f"of {day} " if day else ""
        msg = f"{name}: nothing is stored {asked}yet; run calibration-monitor run or backfill."
        raise DataError(msg)
    first = max(stored[0], stored[-1] - timedelta(days=DAYS_SHOWN - 1))
    span = days_between(first, stored[-1])
    window = max(length for length in model.windows if length <= WEEK)
    found = _read(store, name, span, window)
    days = [_day(d, found, references, window, model.alpha) for d in span]
    chosen = len(days) - 1 if day else _newest_judged(found, days)
    verdicts = found.verdicts.get(span[chosen], [])
    judged = [d for d in store.days("verdicts", name) if d <= span[-1]]
    read = cache(lambda d: found.verdicts[d] if d in found.verdicts else _verdicts(store, name, d))
    # The pairs of classes that are judged are those of the reference.
    parts = [v.segment for v in verdicts] if model.predictions.classes else model.segment_names
    segments = (WHOLE, *(s for s in parts if s != WHOLE))
    return Page(
        model=name,
        owner=model.owner,
        severity=model.severity,
        days=days,
        chosen=chosen,
        window_days=window,
        curves=[curve_of(reference) for reference in references if not reference.classes],
        incidents=tables.incident_rows(judged, read, segments),
        rejected=tables.rejected_rows(days, chosen),
        waiting=tables.waiting_rows(found.evaluations, span[chosen]),
        sensitivity=tables.sensitivity_rows(verdicts),
        classes=_classes(found.evaluations.get(days[chosen].day, ()), window),
        where=tables.where_rows(verdicts),
        facts=facts(model, references, verdicts, days[chosen].day),
    )


def _classes(evaluations: Sequence[Evaluation], window: int) -> Table:
    """List the classes of the window; no rows if the model has two."""
    for e in evaluations:
        if e.classes and e.window_days == window:
            notes = (*vector_sentences(e.classes), NOTE)
            return Table(COLUMNS, class_rows(e.classes), notes)
    return Table(COLUMNS, ())


def _read(store: Store, name: str, span: Sequence[date], window: int) -> Results:
    """Read what is stored of a span, and the summaries of the windows that end in it."""
    reach = days_between(span[0] - timedelta(days=window - 1), span[-1])

    def of_each(kind: str, days: Sequence[date], load: Callable[[date], T]) -> dict[date, T]:
        stored = {*store.days(kind, name)}
        wanted = [day for day in days if day in stored]
        return dict(zip(wanted, pool.map(load, wanted), strict=True))

    with ThreadPoolExecutor(READERS) as pool:
        return Results(
            of_each("verdicts", span, lambda day: _verdicts(store, name, day)),
            of_each("evaluations", span, lambda day: store.read_evaluations(name, day)[0]),
            of_each("summaries", reach, lambda day: whole(store.read_summary(name, day)[0]).tally),
        )


def _verdicts(store: Store, name: str, day: date) -> list[Verdict]:
    return store.read_verdicts(name, day)[0]


def _day(
    day: date, found: Results, references: Sequence[ModelReference], window: int, alpha: float
) -> DayOnPage:
    days = [d for d in days_between(day - timedelta(days=window - 1), day) if d in found.tallies]
    drawn = None
    if day in found.tallies:
        merged = merge([found.tallies[d] for d in days])
        classes = any(e.classes for e in found.evaluations.get(day, ()))
        drawn = reliability(merged, days, references, alpha=alpha, first_choices=classes)
    verdicts, evaluations = found.verdicts.get(day, []), found.evaluations.get(day, [])
    return day_on_page(day, verdicts, evaluations, window_days=window, reliability=drawn)


def _newest_judged(found: Results, days: Sequence[DayOnPage]) -> int:
    """Find the newest day that was judged or whose logs failed a check, else the newest."""
    for number in reversed(range(len(days))):
        verdicts = found.verdicts.get(days[number].day, ())
        if any(v.shown for v in verdicts):
            return number
    return len(days) - 1
