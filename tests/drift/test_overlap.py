"""Outcomes that are counted again on the next days are noticed without a key, and allowed for."""

from dataclasses import replace

import numpy as np
import pytest

from monitor.base.segment_names import WHOLE
from monitor.drift.curve.reference import fit_reference
from monitor.drift.evidence.directions import day_evidence
from monitor.drift.evidence.entities import (
    MOST_DAYS,
    held_down_by_overlap,
    overlap_dispersions,
    overlapping_since,
    with_overlap,
)
from monitor.drift.evidence.history import MOST_WEEKS, remember
from monitor.drift.fold.inputs import Day, with_dependence
from monitor.drift.incidents.detecting import accumulate, new_detector
from studies.drift.entity_worlds import clean, customers, draw_days, panel
from tests.drift.test_entities import REFERENCE, fold
from tests.support.cases import some


def without_key(world: object, seed: int, days: int, slope: float = 1.0) -> list[Day]:
    """Draw days whose rows have no entities; their scores stretch from the end of the reference."""
    drawn = draw_days(world, seed, slope, REFERENCE, REFERENCE + days)
    return [replace(day, entities={}) for day in drawn]


@pytest.mark.parametrize("overlap", [1.0, 2.5, 30.0, 400.0])
def test_dispersions_are_those_of_simulated_days(overlap: float) -> None:
    """Sums of normal scores with correlations that fall evenly vary as often as is said.

    Of 20,000 draws a variance has an error of 1 %; five of them are allowed.
    """
    rng = np.random.default_rng(7)
    days, informations = np.sort(rng.choice(60, 12, replace=False)), rng.gamma(2.0, 50.0, 12)
    correlations = [[max(0.0, 1.0 - abs(int(a - b)) / overlap) for b in days] for a in days]
    scores = rng.multivariate_normal(np.zeros(12), correlations, 20_000) * np.sqrt(informations)

    found = overlap_dispersions(days, informations[:, None], overlap)[:, 0]

    expected = [scores[:, n:].sum(axis=1).var() / informations[n:].sum() for n in range(12)]
    assert found == pytest.approx(np.array(expected), rel=0.05)
    assert found[-1] == pytest.approx(1.0)


@pytest.mark.parametrize("changing", [0.0, 1 / 60])
def test_neighbouring_days_say_as_much_as_a_key(changing: float) -> None:
    """The errors of a reference grow as by 64 buckets of entities, within what these know."""
    for seed in some(range(4), 2):
        days = list(draw_days(panel(changing), seed, 1.0, 99, REFERENCE))
        plain = fit_reference([day.parts for day in days])
        named, noticed = (
            with_dependence(plain, of_days, WHOLE)
            for of_days in (days, [replace(day, entities={}) for day in days])
        )

        assert named.overlap == 1.0
        assert 14.0 < noticed.overlap < 60.0
        assert 0.5 < np.median(noticed.errors / named.errors) < 1.5


@pytest.mark.parametrize("world", [clean(0.2, 1_000), customers(0.03)])
def test_a_reference_whose_days_differ_stays_as_it_is(world: object) -> None:
    """Without a key nothing changes, also of customers who return, whose days are no copies."""
    found = fit_reference([day.parts for day in without_key(world, 3, 0)])

    assert with_overlap(found) is found


def test_days_that_are_copies_give_numbers() -> None:
    """The same day again and again overlaps for as long as outcomes may be awaited."""
    day = without_key(clean(0.2, 1_000), 3, 0)[0].parts

    found = with_overlap(fit_reference([day] * REFERENCE))

    assert found.overlap == MOST_DAYS
    assert np.isfinite(found.errors).all()
    assert found.hanging.max() < REFERENCE


@pytest.mark.parametrize("slope", [1.0, 0.6])
def test_what_is_counted_again_opens_no_drift_unless_there_is_one(slope: float) -> None:
    """A slope of 0.6 is found within 60 days, later than if outcomes were independent."""
    verdicts = fold(without_key(panel(), 1, 60, slope))

    held = any(v.facts.alone is not None for v in verdicts)
    opened = any(v.state == "calibration_drift" for v in verdicts)
    assert (held, opened) == (slope < 1.0, slope < 1.0)
    assert all("counted again" in v.facts.faults for v in verdicts)


def test_weeks_count_as_their_days_do() -> None:
    """A history whose old days are merged into weeks disperses as that of single days."""
    fitted = fit_reference([day.parts for day in without_key(clean(0.2, 1_000), 3, 0)])
    reference = replace(fitted, overlap=20.0)
    day = without_key(clean(0.2, 1_000), 4, 0)[0]
    evidence, detector = day_evidence(reference, day.parts), new_detector()
    first = day.day
    history = detector.history
    for n in range(100):
        history = remember(history, first.fromordinal(first.toordinal() + n), evidence)
    detector = replace(detector, history=history)
    assert history.days.max() == 7
    assert history.firsts.size < 100 < 7 * MOST_WEEKS

    found = overlapping_since(first, detector=detector, reference=reference)

    same = np.repeat(evidence.informations[None], 100, axis=0)
    expected = overlap_dispersions(np.arange(100), same, reference.overlap)[0]
    assert found == pytest.approx(expected, rel=1e-6)  # a history has single precision


def test_evidence_is_held_down_the_longer_outcomes_overlap() -> None:
    """No kind gains evidence, and the strongest one loses the more, the longer the overlap is."""
    days = without_key(panel(), 5, 40, slope=0.7)
    reference = with_overlap(fit_reference([day.parts for day in days[:REFERENCE]]))
    detector = new_detector()
    for day in days[REFERENCE:]:
        evidence = day_evidence(reference, day.parts)
        detector = accumulate(detector, day.day, evidence, reference.day_variances)

    held = [
        held_down_by_overlap(detector, replace(reference, overlap=overlap), evidence)
        for overlap in (3.0, 10.0, 30.0)
    ]

    strongest = [found.sums[detector.sums.argmax()] for found in (detector, *held)]
    assert all((found.sums <= detector.sums).all() for found in held)
    assert strongest == sorted(strongest, reverse=True)
    assert strongest[-1] < 0.1 * strongest[0]
