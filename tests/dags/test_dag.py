"""The DAGs in a real Airflow with a throw-away home: what they do is what the command does."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from monitor.config import load_config
from monitor.export.snapshot_reader import Reader
from monitor.export.text import exposition, lines
from monitor.store.names import stem
from monitor.store.store import Store
from tests.conftest import run_command
from tests.support.cases import ALL
from tests.support.flight_logs import flight_logs
from tests.support.paths import ROOT
from tests.support.receivers import receiving

assert find_spec("airflow"), (
    "Airflow is not installed; pip install 'calibration-monitor[airflow]' to test the DAGs."
)

HEAVY = {"duckdb", "numba", "numpy", "pandas", "pyarrow", "scipy"}

# One model for each thing to see. All read the same logs, but for the paths that are given.
MODEL = """\
  {name}:
    predictions: {{path: 'logs/{scores}/{{day}}.parquet', time: scored_at}}
    outcomes: {{path: 'logs/{outcomes}/{{day}}.parquet', time: observed_at}}
    segments: {{column: origin, values: [EWR, JFK, LGA]}}
    time_zone: America/New_York
    settled_after: 1
    windows: [1, 7]
    {more}
"""
MODELS = {
    "asked": "owner: flights-team",
    "mended": "severity: info",
    "weekdays": "schedule: '0 22 * * 1-5'",
    "hourly": "schedule: '0 * * * *'\n    severity: page",
    "lost": "severity: info",
    "damaged": "severity: info",
    "new": "severity: info",
    "closed": "calendar: {closed: [2013-03-18]}",
}
PATHS = {name: {"scores": f"{name}-scores"} for name in ("mended", "damaged", "new")}
PATHS["closed"] = {"scores": "new-scores"}
PATHS["lost"] = {"outcomes": "lost-outcomes"}
# Models that only a fleet has, and the fleets: each with its models in their order.
OF_FLEETS = {
    "tardy": "severity: info",
    "flaky": "owner: planes",
    "missing": "owner: planes",
    "sound": "owner: planes",
}
PATHS |= {name: {"scores": f"{name}-scores"} for name in ("tardy", "flaky")}
PATHS["missing"] = {"outcomes": "lost-outcomes"}
FLEETS = {
    "waits": ("asked", "tardy", "damaged", "closed", "weekdays"),
    "fails": ("flaky", "missing", "sound"),
}
# The usual schedule is left out of the name.
ALL_IN_NEW_YORK = "calibration_fleet_America-New_York_a7a734"
PLANES_IN_NEW_YORK = "calibration_fleet_planes_America-New_York_93c57e"
PREDICTED = [f"2013-03-{n:02}" for n in range(4, 20)]
OBSERVED = [*PREDICTED, "2013-03-20"]
NEWEST = date(2013, 3, 19)
PROGRAMS = Path(sys.executable).parent
RUN_ON_CLUSTER = f"{ROOT}/deploy/spark/calibration_run.py"
SPARK_SUBMIT = f"""\
PYSPARK_PYTHON={sys.executable} {PROGRAMS}/spark-submit --master 'local[1]' --driver-memory 512m \\
    --driver-java-options '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC' \\
    --conf spark.ui.enabled=false --conf spark.sql.shuffle.partitions=1 \\
    --conf spark.driver.host=127.0.0.1 --conf spark.driver.bindAddress=127.0.0.1 \\
    {RUN_ON_CLUSTER}"""
# A Java machine takes a third of the time of all tests of this file: only `make test-all` has it.
ENGINE, SUBMIT = (
    ("spark", SPARK_SUBMIT) if ALL else ("duckdb", f"{sys.executable} {RUN_ON_CLUSTER}")
)
# Kills the run that it has started, as soon as this has begun.
KILLED = f"""\
({PROGRAMS}/calibration-monitor $@ & run=$!
    until [ -e {{begun}} ]; do sleep 0.01; done; kill -9 $run; wait $run; touch {{killed}}) &"""
KINDS = ("summaries", "evaluations", "verdicts")


@dataclass(frozen=True)
class Seen:
    """What Airflow did with the DAGs of `folder`, all that it printed, and what it told Slack."""

    folder: Path
    report: dict[str, Any]
    log: str
    posts: list[tuple[str, Any]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lay out a few days of the demo's logs and a configuration; some models' logs are late."""
    folder, (flights_logs, *_) = tmp_path_factory.mktemp("dags"), flight_logs(tmp_path_factory)
    for source, target, names in (
        ("predictions/flights", "scores", PREDICTED),
        ("predictions/flights", "on-their-way", PREDICTED),
        ("predictions/flights", "mended-scores", PREDICTED),
        ("predictions/flights", "damaged-scores", PREDICTED[-2:]),
        ("predictions/flights", "tardy-scores", PREDICTED[:-2]),
        ("predictions/flights", "flaky-scores", PREDICTED),
        ("predictions/flights", "new-scores", PREDICTED[-1:]),
        ("outcomes", "outcomes", OBSERVED),
        ("outcomes", "lost-outcomes", OBSERVED[:14]),  # nor has the one that is due
    ):
        (folder / "logs" / target).mkdir(parents=True)
        for name in names:
            file = f"{name}.parquet"
            shutil.copy(flights_logs / source / file, folder / "logs" / target / file)
    (folder / "logs" / "damaged-scores" / f"{NEWEST}.parquet").write_bytes(b"no Parquet")
    (folder / "logs" / "mended-scores" / "2013-03-09.parquet").write_bytes(b"no Parquet")
    (folder / "logs" / "flaky-scores" / "2013-03-18.parquet").write_bytes(b"no Parquet")
    write_config(folder / "monitor.yaml", "store")
    write_config(folder / "command.yaml", "store-of-command", MODELS | OF_FLEETS)
    return folder


@pytest.fixture(scope="module")
def seen(folder: Path, request: pytest.FixtureRequest) -> Seen:
    """Parse the DAGs and do all runs in one process that has Airflow to itself."""
    request.getfixturevalue("two_models")  # else that process would compile what these call
    plan, report = folder / "plan.json", folder / "report.json"
    plan.write_text(json.dumps(plan_of(folder)), encoding="utf-8")
    ours = {k: v for k, v in os.environ.items() if not k.startswith(("AIRFLOW", "PYTHONWARN"))}
    with receiving() as slack:
        webhook = {"conn_type": "slackwebhook", "host": slack.url, "password": "T/B/secret"}
        done = subprocess.run(
            [sys.executable, ROOT / "tests" / "support" / "airflow_driver.py", plan, report],
            env=ours
            | {
                "AIRFLOW_HOME": str(folder / "airflow"),
                "AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "dags"),
                "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
                "AIRFLOW_CONN_ON_CALL": json.dumps(webhook),
                "AIRFLOW__API__BASE_URL": "https://airflow.test",
                "CALIBRATION_MONITOR_CONFIG": str(folder / "monitor.yaml"),
                "CALIBRATION_MONITOR_SLACK_CONNECTION": "on_call",
                "CALIBRATION_MONITOR_RUNBOOK": "https://runbooks.test/runbook.md",
            },
            capture_output=True,
            text=True,
            timeout=1800,
            check=False,
        )
    if done.returncode:
        pytest.fail(f"the driver of Airflow failed:\n{done.stdout}\n{done.stderr}", pytrace=False)
    log = done.stdout + done.stderr
    return Seen(folder, json.loads(report.read_text(encoding="utf-8")), log, slack.posts)


def plan_of(folder: Path) -> dict[str, Any]:
    """Say which runs to do and which configurations to break."""
    broken = {
        "common": ("store:", "shop:"),
        "typo": ("owner: flights-team", "ownr: me"),
        "cron": ("0 * * * *", "at noon"),
    }
    for label, (old, new) in broken.items():
        text = (folder / "monitor.yaml").read_text(encoding="utf-8")
        (folder / f"{label}.yaml").write_text(text.replace(old, new), encoding="utf-8")
    text = (folder / "monitor.yaml").read_text(encoding="utf-8")
    reports = "report: {path: reports, url: https://reports.test}"
    (folder / "reported.yaml").write_text(f"{reports}\n{text}", encoding="utf-8")
    write_config(folder / "blocked.yaml", "store-that-is-a-file")
    (folder / "store-that-is-a-file").write_bytes(b"")
    write_config(folder / "elsewhere.yaml", "store-elsewhere")
    write_config(folder / "deadly.yaml", "store-of-the-killed")
    write_config(folder / "spark.yaml", f"store-of-spark\nengine: {{kind: {ENGINE}}}")
    today = "2013-03-20T07:00-04:00"
    runs: dict[str, dict[str, Any]] = {
        "submitted": {
            "conf": {"day": "2013-03-08"},
            "config": str(folder / "spark.yaml"),
            "submit": script(folder / "spark-submit", f"{SUBMIT} $@ &"),
            "until": str(folder / "store-of-spark" / "runs" / "asked" / "last.json"),
        },
        "submitted in vain": {
            "dag_id": "calibration_damaged",
            "conf": {"day": f"{NEWEST}"},
            "config": str(folder / "elsewhere.yaml"),
            "submit": script(folder / "detached", f"{PROGRAMS}/calibration-monitor $@ &"),
            "until": str(folder / "store-elsewhere" / "runs" / "damaged" / "last.json"),
        },
        "submitted and killed": {
            "conf": {"day": "2013-03-08"},
            "config": str(folder / "deadly.yaml"),
            "submit": script(
                folder / "deadly",
                KILLED.format(
                    begun=folder / "store-of-the-killed" / "runs" / "asked" / "begun.json",
                    killed=folder / "killed",
                ),
            ),
            "until": str(folder / "killed"),
        },
        "refused": {"conf": {"day": "2013-03-08"}, "submit": "false"},
        # Its interval would settle 2013-03-06; the day wins.
        "asked": {"conf": {"day": "2013-03-08"}, "logical_date": "2013-03-08T12:00-05:00"},
        "mended": {
            "conf": {"day": "2013-03-09"},
            "meanwhile": {
                str(folder / "store"): str(folder / "store-while-damaged"),
                str(folder / "logs" / "on-their-way"): str(folder / "logs" / "mended-scores"),
            },
        },
        "neither": {},
        "typo": {"conf": {"day": "2013-03-08"}, "config": str(folder / "typo.yaml")},
        "blocked": {"conf": {"day": "2013-03-08"}, "config": str(folder / "blocked.yaml")},
        "reported": {"conf": {"day": "2013-03-08"}, "config": str(folder / "reported.yaml")},
        "untold": {"config": str(folder / "blocked.yaml"), "slack": False},
        "lost": {"logical_date": today, "run_after": today},
        "damaged": {"logical_date": today},
        "new": {"logical_date": today, "run_after": today},
    }
    return {
        "parsed_with": {"unset": None, "absent": str(folder / "absent.yaml")}
        | {label: str(folder / f"{label}.yaml") for label in (*broken, "reported")},
        "runs": {
            label: {"dag_id": f"calibration_{label if label in MODELS else 'asked'}"} | how
            for label, how in runs.items()
        },
        "parsed_for_tasks": ["calibration_asked", "calibration_weekdays", "another_dag"],
        "parsed_as_fleet": {
            f"{by} {size}": {
                "config": str(folder / "typo.yaml"),
                "CALIBRATION_MONITOR_FLEET": by,
                "CALIBRATION_MONITOR_BATCH": size,
            }
            for by, size in (("all", "3"), ("owner", "3"), ("each", "3"), ("all", "0"))
        }
        | {
            "reported": {
                "config": str(folder / "reported.yaml"),
                "CALIBRATION_MONITOR_FLEET": "all",
            }
        },
        "fleets": plan_of_fleets(folder),
    }


def plan_of_fleets(folder: Path) -> dict[str, dict[str, Any]]:
    """Say which runs of fleets to do, each with batches of two models."""
    today = "2013-03-20T07:00-04:00"
    everything = MODELS | OF_FLEETS
    for label, names in FLEETS.items():
        models = {name: everything[name] for name in names}
        write_config(folder / f"{label}.yaml", f"store-of-{label}", models)
    logs, store = folder / "logs", "store-of-"
    return {
        label: {
            "dag_id": dag_id,
            "config": str(folder / f"{label}.yaml"),
            "fleet": by,
            "logical_date": today,
            "meanwhile": {
                str(folder / f"{store}{label}"): str(folder / f"{store}{label}-before"),
                str(logs / "on-their-way"): str(logs / late),
            },
        }
        | more
        for label, dag_id, by, late, more in (
            ("waits", ALL_IN_NEW_YORK, "all", "tardy-scores", {}),
            ("fails", PLANES_IN_NEW_YORK, "owner", "flaky-scores", {"run_after": today}),
        )
    }


def write_config(path: Path, store: str, models: Mapping[str, str] = MODELS) -> None:
    """Write a configuration of models."""
    paths = {"scores": "scores", "outcomes": "outcomes"}
    written = (
        MODEL.format(name=name, more=more, **paths | PATHS.get(name, {}))
        for name, more in models.items()
    )
    path.write_text(f"store: {store}\nmodels:\n{''.join(written)}", encoding="utf-8")
    if path.stem != "blocked":
        Store(str(path.parent / store.split("\n", maxsplit=1)[0])).begin(datetime.now(UTC))


def script(path: Path, command: str) -> str:
    """Write a program that starts another and does not wait for it, as a cluster does."""
    path.write_text(f"#!/bin/sh\nexec > {path}.log 2>&1\n{command}\n")
    path.chmod(0o700)
    return str(path)


def left_by_dag(folder: Path, model: str, store: str = "store") -> dict[str, bytes]:
    """Return every summary, evaluation and verdict of a model."""
    return {
        f"{kind} {stem(path.name)}": path.read_bytes()
        for kind in KINDS
        for path in (folder / store / kind / model).iterdir()
    }


def left_by_command(folder: Path, model: str, *calls: str) -> dict[str, bytes]:
    """Do with the command what a DAG has done, and return what that leaves."""
    for words in calls:
        begin = ["--begin"] * words.startswith("run ")
        call = (*words.split(), *begin, "--model", model)
        done = run_command(*call, "--config", folder / "command.yaml")
        assert done.code == 0, done.err
    return left_by_dag(folder, model, "store-of-command")


def has_succeeded(folder: Path, model: str, store: str = "store") -> bool:
    """Tell whether the record of a model's last run, which the gauges tell of, is of success."""
    record = Store(str(folder / store)).read_run(model)
    assert record is not None
    return record.succeeded == record.finished


def without_waiting(run: dict[str, Any]) -> dict[str, Any]:
    """Give state, try and possible retries of the tasks after `wait_for_logs`, which succeeded."""
    tasks = dict(run["tasks"])
    assert tasks.pop("wait_for_logs")[0] == "success"
    return tasks


def days(*numbers: int) -> set[str]:
    """Name what is left of days in March 2013."""
    return {f"{kind} 2013-03-{n:02}" for kind in KINDS for n in numbers}


class TestRuns:
    """A run leaves what the command leaves."""

    def test_does_the_day_it_is_asked_for(self, seen: Seen) -> None:
        """A run with a day does that day alone, whatever its interval, and leaves the same."""
        asked, left = seen.report["runs"]["asked"], left_by_dag(seen.folder, "asked")

        assert asked["state"] == "success"
        assert without_waiting(asked) == {
            "run": ["success", 1, 7],
            "run_unsettled": ["skipped", 1, 0],
        }
        assert left == left_by_command(seen.folder, "asked", "run --day 2013-03-08")
        assert set(left) == days(8)

    def test_writes_the_report_page(self, seen: Seen) -> None:
        """With a place for the pages, a last task writes the model's page and the index."""
        reported = seen.report["runs"]["reported"]

        assert without_waiting(reported)["write_report"] == ["success", 1, 1]
        assert (seen.folder / "reports" / "models" / "asked.html").is_file()
        assert (seen.folder / "reports" / "index.html").is_file()

    def test_the_links_of_alerts_lead_to_the_page_that_was_written(self, seen: Seen) -> None:
        """The address in the gauge, and in the text of the DAG, is that of a file below the URL."""
        config = load_config(seen.folder / "reported.yaml")
        address = config.model("asked").report_url
        info = f'calibration_report_info{{model="asked",url="{address}"}} 1.0'
        docs = {label: parsed["docs"] for label, parsed in seen.report["parsed_with"].items()}

        assert address.startswith("https://reports.test/")
        assert (seen.folder / "reports" / address.removeprefix("https://reports.test/")).is_file()
        assert info in exposition([lines(Reader(config).snapshot("asked"))]).decode()
        assert f"[report page](<{address}>)" in docs["reported"]["calibration_asked"]
        for text in seen.report["parsed_as_fleet"]["reported"]["docs"].values():
            assert "[report pages](<https://reports.test/index.html>)" in text
        assert (seen.folder / "reports" / "index.html").is_file()

    def test_passes_dates_and_nothing_else(self, seen: Seen) -> None:
        """No task leaves a value to another: what they know of each other lies in the store."""
        done = [run["tasks"]["run"][0] for run in seen.report["runs"].values()]

        assert {"success", "failed"} <= set(done)
        assert seen.report["passed_between_tasks"] == []


class TestSubmitted:
    """With a command that submits, the work is done elsewhere, and no worker waits for it."""

    def test_leaves_what_the_command_leaves(self, seen: Seen) -> None:
        """The program for clusters runs the day; `run` looks into the store, twice."""
        submitted = seen.report["runs"]["submitted"]
        left = left_by_dag(seen.folder, "asked", "store-of-spark")
        log = (seen.folder / "spark-submit.log").read_text()

        assert submitted["state"] == "success", log
        assert [wait["task"] for wait in submitted["waits"]] == ["run"]
        assert without_waiting(submitted) == {"submit": ["success", 1, 3], "run": ["success", 1, 0]}
        assert left == left_by_command(seen.folder, "asked", "run --day 2013-03-08")
        updated = [update for update in seen.report["updated"] if update[1] == "calibration_asked"]
        assert updated[0] == ["calibration_asked"] * 2 + [{"days": ["2013-03-08"]}]

    def test_fails_as_the_submitted_run_does(self, seen: Seen) -> None:
        """The record of the run in the store says which day failed, and why."""
        run = seen.report["runs"]["submitted in vain"]

        assert run["state"] == "failed"
        assert without_waiting(run) == {"submit": ["success", 1, 3], "run": ["failed", 1, 0]}
        assert f"damaged: {NEWEST} failed (logs: a file cannot be read)" in seen.log

    def test_fails_within_minutes_if_the_submitted_run_dies(self, seen: Seen) -> None:
        """A run that has begun and is at work no more says so, with where its log is."""
        run = seen.report["runs"]["submitted and killed"]
        error = (
            r"asked: the submitted run \(process \d+ on .+, since .+ UTC\) ended without a result"
        )

        assert not Path(seen.folder / "store-of-the-killed/runs/asked/last.json").exists()
        assert run["state"] == "failed"
        assert len(run["waits"]) <= 1  # none if the run was killed before the first look
        assert without_waiting(run) == {"submit": ["success", 1, 3], "run": ["failed", 1, 0]}
        (told,) = [m["text"] for _, m in seen.posts if "ended without a result" in m["text"]]
        assert re.search(error, told)
        assert "The log of its driver says why" in told

    def test_is_submitted_again_if_the_cluster_refuses(self, seen: Seen) -> None:
        """A command that fails is retried."""
        run = seen.report["runs"]["refused"]

        assert [wait["task"] for wait in run["waits"]] == ["submit"]
        assert run["waits"][0]["state"] == "up_for_retry"
        assert "CALIBRATION_MONITOR_SUBMIT ended with exit code 1" in seen.log


class TestUnsettled:
    """Days that are not due are done too, and are nobody's trouble."""

    def test_covers_up_no_failure(self, seen: Seen) -> None:
        """After a settled day that failed later days are done, and run and record are failures."""
        lost, left = seen.report["runs"]["lost"], left_by_dag(seen.folder, "lost")

        assert lost["state"] == "failed"
        assert without_waiting(lost) == {"run": ["failed", 1, 7], "run_unsettled": ["failed", 1, 0]}
        assert [name for name in left if "summaries" in name] == ["summaries 2013-03-19"]
        assert not has_succeeded(seen.folder, "lost")

    def test_a_new_model_is_no_error(self, seen: Seen) -> None:
        """Before its first day settles, nothing waits, and that day is done as an unsettled one."""
        new = seen.report["runs"]["new"]

        assert new["state"] == "success"
        assert new["waits"] == []
        assert without_waiting(new) == {
            "run": ["skipped", 1, 7],
            "run_unsettled": ["success", 1, 0],
        }
        assert set(left_by_dag(seen.folder, "new")) == days(19)
        assert "Its first day, 2013-03-19, settles on 2013-03-21." in seen.log

    def test_fails_no_settled_day(self, seen: Seen) -> None:
        """Bad logs of a day that is not due are not tried again, and the run succeeds."""
        damaged = seen.report["runs"]["damaged"]

        assert damaged["state"] == "success"
        assert damaged["waits"] == []
        assert without_waiting(damaged) == {
            "run": ["success", 1, 7],
            "run_unsettled": ["failed", 1, 0],
        }
        assert "summaries 2013-03-18" in left_by_dag(seen.folder, "damaged")
        assert "DataError: damaged 2013-03-19: " in seen.log


class TestMissingDays:
    """Days whose logs are late."""

    def test_become_a_data_error_at_the_deadline(self, seen: Seen) -> None:
        """After the deadline the run fails at once, with the message of the pipeline."""
        lost = seen.report["runs"]["lost"]

        assert lost["waits"] == []
        assert lost["state"] == "failed"
        assert lost["tasks"]["run"] == ["failed", 1, 7]
        assert "AirflowFailException: lost 2013-03-18: no outcomes of 2013-03-18 at " in seen.log
        (verdict, *_), _ = Store(str(seen.folder / "store")).read_verdicts(
            "lost", date(2013, 3, 18)
        )
        assert verdict.state == "data_error"
        assert not has_succeeded(seen.folder, "lost")


class TestFailures:
    """What may be repaired is tried again; what cannot be is not."""

    def test_tries_damaged_logs_again(self, seen: Seen) -> None:
        """The first retry comes within minutes, as after a crash; then it waits up to two hours."""
        mended = seen.report["runs"]["mended"]
        (wait,) = mended["waits"]
        low = [2, 4, 8, 16, 32, 64, 120]

        assert not has_succeeded(seen.folder, "mended", "store-while-damaged")
        assert has_succeeded(seen.folder, "mended")
        assert [wait["task"], wait["state"], wait["tries"]] == ["run", "up_for_retry", 1]
        for minutes, at_least in zip(wait["minutes"], low, strict=True):
            assert at_least <= minutes <= min(2 * at_least, 120)
        assert mended["state"] == "success"
        assert mended["tasks"]["run"] == ["success", 2, 7]

    def test_fails_at_once_with_an_invalid_configuration(self, seen: Seen) -> None:
        """The run of the invalid model fails with the message, and does not start anything."""
        typo = seen.report["runs"]["typo"]

        assert [typo["state"], typo["tasks"]] == ["failed", {"run": ["failed", 1, 7]}]
        where = f"{seen.folder}/typo.yaml: models.asked.ownr: is not a known key; did you mean"
        assert f"AirflowFailException: {where} 'owner'?" in seen.log

    def test_fails_at_once_without_a_day(self, seen: Seen) -> None:
        """A run that has neither a day nor an interval fails in its first of eight tries."""
        neither = seen.report["runs"]["neither"]

        assert neither["interval"] == [None, None]
        assert neither["waits"] == []
        assert neither["state"] == "failed"
        assert without_waiting(neither) == {
            "run": ["failed", 1, 7],
            "run_unsettled": ["failed", 1, 0],
        }
        assert "has no interval; trigger it with a day, such as 2026-03-01." in seen.log

    def test_fails_at_once_where_the_pipeline_refuses(self, seen: Seen) -> None:
        """A wrong configuration that only the pipeline notices gets one try of eight."""
        refused = seen.report["runs"]["blocked"]
        message = f"store: {seen.folder}/store-that-is-a-file is a file; name a folder"

        assert refused["waits"] == []
        assert refused["state"] == "failed"
        assert refused["tasks"]["run"] == ["failed", 1, 7]
        assert f"AirflowFailException: {message}" in seen.log


class TestFleets:
    """One DAG for many models: batches leave what the DAGs of single models leave."""

    def test_does_every_model_of_its_batches(self, seen: Seen) -> None:
        """A model whose log is late holds up no other; later days are those of each model."""
        fleet = seen.report["fleets"]["waits"]
        calls = ("run --as-of 2013-03-20", "run --as-of 2013-03-20 --unsettled")
        left = left_by_dag(seen.folder, "tardy", "store-of-waits")
        before = left_by_dag(seen.folder, "asked", "store-of-waits-before")

        assert fleet["state"] == "success"
        assert [wait["task"] for wait in fleet["waits"]] == ["batch.run"]
        assert [wait["state"] for wait in fleet["waits"]] == ["up_for_reschedule"]
        assert set(before) == days(18)
        assert left == left_by_command(seen.folder, "tardy", *calls)
        assert set(left) == days(18, 19)
        assert has_succeeded(seen.folder, "closed", "store-of-waits")
        assert not (seen.folder / "store-of-waits" / "runs" / "weekdays").exists()

    def test_fails_no_run_over_later_days(self, seen: Seen) -> None:
        """Bad logs of a day that is not due fail `run_unsettled` of their batch alone."""
        assert seen.report["fleets"]["waits"]["tasks"] == {
            "batch.run 0": ["success", 1, 7],
            "batch.run 1": ["success", 1, 7],
            "batch.update_assets 0": ["success", 1, 1],
            "batch.update_assets 1": ["success", 1, 1],
            "batch.run_unsettled 0": ["success", 1, 0],
            "batch.run_unsettled 1": ["failed", 1, 0],
        }
        assert "1 of the 2 models in this batch failed: damaged." in seen.log

    def test_tries_again_what_is_not_done(self, seen: Seen) -> None:
        """The retry reads mended logs, leaves finished models alone, and fails for missing ones."""
        fleet, folder = seen.report["fleets"]["fails"], seen.folder
        store = "store-of-fails"
        call = "run --as-of 2013-03-20"

        assert fleet["state"] == "failed"
        assert [wait["task"] for wait in fleet["waits"]] == ["batch.run"]
        assert [wait["state"] for wait in fleet["waits"]] == ["up_for_retry"]
        assert fleet["tasks"]["batch.run 0"] == ["failed", 2, 7]
        assert fleet["tasks"]["batch.run 1"] == ["success", 1, 7]
        assert "2 of the 2 models in this batch failed: flaky, missing." in seen.log
        for model in ("flaky", "sound"):
            left = left_by_dag(folder, model, store)
            expected = left_by_command(folder, model, call)
            assert {name: left[name] for name in expected} == expected
        assert not has_succeeded(folder, "missing", store)
        # The second try begins with the last model.
        _, _, then = seen.log.partition("flaky: processed 2013-03-18")
        assert "missing 2013-03-18" not in then.partition("DataError: ")[0]

    def test_updates_the_assets_of_models_that_succeeded(self, seen: Seen) -> None:
        """They are those of the DAGs of single models, also in a batch that failed.

        No day of `closed` has settled yet.
        """
        updated = [event for event in seen.report["updated"] if "fleet" in event[0]]

        assert sorted(updated) == [
            [ALL_IN_NEW_YORK, "calibration_asked", {"days": ["2013-03-18"]}],
            [ALL_IN_NEW_YORK, "calibration_damaged", {"days": ["2013-03-18"]}],
            [ALL_IN_NEW_YORK, "calibration_tardy", {"days": ["2013-03-18"]}],
            [PLANES_IN_NEW_YORK, "calibration_flaky", {"days": ["2013-03-18"]}],
            [PLANES_IN_NEW_YORK, "calibration_sound", {"days": ["2013-03-18"]}],
        ]

    def test_has_a_dag_for_each_owner_schedule_and_time_zone(self, seen: Seen) -> None:
        """Models share a DAG if they share these; one with an invalid key is among them."""
        by_all, by_owner = (seen.report["parsed_as_fleet"][by] for by in ("all 3", "owner 3"))
        schedules = ["0 * * * *", "0 22 * * 1-5", "0 6 * * *"]

        assert sorted(by_all["schedules"].values()) == schedules
        assert set(by_all["owners"].values()) == {"airflow"}
        assert sorted(by_owner["owners"].values()) == ["airflow"] * 3
        assert "asked.ownr: is not a known key" in by_all["docs"][ALL_IN_NEW_YORK]
        assert by_all["tasks"][ALL_IN_NEW_YORK] == [
            "batch.run",
            "batch.run_unsettled",
            "batch.update_assets",
        ]

    @pytest.mark.parametrize(
        ("by", "message"),
        [
            ("each 3", "CALIBRATION_MONITOR_FLEET: must be all or owner, got 'each'; unset it for"),
            ("all 0", "CALIBRATION_MONITOR_BATCH: must be a number from 1 to 1000, got '0'."),
        ],
    )
    def test_refuses_other_settings(self, seen: Seen, by: str, message: str) -> None:
        """The import error of the file says which setting it was, and what is possible."""
        assert message in seen.report["parsed_as_fleet"][by]["error"]


class TestSlack:
    """Messages that need no Alertmanager."""

    def message(self, seen: Seen, heading: str) -> list[str]:
        """Find the lines of the only message with a heading."""
        (found,) = (m["text"].split("\n") for _, m in seen.posts if m["text"].startswith(heading))
        return list(found)

    def test_names_model_day_error_and_remedy(self, seen: Seen) -> None:
        """A run whose logs are missing after the deadline is told in the words of the error."""
        first, error, links = self.message(seen, "*lost*")

        assert {where for where, _ in seen.posts} == {"/T/B/secret"}
        assert first == "*lost*, 2013-03-18: the run has failed."
        assert error.startswith("lost 2013-03-18: no outcomes of 2013-03-18 at ")
        runbook, log = links.split(" · ")
        assert runbook == "<https://runbooks.test/runbook.md#calibrationdataerror|Runbook>"
        assert log.startswith("<https://airflow.test/dags/calibration_lost/runs/")
        assert log.endswith("/tasks/run?try_number=1|Log>")

    def test_names_a_wrong_call(self, seen: Seen) -> None:
        """A run without a day is told with the way to call it right."""
        first, error, links = self.message(seen, "*asked*, no day: the run has failed.\nmanual__")

        assert first == "*asked*, no day: the run has failed."
        assert error.endswith(": has no interval; trigger it with a day, such as 2026-03-01.")
        assert links.startswith("<https://runbooks.test/runbook.md#calibrationevaluationmissing|")

    def test_tells_nothing_else(self, seen: Seen) -> None:
        """Retries, days that are not due and successes are no news; nor is all without Slack."""
        states = {label: run["state"] for label, run in seen.report["runs"].items()}
        failed = [label for label, state in states.items() if state == "failed"]

        of_submitted = {"submitted in vain", "submitted and killed", "refused"}
        others = {"lost", "neither", "typo", "blocked", "untold"}
        assert set(failed) == others | of_submitted
        # One is without Slack, and one still has retries when the driver of Airflow ends it.
        of_fleets = 1
        told = len(set(failed) - {"untold", "refused"}) + of_fleets
        assert len(seen.posts) == told

    def test_names_the_models_of_a_batch(self, seen: Seen) -> None:
        """A batch that has finally failed is told once, with what failed in its last try."""
        first, failed, error, links = self.message(seen, "*calibration_fleet")

        assert first == f"*{PLANES_IN_NEW_YORK}*: a batch has failed."
        assert failed == "1 of the 2 models in this batch failed: missing."
        assert error.startswith("missing 2013-03-18: no outcomes of 2013-03-18 at ")
        assert links.startswith(
            "<https://runbooks.test/runbook.md#calibrationdataerror|Runbook> · "
        )
        assert links.endswith("|Log>")


class TestAssets:
    """What other DAGs can be scheduled on."""

    def test_are_updated_by_every_successful_run(self, seen: Seen) -> None:
        """The update names the days that were processed."""
        updated = {dag: [name, extra] for dag, name, extra in seen.report["updated"]}

        assert updated["calibration_asked"] == ["calibration_asked", {"days": ["2013-03-08"]}]
        assert "calibration_lost" not in updated


class TestParsing:
    """Airflow parses the file all the time, and shows what is wrong with it."""

    def test_makes_a_dag_of_every_model(self, seen: Seen) -> None:
        """Each model has a DAG, whose tasks take turns, and no past run is made up."""
        parsed = seen.report["parsed"]

        assert parsed["errors"] == {}
        assert set(parsed["dags"]) == {f"calibration_{name}" for name in MODELS}
        for dag_id, dag in parsed["dags"].items():
            assert dag["catchup"] is False
            assert dag["at_a_time"] == {"wait_for_logs": None, "run": 1, "run_unsettled": 1}
            assert dag["asset"] == [dag_id]

    def test_builds_only_the_dag_of_a_task_that_starts(self, seen: Seen) -> None:
        """It is the DAG that the dag-processor sees; for a DAG of another name all are built."""
        dags, built = seen.report["parsed"]["dags"], seen.report["parsed_for_tasks"]

        for name in ("calibration_asked", "calibration_weekdays"):
            assert built[name] == {name: dags[name]}
        assert built["another_dag"] == dags

    def test_follows_the_configuration(self, seen: Seen) -> None:
        """Schedule, time zone, owner and severity of a model are those of its DAG."""
        dags = seen.report["parsed"]["dags"]
        asked, weekdays = dags["calibration_asked"], dags["calibration_weekdays"]

        assert asked["schedule"] == ["0 6 * * *", "America/New_York"]
        assert weekdays["schedule"] == ["0 22 * * 1-5", "America/New_York"]
        assert [asked["owner"], weekdays["owner"]] == ["flights-team", "airflow"]
        assert asked["tags"] == ["calibration", "ticket"]
        assert dags["calibration_hourly"]["tags"] == ["calibration", "page"]
        assert "**asked**" in asked["doc"]

    def test_says_in_the_form_what_to_enter(self, seen: Seen) -> None:
        """Who triggers a run by hand is asked for a day, with an example."""
        form = seen.report["parsed"]["dags"]["calibration_asked"]["form"]

        assert form.startswith("The day of predictions to process, such as 2026-03-01. Always")

    def test_imports_nothing_heavy(self, seen: Seen) -> None:
        """Parsing imports the configuration and the errors of this program, and no engine."""
        imported = seen.report["parsed"]["imported"]
        ours = {name for name in imported if name.partition(".")[0] == "monitor"}

        assert {name for name in ours if not name.startswith("monitor.config.")} == {
            "monitor",
            "monitor.config",
            "monitor.base",
            "monitor.base.deadline",
            "monitor.base.errors",
            "monitor.base.machine",
            "monitor.base.public_names",
            "monitor.base.segment_names",
        }
        assert HEAVY.isdisjoint(name.partition(".")[0] for name in imported)

    @pytest.mark.parametrize(
        ("label", "message"),
        [
            ("unset", "ConfigError: CALIBRATION_MONITOR_CONFIG is not set; set it to the path of"),
            ("absent", "ConfigError: {folder}/absent.yaml: does not exist; write one with"),
            ("common", "ConfigError: {folder}/common.yaml: store: is missing; add it"),
        ],
    )
    def test_shows_what_is_wrong_with_common_keys(
        self, seen: Seen, label: str, message: str
    ) -> None:
        """A configuration that stops all makes no DAG, and its message is the import error."""
        parsed = seen.report["parsed_with"][label]

        assert parsed["tasks"] == {}
        assert message.format(folder=seen.folder) in parsed["error"]

    @pytest.mark.parametrize(
        ("label", "model", "message"),
        [
            ("typo", "asked", "{folder}/typo.yaml: models.asked.ownr: is not a known key; did you"),
            ("cron", "hourly", "{folder}/cron.yaml: models.hourly.schedule: "),
            ("cron", "hourly", "got 'at noon'; correct the value."),
        ],
    )
    def test_shows_what_is_wrong_with_one_model(
        self, seen: Seen, label: str, model: str, message: str
    ) -> None:
        """The DAG of the invalid model shows its message; the others are as ever."""
        parsed = seen.report["parsed_with"][label]
        others = {f"calibration_{name}" for name in MODELS if name != model}

        assert parsed["error"] == ""
        assert set(parsed["tasks"]) == {f"calibration_{name}" for name in MODELS}
        for dag_id in others:
            assert parsed["tasks"][dag_id] == ["run", "run_unsettled", "wait_for_logs"]
        assert parsed["tasks"][f"calibration_{model}"] == ["run"]
        assert message.format(folder=seen.folder) in parsed["docs"][f"calibration_{model}"]
