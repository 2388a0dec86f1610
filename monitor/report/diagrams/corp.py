"""The CORP reliability diagram: the isotonic curve with its bands, before and after a shift."""

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from monitor.metrics.binned.binning import pava
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.tally import Tally, shift
from monitor.metrics.intervals.bands import Band, confidence_band, consistency_band
from monitor.metrics.logistic.intercept import fit_intercept, has_intercept
from monitor.metrics.scores.corp import corp
from monitor.report.diagrams.canvas import NO_OUTCOMES, draw_nothing, head, make_axes
from monitor.report.diagrams.counts import share_above_counts
from monitor.report.diagrams.scales import Ends, Scale, limits
from monitor.report.diagrams.theme import LIGHT, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SEED = 0  # of the consistency band: the same picture every time
OPACITY = 0.30  # of bands


class Curve(NamedTuple):
    """The isotonic curve: from the first to the last score of each block, at its rate."""

    scores: Floats
    rates: Floats


def isotonic_curve(t: Tally) -> Curve:
    """Fit the outcomes by a curve that never falls.

    Examples
    --------
    >>> from monitor.metrics import tally
    >>> isotonic_curve(tally([0, 1, 0], [0.1, 0.2, 0.3])).rates
    array([0. , 0. , 0.5, 0.5])
    """
    bins = pava(t)
    ends = np.column_stack([t.scores[bins.starts[:-1]], t.scores[bins.starts[1:] - 1]])
    return Curve(ends.ravel(), np.repeat(bins.rates, 2))


def draw_corp(
    t: Tally,
    *,
    level: float = 0.9,
    scale: Scale = "probability",
    axes: "Axes | None" = None,
    theme: Theme = LIGHT,
) -> "Axes":
    """Draw the CORP reliability diagram (Dimitriadis, Gneiting and Jordan, PNAS 118, 2021).

    The curve is the isotonic regression of the outcomes on the scores. The consistency band shows
    where it would lie if the scores were calibrated, at each score; the confidence band where the
    true curve lies, at all scores at once. Below are the numbers of predictions.

    Parameters
    ----------
    t : Tally
        Predictions with their outcomes; may be empty.
    level : float
        Of both bands, in (0, 1).
    scale : {"probability", "logit"}
        Log-odds show rare events.
    axes : Axes, optional
        Where to draw; by default in a new figure.
    theme : Theme
        Its colours.

    Returns
    -------
    Axes
        The main panel.

    Examples
    --------
    >>> from monitor.metrics import tally
    >>> panel = draw_corp(tally([0] * 10 + [0] * 10, [0.1] * 10 + [0.9] * 10))
    >>> panel.get_title(loc="left")
    'CORP reliability diagram: miscalibration 0.41'
    """
    place = make_axes(axes, theme, height=4.8)
    if not t.total:
        return draw_nothing(place, theme, "CORP reliability diagram", NO_OUTCOMES)
    curve = isotonic_curve(t)
    ends = limits(np.concatenate([t.scores, curve.rates]), scale)
    main = share_above_counts(place, t, ends, scale, theme)
    main.plot(ends, ends, color=theme.ink, lw=1, ls="--", label="calibrated")
    chance = consistency_band(t, level=level, rng=np.random.default_rng(SEED))
    fill_band(main, chance, ends, theme.muted, "consistency band")
    fill_band(main, stairs(confidence_band(t, level=level)), ends, theme.main, "confidence band")
    draw_curve(main, curve, ends, theme.main, "observed, isotonic")
    below = (
        f"{t.total:,} predictions, {t.total_positives:,} positive; bands of {100 * level:g} %\n"
        "consistency: at each score, resampled; confidence: all at once, exact"
    )
    title = f"CORP reliability diagram: miscalibration {corp(t).miscalibration:.2g}"
    head(main, theme, title, below, columns=2)
    return main


def draw_prior_adjusted(
    t: Tally,
    *,
    level: float = 0.9,
    scale: Scale = "probability",
    axes: "Axes | None" = None,
    theme: Theme = LIGHT,
) -> "Axes":
    """Draw the curve of the scores as logged, and that of the scores adjusted for a prior shift.

    The adjusted scores are ``sigma(logit s + delta)``, right on average; what then remains off the
    diagonal is no prior shift. Each curve has its confidence band.

    Parameters
    ----------
    t : Tally
        Predictions with their outcomes; may be empty.
    level, scale, axes, theme
        As for `draw_corp`.

    Returns
    -------
    Axes
        The main panel.

    Examples
    --------
    >>> from monitor.metrics import tally
    >>> panel = draw_prior_adjusted(tally([1] * 30 + [0] * 10, [0.5] * 40))
    >>> panel.get_title(loc="left")
    'Before and after a prior shift of +1.10 is forgiven'
    """
    place = make_axes(axes, theme, height=4.8)
    if not t.total:
        return draw_nothing(place, theme, "Before and after a prior shift", NO_OUTCOMES)
    delta = fit_intercept(t).delta if has_intercept(t) else None
    drawn = {"as logged": (t, theme.other)}
    if delta is not None:
        drawn["prior-adjusted"] = (shift(t, delta), theme.main)
    shown = [
        np.concatenate([part.scores, isotonic_curve(part).rates]) for part, _ in drawn.values()
    ]
    ends = limits(np.concatenate(shown), scale)
    main = share_above_counts(place, t, ends, scale, theme)
    main.plot(ends, ends, color=theme.ink, lw=1, ls="--", label="calibrated")
    for name, (part, colour) in drawn.items():
        band = stairs(confidence_band(part, level=level))
        fill_band(main, band, ends, colour, "_")
        draw_curve(main, isotonic_curve(part), ends, colour, name)
    title = (
        "Before a prior shift is forgiven: all outcomes are equal"
        if delta is None
        else f"Before and after a prior shift of {delta:+.2f} is forgiven"
    )
    below = (
        f"{t.total:,} predictions, {t.total_positives:,} positive; "
        f"bands of {100 * level:g} %:\nwhere the true curve lies, at all scores at once (exact)"
    )
    head(main, theme, title, below, columns=3)
    return main


def stairs(band: Band) -> Band:
    """Give a confidence band the corners of its steps, so that lines between them are right."""
    scores = np.repeat(band.scores, 2)[1:-1] if band.scores.size > 1 else band.scores
    return replace(
        band,
        scores=scores,
        low=np.repeat(band.low, 2)[: scores.size],
        high=np.repeat(band.high, 2)[-scores.size :],
    )


def fill_band(axes: "Axes", band: Band, ends: Ends, colour: str, name: str) -> None:
    """Fill the space between the limits of a band."""
    low, high = np.clip(band.low, *ends), np.clip(band.high, *ends)
    if band.scores.size == 1:
        axes.vlines(band.scores, low, high, color=colour, lw=5, alpha=OPACITY, label=name)
        return
    x = np.clip(band.scores, *ends)
    axes.fill_between(x, low, high, color=colour, alpha=OPACITY, lw=0, label=name)


def draw_curve(axes: "Axes", curve: Curve, ends: Ends, colour: str, name: str) -> None:
    """Draw a curve, and a mark if it is only a point."""
    x, y = np.clip(curve.scores, *ends), np.clip(curve.rates, *ends)
    marker = "o" if x[0] == x[-1] else ""
    axes.plot(x, y, color=colour, lw=1.8, marker=marker, ms=4, label=name)
