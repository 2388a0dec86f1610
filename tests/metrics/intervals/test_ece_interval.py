"""The measures that ECE's interval resamples: fast, and the same as the plain ones."""

import numpy as np
import pytest
from scipy.special import expit

from monitor.metrics.binned.binning import monitor_sizes, pava_bc
from monitor.metrics.binned.ece import ece
from monitor.metrics.core.tally import Tally, shift, tally
from monitor.metrics.intervals.ece_interval import forgiven_ece, pava_bc_ece
from monitor.metrics.logistic.intercept import fit_intercept

EDGES = [0.0, 0.0, 1.0, 1.0]  # scores that no shift moves, and outcomes that contradict them


def plain(t: Tally) -> float:
    """Take ECE over the bins of the monitor, step by step."""
    smallest, largest = monitor_sizes(t.total)
    return ece(pava_bc(t, min_size=smallest, max_size=largest))


@pytest.mark.parametrize("delta", [0.0, 0.3, -4.0])  # near, and too far for the short way
@pytest.mark.parametrize("edges", [[], EDGES])
@pytest.mark.parametrize("rows", [400, 3_000])
def test_measures_equal_their_steps(rows: int, edges: list[float], delta: float) -> None:
    """Bins and intercept found in one compiled pass give what the separate functions give.

    To 1e-10: the intercept is good to 1e-12, sums are added in another order.
    """
    rng = np.random.default_rng(rows)
    logits = rng.normal(0.0, 1.0, rows)
    outcomes = [*(rng.random(rows) < expit(logits + delta)), *([0, 1, 0, 1] if edges else [])]
    t = tally(outcomes, [*expit(logits), *edges])

    assert pava_bc_ece(t) == pytest.approx(plain(t), rel=1e-12)
    expected = plain(shift(t, fit_intercept(t).delta))
    assert forgiven_ece(t) == pytest.approx(expected, abs=1e-10)


def test_one_class_is_forgiven_all() -> None:
    """Without a finite intercept nothing is left; as scored, the error is the mean score."""
    t = tally([0] * 50, [0.25] * 50)

    assert forgiven_ece(t) == 0.0
    assert pava_bc_ece(t) == 0.25
