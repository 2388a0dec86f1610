"""Kill commands at random moments, and compare the bytes at the end with those of a clean run.

`python -m tests.torture.kills --kills 1000 --place both`; `make torture` calls it.

Every command is started with random options, on a store on this disk or in an object store.
Between 0 and as many seconds as it usually takes it is killed: alone, or with its processes. Some
find a disk on which no file may grow beyond a random size, some a clock that was set back. After
every tenth kill a backfill repairs the store. It then must have the bytes of a store that was never
killed, and no temporary file.
"""

import argparse
import os
import random
import signal
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from time import monotonic, sleep
from typing import NoReturn

from tests.torture.world import (
    AS_OF,
    DAYS,
    FIRST,
    LAST,
    MODELS,
    World,
    in_child,
    made,
    object_store,
    start,
)  # fmt: skip

SPAN = ["--from", f"{FIRST}", "--to", f"{LAST}"]
OUTCOMES = ["--as-of", f"{AS_OF}"]
REPAIR = ["backfill", *SPAN, *OUTCOMES, "--jobs", "2"]
KILLS_BETWEEN_REPAIRS = 10
GOOD_CODES = {0, 2, 3}
PATIENCE = 600  # seconds after which a command counts as stuck


@dataclass
class Torture:
    """What is tortured, with what chance, and what has become of it."""

    world: World
    chance: random.Random
    expected: dict[str, bytes] = field(default_factory=dict)
    usual: dict[str, float] = field(default_factory=dict)  # seconds that a command takes
    done: Counter[str] = field(default_factory=Counter)

    @property
    def log(self) -> Path:
        """Where a command prints to."""
        return self.world.folder / "command.log"

    def call(self) -> list[str]:
        """Draw a command."""
        day = FIRST + timedelta(days=self.chance.randrange(DAYS))
        folder, jobs = self.world.folder, ["--jobs", f"{self.chance.choice([1, 2, 3])}"]
        one = ["--model", self.chance.choice(MODELS)]
        which = self.chance.choice([[], one])
        keep = (datetime.now(UTC).date() - day).days
        chosen = self.chance.choice(
            [
                ["backfill", *SPAN, *OUTCOMES, *jobs, *which],
                ["backfill", *SPAN, *OUTCOMES, *jobs, *which, "--again"],
                ["run", "--day", f"{day}", *OUTCOMES, *jobs, *which],
                ["run", "--unsettled", *jobs, *which],
                ["evaluate", "--from", f"{day}", "--to", f"{LAST}", *jobs, *which],
                ["prune", "--keep", f"{keep}d", *which],
                ["store", "compact", *which],
                ["check", *which, *OUTCOMES],
                ["check", "--store"],
                ["show", *one],
                ["report", *which],
                ["textfile", "--into", f"{folder}/out.prom"],
                ["export", "openmetrics", *SPAN, "--into", f"{folder}/out.om", *which],
                ["serve", "--port", "0"],
            ]
        )
        return [*chosen, "--config", f"{self.world.config}"]

    def kill_once(self) -> None:
        """Start a command, and kill it at some moment unless it has ended."""
        call, kind = self.call(), "kill"
        now, most = None, 0
        match self.chance.randrange(6):
            case 0:
                kind, most = "full disk", self.chance.randrange(1, 30_000)
            case 1:
                back = FIRST + timedelta(days=self.chance.randrange(2 * DAYS))
                kind, now = "clock set back", datetime.combine(back, time(5), UTC)
        moment = self.chance.uniform(0, self.usual.get(call[0], 2.0))
        began = monotonic()
        process = start(call, self.log, now=now, most=most)
        code = ended(process, moment)
        if code is None:
            whole = self.chance.random() < 0.5 or self.world.store.startswith("s3:")
            if whole:
                with suppress(ProcessLookupError):  # it has not made its group yet
                    os.killpg(process, signal.SIGKILL)
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            self.done[call[0]] += 1
            self.done["kills"] += 1
            self.done[kind] += 1
            self.usual[call[0]] = max(self.usual.get(call[0], 2.0), 1.1 * moment)
        else:
            self.usual[call[0]] = monotonic() - began
            if code not in GOOD_CODES:
                self.fail(f"{call} ended with {code}:\n{self.log.read_text()}")
        if self.world.store.startswith("s3:"):
            in_child(self.world.release_leases, self.world.folder)

    def repair(self) -> None:
        """Run a backfill to its end, and compare."""
        process = start([*REPAIR, "--config", f"{self.world.config}"], self.log)
        code = ended(process, PATIENCE)
        if code != 0:
            self.fail(f"the repair ended with {code}:\n{self.log.read_text()}")
        results = in_child(self.world.results, self.world.folder)
        self.expected = self.expected or results
        differ = {name for name in {*results, *self.expected} if not self.is_equal(name, results)}
        if differ:
            self.fail(f"other bytes than after a clean run: {sorted(differ)}")
        if left := in_child(self.world.left_over, self.world.folder):
            self.fail(f"temporary files are left: {left}")

    def fail(self, found: str) -> NoReturn:
        """Say what was found, and after which kills."""
        msg = f"after {self.done['kills']} kills: {found}"
        raise AssertionError(msg)

    def is_equal(self, name: str, results: dict[str, bytes]) -> bool:
        """Compare a file with that of a clean run."""
        return results.get(name) == self.expected.get(name)


def ended(process: int, patience: float) -> int | None:
    """Wait until a process has ended, and give its exit code; None if it has not."""
    until = monotonic() + patience
    while True:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        if monotonic() > until:
            return None
        sleep(min(0.01, max(0.0, until - monotonic())))


def torture(world: World, kills: int, seed: int) -> Counter[str]:
    """Kill so many commands in a world, and give how many of what kind."""
    state = Torture(world, random.Random(seed))  # noqa: S311 - not for secrets
    state.repair()  # of nothing: a clean run
    while state.done["kills"] < kills:
        before = state.done["kills"] // KILLS_BETWEEN_REPAIRS
        state.kill_once()
        if state.done["kills"] // KILLS_BETWEEN_REPAIRS > before:
            state.repair()
            print(f"{state.done['kills']} kills, bytes equal", flush=True)
    state.repair()
    return state.done


@contextmanager
def worlds(place: str) -> Iterator[list[World]]:
    """Make a world on this disk, in an object store, or both."""
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as other:
        local, remote = Path(name), Path(other)
        here = [made(local, "store")] if place != "s3" else []
        here = [World(one.folder, f"{local}/store") for one in here]
        if place == "local":
            yield here
            return
        with object_store(remote) as store:
            yield [*here, made(remote, store)]


def main() -> None:
    """Read the arguments, torture, and say what was done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--place", choices=["local", "s3", "both"], default="both")
    arguments = parser.parse_args()
    with worlds(arguments.place) as all_of_them:
        for world in all_of_them:
            kills = arguments.kills // len(all_of_them)
            done = torture(world, kills, arguments.seed)
            print(f"{world.store}: {dict(done)}: every repair gave the same bytes", flush=True)


if __name__ == "__main__":
    main()
