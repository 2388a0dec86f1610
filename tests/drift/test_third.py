"""Third choices: outcomes that go to a third class are seen, and no promise is broken by that."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest

from monitor.base.segment_names import FAMILIES, THIRD, WHOLE
from monitor.days.arrivals import Late
from monitor.drift.fold.inputs import Day, Limits, ModelReference, fit_model_reference
from monitor.drift.incidents.detecting import family_limit, mean_evidence
from monitor.drift.records.lack import Lack
from monitor.drift.records.verdict import Verdict
from monitor.drift.verdicts.judge import judge
from monitor.metrics.beyond_binary.class_counts import choose_classes, count_classes
from monitor.metrics.core.coarse import CELLS_IN_ONE, COARSE_COUNT
from monitor.metrics.core.grid import locate
from monitor.read.incidents import IncidentSummary, of_families
from monitor.words.verdict import in_short, sentences
from studies.classes.worlds import (
    NONE,
    REFERENCE,
    Drift,
    World,
    day_of_pairs,
    stream,
    without_third,
)
from tests.support.cases import some
from tests.support.stored import stored_again

FOUR = World("4 classes", 4, rows=3_000, group=4)
MOVED = Drift("a tenth to the third choice", third=0.1)
START, DAYS = 3, 9
USUAL = Limits()


@cache
def days_of(drift: Drift, seed: int = 1, world: World = FOUR, days: int = DAYS) -> list[Day]:
    """Draw the days of a stream."""
    return [day_of_pairs(rows) for rows in stream(world, drift, seed, days=days, start=START)]


@cache
def fitted(limits: Limits = USUAL) -> ModelReference:
    """Fit the reference, which is the same before any drift."""
    return fit_model_reference(days_of(NONE)[:REFERENCE], limits)


def judged(
    days: Sequence[Day], reference: ModelReference, limits: Limits = USUAL
) -> list[dict[str, Verdict]]:
    """Judge the days after the reference, by stream."""
    verdicts = judge("pets", days[REFERENCE:], references=[reference], limits=limits)
    return [{v.segment: v for v in of_day} for of_day in verdicts]


def test_third_pairs_are_those_of_the_first_and_the_third_choice() -> None:
    """Counted one row at a time, as sorting ranks the scores."""
    rng = np.random.default_rng(3)
    vectors, labels = rng.dirichlet(np.ones(5), 400), rng.integers(5, size=400)
    batch = [(vectors, labels)]
    _, pairs, third = choose_classes(batch, 5)
    counts = count_classes("abcde", batch, np.zeros(5), watched=[], pairs=pairs, third=third)
    plain: dict[tuple[int, int], np.ndarray] = {}
    for vector, label in zip(vectors, labels, strict=True):
        first, _, other = np.argsort(-vector)[:3]
        if label in (first, other):
            a, b = sorted((int(first), int(other)))
            cell = locate(np.array([vector[a] / (vector[a] + vector[b])]))[0][0] // CELLS_IN_ONE
            plain.setdefault((a, b), np.zeros((2, COARSE_COUNT), int))[int(label == a), cell] += 1

    assert counts.third.keys() == plain.keys()
    for pair, found in counts.third.items():
        np.testing.assert_array_equal(found.positives, plain[pair][1])
        np.testing.assert_array_equal(found.counts, plain[pair].sum(axis=0))


def test_a_tenth_that_goes_to_the_third_choice_is_found_within_three_days() -> None:
    """The whole opens and says what is seen, while the pairs of both highest scores see nothing."""
    days = days_of(MOVED)
    found = judged(days, fitted())
    opened = [n for n, v in enumerate(found) if v[WHOLE].incident]
    whole, third = found[-1][WHOLE], found[-1][THIRD]
    said = " ".join(sentences(whole))
    without = [*map(without_third, days)]
    alone = judged(without, fit_model_reference(without[:REFERENCE], Limits()))

    assert START <= opened[0] < START + 3
    assert whole.state == "calibration_drift"
    assert whole.detector.incident is None
    assert whole.incident.kind == third.incident.kind == "too_extreme"
    assert whole.slope == third.slope
    assert "more outcomes go to a third class than its score says" in said
    assert in_short(whole).startswith("third choices too extreme since 2026-02-01")
    assert not any(v[WHOLE].incident for v in alone)


def test_what_is_stored_of_third_choices_comes_back() -> None:
    """The incident that the whole shows has a row of its own, without its profiles."""
    whole = judged(days_of(MOVED), fitted())[-1][WHOLE]
    (back,) = stored_again([whole])

    assert back.incident is not None
    assert whole.incident is not None
    assert sentences(back) == sentences(whole)
    assert (back.incident.started, back.incident.size) == (
        whole.incident.started,
        whole.incident.size,
    )


@pytest.mark.parametrize("seed", some([1, 2], 2))
def test_no_class_prior_opens_a_drift_of_third_choices(seed: int) -> None:
    """All class priors wander: neither the whole nor its third choices open in five weeks."""
    days = days_of(NONE, seed, days=35)
    found = judged(days, fit_model_reference(days[:REFERENCE], Limits()))

    assert not any(v[name].incident for v in found for name in FAMILIES)


def test_an_alert_is_given_where_the_mean_of_both_families_reaches_the_limit() -> None:
    """Then, and only then, at least one of them has reached its own limit."""
    for first, other in product(np.linspace(0.0, 4.0, 41), repeat=2):
        alarms = [
            first >= family_limit(3.0, [float(other)]),
            other >= family_limit(3.0, [float(first)]),
        ]
        if abs(mean_evidence([first, other]) - 3.0) > 1e-9:  # but for rounding at the limit
            assert any(alarms) == (mean_evidence([first, other]) > 3.0)


def test_late_outcomes_that_could_explain_it_withhold_the_whole() -> None:
    """Late outcomes that could explain third choices leave the whole without a number too."""
    late = [
        replace(day, late=Late(3, 0.7, 0.7, None) if n >= REFERENCE else None)
        for n, day in enumerate(days_of(MOVED))
    ]
    found = judged(late, fitted())
    withheld = [v for v in found if v[THIRD].withheld]

    assert withheld
    for verdicts in withheld:
        assert verdicts[WHOLE].withheld
        assert verdicts[WHOLE].reached is None
        assert verdicts[WHOLE].state == "insufficient_data"
        assert verdicts[WHOLE].facts.obstacle == "drift may be late outcomes"


def test_a_new_reference_ends_the_drift_of_both() -> None:
    """Re-based days begin again; the whole says that its drift ended so."""
    days = days_of(MOVED, days=45)
    first = fitted()
    second = fit_model_reference(days[REFERENCE + 10 : REFERENCE + 38], Limits())
    verdicts = judge("pets", days[REFERENCE:], references=[first, second], limits=Limits())
    found = [{v.segment: v for v in of_day} for of_day in verdicts]

    assert found[9][WHOLE].incident is not None
    assert found[10][WHOLE].incident is None
    assert found[10][WHOLE].ended is not None
    assert found[10][WHOLE].ended.reason == "rebased"
    assert not any(v[WHOLE].incident for v in found[10:])


def test_stores_of_before_say_why_third_choices_have_no_verdict() -> None:
    """Days that were counted without them are judged as they were, with the same limit."""
    days = [*map(without_third, days_of(MOVED))]
    reference = fit_model_reference(days[:REFERENCE], Limits())
    (last,) = judged(days, reference)[-1:]
    partly = [*days[:20], *days_of(MOVED)[20:]]

    assert last[WHOLE].limit == reference.limit == 3.0
    assert last[WHOLE].reached == last[WHOLE].detector.evidence
    assert last[THIRD].state == "insufficient_data"
    assert "0 of at least 14 final days with third choices" in " ".join(sentences(last[THIRD]))
    assert "`backfill` reads these days again" in " ".join(sentences(last[THIRD]))
    assert fit_model_reference(partly[:28], Limits()).streams[THIRD] == Lack(
        "final days", 8, 14, uncounted=True
    )


def test_the_whole_lists_the_drifts_that_it_has_shown() -> None:
    """A drift of third choices counts where the whole had none of its own."""
    days = [day.day for day in days_of(NONE)]

    def drift(opened: int, closed: int | None) -> IncidentSummary:
        end = None if closed is None else days[closed]
        return IncidentSummary(*[days[opened]] * 4, "too_extreme", 3.0, end)

    own, inside, before = drift(10, 20), drift(15, 25), drift(2, 12)

    assert of_families({WHOLE: [own], THIRD: [before, inside]}) == [before, own]
