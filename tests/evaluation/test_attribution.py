"""Attribution against worlds of known truth, a generic optimiser, and leave-one-out."""

import math
from collections.abc import Callable
from dataclasses import astuple
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logit

from monitor.evaluation import attribution
from monitor.evaluation.attribution import (
    apart_or_together,
    causes_of,
    intercept_correction,
    mean_causes,
)
from monitor.evaluation.evaluation import Causes, Shares
from monitor.metrics.binned.ece import debiased_mean_squared_gap
from monitor.metrics.core.buckets import BUCKETS, NO_BUCKETS, add_up_buckets, bins_of, merge_buckets
from monitor.metrics.core.grid import Floats, locate
from monitor.metrics.core.tally import Tally, merge, shift, tally, tally_on_grid
from monitor.metrics.logistic.cox import fit_cox
from monitor.metrics.logistic.intercept import fit_intercept, has_intercept
from monitor.metrics.logistic.optimism import FittedScore, fitted_score
from monitor.metrics.logistic.recalibration_maps import NestedMaps, fit_nested_maps
from monitor.metrics.logistic.remaining_error import information_bins, remaining_error
from monitor.metrics.scores.bounds import ScoringRule
from monitor.metrics.scores.brier import brier
from monitor.metrics.scores.log_score import log_score
from tests.support.cases import ALL

CAUSES = ("prior_shift", "slope", "shape", "rest")
SAMPLES = 400 if ALL else 150
Curve = Callable[[Floats, Floats], Floats]

# True log-odds of logits x, with z the same in standard deviations.
WORLDS: dict[str, Curve] = {
    "calibrated": lambda x, _: x,
    "prior": lambda x, _: x + 0.3,
    "slope": lambda x, _: 0.8 * x - 0.2,
    "shape": lambda x, z: x + 0.08 * np.clip(z**2 - 1.0, None, 8.0),
    "combination": lambda x, z: 0.3 + 0.85 * x - 0.05 * z**2 + 0.3 * (z > 1.28),
}
# What the population must show beside noise, and where nothing may be: named so that a
# wrong formula cannot agree with itself.
PRESENT = {
    "calibrated": set(),
    "prior": {"prior_shift"},
    "slope": {"prior_shift", "slope"},
    "shape": {"prior_shift", "slope", "shape"},
    "combination": set(CAUSES),
}


@cache
def world(name: str, centre: float) -> tuple[Floats, Floats, Floats]:
    """Give scores, their shares and the true probabilities: logits normal with sd 1.2."""
    z = np.arange(-112, 113) / 32
    x = centre + 1.2 * z
    shares = np.exp(-(z**2) / 2)
    return expit(x), shares / shares.sum(), expit(WORLDS[name](x, z))


def sample(name: str, centre: float, size: int, rng: np.random.Generator) -> Tally:
    """Draw predictions and outcomes."""
    scores, shares, truths = world(name, centre)
    counts = rng.multinomial(size, shares)
    seen = counts > 0
    return Tally(scores[seen], counts[seen], rng.binomial(counts[seen], truths[seen]))


def population(name: str, centre: float) -> Tally:
    """Give the expected counts of 1e12 predictions; rounding them moves nothing by 1e-9."""
    scores, shares, truths = world(name, centre)
    counts = np.round(1e12 * shares).astype(np.int64)
    return Tally(scores, counts, np.round(counts * truths).astype(np.int64))


def attributed(t: Tally) -> Causes:
    """Attribute what must be attributable."""
    found = causes_of(t)
    assert found is not None
    return found


def fitted(t: Tally) -> NestedMaps:
    """Fit what must have maps."""
    found = fit_nested_maps(t)
    assert found is not None
    return found


def parts_of(found: Causes) -> list[tuple[Shares, Shares]]:
    """Give what each cause explains, with the standard errors, for both scores."""
    of_log_loss = found.log_loss, found.log_loss_errors
    return [of_log_loss, (found.squared_error, found.squared_error_errors)]


def true_rest(name: str, centre: float, maps: NestedMaps) -> tuple[float, float]:
    """Give divergence and squared gap of the population's f3 over the bins of a sample."""
    scores, weights, truths = world(name, centre)
    last = expit(population_maps(name, centre).logits[3])
    first = maps.tally.scores[information_bins(maps).starts[:-1]]
    starts = np.concatenate([[0], np.searchsorted(scores, first[1:])])
    share, r, p = (
        np.add.reduceat(weights * of, starts) for of in (np.ones(scores.size), truths, last)
    )
    r, p = r / share, p / share
    divergence = r * np.log(r / p) + (1 - r) * np.log((1 - r) / (1 - p))
    return float((share * divergence).sum()), float((share * (r - p) ** 2).sum())


@cache
def population_maps(name: str, centre: float) -> NestedMaps:
    """Fit the maps that infinitely many predictions would give."""
    return fitted(population(name, centre))


@pytest.mark.parametrize(("centre", "size"), [(0.0, 10_000), (-3.4, 50_000)])
@pytest.mark.parametrize("name", WORLDS)
def test_shares_are_unbiased(
    name: str, centre: float, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mean of many samples is the population's value, for each cause, in 4 errors of the mean.

    The rest is that of the sample's own bins. And 1.96 standard errors hold it in 85 to 100 of
    100 samples; errors that took the maps as fixed would in 64 to 99 (Brier).
    """
    truth = attributed(population(name, centre))
    rng = np.random.default_rng(17)
    samples = [sample(name, centre, size, rng) for _ in range(SAMPLES)]
    fit_once = cache(fit_nested_maps)  # for the causes and for the truth of their bins
    monkeypatch.setattr(attribution, "fit_nested_maps", fit_once)
    found_in = [attributed(one) for one in samples]
    rests = [true_rest(name, centre, maps) for one in samples if (maps := fit_once(one))]

    for number, score in enumerate(("log_loss", "squared_error")):
        expected = np.tile(astuple(getattr(truth, score)), (SAMPLES, 1))
        expected[:, 3] = [rest[number] for rest in rests]
        found = np.array([astuple(getattr(one, score)) for one in found_in])
        error = np.array([astuple(getattr(one, f"{score}_errors")) for one in found_in])
        off = found - expected
        deviation = off.mean(axis=0) / (off.std(axis=0) / math.sqrt(SAMPLES))
        covered = (np.abs(off) < 1.96 * error).mean(axis=0)
        assert np.abs(deviation).max() < 4, (score, deviation)
        assert covered.min() > 0.85, (score, covered)


@pytest.mark.parametrize("centre", [0.0, -3.4])
@pytest.mark.parametrize("name", WORLDS)
def test_the_population_shows_the_causes_that_were_put_in(name: str, centre: float) -> None:
    """What was put in explains more than 1e-6 nats; what was not, less (clipping leaves 5e-7)."""
    found = vars(attributed(population(name, centre)).log_loss)

    for cause, value in found.items():
        assert (value > 1e-6) == (cause in PRESENT[name]), (cause, value)
        assert value > -1e-10


def after_last_map(maps: NestedMaps, rule: ScoringRule) -> float:
    """Score what the last map makes, corrected for having been fitted."""
    design = maps.design[:, : maps.terms[-1]]
    return fitted_score(maps.tally, maps.logits[-1], design, rule).corrected(1.0)


@pytest.mark.parametrize("name", WORLDS)
def test_causes_add_up(name: str) -> None:
    """The three causes are the score of the scores less that of the last map, to 1e-12."""
    t = sample(name, -1.0, 5_000, np.random.default_rng(19))
    maps, found = fitted(t), attributed(t)
    for part, rule, score in (
        (found.log_loss, "log", log_score),
        (found.squared_error, "brier", brier),
    ):
        last = fitted_score(t, maps.logits[3], maps.design, "log" if rule == "log" else "brier")
        bent = Tally(expit(maps.logits[3]), t.counts, t.positives)

        removed = score(t) - (score(bent) + last.optimism)
        assert sum(astuple(part)[:3]) == pytest.approx(removed, abs=1e-12)


def test_maps_equal_the_other_fits_and_a_generic_optimiser() -> None:
    """f1 is the intercept, f2 the Cox line, to 1e-9; nothing beats f3 among its terms."""
    t = sample("combination", -1.0, 20_000, np.random.default_rng(20))
    maps, line = fitted(t), fit_cox(t)

    def loss(theta: Floats) -> float:
        eta = maps.logits[1] + maps.design @ theta
        misses = t.counts - t.positives
        return float(t.positives @ np.logaddexp(0, -eta) + misses @ np.logaddexp(0, eta))

    other = minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-3})
    found = log_score(Tally(expit(maps.logits[3]), t.counts, t.positives)) * t.total

    assert maps.terms == (0, 1, 2, 4)
    assert maps.delta == pytest.approx(fit_intercept(t).delta, abs=1e-9)
    assert maps.intercept == pytest.approx(line.intercept, abs=1e-9)
    assert maps.slope == pytest.approx(line.slope, abs=1e-9)
    assert found <= other.fun + 1e-9 * other.fun
    assert found == pytest.approx(other.fun, rel=1e-9)


@pytest.mark.parametrize("rule", ["log", "brier"])
@pytest.mark.parametrize("size", [1, 2])
def test_optimism_equals_leave_one_out(rule: ScoringRule, size: int) -> None:
    """The jackknife's bias of the fitted score, where the map is wrong; its own error is 1/N."""
    t = sample("combination", -1.0, 3_000, np.random.default_rng(22))

    def score(part: Tally) -> FittedScore:
        x = logit(part.scores)
        if size == 1:
            return fitted_score(part, x + fit_intercept(part).delta, np.ones((x.size, 1)), rule)
        line = fit_cox(part)
        design = np.column_stack([np.ones(x.size), x])
        return fitted_score(part, line.intercept + line.slope * x, design, rule)

    def without(i: int, outcome: int) -> Tally:
        counts, positives = t.counts.copy(), t.positives.copy()
        counts[i] -= 1
        positives[i] -= outcome
        kept = counts > 0
        return Tally(t.scores[kept], counts[kept], positives[kept])

    whole, left_out = score(t), 0.0
    for i in range(t.scores.size):
        for outcome, times in enumerate((t.counts[i] - t.positives[i], t.positives[i])):
            if times:
                left_out += times * (score(without(i, outcome)).observed - whole.observed)
    jackknife = (t.total - 1) / t.total * left_out

    assert whole.optimism == pytest.approx(-jackknife, rel=0.03)


def test_rest_is_the_debiased_gap_and_what_the_fit_took() -> None:
    """Over the same bins: the debiased gap of f3, plus nearly the optimism of its Brier score."""
    t = tally_on_grid(*_rows(40_000)[::-1])
    maps = fitted(t)
    rest, last = remaining_error(maps), fitted_score(t, maps.logits[3], maps.design, "brier")
    found = attributed(t)

    assert found.squared_error.rest == rest.squared.value
    assert found.log_loss.rest == rest.divergence.value
    bins = information_bins(maps)
    taken = rest.squared.value - debiased_mean_squared_gap(bins)
    information = t.counts * expit(maps.logits[3]) * expit(-maps.logits[3])
    in_bins = np.add.reduceat(information, bins.starts[:-1])
    assert bins.counts.sum() == t.total
    assert in_bins == pytest.approx(np.full(20, information.sum() / 20), rel=0.02)
    # 20 bins see all but a few percent of what four smooth terms can do.
    assert 0.8 * last.optimism < taken <= last.optimism


def _rows(size: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(23)
    x = rng.normal(-1.5, 1.2, size)
    return expit(x), (rng.random(size) < expit(x + 0.3 * (x > 0))).astype(float)


def test_correction_is_the_share_of_the_prior_shift() -> None:
    """The offered intercept removes exactly what is attributed to the prior, with its errors."""
    t = sample("prior", -2.0, 20_000, np.random.default_rng(24))
    offer, found, alone = intercept_correction(t), attributed(t), fit_intercept(t)

    assert offer.delta.value == pytest.approx(alone.delta, abs=1e-12)
    assert offer.delta.standard_error == pytest.approx(alone.standard_error, rel=1e-9)
    assert offer.log_loss.value == found.log_loss.prior_shift
    assert offer.log_loss.standard_error == found.log_loss_errors.prior_shift
    assert offer.squared_error.value == found.squared_error.prior_shift
    removed = brier(t) - brier(shift(t, alone.delta))
    assert offer.squared_error.value == pytest.approx(removed, abs=1 / t.total)
    assert offer.squared_error.value > 5 * offer.squared_error.standard_error
    assert offer.log_loss_before == pytest.approx(log_score(t), rel=1e-12)


def test_few_outcomes_leave_causes_out() -> None:
    """Nine positives say nothing, ten the prior, twenty the slope, forty the shape."""
    scores = np.linspace(0.02, 0.4, 2_000)
    fit = {}
    for positives in (9, 10, 19, 20, 39, 40):
        outcomes = np.zeros(2_000)
        # Spread so that outcomes rise with the scores and no curve is needed.
        outcomes[(2_000 * np.sqrt((np.arange(positives) + 0.5) / positives)).astype(int)] = 1
        maps = fit_nested_maps(tally(outcomes, scores))
        fit[positives] = maps.terms if maps else None

    assert fit == {
        9: None,
        10: (0, 1, 1, 1),
        19: (0, 1, 1, 1),
        20: (0, 1, 2, 2),
        39: (0, 1, 2, 2),
        40: (0, 1, 2, 4),
    }


@pytest.mark.parametrize(
    ("scores", "positives"),
    [
        ([0.5], [40]),  # one score has no slope
        ([0.2, 0.6], [0, 100]),  # separated: no finite line
        ([0.2, 0.6], [60, 30]),  # falling: no increasing line
        ([0.2, math.nextafter(0.2, 1)], [40, 45]),  # one logit
    ],
)
def test_what_cannot_be_fitted_explains_nothing(scores: list[float], positives: list[int]) -> None:
    """Without an increasing finite line slope and shape explain 0, exactly."""
    t = Tally(np.array(scores), np.full(len(scores), 100), np.array(positives))
    found = attributed(t)

    assert fitted(t).terms == (0, 1, 1, 1)
    for part, its_errors in parts_of(found):
        assert (part.slope, part.shape, its_errors.slope, its_errors.shape) == (0, 0, 0, 0)
        assert math.isfinite(its_errors.prior_shift)


@pytest.mark.parametrize("name", ["calibrated", "slope"])
def test_rows_of_an_entity_count_once(name: str) -> None:
    """Rows that are written eight times say with their key what they say written once."""
    rng, once, again, without = np.random.default_rng(71), [], [], []
    scores, shares, truths = world(name, -1.0)
    for _ in range(60):
        drawn = rng.choice(scores.size, 4_000, p=shares)
        outcomes, buckets = rng.random(4_000) < truths[drawn], rng.integers(BUCKETS, size=4_000)
        cells, hits = locate(scores[drawn])[0], np.repeat(outcomes, 8).astype(np.int64)
        held = add_up_buckets(
            *(np.repeat(buckets, 8), bins_of(np.repeat(cells, 8)), np.ones_like(hits), hits)
        )
        eightfold = tally_on_grid(hits, np.repeat(scores[drawn], 8))
        once.append(in_numbers(causes_of(tally_on_grid(outcomes, scores[drawn]))))
        again.append(in_numbers(causes_of(eightfold, held)))
        without.append(in_numbers(causes_of(eightfold)))

    own, theirs, blind = (np.mean(of, axis=0) for of in (once, again, without))
    errors = own[1]
    # A design effect is known to 18 %, an error to 9 %: their mean over 60 samples to 3 %, and the
    # curvature grows with the square of it. With a key the rest has wider bins, and fewer.
    assert theirs[1][:3] == pytest.approx(errors[:3], rel=0.15)
    assert 0.6 < theirs[1][3] / errors[3] < 1.15
    assert (blind[1] < 0.75 * errors).all()
    assert theirs[0] == pytest.approx(own[0], abs=0.15 * errors.max())
    assert (np.abs(blind[0] - own[0]) > 0.15 * errors.max()).any()


def test_days_with_the_same_entities_count_once() -> None:
    """A week in which every day brings the same rows says no more than one of its days."""
    rng = np.random.default_rng(72)
    scores, shares, truths = world("slope", -1.0)
    drawn = rng.choice(scores.size, 4_000, p=shares)
    hits = (rng.random(4_000) < truths[drawn]).astype(np.int64)
    buckets, cells = rng.integers(BUCKETS, size=4_000), locate(scores[drawn])[0]
    held = add_up_buckets(buckets, bins_of(cells), np.ones_like(hits), hits)
    day = tally_on_grid(hits, scores[drawn])
    week = merge([day] * 7)

    alone = in_numbers(causes_of(day))[1]
    together = mean_causes([(day, held)] * 7, (week, merge_buckets([held] * 7)), causes_of)
    blind = mean_causes([(day, NO_BUCKETS)] * 7, (week, NO_BUCKETS), causes_of)

    assert in_numbers(blind)[1] == pytest.approx(alone / math.sqrt(7.0))
    # One sample: 64 buckets say 9 % of an error.
    assert in_numbers(together)[1] == pytest.approx(alone, rel=0.4)


@pytest.mark.parametrize(("rows", "apart"), [((60, 40), [60]), ((40, 60), [100])])
def test_strata_are_explained_apart_where_half_of_the_rows_can_be(
    rows: tuple[int, int], apart: list[int]
) -> None:
    """Else their sum is; here a stratum with a positive outcome can be explained."""
    first, second = tally([1] * rows[0], [0.5] * rows[0]), tally([0] * rows[1], [0.5] * rows[1])
    strata = [(first, NO_BUCKETS), (second, NO_BUCKETS)]

    found = apart_or_together(
        strata, (merge([first, second]), NO_BUCKETS), lambda t, _: t.total_positives or None
    )

    assert [size for size, _ in found] == apart


def in_numbers(causes: Causes | None) -> Floats:
    """Give the shares of the log loss, and their errors; shape (2, 4)."""
    return np.array([[*vars(of).values()] for of in (causes.log_loss, causes.log_loss_errors)])


probabilities = st.floats(0.0, 1.0) | st.sampled_from([0.0, 1e-300, 1e-9, 0.5, 1.0 - 1e-16, 1.0])
groups = st.tuples(probabilities, st.integers(1, 10**6), st.floats(0, 1))


@given(st.lists(groups, min_size=1, max_size=30, unique_by=lambda group: group[0]))
def test_any_tally_is_attributed_or_none(rows: list[tuple[float, int, float]]) -> None:
    """Whatever the counts: None or numbers, never an exception; causes always add up."""
    rows.sort()
    counts = np.array([n for _, n, _ in rows])
    positives = np.round(counts * [share for *_, share in rows]).astype(np.int64)
    t = Tally(np.array([s for s, *_ in rows]), counts, positives)

    found, offer = causes_of(t), intercept_correction(t)

    assert (found is None) == (offer is None)
    if not has_intercept(t):
        assert found is None
    if found is None:
        return
    maps = fitted(t)
    before = log_score(maps.tally), brier(maps.tally)
    after = after_last_map(maps, "log"), after_last_map(maps, "brier")
    for place, (part, its_errors) in enumerate(parts_of(found)):
        assert all(map(math.isfinite, (*astuple(part)[:3], *astuple(its_errors)[:3])))
        assert sum(astuple(part)[:3]) == pytest.approx(
            before[place] - after[place], abs=1e-12 * max(1.0, before[place])
        )
        assert math.isnan(part.rest) == math.isnan(its_errors.rest)
