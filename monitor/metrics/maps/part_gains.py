"""What a map that is fitted to all rows gains in parts of them, on days left out."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.special import stdtr
from monitor.metrics.maps.calibration_map import IDENTITY, CalibrationMap, Kind, shape_of
from monitor.metrics.maps.choosing import blocks_of_days, losses_by_day
from monitor.metrics.maps.daily_counts import DailyCounts, merge_spans, spans_of
from monitor.metrics.maps.fitting import fit_calibration_map
from monitor.metrics.maps.likelihood import own_losses
from monitor.metrics.maps.mean_over_days import LEVEL_MEMORY, mean_over_days

LEAST_HARM = 0.0005  # nats for each prediction: less is no reason against a map
CHANCE = 0.05  # that any of the parts is called harmed although none is


@dataclass(frozen=True)
class PartGain:
    """What a map for all gains in a part of the rows.

    Attributes
    ----------
    name : str
        Of the part.
    rows : float
        Its share of the outcomes.
    log_loss, shape : Estimate
        As those of a `Candidate`, for each of its predictions.
    harmed : bool
        Whether the map, or its shape alone, clearly loses more than 0.0005 nats there.
    """

    name: str
    rows: float
    log_loss: Estimate
    shape: Estimate
    harmed: bool


def gains_by_part(
    data: DailyCounts, parts: Mapping[str, DailyCounts], kind: Kind
) -> tuple[PartGain, ...]:
    """Estimate what a map that is fitted to all rows gains in each of some parts.

    Parameters
    ----------
    data : DailyCounts
        All rows, as for `choose_map`.
    parts : mapping of str to DailyCounts
        Some of the rows of the same days, each with an outcome.
    kind : str
        The family of the map.

    Returns
    -------
    tuple of PartGain
        In the order of the parts. The chance that one of them is called harmed although none is,
        is 5 % at most.

    Examples
    --------
    >>> from monitor.metrics.core.tally import merge, tally
    >>> from monitor.metrics.maps.daily_counts import daily_counts
    >>> off = tally([0] * 35 + [1] * 15 + [1] * 35 + [0] * 15, [0.2] * 50 + [0.8] * 50)
    >>> sound = tally([0] * 40 + [1] * 10 + [1] * 40 + [0] * 10, [0.2] * 50 + [0.8] * 50)
    >>> days = {"off": daily_counts([off] * 20), "sound": daily_counts([sound] * 20)}
    >>> gains = gains_by_part(daily_counts([merge([off, sound])] * 20), days, "platt")
    >>> [(gain.name, round(gain.log_loss.value, 3), gain.harmed) for gain in gains]
    [('off', 0.022, False), ('sound', -0.007, True)]
    """
    spans = spans_of(data)
    together = merge_spans(data, spans)
    merged = {name: merge_spans(part, spans) for name, part in parts.items()}
    after = {name: (np.zeros(together.days), np.zeros(together.days)) for name in parts}
    for out in blocks_of_days(together.days):
        rest = together.take(np.setdiff1d(np.arange(together.days), out))
        fitted = fit_calibration_map(rest, kind, shrink_level=True).map
        for name, part in merged.items():
            for losses, new in zip(after[name], _losses(part.take(out), fitted), strict=True):
                losses[out] = new
    total = float(data.counts.sum())
    return tuple(
        _part_gain(name, part, _losses(part, IDENTITY), after[name], total, len(merged))
        for name, part in merged.items()
    )


def _losses(data: DailyCounts, fitted: CalibrationMap) -> tuple[Floats, Floats]:
    """Give the log loss of each day, and that with the level that suits it."""
    shape = shape_of(data.logits, fitted)
    return losses_by_day(data, fitted)[0], own_losses(shape, data.counts, data.positives)


def _part_gain(
    name: str,
    part: DailyCounts,
    before: tuple[Floats, Floats],
    after: tuple[Floats, Floats],
    total: float,
    tested: int,
) -> PartGain:
    counts = part.counts.sum(axis=1)
    log_loss, shape = (
        mean_over_days(old - new, counts, least_memory=memory)
        for old, new, memory in zip(before, after, (LEVEL_MEMORY, 0.0), strict=True)
    )
    chance = CHANCE / (2 * tested)  # two ways of harm
    harmed = any(_is_harm(gain, counts.size, chance) for gain in (log_loss, shape))
    return PartGain(name, float(counts.sum()) / total, log_loss, shape, harmed)


def _is_harm(gain: Estimate, days: int, chance: float) -> bool:
    """Whether a gain is a loss that matters, and clearly one."""
    if gain.value >= -LEAST_HARM:
        return False
    error = gain.standard_error
    return not error or float(stdtr(days - 1, gain.value / error)) < chance
