"""Recent outcomes against the curve of the reference, with the prior shift forgiven."""

from typing import TYPE_CHECKING

import numpy as np

from monitor.drift.reference import Reference
from monitor.metrics.binned.binning import Bins, monitor_sizes, pava_bc
from monitor.metrics.binomial.acceptance import accepted_intervals
from monitor.metrics.core.coarse import CENTRES, coarsen
from monitor.metrics.core.estimate import CONFIDENCE, NORMAL_95
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.special import expit, logit
from monitor.metrics.core.tally import Tally
from monitor.metrics.logistic.level import fit_level
from monitor.report.diagrams.canvas import head, make_axes
from monitor.report.diagrams.counts import share_above_counts
from monitor.report.diagrams.scales import Ends, Scale, limits
from monitor.report.diagrams.theme import LIGHT, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEVEL = f"{100 * CONFIDENCE:g} %"


def draw_reference(
    reference: Reference,
    recent: Tally,
    *,
    scale: Scale = "logit",
    axes: "Axes | None" = None,
    theme: Theme = LIGHT,
) -> "Axes":
    """Draw the reference curve with its band, and the outcomes of recent days.

    Every point is a PAVA-BC bin of recent predictions: its observed share, less the prior shift
    since the reference, with the shares that the exact binomial test accepts. Points off the band
    mean that the curve has changed.

    Parameters
    ----------
    reference : Reference
        Whose curve is "as before"; drawn where it is known.
    recent : Tally
        Predictions with their outcomes, of one prior; may be empty.
    scale : {"probability", "logit"}
        Of both axes.
    axes : Axes, optional
        Where to draw; by default in a new figure.
    theme : Theme
        Its colours.

    Returns
    -------
    Axes
        The main panel.
    """
    delta = fit_level(reference.curve, coarsen(recent)).delta
    scores = expit(CENTRES[reference.known])
    curve, reach = reference.curve[reference.known], reference.curve_errors[reference.known]
    low, high = expit(curve - NORMAL_95 * reach), expit(curve + NORMAL_95 * reach)
    points = _points(recent, delta) if np.isfinite(delta) else None
    shown = [scores, low, high, *((points[0], points[1]) if points else ())]
    ends = limits(np.concatenate(shown), scale)
    main = share_above_counts(make_axes(axes, theme, height=4.8), recent, ends, scale, theme)
    main.plot(ends, ends, color=theme.muted, lw=0.8, ls=":", label="score = share")
    main.fill_between(scores, low, high, color=theme.bars, alpha=0.6, lw=0)
    main.plot(scores, expit(curve), color=theme.ink, lw=1.4, label=f"reference ({LEVEL})")
    if points:
        _draw_points(main, points, ends, theme)
    if points:
        below = f"{recent.total:,} recent predictions, {recent.total_positives:,} positive; "
        below += f"a prior shift of {delta:+.2f} is forgiven"
    else:
        below = "no recent outcomes of both kinds to compare with it"
    head(main, theme, "Recent outcomes against the reference curve", below, columns=3)
    return main


def _points(recent: Tally, delta: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Give mean score, share and the ends of its interval for each bin, without the shift."""
    smallest, largest = monitor_sizes(recent.total)
    bins = pava_bc(recent, min_size=smallest, max_size=largest)
    accepted = _accepted(bins)
    with np.errstate(divide="ignore"):
        moved = expit(logit(np.column_stack([bins.rates, accepted])) - delta)
    return bins.mean_scores, moved[:, 0], moved[:, 1], moved[:, 2]


def _accepted(bins: Bins) -> Floats:
    pieces = [
        accepted_intervals(int(k), int(n), alpha=1.0 - CONFIDENCE)
        for k, n in zip(bins.positives, bins.counts, strict=True)
    ]
    return np.array([[piece[0, 0], piece[-1, 1]] for piece in pieces])


def _draw_points(
    axes: "Axes", points: tuple[Floats, Floats, Floats, Floats], ends: Ends, theme: Theme
) -> None:
    x, middle, low, high = (np.clip(values, *ends) for values in points)
    axes.errorbar(
        x, middle, np.maximum([middle - low, high - middle], 0.0), fmt="o", color=theme.main,
        ms=3, lw=0.9, label=f"recent bins ({LEVEL})",
    )  # fmt: skip
