"""The version of this program for people, and for what is kept the digest of its sources.

Rule 1: a version stands still between releases, the sources do not. What the store keeps rests on
the digest of the rooms that make it, so a change of a formula never meets results of the old one.
Rule 2: verdicts are a fold over all days, so they rest on the number of the rules instead, and an
upgrade that answers as before judges no past day again.
"""

import hashlib
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version as of_distribution
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Literal

Phase = Literal["fits", "summaries", "evaluations"]

# Of verdicts, raised whenever one would differ by more than rounding, so that all days are judged
# again. tests/drift/test_crossings.py compares verdicts with those of this number.
RULES = 6
COUNTED = "summary", "arrivals", "settling"
COUNTS = (
    "metrics",
    *(f"days/{name}.py" for name in COUNTED),
    *("base/segment_names.py", "base/sql_text.py"),
)
JUDGING = *COUNTS, "days/decisions.py", "evaluation", "drift", "words", "pipeline", "logs"
# What makes the results of each phase. The rooms that only carry values (the store, the
# configuration, files) are not among them: their files have formats, their settings fingerprints.
ROOMS: dict[Phase, tuple[str, ...]] = {
    "fits": JUDGING,  # of days that a map changes or strata split, too
    "summaries": (*COUNTS, "logs"),
    "evaluations": JUDGING,
}


@cache  # it is read from a file
def version() -> str:
    """Name the version that was installed."""
    return of_distribution("calibration-monitor")


def platform() -> str:
    """Name the version of Python and the kind of machine, as the folder of their code.

    Examples
    --------
    >>> platform().startswith("cpython-3")
    True
    """
    return f"{sys.implementation.cache_tag}-{sysconfig.get_platform()}"


@cache
def digest(phase: Phase) -> str:
    """Identify the sources that make the results of a phase; from a checkout, wheel or zip alike.

    Examples
    --------
    >>> len(digest("fits")), digest("fits") == digest("summaries")
    (64, False)
    """
    counted = hashlib.sha256()
    for room in ROOMS[phase]:
        counted.update(_of_room(room).encode())
    return counted.hexdigest()


@cache  # several phases share a room
def _of_room(room: str) -> str:
    """Identify the sources of a room by their names within, in order, and their bytes."""
    counted = hashlib.sha256()
    for name, source in sorted(_sources(files("monitor") / room, room)):
        counted.update(f"{name} {len(source)}\n".encode() + source)
    return counted.hexdigest()


def _sources(place: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    """Find the modules at a place, each with its name within the package."""
    if place.is_dir():
        for inner in place.iterdir():
            yield from _sources(inner, f"{name}/{inner.name}")
    elif name.endswith(".py"):
        yield name, place.read_bytes()
