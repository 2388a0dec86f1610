"""Recent outcomes against the curve of the reference, with the prior shift forgiven."""

from typing import TYPE_CHECKING

import numpy as np

from monitor.drift.curve.reference import Reference
from monitor.drift.records.region_state import Break
from monitor.metrics.binned.binning import Bins, monitor_sizes, pava_bc
from monitor.metrics.binomial.acceptance import accepted_intervals
from monitor.metrics.core.coarse import CENTRES, coarsen
from monitor.metrics.core.estimate import CONFIDENCE, NORMAL_95
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.special import expit, logit
from monitor.metrics.core.tally import Tally
from monitor.metrics.logistic.level import fit_level
from monitor.report.diagrams.canvas import head, make_axes
from monitor.report.diagrams.counts import share_above_counts
from monitor.report.diagrams.scales import Ends, Scale, limits
from monitor.report.diagrams.theme import LIGHT, Theme
from monitor.words.broken import where_it_is

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAST_TOOTH = 3.0  # usual steps from a cell to both neighbours; a smooth curve moves less
LEAST_CELLS = 10
SMOOTHING = 0.15  # of log-odds: standard deviation of the average
LEVEL = f"{100 * CONFIDENCE:g} %"


def draw_reference(
    reference: Reference,
    recent: Tally,
    *,
    scale: Scale = "logit",
    place: Break | None = None,
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
    place : Break, optional
        The place among the scores of an open drift, such as that of the incident of a verdict.
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
    curve, reach, piles = _smooth_curve(reference)
    low, high = expit(curve - NORMAL_95 * reach), expit(curve + NORMAL_95 * reach)
    points = _points(recent, delta) if np.isfinite(delta) else None
    shown = [scores, low, high, *((points[0], points[1]) if points else ())]
    ends = limits(np.concatenate(shown), scale)
    main = share_above_counts(make_axes(axes, theme, height=4.8), recent, ends, scale, theme)
    main.plot(ends, ends, color=theme.muted, lw=0.8, ls=":", label="score = share")
    if place:
        _draw_place(main, place, ends, theme)
    main.fill_between(scores, low, high, color=theme.bars, alpha=0.6, lw=0)
    main.plot(scores, expit(curve), color=theme.ink, lw=1.4, label=f"reference ({LEVEL})")
    if piles.size:
        _draw_piles(main, reference, piles, theme)
    if points:
        _draw_points(main, points, ends, theme)
        below = f"{recent.total:,} recent predictions, {recent.total_positives:,} positive; "
        below += f"a prior shift of {delta:+.2f} is forgiven"
    else:
        below = "no recent outcomes of both kinds to compare with it"
    head(main, theme, "Recent outcomes against the reference curve", below, columns=3)
    return main


def _draw_place(axes: "Axes", place: Break, ends: Ends, theme: Theme) -> None:
    """Shade the scores at which a drift sits; a single one is a line, at most at an end."""
    at = np.clip([place.first_score, place.last_score], *ends)
    label = f"drift at {where_it_is(place)}"
    axes.axvspan(at[0], at[-1], color=theme.alarm, alpha=0.15, lw=0, zorder=0)
    axes.axvline(at[0], color=theme.alarm, alpha=0.5, lw=1.5, zorder=0, label=label)
    if at[-1] > at[0]:
        axes.axvline(at[-1], color=theme.alarm, alpha=0.5, lw=1.5, zorder=0)


def _smooth_curve(reference: Reference) -> tuple[Floats, Floats, Ints]:
    """Give the known curve and its errors without steps, and the cells of piles beside it.

    A reference follows many equal scores by themselves and lets its top tenth stand apart; a line
    through both would have teeth. The line leaves piles out and is averaged over 0.3 in log-odds.
    """
    inside = np.arange(CENTRES.size)[reference.known]
    values, errors = reference.curve[inside], reference.curve_errors[inside]
    steps = np.diff(values, prepend=values[0], append=values[-1])
    before, after = steps[:-1], steps[1:]
    least = LEAST_TOOTH * np.median(np.abs(steps))
    is_pile = (before * after < 0.0) & (np.minimum(np.abs(before), np.abs(after)) > least)
    left = np.flatnonzero(~is_pile)
    if left.size <= LEAST_CELLS:  # a few scores in all: nothing to smooth
        return values, errors, inside[:0]
    at = CENTRES[inside]
    weights = np.exp(-0.5 * ((at[:, None] - at[left]) / SMOOTHING) ** 2)
    weights /= weights.sum(axis=1, keepdims=True)
    # The line is added back, so a straight curve stays as it is up to its ends.
    slope, level = np.polyfit(at[left], values[left], 1)
    bent = values[left] - (level + slope * at[left])
    return level + slope * at + weights @ bent, weights @ errors[left], inside[is_pile]


def _draw_piles(axes: "Axes", reference: Reference, piles: Ints, theme: Theme) -> None:
    """Draw the curve at many equal scores as points of their own."""
    curve, reach = reference.curve[piles], NORMAL_95 * reference.curve_errors[piles]
    middle, low, high = expit(curve), expit(curve - reach), expit(curve + reach)
    axes.errorbar(
        expit(CENTRES[piles]), middle, [middle - low, high - middle], fmt="D", color=theme.ink,
        ms=3.5, lw=0.9, label="reference, equal scores",
    )  # fmt: skip


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
