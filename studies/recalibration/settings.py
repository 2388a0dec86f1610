"""Models and their test rows: simulated ones whose truth is known, and trained ones.

Rows are split once. A map is fitted on the validation rows; samples are drawn from the test rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax

from monitor.metrics import ClassMap, apply_class_map, fit_class_map
from monitor.metrics.beyond_binary.class_maps import KINDS
from monitor.metrics.core.grid import Floats, Ints

POPULATION = 20_000
LEAST = 1e-9  # naive Bayes gives exact zeros, of which no map could know the logits
NONE = "no map"


@dataclass(frozen=True, eq=False)
class Setting:
    """A model with its test rows, as scored and as mapped.

    Attributes
    ----------
    name : str
        For tables.
    mapped : dict
        Scores of the test rows, shape (n, c), without a map and by every kind of map.
    labels : ndarray of shape (n,) or None
        The classes that came true; None if they are drawn from `truths`.
    truths : ndarray of shape (n, c) or None
        The true probabilities, if they are known.
    sizes : tuple of int
        Of the samples.
    """

    name: str
    mapped: dict[str, Floats]
    labels: Ints | None
    truths: Floats | None
    sizes: tuple[int, ...]

    def true_squares(self) -> dict[str, float]:
        """Give the square of CE_2 of every map, exactly: the maps are injective."""
        if self.truths is None:
            return {}
        return {
            name: float(((scores - self.truths) ** 2).sum(axis=1).mean())
            for name, scores in self.mapped.items()
        }


def draw_labels(truths: Floats, rng: np.random.Generator) -> Ints:
    """Draw a class for each row of probabilities."""
    reached = truths.cumsum(axis=1)[:, :-1]
    return np.asarray((rng.random((len(truths), 1)) > reached).sum(axis=1))


def fit_all(scores: Floats, labels: Ints) -> dict[str, ClassMap]:
    """Fit a map of every kind."""
    return {kind: fit_class_map(labels, scores, kind) for kind in KINDS}


def map_all(scores: Floats, maps: dict[str, ClassMap]) -> dict[str, Floats]:
    """Apply every map."""
    return {NONE: scores} | {kind: apply_class_map(scores, one) for kind, one in maps.items()}


def simulated(
    name: str, classes: int, spread: float, distort: Callable[[Floats], Floats], validation: int
) -> Setting:
    """Draw true logits; the model scores what `distort` makes of them."""
    rng = np.random.default_rng([2022, classes, len(name)])
    logits = rng.normal(0.0, spread, (POPULATION + validation, classes))
    truths, scores = softmax(logits, axis=1), softmax(distort(logits), axis=1)
    maps = fit_all(scores[:validation], draw_labels(truths[:validation], rng))
    mapped = map_all(scores[validation:], maps)
    return Setting(name, mapped, None, truths[validation:], (100, 1_000, 10_000))


def trained(
    name: str, data: Any, model: Any, training: int, validation: int, sizes: tuple[int, ...]
) -> Setting:
    """Train a model of scikit-learn on some rows of its data, and keep the rest for tests."""
    order = np.random.default_rng(2022).permutation(len(data.target))
    x, y = data.data[order], data.target[order]
    model.fit(x[:training], y[:training])
    scores = np.maximum(model.predict_proba(x[training:]), LEAST)
    scores /= scores.sum(axis=1, keepdims=True)
    labels = y[training:].astype(np.int64)
    maps = fit_all(scores[:validation], labels[:validation])
    mapped = map_all(scores[validation:], maps)
    full = len(labels) - validation
    return Setting(name, mapped, labels[validation:], None, (*sizes, full))


def biased(logits: Floats) -> Floats:
    """Sharpen, and overrate some classes."""
    return np.asarray(1.3 * logits + np.linspace(-1.0, 1.0, logits.shape[1]))


def simulated_settings() -> list[Setting]:
    """Make the settings whose truth is known."""
    return [
        simulated("10 classes, too extreme", 10, 1.5, lambda z: 1.5 * z, 2_000),
        simulated("10 classes, too extreme and biased", 10, 1.5, biased, 2_000),
        simulated("100 classes, too extreme", 100, 2.5, lambda z: 1.5 * z, 3_000),
    ]


def trained_settings() -> list[Setting]:
    """Train on the data sets that scikit-learn ships."""
    from sklearn.datasets import load_breast_cancer, load_digits, load_wine
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.naive_bayes import GaussianNB

    digits, cancer, wine = load_digits(), load_breast_cancer(), load_wine()
    forest = RandomForestClassifier(200, random_state=0)
    return [
        trained("digits, naive Bayes", digits, GaussianNB(), 400, 400, (100, 316)),
        trained("digits, random forest", digits, forest, 400, 400, (100, 316)),
        trained("breast cancer, naive Bayes", cancer, GaussianNB(), 100, 150, (100,)),
        trained("wine, naive Bayes", wine, GaussianNB(), 38, 50, (30,)),
    ]
