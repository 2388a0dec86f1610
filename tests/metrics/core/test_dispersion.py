"""What rows of one entity share widens intervals and moves worlds, as direct resampling says."""

from collections.abc import Callable
from itertools import product
from math import sqrt

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

from monitor.metrics.core.buckets import BUCKETS, NO_BUCKETS, BucketCounts, add_up_buckets, bins_of
from monitor.metrics.core.coarse import CENTRES, coarsen_occupied
from monitor.metrics.core.dispersion import design_effect, hanging, outcome_dispersion
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats, Ints, locate
from monitor.metrics.core.resampling import resamples
from monitor.metrics.core.tally import Tally, tally_on_grid
from monitor.metrics.logistic.conditional import fit_slope_of_cells, slope_design_effect
from monitor.metrics.logistic.intercept import fit_intercept
from tests.support.cases import some

ENTITIES, ROWS = 640, 12


def drawn(shared: float, seed: int = 1, entities: int = ENTITIES) -> tuple[Ints, Floats, Ints]:
    """Draw rows of entities: which, scores, outcomes that share a part of their variance."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(entities), ROWS)
    logits = rng.normal(-1.0, 1.2, entities)[who] + rng.normal(0.0, 0.3, who.size)
    own = sqrt(1.0 - shared) * rng.normal(size=who.size)
    latent = sqrt(shared) * rng.normal(size=entities)[who] + own
    return who, expit(logits), (latent < norm.ppf(expit(logits))).astype(np.int64)


def held_of(who: Ints, scores: Floats, outcomes: Ints) -> BucketCounts:
    """Count by bucket, as many entities in each."""
    return add_up_buckets(who % BUCKETS, bins_of(locate(scores)[0]), 0 * who + 1, outcomes)


def brier(t: Tally) -> float:
    """Take the Brier score."""
    return float(t.positives @ (1 - t.scores) ** 2 + (t.counts - t.positives) @ t.scores**2)


def by_brier(t: Tally, held: BucketCounts) -> tuple[float, float, float]:
    """Give the Brier score, its standard error of independent rows, and the design effect."""
    one, other = (1 - t.scores) ** 2, t.scores**2
    mean = brier(t) / t.total
    square = float(t.positives @ one**2 + (t.counts - t.positives) @ other**2) / t.total
    error = sqrt((square - mean**2) / t.total)
    return mean, error, design_effect(t, held, one, other)


def by_intercept(t: Tally, held: BucketCounts) -> tuple[float, float, float]:
    """Give the intercept so."""
    found = fit_intercept(t)
    p = expit(np.log(t.scores / (1 - t.scores)) + found.delta)
    return found.delta, found.standard_error, design_effect(t, held, 1 - p, -p)


def by_slope(t: Tally, held: BucketCounts) -> tuple[float, float, float]:
    """Give the slope so."""
    part = coarsen_occupied(t)
    found = fit_slope_of_cells(CENTRES, [part])
    assert found
    return *found, slope_design_effect(CENTRES, [part], [held], found[0])


@pytest.mark.parametrize(
    ("find", "shared"), some(product([by_brier, by_intercept, by_slope], [1.0, 0.5, 0.0]), 4)
)
def test_intervals_are_those_of_entities_drawn_directly(
    find: Callable[[Tally, BucketCounts], tuple[float, float, float]], shared: float
) -> None:
    """A bootstrap over the entities of raw rows, which knows no bucket and no bin, agrees.

    To 25 %: of a sample the variance of 64 buckets is known to 18 %, that of 50 resamples to 20 %,
    and of eight samples both together to 10 %.
    """
    ours, direct, rng = 0.0, 0.0, np.random.default_rng(2)
    for seed in range(8):
        who, scores, outcomes = drawn(shared, seed)
        by_entity, values = np.arange(who.size).reshape(ENTITIES, ROWS), []
        for _ in range(50):
            rows = by_entity[rng.integers(ENTITIES, size=ENTITIES)].ravel()
            values.append(find(tally_on_grid(outcomes[rows], scores[rows]), NO_BUCKETS)[0])
        t = tally_on_grid(outcomes, scores)
        _, error, effect = find(t, held_of(who, scores, outcomes))
        ours, direct = ours + effect * error**2, direct + float(np.var(values))

    assert ours == pytest.approx(direct, rel=0.25)
    assert find(t, NO_BUCKETS)[2] == 1.0


def test_worlds_vary_as_entities_drawn_directly() -> None:
    """Over halves, quarters and eighths of the scores, so bins move together as they should.

    To 35 %: of eight samples the variance of 64 buckets is known to 6 %, of 200 values to 10 %.
    """
    fresh, worlds = [], []
    cuts, rng = expit(norm.ppf(np.arange(1, 8) / 8, -1.0, 1.24)), np.random.default_rng(3)

    def by_eighth(t: Tally, right: Floats) -> Floats:
        return np.bincount(np.searchsorted(cuts, t.scores), t.positives - t.counts * right, 8)

    for seed in range(200):
        who, scores, outcomes = drawn(0.7, seed)
        t = tally_on_grid(outcomes, scores)
        fresh.append(by_eighth(t, t.scores))
        if seed % 25 == 0:
            shared = hanging(t, held_of(who, scores, outcomes))
            some = resamples(t, t.scores, 25, shared=shared, rng=rng)
            worlds += [by_eighth(world, world.scores) for world in some]
    for size in (1, 2, 4, 8):
        one, other = (
            np.reshape(v, (200, -1, size)).sum(axis=2).var(axis=0).sum() for v in (worlds, fresh)
        )
        assert one == pytest.approx(other, rel=0.35), size
    drift = np.mean(worlds, axis=0) / np.std(worlds, axis=0) * sqrt(200)
    assert abs(drift).max() < 4.0


def test_without_entities_a_world_is_as_it_was() -> None:
    """Number by number; and where buckets differ less than by chance, nothing is shared."""
    t = tally_on_grid(np.tile([1, 0], 640), np.repeat([0.2, 0.7], 640))
    even = BucketCounts(np.arange(64), np.full(64, 62), np.full(64, 20), np.full(64, 10))

    shared = hanging(t, NO_BUCKETS)
    (world,) = resamples(t, t.scores, 1, shared=shared, rng=np.random.default_rng(5))
    (plain,) = resamples(t, t.scores, 1, rng=np.random.default_rng(5))
    assert (world.positives == plain.positives).all()
    assert outcome_dispersion(NO_BUCKETS) == outcome_dispersion(even) == 1.0
    assert not hanging(t, even).deviations.any()
    assert (hanging(t, even).own == 1.0).all()


def test_a_world_stays_within_its_rows() -> None:
    """However few rows and however alike: no group has more positives than rows, or fewer than 0.

    A single bucket, or a single bin, is no reason to stop.
    """
    rng = np.random.default_rng(6)
    for seed in range(60):
        entities = int(rng.integers(1, 30))
        who, scores, outcomes = drawn(1.0, seed, entities)
        t = tally_on_grid(outcomes, scores)
        shared = hanging(t, held_of(who, scores, outcomes))
        (world,) = resamples(t, t.scores, 1, shared=shared, rng=rng)
        assert world.total == t.total
        assert ((world.positives >= 0) & (world.positives <= world.counts)).all()


def test_one_entity_knows_nothing() -> None:
    """All rows may be one: the variance is as many times as large as there are rows."""
    t = tally_on_grid([0, 1] * 25, [0.4] * 50)
    held = BucketCounts(*np.array([[3], [62], [50], [25]]))

    assert design_effect(t, held, np.ones(1), np.zeros(1)) == 50.0


def test_an_interval_is_widened_within_its_range() -> None:
    """By the ratio on either side; a ratio of 1 leaves every digit."""
    e = Estimate(0.3, 0.1, 0.4, 0.05)

    assert e.widened(1.0) is e
    wide = e.widened(2.0, 0.0, 1.0)
    assert (wide.value, wide.low, wide.error) == (0.3, 0.0, 0.1)
    assert wide.high == pytest.approx(0.5, rel=1e-12)
