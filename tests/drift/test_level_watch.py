"""Scores that are off by a factor are found, whatever the base rate does, and nothing else is."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest

from monitor.days.arrivals import Late
from monitor.drift.curve.reference import Reference, fit_reference
from monitor.drift.fold.inputs import Limits, fit_model_reference
from monitor.drift.incidents.score_moves import scores_since
from monitor.drift.records.detector import LEVEL_KINDS, SCORES_EQUAL, SCORES_OUTSIDE
from monitor.drift.records.facts import Scores
from monitor.drift.records.life import LIFE, LifeState, life_state
from monitor.drift.records.verdict import Verdict
from monitor.drift.verdicts.judge import judge
from monitor.metrics.core.coarse import CENTRES, Coarse
from monitor.words.trust import trust
from monitor.words.verdict import sentences
from studies.drift.levels import BROKEN, REFERENCE, SOUND, START, Moves, draw, follow
from studies.drift.worlds import Truth, World, stream, tilted
from tests.drift.test_verdict import judged, watched
from tests.support.cases import some

WORLD = World(0.2, 1_000)
OTHERS = (World(0.025, 3_000), World(0.2, 300))
DAYS = REFERENCE + START + 30


@cache
def days_of(name: str, world: World = WORLD, seed: int = 1) -> list[Coarse]:
    """Draw a stream whose break, if any, is on the 13th day after its reference."""
    return draw(world, {**SOUND, **BROKEN}[name], seed, DAYS)


@cache
def verdicts_of(name: str, world: World = WORLD) -> list[Verdict]:
    """Judge it, and leave the reference out."""
    return judged([{"all": day} for day in days_of(name, world)])


def fitted(days: Sequence[Coarse]) -> Reference:
    """Fit the reference of a stream."""
    return fit_reference([{"all": day} for day in days[:REFERENCE]], noise=False)


def lives_of(verdicts: Sequence[Verdict]) -> set[tuple[LifeState, LifeState]]:
    """Give what became of the level's incident from day to day: all steps are in the table."""
    states = [life_state(verdict.level_incident) for verdict in verdicts]
    found = {(before, after) for before, after in pairwise(states) if before != after}
    assert found <= {(b, a) for step in LIFE.values() for b in step.before for a in step.after}
    return found


@pytest.mark.parametrize(
    ("size", "world"), some(product(["+1.5", "-1.5", "+3.9"], [WORLD, *OTHERS]), 2)
)
def test_a_large_bias_pages_on_the_second_day(size: str, world: World) -> None:
    """The side, the first day and the size are right; nothing was said before."""
    verdicts = verdicts_of(f"scores {size}", world)
    before, second = verdicts[:START], verdicts[START + 1]

    assert {verdict.level_incident for verdict in before} == {None}
    assert second.state == "level_drift"
    assert second.incident.urgent
    assert second.incident.kind == LEVEL_KINDS[size.startswith("-")]
    assert second.incident.started == before[-1].day + timedelta(days=1)
    assert second.incident.size == pytest.approx(-float(size), abs=0.35)
    assert second.incident.unexplained == pytest.approx(-float(size), abs=0.35)


@pytest.mark.parametrize("world", [WORLD, *OTHERS], ids=str)
def test_a_moderate_bias_is_a_ticket_within_a_week(world: World) -> None:
    """Odds that are off by 2 do not page before they exceed that on two days."""
    verdicts = verdicts_of("scores +0.69", world)

    found = [v.day for v in verdicts if v.state == "level_drift"]
    assert found
    assert (found[0] - verdicts[START].day).days < 7
    assert {v.state for v in verdicts[:START]} <= {"ok", "prior_shift"}
    assert verdicts[START + 6].state == "level_drift"


@pytest.mark.parametrize("name", [*SOUND][:7])
def test_no_sound_world_pages_or_is_a_ticket(name: str) -> None:
    """Priors, inputs, both, a lifted curve: 100 days of each, of two sizes."""
    for world in (WORLD, World(0.07, 20_000)):
        days = draw(world, SOUND[name], 5, REFERENCE + 100)
        (found,) = follow([days], [fitted(days)])

        assert found.page == []
        if not name.startswith("priors wander, inputs jump"):  # looks like a bias
            assert found.ticket == []


def test_a_bias_that_is_gone_closes_and_is_listed_as_over() -> None:
    """After a rollback the incident closes as recovered, and nothing else opens."""
    days = [*days_of("scores +1.5")[: REFERENCE + START + 8], *days_of("priors wander")[REFERENCE:]]
    verdicts = judged([{"all": day} for day in days])
    states = [verdict.state for verdict in verdicts]
    over = next(i for i, v in enumerate(verdicts) if i > START + 7 and not v.level_incident)

    assert set(states[START + 1 : over]) == {"level_drift"}
    assert over <= START + 14
    assert "level_drift" not in states[over:]
    assert verdicts[over].ended.reason == "recovered"
    assert verdicts[over].ended.started == verdicts[START].day
    assert lives_of(verdicts) >= {("none", "open"), ("open", "recovering"), ("recovering", "none")}


def test_a_base_rate_that_covers_a_bias_for_some_days_does_not_close_it() -> None:
    """Days of a base rate that moves by itself; on three of them it moves with the scores."""

    def moves(rng: np.random.Generator, days: int) -> Moves:
        prior, still = rng.normal(0.0, 0.8, days), np.zeros(days)
        covered = range(REFERENCE + START + 9, REFERENCE + START + 12)
        prior[covered] = 1.5
        return Moves(prior, still, np.where(np.arange(days) >= REFERENCE + START, 1.5, 0.0), still)

    days = draw(WORLD, moves, 1, DAYS)
    ((opened, *later),) = (incidents.ticket for incidents in follow([days], [fitted(days)]))
    assert opened < START + 9
    assert later == []


def test_only_the_segment_whose_scores_are_off_is_named() -> None:
    """300 rows a day of one segment at +1.5; the other two are sound, and so said."""
    broken, *sound = (
        days_of("scores +1.5", World(0.2, 300)),
        days_of("priors wander", WORLD, 7),
        days_of("priors wander", WORLD, 8),
    )
    names = ("DE", "FR", "IT")
    days = [dict(zip(names, day, strict=True)) for day in zip(broken, *sound, strict=True)]
    verdicts = judged(days, segments=True)
    second = {v.segment: v for v in verdicts if v.day == verdicts_of("scores +1.5")[START + 1].day}

    assert second["DE"].state == "level_drift"
    assert second["DE"].incident
    assert second["DE"].incident.urgent
    assert second["FR"].level_incident is second["IT"].level_incident is None


def all_scores_at(cell: int, days: Sequence[Coarse]) -> list[Coarse]:
    """Give every row of some days one score."""
    return [
        Coarse(
            np.bincount([cell], [day.counts.sum()], CENTRES.size).astype(np.int64),
            np.bincount([cell], [day.positives.sum()], CENTRES.size).astype(np.int64),
        )
        for day in days
    ]


def test_scores_that_collapse_are_a_ticket_and_then_a_page() -> None:
    """A day whose outcomes vary is never called equal without a word."""
    sound = days_of("priors wander")
    days = [*sound[: REFERENCE + START], *all_scores_at(500, sound[REFERENCE + START :])]
    verdicts = judged([{"all": day} for day in days])
    first, second = verdicts[START : START + 2]

    assert lives_of(verdicts) == {("none", "unclear")}
    assert first.state == "undecided"
    assert first.incident.kind == SCORES_EQUAL
    assert not first.incident.urgent
    assert "all scores are 0.41" in trust(first).answer
    assert second.incident.urgent


def test_the_day_itself_says_what_is_wrong_before_anything_pages() -> None:
    """On the first day a sentence and the first line, on the second a page."""
    first, second = verdicts_of("scores +3.9", World(0.025, 3_000))[START : START + 2]

    assert first.facts.today == pytest.approx(-3.875, abs=0.35)
    assert trust(first).answer.startswith("Not today: scores 4")
    assert "it pages if the next day says so too" in sentences(first)[0]
    assert "the scores moved and the outcomes did not" in sentences(first)[1]
    assert second.state == "level_drift"
    assert second.facts.today is None
    assert "as if +3.90 had been added" in " ".join(sentences(second))
    assert not any(v.facts.today for v in verdicts_of("priors wander"))


def test_scores_that_are_all_new_are_undecided_until_the_level_says_more() -> None:
    """The first day says where the scores are; the incident gets its name the day after."""
    sound = days_of("priors wander")
    far = [Coarse(np.roll(d.counts, 300), np.roll(d.positives, 300)) for d in sound]
    days = [*sound[: REFERENCE + START], *far[REFERENCE + START :]]
    verdicts = judged([{"all": day} for day in days])
    first, second = verdicts[START : START + 2]

    assert {("none", "unclear"), ("unclear", "open")} <= lives_of(verdicts)
    assert first.state == "undecided"
    assert first.incident.kind == SCORES_OUTSIDE
    assert "% of the scores are above all of the reference's" in " ".join(sentences(first))
    assert second.state == "level_drift"
    assert second.incident.opened == first.day


def said_of(change: str) -> Scores:
    """Say what happened to scores that were changed in one way."""
    days = days_of("priors wander", World(0.025, 3_000))
    reference = fitted(days)
    p = 1.0 / (1.0 + np.exp(-CENTRES))
    maps = {
        "percent": p / 100.0,
        "other class": 1.0 - p,
        "log odds": 1.0 / (1.0 + np.exp(-CENTRES - 0.75)),
        "rounded": np.where(p > 0.5, 1.0, 0.0),
        "nothing": p,
        "flat": np.full_like(p, 0.4),
    }
    moved = np.clip(maps[change], 1e-7, 1 - 1e-7)
    cells = np.clip(((np.log(moved / (1 - moved)) + 16) * 32).astype(int), 0, CENTRES.size - 1)
    if change == "rounded":
        cells = np.where(p > 0.5, CENTRES.size - 1, 0)
    counts, positives = (
        np.bincount(cells, of_day, CENTRES.size).astype(np.int64)
        for of_day in (days[-1].counts, days[-1].positives)
    )
    return scores_since(reference, {"all": Coarse(counts, positives)}, 0.025)


@pytest.mark.parametrize(
    ("change", "named", "by"),
    [
        ("percent", "percent", 0.01),
        ("other class", "other class", 0.0),
        ("log odds", "log odds", 0.75),
        ("rounded", "rounded", 0.0),
        ("nothing", None, 0.0),
        ("flat", None, 0.0),
    ],
)
def test_the_map_that_was_applied_to_all_scores_is_named(
    change: str, named: str | None, by: float
) -> None:
    """A few simple maps are told by the quantiles; what is none of them stays unnamed."""
    found = said_of(change)

    assert found.like == named
    assert found.by == pytest.approx(by, abs=0.05)


def test_days_with_late_outcomes_are_not_weighed() -> None:
    """Positives that have not arrived look like scores that are too high."""
    days = [{"all": day} for day in days_of("scores +1.5")]
    references = [fit_model_reference(watched(days[:REFERENCE]), Limits())]
    late = [replace(day, late=Late(9, 0.3, 0.1, 3)) for day in watched(days[REFERENCE:], REFERENCE)]

    for whole, *_ in judge("ctr", late, references=references, limits=Limits()):
        assert whole.level_incident is None
        assert whole.detector.level.counted == 0


def test_an_error_of_the_level_is_news_beside_an_open_drift() -> None:
    """An acknowledgement of the drift of the curve does not cover what was found later."""
    truth = Truth(tilted(0.6))
    bent = [part for d in stream(World(0.2, 2_000), truth, 4, days=30) for part in d.values()]
    moved = [Coarse(np.roll(d.counts, 48), np.roll(d.positives, 48)) for d in bent]
    verdicts = judged([{"all": day} for day in [*bent[:48], *moved[48:]]])
    last = verdicts[-1]

    assert last.state == "calibration_drift"
    assert last.incident.kind == LEVEL_KINDS[0]
    assert last.incident.started > last.distortion.opened
    assert "Besides, too extreme" in " ".join(sentences(last))
    assert "too high (odds)" in trust(last).answer
