"""The study of what maps promise: its worlds, its comparison, and its page."""

from studies.maps.page import section
from studies.maps.promises import (
    CURVES,
    MARKS,
    PLACES,
)


def test_the_page_has_a_row_for_each_curve_and_volume() -> None:
    """The table is that of the study as it is."""
    below = section(MARKS)

    for curve in CURVES:
        for place in PLACES:
            assert f"| {curve} | {place} |" in below
