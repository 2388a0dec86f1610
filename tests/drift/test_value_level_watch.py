"""Values whose scores are all off, or are no scores any more: what is named, and what is not."""

import re
from collections import defaultdict
from collections.abc import Callable
from datetime import date, timedelta
from math import log

import numpy as np
import pytest

from monitor.days.summary import Columns, column_part
from monitor.drift.curve.reference import Reference, fit_reference
from monitor.drift.records.life import LIFE, LifeEvent, LifeState, life_state
from monitor.drift.records.values import ValueIncident, ValueWatch
from monitor.drift.where import value_watch
from monitor.drift.where.part_counts import merge_parts
from monitor.drift.where.value_past import ValueSums, fit_values, value_sums
from monitor.drift.where.value_watch import new_watch, watch_day
from monitor.metrics.core.coarse import CENTRES, Coarse
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.special import expit
from monitor.words.values import value_sentences, values_in_short

FIRST, REFERENCE, LATER, ROWS = date(2026, 1, 1), 28, 14, 1_500
SIZES = np.array([0.3, 0.25, 0.2, 0.15, 0.1])  # of the values of `country`
DAYS = [FIRST + timedelta(days=i) for i in range(REFERENCE + 40)]
LEAST = log(1.25), log(2.0)
Change = Callable[[Floats, Ints], Floats]  # of the scores of a day, by the number of the value
AS_BEFORE: Change = lambda logits, _: logits  # noqa: E731


def counted(logits: Floats, hits: Floats) -> Coarse:
    """Count scores by coarse cell."""
    cells = np.clip(np.searchsorted(CENTRES, logits), 0, CENTRES.size - 1)
    return Coarse(*(np.bincount(of, minlength=CENTRES.size) for of in (cells, cells[hits])))


def draw(
    rng: np.random.Generator, change: Change = AS_BEFORE, priors: float = 0.0
) -> tuple[Coarse, Columns]:
    """Draw a day; every value has a base rate of its own, and of one country of five a prior."""
    value, device = rng.choice(SIZES.size, ROWS, p=SIZES), rng.integers(0, 3, ROWS)
    logits = rng.normal(-1.0, 1.3, ROWS) + np.linspace(-0.5, 0.5, SIZES.size)[value]
    hits = rng.random(ROWS) < expit(logits + priors * (value == 1))
    logits = change(logits, value)
    columns = {
        "country": {"ABCDE"[i]: value == i for i in range(SIZES.size)},
        "device": {name: device == i for i, name in enumerate(("tv", "web", "car"))},
    }
    parts = {
        column: {
            name: column_part(whole.counts, whole.positives, int(rows.sum()))
            for name, rows in values.items()
            if (whole := counted(logits[rows], hits[rows]))
        }
        for column, values in columns.items()
    }
    return counted(logits, hits), parts


@pytest.fixture(scope="module")
def beginning() -> tuple[Reference, ValueWatch]:
    """Fit a reference, and what it says of every value."""
    drawn = [draw(np.random.default_rng([3, i])) for i in range(REFERENCE)]
    reference = fit_reference([{"all": whole} for whole, _ in drawn])
    together = {
        column: {value: merge_parts([day[column][value] for _, day in drawn]) for value in values}
        for column, values in drawn[0][1].items()
    }
    days = [value_sums(reference, columns) for _, columns in drawn]
    return reference, new_watch(FIRST, fit_values(reference, days, value_sums(reference, together)))


def fold(
    beginning: tuple[Reference, ValueWatch], seed: int, days: list[tuple[Change, float]]
) -> list[ValueWatch]:
    """Watch days whose scores and priors change."""
    reference, watch = beginning
    rng = np.random.default_rng([4, seed])
    drawn = [value_sums(reference, draw(rng, *of)[1]) for of in days]
    dated = dict(zip(DAYS[REFERENCE:], drawn, strict=False))

    def between(first: date, last: date) -> dict[date, ValueSums]:
        return {day: of for day, of in dated.items() if first <= day <= last}

    found = []
    for day, sums in dated.items():
        watch = watch_day(*(watch, day, sums), false_alert_days=365, days_of=between, least=LEAST)
        found.append(watch)
    return found


def only(number: int, scores: Change) -> Change:
    """Change the scores of one country."""
    return lambda logits, value: np.where(value == number, scores(logits, value), logits)


@pytest.mark.parametrize("by", [1.0, -1.0])
def test_a_value_whose_scores_are_lifted_is_named_and_no_other(
    beginning: tuple[Reference, ValueWatch], by: float
) -> None:
    """By its side and size, since the first day, urgent after two days; it closes after the end.

    Not before it, though its base rate moves with its scores for five days.
    """
    lifted = only(1, lambda logits, _: logits + by)
    days = [(lifted, 0.0)] * 6 + [(lifted, by)] * 5 + [(AS_BEFORE, 0.0)] * 6
    found = fold(beginning, 1 + (by > 0.0), days)

    (incident,) = found[5].incidents
    assert (incident.column, incident.value) == ("country", "B")
    assert [each.opened for each in found[10].incidents] == [incident.opened]
    assert incident.kind == ("scores_too_high" if by > 0.0 else "scores_too_low")
    assert incident.started == DAYS[REFERENCE]
    assert incident.opened <= DAYS[REFERENCE + 3]
    assert incident.urgent
    assert incident.size == pytest.approx(-by, abs=4.0 * incident.size_error)
    assert incident.share == pytest.approx(0.25, abs=0.03)  # of 1,500 rows a day
    side = "too high" if by > 0.0 else "too low"
    assert re_match(f"scores of country = B are [23](.[0-9])? times {side}", found[5])
    assert not found[-1].incidents


def re_match(pattern: str, watch: ValueWatch) -> bool:
    """Say whether what is said in short, and in the first sentence, has a pattern."""
    said = values_in_short(watch.ranked, 3), value_sentences(watch.ranked)[0]
    return all(re.search(pattern, text) for text in said)


@pytest.mark.parametrize(
    ("change", "prior"),
    [
        (lambda logits, _: logits + 1.0, 0.0),  # all values alike: a matter of the whole
        (AS_BEFORE, 1.0),  # the base rate of one value
        (lambda logits, _: np.zeros_like(logits), 0.0),
    ],
)
def test_what_is_no_error_of_one_value_names_none(
    beginning: tuple[Reference, ValueWatch], change: Change, prior: float
) -> None:
    """A prior of one value moves no scores, and what all values share is told of the whole."""
    for watch in fold(beginning, 5, [(change, prior)] * LATER):
        assert not watch.incidents


@pytest.mark.parametrize(
    ("scores", "kind", "said"),
    [
        (lambda logits, _: 0.0 * logits, "scores_equal", "all scores of country = B are 0.5[01]"),
        (
            lambda logits, _: np.where(logits > 0.0, 40.0, -40.0),
            "scores_outside",
            "scores of country = B are beyond those that the reference knows",
        ),
    ],
)
def test_a_value_whose_scores_collapse_is_named_at_once(
    beginning: tuple[Reference, ValueWatch], scores: Change, kind: str, said: str
) -> None:
    """A ticket on the first day and a page on the second, over on the first sound one."""
    broken = (only(1, scores), 0.0)
    first, second, over = fold(beginning, 6, [broken, broken, (AS_BEFORE, 0.0)])

    assert [(i.value, i.kind, i.urgent) for i in first.incidents] == [("B", kind, False)]
    assert [(i.value, i.kind, i.urgent) for i in second.incidents] == [("B", kind, True)]
    assert re_match(said, second)
    assert "% of them come true, where the curve" in value_sentences(second.ranked)[0]
    assert not over.incidents


def test_the_life_of_values_follows_the_table(
    beginning: tuple[Reference, ValueWatch], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each event leads to the states of its row, and each one that values know comes about."""
    lived, led = value_watch.lived, defaultdict[LifeEvent, set[LifeState]](set)

    def noted(event: LifeEvent, incident: ValueIncident) -> list[ValueIncident]:
        after = lived(event, incident)
        led[event].add(life_state(after[0] if after else None))
        return after

    monkeypatch.setattr(value_watch, "lived", noted)
    bent = only(1, lambda logits, _: 0.35 * logits)
    lifted = only(1, lambda logits, _: logits + 1.0)
    equal = only(1, lambda logits, _: 0.0 * logits)
    for seed, broken in enumerate((bent, lifted, equal)):
        days = [(broken, 0.0)] * 8 + [(AS_BEFORE, 0.0)] * 25
        assert not fold(beginning, seed, days)[-1].incidents

    assert led.keys() == LIFE.keys() - {"replaced", "worse", "moved", "other reference"}
    assert all(states <= {*LIFE[event].after} for event, states in led.items())


@pytest.mark.parametrize("broken", [lambda z, _: z + 1.0, lambda z, _: 0.0 * z])
def test_what_the_table_does_not_end_goes_on(
    beginning: tuple[Reference, ValueWatch], monkeypatch: pytest.MonkeyPatch, broken: Change
) -> None:
    """The fold asks the table whether an incident of a value is over."""
    days = [(only(1, broken), 0.0)] * 8 + [(AS_BEFORE, 0.0)] * 9
    assert not fold(beginning, 1, days)[-1].incidents

    monkeypatch.setattr(value_watch, "LIFE", {**LIFE, "over": LIFE["recovers"]})
    assert [each.value for each in fold(beginning, 1, days)[-1].incidents] == ["B"]
