"""Three ways to cut scores into bins: PAVA, PAVA-BC and quantiles."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from monitor.metrics.binned.binning import Bins, paper_sizes, pava, pava_bc, quantile_bins
from monitor.metrics.binned.estimation_error import estimation_error
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.tally import Tally
from monitor.report.diagrams.canvas import (
    NO_OUTCOMES,
    caption,
    divide,
    draw_nothing,
    dress,
    head,
    make_axes,
    short_count,
)
from monitor.report.diagrams.scales import Ends, Scale, limits, show_probabilities
from monitor.report.diagrams.theme import LIGHT, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

QUANTILES = 10
TITLE = "Bins by PAVA, PAVA-BC and quantiles"


class Window(NamedTuple):
    """The ends of the axes of scores and of observed shares."""

    scores: Ends
    shares: Ends


def draw_bins(
    t: Tally,
    *,
    min_size: int | None = None,
    max_size: int | None = None,
    quantiles: int = QUANTILES,
    scale: Scale = "probability",
    axes: "Axes | None" = None,
    theme: Theme = LIGHT,
) -> "Axes":
    """Compare the bins of PAVA, PAVA-BC and quantiles [TCE, Figures 2 and 3].

    A row for each: at the left the size of every bin, with dotted lines between them; at the right
    the observed share of each. The caption has the number of bins and the estimation error of
    [TCE, Table 1], over all predictions and as a mean of the bins.

    Parameters
    ----------
    t : Tally
        Predictions with their outcomes; may be empty.
    min_size, max_size : int, optional
        Of the bins of PAVA-BC; by default the paper's.
    quantiles : int
        Number of quantile bins.
    scale : {"probability", "logit"}
        Of scores and shares.
    axes : Axes, optional
        Where to draw; by default in a new figure.
    theme : Theme
        Its colours.

    Returns
    -------
    Axes
        The panel at the upper left.

    Examples
    --------
    >>> from monitor.metrics import tally
    >>> panel = draw_bins(tally([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4]))
    >>> panel.texts[0].get_text()
    'PAVA: 3 bins, error 0.125 (mean of bins 0.083)'
    """
    place = make_axes(axes, theme, height=5.2)
    if not t.total:
        return draw_nothing(place, theme, TITLE, NO_OUTCOMES)
    smallest, largest = paper_sizes(t.total)
    smallest, largest = (
        smallest if min_size is None else min_size,
        largest if max_size is None else max_size,
    )
    kinds = {
        "PAVA": pava(t),
        f"PAVA-BC, {smallest:,} to {largest:,}": pava_bc(t, min_size=smallest, max_size=largest),
        f"{quantiles}-quantiles": quantile_bins(t, quantiles),
    }
    rates = np.concatenate([cut.rates for cut in kinds.values()])
    ends = Window(limits(t.scores, scale), limits(np.concatenate([t.scores, rates]), scale))
    rows = divide(place, heights=(1, 1, 1), widths=(1, 1))
    for (sizes, shares), (name, cut) in zip(rows, kinds.items(), strict=True):
        edges = np.clip(bin_edges(t, cut), *ends.scores)
        _draw_sizes(sizes, cut, edges, ends, scale, theme)
        _draw_shares(shares, cut, edges, ends, scale, theme)
        error = estimation_error(cut)
        caption(
            sizes, theme,
            f"{name}: {cut.counts.size:,} bins, error {error.total:.3f} "
            f"(mean of bins {error.within_bin:.3f})",
        )  # fmt: skip
    for panel in rows[-1]:
        panel.set_xlabel("score")
        panel.tick_params(labelbottom=True)
    head(
        rows[0][0], theme, TITLE,
        f"{t.total:,} predictions, {t.total_positives:,} positive; error: estimation error\n ",
    )  # fmt: skip
    return rows[0][0]


def bin_edges(t: Tally, cut: Bins) -> Floats:
    """Place the borders of bins halfway between the scores on both sides; shape (b+1,).

    Examples
    --------
    >>> from monitor.metrics import tally
    >>> t = tally([0, 1, 1], [0.1, 0.3, 0.5])
    >>> bin_edges(t, quantile_bins(t, 3))
    array([0. , 0.2, 0.4, 1. ])
    """
    inner = cut.starts[1:-1]
    return np.concatenate([[0.0], (t.scores[inner - 1] + t.scores[inner]) / 2, [1.0]])


def _draw_sizes(
    axes: "Axes", cut: Bins, edges: Floats, ends: Window, scale: Scale, theme: Theme
) -> None:
    dress(axes, theme, grid=None)
    axes.stairs(cut.counts, edges, fill=True, color=theme.bars)
    _draw_borders(axes, edges, (0.0, 1.1 * cut.counts.max()), theme)
    show_probabilities(axes, "x", ends.scores, scale, most=4)
    axes.set(ylim=(0, 1.1 * cut.counts.max()), ylabel="predictions")
    axes.tick_params(labelbottom=False)
    axes.locator_params(axis="y", nbins=3)
    axes.yaxis.set_major_formatter(short_count)


def _draw_shares(
    axes: "Axes", cut: Bins, edges: Floats, ends: Window, scale: Scale, theme: Theme
) -> None:
    dress(axes, theme, grid=None)
    axes.plot(ends.shares, ends.shares, color=theme.muted, lw=0.8, ls="--")
    _draw_borders(axes, edges, ends.shares, theme)
    rates, gaps = np.clip(cut.rates, *ends.shares), np.full(cut.counts.size, np.nan)
    x = np.column_stack([edges[:-1], edges[1:], gaps]).ravel()
    axes.plot(x, np.repeat(rates, 3), color=theme.alarm, lw=1.8)
    show_probabilities(axes, "x", ends.scores, scale, most=4)
    show_probabilities(axes, "y", ends.shares, scale, most=6)
    axes.set_ylabel("observed share")
    axes.tick_params(labelbottom=False)


def _draw_borders(axes: "Axes", edges: Floats, ends: Ends, theme: Theme) -> None:
    """Draw dotted lines between bins, as one line with gaps: PAVA may have hundreds of bins."""
    x = np.repeat(edges[1:-1], 3)
    y = np.tile([*ends, np.nan], edges.size - 2)
    axes.plot(x, y, color=theme.muted, lw=0.7, ls=":")
