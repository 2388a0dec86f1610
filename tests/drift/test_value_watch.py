"""Values that are watched day by day: what is named, since when, and what is not."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta

import numpy as np
import pytest

from monitor.base.segment_names import OTHER
from monitor.days.summary import ColumnPart
from monitor.drift.curve.reference import Reference, fit_reference
from monitor.drift.incidents.detecting import alarms_among
from monitor.drift.records.places import Condition
from monitor.drift.records.values import ValuePast, ValueWatch
from monitor.drift.where.value_past import (
    NO_LEVEL,
    ValueSums,
    against_others,
    fit_values,
    value_sums,
)
from monitor.drift.where.value_watch import new_watch, watch_day
from monitor.metrics.core.coarse import CENTRES, Coarse
from monitor.metrics.core.special import expit

FIRST, REFERENCE, LATER = date(2026, 1, 1), 28, 40
NAMES = tuple(
    Condition(column, value)
    for column, values in (("country", "ABCD"), ("device", ["tv", "web", OTHER]))
    for value in values
)
KNOWN = np.array([40.0, 15.0, 30.0, 80.0, 60.0, 70.0, 35.0])  # of a day, along each direction
OFFSETS = np.linspace(-0.2, 0.2, len(NAMES))
MOVED = Condition("country", "B")
Moves = Mapping[Condition, float]  # of the slope, in logit


@pytest.fixture(scope="module")
def reference() -> Reference:
    """Fit a reference; only what it tolerates is used."""
    n = np.where(abs(CENTRES) < 3, 50, 0)
    k = np.rint(n * expit(CENTRES)).astype(np.int64)
    return fit_reference([{"all": Coarse(n, k)}] * REFERENCE)


def draw(
    rng: np.random.Generator, moves: Moves, shared: float = 0.0, names: Sequence[Condition] = NAMES
) -> ValueSums:
    """Draw the sums of a day as scores of a likelihood are, with what moves all values alike."""
    informations = np.repeat(KNOWN[:, None], 4, axis=1) * rng.uniform(0.5, 1.5)
    at = np.repeat(OFFSETS[:, None], 4, axis=1) + rng.normal(0.0, shared, 4)
    at[:, 0] += [moves.get(name, 0.0) for name in NAMES]
    scores = informations * at + np.sqrt(informations) * rng.normal(size=informations.shape)
    kept = [NAMES.index(name) for name in names]
    no_level = np.tile(NO_LEVEL, (len(names), 1))
    return ValueSums(tuple(names), scores[kept], informations[kept], no_level)


def fit(reference: Reference, days: Sequence[ValueSums]) -> ValuePast:
    """Learn what values were, but no level."""
    return fit_values(reference, days, value_sums(reference, {}))


def fold(
    reference: Reference,
    seed: int,
    moves: Moves,
    *,
    shared: float = 0.0,
    until: int = LATER,
    known: Sequence[Condition] = NAMES,
) -> list[ValueWatch]:
    """Watch a stream after its reference; the moves end on a day."""
    rng = np.random.default_rng([27, seed])
    past = fit(reference, [draw(rng, {}, shared, known) for _ in range(REFERENCE)])
    days = [draw(rng, moves if i < until else {}, shared) for i in range(LATER)]
    return watched(new_watch(FIRST, past), days)


def watched(watch: ValueWatch, days: Sequence[ValueSums]) -> list[ValueWatch]:
    """Fold days."""
    dated = {FIRST + timedelta(days=REFERENCE + i): of for i, of in enumerate(days)}
    found = []
    for day, sums in dated.items():
        watch = watch_day(
            *(watch, day, sums),
            false_alert_days=365,
            days_of=lambda a, b: {d: of for d, of in dated.items() if a <= d <= b},
        )
        found.append(watch)
    return found


def test_a_value_is_compared_with_all_others_of_its_column() -> None:
    """Score and information of the difference, against a loop that writes it out."""
    rng = np.random.default_rng(1)
    columns = np.sort(rng.integers(0, 3, 9))
    columns = np.unique(columns, return_inverse=True)[1]
    scores, known = rng.normal(size=(9, 4)), rng.uniform(1.0, 9.0, (9, 4))

    pulls, left = against_others(columns, scores, known)

    for i in range(9):
        others = (columns == columns[i]) & (np.arange(9) != i)
        if not others.any():
            np.testing.assert_array_equal(left[i], 0.0)
            continue
        u, k = scores[others].sum(axis=0), known[others].sum(axis=0)
        difference = scores[i] / known[i] - u / k
        variance = 1.0 / known[i] + 1.0 / k
        np.testing.assert_allclose(left[i], 1.0 / variance, rtol=1e-12)  # rounding
        np.testing.assert_allclose(pulls[i], difference / variance, rtol=1e-9, atol=1e-9)


def test_the_value_that_moved_is_named_and_no_other(reference: Reference) -> None:
    """With its kind, size and first day, soon after the drift began."""
    for seed in range(3):
        found = fold(reference, seed, {MOVED: -0.8})
        opened = next(of for of in found if of.incidents)
        (incident,) = found[-1].incidents

        assert incident.name == MOVED
        assert incident.kind == "too_extreme"
        assert abs(incident.size + 0.8) < 4.0 * incident.size_error + 0.1  # with the reference's
        assert found.index(opened) < 8
        assert abs((incident.started - FIRST).days - REFERENCE) <= 2


def test_what_moves_all_values_alike_names_none(reference: Reference) -> None:
    """Whether by chance every day, or for good: that is a matter of the whole."""
    for seed in range(5):
        assert not any(of.incidents for of in fold(reference, seed, {}, shared=0.4))
        assert not any(of.incidents for of in fold(reference, seed, dict.fromkeys(NAMES, -0.5)))


def test_the_others_of_a_column_are_not_named_for_a_large_value_that_moved(
    reference: Reference,
) -> None:
    """Against it they seem to move the other way, but not against their own past."""
    large = Condition("country", "D")

    for seed in range(3):
        named = {i.name for of in fold(reference, seed, {large: -0.7}) for i in of.incidents}
        assert named == {large}


def test_an_incident_closes_once_the_value_is_as_before(reference: Reference) -> None:
    """It stays while the drift lasts, and is gone some days after it."""
    found = fold(reference, 1, {MOVED: -0.8}, until=15)

    assert found[14].incidents
    assert not found[-1].incidents


def test_a_value_that_is_new_is_compared_with_its_column(reference: Reference) -> None:
    """It is named if it is broken; if it is as the others are, it is not."""
    known = [name for name in NAMES if name != MOVED]

    broken = fold(reference, 1, {MOVED: -1.2}, known=known)[-1]
    sound = fold(reference, 1, {}, known=known)[-1]

    assert [one.name for one in broken.incidents] == [MOVED]
    assert MOVED in sound.past.names
    assert not sound.incidents


def test_the_drift_of_a_value_does_not_begin_before_the_value(reference: Reference) -> None:
    """On days without it nothing is said of it, so its first day is the earliest one."""
    known, first = [name for name in NAMES if name != MOVED], 12
    rng = np.random.default_rng([29, 1])
    past = fit(reference, [draw(rng, {}, names=known) for _ in range(REFERENCE)])
    without = [draw(rng, {}, names=known) for _ in range(first)]
    days = [*without, *(draw(rng, {MOVED: -1.2}) for _ in range(LATER - first))]

    (incident,) = watched(new_watch(FIRST, past), days)[-1].incidents

    assert incident.name == MOVED
    assert incident.started >= FIRST + timedelta(days=REFERENCE + first)


def test_rows_that_two_values_may_share_are_named_once(reference: Reference) -> None:
    """The value with most evidence leads; one that it cannot explain has an incident too."""
    shadow, other = Condition("device", "tv"), Condition("device", "web")
    # All the rows of B that moved have a tv: in those of tv they are a quarter.
    one = fold(reference, 2, {MOVED: -1.2, shadow: -1.2 * 15 / 60})[-1]
    two = fold(reference, 2, {MOVED: -1.2, other: -0.5})[-1]

    assert [incident.name for incident in one.incidents] == [MOVED]
    assert {incident.name for incident in two.incidents} == {MOVED, other}


def test_what_is_left_over_has_no_incident(reference: Reference) -> None:
    """Values that are counted together have no name to act on."""
    rest = Condition("device", OTHER)

    assert not [i for i in fold(reference, 3, {rest: -0.8})[-1].incidents if i.name == rest]


def test_the_values_that_alert_are_the_largest_set_that_is_fair() -> None:
    """e-d-BH as it is defined: the most values of which each reaches the limit of so many."""
    for seed in range(20):
        evidence = np.random.default_rng(seed).uniform(0.0, 5.0, 12)
        fair = [k for k in range(1, 13) if (evidence >= np.log10(100.0 * 12 / k)).sum() >= k]

        alarmed, limits = alarms_among(evidence, 100.0)

        assert alarmed == max(fair, default=0)
        # A share of the twelve times A; log10 of numpy and of Python differ in the last bit.
        assert limits == pytest.approx(np.log10(1200.0 / np.arange(1, 13)), rel=1e-14, abs=0.0)


def test_the_sums_of_a_value_are_those_of_its_rows(reference: Reference) -> None:
    """Rows that fit the curve pull nowhere, a flat outcome pulls the slope down."""
    n = np.where(abs(CENTRES) < 3, 60, 0)
    cells = np.flatnonzero(n)
    fit = np.rint(n * expit(CENTRES)).astype(np.int64)
    parts = {
        "fit": ColumnPart(cells, n[cells], fit[cells], 1),
        "flat": ColumnPart(cells, n[cells], n[cells] // 2, 1),
        "none": ColumnPart(cells[:0], cells[:0], cells[:0], 0),
    }

    sums = value_sums(reference, {"os": parts})

    shift = sums.scores[:, 0] / np.maximum(sums.informations[:, 0], 1.0)
    assert abs(shift[0]) < 0.05
    assert shift[1] < -0.5
    assert not sums.informations[2].any()
