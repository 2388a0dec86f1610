"""How the scores of simulated streams are distributed, and how priors and volumes move."""

from functools import cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import norm

from monitor.metrics.core.coarse import CENTRES
from monitor.metrics.core.grid import Floats

SPREAD = 1.2  # of the logits
PRIOR_SPREAD, PRIOR_MEMORY, RHYTHM = 0.4, 0.9, 0.3
DOUBLED, HALVED = slice(60, 90), slice(120, 140)  # days after the reference
LEAST_VOLUME, MOST_VOLUME = 0.2, 5.0


def standardised(prevalence: float) -> Floats:
    """Give the logits as standard deviations from their mean."""
    return np.asarray((CENTRES - centre(prevalence)) / SPREAD)


def informed(prevalence: float) -> Floats:
    """Give the logits as standard deviations from their mean where the information is.

    With rare outcomes that is among the high scores; at most four standard deviations.
    """
    p = expit(CENTRES)
    weights = shares(centre(prevalence)) * p * (1.0 - p)
    weights /= weights.sum()
    off = CENTRES - (weights * CENTRES).sum()
    return np.clip(off / np.sqrt((weights * off**2).sum()), -4.0, 4.0)


@cache
def centre(prevalence: float, spread: float = SPREAD) -> float:
    """Find the mean logit whose mean score is the prevalence."""
    return float(
        brentq(lambda c: (shares(c, spread) * expit(CENTRES)).sum() - prevalence, -14.0, 14.0)
    )


def shares(middle: float, spread: float = SPREAD) -> Floats:
    """Give each cell's share of the predictions while the prior is as in training."""
    weights = norm.pdf(CENTRES, middle, spread)
    return np.asarray(weights / weights.sum())


def keep_prevalence(distortion: Floats, weights: Floats, prevalence: float) -> Floats:
    """Add the constant to a distortion that leaves the share of positive outcomes as it was."""

    def excess(constant: float) -> float:
        return float((weights * expit(CENTRES + distortion + constant)).sum() - prevalence)

    return distortion + float(brentq(excess, -20.0, 20.0))


def remembering(rng: np.random.Generator, days: int) -> Floats:
    """Draw a stationary AR(1) of standard deviation 1."""
    values = rng.normal(size=days)
    for t in range(1, days):
        values[t] = PRIOR_MEMORY * values[t - 1] + np.sqrt(1 - PRIOR_MEMORY**2) * values[t]
    return values


def draw_priors(rng: np.random.Generator, reference: int, days: int) -> Floats:
    """Draw the shift of the log-odds on each day, reference first."""
    total = reference + days
    phase = 2 * np.pi * (np.arange(total) + rng.integers(7)) / 7
    priors = PRIOR_SPREAD * remembering(rng, total) + RHYTHM * np.sin(phase)
    priors[reference:][DOUBLED] += np.log(2)
    priors[reference:][HALVED] -= np.log(2)
    return np.asarray(priors)


def draw_volumes(rng: np.random.Generator, days: int) -> Floats:
    """Draw how many times the ordinary number of rows each day has."""
    return np.exp(rng.uniform(np.log(LEAST_VOLUME), np.log(MOST_VOLUME), days))
