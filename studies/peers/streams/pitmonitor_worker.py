"""PITMonitor on the streams of its own experiment, as its `experiment/core` runs it.

    python pitmonitor_worker.py PROGRAM OUT.npz TRIALS

PROGRAM is a checkout of its repository. The model is trained once by its own code and then
watched: every trial is a new FriedmanDrift stream of 2,500 rows before the drift and 2,500 since.
This monitor watches probabilities, so the file also has the model's probability that the target
lies above the median of the training data, and whether it does.
"""

import sys
from pathlib import Path

import numpy as np

PROGRAM, OUT, TRIALS = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
sys.path[:0] = [str(PROGRAM), str(PROGRAM / "experiment" / "core")]

from config import Config  # noqa: E402 - of the program
from data import generate_stream  # noqa: E402
from model import ModelBundle, compute_pits, compute_predictions, train_model  # noqa: E402
from pitmon import PITMonitor  # noqa: E402
from scipy.stats import norm  # noqa: E402


def alarm(pits: np.ndarray, config: Config, seed: int) -> int:
    """Give the row of the first alarm, -1 without one."""
    monitor = PITMonitor(alpha=config.alpha, n_bins=config.n_bins, rng=seed)
    return next((row for row, pit in enumerate(pits) if monitor.update(float(pit)).triggered), -1)


def trained(config: Config) -> tuple[ModelBundle, float]:
    """Train the model of the experiment; and give the median of its training data."""
    x, y = generate_stream(config, *config.drift_scenarios[0], seed=config.seed)
    x, y = x[: config.n_train], y[: config.n_train]
    model = train_model(x, y, epochs=config.epochs, lr=config.lr, seed=config.seed)
    return model, float(np.median(y))


def main() -> None:
    """Run the trials of every kind of drift."""
    config = Config()
    model, middle = trained(config)
    found: dict[str, np.ndarray] = {}
    for kind, width in config.drift_scenarios:
        alarms, scores, outcomes = [], [], []
        for trial in range(TRIALS):
            seed = config.seed + 1000 * trial
            x, y = generate_stream(config, kind, width, seed=seed)
            x, y = x[config.n_train :], y[config.n_train :]
            alarms.append(alarm(compute_pits(model, x, y), config, seed))
            means, deviations = compute_predictions(model, x)
            scores.append(norm.sf(middle, means, deviations))
            outcomes.append(y > middle)
        found |= {f"{kind}_alarms": np.array(alarms), f"{kind}_scores": np.array(scores),
                  f"{kind}_outcomes": np.array(outcomes)}  # fmt: skip
    np.savez_compressed(OUT, start=config.n_stable, **found)


if __name__ == "__main__":
    main()
