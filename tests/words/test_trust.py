"""The first two lines of `show`: can it be trusted, and what to do."""

from dataclasses import replace
from datetime import date

import pytest

from monitor.days.arrivals import Late
from monitor.drift.records.facts import Coverage, Facts, Scores
from monitor.drift.records.mix import MovedMix, MovedShare
from monitor.drift.records.verdict import DRIFTING, State
from monitor.words.next_steps import next_steps
from monitor.words.trust import NO_MAP, Need, first_verdict, trust
from monitor.words.where import Maps
from tests.words.test_facts import SEEDS, Drawn, verdict_of

BEGINNINGS = {
    "ok": (
        "Not today:",
        "Yes:",
        "Yes, and the scores discriminate less",
        "Yes, as far as outcomes are known:",
        "Yes, but of some nothing is known:",
        "As far as before:",
        "Not surely:",
    ),
    "prior_shift": (
        *("Yes, but for the level:", "Not the level:", "Once the base rate is known:"),
        *("Not surely:", "Not today:"),
    ),
    "reference_changed": ("Not surely: the reference itself changed on",),
    "level_drift": ("No: scores",),
    "labels_lost": ("Not the outcomes:", "Unknown:"),
    "labels_added": ("Not the outcomes:", "Unknown:"),
    "acknowledged": ("Not asked:",),
    "undecided": ("Perhaps:", "Unknown:", "No: all scores are equal"),
    "calibration_drift": ("No:",),
    "improved": ("Yes, better than before:",),
    "insufficient_data": ("Not known yet:", "Unknown:", "The day is part of"),
    "not_comparable": ("Unknown: the day was read", "Unknown: the day could not"),
    "data_error": ("Unknown: the logs of 2026-03-07 failed",),
}


def test_every_verdict_has_an_answer_and_a_step() -> None:
    """Whatever is drawn: two sentences, and the answer is that of its state."""
    seen = set[str]()
    for seed in (*range(SEEDS), 49_048):  # the last draws a rare one
        verdict = verdict_of(Drawn(seed))
        found = trust(verdict)
        begins = [each for each in BEGINNINGS[verdict.state] if found.answer.startswith(each)]
        assert len(begins) == 1, found
        assert found.answer.endswith(".")
        assert found.step.endswith(".")
        seen.update(begins)

    rare = {"Yes, as far as outcomes are known:"}  # never drawn alone: below it is
    assert seen == {each for several in BEGINNINGS.values() for each in several} - rare


@pytest.mark.parametrize(
    ("state", "begins"),
    [("ok", "Yes so far: a change is not ruled out, 100 to 1"), ("prior_shift", "Yes, but for")],
)
def test_evidence_that_is_not_enough_yet_is_part_of_the_answer(state: State, begins: str) -> None:
    """An incident opens at the limit; below it the answer does not say that there is nothing."""
    plain = Facts(false_alert_days=1_000)
    verdict = replace(verdict_of(Drawn(0)), state=state, facts=plain, values=None, limit=3.0)
    for reached in (None, 1.0, 3.5):
        assert "not ruled out" not in trust(replace(verdict, reached=reached)).answer
    answer = trust(replace(verdict, reached=2.0)).answer

    assert answer.startswith(begins)
    assert "100 to 1, and an incident opens at 1,000 to 1" in answer
    assert "990 to 1" in trust(replace(verdict, reached=2.9977)).answer
    assert "nearly 1,000 to 1" in trust(replace(verdict, reached=2.9999)).answer


@pytest.mark.parametrize(
    ("before", "now", "answer"),
    [
        (1.0, 0.5, "Yes, as far as outcomes are known: 50 % of the predictions have an outcome"),
        (0.5, 1.0, "Yes: no evidence of a change"),
    ],
)
def test_outcomes_that_stopped_are_asked_for(before: float, now: float, answer: str) -> None:
    """Half of them gone at random changes no verdict, and is not nothing to do."""
    facts = Facts(false_alert_days=1_000, covered=Coverage(before, now))
    verdict = replace(verdict_of(Drawn(0)), state="ok", facts=facts, values=None, reached=0.0)

    found = trust(verdict)

    assert found.answer.startswith(answer)
    assert ("Ask whether the join is complete" in found.step) == (now < before)


@pytest.mark.parametrize(
    ("state", "begins"),
    [("ok", "Yes, as far as outcomes are known: "), ("prior_shift", "Not surely: the base rate")],
)
def test_a_day_of_which_few_outcomes_are_known_is_asked_for(state: State, begins: str) -> None:
    """One file that was read before it was whole leaves the week as it was."""
    plain = Facts(false_alert_days=1_000)
    verdict = replace(verdict_of(Drawn(0)), state=state, facts=plain, values=None, reached=0.0)

    found = trust(verdict, few_known="only 33 % of the predictions of 2026-03-07 have an outcome")

    assert found.answer.startswith(begins)
    assert "only 33 % of the predictions of 2026-03-07 have an outcome" in found.answer
    assert "run these days again" in found.step


def test_outcomes_that_come_too_late_are_waited_for() -> None:
    """Where it is known how late they come, nobody asks which source stopped."""
    late = Late(6, 0.09, 0.0, 8)
    facts = Facts(false_alert_days=1_000, covered=Coverage(0.97, 0.85), late=late)
    verdict = replace(verdict_of(Drawn(0)), state="prior_shift", facts=facts, values=None)

    assert trust(verdict).step == (
        "Set settled_after to 8, by when 95 % have arrived. If none is missing, see "
        "CalibrationPriorShift in the runbook."
    )


def test_segments_that_moved_far_are_not_nothing_to_do() -> None:
    """There is a ticket of it, CalibrationMixMoved."""
    moved = MovedMix((MovedShare("other", 0.0, 0.1, 1.0),), (), 100)
    facts = Facts(false_alert_days=1_000, mix=moved)
    verdict = replace(verdict_of(Drawn(0)), state="ok", facts=facts, values=None, reached=0.0)

    assert trust(verdict).answer.startswith("Yes: ")
    assert trust(verdict).step.startswith("Ask how the column of the segments is written")


@pytest.mark.parametrize(("below", "above"), [(0.16, 0.0), (0.0, 0.2), (0.04, 0.04)])
def test_scores_of_which_nothing_is_known_are_asked_for(below: float, above: float) -> None:
    """Beyond the reference no outcome contradicts a score, and one in 20 is not nothing."""
    scores = Scores(0.3, 0.3, 0.3, 0.3, below=below, above=above)
    facts = Facts(false_alert_days=1_000, scores=scores)
    verdict = replace(verdict_of(Drawn(0)), state="ok", facts=facts, values=None, reached=0.0)

    found = trust(verdict)

    side = {(0.16, 0.0): "16 % of the scores are below", (0.0, 0.2): "20 % of the scores are above"}
    if said := side.get((below, above)):
        assert found.answer == f"Yes, but of some nothing is known: {said} all of the reference's."
        assert found.step.startswith("Ask what gives these rows their score")
    else:
        assert found.answer.startswith("Yes: no evidence")


def test_a_segment_that_drifts_is_named_before_the_whole_is_trusted() -> None:
    """The whole is no answer for a segment with an open drift, unless it drifts itself."""
    for verdict in (verdict_of(Drawn(seed)) for seed in range(SEEDS)):
        found = trust(verdict, ["ios", "DE", "FR", "IT", "AT"])
        if verdict.state in DRIFTING:
            assert found == trust(verdict)
        else:
            assert found.answer == "Not everywhere: scores of ios, DE, FR and 2 more have drifted."
            assert "--segment 'ios'" in found.step


def test_a_drift_that_is_open_is_no_less_open_on_a_day_that_is_not_judged() -> None:
    """An incident that goes on answers before the day without a verdict does."""
    drawn = (verdict_of(Drawn(seed)) for seed in range(SEEDS))
    drifting = next(verdict for verdict in drawn if verdict.state == "calibration_drift")
    facts = replace(drifting.facts, obstacle="outcomes awaited")
    waiting = replace(drifting, state="insufficient_data", facts=facts)

    assert trust(waiting).answer == trust(drifting).answer


def test_no_command_is_named_that_is_refused() -> None:
    """Where maps are for all rows, no step fits one to a part; where there are none, to no rows."""
    drawn = [verdict_of(Drawn(seed)) for seed in range(SEEDS)]
    of_parts = 0
    for verdict in drawn:
        said = {
            maps: f"{trust(verdict, maps=maps).step} {next_steps(verdict, maps)}"
            for maps in ("parts", "all rows", "none")
        }
        of_parts += "--part" in said["parts"] or "recalibrate --segment" in said["parts"]
        if verdict.values and verdict.values.ranked:  # only models whose maps may be of parts
            continue
        assert not {"--part", " --segment "} & {*said["all rows"].split()}
        assert "recalibrate" not in said["none"]
        assert (NO_MAP in said["none"]) >= (verdict.state == "calibration_drift")

    assert of_parts


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        (
            (30, 268, 3_000),
            (
                "Wait: 268 of 300 positive outcomes are there; the first verdict comes about "
                "2026-05-12."
            ),  # 4 days more at 268 in 30 days, and 8 days to wait
        ),
        (
            (14, 268, 3_000),
            (
                "Wait: 14 of 28 final days and 268 of 300 positive outcomes are there; the first "
                "verdict comes about 2026-06-07."
            ),  # 14 days in 30, so 30 more
        ),
        (
            (15, 150, 150),
            (
                "Wait: 15 of 28 final days, 150 of 300 positive outcomes and 150 of 300 negative "
                "outcomes are there; the first verdict comes about 2026-06-07."
            ),
        ),
        (
            (30, 0, 3_000),
            (
                "Wait: 0 of 300 positive outcomes are there, too few to say when the first verdict "
                "comes."
            ),
        ),
        (
            (30, 300, 3_000),
            (
                "Wait: all days and outcomes that it takes are there; the first verdict comes "
                "about 2026-05-08."
            ),
        ),
    ],
)
def test_the_first_verdict_is_foreseen_from_what_was_counted(
    counts: tuple[int, int, int], said: str
) -> None:
    """What is missing comes at the rate at which the rest came."""
    kinds = (("final days", 28), ("positive outcomes", 300), ("negative outcomes", 300))
    needs = [Need(of, there, least) for there, (of, least) in zip(counts, kinds, strict=True)]

    assert first_verdict(needs, date(2026, 4, 1), date(2026, 4, 30), 7) == said


@pytest.mark.parametrize("maps", ["parts", "all rows", "none"])
def test_the_logs_are_searched_where_no_column_is_counted(maps: Maps) -> None:
    """`where` alone is refused for a model without columns, so it is named with --search only."""
    drifting = 0
    for verdict in (verdict_of(Drawn(seed)) for seed in range(SEEDS)):
        step = trust(verdict, maps=maps, counted=False).step
        commands = [of.command for of in next_steps(verdict, maps, counted=False)]
        for said in (step, *commands):
            assert said.count("calibration-monitor where ") == said.count(" --search")
        drifting += " --search says where it sits" in step
        assert " --search" not in trust(verdict, maps=maps).step

    assert drifting
