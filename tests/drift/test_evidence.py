"""One day's evidence: priced where its scores are, silent where the reference knows nothing."""

from functools import cache, partial
from itertools import product

import numpy as np
import pytest
from scipy.special import expit

from monitor.drift.curve.reference import Reference, fit_reference
from monitor.drift.evidence.directions import day_evidence
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


SOUND: dict[str, Rough] = {
    "piles": piled(0.4),
    "seven values": few_values(7, 0.2),
    "forty leaves": few_values(40, 0.2),
    "jump": jumping(),
    "jump on a wave": jumping(wave=0.15),
    "jump to a flat end": jumping(beyond=0.6),
}


@pytest.mark.parametrize("name", some(SOUND, 2))
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


@pytest.mark.parametrize(("spread", "seed"), some(product([4.0, 6.0, 9.0], range(4)), 3))
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
