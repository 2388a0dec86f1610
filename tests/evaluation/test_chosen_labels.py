"""Labels that were chosen by score are noticed; labels at random and late outcomes are not."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, norm

from monitor.days.summary import Awaited, Segment
from monitor.evaluation import chosen_labels as module
from monitor.evaluation.chosen_labels import chosen_labels
from monitor.metrics.core.coarse import CELLS_IN_ONE
from monitor.metrics.core.coarse import CENTRES as GRID
from monitor.metrics.core.grid import Ints
from monitor.metrics.core.tally import Cells, from_cells
from tests.support.cases import ALL, some
from tests.support.label_worlds import BY_SCORE, SILENT, day_of, draw, part_of

SIZES, CENTRES = (500, 5_000, 50_000), (-4.0, -2.0, 0.0)


@pytest.mark.parametrize("rule", SILENT)
def test_it_is_silent(rule: str) -> None:
    """Whatever the volume and the prevalence, on each day of each rule."""
    rng = np.random.default_rng(1)
    spoke = [
        (rows, centre)
        for rows in SIZES
        for centre in CENTRES
        for _ in some(range(10), 3)
        if chosen_labels(day_of(part_of(*draw(rows, centre, rng), SILENT[rule], rng)))
    ]

    assert spoke == []


@pytest.mark.parametrize("rule", BY_SCORE)
@pytest.mark.parametrize("slope", [1.0, 0.6])
def test_it_speaks(rule: str, slope: float) -> None:
    """On each of 10 days of 20,000 predictions, whatever the curve."""
    rng = np.random.default_rng(2)
    days = [
        day_of(part_of(*draw(20_000, -1.5, rng, slope=slope), BY_SCORE[rule], rng))
        for _ in range(10)
    ]

    found = [chosen_labels(day) for day in days]

    assert all(of and of.most.rate > module.TIMES * of.least.rate for of in found)
    assert all(of and of.p < module.LEVEL for of in found)


@pytest.mark.parametrize(("rate", "level"), [(0.02, 0.01), (0.3, 0.01), (0.97, 0.01), (0.1, 0.001)])
def test_it_keeps_its_level(rate: float, level: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of days labelled at random as many are called chosen as the level says."""
    monkeypatch.setattr(module, "LEVEL", level)
    monkeypatch.setattr(module, "TIMES", 1.0)
    rng, days, rows = np.random.default_rng(3), 3_000 if ALL else 1_000, 4_000
    shares = norm.pdf(GRID, -2.0, 1.3)
    counts = rng.multinomial(rows, shares / shares.sum(), days)
    labelled = rng.binomial(counts, rate)

    spoke = sum(
        chosen_labels(day_of(counted(has, late))) is not None
        for has, late in zip(labelled, counts - labelled, strict=True)
    )

    low, high = binom.ppf([1e-4, 1 - 1e-4], days, level)
    assert low <= spoke <= 1.3 * high  # a chi-squared law is near, not exact, in a far tail


def counted(labelled: Ints, late: Ints) -> Segment:
    """Make a part of predictions with an outcome, all negative, and of those without, by cell."""
    has, waits = np.flatnonzero(labelled), np.flatnonzero(late)
    none = np.zeros_like(has)
    known = from_cells(Cells(CELLS_IN_ONE * has, none), labelled[has], none)
    return Segment(
        known, int(labelled.sum() + late.sum()), Awaited(CELLS_IN_ONE * waits, late[waits])
    )


def test_segments_may_have_rates_of_their_own() -> None:
    """A segment of high scores of which more are labelled is no choice by score within it."""
    rng = np.random.default_rng(4)
    high, low = draw(20_000, 0.0, rng), draw(20_000, -3.0, rng)
    apart = {
        "high": part_of(*high, lambda s, _: np.full(s.size, 0.5), rng),
        "low": part_of(*low, lambda s, _: np.full(s.size, 0.05), rng),
    }

    assert chosen_labels(day_of(apart)) is None
    chosen = apart | {"low": part_of(*low, BY_SCORE["the riskier the likelier"], rng)}
    assert (found := chosen_labels(day_of(chosen)))
    assert found.segment == "low"


def test_it_names_the_scores() -> None:
    """The group with most outcomes and that with fewest, at the scores where they are."""
    rng = np.random.default_rng(5)
    rule = BY_SCORE["2 %, and half of the highest"]
    found = chosen_labels(day_of(part_of(*draw(50_000, -0.5, rng), rule, rng)))

    assert found.least.high < 0.52
    assert found.most.low > 0.48
    assert abs(found.most.rate - 0.5) < 0.05  # 5,000 predictions: a standard error of 0.007
    assert abs(found.least.rate - 0.02) < 0.02


def test_it_waits_and_leaves_samples_by_outcome_alone() -> None:
    """Outcomes that can still arrive, and weights that say how a log was drawn."""
    rng = np.random.default_rng(6)
    part = part_of(*draw(20_000, -1.5, rng), BY_SCORE["the riskier the likelier"], rng)

    assert chosen_labels(day_of(part))
    assert chosen_labels(day_of(part, final=False)) is None
    assert chosen_labels(replace(day_of(part), class_weights=(10.0, 1.0))) is None
