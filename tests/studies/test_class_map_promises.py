"""The study of what maps of class vectors gain: its worlds, its comparison, and its page."""

import numpy as np
import pytest

from monitor.metrics.maps.class_choosing import vector_losses_by_day
from monitor.metrics.maps.vector_map import VectorMap
from studies.maps.page import section
from studies.maps.vectors import MARKS, STREAMS, WORLDS, draw, follow, truth


@pytest.mark.parametrize("world", WORLDS)
def test_the_truth_of_a_world_loses_least(world: str) -> None:
    """5,600 rows of the drawn classes are likelier by the map of the world than by its scores.

    But for the priors, which wander, the truth has the least loss; its neighbours have more.
    """
    rows = draw(world, 3, 1)
    matrix = truth(world, np.eye(3)).T  # its columns are what each logarithm adds

    def loss(found: np.ndarray) -> float:
        parameters = tuple(found.ravel())
        level = (0.0, 0.0, 0.0)
        return float(
            vector_losses_by_day(rows, VectorMap("dirichlet", rows.classes, level, parameters))[
                0
            ].sum()
        )

    assert loss(matrix) < loss(matrix * 1.4)
    assert loss(matrix) < loss(matrix * 0.7)
    assert (loss(matrix) < loss(np.eye(3)) - 20.0) == (world != "sound")


def test_the_rule_proposes_a_temperature_and_nothing_on_sound_days() -> None:
    """As much as temperature scaling gains, and no map without a distortion."""
    flat, sound = (follow(draw(world, 3, 1)) for world in ("temperature 0.7", "sound"))

    assert flat.kind == "temperature"
    assert flat.gains["proposed"] == flat.gains["temperature"] > 0.01
    # Both know the temperature to two hundredths, which costs less than a thousandth of a nat.
    assert flat.gains["temperature"] == pytest.approx(flat.gains["scaling"], abs=1e-3)
    assert sound.kind == "identity"
    assert sound.gains["proposed"] == 0.0


def test_the_page_has_a_row_for_each_world_and_number_of_classes() -> None:
    """The table is that of the study as it is."""
    below = section(MARKS)

    for world in WORLDS:
        for count in STREAMS:
            assert below.count(f"| {world} | {count} |") == 1
