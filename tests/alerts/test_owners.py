"""Owners: each alert reaches its owner's channels and nobody else's, by the real programs."""

import json
import random
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
    "webhook": "https://tracker.example.org/new",
}
HEARS = {
    "page": ("pagerduty", "opsgenie", "webhook"),
    "ticket": ("slack", "webhook"),
    "info": ("slack",),
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
    checked = subprocess.run(
        [*amtool, "check-config", routes], capture_output=True, text=True, check=True
    )
    assert "SUCCESS" in checked.stdout, checked.stderr
    receivers = {
        receiver["name"]: receiver for receiver in yaml.safe_load(routes.read_text())["receivers"]
    }

    for name in [*owners, "unknown", ""]:
        for severity, hears in HEARS.items():
            labels = ("alertname=CalibrationDrift", f"owner={name}", f"severity={severity}")
            call = [*amtool, "config", "routes", "test", f"--config.file={routes}", *labels]
            found = subprocess.run(call, capture_output=True, text=True, check=True).stdout.strip()
            own = {channel: owners.get(name, {}).get(channel) for channel in hears}
            expected = {channel: value for channel, value in own.items() if value}
            if not expected:
                assert found == SHARED[severity]
            else:
                content = json.dumps(receivers[found])
                kinds = {key.removesuffix("_configs") for key in receivers[found]} - {"name"}
                assert kinds == expected.keys()
                assert all(value in content for value in expected.values())


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
        ({"risk": {}}, "owners.risk: names no channel; add pagerduty, opsgenie, slack or webhook"),
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
