"""A Spark session that reads logs too large for one machine, and what its errors mean."""

import json
import re
import socket
import sys
import warnings
from typing import Any
from urllib.parse import urlsplit

from monitor.base.errors import ConfigError, DataError, Fault
from monitor.config import Engine
from monitor.config.schema import MASTER, REMOTE

# Spark reports the progress of every query, which would garble ours.
OWN_CONF = {"spark.ui.showConsoleProgress": "false"}
# A row that Spark moves holds many rows of a log.
OF_SESSION = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "64",
}
OF_TASK = "told by a task of calibration-monitor: "  # begins our own error inside one of Spark
CONNECT_PORT = 15002
PATIENCE = 10.0  # seconds
CAUSE = "Caused by: "
MISSING_MODULE = re.compile(r"ModuleNotFoundError: No module named '(\w+)")


def connect(engine: Engine) -> Any:
    """Return the session of this process, or start one as the configuration says.

    Raises
    ------
    ConfigError
        If PySpark is not installed, or the cluster cannot be reached.
    """
    ignore_warnings()
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        msg = (
            f"engine.kind is spark, which needs PySpark ({error}); "
            f"pip install 'calibration-monitor[spark]', or set kind: duckdb."
        )
        raise ConfigError(msg) from None
    active = SparkSession.getActiveSession()
    if active is not None and not (engine.master or engine.remote):
        return active
    if engine.remote:
        _must_answer(engine.remote)
    try:
        session = _configured(SparkSession.builder, engine).getOrCreate()
    except Exception as error:  # of Java, of gRPC or of Spark itself
        place = engine.remote or engine.master or "Spark"
        msg = f"{place}: no Spark session could be started ({first_line(error)}); check engine."
        raise ConfigError(msg) from error
    if (engine.master or "").startswith("local"):
        # Spark's default, python3, may be another one than this.
        session.sparkContext.pythonExec = sys.executable
    return session


def _configured(builder: Any, engine: Engine) -> Any:
    """Say where Spark runs, and with which settings."""
    builder = builder.appName("calibration-monitor")
    if engine.remote:
        builder = builder.remote(engine.remote)
    elif engine.master:
        builder = builder.master(engine.master)
    # A Connect server, which others use too, lets a session set only what is its own.
    own = OF_SESSION if engine.remote else {**OWN_CONF, **OF_SESSION}
    for key, value in {**own, **engine.conf}.items():
        if key not in {MASTER, REMOTE}:
            builder = builder.config(key, value)
    return builder


def _must_answer(remote: str) -> None:
    """Raise ConfigError if nothing listens at an address; Spark would try for minutes."""
    try:
        place = urlsplit(remote)
        address = place.hostname or "", place.port or CONNECT_PORT
        with socket.create_connection(address, timeout=PATIENCE):
            return
    except (OSError, ValueError) as error:
        msg = (
            f"{remote}: no Spark Connect server answers ({first_line(error)}); start it, or "
            f"correct spark.remote under engine.conf in the configuration."
        )
        raise ConfigError(msg) from None


def ignore_warnings() -> None:
    """Silence the warning about a new pandas, which Spark imports but does not use here."""
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)


def is_of_spark(error: Exception) -> bool:
    """Return whether an error comes from Spark."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    return isinstance(error, (Py4JError, PySparkException))


def word(what: str, error: Exception) -> ConfigError | DataError:
    """Word an error of Spark: our own error in a task, or else what Spark says."""
    before, is_ours, after = str(error).partition(OF_TASK)
    if is_ours:
        (message, fault), _ = json.JSONDecoder().raw_decode(after)
        return DataError(message, Fault(**fault)) if fault else ConfigError(message)
    if missing := MISSING_MODULE.search(before):
        msg = (
            f"{what}: the tasks of Spark run a Python without {missing[1]}; install "
            f"calibration-monitor on the machines that run tasks, and set PYSPARK_PYTHON to its "
            f"Python before Spark starts."
        )
        return ConfigError(msg)
    msg = (
        f"{what}: a task of Spark failed ({first_line(error)}); see the log of Spark, then rerun "
        f"this day."
    )
    return DataError(msg, Fault("logs", "unreadable", "a task of Spark failed"))


def first_line(error: Exception) -> str:
    """Show an error on one line: its last cause, if it names causes."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    causes = [line.removeprefix(CAUSE) for line in lines if line.startswith(CAUSE)]
    text = next(iter(causes[-1:] or lines), type(error).__name__)
    return "".join(sign if sign.isprintable() else "?" for sign in text)
