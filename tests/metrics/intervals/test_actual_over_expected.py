"""Actual over expected: against other programs, and against a plain count."""

import json
from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.metrics.binned.binning import quantile_bins, uniform_bins
from monitor.metrics.core.tally import tally
from monitor.metrics.intervals.actual_over_expected import (
    actual_over_expected,
    actual_over_expected_by_bin,
)
from tests.support.paths import GOLDEN

ROWS = json.loads((GOLDEN / "net_benefit.json").read_text())
RECORDED = json.loads((GOLDEN / "profession_numbers.json").read_text())
SCORES, OUTCOMES = np.array(ROWS["score_thousandths"]) / 1000, np.array(ROWS["outcomes"])
rows = st.lists(
    st.tuples(st.integers(0, 20).map(lambda k: k / 20), st.booleans()), min_size=1, max_size=60
).filter(lambda pairs: any(score for score, _ in pairs))


def test_is_one_over_the_bias_of_scores() -> None:
    """The package scores, to 1e-9: both add 400 scores."""
    ratio = actual_over_expected(tally(OUTCOMES, SCORES)).value

    assert ratio == pytest.approx(1.0 / RECORDED["multiplicative_bias"], abs=1e-9)


def test_deciles_are_those_of_scikit_learn() -> None:
    """On scores that are all different, in a multiple of ten, to 1e-9."""
    kept = np.unique(SCORES, return_index=True)[1][: RECORDED["decile_rows"]]
    ratios = actual_over_expected_by_bin(quantile_bins(tally(OUTCOMES[kept], SCORES[kept]), 10))

    assert [ratio.value for ratio in ratios] == pytest.approx(RECORDED["deciles"], abs=1e-9)


@given(rows)
def test_is_what_rows_say(pairs: list[tuple[float, bool]]) -> None:
    """Sums over rows, to the rounding of 60 numbers; one bin holds the same ratio."""
    t = tally([y for _, y in pairs], [s for s, _ in pairs])
    whole, (of_bin,) = actual_over_expected(t), actual_over_expected_by_bin(uniform_bins(t, 1))

    assert whole.value == pytest.approx(sum(y for _, y in pairs) / sum(s for s, _ in pairs))
    assert of_bin.value == pytest.approx(whole.value)
    assert 0.0 <= whole.low <= whole.value <= whole.high


def test_without_a_positive_there_is_an_upper_end() -> None:
    """No outcome in 100 at a tenth: the rate may still be as high as Wilson's end."""
    ratio = actual_over_expected(tally([0] * 100, [0.1] * 100))

    assert (ratio.value, ratio.low) == (0.0, 0.0)
    assert ratio.high == pytest.approx(0.36995, abs=1e-4)


def test_refuses_what_expects_nothing() -> None:
    """An empty sample, and scores that are all 0; a bin of them has no ratio."""
    for scores in ([], [0.0, 0.0]):
        with pytest.raises(ValueError, match="no outcome is expected"):
            actual_over_expected(tally([0] * len(scores), scores))
    (first, _) = actual_over_expected_by_bin(quantile_bins(tally([0, 1], [0.0, 0.9]), 2))
    assert isnan(first.value)
