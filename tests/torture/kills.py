"""Kill commands at random moments, and compare the bytes at the end with those of a clean run.

`python -m tests.torture.kills --kills 1000 --place both`; `make torture` calls it.

Every command is started with random options, on a store on this disk or in an object store.
Between 0 and as many seconds as it usually takes it is killed: alone, or with its processes. Some
find a full disk, some a clock that was set back. After every tenth kill a backfill repairs the
store. It then must have the bytes of a store that was never killed, and no temporary file.
"""

import argparse
import os
import random
import signal
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from time import monotonic, sleep
from typing import NoReturn

from tests.torture.world import (
    AS_OF,
    DAYS,
    FAKETIME,
    FIRST,
    LAST,
    MODELS,
    World,
    in_child,
    made,
    object_store,
    small_disk,
    start,
    with_clock_and_mounts,
)  # fmt: skip

SPAN = ["--from", f"{FIRST}", "--to", f"{LAST}"]
OUTCOMES = ["--as-of", f"{AS_OF}"]
REPAIR = ["backfill", *SPAN, *OUTCOMES, "--jobs", "2"]
KILLS_BETWEEN_REPAIRS = 10
GOOD_CODES = {0, 2, 3}
SERVING = 3  # seconds, after which `serve` has started
PATIENCE = 600  # seconds after which a command counts as stuck


@dataclass
class Torture:
    """What is tortured, with what chance, and what has become of it."""

    world: World
    chance: random.Random
    expected: dict[str, bytes] = field(default_factory=dict)
    usual: dict[str, float] = field(default_factory=dict)  # seconds that a command takes
    done: Counter[str] = field(default_factory=Counter)

    def calls(self) -> list[list[str]]:
        """Draw options for every command."""
        day = FIRST + timedelta(days=self.chance.randrange(DAYS))
        folder, jobs = self.world.folder, ["--jobs", f"{self.chance.choice([1, 2, 3])}"]
        one = ["--model", self.chance.choice(MODELS)]
        which = self.chance.choice([[], one])
        keep = (datetime.now(UTC).date() - day).days
        calls = [
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
            ["export", "openmetrics", *SPAN, "--into", f"{folder}/out.om"],
            ["serve", "--port", "0"],
        ]
        return [[*call, "--config", f"{self.world.config}"] for call in calls]

    def usually(self, call: list[str]) -> float:
        """Say how long a command takes; at first, let it run to its end."""
        if call[0] not in self.usual:
            began = monotonic()
            process = start(call, self.world)
            if ended(process, SERVING if call[0] == "serve" else PATIENCE) is None:
                self.kill(process)
            self.usual[call[0]] = monotonic() - began
        return self.usual[call[0]]

    def kill_once(self) -> None:
        """Start a command, and kill it at some moment unless it has ended."""
        call, full = self.chance.choice(self.calls()), nullcontext[None]()
        kind, now, most = "nothing else", None, 0
        match self.chance.randrange(6):
            case 0:
                free = int(2 ** self.chance.uniform(0, 19))
                if self.world.is_disk:
                    kind, full = "full disk", self.world.full(free)
                else:
                    kind, most = "file size limit", free // 16 + 1
            case 1 if FAKETIME:
                back = FIRST + timedelta(days=self.chance.randrange(2 * DAYS))
                kind, now = "clock set back", datetime.combine(back, time(5), UTC)
        moment = self.chance.uniform(0, self.usually(call))
        with full:
            process = start(call, self.world, now=now, most=most)
            code = ended(process, moment)
            if code is None:
                self.kill(process)
        self.done[f"{kind}, {'killed' if code is None else 'ended'}"] += 1
        if code is None:
            self.done[call[0]] += 1
            self.done["kills"] += 1
        elif code not in GOOD_CODES:
            self.fail(f"{call} ({kind}) ended with {code}:\n{self.world.log.read_text()}")
        if self.world.store.startswith("s3:"):
            in_child(self.world.release_leases, self.world.log)

    def kill(self, process: int) -> None:
        """Kill a command, alone or with its processes."""
        whole = self.chance.random() < 0.5 or self.world.store.startswith("s3:")
        if whole:
            with suppress(ProcessLookupError):  # it has not made its group yet
                os.killpg(process, signal.SIGKILL)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)

    def repair(self) -> None:
        """Run a backfill to its end, and compare."""
        process = start([*REPAIR, "--config", f"{self.world.config}"], self.world)
        code = ended(process, PATIENCE)
        if code != 0:
            self.fail(f"the repair ended with {code}:\n{self.world.log.read_text()}")
        results = in_child(self.world.results, self.world.log)
        self.expected = self.expected or results
        differ = {name for name in {*results, *self.expected} if not self.is_equal(name, results)}
        if differ:
            self.fail(f"other bytes than after a clean run: {sorted(differ)}")
        if left := in_child(self.world.left_over, self.world.log):
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
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        found, outside = list[World](), Path(name)
        for which in ("local", "s3"):
            if place not in {which, "both"}:
                continue
            folder = outside / which
            folder.mkdir()
            is_disk = stack.enter_context(small_disk(folder))
            store = f"{folder}/store"
            if which == "s3":
                store = stack.enter_context(object_store(outside))
            found.append(made(folder, store, outside / f"{which}.log", is_disk=is_disk))
        yield found


def main() -> None:
    """Read the arguments, torture, and say what was done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--place", choices=["local", "s3", "both"], default="both")
    arguments = parser.parse_args()
    with_clock_and_mounts()
    with worlds(arguments.place) as all_of_them:
        for world in all_of_them:
            kills = arguments.kills // len(all_of_them)
            done = torture(world, kills, arguments.seed)
            print(f"{world.store}: {dict(done)}: every repair gave the same bytes", flush=True)


if __name__ == "__main__":
    main()
