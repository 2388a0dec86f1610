"""The other side of `metrics.py`: measures of other packages, run on demand in their environment.

    python -m bench.peers_worker FOLDER

imports numpy and the packages below, and nothing from this project. It reads ``scores.npy`` and
``outcomes.npy`` from the folder and prints which jobs it has; then it runs the job named on
each line of its input and prints the CPU time. `serve` is that loop, for both sides.
"""

import gc
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np

from bench import metrics_classes as classes

Job = Callable[[], object]
CONTROL, POOLING = "control", "PAVA of sorted rows"
BINS, QUANTILES = 15, 10


def serve(jobs: dict[str, Job], facts: dict[str, str]) -> None:
    """Answer each line of the input, the name of a job, with its CPU time or its error."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # output of the packages is not an answer
    print(json.dumps({"jobs": list(jobs), "facts": facts}), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(_timed(jobs[line.strip()])), file=answers, flush=True)


def load(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read the predictions and outcomes that both sides use."""
    return np.load(folder / "scores.npy"), np.load(folder / "outcomes.npy")


def control() -> object:
    """Do a fixed amount of work, which shows the current speed of the machine."""
    return np.sort(np.random.default_rng(0).random(1_000_000))


def _timed(job: Job) -> dict[str, object]:
    gc.collect()
    start = time.process_time()
    try:
        job()
    except Exception as error:  # noqa: BLE001 - a peer's failure is a result
        return {"error": f"{type(error).__name__}: {error}"[:200]}
    return {"cpu": time.process_time() - start}


def mapie(s: np.ndarray, y: np.ndarray) -> dict[str, Job]:
    """Name the measures of MAPIE."""
    from mapie.metrics import calibration as m

    def ece(bins: int, strategy: str) -> object:
        return m.expected_calibration_error(y, s, num_bins=bins, split_strategy=strategy)

    return {
        "ECE, 15 uniform bins": lambda: ece(BINS, "uniform"),
        "ACE, 10 quantile bins": lambda: ece(QUANTILES, "quantile"),
        "KS and Kuiper": lambda: (m.kolmogorov_smirnov_p_value(y, s), m.kuiper_p_value(y, s)),
        "Spiegelhalter's z": lambda: m.spiegelhalter_p_value(y, s),
    }


def netcal(s: np.ndarray, y: np.ndarray) -> dict[str, Job]:
    """Name the measures of netcal."""
    from netcal import metrics as m

    return {
        "ECE, 15 uniform bins": lambda: m.ECE(BINS).measure(s, y),
        "ACE, 10 quantile bins": lambda: m.ACE(QUANTILES).measure(s, y),
        "MCE, 15 uniform bins": lambda: m.MCE(BINS).measure(s, y),
        "MCE(Q), 10 quantile bins": lambda: m.MCE(QUANTILES, equal_intervals=False).measure(s, y),
    }


def uncertainty_calibration(s: np.ndarray, y: np.ndarray) -> dict[str, Job]:
    """Name the measures of uncertainty-calibration."""
    from calibration import utils as m

    def squared(*, debias: bool, cut: Callable[..., object] = m.get_equal_prob_bins) -> object:
        return m.lower_bound_scaling_ce(s, y, p=2, debias=debias, num_bins=BINS, binning_scheme=cut)

    return {
        "ECE, 15 uniform bins": lambda: m.get_ece(s, y, num_bins=BINS),
        "ACE, 10 quantile bins": lambda: m.get_ece_em(s, y, num_bins=QUANTILES),
        "L2, 15 uniform bins": lambda: squared(debias=False),
        "L2 debiased, 15 uniform bins": lambda: squared(debias=True),
        "L2, 15 quantile bins": lambda: squared(debias=False, cut=m.get_equal_bins),
        "L2 debiased, 15 quantile bins": lambda: squared(debias=True, cut=m.get_equal_bins),
    }


def torchmetrics(s: np.ndarray, y: np.ndarray) -> dict[str, Job]:
    """Name the measures of torchmetrics, on tensors that are already there."""
    import torch
    from torchmetrics.functional.classification import binary_auroc, binary_calibration_error

    p, target = torch.from_numpy(s), torch.from_numpy(y)

    def error(norm: str) -> object:
        return binary_calibration_error(p, target, n_bins=BINS, norm=norm)

    return {
        "ECE, 15 uniform bins": lambda: error("l1"),
        "MCE, 15 uniform bins": lambda: error("max"),
        "L2, 15 uniform bins": lambda: error("l2"),
        "AUC": lambda: binary_auroc(p, target),
    }


def relplot(s: np.ndarray, y: np.ndarray) -> dict[str, Job]:
    """Name the measures of relplot."""
    from relplot.metrics import binnedECE, smECE

    return {
        "ECE, 15 uniform bins": lambda: binnedECE(s, y, nbins=BINS),
        "smooth ECE": lambda: smECE(s, y),
    }


def calzone_tool(s: np.ndarray, y: np.ndarray) -> dict[str, Job]:
    """Name the measures of calzone-tool, which takes a column for each class."""
    from calzone import metrics as m
    from calzone.utils import reliability_diagram

    both = np.column_stack([1.0 - s, s])

    def binned(measure: Callable[..., object], bins: int, *, equal: bool) -> object:
        rates, means, _, counts = reliability_diagram(
            y, both, num_bins=bins, class_to_plot=1, is_equal_freq=equal
        )
        return measure(rates, means, counts)

    return {
        "ECE, 15 uniform bins": lambda: binned(m.calculate_ece_mce, BINS, equal=False),
        "MCE, 15 uniform bins": lambda: binned(m.calculate_ece_mce, BINS, equal=False),
        "ACE, 10 quantile bins": lambda: binned(m.calculate_ece_mce, QUANTILES, equal=True),
        "MCE(Q), 10 quantile bins": lambda: binned(m.calculate_ece_mce, QUANTILES, equal=True),
        "Hosmer-Lemeshow, 10 bins": lambda: binned(m.hosmer_lemeshow_test, QUANTILES, equal=True),
        "Spiegelhalter's z": lambda: m.spiegelhalter_z_test(y, both),
        "Cox line": lambda: m.cox_regression_analysis(y, both),
    }


def model_diagnostics(s: np.ndarray, y: np.ndarray) -> dict[str, Job]:
    """Name the measures of model-diagnostics."""
    from model_diagnostics import scoring as m

    return {
        "CORP, Brier": lambda: m.decompose(y, s, scoring_function=m.SquaredError()),
        "CORP, log": lambda: m.decompose(y, s, scoring_function=m.LogLoss()),
    }


def scikit_learn(s: np.ndarray, y: np.ndarray) -> dict[str, Job]:
    """Name the measures of scikit-learn, which most of the others depend on."""
    from sklearn import metrics as m

    return {
        "Brier": lambda: m.brier_score_loss(y, s),
        "log score": lambda: m.log_loss(y, s),
        "AUC": lambda: m.roc_auc_score(y, s),
    }


def fast_histogram(s: np.ndarray, y: np.ndarray) -> dict[str, Job]:
    """Compute a measure from three histograms, without any check."""
    from fast_histogram import histogram1d

    def ece() -> object:
        rows = histogram1d(s, range=(0.0, 1.0), bins=BINS)
        scores, outcomes = (histogram1d(s, range=(0.0, 1.0), bins=BINS, weights=w) for w in (s, y))
        return np.abs(scores - outcomes).sum() / rows.sum()

    return {"ECE, 15 uniform bins": ece}


def numba(s: np.ndarray, y: np.ndarray) -> dict[str, Job]:
    """Pool sorted rows by cross-multiplied integers, without equal scores or limits of size."""
    from numba import njit

    @njit
    def pool(outcomes: np.ndarray) -> np.ndarray:
        sizes, hits = np.empty_like(outcomes), np.empty_like(outcomes)
        last = -1
        for row in range(outcomes.size):
            size, hit = 1, outcomes[row]
            while last >= 0 and hits[last] * size >= hit * sizes[last]:
                size, hit, last = size + sizes[last], hit + hits[last], last - 1
            last += 1
            sizes[last], hits[last] = size, hit
        return sizes[: last + 1]

    in_order = y[np.argsort(s, kind="stable")].astype(np.int64)
    pool(in_order[:100])  # compiles before timing
    return {POOLING: lambda: pool(in_order)}


PEERS = {
    "calzone-tool": calzone_tool,
    "fast-histogram": fast_histogram,
    "MAPIE": mapie,
    "model-diagnostics": model_diagnostics,
    "netcal": netcal,
    "numba": numba,
    "relplot": relplot,
    "scikit-learn": scikit_learn,
    "torchmetrics": torchmetrics,
    "uncertainty-calibration": uncertainty_calibration,
}


def main() -> None:
    """Serve the measures of every package that can be imported."""
    warnings.simplefilter("ignore")
    folder = Path(sys.argv[1])
    two, many = load(folder), classes.load_classes(folder)
    jobs: dict[str, Job] = {CONTROL: control}
    facts = {}
    asked = [(peer, names, two) for peer, names in PEERS.items()]
    asked += [(peer, names, many) for peer, names in classes.PEERS.items()]
    for peer, name_measures, data in asked:
        try:
            measures = name_measures(*data)
            facts[peer] = version(peer)
        except ImportError as error:
            facts[peer] = f"left out: {error}"
            continue
        jobs |= {f"{measure}|{peer}": job for measure, job in measures.items()}
    serve(jobs, facts)


if __name__ == "__main__":
    main()
