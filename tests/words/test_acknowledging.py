"""What is said of drifts that somebody has taken for long."""

import random
from datetime import UTC, date, datetime, timedelta

import pytest

from monitor.days.decisions import Acknowledgement
from monitor.words.acknowledging import long_taken


@pytest.mark.parametrize("seed", range(20))
def test_each_check_reminds_of_what_is_taken_for_more_than_a_month(seed: int) -> None:
    """From the first day to the last, with the days that are left; never of 31 days or fewer."""
    draw = random.Random(seed)  # noqa: S311 - dates for a test
    at = datetime(2026, 3, 1, 12, tzinfo=UTC) + timedelta(days=draw.randint(0, 300))
    lasts, passed = draw.choice([1, 30, 31, 32, 33, 100, 366]), draw.randint(0, 400)
    until, today = (at.date() + timedelta(days=days) for days in (lasts, passed))
    taken = Acknowledgement(1, at, "Ana", "why", draw.choice(["all", "DE"]), date.min, until)
    said = long_taken(taken, today)

    assert (said is not None) == (lasts > 31 and passed <= lasts)
    assert said is None or f"until {until}, for {lasts - passed:,} more days" in said
