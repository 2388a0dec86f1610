"""An Alertmanager with our routes and template, that waits less, and what it must write."""

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from json import dumps
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from tests.support.paths import ROOT
from tests.support.receivers import Posts, Received
from tests.support.servers import PATIENCE, Program, listening, started, wait_for

ALERTS = ROOT / "alerts"
BOARD = "https://grafana.example.org/d/calibration-model?var-model="
BOOK = "https://runbooks.example.org/runbook.md#"
SECRETS = ("pagerduty-routing-key", "slack-tickets-url", "slack-digest-url")

RESEND = "--rules.alert.resend-delay=2500ms"  # 50s, as much shorter as the interval of the rules

# The substitutions: word for word, and each must be found.
SOONER: dict[str, dict[str, str]] = {
    "calibration.rules.yml": {
        "interval: 1m": "interval: 3s",
        "calibration:drift:open[15m]": "calibration:drift:open[8s]",
        'segment!="all"}[15m]': 'segment!="all"}[8s]',
        'open{segment="all"}[15m]': 'open{segment="all"}[8s]',
        "calibration:shift:news[26h]": "calibration:shift:news[8s]",
        '"level_drift"}[26h]': '"level_drift"}[8s]',
        '"prior_shift"}[26h]': '"prior_shift"}[8s]',
        " for: 15m": " for: 4s",
    },
    "alertmanager.yml": {
        "group_wait: 20s": "group_wait: 2s",
        "group_wait: 15m": "group_wait: 2s",
        "group_interval: 1m": "group_interval: 1s",
        "group_interval: 5m": "group_interval: 1s",
        "group_interval: 24h": "group_interval: 1s",
        "repeat_interval: 3d": "repeat_interval: 5s",
        "repeat_interval: 5m": "repeat_interval: 2s",
    },
}


def sooner(name: str, further: Mapping[str, str] | None = None) -> str:
    """Read one of the files with its waiting shortened."""
    text = (ALERTS / name).read_text(encoding="utf-8")
    for old, new in {**SOONER[name], **(further or {})}.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


def configure_alertmanager(
    folder: Path, received: Received, further: Mapping[str, str] | None = None
) -> None:
    """Write our routes, and secrets that lead to the test."""
    for secret in SECRETS:
        value = "R0UT1NGKEY" if secret.startswith("pager") else f"{received.url}/{secret}"
        (folder / secret).write_text(value)
    text = sooner("alertmanager.yml", further)
    text = text.replace("/etc/alertmanager/secrets", str(folder))
    text = text.replace("templates/", f"{ALERTS}/templates/")
    text = text.replace("https://deadman.example.org", received.url)
    pager = f"global: {{pagerduty_url: {received.url}/enqueue}}\n"
    (folder / "alertmanager.yml").write_text(pager + text)


@contextmanager
def alertmanager(
    folder: Path, received: Received, further: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Start Alertmanager with our routes and template, and secrets that lead to the test."""
    configure_alertmanager(folder, received, further)
    with listening(
        folder,
        "prometheus-alertmanager",
        f"--config.file={folder / 'alertmanager.yml'}",
        f"--storage.path={folder / 'alertmanager'}",
        "--web.external-url=http://alertmanager.example.org",
        "--cluster.listen-address=",
    ) as (_, where):
        yield where


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve the store of `monitor.yaml`; gives the address of its metrics."""
    command = Path(sys.executable).with_name("calibration-monitor")
    call = (command, "serve", "--config", folder / "monitor.yaml", "--port", "0")
    with started(folder, *call) as program:
        url = r"http://(127\.0\.0\.1:\d+)/metrics\b"
        found = wait_for(program, lambda: re.search(url, program.printed.read_text()))
        yield found[1]


@contextmanager
def prometheus(folder: Path, exporter: str, alertmanager: str) -> Iterator[Program]:
    """Start Prometheus with our rules, which scrapes every second and evaluates every third."""
    (folder / "calibration.rules.yml").write_text(sooner("calibration.rules.yml"))
    (folder / "prometheus.yml").write_text(
        dumps(
            {
                "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
                "rule_files": ["calibration.rules.yml"],
                "scrape_configs": [
                    {
                        "job_name": "calibration-monitor",
                        "static_configs": [{"targets": [exporter]}],
                    }
                ],
                "alerting": {"alertmanagers": [{"static_configs": [{"targets": [alertmanager]}]}]},
            }
        )
    )
    with listening(
        folder,
        "prometheus",
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'prometheus'}",
        "--web.external-url=http://prometheus.example.org",
        RESEND,
    ) as (program, _):
        yield program


def await_posts(posts: Posts, enough: Callable[[], bool], *, patience: float = PATIENCE) -> None:
    """Wait until enough was received, or fail with what was."""
    deadline = monotonic() + patience
    while not enough():
        if monotonic() > deadline:
            pytest.fail(dumps([post for post in posts if post[0] != "/calibration"], indent=1))
        sleep(0.05)


def event(
    key: str,
    headline: str,
    board: str,
    *,
    firing: Sequence[str] = (),
    resolved: Sequence[str] = (),
    owner: str = "risk",
    model: str = "fraud",
) -> dict[str, Any]:
    """Write what PagerDuty must get of the drifts of a model: stories, or what is over."""
    return {
        "dedup_key": key,
        "routing_key": "R0UT1NGKEY",
        "event_action": "trigger" if firing else "resolve",
        "client": "calibration-monitor",
        "client_url": board,
        "links": [
            {"href": board, "text": "Dashboard"},
            {"href": f"{BOOK}calibrationdrift", "text": "Runbook"},
        ],
        "payload": {
            "summary": headline,
            "source": "calibration-monitor",
            "severity": "critical",
            "class": "CalibrationDrift",
            "component": model,
            "group": "calibration",
            "custom_details": {
                "firing": "\n\n".join(firing),
                "resolved": "\n".join(resolved),
                "num_firing": str(len(firing)),
                "num_resolved": str(len(resolved)),
                "owner": owner,
                "report": "",
            },
        },
    }


def message(
    title: str, link: str, text: str, fallback: str, color: str = "warning"
) -> dict[str, Any]:
    """Write what Slack must get."""
    attachment = {"title": title, "text": text, "fallback": fallback, "color": color}
    if link:
        attachment["title_link"] = link
    always = {"callback_id": "", "footer": "", "mrkdwn_in": ["fallback", "pretext", "text"]}
    return {"username": "calibration-monitor", "attachments": [{**attachment, **always}]}
