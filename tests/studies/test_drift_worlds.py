"""The worlds of the study of the verdict are what their names say."""

import numpy as np
import pytest

from studies.drift import parts, worlds
from studies.drift.parts import Part
from studies.drift.rough import bent, normal_scores
from studies.drift.scenario import SOUND
from studies.drift.scenarios import SCENARIOS
from studies.drift.worlds import Truth


@pytest.mark.parametrize("prior", [-1.0, 0.7, 2.0])
def test_prior_shift_keeps_scores_given_outcomes(prior: float) -> None:
    """P(s | y) is the same under any prior, for positive outcomes and for negative ones."""
    part = bent(normal_scores(-3.0), 0.9)
    (rows, right), (moved, shifted) = (parts.expect(part, 1e4, d, 0.0) for d in (0.0, prior))

    for before, after in (
        (rows * right, moved * shifted),
        (rows * (1 - right), moved * (1 - shifted)),
    ):
        np.testing.assert_allclose(before / before.sum(), after / after.sum(), atol=1e-14)
    assert moved.sum() == pytest.approx(1e4)


def test_every_world_says_what_it_is_for() -> None:
    """Rough worlds say what they test, have a goal, and no two share a name."""
    rougher = [s for s in SCENARIOS.values() if s.group == "rough"]

    assert len(rougher) >= 25
    assert all(s.tests and s.goal is not None for s in rougher)
    assert {s.name for s in rougher if s.outside} == {
        "campaigns of 7 days",
        "slope wanders",
        "hidden groups, priors apart",
    }
    assert all(set(s.drifts) <= set(worlds.DRIFTS) for s in SCENARIOS.values())
    assert Truth() == SOUND
    assert isinstance(normal_scores(0.0), Part)
