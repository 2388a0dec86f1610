"""What rows of one entity share is measured over any span, and priced."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from math import isfinite

import numpy as np
import pytest
from scipy.special import expit

from monitor.base.segment_names import WHOLE
from monitor.drift.curve.reference import Reference, faults_of, fit_reference
from monitor.drift.evidence.directions import known_cells
from monitor.drift.evidence.entities import sum_buckets
from monitor.drift.fold.inputs import Day, Limits, fit_model_reference
from monitor.drift.incidents.detectable import what_is_detectable
from monitor.drift.records.verdict import Verdict
from monitor.drift.verdicts.judge import judge
from monitor.metrics.core.buckets import BIN_COUNT, BUCKETS
from monitor.metrics.core.dispersion import NO_DESIGN_EFFECTS, span_dispersions
from monitor.metrics.logistic.intercept import solve_factor
from studies.drift.entity_worlds import Rows, as_day, clean, customers, draw_days, panel
from tests.support.cases import some

REFERENCE = 28


def drawn_rows(rng: np.random.Generator, rows: int, entities: int) -> Rows:
    """Draw rows of entities at random."""
    logits = rng.normal(-1.5, 1.2, rows)
    who = rng.integers(BUCKETS, size=entities)[rng.integers(entities, size=rows)]
    return Rows(logits, who, (rng.random(rows) < expit(logits)).astype(np.int64))


def reference_of(days: Sequence[Day]) -> Reference:
    """Fit the reference of the whole."""
    return fit_model_reference(days, Limits()).streams[WHOLE]


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
    assert np.isclose(now.own_slope.standard_error / before.own_slope.standard_error, growth[0])
    assert np.allclose(now.curve_errors / before.curve_errors, growth[0])
    assert before.design_effects == NO_DESIGN_EFFECTS
    # Each customer is there once a day, with nearly the same score on all 28.
    assert now.design_effects.scores_of_day < 2.0
    assert now.design_effects.scores > 14.0
    assert now.design_effects.outcomes > 5.0
    worth, unpriced = what_is_detectable(now, 3.0), what_is_detectable(before, 3.0)
    assert worth.days > unpriced.days
    assert not unpriced.together
    assert worth.together.days == REFERENCE
    assert 1.0 < worth.together.independent < 3.0
    assert worth.together.least > 0.1  # the least effect, which is found within days without


def test_the_same_customers_are_noticed_only_where_no_entity_is_named() -> None:
    """Days that are too alike are said of a reference that does not know of entities."""
    priced = panel_reference()
    plain = reference_of([replace(day, entities={}) for day in panel_days()])

    assert "counted again" in faults_of(plain, 0.2)
    assert "counted again" not in faults_of(priced, 0.2)


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
