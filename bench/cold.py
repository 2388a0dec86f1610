"""The first verdict: a first backfill with an empty compiler cache, beside one with a full cache.

    .venv/bin/python -m bench.cold [--rounds 2] [--processes 1] [--beside CHECKOUT] [--wheel]

56 days of a small model with a drift at their end, that of `monitor.pipeline.runs.compiling`. Each
run is a fresh process with a store of its own; a cold one has an empty `NUMBA_CACHE_DIR`, which the
warm one after it then uses. With several processes as many runs begin at once and share the cache,
and the CPU seconds are those of all. Prints the least wall and CPU seconds of the rounds, and how
far both of the cold one are from the goal: twice the warm one and five seconds. Wall times count
only where no other work shares the machine. With `--beside` those of another checkout are measured
in the same rounds; with `--wheel` those of the package with the machine code that a wheel brings.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter

from bench.metrics_start import COMMAND
from monitor.pipeline.runs.compiling import FIRST_DAY, LAST_DAY, MODEL, write_world

HERE = Path(__file__).parent.parent
TIMES, MORE = 2.0, 5.0  # the goal
CALL = ("backfill", "--model", MODEL, "--from", FIRST_DAY, "--to", LAST_DAY)
Seconds = tuple[float, float]


def main() -> None:
    """Measure, and print a line for each checkout."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--beside", type=Path, help="the top folder of another checkout")
    parser.add_argument("--wheel", action="store_true", help="the package with its machine code")
    given = parser.parse_args()
    checkouts = [HERE, given.beside.resolve()] if given.beside else [HERE]
    with tempfile.TemporaryDirectory(prefix="cold-bench-") as folder:
        measure([*checkouts, as_in_wheel(Path(folder))] if given.wheel else checkouts, given)


def measure(checkouts: list[Path], given: argparse.Namespace) -> None:
    """Measure each checkout in every round, and print its line."""
    took: dict[tuple[Path, str], list[Seconds]] = {}
    for _ in range(given.rounds):
        for checkout in checkouts:
            with tempfile.TemporaryDirectory(prefix="cold-bench-") as cache:
                for kind in ("cold", "warm"):
                    took.setdefault((checkout, kind), []).append(
                        backfills(checkout, cache, given.processes)
                    )
    for checkout in checkouts:
        (cold_wall, cold), (warm_wall, warm) = (
            tuple(map(min, zip(*took[checkout, kind], strict=True))) for kind in ("cold", "warm")
        )
        print(
            f"{checkout.name}: cold {cold:.1f} s of CPU ({cold_wall:.1f} wall), "
            f"warm {warm:.1f} ({warm_wall:.1f}); {cold / (TIMES * warm + MORE):.2f} of the goal, "
            f"{cold_wall / (TIMES * warm_wall + MORE):.2f} by wall time"
        )


def as_in_wheel(folder: Path) -> Path:
    """Copy the package, and put beside its modules what a wheel brings; give the new checkout."""
    checkout = folder / "wheel"
    unwanted = shutil.ignore_patterns("__pycache__", "machine_code")
    shutil.copytree(HERE / "monitor", checkout / "monitor", ignore=unwanted)
    call = (
        sys.executable,
        "-m",
        "monitor.pipeline.runs.compiling",
        "--into",
        "monitor/machine_code",
    )
    subprocess.run(call, cwd=checkout, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
    return checkout


def backfills(checkout: Path, cache: str, processes: int) -> Seconds:
    """Run first backfills at once; give their wall seconds, and the CPU seconds of all."""
    used = 0.0
    with ExitStack() as folders:
        places = [
            folders.enter_context(tempfile.TemporaryDirectory(prefix="cold-bench-"))
            for _ in range(processes)
        ]
        for place in places:
            write_world(Path(place))
        begin = perf_counter()
        children = [start(checkout, cache, place) for place in places]
        for child in children:
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = status
            if status:
                sys.exit(f"the backfill of {checkout} failed with {status}")
            used += usage.ru_utime + usage.ru_stime
    return perf_counter() - begin, used


def start(checkout: Path, cache: str, folder: str) -> subprocess.Popen[bytes]:
    """Start a first backfill in a folder."""
    own = {"PYTHONPATH": str(checkout), "NUMBA_CACHE_DIR": cache}
    own["PYTHONDONTWRITEBYTECODE"] = ""  # modules are compiled once, as in an installation
    return subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", COMMAND, *map(str, CALL)],
        env=os.environ | own,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,  # progress goes there
    )


if __name__ == "__main__":
    main()
