"""Where on the score axis the error is: the bins of a window, and the reference curve. Pure."""

from collections.abc import Sequence
from datetime import date

import numpy as np

from monitor.base.segment_names import WHOLE
from monitor.drift.curve.reference import Reference
from monitor.drift.fold.inputs import ModelReference, reference_of_day
from monitor.metrics.binned.binning import paper_sizes, pava_bc
from monitor.metrics.core.coarse import CENTRES, coarsen
from monitor.metrics.core.tally import Tally, shift
from monitor.metrics.logistic.intercept import fit_intercept, has_intercept
from monitor.metrics.logistic.level import fit_level
from monitor.metrics.test_based.tce import tce
from monitor.report.page.content import Bin, Curve, Reliability

CURVE_POINTS = 41


def reliability(
    t: Tally,
    days: Sequence[date],
    references: Sequence[ModelReference],
    *,
    alpha: float,
    first_choices: bool = False,
) -> Reliability | None:
    """Bin the predictions of a window as its TCE does, and test every score of each bin.

    Parameters
    ----------
    t : Tally
        Of all days together.
    days : sequence of date
        The days, rising.
    references : sequence of ModelReference
        In their order.
    alpha : float
        Significance level of the tests.
    first_choices : bool
        Whether these are the first choices of a model with classes: no intercept is a prior shift
        of theirs, and the curve of the reference is that of pairs.

    Returns
    -------
    Reliability or None
        None without a prediction that has an outcome.
    """
    if not t.total:
        return None
    delta = fit_intercept(t).delta if has_intercept(t) and not first_choices else None
    number, level = _level(t, days[-1], () if first_choices else references)
    return Reliability(
        first=days[0],
        last=days[-1],
        total=t.total,
        delta=delta,
        level=level,
        reference=number,
        bins=_bins(t, shift(t, delta or 0.0), alpha),
    )


def _bins(t: Tally, adjusted: Tally, alpha: float) -> list[Bin]:
    """Cut bins once: scores without the prior shift are in the same order."""
    smallest, largest = paper_sizes(t.total)
    bins, moved = (pava_bc(u, min_size=smallest, max_size=largest) for u in (t, adjusted))
    logged, forgiven = tce(t, bins, alpha=alpha), tce(adjusted, moved, alpha=alpha)
    if len(moved.counts) != len(bins.counts):  # scores that rounding made equal
        adjusted, moved, forgiven = t, bins, logged
    return [
        Bin(
            low=float(t.scores[bins.starts[i]]),
            high=float(t.scores[bins.starts[i + 1] - 1]),
            mean=float(bins.mean_scores[i]),
            adjusted_low=float(adjusted.scores[moved.starts[i]]),
            adjusted_high=float(adjusted.scores[moved.starts[i + 1] - 1]),
            adjusted_mean=float(moved.mean_scores[i]),
            count=int(bins.counts[i]),
            positives=int(bins.positives[i]),
            accepted=(float(accepted[0, 0]), float(accepted[-1, 1])),
            rejected=int(logged.rejected[i]),
            adjusted_rejected=int(forgiven.rejected[i]),
        )
        for i, accepted in enumerate(logged.accepted)
    ]


def _level(
    t: Tally, day: date, references: Sequence[ModelReference]
) -> tuple[int | None, float | None]:
    """Find the reference of a day, and the intercept of these outcomes on its curve."""
    compared = reference_of_day(day, references)
    stream = compared.streams.get(WHOLE) if compared else None
    if compared is None or not isinstance(stream, Reference):
        return None, None
    level = fit_level(stream.curve, coarsen(t)).delta
    return references.index(compared), float(level) if np.isfinite(level) else None


def curve_of(reference: ModelReference) -> Curve:
    """Take some points of a reference's curve, where it is known."""
    stream = reference.streams.get(WHOLE)
    if not isinstance(stream, Reference):
        return Curve(reference.first, reference.last, (), ())
    seen = np.nonzero(stream.counts.counts[stream.known])[0] + (stream.known.start or 0)
    if not seen.size:
        return Curve(reference.first, reference.last, (), ())
    points = np.unique(np.linspace(seen[0], seen[-1], CURVE_POINTS).astype(int))
    return Curve(
        reference.first,
        reference.last,
        [float(score) for score in CENTRES[points]],
        [float(value) for value in stream.curve[points]],
    )
