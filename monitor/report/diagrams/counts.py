"""The number of predictions by score, below a reliability diagram."""

from typing import TYPE_CHECKING

import numpy as np

from monitor.metrics.core.tally import Tally
from monitor.report.diagrams.canvas import divide, dress, short_count
from monitor.report.diagrams.scales import Ends, Scale, show_probabilities, slices
from monitor.report.diagrams.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SLICES = 50


def share_above_counts(place: "Axes", t: Tally, ends: Ends, scale: Scale, theme: Theme) -> "Axes":
    """Make a panel for shares of outcomes by score, with the number of predictions below it."""
    main, counts = (row[0] for row in divide(place, heights=(4.5, 1)))
    dress(main, theme)
    show_probabilities(main, "x", ends, scale)
    show_probabilities(main, "y", ends, scale)
    main.tick_params(labelbottom=False)
    main.set_ylabel("share of positive outcomes")
    _draw_counts(counts, t, ends, scale, theme)
    return main


def _draw_counts(axes: "Axes", t: Tally, ends: Ends, scale: Scale, theme: Theme) -> None:
    """Draw a histogram of all predictions; scores beyond the axis are counted at its ends."""
    dress(axes, theme, grid=None)
    edges = slices(*ends, SLICES, scale)
    numbers, _ = np.histogram(np.clip(t.scores, *ends), edges, weights=t.counts)
    axes.bar(edges[:-1], numbers, width=np.diff(edges), align="edge", color=theme.bars)
    show_probabilities(axes, "x", ends, scale)
    axes.set(xlabel="score", ylabel="predictions", ylim=(0, 1.1 * max(1.0, numbers.max())))
    axes.yaxis.set_major_formatter(short_count)
    axes.locator_params(axis="y", nbins=2)
