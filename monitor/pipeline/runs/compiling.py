"""A first run waits for the compiler, so it lets a second process compile half of it."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from monitor.base.machine import cores
from monitor.evaluation import compile_ahead


@contextmanager
def compiled_meanwhile(*, needed: bool) -> Iterator[None]:
    """Let another process compile what evaluations call, if it is needed and on no disk.

    Both keep what they compile and take turns, so neither compiles what the other has. The other
    process ends with the block at the latest; where none can be started, this one compiles all. Of
    many runs that begin at the same moment one has such a process.
    """
    other = None
    if needed and cores() > 1 and compile_ahead.claim():
        with suppress(OSError):
            other = subprocess.Popen(  # noqa: S603 - this program
                [sys.executable, "-P", "-m", compile_ahead.__name__],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
    try:
        yield
    finally:
        if other:
            other.terminate()
            other.wait()
