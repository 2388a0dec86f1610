"""What explains the calibration error, over the days."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from monitor.evaluation.evaluation import NAMES, Evaluation
from monitor.metrics.core.estimate import NORMAL_95
from monitor.report.diagrams.canvas import caption, divide, draw_nothing, dress, head, make_axes
from monitor.report.diagrams.scales import broken, show_days
from monitor.report.diagrams.series import ROOM, draw_line, in_order, series
from monitor.report.diagrams.theme import LIGHT, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_causes(
    evaluations: Sequence[Evaluation], *, axes: "Axes | None" = None, theme: Theme = LIGHT
) -> "Axes":
    """Draw what explains the calibration error over time: a panel for every cause, one scale.

    Parameters
    ----------
    evaluations : sequence of Evaluation
        Of one model, segment and length of window.
    axes : Axes, optional
        Where to draw; by default in a new figure.
    theme : Theme
        Its colours.

    Returns
    -------
    Axes
        The uppermost panel.

    Raises
    ------
    ValueError
        If two evaluations are of the same day.
    """
    place = make_axes(axes, theme, height=4.2)
    explained = [e for e in in_order(evaluations) if e.told_causes]
    title = "What explains the calibration error"
    if not explained:
        return draw_nothing(place, theme, title, "no evaluation with enough outcomes")
    panels = [row[0] for row in divide(place, heights=(1,) * len(NAMES))]
    colours = (theme.other, theme.main, theme.extra, theme.rest)
    ends = []
    for panel, name, colour in zip(panels, NAMES, colours, strict=True):
        dress(panel, theme)
        ends.append([0.0, 1e-6, *_draw_cause(panel, explained, name, colour, theme)])
        panel.tick_params(labelbottom=panel is panels[-1])
    others = [value for seen in ends[1:] for value in seen]  # a prior shift would dwarf them
    for panel, seen in zip(panels, [ends[0], *[others] * (len(NAMES) - 1)], strict=True):
        panel.set(ylim=(min(seen) * ROOM, max(seen) * ROOM), ylabel="nats")
        panel.locator_params(axis="y", nbins=3)
    below = "log loss per prediction, bands of 95 %; the prior shift has its own scale\n "
    head(panels[0], theme, title, f"{series(explained)}\n{below}")
    return panels[0]


def _draw_cause(
    axes: "Axes", explained: Sequence[Evaluation], name: str, colour: str, theme: Theme
) -> list[float]:
    """Draw one cause with its band; return what must be visible."""
    values, errors = (
        np.array([getattr(getattr(e.told_causes, kind), name) for e in explained])
        for kind in ("log_loss", "log_loss_errors")
    )
    days, reach = [e.day for e in explained], NORMAL_95 * errors
    x, middle, low, high = broken(days, values, values - reach, values + reach)
    axes.axhline(0.0, color=theme.muted, lw=0.8)
    draw_line(axes, x, middle, (low, high), colour)
    show_days(axes, days)
    newest = f"{values[-1]:.4f} ± {reach[-1]:.4f} at the end"
    caption(axes, theme, f"{name.replace('_', ' ')}: {newest}")
    shown = np.concatenate([middle, low, high])
    return [float(value) for value in shown[np.isfinite(shown)]]
