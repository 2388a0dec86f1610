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

from monitor.drift.fold.inputs import Day, Limits, fit_model_reference
from monitor.drift.records.verdict import Verdict
from monitor.drift.verdicts.judge import judge
from monitor.errors import Fault
from monitor.metrics.core.coarse import CENTRES, Coarse
from monitor.metrics.core.estimate import Estimate
from monitor.run_record import FailedDay
from monitor.store.store import Store
from tests.support.alerting import (
    BOARD,
    BOOK,
    alertmanager,
    await_posts,
    event,
    message,
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
LAST = STARTED + timedelta(days=ILL_DAYS + SOUND_DAYS - 1)


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


DATA = "/calibration-data"  # the dashboard that alerts about logs link to


def links(model: str, board: str, alert: str) -> str:
    """Write the last line of an alert in Slack."""
    return f"<{BOARD}{model}{board}|Dashboard> · <{BOOK}{alert}|Runbook> · risk"


def interval(figure: Estimate | None, form: str, unit: str = "") -> str:
    """Write a number with its interval as the messages do."""
    assert figure is not None
    return f"{figure.value:{form}}{unit} ({figure.low:{form}} to {figure.high:{form}})"


def title_of_drift(verdict: Verdict) -> str:
    """Say what happened to the model fraud, since when, and how bad it is."""
    assert verdict.slope is not None
    return f"fraud: scores too extreme since 1 Mar (slope {verdict.slope.value:.2f})"


def story_of_drift(verdict: Verdict) -> str:
    """Tell what the page must say."""
    incident, slope = verdict.detector.incident, verdict.slope
    assert incident is not None
    assert slope is not None
    return (
        "Since 1 March 2026 scores are too extreme: high ones come true less often than before, "
        "low ones more often. No shift of the prior explains this. Slope of the outcomes on the "
        f"reference curve: {slope.value:.2f} (95 % {slope.low:.2f} to {slope.high:.2f}), 1 without "
        f"drift. The evidence reached 10^{incident.evidence:.1f}; the limit is 10^3.0. Meanwhile "
        f"the prior moved by {interval(verdict.shift, '+.2f', ' in log-odds')}, which is not part "
        "of the drift. Without a drift, this alert comes once in 1000 days on average, or less "
        "often."
    )


def story_of_shift(verdict: Verdict) -> str:
    """Tell what the digest must say."""
    return (
        "More or fewer cases are positive than in the reference, and the scores follow as they "
        "should, up to one constant. The prior moved by "
        f"{interval(verdict.shift, '+.2f', ' in log-odds')}; adding this to the log-odds of every "
        "score makes them right on average. In the reference "
        f"{100 * verdict.reference_prevalence:.4g}% were positive."
    )


def story_of_level(verdict: Verdict) -> str:
    """Tell what the ticket must say."""
    assert verdict.incident is not None
    return (
        "Since 1 March 2026 all scores are too high: their outcomes come true less often than the "
        "curve of the reference says, and the base rate explains less than half of that. The "
        f"evidence reached 10^{verdict.incident.evidence:.1f}; the limit is 10^3.0. Without a "
        "drift, this alert comes once in 1000 days on average, or less often."
    )


def title_of_level(verdict: Verdict) -> str:
    """Say what happened to a model whose scores are off, and since when."""
    assert verdict.incident is not None
    odds = np.exp(abs(verdict.incident.size))
    name = verdict.model
    return f"{name}: scores {odds:.2g} times too high since 1 Mar (odds; base rate as before)"


def pages_of(model: str, posts: Posts) -> list[Any]:
    """Take the events of a model."""
    return [page for page in at("/enqueue", posts) if page["payload"]["component"] == model]


class TestVerdicts:
    """What the messages are about."""

    def test_are_as_planned(self, exporter: Exporter) -> None:
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


class TestPage:
    """What reaches the pager."""

    def test_tells_the_whole_story_of_a_drift(self, told: Told, exporter: Exporter) -> None:
        """PagerDuty gets one event, with what, since when, how sure, and links, word for word."""
        (page,) = pages_of("fraud", told.ill)
        verdict = exporter.verdicts["fraud"]
        title, story = title_of_drift(verdict), story_of_drift(verdict)

        assert page == event(page["dedup_key"], title, DRIFTING, firing=[f"{title}\n{story}"])

    def test_tells_the_whole_story_of_a_level(self, told: Told, exporter: Exporter) -> None:
        """Of scores that are off by a large factor PagerDuty gets one event, word for word."""
        (page,) = pages_of("bids", told.ill)
        verdict = exporter.verdicts["bids"]
        title, story = title_of_level(verdict), story_of_level(verdict)
        board = DRIFTING.replace("fraud", "bids")
        said = event(page["dedup_key"], title, board, firing=[f"{title}\n{story}"], model="bids")

        assert page == said

    def test_rings_once(self, told: Told) -> None:
        """A restart of Prometheus neither resolves nor triggers again."""
        assert at("/enqueue", told.restarted) == []

    def test_is_resolved_when_the_drift_is_over(self, told: Told, exporter: Exporter) -> None:
        """The same incident is resolved once the drift has closed, with how long and why."""
        (first,) = pages_of("fraud", told.ill)
        (last,) = pages_of("fraud", told.well)
        closed = exporter.closed
        over = (
            f"Over: fraud: drift from 1 Mar to {closed:%-d %b} ({(closed - STARTED).days} days): "
            "recovered, the outcomes agree with the reference again"
        )

        assert last == event(first["dedup_key"], over, DRIFTING, resolved=[over])

    def test_nobody_is_woken_by_a_prior(self, told: Told) -> None:
        """A model whose prior has shifted is in no event, though its severity is page."""
        events = at("/enqueue", told.ill + told.restarted + told.well)

        assert events
        assert "flights" not in str(events)

    def test_nobody_is_woken_while_the_logs_are_broken(self, told: Told) -> None:
        """The drift of a model with a data error is held back; the error is a ticket."""
        assert "torn" not in str(at("/enqueue", told.ill + told.restarted + told.well))
        assert BROKEN in str(at("/slack-tickets-url", told.ill))


class TestTicket:
    """What reaches the channel for tickets."""

    def test_tells_the_story_of_a_level(self, told: Told, exporter: Exporter) -> None:
        """Slack gets the headline, the story, and links, word for word."""
        found = next(t for t in at("/slack-tickets-url", told.ill) if "ctr" in str(t))
        verdict = exporter.verdicts["ctr"]
        title = title_of_level(verdict)
        board = DRIFTING.removeprefix(f"{BOARD}fraud")
        text = f"{story_of_level(verdict)}\n{links('ctr', board, 'calibrationdrift')}"

        assert found == message(title, f"{BOARD}ctr{board}", text, title)

    def test_names_log_day_reason_and_value_of_a_data_error(self, told: Told) -> None:
        """The headline has all four, and the text the command that prints the rest."""
        found = next(t for t in at("/slack-tickets-url", told.ill) if "torn" in str(t))
        (attachment,) = found["attachments"]

        assert attachment["title"] == BROKEN
        assert "calibration-monitor check --model torn --day 2026-03-01" in attachment["text"]
        asked = links("torn", "", "calibrationdataerror").replace("/calibration-model", DATA)
        assert attachment["text"].endswith(asked)

    def test_is_repeated_unchanged(self, told: Told) -> None:
        """While nothing changes, a ticket comes again after its interval under the same title."""
        tickets = at("/slack-tickets-url", told.ill + told.restarted)
        different = {ticket["attachments"][0]["title"] for ticket in tickets}

        assert len(different) == 2  # of ctr and of torn
        assert len(tickets) >= 8

    def test_says_when_it_is_over(self, told: Told, exporter: Exporter) -> None:
        """A ticket that is resolved says so in green, with how long it lasted and why it ended."""
        closed = exporter.closed
        over = (
            f"Over: ctr: drift from 1 Mar to {closed:%-d %b} ({(closed - STARTED).days} days): "
            "recovered, the outcomes agree with the reference again"
        )
        (ended,) = [t for t in at("/slack-tickets-url", told.well) if "Over" in str(t)]
        board = DRIFTING.removeprefix(f"{BOARD}fraud")

        assert ended["attachments"][0]["title"] == over
        assert links("ctr", board, "calibrationdrift") in ended["attachments"][0]["text"]


class TestDigest:
    """What reaches the channel for information."""

    def test_tells_of_the_prior(self, told: Told, exporter: Exporter) -> None:
        """The digest tells the shift and its remedy, word for word."""
        verdict = exporter.verdicts["flights"]
        assert verdict.shift is not None
        summary = (
            f"flights: prior shift since 1 Mar ({verdict.shift.value:+.2f} in log-odds); the "
            "model is as good as before"
        )
        story = story_of_shift(verdict)
        text = f"*{summary}*\n{story}\n{links('flights', LEVEL_SINCE, 'calibrationpriorshift')}"
        head = "For your information: flights"

        assert at("/slack-digest-url", told.ill)[0] == message(head, "", text, head, "#439FE0")

    def test_says_nothing_of_ends(self, told: Told) -> None:
        """The digest tells what is, not what was."""
        assert at("/slack-digest-url", told.restarted + told.well) == []


class TestWatchdog:
    """What reaches the dead man's switch."""

    def test_is_called_again_and_again(self, told: Told) -> None:
        """While Prometheus and Alertmanager work, the receiver of its own hears of them."""
        for posts in (told.ill, told.restarted):
            calls = at("/calibration", posts)
            assert calls, [path for path, _ in posts]
            assert {call["status"] for call in calls} == {"firing"}
