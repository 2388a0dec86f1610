"""A client of a real Spark Connect server leaves what DuckDB leaves."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from monitor.base.errors import ConfigError
from monitor.config import Engine
from monitor.logs import Databases
from monitor.logs.engines.spark import connect
from tests.conftest import DAY, DAY_BEFORE, Project
from tests.support.servers import free_port

# Compiled queries and rows in several tasks, unlike in the other tests of Spark.
ENGINE = """\
engine:
  kind: spark
  conf:
    spark.remote: "sc://127.0.0.1:{port}"
    spark.sql.codegen.wholeStage: true
    spark.sql.codegen.factoryMode: FALLBACK
    spark.sql.leafNodeDefaultParallelism: 2
store: store"""


def test_a_client_leaves_what_duckdb_leaves(spark: Databases, project: Project) -> None:
    """Both days, read by Spark and by its tasks, have the same summaries and evaluations."""
    expected = project.results()
    shutil.rmtree(project.folder / "store")
    port = spark.spark.conf.get("spark.connect.grpc.binding.port")
    project.configure("store: store", ENGINE.format(port=port))
    project.configure("    windows", "    ids: {cast: integer}\n    windows")
    command = [Path(sys.executable).with_name("calibration-monitor"), "backfill", "--model", "ctr"]

    done = subprocess.run(
        [*command, "--from", f"{DAY_BEFORE}", "--to", f"{DAY}"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "Warning" not in done.stderr
    assert project.results() == expected


def test_a_server_that_does_not_answer_is_named() -> None:
    """A wrong address is an error at once, not after minutes of trying."""
    port = free_port()

    with pytest.raises(ConfigError, match=f"127.0.0.1:{port}: no Spark Connect server answers"):
        connect(Engine(kind="spark", conf={"spark.remote": f"sc://127.0.0.1:{port}"}))
