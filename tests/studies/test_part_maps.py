"""The study of maps of parts: its world, its measure, and what its page shows."""

import numpy as np
import pytest

from monitor.metrics.core.tally import tally
from monitor.metrics.logistic.cox import fit_cox
from studies.maps.page import section
from studies.maps.parts import MARKS, REFERENCE, SLOPE, World, draw, follow, gains


def test_one_segment_is_off_from_a_day_on() -> None:
    """Its outcomes have the slope of the study after the reference, and 1 before it."""
    world = draw(10, np.random.default_rng(3))
    drifting = world.segments == world.drifting
    slopes = []
    for rows in (world.days < REFERENCE, world.days >= REFERENCE):
        kept = rows & drifting
        slopes.append(fit_cox(tally(world.outcomes[kept], world.scores[kept])).slope)

    # A prior that wanders makes a pooled slope a little flatter.
    assert slopes == pytest.approx([1.0, SLOPE], abs=0.08)


def test_gains_are_means_of_logarithms_by_part() -> None:
    """Two rows of the part and one of the rest."""
    rows = World(np.full(3, 0.5), np.array([1, 1, 0]), np.array([1, 0, 1]), np.zeros(3, int), 1)

    found = gains(rows, np.array([0.8, 0.6, 0.4]))

    expected = 500.0 * (np.log(1.6) + np.log(0.8)), 1000.0 * np.log(0.8)
    assert found == pytest.approx(expected)


def test_a_map_of_the_part_leaves_the_rest_as_it_is() -> None:
    """In a stream in which a map of all harms the rest: more in the part, and nothing lost."""
    found = follow(2, 3, None)

    assert found["the part"][0] > found["all"][0]
    assert found["the part"][1] == 0.0
    assert found["all"][1] < 0.0


def test_the_page_keeps_the_promise() -> None:
    """In no stream the rest loses 0.0005 nats by the map of the part."""
    rows = [line.split("|")[1:-1] for line in section(MARKS).splitlines()]
    worst = [float(row[4]) for row in rows if len(row) == 5 and row[1].strip() == "the part"]

    assert len(worst) == 3
    assert min(worst) >= -0.5
