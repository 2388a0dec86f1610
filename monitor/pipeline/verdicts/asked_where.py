"""What a person asks of a day, and the fold of verdicts does not need.

Where its drift sits, whether strata would explain it, and what `check` says of its scores.
"""

from dataclasses import replace
from datetime import date

from monitor.base.errors import ConfigError
from monitor.base.segment_names import WHOLE
from monitor.config import Config
from monitor.days.summary import NO_SAMPLE, Summary
from monitor.drift.curve.reference import Reference
from monitor.drift.fold.inputs import inputs_of, parts_of_stream, prevalence_of, reference_of_day
from monitor.drift.incidents.score_moves import scores_since
from monitor.drift.records.facts import Scores
from monitor.drift.records.places import Answer
from monitor.drift.records.values import MovingPriors
from monitor.drift.records.verdict import Verdict
from monitor.drift.where.moving_priors import explained_by_priors
from monitor.pipeline.verdicts.reading import next_days_are_unlike
from monitor.pipeline.verdicts.references import read_references
from monitor.pipeline.verdicts.watching import priors_that_move
from monitor.pipeline.verdicts.where import ColumnReader, compare, compared_days, named_before
from monitor.read.results import results_of
from monitor.read.standing import newest_verdicts
from monitor.store.store import Store
from monitor.words.where import where_command


def answer_where(config: Config, name: str, day: date | None = None) -> Answer:
    """Say where the drift that is open on a day sits; without one, what the last week says.

    Raises
    ------
    ConfigError
        If there is no column to look in, or the day has no verdict.
    DataError
        If there is no reference, or a file of the store cannot be read.
    """
    model = config.model(name)
    if not model.has_places:
        msg = (
            f"{name}: segments names no column, so there is nowhere to look; search all columns of "
            f"the logs with {where_command(name, counted=False)}, or list columns in "
            f"models.{name}.segments, then backfill the reference and the last days."
        )
        raise ConfigError(msg)
    verdict = verdict_of(config, name, day)
    to = compared_days(name, read_references(config, name), verdict)
    reader = ColumnReader(model, Store(config.store), name)
    return replace(compare(reader, to, verdict, named_before(verdict)), labels=verdict.labels)


def strata_instead(config: Config, name: str, verdict: Verdict) -> MovingPriors | None:
    """Find the column whose moving priors alone explain an open drift; None if there is none.

    Raises
    ------
    DataError
        If a file of the store cannot be read.
    """
    incident = verdict.distortion
    moving = priors_that_move(config, name) if incident and verdict.segment == WHOLE else None
    if incident is None or moving is None:
        return None
    reader = ColumnReader(config.model(name), Store(config.store), name)
    to = compared_days(name, read_references(config, name), verdict)
    before, after = (
        [
            of_day[moving.column]
            for day in days
            if moving.column in (of_day := reader.grouped(to.model, day) or {})
        ]
        for days in reader.days(to)
    )
    return moving if explained_by_priors(to.reference, to.kind, before, after) else None


def verdict_of(config: Config, name: str, day: date | None) -> Verdict:
    """Read the verdict of the whole on a day, by default the one that stands.

    Raises
    ------
    ConfigError
        If there is none.
    """
    results = results_of(config, name)
    if day is None:
        verdicts = newest_verdicts(results)
    else:
        verdicts = results.verdicts(day) if day in results.days("verdicts") else []
    if not verdicts:
        msg = f"{name}: no verdict of {day or 'any day'} is stored; run that day first."
        raise ConfigError(msg)
    return next(verdict for verdict in verdicts if verdict.segment == WHOLE)


def scores_beside_reference(config: Config, name: str, summary: Summary) -> Scores | None:
    """Compare the scores of a day with those of its reference, without writing anything.

    None of a day without a reference before it, of classes, of a sample by class, and of a day
    that is read otherwise than its reference.
    """
    day = inputs_of(summary)
    if day.classes or day.class_weights != NO_SAMPLE or next_days_are_unlike(config, name):
        return None
    reference = reference_of_day(day.day, read_references(config, name, keep=False).fitted)
    own = reference.streams.get(WHOLE) if reference else None
    parts = parts_of_stream(day, WHOLE)
    if reference is None or reference.last >= day.day or not isinstance(own, Reference):
        return None
    if not any(part.counts.any() for part in parts.values()):
        return None
    return scores_since(own, parts, prevalence_of([day], WHOLE))
