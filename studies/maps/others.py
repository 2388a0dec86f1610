"""netcal and betacal, in an environment of their own: a file of rows in, mapped scores out.

A line on standard input names a file of scores, outcomes and later scores; the answer is a file
beside it, with the later scores as each method maps them and the CPU seconds of its fit.
"""

import sys
import warnings
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from betacal import BetaCalibration
from netcal import binning, scaling

METHODS: dict[str, Callable[[], Any]] = {
    "netcal logistic": scaling.LogisticCalibration,
    "netcal beta": scaling.BetaCalibration,
    "netcal histogram": binning.HistogramBinning,
}


def fit_betacal(scores: Any, outcomes: Any, later: Any) -> Any:
    """Fit the beta calibration of its authors."""
    return BetaCalibration("abm").fit(scores[:, None], outcomes).predict(later[:, None])


def main() -> None:
    """Answer until there is no line."""
    warnings.filterwarnings("ignore")
    for line in sys.stdin:
        with np.load(line.strip()) as file:
            scores, outcomes, later = (file[name] for name in ("scores", "outcomes", "later"))
        found = {}
        for name, make in METHODS.items():
            begun = process_time()
            fitted = make()
            fitted.fit(scores, outcomes)
            mapped = fitted.transform(later)
            found[name], found[f"{name} seconds"] = mapped, process_time() - begun
        begun = process_time()
        found["betacal"] = fit_betacal(scores, outcomes, later)
        found["betacal seconds"] = process_time() - begun
        np.savez(f"{line.strip()}.found.npz", **found)
        print("done", flush=True)


if __name__ == "__main__":
    main()
