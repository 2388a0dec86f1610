"""`show --fail-on`: one exit code for the programs that call it."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from monitor.drift.records.detector import Incident
from monitor.drift.records.facts import Facts, OneDay
from monitor.drift.records.verdict import STATES, State
from monitor.read.failing import GROUPS, failing
from monitor.read.standing import Standing
from tests.conftest import Ended
from tests.support.filled_store import DRIFT, verdict

SOUND = {"ok", "prior_shift", "acknowledged", "improved"}  # the scores can be trusted


def test_every_state_is_in_one_group_or_is_sound() -> None:
    """A state that is added is put into a group, or said to be sound."""
    grouped = [state for states in GROUPS.values() for state in states]

    assert {*grouped} | SOUND == {*STATES, "unreadable", ""}
    assert len(grouped) == len({*grouped})
    assert not SOUND & {*grouped}


@pytest.mark.parametrize("state", STATES)
def test_a_segment_fails_by_its_state(state: State) -> None:
    """Each group lists the segments in its states; being blind is asked of the whole alone."""
    segments = {name: Standing(replace(verdict(name, None), state=state)) for name in ("all", "DE")}
    expected = {
        group: ["all"] if group == "blind" else ["all", "DE"]
        for group, states in GROUPS.items()
        if state in states
    }

    assert failing(segments, GROUPS) == expected


@pytest.mark.parametrize(
    ("facts", "level", "group"),
    [
        (Facts(today=1.5), None, "level"),
        (Facts(one_day=OneDay(40.0, "place")), None, "drift"),
        (Facts(), replace(DRIFT, kind="scores_too_high"), "level"),
    ],
)
def test_what_stands_beside_the_state_fails_too(
    facts: Facts, level: Incident | None, group: str
) -> None:
    """A day that alone contradicts the reference, and an error of the level beside a drift."""
    calm = replace(verdict("all", None), state="acknowledged", facts=facts)
    detector = replace(calm.detector, level=replace(calm.detector.level, incident=level))
    stands = {"all": Standing(replace(calm, detector=detector))}

    assert failing(stands, GROUPS) == {group: ["all"]}


@pytest.mark.usefixtures("project")
def test_the_call_ends_with_four_and_says_why(command: Callable[..., Ended]) -> None:
    """Two days are no reference, so the model is blind, which fails only where it is asked for."""
    asked = command("show", "--fail-on", "drift,blind")
    in_json = command("show", "--fail-on", "blind", "--json")
    other = command("show", "--fail-on", "drift, level")
    of_one = command("show", "--segment", "DE", "--fail-on", "blind")

    assert (asked.code, other.code, of_one.code) == (4, 0, 4)
    assert asked.out.rstrip().endswith("--fail-on: ctr, blind: all")
    assert (in_json.code, json.loads(in_json.out)["failed_on"]) == (4, {"ctr": {"blind": ["all"]}})


def test_of_all_models_each_is_named(two_models: Path, command: Callable[..., Ended]) -> None:
    """Without --model the call fails for any of them."""
    ended = command(
        *("show", "--config", two_models / "monitor.yaml"), *("--fail-on", "drift", "--json")
    )
    listed = json.loads(ended.out)
    drifting = {m["model"] for m in listed["models"] if m["state"] == "calibration_drift"}

    assert ended.code == (4 if listed["failed_on"] else 0)
    assert drifting <= {*listed["failed_on"]}


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--fail-on", "drfit"), "'drfit' is none of drift, level, labels, blind"),
        (("--fail-on", "drift", "--incidents"), "is about the newest verdict"),
    ],
)
def test_what_it_does_not_know_is_refused(
    command: Callable[..., Ended], options: tuple[str, ...], said: str
) -> None:
    """A misspelt group would never fail."""
    ended = command("show", *options)

    assert ended.code == 2
    assert said in " ".join(ended.err.split())
