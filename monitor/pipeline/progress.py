"""What the phases of a run have in common: steps told, failures kept, days done side by side."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.metadata import version
from typing import Literal, TypeVar

T = TypeVar("T")
Phase = Literal["summarise", "evaluate", "judge"]


@dataclass(frozen=True)
class Step:
    """One day done in one phase of a run: what a progress bar shows."""

    phase: Phase
    day: date
    done: int
    total: int


@dataclass(frozen=True)
class Failure:
    """A day whose logs broke the contract; what the store held of it is as before."""

    day: date
    message: str


def in_parallel(function: Callable[[date], T], days: Sequence[date], jobs: int) -> Iterator[T]:
    """Yield results in the order of the days; drop what has not begun when interrupted."""
    pool = ThreadPoolExecutor(jobs)
    try:
        yield from pool.map(function, days)
    finally:
        pool.shutdown(cancel_futures=True)


def fingerprint(parts: list[object]) -> str:
    """Identify what a result rests on, the program included."""
    return hashlib.sha256(json.dumps([_program(), *parts]).encode()).hexdigest()


@cache  # it is read from a file
def _program() -> str:
    return version("calibration-monitor")
