"""Days whose scores have the wrong slope, and in which the prior, the inputs or both move."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from monitor.metrics.core.tally import Tally, tally_on_grid

SLOPE = 0.7  # of the outcomes on the scores
SPREAD = 1.2  # of the logits of a class


@dataclass(frozen=True)
class World:
    """What moves after the days that a map is fitted to.

    Attributes
    ----------
    prior : float
        Standard deviation of the log-odds of the prior from day to day, correlated by 0.9; the
        scores of each class stay.
    inputs : float
        The same for the mean of the true log-odds; the rate at each score stays.
    step : float
        A step of the prior's log-odds on the first day after the fit, for good.
    """

    prior: float = 0.0
    inputs: float = 0.0
    step: float = 0.0


WORLDS = {
    "nothing moves": World(),
    "prior wanders": World(prior=0.4),
    "prior steps to twice the odds": World(step=np.log(2.0)),
    "inputs wander": World(inputs=0.4),
    "both wander": World(prior=0.4, inputs=0.4),
}


def wander(spread: float, days: int, rng: np.random.Generator) -> np.ndarray:
    """Draw a first-order autoregression with correlation 0.9."""
    found = np.empty(days)
    found[0] = rng.normal(0.0, spread)
    for day in range(1, days):
        found[day] = 0.9 * found[day - 1] + rng.normal(0.0, spread * np.sqrt(1.0 - 0.81))
    return found


def draw_days(
    world: World, prevalence: float, rows: int, days: tuple[int, int], rng: np.random.Generator
) -> list[Tally]:
    """Draw the days of the fit and the days after it.

    Logits of the truth are normal in each class with one variance, so a change of the share of
    positives is a prior shift, and a change of all logits one of the inputs.
    """
    number = sum(days)
    prior, inputs = (wander(spread, number, rng) for spread in (world.prior, world.inputs))
    prior[days[0] :] += world.step
    return [
        _day(float(expit(logit(prevalence) + p)), prevalence, i, rows, rng)
        for p, i in zip(prior, inputs, strict=True)
    ]


def _day(
    share: float, prevalence: float, inputs: float, rows: int, rng: np.random.Generator
) -> Tally:
    # Two normal classes, SPREAD**2 apart: the true log-odds at the usual prior are then x itself.
    half = SPREAD**2 / 2.0
    positive = rng.random(rows) < share
    x = rng.normal(np.where(positive, half, -half), SPREAD) + logit(prevalence)
    if inputs:
        # The inputs move; given them, the outcome keeps its rate at this day's prior.
        x = x + inputs
        positive = rng.random(rows) < expit(x + logit(share) - logit(prevalence))
    return tally_on_grid(positive, expit(x / SLOPE))


def lag(days: Sequence[Tally], place: int, length: int, delay: int) -> Sequence[Tally]:
    """Give the newest days whose outcomes are known on a day."""
    return days[max(0, place - delay - length + 1) : place - delay + 1]
