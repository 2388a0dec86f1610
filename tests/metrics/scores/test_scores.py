"""Brier score, log score, their bounds on calibration error and what injective maps change."""

import json
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from monitor.metrics.core.tally import Tally, tally
from monitor.metrics.scores.bounds import ScoringRule, calibration_bounds, improvement
from monitor.metrics.scores.brier import brier, rbs
from monitor.metrics.scores.log_score import log_score
from tests.support.cases import few_examples
from tests.support.paths import GOLDEN

SMALL = json.loads((GOLDEN / "score_measures.json").read_text())["datasets"]

rows = st.lists(
    st.tuples(st.floats(0, 1) | st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.booleans()),
    min_size=1,
    max_size=60,
)
inner_rows = st.lists(st.tuples(st.floats(0.001, 0.999), st.booleans()), min_size=1, max_size=60)


def recorded(name: str) -> Tally:
    """Give a recorded data set."""
    data = SMALL[name]
    return Tally(*(np.array(data[key]) for key in ("scores", "counts", "positives")))


def of(pairs: list[tuple[float, bool]]) -> Tally:
    """Tally pairs of score and outcome."""
    return tally([y for _, y in pairs], [s for s, _ in pairs])


@pytest.mark.parametrize("name", SMALL)
def test_scores_equal_other_programs(name: str) -> None:
    """Scikit-learn's Brier score and log loss and 60-digit sums, to 1e-12 relative."""
    t, data = recorded(name), SMALL[name]

    for source in (data["peers"], data["exact"]):
        assert brier(t) == pytest.approx(source["brier"], rel=1e-12)
        if "log_score" in source:
            assert log_score(t) == pytest.approx(source["log_score"], rel=1e-12)


@few_examples
@given(rows)
def test_scores_equal_their_formulas(pairs: list[tuple[float, bool]]) -> None:
    """Row by row sums give the same values; 60 rows, so a few roundings."""
    t = of(pairs)
    chances = [s if y else 1 - s for s, y in pairs]
    logs = [-math.log(s) if s > 0 else math.inf for s in chances]

    assert brier(t) == pytest.approx(sum((s - y) ** 2 for s, y in pairs) / t.total, rel=1e-13)
    assert rbs(t) == math.sqrt(brier(t))
    # 1 - s rounds a tiny s away, where log1p keeps it: 1e-16 a row.
    assert log_score(t) == pytest.approx(sum(logs) / t.total, rel=1e-13, abs=1e-15)


def test_wrong_certainty_is_infinitely_surprising() -> None:
    """A score of 0 or 1 costs nothing when right and everything when wrong."""
    assert log_score(tally([0, 1], [0.0, 1.0])) == 0.0
    assert math.copysign(1.0, log_score(tally([0, 1], [0.0, 1.0]))) == 1.0
    assert log_score(tally([1, 1], [0.0, 0.5])) == math.inf
    assert log_score(tally([1, 0], [0.5, 1.0])) == math.inf
    assert log_score(tally([0] * 9 + [1] * 9, [0.0] * 9 + [1.0] * 9)) == 0.0


@few_examples
@given(rows)
def test_bounds_are_the_scores(pairs: list[tuple[float, bool]]) -> None:
    """The bounds of Theorem 4.3 are the mean scores; their errors the textbook's."""
    t, bounds = of(pairs), calibration_bounds(of(pairs))

    assert bounds.root.value == rbs(t)
    assert bounds.squared.value == brier(t)
    assert bounds.divergence.value == log_score(t)
    if t.total == 1:
        assert math.isnan(bounds.squared.standard_error)
        return
    losses = [(s - y) ** 2 for s, y in pairs]
    error = np.std(losses, ddof=1) / math.sqrt(len(losses))
    assert bounds.squared.standard_error == pytest.approx(error, rel=1e-9, abs=1e-14)
    assert math.isnan(bounds.divergence.standard_error) == math.isinf(log_score(t))


@few_examples
@given(inner_rows, st.sampled_from(["brier", "log"]))
def test_improvement_pairs_predictions(pairs: list[tuple[float, bool]], rule: ScoringRule) -> None:
    """Its error is that of the mean difference; a decreasing map is injective too."""
    t = of(pairs)
    moved = 0.9 - 0.8 * t.scores
    assume(len(pairs) > 1 and np.unique(moved).size == moved.size)
    loss = {"brier": lambda s, y: (s - y) ** 2, "log": lambda s, y: -math.log(s if y else 1 - s)}[
        rule
    ]
    gains = [loss(s, y) - loss(0.9 - 0.8 * s, y) for s, y in pairs]

    found = improvement(t, moved, rule=rule)

    assert found.value == pytest.approx(np.mean(gains), abs=1e-13)
    error = np.std(gains, ddof=1) / math.sqrt(len(gains))
    assert found.standard_error == pytest.approx(error, rel=1e-9, abs=1e-14)


def test_improvement_of_infinite_scores() -> None:
    """A map may cure or cause an infinite log score; before and after at once has no change."""
    t = tally([1, 1], [0.0, 0.5])

    assert improvement(t, np.array([0.1, 0.5]), rule="log").value == math.inf
    assert math.isnan(improvement(t, np.array([0.1, 0.5]), rule="log").standard_error)
    assert improvement(tally([1, 1], [0.1, 0.5]), t.scores, rule="log").value == -math.inf
    with pytest.raises(ValueError, match=r"^the log score is infinite before and after"):
        improvement(t, np.array([0.0, 0.6]), rule="log")
    with pytest.raises(ValueError, match=r"^the log score is infinite before and after"):
        improvement(t, np.array([0.5, 0.0]), rule="log")
