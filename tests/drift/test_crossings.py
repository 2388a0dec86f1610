"""Every setting of the verdict with every other: what is stored is all that the fold needs."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import cache

import numpy as np
import pytest
from scipy.special import expit

from monitor.days.arrivals import Late
from monitor.drift.fold.inputs import Day, Limits, ModelReference, fit_model_reference
from monitor.drift.records.verdict import Verdict
from monitor.drift.verdicts.judge import days_needed, judge
from monitor.metrics.core.buckets import BUCKETS, CELLS_IN_BIN, add_up_buckets
from monitor.metrics.core.coarse import COARSE_COUNT, Coarse
from studies.classes import worlds as of_classes
from studies.drift.parts import locate_logits
from tests.combinations.covering import Goal, Row, Rules, covering
from tests.drift.test_spans import assert_same
from tests.support.cases import some
from tests.support.rules import must_answer_as_kept
from tests.support.stored import detectors_again

FIRST, MOMENT = date(2026, 1, 5), datetime(2027, 1, 1, tzinfo=UTC)
REFERENCE, LENGTH, BEGINS, GROWS = 28, 66, 31, 54
LATE = Late(30, 0.2, 0.2, None)
FACTORS = {
    "classes": ("two", "three"),
    "entity": ("none", "customers"),
    "segments": ("one", "two"),
    "strata": ("one", "two"),
    "weights": ("all", "sample"),
    "judge_every": ("1", "3"),
    "limit": ("guaranteed", "calibrated"),
    "late": ("none", "some"),
}
TWO_ONLY = [("entity", "customers"), ("segments", "two"), ("strata", "two"), ("weights", "sample")]
RULES = Rules(FACTORS, [(("classes", "three"), other) for other in TWO_ONLY])
ARRAY = [*covering(RULES, [Goal(2, [*FACTORS])], seed=2)]
TRIED = some(range(len(ARRAY)), 2)


def limits_of(row: Row) -> Limits:
    """Give the settings of a row."""
    return Limits(judge_every=int(row["judge_every"]), calibrated=row["limit"] == "calibrated")


def parts_of(
    row: Row, rng: np.random.Generator, slope: float
) -> tuple[dict[tuple[str, str], Coarse], dict]:
    """Draw the parts of a day, whose customers have something in common."""
    parts, entities = {}, {}
    for segment in ("DE", "FR")[: 1 + (row["segments"] == "two")]:
        for stratum in ("a", "b")[: 1 + (row["strata"] == "two")]:
            if rng.random() < 0.05:  # a part without rows
                continue
            who = rng.integers(400, size=600)
            logits = rng.normal(-1.0, 1.2, who.size)
            fates = np.random.default_rng(7).normal(0.0, 0.5, 400)  # the same on all days
            p = expit(rng.normal(0, 0.3) + (slope if segment == "DE" else 1.0) * logits)
            outcomes = (rng.random(who.size) < expit(np.log(p / (1 - p)) + fates[who])) * 1
            cells = locate_logits(logits)
            counts, positives = (
                np.bincount(cells, weights, COARSE_COUNT).astype(np.int64)
                for weights in (np.ones(who.size), outcomes)
            )
            parts[segment, stratum] = Coarse(counts, positives)
            entities[segment, stratum] = add_up_buckets(
                who % BUCKETS, cells // CELLS_IN_BIN, np.ones_like(cells), outcomes
            )
    return parts, entities


@cache
def drawn(number: int) -> list[Day]:
    """Draw a stream whose drift becomes worse; with days without rows, or that are not final."""
    row, rng = ARRAY[number], np.random.default_rng(number)
    late = np.where(rng.random(LENGTH) < 0.3, row["late"] == "some", False)
    if row["classes"] == "three":
        drift = (of_classes.DRIFTS[0], of_classes.Drift("third", third=0.1))[number % 2]
        of_days = of_classes.stream(of_classes.WORLDS[0], drift, number, days=LENGTH - 28, start=3)
        days = [of_classes.day_of_pairs(rows) for rows in of_days]
        first = days[0].day
        return [
            replace(day, day=FIRST + (day.day - first), late=LATE if late[n] else None)
            for n, day in enumerate(days)
        ]
    days = []
    for n in range(LENGTH):
        slope = 1.0 if n < BEGINS else 0.5 if n < GROWS else 0.1
        parts, entities = parts_of(row, rng, slope)
        final = n < REFERENCE or rng.random() > 0.05
        if n >= REFERENCE and rng.random() < 0.05:
            continue
        days.append(
            Day(
                FIRST + timedelta(n), final, MOMENT, 1.0, parts,
                late=LATE if late[n] and n >= REFERENCE else None,
                class_weights=(4.0, 1.0) if row["weights"] == "sample" else (1.0, 1.0),
                entities=entities if row["entity"] == "customers" else {},
            )
        )  # fmt: skip
    return days


@cache
def reference_of(number: int) -> ModelReference:
    """Fit the reference of a row."""
    return fit_model_reference(drawn(number)[:REFERENCE], limits_of(ARRAY[number]))


def fold(
    days: Sequence[Day], reference: ModelReference, limits: Limits, ends: Sequence[int] = ()
) -> list[list[Verdict]]:
    """Judge in one run, or in several, each from what the store holds of the one before."""
    found: list[list[Verdict]] = []
    for first, last in zip([REFERENCE, *ends], [*ends, len(days)], strict=True):
        before, known = {d.day: d for d in days[:first]}, {d.day: d for d in days[:last]}
        detectors = detectors_again(found[-1] if found else [])
        found += judge(
            "m", days[first:last], references=[reference], limits=limits,
            recent=[before[day] for day in days_needed([*before], detectors, limits)],
            detectors=detectors,
            recall=known.get,
        )  # fmt: skip
    return found


@cache
def at_once(number: int) -> list[list[Verdict]]:
    """Judge a row in one run."""
    return fold(drawn(number), reference_of(number), limits_of(ARRAY[number]))


@pytest.mark.parametrize("number", TRIED)
def test_what_is_stored_is_all_that_the_fold_needs(number: int) -> None:
    """Ended and run again on any days, with all settings: equal tables."""
    days = drawn(number)
    ends = np.unique(np.random.default_rng(number).integers(REFERENCE + 1, len(days), 6)).tolist()
    in_pieces = fold(days, reference_of(number), limits_of(ARRAY[number]), ends)

    assert_same(in_pieces, at_once(number))


@pytest.mark.parametrize("number", TRIED)
def test_the_rules_have_the_number_of_their_answers(number: int) -> None:
    """Verdicts are those that were kept for this number: numbers but for rounding, words aside."""
    must_answer_as_kept(f"row {number}", at_once(number))


def test_the_rows_hold_what_they_are_for() -> None:
    """Drifts open and become worse, evidence is held down, and is withheld, in some of them."""
    every = [v for number in TRIED for day in at_once(number) for v in day]

    assert any(v.detector.incident for v in every)
    assert any(v.detector.incident and v.detector.incident.worse for v in every)
    assert any(v.detector.incident and v.detector.incident.profiles is not None for v in every)
    held = [(v.facts.alone, v.reached or 0.0, v.limit) for v in every if v.facts.alone]
    assert held
    assert all(alone > max(reached, limit) for alone, reached, limit in held)
    assert any(v.withheld for v in every)
