"""The rules that the detector is compared with: what they say, by plain computations."""

from math import inf

import numpy as np
import pytest
from scipy.stats import norm

from monitor.drift.curve.reference import fit_reference
from monitor.metrics.core.coarse import Coarse
from studies.drift.beside import delays, slope_z
from studies.drift.rules import _slope_p, pool
from studies.drift.worlds import Truth, World, stream

WORLD = World(0.3, 2_000)


def days_of(seed: int, number: int) -> list[Coarse]:
    """Draw days without a drift."""
    return [pool(day) for day in stream(WORLD, Truth(), seed, reference=number, days=0)]


def test_a_delay_counts_from_one_and_streams_on_alarm_are_left_out() -> None:
    """The first day of the drift is the 61st: found on it is 1, never is infinite."""
    found = np.zeros((4, 100))
    found[0, 60], found[1, 63], found[2, 59] = 2.0, 2.0, 2.0

    assert list(delays(list(found), 1.5)) == [1.0, 4.0, inf]


def test_the_z_test_of_one_day_is_the_usual_slope_test() -> None:
    """And that of seven days adds up scores and informations, those of the reference first."""
    days = days_of(4, 40)
    reference = fit_reference([{"all": day} for day in days[:28]])
    daily = slope_z(reference, days[:28], days[28:], 1)

    assert 2.0 * norm.sf(daily) == pytest.approx([_slope_p(reference, day) for day in days[28:]])
    assert slope_z(reference, days[:28], days[28:], 7).shape == (12,)
    merged = slope_z(reference, days[:28], [days[27]], 7)
    assert slope_z(reference, days[:21], days[21:28], 7)[-1] != merged[0]
    assert slope_z(reference, days[:27], [days[27]], 7)[0] == pytest.approx(
        slope_z(reference, days[:21], days[21:28], 7)[-1]
    )
