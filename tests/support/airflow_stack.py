"""All programs of an Airflow on PostgreSQL, started for a test and stopped by their own ids."""

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from time import monotonic, sleep
from typing import Any, TypeVar

import psycopg
import pytest

from tests.support.paths import ROOT
from tests.support.postgresql import postgresql, running
from tests.support.servers import free_port

T = TypeVar("T")

PATIENCE = 1800  # seconds after which something counts as stuck
PROGRAMS = ROOT / "tests" / "support" / "airflow_programs.py"
PAGE = ROOT / "docs" / "airflow.md"  # with a DAG that follows another
WORKERS = ("one", "two")


@dataclass(frozen=True)
class Stack:
    """A running Airflow.

    Attributes
    ----------
    folder : Path
        Its DAGs, configuration and logs.
    connection : Connection
        To its database.
    api : str
        Where the api-server listens, host:port.
    """

    folder: Path
    connection: psycopg.Connection[Any]
    api: str

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Ask or change the database of Airflow."""
        done = self.connection.execute(statement, values)
        return done.fetchall() if done.description else []

    def wait_for(self, look: Callable[[], T | None]) -> T:
        """Look until there is something; show the logs if patience ends."""
        deadline = monotonic() + PATIENCE
        while monotonic() < deadline:
            if (found := look()) is not None:
                return found
            sleep(0.5)
        logs = "\n".join(path.read_text()[-3000:] for path in self.folder.glob("*.log"))
        return pytest.fail(f"nothing came of it; {self.sql(STATES)}\n{logs}")

    def request(self, method: str, path: str, content: object = None, token: str = "") -> Any:
        """Ask the api-server."""
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        with closing(HTTPConnection(self.api, timeout=PATIENCE)) as connection:
            connection.request(method, path, json.dumps(content), headers)
            answer = connection.getresponse()
            text = answer.read().decode()
        assert answer.status < 300, text
        return json.loads(text)

    def token(self) -> str:
        """Log in, once the api-server listens."""

        def look() -> str | None:
            with suppress(ConnectionError):
                return str(self.request("GET", "/auth/token")["access_token"])
            return None

        return self.wait_for(look)

    def backfill(self, dag_id: str, first: str, last: str) -> None:
        """Queue the runs between two moments, as the form of the web interface does."""
        content = {"dag_id": dag_id, "from_date": first, "to_date": last}
        self.request("POST", "/api/v2/backfills", content, self.token())

    def unpause(self, *dag_ids: str) -> None:
        """Let DAGs be scheduled, as the switch of the web interface does."""
        token = self.token()
        for dag_id in dag_ids:
            self.request("PATCH", f"/api/v2/dags/{dag_id}", {"is_paused": False}, token)

    def trigger(self, dag_id: str, conf: Mapping[str, str]) -> str:
        """Trigger a DAG by hand, and give the id of the run."""
        token = self.request("GET", "/auth/token")["access_token"]
        content = {"logical_date": None, "conf": conf}
        made = self.request("POST", f"/api/v2/dags/{dag_id}/dagRuns", content, token)
        return str(made["dag_run_id"])


STATES = """\
select dag_id, run_id, task_id, state, try_number, hostname, pid from task_instance
order by dag_id, run_id, task_id"""


def environment_of(folder: Path, database: str, api: str) -> dict[str, str]:
    """Configure an Airflow whose DAGs, configuration and home are in a folder."""
    ours = {k: v for k, v in os.environ.items() if not k.startswith(("AIRFLOW", "PYTHONWARN"))}
    sqlalchemy = database.replace("postgresql:", "postgresql+psycopg:")
    return ours | {
        "AIRFLOW_HOME": str(folder / "home"),
        "AIRFLOW__CORE__DAGS_FOLDER": str(folder / "dags"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
        "AIRFLOW__CORE__PARALLELISM": "3",
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"http://{api}/execution/",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True",
        "AIRFLOW__API__SECRET_KEY": "secret of this test",
        "AIRFLOW__API_AUTH__JWT_SECRET": "a secret of this test that is long enough " * 2,
        # The files do not change, and to parse them every half minute takes much of a core.
        "AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "3600",
        # On a busy machine more than the usual 50 seconds pass between the parsing and its record.
        "AIRFLOW__DAG_PROCESSOR__STALE_DAG_THRESHOLD": "3600",
        "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT_DETECTION_INTERVAL": "2",
        # While it waits for tasks, the scheduler would ask the database every second.
        "AIRFLOW__SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": "3",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": sqlalchemy,
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN_ASYNC": sqlalchemy,
        "CALIBRATION_MONITOR_CONFIG": str(folder / "config"),
    }


@contextmanager
def redis(folder: Path) -> Iterator[str]:
    """Run an empty Redis that writes nothing to the disk."""
    port = free_port()
    options = ("--bind", "127.0.0.1", "--port", str(port), "--save", "", "--appendonly", "no")
    with running(folder / "redis.log", shutil.which("redis-server") or "", *options):
        yield f"redis://127.0.0.1:{port}/0"


@contextmanager
def airflow(folder: Path, *, celery: bool) -> Iterator[Stack]:
    """Start the programs of Airflow: api-server, scheduler, dag-processor, workers.

    The triggerer is left out, because no task of ours defers.
    """
    (folder / "dags").mkdir()
    shutil.copy(ROOT / "dags" / "calibration.py", folder / "dags")
    (example,) = re.findall("```python\n(from airflow.*?)```", PAGE.read_text(), re.DOTALL)
    follower = example.replace("calibration_fraud", "calibration_daily")
    (folder / "dags" / "follower.py").write_text(follower)
    # The same file with the settings of a fleet, which Airflow parses in a process of its own.
    settings = {"CALIBRATION_MONITOR_FLEET": "all"}
    settings["CALIBRATION_MONITOR_CONFIG"] = str(folder / "fleet")
    whole = (ROOT / "dags" / "calibration.py").read_text()
    (folder / "dags" / "fleet.py").write_text(f"import os\n\nos.environ |= {settings}\n{whole}")
    with ExitStack() as programs:
        database = programs.enter_context(postgresql(folder, "airflow"))
        api = f"127.0.0.1:{free_port()}"
        environment = environment_of(folder, database, api)
        port = api.partition(":")[2]
        calls = {
            "migration": ("db", "migrate"),
            "api-server": ("api-server", "--host", "127.0.0.1", "--port", port, "-w", "1"),
            "scheduler": ("scheduler", "-s"),
            "dag-processor": ("dag-processor",),
        }
        if celery:
            environment |= {
                "AIRFLOW__CORE__EXECUTOR": "CeleryExecutor",
                "AIRFLOW__CELERY__BROKER_URL": programs.enter_context(redis(folder)),
                "AIRFLOW__CELERY__RESULT_BACKEND": "db+"
                + environment["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"],
            }
            alone = ("-c", "1", "--without-mingle", "--without-gossip")
            worker = ("celery", "worker", "-s", *alone)
            calls |= {f"worker-{name}": (*worker, "-H", f"{name}@test") for name in WORKERS}
        logged = [(f"{folder / name}.log", words) for name, words in calls.items()]
        log, call = folder / "airflow.log", (sys.executable, PROGRAMS, json.dumps(logged))
        connection = programs.enter_context(psycopg.connect(database, autocommit=True))
        process = programs.enter_context(running(log, *call, env=environment))
        stack = Stack(folder, connection, api)
        stack.wait_for(lambda: have_begun(process.poll, folder) or None)
        yield stack


def have_begun(ended: Callable[[], object], folder: Path) -> bool:
    """Tell whether the database is ready and the programs begin; fail if it cannot be made."""
    logs = "\n".join(path.read_text() for path in folder.glob("*.log"))
    assert ended() is None, logs
    return (folder / "scheduler.log").exists()
