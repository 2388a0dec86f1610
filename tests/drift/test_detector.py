"""The detector is a fold: sums, starts, incidents and their names; and which streams it flags."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import cache
from math import log10

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from monitor.drift.curve.reference import Reference, fit_reference
from monitor.drift.evidence.directions import MOST_OF_A_DAY, bounded, day_evidence
from monitor.drift.incidents.detecting import (
    accumulate,
    event_of_day,
    independent,
    limit,
    lived,
    new_detector,
    rebased,
    segment_limits,
    unknown,
    update_incident,
)
from monitor.drift.records.day_evidence import DIRECTIONS, KINDS, DayEvidence
from monitor.drift.records.detector import RECOVERED, WEIGHTS, Detector, Ended
from monitor.drift.records.life import LEAST_AGE, LIFE, life_state
from monitor.metrics.core.coarse import CENTRES, Coarse
from studies.drift.worlds import Truth, World, centre, shares, stream

WORLD = World(0.05, 20_000)
DAY = date(2026, 3, 1)
CALM = np.zeros(len(DIRECTIONS))  # no variance between days

evidences = st.lists(st.floats(-2, 2, width=16), min_size=8, max_size=8)


@cache
def reference() -> Reference:
    """Fit the reference of a sound stream."""
    return fit_reference(list(stream(WORLD, Truth(), 1, days=0)))


def said(ratios: Sequence[float], *, recovery: float = 0.0) -> DayEvidence:
    """Make the evidence of a day; scores lean as the ratios do, information is 1.

    An effect of 1 against a tolerance of 0 is worth half a nat: the day counts in full.
    """
    pairs = np.reshape(ratios, (-1, 2))
    return replace(
        day_evidence(reference(), {}),
        ratios=np.array(ratios, float),
        tolerances=np.zeros(len(DIRECTIONS)),
        effects=np.ones(len(DIRECTIONS)),
        scores=pairs[:, 1] - pairs[:, 0],
        informations=np.ones(len(DIRECTIONS)),
        recovery=recovery,
    )


def one(kind: str, value: float, *, recovery: float = 0.0) -> DayEvidence:
    """Make evidence for one kind alone."""
    return said([value if name == kind else 0.0 for name in KINDS], recovery=recovery)


def day(number: int) -> date:
    """Count days from the first."""
    return DAY + timedelta(number)


def after(detector: Detector, number: int, evidence: DayEvidence, *, alarm: bool) -> Detector:
    """Add a day and bring the incident up to date."""
    added = accumulate(detector, day(number), evidence, CALM)
    return update_incident(added, day(number), evidence, alarm=alarm)


@given(st.lists(evidences, max_size=12))
def test_sums_hold_every_start(days: list[list[float]]) -> None:
    """Each sum is the evidence of all runs of days up to the last, one for every first day."""
    detector = new_detector()
    for t, ratios in enumerate(days):
        detector = accumulate(detector, day(t), said(ratios), CALM)

    runs = [np.sum(days[t:], axis=0) for t in range(len(days))]
    expected = np.sum([10.0**run for run in runs], axis=0) if days else np.zeros(len(KINDS))
    assert detector.sums == pytest.approx(expected, rel=1e-9)
    mean = (WEIGHTS * expected).sum()
    assert detector.evidence == pytest.approx(log10(max(1.0, mean)), abs=1e-9)
    assert detector.counted == len(days)
    assert detector.last == (day(len(days) - 1) if days else date.min)


def test_a_day_that_knows_little_begins_little() -> None:
    """What a day may add, ten times, is the weight of a start on it: here 0.1 g = 0.02 nats."""
    weak = replace(said([0.0] * 8), informations=np.full(4, 0.04))

    assert accumulate(new_detector(), DAY, weak, CALM).sums == pytest.approx(np.full(8, 0.2))
    # Half a nat over a dispersion of 50.
    noisy = accumulate(new_detector(), DAY, said([0.0] * 8), np.full(4, 49.0))
    assert noisy.sums == pytest.approx(np.full(8, 0.1))


@given(ratio=st.floats(-400, 400))
def test_no_day_says_more_than_a_hundred_to_one(ratio: float) -> None:
    """A bet stays fair: a hundredth is kept and the rest is staked, and never pays over 100."""
    found = bounded(np.array([ratio]))[0]

    staked = 10.0**ratio if ratio < 300 else np.inf
    assert 10.0**found == pytest.approx(min(100.0, 0.01 + 0.99 * staked), rel=1e-12)


def test_no_single_day_opens_an_incident() -> None:
    """One broken day, however large, says a hundred to one at most."""
    x = CENTRES - centre(WORLD.prevalence)
    n = np.rint(1e7 * shares(centre(WORLD.prevalence))).astype(np.int64)
    broken = Coarse(n, np.rint(n * expit(CENTRES - 0.5 * x)).astype(np.int64))

    ratios = day_evidence(reference(), {"all": broken}).ratios

    assert ratios.max() == MOST_OF_A_DAY == 2.0
    assert ratios.max() < limit(1000)


def test_a_day_of_nothing_says_nothing() -> None:
    """Without outcomes, and with one class only, all evidence is 0."""
    counts = np.zeros(1024, np.int64)
    counts[400:500] = 5
    for parts in ({}, {1: Coarse(counts, counts)}, {1: Coarse(counts, 0 * counts)}):
        found = day_evidence(reference(), parts)

        assert not found.ratios.any()
        assert not found.informations.any()
        assert accumulate(new_detector(), DAY, found, CALM).last == date.min


def test_the_limit_is_the_number_of_days() -> None:
    """The weighted mean of e-detectors alarms at A; one kind alone reaches it at A / weight."""
    assert limit(1000) == pytest.approx(3.0)
    for weight, kind in zip(WEIGHTS, KINDS, strict=True):
        sums = np.where(np.array(KINDS) == kind, 1000 / weight, 0.0)
        assert replace(new_detector(), sums=sums).evidence == pytest.approx(3.0)


def opened(kind: str = "too_extreme", value: float = 2.0) -> Detector:
    """Make a detector whose incident opens on the first day."""
    return after(new_detector(), 0, one(kind, value), alarm=True)


def follow(detector: Detector, evidence: DayEvidence, days: int) -> list[Detector]:
    """Carry a detector on through days that all say the same, without another alarm."""
    found = [detector]
    for t in range(1, days + 1):
        found.append(after(found[-1], t, evidence, alarm=False))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_an_alarm_opens_an_incident_and_clears_the_sums(kind: str) -> None:
    """It is named, dated, measured, and carries its evidence; the sums begin again."""
    detector = opened(kind)

    incident = detector.incident
    assert (incident.kind, incident.opened, incident.started) == (kind, DAY, DAY)
    assert (incident.start_low, incident.start_high) == (DAY, DAY)
    weight = WEIGHTS[KINDS.index(kind)]
    assert incident.evidence == pytest.approx(log10(100 * weight + 1 - weight))
    assert (abs(incident.size), incident.size_error) == (2.0, 1.0)  # U / I and 1 / sqrt(I)
    assert (incident.size > 0) == (KINDS.index(kind) % 2 == 1)
    assert not detector.sums.any()
    assert detector.counted == 0


def test_an_incident_closes_at_its_odds() -> None:
    """It closes on the first day, from its seventh on, with evidence of recovery of 3 or more."""
    slow = follow(opened(), said([0.0] * 8, recovery=0.125), 28)
    quick = follow(opened(), said([0.0] * 8, recovery=1.0), 20)

    assert (RECOVERED, LEAST_AGE) == (3.0, 7)
    assert [detector.incident is None for detector in slow] == [t >= 24 for t in range(29)]
    assert [detector.incident is None for detector in quick] == [t >= 7 for t in range(21)]


streams = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=3), st.floats(0, 8, width=16), max_size=12
)


def test_a_closed_incident_is_remembered_until_the_next() -> None:
    """The detector notes start, end and reason of a drift, and forgets them when one opens."""
    closed = follow(opened(), said([0.0] * 8, recovery=1.0), 20)[-1]
    again = after(closed, 30, one("too_timid", 2.0), alarm=True)

    assert closed.ended == Ended(started=DAY, closed=day(7), reason="recovered")
    assert rebased(closed, day(30)).ended == closed.ended
    assert again.incident is not None
    assert again.ended is None


@pytest.mark.parametrize(("strength", "kind"), [(1.0, "too_extreme"), (2.0, "top_overpredicted")])
def test_a_second_alarm_opens_nothing(strength: float, kind: str) -> None:
    """An open incident keeps dates and evidence, and the name of what fits best since its start.

    Recovery begins again. The slope's score is -1.5 on the first day.
    """
    before = follow(opened(value=1.5), said([0.0] * 8, recovery=0.5), 2)[-1]
    evidence = one("top_overpredicted", strength)
    detector = after(before, 3, evidence, alarm=True)

    first, now = before.incident, detector.incident
    assert first is not None
    assert now is not None
    assert first.recovery == 1.0
    assert (now.opened, now.started) == (DAY, DAY)
    assert (now.evidence, now.recovery) == (first.evidence, 0.0)
    assert now.kind == kind
    for name in ("scores", "informations", "slopes"):
        assert np.array_equal(getattr(now, name), getattr(first, name) + getattr(evidence, name))
    assert not detector.sums.any()


def test_a_drift_that_gives_way_to_another_stays_open() -> None:
    """The old distortion is gone and another is certain: the incident takes its name and start."""
    states = follow(opened(), one("too_timid", 1.0, recovery=1.0), 9)

    for state in states[3:]:
        assert state.incident.kind == "too_timid"
        assert state.incident.opened == DAY
        assert DAY < state.incident.start_low <= state.incident.started <= day(3)


def detectors_with(evidence: dict[str, float]) -> dict[str, Detector]:
    """Make detectors of given evidence."""
    return {
        name: replace(new_detector(), sums=np.full(len(KINDS), 10.0**value))
        for name, value in evidence.items()
    }


def flagged(evidence: dict[str, float], days: float) -> set[str]:
    """Name the streams that are over the limit they have today."""
    detectors = detectors_with(evidence)
    limits = segment_limits(detectors, days)
    return {name for name, found in detectors.items() if found.evidence >= limits[name]}


@given(streams, st.sampled_from([10.0, 365.0, 1000.0]))
def test_flagged_streams_are_the_largest_set_that_is_fair(
    evidence: dict[str, float], days: float
) -> None:
    """Against a search of every k: the k best streams, each of A streams / k or more."""
    exact = {name: found.evidence for name, found in detectors_with(evidence).items()}
    ranked = sorted(exact.values(), reverse=True)
    fair = [k for k in range(1, len(exact) + 1) if ranked[k - 1] >= log10(days * len(exact) / k)]

    found = flagged(evidence, days)

    assert len(found) == max(fair, default=0)
    if found:
        worst = min(exact[name] for name in found)
        assert worst >= log10(days * len(exact) / len(found))
        assert all(exact[name] <= worst for name in exact.keys() - found)


def test_drawn_lives_reach_all_of_the_table_and_nothing_else() -> None:
    """Every event in every state of the curve; what a second look or a new reference say, too."""
    reached, led = set[tuple[str, str]](), dict[str, set[str]]()
    for seed in range(20):
        rng, detector, number = np.random.default_rng(seed), new_detector(), 0
        leaning = (-0.1, 0.0, 0.02, 0.3)[seed % 4]
        for _ in range(130):
            number += int(rng.integers(1, 7))
            kind, before = KINDS[int(rng.integers(4))], life_state(detector.incident)
            rare = 0.1 if before == "undecided" else 0.012
            recovery = rng.normal(leaning, 0.15) + (3.5 if rng.random() < rare else 0.0)
            evidence = one(kind, 2.0 * float(rng.random() < 0.1), recovery=recovery)
            added = accumulate(detector, day(number), evidence, CALM)
            alarm = bool(rng.random() < 0.01 + 0.5 * (detector.incident is None))
            found = event_of_day(
                *(added, day(number), evidence),
                alarm=alarm,
                said_since=unknown,
                hanging_since=independent,
            )
            if detector.incident and rng.random() < rare:
                calm = replace(detector.incident, recovery=0.0, recovering=None)
                grown = replace(calm, quarter=None)
                found = ("worse", grown) if rng.random() < 0.5 else ("moved", calm)
            if detector.incident and rng.random() < rare:
                event, detector = "other reference", rebased(added, day(number))
            elif found:
                event, detector = found[0], lived(added, day(number), *found)
            else:
                continue
            reached.add((before, event))
            led.setdefault(event, set()).add(life_state(detector.incident))

    of_curve = {(s, e) for e, step in LIFE.items() for s in step.before if s != "unclear"}
    assert reached == of_curve - {("none", "cannot be compared")}
    assert {e: {*LIFE[e].after} for e in led} == led


def test_a_new_reference_forgets_all_but_the_end() -> None:
    """Sums, history, variances and the incident are gone; its end and the reason are kept."""
    before = follow(opened(), one("too_extreme", 0.5), 3)[-1]

    found = rebased(before, day(4))

    assert found.ended == Ended(DAY, day(4), "rebased")
    assert found.incident is None
    assert not found.sums.any()
    assert not found.history.firsts.size
    assert (found.counted, found.last) == (0, date.min)
