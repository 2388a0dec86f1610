"""The reference: a known curve comes back, no prior enters it, and its limits follow a formula."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from scipy.special import expit

from monitor.drift.curve.reference import (
    LEAST_DAYS,
    SOUGHT,
    TOLERATED,
    Reference,
    Sensitivity,
    dispersions,
    fit_reference,
    merge_days,
    what_a_reference_lacks,
)
from monitor.drift.records.day_evidence import DIRECTIONS
from monitor.drift.records.detector import no_sums
from monitor.drift.records.lack import LEAST_OF_EACH, Lack
from monitor.metrics.core.coarse import CENTRES, Coarse
from monitor.metrics.core.grid import Floats
from monitor.metrics.logistic.conditional import score_directions, solve_factor
from monitor.store.fit_record import laid_out
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
    assert found.day_variances == pytest.approx(expected.day_variances, abs=within)
    assert found.known == expected.known
    assert found.basis.shape == expected.basis.shape


@pytest.mark.parametrize("judge_every", [1, 2])
def test_evidence_rests_on_the_same_bits_of_a_bare_reference(judge_every: int) -> None:
    """What is said of the days of a reference themselves changes nothing else."""
    days = days_of(Truth(tilted(0.9)), world=World(0.05, 4_000))
    full, bare = (fit_reference(days, judge_every=judge_every, bare=b) for b in (False, True))
    unsaid = {"level_dispersion": 1.0, "usual_input_move": 0.0}
    unsaid |= dict.fromkeys(("own_slope", "own_intercept"))
    unsaid |= {"level_days": np.zeros((0, 4)), "level_variances": np.zeros(2)}

    assert full.noise
    assert laid_out(bare) == laid_out(
        replace(full, noise=replace(full.noise, sums=no_sums()), **unsaid)
    )


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


@pytest.mark.parametrize("name", ["flat", "bent"])
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


def test_order_of_days_and_of_segments_is_irrelevant() -> None:
    """Days backwards, segments in another order: the same reference, to rounding."""
    days = days_of(Truth(centres=(-1.0, 0.0, 1.0)))
    backwards = [dict(reversed(day.items())) for day in reversed(days)]

    assert_same(fit_reference(backwards), fit_reference(days), within=1e-9)


def weights_of(found: Reference, days: Days) -> Floats:
    """Give the share of the information in each cell, intercepts profiled out."""
    weights = np.zeros(CENTRES.size)
    for day in days:
        for part in day.values():
            factor, _ = solve_factor(np.exp(found.curve), part.counts, part.positives.sum())
            p = expit(found.curve + np.log(factor))
            weights += part.counts * p * (1 - p)
    return weights / weights.sum()


def test_shapes_are_orthonormal_under_the_information() -> None:
    """Quadratic and cubic are uncorrelated with each other and the slope, of variance 1.

    They are made from the first fit of the curve and under its weights, and the curve is fitted
    again with them: so to 0.03.
    """
    days = days_of(Truth())
    found = fit_reference(days)
    weights = weights_of(found, days)
    slope, quadratic, cubic = (
        direction - (weights * direction).sum() for direction in found.directions[:3]
    )

    for direction in (quadratic, cubic):
        assert (weights * direction**2).sum() == pytest.approx(1.0, abs=0.03)
        both = (weights * direction * slope).sum() / sqrt((weights * slope**2).sum())
        assert abs(both) < 0.03
    assert abs((weights * quadratic * cubic).sum()) < 0.03


def test_the_curve_and_its_directions_lie_in_the_span_of_the_basis() -> None:
    """Each is a combination of the functions that the curve was fitted with, but for a constant."""
    days = days_of(Truth(lambda _: CURVES["bent"], centred=False))
    found = fit_reference(days)
    seen = found.counts.counts > 0
    functions = np.vstack([np.ones(seen.sum()), found.basis[:, seen]]).T

    for row in found.directions[:, seen]:
        rest = row - functions @ np.linalg.lstsq(functions, row, rcond=None)[0]
        assert np.abs(rest).max() < 1e-6 * np.abs(row).max()


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


def test_the_top_is_a_tenth_of_the_reference() -> None:
    """The last direction is 1 on the highest scores, a tenth of all to within a cell, else 0."""
    found = fit_reference(days_of(Truth()))

    top, counts = found.directions[-1], found.counts.counts
    assert set(top) == {0.0, 1.0}
    assert np.all(np.diff(top) >= 0)
    share = (counts * top).sum() / counts.sum()
    assert 0.1 - counts.max() / counts.sum() < share <= 0.1


@pytest.mark.parametrize("number", [2, 7, 40])
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


def test_the_known_range_holds_98_percent_of_the_information() -> None:
    """A hundredth of it lies below and a hundredth above, to within a cell."""
    days = days_of(Truth())
    found = fit_reference(days)
    weights = weights_of(found, days)

    largest = weights.max()
    assert 0.01 - largest <= weights[: found.known.start].sum() <= 0.01 + 1e-3
    assert 0.01 - largest <= weights[found.known.stop :].sum() <= 0.01 + 1e-3


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

    assert sound is not None
    assert low is not None
    assert abs(low.value - sound.value - 0.4) < 3.29 * np.hypot(
        low.standard_error, sound.standard_error
    )
    assert low.standard_error < 0.02


@pytest.mark.parametrize("judge_every", [1, 7])
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


def test_spans_of_days_share_an_intercept() -> None:
    """Judged by the week, a reference of 28 days has four rows, and 30 days have five."""
    days = days_of(Truth(), number=30)

    weekly = fit_reference(days, judge_every=7)

    assert len(weekly.scores) == 5
    whole = merge_days(days)["segment 0"]
    assert np.array_equal(weekly.counts.counts, whole.counts)
    assert weekly.judge_every == 7


def test_days_that_differ_widen_the_limits() -> None:
    """A slope that varies by 20 % from day to day is seen as dispersion, and tolerated."""
    calm, restless = (fit_reference(days_of(Truth(slope_variation=j))) for j in (0.0, 0.2))

    spread = [dispersions(found.day_variances, found.informations)[0] for found in (calm, restless)]
    assert spread[0] < 2.0
    assert spread[1] > 3.0
    assert restless.tolerances[0] > calm.tolerances[0]


def test_the_between_day_variance_is_estimated_whatever_their_size() -> None:
    """The slope's own variance is found within 3 standard errors, in days of x0.2 to x5 rows.

    Over 20 references the mean of 0.01 has a relative error of sqrt(2 / 27 / 20) = 6 %.
    """
    found = [
        fit_reference(days_of(Truth(slope_variation=0.1), seed=s)).day_variances[0]
        for s in range(20)
    ]

    assert np.mean(found) == pytest.approx(0.01, rel=0.18)


def test_a_few_storms_do_not_speak_for_all_days() -> None:
    """Two days of slope 1.5 among 28 add a third to a deviation of 0.05; as a mean square, more.

    The deviation of a calm period is on average 0.047: what counts as chance is a little more than
    its mean, a quarter of a standard deviation. Over 12 references the mean has an error of 7 %.
    """
    found = np.empty((12, 2))
    for seed in range(12):
        days = days_of(Truth(slope_variation=0.05), seed=seed)
        storms = days_of(Truth(tilted(1.5)), seed=seed + 50, number=2)
        mixed = [*days[:10], storms[0], *days[10:20], storms[1], *days[20:26]]
        found[seed] = [np.sqrt(fit_reference(part).day_variances[0]) for part in (days, mixed)]

    calm, stormy = found.mean(axis=0)
    assert calm == pytest.approx(0.047, rel=0.2)
    assert calm < stormy < 1.5 * calm


def test_a_single_score_has_no_direction() -> None:
    """With one score only nothing is looked for, and nothing fails."""
    counts = np.zeros(CENTRES.size, np.int64)
    counts[500] = 100
    found = fit_reference([{"all": Coarse(counts, counts // 2)}] * 14)

    assert not found.tolerances.any()
    assert not found.effects.any()
    assert np.isfinite(found.curve).all()
    assert len(found.day_variances) == len(DIRECTIONS)


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


def test_days_are_not_overwritten() -> None:
    """Fitting leaves the days as they were."""
    days = days_of(Truth(), number=14)
    before = [(day["segment 0"].counts.copy(), day["segment 0"].positives.copy()) for day in days]

    fit_reference(days)

    for day, (counts, positives) in zip(days, before, strict=True):
        assert np.array_equal(day["segment 0"].counts, counts)
        assert np.array_equal(day["segment 0"].positives, positives)
