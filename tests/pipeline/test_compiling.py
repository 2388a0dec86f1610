"""What another process compiles for a first run."""

import psutil
import pytest

from monitor.pipeline.runs.run import compile_ahead, compiled_meanwhile


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
