"""The page of one model, assembled from the store."""

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date, timedelta
from typing import TypeVar

from monitor.base.errors import DataError
from monitor.base.segment_names import WHOLE
from monitor.config import Config
from monitor.days.summary import days_between
from monitor.days.summary import whole as whole_of
from monitor.drift.fold.inputs import ModelReference
from monitor.drift.records.verdict import Verdict
from monitor.evaluation.evaluation import Evaluation
from monitor.metrics.core.tally import Tally, merge
from monitor.read.acknowledgements import taken, who_has_taken_values
from monitor.read.incidents import incidents
from monitor.read.labels import labels_of
from monitor.read.results import Results, results_of
from monitor.read.standing import Standing, day_by_day, nearest_to_week, newest
from monitor.report.classes import COLUMNS, NOTE, class_rows
from monitor.report.page import tables
from monitor.report.page.bins import curve_of, reliability
from monitor.report.page.content import DayOnPage, Page, Table
from monitor.report.page.day import day_on_page
from monitor.report.page.facts import facts
from monitor.report.page.professions import professions
from monitor.report.page.repair import repair_of
from monitor.report.verdicts import reasons
from monitor.words.acknowledging import acknowledged
from monitor.words.next_steps import next_steps
from monitor.words.vectors import vector_sentences

DAYS_SHOWN = 90
BEFORE_ONSET = timedelta(days=7)  # shown of what was before the drift
READERS = 8  # files that are read at a time: an object store takes its time for each
T = TypeVar("T")


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
    results = results_of(config, name, kept=True)
    model = config.model(name)
    stored = sorted({*results.days("verdicts", day), *results.days("evaluations", day)})
    if not stored or (day and stored[-1] != day):
        asked = f"of {day} " if day else ""
        msg = f"{name}: nothing is stored {asked}yet; run calibration-monitor run or backfill."
        raise DataError(msg)
    window = nearest_to_week(model.windows)
    latest = newest(results, day)
    stands = latest.of(WHOLE, window)
    judged = stands.verdict.day if stands.verdict else stored[-1]
    detailed = max(stored[0], min(judged, stored[-1] - timedelta(days=DAYS_SHOWN - 1)))
    onsets = _onsets(latest.verdicts) if stands.verdict else {}
    first = max(stored[0], min([detailed, *onsets.values()]))
    span = days_between(first, stored[-1])
    tallies = _read(results, span, detailed, window)
    by_day = [*day_by_day(results, span, window)]
    days = [
        _day(d, of_day, tallies if d >= detailed else {}, references, window, model.alpha)
        for d, of_day in zip(span, by_day, strict=True)
    ]
    days = [each if each.day >= detailed else _of_drifts(each, onsets) for each in days]
    chosen = len(days) - 1 if day else span.index(judged)
    if span[chosen] == judged:
        said = labels_of(results, model, stands).sentences
        days[chosen] = replace(days[chosen], reasons=(*reasons(stands), *said))
    whole = by_day[chosen].get(WHOLE, Standing())
    verdicts = [of.verdict for of in by_day[chosen].values() if of.verdict]
    drifting = None if day else next((v for v in verdicts if v.found_on), None)
    watched = None if day else next((v for v in verdicts if v.values), None)
    holders = who_has_taken_values(results, watched)
    holder = taken(results, [drifting]).get(drifting.segment) if drifting else None
    measured = {name for name, of in by_day[chosen].items() if of.week}
    parts, classes = _parts_and_classes(whole.week, measured)
    return Page(
        model=name,
        owner=model.owner,
        severity=model.severity,
        days=days,
        chosen=chosen,
        window_days=window,
        detailed=detailed,
        curves=[curve_of(reference) for reference in references if not reference.classes],
        incidents=tables.incident_rows(incidents(results, day)),
        rejected=tables.rejected_rows(days, chosen),
        waiting=tables.waiting_rows(stands.waiting),
        sensitivity=tables.sensitivity_rows(verdicts),
        parts=parts,
        classes=classes,
        places=tables.where_rows(verdicts),
        values=tables.value_rows(verdicts, holders),
        facts=facts(model, references, whole.verdict, span[chosen]),
        taken=acknowledged(holder) if holder else None,
        next_steps=next_steps(
            *(drifting, model.maps),
            counted=model.has_places,
            taken=bool(holder),
            runbook=_runbook(config),
        )
        if drifting
        else (),
        repair=repair_of(config, drifting, window) if drifting else None,
        professions=_professions(span[chosen], whole.week, tallies, window),
    )


def _runbook(config: Config) -> str:
    return config.report.runbook if config.report else ""


def _onsets(verdicts: Sequence[Verdict]) -> dict[str, date]:
    """Give for each part with an open drift a day before it can have begun."""
    drifts = {v.segment: v.incident for v in verdicts if v.incident}
    return {name: min(d.start_low, d.started) - BEFORE_ONSET for name, d in drifts.items()}


def _of_drifts(day: DayOnPage, drifting: Collection[str]) -> DayOnPage:
    """Keep of the segments of a day those that drift now."""
    return replace(day, segments=[row for row in day.segments if row[0] in drifting])


def _professions(
    day: date, week: Evaluation | None, tallies: Mapping[date, Tally], window: int
) -> dict[str, Table]:
    """Lay out what professions ask for; not of first choices, which are nobody's events.

    Nor of a window whose summaries are gone from the store.
    """
    counted = _of_window(day, tallies, window)
    if week is None or week.classes or not counted:
        return {}
    return professions(merge(counted.values()))


def _of_window(day: date, tallies: Mapping[date, Tally], window: int) -> dict[date, Tally]:
    """Take the days of the window that ends with a day, as far as they are stored."""
    return {
        d: tallies[d] for d in days_between(day - timedelta(days=window - 1), day) if d in tallies
    }


def _parts_and_classes(week: Evaluation | None, measured: Collection[str]) -> tuple[str, Table]:
    """Name what has a row in the table of parts, and list the classes of the window, if any.

    Pairs of classes have no measures.
    """
    if not (week and week.classes):
        return "Segments", Table(COLUMNS, ())
    parts = "Pairs of classes" if len(measured) == 1 else "Segments and pairs of classes"
    return parts, Table(COLUMNS, class_rows(week), (*vector_sentences(week.classes), NOTE))


def _read(results: Results, span: Sequence[date], detailed: date, window: int) -> dict[date, Tally]:
    """Read what is stored of a span, and the summaries of the windows that are shown in full."""
    reach = days_between(detailed - timedelta(days=window - 1), span[-1])

    def of_each(kind: str, days: Sequence[date], load: Callable[[date], T]) -> dict[date, T]:
        stored = {*results.days(kind)}
        wanted = [day for day in days if day in stored]
        return dict(zip(wanted, pool.map(load, wanted), strict=True))

    with ThreadPoolExecutor(READERS) as pool:
        of_each("verdicts", span, results.verdicts)
        of_each("evaluations", span, results.evaluations)
        return of_each("summaries", reach, lambda day: whole_of(results.summary(day)).tally)


def _day(
    day: date,
    standings: Mapping[str, Standing],
    tallies: Mapping[date, Tally],
    references: Sequence[ModelReference],
    window: int,
    alpha: float,
) -> DayOnPage:
    drawn = None
    if day in tallies:
        whole = standings.get(WHOLE, Standing())
        classes = any(e and e.classes for e in (whole.alone, whole.week))
        by_day = _of_window(day, tallies, window)
        drawn = reliability(
            merge(by_day.values()), [*by_day], references, alpha=alpha, first_choices=classes
        )
    return day_on_page(day, standings, reliability=drawn)
