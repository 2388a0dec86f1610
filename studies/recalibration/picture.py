"""Draw docs/recalibration.svg: estimates and improvements against the size of the test sample."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from studies.rbs.picture import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PINK,
    RED,
    SKY,
    STYLE,
)
from studies.recalibration.settings import NONE

COLOURS = {
    "RBS": ("RBS", BLACK),
    "class-wise L2, 15 uniform bins": ("class-wise L2, 15 bins", ORANGE),
    "class-wise L2, 100 uniform bins": ("class-wise L2, 100 bins", RED),
    "top-label ECE, 15 uniform bins": ("ECE, 15 bins", BLUE),
    "top-label L2, 100 uniform bins": ("top-label L2, 100 bins", PINK),
    "top-label KS": ("KS", GREEN),
    "CE_2, kernel density": ("CE_2, kernel density", SKY),
}
SHOWN = (
    "10 classes, too extreme and biased",
    "100 classes, too extreme",
    "digits, naive Bayes",
)


def panel(axes: Any, setting: dict[str, Any], row: int) -> None:
    """Draw levels (row 0), improvements (1) or improvements of squares (2) by temperature."""
    sizes = np.array(setting["sizes"])
    for name, (label, colour) in COLOURS.items():
        by_size = setting["estimators"][name]
        found = {int(size): entry(one, row) for size, one in by_size.items()}
        means, errors = np.array(list(found.values())).T
        axes.errorbar(
            list(found), means, 2 * errors, color=colour, lw=1.6, marker="o", ms=3, label=label
        )
    if setting["true"]:
        before, after = (setting["true"][kind] for kind in (NONE, "temperature"))
        true = (before**0.5, before**0.5 - after**0.5, before - after)[row]
        axes.axhline(true, color=GREY, lw=1.2, ls=":", label="true CE_2")
    axes.set(xscale="log")
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(visible=True, color="#e5e5e5", lw=0.6)
    axes.set_axisbelow(True)


def entry(one: dict[str, Any], row: int) -> list[float]:
    """Take the mean and its error that a row of panels shows."""
    found: list[float] = one["level"] if row == 0 else one["gains"]["temperature"][row - 1]
    return found


def draw(found: dict[str, Any], folder: Path) -> None:
    """Draw nine panels into `folder`."""
    titles = ("before", "lower by a temperature", "square lower by a temperature")
    with mpl.rc_context(STYLE | {"svg.hashsalt": "recalibration"}):
        figure = Figure(figsize=(11, 9.5), layout="constrained")
        panels = figure.subplots(3, 3)
        for i, across in enumerate(panels):
            for axes, name in zip(across, SHOWN, strict=True):
                panel(axes, found[name], i)
                if i == 0:
                    axes.set_title(name, loc="left", fontsize=10, fontweight="bold")
            across[0].set_ylabel(titles[i])
        for axes in panels[-1]:
            axes.set_xlabel("rows in the sample")
        figure.legend(
            *panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4
        )
        figure.savefig(folder / "recalibration.svg", metadata={"Date": None, "Creator": None})
