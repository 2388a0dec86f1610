"""Net benefit of acting at a threshold: against dcurves, and against a plain count."""

import json
from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.metrics.core.tally import Tally, tally
from monitor.metrics.scores.net_benefit import net_benefit
from tests.support.paths import GOLDEN

RECORDED = json.loads((GOLDEN / "net_benefit.json").read_text())
rows = st.lists(
    st.tuples(st.integers(0, 20).map(lambda k: k / 20), st.booleans()), min_size=1, max_size=60
)


def recorded() -> Tally:
    """Give the recorded data, whose scores are thousandths."""
    return tally(RECORDED["outcomes"], np.array(RECORDED["score_thousandths"]) / 1000)


@pytest.mark.parametrize("threshold", [*map(float, RECORDED["net_benefit"])])
def test_is_that_of_decision_curves(threshold: float) -> None:
    """The package dcurves, to 1e-9: both divide sums of at most 400 outcomes."""
    t, key = recorded(), str(threshold)
    always = Tally(np.array([1.0]), *(np.array([n]) for n in (t.total, t.total_positives)))

    assert net_benefit(t, threshold).value == pytest.approx(RECORDED["net_benefit"][key], abs=1e-9)
    assert net_benefit(always, threshold).value == pytest.approx(
        RECORDED["net_benefit_of_acting_always"][key], abs=1e-9
    )


@given(rows, st.integers(1, 19), st.floats(0.1, 10), st.floats(0, 10))
def test_is_what_rows_add_up_to(
    pairs: list[tuple[float, bool]], step: int, benefit: float, cost: float
) -> None:
    """The mean over rows and its standard error, to the rounding of sums of 60 numbers."""
    threshold = step / 20
    worth = [(benefit if y else -cost) if s >= threshold else 0.0 for s, y in pairs]
    estimate = net_benefit(
        tally([y for _, y in pairs], [s for s, _ in pairs]), threshold, benefit=benefit, cost=cost
    )

    assert estimate.value == pytest.approx(float(np.mean(worth)), abs=1e-12)
    if len(pairs) == 1:
        assert isnan(estimate.standard_error)
    else:
        error = float(np.std(worth, ddof=1)) / len(worth) ** 0.5
        assert estimate.standard_error == pytest.approx(error, abs=1e-9)
