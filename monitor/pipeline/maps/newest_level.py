"""The newest level of a calibration map: its shape stays, and the prior is followed.

Rule: outcomes go before scores. Scores alone cannot tell a moved prior from moved inputs, and a
level that follows moved inputs harms (docs/map-promises.md).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta

from monitor.days.summary import NO_SAMPLE, Segment, Summary, all_scores, buckets_of
from monitor.evaluation.evaluation import Expectation
from monitor.evaluation.expected_prevalence import expect_prevalence
from monitor.metrics.core.dispersion import design_effects
from monitor.metrics.core.estimate import NORMAL_95
from monitor.metrics.core.special import logit
from monitor.metrics.core.tally import Tally, merge
from monitor.metrics.maps.calibration_map import shape_of
from monitor.metrics.maps.daily_counts import DailyCounts, daily_counts
from monitor.metrics.maps.likelihood import pooled_level
from monitor.metrics.maps.map_file import Level, MapFile, with_level
from monitor.store.store import Store

NEWEST_DAYS = timedelta(days=7)  # whose outcomes give the newest level, and how old they may be
LEAST_FIT = -3.0  # log10 of a probability: scores so unlike a mixture say nothing about the prior

DayPart = tuple[Summary, Segment]


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
    if not expected or not _is_plausible(expected):
        return None
    asked = _by_outcomes(content, trained).map.level  # the level of the file is shrunk
    before = float(logit(content.training.positives / content.training.outcomes))
    low, middle, high = map(float, logit([expected.low, expected.prevalence, expected.high]))
    day = summary.days[0]
    level = Level("scores", day, day, (high - low) / (2.0 * NORMAL_95))
    return with_level(content, asked + middle - before, level)


def _is_plausible(expected: Expectation) -> bool:
    return expected.low > 0.0 and expected.high < 1.0 and not expected.fit_log10_p < LEAST_FIT


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
