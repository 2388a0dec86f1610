"""The world that is tortured: logs of two models, a store, and the results of a clean run."""

import os
import pickle
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from resource import RLIMIT_FSIZE, setrlimit
from time import sleep
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from scipy.special import expit

from monitor import cli
from monitor.base.files import open_filesystem
from monitor.store.lease import RELEASED
from monitor.store.store import Store
from tests.support.servers import free_port

T = TypeVar("T")

FIRST, DAYS, ROWS = date(2026, 3, 1), 8, 250
LAST = FIRST + timedelta(days=DAYS - 1)
AS_OF = date(2026, 6, 1)
MODELS = ("ads", "fraud")
KINDS = ("summaries", "evaluations", "verdicts", "arrivals")
TEMPORARY = (".", "calibration-monitor-")
FAKETIME = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)


@dataclass(frozen=True)
class World:
    """A folder with logs and a configuration, and the store that it names."""

    folder: Path
    store: str
    log: Path
    is_disk: bool  # a small disk of its own, which can be full

    @property
    def temporary(self) -> Path:
        """The folder for temporary folders."""
        return self.folder / "temporary"

    @property
    def config(self) -> Path:
        """The configuration."""
        return self.folder / "monitor.yaml"

    def results(self) -> dict[str, bytes]:
        """Read every result of the store, whether it lies in a file of its day or of its month."""
        store = Store(self.store)
        return {
            f"/{kind}/{model}/{day}": store.content(kind, model, day)
            for kind in KINDS
            for model in MODELS
            for day in store.days(kind, model)
        }

    def left_over(self) -> list[str]:
        """List the temporary files of the store."""
        filesystem, root = open_filesystem(self.store)
        names = [*filesystem.find(root), *map(str, self.temporary.iterdir())]
        return [name for name in names if name.rpartition("/")[2].startswith(TEMPORARY)]

    @contextmanager
    def full(self, free: int) -> Iterator[None]:
        """Fill the disk until so many bytes are free, and free it at the end."""
        ballast = self.folder / "ballast"
        found = os.statvfs(self.folder)
        with ballast.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(1, found.f_bavail * found.f_bsize - free))
        try:
            yield
        finally:
            ballast.unlink()

    def release_leases(self) -> None:
        """Do at once what waiting for a dead holder does after two minutes."""
        filesystem, root = open_filesystem(self.store)
        for lease in filesystem.glob(f"{root}/runs/*/leases/*"):
            filesystem.pipe_file(lease, RELEASED)


def made(folder: Path, store: str, log: Path, *, is_disk: bool) -> World:
    """Write logs and configuration."""
    world = World(folder, store, log, is_disk)
    world.temporary.mkdir()
    reference = {"first": FIRST, "last": FIRST + timedelta(days=3)}
    models = {
        model: {
            "predictions": {"path": f"{model}/predictions/{{day}}.parquet"},
            "outcomes": {"path": f"{model}/outcomes/{{day}}.parquet"},
            "segments": {"column": "country", "values": ["AT", "DE"]},
            "settled_after": 1,
            "windows": [1, 3],
            "verdicts": {"references": [reference]},
        }
        for model in MODELS
    }
    config = {
        "store": store,
        "models": models,
        "engine": {"threads": 1, "memory_mb": 300},
        "report": {"path": "pages"},
    }
    (folder / "monitor.yaml").write_text(yaml.safe_dump(config))
    for number, model in enumerate(MODELS):
        for place in range(DAYS + 1):
            write_day(folder / model, FIRST + timedelta(days=place), [number, place])
    return world


def write_day(logs: Path, day: date, seed: list[int]) -> None:
    """Write predictions of a day and their outcomes; after the last day, an empty log of these."""
    chance = np.random.default_rng(seed)
    logits = chance.normal(-1, 1, ROWS)
    tables = {
        "predictions": {
            "prediction_id": [f"{day}-{row}" for row in range(ROWS)],
            "score": expit(logits),
            "country": chance.choice(["AT", "DE", "FR"], ROWS),
        },
        "outcomes": {
            "prediction_id": [f"{day}-{row}" for row in range(ROWS)],
            "outcome": chance.random(ROWS) < expit(logits),
        },
    }
    if day > LAST:
        tables = {"outcomes": {name: column[:0] for name, column in tables["outcomes"].items()}}
        tables["outcomes"]["prediction_id"] = pa.array([], pa.string())
    for kind, columns in tables.items():
        path = logs / kind / f"{day}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(columns), path)


def start(call: list[str], world: World, *, now: datetime | None = None, most: int = 0) -> int:
    """Run a command in a process of its own, and give its number.

    Parameters
    ----------
    call : list of str
        The arguments.
    world : World
        What it works on; it prints to the log of this world.
    now : datetime, optional
        What its clock says, and that of its processes; the right time if None.
    most : int
        How many bytes a file may have; 0 for any number.
    """

    def work() -> None:
        if now:
            os.environ["FAKETIME"] = f"{(now - datetime.now(UTC)).total_seconds():+.0f}"
        if most:
            setrlimit(RLIMIT_FSIZE, (most, most))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        tempfile.tempdir = os.environ["TMPDIR"] = str(world.temporary)
        sys.argv = ["calibration-monitor", *call]
        cli.main()

    return forked(work, world.log)


def forked(work: Callable[[], None], log: Path) -> int:
    """Call a function in a new process, the first of its group, and give its number.

    A fork saves the second in which a new process would import its packages, so that kills hit
    the work. Nothing here has started a thread.
    """
    process = os.fork()
    if process:
        return process
    code = 0
    try:
        os.setsid()
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        work()
    except SystemExit as stop:
        code = int(stop.code or 0)
    except BaseException:  # noqa: BLE001 - of whatever kind, it is a bug
        traceback.print_exc()
        code = 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def in_child(work: Callable[[], T], log: Path) -> T:
    """Call a function in a process of its own, and give what it returns.

    Object stores need threads, and a process with threads cannot be forked safely.
    """
    answer = log.with_suffix(".pickle")
    answer.unlink(missing_ok=True)

    def do() -> None:
        answer.write_bytes(pickle.dumps(work()))

    process = forked(do, log)
    os.waitpid(process, 0)
    if not answer.exists():
        raise RuntimeError(log.read_text())
    found: T = pickle.loads(answer.read_bytes())  # noqa: S301 - this process wrote it
    return found


@contextmanager
def small_disk(folder: Path) -> Iterator[bool]:
    """Mount a disk of 64 MB in the memory on a folder, and say whether that is permitted."""
    call = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", folder]  # where Debian has it
    mounted = subprocess.run(call, check=False, capture_output=True).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", folder], check=True)  # noqa: S607 - as above


def with_clock_and_mounts() -> None:
    """Begin this program again, so that it can mount disks and set the clock of processes.

    It gets a namespace of its own, whose mounts end with it, and a library between programs and the
    clock, which adds the FAKETIME of the environment. Without `unshare` or the library it goes on
    without.
    """
    if "FAKETIME" in os.environ:
        return
    unshare = ["unshare", "--map-root-user", "--mount"]
    is_permitted = shutil.which("unshare") and not subprocess.call([*unshare, "true"], stderr=-3)
    words = [*(unshare if is_permitted else []), sys.executable, *sys.orig_argv[1:]]
    library = {"LD_PRELOAD": f"{FAKETIME}"} if FAKETIME else {}
    once = {"FAKETIME": "+0", "FAKETIME_NO_CACHE": "1", "NO_FAKE_STAT": "1"}
    os.execvpe(words[0], words, os.environ | once | library)  # noqa: S606 - our own program


@contextmanager
def object_store(folder: Path) -> Iterator[str]:
    """Run an object store on this machine, and give the address of a store in it."""
    port = free_port()
    program = Path(sys.executable).with_name("moto_server")
    with (folder / "object-store.log").open("wb") as log:
        server = subprocess.Popen(
            [program, "-H", "127.0.0.1", "-p", f"{port}"], stdout=log, stderr=log
        )
    os.environ |= {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "nobody",
        "AWS_SECRET_ACCESS_KEY": "nothing",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    try:
        for _ in range(300):
            with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            sleep(0.1)
        in_child(lambda: open_filesystem("s3://torture")[0].mkdir("torture"), folder / "bucket.log")
        yield "s3://torture/store"
    finally:
        server.kill()
        server.wait()
