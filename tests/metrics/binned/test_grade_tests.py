"""Tests of grades: against SciPy and statsmodels, and against sums of binomial probabilities."""

import json
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.metrics.binned.binning import uniform_bins
from monitor.metrics.binned.grade_tests import grade_tests
from monitor.metrics.core.tally import Tally, tally, tally_on_grid
from tests.support.paths import GOLDEN

GRADES = json.loads((GOLDEN / "profession_numbers.json").read_text())["grades"]


def one_grade(probability: float, count: int, positives: int) -> Tally:
    """Make a tally of one score."""
    return Tally(np.array([probability]), np.array([count]), np.array([positives]))


@pytest.mark.parametrize("grade", GRADES)
def test_are_those_of_other_programs(grade: dict[str, Any]) -> None:
    """To 1e-9: incomplete beta functions of the same numbers. At the ends, one end is sure."""
    count, positives = grade["count"], grade["positives"]
    (tested,) = grade_tests(one_grade(grade["probability"], count, positives))
    low, high = grade["jeffreys_interval"]

    assert tested.binomial_p == pytest.approx(grade["binomial_p"], abs=1e-9)
    assert tested.jeffreys_p == pytest.approx(grade["jeffreys_p"], abs=1e-9)
    assert tested.rate.low == pytest.approx(low if positives else 0.0, abs=1e-9)
    assert tested.rate.high == pytest.approx(high if positives < count else 1.0, abs=1e-9)


@given(st.integers(1, 30), st.data(), st.integers(1, 19).map(lambda k: k / 20))
def test_binomial_p_is_the_sum_of_its_tail(count: int, data: st.DataObject, q: float) -> None:
    """Every count from the observed one on; and the light follows it."""
    positives = data.draw(st.integers(0, count))
    tail = sum(comb(count, k) * q**k * (1 - q) ** (count - k) for k in range(positives, count + 1))
    (tested,) = grade_tests(one_grade(q, count, positives))

    assert tested.binomial_p == pytest.approx(tail, rel=1e-9)
    assert tested.light == ("red" if tail < 0.001 else "yellow" if tail < 0.05 else "green")


def test_grades_are_scores_or_bins() -> None:
    """A tally's distinct scores, on the grid too; bins as they were cut."""
    scores, outcomes = [0.01] * 40 + [0.02] * 30 + [0.3] * 10, [0] * 75 + [1] * 5
    for count in (tally, tally_on_grid):
        tested = grade_tests(count(outcomes, scores))
        assert [(g.count, g.positives) for g in tested] == [(40, 0), (30, 0), (10, 5)]
        assert [g.probability for g in tested] == pytest.approx([0.01, 0.02, 0.3], rel=1e-3)
    low, high = grade_tests(uniform_bins(tally(outcomes, scores), 4))
    assert (low.count, low.probability) == (70, pytest.approx(1.0 / 70))
    assert (high.count, high.positives) == (10, 5)
