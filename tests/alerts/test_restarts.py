"""Restarts while alerts of every kind are open: nothing ends, nothing rings twice, none is lost.

A representative part of all orders; `make torture-alerts` goes through every one. At the end
somebody answers a page.
"""

import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest

from tests.support.alerting import await_posts
from tests.support.cases import ALL
from tests.support.exporting import COMMAND
from tests.support.outages import PROGRAMS, Stack, await_first, expected, running, suffer, titles
from tests.support.receivers import at
from tests.support.servers import PATIENCE

SOME = (("alertmanager", "prometheus", "exporter"),)
EVERY = tuple(order for count in (1, 2, 3) for order in permutations(PROGRAMS, count))
ORDERS = EVERY if ALL else SOME


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Start all programs, and wait until people have heard of what is wrong."""
    with running(tmp_path_factory.mktemp("outages"), len(ORDERS)) as stack:
        await_first(stack)
        yield stack


@pytest.mark.parametrize("number", range(len(ORDERS)), ids=map("-".join, ORDERS))
def test_only_what_changed_is_sent(stack: Stack, number: int) -> None:
    """People hear of the drift that began meanwhile and of the one that ended, each once.

    The programs are killed and started again. Ten alerts of nine kinds stay open: none is resolved,
    none is sent again.
    """
    shown = titles(suffer(stack, ORDERS[number], number).posts)
    shown["/enqueue"].sort()

    assert shown == expected(number)


def test_the_watchdog_is_called_again_and_again(stack: Stack) -> None:
    """While Prometheus and Alertmanager work, the receiver of its own hears of them."""
    calls = at("/calibration", stack.received.posts)

    assert len(calls) > 2
    assert {call["status"] for call in calls} == {"firing"}


def ack(stack: Stack, *options: str) -> None:
    """Call `ack` for the model that pages."""
    config = stack.folder / "monitor.yaml"
    call = [COMMAND, "ack", "fraud", "--config", config, "--by", "Ana", "--why", "seen", *options]
    subprocess.run(call, check=True, timeout=PATIENCE, capture_output=True)


def test_a_page_that_is_answered_moves_to_the_digest_and_back(stack: Stack) -> None:
    """The pager is closed with who has it, the digest lists it, and `ack --end` pages again."""
    posts = stack.received.posts
    begun = len(posts)
    until = datetime.now(UTC).date() + timedelta(days=20)
    ack(stack, "--until", f"{until}")

    def shown(path: str, start: str) -> bool:
        return any(title.startswith(start) for title in titles(posts[begun:])[path])

    end = until + timedelta(days=1)
    last = f"{end.day} {end:%b} 00:00 UTC"
    digest = f"fraud: scores too timid since 1 Mar, taken by Ana until {last}"
    over = f"Over: fraud: the drift is open and taken by Ana until {last}; the digest lists it"
    await_posts(
        posts,
        lambda: shown("/enqueue", over) and shown("/slack-digest-url", digest),
        patience=3 * PATIENCE,
    )
    (closed,) = titles(posts[begun:])["/enqueue"]
    assert closed in (over, f"{over}; also DE")  # whose own alert had begun for a moment

    ack(stack, "--end")
    await_posts(
        posts,
        lambda: "fraud: scores too timid since 1 Mar" in titles(posts[begun:])["/enqueue"],
        patience=3 * PATIENCE,
    )

    assert titles(posts[begun:])["/enqueue"] == [closed, "fraud: scores too timid since 1 Mar"]
    assert titles(posts[begun:])["/slack-tickets-url"] == []
