"""Theorem 3.1 of the RBS paper on random worlds: both sides of every inequality.

A world is a small set of predictions of 2 to 10 classes with labels that follow them or not. The
rows are the whole population, so every error is a finite sum and nothing is estimated.
"""

from math import sqrt

import numpy as np
import numpy.typing as npt

from monitor.metrics.beyond_binary.multiclass import (
    classwise_calibration_error,
    classwise_tallies,
    top_label_calibration_error,
    top_label_tally,
)
from monitor.metrics.binned.binning import Bins, monitor_sizes, pava_bc, uniform_bins
from monitor.metrics.binned.ece import ece, root_mean_squared_gap
from monitor.metrics.core.tally import Tally
from monitor.metrics.scores.brier import brier, rbs
from monitor.metrics.smooth.cumulative import cumulative_differences
from monitor.metrics.smooth.skce import skce

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Sides = dict[str, tuple[float, float]]  # the side that must be smaller, and the other

STEPS, BANDWIDTH = 20, 0.2
ROUNDING = 1e-12  # of sums of at most 300 terms below 2
CONTROLS = ("CE_3 ≤ n^(1/3 - 1/2) √BS", "KS of Definition C.2 ≤ top-label CE_1")  # do not hold


def world(rng: np.random.Generator) -> tuple[Floats, Ints]:
    """Draw rows of scores and their labels.

    Scores are multiples of 1/20, so that classes share scores and a class-wise error is not
    that of whole vectors.
    """
    classes, size = int(rng.integers(2, 11)), int(rng.integers(20, 301))
    spread = 10.0 ** rng.uniform(-1.0, 1.0)
    vectors = rng.multinomial(STEPS, rng.dirichlet([spread] * classes, rng.integers(1, 13)))
    wrong = rng.dirichlet([10.0 ** rng.uniform(-2.0, 1.0)] * classes, len(vectors))
    share = rng.choice([0.0, 0.5, 1.0])  # calibrated but for chance, half so, not at all
    truths = (1.0 - share) * vectors / STEPS + share * wrong
    rows = rng.integers(len(vectors), size=size)
    labels = (rng.random((size, 1)) > np.cumsum(truths, axis=1)[rows, :-1]).sum(axis=1)
    return vectors[rows] / STEPS, labels


def by_score(t: Tally) -> Bins:
    """Put every score into its own bin."""
    return uniform_bins(t, 2 * STEPS)


def power(t: Tally, order: float) -> float:
    """Average the absolute error to a power."""
    gaps = np.abs(t.positives / t.counts - t.scores)
    return float((t.counts * gaps**order).sum()) / t.total


def norm_error(scores: Floats, labels: Ints, order: float) -> float:
    """Compute CE_p of whole vectors [equation 2]."""
    vectors, inverse = np.unique(scores, axis=0, return_inverse=True)
    seen = np.zeros_like(vectors)
    np.add.at(seen, (inverse, labels), 1.0)
    counts = seen.sum(axis=1, keepdims=True)
    total = (counts * np.abs(vectors - seen / counts) ** order).sum() / labels.size
    return float(total ** (1.0 / order))


def mean_embedding(t: Tally) -> float:
    """Compute MMCE [Definition C.3]: the U-statistic SKCE and the pairs that it leaves out."""
    pairs = skce(t, bandwidth=BANDWIDTH).value * (t.total - 1) / t.total
    return sqrt(max(0.0, pairs + brier(t) / t.total))


def ks_to_the_letter(scores: Floats, labels: Ints) -> float:
    """Average KS of all scores of class k over the class k that is predicted."""
    predicted = np.bincount(scores.argmax(axis=1), minlength=scores.shape[1]) / labels.size
    each = [cumulative_differences(t).ks for t in classwise_tallies(labels, scores)]
    return float((predicted * each).sum())


def of_vectors(scores: Floats, labels: Ints) -> Sides:
    """Compare the errors of whole vectors, of classes and of top labels."""
    n = scores.shape[1]
    root = sqrt(sum(brier(t) for t in classwise_tallies(labels, scores)))
    ce = {p: norm_error(scores, labels, p) for p in (1.0, 1.5, 2.0, 3.0)}
    each = {p: classwise_calibration_error(labels, scores, by_score, order=p) for p in (1.0, 2.0)}
    top = {p: top_label_calibration_error(labels, scores, by_score, order=p) for p in (1.0, 2.0)}
    return {
        "CE_2 ≤ √BS": (ce[2.0], root),
        "CE_1.5 ≤ n^(1/1.5 - 1/2) √BS": (ce[1.5], n ** (1 / 1.5 - 0.5) * root),
        "CE_1 ≤ n^(1/2) √BS": (ce[1.0], sqrt(n) * root),
        "CE_1 ≤ n^(1/2) CE_2": (ce[1.0], sqrt(n) * ce[2.0]),
        "class-wise CE_2 ≤ CE_2": (each[2.0], ce[2.0]),
        "class-wise CE_1 ≤ CE_1": (each[1.0], ce[1.0]),
        "top-label CE_2 ≤ CE_2": (top[2.0], ce[2.0]),
        "top-label CE_1 ≤ CE_1": (top[1.0], ce[1.0]),
        "top-label CE_1 ≤ top-label CE_2": (top[1.0], top[2.0]),
        CONTROLS[0]: (ce[3.0], n ** (1 / 3 - 0.5) * root),
        CONTROLS[1]: (ks_to_the_letter(scores, labels), top[1.0]),
    }


def of_tallies(scores: Floats, labels: Ints) -> Sides:
    """Compare the errors of the top label, and those that a monitor of one class shows."""
    top, first = top_label_tally(labels, scores), classwise_tallies(labels, scores)[0]
    widest = power(top, 1.0)
    smallest, largest = monitor_sizes(first.total)
    bins = pava_bc(first, min_size=smallest, max_size=largest)
    return {
        "KS ≤ top-label CE_1": (cumulative_differences(top).ks, widest),
        "ECE, 5 bins ≤ top-label CE_1": (ece(uniform_bins(top, 5)), widest),
        "MMCE ≤ top-label CE_1": (mean_embedding(top), widest),
        "L2 error, PAVA-BC bins ≤ RBS": (root_mean_squared_gap(bins), rbs(first)),
        "ECE ≤ L2 error, PAVA-BC bins": (ece(bins), root_mean_squared_gap(bins)),
    }


def both_sides(worlds: int) -> dict[str, Floats]:
    """Draw worlds; return an array of shape (worlds, 2) for each inequality, controls last."""
    rng = np.random.default_rng(31)
    drawn = [world(rng) for _ in range(worlds)]
    rows = [of_tallies(*one) | of_vectors(*one) for one in drawn]
    found = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return {name: found[name] for name in sorted(found, key=lambda n: n in CONTROLS)}


def summary(sides: Floats) -> tuple[int, float, Floats]:
    """Count violations; find the smallest slack, and quantiles of smaller over larger side."""
    slack = sides[:, 1] - sides[:, 0]
    known = sides[sides[:, 1] > ROUNDING]  # 0 <= 0 holds and has no ratio
    ratios = np.quantile(known[:, 0] / known[:, 1], [0.0, 0.05, 0.5, 0.95, 1.0])
    return int((slack < -ROUNDING).sum()), float(slack.min()), ratios


def table(found: dict[str, Floats]) -> list[str]:
    """Lay out one row for each inequality."""
    lines = [
        "| inequality | violations | smallest slack | equal | left / right side: median, most |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, sides in found.items():
        violations, slack, ratios = summary(sides)
        equal = int((np.abs(sides[:, 1] - sides[:, 0]) <= ROUNDING).sum())
        # A slack of rounding differs between machines; that it is one does not.
        shown = "0" if abs(slack) <= ROUNDING else f"{slack:.4f}"
        label = f"{name} (control)" if name in CONTROLS else name
        lines.append(
            f"| {label} | {violations} | {shown} | {equal} | {ratios[2]:.2f}, {ratios[4]:.2f} |"
        )
    return lines
