"""Which tests take long: workers begin with them, and `make quick` leaves them out."""

from types import ModuleType

import pytest

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
STARTERS = {
    "airflow",
    "alertmanager",
    "chromium",
    "installed",
    "listening",
    "pushgateway",
    "serving",
    "started",
}
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
