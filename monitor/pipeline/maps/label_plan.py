"""Rates by score for the labels of a model, from its reference and its recent predictions."""

from dataclasses import dataclass
from datetime import date

import numpy as np

from monitor.base.errors import ConfigError, DataError
from monitor.base.segment_names import WHOLE
from monitor.config import LEAST_RATE, Config, ScoreRate
from monitor.days.summary import whole
from monitor.drift.curve.reference import Reference
from monitor.drift.fold.inputs import limit_of_whole
from monitor.drift.incidents.label_plan import (
    UNIFORM,
    LabelPlan,
    days_with,
    evenly_drawn,
    plan_labels,
    score_ranges,
)
from monitor.drift.records.day_evidence import KINDS, direction_of
from monitor.evaluation.chosen_labels import by_coarse_cell
from monitor.metrics.core.coarse import COARSE_COUNT
from monitor.pipeline.verdicts.references import limits_of, read_references
from monitor.store.store import Store
from monitor.words.advice import missing
from monitor.words.numbers import percent

RECENT = 28  # days whose scores are taken to be those to come
SLOPES = KINDS[:2]  # the distortions for which days are simulated


@dataclass(frozen=True)
class PlannedLabels:
    """A plan of labels, and how soon a change of the slope is found with it.

    Attributes
    ----------
    kind : str
        The distortion that is to be found.
    slope : float or None
        Its size, if it is a change of the slope.
    first, last : date
        The days whose scores were counted.
    rates : tuple of ScoreRate
        The table.
    plan : LabelPlan
        Labels and predictions a day.
    days, days_uniform : float or None
        Days until the change is found with these labels, and with as many drawn uniformly, once
        days labelled so are the reference; infinite if it takes more than 400. None if ten times
        28 days make no reference, and for other distortions.
    """

    kind: str
    slope: float | None
    first: date
    last: date
    rates: tuple[ScoreRate, ...]
    plan: LabelPlan
    days: float | None
    days_uniform: float | None


def plan_for(config: Config, name: str, budget: int, *, kind: str, slope: float) -> PlannedLabels:
    """Plan the labels of a model; of a `kind` of drift that is no slope, `slope` says nothing.

    Raises
    ------
    ConfigError
        If the model has classes, or fewer labels are asked for than a table can say.
    DataError
        If it has no reference yet, or the store cannot be read.
    """
    model, store = config.model(name), Store(config.store)
    if model.predictions.classes:
        msg = f"{name}: plan-labels is for models with two outcomes; draw labels uniformly."
        raise ConfigError(msg)
    reference = _reference(config, name)
    days = store.days("summaries", name)[-RECENT:]
    counts = np.zeros(COARSE_COUNT)
    for day in days:
        counts += sum(by_coarse_cell(whole(store.read_summary(name, day)[0])))
    predictions = counts / len(days)
    total = float(predictions.sum())
    if UNIFORM * budget < LEAST_RATE * total:
        msg = (
            f"--budget {budget}: {percent(UNIFORM, 0)} of it, drawn from {total:,.0f} predictions "
            f"a day, is a rate below {LEAST_RATE:g}; give at least "
            f"{LEAST_RATE * total / UNIFORM:,.0f}."
        )
        raise ConfigError(msg)
    direction = direction_of(kind)
    plan = plan_labels(reference, predictions, budget, direction=direction)
    limit = limit_of_whole({WHOLE: reference}, limits_of(model))
    change = abs(1.0 - slope)
    is_slope, even = kind in SLOPES, evenly_drawn(predictions, budget)
    waits = [
        days_with(reference, each, predictions, change, limit) if is_slope else None
        for each in (plan, even)
    ]
    rates = tuple(
        ScoreRate(low=low, high=high, rate=max(LEAST_RATE, round(rate, 6)))
        for low, high, rate in score_ranges(plan.rates)
        if low < high
    )
    size = slope if is_slope else None
    return PlannedLabels(kind, size, days[0], days[-1], rates, plan, *waits)


def _reference(config: Config, name: str) -> Reference:
    """Give the newest reference of the whole; DataError without one."""
    fitted = read_references(config, name).fitted
    for each in reversed(fitted):
        of_whole = each.streams.get(WHOLE)
        if isinstance(of_whole, Reference):
            return of_whole
    lack = fitted[-1].lack if fitted else None
    why = f": {missing(lack)}" if lack else ""
    msg = (
        f"{name}: there is no reference yet, whose curve says what a label is worth{why}; label "
        f"uniformly until there is, and run the days."
    )
    raise DataError(msg)
