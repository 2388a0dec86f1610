"""The newest level of a calibration map: its shape stays, and the prior is followed."""

from collections.abc import Sequence
from datetime import timedelta

from scipy.special import logit

from monitor.evaluation.expected_prevalence import Expectation, expect_prevalence
from monitor.metrics.core.estimate import NORMAL_95
from monitor.metrics.core.tally import merge
from monitor.metrics.maps.calibration_map import shape_of
from monitor.metrics.maps.daily_counts import daily_counts
from monitor.metrics.maps.likelihood import pooled_level
from monitor.metrics.maps.map_file import Level, MapFile, with_level
from monitor.store.store import Store
from monitor.summary import NO_SAMPLE, Segment, Summary, all_scores, part_of

NEWEST_DAYS = 7  # whose outcomes give the newest level
LEAST_FIT = -3.0  # log10 of a probability: scores so unlike a mixture say nothing about the prior

DayPart = tuple[Summary, Segment]


def newest_level(store: Store, content: MapFile, days: Sequence[DayPart]) -> MapFile:
    """Give a map the newest level that is known.

    Before the outcomes of a newer day have arrived, the level is the one that its scores suggest
    if only the prior moved. Otherwise, or if the scores do not look like that, it is the one of
    the outcomes of the last seven final days.

    Parameters
    ----------
    store : Store
        With the summaries of the model.
    content : MapFile
        The map.
    days : sequence of (Summary, Segment)
        The final days that it was fitted to, each with the part that it maps.

    Returns
    -------
    MapFile
        The same shape; without gains.
    """
    last = days[-1][0].days[0]
    for day in reversed(store.days("summaries", content.model)):
        if day <= last:
            break
        summary, _ = store.read_summary(content.model, day)
        part = part_of(summary, content.segment)
        if part and (found := _by_scores(content, days, summary, part)):
            return found
    recent = [(d, part) for d, part in days if last - d.days[0] < timedelta(days=NEWEST_DAYS)]
    return _by_outcomes(content, recent)


def _by_scores(
    content: MapFile, days: Sequence[DayPart], summary: Summary, part: Segment
) -> MapFile | None:
    sampled = any(day.class_weights != NO_SAMPLE for day in [summary, *(day for day, _ in days)])
    if sampled:  # the scores of a sample of one outcome say nothing about the population
        return None
    expected = expect_prevalence(merge(known.tally for _, known in days), *all_scores(part))
    if not expected or not _is_plausible(expected):
        return None
    trained = float(logit(content.training.positives / content.training.outcomes))
    low, found, high = map(float, logit([expected.low, expected.prevalence, expected.high]))
    day = summary.days[0]
    level = Level("scores", day, day, (high - low) / (2.0 * NORMAL_95))
    return with_level(content, content.map.level + found - trained, level)


def _is_plausible(expected: Expectation) -> bool:
    return expected.low > 0.0 and expected.high < 1.0 and not expected.fit_log10_p < LEAST_FIT


def _by_outcomes(content: MapFile, days: Sequence[DayPart]) -> MapFile:
    weights = [day.class_weights for day, _ in days]
    sampled = any(each != NO_SAMPLE for each in weights)
    data = daily_counts([part.tally for _, part in days], weights if sampled else ())
    if not data.rarer:
        return content
    shape = shape_of(data.logits, content.map)
    value, error = pooled_level(shape, data.counts, data.positives)
    found = Level("outcomes", days[0][0].days[0], days[-1][0].days[0], error)
    return with_level(content, value, found)
