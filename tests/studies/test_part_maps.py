"""The study of maps of parts: its world, its measure, and what its page shows."""

from studies.maps.page import section
from studies.maps.parts import MARKS


def test_the_page_keeps_the_promise() -> None:
    """In no stream the rest loses 0.0005 nats by the map of the part."""
    rows = [line.split("|")[1:-1] for line in section(MARKS).splitlines()]
    worst = [float(row[4]) for row in rows if len(row) == 5 and row[1].strip() == "the part"]

    assert len(worst) == 3
    assert min(worst) >= -0.5
