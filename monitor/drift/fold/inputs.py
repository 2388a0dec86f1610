"""A day, and the reference period that it is compared with. Pure.

Rule: a day belongs to the reference that it is part of, else to the newest one before it. A
reference of mapped days begins where their map was deployed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import cached_property, lru_cache, partial
from math import inf, isfinite, log, log10, nan

import numpy as np

from monitor.base.segment_names import FAMILIES, NO_VALUE, THIRD, WHOLE
from monitor.days.arrivals import Late
from monitor.days.summary import NO_SAMPLE, Entities, Summary, Unlisted
from monitor.drift.classes.class_levels import ClassLevels, fit_class_levels
from monitor.drift.classes.class_scores import (
    ADJUSTED,
    ALL,
    BELOW,
    NEW,
    ClassScores,
    fit_class_scores,
    only_highest,
)
from monitor.drift.classes.pairs import (
    SAME,
    ClassDay,
    Key,
    PairCurves,
    Parts,
    class_day,
    coded,
    fit_codes,
    parts_of_pairs,
    streams_of_pairs,
    sum_of_days,
    with_curves,
    without_top,
)
from monitor.drift.curve.change_within import change_within
from monitor.drift.curve.reference import (
    Reference,
    Sensitivity,
    by_direction,
    fit_reference,
    own_intercept,
    own_slope,
    what_a_reference_lacks,
    with_hanging,
)
from monitor.drift.evidence.entities import (
    NOTHING,
    BucketSums,
    hanging,
    intercept_hanging,
    sum_buckets,
    with_overlap,
)
from monitor.drift.incidents.detectable import calibrated_limit, what_is_detectable
from monitor.drift.incidents.detecting import family_limit
from monitor.drift.records.day_evidence import kind_of
from monitor.drift.records.facts import Detectable, ReferenceChange, Unlike
from monitor.drift.records.lack import Lack
from monitor.drift.records.mix import Mix, mix_of_days
from monitor.drift.records.values import MovingPriors
from monitor.metrics.beyond_binary.class_counts import ClassCounts
from monitor.metrics.beyond_binary.class_parts import ClassPart, sum_of_classes
from monitor.metrics.core.buckets import BucketCounts, merge_buckets
from monitor.metrics.core.coarse import CENTRES, Coarse, coarsen, sum_of, tally_of
from monitor.metrics.core.dispersion import design_effects
from monitor.metrics.core.tally import Tally

WITH_THIRD = 3  # classes: so many have third choices
WORST = 0.05  # of the days: an outage in the reference says nothing of its usual days
ALMOST_INDEPENDENT = 2.0  # times the variance of independent rows: more makes days hang together
MOST_KEPT = 2_000  # sums of a day and stream: five years of one, 8 MB


@dataclass(frozen=True)
class Limits:
    """When something is worth saying.

    Attributes
    ----------
    false_alert_days : int
        A: days between false alerts of a model, at least and on average.
    segment_false_alert_days : int
        The same for its segments.
    prior_shift, level : float
        Least shift of the prior and least error of the level that is reported, in logit.
    level_page : float
        Least error of the level that is urgent, in logit.
    sensitivity : Sensitivity
        Least tolerance and least effect of a distortion.
    judge_every : int
        Number of days that are judged together, with one intercept for each part.
    calibrated : bool
        Whether the limit of the whole is that of
        `monitor.drift.incidents.detectable.calibrated_limit`.
    """

    false_alert_days: int = 1000
    segment_false_alert_days: int = 365
    prior_shift: float = log(1.25)
    level: float = log(1.25)
    level_page: float = log(2.0)
    sensitivity: Sensitivity = field(default_factory=Sensitivity)
    judge_every: int = 1
    calibrated: bool = False


@dataclass(frozen=True, eq=False)
class ModelReference:
    """A reference of a model: for the whole and for each segment, or what that one lacks.

    Attributes
    ----------
    first, last : date
        Its first and its last day.
    streams : mapping of str to Reference or Lack
        The curve of each stream, or what the stream lacks.
    lack : Lack or None
        What keeps it from being one at all; until a person mends it, nothing is judged.
    detectable : mapping of str to Detectable
        What the detector of each stream with a reference can find.
    curves, third_curves : PairCurves
        Of a model with classes, whose segments are pairs: how the curves of its pairs differ.
    classes : ClassDay or None
        The classes of its days; None of a model with two outcomes.
    levels : ClassLevels or None
        The levels of pairs and the frequencies of classes, where the traffic is one part.
    deployed : date or None
        The first day that is compared with the reference of a calibration map; other references are
        compared with from their own first day on.
    awaited : tuple of date and Lack, or None
        The first day of a later reference that has too few days or outcomes to be used yet, and
        what it lacks; until then this one stays in force.
    limit : float
        The evidence at which the whole alerts, log10; infinite of a reference that lacks something.
    strata : MovingPriors or None
        The column whose values have priors of their own in the verdict of the whole, where the
        monitor has found one.
    coverage, least_coverage : float or None
        The share of the predictions of a usual day that have an outcome, and of the second-worst
        day in 28; ratios in [0, 1], None if that is not known.
    scores : mapping of str to ClassScores
        The scores of each class against the rest, of the whole and of segments.
    mix : Mix or None
        The shares of its segments; None of too few days.
    changed : ReferenceChange or None
        Since when its days differ from those before; None if they are of one kind.
    """

    first: date
    last: date
    streams: Mapping[str, Reference | Lack]
    lack: Lack | None = None
    detectable: Mapping[str, Detectable] = field(default_factory=dict)
    curves: PairCurves = SAME
    third_curves: PairCurves = SAME
    classes: ClassDay | None = None
    levels: ClassLevels | None = None
    deployed: date | None = None
    awaited: tuple[date, Lack] | None = None
    limit: float = inf
    strata: MovingPriors | None = None
    coverage: float | None = None
    least_coverage: float | None = None
    scores: Mapping[str, ClassScores] = field(default_factory=dict)
    mix: Mix | None = None
    changed: ReferenceChange | None = None

    @property
    def begins(self) -> date:
        """The first day that is compared with it."""
        return self.deployed or self.first

    @property
    def families(self) -> tuple[str, ...]:
        """The streams whose evidence is averaged for the whole: those with a reference."""
        return tuple(name for name in FAMILIES if isinstance(self.streams.get(name), Reference))

    def family_of(self, reference: Reference) -> str:
        """Name the one of them that a reference is of."""
        return next(name for name in self.families if self.streams[name] is reference)

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes of its days; none of a model with two outcomes."""
        return self.classes.names if self.classes else ()

    @property
    def segments(self) -> list[str]:
        """The streams whose false alerts are limited together."""
        return [name for name in self.streams if name not in FAMILIES]

    @cached_property
    def pairs(self) -> tuple[str, ...]:
        """Those of them that are a pair of classes, whose curve is its own."""
        divided = self.classes.segments if self.classes else self.streams
        return tuple(name for name in self.segments if name not in divided)

    def curves_of(self, name: str) -> PairCurves:
        """Say how the curves of the parts of a stream differ from the one that they share."""
        if name == THIRD:
            return self.third_curves
        return SAME if name in self.pairs and not self.curves.of_parts else self.curves


@dataclass(frozen=True, eq=False)
class Day:
    """What a day brings to the verdict.

    Attributes
    ----------
    day : date
        The day.
    final : bool
        Whether no more outcomes are awaited.
    known_at : datetime
        The moment up to which outcomes were read.
    coverage : float
        The share of the predictions that have an outcome, in [0, 1]; nan without predictions.
    parts : mapping of (str, ...) to Coarse
        Its outcomes by segment and stratum, with classes also by pair.
    complaint : str or None
        Why it has no summary.
    class_weights : tuple of float
        Those of its summary.
    late : Late or None
        How many outcomes arrive after it has settled, if they are too many.
    classes : ClassDay or None
        How often each class came true, of a model with classes.
    third : mapping of (str, ...) to Coarse
        The pairs of the first and the third choice, as `parts`.
    entities : mapping of (str, str) to BucketCounts
        The rows of its parts by bucket of their entity; empty without the key `entity`.
    unlike : mapping of str to Unlike
        How streams, or the whole for all of them, were read otherwise than their reference, so that
        they are not compared.
    rest : mapping of str to mapping of str to Coarse
        The most frequent classes, each against the rest, of the whole and of each segment.
    predicted : mapping of str to int
        The predictions by segment; `NO_VALUE` are those without a value.
    unlisted : tuple of (str or None, int)
        As in `Summary`.
    """

    day: date
    final: bool
    known_at: datetime
    coverage: float
    parts: Parts
    complaint: str | None = None
    class_weights: tuple[float, float] = NO_SAMPLE
    late: Late | None = None
    classes: ClassDay | None = None
    third: Parts = field(default_factory=dict)
    entities: Entities = field(default_factory=dict)
    unlike: Mapping[str, Unlike] = field(default_factory=dict)
    rest: Mapping[str, Mapping[str, Coarse]] = field(default_factory=dict)
    predicted: Mapping[str, int] = field(default_factory=dict)
    unlisted: Unlisted = ()

    def unlike_of(self, stream: str) -> Unlike | None:
        """Say how a stream was read otherwise than its reference; None if it was not."""
        return self.unlike.get(stream) or self.unlike.get(WHOLE)


Recall = Callable[[date], Day | None]
SumsOf = Callable[[Reference, str, date], BucketSums]  # of a stream and a day


def inputs_of(summary: Summary) -> Day:
    """Bring a summary onto the grid of the detector."""
    matched = sum(part.tally.total for part in summary.segments.values())
    predicted = sum(part.predicted for part in summary.segments.values())
    right = {name: part.tally.total_positives for name, part in summary.segments.items()}
    counted = Day(
        day=summary.days[-1],
        final=summary.final,
        known_at=summary.known_at,
        coverage=matched / predicted if predicted else nan,
        parts={},
        class_weights=summary.class_weights,
        entities=summary.entities,
        predicted=_predicted(summary),
        unlisted=summary.unlisted,
    )
    if counts := summary.classes:
        parts, third = parts_of_pairs(counts, "pairs"), parts_of_pairs(counts, "third")
        rest = {WHOLE: against_the_rest(counts), **rest_of_segments(counts)}
        classes = class_day(counts, right)
        return replace(counted, parts=parts, third=third, classes=classes, rest=rest)
    of_scores: Parts = {
        (segment, stratum): coarsen(leaf.tally)
        for segment, part in summary.segments.items()
        for stratum, leaf in part.parts.items()
        if leaf.predicted
    }
    return replace(counted, parts=of_scores)


def against_the_rest(counts: ClassCounts) -> dict[str, Coarse]:
    """Name each class that is counted against the rest, as logged and adjusted for the priors."""
    readings = ("", counts.raw), (ADJUSTED, counts.adjusted)
    return {
        begin + counts.names[k]: coarsen(tally)
        for begin, reading in readings
        if reading
        for k, tally in reading.by_class.items()
    }


def rest_of_segments(counts: ClassCounts) -> dict[str, dict[str, Coarse]]:
    """Name the same of each segment, as logged; its strata together."""
    of_segments = dict[str, list[ClassPart]]()
    for (segment, _), part in counts.parts.items():
        of_segments.setdefault(segment, []).append(part)
    return {
        segment: {counts.names[k]: own for k, own in sum_of_classes(parts).items()}
        for segment, parts in of_segments.items()
        if segment != WHOLE
    }


def _predicted(summary: Summary) -> dict[str, int]:
    """Count the predictions by segment; none of a model without segments."""
    by_segment = {name: part.predicted for name, part in summary.segments.items()}
    if [*by_segment] == [WHOLE]:
        return {}
    missing = [rows for value, rows in summary.unlisted if value is None]
    return by_segment | {NO_VALUE: sum(missing)}


def failed_day(day: date, known_at: datetime, complaint: str) -> Day:
    """Stand in for a day whose logs broke the contract."""
    return Day(day, False, known_at, nan, {}, complaint)


def fit_model_reference(days: Sequence[Day], limits: Limits) -> ModelReference:
    """Fit the reference of the whole and of each segment.

    Raises
    ------
    ValueError
        If the days do not make a reference of the whole.
    """
    classes = sum_of_days(day.classes for day in days)
    fitted = _fit_classes(days, limits, classes) if classes else _fit_scores(days, limits)
    streams = {
        name: own if isinstance(own, Lack) else _of_days(own, days, name)
        for name, own in fitted.streams.items()
    }
    mix = mix_of_days((day.predicted, day.unlisted) for day in days)
    fitted = replace(fitted, streams=streams, limit=limit_of_whole(streams, limits), mix=mix)
    detectable = {
        name: what_is_detectable(own, limit_of_stream(fitted, limits, name))
        for name, own in streams.items()
        if isinstance(own, Reference)
    }
    least, changed = coverage_of(days, WORST), _changed(streams[WHOLE], days, limits)
    return replace(
        fitted,
        detectable=detectable,
        coverage=coverage_of(days),
        least_coverage=least,
        changed=changed,
    )


def _changed(
    reference: Reference | Lack, days: Sequence[Day], limits: Limits
) -> ReferenceChange | None:
    """Say since when the days of a reference differ from those before, if that is worth saying.

    Days that hang together are in no order that chance could have made another one.
    """
    if isinstance(reference, Lack) or reference.hanging.max() >= ALMOST_INDEPENDENT:
        return None
    sums = reference.scores, reference.informations, reference.day_variances
    split, least = change_within(*sums), by_direction(limits.sensitivity.effects)
    if split is None or abs(split.difference) < least[split.direction]:
        return None
    at = split.row * limits.judge_every
    before, after = (
        own_slope([part for day in some for part in day.parts.values()], reference.dispersions[0])
        for some in (days[:at], days[at:])
    )
    return ReferenceChange(
        first=days[0].day,
        since=days[at].day,
        kind=kind_of(split.direction, split.difference),
        before=before.value if before else None,
        after=after.value if after else None,
    )


def coverage_of(days: Sequence[Day], rank: float = 0.5) -> float | None:
    """Give the share of the predictions that have an outcome, on a usual day or on a worse one.

    Parameters
    ----------
    days : sequence of Day
        Those that count.
    rank : float
        Share of the days that are worse, a ratio in [0, 1].

    Returns
    -------
    float or None
        A ratio in [0, 1]; None if no day has one.
    """
    known = [day.coverage for day in days if isfinite(day.coverage)]
    return float(np.quantile(known, rank, method="inverted_cdf")) if known else None


def _fit_scores(days: Sequence[Day], limits: Limits) -> ModelReference:
    """Fit the curve of one score, and that of each segment."""
    sampled = any(day.class_weights != NO_SAMPLE for day in days)

    def fit(parts: Sequence[Parts]) -> Reference:
        every, noise = limits.judge_every, not sampled  # a weighted row is no flip of two labels
        of = limits.sensitivity
        return fit_reference(parts, of, judge_every=every, noise=noise, regions=True)

    streams: dict[str, Reference | Lack] = {WHOLE: fit([day.parts for day in days])}
    for name, alone in _streams_beside(days, _segments_of_days(days)):
        streams[name] = what_a_reference_lacks(alone) or fit(alone)
    return ModelReference(days[0].day, days[-1].day, streams)


def _fit_classes(days: Sequence[Day], limits: Limits, classes: ClassDay) -> ModelReference:
    """Fit the curves of pairs of classes: of all, of third choices, of segments and of each."""

    def fit(parts: Sequence[Parts]) -> Reference:
        every, of = limits.judge_every, limits.sensitivity  # a third class is no flip of two
        return without_top(fit_reference(parts, of, judge_every=every, noise=False))

    def fit_coded(parts: Sequence[Parts], curves: PairCurves) -> Reference:
        return with_curves(fit([coded(day, curves) for day in parts]), parts, curves)

    def fit_family(parts: Sequence[Parts], curves: PairCurves) -> Reference:
        # They share no level, because which class of a pair is first means nothing.
        return replace(fit_coded(parts, curves), own_intercept=None, levels={})

    def fit_pair(alone: Sequence[Parts]) -> Reference:
        if not curves.of_parts:  # its curve is its own
            return fit(alone)
        strata = [part for day in alone for part in day.values()]
        return replace(fit_coded(alone, curves), own_intercept=own_intercept(strata))

    parts, (third, lack) = [day.parts for day in days], _third_choices(days, classes)
    curves, third_curves = fit_codes(parts), SAME
    whole = fit_family(parts, curves)
    streams: dict[str, Reference | Lack] = {WHOLE: whole}
    if third:
        third_curves = fit_codes(third)
        streams[THIRD] = fit_family(third, third_curves)
    elif lack:
        streams[THIRD] = lack
    segments = _segments_of_days(days)
    for name, alone in _streams_beside(days, [*segments, *streams_of_pairs(parts)]):
        # The pairs of all segments have their curves in common.
        fit_own = partial(fit_family, curves=curves) if name in segments else fit_pair
        streams[name] = what_a_reference_lacks(alone) or fit_own(alone)
    span = class_span(days, classes)
    return ModelReference(
        days[0].day,
        days[-1].day,
        streams,
        curves=curves,
        third_curves=third_curves,
        classes=classes,
        levels=fit_class_levels(whole, curves, span) if span else None,
        scores=_fit_class_scores(days, segments, ALL if span else (BELOW,)),
    )


def _fit_class_scores(
    days: Sequence[Day], segments: Sequence[str], places: tuple[int, ...]
) -> dict[str, ClassScores]:
    """Learn the scores of each class, and in segments: below all, and new ones of a single part.

    None where those of the whole cannot be learned.
    """
    of_days = [day.rest.get(WHOLE, {}) for day in days]
    highest = any(map(only_highest, of_days))
    scores = {WHOLE: fit_class_scores(of_days, places=places, highest=highest)}
    for segment in segments if scores[WHOLE] else ():
        parts = {key[:2] for day in days for key in day.parts if key[0] == segment}
        rest = [day.rest[segment] for day in days if day.rest.get(segment)]
        of_segment = (BELOW, NEW) if len(parts) == 1 else (BELOW,)
        scores[segment] = fit_class_scores(rest, places=of_segment, highest=highest)
    return {name: own for name, own in scores.items() if own}


def _segments_of_days(days: Sequence[Day]) -> list[str]:
    return list(dict.fromkeys(segment for day in days for segment in segments_of(day)))


def _streams_beside(days: Sequence[Day], names: Sequence[str]) -> Iterator[tuple[str, list[Parts]]]:
    """Give the parts of each stream beside the whole, of the days that have any."""
    for name in names if [*names] != [WHOLE] else ():
        yield name, [alone for day in days if (alone := parts_of_stream(day, name))]


def _third_choices(days: Sequence[Day], classes: ClassDay) -> tuple[list[Parts], Lack | None]:
    """Give the pairs of first and third choices of days that can be a reference, or what they lack.

    Nothing of both if the model has no third choices.
    """
    if len(classes.names) < WITH_THIRD:
        return [], None
    parts = [day.third for day in days if day.third]
    lack = what_a_reference_lacks(parts)
    if lack and len(parts) < len(days):
        return [], replace(lack, uncounted=True)
    return ([], lack) if lack else (parts, None)


def class_span(days: Sequence[Day], classes: ClassDay) -> list[tuple[Parts, ClassDay]]:
    """Give pairs and outcomes of the days that have the same classes, and the traffic in one part.

    Over several parts, whose priors move apart, the levels of pairs would not follow the
    frequencies of the classes.
    """
    return [
        (day.parts, day.classes)
        for day in days
        if day.classes and day.classes.is_like(classes)
        if all(key[:-1] == (WHOLE, WHOLE) for key in day.parts)
    ]


def with_dependence(reference: Reference, days: Sequence[Day], name: str) -> Reference:
    """Let the errors of a stream's reference grow by how far its outcomes hang together.

    Entities say so, where there are any; else whether neighbouring days are alike.
    """
    has_entities = any(day.entities for day in days)
    return with_entities(reference, days, name) if has_entities else with_overlap(reference)


def with_entities(reference: Reference, days: Sequence[Day], name: str) -> Reference:
    """Let the errors of a stream's reference grow by how far the rows of its days hang together."""
    if not any(day.entities for day in days):
        return reference
    sums = sum((entity_sums(reference, day, name) for day in days), NOTHING)
    wider = _intercept_hanging(reference, days, name)
    return with_hanging(reference, hanging(reference, sums), wider)


def _intercept_hanging(reference: Reference, days: Sequence[Day], name: str) -> float:
    """Find by how much the variance of a reference's own intercept grows, if it has one."""
    if not reference.own_intercept:
        return 1.0
    held = merge_buckets(buckets for day in days for buckets in _buckets(day, name))
    return intercept_hanging(CENTRES + reference.own_intercept.value, reference.counts, held)


def _buckets(day: Day, name: str) -> list[BucketCounts]:
    """Give the rows of a stream by bucket of their entity, of each part that has any."""
    parts = parts_of_stream(day, name)
    return [held for key, held in day.entities.items() if key in parts]


def entity_sums(reference: Reference, day: Day, name: str) -> BucketSums:
    """Sum up what the buckets of a day say of a stream."""
    return sum_buckets(reference, parts_of_stream(day, name), day.entities)


def recalled_sums(recall: Recall) -> SumsOf:
    """Sum up the buckets of days that are read once more; those of the last year are kept."""

    @lru_cache(MOST_KEPT)
    def sums_of(reference: Reference, name: str, day: date) -> BucketSums:
        recalled = recall(day)
        is_final = recalled is not None and recalled.final
        return entity_sums(reference, recalled, name) if recalled and is_final else NOTHING

    return sums_of


def limit_of_whole(streams: Mapping[str, Reference | Lack], limits: Limits) -> float:
    """Give the evidence at which an incident of the whole opens, log10."""
    whole, third = (streams.get(name) for name in FAMILIES)
    if limits.calibrated and isinstance(whole, Reference):
        other = third if isinstance(third, Reference) else None
        return calibrated_limit(whole, limits.false_alert_days, other)
    return limit_alone(limits, WHOLE)


def limit_of_stream(reference: ModelReference, limits: Limits, name: str) -> float:
    """Give the evidence at which a stream alerts while nothing else says anything, log10."""
    families = reference.families
    if name in families:
        return family_limit(reference.limit, [0.0] * (len(families) - 1))
    return limit_alone(limits, name, len(reference.segments))


def limit_alone(limits: Limits, stream: str, segments: int = 1) -> float:
    """Give the evidence at which a stream alerts while no other segment does, log10."""
    among = 1 if stream in FAMILIES else max(1, segments)
    return log10(false_alert_days(limits, stream) * among)


def prevalence_of(days: Sequence[Day], name: str) -> float:
    """Give the prevalence of a stream over days, in the population that their logs are samples of.

    nan without an outcome. Of vectors it is how often the first choice was right.
    """
    if classes := sum_of_days((day.classes for day in days), name):
        return classes.right / classes.total if classes.total else nan
    positives = total = 0.0
    for day in days:
        negative, positive = day.class_weights
        for part in parts_of_stream(day, name).values():
            hits, rows = int(part.positives.sum()), int(part.counts.sum())
            positives += positive * hits
            total += positive * hits + negative * (rows - hits)
    return positives / total if total else nan


def _of_days(reference: Reference, days: Sequence[Day], name: str) -> Reference:
    """Give a reference what its curve alone does not tell of its days."""
    own = with_dependence(reference, days, name)
    of_days = list[tuple[Tally, BucketCounts]]()
    for day in days:  # its rows twice: by score, and by bucket of their entity
        parts = [part for key, part in parts_of_stream(day, name).items() if key in day.entities]
        if parts:
            of_days.append((tally_of(sum_of(parts)), merge_buckets(_buckets(day, name))))
    prevalence = prevalence_of(days, name)
    return replace(own, prevalence=prevalence, design_effects=design_effects(of_days))


def false_alert_days(limits: Limits, stream: str) -> int:
    """Give the days between false alerts of the whole model, or of one of its segments."""
    own = stream in FAMILIES
    return limits.false_alert_days if own else limits.segment_false_alert_days


def same_classes(day: Day, reference: ModelReference) -> bool:
    """Return whether a day can be compared with a reference: both have the same classes."""
    names = day.classes.names if day.classes else ()
    return not day.parts or names == reference.class_names


def is_evidence(day: Day, reference: ModelReference) -> bool:
    """Say whether a day can be evidence, by itself or in a span, whatever its outcomes are."""
    return same_classes(day, reference) and day.day > reference.last


def end_of_span(day: date, length: int) -> int:
    """Give the ordinal of the last day of the span of days judged together that holds a day."""
    return (day.toordinal() - 1) // length * length + length


def in_force(references: Sequence[ModelReference]) -> list[ModelReference]:
    """Leave out references that have too few days or outcomes, while one before them has enough.

    The one before says which it stands in for. Scores from before a map was deployed cannot be
    compared with those since, so nothing stands in for the reference of a map.
    """
    kept: list[ModelReference] = []
    for reference in references:
        if reference.lack and not reference.deployed and kept and not kept[-1].lack:
            kept[-1] = replace(kept[-1], awaited=(reference.first, reference.lack))
        else:
            kept.append(reference)
    return kept


def reference_of_day(day: date, references: Sequence[ModelReference]) -> ModelReference | None:
    """Find the reference that a day is part of, else the newest before it, else the first."""
    begun = [reference for reference in references if reference.begins <= day]
    return [*references[:1], *begun][-1] if references else None


def segments_of(day: Day) -> list[str]:
    """Name the segments of a day, some more than once.

    Pairs are none: only some of them get a verdict of their own, which the reference says.
    """
    return list(day.classes.segments) if day.classes else [segment for segment, _ in day.parts]


def parts_of_stream(day: Day, name: str) -> dict[Key, Coarse]:
    """Give the parts of a day whose evidence a stream sums."""
    if name in day.unlike:
        return {}
    if name == THIRD:
        return dict(day.third)
    return {key: part for key, part in day.parts.items() if name in (WHOLE, key[0], *key[2:])}


def weighed_parts(day: Day, name: str, reference: ModelReference) -> dict[Key, Coarse]:
    """Give those parts with the scores that the curve of the stream is a function of."""
    return coded(parts_of_stream(day, name), reference.curves_of(name))
