"""A calibrated limit keeps its promise on average, and finds small changes sooner."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from monitor.base.segment_names import WHOLE
from monitor.drift.curve.reference import Reference, fit_reference
from monitor.drift.fold.inputs import Limits, limit_alone
from monitor.drift.incidents.detectable import (
    LEAST_LIMIT,
    calibrated_limit,
    drawn_days,
    evidence_paths,
)
from monitor.drift.incidents.detecting import advance, new_detector
from studies.drift.rules import FIRST
from studies.drift.worlds import Truth, World, stream
from tests.support.cases import some

DAYS = 120


def sound(world: World, seed: int) -> tuple[Reference, list[float]]:
    """Fit a reference, and give the evidence of distortions on each of the days that follow."""
    days = stream(world, Truth(), seed, days=DAYS)
    reference = fit_reference(list(islice(days, 28)))
    detector, evidence = new_detector(), []
    for day in days:
        detector, _ = advance(detector, reference, [FIRST], day)
        evidence.append(replace(detector, labels=None).evidence)
    return reference, evidence


def test_simulated_evidence_is_as_high_as_that_of_drawn_days() -> None:
    """How often chance reaches a limit in 120 days: as simulated, within two standard errors.

    Days of 60 rows are the hardest: the evidence is far from that of normal scores. A standard
    error of n streams is at most ``0.5 / sqrt(n)``; volumes that vary are part of the reference
    only once.
    """
    shares, seeds = [], some(range(40), 2)
    limits = np.array([1.0, 1.5, 2.0])[:, None]
    for seed in seeds:
        reference, evidence = sound(World(0.5, 60), seed)
        drawn = evidence_paths(reference, drawn_days(reference, 200))
        paths = np.array(list(islice(drawn, DAYS))).max(axis=0)
        shares.append([(paths >= limits).mean(axis=1), max(evidence) >= limits[:, 0]])

    simulated, drawn = np.mean(shares, axis=0)
    assert abs(simulated - drawn).max() < 1.0 / len(seeds) ** 0.5
    assert drawn[0] > drawn[2] > 0.0


def test_the_limit_lies_between_a_hundred_and_the_guaranteed_one() -> None:
    """Many rows need no more than 100; more days between alerts need a higher limit."""
    few, many = sound(World(0.5, 60), 1)[0], sound(World(0.05, 20_000), 1)[0]
    limits = [calibrated_limit(few, days) for days in (100, 300, 1_000, 100_000)]

    assert calibrated_limit(many, 1_000) == LEAST_LIMIT
    assert limits == sorted(limits)
    assert LEAST_LIMIT < limits[2] < 3.0
    assert limits[3] - limits[2] == pytest.approx(2.0)  # a hundred times the days
    assert calibrated_limit(few, 30) == np.log10(30)  # never above the guaranteed one


def test_the_days_between_false_alerts_of_segments_are_those_of_all_of_them() -> None:
    """The whole alerts on its own; four segments share theirs."""
    assert limit_alone(Limits(), WHOLE, 4) == pytest.approx(3.0)
    assert 10.0 ** limit_alone(Limits(), "DE", 4) == pytest.approx(4 * 365)
