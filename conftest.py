"""Settings of every test run."""

import gc
import hashlib
import os
import signal
import sys
from collections.abc import Generator
from importlib.metadata import version
from pathlib import Path
from socketserver import BaseServer

import pytest
from hypothesis import settings

from tests.support.slow import is_slow, place
from tests.support.workers import Units, first_alone

ROOT = Path(__file__).parent

# numba's cache does not notice a change in a function of another file, so every version of
# monitor/metrics gets its own cache.
source = b"".join(path.read_bytes() for path in sorted((ROOT / "monitor/metrics").rglob("*.py")))
cache = ROOT / ".pytest_cache" / "numba" / hashlib.sha256(source).hexdigest()[:16]
os.environ["NUMBA_CACHE_DIR"] = str(cache)

# Workers share the cores, and threads of linear algebra that wait for each other occupy them: the
# fits of some tests took ten times as long. Read when numpy is imported, which is later.
os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

# Prometheus's programs spend a fifth of their seconds on looking for garbage, of which there is
# little.
os.environ.setdefault("GOGC", "400")

# Workers get it from their parent, and consoles that are made with it keep that width.
os.environ.pop("COLUMNS", None)

# Tests start hundreds of programs, and each would compile the sources again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A shell lets what it starts in the background ignore interrupts, and programs of tests would
# inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Files are forced to the disk against power cuts, which no test survives, and that takes longer
# than to write them. As with PostgreSQL's fsync=off. The programs that tests start do force them.
os.fsync = lambda _descriptor: None

# Servers of Python notice within so many seconds, instead of half a second, that they shall stop.
BaseServer.serve_forever.__defaults__ = (0.05,)

# Between two searches for garbage. With Python's 700 they take a fiftieth of the tests' time.
NEW_OBJECTS = 50_000

# No test asserts a time, and the first call of a compiled function takes seconds.
settings.register_profile("project", deadline=None)
settings.load_profile("project")


def pytest_configure(config: pytest.Config) -> None:
    """Allow PySpark 4.0 to leave sockets to the garbage collector."""
    if version("pyspark").startswith("4.0."):
        config.addinivalue_line("filterwarnings", "ignore:unclosed <socket:ResourceWarning")


def compiled() -> bool:
    """Tell whether most tests have been compiled, which pytest does when it first collects them."""
    files = [*(ROOT / "tests").rglob("test_*.py")]
    return 2 * len([*(ROOT / "tests").rglob("__pycache__/test_*-pytest-*.pyc")]) > len(files)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path,
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for examples only where there are some: to look, a module is loaded and read through."""
    found = yield
    if file_path.suffix != ".py" or b">>> " in file_path.read_bytes():
        return found
    return [file for file in found if type(file) is pytest.Module]


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Let one worker compile the tests of a fresh clone, which takes most of a minute.

    What is imported and collected stays, so a fifth of the time would go into looking for garbage,
    and a twentieth of the time of the tests.
    """
    gc.disable()
    try:
        if not hasattr(session.config, "workerinput"):
            return (yield)
        with first_alone(cache.with_name("collecting.lock"), compiled):
            return (yield)
    finally:
        gc.freeze()
        gc.enable()
        gc.set_threshold(NEW_OBJECTS)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Let one worker more than there are cores take tests, because some wait for programs.

    A worker takes some twenty seconds of processor time to load what it tests, and workers that
    share a core push each other's data out of its cache.
    """
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Share whole files, in the order of collection, unless another --dist is asked for."""
    config.option.loadscopereorder = False
    return Units(config, log) if config.option.dist == "load" else None


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what is slow; workers begin with it, so that all end at about the same time."""
    for item in items:
        if is_slow(item):
            item.add_marker(pytest.mark.slow)
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: place(item.nodeid))
