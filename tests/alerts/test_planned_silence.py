"""Planned silence as docs/operate.md tells it: hours without tickets, and a pause that ends."""

import re
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.alerts.test_messages import TICKETS, alert, post
from tests.support.alerting import ROOT, alertmanager, await_posts, sooner
from tests.support.receivers import Received, at, receiving
from tests.support.servers import program_path

PAGE = ROOT / "docs" / "operate.md"
ROUTE = '    - matchers: [severity="page"]\n'
ROWS = "CalibrationDataRejected"


def documented() -> tuple[str, str]:
    """Give the route and the hours of the page, as they are merged into the file of routes."""
    (text,) = re.findall(r"```yaml\n(time_intervals:\n.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    hours, _, route = text.partition("route:\n  routes:\n")
    return route, hours


def merged(route: str, hours: str) -> dict[str, str]:
    """Say what is put in place of what: the route before the others, the hours beside them."""
    return {ROUTE: route + ROUTE, "inhibit_rules:\n": f"{hours}\ninhibit_rules:\n"}


def amtool(*arguments: str) -> str:
    """Run the program of Alertmanager."""
    call = (program_path("amtool"), *arguments)
    done = subprocess.run(call, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def heard(received: Received, path: str) -> set[str]:
    """Find the models that a channel has heard of."""
    return {word for post in at(path, received.posts) for word in re.findall("bids|ctr", f"{post}")}


def test_the_documented_hours_are_accepted(tmp_path: Path) -> None:
    """By amtool, which also says that tickets still go to their channel."""
    path = tmp_path / "alertmanager.yml"
    path.write_text(sooner("alertmanager.yml", merged(*documented())).replace("templates/", "t/"))

    assert "SUCCESS" in amtool("check-config", str(path))
    config = ("config", "routes", "test", f"--config.file={path}")
    assert amtool(*config, "alertname=A", "severity=ticket").strip() == "slack-tickets"
    assert amtool(*config, "alertname=A", "severity=page").strip() == "pagerduty"


def test_a_pause_of_one_model_ends_by_itself(tmp_path: Path) -> None:
    """The others are told meanwhile, and the model is when the time is over."""
    (said,) = re.findall(r"    (amtool silence add model=bids [^\n]+)", PAGE.read_text("utf-8"))
    with receiving() as received, alertmanager(tmp_path, received) as where:
        until = datetime.now(UTC) + timedelta(seconds=5)
        call = re.sub(r"--end=\S+", f"--end={until:%Y-%m-%dT%H:%M:%SZ}", said)
        call = re.sub(r"--start=\S+", "", call)
        words = [word.strip('"') for word in re.findall(r'"[^"]*"|\S+="[^"]*"|\S+', call)]
        amtool(*(word.replace('"', "") for word in words[1:]), f"--alertmanager.url=http://{where}")
        post(where, [alert(ROWS, model, "score_missing") for model in ("bids", "ctr")])

        await_posts(received.posts, lambda: heard(received, TICKETS) >= {"ctr"})
        assert heard(received, TICKETS) == {"ctr"}
        await_posts(received.posts, lambda: heard(received, TICKETS) == {"bids", "ctr"})
        assert datetime.now(UTC) >= until.replace(microsecond=0)
