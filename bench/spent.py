"""What this process has taken so far."""

import re
import resource
from pathlib import Path


def cpu_seconds() -> float:
    """Give the CPU time of all threads."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def largest_memory_mb() -> float:
    """Give the largest resident memory; `ru_maxrss` would include that of the parent."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024
