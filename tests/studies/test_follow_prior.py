"""The study of levels that follow the prior: its worlds are what they say, and its page is told."""

import numpy as np

from studies.maps.follow_prior import MARKS, RULES, losses
from studies.maps.page import section
from studies.maps.worlds import WORLDS, World, draw_days


def rules(world: World) -> dict[str, float]:
    """Give the losses of one short stream."""
    days = draw_days(world, 0.3, 4_000, (8, 8), np.random.default_rng(1))
    return losses(days, 8, 2)


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
