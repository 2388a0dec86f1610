"""What the phases of a run share: progress, failures, parallel days and fingerprints."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from typing import Literal, TypeVar

from monitor.base.errors import Fault

S = TypeVar("S")
T = TypeVar("T")
Phase = Literal["summarise", "map", "evaluate", "judge"]


@dataclass(frozen=True)
class PhaseProgress:
    """A finished day of one phase of a run, for a progress bar."""

    phase: Phase
    day: date
    done: int
    total: int


@dataclass(frozen=True)
class Failure:
    """A day whose logs are missing or fail a check; its part of the store does not change."""

    day: date
    message: str
    fault: Fault | None = None


@dataclass(frozen=True)
class Pace:
    """How days are worked through.

    Attributes
    ----------
    jobs : int
        How many at a time.
    on_progress : callable
        Called after every day of every phase.
    """

    jobs: int = 1
    on_progress: Callable[[PhaseProgress], None] = lambda _: None


ALONE = Pace()


def in_parallel(function: Callable[[S], T], items: Sequence[S], jobs: int) -> Iterator[T]:
    """Yield results in the order of the items; on an interrupt, drop those that have not begun."""
    pool = ThreadPoolExecutor(jobs)
    try:
        yield from pool.map(function, items)
    finally:
        pool.shutdown(cancel_futures=True)


def fingerprint(parts: list[object]) -> str:
    """Identify what a result depends on; the program that makes it is one of the parts."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
