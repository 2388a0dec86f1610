"""Where the drift of a day sits, for a person who asks: what the fold of verdicts does not need."""

from dataclasses import replace
from datetime import date

from monitor.base.errors import ConfigError
from monitor.base.segment_names import WHOLE
from monitor.config import Config
from monitor.drift.records.values import MovingPriors
from monitor.drift.records.verdict import Verdict
from monitor.drift.where.column_sums import AS_BEFORE, exceeding
from monitor.drift.where.segments import Answer
from monitor.pipeline.verdicts.references import read_references
from monitor.pipeline.verdicts.watching import priors_that_move
from monitor.pipeline.verdicts.where import answer_of, changes_with_strata, check_columns
from monitor.read.results import results_of
from monitor.read.standing import newest_verdicts


def answer_where(config: Config, name: str, day: date | None = None) -> Answer:
    """Say where the drift that is open on a day sits; without one, what the last week says.

    Raises
    ------
    ConfigError
        If there is no column to look in, or the day has no verdict.
    DataError
        If there is no reference, or a file of the store cannot be read.
    """
    check_columns(name, config.model(name))
    verdict = verdict_of(config, name, day)
    answer = answer_of(config, name, read_references(config, name), verdict)
    return replace(answer, labels=verdict.labels)


def strata_instead(config: Config, name: str, verdict: Verdict) -> MovingPriors | None:
    """Find the column whose moving priors alone explain an open drift; None if there is none.

    Within its values, with a prior of their own every day, the change is then within the tolerance
    and less than half of that of all rows together.

    Raises
    ------
    DataError
        If a file of the store cannot be read.
    """
    incident = verdict.distortion
    moving = priors_that_move(config, name) if incident and verdict.segment == WHOLE else None
    if incident is None or moving is None:
        return None
    changes = changes_with_strata(
        config, name, read_references(config, name), verdict, moving.column
    )
    if changes is None:
        return None
    within, pooled, tolerance = changes
    as_before = exceeding(within, tolerance) >= AS_BEFORE
    return moving if as_before and abs(within.value) < 0.5 * abs(pooled.value) else None


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
