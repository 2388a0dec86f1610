"""What a calibration map would repair of an open drift, and the curve with and without it."""

from collections.abc import Sequence

import numpy as np

from monitor.base.errors import ConfigError, DataError
from monitor.base.segment_names import WHOLE
from monitor.config import Config
from monitor.drift.records.places import Condition
from monitor.drift.records.verdict import Verdict
from monitor.metrics.maps.calibration_map import CalibrationMap, apply_calibration_map
from monitor.metrics.maps.daily_counts import DailyCounts
from monitor.pipeline.maps.recalibration import recalibrate
from monitor.report.maps import recalibration_sentences
from monitor.report.page.content import Mapped, Repair
from monitor.words.next_steps import repairs
from monitor.words.trust import NO_MAP

TENTHS = 10
OF_ROWS = (
    "A map of classes is fitted to rows of the logs, which a page does not read; the command says "
    "what it is worth."
)
OF_COLUMNS = (
    "Values of several columns drift; this map is for the first column, and the next steps have a "
    "command for each."
)


def repair_of(config: Config, verdict: Verdict, window: int) -> Repair:
    """Fit the map that `recalibrate` proposes for an open drift.

    Parameters
    ----------
    config : Config
        The configuration.
    verdict : Verdict
        With the drift.
    window : int
        Newest days that are drawn.

    Returns
    -------
    Repair
        The same for the same store. Without a curve if no map is worth it or can be fitted; then
        the sentences say why.
    """
    model = config.model(verdict.model)
    commands = repairs(verdict, model.maps)
    if not commands:
        return Repair((NO_MAP,))
    if model.maps == "all rows":
        return Repair((OF_ROWS,), commands[0])
    part = _first_of_several(verdict) if model.maps == "parts" else ()
    segment = None if part or verdict.segment == WHOLE else verdict.segment
    try:
        fitted = recalibrate(config, verdict.model, segment, part=part)
    except (ConfigError, DataError) as error:
        return Repair((f"{error}",), commands[0])
    said = (*([OF_COLUMNS] if part else []), *recalibration_sentences(fitted))
    if not fitted.worth_it:
        return Repair(said, commands[0])
    drawn = fitted.counts.take(range(-min(window, len(fitted.days)), 0))
    return Repair(
        said,
        commands[0],
        span=(fitted.days[-drawn.days], fitted.days[-1]),
        tenths=tenths_of(drawn, fitted.content.map),
    )


def _first_of_several(verdict: Verdict) -> Sequence[Condition]:
    """Give the values of one column if those of several explain a drift: each has its own map."""
    explained = verdict.explanation.conditions if verdict.explanation else ()
    first = [c for c in explained if c.column == explained[0].column]
    return first if len(first) < len(explained) else ()


def tenths_of(data: DailyCounts, calibration_map: CalibrationMap) -> tuple[Mapped, ...]:
    """Average scores, mapped scores and outcomes over each tenth of the rows, by score."""
    counts, positives = data.counts.sum(axis=0), data.positives.sum(axis=0)
    scores = 1.0 / (1.0 + np.exp(-data.logits))
    middle = (np.cumsum(counts) - 0.5 * counts) / counts.sum()
    tenth = (TENTHS * middle).astype(int)
    rows, *sums = (
        np.bincount(tenth, weights, TENTHS)
        for weights in (
            counts,
            counts * scores,
            counts * apply_calibration_map(scores, calibration_map),
            positives,
        )
    )
    return tuple(Mapped(*(float(each[i] / rows[i]) for each in sums)) for i in np.flatnonzero(rows))
