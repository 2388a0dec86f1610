"""Pairs of classes as strata: what a day of a model with classes brings to its verdict. Pure.

Rule: a row counts in the pair of the two classes that its scores rank highest. Given that one of
the two came true, a shift of any class priors moves the log-odds of the pair by one constant, which
the evidence does not see. One class against the rest has no such constant. Pairs of the highest and
the third highest score are a second family with curves of its own: they see outcomes that go to a
third class.

Each pair may be miscalibrated in a way of its own, and the mix of pairs moves with the priors. So
the scores of a pair are first replaced by those of its own curve in the reference, and what all
pairs share is a change since then. Where segments are miscalibrated in ways of their own too, each
part, which is a pair in one segment and stratum, has its own curve.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from monitor.base.segment_names import WHOLE
from monitor.drift.curve.fitting import fit_curve
from monitor.drift.curve.reference import RARE, Reference, dispersions, own_slope
from monitor.drift.records.day_evidence import DIRECTIONS
from monitor.drift.records.facts import MOST_STREAMS
from monitor.metrics.beyond_binary.class_counts import ClassCounts, pair_name
from monitor.metrics.beyond_binary.class_parts import ClassPart
from monitor.metrics.core.coarse import CELLS_IN_ONE, CENTRES, COARSE_COUNT, Coarse
from monitor.metrics.core.grid import CELLS_PER_LOGIT, LOGIT_LIMIT, Floats, Ints
from monitor.metrics.core.ratio import ratio
from monitor.metrics.logistic.conditional import project_directions

MOST_CURVES = 200  # pairs with a curve of their own, those that the reference knows best
KNOWN_BY_ITSELF = 1000.0  # of the information of a slope: its standard error is 0.03
CERTAIN = 1.0  # standard deviations by which pairs differ more than by chance
MOST_PARTS = 2_000  # with a curve of their own: as many as a day counts
CERTAIN_OF_PARTS = 5.0  # the same of parts: of 216 times chance alone reached 2.7 at most
UNMOVED = np.zeros(3)
STEPS = 5  # of Newton's method
RISE = 1e-9  # a cell: makes flat parts of a curve rise
TOP = DIRECTIONS.index("top")
Key = tuple[str, ...]  # segment and stratum, of a model with classes also the pair
Parts = Mapping[Key, Coarse]
Name = str | Key  # of a curve: a pair, or a part


@dataclass(frozen=True, eq=False)
class ClassDay:
    """How often each class came true on a day, or over a reference.

    Attributes
    ----------
    names : tuple of str
        The classes.
    outcomes : ndarray of shape (c,)
        Rows by the class that came true.
    judged : int
        Rows in pairs, on which a verdict rests.
    right : int
        Rows whose first choice came true.
    pairs : mapping of str to (int, int)
        The places of both classes of each pair that is counted.
    equal : mapping of (str, str, str) to Coarse
        On a single day, the pairs with outcomes of one class only: they say nothing of a curve, but
        count in the level of a week.
    segments : mapping of str to ClassDay
        The same of each segment, as far as it is no mapping; empty of a model without segments.
    weights : tuple of float
        How many rows of the population a row of each class stands for; empty of a log with all.
    among, promised : int
        Of the whole, as `monitor.metrics.beyond_binary.class_counts.ClassCounts` has them.
    """

    names: tuple[str, ...]
    outcomes: Ints
    judged: int
    right: int
    pairs: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    equal: Parts = field(default_factory=dict)
    segments: Mapping[str, "ClassDay"] = field(default_factory=dict)
    weights: tuple[float, ...] = ()
    among: int = 0
    promised: int = 0

    @property
    def total(self) -> int:
        """All rows."""
        return int(self.outcomes.sum())

    def is_like(self, other: "ClassDay") -> bool:
        """Return whether the frequencies of both can be compared: of equal classes and weights."""
        return (self.names, self.weights) == (other.names, other.weights)

    def of(self, stream: str) -> "ClassDay | None":
        """Give that of the whole or of a segment; None of a stream that counts no vectors."""
        return self if stream == WHOLE else self.segments.get(stream)


@dataclass(frozen=True, eq=False)
class PairCurves:
    """How the curves of pairs, and of parts of them, differ from the one that all share.

    Attributes
    ----------
    codes : mapping of str or tuple of str to ndarray of shape (1024,)
        By pair, and by part where those of a pair differ: the cell on the common curve that each
        cell stands for. Empty if none differs.
    variances : mapping of str or tuple of str to ndarray of shape (3,)
        Of the deviation of each pair from the common curve, and of each part from its pair, along
        slope, quadratic and cubic.
    spread, spread_of_parts : ndarray of shape (3,)
        Variances of these deviations themselves.
    """

    codes: Mapping[Name, Ints]
    variances: Mapping[Name, Floats]
    spread: Floats
    spread_of_parts: Floats = field(default_factory=lambda: np.zeros(3))

    @property
    def of_parts(self) -> bool:
        """Whether the parts of a pair differ."""
        return bool(self.spread_of_parts.any())

    def code_of(self, key: Key) -> Ints | None:
        """Give the code of a part, else that of its pair; None if it has the common curve."""
        return self.codes.get(key, self.codes.get(key[-1]))


SAME = PairCurves({}, {}, np.zeros(3))


class _Common(NamedTuple):
    """The curve that all share, the ways in which others may differ, and the cells it is known in.

    Their shapes are (1024,) and (3, 1024).
    """

    curve: Floats
    along: Floats
    known: slice


class _Pull(NamedTuple):
    """What the days of a pair or part say of each way; shapes (3,) and (3, 3)."""

    scores: Floats
    informations: Floats


def class_day(counts: ClassCounts, right: Mapping[str, int]) -> ClassDay:
    """Take what the verdict needs besides the pairs.

    Parameters
    ----------
    counts : ClassCounts
        Of the day.
    right : mapping of str to int
        Rows whose first choice came true, by segment.
    """
    names, of_segments = counts.names, dict[str, list[ClassPart]]()
    for (segment, _), part in counts.parts.items():
        of_segments.setdefault(segment, []).append(part)
    segments = {
        segment: ClassDay(
            names,
            np.sum([part.outcomes for part in parts], axis=0),
            sum(part.judged for part in parts),
            right[segment],
            weights=counts.weights,
        )
        for segment, parts in of_segments.items()
        if segment != WHOLE  # it has this name where the model has strata only
    }
    return ClassDay(
        *(names, counts.outcomes, counts.judged, sum(right.values())),
        pairs={pair_name(names, pair): pair for pair in counts.pairs},
        # Only levels need these, which are not looked for in several parts.
        equal={} if counts.parts else parts_of_pairs(counts, "pairs", both=False),
        segments=segments,
        weights=counts.weights,
        among=counts.among,
        promised=counts.promised,
    )


def sum_of_days(days: Iterable[ClassDay | None], stream: str = WHOLE) -> ClassDay | None:
    """Add the days up that are like the last one with classes; None if none counts the stream."""
    with_classes = [day for day in days if day]
    alike = (day.of(stream) for day in with_classes if day.is_like(with_classes[-1]))
    counted = [own for own in alike if own]
    return _added(counted) if counted else None


def _added(days: Sequence[ClassDay]) -> ClassDay:
    all_counted = all(day.promised or not day.total for day in days)
    segments = dict.fromkeys(segment for day in days for segment in day.segments)
    return ClassDay(
        days[-1].names,
        np.sum([day.outcomes for day in days], axis=0),
        sum(day.judged for day in days),
        sum(day.right for day in days),
        {name: pair for day in days for name, pair in day.pairs.items()},
        segments={
            segment: _added([day.segments[segment] for day in days if segment in day.segments])
            for segment in segments
        },
        weights=days[-1].weights,
        among=sum(day.among for day in days) if all_counted else 0,
        promised=sum(day.promised for day in days) if all_counted else 0,
    )


def parts_of_pairs(
    counts: ClassCounts, family: Literal["pairs", "third"], *, both: bool = True
) -> dict[Key, Coarse]:
    """Name the pairs of a family on a day by segment, stratum and classes.

    Parameters
    ----------
    counts : ClassCounts
        Of the day.
    family : str
        The pairs of the two highest scores, or of the first and the third choice.
    both : bool
        Whether those with outcomes of both classes, which say something of a curve, or of one.
    """
    parts: Mapping[tuple[str, str], ClassCounts | ClassPart]
    parts = counts.parts or {(WHOLE, WHOLE): counts}
    return {
        (*part, pair_name(counts.names, pair)): counted
        for part, of_part in parts.items()
        for pair, counted in getattr(of_part, family).items()
        if (0 < int(counted.positives.sum()) < int(counted.counts.sum())) is both
    }


def fit_codes(days: Sequence[Parts]) -> PairCurves:
    """Learn how the curve of each pair differs from the one that all pairs share, and each part.

    Parameters
    ----------
    days : sequence of mapping to Coarse
        The pairs of each day of the reference.

    Notes
    -----
    The curve of pair p is ``eta + sum_j d_pj D_j``: the common curve, and its slope, quadratic and
    cubic. The deviations are drawn with a variance for each direction, estimated by moments
    (DerSimonian and Laird 1986), and each is its posterior mode. So pairs that the reference hardly
    knows keep the common curve, and if no pair differs, all do. Without that, hundreds of curves
    would follow the chance of the reference, and every later day would look too extreme.

    The curve of a part, which is a pair in one segment and stratum, differs from that of its pair
    in the same way.
    """
    common = _common_curve(days)
    pairs = _curves_of_pairs(common, by_pair(days))
    of_part = _grouped([coded(day, pairs) for day in days], lambda key: key)
    if len(of_part) == len({key[-1] for key in of_part}):
        return pairs
    return _with_parts(pairs, common, of_part)


def _common_curve(days: Sequence[Parts]) -> _Common:
    everything = [part for of_days in by_pair(days).values() for part in of_days]
    fitted = fit_curve(*_stacked(everything))
    along = np.stack([fitted.values - fitted.values[fitted.known].mean(), *fitted.shapes[:2]])
    return _Common(fitted.values, along, fitted.known)


def _stacked(parts: Sequence[Coarse]) -> tuple[Ints, Ints]:
    return np.stack([p.counts for p in parts]), np.stack([p.positives for p in parts])


def _curves_of_pairs(common: _Common, of_pair: Mapping[str, list[Coarse]]) -> PairCurves:
    pulls, spread = _differing(common, of_pair, MOST_CURVES, CERTAIN)
    codes, variances = dict[Name, Ints](), dict[Name, Floats]()
    for pair, pull in pulls.items():
        informations = np.diag(pull.informations)
        if informations[0] >= KNOWN_BY_ITSELF:
            own = _own_curve(of_pair[pair], common.curve)
            variances[pair] = 1.0 / np.maximum(informations, 1.0)
        else:
            deviation, covariance, _ = _deviation(common, of_pair[pair], spread)
            own = common.curve + deviation @ common.along
            variances[pair] = np.diag(covariance).copy()  # a kept fit holds no view
        codes[pair] = _code(common.curve, own)
    return PairCurves(codes, variances, spread)


def _with_parts(
    pairs: PairCurves, common: _Common, of_part: Mapping[Key, list[Coarse]]
) -> PairCurves:
    """Add the curves of parts, whose scores are coded as their pairs are."""
    pulls, spread = _differing(common, of_part, MOST_PARTS, CERTAIN_OF_PARTS)
    codes, variances = dict(pairs.codes), dict(pairs.variances)
    for key in pulls:
        deviation, covariance, informations = _deviation(common, of_part[key], spread)
        code = _code(common.curve, common.curve + deviation @ common.along)
        of_pair = pairs.codes.get(key[-1])
        codes[key] = code if of_pair is None else code[of_pair]
        variances[key] = _as_seen(covariance, informations, spread)
    return PairCurves(codes, variances, pairs.spread, spread)


def _differing(
    common: _Common, of_name: Mapping[Any, list[Coarse]], most: int, certain: float
) -> tuple[dict[Any, _Pull], Floats]:
    """Take the best known, and the variance of their deviations; none if chance explains them."""
    ranked = sorted(of_name, key=lambda name: (-_rarer(of_name[name]), name))[:most]
    pulls = {name: _pull(common, of_name[name]) for name in ranked}
    spread = _between([*pulls.values()], certain)
    return pulls if spread.any() else {}, spread


def _pull(common: _Common, days: Sequence[Coarse], deviation: Floats = UNMOVED) -> _Pull:
    """Sum what days say, at a curve that deviates from the common one."""
    scores, informations = np.zeros(len(common.along)), np.zeros([len(common.along)] * 2)
    at = (common.curve + deviation @ common.along)[common.known]
    inside = np.ascontiguousarray(common.along[:, common.known])
    for part in days:
        counts, positives = part.counts[common.known], part.positives[common.known]
        pull, cross = project_directions(at, counts, positives, inside, inside)
        scores, informations = scores + pull, informations + cross[:, 1:]
    return _Pull(scores, informations)


def _own_curve(days: Sequence[Coarse], common: Floats) -> Floats:
    """Fit the spline of one pair, as high on average as the common curve."""
    counts, positives = _stacked(days)
    curve = fit_curve(counts, positives).values
    return np.asarray(curve + np.average(common - curve, weights=counts.sum(axis=0)))


def _between(pulls: Sequence[_Pull], certain: float) -> Floats:
    """Estimate the variance of the deviations along each direction; 0 if chance explains them."""
    z = np.array([pull.scores for pull in pulls])
    information = np.array([np.diag(pull.informations) for pull in pulls])
    inside = np.where(information > 0.0, information, 1.0)
    homogeneous = (z**2 / inside).sum(axis=0) - z.sum(axis=0) ** 2 / inside.sum(axis=0)
    excess = homogeneous - (len(z) - 1)
    weight = information.sum(axis=0) - (information**2).sum(axis=0) / inside.sum(axis=0)
    differs = excess > certain * np.sqrt(2.0 * max(1, len(z) - 1))
    return np.where(differs, ratio(excess, weight), 0.0)


def _deviation(
    common: _Common, days: Sequence[Coarse], spread: Floats
) -> tuple[Floats, Floats, Floats]:
    """Fit the deviations of a pair or part, with their posterior covariance and information."""
    moves = spread > 0.0
    deviation, ridge = np.zeros(len(common.along)), np.diag(1.0 / spread[moves])
    for _ in range(STEPS):
        scores, informations = _pull(common, days, deviation)
        inside = informations[np.ix_(moves, moves)] + ridge
        deviation[moves] += np.linalg.solve(inside, scores[moves] - ridge @ deviation[moves])
    covariance = np.zeros((len(deviation), len(deviation)))
    covariance[np.ix_(moves, moves)] = np.linalg.inv(inside)
    return deviation, covariance, informations


def _as_seen(covariance: Floats, informations: Floats, spread: Floats) -> Floats:
    """Give the variance with which a deviation appears along each direction.

    Where few scores are, slope and shapes can hardly be distinguished, and each by itself is known
    badly. What the scores see of them is their projection, and known as well as they say.
    """
    alone = np.diag(informations)
    seen = np.diag(informations @ covariance @ informations)
    return np.where(alone > 0.0, seen / np.where(alone > 0.0, alone, 1.0) ** 2, spread)


def coded(parts: Parts, curves: PairCurves) -> dict[Key, Coarse]:
    """Replace the scores of each pair by those that have as many outcomes on the common curve."""
    return {key: _moved(part, curves.code_of(key)) for key, part in parts.items()}


def without_top(reference: Reference) -> Reference:
    """Look for no change of the top tenth: which class of a pair has high scores means nothing."""
    directions, cross = reference.directions.copy(), reference.cross.copy()
    informations, scores = reference.informations.copy(), reference.scores.copy()
    directions[TOP], cross[TOP], informations[:, TOP], scores[:, TOP] = 0.0, 0.0, 0.0, 0.0
    return replace(
        reference, directions=directions, cross=cross, informations=informations, scores=scores
    )


def with_curves(fitted: Reference, days: Sequence[Parts], curves: PairCurves) -> Reference:
    """Say how well the curves before the coding are known: the stream's own, and the others.

    Parameters
    ----------
    fitted : Reference
        Fitted to the coded pairs.
    days : sequence of mapping to Coarse
        The pairs of each day, not coded.
    curves : PairCurves
        From `fit_codes`.
    """
    strata = [part for day in days for part in day.values()]
    dispersion = float(dispersions(fitted.day_variances, fitted.informations)[0])
    reference = replace(fitted, own_slope=own_slope(strata, dispersion))
    if not curves.codes:
        return reference
    parts = sorted({key for day in days for key in day if key in curves.codes})
    names: list[Name] = [*(n for n in curves.codes if isinstance(n, str)), RARE, *parts]
    reference = replace(reference, groups={name: place for place, name in enumerate(names)})
    informations = np.zeros((len(names), len(DIRECTIONS)))
    at, along = fitted.curve[fitted.known], np.ascontiguousarray(fitted.directions[:, fitted.known])
    for day in days:
        for key, part in coded(day, curves).items():
            counts, positives = part.counts[fitted.known], part.positives[fitted.known]
            _, cross = project_directions(at, counts, positives, along, along)
            informations[reference.group_of(key)] += cross[:, 0]
    variances = np.array([_variance(curves, name) for name in names])
    shares = ratio(informations.T, fitted.cross[:, :1])
    return replace(
        reference,
        group_variances=np.hstack([variances, np.zeros((len(names), 1))]),
        usual_shares=shares if curves.of_parts else np.zeros_like(shares),
        cross=np.hstack([fitted.cross, informations.T]),
    )


def _variance(curves: PairCurves, name: Name) -> Floats:
    """Give the variance of a curve: of a pair whose parts have none, or of a part."""
    if isinstance(name, str):
        return curves.variances.get(name, curves.spread) + curves.spread_of_parts
    return curves.variances.get(name[-1], curves.spread) + curves.variances[name]


def streams_of_pairs(days: Sequence[Parts]) -> list[str]:
    """Choose the pairs that get a verdict of their own, the best known first."""
    rarer = {pair: _rarer(parts) for pair, parts in by_pair(days).items()}
    return sorted(rarer, key=lambda pair: (-rarer[pair], pair))[:MOST_STREAMS]


def by_pair(days: Sequence[Parts]) -> dict[str, list[Coarse]]:
    """Give the parts of each pair, day after day."""
    return _grouped(days, lambda key: key[-1])


def _grouped(days: Sequence[Parts], name_of: Callable[[Key], Any]) -> dict[Any, list[Coarse]]:
    grouped = dict[Any, list[Coarse]]()
    for day in days:
        for key, part in day.items():
            grouped.setdefault(name_of(key), []).append(part)
    return dict(sorted(grouped.items()))


def _rarer(parts: Sequence[Coarse]) -> int:
    positives = sum(int(part.positives.sum()) for part in parts)
    return min(positives, sum(int(part.counts.sum()) for part in parts) - positives)


def _code(common: Floats, own: Floats) -> Ints:
    """Find the cells where the common curve is as high as that of a pair."""
    rising = np.maximum.accumulate(common + RISE * np.arange(COARSE_COUNT))
    logits = np.interp(own, rising, CENTRES)
    cells = np.floor((logits + LOGIT_LIMIT) * CELLS_PER_LOGIT / CELLS_IN_ONE)
    return np.asarray(np.clip(cells, 0, COARSE_COUNT - 1), np.int64)


def _moved(part: Coarse, code: Ints | None) -> Coarse:
    if code is None:
        return part
    counts, positives = (
        np.bincount(code, weights=values, minlength=COARSE_COUNT).astype(np.int64)
        for values in (part.counts, part.positives)
    )
    return Coarse(counts, positives)
