"""The worlds of the study of the verdict are what their names say."""

from itertools import islice

import numpy as np
import pytest
from scipy.special import expit, logit

from monitor.metrics.core.coarse import CELLS_IN_ONE, CENTRES, COARSE_COUNT
from monitor.metrics.core.grid import locate
from studies.drift import parts, rough, worlds
from studies.drift.parts import Part, locate_logits, rough_stream
from studies.drift.rough import bent, campaigns, few_values, normal_scores, rounded
from studies.drift.scenario import SOUND, START
from studies.drift.scenarios import SCENARIOS
from studies.drift.shapes import centre
from studies.drift.watch import Task, draw
from studies.drift.worlds import DRIFTS, Truth, World, grown, stream
from tests.support.cases import some

USUAL = World(0.05, 20_000)


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


def test_cells_of_logits_are_those_of_the_grid() -> None:
    """Scores fall into the cells that the product puts them in."""
    logits = rng().uniform(-15, 15, 1_000)

    np.testing.assert_array_equal(locate_logits(logits), locate(expit(logits))[0] // CELLS_IN_ONE)
    np.testing.assert_array_equal(locate_logits(CENTRES), np.arange(COARSE_COUNT))
    assert locate_logits(np.array([-40.0, 40.0])).tolist() == [0, COARSE_COUNT - 1]


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


def test_bent_outcomes_have_the_slope_and_nearly_the_prevalence() -> None:
    """`bent` turns the curve around the scores that know most of it."""
    part = normal_scores(centre(0.05))
    flat = bent(part, 0.8)

    np.testing.assert_allclose(np.diff(flat.curve), 0.8 * np.diff(part.curve))
    assert (flat.shares * expit(flat.curve)).sum() == pytest.approx(0.05, rel=0.06)


def test_few_values_are_few_and_off() -> None:
    """Seven distinct scores are off by sd 0.2, the same amounts every day, others a stream."""
    drawn = [few_values(7, 0.2)(rng(seed), USUAL, 28, 40) for seed in range(200)]
    first = drawn[0](0)[0]
    middle = few_values(7, 0.0)(rng(), USUAL, 28, 40)(0)[0].curve
    errors = np.stack([days(5)[0].curve - middle for days in drawn])

    assert np.unique(first.cells).size == 7
    assert drawn[0](0)[0] is drawn[0](39)[0]
    # 1,400 normal errors: their sd is known to 2 %.
    assert errors.std() == pytest.approx(0.2, rel=0.08)


def test_rounded_scores_keep_what_they_mean() -> None:
    """Rows of one rounded score have the mean of their probabilities; 0 is in the lowest cell."""
    part = rounded(2)(rng(), USUAL, 28, 40)(0)[0]

    assert (part.shares * expit(part.curve)).sum() == pytest.approx(0.05, abs=1e-4)
    assert part.cells.min() == 0
    assert part.cells.size == 101
    inner = slice(1, 100)  # a rounded score means within half a hundredth what it says
    assert abs(expit(part.curve[inner]) - np.arange(1, 100) / 100).max() < 0.005


def test_piled_scores_are_calibrated_between_centres() -> None:
    """60 % of the rows have two scores, whose outcomes are those of the exact scores."""
    part = rough.piled(0.0)(rng(), USUAL, 28, 40)(0)[0]
    piles = part.curve[-2:]

    assert part.shares[-2:].sum() == pytest.approx(0.6)
    assert np.all(abs(piles - CENTRES[part.cells[-2:]]) > 0.005)
    np.testing.assert_array_equal(locate_logits(piles), part.cells[-2:])


@pytest.mark.parametrize("life", [1, 7])
def test_campaigns_live_as_long_as_they_should(life: int) -> None:
    """Each of the 20 campaigns is replaced every `life` days, not all on the same day."""
    days = campaigns(life)(rng(), USUAL, 28, 80)
    curves = np.stack([days(t)[0].curve.reshape(rough.CAMPAIGNS, -1)[:, 0] for t in range(70)])
    changes = np.diff(curves, axis=0) != 0

    assert changes.sum(axis=0).tolist() == pytest.approx([69 // life] * 20, abs=1)
    assert changes.sum(axis=1).max() <= (20 if life == 1 else 3)


def test_jump_leaves_the_curve_alone() -> None:
    """The scores move on the first day after the reference, their meaning does not."""
    days = rough.jumping(0.15, 0.6)(rng(), USUAL, 28, 100)
    before, after = days(27)[0], days(28)[0]
    means = [(part.shares * CENTRES).sum() for part in (before, after)]
    high = np.searchsorted(np.cumsum(before.shares), 0.98)
    steps = np.diff(after.curve - 0.15 * rough.waves(USUAL)) / np.diff(CENTRES)

    np.testing.assert_array_equal(before.curve, after.curve)
    assert means[1] - means[0] == pytest.approx(rough.JUMP, abs=1e-3)
    np.testing.assert_allclose(steps[: high - 1], 1.0)
    np.testing.assert_allclose(steps[high + 1 :], 0.6)


def test_slow_movement_ends_where_the_jump_does() -> None:
    """Scores that drift slowly are on the last day where the jump puts them."""
    slow = rough.moving_slowly(rng(), USUAL, 28, 393)
    jumped = rough.jumping()(rng(), USUAL, 28, 393)

    np.testing.assert_array_equal(slow(28)[0].shares, jumped(0)[0].shares)
    np.testing.assert_allclose(slow(393)[0].shares, jumped(393)[0].shares, atol=1e-12)


@pytest.mark.parametrize(
    ("slopes", "low", "high", "odd"),
    [
        (rough.weekends, 0.9, 1.03, 112),
        (rough.holiday, 0.6, 1.0, 7),
        (rough.incident, 0.8, 1.0, 5),
        (rough.recalibrated, 0.8, 1.0, 123),
    ],
)
def test_slopes_by_day(slopes: rough.Slopes, low: float, high: float, odd: int) -> None:
    """Days that differ are as many as they should be, and have the slopes they should have."""
    found = slopes(rng(), 28, 393)

    assert (found.min(), found.max()) == (low, high)
    assert (found < 0.95).sum() == odd


def test_wandering_slope_remembers() -> None:
    """The slope that wanders is an AR(1) of 0.9 with sd 0.05."""
    found = rough.wandering(rng(), 28, 40_000) - 1.0

    # 40,000 days are worth about 2,100 independent ones: errors of 1.6 % and 0.2 %.
    assert found.std() == pytest.approx(0.05, rel=0.07)
    assert np.corrcoef(found[1:], found[:-1])[0, 1] == pytest.approx(0.9, abs=0.01)


def test_hidden_groups_move_as_they_should() -> None:
    """Priors of the groups wander by sd 0.2 each with the mix fixed, or the mix alone moves."""
    apart = rough.hidden_groups(0.2)(rng(), USUAL, 28, 20_000)
    mixed = rough.hidden_groups(0.0, 0.5)(rng(), USUAL, 28, 20_000)
    shifts = np.array([[part.shift for part in apart(t)] for t in range(20_000)])
    firsts = np.array([mixed(t)[0].shares.sum() for t in range(20_000)])

    np.testing.assert_allclose(shifts.std(axis=0), 0.2, rtol=0.1)
    assert abs(np.corrcoef(shifts.T)[0, 1]) < 0.15
    assert [part.shares.sum() for part in apart(7)] == pytest.approx([0.5, 0.5])
    assert logit(firsts).std() == pytest.approx(0.5, rel=0.1)
    assert all(part.shift == 0.0 for part in mixed(7))


def test_drift_comes_and_goes() -> None:
    """A drift is whole after its ramp, and gone after the days that it lasts."""
    ramp, passing = DRIFTS["slow ramp to slope 0.8"], DRIFTS["slope 0.8 for 130 days"]

    assert [grown(ramp, t) for t in (-1, 0, 44, 89, 400)] == [0.0, 1 / 90, 0.5, 1.0, 1.0]
    assert [grown(passing, t) for t in (-1, 0, 129, 130)] == [0.0, 1.0, 1.0, 0.0]


@pytest.mark.parametrize("rough_world", [True, False])
def test_flipped_labels_take_both_ends_to_the_middle(rough_world: bool) -> None:  # noqa: FBT001
    """If half of the labels are flipped every outcome is a coin, whatever the score."""
    truth = Truth(flipped=0.5)
    if rough_world:
        days = rough_stream(rough.clustered, USUAL, truth, 1, reference=0, days=20)
    else:
        days = stream(USUAL, truth, 1, reference=0, days=20)
    hits, counts = np.sum(
        [(p.positives.sum(), p.counts.sum()) for day in days for p in day.values()], axis=0
    )

    # 600,000 coins in clusters of 34 with a correlation of 0.1: an error of 0.0014.
    assert hits / counts == pytest.approx(0.5, abs=0.006)


def test_drifts_of_rough_worlds_start_on_their_day() -> None:
    """The days before a drift are those of the sound stream; from the start they are not."""
    scenario = SCENARIOS["two references, model recalibrated (5 %, 20k)"]
    name = str(scenario)
    sound, drifting = (
        [day["all"].positives for day in islice(draw(scenario, Task(name, drift, 3)), 320)]
        for drift in ("sound", "slope 0.8")
    )
    same = [np.array_equal(a, b) for a, b in zip(sound, drifting, strict=True)]

    assert same.index(False) == sum(map(sum, scenario.eras[:-1])) + scenario.eras[-1][0] + START


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
