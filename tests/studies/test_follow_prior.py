"""The study of levels that follow the prior: its worlds are what they say, and its page is told."""

import numpy as np
import pytest
from scipy.special import expit, logit

from monitor.metrics.core.tally import merge
from monitor.metrics.maps.daily_counts import daily_counts
from monitor.metrics.maps.fitting import fit_calibration_map
from studies.maps.follow_prior import MARKS, RULES, losses
from studies.maps.page import section
from studies.maps.worlds import SLOPE, WORLDS, World, draw_days


def rules(world: World) -> dict[str, float]:
    """Give the losses of one short stream."""
    days = draw_days(world, 0.3, 4_000, (8, 8), np.random.default_rng(1))
    return losses(days, 8, 2)


def test_the_slope_is_the_one_that_the_worlds_say() -> None:
    """Whatever moves, outcomes have slope 0.7 on the scores once each day has its level."""
    for seed, world in enumerate(WORLDS.values()):
        days = draw_days(world, 0.2, 8_000, (10, 10), np.random.default_rng(seed))
        found = fit_calibration_map(daily_counts(days), "platt").map

        assert found.parameters[0] == pytest.approx(SLOPE, abs=0.03)  # 4 standard errors


def test_a_step_of_the_prior_moves_outcomes_and_keeps_classes() -> None:
    """The prevalence takes the step; the mean logit of the positives stays."""
    days = draw_days(World(step=1.0), 0.3, 50_000, (1, 1), np.random.default_rng(2))
    before, after = days

    assert after.prevalence == pytest.approx(expit(logit(0.3) + 1.0), abs=0.01)
    means = [(t.positives @ logit(t.scores)) / t.total_positives for t in (before, after)]
    assert means[0] == pytest.approx(means[1], abs=0.05)  # 3 standard errors
    assert merge(days).total == 100_000


def test_following_helps_and_harms_as_the_page_says() -> None:
    """Scores find a step of the prior; if the inputs move, they mislead."""
    step, inputs = rules(World(step=1.0)), rules(World(inputs=0.6))

    assert tuple(step) == RULES
    assert step["best level"] < step["follow scores"] < step["follow outcomes"]
    assert step["follow outcomes"] < step["fixed level"]
    assert inputs["follow scores"] > inputs["fixed level"] + 0.002


def test_the_page_has_its_tables() -> None:
    """Every world and both models of the flights have a row below the mark."""
    below = section(MARKS)

    for name in (*WORLDS, "flights", "flights-stretched"):
        assert f"| {name} |" in below
