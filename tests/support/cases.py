"""How many cases of a crossing, or of a draw at random, one run of the tests tries.

`make test` tries a part of them, the same part each time; `make test-all` tries all. What is cut is
what a generator makes (seeds, and combinations of values each of which is still tried), and cases
of long lists whose neighbours run through the same code.
"""

import os
from collections.abc import Iterable
from typing import TypeVar

from hypothesis import settings

T = TypeVar("T")

ALL = os.environ.get("CALIBRATION_TEST_CASES") == "all"


def some(cases: Iterable[T], every: int) -> list[T]:
    """Choose every n-th case, beginning with the first."""
    return [*cases][:: 1 if ALL else every]


def a_fifth(examples: int) -> int:
    """Give the number of random examples that Hypothesis tries."""
    return examples if ALL else -(-examples // 5)


few_examples = settings(max_examples=a_fifth(100), deadline=None)  # decorates a test
