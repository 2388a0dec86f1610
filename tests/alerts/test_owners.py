"""Owners: each alert reaches its owner's channels and nobody else's, by the real programs."""

import json
import random
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from time import sleep
from typing import Any
from urllib.request import Request, urlopen

import pytest
import yaml

from tests.conftest import Command, Ended, run_command
from tests.support.alerting import ALERTS, await_posts, message
from tests.support.receivers import Posts, Received, receiving
from tests.support.servers import listening, program_path

CHANNELS = {
    "pagerduty": "routing-key",
    "opsgenie": "api-key",
    "slack": "#channel",
    "teams": "teams-address",
    "webhook": "https://tracker.example.org/new",
}
HEARS = {
    "page": ("pagerduty", "opsgenie", "webhook"),
    "ticket": ("slack", "teams", "webhook"),
    "info": ("slack", "teams"),
}
# Some begin as others do, or differ by what a pattern or YAML could take for the same.
NAMES = (
    "risk",
    "Risk",
    "risk team",
    "Prüfung (EU)",
    "a.b@example.org",
    "a-b@example.org",
    "7",
    "no",
)
UNROUTED = ("risk.2", "")  # owners of models that the table does not have


def drawn_owners(seed: int, names: int, without: str = "") -> dict[str, dict[str, str]]:
    """Draw owners with one channel or several, each with a value of its own."""
    draw = random.Random(seed)  # noqa: S311 - a table for a test
    kinds = [kind for kind in CHANNELS if kind != without]
    return {
        name: {
            kind: f"{CHANNELS[kind]}-{number}"
            for kind in draw.sample(kinds, draw.randint(1, len(kinds)))
        }
        for number, name in enumerate(draw.sample(NAMES, names))
    }


def hearing(channels: dict[str, str], severity: str) -> dict[str, str]:
    """Give the channels of an owner that an alert must reach; those of all are named `shared`.

    A page rings a pager: the shared one, where the owner has none.
    """
    own = {kind: channels[kind] for kind in HEARS[severity] if kind in channels}
    if severity == "page" and not {"pagerduty", "opsgenie"} & own.keys():
        own["pagerduty"] = "shared"
    return own or {"slack": "shared"}


def write_assets(folder: Path, command: Command, owners: object) -> Ended:
    """Write the table and the files."""
    (folder / "owners.yml").write_text(yaml.safe_dump({"owners": owners}))
    return command("assets", "--into", folder / "there", "--owners", folder / "owners.yml")


def test_teams_gets_what_its_settings_are_called_in_alertmanager(
    tmp_path: Path, command: Command
) -> None:
    """The four keys of msteamsv2_configs since 0.28, and templates that amtool renders."""
    assert write_assets(tmp_path, command, {"risk": {"teams": "teams-url"}}).code == 0
    content = yaml.safe_load((tmp_path / "there" / "alerts" / "alertmanager.yml").read_text())
    ticket, digest = (
        receiver["msteamsv2_configs"][0]
        for receiver in content["receivers"]
        if receiver["name"] in ("risk ticket", "risk info")
    )
    texts = {
        key: rendered(tmp_path, setting[key])
        for setting in (digest, ticket)
        for key in ("title", "text")
    }

    assert ticket.keys() == digest.keys() == {"webhook_url_file", "send_resolved", "title", "text"}
    assert ticket["webhook_url_file"] == "/etc/alertmanager/secrets/teams-url"
    assert (ticket["send_resolved"], digest["send_resolved"]) == (True, False)
    assert texts["title"] == "fraud: top \\o/ scores"
    assert "Since 1 March.\n\nAlso in a?b \\*DE\\*." in texts["text"]
    assert "[Report](https://r.example.org/a%28b%29)" in texts["text"]


def test_slack_shows_further_segments_in_lines_of_their_own(tmp_path: Path) -> None:
    """Lines of the rule stay lines, and a control character in the name of a segment does not."""
    said = rendered(tmp_path, '{{ template "calibration.slack" . }}')

    assert "Since 1 March.\nAlso in a?b *DE*.\n<" in said


def rendered(folder: Path, text: str) -> str:
    """Let amtool render a template of a message about a drift."""
    annotations = {
        "summary": "fraud: top \\o/ scores",
        "description": "Since 1 March.\nAlso in a\nb *DE*.",
        "dashboard_url": "https://g.example.org",
        "runbook_url": "https://b.example.org",
        "report_url": "https://r.example.org/a(b)",
    }
    alert = {
        "status": "firing",
        "labels": {"alertname": "CalibrationDrift", "model": "fraud", "segment": "all"},
        "annotations": annotations,
        "startsAt": "2026-03-01T00:00:00Z",
        "fingerprint": "1",
    }
    (folder / "data.json").write_text(json.dumps({"status": "firing", "alerts": [alert]}))
    call = (
        *(program_path("amtool"), "template", "render", f"--template.text={text}"),
        *(f"--template.glob={ALERTS}/templates/*.tmpl", f"--template.data={folder / 'data.json'}"),
    )
    return subprocess.run(call, capture_output=True, text=True, check=True).stdout


BOARD, BOOK = "https://grafana.example.org", "https://runbooks.example.org"
OWN = {"dashboard": "https://own.example.org/board(1)", "runbook": "https://own.example.org/book"}
TOLD_OF_ENDS = (
    *("/enqueue", "/v2/alerts/{alias}/close", "/new-all"),  # of the page
    *("/api/chat.postMessage", "/new-all"),  # of the ticket
)
MUTED = "muted"  # whose route has an interval that never ends, as docs/operate.md tells it
ESCAPED = "https://own.example.org/board%281%29"
LINKS = f"<{ESCAPED}|Dashboard> · <{OWN['runbook']}|Runbook> · all"
Heard = set[tuple[str, str, str]]  # kind and value of a channel, and a headline


@dataclass(frozen=True)
class Delivered:
    """What was posted while alerts fired, who should have heard, and the posts when they ended."""

    received: Received
    expected: Heard
    ended: Posts


@pytest.fixture(scope="module")
def delivered(tmp_path_factory: pytest.TempPathFactory) -> Delivered:
    """Let the real Alertmanager deliver an alert of each owner and severity.

    Teams is left out, which Alertmanager 0.25 does not know yet.
    """
    folder = tmp_path_factory.mktemp("owners")
    owners = drawn_owners(7, len(NAMES), without="teams")
    owners["all"] = {kind: f"{value}-all" for kind, value in CHANNELS.items() if kind != "teams"}
    owners["all"] |= {**OWN, "webhook_token": "tracker-token"}
    owners[MUTED] = {"pagerduty": "muted-key", "slack": "#muted"}
    assert write_assets(folder, run_command, owners).code == 0
    with receiving() as received:
        configure(folder, received)
        with listening(
            folder,
            "prometheus-alertmanager",
            f"--config.file={folder / 'there' / 'alerts' / 'alertmanager.yml'}",
            f"--storage.path={folder / 'data'}",
            "--web.external-url=http://alertmanager.example.org",
            "--cluster.listen-address=",
        ) as (_, where):
            sent = [*product([*owners, *UNROUTED], HEARS)]
            fire(where, sent)
            expected = {
                (kind, value, f"[{name}] {severity}")
                for name, severity in sent
                for kind, value in hearing(owners.get(name, {}), severity).items()
                if (name, severity) != (MUTED, "ticket")
            }
            await_posts(received.posts, lambda: arrived(received) >= expected)
            sleep(1)  # all groups wait for as long, so a wrong one would come now
            count = len(received.posts)
            firing = Received(received.url, received.posts[:count], received.authorizations[:count])
            fire(where, sent, over="all")
            await_posts(received.posts, lambda: len(received.posts) >= count + len(TOLD_OF_ENDS))
            sleep(1)
    return Delivered(firing, expected, received.posts[count:])


def configure(folder: Path, received: Received) -> None:
    """Let the receivers lead to the test, with less waiting."""
    path = folder / "there" / "alerts" / "alertmanager.yml"
    text = re.sub("group_(wait|interval): .*", r"group_\1: 1s", path.read_text())
    for there in (
        "https://slack.com",
        "https://tracker.example.org",
        "https://deadman.example.org",
    ):
        text = text.replace(there, received.url)
    secrets = {*re.findall(r"/etc/alertmanager/secrets/([\w.-]+)", text)}
    text = text.replace("/etc/alertmanager/secrets", str(folder))
    for secret in secrets:
        (folder / secret).write_text(f"{received.url}/{secret}" if "-url" in secret else secret)
    hosts = {"pagerduty_url": f"{received.url}/enqueue", "opsgenie_api_url": f"{received.url}/"}
    content = yaml.safe_load(text)
    (route,) = (r for r in content["route"]["routes"] if r["matchers"] == [f'owner="{MUTED}"'])
    route["mute_time_intervals"] = ["always"]
    always = {"name": "always", "time_intervals": [{"weekdays": ["sunday:saturday"]}]}
    path.write_text(yaml.safe_dump({"global": hosts, "time_intervals": [always], **content}))


def arrived(received: Received) -> Heard:
    """Read from all posts which channel heard which headline."""
    heard: Heard = set()
    posts = zip([*received.posts], received.authorizations, strict=False)
    for (path, content), authorization in posts:
        channel = {
            "/enqueue": ("pagerduty", content.get("routing_key", "")),
            "/v2/alerts": ("opsgenie", authorization.removeprefix("GenieKey ")),
            "/api/chat.postMessage": ("slack", content.get("channel", "")),
            "/slack-tickets-url": ("slack", "shared"),
            "/slack-digest-url": ("slack", "shared"),
        }.get(path, ("webhook", f"https://tracker.example.org{path}"))
        if channel == ("pagerduty", "pagerduty-routing-key"):
            channel = ("pagerduty", "shared")
        headlines = re.findall(
            r"\[[^\]\"]*\] (?:page|ticket|info)\b", json.dumps(content, ensure_ascii=False)
        )
        heard |= {(*channel, headline) for headline in headlines}
    return heard


def fire(where: str, of: Sequence[tuple[str, str]], *, over: str = "") -> None:
    """Send an alert for each owner and severity, as Prometheus does, each of a model of its own.

    Or send the ends of those of one owner.
    """
    now = datetime.now(UTC)
    end = now if over else now + timedelta(minutes=30)
    names = {"page": "Blind", "ticket": "LevelDrift", "info": "PriorShift"}
    alerts = [
        {
            "labels": {
                "alertname": f"Calibration{names[severity]}",
                "model": f"model-{number}",
                "severity": severity,
                **({"owner": owner} if owner else {}),
            },
            "annotations": annotations(owner, severity),
            "startsAt": (now - timedelta(hours=2)).isoformat(),
            "endsAt": end.isoformat(),
        }
        for number, (owner, severity) in enumerate(of)
        if owner == over or not over
    ]
    content = json.dumps(alerts).encode()
    call = Request(f"http://{where}/api/v2/alerts", content, {"Content-Type": "application/json"})
    urlopen(call).close()  # noqa: S310


def annotations(owner: str, severity: str) -> dict[str, str]:
    """Write what an alert says, with the addresses of the rules."""
    said = {"summary": f"[{owner}] {severity}", "description": "The story."}
    return {**said, "dashboard_url": BOARD, "runbook_url": BOOK}


def test_every_channel_gets_the_alerts_of_its_owner_and_no_other(delivered: Delivered) -> None:
    """PagerDuty, Opsgenie, Slack and webhooks by what was posted; the shared ones get the rest.

    Where the route of an owner is muted, its tickets wait, and its pages and its digest are sent.
    """
    assert arrived(delivered.received) == delivered.expected


def posted(received: Received, severity: str) -> dict[str, tuple[str, Any]]:
    """Give what the channels of the owner with all of them got: by path, the token and the JSON."""
    posts = zip(received.posts, received.authorizations, strict=True)
    return {
        path: (authorization, content)
        for (path, content), authorization in posts
        if f"[all] {severity}" in json.dumps(content)
    }


def test_a_page_has_the_form_that_its_receivers_read(delivered: Delivered) -> None:
    """The headline, the story, and the addresses of the owner in place of the alert's."""
    sent = posted(delivered.received, "page")
    _, event = sent.pop("/enqueue")
    authorization, opsgenie = sent.pop("/v2/alerts")
    tracker = sent.pop("/new-all")

    assert sent == {}
    assert event["routing_key"] == "routing-key-all"
    assert event["payload"]["summary"] == "[all] page"
    assert event["client_url"] == ESCAPED
    assert [link["href"] for link in event["links"]] == [ESCAPED, OWN["runbook"]]
    labels = {key: opsgenie["details"][key] for key in ("alertname", "model", "owner", "severity")}
    assert authorization == "GenieKey api-key-all"
    assert opsgenie == {
        "alias": event["dedup_key"],
        "message": "[all] page",
        "description": "[all] page\nThe story.",
        "details": {**labels, "runbook": OWN["runbook"]},
        "source": ESCAPED,
        "priority": "P1",
    }
    assert_of_tracker(tracker, "page")


def test_a_ticket_has_the_form_that_its_receivers_read(delivered: Delivered) -> None:
    """In Slack title and text lead to the owner's own pages."""
    sent = posted(delivered.received, "ticket")
    authorization, slack = sent.pop("/api/chat.postMessage")
    tracker = sent.pop("/new-all")

    assert sent == {}
    assert authorization == "Bearer slack-token"
    told = message("[all] ticket", ESCAPED, f"The story.\n{LINKS}", "[all] ticket")
    assert slack == {"channel": "#channel-all", **told}
    assert_of_tracker(tracker, "ticket")


def test_the_digest_is_sent_to_the_channel_alone(delivered: Delivered) -> None:
    """No pager and no tracker hears of information."""
    ((path, (authorization, slack)),) = posted(delivered.received, "info").items()
    (attachment,) = slack["attachments"]

    assert (path, authorization) == ("/api/chat.postMessage", "Bearer slack-token")
    assert slack["channel"] == "#channel-all"
    assert attachment["text"] == f"*[all] info*\nThe story.\n{LINKS}"


def test_a_channel_that_got_a_page_or_a_ticket_gets_its_end(delivered: Delivered) -> None:
    """The pagers close the incident that they opened; the digest says nothing of ends."""
    opened = posted(delivered.received, "page")["/enqueue"][1]["dedup_key"]
    ends = {path.partition("?")[0]: content for path, content in delivered.ended}
    statuses = [content["status"] for path, content in delivered.ended if path == "/new-all"]
    (attachment,) = ends["/api/chat.postMessage"]["attachments"]

    assert sorted(path.partition("?")[0] for path, _ in delivered.ended) == sorted(
        path.format(alias=opened) for path in TOLD_OF_ENDS
    )
    assert (ends["/enqueue"]["event_action"], ends["/enqueue"]["dedup_key"]) == ("resolve", opened)
    assert statuses == ["resolved"] * 2
    assert attachment["title"].startswith("Over: [all] ticket, for 2.")
    assert attachment["color"] == "good"


def assert_of_tracker(sent: tuple[str, Any], severity: str) -> None:
    """Expect the JSON of Alertmanager, whose alert has the addresses of the rules."""
    authorization, content = sent
    (alert,) = content["alerts"]

    assert authorization == "Bearer tracker-token"
    assert (content["version"], content["status"]) == ("4", "firing")
    assert alert["labels"] == content["commonLabels"]
    assert (alert["labels"]["owner"], alert["labels"]["severity"]) == ("all", severity)
    assert alert["annotations"] == annotations("all", severity)


@pytest.mark.parametrize(
    ("owners", "said"),
    [
        (
            {"risk": {}},
            "owners.risk: names no channel; add pagerduty, opsgenie, slack",
        ),
        ({"risk": {"slack": "risk"}}, "owners.risk.slack: must be a channel with its sign"),
        ({"risk": {"pagerduty": "../key"}}, "owners.risk.pagerduty: must be the name of a file"),
        ({"risk": {"webhook": "tracker"}}, "owners.risk.webhook: must be an address that begins"),
        ({7: {"slack": "#risk"}}, "owners.7: is no text in YAML; put the name into quotes"),
        ({"risk": {"slak": "#risk"}}, "did you mean 'slack'?"),
        ({'ri"sk': {"slack": "#risk"}}, "without quote, backslash or control character"),
        ({"risk": {"webhook_token": "t", "slack": "#risk"}}, "has a webhook_token and no webhook"),
        ({}, "owners"),
        ([], "owners"),
    ],
)
def test_refuses(owners: object, said: str, tmp_path: Path, command: Command) -> None:
    """Each error names the file and the key, and writes nothing."""
    done = write_assets(tmp_path, command, owners)
    assert done.code == 2
    assert said in done.err
    assert f"{tmp_path / 'owners.yml'}" in done.err
    assert not (tmp_path / "there").exists()
