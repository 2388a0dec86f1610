"""What Alertmanager makes of alerts that are posted to it: who is held back, and groups of them.

Alertmanager is real, with the routes and the template of `alerts`; Prometheus is the test.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from tests.support.alerting import BOARD, BOOK, alertmanager, await_posts, event, message
from tests.support.receivers import Posts, at, receiving
from tests.support.servers import PATIENCE, get

EVERY = {
    "CalibrationDrift": "page",
    "CalibrationLevelDrift": "ticket",
    "CalibrationPriorShift": "info",
    "CalibrationOutcomesMissing": "ticket",
    "CalibrationEvaluationMissing": "ticket",
    "CalibrationDataRejected": "ticket",
    "CalibrationDataError": "ticket",
    "CalibrationInsufficientData": "info",
}
Alert = dict[str, Any]


def alert(name: str, model: str, *, segment: str = "", over: bool = False) -> Alert:
    """Write an alert as Prometheus posts it."""
    now = datetime.now(UTC)
    labels = {"alertname": name, "model": model, "owner": "risk", "severity": EVERY[name]}
    board = f"{BOARD}{model}" + (f"&var-segment={segment}" if segment else "")
    return {
        "labels": {**labels, **({"segment": segment} if segment else {})},
        "annotations": {
            "summary": summary(name, model, segment),
            "description": f"The story of {name}.",
            "dashboard_url": board,
            "runbook_url": BOOK + name.lower(),
        },
        "startsAt": (now - timedelta(minutes=1)).isoformat(),
        "endsAt": (now if over else now + timedelta(hours=1)).isoformat(),
    }


def summary(name: str, model: str, segment: str = "") -> str:
    """Give the headline of an alert."""
    return f"{model}: {name} {segment}".strip()


def story(name: str, model: str, segment: str = "") -> str:
    """Give an alert as a page tells it."""
    return f"{summary(name, model, segment)}.\nThe story of {name}."


def ticket(name: str, model: str) -> str:
    """Give an alert as Slack tells it."""
    links = f"<{BOARD}{model}|Dashboard> · <{BOOK}{name.lower()}|Runbook> · risk"
    return f"*{summary(name, model)}*\nThe story of {name}.\n{links}"


def post(where: str, alerts: Sequence[Alert]) -> None:
    """Give alerts to Alertmanager."""
    connection = HTTPConnection(where, timeout=PATIENCE)
    kind = {"Content-Type": "application/json"}
    connection.request("POST", "/api/v2/alerts", json.dumps(alerts), kind)
    assert connection.getresponse().status == 200
    connection.close()


def held_back(where: str) -> set[tuple[str, str]]:
    """Ask which alerts another one holds back: model and name."""
    found = json.loads(get(where, "/api/v2/alerts")[1])
    return {
        (a["labels"]["model"], a["labels"]["alertname"])
        for a in found
        if a["status"]["inhibitedBy"]
    }


def test_what_holds_back_what(tmp_path: Path) -> None:
    """Broken logs hold back all of their model, a drift level and prior, a level the prior."""
    level, prior = "CalibrationLevelDrift", "CalibrationPriorShift"
    alerts = [
        *(alert(name, "torn", segment="all") for name in EVERY),
        # Everything but broken logs; the drift is one of a segment.
        *(alert(name, "fraud", segment="DE") for name in EVERY if name != "CalibrationDataError"),
        *(alert(name, "ctr") for name in (level, prior, "CalibrationInsufficientData")),
        # Those of other models, above, are no reason.
        *(alert(name, "flights") for name in (prior, "CalibrationOutcomesMissing")),
    ]
    expected = {("torn", name) for name in EVERY if name != "CalibrationDataError"}
    expected |= {("fraud", level), ("fraud", prior), ("ctr", prior)}
    with receiving() as received, alertmanager(tmp_path, received) as where:
        post(where, alerts)
        await_posts(received.posts, lambda: len(held_back(where)) >= len(expected))

        assert held_back(where) == expected


DRIFT, ROWS, OUTCOMES = "CalibrationDrift", "CalibrationDataRejected", "CalibrationOutcomesMissing"
SOON = {"repeat_interval: 24h": "repeat_interval: 3s"}

Told = dict[str, dict[str, list[Any]]]  # what each step told, by the address it came to

# What is posted one after the other, and how many then fire and are over in the next message.
Step = tuple[list[tuple[str, str, str, bool]], tuple[int, int]]
STEPS: dict[str, Step] = {
    "one": ([(DRIFT, "fraud", "all", False), (ROWS, "ctr", "", False)], (1, 0)),
    "two": ([(DRIFT, "fraud", "DE", False), (OUTCOMES, "ctr", "", False)], (2, 0)),
    "one is over": ([(DRIFT, "fraud", "DE", True), (ROWS, "ctr", "", True)], (1, 1)),
    "all is over": ([(DRIFT, "fraud", "all", True), (OUTCOMES, "ctr", "", True)], (0, 1)),
}


def counts(path: str, post: Any) -> tuple[int, int]:
    """Count the alerts in a message that fire and that are over."""
    if path == "/enqueue":
        details = post["payload"]["custom_details"]
        return int(details["num_firing"]), int(details["num_resolved"])
    text = post["attachments"][0]["text"]
    return text.count("The story of"), text.count("Over: ")


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """Let a second alert of two models come, and one after the other end; what each step told."""
    folder, told = tmp_path_factory.mktemp("messages"), Told()
    with receiving() as received, alertmanager(folder, received, SOON) as where:
        for name, (alerts, expected) in STEPS.items():
            begun = len(received.posts)
            post(where, [alert(n, m, segment=s, over=over) for n, m, s, over in alerts])

            def so_far(begun: int = begun, now: tuple[int, int] = expected) -> Posts:
                new = received.posts[begun:]
                return [(path, content) for path, content in new if counts(path, content) == now]

            def enough(least: int = 2 if name == "one" else 1, found: Any = so_far) -> bool:
                posts = found()
                return min(len(at(p, posts)) for p in ("/enqueue", "/slack-tickets-url")) >= least

            await_posts(received.posts, enough)
            told[name] = {path: at(path, so_far()) for path in ("/enqueue", "/slack-tickets-url")}
    return told


class TestPages:
    """A model's drifts are one incident of the pager."""

    def test_is_repeated_unchanged(self, told: Told) -> None:
        """While nothing changes, the same event comes again, and opens no other incident."""
        first, second = told["one"]["/enqueue"][:2]

        assert first == event(
            first["dedup_key"], firing=[story(DRIFT, "fraud", "all")], resolved=[]
        )
        assert second == first

    def test_a_second_drift_does_not_ring_again(self, told: Told) -> None:
        """A segment that drifts too is told under the key of the open incident."""
        (first, *_), (page, *_) = told["one"]["/enqueue"], told["two"]["/enqueue"]
        stories = [story(DRIFT, "fraud", "DE"), story(DRIFT, "fraud", "all")]

        assert page == event(
            first["dedup_key"],
            firing=stories,
            resolved=[],
            headline="fraud: 2 alerts",
            segment="DE",
        )

    def test_speaks_of_what_still_drifts(self, told: Told) -> None:
        """Once one is over, headline and links are those of the other, and nothing is resolved."""
        (first, *_), (page, *_) = told["one"]["/enqueue"], told["one is over"]["/enqueue"]
        over = [summary(DRIFT, "fraud", "DE")]

        assert page == event(
            first["dedup_key"], firing=[story(DRIFT, "fraud", "all")], resolved=over
        )

    def test_is_resolved_when_the_last_is_over(self, told: Told) -> None:
        """The incident ends with its last drift."""
        (first, *_), (page, *_) = told["one"]["/enqueue"], told["all is over"]["/enqueue"]

        assert page == event(
            first["dedup_key"], firing=[], resolved=[summary(DRIFT, "fraud", "all")]
        )


class TestTickets:
    """All that is wrong with a model is one message."""

    def test_tells_both_stories(self, told: Told) -> None:
        """Two alerts are counted in the headline, and each has its story and its links."""
        found = told["two"]["/slack-tickets-url"][0]
        text = f"{ticket(ROWS, 'ctr')}\n\n{ticket(OUTCOMES, 'ctr')}"
        head = "ctr: 2 alerts"

        assert found == message(head, f"{BOARD}ctr", text, head, "warning")

    def test_speaks_of_what_still_fires(self, told: Told) -> None:
        """Once one is over, the headline is that of the other, and the end is told below."""
        found = told["one is over"]["/slack-tickets-url"][0]
        head = summary(OUTCOMES, "ctr")
        text = f"{ticket(OUTCOMES, 'ctr')}\n\nOver: {summary(ROWS, 'ctr')}"

        assert found == message(head, f"{BOARD}ctr", text, head, "warning")

    def test_says_when_all_is_over(self, told: Told) -> None:
        """The last end is told in green."""
        found = told["all is over"]["/slack-tickets-url"][0]
        over = f"Over: {summary(OUTCOMES, 'ctr')}"

        assert found == message(over, f"{BOARD}ctr", over, over, "good")
