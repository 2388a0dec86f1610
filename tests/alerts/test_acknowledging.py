"""A page that somebody answers: the real exporter, Prometheus and Alertmanager, and `ack`."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.support.alerting import await_posts
from tests.support.outages import Stack, await_first, running, titles
from tests.support.servers import PATIENCE

COMMAND = Path(sys.executable).with_name("calibration-monitor")


def ack(stack: Stack, *options: str) -> None:
    """Call `ack` for the model that pages."""
    config = stack.folder / "monitor.yaml"
    call = [COMMAND, "ack", "fraud", "--config", config, "--by", "Ana", "--why", "seen", *options]
    subprocess.run(call, check=True, timeout=PATIENCE, capture_output=True)


def test_a_page_that_is_answered_moves_to_the_digest_and_back(tmp_path: Path) -> None:
    """The pager is closed with who has it, the digest lists it, and `ack --end` pages again."""
    with running(tmp_path, 0) as stack:
        await_first(stack)
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
