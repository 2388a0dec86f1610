"""A calibrated limit keeps its promise on average, and finds small changes sooner."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import islice, product
from typing import Any

import numpy as np
import pytest

from monitor.base.segment_names import FAMILIES, WHOLE
from monitor.drift.curve.reference import Reference, fit_reference
from monitor.drift.fold.inputs import (
    Day,
    Limits,
    fit_model_reference,
    limit_alone,
    limit_of_whole,
)
from monitor.drift.incidents.detectable import (
    LEAST_LIMIT,
    calibrated_limit,
    drawn_days,
    evidence_paths,
)
from monitor.drift.incidents.detecting import advance, new_detector
from monitor.drift.verdicts.judge import judge
from monitor.words.verdict import sentences
from studies.classes import worlds as of_classes
from studies.drift.rules import FIRST
from studies.drift.worlds import DRIFTS, Truth, World, stream
from tests.support.cases import some
from tests.support.stored import stored_again

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


MOMENT = datetime(2026, 12, 31, tzinfo=UTC)


def binary_days() -> list[Day]:
    """Draw days of 500 rows, whose slope is 0.5 from the 22nd day on."""
    drawn = stream(World(0.3, 500), DRIFTS["slope 0.5"], 1, days=49, start=21)
    return [
        Day(
            date(2026, 1, 5) + timedelta(t), True, MOMENT, 1.0, {("all", "all"): parts["segment 0"]}
        )
        for t, parts in enumerate(drawn)
    ]


def class_days() -> list[Day]:
    """Draw days of three classes, whose logits are sharper from the 8th on."""
    drawn = of_classes.stream(of_classes.WORLDS[0], of_classes.DRIFTS[0], 1, days=42, start=7)
    return [of_classes.day_of_pairs(rows) for rows in drawn]


@pytest.mark.parametrize("days", [binary_days, class_days], ids=["two classes", "three classes"])
def test_whatever_else_is_configured_the_limit_of_the_reference_decides(days: Any) -> None:
    """Spans of days, few days promised: its limit is stored, said, and opens."""
    every = days()
    for spans, promised in some(product((1, 7), (30, 1_000)), 3):
        limits = Limits(promised, judge_every=spans, calibrated=True)
        reference = fit_model_reference(every[:28], limits)
        assert reference.limit == limit_of_whole(reference.streams, limits)
        assert min(LEAST_LIMIT, np.log10(promised)) <= reference.limit <= np.log10(promised)
        judged = list(judge("m", every[28:], references=[reference], limits=limits))
        for whole, *segments in judged:
            assert whole.limit == reference.limit
            assert not any(v.facts.on_average for v in segments if v.segment not in FAMILIES)
            if whole.reached is not None and whole.incident is None:
                assert whole.reached < whole.limit
            (back,) = stored_again([whole])
            assert sentences(back) == sentences(whole)
        opened = [v for v, *_ in judged if v.state == "calibration_drift"]
        assert opened or spans > 1  # six spans of a week may say too little
        assert not opened or f"false once in {promised:,} days, on average" in " ".join(
            sentences(opened[-1])
        )


def test_the_days_between_false_alerts_of_segments_are_those_of_all_of_them() -> None:
    """The whole alerts on its own; four segments share theirs."""
    assert limit_alone(Limits(), WHOLE, 4) == pytest.approx(3.0)
    assert 10.0 ** limit_alone(Limits(), "DE", 4) == pytest.approx(4 * 365)
