"""What Alertmanager makes of alerts that are posted to it: who is held back, and what is sent.

Alertmanager is real, with the routes and the template of `alerts`; Prometheus is the test.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from tests.support.alerting import BOARD, BOOK, alertmanager, await_posts, event, message
from tests.support.receivers import at, receiving
from tests.support.servers import PATIENCE, get

EVERY = {
    "CalibrationDrift": "page",
    "CalibrationValueDrift": "ticket",
    "CalibrationLevelDrift": "ticket",
    "CalibrationPriorShift": "info",
    "CalibrationOutcomesMissing": "ticket",
    "CalibrationEvaluationMissing": "ticket",
    "CalibrationDataRejected": "ticket",
    "CalibrationDataError": "ticket",
    "CalibrationConfigInvalid": "ticket",
    "CalibrationResultsUnreadable": "ticket",
    "CalibrationInsufficientData": "info",
    "CalibrationNotComparable": "ticket",
    "CalibrationMixMoved": "ticket",
    "CalibrationOneDay": "info",
    "CalibrationBlind": "page",
    "CalibrationKnownDriftLong": "info",
    "CalibrationMapHarms": "ticket",
    "CalibrationBudgetBurnFast": "page",
    "CalibrationBudgetBurnSlow": "ticket",
}
DRIFT, ROWS = "CalibrationDrift", "CalibrationDataRejected"
PAGER, TICKETS = "/enqueue", "/slack-tickets-url"
OWNER = "risk <!channel>"  # which Slack must show, and must not send to everybody
Alert = dict[str, Any]


def board(model: str, part: str = "") -> str:
    """Give the address of a dashboard."""
    return f"{BOARD}{model}&var-segment={part}"


def alert(name: str, model: str, part: str = "", *, over: bool = False) -> Alert:
    """Write an alert of a model, and of a segment or a check, as Prometheus posts it."""
    now = datetime.now(UTC)
    labels = {"alertname": name, "model": model, "owner": OWNER, "severity": EVERY[name]}
    labels |= {"segment" if name == DRIFT else "reason": part} if part else {}
    return {
        "labels": labels,
        "annotations": {
            "summary": summary(name, model, part),
            "description": f"The story of {name} & <others>.",
            "ending": f"{model}: {part} has recovered" if over and name == DRIFT else "",
            "dashboard_url": board(model, part),
            "runbook_url": BOOK + name.lower(),
            "report_url": REPORT if model == "ctr" else "",
        },
        "startsAt": (now - timedelta(minutes=90)).isoformat(),
        "endsAt": (now if over else now + timedelta(hours=1)).isoformat(),
    }


def summary(name: str, model: str, part: str) -> str:
    """Give the headline of an alert."""
    return f"{model}: {name} {part}".strip()


def story(part: str) -> str:
    """Give a drift of the model fraud as a page tells it."""
    return f"{summary(DRIFT, 'fraud', part)}\nThe story of {DRIFT} & <others>."


def ticket(part: str) -> str:
    """Give rejected rows of the model ctr as Slack tells them, below the headline."""
    links = f"<{board('ctr', part)}|Dashboard> · <{BOOK}{ROWS.lower()}|Runbook>"
    links += f" · <{REPORT_LINK}|Report> · risk &lt;!channel&gt;"
    return f"The story of {ROWS} &amp; &lt;others&gt;.\n{links}"


REPORT = "https://reports.example.org/ctr?a|b><!here>"
REPORT_LINK = "https://reports.example.org/ctr?a%7Cb%3E%3C!here%3E"


paged = partial(event, owner=OWNER)  # PagerDuty shows text as it is


def post(where: str, alerts: Sequence[Alert]) -> None:
    """Give alerts to Alertmanager."""
    connection = HTTPConnection(where, timeout=PATIENCE)
    kind = {"Content-Type": "application/json"}
    connection.request("POST", "/api/v2/alerts", json.dumps(alerts), kind)
    assert connection.getresponse().status == 200
    connection.close()


def held_back(where: str) -> set[tuple[str, str, str]]:
    """Ask which alerts another one holds back: model, name and segment."""
    found = json.loads(get(where, "/api/v2/alerts")[1])
    return {
        (a["labels"]["model"], a["labels"]["alertname"], a["labels"].get("segment", ""))
        for a in found
        if a["status"]["inhibitedBy"]
    }


def test_what_holds_back_what(tmp_path: Path) -> None:
    """Broken logs hold back all of their model, a drift level and prior, the whole its segments."""
    level, prior = "CalibrationLevelDrift", "CalibrationPriorShift"
    alerts = [
        *(alert(name, "torn") for name in EVERY if name != DRIFT),
        alert(DRIFT, "torn", "all"),
        # Everything but broken logs; the drift is one of two segments.
        *(alert(name, "fraud") for name in EVERY if name not in ("CalibrationDataError", DRIFT)),
        *(alert(DRIFT, "fraud", segment) for segment in ("DE", "FR")),
        *(alert(DRIFT, "bids", segment) for segment in ("DE", "FR", "all")),
        *(alert(name, "ctr") for name in (level, prior, "CalibrationInsufficientData")),
        # Those of other models, above, are no reason.
        *(alert(name, "flights") for name in (prior, "CalibrationOutcomesMissing")),
    ]
    expected = {("torn", name, "") for name in EVERY if name not in ("CalibrationDataError", DRIFT)}
    expected |= {("torn", DRIFT, "all"), ("bids", DRIFT, "DE"), ("bids", DRIFT, "FR")}
    expected |= {("fraud", level, ""), ("fraud", prior, ""), ("ctr", prior, "")}
    expected |= {("fraud", "CalibrationEvaluationMissing", "")}  # its configuration is invalid
    with receiving() as received, alertmanager(tmp_path, received) as where:
        post(where, alerts)
        await_posts(received.posts, lambda: len(held_back(where)) >= len(expected))

        assert held_back(where) == expected


Sent = dict[str, dict[str, list[Any]]]  # what each step sent, by the address it came to

# What is posted one after the other: drifts of fraud and rejected rows of ctr, and whether over.
STEPS: dict[str, list[tuple[str, str, str, bool]]] = {
    "a segment": [(DRIFT, "fraud", "DE", False), (ROWS, "ctr", "outcome_early", False)],
    "the whole": [(DRIFT, "fraud", "all", False), (ROWS, "ctr", "score_missing", False)],
    "another segment": [(DRIFT, "fraud", "FR", False)],
    "the whole is over": [(DRIFT, "fraud", "all", True), (ROWS, "ctr", "outcome_early", True)],
    "a segment is over": [(DRIFT, "fraud", "DE", True)],
    "all is over": [(DRIFT, "fraud", "FR", True), (ROWS, "ctr", "score_missing", True)],
}
UNSENT = {("another segment", PAGER), ("another segment", TICKETS), ("a segment is over", TICKETS)}


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> Sent:
    """Let alerts of two models come and end one after the other; what each step sent."""
    folder, sent = tmp_path_factory.mktemp("messages"), Sent()
    seldom = {"repeat_interval: 3d": "repeat_interval: 1h"}
    with receiving() as received, alertmanager(folder, received, seldom) as where:
        for name, alerts in STEPS.items():
            begun = len(received.posts)
            post(where, [alert(n, m, part, over=over) for n, m, part, over in alerts])
            awaited = [path for path in (PAGER, TICKETS) if (name, path) not in UNSENT]
            await_posts(
                received.posts,
                lambda begun=begun, awaited=awaited: all(  # type: ignore[misc]
                    at(path, received.posts[begun:]) for path in awaited
                ),
            )
            sleep(2.5)  # two more intervals of a group: nothing else is sent
            new = received.posts[begun:]
            sent[name] = {path: at(path, new) for path in (PAGER, TICKETS)}
    return sent


def key(sent: Sent) -> str:
    """Give the incident of the pager."""
    return str(sent["a segment"][PAGER][0]["dedup_key"])


class TestPages:
    """A model's drifts are one incident of the pager."""

    def test_each_step_sends_one_event_or_none(self, sent: Sent) -> None:
        """A segment that joins the whole is not worth an event, everything else is worth one."""
        counts = {name: len(posts[PAGER]) for name, posts in sent.items()}

        assert counts == {name: int((name, PAGER) not in UNSENT) for name in STEPS}

    def test_a_segment_alone_pages_with_its_name(self, sent: Sent) -> None:
        """The event has the headline, the links and the text of the segment."""
        (page,) = sent["a segment"][PAGER]
        title = summary(DRIFT, "fraud", "DE")

        assert page == paged(key(sent), title, board("fraud", "DE"), firing=[story("DE")])

    def test_the_whole_takes_the_place_of_its_segments(self, sent: Sent) -> None:
        """Its event has its own headline, link and text, and nothing of the segment's."""
        (page,) = sent["the whole"][PAGER]
        title = summary(DRIFT, "fraud", "all")

        assert page == paged(key(sent), title, board("fraud", "all"), firing=[story("all")])

    def test_segments_outlast_the_whole(self, sent: Sent) -> None:
        """When the whole is over, segments that still drift are named; the incident stays open."""
        (page,) = sent["the whole is over"][PAGER]
        title = f"{summary(DRIFT, 'fraud', 'DE')}; also FR"
        over = ["Over: fraud: all has recovered"]
        firing = [story("DE"), story("FR")]

        assert page == paged(key(sent), title, board("fraud", "DE"), firing=firing, resolved=over)

    def test_is_resolved_when_the_last_is_over(self, sent: Sent) -> None:
        """The incident ends with its last drift, and says why."""
        (still,), (page,) = sent["a segment is over"][PAGER], sent["all is over"][PAGER]
        over = "Over: fraud: FR has recovered"

        assert still["event_action"] == "trigger"
        assert page == paged(key(sent), over, board("fraud", "FR"), resolved=[over])


class TestTickets:
    """All that one check says of a model is one message."""

    def test_the_title_says_it_once(self, sent: Sent) -> None:
        """An alert that stands alone has its summary as title, and its story and links as text."""
        (found,) = sent["a segment"][TICKETS]
        title = summary(ROWS, "ctr", "outcome_early")

        expected = message(title, board("ctr", "outcome_early"), ticket("outcome_early"), title)
        assert found == expected

    def test_tells_both_stories(self, sent: Sent) -> None:
        """Of two alerts, the title names both, and each has its summary, story and links."""
        (found,) = sent["the whole"][TICKETS]
        parts = ("outcome_early", "score_missing")
        title = f"{summary(ROWS, 'ctr', parts[0])}; also {parts[1]}"
        text = "\n\n".join(f"*{summary(ROWS, 'ctr', part)}*\n{ticket(part)}" for part in parts)

        assert found == message(title, board("ctr", parts[0]), text, title)

    def test_speaks_of_what_still_fires(self, sent: Sent) -> None:
        """Once one is over, the title is that of the other, and the end is told below."""
        (found,) = sent["the whole is over"][TICKETS]
        title = summary(ROWS, "ctr", "score_missing")
        over = f"Over: {summary(ROWS, 'ctr', 'outcome_early')}, for 1.5 hours"
        text = f"{ticket('score_missing')}\n\n{over}"

        assert found == message(title, board("ctr", "score_missing"), text, title)

    def test_says_when_all_is_over(self, sent: Sent) -> None:
        """The last end is told in green, with how long it lasted."""
        (found,) = sent["all is over"][TICKETS]
        over = f"Over: {summary(ROWS, 'ctr', 'score_missing')}, for 1.5 hours"
        _, _, links = ticket("score_missing").partition("\n")

        assert found == message(over, board("ctr", "score_missing"), links, over, color="good")
