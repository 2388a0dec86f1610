"""Where diagrams are drawn, and what classifiers give: the names and shapes that people use."""

from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression

import monitor
from monitor import CalibrationDisplay

RNG = np.random.default_rng(3)
X = RNG.normal(size=(300, 3))
Y = (RNG.random(300) < 1 / (1 + np.exp(-X[:, 0]))).astype(int)
SCORES = LogisticRegression().fit(X, Y).predict_proba(X)[:, 1]


class Shaped(LogisticRegression):
    """A classifier whose probabilities have another shape."""

    shape: Callable[[Any], Any]

    def predict_proba(self, X: Any) -> Any:  # noqa: N803 - scikit-learn's name
        """Give them in that shape."""
        return type(self).shape(super().predict_proba(X))


SHAPES = {
    "frame": lambda p: pd.DataFrame(p, columns=["no", "yes"]),
    "lists": lambda p: p.tolist(),
    "one column": lambda p: p[:, 1],
    "a column of width 1": lambda p: p[:, 1:],
}


def test_a_classifier_of_one_class_is_sure_of_it() -> None:
    """Its only column is the probability of the class that it knows."""
    plt.switch_backend("agg")
    known = DummyClassifier().fit(X, np.zeros(300, int))

    shown = CalibrationDisplay.from_estimator(known, X, np.zeros(300, int))

    assert shown.evaluation.whole.mean_score > 0.999


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("positive", [0, 1])
def test_probabilities_in_any_shape(name: str, positive: int) -> None:
    """A single column is that of the second class."""
    plt.switch_backend("agg")
    kind = type("Of", (Shaped,), {"shape": staticmethod(SHAPES[name])})

    shown = CalibrationDisplay.from_estimator(kind().fit(X, Y), X, Y, pos_label=positive)

    of_positive = SCORES if positive else 1.0 - SCORES
    expected = monitor.evaluate(Y, of_positive, pos_label=positive).to_frame()
    pd.testing.assert_frame_equal(shown.evaluation.to_frame(), expected)
