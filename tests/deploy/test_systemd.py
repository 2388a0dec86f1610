"""The units of systemd: verified by systemd itself, and their commands run."""

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from configparser import RawConfigParser
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.conftest import Ended, Project
from tests.support.exporting import COMMAND, fill
from tests.support.paths import ROOT
from tests.support.servers import get, listening, program_path, started, wait_for

FOLDER = ROOT / "deploy" / "systemd"
UNITS = sorted(path.name for path in FOLDER.iterdir())
INSTALLED = "/opt/calibration-monitor/bin/calibration-monitor"
CONFIGURED = "/etc/calibration-monitor/monitor.yaml"
HARDENED = (
    r"(?m)^(?:CapabilityBoundingSet|Lock|Memory|NoNew|Private|Protect|Remove|Restrict[A-Z]|SystemCall"
    r"|UMask|DynamicUser|User)\w*=.*$"
)


def unit(name: str) -> RawConfigParser:
    """Read a unit; a key that comes twice keeps its last value."""
    parsed = RawConfigParser(strict=False, delimiters=("=",))
    parsed.optionxform = str  # type: ignore[assignment,method-assign] - keys keep their case
    parsed.read(FOLDER / name)
    return parsed


def start_line(name: str) -> list[str]:
    """Give the command of a service as words."""
    return unit(name)["Service"]["ExecStart"].split()


def verified(folder: Path, name: str) -> "subprocess.CompletedProcess[str]":
    """Let systemd verify a unit, with a program of this machine in the place of the installed."""
    for path in FOLDER.iterdir():
        (folder / path.name).write_text(path.read_text().replace(INSTALLED, "/bin/true"))
    call = [program_path("systemd-analyze"), "verify", "--man=no", "--recursive-errors=yes"]
    return subprocess.run([*call, folder / name], check=False, capture_output=True, text=True)


@pytest.mark.parametrize("name", UNITS)
def test_systemd_accepts_the_unit(tmp_path: Path, name: str) -> None:
    """No key or value is unknown to systemd, and every unit that one names exists."""
    checked = verified(tmp_path, name)
    said = [line for line in checked.stderr.splitlines() if "calibration-monitor" in line]

    assert said == []


@pytest.mark.parametrize("name", [name for name in UNITS if name.endswith(".service")])
def test_a_unit_is_exposed_to_little(tmp_path: Path, name: str) -> None:
    """By the measure of systemd: 0 is nothing, 10 all; without hardening a unit has 9.6."""
    call = [program_path("systemd-analyze"), "security", "--offline=true", "--no-pager"]
    exposed = {}
    for hardened in (True, False):
        text = (FOLDER / name).read_text()
        (tmp_path / name).write_text(text if hardened else re.sub(HARDENED, "", text))
        said = subprocess.run([*call, tmp_path / name], capture_output=True, text=True, check=True)
        level = re.search(r"exposure level for .*: ([\d.]+)", said.stdout)
        assert level, said.stdout
        exposed[hardened] = float(level[1])

    assert exposed[True] < 2
    assert exposed[False] > 8


def test_the_command_of_the_job_runs(project: Project, command: Callable[..., Ended]) -> None:
    """The line that systemd starts does the daily job, with the paths of this test."""
    program, *arguments = start_line("calibration-monitor-run.service")
    assert (program, arguments[-1]) == (INSTALLED, CONFIGURED)
    for kind in ("summaries", "evaluations", "verdicts"):
        shutil.rmtree(project.folder / "store" / kind)
    done = command(*arguments[:-1], project.folder / "monitor.yaml")

    assert done.code == 0, done.err
    assert "ctr: days summarised" in done.out


def test_the_command_of_the_server_runs(tmp_path: Path) -> None:
    """The line that systemd starts serves gauges, with the paths and a port of this test."""
    program, *arguments = start_line("calibration-monitor.service")
    assert (program, arguments[-1]) == (INSTALLED, CONFIGURED)
    call = (COMMAND, *arguments[:-1], fill(tmp_path) / "monitor.yaml", "--port", "0")
    with started(tmp_path, *call) as server:
        url = r"http://(127\.0\.0\.1:\d+)/metrics"
        where = wait_for(server, lambda: re.search(url, server.printed.read_text()))[1]
        status, text = get(where)

    assert (status, "calibration_build_info" in text) == (200, True)


def test_a_failed_job_reaches_alertmanager(tmp_path: Path) -> None:
    """OnFailure= of the job starts a unit, whose line sends an alert to a real Alertmanager."""
    starts = unit("calibration-monitor-run.service")["Unit"]["OnFailure"]
    assert starts == "calibration-monitor-failed@%n.service"
    line = unit("calibration-monitor-failed@.service")["Service"]["ExecStart"]
    named = {"%i": "calibration-monitor-run.service", "%H": "host-1", "%%": "%", "$$": "$"}
    call = shlex.split(re.sub(r"%%|%i|%H|\$\$", lambda found: named[found[0]], line))
    (tmp_path / "am.yml").write_text("route: {receiver: nobody}\nreceivers: [{name: nobody}]\n")
    options = [f"--storage.path={tmp_path / 'am'}", "--cluster.listen-address="]
    config = f"--config.file={tmp_path / 'am.yml'}"
    with listening(tmp_path, "prometheus-alertmanager", config, *options) as (_, where):
        told = subprocess.run(
            call,
            env={**os.environ, "ALERTMANAGER": f"http://{where}"},
            capture_output=True,
            text=True,
            check=False,
        )
        (alert,) = json.loads(get(where, "/api/v2/alerts")[1])

    assert told.returncode == 0, told.stderr
    assert alert["labels"] == {
        "alertname": "CalibrationJobFailed",
        "severity": "ticket",
        "job_name": "calibration-monitor-run.service",
        "host": "host-1",
    }
    ends = datetime.fromisoformat(alert["endsAt"])
    begins = datetime.fromisoformat(alert["startsAt"])
    assert timedelta(hours=4) < ends - begins < timedelta(hours=6)  # the job starts every four
