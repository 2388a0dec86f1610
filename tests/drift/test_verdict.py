"""What a verdict must get right: silent under any prior, quick and well named under a drift."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from math import log

import numpy as np
import pytest
from scipy.special import expit

from monitor.base.segment_names import WHOLE
from monitor.drift.curve.reference import Reference, fit_reference
from monitor.drift.evidence.directions import day_evidence
from monitor.drift.fold.inputs import Day, Limits, ModelReference, fit_model_reference
from monitor.drift.incidents.detectable import days_to_find
from monitor.drift.records.verdict import Verdict
from monitor.drift.verdicts.judge import judge
from monitor.metrics.core.coarse import CENTRES, Coarse, sum_of
from monitor.metrics.logistic.conditional import score_directions
from monitor.metrics.logistic.level import Level, compare_levels, fit_level
from monitor.words.advice import COUNTED_AGAIN
from monitor.words.verdict import sentences
from studies.drift.rules import FIRST, follow_detector, pool
from studies.drift.scenarios import SEGMENTS
from studies.drift.worlds import (
    DRIFTS,
    Truth,
    World,
    centre,
    draw_day,
    shares,
    standardised,
    stream,
)
from tests.drift.test_variance import scored_daily
from tests.support.cases import some

WORLD = World(0.05, 20_000)
WEIGHTS, UNIT = shares(centre(WORLD.prevalence)), standardised(WORLD.prevalence)
Days = list[dict[str, Coarse]]
ROWS = np.rint(2_000 * WEIGHTS).astype(np.int64)


@cache
def true_level() -> Level:
    """Give the level of scores that are true."""
    of_all = (np.rint(1e9 * WEIGHTS * share).astype(np.int64) for share in (1, expit(CENTRES)))
    return fit_level(CENTRES, Coarse(*of_all))


@cache
def drawn(name: str, seed: int, days: int) -> Days:
    """Draw a stream whose drift, if any, begins right after a reference of 28 days."""
    truth = DRIFTS.get(name, Truth())
    return list(stream(WORLD, truth, seed, days=days))


@cache
def reference() -> Reference:
    """Fit the reference of a sound stream."""
    return fit_reference(drawn("none", 1, 0))


def test_no_prior_enters_the_evidence_of_a_day() -> None:
    """A curve that is 5 higher gives the same evidence, scores and information, to 1e-8."""
    found = day_evidence(reference(), drawn("slope 0.8", 2, 1)[28])
    raised = replace(reference(), curve=reference().curve + 5.0)

    moved = day_evidence(raised, drawn("slope 0.8", 2, 1)[28])

    assert moved.ratios == pytest.approx(found.ratios, abs=1e-8)
    assert moved.scores == pytest.approx(found.scores, abs=1e-6)
    assert moved.informations == pytest.approx(found.informations, rel=1e-8)


def test_halves_of_a_day_with_different_priors_may_be_pooled() -> None:
    """While P(s|y) is the same in both, pooling is a shift of the prior: 180 days of silence."""
    rng = np.random.default_rng(3)
    days = []
    for _ in range(28 + 180):
        halves = [draw_day(rng, WEIGHTS, 10_000, prior, 0.0) for prior in rng.normal(0, 0.8, 2)]
        days.append({"all": sum_of(halves)})

    assert follow_detector(fit_reference(days[:28]), days[28:]) == []


def test_segments_of_different_scores_must_be_summed() -> None:
    """With P(s|y) and priors of their own, pooled segments change their slope with the priors.

    Summed they stay silent and their days do not differ. Pooled, days differ by a standard
    deviation of 0.05 to 0.11 (8 streams): the reference learns that, so no false alert comes of it
    any more, but a slope of 0.9 takes twice as long or more, because a day counts so much less.
    """
    truth = Truth(centres=SEGMENTS)
    for seed in some((4, 5, 6), 3):
        days = list(stream(WORLD, truth, seed, days=60))
        pooled = [{"all": pool(segments)} for segments in days]
        summed_reference, pooled_reference = (fit_reference(d[:28]) for d in (days, pooled))

        assert follow_detector(summed_reference, days[28:]) == []
        assert summed_reference.day_variances[0] < 0.02**2
        assert pooled_reference.day_variances[0] > 0.04**2
        quick, slow = (
            days_to_find(found, 0.1, 3.0) for found in (summed_reference, pooled_reference)
        )
        assert slow > 2.0 * quick


@pytest.mark.parametrize("factor", [5.0, 0.2])
def test_silent_under_a_large_shift_of_the_prior(factor: float) -> None:
    """Odds five times as high or low for a year, P(s|y) as before: no alert.

    Evidence in which a prior entered would open a drift in each stream.
    """
    for seed in some(range(4), 4):
        days = list(stream(WORLD, Truth(odds=factor), seed))

        assert follow_detector(fit_reference(days[:28]), days[28:]) == []


def test_a_slope_of_four_fifths_is_found_and_named_in_time() -> None:
    """By the third day in 19 of 20 streams, and named right on every one of them."""
    in_time = 0
    seeds = some(range(20), 3)
    for seed in seeds:
        days = drawn("slope 0.8", seed, 12)
        first = follow_detector(fit_reference(days[:28]), days[28:])[0]

        in_time += first.day < 3
        assert (first.kind, first.later) == ("too_extreme", "too_extreme")

    assert in_time >= len(seeds) - 1


def watched(days: Sequence[Mapping[str, Coarse]], first: int = 0) -> list[Day]:
    """Give the days of a stream as they are judged, from one of them on."""
    moment = datetime(2026, 12, 31, tzinfo=UTC)
    return [
        Day(FIRST + timedelta(t), True, moment, 1.0, {(name, "all"): c for name, c in day.items()})
        for t, day in enumerate(days, first)
    ]


def judged(
    days: Sequence[Mapping[str, Coarse]], *, reference: int = 28, segments: bool = False
) -> list[Verdict]:
    """Judge a stream; give the verdicts of the whole after its reference, or those of all."""
    references = [fit_model_reference(watched(days[:reference]), Limits())]
    later = watched(days[reference:], reference)
    verdicts = judge("ctr", later, references=references, limits=Limits())
    return [v for of_day in verdicts for v in of_day if segments or v.segment == WHOLE]


def test_entities_that_are_counted_again_are_told_with_ok() -> None:
    """The state stays, but no day of the same entities, scored daily for a month, says only ok."""
    rng = np.random.default_rng(3)
    days = scored_daily(rng, 30, 28 + 4)
    independent = [{"all": Coarse(ROWS, rng.binomial(ROWS, expit(CENTRES)))} for _ in days]

    found, calm = judged(days), judged(independent)

    assert {verdict.state for verdict in found} == {"ok"}
    assert all(COUNTED_AGAIN in sentences(verdict) for verdict in found)
    assert not any(COUNTED_AGAIN in sentences(verdict) for verdict in calm)


def share_of(state: str, verdicts: Iterable[Verdict]) -> float:
    """Give the share of the days with a state."""
    return float(np.mean([verdict.state == state for verdict in verdicts]))


def test_a_lifted_intercept_is_no_drift_but_told() -> None:
    """+0.3 with scores as before: no drift of any kind, and weekly the lift beside the prior."""
    rng = np.random.default_rng(6)
    days = [
        {"all": draw_day(rng, WEIGHTS, WORLD.rows, 0.0, 0.3 * (t >= 28))} for t in range(28 + 182)
    ]

    verdicts = judged(days)

    weekly = verdicts[6::7]
    assert share_of("calibration_drift", verdicts) == 0.0
    assert share_of("level_drift", verdicts) == 0.0
    assert share_of("prior_shift", weekly) >= 0.95
    assert np.mean([verdict.facts.moved == "lift" for verdict in weekly]) >= 0.95
    shifts = [verdict.shift.value for verdict in weekly if verdict.shift]
    assert np.mean(shifts) == pytest.approx(0.3, abs=0.02)


def test_segments_with_priors_of_their_own_lift_no_level() -> None:
    """Five sound segments: a day in fifty at most is called a level drift, and none a drift.

    Their levels are compared apart. Pooled, a third of the days were.
    """
    found = [
        verdict
        for seed in some(range(3), 3)
        for verdict in judged(list(stream(WORLD, Truth(centres=SEGMENTS), seed, days=100)))
    ]

    assert share_of("level_drift", found) <= 0.02
    assert share_of("calibration_drift", found) == 0.0


def test_a_new_segment_lifts_no_level() -> None:
    """Predictions that the reference has not seen say nothing of how its level moved."""
    rng = np.random.default_rng(8)
    days = [{"old": draw_day(rng, WEIGHTS, 20_000, 0.0, 0.0)} for _ in range(60)]
    for day in days[35:]:
        day["new"] = draw_day(rng, WEIGHTS, 20_000, 0.0, -0.8)

    assert share_of("ok", judged(days)) >= 0.95


def test_tilted_scores_are_no_drift() -> None:
    """Scores tilted by 0.3 a standard deviation, outcomes as scored: silent, and no shift.

    The intercept is within two standard errors of 0 on 95 % of 182 days, less the twofold
    Monte-Carlo error of such a share, 3 %.
    """
    rng = np.random.default_rng(7)
    tilted = WEIGHTS * np.exp(0.3 * UNIT)
    days = [
        {"all": draw_day(rng, WEIGHTS if t < 28 else tilted, WORLD.rows, 0.0, 0.0)}
        for t in range(28 + 182)
    ]
    found = fit_reference(days[:28])

    lifts = [compare_levels(fit_level(CENTRES, d["all"]), true_level()) for d in days[28:]]

    assert follow_detector(found, days[28:]) == []
    assert np.mean([abs(lift.shift) < 2 * lift.shift_error for lift in lifts]) >= 0.92


def test_outcomes_that_are_still_coming_are_no_drift() -> None:
    """With 30 % of the positives and 80 % of the negatives here, a 5 % test has size 7 % or less.

    When they come depends on the outcome alone. The intercept is far off meanwhile, by the
    logarithm of the two shares, log(3/8).
    """
    rng = np.random.default_rng(8)
    standard, shifts = [], []
    for _ in range(800):
        whole = draw_day(rng, WEIGHTS, 5_000, 0.0, 0.0)
        hits = rng.binomial(whole.positives, 0.3)
        misses = rng.binomial(whole.counts - whole.positives, 0.8)
        early = Coarse(hits + misses, hits)
        score, information = score_directions(
            reference().curve, early.counts, early.positives, reference().directions
        )
        standard.append(score / np.sqrt(information))
        shifts.append(fit_level(CENTRES, early).delta)

    size = (np.abs(standard) > 1.96).mean(axis=0)
    assert np.all(size <= 0.07), size
    assert np.mean(shifts) == pytest.approx(log(0.3 / 0.8), abs=0.02)


def test_streams_and_drifts_are_named() -> None:
    """Sudden drifts of known kind, one stream each: named right a week after the alert."""
    for name, kind in (
        ("slope 0.8", "too_extreme"),
        ("slope 1.25", "too_timid"),
        ("top tenth -0.4", "top_overpredicted"),
    ):
        days = drawn(name, 9, 30)

        assert follow_detector(fit_reference(days[:28]), days[28:])[0].later == kind


@cache
def reference_of_two() -> ModelReference:
    """Fit the reference of two segments whose days are all alike."""
    (sound,) = drawn("none", 1, 0)[0].values()
    return fit_model_reference(watched([dict.fromkeys(("DE", "FR"), sound)] * 28), Limits())


def all_in_one_cell(cell: int, positives: int) -> Coarse:
    """Give 100 predictions of one score."""
    counts, ones = np.zeros_like(CENTRES, np.int64), np.zeros_like(CENTRES, np.int64)
    counts[cell], ones[cell] = 100, positives
    return Coarse(counts, ones)


@pytest.mark.parametrize(
    ("day", "said"),
    [
        ({"DE": all_in_one_cell(500, 0), "FR": all_in_one_cell(510, 0)}, "All outcomes of"),
        ({"DE": all_in_one_cell(500, 100), "FR": all_in_one_cell(510, 100)}, "All outcomes of"),
        ({"DE": all_in_one_cell(500, 30), "FR": all_in_one_cell(600, 50)}, "Within each part of"),
    ],
)
def test_it_says_what_is_equal_on_a_day_without_contrast(
    day: Mapping[str, Coarse], said: str
) -> None:
    """Equal outcomes, equal scores, and parts that each have equal scores are three reasons."""
    references = [reference_of_two()]

    ((verdict, *_),) = judge("ctr", watched([day], 28), references=references, limits=Limits())

    assert verdict.state == "insufficient_data"
    assert sentences(verdict)[0].startswith(said)
