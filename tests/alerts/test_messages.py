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
    "CalibrationReferenceChanged": "ticket",
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
    """Broken logs hold back all of their model, a drift level and prior, the whole its segments.

    Where segments explain the whole, they hold it back; the whole holds back the values in it.
    """
    level, prior, value = "CalibrationLevelDrift", "CalibrationPriorShift", "CalibrationValueDrift"
    explained = alert(DRIFT, "ios", "all")
    explained["labels"]["explained"] = "segments"
    ticket = alert(DRIFT, "tv", "all")
    ticket["labels"]["severity"] = "ticket"  # which holds back no page
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
        *(explained, alert(DRIFT, "ios", "DE"), ticket, alert(DRIFT, "tv", "DE")),
        *(alert(DRIFT, "web", "all"), alert(value, "web")),
    ]
    expected = {("torn", name, "") for name in EVERY if name not in ("CalibrationDataError", DRIFT)}
    expected |= {("torn", DRIFT, "all"), ("bids", DRIFT, "DE"), ("bids", DRIFT, "FR")}
    expected |= {("fraud", level, ""), ("fraud", prior, ""), ("ctr", prior, "")}
    expected |= {("fraud", "CalibrationEvaluationMissing", "")}  # its configuration is invalid
    expected |= {("ios", DRIFT, "all"), ("web", value, "")}
    with receiving() as received, alertmanager(tmp_path, received) as where:
        post(where, alerts)
        await_posts(received.posts, lambda: len(held_back(where)) >= len(expected))

        assert held_back(where) == expected


@pytest.mark.parametrize("cause", ["CalibrationExporterAbsent", "CalibrationStoreNotWritable"])
def test_what_stops_all_models_is_one_message(tmp_path: Path, cause: str) -> None:
    """No run can succeed then, or nobody can say whether one has."""
    missing = "CalibrationEvaluationMissing"
    one = alert(missing, "")
    one["labels"] = {"alertname": cause, "severity": "ticket"}
    expected = {(model, missing, "") for model in ("bids", "ctr")}
    with receiving() as received, alertmanager(tmp_path, received) as where:
        post(where, [one])
        await_posts(received.posts, lambda: bool(received.posts))
        post(where, [alert(missing, "bids"), alert(missing, "ctr")])
        await_posts(received.posts, lambda: held_back(where) >= expected)

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
            sleep(1.5)  # another interval of a group: nothing else is sent
            new = received.posts[begun:]
            sent[name] = {path: at(path, new) for path in (PAGER, TICKETS)}
    return sent


def test_drifts_of_a_model_are_one_incident_of_the_pager(sent: Sent) -> None:
    """Each step sends one event or none, with the headline, links and text of what drifts then.

    The whole takes the place of its segments. Those that outlast it are named, and the incident
    stays open until the last is over, with the reason.
    """
    counts = {name: len(posts[PAGER]) for name, posts in sent.items()}
    assert counts == {name: int((name, PAGER) not in UNSENT) for name in STEPS}
    pages = {name: posts[PAGER][0] for name, posts in sent.items() if posts[PAGER]}
    of, key = partial(summary, DRIFT, "fraud"), str(pages["a segment"]["dedup_key"])

    for name, part in (("a segment", "DE"), ("the whole", "all")):
        assert pages[name] == paged(key, of(part), board("fraud", part), firing=[story(part)])
    assert pages["the whole is over"] == paged(
        *(key, f"{of('DE')}; also FR", board("fraud", "DE")),
        firing=[story("DE"), story("FR")],
        resolved=["Over: fraud: all has recovered"],
    )
    assert pages["a segment is over"]["event_action"] == "trigger"
    over = "Over: fraud: FR has recovered"
    assert pages["all is over"] == paged(key, over, board("fraud", "FR"), resolved=[over])


def test_all_that_one_check_says_of_a_model_is_one_message(sent: Sent) -> None:
    """Alone it has its summary as title; of two, the title names both, and each has its story.

    Once one is over, the title is that of the other, with the end below; the last end is green.
    """
    found = {name: posts[TICKETS][0] for name, posts in sent.items() if posts[TICKETS]}
    of, parts = partial(summary, ROWS, "ctr"), ("outcome_early", "score_missing")
    first, second = (board("ctr", part) for part in parts)
    _, _, links = ticket(parts[1]).partition("\n")

    title = of(parts[0])
    assert found["a segment"] == message(title, first, ticket(parts[0]), title)
    both = "\n\n".join(f"*{of(part)}*\n{ticket(part)}" for part in parts)
    title = f"{of(parts[0])}; also {parts[1]}"
    assert found["the whole"] == message(title, first, both, title)
    text = f"{ticket(parts[1])}\n\nOver: {of(parts[0])}, for 1.5 hours"
    assert found["the whole is over"] == message(of(parts[1]), second, text, of(parts[1]))
    over = f"Over: {of(parts[1])}, for 1.5 hours"
    assert found["all is over"] == message(over, second, links, over, color="good")
