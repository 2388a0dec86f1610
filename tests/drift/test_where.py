"""Where a drift sits: known places are found, sound ones are not, and priors move nothing."""

import re
from functools import cache

import numpy as np
import pytest
from scipy.special import expit

from monitor.base.segment_names import WHOLE
from monitor.days.summary import ColumnPart, Columns
from monitor.drift.curve.reference import Reference, fit_reference
from monitor.drift.records.places import Condition, Where, explained_by
from monitor.drift.verdicts.pair_sums import sum_day
from monitor.drift.where.column_sums import in_both, over_days
from monitor.drift.where.values_off import where_of
from monitor.metrics.core.coarse import CENTRES, COARSE_COUNT, Coarse
from monitor.metrics.core.grid import Floats
from monitor.words.where import where_sentence
from tests.support.cases import ALL, some

DEVICES, COUNTRIES = ("tv", "phone", "web", "car"), tuple(f"c{i}" for i in range(10))
SHARES = expit(-(CENTRES**2) / 2.0) * (np.abs(CENTRES) < 5.0)  # of the scores: most are near 0.5
SHARES /= SHARES.sum()


class World:
    """Days of two columns and their crossing; slopes by device and country."""

    def __init__(self, seed: int, rows: int = 20_000) -> None:
        """Draw the priors of a world."""
        self.rng, self.rows = np.random.default_rng(seed), rows
        self.volume = self.rng.dirichlet(np.full(len(DEVICES) * len(COUNTRIES), 3.0))

    def day(self, slopes: Floats) -> tuple[Columns, dict[str, Coarse]]:
        """Draw a day: each pair of values has a prior of its own, which wanders."""
        priors = self.rng.normal(-1.0, 0.5, slopes.shape)
        sizes = self.rng.multinomial(self.rows, self.volume).reshape(slopes.shape)
        counts = np.stack([[self.rng.multinomial(n, SHARES) for n in row] for row in sizes])
        p = expit(slopes[..., None] * CENTRES + priors[..., None])
        hits = self.rng.binomial(counts, p)
        pairs = {
            f"{d} x {c}": (counts[i, j], hits[i, j])
            for i, d in enumerate(DEVICES)
            for j, c in enumerate(COUNTRIES)
        }
        devices = {d: (counts[i].sum(0), hits[i].sum(0)) for i, d in enumerate(DEVICES)}
        countries = {c: (counts[:, j].sum(0), hits[:, j].sum(0)) for j, c in enumerate(COUNTRIES)}
        columns = {"device": devices, "country": countries, "device x country": pairs}
        parts = {
            name: {v: part(*of) for v, of in values.items()} for name, values in columns.items()
        }
        return parts, {name: Coarse(*of) for name, of in pairs.items()}


def part(counts: np.ndarray, hits: np.ndarray) -> ColumnPart:
    """Keep the cells with rows."""
    cells = np.flatnonzero(counts)
    return ColumnPart(cells, counts[cells], hits[cells], int(counts.sum()))


def slopes(**off: float) -> Floats:
    """Give every pair a slope of 1, but those of a device, a country, or a pair of them."""
    found = np.ones((len(DEVICES), len(COUNTRIES)))
    for name, slope in off.items():
        device, _, country = name.partition("_")
        rows = DEVICES.index(device) if device in DEVICES else slice(None)
        places = (
            COUNTRIES.index(country or device) if (country or device) in COUNTRIES else slice(None)
        )
        found[rows, places] = slope
    return found


def weeks(
    seed: int, now: Floats, then: Floats | None = None
) -> tuple[Reference, list[Columns], list[Columns]]:
    """Draw a reference of 21 days and ten later days."""
    world = World(seed)
    old = [world.day(slopes() if then is None else then) for _ in range(21)]
    new = [world.day(now) for _ in range(10)]
    # What wrong labels may be is no part of where a drift sits.
    reference = fit_reference([parts for _, parts in old], noise=False)
    return reference, [c for c, _ in old], [c for c, _ in new]


@cache
def sound_weeks(seed: int) -> tuple[Reference, list[Columns], list[Columns]]:
    """Draw a world in which nothing drifts; the tests only read it."""
    return weeks(seed, slopes())


@cache
def tv_weeks() -> tuple[Reference, list[Columns], list[Columns]]:
    """Draw a world in which a device drifts."""
    return weeks(1, slopes(tv=0.7))


@cache
def weeks_of_all() -> tuple[Reference, list[Columns], list[Columns]]:
    """Draw a world in which all values drift alike."""
    return weeks(4, slopes() * 0.75)


def find_where(
    reference: Reference, before: list[Columns], after: list[Columns], kind: str
) -> Where:
    """Compare every value of every column with itself in the reference."""
    sums = ([sum_day(reference, day)[0] for day in days] for days in (before, after))
    return where_of(reference, in_both(*map(over_days, sums)), kind)


def test_a_device_that_drifts_is_found_and_explains_all() -> None:
    """Only the device is too extreme: it is named, with its slope, and the rest is as before."""
    found = find_where(*tv_weeks(), "too_extreme")

    assert found.explanation
    assert found.explanation.conditions == (Condition("device", "tv"),)
    assert found.explanation.share > 0.9
    assert found.explanation.slope is not None
    assert found.explanation.slope.low < 0.7 < found.explanation.slope.high
    assert found.explanation.rest is not None
    assert found.explanation.rest.value == pytest.approx(1.0, abs=0.05)
    tv = next(place for place in found.places if (place.column, place.value) == ("device", "tv"))
    assert tv.flagged
    assert tv.share > 0.9
    others = [p for p in found.flagged if p.column == "device" and p.value != "tv"]
    assert not others
    assert "comes from device = tv" in where_sentence(found)


def test_a_drift_in_a_crossing_is_found_there() -> None:
    """Only tv in c3: the pair explains it with the fewest rows, not its device or its country."""
    found = find_where(*weeks(2, slopes(tv_c3=0.4)), "too_extreme")

    assert found.explanation
    assert found.explanation.conditions == (Condition("device x country", "tv x c3"),)


def test_two_countries_explain_it_together() -> None:
    """Neither alone leaves a sound rest."""
    found = find_where(*weeks(3, slopes(c1=0.6, c4=0.6)), "too_extreme")

    assert set(found.explanation.conditions) == {Condition("country", c) for c in ("c1", "c4")}
    assert "without them the rest is as before" in where_sentence(found)


def test_values_that_moved_in_opposite_ways_have_their_own_numbers() -> None:
    """What both have in the mean is true of neither: the clearest one leads, the other follows."""
    found = find_where(*weeks(3, slopes(c1=0.5, c4=1.45)), "too_extreme")

    (led,), (followed,) = found.explanation.conditions, found.explanation.opposite
    told = {
        led.value: (found.explanation.kind, found.explanation.slope),
        followed.condition.value: (followed.kind, followed.slope),
    }
    for value, kind, slope in (("c1", "too_extreme", 0.5), ("c4", "too_timid", 1.45)):
        said, estimate = told[value]
        assert said == kind
        assert estimate.low < slope < estimate.high
    assert ", the other way country = c" in explained_by(found.explanation)
    said = " and, the other way, country = c[14] \\(too (extreme|timid), slope [01]\\.[0-9]+, 95 %"
    assert re.search(said, where_sentence(found))


def test_a_drift_everywhere_has_no_place() -> None:
    """All slopes fall alike: values are flagged, but no few of them explain it."""
    found = find_where(*weeks_of_all(), "too_extreme")

    assert found.explanation is None
    assert len(found.flagged) > 10
    assert "no few values explain the drift" in where_sentence(found)


def test_a_value_that_was_always_off_is_not_found() -> None:
    """Its slope is 0.7 in the reference too; nothing changed, so nothing is flagged."""
    off = slopes(tv=0.7)
    found = find_where(*weeks(5, off, off), "too_extreme")

    assert found.explanation is None
    assert not [place for place in found.flagged if place.column == "device"]
    assert where_sentence(found).startswith("No value") or len(found.flagged) < 3


def test_sound_values_are_rarely_flagged() -> None:
    """In twelve sound worlds of 54 values each, whose priors wander: at most two have any flag.

    The false discovery rate is below 5 %, and there every flag is false;
    of four worlds none has one.
    """
    seeds = some(range(10, 22), 3)
    flagged = [len(find_where(*sound_weeks(i), "too_extreme").flagged) for i in seeds]

    assert sum(number > 0 for number in flagged) <= (2 if ALL else 0)


def test_evidence_of_few_outcomes_is_none() -> None:
    """A value with fewer than ten positive outcomes is not tested."""
    reference, before, after = sound_weeks(10)
    few = ColumnPart(np.array([COARSE_COUNT // 2]), np.array([9]), np.array([4]), 9)
    after = [{**day, "rare": {"a": few}} for day in after[:2]]
    found = find_where(reference, [{**d, "rare": {"a": few}} for d in before], after, "too_timid")

    (rare,) = [place for place in found.places if place.column == "rare"]
    assert rare.change is None
    assert rare.evidence == 0.0
    assert WHOLE not in {place.value for place in found.places}
