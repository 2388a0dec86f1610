"""Breaks at one place of the scores: silent under priors and moved inputs, found where they are."""

from dataclasses import replace
from datetime import date, timedelta
from functools import cache

import numpy as np
import pytest
from scipy.special import expit

from monitor.drift.curve.reference import Reference, fit_reference
from monitor.drift.curve.regions import Regions
from monitor.drift.evidence.region_evidence import (
    new_values,
    region_evidence,
    region_sizes,
    value_sizes,
)
from monitor.drift.incidents.region_watch import GROWTH, watch_regions
from monitor.drift.records.region_state import OF_REGION, RegionWatch
from monitor.metrics.core.coarse import CENTRES, Coarse, sum_of
from studies.drift.breaks import BREAKS, WEIGHTS, Stream, cell_of, delay
from studies.drift.worlds import draw_day

FIRST = date(2026, 1, 1)
Parts = dict[str, Coarse]


def drawn(number: int, *, rows: int = 2_000, seed: int = 1, prior: float = 0.0) -> list[Parts]:
    """Draw sound days."""
    rng = np.random.default_rng(seed)
    return [{"all": draw_day(rng, WEIGHTS, rows, prior, 0.0)} for _ in range(number)]


@cache
def reference() -> Reference:
    """Fit the reference of 28 sound days."""
    return fit_reference(drawn(28), regions=True)


def regions() -> Regions:
    """Give the regions of that reference."""
    found = reference().regions
    assert found
    return found


def after(days: list[Parts]) -> RegionWatch:
    """Watch days in a row."""
    watch = None
    for t, day in enumerate(days):
        watch = watch_regions(watch, regions(), FIRST + timedelta(t), day)
    assert watch
    return watch


def test_a_few_distinct_scores_make_a_few_regions() -> None:
    """Two scores: each against the other. One: no place is looked at."""
    rng = np.random.default_rng(2)

    def days(cells: list[int]) -> list[Parts]:
        counts = np.zeros(CENTRES.size, np.int64)
        counts[cells] = 500
        return [{"all": Coarse(counts, rng.binomial(counts, expit(CENTRES)))} for _ in range(20)]

    two = fit_reference(days([450, 530]), regions=True).regions
    assert two.firsts.size <= 2
    assert fit_reference(days([450]), regions=True).regions is None


def test_priors_add_no_evidence() -> None:
    """The odds of all outcomes times 20 or 1/20, the scores as they are: 30 days below 10."""
    for prior in (-3.0, 3.0):
        assert after(drawn(30, seed=3, prior=prior)).evidence < 10.0


def test_values_are_chosen_by_scores_alone() -> None:
    """Another outcome of every row chooses the same cells: that of the default score alone."""
    sound = drawn(1, seed=4)[0]
    change = BREAKS["5 % of the rows get the score 0.5"]
    day = change(np.random.default_rng(5), sound["all"])
    broken, turned = {"all": day}, {"all": Coarse(day.counts, day.counts - day.positives)}

    assert new_values(regions(), sound).size == 0
    assert new_values(regions(), broken).tolist() == [cell_of(0.5)]
    assert new_values(regions(), turned).tolist() == [cell_of(0.5)]


def test_the_less_a_reference_knows_the_more_is_tolerated_at_one_value() -> None:
    """Two thousand rows a day, and 60: sought is three and six times as much."""
    few = fit_reference(drawn(28, rows=60, seed=13), regions=True).regions
    assert few
    sizes = [value_sizes(of, region_sizes(of, of.day_variances)) for of in (regions(), few)]

    assert sizes[0][0] == pytest.approx([0.2, 0.6, 1.2], abs=0.01)
    assert sizes[1][1] == pytest.approx(-sizes[1][0, 0] * np.array([1, 3, 6]))
    assert sizes[1][0, 0] > 0.3


def test_no_day_alone_reaches_a_limit() -> None:
    """Ten thousand rows with shuffled scores: the mean grows to 100 at most, on the next by 100."""
    rng = np.random.default_rng(6)
    counts = drawn(1, rows=10_000, seed=6)[0]["all"].counts
    shuffled = {"all": Coarse(counts, rng.binomial(counts, 0.24))}

    one, two = after([shuffled]), after([shuffled, shuffled])

    assert one.evidence == pytest.approx(GROWTH, rel=0.3)
    assert one.evidence <= GROWTH * (1 + 1e-9)
    assert two.evidence <= GROWTH * (one.evidence + 1.0) * (1 + 1e-9)


def test_what_the_reference_has_beyond_its_known_scores_is_tolerated() -> None:
    """A default score of 0 for 0.3 % of the rows of a reference is no break when it goes on."""
    rng = np.random.default_rng(8)
    change = BREAKS["1 % of the rows get the score 0"]
    days = [{"all": change(rng, *day.values())} for day in drawn(60, seed=8)]
    own = fit_reference(days[:28], regions=True)
    watch: RegionWatch | None = None
    assert own.regions
    for t, day in enumerate(days[28:]):
        watch = watch_regions(watch, own.regions, FIRST + timedelta(t), day)

    assert watch.evidence < 10.0


def test_a_part_with_a_prior_of_its_own_is_summed() -> None:
    """Two halves of a day whose priors differ by 4 say nothing, pooled they would."""
    rng, of = np.random.default_rng(10), regions()
    low = np.where(CENTRES < -1.5, WEIGHTS, 0.1 * WEIGHTS)
    halves = {
        "low": draw_day(rng, low, 20_000, -2.0, 0.0),
        "high": draw_day(rng, WEIGHTS, 20_000, 2.0, 0.0),
    }
    pooled = {"all": sum_of([*halves.values()])}
    end = OF_REGION * of.centres.size

    assert region_evidence(of, halves).gains[:end].max() < 1.0
    assert region_evidence(of, pooled).gains[:end].max() > 10.0


def test_a_sound_stream_stays_silent() -> None:
    """120 days, priors that move: nothing opens."""
    assert delay(Stream("none", 2_000, 1)) is None


def test_a_watch_of_other_regions_begins_again() -> None:
    """A reference that was fitted again may have fewer of them."""
    watch = replace(after(drawn(2, seed=11)), day_variances=np.zeros(3))

    again = watch_regions(watch, regions(), FIRST + timedelta(2), drawn(1, seed=12)[0])

    assert again.day_variances.size == regions().centres.size
