"""The reference: a known curve comes back, no prior enters it, and its limits follow a formula."""

from math import sqrt

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import chi2

from monitor.drift.reference import (
    DIRECTIONS,
    LEAST_DAYS,
    LEAST_OF_EACH,
    Reference,
    Sensitivity,
    fit_reference,
    what_a_reference_lacks,
)
from monitor.metrics.core.coarse import CENTRES, Coarse
from monitor.metrics.core.grid import Floats
from monitor.metrics.logistic.conditional import score_directions, solve_factor
from studies.drift.worlds import SPREAD, Truth, World, centre, shares, standardised, stream, tilted

WORLD = World(0.05, 20_000)
WEIGHTS = shares(centre(WORLD.prevalence))
UNIT = standardised(WORLD.prevalence)
Days = list[dict[str, Coarse]]


def days_of(truth: Truth, *, seed: int = 1, number: int = 28, world: World = WORLD) -> Days:
    """Draw days on which a distortion is at work from the first."""
    return list(stream(world, truth, seed, reference=0, days=number))


def without_chance(prior: float, curve: Floats, rows: float = 1e8) -> Coarse:
    """Give the outcomes of a day as expected, to whole rows; scores as they always are."""
    counts = np.rint(rows * WEIGHTS).astype(np.int64)
    return Coarse(counts, np.rint(counts * expit(curve + prior)).astype(np.int64))


def assert_same(found: Reference, expected: Reference, *, within: float) -> None:
    """Compare everything that the verdict uses of a reference."""
    seen = expected.counts.counts > 0
    assert found.curve[seen] == pytest.approx(expected.curve[seen], abs=within)
    assert found.directions[:, seen] == pytest.approx(expected.directions[:, seen], abs=within)
    assert found.tolerances == pytest.approx(expected.tolerances, abs=within)
    assert found.effects == pytest.approx(expected.effects, abs=within)
    assert found.dispersions == pytest.approx(expected.dispersions, abs=within)


CURVES = {
    "the scores": np.zeros_like(UNIT),
    "flat": -0.4 * SPREAD * UNIT,
    "steep": 0.5 * SPREAD * UNIT,
    "bent": -0.4 * np.logaddexp(0, 2 * (UNIT - 0.8)),
}


@pytest.mark.parametrize("name", CURVES)
def test_a_known_curve_comes_back(name: str) -> None:
    """Days without chance and with priors of their own: the curve is found up to a constant.

    A line comes back within 0.001, a bend within 0.05: between six knots it is approached.
    """
    days = [
        {"all": without_chance(prior, CENTRES + CURVES[name])} for prior in np.linspace(-1, 1, 14)
    ]

    found = fit_reference(days).curve - CENTRES - CURVES[name]

    common = np.abs(UNIT) < 2.5
    error = np.abs(found - (WEIGHTS * found).sum())[common].max()
    assert error < (0.05 if name == "bent" else 0.001)


@pytest.mark.parametrize("name", CURVES)
def test_a_curve_is_found_as_well_as_its_outcomes_allow(name: str) -> None:
    """From 28 days of chance the curve errs by less than 0.15 between the 5th and 95th percent."""
    truth = Truth(lambda _: CURVES[name], centred=False)

    found = fit_reference(days_of(truth)).curve - CENTRES - CURVES[name]

    common = np.abs(UNIT) < 1.645
    assert np.abs(found - np.median(found[common]))[common].max() < 0.15


def test_a_prior_of_each_day_changes_nothing() -> None:
    """Without chance, constants added to the log-odds of each day leave the curve's shape.

    The priors move where the information lies, and with it the six knots, so the bent curve is
    approached a little differently: by less than 0.02.
    """
    bent = CENTRES + CURVES["bent"]
    still = fit_reference([{"all": without_chance(0.0, bent)}] * 14)
    moved = fit_reference([{"all": without_chance(p, bent)} for p in np.linspace(-0.7, 0.7, 14)])

    difference = moved.curve - still.curve
    common = np.abs(UNIT) < 2.5
    assert np.ptp(difference[common]) < 0.02


def test_the_curve_is_right_on_average() -> None:
    """Over the reference as many outcomes are positive as the curve says: the level is 0."""
    found = fit_reference(days_of(Truth()))

    expected = (found.counts.counts * expit(found.curve)).sum()
    assert expected == pytest.approx(found.counts.positives.sum(), rel=1e-8)
    assert found.levels["segment 0"].delta == pytest.approx(0.0, abs=1e-8)
    assert found.prevalence == found.counts.positives.sum() / found.counts.counts.sum()


def test_order_of_days_and_of_segments_is_irrelevant() -> None:
    """Days backwards, segments in another order: the same reference, to rounding."""
    days = days_of(Truth(centres=(-1.0, 0.0, 1.0)))
    backwards = [dict(reversed(day.items())) for day in reversed(days)]

    assert_same(fit_reference(backwards), fit_reference(days), within=1e-9)


def test_directions_are_orthonormal_under_the_information() -> None:
    """Slope, quadratic and cubic are uncorrelated, of mean 0, and both shapes of variance 1.

    The slope itself is not clipped, so with it correlations may differ from 0 by the few scores
    farther than four standard deviations: 0.01.
    """
    days = days_of(Truth())
    found = fit_reference(days)
    weights = np.zeros(CENTRES.size)
    for day in days:
        part = day["segment 0"]
        factor, _ = solve_factor(np.exp(found.curve), part.counts, part.positives.sum())
        p = expit(found.curve + np.log(factor))
        weights += part.counts * p * (1 - p)
    weights /= weights.sum()
    slope, quadratic, cubic = found.directions[:3]

    for direction in (slope, quadratic, cubic):
        assert (weights * direction).sum() == pytest.approx(0.0, abs=1e-7)
    for direction in (quadratic, cubic):
        assert (weights * direction**2).sum() == pytest.approx(1.0, abs=1e-7)
        both = (weights * direction * slope).sum() / sqrt((weights * slope**2).sum())
        assert abs(both) < 0.01
    assert (weights * quadratic * cubic).sum() == pytest.approx(0.0, abs=1e-7)


def test_the_top_is_a_tenth_of_the_reference() -> None:
    """The last direction is 1 on the highest scores, a tenth of all to within a cell, else 0."""
    found = fit_reference(days_of(Truth()))

    top, counts = found.directions[-1], found.counts.counts
    assert set(top) == {0.0, 1.0}
    assert np.all(np.diff(top) >= 0)
    share = (counts * top).sum() / counts.sum()
    assert 0.1 - counts.max() / counts.sum() < share <= 0.1


@pytest.mark.parametrize("rows", [300, 20_000])
def test_tolerance_and_effect_follow_their_formula(rows: int) -> None:
    """Twice the standard error or the least; three times the tolerance or the least."""
    least = Sensitivity(tolerances=(0.03, 0.05), effects=(0.1, 0.2))
    days = days_of(Truth(), world=World(0.05, rows))
    found = fit_reference(days, least)

    per_day = [
        score_directions(found.curve, p.counts, p.positives, found.directions)
        for p in (day["segment 0"] for day in days)
    ]
    scores, informations = np.array([s for s, _ in per_day]), np.array([i for _, i in per_day])
    precisions = informations / (1.0 + found.jitters * informations)
    ratios, middles = scores / informations, np.zeros(4)
    for _ in range(300):  # Huber's mean, by weighing again and again
        far = np.sqrt(precisions) * np.abs(ratios - middles)
        weights = precisions * np.minimum(1.0, 2.0 / np.maximum(far, 1e-300))
        middles = (weights * ratios).sum(axis=0) / weights.sum(axis=0)
    spread = np.minimum(precisions * (ratios - middles) ** 2, 4.0).sum(axis=0)
    usual = (len(days) - 1) * (chi2.cdf(4.0, 3) + 4.0 * chi2.sf(4.0, 1))  # E min(X, 4), X chi2(1)
    differ = found.jitters > 0.0
    assert spread[differ] == pytest.approx(np.full(differ.sum(), usual), rel=1e-6)
    assert np.all(spread[~differ] <= usual)
    variances = (informations * (1.0 + found.jitters * informations)).sum(axis=0)
    phi = variances / informations.sum(axis=0)
    errors = np.sqrt(phi / informations.sum(axis=0))
    tolerances = np.maximum([0.03, 0.05, 0.05, 0.05], 2 * errors)
    assert found.dispersions == pytest.approx(phi, rel=1e-9)
    assert found.tolerances == pytest.approx(tolerances, rel=1e-9)
    assert found.effects == pytest.approx(
        np.maximum([0.1, 0.2, 0.2, 0.2], 3 * tolerances), rel=1e-9
    )
    # Both branches of the formula are seen: few rows know the slope poorly, many know it well.
    assert (found.tolerances[0] > 0.03) == (rows == 300)


def test_days_that_differ_widen_the_limits() -> None:
    """A slope that jitters by 20 % from day to day is seen as dispersion, and tolerated."""
    calm, restless = (fit_reference(days_of(Truth(slope_jitter=j))) for j in (0.0, 0.2))

    assert calm.dispersions[0] < 2.0
    assert restless.dispersions[0] > 3.0
    assert restless.tolerances[0] > calm.tolerances[0]


def test_the_jitter_of_days_is_estimated_whatever_their_size() -> None:
    """The slope's own variance is found within 3 standard errors, in days of x0.2 to x5 rows.

    Over 20 references the mean of 0.01 has a relative error of sqrt(2 / 27 / 20) = 6 %.
    """
    found = [fit_reference(days_of(Truth(slope_jitter=0.1), seed=s)).jitters[0] for s in range(20)]

    assert np.mean(found) == pytest.approx(0.01, rel=0.18)


def test_a_few_storms_do_not_speak_for_all_days() -> None:
    """Two days of slope 1.5 among 28 add a third to a jitter of 0.05; as a mean square, more.

    Over 12 references the mean of a root of 27 squares has a relative error of 4 %.
    """
    found = np.empty((12, 2))
    for seed in range(12):
        days = days_of(Truth(slope_jitter=0.05), seed=seed)
        storms = days_of(Truth(tilted(1.5)), seed=seed + 50, number=2)
        mixed = [*days[:10], storms[0], *days[10:20], storms[1], *days[20:26]]
        found[seed] = [np.sqrt(fit_reference(part).jitters[0]) for part in (days, mixed)]

    calm, stormy = found.mean(axis=0)
    assert calm == pytest.approx(0.05, rel=0.15)
    assert calm < stormy < 1.5 * calm


def test_a_single_score_has_no_direction() -> None:
    """With one score only nothing is looked for, and nothing fails."""
    counts = np.zeros(CENTRES.size, np.int64)
    counts[500] = 100
    found = fit_reference([{"all": Coarse(counts, counts // 2)}] * 14)

    assert not found.tolerances.any()
    assert not found.effects.any()
    assert np.isfinite(found.curve).all()
    assert len(found.dispersions) == len(DIRECTIONS)


def short(days: int, positives: int, negatives: int) -> Days:
    """Make days with so many outcomes of each kind in all, as even as can be."""
    made = []
    for t in range(days):
        hits, misses = (
            np.bincount(np.arange(n) % days, minlength=days)[t] for n in (positives, negatives)
        )
        counts, hit = np.zeros((2, CENTRES.size), np.int64)
        counts[500], hit[500] = hits + misses, hits
        made.append({"all": Coarse(counts, hit)})
    return made


@pytest.mark.parametrize(
    ("days", "message"),
    [
        (short(13, 500, 500), "13 of at least 14 final days"),
        (short(14, 299, 500), "299 of at least 300 positive outcomes"),
        (short(14, 500, 299), "299 of at least 300 negative outcomes"),
        (short(14, 300, 300), None),
    ],
)
def test_what_is_missing_is_said(days: Days, message: str | None) -> None:
    """Too few days, positives or negatives are refused with how many there are; enough are not."""
    assert (LEAST_DAYS, LEAST_OF_EACH) == (14, 300)
    assert what_a_reference_lacks(days) == message
    if message:
        with pytest.raises(ValueError, match=f"a reference needs more: {message}"):
            fit_reference(days)
    else:
        fit_reference(days)


def test_days_are_not_overwritten() -> None:
    """Fitting leaves the days as they were."""
    days = days_of(Truth(), number=14)
    before = [(day["segment 0"].counts.copy(), day["segment 0"].positives.copy()) for day in days]

    fit_reference(days)

    for day, (counts, positives) in zip(days, before, strict=True):
        assert np.array_equal(day["segment 0"].counts, counts)
        assert np.array_equal(day["segment 0"].positives, positives)
