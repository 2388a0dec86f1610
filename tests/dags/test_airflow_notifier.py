"""What Slack gets from a real Airflow when a run has failed for good."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.support.paths import ROOT
from tests.support.receivers import receiving

assert find_spec("airflow"), (
    "Airflow is not installed; pip install 'calibration-monitor[airflow,slack]' to test it."
)


@pytest.fixture(scope="module")
def told(
    finished_project: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[tuple[str, Any]]]:
    """Let runs fail, and give what was posted to Slack."""
    folder = tmp_path_factory.mktemp("failures")
    project = shutil.copytree(finished_project, folder / "project")
    ours = {k: v for k, v in os.environ.items() if not k.startswith(("AIRFLOW", "PYTHONWARN"))}
    with receiving() as received:
        webhook = {"conn_type": "slackwebhook", "host": received.url, "password": "T/B/secret"}
        done = subprocess.run(
            [sys.executable, ROOT / "tests" / "support" / "airflow_failures.py"],
            env=ours
            | {
                "AIRFLOW_HOME": str(folder / "airflow"),
                "AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "dags"),
                "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
                "AIRFLOW_CONN_ON_CALL": json.dumps(webhook),
                "CALIBRATION_MONITOR_CONFIG": str(project / "monitor.yaml"),
                "CALIBRATION_MONITOR_SLACK_CONNECTION": "on_call",
                "CALIBRATION_MONITOR_RUNBOOK": "https://runbooks.test/runbook.md",
            },
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        log = done.stdout + done.stderr
        assert "states: failed failed success failed\n" in done.stdout, log
        yield received.posts


class TestSlack:
    """Messages that need no Alertmanager."""

    def test_tells_model_day_error_and_remedy(self, told: list[tuple[str, Any]]) -> None:
        """A run without logs is told once, after its last try, in the words of the error."""
        where, message = told[0]
        first, error, link = message["text"].split("\n")

        assert where == "/T/B/secret"
        assert first == "*ctr*, 2026-03-05: the run has failed for good."
        assert error.startswith("ctr 2026-03-05: no outcomes of 2026-03-05 at ")
        assert link == "<https://runbooks.test/runbook.md#calibrationdataerror|Runbook>"

    def test_tells_of_a_wrong_call(self, told: list[tuple[str, Any]]) -> None:
        """A run without a day is told at once, with the way to call it right."""
        _, message = told[1]
        first, error, link = message["text"].split("\n")

        assert first == "*ctr*, no day: the run has failed for good."
        assert error.endswith(": has no interval; trigger it with a day, like 2026-03-01.")
        assert link.endswith("#calibrationevaluationmissing|Runbook>")

    def test_tells_nothing_else(self, told: list[tuple[str, Any]]) -> None:
        """Retries and sound runs are no news, and without a connection nobody is told."""
        assert len(told) == 2
