"""The study of what maps of class vectors gain: its worlds, its comparison, and its page."""

from studies.maps.page import section
from studies.maps.vectors import MARKS, STREAMS, WORLDS


def test_the_page_has_a_row_for_each_world_and_number_of_classes() -> None:
    """The table is that of the study as it is."""
    below = section(MARKS)

    for world in WORLDS:
        for count in STREAMS:
            assert below.count(f"| {world} | {count} |") == 1
