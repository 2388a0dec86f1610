"""What rows of one entity share is measured over any span, and priced."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from math import inf, isfinite

import numpy as np
import pytest
from scipy.special import expit

from monitor.drift.curve.reference import Reference, faults_of, fit_reference, with_hanging
from monitor.drift.evidence.directions import day_evidence, known_cells
from monitor.drift.evidence.entities import (
    NOTHING,
    BucketSums,
    hanging_since,
    held_down_by_entities,
    sum_buckets,
)
from monitor.drift.fold.inputs import Day, Limits, fit_model_reference
from monitor.drift.incidents.detectable import days_to_find, what_is_detectable
from monitor.drift.incidents.detecting import accumulate, new_detector
from monitor.drift.incidents.paths import drawn_days, evidence_paths
from monitor.drift.records.verdict import Verdict
from monitor.drift.verdicts.judge import days_needed, judge
from monitor.metrics.core.buckets import BIN_COUNT, BUCKETS, NO_BUCKETS, merge_buckets
from monitor.metrics.core.dispersion import NO_DESIGN_EFFECTS, span_dispersions
from monitor.metrics.logistic.intercept import solve_factor
from monitor.segment_names import WHOLE
from studies.drift.entity_worlds import Rows, as_day, clean, customers, draw_days, panel
from studies.drift.parts import locate_logits
from tests.support.cases import some
from tests.support.stored import detectors_again, whole_table

KEY = (WHOLE, WHOLE)
REFERENCE = 28


def drawn_rows(rng: np.random.Generator, rows: int, entities: int) -> Rows:
    """Draw rows of entities at random."""
    logits = rng.normal(-1.5, 1.2, rows)
    who = rng.integers(BUCKETS, size=entities)[rng.integers(entities, size=rows)]
    return Rows(logits, who, (rng.random(rows) < expit(logits)).astype(np.int64))


def reference_of(days: Sequence[Day]) -> Reference:
    """Fit the reference of the whole."""
    found = fit_model_reference(days, Limits()).streams[WHOLE]
    assert isinstance(found, Reference)
    return found


def of_rows(reference: Reference, rows: Rows) -> BucketSums:
    """Sum up row by row, with the very cell of each."""
    cells, span = (
        locate_logits(rows.logits),
        known_cells(reference, [*as_day(0, rows).parts.values()]),
    )
    inside = (cells >= span.start) & (cells < span.stop)
    cells, buckets, outcomes = cells[inside], rows.buckets[inside], rows.outcomes[inside]
    low, high = -20.0, 20.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        most = expit(reference.curve[cells] + middle).sum() > outcomes.sum()
        low, high = (low, middle) if most else (middle, high)
    p = expit(reference.curve[cells] + low)
    along, weights = reference.directions[:, cells], p * (1 - p)
    along = along - (weights * along).sum(axis=1, keepdims=True) / weights.sum()
    scores, informations = np.zeros((2, BUCKETS, 4))
    np.add.at(scores, buckets, (along * (outcomes - p)).T)
    np.add.at(informations, buckets, (along**2 * weights).T)
    return BucketSums(scores, informations)


@pytest.mark.parametrize("rows", [300, 5_000])
def test_sums_of_counts_are_those_of_rows(rows: int) -> None:
    """Bins of 1/4 in logit say of each bucket what its rows say, but for a fraction of chance."""
    rng = np.random.default_rng(rows)
    reference, drawn = clean_reference(), drawn_rows(rng, rows, 10_000)
    day = as_day(0, drawn)

    exact = of_rows(reference, drawn)
    found = sum_buckets(reference, day.parts, day.entities)

    spread = np.sqrt(exact.informations.mean(axis=0))
    # The top tenth begins inside a bin, and the known scores end inside one.
    most = spread * [0.15, 0.2, 0.2, 0.3]
    assert (abs(found.scores - exact.scores).mean(axis=0) < most).all()
    dispersions = [span_dispersions(sums.scores, sums.informations) for sums in (found, exact)]
    assert dispersions[0] == pytest.approx(dispersions[1], rel=0.2)
    whole = day_evidence(reference, day.parts)
    assert np.allclose(found.informations.sum(axis=0), whole.informations, rtol=0.02)
    assert np.corrcoef(found.informations[:, 0], exact.informations[:, 0])[0, 1] > 0.95


def dispersion_of(rows: Rows, reference: Reference) -> np.ndarray:
    """Give the dispersion of one day."""
    day = as_day(0, rows)
    sums = sum_buckets(reference, day.parts, day.entities)
    return span_dispersions(sums.scores, sums.informations)


@cache
def panel_days() -> list[Day]:
    """Draw a reference of the same customers on all days; the tests only read it."""
    return list(draw_days(panel(), 3, 1.0, 99, REFERENCE))


@cache
def panel_reference() -> Reference:
    """Fit it."""
    return reference_of(panel_days())


@cache
def clean_reference() -> Reference:
    """Fit a reference of rows that do not hang together."""
    return reference_of(list(draw_days(clean(0.2, 1_000), 1, 1.0, 99, REFERENCE)))


@cache
def independent_reference() -> Reference:
    """Fit a reference whose rows are independent."""
    return reference_of(list(draw_days(clean(0.2, 1_000), 2, 1.0, 99, REFERENCE)))


def by_bin(values: np.ndarray) -> np.ndarray:
    """Add up the cells of each bin."""
    return values.reshape(*values.shape[:-1], BIN_COUNT, -1).sum(axis=-1)


@pytest.mark.parametrize("rows", [30, 300, 5_000])
def test_each_row_counts_with_the_means_of_its_bin(rows: int) -> None:
    """Of p by rows, and of D by information; bins without rows in known cells say nothing."""
    reference = independent_reference()
    day = as_day(0, drawn_rows(np.random.default_rng(rows), rows, 10_000))
    (part,), (held,) = day.parts.values(), day.entities.values()
    span, inside = known_cells(reference, [part]), np.zeros_like(part.counts)
    inside[span] = part.counts[span]
    hits, seen = int(part.positives[span].sum()), inside > 0
    factor, _ = solve_factor(np.exp(reference.curve[seen]), inside[seen], hits)
    p = expit(reference.curve + np.log(factor))
    weights = inside * p * (1.0 - p)
    along = (
        reference.directions - np.average(reference.directions, axis=1, weights=weights)[:, None]
    )
    counts, positives = np.zeros((2, BUCKETS, BIN_COUNT))
    counts[held.buckets, held.bins], positives[held.buckets, held.bins] = (
        held.counts,
        held.positives,
    )
    told, every = by_bin(inside), np.maximum(by_bin(part.counts), 1)
    chances = by_bin(inside * p) / np.maximum(told, 1)
    pulls = by_bin(weights * along) / np.where(told, by_bin(weights), 1.0) * told / every

    found = sum_buckets(reference, day.parts, day.entities)

    assert found.scores == pytest.approx((positives - counts * chances) @ pulls.T, abs=1e-9)
    known = counts @ (by_bin(weights * along**2) / every).T
    assert found.informations == pytest.approx(known, abs=1e-9)


def test_rows_without_buckets_say_nothing() -> None:
    """As those of a part whose entities are not known."""
    day = as_day(0, drawn_rows(np.random.default_rng(1), 300, 10))

    found = sum_buckets(independent_reference(), day.parts, dict.fromkeys(day.parts, NO_BUCKETS))

    assert not found.scores.any()
    assert not found.informations.any()


@pytest.mark.parametrize("copies", [1, 3, 10])
def test_rows_that_are_counted_again_disperse_as_often(copies: int) -> None:
    """Independent rows have a dispersion of about 1, and each of them c times one of c."""
    reference = independent_reference()
    found = []
    for seed in range(30):
        rows = drawn_rows(np.random.default_rng([seed, 9]), 2_000, 1_000_000)
        again = Rows(*(np.repeat(values, copies) for values in rows))
        found.append(dispersion_of(again, reference))

    # 63 degrees of freedom: a single one has a standard deviation of 0.18.
    assert abs(np.mean(found, axis=0) / copies - 1.0).max() < 0.15


@pytest.mark.parametrize("entities", [2, 5, 20])
def test_few_huge_entities_are_not_taken_for_many(entities: int) -> None:
    """With few entities the dispersion is larger than the true one in most worlds."""
    rng, true = np.random.default_rng(entities), 50.0
    shares = np.zeros((BUCKETS, 1))
    shares[:entities] = 1_000.0
    scores = np.zeros((4_000, BUCKETS, 1))
    scores[:, :entities] = rng.normal(0.0, np.sqrt(1_000.0 * true), (4_000, entities, 1))

    found = span_dispersions(scores, np.broadcast_to(shares, scores.shape))

    assert np.mean(found >= true) > 0.5
    assert np.mean(found) >= true


def test_one_bucket_says_nothing_of_how_much_buckets_differ() -> None:
    """A single entity is no sample: the dispersion has no bound; without rows it is 1."""
    alone = np.zeros((BUCKETS, 1))
    alone[7] = 100.0

    assert np.isinf(span_dispersions(alone, alone)).all()
    assert (span_dispersions(0 * alone, 0 * alone) == 1.0).all()


def test_a_reference_of_the_same_customers_knows_its_curve_less_well() -> None:
    """Its errors grow by the root of what hangs together, and with them all that rests on them."""
    days = panel_days()
    before, now = fit_reference([day.parts for day in days]), panel_reference()

    growth = now.errors / before.errors
    assert (before.hanging == 1.0).all()
    assert np.allclose(growth, np.sqrt(now.hanging))
    assert 3.0 < growth[0] < 6.0  # 28 days of the same customers are one or two
    assert (now.tolerances >= before.tolerances).all()
    assert now.effects[0] > 2 * before.effects[0]
    assert now.own_slope
    assert before.own_slope
    assert np.isclose(now.own_slope.standard_error / before.own_slope.standard_error, growth[0])
    assert np.allclose(now.curve_errors / before.curve_errors, growth[0])
    assert before.design_effects == NO_DESIGN_EFFECTS
    # Each customer is there once a day, with nearly the same score on all 28.
    assert now.design_effects.scores_of_day < 2.0
    assert now.design_effects.scores > 14.0
    assert now.design_effects.outcomes > 5.0
    worth, unpriced = what_is_detectable(now, 3.0), what_is_detectable(before, 3.0)
    assert worth.days > unpriced.days
    assert worth.together
    assert not unpriced.together
    assert worth.together.days == REFERENCE
    assert 1.0 < worth.together.independent < 3.0
    assert worth.together.least > 0.1  # the least effect, which is found within days without


def test_the_intercept_of_a_reference_is_known_less_well_too() -> None:
    """As the variance of the share of positive outcomes grows, among buckets of customers."""
    days = list(draw_days(customers(0.03), 3, 1.0, 99, REFERENCE))
    plain, priced = reference_of([replace(day, entities={}) for day in days]), reference_of(days)
    held = merge_buckets(day.entities[KEY] for day in days)
    rows, hits = (np.bincount(held.buckets, v) for v in (held.counts, held.positives))
    p = hits.sum() / rows.sum()
    spread = ((hits - rows * p) ** 2).sum() / (rows.sum() * p * (1 - p))

    assert plain.own_intercept
    assert priced.own_intercept
    wider = priced.own_intercept.standard_error / plain.own_intercept.standard_error
    assert priced.own_intercept.value == plain.own_intercept.value
    assert wider**2 > 4.0
    # Buckets differ by their scores too, which the intercept knows of, and are unequal.
    assert wider**2 == pytest.approx(spread, rel=0.5)


def test_hanging_since_a_day_is_that_of_its_days() -> None:
    """Of the days of a reference it is that of the reference; 1 without entities."""
    days, own = panel_days(), panel_reference()
    sums = {day.day: sum_buckets(own, day.parts, day.entities) for day in days}
    span = {"day": days[-1].day, "day_variances": own.day_variances}

    found = hanging_since(days[0].day, sums_of=sums.__getitem__, **span)

    # Informations of bins instead of cells.
    assert found == pytest.approx(own.hanging, rel=0.02)
    assert found[0] > 2 * hanging_since(days[-7].day, sums_of=sums.__getitem__, **span)[0] > 2
    assert (hanging_since(days[0].day, sums_of=lambda _: NOTHING, **span) == 1.0).all()


def test_the_same_customers_are_noticed_only_where_no_entity_is_named() -> None:
    """Days that are too alike are said of a reference that does not know of entities."""
    priced = panel_reference()
    plain = reference_of([replace(day, entities={}) for day in panel_days()])

    assert "counted again" in faults_of(plain, 0.2)
    assert "counted again" not in faults_of(priced, 0.2)


def test_simulated_evidence_is_held_down_where_rows_hang_together() -> None:
    """On simulated paths a change takes longer the more rows hang together."""
    plain = clean_reference()
    days = [
        days_to_find(with_hanging(plain, np.full(4, hanging)), 0.3, 3.0, 160)
        for hanging in (1.0, 10.0, 20.0)
    ]

    assert days[0] < days[1] < days[2] < inf
    together = with_hanging(plain, np.full(4, 10.0))
    free, held = (
        list(islice(evidence_paths(together, drawn_days(together, 50), 0.4, limit), 40))
        for limit in (inf, 3.0)
    )
    assert all((low <= high).all() for low, high in zip(held, free, strict=True))
    assert any((low < high).any() for low, high in zip(held, free, strict=True))


def test_a_reference_of_one_entity_gives_numbers() -> None:
    """Everything in one bucket: nothing can be told, but nothing overflows either."""
    days = []
    for seed in range(REFERENCE + 3):
        rows = drawn_rows(np.random.default_rng(seed), 500, 1)
        days.append(as_day(seed, rows))

    verdicts = [*fold(days)]

    assert all(v.reached is not None and isfinite(v.reached) for v in verdicts)
    assert all(v.state != "calibration_drift" for v in verdicts)


def fold(days: Sequence[Day], first: int = REFERENCE, last: int | None = None) -> Iterator[Verdict]:
    """Judge the days after the reference in one call, each when it is asked for."""
    reference = fit_model_reference(days[:REFERENCE], Limits())
    known = {day.day: day for day in days[:last]}
    judged = judge(
        *("m", days[first:last]),
        references=[reference],
        limits=Limits(),
        recent=days[first - 7 : first],
        recall=known.get,
    )
    return (of_day[0] for of_day in judged)


def test_what_hangs_together_opens_few_drifts() -> None:
    """Without entities every stream of the same customers opens a drift; with them one in four."""
    opened, seeds = {True: 0, False: 0}, some(range(4), 4)
    for seed in seeds:
        days = list(draw_days(customers(0.03), seed, 1.0, 999, REFERENCE + 150))
        for key in opened:
            seen = days if key else [replace(day, entities={}) for day in days]
            opened[key] += any(v.distortion for v in fold(seen))

    assert opened[False] == len(seeds)
    assert opened[True] <= len(seeds) / 4


def held_stream() -> list[Day]:
    """Draw a stream whose evidence is held down on some days before its drift opens."""
    return list(draw_days(customers(0.03), 4, 0.8, REFERENCE + 5, REFERENCE + 60))


def counted_again() -> list[Day]:
    """Draw the same of a panel that is scored every day, without the key."""
    days = draw_days(panel(), 5, 0.6, REFERENCE + 5, REFERENCE + 60)
    return [replace(day, entities={}) for day in days]


@pytest.mark.parametrize("draw", [held_stream, counted_again])
def test_a_fold_is_the_same_daily_and_in_one_call(draw: Callable[[], list[Day]]) -> None:
    """Every day from the stored detectors of the day before: the same bytes, held down or not."""
    days = draw()
    reference = fit_model_reference(days[:REFERENCE], Limits())
    together, daily, detectors = [*fold(days)], list[Verdict](), None
    for n in range(REFERENCE, len(days)):
        known = {day.day: day for day in days[: n + 1]}
        needed = days_needed([day.day for day in days[:n]], detectors or {}, Limits())
        [[verdict]] = judge(
            *("m", [days[n]]),
            references=[reference],
            limits=Limits(),
            recent=[known[day] for day in needed],
            detectors=detectors,
            recall=known.get,
        )
        detectors = detectors_again([verdict])
        daily.append(verdict)

    held = [(v, v.facts.alone, v.reached) for v in together if v.facts.alone is not None]
    assert held
    assert all(alone > max(reached or 0.0, v.limit) for v, alone, reached in held)
    assert any(v.state == "calibration_drift" for v in together)
    assert whole_table(daily).equals(whole_table(together))


def test_evidence_that_is_held_down_is_below_what_the_buckets_allow() -> None:
    """No day's M is over its bound; without buckets the detector stays the same."""
    days = held_stream()
    reference, detector = reference_of(days[:REFERENCE]), new_detector()
    for day in days[REFERENCE:]:
        evidence = day_evidence(reference, day.parts)
        detector = accumulate(detector, day.day, evidence, reference.day_variances)
    known = {day.day: sum_buckets(reference, day.parts, day.entities) for day in days[REFERENCE:]}
    last = days[-1].day

    held = held_down_by_entities(detector, evidence, last, known.__getitem__)
    strict = held_down_by_entities(
        detector, evidence, last, lambda day: stronger(known[day], spread=3.0)
    )
    free = held_down_by_entities(detector, evidence, last, lambda _: NOTHING)

    strongest = detector.sums.argmax()
    assert strict.sums[strongest] < held.sums[strongest] < detector.sums[strongest]
    assert (held.sums <= detector.sums).all()
    assert held.evidence < detector.evidence
    assert (free.sums == detector.sums).all()


def stronger(sums: BucketSums, spread: float) -> BucketSums:
    """Let the buckets differ more."""
    shares = sums.informations / sums.informations.sum(axis=0)
    middle = shares * sums.scores.sum(axis=0)
    return BucketSums(middle + spread * (sums.scores - middle), sums.informations)
