"""The reference: a known curve comes back, no prior enters it, and its limits follow a formula."""

import numpy as np
import pytest
from scipy.special import expit

from monitor.drift.curve.reference import (
    LEAST_DAYS,
    SOUGHT,
    TOLERATED,
    Sensitivity,
    dispersions,
    fit_reference,
    what_a_reference_lacks,
)
from monitor.drift.records.lack import LEAST_OF_EACH, Lack
from monitor.metrics.core.coarse import CENTRES, Coarse
from monitor.metrics.core.grid import Floats
from monitor.metrics.logistic.conditional import score_directions
from studies.drift.worlds import SPREAD, Truth, World, centre, shares, standardised, stream
from tests.support.cases import some

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


@pytest.mark.parametrize("name", some(["bent", "flat"], 2))
def test_the_error_of_the_curve_holds_the_truth(name: str) -> None:
    """The curve of 30 references is within 1.96 errors of the truth at 95 % of the information.

    Measured are 96.5 to 97 % with 60 references, since the penalty shrinks the curve; the mean of
    30 shares that vary by 0.08 has a standard error of 0.015.
    """
    inside, truth = [], CENTRES + CURVES[name]
    for seed in range(30):
        rng = np.random.default_rng(seed)
        days = []
        for prior in rng.normal(0.0, 0.5, 28):
            counts = rng.multinomial(2_000, WEIGHTS)
            days.append({"all": Coarse(counts, rng.binomial(counts, expit(truth + prior)))})
        found = fit_reference(days)
        weights = (found.counts.counts * expit(found.curve) * expit(-found.curve))[found.known]
        weights /= weights.sum()
        off = (found.curve - truth)[found.known]
        off -= (weights * off).sum()
        inside.append(weights @ (np.abs(off) < 1.96 * found.curve_errors[found.known]))

    assert 0.92 < np.mean(inside) < 0.995


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


@pytest.mark.parametrize("scores", ["spread", "piled", "seven values"])
def test_the_reference_says_nothing_against_itself(scores: str) -> None:
    """Its own outcomes have scores of 0 along every direction, but for the ridge of the curve.

    The scores of its days add up to less than a tenth of their standard deviation. With a top
    tenth outside of the span they were 0.8 logit off for piled scores.
    """
    rng = np.random.default_rng(11)
    weights, curve = WEIGHTS.copy(), CENTRES + 0.2 * np.sin(2.0 * CENTRES)
    if scores == "piled":
        weights *= 0.4
        for place, off in ((430, 0.4), (500, -0.4)):
            weights[place] += 0.3
            curve[place] += off
    if scores == "seven values":
        weights = np.zeros(CENTRES.size)
        weights[np.linspace(360, 520, 7).astype(int)] = 1 / 7
        curve = CENTRES + np.interp(np.arange(CENTRES.size), [360, 400, 520], [0.2, -0.3, 0.2])
    days: Days = []
    for prior in rng.normal(0.0, 0.3, 28):
        counts = rng.poisson(20_000 * weights)
        days.append({"all": Coarse(counts, rng.binomial(counts, expit(curve + prior)))})

    found = fit_reference(days)

    pulls = [
        score_directions(found.curve, p.counts, p.positives, found.directions)
        for p in (day["all"] for day in days)
    ]
    scores_sum, known = np.sum(pulls, axis=0)
    moving = known > 1.0
    assert moving.sum() >= 3
    assert np.all(np.abs(scores_sum[moving]) < 0.1 * np.sqrt(known[moving]))


@pytest.mark.parametrize("number", [2, 7])
def test_between_few_scores_the_curve_stays_near_them(number: int) -> None:
    """Scores between two that the reference saw have a log-odds between theirs."""
    rng = np.random.default_rng(number)
    cells = np.linspace(330, 560, number).astype(int)
    weights = np.zeros(CENTRES.size)
    weights[cells] = 1 / number
    curve = CENTRES + np.interp(np.arange(CENTRES.size), cells, rng.normal(0.0, 0.2, number))
    counts = np.rint(20_000 * weights).astype(np.int64)
    days = [{"all": Coarse(counts, rng.binomial(counts, expit(curve)))} for _ in range(28)]

    off = fit_reference(days).curve - CENTRES

    assert np.ptp(off[cells[0] : cells[-1] + 1]) <= np.ptp(off[cells]) + 1e-9
    assert np.abs(off[cells] - (curve - CENTRES)[cells]).max() < 0.5


@pytest.mark.parametrize("rows", [300, 20_000])
def test_tolerance_and_effect_follow_their_formula(rows: int) -> None:
    """1.25 standard errors or the least; 6 standard errors or the least."""
    least = Sensitivity(tolerances=(0.03, 0.05), effects=(0.1, 0.2))
    days = days_of(Truth(), world=World(0.05, rows))
    found = fit_reference(days, least)

    informations = found.informations
    variances = (informations * (1.0 + found.day_variances * informations)).sum(axis=0)
    phi = variances / informations.sum(axis=0)
    errors = np.sqrt(phi / informations.sum(axis=0))
    assert (TOLERATED, SOUGHT) == (1.25, 6.0)
    assert dispersions(found.day_variances, informations) == pytest.approx(phi, rel=1e-9)
    assert found.errors == pytest.approx(errors, rel=1e-9)
    assert found.tolerances == pytest.approx(
        np.maximum([0.03, 0.05, 0.05, 0.05], 1.25 * errors), rel=1e-9
    )
    assert found.effects == pytest.approx(np.maximum([0.1, 0.2, 0.2, 0.2], 6 * errors), rel=1e-9)
    # Both branches of the formula are seen: few rows know the slope poorly, many know it well.
    assert (found.tolerances[0] > 0.03) == (rows == 300)


def test_a_reference_knows_its_own_slope() -> None:
    """Scores that are too extreme from the first day on are told, with an interval that holds it.

    Its standard error is below 0.02; one interval in a thousand would miss by more than 3.29.
    """
    sound, extreme = (
        fit_reference(days_of(truth)).own_slope
        for truth in (Truth(), Truth(lambda _: CURVES["flat"], centred=False))
    )

    assert sound is not None
    assert extreme is not None
    for found, true in ((sound, 1.0), (extreme, 0.6)):
        assert abs(found.value - true) < 3.29 * found.standard_error
        assert found.standard_error < 0.02


def test_a_reference_knows_its_own_intercept() -> None:
    """Scores that are all too low by 0.4 are reported so; a tenth is what the priors do by chance.

    Its days have priors of their own, so the intercept of a sound reference is that of its days.
    """
    lifted = Truth(lambda _: np.full(CENTRES.shape, 0.4), centred=False)
    sound, low = (fit_reference(days_of(truth)).own_intercept for truth in (Truth(), lifted))

    assert abs(low.value - sound.value - 0.4) < 3.29 * np.hypot(
        low.standard_error, sound.standard_error
    )
    assert low.standard_error < 0.02


@pytest.mark.parametrize("judge_every", some([1, 7], 2))
def test_what_a_month_cannot_hint_at_is_not_looked_for(judge_every: int) -> None:
    """A long reference of few outcomes a day knows its curve well, but a month of days does not.

    1,400 days of 12 predictions: six standard errors of the curve are below the least effect, 1.5
    of a month are above it.
    """
    few = World(0.5, 12)
    found = fit_reference(days_of(Truth(), number=1_400, world=few), judge_every=judge_every)

    a_day = found.informations.sum(axis=0) / 1_400
    assert 6.0 * found.errors[0] < 0.12
    assert found.effects[0] == pytest.approx(1.5 / np.sqrt(30 * a_day[0]), rel=1e-9)
    assert found.effects[0] > 0.12


def test_sure_scores_that_are_right_leave_the_fit_finite() -> None:
    """A stratum of few rows that their scores separate, beside one whose curve is steep."""
    sure, right = np.zeros((2, CENTRES.size), np.int64)
    sure[[0, -1]], right[-1] = (12, 36), 36
    seen = np.where(abs(CENTRES) < 6, 20, 0)
    steep = Coarse(seen, np.rint(seen * expit(1.5 * CENTRES)).astype(np.int64))

    both = fit_reference([{"sure": Coarse(sure, right), "steep": steep}] * 28)
    alone = fit_reference([{"steep": steep}] * 28)

    assert np.isfinite(both.curve).all()
    # Where the sure scores are far away, the curve is as without them, whose outcomes say little.
    near = abs(CENTRES) < 3
    assert both.curve[near] == pytest.approx(alone.curve[near], abs=0.2)


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
    ("days", "lack"),
    [
        (short(13, 500, 500), Lack("final days", 13, 14)),
        (short(14, 299, 500), Lack("positive outcomes", 299, 300)),
        (short(14, 500, 299), Lack("negative outcomes", 299, 300)),
        (short(14, 300, 300), None),
    ],
)
def test_what_is_missing_is_said(days: Days, lack: Lack | None) -> None:
    """Too few days, positives or negatives are refused with how many there are; enough are not."""
    assert (LEAST_DAYS, LEAST_OF_EACH) == (14, 300)
    assert what_a_reference_lacks(days) == lack
    if lack:
        message = f"a reference needs more {lack.of}: {lack.there} of at least {lack.least}."
        with pytest.raises(ValueError, match=message):
            fit_reference(days)
    else:
        fit_reference(days)


def test_the_top_is_a_tenth_of_the_reference() -> None:
    """The last direction is 1 on the highest scores, a tenth of all to within a cell, else 0."""
    found = fit_reference(days_of(Truth()))

    top, counts = found.directions[-1], found.counts.counts
    assert set(top) == {0.0, 1.0}
    assert np.all(np.diff(top) >= 0)
    share = (counts * top).sum() / counts.sum()
    assert 0.1 - counts.max() / counts.sum() < share <= 0.1
