"""Draw the picture of docs/rbs-properties.md, with the same bytes every time."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from studies.rbs.inequalities import CONTROLS, summary

Floats = npt.NDArray[np.float64]
Means = dict[str, dict[int, tuple[float, float]]]

# Okabe and Ito's colours, which colour-blind people can distinguish.
BLACK, ORANGE, SKY, GREEN = "#000000", "#e69f00", "#56b4e9", "#009e73"
BLUE, RED, PINK, GREY = "#0072b2", "#d55e00", "#cc79a7", "#777777"
LEVELS = {
    "RBS": ("RBS", BLACK),
    "L2 error, 100 uniform bins": ("L2, 100 bins", RED),
    "L2 error, 15 uniform bins": ("L2, 15 bins", ORANGE),
    "L2 error, debiased": ("L2, debiased", PINK),
    "ECE, 15 uniform bins": ("ECE, 15 bins", BLUE),
    "smooth ECE": ("smooth ECE", SKY),
    "root of SKCE": ("√SKCE", GREY),
    "KS": ("KS", GREEN),
}
GAINS = {
    "Brier score": ("Brier score (RBS²)", BLACK),
    "ECE squared, 15 uniform bins": ("ECE², 15 bins", BLUE),
    "squared L2 error, 15 uniform bins": ("L2², 15 bins", ORANGE),
    "squared L2 error, 100 uniform bins": ("L2², 100 bins", RED),
    "squared L2 error, 15 quantile bins": ("L2², 15 quantile bins", PINK),
    "RBS": ("RBS, against CE_2", GREY),
}
STYLE = {
    "svg.hashsalt": "rbs",
    "svg.fonttype": "none",
    "font.size": 9,
    "font.family": "DejaVu Sans",
}


def line(axes: Any, by_size: dict[int, tuple[float, float]], colour: str, scale: float) -> Floats:
    """Draw means with twice their Monte-Carlo errors; return the means."""
    means, errors = np.array(list(by_size.values())).T / scale
    axes.errorbar(list(by_size), means, 2 * errors, color=colour, lw=1.6, marker="o", ms=3)
    return np.asarray(means)


def apart(heights: Floats, gap: float) -> Floats:
    """Move heights apart where names would touch, keeping their order and their middle."""
    order = np.argsort(heights)
    moved = heights[order].copy()
    for _ in range(200):
        short = np.clip(gap - np.diff(moved), 0.0, None) / 2
        moved[:-1] -= short
        moved[1:] += short
    return np.asarray(moved[np.argsort(order)])


def tidy(axes: Any, title: str, y: str) -> None:
    """Set the axes of the panels over the sample size."""
    axes.set_title(title, loc="left", fontsize=10, fontweight="bold")
    axes.set(xscale="log", xlabel="rows in the sample", ylabel=y)
    axes.set_xticks([100, 1_000, 10_000, 100_000], ["100", "1,000", "10,000", "100,000"])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(visible=True, color="#e5e5e5", lw=0.6)
    axes.set_axisbelow(True)


def levels_panel(axes: Any, found: Means, title: str) -> None:
    """Draw estimators against the size of the sample, named at the right."""
    ends = np.array(
        [line(axes, found[key], colour, 1.0)[-1] for key, (_, colour) in LEVELS.items()]
    )
    tidy(axes, title, "mean of the estimator, in probability")
    axes.set(yscale="log", ylim=(2e-4, 0.8), xlim=(70, 2.4e6))
    axes.set_yticks([0.001, 0.01, 0.1], ["0.001", "0.01", "0.1"])
    heights = 10.0 ** apart(np.log10(ends), 0.17)
    for height, (name, colour) in zip(heights, LEVELS.values(), strict=True):
        axes.text(1.25e5, height, name, color=colour, va="center")


def gains_panel(axes: Any, found: Means, true: dict[str, float], title: str) -> None:
    """Draw estimated over true improvement against the size of the sample, named at the left."""
    starts = np.array(
        [line(axes, found[key], colour, true[key])[0] for key, (_, colour) in GAINS.items()]
    )
    tidy(axes, title, "mean estimate / truth")
    axes.set(xlim=(1.3, 1.5e5), ylim=(0.0, 2.15))
    axes.axhline(1.0, color=GREY, lw=0.8, ls=":")
    for height, (name, colour) in zip(apart(starts, 0.11), GAINS.values(), strict=True):
        axes.text(80, height, name, color=colour, va="center", ha="right")


def sides_panel(axes: Any, found: dict[str, Floats], title: str) -> None:
    """Draw the ratio of the smaller to the larger side: all worlds thin, nine in ten thick."""
    for row, (name, sides) in enumerate(found.items()):
        violations, _, (least, low, middle, high, most) = summary(sides)
        colour = RED if name in CONTROLS else BLUE
        axes.plot([least, min(most, 1.4)], [row, row], color=colour, lw=1)
        axes.plot([low, min(high, 1.4)], [row, row], color=colour, lw=4, solid_capstyle="butt")
        axes.plot([middle], [row], "o", color="white", mec=colour, ms=5)
        axes.text(1.57, row, f"{violations:,}", color=colour, va="center", ha="right")
    axes.axvline(1.0, color=BLACK, lw=1)
    axes.set_yticks(range(len(found)), [n + (" *" if n in CONTROLS else "") for n in found])
    axes.set(
        xlim=(0.0, 1.6), ylim=(len(found) - 0.4, -1.4), xlabel="left side / right side, cut at 1.4"
    )
    axes.text(1.57, -0.9, "violations", ha="right", va="center")
    axes.text(0.98, -0.9, "holds", ha="right", va="center")
    axes.text(1.02, -0.9, "broken", ha="left", va="center")
    axes.set_title(title, loc="left", fontsize=10, fontweight="bold")


def draw(
    levels: dict[str, Means],
    gains: Means,
    true: dict[str, float],
    sides: dict[str, Floats],
    folder: Path,
) -> None:
    """Draw the four panels into `folder`."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(11, 9), layout="constrained")
        upper, lower = figure.subfigures(2, 1)
        for axes, (world, found) in zip(upper.subplots(1, 2), levels.items(), strict=True):
            levels_panel(axes, found, f"1. Levels of a model that is {world}")
        left, right = lower.subplots(1, 2)
        gains_panel(left, gains, true, "2. Improvement by a fixed injective map")
        worlds = len(next(iter(sides.values())))
        sides_panel(right, sides, f"3. Theorem 3.1, {worlds:,} worlds (* do not hold)")
        figure.savefig(folder / "rbs-properties.svg", metadata={"Date": None, "Creator": None})
