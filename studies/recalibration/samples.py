"""Estimates on samples of many sizes, before and after every map, paired by sample."""

from typing import Any

import numpy as np

from monitor.metrics.core.grid import Floats, Ints
from studies.recalibration.estimators import DIRICHLET, MOST_ROWS, NAMES, QUICK, SLOW, dirichlet
from studies.recalibration.settings import NONE, Setting, draw_labels

MOST_DRAWS, MOST_SLOW_DRAWS = 300, 30  # of a sample of 100 rows; less of larger ones
FEWEST_DRAWS = 5
CERTAIN = 3.0  # Monte-Carlo errors, beyond which an order is not chance


def mean_and_error(values: Floats) -> list[float]:
    """Average draws; with the error of the mean, 0 for the one sample that holds all rows."""
    error = values.std(ddof=1) / np.sqrt(values.size) if values.size > 1 else 0.0
    return [float(values.mean()), float(error)]


def draws(size: int, most: int) -> int:
    """Decide how many samples there are: fewer of larger ones, which vary less."""
    return max(FEWEST_DRAWS, int(most * (100 / size) ** 0.75))


def wrongly_ordered(found: Floats, true: list[float]) -> int:
    """Count pairs of maps whose mean estimates are in the wrong order, beyond chance."""
    wrong = 0
    for i in range(len(true)):
        for j in range(i):
            difference, error = mean_and_error(found[:, i] - found[:, j])
            wrong += bool(np.sign(true[i] - true[j]) * difference < -CERTAIN * error)
    return wrong


def summary(found: Floats, maps: tuple[str, ...], true: dict[str, float]) -> dict[str, Any]:
    """Sum up the estimates of one estimator at one size, shape (samples, maps)."""
    gains = {
        kind: [mean_and_error(found[:, 0] ** power - found[:, i] ** power) for power in (1, 2)]
        for i, kind in enumerate(maps)
        if kind != NONE
    }
    about: dict[str, Any] = {"level": mean_and_error(found[:, 0]), "gains": gains}
    if true:
        squares = [true[kind] for kind in maps]
        about["chosen"] = mean_and_error(np.array(squares)[found.argmin(axis=1)])
        about["wrong"] = wrongly_ordered(found, squares)
    return about


def estimate(setting: Setting, seed: int) -> dict[str, Any]:
    """Estimate everything on samples of all sizes; results by estimator and size."""
    maps, true = tuple(setting.mapped), setting.true_squares()
    about: dict[str, Any] = {name: {} for name in NAMES}
    for size in setting.sizes:
        found = samples(setting, size, np.random.default_rng([2022, seed, size]))
        for name, values in found.items():
            about[name][str(size)] = summary(np.array(values), maps, true)
    return {"true": true, "sizes": list(setting.sizes), "estimators": about}


def samples(setting: Setting, size: int, rng: np.random.Generator) -> dict[str, list[list[float]]]:
    """Draw samples, the slow estimators on the first of them only."""
    found: dict[str, list[list[float]]] = {}
    whole = setting.truths is None and size == len(setting.mapped[NONE])
    for number in range(1 if whole else draws(size, MOST_DRAWS)):
        slow = number < draws(size, MOST_SLOW_DRAWS)
        for name, values in measure(*one_sample(setting, size, rng), slow=slow).items():
            found.setdefault(name, []).append(values)
    return found


def one_sample(setting: Setting, size: int, rng: np.random.Generator) -> tuple[list[Floats], Ints]:
    """Draw rows: their scores by every map, and their labels."""
    places = rng.choice(len(setting.mapped[NONE]), size, replace=False)
    mapped = [scores[places] for scores in setting.mapped.values()]
    if setting.truths is not None:
        return mapped, draw_labels(setting.truths[places], rng)
    assert setting.labels is not None
    return mapped, setting.labels[places]


def measure(mapped: list[Floats], labels: Ints, *, slow: bool) -> dict[str, list[float]]:
    """Measure a sample: estimates by map."""
    wanted = QUICK | SLOW if slow else QUICK
    found = {name: [take(scores, labels) for scores in mapped] for name, take in wanted.items()}
    if slow and labels.size <= MOST_ROWS:
        pairs = [dirichlet(scores, labels) for scores in mapped]
        found |= dict(zip(DIRICHLET, map(list, zip(*pairs, strict=True)), strict=True))
    return found
