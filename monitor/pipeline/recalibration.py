"""From stored summaries to a calibration map: which days, which map, what it is worth."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice

import numpy as np

from monitor import program
from monitor.config import Config
from monitor.drift.inputs import reference_of_day
from monitor.errors import DataError
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.maps.calibration_map import IDENTITY, Kind, shape_of
from monitor.metrics.maps.choosing import Candidate, Choice, choose_map, gains_of, losses_by_day
from monitor.metrics.maps.daily_counts import DailyCounts, daily_counts
from monitor.metrics.maps.fitting import FittedMap
from monitor.metrics.maps.likelihood import own_losses
from monitor.metrics.maps.map_file import Days, Level, MapFile, Training
from monitor.metrics.maps.mean_over_days import mean_over_days
from monitor.pipeline.newest_level import newest_level
from monitor.pipeline.references import read_references
from monitor.segment_names import WHOLE, shown
from monitor.store.store import Store
from monitor.summary import NO_SAMPLE, Segment, Summary, part_of

DEFAULT_DAYS = 28  # if no drift is open


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
    """

    choice: Choice[FittedMap]
    content: MapFile
    worth_it: bool
    since_drift: bool
    asked: bool
    extrapolated: float
    prevalence: float


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
    segment: str = WHOLE,
    *,
    first: date | None = None,
    last: date | None = None,
    kind: Kind | None = None,
    follow_prior: bool = False,
) -> Recalibration:
    """Fit a calibration map to the final days of the store.

    Parameters
    ----------
    config, name, segment : Config, str, str
        The model, and a part of its traffic or the whole.
    first, last : date, optional
        By default from the estimated start of the open drift, or else 28 days, to the newest
        final day.
    kind : str, optional
        A family; by default the one that is worth it.
    follow_prior : bool
        Give the map the newest level.

    Returns
    -------
    Recalibration
        The map and what it is worth.

    Raises
    ------
    DataError
        If the store has too few final days or outcomes, or cannot be read.
    """
    store = Store(config.store)
    started = None if first else start_of_drift(store, name, segment)
    if started and last and last < started:  # days before the drift were asked for
        started = None
    most = None if first or started else DEFAULT_DAYS
    days = final_days(store, name, first or started, last, most=most)
    trained = [(day, part) for day in days if (part := part_of(day, segment)) and part.tally.total]
    if not trained:
        msg = (
            f"{name}, segment {shown(segment)}: no final day with outcomes is stored"
            f"{f' from {first or started}' if first or started else ''}"
            f"{f' to {last}' if last else ''}; run the daily job first, or name other days."
        )
        raise DataError(msg)
    data = _counts(trained)
    choice = _choose(data, name, segment, kind)
    worth_it = choice.worth_it or (follow_prior and choice.chosen.shape_gains)
    chosen = choice.chosen if kind or worth_it else choice.candidates[0]
    content = _content(config, name, segment, trained, chosen)
    if follow_prior:
        content = newest_level(store, content, trained)
    low, high = content.map.known
    scores = 1.0 / (1.0 + np.exp(-data.logits))
    outside = data.counts.sum(axis=0)[(scores < low) | (scores > high)].sum()
    return Recalibration(
        choice,
        content,
        worth_it,
        since_drift=started is not None,
        asked=kind is not None,
        extrapolated=float(outside / data.counts.sum()),
        prevalence=float(data.positives.sum() / data.counts.sum()),
    )


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


def start_of_drift(store: Store, name: str, segment: str = WHOLE) -> date | None:
    """Give the estimated start of the open drift of the newest verdict; None if none is open."""
    judged = store.days("verdicts", name)
    verdicts = store.read_verdicts(name, judged[-1])[0] if judged else []
    incident = next((v.incident for v in verdicts if v.segment == segment), None)
    return incident.started if incident else None


def final_days(
    store: Store, name: str, first: date | None, last: date | None, *, most: int | None = None
) -> list[Summary]:
    """Read the final days of a span, or the newest of them."""
    stored = store.days("summaries", name)
    chosen = [d for d in stored if (first or d) <= d <= (last or d)]
    summaries = (store.read_summary(name, day)[0] for day in reversed(chosen))
    return [*islice((summary for summary in summaries if summary.final), most)][::-1]


def _counts(parts: Sequence[tuple[Summary, Segment]]) -> DailyCounts:
    weights = [day.class_weights for day, _ in parts]
    sampled = any(each != NO_SAMPLE for each in weights)
    return daily_counts([part.tally for _, part in parts], weights if sampled else ())


def _choose(data: DailyCounts, name: str, segment: str, kind: Kind | None) -> Choice[FittedMap]:
    try:
        return choose_map(data, kind)
    except ValueError as error:
        msg = f"{name}, segment {shown(segment)}: {error}"
        raise DataError(msg) from None


def _content(
    config: Config,
    name: str,
    segment: str,
    trained: Sequence[tuple[Summary, Segment]],
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
        version=program.version(),
    )


def replaced_by(config: Config, name: str, last: date) -> Days | None:
    """Name the reference that no longer holds once a map that was fitted up to a day is used."""
    compared = reference_of_day(last, read_references(config, name).fitted)
    return Days(compared.first, compared.last) if compared else None
