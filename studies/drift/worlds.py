"""Streams of days with a known truth, on the grid of the drift detector, for studies and tests.

Logits of the scores are normal, sd 1.2, around a centre that makes the mean score the prevalence.
Every day has a prior of its own and as many rows as come: prior log-odds are an AR(1) of sd 0.4,
plus a week's rhythm of 0.3, a month of odds x2 and 20 days of odds x0.5; the volume is anywhere
from x0.2 to x5. Under a shift of the prior the scores given the outcome stay as they are.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import expit
from scipy.stats import norm

from monitor.metrics.core.coarse import CENTRES, Coarse
from monitor.metrics.core.grid import Floats
from studies.drift.shapes import (
    SPREAD,
    centre,
    draw_priors,
    draw_volumes,
    informed,
    keep_prevalence,
    remembering,
    shares,
    standardised,
)

RAMP = 90  # days that a slow drift takes to be whole
LASTED = 130  # days until a drift is gone that does not stay
Distortion = Callable[[float], Floats]  # of a prevalence; added to the log-odds of each cell


@dataclass(frozen=True)
class World:
    """Share of positive outcomes, predictions on an ordinary day, and how wide scores spread."""

    prevalence: float
    rows: int
    spread: float = SPREAD

    def __str__(self) -> str:
        size = f"{self.rows // 1000}k" if self.rows >= 1000 else str(self.rows)
        if self.rows >= 1_000_000:
            size = f"{self.rows // 1_000_000}M"
        wide = "" if self.spread == SPREAD else f", sd {self.spread:g}"
        return f"{100 * self.prevalence:g} %, {size}{wide}"

    @property
    def middle(self) -> float:
        """The mean logit of its scores."""
        return centre(self.prevalence, self.spread)


@dataclass(frozen=True)
class Truth:
    """What happens to the curve and to the scores.

    Attributes
    ----------
    distortion : function of the prevalence giving shape (1024,), or None
        What is added to the log-odds of an outcome once the drift is whole.
    centred : bool
        Whether an intercept keeps the prevalence where it was.
    ramp : int
        Days until the drift is whole; 0 for a sudden one.
    slope_variation : float
        Standard deviation of every day's own slope, without memory.
    wobble : float
        Standard deviation of a tilt of the scores, in logit per standard deviation of them,
        with the memory of the prior; outcomes given scores stay as they are.
    odds : float
        By how much the odds of every day after the reference are multiplied, for good.
    lasts : int or None
        Days until the drift is gone again; None for one that stays.
    flipped : float
        Share of the outcomes that are recorded as their opposite while the drift lasts.
    centres : tuple of float
        Shift of the logits of each segment; every segment has priors of its own.
    """

    distortion: Distortion | None = None
    centred: bool = True
    ramp: int = 0
    slope_variation: float = 0.0
    wobble: float = 0.0
    odds: float = 1.0
    centres: tuple[float, ...] = (0.0,)
    lasts: int | None = None
    flipped: float = 0.0


WORLDS = (
    World(0.5, 2_000),
    World(0.05, 1_000),
    World(0.05, 5_000),
    World(0.05, 20_000),
    World(0.005, 50_000),
    World(0.001, 100_000),
)


def draw_day(
    rng: np.random.Generator,
    weights: Floats,
    rows: float,
    prior: float,
    distortion: Floats | float,
    *,
    flipped: float = 0.0,
) -> Coarse:
    """Draw one day of one segment: scores as the prior makes them, outcomes on the drifted curve.

    With P(s|y) fixed, Bayes' theorem gives ``P(s) ~ share (1 + (odds - 1) p)``, ``p`` the score,
    and log-odds of an outcome of ``logit p + prior``; the distortion is added to these.
    """
    moved = weights * (1.0 + np.expm1(prior) * expit(CENTRES))
    counts = rng.poisson(rows * moved / moved.sum())
    right = expit(CENTRES + prior + distortion)
    return Coarse(counts, rng.binomial(counts, right + flipped * (1.0 - 2.0 * right)))


def grown(truth: Truth, begun: int) -> float:
    """Give the share of a drift that is there, `begun` days after its first."""
    if begun < 0 or (truth.lasts is not None and begun >= truth.lasts):
        return 0.0
    return min(1.0, (begun + 1) / max(1, truth.ramp))


def stream(
    world: World, truth: Truth, seed: int, *, reference: int = 28, days: int = 365, start: int = 0
) -> Iterator[dict[str, Coarse]]:
    """Draw the days of a stream, one after the other.

    Parameters
    ----------
    world : World
        Its size.
    truth : Truth
        What happens.
    seed : int
        The same seed, world and truth give the same days.
    reference, days : int
        Number of days of the reference, which no drift touches, and after it.
    start : int
        Days after the reference on which the drift begins.

    Yields
    ------
    dict of str to Coarse
        The segments of a day.
    """
    rng = np.random.default_rng([seed, world.rows, round(world.prevalence * 10_000)])
    total, number = reference + days, len(truth.centres)
    volumes = draw_volumes(rng, total) * world.rows / number
    priors = [draw_priors(rng, reference, days) for _ in range(number)]
    for of_segment in priors:
        of_segment[reference:] += np.log(truth.odds)
    tilts, deviations = remembering(rng, total), rng.normal(size=total)
    weights = [shares(world.middle + moved, world.spread) for moved in truth.centres]
    unit = standardised(world.prevalence)
    drift = whole_drift(world, truth)
    for t in range(total):
        share = grown(truth, t - reference - start)
        flipped = share * truth.flipped
        curve = share * drift + truth.slope_variation * deviations[t] * SPREAD * unit
        tilt = np.exp(truth.wobble * tilts[t] * unit)
        yield {
            f"segment {i}": draw_day(
                rng, usual * tilt, volumes[t], priors[i][t], curve, flipped=flipped
            )
            for i, usual in enumerate(weights)
        }


def whole_drift(world: World, truth: Truth) -> Floats:
    """Give what a drift adds to the log-odds of each cell when it is whole."""
    if truth.distortion is None:
        return np.zeros(CENTRES.size)
    plain = truth.distortion(world.prevalence)
    if not truth.centred:
        return plain
    return keep_prevalence(plain, shares(world.middle, world.spread), world.prevalence)


def tilted(slope: float) -> Distortion:
    """Make a distortion that gives the outcomes a slope on the scores."""
    return lambda _: (slope - 1.0) * CENTRES


def lowered_top(prevalence: float) -> Floats:
    """Lower the log-odds of the top tenth of the scores by 0.4."""
    return np.where(standardised(prevalence) >= norm.ppf(0.9), -0.4, 0.0)


def curved(prevalence: float) -> Floats:
    """Raise both ends by a square, 0.3 in the mean square where the information is."""
    return np.asarray(0.3 * (informed(prevalence) ** 2 - 1.0) / np.sqrt(2.0))


def waved(prevalence: float) -> Floats:
    """Bend the curve down and up with an amplitude of 0.3."""
    return np.asarray(0.3 * np.sin(np.pi * informed(prevalence)))


DRIFTS = {
    "slope 0.9": Truth(tilted(0.9)),
    "slope 0.8": Truth(tilted(0.8)),
    "slope 1.25": Truth(tilted(1.25)),
    "slow ramp to slope 0.8": Truth(tilted(0.8), ramp=RAMP),
    "top tenth -0.4": Truth(lowered_top, centred=False),
    "curvature 0.3": Truth(curved),
    "wave 0.3": Truth(waved),
    "3 % of the labels flipped": Truth(flipped=0.03),
    "slope 0.66": Truth(tilted(0.66)),
    "slope 0.5": Truth(tilted(0.5)),
    "slope 1.3": Truth(tilted(1.3)),
    "slope 1/1.3": Truth(tilted(1 / 1.3)),
    f"slope 0.8 for {LASTED} days": Truth(tilted(0.8), lasts=LASTED),
    f"slope 0.9 for {LASTED} days": Truth(tilted(0.9), lasts=LASTED),
    "intercept +0.3": Truth(lambda _: np.full(CENTRES.shape, 0.3), centred=False),
}
