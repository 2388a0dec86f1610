"""The rougher worlds, each a small function that says which parts a day has."""

from collections.abc import Callable
from dataclasses import replace
from math import sqrt

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm

from monitor.metrics.core.coarse import CENTRES, COARSE_COUNT
from monitor.metrics.core.grid import LOGIT_LIMIT, Floats
from studies.drift.parts import Days, Part, Rough, locate_logits
from studies.drift.shapes import SPREAD, centre, remembering, standardised
from studies.drift.worlds import World

Slopes = Callable[[np.random.Generator, int, int], Floats]  # reference and all days; of each day
RECALIBRATED = 95  # days after the first reference
JUMP, WIDER = 1.5, 1.5  # of the mean logit, and of the spread of the logits
PILES, PILED = (-3.6, -2.56), 0.3  # logits of two scores, and the share of the rows at each
CAMPAIGNS, NARROW, EFFECT = 20, 0.3, 0.3  # spread of a campaign's logits, sd of its effect
ALL_CELLS = np.arange(COARSE_COUNT)


def normal_scores(mean: float, spread: float = SPREAD) -> Part:
    """Make perfectly calibrated scores with normal logits."""
    weights = norm.pdf(CENTRES, mean, spread)
    return Part(ALL_CELLS, np.asarray(weights / weights.sum()), CENTRES)


def waves(world: World) -> Floats:
    """Give a wave of amplitude 1 along the scores, one for every two standard deviations."""
    return np.asarray(np.sin(np.pi * standardised(world.prevalence)))


def bent(part: Part, slope: float) -> Part:
    """Give the outcomes of a part another slope, around the scores that know most of it."""
    p = expit(part.curve)
    weights = part.shares * p * (1.0 - p)
    middle = (weights * part.curve).sum() / weights.sum()
    return replace(part, curve=middle + slope * (part.curve - middle))


def always(make: Callable[[np.random.Generator, World], Part]) -> Rough:
    """Let every day have the same part, drawn once a stream."""

    def rough(rng: np.random.Generator, world: World, _reference: int, _total: int) -> Days:
        part = make(rng, world)
        return lambda _: [part]

    return rough


def narrow(spread: float) -> Rough:
    """Keep the scores near their mean."""
    return always(lambda _, world: normal_scores(centre(world.prevalence), spread))


def piled(error: float) -> Rough:
    """Pile 60 % of the rows at two scores, off by sd `error`, the rest calibrated."""

    def make(rng: np.random.Generator, world: World) -> Part:
        rest = normal_scores(centre(world.prevalence))
        places = np.array(PILES) + logit(world.prevalence) - logit(0.05)
        return Part(
            np.append(ALL_CELLS, locate_logits(places)),
            np.append((1.0 - 2 * PILED) * rest.shares, [PILED, PILED]),
            np.append(CENTRES, places + error * rng.normal(size=2)),
        )

    return always(make)


def few_values(number: int, error: float, falling: float = 1.0) -> Rough:
    """Let few distinct scores occur, each off by sd `error`.

    They are as frequent as each other at quantiles of the normal scores; or, if `falling` is
    below 1, evenly spaced with each so many times as frequent as the one below it.
    """

    def make(rng: np.random.Generator, world: World) -> Part:
        at = norm.ppf((np.arange(number) + 0.5) / number)
        shares = falling ** np.arange(number)
        shares /= shares.sum()
        if falling < 1.0:
            at = np.linspace(-2.0, 3.0, number)
            at -= (shares * at).sum()
        logits = centre(world.prevalence) + SPREAD * at
        return Part(locate_logits(logits), shares, logits + error * rng.normal(size=number))

    return always(make)


def rounded(decimals: int, wave: float = 0.0) -> Rough:
    """Round calibrated scores; a rounded score of 0 lies in the lowest cell."""

    def make(_rng: np.random.Generator, world: World) -> Part:
        fine = np.linspace(-LOGIT_LIMIT, LOGIT_LIMIT, 64 * 1024)
        p = expit(fine)
        weights = norm.pdf(fine, centre(world.prevalence), SPREAD)
        scores, which = np.unique(np.round(p, decimals), return_inverse=True)
        shares = np.bincount(which, weights)
        true = logit(np.bincount(which, weights * p) / shares)
        with np.errstate(divide="ignore"):
            cells = locate_logits(np.clip(logit(scores), -LOGIT_LIMIT, LOGIT_LIMIT))
        bend = np.interp(true, CENTRES, wave * waves(world))
        return Part(cells, shares / shares.sum(), true + bend)

    return always(make)


def jumping(wave: float = 0.0, beyond: float = 1.0) -> Rough:
    """Move and spread the scores on the first day after the reference; outcomes keep the curve.

    The curve has a wave, and a slope of `beyond` above the 98th percentile of the reference.
    """

    def rough(_rng: np.random.Generator, world: World, reference: int, _total: int) -> Days:
        middle = centre(world.prevalence)
        high = middle + SPREAD * norm.ppf(0.98)
        curve = CENTRES + wave * waves(world)
        curve = curve + (beyond - 1.0) * np.maximum(CENTRES - high, 0.0)
        before = replace(normal_scores(middle), curve=curve)
        after = replace(normal_scores(middle + JUMP, WIDER * SPREAD), curve=curve)
        return lambda t: [before if t < reference else after]

    return rough


def moving_slowly(_rng: np.random.Generator, world: World, reference: int, total: int) -> Days:
    """Move and spread the scores a little every day until they are where `jumping` has them."""
    middle = centre(world.prevalence)

    def parts(t: int) -> list[Part]:
        share = max(0, t - reference) / (total - reference)
        spread = SPREAD * (1.0 + share * (WIDER - 1.0))
        return [normal_scores(middle + share * JUMP, spread)]

    return parts


def with_slopes(slopes: Slopes) -> Rough:
    """Give each day a slope of its own."""

    def rough(rng: np.random.Generator, world: World, reference: int, total: int) -> Days:
        part, by_day = normal_scores(centre(world.prevalence)), slopes(rng, reference, total)
        return lambda t: [bent(part, by_day[t])]

    return rough


def weekly(_rng: np.random.Generator, _reference: int, total: int) -> Floats:
    """Let the slope swing by 0.07 over the week."""
    return np.asarray(1.0 + 0.07 * np.sin(2 * np.pi * np.arange(total) / 7))


def weekends(_rng: np.random.Generator, _reference: int, total: int) -> Floats:
    """Make the slope 0.9 on Saturday and Sunday and 1.03 on the other days."""
    return np.where(np.arange(total) % 7 >= 5, 0.9, 1.03)


def holiday(_rng: np.random.Generator, _reference: int, total: int) -> Floats:
    """Let a week in the middle of the reference have slopes from 0.6 to 0.8."""
    slopes = np.ones(total)
    slopes[10:17] = np.linspace(0.6, 0.8, 7)
    return slopes


def incident(_rng: np.random.Generator, _reference: int, total: int) -> Floats:
    """Let five of the days of the reference have slope 0.8."""
    slopes = np.ones(total)
    slopes[12:17] = 0.8
    return slopes


def wandering(rng: np.random.Generator, _reference: int, total: int) -> Floats:
    """Let the slope remember its past: AR(1) of 0.9, sd 0.05."""
    return np.asarray(1.0 + 0.05 * remembering(rng, total))


def recalibrated(_rng: np.random.Generator, reference: int, total: int) -> Floats:
    """Let outcomes have slope 0.8 until the model is recalibrated, on day 123; then 1."""
    return np.where(np.arange(total) < reference + RECALIBRATED, 0.8, 1.0)


def clustered(_rng: np.random.Generator, world: World, _reference: int, _total: int) -> Days:
    """Draw the rows in clusters with a common fate, other ones every day."""
    part = replace(normal_scores(centre(world.prevalence)), correlation=0.1)
    return lambda _: [part]


def campaigns(life: int) -> Rough:
    """Compose every day of 20 campaigns with narrow scores and an effect each, for some days."""

    def rough(rng: np.random.Generator, world: World, _reference: int, total: int) -> Days:
        slots, ages = np.arange(CAMPAIGNS), total // life + 2
        middle, spread = centre(world.prevalence), sqrt(SPREAD**2 - NARROW**2)
        means = rng.normal(middle, spread, (CAMPAIGNS, ages))
        effects = rng.normal(0.0, EFFECT, (CAMPAIGNS, ages))
        steps = np.arange(-4 * NARROW, 4 * NARROW, 1 / 32)
        shares = np.tile(norm.pdf(steps, 0.0, NARROW), CAMPAIGNS)

        def parts(t: int) -> list[Part]:
            age = (t + slots * life // CAMPAIGNS) // life
            logits = (means[slots, age][:, None] + steps).ravel()
            curve = logits + np.repeat(effects[slots, age], steps.size)
            return [Part(locate_logits(logits), shares / shares.sum(), curve)]

        return parts

    return rough


def hidden_groups(apart: float, mixed: float = 0.0) -> Rough:
    """Mix two groups in one stream whose priors wander apart, or whose mix alone moves.

    `apart` is the standard deviation of each group's own prior, `mixed` that of the log-odds of
    belonging to the first group; all have the memory of the day's prior.
    """

    def rough(rng: np.random.Generator, world: World, _reference: int, total: int) -> Days:
        middle = centre(world.prevalence)
        groups = [normal_scores(middle + off) for off in (-0.75, 0.75)]
        shifts = [apart * remembering(rng, total) for _ in groups]
        firsts = expit(mixed * remembering(rng, total))

        def parts(t: int) -> list[Part]:
            weights = (firsts[t], 1.0 - firsts[t])
            return [
                replace(group, shares=weight * group.shares, shift=wandered[t])
                for group, weight, wandered in zip(groups, weights, shifts, strict=True)
            ]

        return parts

    return rough
