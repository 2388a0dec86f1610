"""Redraw figures of the RBS paper that `docs/rbs-properties.svg` does not show, from our numbers.

    python -m studies.rbs.figures

Figures 2, 3 (right) and 9 of [RBS], into `docs/figures`, in a minute; the page is
`docs/rbs-properties.md`. Seeds are fixed. Figure 9 trains gradient boosting, where the paper trains
a network: a mean on the outcomes of Friedman's first problem, and a variance on its own squared
residuals, which shrink as it learns its training rows by heart.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from monitor.metrics import (
    dawid_sebastiani,
    ece,
    fit_variance_scaling,
    scale_variances,
    uniform_bins,
)
from monitor.metrics.core.tally import Tally
from monitor.report.diagrams import LIGHT, svg
from monitor.report.diagrams.canvas import divide, dress, head, make_axes
from studies.rbs.samples import ESTIMATORS, SIZES, average, infinite_sample, population

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]

FOLDER = Path(__file__).parents[2] / "docs" / "figures"
LEVELS = {"calibrated": 1.0, "mediocre, slope 0.8": 0.8, "bad, slope 0.6": 0.6}
SLOPES = (0.5, 0.6, 0.7, 0.8, 0.9)  # of the models over which Figure 3 averages
COMPARED = {
    "RBS": LIGHT.ink,
    "KS": LIGHT.extra,
    "ECE, 15 uniform bins": LIGHT.main,
    "L2 error, 15 uniform bins": LIGHT.other,
    "L2 error, 100 uniform bins": LIGHT.alarm,
    "L2 error, debiased": LIGHT.rest,
}
DRAWS, FEWER_DRAWS = 4_000, 1_000  # of samples of the smallest size
RUNS, ROWS, TEST_ROWS = 10, 100, 1_000
ITERATIONS = (1, 2, 4, 8, 16, 32, 64)
LEAST_SQUARE = 1e-4  # y squared: added to residuals before their logarithm


def ece_15(t: Tally) -> float:
    """Measure ECE over 15 uniform bins."""
    return ece(uniform_bins(t, 15))


def over_sizes(axes: "Axes") -> None:
    """Set the axis of sample sizes."""
    axes.set(xscale="log", xlabel="rows in the sample")
    axes.set_xticks([100, 1_000, 10_000, 100_000], ["100", "1,000", "10,000", "100,000"])
    axes.set_xticks([], minor=True)


def draw_ece_levels() -> "Axes":
    """Draw ECE against the sample size for three models whose true ECE is known [RBS, Figure 2]."""
    axes = make_axes(None, LIGHT, height=3.4)
    dress(axes, LIGHT)
    colours = (LIGHT.main, LIGHT.other, LIGHT.extra)
    for seed, ((name, slope), colour) in enumerate(zip(LEVELS.items(), colours, strict=True)):
        world = population(slope)
        found = average(world, {"ECE": ece_15}, DRAWS, 60 + seed)["ECE"]
        means, errors = np.array(list(found.values())).T
        axes.errorbar(SIZES, means, 2 * errors, color=colour, lw=1.6, marker="o", ms=3, label=name)
        axes.axhline(ece_15(infinite_sample(world)), color=colour, lw=1, ls=":")
    axes.set(ylim=(0.0, None), ylabel="mean ECE, 15 uniform bins")
    over_sizes(axes)
    below = "simulated models; dotted: the value of an infinite sample"
    head(axes, LIGHT, "ECE falls with the sample size", below, columns=3)
    return axes


def draw_relative() -> "Axes":
    """Draw estimators over their value in the largest sample, averaged [RBS, Figure 3, right]."""
    axes = make_axes(None, LIGHT, height=3.8)
    dress(axes, LIGHT)
    measures = {name: ESTIMATORS[name] for name in COMPARED}
    found = [
        average(population(slope), measures, FEWER_DRAWS, 70 + i) for i, slope in enumerate(SLOPES)
    ]
    for name, colour in COMPARED.items():
        means = np.array([[value for value, _ in of[name].values()] for of in found])
        relative = (means / means[:, -1:]).mean(axis=0)
        axes.plot(SIZES, relative, color=colour, lw=1.6, marker="o", ms=3, label=name)
    axes.axhline(1.0, color=LIGHT.muted, lw=0.8, ls=":")
    axes.set(yscale="log", ylabel="value / value at 100,000 rows")
    axes.set_yticks([1, 1.5, 2, 3, 5], ["1", "1.5", "2", "3", "5"])
    axes.set_yticks([], minor=True)
    over_sizes(axes)
    below = "mean over five simulated models, slopes 0.5 to 0.9; an unbiased estimator is flat"
    head(axes, LIGHT, "Drop-off of calibration errors", below, columns=2)
    return axes


def friedman(rows: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw Friedman's first problem with a variance of its own [RBS, equation 62]."""
    x = rng.random((rows, 10))
    mean = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2
    mean += 10 * x[:, 3] + 5 * x[:, 4]
    return x, np.asarray(mean + rng.normal(0.0, 0.5 + x[:, 5]))


def train(seed: int) -> Floats:
    """Train once; give variance and score before and after, and squared error; (iterations, 5)."""
    from sklearn.ensemble import GradientBoostingRegressor

    rng = np.random.default_rng([2022, 9, seed])
    (x, y), (x_valid, y_valid), (x_test, y_test) = (
        friedman(rows, rng) for rows in (ROWS, ROWS, TEST_ROWS)
    )
    means = GradientBoostingRegressor(n_estimators=ITERATIONS[-1], random_state=seed).fit(x, y)
    stages = [list(means.staged_predict(part)) for part in (x, x_valid, x_test)]
    found = []
    for i in ITERATIONS:
        mu, mu_valid, mu_test = (stage[i - 1] for stage in stages)
        squares = (y - mu) ** 2 + LEAST_SQUARE
        spread = GradientBoostingRegressor(n_estimators=30, max_depth=1, random_state=seed)
        spread.fit(x, np.log(squares))
        level = squares.mean() / np.exp(spread.predict(x)).mean()
        valid, before = (level * np.exp(spread.predict(part)) for part in (x_valid, x_test))
        line = fit_variance_scaling(y_valid, means=mu_valid, variances=valid)
        # Beyond the variances of the validation rows a falling line could reach 0.
        after = scale_variances(np.clip(before, valid.min(), valid.max()), line)
        scores = [
            dawid_sebastiani(y_test, means=mu_test, variances=v).mean() for v in (before, after)
        ]
        error = ((y_test - mu_test) ** 2).mean()
        found.append([before.mean(), after.mean(), *scores, error])
    return np.array(found)


def draw_variance() -> "Axes":
    """Draw predicted variance and score while a model trains [RBS, Figures 4 and 9]."""
    runs = np.array([train(seed) for seed in range(RUNS)])
    upper, lower = (row[0] for row in divide(make_axes(None, LIGHT, height=4.8), heights=(1.2, 1)))
    before, after, score_before, score_after, error = np.moveaxis(runs, 2, 0)
    for axes, lines in (
        (upper, [("before", before, LIGHT.other), ("after recalibration", after, LIGHT.main),
                 ("squared error", error, LIGHT.ink)]),
        (lower, [("before", score_before, LIGHT.other), ("after", score_after, LIGHT.main)]),
    ):  # fmt: skip
        dress(axes, LIGHT)
        draw_runs(axes, lines)
    upper.set(yscale="log", ylabel="mean variance, y²")
    upper.set_yticks([0.1, 1, 10], ["0.1", "1", "10"])
    upper.set_yticks([], minor=True)
    upper.tick_params(labelbottom=False)
    lower.set(yscale="log", ylabel="Dawid-Sebastiani score", xlabel="boosting iteration")
    lower.set_yticks([3, 5, 10, 30], ["3", "5", "10", "30"])
    lower.set_yticks([], minor=True)
    below = f"Friedman 1, {RUNS} runs; bands: two standard errors"
    head(upper, LIGHT, "Predicted variance while a model trains", below, columns=3)
    return upper


def draw_runs(axes: "Axes", lines: Sequence[tuple[str, Floats, str]]) -> None:
    """Draw means over the runs with their bands, over the iterations."""
    for name, values, colour in lines:
        mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(RUNS)
        axes.plot(ITERATIONS, mean, color=colour, lw=1.6, label=name)
        axes.fill_between(
            ITERATIONS, mean - 2 * error, mean + 2 * error, color=colour, alpha=0.25, lw=0
        )
    axes.set_xscale("log", base=2)
    axes.set_xticks(ITERATIONS, [str(i) for i in ITERATIONS])


def main() -> None:
    """Draw all figures."""
    pictures = {
        "rbs-2-ece": draw_ece_levels(),
        "rbs-3-relative": draw_relative(),
        "rbs-9-variance": draw_variance(),
    }
    for name, axes in pictures.items():
        path = FOLDER / f"{name}.svg"
        path.write_text(svg(axes, title=axes.get_title(loc="left")))
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
