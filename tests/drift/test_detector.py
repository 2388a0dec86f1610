"""The detector is a fold: sums, starts, incidents and their names; and which streams it flags."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import cache
from itertools import pairwise
from math import log10

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import expit

from monitor.drift.detector import (
    LEAST_AGE,
    RECOVERED,
    Detector,
    Ended,
    accumulate,
    best_fitting_kind,
    limit,
    new_detector,
    reset,
    segment_limits,
    update_incident,
)
from monitor.drift.evidence import KINDS, MOST_OF_A_DAY, DayEvidence, bounded, day_evidence
from monitor.drift.reference import DIRECTIONS, Reference, fit_reference
from monitor.metrics.core.coarse import CENTRES, Coarse
from studies.drift.worlds import DRIFTS, Truth, World, centre, shares, stream

WORLD = World(0.05, 20_000)
DAY = date(2026, 3, 1)

evidences = st.lists(st.floats(-3, 3, width=16), min_size=8, max_size=8)


@cache
def reference() -> Reference:
    """Fit the reference of a sound stream."""
    return fit_reference(list(stream(WORLD, Truth(), 1, days=0)))


def drifted(seed: int) -> Coarse:
    """Draw a day of slope 0.8."""
    return next(stream(WORLD, DRIFTS["slope 0.8"], seed, reference=0, days=1))["segment 0"]


def said(ratios: Sequence[float]) -> DayEvidence:
    """Make the evidence of a day; scores lean as the ratios do, information is 1."""
    pairs = np.reshape(ratios, (-1, 2))
    return replace(
        day_evidence(reference(), []),
        ratios=np.array(ratios, float),
        scores=pairs[:, 1] - pairs[:, 0],
        informations=np.ones(len(DIRECTIONS)),
    )


def one(kind: str, value: float) -> DayEvidence:
    """Make evidence for one kind alone."""
    return said([value if name == kind else 0.0 for name in KINDS])


def day(number: int) -> date:
    """Count days from the first."""
    return DAY + timedelta(number)


@given(st.lists(evidences, max_size=12))
def test_sums_are_those_of_the_best_start(days: list[list[float]]) -> None:
    """Each sum is the largest evidence of any run of days up to the last; it knows its start."""
    detector = new_detector()
    for t, ratios in enumerate(days):
        detector = accumulate(detector, day(t), said(ratios))

    for j in range(len(KINDS)):
        runs = [sum(ratios[j] for ratios in days[t:]) for t in range(len(days))]
        best = max([0.0, *runs])
        assert detector.sums[j] == pytest.approx(best, abs=1e-9)
        start = detector.starts[j]
        assert (start is None) == (detector.sums[j] == 0.0)
        if start is not None:
            since = (start - DAY).days
            assert runs[since] == pytest.approx(best, abs=1e-9)
            informed = len(days) - since
            assert detector.informations[j] == pytest.approx(np.full(4, informed))
            assert detector.scores[j] == pytest.approx(
                np.sum([said(ratios).scores for ratios in days[since:]], axis=0)
            )
        else:
            assert not detector.informations[j].any()


def test_evidence_is_summed_over_segments() -> None:
    """A day of two segments says what each says, added up; an empty one says nothing."""
    small = World(0.05, 400)
    first, second = (next(stream(small, Truth(), s, reference=0, days=1)) for s in (10, 11))
    parts = [first["segment 0"], second["segment 0"]]
    empty = Coarse(np.zeros(1024, np.int64), np.zeros(1024, np.int64))
    alone = [day_evidence(reference(), [part]) for part in parts]

    both = day_evidence(reference(), [parts[0], empty, parts[1]])

    for name in ("scores", "informations"):
        expected = getattr(alone[0], name) + getattr(alone[1], name)
        assert getattr(both, name) == pytest.approx(expected, rel=1e-12)
    assert np.all(np.abs([day.ratios for day in alone]) < MOST_OF_A_DAY / 2)
    summed = sum(unhedged(day.ratios) for day in alone)
    assert unhedged(both.ratios) == pytest.approx(summed, rel=1e-9)  # 100 times for the bound's


def unhedged(ratios: np.ndarray) -> np.ndarray:
    """Take the hundredth off again that is kept back every day."""
    return np.log10((10.0**ratios - 0.01) / 0.99)


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

    ratios = day_evidence(reference(), [broken]).ratios

    assert ratios.max() == MOST_OF_A_DAY == 2.0
    assert ratios.max() < limit(1000)


def test_a_day_of_nothing_says_nothing() -> None:
    """Without outcomes, and with one class only, all evidence is 0."""
    counts = np.zeros(1024, np.int64)
    counts[400:500] = 5
    for parts in ([], [Coarse(counts, counts)], [Coarse(counts, 0 * counts)]):
        found = day_evidence(reference(), parts)

        assert not found.ratios.any()
        assert not found.informations.any()


def test_limit_is_that_of_eight_kinds() -> None:
    """The mean of eight e-processes reaches A where one alone reaches 8 A."""
    assert limit(1000) == pytest.approx(log10(8000))
    sums = np.zeros(8)
    sums[3] = limit(1000)

    assert np.mean(10.0**sums) == pytest.approx(1000, rel=1e-3)


def opened(kind: str = "too_extreme", value: float = 4.0) -> Detector:
    """Make a detector whose incident opens on the first day."""
    evidence = one(kind, value)
    return update_incident(accumulate(new_detector(), DAY, evidence), DAY, evidence, alarm=True)


def follow(detector: Detector, evidence: DayEvidence, days: int) -> list[Detector]:
    """Carry a detector on through days that all say the same, without another alarm."""
    found = [detector]
    for t in range(1, days + 1):
        found.append(
            update_incident(accumulate(found[-1], day(t), evidence), day(t), evidence, alarm=False)
        )
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_an_alarm_opens_an_incident_and_clears_the_sums(kind: str) -> None:
    """It is named, dated, and carries its evidence; every sum begins anew."""
    detector = opened(kind)

    incident = detector.incident
    assert incident is not None
    assert (incident.kind, incident.opened, incident.started) == (kind, DAY, DAY)
    assert incident.evidence == 4.0
    assert not detector.sums.any()
    assert detector.starts == (None,) * 8


def test_the_start_is_the_first_day_of_the_evidence() -> None:
    """An incident that took days to open says since when, not when it was noticed."""
    detector = new_detector()
    for t in range(4):
        detector = accumulate(detector, day(t), one("too_timid", 1.0))
    incident = update_incident(detector, day(3), one("too_timid", 1.0), alarm=True).incident

    assert incident is not None
    assert (incident.started, incident.opened) == (DAY, day(3))


def test_an_incident_lasts_while_nothing_is_said() -> None:
    """Days without evidence neither close it nor change its name."""
    for detector in follow(opened(), said([0.0] * 8), 60):
        assert detector.incident is not None
        assert detector.incident.kind == "too_extreme"


def test_an_incident_closes_at_a_hundred_to_one() -> None:
    """It closes on the first day, from its seventh on, with evidence of recovery of 2 or more."""
    slow = follow(opened(), one("too_extreme", -0.125), 20)
    quick = follow(opened(), one("too_extreme", -1.0), 20)

    assert (RECOVERED, LEAST_AGE) == (2.0, 7)
    assert [detector.incident is None for detector in slow] == [t >= 16 for t in range(21)]
    assert [detector.incident is None for detector in quick] == [t >= 7 for t in range(21)]


def test_a_closed_incident_is_remembered_until_the_next() -> None:
    """The detector notes start, end and reason of a drift, and forgets them when one opens."""
    closed = follow(opened(), one("too_extreme", -1.0), 20)[-1]
    evidence = one("too_timid", 4.0)
    again = update_incident(accumulate(closed, day(30), evidence), day(30), evidence, alarm=True)

    assert closed.ended == Ended(started=DAY, closed=day(7), reason="recovered")
    assert reset(closed, day(30), "rebased").ended == closed.ended
    assert again.incident is not None
    assert again.ended is None


def test_recovery_never_falls_below_nothing() -> None:
    """Ten days for the drift do not make the recovery after them any harder."""
    worse = follow(opened(), one("too_extreme", 0.25), 10)[-1]
    better = follow(worse, one("too_extreme", -0.5), 4)

    assert worse.incident is not None
    assert worse.incident.recovery == 0.0
    assert better[3].incident is not None
    assert better[4].incident is None or (day(4) - worse.incident.opened).days < LEAST_AGE


@pytest.mark.parametrize(("strength", "kind"), [(2.0, "too_extreme"), (9.0, "top_overpredicted")])
def test_a_second_alarm_opens_nothing(strength: float, kind: str) -> None:
    """An open incident keeps dates and evidence, and the name of what fits best since its start.

    Recovery begins anew. The slope's score is 4 from the first day on.
    """
    before = follow(opened(), one("too_extreme", -0.5), 2)[-1]
    evidence = one("top_overpredicted", strength)
    detector = update_incident(accumulate(before, day(3), evidence), day(3), evidence, alarm=True)

    assert before.incident is not None
    assert before.incident.recovery == 1.0
    assert detector.incident is not None
    assert (detector.incident.opened, detector.incident.started) == (DAY, DAY)
    assert (detector.incident.evidence, detector.incident.recovery) == (4.0, 0.0)
    assert detector.incident.kind == kind
    for name in ("scores", "informations", "slopes"):
        carried = getattr(before.incident, name) + getattr(evidence, name)
        assert np.array_equal(getattr(detector.incident, name), carried)
    assert not detector.sums.any()


@given(
    st.lists(st.floats(-50, 50), min_size=4, max_size=4),
    st.lists(st.floats(0.1, 1000), min_size=4, max_size=4),
)
def test_the_name_is_what_fits_best(scores: list[float], informations: list[float]) -> None:
    """No other direction gains more likelihood at its own best size; the sign is the score's."""
    u, info = np.array(scores), np.array(informations)

    direction, side = divmod(KINDS.index(best_fitting_kind(u, info)), 2)

    assert (u**2 / info).max() == pytest.approx(u[direction] ** 2 / info[direction])
    assert side == (u[direction] > 0)


def test_a_direction_that_nothing_is_known_of_is_no_name() -> None:
    """Information of 0 is no division by 0."""
    assert (
        best_fitting_kind(np.array([0.0, 0.0, -1.0, 0.0]), np.array([0.0, 1.0, 1.0, 0.0]))
        == KINDS[4]
    )


streams = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=3),
    st.lists(st.floats(0, 8, width=16), min_size=8, max_size=8),
    max_size=12,
)


def detectors_with(sums: dict[str, list[float]]) -> dict[str, Detector]:
    """Make detectors of given sums."""
    return {
        name: replace(new_detector(), sums=np.array(values, float), starts=(DAY,) * len(KINDS))
        for name, values in sums.items()
    }


def flagged(sums: dict[str, list[float]], days: float) -> set[str]:
    """Name the streams that are over the limit they have today."""
    limits = segment_limits(detectors_with(sums), days)
    return {name for name, values in sums.items() if max(values) >= limits[name]}


@given(streams, st.sampled_from([10.0, 365.0, 1000.0]))
def test_flagged_streams_are_the_largest_set_that_is_fair(
    sums: dict[str, list[float]], days: float
) -> None:
    """Against a search of every k: the k best streams, each of 8 A streams / k or more."""
    largest = {name: max(values) for name, values in sums.items()}
    ranked = sorted(largest.values(), reverse=True)
    fair = [
        k for k in range(1, len(sums) + 1) if ranked[k - 1] >= log10(8 * (days * len(sums) / k))
    ]

    found = flagged(sums, days)

    assert len(found) == max(fair, default=0)
    if found:
        worst = min(largest[name] for name in found)
        assert worst >= log10(8 * (days * len(sums) / len(found)))
        assert all(largest[name] <= worst for name in sums.keys() - found)


@given(streams, st.randoms(use_true_random=False))
def test_order_of_streams_is_irrelevant(sums: dict[str, list[float]], chance: object) -> None:
    """The same streams in another order: as many are flagged, with sums as high."""
    names = list(sums)
    chance.shuffle(names)  # type: ignore[attr-defined]

    again = flagged({name: sums[name] for name in names}, 100.0)

    assert sorted(max(sums[n]) for n in flagged(sums, 100.0)) == sorted(max(sums[n]) for n in again)


@given(streams, st.floats(0, 3, width=16))
def test_more_evidence_flags_no_fewer(sums: dict[str, list[float]], more: float) -> None:
    """Raising every sum of one stream unflags nobody."""
    assume(sums)
    raised = sums | {(first := next(iter(sums))): [value + more for value in sums[first]]}

    assert flagged(sums, 365.0) <= flagged(raised, 365.0)


@given(streams)
def test_longer_intervals_flag_no_more(sums: dict[str, list[float]]) -> None:
    """A larger A can only unflag."""
    flags = [flagged(sums, a) for a in (10.0, 100.0, 1000.0, 10_000.0)]

    assert all(fewer <= more for more, fewer in pairwise(flags))


def test_one_stream_needs_its_limit_and_ten_share_it() -> None:
    """A single stream alerts at evidence 8 A, alone among ten at 80 A, ten of ten at 8 A."""
    at = {value: [log10(8 * value) + 1e-9] + [0.0] * 7 for value in (365.0, 3650.0)}
    quiet = [0.0] * 8

    assert flagged({"a": at[365.0]}, 365.0) == {"a"}
    others = {str(i): quiet for i in range(9)}
    assert flagged({"a": at[365.0]} | others, 365.0) == set()
    assert flagged({"a": at[3650.0]} | others, 365.0) == {"a"}
    assert len(flagged({str(i): at[365.0] for i in range(10)}, 365.0)) == 10
