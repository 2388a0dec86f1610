"""All predictions from labels chosen by score: exact if all are labelled, else near the truth."""

from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom

from monitor.days.summary import SQUARE, UNIT, Rated, Segment, awaited, rated
from monitor.evaluation.evaluate import evaluate
from monitor.evaluation.evaluation import Population
from monitor.evaluation.population import LEAST_IN_GROUP, population_of
from monitor.evaluation.score_errors import LabelRates, Settings, errors_of
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import locate
from monitor.metrics.core.tally import tally_on_grid
from tests.support.cases import ALL, some
from tests.support.label_worlds import BY_SCORE, SILENT, day_of, draw, part_of

SETTINGS = Settings(alpha=0.05, null_replicates=100)
SAME = 1e-12  # the same sum in another order


def of(part: Segment) -> Population:
    """Measure all predictions of a part."""
    found = population_of(part, SETTINGS.alpha)
    assert found
    return found


def everything(scores: np.ndarray, _: np.ndarray) -> np.ndarray:
    """Label all."""
    return np.ones(scores.size)


@pytest.mark.parametrize("centre", [0.0, -4.0])
def test_all_labelled_is_the_tally_itself(centre: float) -> None:
    """Then nothing is weighed: TCE is equal, and means are to the last digits."""
    rng = np.random.default_rng(1)
    part = part_of(*draw(20_000, centre, rng, slope=0.7), everything, rng)
    t, plain = part.tally, errors_of(part.tally, SETTINGS, rng)

    found = of(part)

    assert found.reached == 1.0
    assert found.errors.tce_published == plain.tce_published
    assert found.errors.ece == pytest.approx(plain.ece, rel=SAME)
    assert found.errors.rbs == pytest.approx(plain.rbs, rel=SAME)
    assert found.prevalence.value == pytest.approx(t.prevalence, rel=SAME)
    assert found.mean_score.value == pytest.approx(t.mean_score, rel=SAME)
    # The variance is that of the fitted line, which is as good as that of the rows.
    assert found.errors.rbs_interval.low == pytest.approx(plain.rbs_interval.low, rel=0.005)


def test_a_rate_in_each_group_weighs_exactly() -> None:
    """Ten in a hundred at 0.2, all of ten at 0.8: the rates by hand."""
    tally = tally_on_grid([1] + [0] * 9 + [1] * 7 + [0] * 3, [0.2] * 10 + [0.8] * 10)
    part = Segment(tally, 110, awaited(locate(np.array([0.2]))[0], np.array([90])))

    found = of(part)

    # A prediction without an outcome has the middle of its cell, 1/1024 in logit at most away.
    assert found.prevalence.value == pytest.approx((100 * 0.1 + 10 * 0.7) / 110, rel=1e-3)
    assert found.mean_score.value == pytest.approx((100 * 0.2 + 10 * 0.8) / 110, rel=1e-3)
    squared = 100 * (0.1 * 0.8**2 + 0.9 * 0.2**2) + 10 * (0.7 * 0.2**2 + 0.3 * 0.8**2)
    assert found.errors.rbs**2 == pytest.approx(squared / 110, rel=1e-3)


RULES = BY_SCORE | {"10 % at random": SILENT["10 % at random"]}
del RULES["accepted below 0.3"]  # there is nothing to be known above


@pytest.mark.parametrize(("slope", "rule"), some(product([1.0, 0.6], RULES), 3))
def test_intervals_hold_the_truth(rule: str, slope: float) -> None:
    """Of 60 days about 57; without weights the prevalence of some is twice as high."""
    rng, days = np.random.default_rng(3), 60
    scores, right = many(slope)
    truths = (
        right.mean(),
        scores.mean(),
        np.sqrt((right * (1 - scores) ** 2 + (1 - right) * scores**2).mean()),
    )

    held = np.zeros(3, int)
    for _ in range(days):
        found = of(part_of(*draw(20_000, -1.5, rng, slope=slope), RULES[rule], rng))
        ends = found.prevalence, found.mean_score, found.errors.rbs_interval
        held += [holds(one, truth) for one, truth in zip(ends, truths, strict=True)]

    assert held.min() >= binom.ppf(1e-3, days, 0.95)


@cache
def many(slope: float) -> tuple[np.ndarray, np.ndarray]:
    """Give a million scores, and their right probabilities."""
    logits = np.random.default_rng(7).normal(-1.5, 1.3, 1_000_000)
    return expit(logits), expit(-1.5 + slope * (logits + 1.5))


def holds(one: Estimate | None, truth: float) -> bool:
    """Say whether an interval holds the truth."""
    return one is not None and one.low <= truth <= one.high


@pytest.mark.parametrize("labelled", [1, LEAST_IN_GROUP - 1, LEAST_IN_GROUP, 25])
@pytest.mark.parametrize("outcome", [0, 1])
def test_few_labels_make_a_number_all_the_same(labelled: int, outcome: int) -> None:
    """One label, or outcomes that are all equal, are wide intervals inside [0, 1]."""
    tally = tally_on_grid(np.full(labelled, outcome), np.linspace(0.1, 0.9, labelled))
    part = Segment(tally, labelled + 50, awaited(np.array([8192]), np.array([50])))

    found = of(part)

    for one in (found.prevalence, found.errors.rbs_interval):
        assert 0.0 <= one.low <= one.value <= one.high <= 1.0
        assert one.high - one.low > 0.05


def hidden(rng: np.random.Generator, *, slope: float) -> tuple[Segment, np.ndarray]:
    """Label rows by what moves the outcome too, with a probability that the log has.

    Returns the part, and prevalence, mean score and RBS of all rows to expect.
    """
    x, z = rng.normal(-1.5, 1.3, 20_000), rng.normal(size=20_000)
    right, scores = expit(slope * (x + 1.5) - 1.5 + z), expit(x)
    rate = np.clip(expit(0.7 * x + z - 1.0), 0.01, 1.0)
    outcomes, has = rng.random(x.size) < right, rng.random(x.size) < rate
    cells, late = locate(scores[has])[0], locate(scores[~has])[0]
    w = 1.0 / rate[has]
    sums = rated(cells, (w * UNIT).astype(int), (w * w * SQUARE).astype(int), outcomes[has])
    tally = tally_on_grid(outcomes[has], scores[has])
    part = Segment(tally, x.size, awaited(late, np.ones(late.size, np.int64)), rated=sums)
    return part, np.array([right.sum(), scores.sum(), (right * (1 - 2 * scores) + scores**2).sum()])


@pytest.mark.parametrize("slope", some([0.6, 1.0], 2))
def test_probabilities_in_the_log_hold_the_truth(slope: float) -> None:
    """About 95 of 100 days; as if by score alone, the prevalence is wrong on every day."""
    rng, days = np.random.default_rng(11), 60 if ALL else 30
    drawn = [hidden(rng, slope=slope) for _ in range(days)]
    prevalence, mean, square = sum(sums for _, sums in drawn) / (20_000 * days)
    truths = (prevalence, mean, square**0.5)
    in_log, held, by_score = LabelRates(in_log=True), np.zeros(3, int), 0
    for part, _ in drawn:
        found, wrong = population_of(part, 0.05, in_log), of(part)
        ends = found.prevalence, found.mean_score, found.errors.rbs_interval
        held += [holds(e, truth) for e, truth in zip(ends, truths, strict=True)]
        by_score += holds(wrong.prevalence, prevalence)
        assert 0.0 <= found.errors.tce_published <= 1.0

    assert held.min() >= binom.ppf(1e-3, days, 0.95)
    assert by_score < 0.1 * days


def test_equal_probabilities_are_the_counted_ones() -> None:
    """A table of the rates that were counted, and a log that has them, weigh like the counts."""
    rng = np.random.default_rng(12)
    scores, outcomes = draw(20_000, -1.0, rng)
    part = part_of(scores, outcomes, BY_SCORE["2 %, and half of the highest"], rng)
    t = part.tally
    each = np.where(t.scores > 0.5, 2.0, 50.0)
    sums = [each * UNIT, each * UNIT, each**2 * SQUARE, each**2 * SQUARE]
    counts = [t.counts, t.positives, t.counts, t.positives]
    rows = [(a * b).astype(np.int64) for a, b in zip(sums, counts, strict=True)]
    assert t.cells
    in_log = replace(part, rated=Rated(t.cells.numbers, *rows))

    table = population_of(part, 0.05, LabelRates(((0.5, 0.02), (1.0, 0.5))))
    logged = population_of(in_log, 0.05, LabelRates(in_log=True))
    counted = of(part)

    assert table
    assert logged
    assert logged.prevalence.value == pytest.approx(table.prevalence.value, rel=5e-3)  # its groups
    # Only in the group that has scores on both sides of 0.5 do the counts differ.
    assert table.prevalence.value == pytest.approx(counted.prevalence.value, rel=0.02)
    assert table.errors.rbs == pytest.approx(counted.errors.rbs, rel=0.01)
    assert population_of(part, 0.05, LabelRates(in_log=True)) is None


def test_tce_at_size_is_that_of_all() -> None:
    """Thinned outcomes are a sample of all; where too few stay, there is none."""
    rng = np.random.default_rng(13)
    scores, outcomes = draw(100_000, -1.0, rng, slope=0.7)
    all_ = part_of(scores, outcomes, everything, rng)
    some = part_of(scores, outcomes, lambda s, _: np.where(s > 0.5, 0.5, 0.1), rng)
    truth = errors_of(all_.tally, replace(SETTINGS, tce_size=5_000), rng).tce
    plain = errors_of(some.tally, replace(SETTINGS, tce_size=5_000), rng).tce

    found = population_of(some, 0.05, tce_size=5_000, rng=rng)
    none = population_of(some, 0.05, tce_size=20_000, rng=rng)

    assert found.errors.tce.low < truth.value < found.errors.tce.high
    assert abs(found.errors.tce.value - truth.value) < abs(plain.value - truth.value)
    assert none.errors.tce is None


def test_the_setting_moves_no_other_number() -> None:
    """All others are those of the labelled predictions, to the last digit."""
    rng = np.random.default_rng(9)
    day = day_of(part_of(*draw(20_000, -1.0, rng), BY_SCORE["the riskier the likelier"], rng))
    settings = replace(SETTINGS, tce_size=1_000, interval_days=1)

    (plain, *_) = evaluate([day], window_days=1, settings=settings)
    (whole, *_) = evaluate(
        [day], window_days=1, settings=replace(settings, label_rates=LabelRates())
    )

    assert replace(whole, population=None) == plain
    assert whole.population
