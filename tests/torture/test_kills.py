"""The torture itself works: it kills, repairs, compares, and notices other bytes."""

import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.torture.kills import Torture
from tests.torture.world import World


def test_a_kill_leaves_the_bytes_of_a_clean_run() -> None:
    """A kill on this disk, then a repair: the same bytes as before."""
    ended = subprocess.run(
        [sys.executable, "-m", "tests.torture.kills", "--kills", "1", "--place", "local"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 0, ended.stderr
    assert "'kills': 1" in ended.stdout
    assert ended.stdout.endswith(": every repair gave the same bytes\n")


def test_other_bytes_are_noticed(tmp_path: Path) -> None:
    """A file that differs, is missing or is new is not equal to that of a clean run."""
    world = World(tmp_path, "store", tmp_path / "log", is_disk=False)
    state = Torture(world, random.Random(1), {"a": b"1", "b": b"2"})  # noqa: S311
    found = {"a": b"1", "b": b"3", "c": b"4"}

    assert [state.is_equal(name, found) for name in "abc"] == [True, False, False]
    with pytest.raises(AssertionError, match="after 0 kills: other bytes"):
        state.fail("other bytes")
    assert state.done == Counter()
