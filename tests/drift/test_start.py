"""When a drift began: the interval holds the first day of steps and of ramps."""

from datetime import date

import numpy as np
import pytest

from monitor.drift.incidents.start import Start, start_of
from monitor.drift.records.day_evidence import SLOPES
from monitor.drift.records.detector import History
from tests.drift.test_history import MONDAY, chance, day
from tests.support.cases import some


@pytest.mark.parametrize(("effect", "error"), some([(0.2, 0.0), (0.4, 0.0), (0.4, 0.07)], 2))
def test_the_interval_of_the_start_holds_it_nine_times_of_ten(effect: float, error: float) -> None:
    """Steps of -0.1 to -0.4 after 20 to 120 days, watched until they are clear: 200 streams.

    An error of the reference shifts all days of a stream, before the step and after it.

    At least 84 % of the 90 % intervals hold the first day, which is 90 % less 2.8 standard errors
    of such a share; their lows are not before the first day, their highs not after the last.
    """
    rng = np.random.default_rng(4)
    held = 0
    for _ in range(200):
        begun, size = int(rng.integers(20, 120)), float(rng.uniform(0.1, 0.4))
        lasts = int(np.ceil(25.0 / (size**2 * 100.0)))  # to five standard errors
        slopes = chance(rng, begun + lasts, 100.0)
        slopes[begun:] -= size
        slopes += rng.normal(0.0, error)
        found = start_of(
            history_of_rows(slopes, 100.0),
            direction=0, sign=-1, day_variance=0.0, effect=effect, error=error,
        )  # fmt: skip
        assert MONDAY <= found.low <= found.day <= found.high <= day(slopes.size - 1)
        held += found.low <= day(begun) <= found.high

    assert held >= 0.84 * 200


def history_of_rows(slopes: np.ndarray, known: float) -> History:
    """Make the history of some days at once, none of them merged."""
    size = slopes.size
    informations = np.zeros((size, 4), np.float32)
    informations[:, 0] = known
    return History(
        MONDAY.toordinal() + np.arange(size),
        np.ones(size, np.int64),
        (slopes[:, None] * informations).astype(np.float32),
        informations,
        np.zeros((size, len(SLOPES)), np.float32),
        np.zeros((size, 4), np.float32),
    )


def found_start(slopes: np.ndarray, known: float = 100.0) -> Start:
    """Estimate the start of a slope that falls."""
    return start_of(
        history_of_rows(slopes, known),
        direction=0, sign=-1, day_variance=0.0, effect=0.2, error=0.03,
    )  # fmt: skip


def fallen(rng: np.random.Generator, begun: int, ramp: int, days: int, known: float) -> np.ndarray:
    """Draw days whose slope falls by 0.2 in so many days, from a day on."""
    share = np.clip((np.arange(days) - begun + 1) / ramp, 0.0, 1.0)
    return np.asarray(chance(rng, days, known) - 0.2 * share)


@pytest.mark.parametrize(("ramp", "watched"), some([(30, 30), (60, 45), (120, 80)], 2))
def test_the_start_of_a_ramp_is_told_with_an_interval_that_holds_it(
    ramp: int, watched: int
) -> None:
    """Seen clearly, nine ramps in ten are called gradual; the interval holds 8 of 10 beginnings.

    A step is dated by when the ramp was far enough: its interval holds fewer than a third.
    """
    rng = np.random.default_rng(ramp)
    starts = [
        (begun := int(rng.integers(20, 60)), fallen(rng, begun, ramp, begun + watched, 1_000.0))
        for _ in range(60)
    ]
    found = [(begun, found_start(slopes, 1_000.0)) for begun, slopes in starts]

    assert np.mean([start.gradual for _, start in found]) >= 0.9
    held = [start.low <= day(begun) <= start.high for begun, start in found]
    assert np.mean(held) >= 0.8


def test_a_step_is_not_called_gradual() -> None:
    """Fewer than one of twenty steps that are seen clearly, at any time after them."""
    rng = np.random.default_rng(5)

    found = [
        found_start(fallen(rng, 40, 1, 40 + watched, 400.0)).gradual
        for watched in (3, 7, 20, 60)
        for _ in range(30)
    ]

    assert np.mean(found) < 0.05


def likelihoods(slopes: np.ndarray, known: float, length: int) -> np.ndarray:
    """Weigh every day as the first of a ramp, one after the other, with plain sums."""
    effect, error, weights = 0.2, 0.03, []
    for first in range(slopes.size):
        grown = np.clip((np.arange(slopes.size) - first + 1) / length, 0.0, 1.0)
        of_error = known * grown.sum() / (known * slopes.size + error**-2)
        pull = -known * (grown @ slopes) + of_error * known * slopes.sum()
        left = known * (grown @ grown) - of_error * known * grown.sum()
        fit = max(pull, 0.0) ** 2 / (2.0 * (left + effect**-2))
        weights.append(np.exp(fit) / np.sqrt(1.0 + effect**2 * left))
    return np.array(weights)


def test_median_and_interval_are_those_of_steps_and_ramps_by_plain_sums() -> None:
    """Of 45 streams with and without ramps; without a clear ramp the median is that of a step."""
    rng = np.random.default_rng(6)
    kinds = []
    for ramp in (1, 20, 60):
        for _ in range(15):
            slopes = fallen(rng, int(rng.integers(10, 30)), ramp, 50, 100.0)
            found = found_start(slopes)
            step, *ramps = (likelihoods(slopes, 100.0, n) for n in (1, 15, 30, 60, 120, 240))
            gradually = np.mean(ramps, axis=0)
            gradual = gradually.sum() > 2.0 * step.sum()

            def quantile(weights: np.ndarray, share: float) -> date:
                return day(int(np.argmax(np.cumsum(weights) >= share * weights.sum())))

            either = step + gradually
            middle = quantile(either if gradual else step, 0.5)
            kinds.append(gradual)
            assert found == Start(middle, quantile(either, 0.05), quantile(either, 0.95), gradual)
            assert found.low <= found.day <= found.high

    assert 5 < sum(kinds) < 40
