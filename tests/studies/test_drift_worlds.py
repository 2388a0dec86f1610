"""The worlds of the study of the verdict are what their names say."""

from itertools import islice

import numpy as np
import pytest
from scipy.special import logit

from monitor.metrics.core.coarse import COARSE_COUNT
from studies.drift import parts, worlds
from studies.drift.parts import Part
from studies.drift.rough import bent, normal_scores
from studies.drift.scenario import SOUND
from studies.drift.scenarios import SCENARIOS
from studies.drift.watch import Task, draw
from studies.drift.worlds import DRIFTS, Truth, grown
from tests.support.cases import some


def rng(seed: int = 1) -> np.random.Generator:
    """Make a generator."""
    return np.random.default_rng(seed)


@pytest.mark.parametrize("name", some(SCENARIOS, 4))
def test_days_are_possible_and_repeatable(name: str) -> None:
    """Every world draws whole numbers of the right size; the seed alone decides which."""
    scenario = SCENARIOS[name]
    days = [
        list(islice(draw(scenario, Task(name, "sound", seed)), length))
        for seed, length in ((1, 40), (1, 3), (2, 3))
    ]
    counts, again, other = ([np.stack([p.counts for p in d.values()]) for d in ds] for ds in days)
    hits = [np.stack([p.positives for p in d.values()]) for d in days[0]]

    assert all(n.dtype == np.int64 and n.shape[1] == COARSE_COUNT for n in [*counts, *hits])
    assert all(np.all((k >= 0) & (k <= n)) for k, n in zip(hits, counts, strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(counts[:3], again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(counts[:3], other, strict=True))
    # Volumes are log-uniform from x0.2 to x5: mean 1.49, sd 1.3, so 0.2 for the mean of 40.
    usual = np.mean([n.sum() for n in counts]) / scenario.world.rows
    assert usual == pytest.approx(1.49, abs=0.8)


@pytest.mark.parametrize("name", some([n for n, s in SCENARIOS.items() if s.group == "rough"], 4))
def test_prevalence_is_as_named(name: str) -> None:
    """Before anything moves the mean outcome of a rough world is near its prevalence."""
    world = SCENARIOS[name].world
    total = np.zeros(2)
    for seed in range(8):
        for day in islice(draw(SCENARIOS[name], Task(name, "sound", seed)), 28):
            total += day["all"].positives.sum(), day["all"].counts.sum()
    off = logit(total[0] / total[1]) - logit(world.prevalence)

    # 8 months of an AR(1) prior of sd 0.4 and memory 0.9 leave 0.09, larger days more of it;
    # few scores that are off by sd 0.2 or 0.3 leave as much again.
    assert abs(off) < 0.5


@pytest.mark.parametrize("prior", [-1.0, 0.7, 2.0])
def test_prior_shift_keeps_scores_given_outcomes(prior: float) -> None:
    """P(s | y) is the same under any prior, for positive outcomes and for negative ones."""
    part = bent(normal_scores(-3.0), 0.9)
    (rows, right), (moved, shifted) = (parts.expect(part, 1e4, d, 0.0) for d in (0.0, prior))

    for before, after in (
        (rows * right, moved * shifted),
        (rows * (1 - right), moved * (1 - shifted)),
    ):
        np.testing.assert_allclose(before / before.sum(), after / after.sum(), atol=1e-14)
    assert moved.sum() == pytest.approx(1e4)


def test_clusters_have_the_variance_of_a_beta_binomial() -> None:
    """Outcomes in clusters vary as a correlation of 0.1 makes them."""
    drawn = [
        parts.draw_clusters(rng(seed), np.array([900.0]), np.array([0.2]), 0.1)
        for seed in range(2_000)
    ]
    counts, hits = np.array(drawn)[:, :, 0].T
    found = np.var(hits - 0.2 * counts) / (0.16 * counts.mean())
    sizes = np.arange(10, 51)
    expected = 1.0 + 0.1 * ((sizes**2).sum() / sizes.sum() - 1.0)

    # The variance of 2,000 draws has a relative error of sqrt(2 / 2000) = 3 %.
    assert found == pytest.approx(expected, rel=0.13)
    assert counts.mean() == pytest.approx(900, rel=0.02)


def test_drift_comes_and_goes() -> None:
    """A drift is whole after its ramp, and gone after the days that it lasts."""
    ramp, passing = DRIFTS["slow ramp to slope 0.8"], DRIFTS["slope 0.8 for 130 days"]

    assert [grown(ramp, t) for t in (-1, 0, 44, 89, 400)] == [0.0, 1 / 90, 0.5, 1.0, 1.0]
    assert [grown(passing, t) for t in (-1, 0, 129, 130)] == [0.0, 1.0, 1.0, 0.0]


def test_every_world_says_what_it_is_for() -> None:
    """Rough worlds say what they test, have a goal, and no two share a name."""
    rougher = [s for s in SCENARIOS.values() if s.group == "rough"]

    assert len(rougher) >= 25
    assert all(s.tests and s.goal is not None for s in rougher)
    assert {s.name for s in rougher if s.outside} == {
        "campaigns of 7 days",
        "slope wanders",
        "hidden groups, priors apart",
    }
    assert all(set(s.drifts) <= set(worlds.DRIFTS) for s in SCENARIOS.values())
    assert Truth() == SOUND
    assert isinstance(normal_scores(0.0), Part)
