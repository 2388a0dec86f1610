"""Everyday breaks of a scoring service, as changes of the counts of a day.

Each kind has the size that the documentation tells of, and draws another one at random.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from monitor.drift.fold.inputs import Day
from monitor.metrics.core.coarse import CENTRES, COARSE_COUNT, Coarse
from monitor.metrics.core.grid import Floats
from monitor.metrics.logistic.level import fit_level
from studies.drift.breaks import SCORES, WEIGHTS, Change, rerouted, unchanged
from studies.drift.parts import locate_logits
from studies.drift.rules import FIRST
from studies.drift.worlds import draw_day

PRIORS, OUTERMOST = 0.2, 7.9  # logit
Drawn = Callable[[np.random.Generator], Change]


class Kind(NamedTuple):
    """A kind of break: as the documentation tells it, and at random."""

    told: Change
    drawn: Drawn
    sound: bool = False


def moved(scores: Callable[[Floats], Floats], share: float = 1.0, noise: float = 0.0) -> Change:
    """Give a share of the rows other log-odds, a function of their own, with noise."""

    def change(rng: np.random.Generator, day: Coarse) -> Coarse:
        hits = rng.binomial(day.positives, share)
        misses = rng.binomial(day.counts - day.positives, share)
        counts, positives = day.counts - hits - misses, day.positives - hits
        for rows, outcome in ((hits, 1), (misses, 0)):
            logits = np.repeat(scores(CENTRES), rows)
            logits = (logits + noise * rng.normal(size=logits.size)).clip(-OUTERMOST, OUTERMOST)
            landed = np.bincount(locate_logits(logits), minlength=COARSE_COUNT)
            counts, positives = counts + landed, positives + outcome * landed
        return Coarse(counts, positives)

    return change


def bent(distortion: Callable[[Floats], Floats]) -> Change:
    """Draw outcomes again from a distorted curve, at the prior of the day."""

    def change(rng: np.random.Generator, day: Coarse) -> Coarse:
        level = fit_level(CENTRES, day).delta
        curve = CENTRES + distortion(CENTRES) + (level if np.isfinite(level) else 0.0)
        return Coarse(day.counts, rng.binomial(day.counts, expit(curve)))

    return change


def shuffled(share: float) -> Change:
    """Give a share of the rows the scores of other rows."""

    def change(rng: np.random.Generator, day: Coarse) -> Coarse:
        hits = rng.binomial(day.positives, share)
        misses = rng.binomial(day.counts - day.positives, share)
        counts, positives = day.counts - hits - misses, day.positives - hits
        cells = np.repeat(np.arange(COARSE_COUNT), hits + misses)
        outcomes = np.repeat([1, 0], [hits.sum(), misses.sum()])
        rng.shuffle(cells)
        landed = np.bincount(cells[outcomes == 1], minlength=COARSE_COUNT)
        return Coarse(counts + hits + misses, positives + landed)

    return change


def relabelled(lost: float, added: float) -> Change:
    """Record shares of the positives as negatives, and of the negatives as positives."""

    def change(rng: np.random.Generator, day: Coarse) -> Coarse:
        away = rng.binomial(day.positives, lost)
        new = rng.binomial(day.counts - day.positives, added)
        return Coarse(day.counts, day.positives - away + new)

    return change


def visitors(share: float, centre: float, spread: float, rate: float) -> Change:
    """Add rows around one score that come true at a rate of their own."""

    def change(rng: np.random.Generator, day: Coarse) -> Coarse:
        logits = rng.normal(centre, spread, int(share * day.counts.sum()))
        rows = np.bincount(locate_logits(logits.clip(-7, 7)), minlength=COARSE_COUNT)
        return Coarse(day.counts + rows, day.positives + rng.binomial(rows, rate))

    return change


def _rows_fewer(factor: float) -> Change:
    """Leave rows away at random."""

    def change(rng: np.random.Generator, day: Coarse) -> Coarse:
        hits = rng.binomial(day.positives, factor)
        return Coarse(hits + rng.binomial(day.counts - day.positives, factor), hits)

    return change


def _between(low: float, high: float) -> Floats:
    return ((low < SCORES) & (high > SCORES)) * 1.0


def _rounded(digits: int) -> Change:
    """Round all scores to so many digits."""
    return moved(lambda x: _logit(np.round(expit(x), digits)))


def _logit(p: Floats) -> Floats:
    inside = np.clip(p, 4e-4, 1.0 - 4e-4)
    return np.asarray(np.log(inside / (1.0 - inside)))


def _wave(size: float, turns: float = 1.5) -> Change:
    return bent(lambda x: size * np.cos(turns * x))


def _top(size: float, begins: float = 0.0) -> Change:
    return bent(lambda x: size * (x > begins))


def _slope(size: float) -> Change:
    return bent(lambda x: (size - 1.0) * (x + 1.5))


def _stretch(factor: float) -> Change:
    return moved(lambda x: factor * x)


def _plus(step: float) -> Change:
    return moved(lambda x: x + step)


def _power(exponent: float) -> Change:
    return moved(lambda x: _logit(expit(x) ** exponent))


def _odds(size: float, low: float, high: float) -> Change:
    """Move the odds of some scores."""
    return bent(lambda _: size * _between(low, high))


def _share(r: np.random.Generator) -> float:
    return float(r.uniform(0.03, 0.3))


def _either(r: np.random.Generator, least: float, most: float) -> float:
    return float(r.choice([-1.0, 1.0]) * r.uniform(least, most))


EVERYDAY: Mapping[str, Kind] = {
    "5 % of the rows get the score 0": Kind(rerouted(0.05, 0.0), lambda r: rerouted(_share(r), 0)),
    "5 % of the rows get the score 0.5": Kind(
        rerouted(0.05, 0.5), lambda r: rerouted(_share(r), r.uniform(0.3, 0.8))
    ),
    "5 % of the rows get the score 1": Kind(rerouted(0.05, 1.0), lambda r: rerouted(_share(r), 1)),
    "half of the rows get the mean score": Kind(
        rerouted(0.5, 0.24), lambda r: rerouted(r.uniform(0.3, 0.7), r.uniform(0.1, 0.4))
    ),
    "all rows get one score": Kind(rerouted(1.0, 0.24), lambda r: rerouted(1.0, r.uniform(0, 1))),
    "scores from 0.3 to 0.5 become 0.9": Kind(
        rerouted(_between(0.3, 0.5), 0.9),
        lambda r: rerouted(_between(low := r.uniform(0.1, 0.4), low + 0.2), r.uniform(0.7, 1.0)),
    ),
    "no score below 0.15": Kind(
        rerouted(_between(-1, 0.15), 0.15), lambda _: rerouted(_between(-1, 0.2), 0.2)
    ),
    "no score above 0.5": Kind(
        rerouted(_between(0.5, 2), 0.5),
        lambda r: rerouted(_between(cap := r.uniform(0.25, 0.5), 2), cap),
    ),
    "5 % test traffic around 0.73": Kind(
        visitors(0.05, 1.0, 0.3, 0.0), lambda r: visitors(_share(r), r.uniform(0, 1.5), 0.3, 0.0)
    ),
    "5 % test traffic around 0.38": Kind(
        visitors(0.05, -0.5, 0.2, 0.0), lambda r: visitors(_share(r), -0.5, r.uniform(0.1, 0.5), 0)
    ),
    "scores shuffled": Kind(shuffled(1.0), lambda r: shuffled(r.uniform(0.5, 1.0))),
    "a tenth of the scores shuffled": Kind(shuffled(0.1), lambda r: shuffled(_share(r))),
    "scores of the other class": Kind(
        moved(lambda x: -x), lambda r: moved(lambda x: -x, r.uniform(0.5, 1.0))
    ),
    "scores of the other class, a tenth": Kind(
        moved(lambda x: -x, 0.1), lambda r: moved(lambda x: -x, _share(r))
    ),
    "scores too extreme, slope 0.5": Kind(_slope(0.5), lambda r: _slope(r.uniform(0.0, 0.6))),
    "scores too extreme, slope 0.8": Kind(_slope(0.8), lambda r: _slope(r.uniform(0.6, 0.85))),
    "scores too timid, slope 1.25": Kind(_slope(1.25), lambda r: _slope(r.uniform(1.2, 2.0))),
    "log-odds times 1.5": Kind(_stretch(1.5), lambda r: _stretch(r.uniform(1.3, 2.5))),
    "log-odds divided by 1.5": Kind(_stretch(1 / 1.5), lambda r: _stretch(r.uniform(0.4, 0.75))),
    "log-odds + 1": Kind(_plus(1.0), lambda r: _plus(r.uniform(0.7, 3.0))),
    "log-odds - 1": Kind(_plus(-1.0), lambda r: _plus(-r.uniform(0.7, 3.0))),
    "scores squared": Kind(_power(2.0), lambda r: _power(r.uniform(1.5, 3.0))),
    "roots of the scores": Kind(_power(0.5), lambda r: _power(r.uniform(0.3, 0.6))),
    "scores rounded to 0 and 1": Kind(_rounded(0), lambda _: _rounded(0)),
    "scores of half of the rows rounded to 0 and 1": Kind(
        moved(lambda x: _logit(np.round(expit(x))), 0.5),
        lambda r: moved(lambda x: _logit(np.round(expit(x))), r.uniform(0.1, 0.9)),
    ),
    "stale features: noise of 0.7 on all log-odds": Kind(
        moved(lambda x: x, 1.0, 0.7), lambda r: moved(lambda x: x, 1.0, r.uniform(0.7, 2.0))
    ),
    "a second model for a fifth: noise of 1.5": Kind(
        moved(lambda x: x, 0.2, 1.5), lambda r: moved(lambda x: x, _share(r), r.uniform(1.5, 3.0))
    ),
    "a wave of 0.4 in the curve": Kind(
        _wave(0.4), lambda r: _wave(_either(r, 0.3, 0.8), r.uniform(1.0, 2.5))
    ),
    "odds of high scores halved": Kind(
        _top(-0.7), lambda r: _top(_either(r, 0.5, 1.5), r.uniform(-1.0, 0.5))
    ),
    "odds of low scores doubled": Kind(
        _odds(0.7, -1, 0.047426), lambda r: _odds(r.uniform(0.7, 1.5), -1, 0.08)
    ),
    "odds halved from 0.2 to 0.4": Kind(
        _odds(-0.7, 0.2, 0.4), lambda r: _odds(_either(r, 0.6, 1.5), 0.15, 0.4)
    ),
    "a fifth of the labels wrong": Kind(
        relabelled(0.2, 0.2), lambda r: relabelled(share := r.uniform(0.1, 0.3), share)
    ),
    "the base rate doubles": Kind(
        _odds(0.7, -1, 2), lambda r: _odds(_either(r, 0.2, 2.0), -1, 2), sound=True
    ),
    "half as many rows": Kind(
        _rows_fewer(0.5), lambda r: _rows_fewer(r.uniform(0.3, 1.0)), sound=True
    ),
    "scores rounded to two digits": Kind(_rounded(2), lambda _: _rounded(2), sound=True),
    "nothing": Kind(unchanged, lambda _: unchanged, sound=True),
}


def days_of(
    change: Change, rng: np.random.Generator, rows: int, before: int, after: int
) -> Iterator[Day]:
    """Draw days whose priors move a little, with a break after the first ones."""
    known = datetime(2027, 1, 1, tzinfo=UTC)
    for t in range(before + after):
        part = draw_day(rng, WEIGHTS, rows, rng.normal(0.0, PRIORS), 0.0)
        part = change(rng, part) if t >= before else part
        yield Day(FIRST + timedelta(t), True, known, 1.0, {("all", "all"): part})
