"""The test-based reliability diagram: the scores that the outcomes of their bin reject."""

from typing import TYPE_CHECKING

import numpy as np

from monitor.metrics.binned.binning import Bins, paper_sizes, pava_bc
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.tally import Tally
from monitor.metrics.test_based.tce import Tce, tce
from monitor.report.diagrams.canvas import (
    NO_OUTCOMES,
    SMALL,
    divide,
    draw_nothing,
    dress,
    head,
    make_axes,
    short_count,
)
from monitor.report.diagrams.scales import Ends, Scale, limits, show_probabilities, slices
from monitor.report.diagrams.theme import LIGHT, Theme
from monitor.report.diagrams.violin import Shape, violin
from monitor.words.numbers import short_percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLE = "TCE {}: share of scores that their bin rejects"
HISTOGRAM_SLICES = 50
COLUMN, VIOLIN = 0.46, 0.40  # half widths of a bin's interval and of its scores; a bin is 1 wide
LEAST_SPREAD = 0.02  # of probability: what is shown around scores that are all alike
MOST_TICKS, MOST_LABELS = 10, 20  # bins whose rejected share is written above its bar


def draw_test_based(
    t: Tally,
    *,
    bins: Bins | None = None,
    alpha: float = 0.05,
    scale: Scale = "probability",
    scores: str = "",
    axes: "Axes | None" = None,
    theme: Theme = LIGHT,
) -> "Axes":
    """Draw the test-based reliability diagram [TCE, Figure 1].

    The main panel has a column for every bin: the distribution of its scores, in the alarm colour
    where the outcomes reject them, the accepted intervals behind it, and a line at the observed
    share. Below are the sizes of the bins with the rejected part, at the right a histogram of
    all scores.

    Parameters
    ----------
    t : Tally
        Predictions with their outcomes; may be empty.
    bins : Bins, optional
        Of this tally; by default PAVA-BC bins of the paper's sizes.
    alpha : float
        Level of the test of every score.
    scale : {"probability", "logit"}
        Log-odds show rare events.
    scores : str
        What they are, such as "raw", where a table beside the diagram shows others too.
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
    >>> panel = draw_test_based(tally([0] * 10 + [0] * 10, [0.1] * 10 + [0.9] * 10))
    >>> panel.get_title(loc="left")
    'TCE 50 %: share of scores that their bin rejects'
    """
    place = make_axes(axes, theme, height=4.6)
    if not t.total:
        return draw_nothing(place, theme, "Test-based reliability diagram", NO_OUTCOMES)
    (main, side), (sizes, corner) = divide(place, heights=(3.2, 1), widths=(4, 1))
    corner.remove()
    dress(main, theme)
    dress(side, theme)
    dress(sizes, theme, grid=None)
    cut = bins or pava_bc(t, min_size=paper_sizes(t.total)[0], max_size=paper_sizes(t.total)[1])
    tested = tce(t, cut, alpha=alpha)
    ends = limits(_shown(t, cut, tested), scale)
    show_probabilities(main, "y", ends, scale)
    show_probabilities(side, "y", ends, scale)
    _draw_bins(main, t, cut, tested, alpha, ends, scale, theme)
    _draw_sizes(sizes, cut, tested, theme)
    _draw_histogram(side, t, ends, scale, theme)
    kind = "PAVA-BC " if bins is None else ""
    below = f"{t.total_positives:,} positive, {kind}bins: {cut.counts.size}"
    below = f"{f'{scores} scores: ' if scores else ''}{t.total:,} predictions, {below}"
    head(main, theme, TITLE.format(short_percent(tested.value, 3)), below, columns=2)
    return main


def _shown(t: Tally, cut: Bins, tested: Tce) -> Floats:
    """Collect what the axis must show; few outcomes accept more than that."""
    values = np.concatenate([t.scores, cut.rates])
    low, high = float(values.min()), float(values.max())
    spread = max(high - low, LEAST_SPREAD)
    values = np.concatenate([*tested.accepted, [[low, high]]])
    return np.asarray(np.clip(values, low - spread, high + spread))


def _draw_bins(
    axes: "Axes",
    t: Tally,
    cut: Bins,
    tested: Tce,
    alpha: float,
    ends: Ends,
    scale: Scale,
    theme: Theme,
) -> None:
    from matplotlib.collections import PolyCollection

    boxes, shapes = list[Floats](), list[Shape]()
    for b, pieces in enumerate(tested.accepted):
        x, run, seen = b + 1.0, slice(cut.starts[b], cut.starts[b + 1]), np.clip(pieces, *ends)
        boxes += [_box(x, low, high) for low, high in seen if low < high]
        shapes += violin(
            x, np.clip(t.scores[run], *ends), t.counts[run], seen,
            width=VIOLIN, ends=ends, scale=scale,
        )  # fmt: skip
    at, rates = np.arange(1, cut.counts.size + 1), np.clip(cut.rates, *ends)
    axes.hlines(rates, at - COLUMN, at + COLUMN, color=theme.ink, lw=1.6, label="observed share")
    layers = {
        f"accepted probabilities (level {alpha:g})": (boxes, theme.band),
        "accepted scores": ([s.outline for s in shapes if s.accepted], theme.main),
        "rejected scores": ([s.outline for s in shapes if not s.accepted], theme.alarm),
    }
    for name, (outlines, colour) in layers.items():
        drawn = PolyCollection(outlines, facecolor=colour, edgecolor="none", label=name)
        axes.add_collection(drawn, autolim=False)
    axes.set(xlim=(0.4, cut.counts.size + 0.6), ylabel="probability")
    axes.tick_params(bottom=False, labelbottom=False)


def _box(x: float, low: float, high: float) -> Floats:
    left, right = x - COLUMN, x + COLUMN
    return np.array([[left, low], [right, low], [right, high], [left, high]])


def _draw_sizes(axes: "Axes", cut: Bins, tested: Tce, theme: Theme) -> None:
    """Draw how many predictions a bin has, and how many of them it rejects."""
    at = np.arange(1, cut.counts.size + 1)
    axes.bar(at, cut.counts, width=2 * VIOLIN, color=theme.bars, label="all")
    axes.bar(at, tested.rejected, width=2 * VIOLIN, color=theme.alarm, label="rejected")
    if at.size <= MOST_LABELS:
        for x, n, rejected in zip(at, cut.counts, tested.rejected, strict=True):
            axes.annotate(
                f"{100 * rejected / n:.0f}", (x, n), xytext=(0, 1), textcoords="offset points",
                ha="center", va="bottom", fontsize=SMALL - 1, color=theme.muted,
            )  # fmt: skip
    axes.set(xlim=(0.4, at.size + 0.6), ylim=(0, 1.25 * cut.counts.max()))
    axes.set(xlabel="bin, lowest scores first", ylabel="predictions,\n% rejected")
    axes.set_xticks(at[:: -(-at.size // MOST_TICKS)])
    axes.yaxis.set_major_formatter(short_count)
    axes.locator_params(axis="y", nbins=3)


def _draw_histogram(axes: "Axes", t: Tally, ends: Ends, scale: Scale, theme: Theme) -> None:
    """Draw all scores, along the same axis as the main panel."""
    edges = slices(*ends, HISTOGRAM_SLICES, scale)
    counts, _ = np.histogram(np.clip(t.scores, *ends), edges, weights=t.counts)
    axes.barh(edges[:-1], counts, height=np.diff(edges), align="edge", color=theme.bars)
    axes.tick_params(labelleft=False)
    axes.set(xlabel="predictions", xlim=(0, 1.05 * counts.max()))
    axes.xaxis.set_major_formatter(short_count)
    axes.locator_params(axis="x", nbins=2)
