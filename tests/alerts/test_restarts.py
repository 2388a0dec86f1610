"""Restarts while alerts of every kind are open: nothing ends, nothing rings twice, none is lost.

A representative part of all orders; `make torture-alerts` goes through every one.
"""

from collections.abc import Iterator
from itertools import permutations

import pytest

from tests.support.cases import ALL
from tests.support.outages import PROGRAMS, Outage, await_first, expected, running, suffer, titles

SOME = (("prometheus",), ("alertmanager", "prometheus", "exporter"))
EVERY = tuple(order for count in (1, 2, 3) for order in permutations(PROGRAMS, count))
ORDERS = EVERY if ALL else SOME


@pytest.fixture(scope="module")
def outages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Outage]]:
    """Kill and start again, after each other, in several orders."""
    with running(tmp_path_factory.mktemp("outages"), len(ORDERS)) as stack:
        await_first(stack)
        yield [suffer(stack, order, number) for number, order in enumerate(ORDERS)]


@pytest.mark.parametrize("number", range(len(ORDERS)), ids=map("-".join, ORDERS))
def test_only_what_changed_is_sent(outages: list[Outage], number: int) -> None:
    """People hear of the drift that began meanwhile and of the one that ended, each once.

    Ten alerts of nine kinds stay open: none is resolved, none is sent again.
    """
    shown = titles(outages[number].posts)
    shown["/enqueue"].sort()

    assert shown == expected(number)
