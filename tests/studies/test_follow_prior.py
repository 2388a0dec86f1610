"""The study of levels that follow the prior: its worlds are what they say, and its page is told."""

from studies.maps.follow_prior import MARKS
from studies.maps.page import section
from studies.maps.worlds import WORLDS


def test_the_page_has_its_tables() -> None:
    """Every world and both models of the flights have a row below the mark."""
    below = section(MARKS)

    for name in (*WORLDS, "flights", "flights-stretched"):
        assert f"| {name} |" in below
