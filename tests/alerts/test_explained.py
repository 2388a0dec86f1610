"""A drift that a segment or a value explains: who is told of it, whichever opens first.

All programs are real and all rules and routes are those of `alerts`; only waiting is shortened.
"""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from monitor.drift.fold.inputs import Day, Limits, fit_model_reference
from monitor.drift.records.places import Condition, Explanation, Where
from monitor.drift.records.verdict import Verdict
from monitor.drift.verdicts.judge import judge
from monitor.metrics.core.coarse import CENTRES, Coarse
from monitor.metrics.core.estimate import Estimate
from monitor.store.store import Store
from tests.support.alerting import alertmanager, await_posts, prometheus, serving
from tests.support.filled_store import VALUES
from tests.support.receivers import Posts, at, receiving
from tests.support.servers import get

FIRST, REFERENCE_DAYS, ILL_DAYS = date(2026, 2, 1), 28, 10
ROWS = np.where(abs(CENTRES) < 3, 50, 0)
SLOPES = {"ios": 0.6, "web": 1.0, "tv": 1.0}
ORDERS = ("segment_first", "whole_first")
ROUTES = {"page": "/enqueue", "ticket": "/slack-tickets-url"}
MODELS = {f"{order}_{severity}": severity for order in ORDERS for severity in ROUTES}
VALUE_ORDERS = ("value_first", "whole_before_value")  # a value of a column that is no segment
OF_VALUES = {f"{order}_{severity}": severity for order in VALUE_ORDERS for severity in ROUTES}


def outcomes(slope: float) -> Coarse:
    """Make the outcomes of a segment on a day, without chance."""
    return Coarse(ROWS, np.rint(ROWS * expit(slope * CENTRES)).astype(np.int64))


@cache
def drifted() -> list[Verdict]:
    """Judge a last day on which the whole and ios drift, and put the whole down to ios.

    As if the mixture had looked like another kind: its own is said nowhere.
    """
    days = [
        Day(
            day=FIRST + timedelta(days=i),
            final=True,
            known_at=datetime(2026, 4, 1, tzinfo=UTC),
            coverage=1.0,
            parts={
                (name, "all"): outcomes(slope if i >= REFERENCE_DAYS else 1.0)
                for name, slope in SLOPES.items()
            },
        )
        for i in range(REFERENCE_DAYS + ILL_DAYS)
    ]
    limits = Limits()
    references = [fit_model_reference(days[:REFERENCE_DAYS], limits)]
    whole, *segments = list(judge("m", days, references=references, limits=limits))[-1]
    incident = whole.detector.incident
    assert incident is not None
    explanation = Explanation(
        *((Condition("system", "ios"),), 1.0, Estimate.normal(0.6, 0.01), None, 0.3),
        kind="too_extreme",
        in_segments=True,
    )
    mixture = replace(incident, kind="tails_too_extreme")
    return [
        replace(
            whole,
            detector=replace(whole.detector, incident=mixture),
            where=Where("too_extreme", None, (), explanation),
        ),
        *segments,
    ]


def sound(verdict: Verdict) -> Verdict:
    """Make a verdict as it is before its drift opens."""
    detector = replace(verdict.detector, incident=None)
    return replace(verdict, state="ok", detector=detector, where=None)


def stages(order: str) -> list[list[Verdict]]:
    """Give the verdicts of a day on which one of them has opened, and of the next."""
    whole, *segments = drifted()
    assert [v.segment for v in segments if v.detector.incident] == ["ios"]
    if order == "segment_first":
        before = [sound(whole), *segments]
    else:
        assert whole.where is not None
        assert whole.explanation is not None
        alone = replace(whole.explanation, in_segments=False)
        where = replace(whole.where, explanation=alone)
        before = [replace(whole, where=where), *map(sound, segments)]
    tomorrow = [replace(v, day=v.day + timedelta(days=1)) for v in (whole, *segments)]
    return [before, tomorrow]


def value_stages(order: str) -> list[list[Verdict]]:
    """Do the same where the whole is put down to device = web, which drifts by itself too."""
    whole, *segments = drifted()
    assert whole.where is not None
    assert whole.explanation is not None
    web = replace(whole.explanation, conditions=(Condition("device", "web"),), in_segments=False)
    explained = replace(whole, where=replace(whole.where, explanation=web))
    first = sound(whole) if order == "value_first" else explained
    before = replace(first, values=VALUES if order == "value_first" else None)
    calm = [sound(v) for v in segments]
    after = [replace(explained, values=VALUES), *calm]
    return [[before, *calm], [replace(v, day=v.day + timedelta(days=1)) for v in after]]


@dataclass(frozen=True)
class Told:
    """What was sent before the second one opened, what after, and what Alertmanager has then."""

    before: Posts
    after: Posts
    alerts: list[dict[str, Any]]


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    """Let one of them open, then the other."""
    folder = tmp_path_factory.mktemp("explained")
    logs: dict[str, Any] = {"predictions": {"path": "p/{day}"}, "outcomes": {"path": "o/{day}"}}
    system = {"column": "system", "values": list(SLOPES), "primary": True}
    logs["segments"] = [system, {"column": "device", "top": 5}]
    every = MODELS | OF_VALUES
    models = {name: {**logs, "severity": severity} for name, severity in every.items()}
    (folder / "monitor.yaml").write_text(json.dumps({"store": "store", "models": models}))
    store, now = Store(str(folder / "store")), datetime.now(UTC)

    def write(stage: int) -> None:
        for name in every:
            order = name.rsplit("_", 1)[0]
            of_stage = (value_stages if name in OF_VALUES else stages)(order)[stage]
            verdicts = [replace(v, model=name) for v in of_stage]
            store.write_verdicts(name, verdicts[0].day, verdicts, basis="")
            store.write_run(name, started=now, finished=now)

    write(0)
    with ExitStack() as stack:
        received = stack.enter_context(receiving())
        posts = received.posts
        exporter = stack.enter_context(serving(folder))
        where = stack.enter_context(alertmanager(folder, received))
        stack.enter_context(prometheus(folder, exporter, where))
        await_posts(posts, lambda: all(name in json.dumps(posts) for name in every))
        before = list(posts)
        write(1)
        # Tickets are repeated, so the text of the second stage arrives, and more after it.
        await_posts(posts, lambda: "Without system = ios" in json.dumps(posts[len(before) :]))
        later = len(posts)
        tickets = len(at(ROUTES["ticket"], posts)) + 6
        await_posts(posts, lambda: len(at(ROUTES["ticket"], posts)) >= tickets)
        assert len(posts) > later
        await_posts(posts, lambda: len(value_alerts(alerts_of(where))) == len(OF_VALUES))
        after = posts[len(before) :]
        first = "value_first_ticket"
        await_posts(posts, lambda: f"{first}, device = web: scores too" in json.dumps(posts))
        tickets = len(at(ROUTES["ticket"], posts)) + 6
        await_posts(posts, lambda: len(at(ROUTES["ticket"], posts)) >= tickets)
        yield Told(before, [*after, *posts[len(before) + len(after) :]], alerts_of(where))


@pytest.fixture
def told(everything: Told) -> tuple[Posts, Posts]:
    """Give what was sent before the second one opened, and after."""
    return everything.before, everything.after


def alerts_of(where: str) -> list[dict[str, Any]]:
    """Ask Alertmanager which alerts it has, and what holds each of them back."""
    return list(json.loads(get(where, "/api/v2/alerts")[1]))


def value_alerts(alerts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Choose the alerts of values."""
    return [a for a in alerts if a["labels"]["alertname"] == "CalibrationValueDrift"]


def of(name: str, posts: Posts) -> list[str]:
    """Give what was sent of a model."""
    return [
        json.dumps(post) for post in at(ROUTES[MODELS[name]], posts) if name in json.dumps(post)
    ]


@pytest.mark.parametrize("name", MODELS)
def test_nobody_is_told_of_another_kind(told: tuple[Posts, Posts], name: str) -> None:
    """Every message is of ios, and of the kind that ios has."""
    every = [text for posts in told for text in of(name, posts)]

    assert every
    for text in every:
        assert "ios: scores too extreme since 1 Mar (slope 0.6" in text
        assert "far ends" not in text


@pytest.mark.parametrize("name", MODELS)
def test_nobody_is_told_that_it_is_over(told: tuple[Posts, Posts], name: str) -> None:
    """The alert of the whole gives way without a word."""
    for text in [text for posts in told for text in of(name, posts)]:
        assert "Over" not in text
        assert "resolve" not in text.replace('"num_resolved": "0"', "").replace(
            '"resolved": ""', ""
        )


@pytest.mark.parametrize("severity", ROUTES)
def test_the_segment_is_told_from_the_beginning(told: tuple[Posts, Posts], severity: str) -> None:
    """Where it is first it stays; where the whole is, it takes over."""
    before, after = told
    first, second = f"segment_first_{severity}", f"whole_first_{severity}"

    assert all(f"{first}, segment ios: " in text for text in of(first, before + after))
    assert all(f"{second}, system = ios: " in text for text in of(second, before))
    assert f"{second}, segment ios: " in of(second, after)[-1]
    assert f"{second}, system = ios: " not in of(second, after)[-1]


def test_whoever_was_rung_is_not_rung_again(told: tuple[Posts, Posts]) -> None:
    """All events of a model belong to one incident of the pager."""
    for order in ORDERS:
        texts = [text for posts in told for text in of(f"{order}_page", posts)]

        assert len({json.loads(text)["dedup_key"] for text in texts}) == 1
    assert of("segment_first_page", told[1]) == []


@pytest.mark.parametrize("name", OF_VALUES)
def test_the_whole_holds_back_the_value_that_explains_it(everything: Told, name: str) -> None:
    """Never the other way round; and its message is of the value."""
    of_model = [a for a in everything.alerts if a["labels"].get("model") == name]
    (value,) = value_alerts(of_model)
    (whole,) = (a for a in of_model if a["labels"]["alertname"] == "CalibrationDrift")

    assert value["status"]["inhibitedBy"] == [whole["fingerprint"]]
    assert whole["status"] == {**whole["status"], "state": "active", "inhibitedBy": []}
    assert whole["labels"]["segment"] == "all"


@pytest.mark.parametrize("name", OF_VALUES)
def test_a_value_is_told_once_by_itself_or_by_the_whole(everything: Told, name: str) -> None:
    """Where it is first, the whole takes over; where the whole is, the value sends nothing."""
    alone, by_whole = (
        f"{name}, device = web: too extreme",
        f"{name}, device = web: scores too extreme",
    )
    tickets = [json.dumps(p) for p in at(ROUTES["ticket"], [*everything.before, *everything.after])]
    wholes = [
        json.dumps(p) for p in at(ROUTES[OF_VALUES[name]], [*everything.before, *everything.after])
    ]

    assert any(by_whole in text for text in wholes)
    assert not any("far ends" in text for text in wholes if name in text)
    if name.startswith("whole_before_value"):
        assert not any(alone in text for text in tickets)
        return
    assert any(alone in text for text in tickets)
    if OF_VALUES[name] == "ticket":  # both in one place, so their order is known
        after_whole = tickets[next(i for i, text in enumerate(tickets) if by_whole in text) + 1 :]
        assert not any(alone in text for text in after_whole)
