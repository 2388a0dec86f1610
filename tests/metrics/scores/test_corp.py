"""CORP decomposition against another program, scikit-learn's isotonic fit and its invariants."""

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from monitor.metrics.core.tally import Tally, tally
from monitor.metrics.scores.bounds import ScoringRule
from monitor.metrics.scores.brier import brier
from monitor.metrics.scores.corp import corp
from monitor.metrics.scores.log_score import log_score
from tests.support.cases import few_examples
from tests.support.paths import GOLDEN

SMALL = json.loads((GOLDEN / "score_measures.json").read_text())["datasets"]
RULES: list[ScoringRule] = ["brier", "log"]
PARTS = {
    "miscalibration": ("miscalibration", "mcb"),
    "discrimination": ("discrimination", "dsc"),
    "uncertainty": ("uncertainty", "unc"),
    "score": ("score", "score"),
}

rows = st.lists(
    st.tuples(st.floats(0, 1) | st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.booleans()),
    min_size=1,
    max_size=60,
)


def assert_parts(t: Tally, rule: ScoringRule, expected: dict[str, Any]) -> None:
    """Compare all four parts with another program's, to 1e-12."""
    found = corp(t, rule=rule)
    for ours, names in PARTS.items():
        theirs = next(float(expected[name]) for name in names if name in expected)
        assert getattr(found, ours) == pytest.approx(theirs, abs=1e-12), ours


def of(pairs: list[tuple[float, bool]]) -> Tally:
    """Tally pairs of score and outcome."""
    return tally([y for _, y in pairs], [s for s, _ in pairs])


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("rule", RULES)
def test_corp_equals_model_diagnostics(name: str, rule: ScoringRule) -> None:
    """The same four parts, to 1e-12."""
    data = SMALL[name]
    t = Tally(*(np.array(data[key]) for key in ("scores", "counts", "positives")))
    expected = (
        data["peers"].get(f"corp_{rule}") or data["recorded"]["corp_logloss"]["model_diagnostics"]
    )

    assert_parts(t, rule, expected)


@few_examples
@given(rows)
def test_corp_equals_its_definition(pairs: list[tuple[float, bool]]) -> None:
    """Score minus score of scikit-learn's isotonic fit, row by row."""
    scores, outcomes = np.array([s for s, _ in pairs]), np.array([float(y) for _, y in pairs])
    fitted = IsotonicRegression().fit(scores, outcomes).predict(scores)
    best, constant = np.mean((fitted - outcomes) ** 2), np.var(outcomes)

    found = corp(of(pairs))

    # Scikit-learn interpolates between thresholds that differ by 1e-300 or less badly.
    if np.diff(np.unique(scores)).min(initial=1.0) > 1e-9:
        assert found.miscalibration == pytest.approx(brier(of(pairs)) - best, abs=1e-13)
        assert found.discrimination == pytest.approx(constant - best, abs=1e-13)
    assert found.uncertainty == pytest.approx(constant, abs=1e-15)


@few_examples
@given(rows, st.sampled_from(RULES))
def test_parts_add_up_and_are_not_negative(
    pairs: list[tuple[float, bool]], rule: ScoringRule
) -> None:
    """Score = MCB - DSC + UNC to rounding; MCB, DSC and UNC at least 0, DSC at most UNC."""
    t = of(pairs)
    found = corp(t, rule=rule)

    assert found.score == {"brier": brier, "log": log_score}[rule](t)
    assert found.miscalibration >= 0.0
    assert 0.0 <= found.discrimination <= found.uncertainty
    parts = found.miscalibration - found.discrimination + found.uncertainty
    # Three roundings of numbers up to the score.
    assert parts == pytest.approx(found.score, rel=4e-16, abs=4e-16)


def test_one_class_and_wrong_certainty() -> None:
    """One class leaves nothing to discriminate; a wrong certainty is infinite miscalibration."""
    one_class = corp(tally([1, 1], [0.2, 0.7]), rule="log")
    wrong = corp(tally([1, 0, 1], [0.0, 0.4, 0.7]), rule="log")

    assert (one_class.discrimination, one_class.uncertainty) == (0.0, 0.0)
    assert (wrong.score, wrong.miscalibration) == (math.inf, math.inf)
    assert math.isfinite(wrong.discrimination)
