"""Fixtures of several test files: a project with valid past days, the command, and Spark."""

import io
import shutil
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from monitor import cli
from monitor.config import Engine
from monitor.logs import Databases, open_databases
from tests.support.cases import ALL
from tests.support.servers import free_port
from tests.support.two_models import write_store
from tests.support.workers import made_once

DAY_BEFORE, DAY, DAY_AFTER = date(2026, 3, 1), date(2026, 3, 2), date(2026, 3, 3)
ROWS = 40
CONFIG = """\
store: store
models:
  ctr:
    predictions: {path: "predictions/{day}.parquet", time: scored_at}
    outcomes: {path: "outcomes/{day}.parquet", time: observed_at}
    segments: {column: country, values: [DE, FR]}
    windows: [1, 3]
"""

BEFORE = pytest.StashKey[set[str]]()  # what the temporary folder has before the first test

OF_SPARK = {
    "spark.master": "local[2]",
    "spark.driver.memory": "1g",
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    # Compiling costs more than running queries of a few rows, and so does verifying Spark's own
    # classes. With less room for objects, classes and compiled code, Java would clear them out
    # again and again.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC "
    "-XX:ReservedCodeCacheSize=256m -XX:-UseCodeCacheFlushing -Xms1g -Xmn600m "
    "-XX:MetaspaceSize=256m -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    # A few rows need no more than one task, and Spark's own steps of a plan no check.
    "spark.sql.leafNodeDefaultParallelism": "1",
    "spark.sql.lightweightPlanChangeValidation": "false",
    "spark.buffer.pageSize": "1m",
    # The same Java machine is a Spark Connect server too.
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.connect.grpc.binding.address": "127.0.0.1",
}


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for no examples in docstrings of tests, which have none; every worker would."""
    return [file for file in (yield) if type(file) is pytest.Module]


def pytest_sessionstart(session: pytest.Session) -> None:
    """Remember what the temporary folder has; workers share it."""
    if not hasattr(session.config, "workerinput"):
        session.config.stash[BEFORE] = temporary_names()


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Name what is new in the temporary folder, be it of these tests or of another program."""
    if new := sorted(temporary_names() - config.stash.get(BEFORE, set())):
        terminalreporter.section("new in the temporary folder")
        terminalreporter.line(" ".join(new))


def pytest_report_header() -> str:
    """Say which cases a run tries."""
    return "drawn and crossed cases: " + ("all" if ALL else "a part (all: make test-all)")


def temporary_names() -> set[str]:
    """List the temporary folder, without what pytest, Java and killed commands of ours keep."""
    kept = "pytest-of-", "hsperfdata_", "calibration-"
    names = (path.name for path in Path(tempfile.gettempdir()).iterdir())
    return {name for name in names if not name.startswith(kept)}


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


Command = Callable[..., Ended]


@dataclass(frozen=True)
class Project:
    """A folder with monitor.yaml, the logs of two days, and a store that contains both."""

    folder: Path

    def rows(self, kind: str, day: date = DAY) -> dict[str, list[Any]]:
        """Return the valid rows of a day: 40 predictions, or their outcomes, a third of them 1."""
        midnight = datetime.combine(day, time(), UTC)
        ids = [100 * day.day + i for i in range(ROWS)]
        if kind == "predictions":
            return {
                "prediction_id": ids,
                "score": [(i + 1) / (ROWS + 2) for i in range(ROWS)],
                "country": ["DE", "FR", "IT", None] * (ROWS // 4),
                "scored_at": [midnight] * ROWS,
            }
        return {
            "prediction_id": ids,
            "outcome": [int(i % 3 == 0) for i in range(ROWS)],
            "observed_at": [midnight + timedelta(hours=1)] * ROWS,
        }

    def path(self, kind: str, day: date | str = DAY) -> Path:
        """Name the file of a log, or any other below its folder."""
        return self.folder / kind / f"{day}.parquet"

    def write(self, kind: str, rows: Mapping[str, Any] | pa.Table, day: date | str = DAY) -> None:
        """Write one file of a log."""
        self.path(kind, day).parent.mkdir(parents=True, exist_ok=True)
        table = rows if isinstance(rows, pa.Table) else pa.table(dict(rows))
        pq.write_table(table, self.path(kind, day))

    def configure(self, old: str, new: str) -> None:
        """Change the configuration."""
        config = self.folder / "monitor.yaml"
        text = config.read_text()
        assert old in text
        config.write_text(text.replace(old, new))

    def results(self) -> dict[str, bytes]:
        """Read every result in the store."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for kind in ("summaries", "evaluations", "verdicts")
            for path in sorted((self.folder / "store" / kind).rglob("*"))
            if path.is_file()
        }


def run_command(*arguments: object) -> Ended:
    """Run the command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["calibration-monitor", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            cli.main()
    return Ended(int(stop.value.code or 0), out.getvalue(), err.getvalue())


@pytest.fixture(scope="session")
def command() -> Command:
    """Run the command in this process and return how it ended."""
    return run_command


@pytest.fixture(scope="session")
def finished_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the project that every test gets a copy of."""
    return made_once(tmp_path_factory, "finished", finish)


def finish(folder: Path) -> None:
    """Write the logs of two days and process them."""
    project = Project(folder)
    (project.folder / "monitor.yaml").write_text(CONFIG)
    for day in (DAY_BEFORE, DAY):
        project.write("predictions", project.rows("predictions", day), day)
        project.write("outcomes", project.rows("outcomes", day), day)
    project.write("outcomes", pq.read_table(project.path("outcomes")).slice(0, 0), DAY_AFTER)
    done = run_command(
        *("backfill", "--config", project.folder / "monitor.yaml", "--model", "ctr"),
        *("--from", DAY_BEFORE, "--to", DAY, "--json"),
    )
    assert done.code == 0, done.err


@pytest.fixture
def project(finished_project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Return a copy of the finished project, and change to its folder."""
    shutil.copytree(finished_project, tmp_path / "project")
    monkeypatch.chdir(tmp_path / "project")
    return Project(tmp_path / "project")


@pytest.fixture(scope="session")
def today() -> date:
    """Name the day after the last logs of the two models."""
    return datetime.now(UTC).date()


@pytest.fixture(scope="session")
def two_models(tmp_path_factory: pytest.TempPathFactory, today: date) -> Path:
    """Run the daily job on the logs of two models; the tests only read its folder."""
    return made_once(tmp_path_factory, f"two-{today}", lambda folder: write_store(folder, today))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Databases]:
    """Start Spark on this machine, once for all tests, because Java starts for many seconds.

    Their files are one unit in tests/support/slow.py, so that one worker has them all.
    """
    conf = {**OF_SPARK, "spark.connect.grpc.binding.port": free_port()}
    # Spark Connect leaves a folder for models there.
    folder = tmp_path_factory.mktemp("java")
    conf["spark.driver.extraJavaOptions"] += f" -Djava.io.tmpdir={folder}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)  # of the server, for its clients' tasks
        with open_databases(Engine(kind="spark", conf=conf)) as databases:
            databases.spark.sparkContext.setLogLevel("OFF")
            yield databases
    databases.spark.stop()
