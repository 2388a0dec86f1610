"""From stored summaries to a calibration map: which days, which map, what it is worth.

Rule: for the level outcomes go before scores. Scores alone cannot tell a moved prior from moved
inputs, and a level that follows moved inputs harms (docs/map-promises.md).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from itertools import islice
from typing import NamedTuple, cast

import numpy as np

from monitor.base import program
from monitor.base.errors import DataError
from monitor.base.segment_names import WHOLE, shown
from monitor.config import Config, Model
from monitor.days.summary import (
    NO_SAMPLE,
    Columns,
    Segment,
    Summary,
    all_scores,
    buckets_of,
    part_of,
)
from monitor.drift.fold.inputs import reference_of_day
from monitor.drift.records.facts import LastingShift
from monitor.drift.records.places import Condition, Explanation, name_all, name_of
from monitor.drift.records.region_state import Break
from monitor.drift.records.verdict import Verdict
from monitor.drift.where.part_counts import counts_of, tally_of_part, tally_of_rest
from monitor.evaluation.expected_prevalence import expect_prevalence, says_prevalence
from monitor.metrics.core.dispersion import design_effects
from monitor.metrics.core.estimate import NORMAL_95, Estimate
from monitor.metrics.core.special import logit
from monitor.metrics.core.tally import Tally, merge
from monitor.metrics.maps.calibration_map import IDENTITY, Kind, shape_of
from monitor.metrics.maps.choosing import Candidate, Choice, choose_map, gains_of, losses_by_day
from monitor.metrics.maps.daily_counts import DailyCounts, daily_counts
from monitor.metrics.maps.fitting import FittedMap
from monitor.metrics.maps.likelihood import own_losses, pooled_level
from monitor.metrics.maps.map_file import NEWEST_DAYS, Days, Level, MapFile, Training, with_level
from monitor.metrics.maps.mean_over_days import mean_over_days
from monitor.metrics.maps.part import Part
from monitor.metrics.maps.part_gains import PartGain, gains_by_part
from monitor.pipeline.days.parts import Groups, part_named
from monitor.pipeline.verdicts.references import read_references
from monitor.pipeline.verdicts.where import counts_by_value
from monitor.read.results import results_in
from monitor.read.standing import newest_verdicts
from monitor.store.store import Store
from monitor.words.label_change import as_if

DEFAULT_DAYS = 28  # if no drift is open
LEAST_OUTCOMES = 30  # of each kind: parts with fewer say nothing about harm
REST = "the rest"
DayPart = tuple[Summary, Segment]


@dataclass(frozen=True)
class Recalibration:
    """A calibration map of a model, and how it was found.

    Attributes
    ----------
    choice : Choice
        The candidates and what they gained.
    content : MapFile
        The chosen map; the identity unless one is worth it or was asked for.
    worth_it : bool
        Whether the chosen map is; one that follows the prior if its shape is.
    since_drift : bool
        Whether the days begin with the estimated start of the open drift.
    asked : bool
        Whether the kind was asked for.
    extrapolated : float
        Share of the predictions whose score is outside the scores that the map was fitted to.
    prevalence : float
        Of the days.
    explained : Explanation or None
        Why the map is for a part although none was asked for: it explains the open drift.
    for_all : tuple of PartGain
        What a map for all gains in that part and in the rest; of a map for all, in every value of
        every column that has enough outcomes.
    lasting : LastingShift or None
        Why the map follows the prior although that was not asked for: its shift has stayed.
    days : tuple of date
        The days that it was fitted to.
    counts : DailyCounts
        Their predictions and positive outcomes, by day.
    place : Break or None
        The place among the scores at which the open drift sits.
    """

    choice: Choice[FittedMap]
    content: MapFile
    worth_it: bool
    extrapolated: float
    prevalence: float
    counts: DailyCounts = field(repr=False, compare=False)
    since_drift: bool = False
    asked: bool = False
    days: tuple[date, ...] = field(default=(), repr=False)
    explained: Explanation | None = None
    for_all: tuple[PartGain, ...] = ()
    lasting: LastingShift | None = None
    place: Break | None = None

    @property
    def harmed(self) -> tuple[PartGain, ...]:
        """The parts that a map for all harms, the worst first."""
        return tuple(sorted((p for p in self.for_all if p.harmed), key=lambda p: p.shape.value))


@dataclass(frozen=True)
class _Rows:
    """The rows that a map is fitted to.

    Attributes
    ----------
    segment : str
        The segment that they are, or the whole.
    conditions : tuple of Condition
        The values that they have any of; none if they are all rows.
    explained : Explanation or None
        As for a `Recalibration`.
    """

    segment: str
    conditions: tuple[Condition, ...] = ()
    explained: Explanation | None = None

    @property
    def name(self) -> str:
        """For messages."""
        of = self.segment == WHOLE and self.conditions
        return name_all(self.conditions) if of else f"segment {shown(self.segment)}"


@dataclass(frozen=True)
class Asked:
    """What is asked of a map, beyond the rows that it is for.

    Attributes
    ----------
    first, last : date or None
        By default from the estimated start of the open drift, or else 28 days, to the newest
        final day.
    kind : str or None
        A family; by default the one that is worth it.
    follow_prior : bool or None
        Whether to give the map the newest level; by default if the verdict says that the level
        moved and has stayed, and no last day is named.
    """

    first: date | None = None
    last: date | None = None
    kind: Kind | None = None
    follow_prior: bool | None = None


NOTHING_ASKED = Asked()


class _Chosen(NamedTuple):
    """The map that is taken of a choice, and what a `Recalibration` says of it."""

    choice: Choice[FittedMap]
    candidate: Candidate[FittedMap]
    worth_it: bool
    follow_prior: bool
    lasting: LastingShift | None

    def not_worth_it(self, asked: Kind | None) -> "_Chosen":
        """Give the scores as they are instead, unless a kind was asked for."""
        candidate = self.candidate if asked else self.choice.candidates[0]
        return self._replace(worth_it=False, candidate=candidate)


@dataclass(frozen=True)
class Came:
    """What a map gained on later days.

    Attributes
    ----------
    first, last : date
        The days.
    log_loss, brier : Estimate
        For each prediction, over the scores as they are: nats, and squared probability.
    shape : Estimate
        The part of the gain in log loss that comes from the shape.
    """

    first: date
    last: date
    log_loss: Estimate
    brier: Estimate
    shape: Estimate


def recalibrate(
    config: Config,
    name: str,
    segment: str | None = None,
    asked: Asked = NOTHING_ASKED,
    *,
    part: Sequence[Condition] = (),
) -> Recalibration:
    """Fit a calibration map to the final days of the store.

    Parameters
    ----------
    config, name : Config, str
        The model.
    segment : str, optional
        A segment or the whole. By default the part that explains the open drift, or the whole.
    asked : Asked
        Its days, its family, and whether it follows the prior.
    part : sequence of Condition, optional
        The rows that have any of these values of one column, instead of a segment.

    Returns
    -------
    Recalibration
        The map and what it is worth. One for all is not worth it if it harms a part.

    Raises
    ------
    ConfigError
        If the part has no rule.
    DataError
        If the store has too few final days or outcomes, or cannot be read; and of days on which
        labels seem to be wrong.
    """
    store, model = Store(config.store), config.model(name)
    newest = _newest_verdicts(store, name)
    rows = _rows_to_map(model, newest.get(WHOLE), segment, part)
    verdict = newest.get(rows.segment)
    _refuse_wrong_labels(name, rows, verdict, asked.last)
    of_whole = newest.get(WHOLE) if rows.conditions else None
    started = start_of_drift(verdict) or start_of_drift(of_whole)
    days, started = days_to_fit(store, name, asked.first, asked.last, started)
    by_value: Callable[[date], Columns] | None = None
    groups: Groups = {}
    if days and (model.columns or model.segments):
        by_value, groups = counts_by_value(config, name, [day.days[0] for day in days])
    counted = ((day, _of_day(rows, day, by_value)) for day in days)
    trained = [(day, counts) for day, counts in counted if counts and counts.tally.total]
    if not trained:
        raise _no_days(name, rows, asked.first or started, asked.last)
    data = _counts(trained)
    chosen = _chosen(name, rows, data, asked, verdict)
    for_all = _gains_for_all(rows, days, by_value, chosen, asked.kind) if by_value else ()
    if not rows.conditions and any(gain.harmed for gain in for_all):
        chosen = chosen.not_worth_it(asked.kind)
    mapped = part_named(model, rows.conditions, groups) if rows.conditions else None
    content = _content(config, name, rows.segment, mapped, trained, chosen.candidate)
    if chosen.follow_prior:
        content = newest_level(store, content, trained, lambda day: _of_day(rows, day, by_value))
    incident = verdict.incident if verdict and not rows.conditions else None
    return Recalibration(
        chosen.choice,
        content,
        chosen.worth_it,
        extrapolated=_share_outside(data, content.map.known),
        prevalence=float(data.positives.sum() / data.counts.sum()),
        counts=data,
        since_drift=started is not None,
        asked=asked.kind is not None,
        days=tuple(day.days[0] for day, _ in trained),
        explained=rows.explained,
        for_all=for_all,
        lasting=chosen.lasting,
        place=incident.place if incident else None,
    )


def _no_days(name: str, rows: _Rows, first: date | None, last: date | None) -> DataError:
    """Say that no day of some rows has outcomes."""
    return DataError(
        f"{name}, {rows.name}: no final day with outcomes is stored"
        f"{f' from {first}' if first else ''}"
        f"{f' to {last}' if last else ''}; run the daily job first, or name other days"
        f"{' or another part' if rows.conditions else ''}."
    )


def _chosen(
    name: str, rows: _Rows, data: DailyCounts, asked: Asked, verdict: Verdict | None
) -> _Chosen:
    """Choose the map of some rows, and say whether it is worth it and follows the prior."""
    kind = asked.kind
    try:
        choice = choose_map(data, kind)
    except ValueError as error:
        msg = f"{name}, {rows.name}: {error}"
        raise DataError(msg) from None
    by_default = not asked.last and asked.follow_prior is None
    lasting = _level_that_stays(verdict) if by_default else None
    follow_prior = bool(asked.follow_prior) or lasting is not None
    if lasting and not kind and not choice.chosen.shape_gains:  # the level alone, and for good
        choice = replace(choice, chosen=choice.candidates[1])
    worth_it = choice.worth_it or lasting is not None
    worth_it = worth_it or (follow_prior and choice.chosen.shape_gains)
    candidate = choice.chosen if kind or worth_it else choice.candidates[0]
    return _Chosen(choice, candidate, worth_it, follow_prior, lasting)


def _share_outside(data: DailyCounts, known: tuple[float, float]) -> float:
    """Compute the share of the predictions whose score is outside a range."""
    low, high = known
    scores = 1.0 / (1.0 + np.exp(-data.logits))
    outside = data.counts.sum(axis=0)[(scores < low) | (scores > high)].sum()
    return float(outside / data.counts.sum())


def _refuse_wrong_labels(
    name: str, rows: _Rows, verdict: Verdict | None, last: date | None
) -> None:
    """Raise DataError for days since labels changed: a map would bend right scores to them."""
    if verdict and verdict.labels and verdict.distortion:
        started, look = verdict.distortion.started, f"the outcomes look {as_if(verdict.labels)}"
    elif verdict and verdict.missing_outcomes:
        started, look = (
            verdict.missing_outcomes.started,
            "outcomes went missing as the base rate moved",
        )
    else:
        return
    if last is None or last >= started:
        msg = (
            f"{name}, {rows.name}: since {started} {look}, so a "
            f"map would bend right scores to wrong labels. Correct the outcomes and run these days "
            f"again; or name days before, with --to {started - timedelta(days=1)}."
        )
        raise DataError(msg)


def _rows_to_map(
    model: Model, whole: Verdict | None, segment: str | None, part: Sequence[Condition]
) -> _Rows:
    """Find the rows that a map is for: those asked for, or those that explain the open drift."""
    explained = None
    conditions = tuple(part)
    column = model.segments.name if model.segments else None
    if segment not in (None, WHOLE) and column:
        conditions = (Condition(column, segment),)
    elif segment is None and not part:
        incident = whole.incident if whole else None  # one of a place has no map of its own
        explained = whole.explanation if whole and incident and not incident.place else None
        # Rows of several columns are counted together only where these are crossed.
        if explained and len({condition.column for condition in explained.conditions}) == 1:
            conditions = explained.conditions
        else:
            explained = None
    if len(conditions) == 1 and conditions[0].column == column:
        return _Rows(conditions[0].value, conditions, explained)
    return _Rows(WHOLE, conditions, explained)


def _of_day(
    rows: _Rows, day: Summary, by_value: Callable[[date], Columns] | None
) -> Segment | None:
    """Give the rows of a day that a map is for; values of columns are those of final days."""
    if rows.segment != WHOLE or not rows.conditions:
        return part_of(day, rows.segment)
    if not day.final or not by_value:
        return None
    counted = counts_of(rows.conditions, by_value(day.days[0]))
    return Segment(tally_of_part(counted), counted.predicted) if counted else None


def _gains_for_all(
    rows: _Rows,
    days: Sequence[Summary],
    by_value: Callable[[date], Columns],
    chosen: _Chosen,
    asked: Kind | None,
) -> tuple[PartGain, ...]:
    """Say what a map for all gains where it matters, on days left out."""
    whole = [(day, part) for day in days if (part := part_of(day, WHOLE)) and part.tally.total]
    data = _counts(whole)
    kind = cast("Kind", chosen.candidate.kind)
    if rows.conditions:
        try:
            kind = cast("Kind", choose_map(data, asked).chosen.kind)
        except ValueError:  # too few outcomes for any map of all
            return ()
    if kind == "identity":
        return ()
    if not rows.conditions:
        parts = _parts_with_outcomes(whole, by_value)
    else:
        counted = [counts_of(rows.conditions, by_value(day.days[0])) for day, _ in whole]
        both = zip(whole, counted, strict=True)
        parts = {
            name_all(rows.conditions): counts_of_days(whole, map(tally_of_part, counted)),
            REST: counts_of_days(whole, [tally_of_rest(day, part) for (day, _), part in both]),
        }
    return gains_by_part(data, {n: p for n, p in parts.items() if p.rarer}, kind)


def _parts_with_outcomes(
    whole: Sequence[DayPart], by_value: Callable[[date], Columns]
) -> dict[str, DailyCounts]:
    """Count every value of every column that has enough outcomes for a gain to be seen."""
    columns = [by_value(day.days[0]) for day, _ in whole]
    values = dict.fromkeys(
        (c, v) for of_day in columns for c, parts in of_day.items() for v in parts
    )
    by_part = dict[str, DailyCounts]()
    for column, value in values:
        parts = [of_day.get(column, {}).get(value) for of_day in columns]
        hits = sum(int(part.positives.sum()) for part in parts if part)
        rows = sum(int(part.counts.sum()) for part in parts if part)
        if min(hits, rows - hits) >= LEAST_OUTCOMES:
            tallies = map(tally_of_part, parts)
            by_part[name_of(Condition(column, value))] = counts_of_days(whole, tallies)
    return by_part


def came(config: Config, content: MapFile, first: date, last: date | None = None) -> Came | None:
    """Compute what a map gained on the final days of a span; None without outcomes."""
    days = final_days(Store(config.store), content.model, first, last)
    later = [(d, part) for d in days if (part := part_of(d, content.segment)) and part.tally.total]
    if not later:
        return None
    data = _counts(later)
    before, after = losses_by_day(data, IDENTITY), losses_by_day(data, content.map)
    own = [
        own_losses(shape_of(data.logits, each), data.counts, data.positives)
        for each in (IDENTITY, content.map)
    ]
    gains = (before[0] - after[0], before[1] - after[1], own[0] - own[1])
    counts = data.counts.sum(axis=1)
    return Came(
        later[0][0].days[0],
        later[-1][0].days[0],
        *(mean_over_days(gain, counts, to_come=False) for gain in gains),
    )


def start_of_drift(verdict: Verdict | None) -> date | None:
    """Give the estimated start of the open drift of a verdict; None without one."""
    return verdict.incident.started if verdict and verdict.incident else None


def newest_of_whole(store: Store, name: str) -> Verdict | None:
    """Give the verdict of the whole that stands; None without one."""
    return _newest_verdicts(store, name).get(WHOLE)


def _newest_verdicts(store: Store, name: str) -> dict[str, Verdict]:
    """Give the verdicts that stand, by segment."""
    return {each.segment: each for each in newest_verdicts(results_in(store.root, name))}


def _level_that_stays(verdict: Verdict | None) -> LastingShift | None:
    """Give the shift of the level that a verdict shows, if its week still has it.

    Not during a drift: what bends the curve moves its level too, and days of both kinds are mixed.
    """
    lasting = verdict.facts.lasting if verdict else None
    if not (verdict and lasting and verdict.shift) or verdict.incident:
        return None
    week, longer = verdict.shift, lasting.shift
    return lasting if week.low <= longer.high and longer.low <= week.high else None


def days_to_fit(
    store: Store, name: str, first: date | None, last: date | None, started: date | None
) -> tuple[list[Summary], date | None]:
    """Read the final days that a map is fitted to, and give the start of the drift if it is one.

    They are those asked for, else those since an open drift started, else the newest ones.
    """
    if first or (started and last and last < started):  # other days were asked for
        started = None
    begin = first or started
    most = None if begin else DEFAULT_DAYS
    return final_days(store, name, begin, last, most=most), started


def final_days(
    store: Store, name: str, first: date | None, last: date | None, *, most: int | None = None
) -> list[Summary]:
    """Read the final days of a span, or the newest of them."""
    stored = store.days("summaries", name)
    chosen = [d for d in stored if (first or d) <= d <= (last or d)]
    summaries = (store.read_summary(name, day)[0] for day in reversed(chosen))
    return [*islice((summary for summary in summaries if summary.final), most)][::-1]


def _counts(parts: Sequence[DayPart]) -> DailyCounts:
    return counts_of_days(parts, (part.tally for _, part in parts))


def _content(
    config: Config,
    name: str,
    segment: str,
    part: Part | None,
    trained: Sequence[DayPart],
    chosen: Candidate[FittedMap],
) -> MapFile:
    days = [day.days[0] for day, _ in trained]
    tallies = [part.tally for _, part in trained]
    return MapFile(
        model=name,
        segment=segment,
        map=chosen.fitted.map,
        training=Training(
            days[0],
            days[-1],
            len(days),
            sum(t.total for t in tallies),
            sum(t.total_positives for t in tallies),
        ),
        level=Level("outcomes", days[0], days[-1], chosen.fitted.level_standard_error),
        replaces=replaced_by(config, name, days[-1]),
        gains=gains_of(chosen),
        part=part,
        version=program.version(),
    )


def replaced_by(config: Config, name: str, last: date) -> Days | None:
    """Name the reference that no longer holds once a map that was fitted up to a day is used."""
    compared = reference_of_day(last, read_references(config, name).fitted)
    return Days(compared.first, compared.last) if compared else None


def newest_level(
    store: Store,
    content: MapFile,
    trained: Sequence[DayPart],
    rows_of: Callable[[Summary], Segment | None],
) -> MapFile:
    """Give a map the level of the newest outcomes, or of the newest scores if those are too old.

    Parameters
    ----------
    store : Store
        With the summaries of the model.
    content : MapFile
        The map.
    trained : sequence of (Summary, Segment)
        The final days that it was fitted to, each with the part that it maps.
    rows_of : callable
        Gives the rows of a day that it maps; None if there are none.

    Returns
    -------
    MapFile
        The same shape; without gains. The scores suggest a level if only the prior moved since the
        days of the fit.
    """
    newest: DayPart | None = None
    recent: list[DayPart] = []
    for day, part in _from_the_newest(store, content.model, rows_of):
        newest = newest or (day, part)
        if day.final and part.tally.total:
            if recent and recent[0][0].days[0] - day.days[0] >= NEWEST_DAYS:
                break
            recent.append((day, part))
    days = recent[::-1] or list(trained)
    if newest and newest[0].days[0] - days[-1][0].days[0] > NEWEST_DAYS:
        return _by_scores(content, trained, *newest) or _by_outcomes(content, days)
    return _by_outcomes(content, days)


def _from_the_newest(
    store: Store, name: str, rows_of: Callable[[Summary], Segment | None]
) -> Iterator[DayPart]:
    for day in reversed(store.days("summaries", name)):
        summary, _ = store.read_summary(name, day)
        part = rows_of(summary)
        if part and part.predicted:
            yield summary, part


def _by_scores(
    content: MapFile, trained: Sequence[DayPart], summary: Summary, part: Segment
) -> MapFile | None:
    sampled = any(day.class_weights != NO_SAMPLE for day in [summary, *(day for day, _ in trained)])
    if sampled:  # the scores of a sample of one outcome say nothing about the population
        return None
    labelled = merge(earlier.tally for _, earlier in trained)
    held = [(earlier.tally, buckets_of(day, content.segment)) for day, earlier in trained]
    expected = expect_prevalence(labelled, *all_scores(part), effects=design_effects(held))
    if not expected or not says_prevalence(expected):
        return None
    asked = _by_outcomes(content, trained).map.level  # the level of the file is shrunk
    before = float(logit(content.training.positives / content.training.outcomes))
    low, middle, high = map(float, logit([expected.low, expected.prevalence, expected.high]))
    day = summary.days[0]
    level = Level("scores", day, day, (high - low) / (2.0 * NORMAL_95))
    return with_level(content, asked + middle - before, level)


def _by_outcomes(content: MapFile, days: Sequence[DayPart]) -> MapFile:
    data = counts_of_days(days, (part.tally for _, part in days))
    if not data.rarer:
        return content
    shape = shape_of(data.logits, content.map)
    value, error = pooled_level(shape, data.counts, data.positives)
    level = Level("outcomes", days[0][0].days[0], days[-1][0].days[0], error)
    return with_level(content, value, level)


def counts_of_days(days: Sequence[DayPart], tallies: Iterable[Tally]) -> DailyCounts:
    """Count tallies of some days as their logs are weighted."""
    weights = [day.class_weights for day, _ in days]
    sampled = any(each != NO_SAMPLE for each in weights)
    return daily_counts([*tallies], weights if sampled else ())
