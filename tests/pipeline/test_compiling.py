"""What another process compiles for a first run."""

import psutil
import pytest

from monitor.pipeline.compiling import compile_ahead, compiled_meanwhile

# In a process of its own, because here other tests may have compiled more.
SAME_TYPES = """
from monitor.demo.compiling import main
from monitor.evaluation import compile_ahead
from monitor.metrics.core import compiled

compile_ahead.main()
before = {f: f.signatures for f in compiled._LOADED.values() if f.signatures}
main()
later = {f.__name__: f.signatures for f, known in before.items() if f.signatures != known}
print(len(before), later)
"""


def children() -> set[int]:
    """List the processes that this one has started."""
    return {child.pid for child in psutil.Process().children()}


def test_it_ends_with_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """However far it has come; its error is that of nobody."""
    before = children()
    monkeypatch.setattr(compile_ahead, "claim", lambda: True)

    with compiled_meanwhile(needed=True):
        assert len(children() - before) == 1

    assert children() <= before


def test_there_is_none_for_what_is_compiled() -> None:
    """Nor on a machine with one core, where it would take turns with the run."""
    before = children()
    compile_ahead.main()

    with compiled_meanwhile(needed=True):
        assert children() <= before
