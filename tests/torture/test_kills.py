"""The torture itself works: it kills, repairs, compares, and notices other bytes."""

import subprocess
import sys

from tests.support.paths import ROOT


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
