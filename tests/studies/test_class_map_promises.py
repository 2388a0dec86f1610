"""The study of what maps of class vectors gain: its worlds, its comparison, and its page."""

import pytest

from studies.maps.page import section
from studies.maps.vectors import MARKS, STREAMS, WORLDS, draw, follow


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
