"""Skill against climatology: against scikit-learn, and against a plain count."""

import json

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from monitor.metrics.core.tally import tally
from monitor.metrics.scores.brier_skill import brier_skill
from tests.support.paths import GOLDEN

ROWS = json.loads((GOLDEN / "net_benefit.json").read_text())
RECORDED = json.loads((GOLDEN / "profession_numbers.json").read_text())
rows = st.lists(
    st.tuples(st.integers(0, 20).map(lambda k: k / 20), st.booleans()), min_size=2, max_size=60
)


def test_is_that_of_scikit_learn() -> None:
    """Its d2_brier_score, to 1e-9: both average 400 losses."""
    t = tally(ROWS["outcomes"], np.array(ROWS["score_thousandths"]) / 1000)

    assert brier_skill(t).value == pytest.approx(RECORDED["d2_brier_score"], abs=1e-9)


@given(rows, st.none() | st.floats(0.05, 0.95))
def test_is_what_rows_say(pairs: list[tuple[float, bool]], climatology: float | None) -> None:
    """Losses row by row, and the error of their ratio, to the rounding of 60 numbers."""
    s, y = (np.array(column, float) for column in zip(*pairs, strict=True))
    constant = y.mean() if climatology is None else climatology
    assume(0.0 < constant < 1.0)
    lost, by_constant = (s - y) ** 2, (constant - y) ** 2
    ratio = lost.mean() / by_constant.mean()
    spread = np.sum((lost - ratio * by_constant) ** 2) / (len(pairs) - 1)
    skill = brier_skill(tally(y, s), climatology=climatology)

    assert skill.value == pytest.approx(1.0 - ratio, abs=1e-12)
    error = (spread / len(pairs)) ** 0.5 / by_constant.mean()
    assert skill.standard_error == pytest.approx(error, rel=1e-9, abs=1e-12)
