"""CORP, prior-adjusted, reference and bins: the curves drawn are those that are computed."""

from typing import Any

import numpy as np
import pytest
from scipy.special import expit, logit

from monitor.drift.curve.reference import Reference, fit_reference
from monitor.drift.records.region_state import Break
from monitor.metrics import (
    coarsen,
    corp,
    pava,
    tally,
)
from monitor.metrics.core.tally import Tally
from monitor.report.diagrams import (
    DARK,
    draw_bins,
    draw_corp,
    draw_prior_adjusted,
    draw_reference,
    svg,
)
from monitor.report.diagrams.scales import Scale

SMALL = {
    "empty": tally([], []),
    "zero": tally([0], [0.0]),
    "one score": tally([1] * 20 + [0] * 30, [0.3] * 50),
    "one class": tally([0, 0], [0.2, 0.9]),
}


def sample(size: int, *, slope: float = 1.0, prior: float = 0.0, seed: int = 1) -> Tally:
    """Draw scores, and outcomes of another slope and prior."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(-1.0, 1.0, size)
    return tally(rng.random(size) < expit(slope * logits + prior), expit(logits))


@pytest.fixture(scope="module")
def reference() -> Reference:
    """Fit a reference of four weeks of calibrated scores."""
    return fit_reference([{"all": coarsen(sample(2_000, seed=day))} for day in range(28)])


def line(axes: Any, name: str) -> Any:
    """Find the line with a name."""
    (found,) = (drawn for drawn in axes.get_lines() if drawn.get_label() == name)
    return found


def test_corp_draws_the_isotonic_curve() -> None:
    """Each block of PAVA is a level line from its first to its last score."""
    t = sample(2_000)
    bins = pava(t)

    axes = draw_corp(t)

    x, y = line(axes, "observed, isotonic").get_data()
    assert y.tolist() == np.repeat(bins.rates, 2).tolist()
    assert x[::2].tolist() == t.scores[bins.starts[:-1]].tolist()
    assert f"{corp(t).miscalibration:.2g}" in axes.get_title(loc="left")
    assert "bands of 90 %" in axes.texts[0].get_text()


@pytest.mark.parametrize(("first", "last"), [(0.3, 0.5), (0.0, 0.0)])
def test_the_place_of_a_drift_is_shaded(reference: Reference, first: float, last: float) -> None:
    """From its first score to its last; a single one is a line where the axis ends."""
    place = Break(
        *("value" if first == last else "region", 0, 1, first, last, 0.1, 0.2, 10, 2, 100),
        profile=np.zeros(16),
        information=1.0,
    )

    axes = draw_reference(reference, sample(5_000, seed=99), place=place)
    drawn = line(
        axes, "drift at the score 0" if first == last else "drift at scores from 0.30 to 0.50"
    )
    low, high = axes.get_xlim()

    assert low < high
    assert drawn.get_xdata()[0] == pytest.approx(max(first, low))


@pytest.mark.parametrize("pile", [0.0, 0.25])
def test_the_reference_has_no_teeth(pile: float) -> None:
    """The curve's own steps, at its top tenth and at many equal scores, are not drawn as teeth."""
    rng = np.random.default_rng(1)
    x = np.where(rng.random(40_000) < pile, -0.5, rng.normal(-1.0, 1.5, 40_000))
    outcomes = rng.random(x.size) < expit(x) + np.where(x == -0.5, 0.15, 0.0)
    days = np.split(np.arange(x.size), 20)
    fitted = fit_reference([{"all": coarsen(tally(outcomes[d], expit(x[d])))} for d in days])

    axes = draw_reference(fitted, tally(outcomes, expit(x)))
    drawn = logit(line(axes, "reference (95 %)").get_ydata())
    bends = np.abs(np.diff(drawn, 2))

    # A cell is 0.03 of log-odds wide, so a slope of 1 rises by that; a tooth is 0.1 and more.
    assert bends.max() < 0.006
    assert np.abs(np.diff(fitted.curve[fitted.known], 2)).max() > 0.02
    assert (np.diff(drawn) > 0.0).all()
    piles = [drawn for drawn in axes.containers if drawn.get_label() == "reference, equal scores"]
    assert [p.lines[0].get_xdata().tolist() for p in piles] == (
        [[pytest.approx(expit(-0.5), abs=0.01)]] if pile else []
    )


@pytest.mark.parametrize(
    ("name", "scale"), [*((name, "logit") for name in SMALL), ("one score", "probability")]
)
def test_small_tallies_are_drawn(reference: Reference, name: str, scale: Scale) -> None:
    """Nothing warns or fails with no prediction, one, one score or one class."""
    t = SMALL[name]

    def against(t: Tally, **options: Any) -> Any:
        return draw_reference(reference, t, **options)

    pictures: tuple[Any, ...] = (draw_corp, draw_prior_adjusted, draw_bins, against)
    for draw in pictures:
        assert svg(draw(t, scale=scale, theme=DARK)).endswith("</svg>\n")
