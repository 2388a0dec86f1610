"""How the workers of pytest-xdist share the tests: whole files, and first what takes longest."""

from xdist.scheduler import LoadScopeScheduling

# Beginnings of paths. The files of one line stay together, because they share what starts slowly:
# a Java machine, the store of two models, a Prometheus.
LONGEST = (
    "tests/dags/test_stack.py",
    "tests/logs/test_spark",
    "tests/alerts/test_restarts.py",
    "tests/alerts/test_messages.py",
    "tests/alerts/test_alertmanager.py",
    "tests/logs/test_shapes.py",
    "tests/grafana/",
    "tests/demo/",
    "tests/alerts/test_rules.py",
    "tests/dags/test_dag.py",
    "tests/site/",
    "tests/report/test_page",
)


def place(nodeid: str) -> int:
    """Find the place of a test among the longest; all others come after them."""
    return next((i for i, start in enumerate(LONGEST) if nodeid.startswith(start)), len(LONGEST))


class Units(LoadScopeScheduling):
    """Gives a worker that has little left the next file, or the next files that stay together."""

    def _split_scope(self, nodeid: str) -> str:
        """Name the unit of a test."""
        return dict(enumerate(LONGEST)).get(place(nodeid), nodeid.partition("::")[0])
