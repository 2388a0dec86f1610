"""Columns of pandas with one index in different orders are refused by every function of rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from monitor import metrics

RNG = np.random.default_rng(3)
SCORES = RNG.random(60)
OUTCOMES = (RNG.random(60) < SCORES).astype(int)
VECTORS = np.column_stack([1.0 - SCORES, SCORES])
OF_ROWS: list[Callable[[Any, Any], object]] = [
    metrics.tally,
    metrics.brier,
    metrics.ece,
    metrics.auc,
    metrics.log_score,
    metrics.smooth_ece,
    metrics.fit_cox,
    lambda y, s: metrics.ece(metrics.uniform_bins(y, s, 10)),
]


@pytest.mark.parametrize("of_rows", OF_ROWS)
@pytest.mark.parametrize("kind", ["int64", "bool", "float64"])
def test_scores(of_rows: Callable[[Any, Any], object], kind: str) -> None:
    """Each outcome would meet the score of another row; arrays are taken by position."""
    outcomes, scores = pd.Series(OUTCOMES.astype(kind)), pd.Series(SCORES)
    mixed = scores[RNG.permutation(60)]

    with pytest.raises(ValueError, match="y_true and y_prob have one index in different orders"):
        of_rows(outcomes, mixed)
    assert repr(of_rows(outcomes, scores)) == repr(of_rows(OUTCOMES.astype(kind), SCORES))
    of_rows(outcomes, mixed.to_numpy())


def test_classes() -> None:
    """So are frames of probabilities."""
    labels, vectors = pd.Series(OUTCOMES), pd.DataFrame(VECTORS)

    for of_rows in (metrics.top_label_tally, metrics.classwise_tallies):
        with pytest.raises(ValueError, match="have one index in different orders"):
            of_rows(labels, vectors[::-1])
        of_rows(labels, vectors)


def test_arrays_of_pandas_with_a_missing_value() -> None:
    """They have a mask, too; the message says what is missing."""
    with pytest.raises(ValueError, match="first nan at row 1"):
        metrics.brier([0, 1], pd.array([0.2, None], dtype="Float64"))
