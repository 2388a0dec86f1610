"""What a monitor says it can find is what it finds."""

from collections.abc import Iterator
from functools import cache
from itertools import islice
from math import isinf

import numpy as np
import pytest

from monitor.drift.curve.reference import Reference, fit_reference
from monitor.drift.incidents.detectable import days_to_find, what_is_detectable
from monitor.metrics.core.coarse import Coarse
from monitor.words.advice import what_can_be_found, what_would_help
from studies.drift.rules import incidents
from studies.drift.worlds import Truth, World, centre, draw_day, shares, tilted, whole_drift


def days_of(
    world: World, seed: int, *, reference: int, days: int = 0, slope: float = 1.0
) -> Iterator[dict[str, Coarse]]:
    """Draw days of one volume without shifts of the prior, then those of another slope."""
    rng, weights = np.random.default_rng(seed), shares(centre(world.prevalence))
    drift = whole_drift(world, Truth(tilted(slope)))
    for t in range(reference + days):
        yield {"all": draw_day(rng, weights, world.rows, 0.0, drift * (t >= reference))}


@cache
def reference(rows: int, days: int = 56) -> Reference:
    """Fit the reference of a sound stream."""
    return fit_reference([*days_of(World(0.5, rows), 1, reference=days)])


@pytest.mark.parametrize("world", [World(0.5, 200), World(0.5, 1_000), World(0.05, 5_000)], ids=str)
def test_predicted_days_are_those_of_simulations(world: World) -> None:
    """A slope of 0.8 takes as long as is said: medians of 10 streams within a factor of 1.6.

    Days until it is found vary by a factor of two, so their median of ten has an error of 30 %.
    """
    predicted, found = [], []
    for seed in range(10):
        days = days_of(world, seed, reference=56, days=120, slope=0.8)
        fitted = fit_reference([*islice(days, 56)])
        predicted.append(days_to_find(fitted, 0.2, 3.0))
        opened = (n for n, incident in enumerate(incidents(fitted, days), 1) if incident)
        found.append(next(opened))

    assert 1 / 1.6 < np.median(found) / np.median(predicted) < 1.6


def test_few_outcomes_a_day_are_told() -> None:
    """With fewer than 20 of the rarer outcome a day the sentence says what is never found."""
    few = what_is_detectable(reference(20, 120), 3.0)
    many = what_is_detectable(reference(1_000), 3.0)

    assert 8 < few.rarer < 12
    assert f"With {few.rarer:.3g} of the rarer outcome a day" in what_can_be_found(few)
    assert "of the rarer outcome" not in what_can_be_found(many)


def test_a_reference_of_one_score_finds_nothing() -> None:
    """No slope can be seen: infinite days, and no least change is sought with many outcomes."""
    counts = np.zeros(1024, np.int64)
    counts[500] = 100
    found = what_is_detectable(fit_reference([{"all": Coarse(counts, counts // 2)}] * 14), 3.0)

    assert isinf(found.days)
    assert found.within_patience is None


@pytest.mark.filterwarnings("error")
def test_strata_of_one_outcome_say_nothing_of_the_slope() -> None:
    """Both outcomes are frequent, but no stratum has both: nothing is tolerated or found."""
    seen = np.zeros(1024, dtype=np.int64)
    seen[300:700:20] = 12
    day = {"0": Coarse(seen, np.zeros_like(seen)), "1": Coarse(seen, seen)}

    found = what_is_detectable(fit_reference([day] * 28), 3.0)

    assert (found.tolerated, found.found) == (0.0, 0.0)
    assert isinf(found.days)
    assert what_can_be_found(found) == (
        "With this reference no change of the slope can be found, because within each part of its "
        "days all scores or all outcomes are equal."
    )
    assert "longer" not in f"{what_would_help(found)}"
