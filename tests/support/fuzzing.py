"""Settings of the tests that try random input."""

import os
import re
from collections.abc import Callable, Iterator
from typing import TypeVar

from hypothesis import HealthCheck, seed, settings
from pydantic import BaseModel

from monitor.config import Config
from tests.support.cases import a_fifth

T = TypeVar("T", bound=Callable[..., None])


def sections(below: type[BaseModel] = BaseModel) -> Iterator[type[BaseModel]]:
    """List the classes of all sections of a configuration."""
    for section in below.__subclasses__():
        if section.__module__.startswith(Config.__module__.rpartition(".")[0]):
            yield section
            yield from sections(section)


NAMES = "|".join(sorted({section.__name__ for section in sections()}))
# What the library or the program calls a thing, for which people have another word.
INTERNAL = re.compile(rf"function-|\[type=|pydantic|tagged-union|Traceback|\b(?:{NAMES})\b")
SEED = os.environ.get("CALIBRATION_FUZZ_SEED")


def fuzzed(examples: int) -> Callable[[T], T]:
    """Try so many examples of a seed (`make fuzz`), or the same few in every run of the tests.

    Every example writes what it damages again, so all of them can share one folder.
    """
    common = settings(
        deadline=None,
        max_examples=examples if SEED else a_fifth(examples // 2),
        derandomize=SEED is None,
        database=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )

    def decorate(test: T) -> T:
        chosen = common(test)
        return seed(int(SEED))(chosen) if SEED else chosen

    return decorate
