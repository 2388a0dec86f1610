"""Worlds whose rows hang together: the same customers, campaigns or horizons on many days.

Every score is calibrated, each row by itself; what rows share is in their outcomes alone. A row
belongs to an entity, and an entity to one of 64 buckets for ever. From the first day of a drift on
the outcomes, or the scores, change so that the slope of outcomes on scores is the given one.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm

from monitor.base.segment_names import WHOLE
from monitor.drift.fold.inputs import Day
from monitor.metrics.core.buckets import BUCKETS, CELLS_IN_BIN, add_up_buckets
from monitor.metrics.core.coarse import COARSE_COUNT, Coarse
from monitor.metrics.core.grid import Floats, Ints
from studies.drift.parts import locate_logits
from studies.drift.rough import CAMPAIGNS, EFFECT, NARROW
from studies.drift.rules import FIRST
from studies.drift.shapes import SPREAD, centre, draw_priors

KNOWN_AT = datetime(2026, 1, 1, tzinfo=UTC)
PANEL, HORIZON, PREVALENCE = 3_000, 30, 0.2  # customers, days until the outcome is known
REDRAWN, LEVELS = 1 / 60, 200  # share of the customers whose risk changes a day; risks
CUSTOMERS, VISITS, SHARED = 1_000, 3, 0.5  # at once, rows of each a day, of the latent variance
CLICKS = 20_000, 0.05  # rows a day of the campaigns, and their prevalence


class Rows(NamedTuple):
    """The rows of a day: logits of their scores, buckets of their entities, outcomes."""

    logits: Floats
    buckets: Ints
    outcomes: Ints


# By generator, slope of the outcomes since the first day of a drift, that day, and all days.
Draw = Callable[[np.random.Generator, float, int, int], Iterator[Rows]]


def as_day(number: int, rows: Rows) -> Day:
    """Count rows as logs of a model with entities are counted."""
    cells = locate_logits(rows.logits)
    counts = np.bincount(cells, minlength=COARSE_COUNT)
    positives = np.bincount(cells, rows.outcomes, COARSE_COUNT).astype(np.int64)
    held = add_up_buckets(rows.buckets, cells // CELLS_IN_BIN, np.ones_like(cells), rows.outcomes)
    key, day = (WHOLE, WHOLE), FIRST + timedelta(number)
    return Day(day, True, KNOWN_AT, 1.0, {key: Coarse(counts, positives)}, entities={key: held})


def draw_rows(draw: Draw, seed: int, slope: float, start: int, total: int) -> Iterator[Rows]:
    """Draw the rows of each day; the same seed gives the same days up to the drift."""
    return draw(np.random.default_rng([seed, total]), slope, start, total)


def draw_days(draw: Draw, seed: int, slope: float, start: int, total: int) -> Iterator[Day]:
    """Draw the days of a stream, counted."""
    for number, rows in enumerate(draw_rows(draw, seed, slope, start, total)):
        yield as_day(number, rows)


def stretched(logits: Floats, middle: float, slope: float) -> Floats:
    """Make scores more extreme, so that their outcomes have a slope on them."""
    return middle + (logits - middle) / slope


def panel(changing: float = 0.0) -> Draw:
    """Score the same customers every day, for whether something happens to them within 30 days.

    `changing` is the share of the customers whose risk is drawn again each day.
    """

    def draw(rng: np.random.Generator, slope: float, start: int, total: int) -> Iterator[Rows]:
        middle = centre(PREVALENCE)
        risks = expit(norm.ppf((np.arange(LEVELS) + 0.5) / LEVELS, middle, SPREAD))
        hazards = 1.0 - (1.0 - risks) ** (1.0 / HORIZON)
        survived = np.ones(LEVELS)  # the next days without an event, by today's risk
        for _ in range(HORIZON):
            survived = (1.0 - changing) * survived + changing * survived.mean()
            survived = (1.0 - hazards) * survived
        scores, buckets = logit(1.0 - survived), rng.integers(BUCKETS, size=PANEL)
        levels = np.empty((total + HORIZON, PANEL), np.int64)
        levels[0] = rng.integers(LEVELS, size=PANEL)
        for t in range(1, len(levels)):
            again = rng.random(PANEL) < changing
            levels[t] = np.where(again, rng.integers(LEVELS, size=PANEL), levels[t - 1])
        events = np.cumsum(rng.random(levels.shape) < hazards[levels], axis=0)
        events = np.vstack([np.zeros((1, PANEL), np.int64), events])
        for t in range(total):
            seen = scores[levels[t]]
            seen = stretched(seen, middle, slope) if t >= start else seen
            yield Rows(seen, buckets, (events[t + HORIZON] > events[t]).astype(np.int64))

    return draw


def customers(churn: float) -> Draw:
    """Let customers return every day until they leave, each with a fate of its own.

    An outcome is 1 where a normal variable is below a quantile; half of its variance is the fate
    that all rows of the customer share. So each row is calibrated by itself.
    """

    def draw(rng: np.random.Generator, slope: float, start: int, total: int) -> Iterator[Rows]:
        middle, priors = centre(PREVALENCE), draw_priors(rng, 28, total - 28)
        base, fates = rng.normal(middle, SPREAD, CUSTOMERS), rng.normal(size=CUSTOMERS)
        buckets = rng.integers(BUCKETS, size=CUSTOMERS)
        who = np.repeat(np.arange(CUSTOMERS), VISITS)
        for t in range(total):
            left = rng.random(CUSTOMERS) < churn
            base = np.where(left, rng.normal(middle, SPREAD, CUSTOMERS), base)
            fates = np.where(left, rng.normal(size=CUSTOMERS), fates)
            buckets = np.where(left, rng.integers(BUCKETS, size=CUSTOMERS), buckets)
            logits = base[who] + rng.normal(0.0, NARROW, who.size)
            bent = slope if t >= start else 1.0
            right = expit(middle + bent * (logits - middle) + priors[t])
            own = sqrt(1.0 - SHARED) * rng.normal(size=who.size)
            latent = sqrt(SHARED) * fates[who] + own
            yield Rows(logits, buckets[who], (latent < norm.ppf(right)).astype(np.int64))

    return draw


def campaigns(life: int) -> Draw:
    """Compose every day of 20 campaigns with narrow scores and an effect each, for some days."""

    def draw(rng: np.random.Generator, slope: float, start: int, total: int) -> Iterator[Rows]:
        rows, prevalence = CLICKS
        slots, ages = np.arange(CAMPAIGNS), total // life + 2
        middle, priors = centre(prevalence), draw_priors(rng, 28, total - 28)
        means = rng.normal(middle, sqrt(SPREAD**2 - NARROW**2), (CAMPAIGNS, ages))
        effects = rng.normal(0.0, EFFECT, (CAMPAIGNS, ages))
        buckets = rng.integers(BUCKETS, size=(CAMPAIGNS, ages))
        for t in range(total):
            age = (t + slots * life // CAMPAIGNS) // life
            which = rng.integers(CAMPAIGNS, size=rng.poisson(rows))
            logits = means[slots, age][which] + rng.normal(0.0, NARROW, which.size)
            bent = slope if t >= start else 1.0
            right = middle + bent * (logits - middle) + effects[slots, age][which] + priors[t]
            came_true = rng.random(which.size) < expit(right)
            yield Rows(logits, buckets[slots, age][which], came_true.astype(np.int64))

    return draw


def clean(prevalence: float, rows: int) -> Draw:
    """Draw rows that have nothing in common, each of an entity of its own."""

    def draw(rng: np.random.Generator, slope: float, start: int, total: int) -> Iterator[Rows]:
        middle, priors = centre(prevalence), draw_priors(rng, 28, total - 28)
        for t in range(total):
            logits = rng.normal(middle, SPREAD, rng.poisson(rows))
            bent = slope if t >= start else 1.0
            right = expit(middle + bent * (logits - middle) + priors[t])
            came_true = rng.random(logits.size) < right
            buckets = rng.integers(BUCKETS, size=logits.size)
            yield Rows(logits, buckets, came_true.astype(np.int64))

    return draw


WORLDS: dict[str, Draw] = {
    "panel of 3,000, 30 days": panel(),
    "panel, risks change": panel(REDRAWN),
    "customers, 3 % leave a day": customers(0.03),
    "customers, 10 % leave a day": customers(0.10),
    "campaigns of 14 days (5 %, 20k)": campaigns(14),
    "campaigns of 30 days (5 %, 20k)": campaigns(30),
    "clean (20 %, 3k)": clean(PREVALENCE, PANEL),
    "clean (5 %, 20k)": clean(0.05, 20_000),
}
