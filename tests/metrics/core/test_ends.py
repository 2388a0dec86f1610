"""Scores that rounding left beyond 0 or 1 are that end, in every function that takes rows."""

import numpy as np
import pytest

import monitor.metrics as m
from monitor.metrics.core.grid import END_TOLERANCE
from tests.support.cases import some

MEASURES = [
    lambda y, s: m.brier((y, s)),
    lambda y, s: m.log_score((y, s)),
    lambda y, s: m.ece(m.uniform_bins((y, s), 10)),
    lambda y, s: m.ece(m.quantile_bins((y, s), 10)),
    lambda y, s: m.spiegelhalter((y, s)),
    lambda y, s: m.tally(y, s).scores.tolist(),
]


@pytest.mark.parametrize("seed", some(range(9), 3))
def test_they_count_as_the_end(seed: int) -> None:
    """Averages of float32 softmaxes give 1.0000001, and fastText gives 1.00001."""
    rng = np.random.default_rng(seed)
    scores = rng.random(200)
    outcomes = (rng.random(200) < scores).astype(int)
    odd, size = rng.permutation(200)[:20], rng.uniform(0, END_TOLERANCE, 20)
    ones = rng.random(20) < 0.5
    scores[odd], outcomes[odd] = np.where(ones, 1.0, 0.0), ones
    beyond = scores.copy()
    beyond[odd] += np.where(ones, size, -size)
    assert beyond.max() > 1.0 or beyond.min() < 0.0

    for measure in MEASURES:
        assert repr(measure(outcomes, beyond)) == repr(measure(outcomes, scores))


def test_of_classes() -> None:
    """So are the probabilities of classes, whose sums may be off as little."""
    labels = [0, 1, 2]
    right = [[1.0, 0.0, 0.0], [0.2, 0.5, 0.3], [0.0, 0.0, 1.0]]
    beyond = [[1.0000001, -1e-7, 0.0], [0.2, 0.5, 0.3], [-1e-9, 0.0, 1.0]]

    for tallies in (lambda *rows: [m.top_label_tally(*rows)], m.classwise_tallies):
        of_beyond, of_right = tallies(labels, beyond), tallies(labels, right)
        for ours, theirs in zip(of_beyond, of_right, strict=True):
            assert ours.scores.tolist() == theirs.scores.tolist()
            assert ours.positives.tolist() == theirs.positives.tolist()
