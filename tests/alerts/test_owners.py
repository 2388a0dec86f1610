"""Owners: each alert reaches its owner's channels and nobody else's, by the real programs."""

import json
import random
import re
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
import yaml

from tests.conftest import Ended
from tests.support.alerting import ALERTS, await_posts
from tests.support.receivers import at, receiving
from tests.support.servers import listening, program_path

Command = Callable[..., Ended]
SHARED = {"page": "pagerduty", "ticket": "slack-tickets", "info": "slack-digest"}
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


def drawn_owners(seed: int) -> dict[str, dict[str, str]]:
    """Draw owners with one channel or several."""
    draw = random.Random(seed)  # noqa: S311 - a table for a test
    names = ["risk", "growth team", "ads-3", "a.b@example.org"]
    return {
        name: {
            channel: f"{CHANNELS[channel]}-{number}"
            for channel in draw.sample([*CHANNELS], draw.randint(1, len(CHANNELS)))
        }
        for number, name in enumerate(names)
    }


def write_assets(folder: Path, command: Command, owners: object) -> Ended:
    """Write the table and the files."""
    (folder / "owners.yml").write_text(yaml.safe_dump({"owners": owners}))
    return command("assets", "--into", folder / "there", "--owners", folder / "owners.yml")


@pytest.mark.parametrize("seed", range(4))
def test_every_alert_reaches_its_owner_and_nobody_else(
    seed: int, tmp_path: Path, command: Command
) -> None:
    """The channels of the receiver that amtool finds are those of the table, else the shared."""
    owners = drawn_owners(seed)
    assert write_assets(tmp_path, command, owners).code == 0
    routes = tmp_path / "there" / "alerts" / "alertmanager.yml"
    amtool = (program_path("amtool"),)
    content = yaml.safe_load(routes.read_text())
    receivers = {receiver["name"]: receiver for receiver in content["receivers"]}
    checked_routes = without_teams(content, routes)
    checked = subprocess.run(
        [*amtool, "check-config", checked_routes], capture_output=True, text=True, check=True
    )
    assert "SUCCESS" in checked.stdout, checked.stderr

    for name in [*owners, "unknown", ""]:
        for severity, hears in HEARS.items():
            labels = ("alertname=CalibrationDrift", f"owner={name}", f"severity={severity}")
            call = [*amtool, "config", "routes", "test", f"--config.file={checked_routes}", *labels]
            found = subprocess.run(call, capture_output=True, text=True, check=True).stdout.strip()
            own = {channel: owners.get(name, {}).get(channel) for channel in hears}
            expected = {channel: value for channel, value in own.items() if value}
            if not expected:
                assert found == SHARED[severity]
            else:
                content = json.dumps(receivers[found])
                kinds = {re.sub("(v2)?_configs", "", key) for key in receivers[found]} - {"name"}
                kinds = {"teams" if kind == "msteams" else kind for kind in kinds}
                assert kinds == expected.keys()
                assert all(value in content for value in expected.values())


def without_teams(content: dict[str, Any], routes: Path) -> Path:
    """Leave out the receivers of Microsoft Teams, which Alertmanager 0.25 does not know yet."""
    kept = [
        {key: value for key, value in receiver.items() if not key.startswith("msteams")}
        for receiver in content["receivers"]
    ]
    path = routes.with_name("without-teams.yml")
    path.write_text(yaml.safe_dump({**content, "receivers": kept}))
    return path


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


def test_the_channel_gets_the_message_with_the_token(tmp_path: Path, command: Command) -> None:
    """The real Alertmanager posts a ticket of risk to its channel, and not to the shared one."""
    link = "https://grafana.example.org/risk"
    owners = {"risk": {"slack": "#risk", "dashboard": link}, "ads": {"slack": "#ads"}}
    assert write_assets(tmp_path, command, owners).code == 0
    text = (tmp_path / "there" / "alerts" / "alertmanager.yml").read_text()
    with receiving() as received:
        text = text.replace("/etc/alertmanager/secrets", str(tmp_path))
        text = text.replace("https://slack.com", received.url)
        text = text.replace("https://deadman.example.org", received.url)
        text = text.replace("templates/", f"{ALERTS}/templates/").replace("20s", "0s")
        (tmp_path / "alertmanager.yml").write_text(text)
        for secret in ("slack-token", "slack-tickets-url", "slack-digest-url"):
            (tmp_path / secret).write_text(f"{received.url}/shared")
        (tmp_path / "pagerduty-routing-key").write_text("key")
        with listening(
            tmp_path,
            "prometheus-alertmanager",
            f"--config.file={tmp_path / 'alertmanager.yml'}",
            f"--storage.path={tmp_path / 'data'}",
            "--cluster.listen-address=",
        ) as (_, where):
            fire(where, owner="risk")
            await_posts(received.posts, lambda: bool(at("/api/chat.postMessage", received.posts)))

    (sent,) = at("/api/chat.postMessage", received.posts)
    assert sent["channel"] == "#risk"
    assert sent["attachments"][0]["title_link"] == link
    assert at("/shared", received.posts) == []


def fire(where: str, owner: str) -> None:
    """Send an alert as Prometheus does."""
    now = datetime.now(UTC)
    alert: dict[str, Any] = {
        "labels": {
            "alertname": "CalibrationLevelDrift",
            "model": "fraud",
            "severity": "ticket",
            "owner": owner,
        },
        "annotations": {"summary": "level drift", "description": "of fraud"},
        "startsAt": now.isoformat(),
        "endsAt": (now + timedelta(minutes=5)).isoformat(),
    }
    content = json.dumps([alert]).encode()
    call = Request(f"http://{where}/api/v2/alerts", content, {"Content-Type": "application/json"})
    urlopen(call).close()  # noqa: S310


@pytest.mark.parametrize(
    ("owners", "said"),
    [
        (
            {"risk": {}},
            "owners.risk: names no channel; add pagerduty, opsgenie, slack",
        ),
        ({"risk": {"slack": "risk"}}, "owners.risk.slack"),
        ({"risk": {"slak": "#risk"}}, "did you mean 'slack'?"),
        ({'ri"sk': {"slack": "#risk"}}, "owners."),
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
