"""How much days and weeks differ: nothing where outcomes are independent, also on small days."""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy.special import expit

from monitor.drift.curve.reference import fit_bare, what_a_reference_lacks
from monitor.drift.curve.variance import (
    LEAST_RARER,
    between_day_variance,
    between_week_variance,
    neighbour_ratio,
    span_starts,
)
from monitor.metrics.core.coarse import CENTRES, Coarse
from studies.drift.worlds import shares
from tests.support.cases import some

WEIGHTS = shares(0.0)  # scores around one half, as of games


def independent(rng: np.random.Generator, rows: int, days: int, parts: int) -> list[dict]:
    """Draw days whose outcomes are independent and right, in parts with priors of their own."""
    priors = rng.normal(0.0, 0.2, parts) * (parts > 1)
    part = np.repeat(np.arange(days * parts), rng.poisson(rows / parts, days * parts))
    cell = rng.choice(CENTRES.size, part.size, p=WEIGHTS)
    hit = rng.random(part.size) < expit(CENTRES[cell] + priors[part % parts])
    counts, positives = (
        np.bincount(of, minlength=days * parts * CENTRES.size).reshape(days, parts, CENTRES.size)
        for of in (part * CENTRES.size + cell, (part * CENTRES.size + cell)[hit])
    )
    return [
        {f"part {i}": Coarse(*of_part) for i, of_part in enumerate(zip(*of_day, strict=True))}
        for of_day in zip(counts, positives, strict=True)
    ]


@pytest.mark.parametrize(("parts", "rows"), some(product([1, 4], [5, 20, 100]), 5))
def test_independent_days_do_not_differ(rows: int, parts: int) -> None:
    """Half of the references, not nearly all of them, find days that differ a little by chance.

    At 5, 20 and 100 predictions a day, in one part or split into four segments or strata: along
    each direction at most two thirds of 60 references do, which is half of them and 2.6 standard
    errors. The first version found a standard deviation of 0.1 to 0.6 in nearly every one.
    """
    rng = np.random.default_rng(rows + parts)
    days = max(60, 1_000 // rows)
    drawn = (independent(rng, rows, days, parts) for _ in range(60))
    found = np.sqrt(
        [fit_bare(d, noise=False).day_variances for d in drawn if not what_a_reference_lacks(d)]
    )

    assert len(found) > 50
    assert np.all((found > 0.0).mean(axis=0) < 2 / 3)


@pytest.mark.parametrize(("rows", "day_variance"), some([(100, 0.5), (400, 0.3)], 2))
def test_days_that_differ_are_found_on_small_days_too(rows: int, day_variance: float) -> None:
    """A slope that varies is found within a third: the mean of 12 references of 120 days."""
    rng = np.random.default_rng(7)
    found = []
    for _ in range(12):
        days = []
        for _ in range(120):
            counts = rng.poisson(rows * WEIGHTS)
            slope = 1.0 + day_variance * rng.normal()
            days.append({"all": Coarse(counts, rng.binomial(counts, expit(slope * CENTRES)))})
        found.append(np.sqrt(fit_bare(days, noise=False).day_variances[0]))

    assert np.mean(found) == pytest.approx(day_variance, rel=0.33)


def test_a_known_variance_between_days_comes_back() -> None:
    """Of 4,000 days, whatever their size, to a tenth; none where there is none."""
    rng = np.random.default_rng(9)
    known = rng.uniform(50.0, 5_000.0, 4_000)
    chance = rng.normal(size=known.size) / np.sqrt(known)
    own = rng.normal(0.0, 0.05, known.size)

    found = between_day_variance(known * (chance + own), known, known**2)
    calm = between_day_variance(known * chance, known, known**2)

    assert found == pytest.approx(0.05**2, rel=0.1)
    assert calm < 0.01**2
    assert between_day_variance(np.array([9.0]), np.array([1.0]), np.array([1.0])) == 0.0


def variance_of(
    weeks: np.ndarray, scores: np.ndarray, known: np.ndarray, of_days: float = 0.0
) -> float:
    """Find the variance between weeks of one distortion."""
    columns = scores[:, np.newaxis], known[:, np.newaxis]
    return float(between_week_variance(weeks, *columns, np.array([of_days]))[0])


def test_a_known_variance_between_weeks_comes_back() -> None:
    """Weeks that differ by 0.1, each by itself or keeping half of the last one, are found to 15 %.

    Differences of weeks that keep half show only 1/1.6 of the variance, so 0.1 is 0.079. Over 8
    histories of 200 weeks the mean has an error of 2 %. What the between-day variance explains is
    no variance of weeks.
    """
    weeks = np.arange(200)
    for kept, share in ((0.0, 1.0), (0.5, 1.6**-0.5)):
        found = []
        for seed in range(8):
            rng = np.random.default_rng(seed)
            known = rng.uniform(500.0, 5_000.0, weeks.size)
            chance = rng.normal(size=weeks.size) / np.sqrt(known)
            own = rng.normal(0.0, 0.1, weeks.size)
            for week in weeks[1:]:
                own[week] = kept * own[week - 1] + np.sqrt(1.0 - kept**2) * own[week]
            found.append(variance_of(weeks, known * (chance + own), known))
            assert variance_of(weeks, known * chance, known) < 0.03**2
            assert variance_of(weeks, known * (chance + own), known, 0.07) < 0.05**2

        weekly = np.sqrt(np.array(found)).mean()
        assert weekly == pytest.approx(0.1 * share, rel=0.15)


def alike(days: list[dict]) -> bool:
    """Say whether the neighbouring days of a reference are alike."""
    reference = fit_bare(days, noise=False)
    return neighbour_ratio(reference.scores, reference.informations) is not None


def scored_daily(rng: np.random.Generator, horizon: int, days: int) -> list[dict]:
    """Score the same 2,000 entities every day for an event within the horizon; all are right."""
    cells = rng.choice(CENTRES.size, 2_000, p=WEIGHTS / WEIGHTS.sum())
    daily = 1.0 - expit(-CENTRES[cells]) ** (1.0 / horizon)
    events = np.cumsum(rng.random((days + horizon, cells.size)) < daily, axis=0)
    counts = np.bincount(cells, minlength=CENTRES.size)
    return [
        {"all": Coarse(counts, np.bincount(cells[later > now], minlength=CENTRES.size))}
        for now, later in zip(events, events[horizon:], strict=False)
    ]


@pytest.mark.parametrize("days", [14, 28])
@pytest.mark.parametrize("horizon", some([30, 14], 2))
def test_entities_that_are_counted_on_each_day_make_neighbour_ratio(
    days: int, horizon: int
) -> None:
    """Overlapping horizons are noticed in every draw from 28 days on, and in 14 days mostly."""
    found = [alike(scored_daily(np.random.default_rng(seed), horizon, days)) for seed in range(4)]

    assert sum(found) >= (4 if days > 14 else 2)


@pytest.mark.parametrize(
    ("rows", "days"), some([(2_000, 14), (300, 14), (100, 28), (2_000, 28)], 2)
)
def test_independent_days_are_not_alike(rows: int, days: int) -> None:
    """Whatever their number and size, with parts of their own priors or without."""
    rng = np.random.default_rng(rows + days)

    assert not any(
        alike(independent(rng, rows, days, parts)) for parts in (1, 3) for _ in range(10)
    )


@pytest.mark.parametrize("days", some([28, 14, 200], 3))
def test_chance_makes_neighbour_ratio_almost_never(days: int) -> None:
    """None of 2,000 references of independent normal scores, whatever the days know."""
    rng = np.random.default_rng(days)
    known = rng.gamma(1.0, 50.0, (2_000, days, 4))
    pulls = rng.normal(size=known.shape) * np.sqrt(known)

    assert not any(map(neighbour_ratio, pulls, known))


def test_spans_hold_enough_of_the_rarer_outcome() -> None:
    """Each holds at least 20 of it, as few days as make it so; all days are in one."""
    rng = np.random.default_rng(8)
    for rate in (1, 8, 30):
        rarer = rng.poisson(rate, 200).tolist()

        starts = span_starts(rarer)

        sums = np.add.reduceat(rarer, starts)
        assert starts[0] == 0
        assert np.all(sums >= LEAST_RARER)
        for first, last in pairwise(starts[:-1]):
            assert sum(rarer[first : last - 1]) < LEAST_RARER
    assert span_starts([3, 4]) == [0]


def test_a_few_weeks_are_not_believed() -> None:
    """Five differences are the least, of weeks next to each other that know 30 each."""

    def found(weeks: np.ndarray, known: float = 30.0) -> float:
        scores = known * np.tile([9.0, -9.0], 10)[: weeks.size]
        return variance_of(weeks, scores, np.full(weeks.size, known))

    assert found(np.arange(3)) == 0.0  # two differences one week apart, one two weeks apart
    assert found(np.arange(4)) > 0.0
    assert found(np.arange(20), 29.9) == 0.0
    assert found(3 * np.arange(20)) == 0.0
