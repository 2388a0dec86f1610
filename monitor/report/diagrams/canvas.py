"""Figures, panels and their style; the file formats of a finished diagram."""

import re
import sys
from collections.abc import Sequence
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal

from monitor.base.errors import needing
from monitor.report.diagrams.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 4.8  # inches: text of 8 points is 9 pixels high where a page shows it 400 pixels wide
TEXT, SMALL, HEAD, LINE = 8.5, 7.5, 9.5, 10.5  # points
ABOVE_TICK = 4.0  # points: a label at the top of an axis reaches as high
THOUSAND, MILLION = 10_000, 1_000_000  # from here on counts are written as 10k and 1M
NO_OUTCOMES = "no predictions with outcomes"
SVG: Any = {"svg.fonttype": "none", "svg.hashsalt": "calibration-monitor"}
NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))


def make_axes(axes: "Axes | None", theme: Theme, *, height: float) -> "Axes":
    """Give the axes to draw into: the caller's, or those of a new figure."""
    if axes is not None:
        return axes
    with needing("diagrams", "matplotlib", "report"):
        from matplotlib.figure import Figure
    figure = Figure(figsize=(WIDTH, height), layout="constrained", facecolor=theme.paper)
    return figure.add_subplot()


def divide(
    axes: "Axes", *, heights: Sequence[float] = (1,), widths: Sequence[float] = (1,)
) -> list[list["Axes"]]:
    """Replace axes by rows and columns of panels in the same place."""
    from matplotlib.gridspec import GridSpec, GridSpecFromSubplotSpec

    figure, place = figure_of(axes), axes.get_subplotspec()
    shape: dict[str, Any] = {"height_ratios": heights, "width_ratios": widths}
    grid: GridSpec | GridSpecFromSubplotSpec
    if place is None:  # axes that were placed by hand
        box = axes.get_position()
        edges = {"left": box.x0, "right": box.x1, "bottom": box.y0, "top": box.y1}
        grid = GridSpec(len(heights), len(widths), figure=figure, **edges, **shape)
    else:
        grid = place.subgridspec(len(heights), len(widths), **shape)
    axes.remove()
    return [
        [figure.add_subplot(grid[row, column]) for column in range(len(widths))]
        for row in range(len(heights))
    ]


def dress(axes: "Axes", theme: Theme, *, grid: Literal["x", "y"] | None = "y") -> None:
    """Give axes the colours and sizes of the theme, and no frame."""
    axes.set_facecolor(theme.paper)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(theme.muted)
    axes.tick_params(colors=theme.muted, labelsize=SMALL, length=2.5, pad=2, which="both")
    for axis in (axes.xaxis, axes.yaxis):
        axis.label.set(color=theme.ink, fontsize=TEXT)
        axis.get_offset_text().set(color=theme.muted, fontsize=SMALL)
    axes.set_axisbelow(True)
    if grid:
        axes.grid(visible=True, axis=grid, color=theme.grid, linewidth=0.6)


def head(axes: "Axes", theme: Theme, title: str, below: str = "", *, columns: int = 0) -> None:
    """Put a title above axes, smaller lines below it, and below these a legend in columns.

    Only their height takes part in the layout, so a long title does not make the axes narrow, and
    a legend never covers data. As the last line of a notebook's cell the axes show their figure.
    """
    axes._repr_png_ = partial(_shown_once, axes)  # type: ignore[attr-defined]
    named = len(axes.get_legend_handles_labels()[1]) if columns else 0
    start = 6 + LINE * -(-named // max(1, columns))
    rise = start + LINE * (below.count("\n") + 1 if below else 0)
    axes.set_title(
        title, loc="left", color=theme.ink, fontsize=HEAD, fontweight="bold", pad=rise
    ).set_in_layout(False)
    if named:
        axes.legend(
            loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns, frameon=False,
            fontsize=SMALL, labelcolor=theme.ink, borderpad=0, borderaxespad=0.3,
            handlelength=1.4, labelspacing=0.25, columnspacing=1.2,
        ).set_in_layout(False)  # fmt: skip
    _write_above(axes, below, start, theme.muted)
    _write_above(axes, "", rise, theme.ink, size=HEAD)  # room for the title


def caption(axes: "Axes", theme: Theme, text: str) -> None:
    """Write a small line directly above axes."""
    _write_above(axes, text, ABOVE_TICK, theme.ink)


def _write_above(axes: "Axes", text: str, rise: float, colour: str, *, size: float = SMALL) -> None:
    """Write some points above axes; the layout makes room for its height, not for its width."""
    style: dict[str, Any] = {
        "xy": (0.0, 1.0), "xytext": (0, rise), "xycoords": "axes fraction",
        "textcoords": "offset points", "va": "bottom", "fontsize": size, "color": colour,
    }  # fmt: skip
    axes.annotate(text, **style).set_in_layout(False)
    axes.annotate(" ", **style)


def draw_nothing(axes: "Axes", theme: Theme, title: str, why: str) -> "Axes":
    """Say why there is nothing to draw."""
    dress(axes, theme)
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    axes.text(
        0.5, 0.5, why, transform=axes.transAxes, ha="center", va="center",
        color=theme.muted, fontsize=TEXT,
    )  # fmt: skip
    head(axes, theme, title)
    return axes


def short_count(value: float, _: object = None) -> str:
    """Write a count for an axis.

    Examples
    --------
    >>> short_count(1200), short_count(25_000), short_count(1_500_000)
    ('1,200', '25k', '1.5M')
    """
    if abs(value) < THOUSAND:
        return f"{value:,.0f}" if value == round(value) else ""
    return f"{value / 1e6:g}M" if abs(value) >= MILLION else f"{value / 1e3:g}k"


def svg(axes: "Axes", *, title: str = "") -> str:
    """Write the figure of some axes as SVG: the same bytes whenever it is drawn.

    The title is read out by screen readers. Names that nothing refers to are left out, so
    several diagrams can stand in one page.
    """
    from matplotlib import rc_context

    text, named = BytesIO(), {"Title": title} if title else {}
    with rc_context(SVG):
        figure_of(axes).savefig(
            text, format="svg", facecolor="auto", metadata={**NO_METADATA, **named}
        )
    drawn = text.getvalue().decode()
    used = set(re.findall(r"#([\w-]+)", drawn))
    return re.sub(r' id="([^"]*)"', lambda match: match[0] if match[1] in used else "", drawn)


def png(axes: "Axes", *, width: int = 800) -> bytes:
    """Write the figure of some axes as PNG, of a width in pixels."""
    image, figure = BytesIO(), figure_of(axes)
    metadata = {"Software": None}
    dpi = width / float(figure.get_figwidth())
    figure.savefig(image, format="png", facecolor="auto", dpi=dpi, metadata=metadata)
    return image.getvalue()


def _shown_once(axes: "Axes") -> bytes:
    """Write the figure for a notebook, and close it in pyplot, which would show it again."""
    if "matplotlib.pyplot" in sys.modules:
        from matplotlib import pyplot as plt

        plt.close(figure_of(axes))
    return png(axes)


def figure_of(axes: "Axes") -> "Figure":
    """Find the whole figure that axes belong to."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure
