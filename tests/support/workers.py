"""How the workers of pytest-xdist share the tests, and which of them `make quick` leaves out."""

import fcntl
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

# What takes longest, as beginnings of paths. The files of one line stay together, because they
# share what starts slowly: a Java machine, the store of two models, a Prometheus.
LONGEST = (
    "tests/dags/test_stack.py",
    "tests/logs/test_spark",
    "tests/alerts/test_restarts.py",
    "tests/alerts/test_messages.py",
    "tests/alerts/test_alertmanager.py",
    "tests/pipeline/test_run.py",
    "tests/dags/test_dag.py",
    "tests/logs/test_shapes.py",
    "tests/grafana/test_",
    "tests/demo/",
    "tests/torture/",
    "tests/alerts/test_rules.py",
    "tests/site/test_site.py",
    "tests/report/test_page",
    "tests/logs/test_logs.py",
    "tests/logs/test_batches.py",
    "tests/cli/test_init.py",
    "tests/cli/test_cli_refusals.py",
    "tests/metrics/test_metrics_page.py",
    "tests/test_wheel.py",
    "tests/pipeline/",
    "tests/fuzz/",
    "tests/studies/",
)

# The names by which files of tests start servers, browsers, Java and Airflow.
STARTERS = {"airflow", "alertmanager", "chromium", "installed", "listening", "serving", "started"}
SERVERS = {"bucket", "filled", "spark"}  # fixtures


def place(nodeid: str) -> int:
    """Find the place of a test among the longest; all others come after them."""
    return next((i for i, start in enumerate(LONGEST) if nodeid.startswith(start)), len(LONGEST))


def is_slow(item: pytest.Item) -> bool:
    """Tell whether a test takes long, or is in a file that starts servers."""
    module = getattr(item, "module", None)
    starts = isinstance(module, ModuleType) and not STARTERS.isdisjoint(vars(module))
    fixtures = getattr(item, "fixturenames", ())
    return starts or not SERVERS.isdisjoint(fixtures) or place(item.nodeid) < len(LONGEST)


class Units(LoadScopeScheduling):
    """Gives a worker that has little left the next file, or the next files that stay together."""

    def _split_scope(self, nodeid: str) -> str:
        """Name the unit of a test."""
        return dict(enumerate(LONGEST)).get(place(nodeid), nodeid.partition("::")[0])


def take_turns_caching() -> None:
    """Let one worker at a time add to the compiler's cache of a function.

    Two that add it for other types of arguments would both give their files the next number.
    """
    from numba.core.caching import IndexDataCacheFile  # noqa: PLC0415 - it reads NUMBA_CACHE_DIR

    save = IndexDataCacheFile.save

    def save_alone(self: Any, key: object, data: object) -> None:
        with Path(f"{self._index_path}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            save(self, key, data)

    IndexDataCacheFile.save = save_alone
