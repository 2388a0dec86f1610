"""The first verdict: a first backfill with an empty compiler cache, beside one with a full cache.

    .venv/bin/python -m bench.cold [--rounds 2] [--beside CHECKOUT]

56 days of a small model, with a drift at their end (those of `monitor.demo.compiling`). Each run
is a fresh process with a store of its own; a cold one has an empty `NUMBA_CACHE_DIR`, which the
warm one after it then uses. Prints the least wall and CPU seconds of the rounds, and how far the
cold one is from the goal: twice the warm one and five seconds. CPU times count where other work
shares the machine. With `--beside` those of another checkout are measured in the same rounds.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from bench.metrics_start import COMMAND
from monitor.demo.compiling import FIRST_DAY, LAST_DAY, MODEL, write_world

HERE = Path(__file__).parent.parent
TIMES, MORE = 2.0, 5.0  # the goal
CALL = ("backfill", "--model", MODEL, "--from", FIRST_DAY, "--to", LAST_DAY)
Seconds = tuple[float, float]


def main() -> None:
    """Measure, and print a line for each checkout."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--beside", type=Path, help="the top folder of another checkout")
    given = parser.parse_args()
    checkouts = [HERE, given.beside.resolve()] if given.beside else [HERE]
    took: dict[tuple[Path, str], list[Seconds]] = {}
    for _ in range(given.rounds):
        for checkout in checkouts:
            with tempfile.TemporaryDirectory(prefix="cold-bench-") as cache:
                for kind in ("cold", "warm"):
                    took.setdefault((checkout, kind), []).append(backfill(checkout, cache))
    for checkout in checkouts:
        (cold_wall, cold), (warm_wall, warm) = (
            tuple(map(min, zip(*took[checkout, kind], strict=True))) for kind in ("cold", "warm")
        )
        goal = TIMES * warm + MORE
        print(
            f"{checkout.name}: cold {cold:.1f} s of CPU ({cold_wall:.1f} wall), "
            f"warm {warm:.1f} ({warm_wall:.1f}), goal {goal:.1f}: {cold / goal:.2f} of it"
        )


def backfill(checkout: Path, cache: str) -> Seconds:
    """Run a first backfill; give its wall and CPU seconds."""
    with tempfile.TemporaryDirectory(prefix="cold-bench-") as name:
        write_world(Path(name))
        own = {"PYTHONPATH": str(checkout), "NUMBA_CACHE_DIR": cache}
        own["PYTHONDONTWRITEBYTECODE"] = ""  # modules are compiled once, as in an installation
        begin = perf_counter()
        child = subprocess.Popen(  # noqa: S603
            [sys.executable, "-c", COMMAND, *map(str, CALL)],
            env=os.environ | own,
            cwd=name,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,  # progress goes there
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = status
        if status:
            sys.exit(f"the backfill of {checkout} failed with {status}")
        return perf_counter() - begin, usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
