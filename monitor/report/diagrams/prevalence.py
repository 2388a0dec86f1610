"""Prevalence, mean score and expected prevalence over the days."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from monitor.evaluation.evaluation import Evaluation
from monitor.metrics.core.tally import Tally
from monitor.metrics.intervals.intervals import prevalence_interval
from monitor.report.diagrams.canvas import draw_nothing, dress, head, make_axes
from monitor.report.diagrams.scales import broken, day_number, percent, show_days
from monitor.report.diagrams.series import draw_line, in_order, name_once, series
from monitor.report.diagrams.theme import LIGHT, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_prevalence(
    evaluations: Sequence[Evaluation],
    *,
    reference: float | None = None,
    axes: "Axes | None" = None,
    theme: Theme = LIGHT,
) -> "Axes":
    """Draw prevalence and mean score over time, and the prevalence to expect.

    Parameters
    ----------
    evaluations : sequence of Evaluation
        Of one model, segment and length of window. The days whose outcomes are still arriving
        show the prevalence to expect from their scores.
    reference : float, optional
        Prevalence of the reference.
    axes : Axes, optional
        Where to draw; by default in a new figure.
    theme : Theme
        Its colours.

    Returns
    -------
    Axes
        That were drawn into.

    Raises
    ------
    ValueError
        If two evaluations are of the same day.
    """
    panel = make_axes(axes, theme, height=2.7)
    dress(panel, theme)
    ordered = in_order(evaluations)
    title = "Prevalence and mean score"
    with_outcomes = [e for e in ordered if e.matched]
    waiting = [e for e in ordered if e.expected and not e.final]
    if not with_outcomes and not waiting:
        return draw_nothing(panel, theme, title, "no evaluation with outcomes")
    for e in ordered:
        if not e.final:
            panel.axvspan(
                day_number(e.day) - 0.5, day_number(e.day) + 0.5, color=theme.grid, lw=0,
                label="outcomes still arriving",
            )  # fmt: skip
    if with_outcomes:
        _draw_known(panel, with_outcomes, theme)
    _draw_expected(panel, waiting, theme)
    if reference is not None and np.isfinite(reference):
        panel.axhline(reference, color=theme.muted, lw=1, ls=":", label="reference")
    name_once(panel)
    panel.set_ylabel("share of predictions")
    panel.yaxis.set_major_formatter(percent)
    panel.locator_params(axis="y", nbins=5)
    show_days(panel, [e.day for e in ordered])
    head(panel, theme, title, series(ordered), columns=3)
    return panel


def _draw_known(axes: "Axes", with_outcomes: Sequence[Evaluation], theme: Theme) -> None:
    days, scores = [e.day for e in with_outcomes], np.array([e.mean_score for e in with_outcomes])
    intervals = [
        prevalence_interval(Tally(np.zeros(1), np.array([e.matched]), np.array([e.positives])))
        for e in with_outcomes
    ]
    x, *prevalence = broken(
        days, *(np.array([getattr(p, end) for p in intervals]) for end in ("value", "low", "high"))
    )
    draw_line(
        axes, x, prevalence[0], (prevalence[1], prevalence[2]), theme.main, "prevalence (95 %)"
    )
    x, scores = broken(days, scores)
    draw_line(axes, x, scores, None, theme.other, "mean score", style="--")


def _draw_expected(axes: "Axes", waiting: Sequence[Evaluation], theme: Theme) -> None:
    for e in waiting:
        if e.expected and np.isfinite(e.expected.prevalence):
            value, low, high = e.expected.prevalence, e.expected.low, e.expected.high
            reach = np.nan_to_num([[value - low], [high - value]])
            axes.errorbar(
                [day_number(e.day)], [value], reach, fmt="o", ms=3, lw=1, color=theme.rest,
                label="expected (95 %)",
            )  # fmt: skip
