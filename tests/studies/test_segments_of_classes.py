"""The study of segments of classes: its best test, and streams that are kept."""

import json
from math import log
from pathlib import Path

import pytest

from studies.classes.segments import WORLDS, days_of_best_test, kept_openings, known_ratios


def test_the_best_test_sums_over_all_starts() -> None:
    """10, then (10 + 1) x 10: of odds times ten a day, a limit of 100 is reached on the second."""
    assert days_of_best_test([log(10.0)] * 3, 100.0) == [2]
    assert days_of_best_test([log(0.1)] * 3, 100.0) == []


def test_ratios_gain_half_the_information_times_the_change_squared() -> None:
    """A slope of 0.8 against 1: the sum of 20 days, within three of its standard deviations."""
    ratios, informations = known_ratios(WORLDS[0], 0)
    expected = 0.5 * 0.2**2 * sum(informations)

    assert len(ratios) == len(informations) == 20
    # The variance of such a ratio is twice its mean; its curvature adds a few per cent.
    assert sum(ratios) == pytest.approx(expected, abs=3.0 * (2.0 * expected) ** 0.5)


def test_what_opened_in_a_stream_is_kept(tmp_path: Path) -> None:
    """A stream that is kept is not drawn again."""
    found = [(3, "small")]

    assert kept_openings(tmp_path, "calibrated drift 1", lambda: found) == found
    assert json.loads((tmp_path / "calibrated drift 1.json").read_text()) == [[3, "small"]]
    assert kept_openings(tmp_path, "calibrated drift 1", list) == found
    assert kept_openings(None, "calibrated drift 1", list) == []
