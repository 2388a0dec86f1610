"""Ten classes, for both sides of `metrics.py`: the data, our measures, and other packages'.

The number of *scores* equals the number of predictions elsewhere, so there are a tenth as many
rows. The packages are also compared with plain numpy without any checks: many people write such a
loop over columns with ``bincount``.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

Job = Callable[[], object]
CLASSES, BINS = 10, 15
EACH = f"class-wise, {BINS} uniform bins"
EACH_SQUARED = f"class-wise, order 2, {BINS} quantile bins"
TOP = f"top-label, {BINS} uniform bins"
TOP_EVEN = f"top-label, {BINS} quantile bins"


def write_classes(folder: Path, size: int) -> None:
    """Write seeded probabilities, a little too extreme, and the observed classes."""
    rng = np.random.default_rng(20_260_302)
    weights = np.exp(rng.normal(0.0, 1.5, (max(1, size // CLASSES), CLASSES)))
    true = weights**0.9
    true /= true.sum(axis=1, keepdims=True)
    drawn = rng.random((true.shape[0], 1)) > np.cumsum(true, axis=1)[:, :-1]
    np.save(folder / "rows.npy", weights / weights.sum(axis=1, keepdims=True))
    np.save(folder / "labels.npy", drawn.sum(axis=1))


def load_classes(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read the rows of probabilities and the labels."""
    return np.load(folder / "rows.npy"), np.load(folder / "labels.npy")


def our_jobs(rows: np.ndarray, labels: np.ndarray) -> dict[str, Job]:
    """Name our jobs, from rows and from existing tallies."""
    from monitor.metrics import (
        classwise_calibration_error,
        classwise_tallies,
        ece,
        mean_squared_gap,
        quantile_bins,
        top_label_calibration_error,
        top_label_tally,
        uniform_bins,
    )

    each, top = classwise_tallies(labels, rows), top_label_tally(labels, rows)

    def even(t):  # noqa: ANN001, ANN202
        return quantile_bins(t, BINS)

    return {
        f"{EACH}|rows": lambda: classwise_calibration_error(labels, rows, BINS),
        f"{EACH}|tally": lambda: [ece(uniform_bins(t, BINS)) for t in each],
        f"{EACH_SQUARED}|rows": lambda: classwise_calibration_error(labels, rows, even, order=2),
        f"{EACH_SQUARED}|tally": lambda: [mean_squared_gap(even(t)) for t in each],
        f"{TOP}|rows": lambda: top_label_calibration_error(labels, rows, BINS),
        f"{TOP}|tally": lambda: ece(uniform_bins(top, BINS)),
        f"{TOP_EVEN}|rows": lambda: top_label_calibration_error(labels, rows, even),
        f"{TOP_EVEN}|tally": lambda: ece(even(top)),
    }


def plain_numpy(rows: np.ndarray, labels: np.ndarray) -> dict[str, Job]:
    """Name the jobs of plain numpy."""

    def gaps(s: np.ndarray, right: np.ndarray) -> float:
        drawer = np.minimum((s * BINS).astype(np.int64), BINS - 1)
        off = np.bincount(drawer, weights=right) - np.bincount(drawer, weights=s)
        return float(np.abs(off).sum()) / s.size

    def top() -> float:
        chosen = rows.argmax(axis=1)
        return gaps(rows[np.arange(chosen.size), chosen], chosen == labels)

    return {EACH: lambda: [gaps(rows[:, k], labels == k) for k in range(CLASSES)], TOP: top}


def netcal(rows: np.ndarray, labels: np.ndarray) -> dict[str, Job]:
    """Name the measures of netcal."""
    from netcal import metrics as m

    return {
        TOP: lambda: m.ECE(BINS).measure(rows, labels),
        TOP_EVEN: lambda: m.ECE(BINS, equal_intervals=False).measure(rows, labels),
    }


def torchmetrics(rows: np.ndarray, labels: np.ndarray) -> dict[str, Job]:
    """Name the measures of torchmetrics, on tensors that are already there."""
    import torch
    from torchmetrics.functional.classification import multiclass_calibration_error as error

    p, target = torch.from_numpy(rows), torch.from_numpy(labels)
    return {TOP: lambda: error(p, target, num_classes=CLASSES, n_bins=BINS)}


def uncertainty_calibration(rows: np.ndarray, labels: np.ndarray) -> dict[str, Job]:
    """Name the measures of uncertainty-calibration."""
    from calibration import utils as m

    def marginal() -> object:
        return m.lower_bound_scaling_ce(
            rows, labels, p=2, debias=False, num_bins=BINS, binning_scheme=m.get_equal_bins
        )

    return {
        EACH_SQUARED: marginal,
        TOP: lambda: m.get_ece(rows, labels, num_bins=BINS),
        TOP_EVEN: lambda: m.get_ece_em(rows, labels, num_bins=BINS),
    }


PEERS = {
    "netcal": netcal,
    "numpy": plain_numpy,
    "torchmetrics": torchmetrics,
    "uncertainty-calibration": uncertainty_calibration,
}
