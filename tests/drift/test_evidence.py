"""One day's evidence: priced where its scores are, silent where the reference knows nothing."""

from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest
from scipy.special import expit

from monitor.drift.curve.reference import Reference, fit_reference
from monitor.drift.evidence.directions import (
    CROWDED,
    ENOUGH,
    FEW_ROWS,
    day_evidence,
    recovery_evidence,
)
from monitor.drift.records.day_evidence import DayEvidence
from monitor.metrics.core.coarse import CENTRES, Coarse
from monitor.metrics.core.grid import Floats
from studies.drift.parts import Rough, rough_stream
from studies.drift.rough import few_values, jumping, piled
from studies.drift.rules import follow_detector
from studies.drift.worlds import Truth, World, centre, draw_day, shares, stream
from tests.support.cases import some

WORLD = World(0.05, 5_000)
MIDDLE = centre(WORLD.prevalence)


@cache
def reference() -> Reference:
    """Fit the reference of a sound stream."""
    return fit_reference(list(stream(WORLD, Truth(), 1, days=0)))


def day_of(weights: Floats, rows: float = 5_000, seed: int = 1) -> dict[str, Coarse]:
    """Draw a sound day with given scores."""
    return {"segment 0": draw_day(np.random.default_rng(seed), weights, rows, 0.0, 0.0)}


def moved(by: float) -> DayEvidence:
    """Weigh a sound day whose scores lie elsewhere, by so much in logit."""
    return day_evidence(reference(), day_of(shares(MIDDLE + by)))


def test_tolerances_grow_where_the_scores_jump_to() -> None:
    """The curve is known less well there: tolerance and effect of the slope are larger, by steps.

    A day like the reference's has its tolerances, to a tenth. The days before, worth as much as 50
    of information against 220 to 340 of this day, soften a jump.
    """
    found = [moved(by) for by in (0.0, 1.5, 3.0)]
    tolerances, effects = (
        [getattr(of_day, name)[0] for of_day in found] for name in ("tolerances", "effects")
    )

    assert found[0].tolerances == pytest.approx(reference().tolerances, rel=0.1)
    assert found[0].effects == pytest.approx(reference().effects, rel=0.1)
    assert 0.03 == tolerances[0] <= tolerances[1] < tolerances[2]
    assert 0.10 == effects[0] < effects[1] < effects[2]
    assert effects[2] > 1.5 * effects[0]


def test_where_the_last_days_were_softens_a_jump() -> None:
    """After a day of scores at the jump, the price there is higher; a small day hardly moves it.

    Of a day of 20 rows, with 1 of information, the price is that of the days before, to 5 %.
    """
    there = day_of(shares(MIDDLE + 3.0))
    first = day_evidence(reference(), there)
    second = day_evidence(reference(), there, recent=first.cross)
    small = day_evidence(reference(), day_of(shares(MIDDLE + 3.0), 20), recent=reference().cross)

    assert second.effects[0] > 1.05 * first.effects[0]
    assert small.informations[0] < 5.0
    assert small.effects == pytest.approx(reference().effects, rel=0.05)
    assert first.cross is not None
    assert first.informations[0] < first.cross[0, 0] <= first.informations[0] + ENOUGH


def test_a_better_reference_tolerates_less_but_never_less_than_is_configured() -> None:
    """The price falls with the covariance of the curve, and ends at the least values."""
    day = day_of(shares(MIDDLE))
    known = [
        day_evidence(replace(reference(), covariance=reference().covariance * factor), day)
        for factor in (4.0, 1.0, 1e-6)
    ]

    for better, worse in ((known[1], known[0]), (known[2], known[1])):
        assert np.all(better.tolerances <= worse.tolerances)
        assert np.all(better.effects <= worse.effects)
    assert known[2].tolerances == pytest.approx([0.03, 0.05, 0.05, 0.05])
    assert known[2].effects == pytest.approx([0.10, 0.20, 0.20, 0.20])


def test_the_price_does_not_look_at_who_was_positive() -> None:
    """Other outcomes, as many of them positive: the same tolerances and effects, so a fair bet."""
    day = day_of(shares(MIDDLE))["segment 0"]
    rows = np.repeat(np.arange(day.counts.size), day.counts)
    rng = np.random.default_rng(5)
    hit = rng.choice(rows, int(day.positives.sum()), replace=False)
    other = Coarse(day.counts, np.bincount(hit, minlength=day.counts.size).astype(np.int64))

    first, second = (day_evidence(reference(), {"segment 0": part}) for part in (day, other))

    assert not np.array_equal(first.ratios, second.ratios)
    assert second.tolerances == pytest.approx(first.tolerances, rel=1e-9)
    assert second.effects == pytest.approx(first.effects, rel=1e-9)
    assert second.informations == pytest.approx(first.informations, rel=1e-9)


def test_scores_beyond_the_reference_say_nothing() -> None:
    """A third of the rows far above the known range: that share is told, and changes nothing."""
    day = day_of(shares(MIDDLE))["segment 0"]
    beyond = reference().known.stop + 40
    crowd = np.zeros_like(day.counts)
    crowd[beyond] = day.counts.sum() // 2
    plain = day_evidence(reference(), {"segment 0": inside(day)})

    for positives in (0 * crowd, crowd // 3, crowd):
        crowded = Coarse(day.counts + crowd, day.positives + positives)
        found = day_evidence(reference(), {"segment 0": crowded})

        assert found.unknown_share == pytest.approx(1 / 3, abs=0.01)
        assert found.ratios == pytest.approx(plain.ratios, abs=1e-9)
    assert day_evidence(reference(), {"segment 0": day}).unknown_share == 0.0


def inside(day: Coarse) -> Coarse:
    """Take away what lies above the known range."""
    seen = np.arange(day.counts.size) < reference().known.stop
    return Coarse(day.counts * seen, day.positives * seen)


def test_few_rows_beyond_the_reference_are_no_crowd() -> None:
    """Up to three times the usual rows, and three more, the end counts; with more it does not."""
    found = reference()
    before = found.counts.counts
    inner = np.zeros_like(before)
    inner[found.known.start : found.known.stop] = before[found.known.start : found.known.stop]
    usual = before[found.known.stop :].sum() / before.sum()
    total = int(inner.sum())
    most = int((CROWDED * usual * total + FEW_ROWS) / (1.0 - CROWDED * usual))

    def share(rows: int) -> float:
        counts = inner.copy()
        counts[np.nonzero(before)[0][-1]] += rows
        return day_evidence(found, {"a": Coarse(counts, counts // 2)}).unknown_share

    assert (CROWDED, FEW_ROWS) == (3.0, 3)
    assert share(most - 1) == 0.0
    assert share(most + 2) > 0.0


SOUND: dict[str, Rough] = {
    "piles": piled(0.4),
    "seven values": few_values(7, 0.2),
    "forty leaves": few_values(40, 0.2),
    "jump": jumping(),
    "jump on a wave": jumping(wave=0.15),
    "jump to a flat end": jumping(beyond=0.6),
}


@pytest.mark.parametrize("name", SOUND)
def test_rough_scores_are_no_drift(name: str) -> None:
    """Half a year of sound streams without an alert.

    The first version gave 0.7 to 9 alerts a year in these worlds. Among forty leaves are some that
    the rest of the spline runs far away between: its fit ended in nan.
    """
    draw = partial(rough_stream, SOUND[name], WORLD, Truth(), days=182)
    for seed in some(range(3), 2):
        days = list(draw(seed))

        assert follow_detector(fit_reference(days[:28]), days[28:]) == []


def test_a_jump_of_the_scores_is_told_as_unknown() -> None:
    """Where the mean logit rises by 1.5, part of the day lies beyond what the reference knows."""
    days = list(rough_stream(jumping(), WORLD, Truth(), 1, days=1))

    found = day_evidence(fit_reference(days[:28]), days[28])

    assert 0.1 < found.unknown_share < 0.9


@pytest.mark.parametrize(("slope", "sign"), [(0.8, -1), (1.0, 1)])
def test_recovery_is_told_from_a_drift_that_stays(slope: float, sign: int) -> None:
    """Against a distortion of -0.2 a sound day speaks for recovery, one of slope 0.8 against it."""
    n = np.rint(2e5 * shares(MIDDLE)).astype(np.int64)
    tilted = CENTRES + (slope - 1.0) * (CENTRES - MIDDLE)
    day = Coarse(n, np.rint(n * expit(tilted)).astype(np.int64))

    found = recovery_evidence(reference(), {"all": day}, 0, -0.2, -0.03)

    assert sign * found > 10.0


def test_levels_add_up_to_the_shift() -> None:
    """One Newton step from the reference's intercept: +0.2 for every score is found to 0.02."""
    n = np.rint(1e7 * shares(MIDDLE)).astype(np.int64)
    day = Coarse(n, np.rint(n * expit(reference().curve + 0.2)).astype(np.int64))

    score, known, lift, lift_known = day_evidence(reference(), {"segment 0": day}).levels

    assert score / known == pytest.approx(0.2, abs=0.025)
    assert known == pytest.approx((n * (p := expit(reference().curve)) * (1 - p)).sum(), rel=1e-6)
    assert lift > 0.0
    assert lift_known > 0.0
    assert not day_evidence(reference(), {"unseen": day}).levels.any()


@pytest.mark.parametrize("spread", [4.0, 6.0, 9.0])
@pytest.mark.parametrize("seed", range(4))
def test_scores_near_the_ends_hide_no_drift(spread: float, seed: int) -> None:
    """Few rows, most scores near 0 and 1: the reference says nothing of some direction.

    The evidence along it was no number, and silenced that of all others.
    """
    rng = np.random.default_rng([seed, int(spread)])
    reference_days, sound, drifted = 28, 14, 3
    days = []
    for number in range(reference_days + sound + drifted):
        logits = np.clip(rng.normal(0.0, spread, 50), -15.9, 15.9)
        slope = 1.0 if number < reference_days + sound else 0.0
        positive = rng.random(50) < expit(slope * logits)
        cells = np.searchsorted(CENTRES, logits).clip(0, CENTRES.size - 1)
        counted = (np.bincount(cells, w, CENTRES.size) for w in (np.ones(50), positive))
        days.append({"segment 0": Coarse(*(c.astype(np.int64) for c in counted))})
    fitted = fit_reference(days[:reference_days])
    evidence = [day_evidence(fitted, day, fitted.day_variances) for day in days[reference_days:]]

    assert all(np.isfinite(found.ratios).all() for found in evidence)
    assert all(found.ratios.max() > 1.0 for found in evidence[-drifted:])
