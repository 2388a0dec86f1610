"""The study of what maps promise: its worlds, its comparison, and its page."""

import numpy as np
import pytest
from scipy.special import logit

from studies.maps.page import section
from studies.maps.promises import (
    CURVES,
    MARKS,
    PLACES,
    draw,
    fit_scikit_learn,
    follow,
    gain_of_rows,
)


def test_the_curve_is_the_truth_about_the_scores() -> None:
    """In 200,000 rows of low scores with slope 0.5, the mean outcome is that of the curve.

    The prior of the first day is taken out by comparing both halves of the curve.
    """
    scores, outcomes = draw(CURVES["low end"], 0.5, 20_000, np.random.default_rng(1))
    x, y = logit(np.concatenate(scores)), np.concatenate(outcomes)

    def rate(low: float) -> float:
        return float(logit(y[(x > low) & (x < low + 0.2)].mean()))

    # The prior averages out over days but for the curvature of the logistic function.
    assert rate(-1.1) - rate(-2.1) == pytest.approx(0.5, abs=0.06)
    assert rate(1.9) - rate(0.9) == pytest.approx(1.0, abs=0.06)


def test_the_gain_of_rows_is_the_mean_of_logarithms() -> None:
    """Two rows: one moves from 0.5 to 0.8 and comes true, one from 0.5 to 0.6 and does not."""
    found = gain_of_rows([np.array([0.5, 0.5])], [np.array([True, False])], np.array([0.8, 0.6]))

    assert found == pytest.approx((np.log(1.6) + np.log(0.8)) / 2.0)


def test_a_clear_slope_is_proposed_and_nothing_on_sound_days() -> None:
    """A line for slope 0.6, with a gain like that of scikit-learn; no map without a distortion."""
    steep, sound = (
        follow(CURVES[name], 0.5, 2_000, 1, fit_scikit_learn) for name in ("slope 0.6", "sound")
    )

    assert steep.kind in ("platt", "beta")
    assert steep.ours > 0.005
    assert steep.ours > max(steep.theirs.values()) - 0.002
    assert sound.kind == "identity"
    assert sound.ours == 0.0


def test_the_page_has_a_row_for_each_curve_and_volume() -> None:
    """The table is that of the study as it is."""
    below = section(MARKS)

    for curve in CURVES:
        for place in PLACES:
            assert f"| {curve} | {place} |" in below
