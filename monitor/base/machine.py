"""What this machine gives to this process: a container often gets less than the machine has.

Linux says it in files of control groups, version 2 (`cpu.max`, `memory.max`) or 1; elsewhere what
the machine has counts.
"""

import os
from collections.abc import Iterator
from math import ceil
from pathlib import Path

GROUPS, LIMITS = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")
# More threads take more memory, which only large days are worth (docs/scale.md).
MOST_THREADS, USUAL_MB = 4, 1500
# Objects between two searches for cycles among them. Nearly all that a run makes live until it
# ends, and with Python's default a tenth of the time of 500 segments went into the search. `show`
# makes fewer, so it never searches.
RARELY = 200_000


def cores(groups: Path = GROUPS, limits: Path = LIMITS) -> int:
    """Count the cores that this process may use, at least one.

    Examples
    --------
    >>> 1 <= cores() <= (os.cpu_count() or 1)
    True
    """
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    allowed = [float(there or 1)]
    for folder in _folders("cpu", groups, limits):
        words = _words(folder / "cpu.max") or [
            word for name in ("quota", "period") for word in _words(folder / f"cpu.cfs_{name}_us")
        ]
        match words:
            case [quota, period] if quota.isdigit() and period.isdigit():
                allowed.append(int(quota) / int(period))
    return max(1, ceil(min(allowed)))


def threads_to_use() -> int:
    """Choose `engine.threads`: the cores of this process, at most four."""
    return min(MOST_THREADS, cores())


def memory_to_use(groups: Path = GROUPS, limits: Path = LIMITS) -> int:
    """Choose `engine.memory_mb`: 1,500, or half of what this process may use if that is less.

    The other half is for the program, and for what other processes of a container take.

    Examples
    --------
    >>> 100 <= memory_to_use() <= 1500
    True
    """
    try:
        allowed = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    except (AttributeError, OSError, ValueError):  # not Linux
        allowed = []
    for folder in _folders("memory", groups, limits):
        for name in ("memory.max", "memory.limit_in_bytes"):
            allowed += [int(word) for word in _words(folder / name) if word.isdigit()]
    return max(100, min([USUAL_MB, *(size // 2 // 10**6 for size in allowed)]))


def _folders(controller: str, groups: Path, limits: Path) -> Iterator[Path]:
    """List the folders whose limits count for this process, from the outermost on.

    In a container the path may be that of the machine while the files stand at the top, so folders
    that are not there say nothing.
    """
    try:
        lines = groups.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        folder = limits / controllers if controllers else limits
        yield folder
        for part in Path(path).parts[1:]:
            folder /= part
            yield folder


def _words(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except OSError:
        return []
