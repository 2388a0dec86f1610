"""From a verdict to a message: exporter, Prometheus, Alertmanager, and what reaches people.

All programs are real and all rules and routes are those of `alerts`; only waiting is shortened,
by replacing the words of `alerting.SOONER`, and messages go to a server of the test.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from scipy.special import expit

from monitor.base.errors import Fault
from monitor.days.run_record import FailedDay
from monitor.drift.fold.inputs import Day, Limits, fit_model_reference
from monitor.drift.records.verdict import Verdict
from monitor.drift.verdicts.judge import judge
from monitor.metrics.core.coarse import CENTRES, Coarse
from monitor.store.store import Store
from tests.support.alerting import (
    BOARD,
    BOOK,
    alertmanager,
    await_posts,
    prometheus,
    serving,
)
from tests.support.receivers import Posts, at, receiving

FAULT = Fault("predictions", "score_out_of_range", "scores lie outside [0, 1]", 14, 20_000, 1.7)
BROKEN = "torn: predictions of 1 Mar: 14 of 20000 scores lie outside [0, 1], first 1.7"

# How each model's outcomes come after its reference: the slope of their curve, the shift of the
# prior, with which the mix of the scores moves, and what is added to the scores alone, in cells.
SOUND = (1.0, 0.0, 0)
ILL = {
    "fraud": (0.8, 0.3, 0),
    "flights": (1.0, 1.6, 0),
    "ctr": (1.0, 0.0, 32),
    "bids": (1.0, 0.0, 70),
    "torn": (0.8, 0.0, 0),
}
SEVERITY = {"fraud": "page", "flights": "page", "ctr": "ticket", "bids": "page", "torn": "page"}
VERDICTS = {
    "fraud": "calibration_drift",
    "flights": "prior_shift",
    "ctr": "level_drift",
    "bids": "level_drift",
    "torn": "calibration_drift",
}
FIRST = date(2026, 2, 1)
REFERENCE_DAYS, ILL_DAYS, SOUND_DAYS = 28, 10, 14
ZONE = "Asia/Tokyo"  # whose days begin the evening before in UTC
STARTED = FIRST + timedelta(days=REFERENCE_DAYS)


def milliseconds(moment: datetime) -> int:
    """Write a moment as the links to dashboards do."""
    return round(1000 * moment.timestamp())


# The start of the drift where the model lives, and the date on which the level was first off.
DRIFTING = (
    f"{BOARD}fraud&var-segment=all&from="
    f"{milliseconds(datetime.combine(STARTED, time(), ZoneInfo(ZONE)))}&to=now"
)
LEVEL_SINCE = f"&from={milliseconds(datetime.combine(STARTED, time(), UTC))}&to=now"


@dataclass(frozen=True)
class Exporter:
    """What Prometheus scrapes, what is said of its models, how they recover, and on which day."""

    where: str
    verdicts: Mapping[str, Verdict]
    recover: Callable[[], None]
    closed: date


def outcomes(number: int, slope: float, prior: float, moved: int) -> Coarse:
    """Draw the outcomes of the day of a number: evenly spread logits of the scores."""
    usual = np.where(abs(CENTRES) < 3, 50, 0)
    tilt = 1 + expit(slope * CENTRES) * (np.exp(prior) - 1)
    counts = np.rint(usual * tilt).astype(np.int64)
    positives = np.random.default_rng(number).binomial(counts, expit(slope * CENTRES + prior))
    return Coarse(np.roll(counts, moved), np.roll(positives, moved))


def judged(model: str) -> list[list[Verdict]]:
    """Judge a model's reference, its ill days and its sound days after them."""
    spans = [SOUND] * REFERENCE_DAYS + [ILL[model]] * ILL_DAYS + [SOUND] * SOUND_DAYS
    days = [
        Day(
            day=FIRST + timedelta(days=i),
            final=True,
            known_at=datetime(2026, 4, 1, tzinfo=UTC),
            coverage=1.0,
            parts={("all", "all"): outcomes(i, *span)},
        )
        for i, span in enumerate(spans)
    ]
    limits = Limits()
    references = [fit_model_reference(days[:REFERENCE_DAYS], limits)]
    return list(judge(model, days, references=references, limits=limits))


@pytest.fixture(scope="module")
def exporter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Exporter]:
    """Serve a store with a drift, a prior shift, two level drifts, and a drift with broken logs."""
    folder = tmp_path_factory.mktemp("store")
    logs: dict[str, Any] = {"predictions": {"path": "p/{day}"}, "outcomes": {"path": "o/{day}"}}
    logs |= {"owner": "risk", "time_zone": ZONE}
    models: dict[str, Any] = {name: {**logs, "severity": SEVERITY[name]} for name in ILL}
    models["torn"]["verdicts"] = {"data_error_hours": 0}
    (folder / "monitor.yaml").write_text(json.dumps({"store": "store", "models": models}))
    store, now = Store(str(folder / "store")), datetime.now(UTC)
    days = {name: judged(name) for name in ILL}

    def write(name: str, days: list[list[Verdict]]) -> None:
        # The newest first, so that no scrape sees a day on the way to it.
        for verdicts in reversed(days):
            store.write_verdicts(name, verdicts[0].day, verdicts, basis="")
        failed = FailedDay(STARTED, FAULT) if name == "torn" else None
        store.write_run(name, started=now, finished=now, failed=failed)

    def recover() -> None:
        for name in ("fraud", "flights", "ctr", "bids"):
            write(name, days[name][REFERENCE_DAYS + ILL_DAYS :])

    for name in ILL:
        write(name, days[name][: REFERENCE_DAYS + ILL_DAYS])
    with serving(folder) as where:
        newest = {name: days[name][REFERENCE_DAYS + ILL_DAYS - 1][0] for name in ILL}
        ended = days["fraud"][-1][0].detector.ended
        assert ended is not None
        yield Exporter(where, newest, recover, ended.closed)


@dataclass(frozen=True)
class Told:
    """What was received while the models were ill, after a restart, and after they recovered."""

    ill: Posts
    restarted: Posts
    well: Posts


@pytest.fixture(scope="module")
def told(exporter: Exporter, tmp_path_factory: pytest.TempPathFactory) -> Told:
    """Let the models be ill until a ticket was repeated, restart Prometheus, let them recover."""
    folder = tmp_path_factory.mktemp("told")
    with ExitStack() as stack:
        received = stack.enter_context(receiving())
        posts, tickets = received.posts, "/slack-tickets-url"
        where = stack.enter_context(alertmanager(folder, received))
        with prometheus(folder, exporter.where, where):
            await_posts(
                posts,
                lambda: bool(
                    len(at("/enqueue", posts)) >= 2
                    and at("/slack-digest-url", posts)
                    and len(at(tickets, posts)) >= 4  # two models, told twice
                ),
            )
        ill = list(posts)
        with prometheus(folder, exporter.where, where):
            await_posts(posts, lambda: len(at(tickets, posts)) >= 8)
            restarted = posts[len(ill) :]
            exporter.recover()
            await_posts(
                posts,
                lambda: bool(
                    len(at("/enqueue", posts)) >= 4  # two pages, and their ends
                    and any("Over" in str(post) for post in at(tickets, posts))
                ),
            )
        return Told(ill, restarted, posts[len(ill) + len(restarted) :])


def title_of_drift(verdict: Verdict) -> str:
    """Say what happened to the model fraud, since when, and how bad it is."""
    assert verdict.slope is not None
    return f"fraud: scores too extreme since 1 Mar (slope {verdict.slope.value:.2f})"


def title_of_level(verdict: Verdict) -> str:
    """Say what happened to a model whose scores are off, and since when."""
    assert verdict.incident is not None
    odds = np.exp(abs(verdict.incident.size))
    name = verdict.model
    return f"{name}: scores {odds:.2g} times too high since 1 Mar (odds; base rate as before)"


def pages_of(model: str, posts: Posts) -> list[Any]:
    """Take the events of a model."""
    return [page for page in at("/enqueue", posts) if page["payload"]["component"] == model]


def test_the_verdicts_are_as_planned(exporter: Exporter) -> None:
    """Of the models one drifts, one has another prior, one another level, since one day."""
    incident = exporter.verdicts["fraud"].detector.incident

    assert {name: v.state for name, v in exporter.verdicts.items()} == VERDICTS
    assert incident is not None
    assert (incident.kind, incident.started) == ("too_extreme", STARTED)
    assert exporter.verdicts["flights"].shifted == STARTED
    for name, urgent in (("ctr", False), ("bids", True)):
        level = exporter.verdicts[name].level_incident
        assert level is not None
        assert (level.kind, level.started) == ("scores_too_high", STARTED)
        assert level.urgent >= urgent


def test_a_page_rings_once_and_is_resolved(told: Told, exporter: Exporter) -> None:
    """One event for the drift and one for the urgent level, with what, since when and how sure.

    A restart of Prometheus neither resolves nor triggers again. Nobody is woken by a prior, nor
    while the logs are broken.
    """
    (page,), (level,) = pages_of("fraud", told.ill), pages_of("bids", told.ill)
    (over,) = pages_of("fraud", told.well)
    title, closed = title_of_drift(exporter.verdicts["fraud"]), exporter.closed
    incident = exporter.verdicts["fraud"].detector.incident
    assert incident is not None

    assert (page["payload"]["summary"], page["client_url"]) == (title, DRIFTING)
    story = page["payload"]["custom_details"]["firing"]
    assert story.startswith(f"{title}\nSince 1 March 2026 scores are too extreme: high ones come")
    assert f"The evidence reached 10^{incident.evidence:.1f}; the limit is 10^3.0." in story
    assert level["payload"]["summary"] == title_of_level(exporter.verdicts["bids"])
    assert over["payload"]["summary"] == (
        f"Over: fraud: drift from 1 Mar to {closed:%-d %b} ({(closed - STARTED).days} days): "
        "recovered, the outcomes agree with the reference again"
    )
    assert (over["dedup_key"], over["event_action"]) == (page["dedup_key"], "resolve")
    assert at("/enqueue", told.restarted) == []
    events = str(at("/enqueue", told.ill + told.well))
    assert "flights" not in events
    assert "torn" not in events


def test_a_ticket_is_repeated_unchanged_until_it_is_over(told: Told, exporter: Exporter) -> None:
    """Of a level, and of broken logs, with log, day, reason and value, and what prints the rest."""
    tickets = at("/slack-tickets-url", told.ill + told.restarted)
    shown = {t["attachments"][0]["title"]: t["attachments"][0] for t in tickets}
    (ended,) = [t for t in at("/slack-tickets-url", told.well) if "Over" in str(t)]

    assert shown.keys() == {title_of_level(exporter.verdicts["ctr"]), BROKEN}
    assert len(tickets) >= 8
    assert "calibration-monitor check --model torn --day 2026-03-01" in shown[BROKEN]["text"]
    asked = f"<{BOARD}torn|Dashboard> · <{BOOK}calibrationdataerror|Runbook> · risk"
    assert shown[BROKEN]["text"].endswith(asked.replace("-model?", "-data?"))
    assert ended["attachments"][0]["title"].startswith("Over: ctr: drift from 1 Mar to ")


def test_the_digest_tells_of_the_prior_and_of_no_end(told: Told, exporter: Exporter) -> None:
    """Its shift and its remedy."""
    shift = exporter.verdicts["flights"].shift
    assert shift is not None
    (attachment,) = at("/slack-digest-url", told.ill)[0]["attachments"]

    assert attachment["title"] == "For your information: flights"
    assert attachment["text"].startswith(
        f"*flights: prior shift since 1 Mar ({shift.value:+.2f} in log-odds); the model is as good"
    )
    assert (
        f"The prior moved by {shift.value:+.2f} in log-odds ({shift.low:+.2f} to "
        in attachment["text"]
    )
    assert f"flights{LEVEL_SINCE}|Dashboard>" in attachment["text"]
    assert at("/slack-digest-url", told.restarted + told.well) == []


def test_the_watchdog_is_called_again_and_again(told: Told) -> None:
    """While Prometheus and Alertmanager work, the receiver of its own hears of them."""
    for posts in (told.ill, told.restarted):
        calls = at("/calibration", posts)
        assert calls, [path for path, _ in posts]
        assert {call["status"] for call in calls} == {"firing"}
