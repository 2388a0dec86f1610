"""Where diagrams are drawn, and what classifiers give: the names and shapes that people use."""

from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import monitor
from monitor import CalibrationDisplay
from monitor.errors import DataError

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


def test_it_draws_in_axes_and_in_a_figure() -> None:
    """`ax` is the name of matplotlib; of a figure, its only axes are made."""
    plt.switch_backend("agg")
    evaluated = monitor.evaluate(Y, SCORES)
    figure, axes = plt.subplots()
    empty = plt.figure()

    assert evaluated.plot(ax=axes).get_figure() is figure
    assert evaluated.plot(ax=empty).get_figure() is empty
    sample = np.tile(Y, 3), np.tile(SCORES, 3)
    compared = monitor.compare(sample, sample)
    assert compared.plot(ax=plt.subplots()[1]) is not None


def test_a_display_is_one_line() -> None:
    """Its numbers are those of its evaluation."""
    plt.switch_backend("agg")

    assert repr(CalibrationDisplay.from_predictions(Y, SCORES)) == "CalibrationDisplay(300 rows)"


@pytest.mark.parametrize(
    ("outcomes", "scores", "said"),
    [
        (pd.array([1, None, 0], dtype="Int64"), [0.2, 0.3, 0.4], "first nan at row 1"),
        ([1, 0, 0], pd.array([0.2, None, 0.4], dtype="Float64"), "first nan at row 1"),
    ],
)
def test_arrays_of_pandas_with_missing_values(outcomes: Any, scores: Any, said: str) -> None:
    """They have a mask that is not numpy's, and the message names what is missing."""
    with pytest.raises(DataError, match=said):
        monitor.evaluate(outcomes, scores)
