"""Which map is chosen, what it gains, and when none is worth it."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import expit

from monitor.metrics.core.tally import Tally, tally_on_grid
from monitor.metrics.maps.calibration_map import IDENTITY
from monitor.metrics.maps.choosing import CLEAR, choose_map, losses_by_day
from monitor.metrics.maps.daily_counts import DailyCounts, daily_counts
from monitor.metrics.maps.fitting import fit_calibration_map
from monitor.metrics.maps.mean_over_days import mean_over_days

Shape = Callable[[np.ndarray], np.ndarray]


def calibrated(x: np.ndarray) -> np.ndarray:
    """Leave the logits as they are."""
    return x


def too_extreme(x: np.ndarray) -> np.ndarray:
    """Shrink the logits."""
    return 0.7 * x


def bent(x: np.ndarray) -> np.ndarray:
    """Follow a beta calibration."""
    return -0.5 * np.logaddexp(0.0, -x) + 1.6 * np.logaddexp(0.0, x)


def waved(x: np.ndarray) -> np.ndarray:
    """Rise in a wave."""
    return x + 0.5 * np.sin(1.5 * x)


def days(shape: Shape, level: float = 0.0, number: int = 21, seed: int = 1) -> list[Tally]:
    """Draw days of 2,000 predictions whose prior varies with a standard deviation of 0.2."""
    rng, found = np.random.default_rng(seed), []
    for prior in rng.normal(level, 0.2, number):
        x = rng.normal(-1.0, 1.2, 2_000)
        found.append(tally_on_grid(rng.random(2_000) < expit(shape(x) + prior), expit(x)))
    return found


@pytest.mark.parametrize(
    ("shape", "level", "kinds", "worth_it"),
    [
        (calibrated, 0.0, {"identity"}, False),
        (calibrated, 1.0, {"intercept"}, True),
        (too_extreme, 0.0, {"platt"}, True),
        (bent, 0.0, {"beta"}, True),
        (waved, 0.0, {"spline"}, True),
    ],
)
def test_the_right_family_is_chosen(
    shape: Shape, level: float, kinds: set[str], *, worth_it: bool
) -> None:
    """21 days of 2,000 predictions are enough for clear cases."""
    found = choose_map(daily_counts(days(shape, level)))

    assert found.chosen.kind in kinds
    assert found.worth_it is worth_it


def test_an_intercept_is_chosen_where_no_shape_is_clear() -> None:
    """Ten days know that the odds are e times as high, but not a slope of 0.98."""
    found = choose_map(daily_counts(days(lambda x: 0.98 * x, level=1.0, number=10, seed=5)))

    assert found.best.kind == "platt"
    assert not found.best.shape_gains
    assert (found.chosen.kind, found.worth_it) == ("intercept", True)


def test_gains_are_those_of_days_left_out() -> None:
    """With one day a block, the gain is that of maps fitted to all other days."""
    data = daily_counts(days(too_extreme, number=6))
    gains = []
    for day in range(6):
        out = data.take([day])
        rest = data.take([d for d in range(6) if d != day])
        fitted = fit_calibration_map(rest, "platt", shrink_level=True).map
        gains.append(losses_by_day(out, IDENTITY)[0] - losses_by_day(out, fitted)[0])

    (platt,) = (c for c in choose_map(data).candidates if c.kind == "platt")

    assert platt.log_loss.value == pytest.approx(np.sum(gains) / data.counts.sum(), rel=1e-9)
    assert platt.fitted == fit_calibration_map(data, "platt", shrink_level=True)
    assert platt.level.value + platt.shape.value == pytest.approx(platt.log_loss.value, rel=1e-9)


def test_it_says_how_long_it_takes() -> None:
    """The error falls with the root of the days, so that many more make the gain clear."""
    weak = choose_map(daily_counts(days(lambda x: 0.94 * x, number=8, seed=5)))
    gain, more = weak.best.shape, weak.days_to_settle
    clear = CLEAR * gain.standard_error

    assert not weak.worth_it
    assert more is not None
    assert 0 < more < 400
    assert clear * (8 / (8 + more)) ** 0.5 <= gain.value < clear * (8 / (7 + more)) ** 0.5


@pytest.mark.parametrize(
    ("positives", "number", "kind", "message"),
    [
        (1.0, 9, None, "9 outcomes of the rarer kind on 9 days, too few for a map"),
        (40.0, 3, None, "120 outcomes of the rarer kind on 3 days"),
        (6.0, 9, "isotonic", r"too few for a map of the kind isotonic; .* identity, .*, beta"),
    ],
)
def test_too_little_is_refused(
    positives: float, number: int, kind: str | None, message: str
) -> None:
    """With fewer than ten outcomes for each term, or four spans of days, nothing is fitted."""
    counts = np.full((number, 2), 500.0)
    data = DailyCounts(np.array([-1.0, 1.0]), counts, counts * 0 + positives / 2)

    with pytest.raises(ValueError, match=message):
        choose_map(data, kind)


@pytest.mark.parametrize("memory", [0.0, 0.6])
def test_interval_holds_the_gain_of_days_to_come(memory: float) -> None:
    """For independent and for correlated days, nine intervals of ten or more hold it."""
    rng, days, held, tries = np.random.default_rng(8), 25, 0, 400
    for _ in range(tries):
        noise = rng.normal(size=2 * days)
        gains = np.empty(2 * days)
        gains[0] = noise[0]
        for t in range(1, 2 * days):
            gains[t] = memory * gains[t - 1] + np.sqrt(1 - memory**2) * noise[t]
        found = mean_over_days(gains[:days], np.ones(days))
        held += found.low <= gains[days:].mean() <= found.high

    assert held / tries > 0.88  # 0.9 less three standard errors, and the bias of short series
