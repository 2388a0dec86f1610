"""The study of where a drift sits: its worlds are what their names say, its searches search."""

from dataclasses import replace

import numpy as np

from studies.where.searches import chi_squared_search, discoveries
from studies.where.worlds import WORLDS, draw_day


def test_a_chi_squared_test_flags_the_prior_of_a_day() -> None:
    """At most one in 500 where the scores are right; one in ten where the prior is another one."""
    sound, moved = (
        draw_day(np.random.default_rng(3), world, drifted=False)
        for world in (WORLDS[1], replace(WORLDS[1], prior_sd=1.0))
    )

    assert len(chi_squared_search([sound])) <= 1
    assert len(chi_squared_search([moved])) > 50


def test_discoveries_are_those_of_benjamini_and_hochberg() -> None:
    """The largest rank whose p-value is below its share of 5 % decides."""
    p_values = {("c", f"v{i}"): p for i, p in enumerate((0.001, 0.021, 0.026, 0.9))}

    assert discoveries(p_values) == {("c", "v0"), ("c", "v1"), ("c", "v2")}
