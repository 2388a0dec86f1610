"""Settings of the tests that try random input."""

import os
from collections.abc import Callable
from typing import TypeVar

from hypothesis import HealthCheck, seed, settings

T = TypeVar("T", bound=Callable[..., None])

SEED = os.environ.get("CALIBRATION_FUZZ_SEED")


def fuzzed(examples: int) -> Callable[[T], T]:
    """Try so many examples: the same in every run, or those of a seed (`make fuzz`).

    Every example writes what it damages again, so all of them can share one folder.
    """
    common = settings(
        deadline=None,
        max_examples=examples,
        derandomize=SEED is None,
        database=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )

    def decorate(test: T) -> T:
        chosen = common(test)
        return seed(int(SEED))(chosen) if SEED else chosen

    return decorate
