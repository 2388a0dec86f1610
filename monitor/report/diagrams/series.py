"""Results by day as lines: their order, gaps, bands and names."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from monitor.drift.records.verdict import Verdict
from monitor.evaluation.evaluation import Evaluation
from monitor.metrics.core.grid import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Result = TypeVar("Result", Verdict, Evaluation)
ROOM = 1.15  # times the highest value: the end of an axis


def in_order(results: Sequence[Result]) -> list[Result]:
    """Sort results by day; raise ValueError if two are of the same day."""
    ordered = sorted(results, key=lambda result: result.day)
    for earlier, later in pairwise(ordered):
        if earlier.day == later.day:
            msg = (
                f"there are two results of {earlier.day}: give those of one model and segment, "
                "and evaluations of one length of window."
            )
            raise ValueError(msg)
    return ordered


def draw_line(
    axes: "Axes",
    x: Floats,
    values: Floats,
    band: tuple[Floats, Floats] | None,
    colour: str,
    name: str = "",
    *,
    style: str = "-",
) -> None:
    """Draw a line, with a mark where a value has no neighbour, and its band."""
    alone = np.isfinite(values) & ~np.isfinite(np.append(values[1:], np.nan))
    alone &= ~np.isfinite(np.append(np.nan, values[:-1]))
    axes.plot(x, values, color=colour, lw=1.4, ls=style, label=name or None)
    axes.plot(x[alone], values[alone], "o", color=colour, ms=2.5)
    if band:
        axes.fill_between(x, *band, color=colour, alpha=0.25, lw=0)
        ends = [end[alone] for end in band]
        axes.vlines(x[alone], *ends, color=colour, lw=1)


def name_once(axes: "Axes") -> None:
    """Leave each name to the first thing that is drawn with it."""
    named = set[str]()
    for artist in axes.get_legend_handles_labels()[0]:
        if str(artist.get_label()) in named:
            artist.set_label("_")
        named.add(str(artist.get_label()))


def owner(result: Verdict | Evaluation) -> str:
    """Say whose result it is."""
    return f"{result.model}, segment {result.segment}"


def series(evaluations: Sequence[Evaluation]) -> str:
    """Say whose evaluations they are, of which windows, and where they end."""
    first, last = evaluations[0], evaluations[-1]
    windows = f"windows of {first.window_days} day{'s' * (first.window_days > 1)}"
    return f"{owner(first)}, {windows} up to {last.day}"
