"""WATCH on its own synthetic streams and on streams of scores, as its `src/main.py` runs it.

    python watch_worker.py PROGRAM OUT.npz TRIALS

PROGRAM is a checkout of its repository. Its streams predict a number with a network that is
trained by its own settings, and the outcomes given the features change after 500 rows
(`scripts/run_synthetic_label.sh`). This monitor watches probabilities, so the file also has the
probability that the target lies above the median of the training data, from the prediction and
the spread of its errors, and whether it does.

The streams of scores have the log-odds of a model as their feature, and its error as the score of
a row: 2,000 rows to calibrate with, then 2,500 as before and 2,500 of which only the prior moved,
or of which the outcomes follow a slope of 0.6.
"""

import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

PROGRAM, OUT, TRIALS = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
sys.path[:0] = [str(PROGRAM / "src")]


class Absent(ModuleType):
    """A module of its experiments with images, which these streams never use."""

    __path__: tuple[str, ...] = ()

    def __getattr__(self, name: str) -> Any:
        """Give a module of this kind, or an empty class, for whatever is imported."""
        return sys.modules.get(f"{self.__name__}.{name}") or type(name, (), {})


for _name in (
    "torch", "torch.nn", "torch.nn.functional", "torch.optim", "torch.utils", "torch.utils.data",
    "torchvision", "torchvision.transforms", "ucimlrepo", "main_mnist_cifar",
):  # fmt: skip
    sys.modules[_name] = Absent(_name)

from martingales import composite_jumper_martingale  # noqa: E402 - of the program
from p_values import (  # noqa: E402
    calculate_p_values,
    calculate_weighted_p_values_and_quantiles,
    online_lik_ratio_estimates,
)
from scipy.stats import norm  # noqa: E402
from sklearn.neural_network import MLPRegressor  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from utils import (  # noqa: E402
    get_1dim_synthetic_v3_data,
    split_and_shift_dataset0,
    split_into_folds,
)

SETTINGS = Namespace(alpha=0.1, cs_type="abs")
MARTINGALE, SHIRYAEV_ROBERTS = 100, 10_000  # its limits
UNSHIFTED, TEST = 500, 0.33333
UPTICK = 0.0033
CALIBRATION, BEFORE, SINCE = 2_000, 2_500, 2_500
PRIOR, MOVED, SLOPE = 0.2, 0.35, 0.6


def first(values: np.ndarray, limit: float) -> int:
    """Give the first place that reaches a limit, -1 without one."""
    places = np.flatnonzero(values >= limit)
    return int(places[0]) if places.size else -1


def alarms_of(p_values: np.ndarray) -> tuple[int, int]:
    """Give the rows at which the martingale and its Shiryaev-Roberts statistic alarm."""
    martingale = composite_jumper_martingale(p_values, MARTINGALE, return_alarm=True)[1]
    # Its Shiryaev-Roberts statistic: the sum over i < n of S(n) / S(i).
    before = np.concatenate(([0.0], np.cumsum(1.0 / martingale)[:-1]))
    return first(martingale, MARTINGALE), first(martingale * before, SHIRYAEV_ROBERTS)


def watched(
    train: np.ndarray, features: np.ndarray, errors: np.ndarray, n_cal: int
) -> tuple[int, int, int, int, int]:
    """Watch a stream: where the features alarm, and the errors without weights and with them.

    The weights follow the features from their alarm on (`fixed_cal_dyn`); without such an alarm
    they are equal.
    """
    away = (features - train.mean(axis=0)).ravel()
    moved = alarms_of(calculate_p_values(away)[n_cal:])[0]
    plain = alarms_of(calculate_p_values(errors)[n_cal:])
    if moved < 0:
        return moved, *plain, *plain
    start = n_cal + moved
    weights = online_lik_ratio_estimates(
        features[:n_cal], features[n_cal : n_cal + 1], features[n_cal:], adapt_start=start
    )
    p_values = calculate_weighted_p_values_and_quantiles(
        SETTINGS, errors, weights, start, "fixed_cal_dyn"
    )[0]
    return moved, *plain, *alarms_of(p_values[n_cal:])


def own_stream(data: Any, seed: int) -> tuple[tuple[int, ...], np.ndarray, np.ndarray]:
    """Run a trial of its own experiment."""
    np.random.seed(seed)  # noqa: NPY002 - the program draws from there
    train, test = split_and_shift_dataset0(
        *(data, "1dim_synthetic_v3", TEST, "label"),
        label_uptick=UPTICK,
        seed=seed,
        num_test_unshifted=UNSHIFTED,
    )
    x, y, ((fitted, held),) = split_into_folds(train, num_folds=1, seed=seed)
    model = make_pipeline(
        StandardScaler(), MLPRegressor(solver="lbfgs", activation="logistic", random_state=seed)
    ).fit(x[fitted], y[fitted])
    later = test.to_numpy()[1:]  # the first row is for its estimate of the weights
    features = np.concatenate([x[held], later[:, :-1]])
    targets = np.concatenate([y[held], later[:, -1]])
    predicted, middle = model.predict(features), float(np.median(y[fitted]))
    spread = float(np.std(y[fitted] - model.predict(x[fitted])))
    alarms = watched(x[fitted], features, np.abs(targets - predicted), len(held))
    return alarms, norm.sf(middle, predicted, spread), targets > middle


def drawn(rng: np.random.Generator, rows: int, prior: float) -> tuple[np.ndarray, np.ndarray]:
    """Draw outcomes and the log-odds that a model sound at the first prior gives them."""
    outcomes = rng.random(rows) < prior
    signal = rng.normal(np.where(outcomes, 1.0, -1.0), 1.4)
    return outcomes, np.log(PRIOR / (1 - PRIOR)) + 2.0 * signal / 1.4**2


def score_stream(kind: str, seed: int) -> tuple[tuple[int, ...], np.ndarray, np.ndarray]:
    """Run a trial of scores."""
    rng = np.random.default_rng(seed)
    np.random.seed(seed)  # noqa: NPY002 - the program draws its ties from there
    outcomes, log_odds = drawn(rng, CALIBRATION + BEFORE, PRIOR)
    later, moved = drawn(rng, SINCE, MOVED if kind == "prior" else PRIOR)
    if kind == "slope":
        later = rng.random(SINCE) < 1 / (1 + np.exp(-SLOPE * moved))
    outcomes, log_odds = np.concatenate([outcomes, later]), np.concatenate([log_odds, moved])
    scores = 1 / (1 + np.exp(-log_odds))
    features = log_odds[:, None]
    alarms = watched(features[:CALIBRATION], features, np.abs(outcomes - scores), CALIBRATION)
    return alarms, scores, outcomes


def trials() -> Iterator[tuple[str, int, tuple[tuple[int, ...], np.ndarray, np.ndarray]]]:
    """Run all trials of every kind."""
    np.random.seed(0)  # noqa: NPY002 - the program draws its data from there
    data = get_1dim_synthetic_v3_data()
    for seed in range(TRIALS):
        yield "own", seed, own_stream(data, seed)
        for kind in ("prior", "slope"):
            yield kind, seed, score_stream(kind, seed)


def main() -> None:
    """Run the trials and write what they gave."""
    found: dict[str, list[Any]] = {}
    for kind, seed, of_trial in trials():
        print(kind, seed, of_trial[0], flush=True)
        for name, value in zip(("alarms", "scores", "outcomes"), of_trial, strict=True):
            found.setdefault(f"{kind}_{name}", []).append(value)
    np.savez_compressed(OUT, **{name: np.array(values) for name, values in found.items()})


if __name__ == "__main__":
    main()
