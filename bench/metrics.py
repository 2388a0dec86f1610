"""How long the measures take, compared with numpy's sorts, the published loop and other packages.

    python -m bench.metrics [--peers PYTHON] [--rounds 5] [--whole-loop] [--only-tce SIZE ...]
                            [--write]

Every number is CPU time of one thread. All jobs of one size run in turn, in several rounds, in two
long-lived processes: `metrics_worker.py`, and `peers_worker.py` in an environment with the packages
that we compare with (`--peers` names its Python, `bench/peers.txt` describes it; without it the
page says "not measured"). A control job, the same sort in both processes, starts and ends each
round and shows how much the speed of the machine varied. Each job that ends is printed on standard
error. `metrics_table.py` writes the page. Ratios use the least times; the first table also shows
medians.

The published algorithm tests every prediction of every bin with ``scipy.stats.binomtest``. It is
timed on a random sample of about 400 predictions, the same share of every bin, and scaled up;
`--whole-loop` runs it once on all of 50,000 predictions. Only its tests are counted.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench.metrics_classes import write_classes
from bench.metrics_start import measure_start
from bench.metrics_table import MARK, TCE_JOBS, Found, Times, page
from bench.metrics_worker import REPLICATES
from bench.peers_worker import CONTROL

SIZES = (10_000, 50_000, 100_000, 1_000_000, 10_000_000)
STORED = (100_000, 1_000_000, 10_000_000)  # predictions in the 16,384 cells
LONG, TOO_LONG = 3.0, 90.0  # seconds: above the first measured once, above the second left out
OURS, PEERS = (f"bench.{side}_worker" for side in ("metrics", "peers"))
PAGE = Path(__file__).parents[1] / "docs" / "speed.md"
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}


class Worker(NamedTuple):
    """A process that runs jobs by name."""

    process: subprocess.Popen
    jobs: list[str]
    facts: dict[str, str]

    def ask(self, job: str) -> float | None:
        """Return the CPU seconds of a job; None if it failed."""
        print(job, file=self.process.stdin, flush=True)
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            print(f"{job}: {answer['error']}", file=sys.stderr)
        return answer.get("cpu")

    def end(self) -> None:
        """End the process."""
        self.process.communicate()


def start(*command: object) -> Worker:
    """Start a worker and read the names of its jobs."""
    process = subprocess.Popen(  # noqa: S603
        [str(part) for part in command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | ONE_THREAD,
    )
    line = process.stdout.readline()
    if not line:
        sys.exit(f"the worker did not start: {' '.join(map(str, command))}")
    found = json.loads(line)
    return Worker(process, found["jobs"], found["facts"])


def rounds_of(workers: list[Worker], rounds: int, skip: set[str]) -> tuple[Times, list[float]]:
    """Run all jobs in turn in several rounds; return their times and those of the control."""
    found: Times = {}
    controls = []
    for _ in range(rounds):
        for worker in workers:
            controls.append(worker.ask(CONTROL))
            for job in worker.jobs[1:]:
                if job in skip or (job in found and found[job][0] > LONG):
                    continue
                if (cpu := worker.ask(job)) is None:
                    skip.add(job)
                else:
                    found.setdefault(job, []).append(cpu)
                    print(f"  {job}: {cpu:.4g} s", file=sys.stderr, flush=True)
            controls.append(worker.ask(CONTROL))
    for worker in workers:
        worker.end()
    return found, controls


def measure_rows(options: argparse.Namespace) -> tuple[dict[int, Times], dict, list[float]]:
    """Measure every size; skip jobs that would take too long at the next size."""
    found: dict[int, Times] = {}
    facts, controls = {}, []
    before = 0
    for size in options.sizes:
        skip = {
            job
            for job, cpus in found.get(before, {}).items()
            if min(cpus) * size / before > TOO_LONG and job != "loop"
        }
        with tempfile.TemporaryDirectory(prefix="metrics-bench-") as name:
            write_rows(Path(name), size)
            write_classes(Path(name), size)
            whole = ["--whole-loop"] if options.whole_loop else []
            workers = [start(sys.executable, "-m", OURS, "rows", name, *whole)]
            if options.peers:
                workers.append(start(options.peers, "-m", PEERS, name))
            facts[size] = {k: v for worker in workers for k, v in worker.facts.items()}
            found[size], some = rounds_of(workers, options.rounds, skip)
        tested = int(facts[size]["tested"])
        found[size]["loop"] = [cpu * size / tested for cpu in found[size]["loop"]]
        controls += some
        before = size
        print(f"{size:,} predictions done", file=sys.stderr)
    return found, facts, controls


def measure_tce(size: int, rounds: int) -> tuple[Times, dict[str, str], list[float]]:
    """Measure rows to TCE alone, with the sorts and the loop."""
    with tempfile.TemporaryDirectory(prefix="metrics-bench-") as name:
        write_rows(Path(name), size)
        write_classes(Path(name), size)
        worker = start(sys.executable, "-m", OURS, "rows", name)
        others = {job for job in worker.jobs if job not in TCE_JOBS}
        found, controls = rounds_of([worker], rounds, others)
    found["loop"] = [cpu * size / int(worker.facts["tested"]) for cpu in found["loop"]]
    return found, worker.facts, controls


def measure_stored(options: argparse.Namespace) -> tuple[dict[int, Times], list[float]]:
    """Measure the stored tallies."""
    found, controls = {}, []
    for total in STORED:
        worker = start(sys.executable, "-m", OURS, "stored", total)
        found[total], some = rounds_of([worker], options.rounds, set())
        found[total]["null replicate"] = [c / REPLICATES for c in found[total]["null replicate"]]
        controls += some
    return found, controls


def write_rows(folder: Path, size: int) -> None:
    """Write seeded predictions, a little too extreme; no two scores are equal."""
    rng = np.random.default_rng(20_260_301)
    logits = rng.normal(-1.5, 1.2, size)
    rates = 1.0 / (1.0 + np.exp(-0.9 * logits - 0.1))
    np.save(folder / "scores.npy", 1.0 / (1.0 + np.exp(-logits)))
    np.save(folder / "outcomes.npy", (rng.random(size) < rates).astype(np.int64))


def measure(options: argparse.Namespace) -> Found:
    """Measure rows, stored tallies and the start."""
    rows, facts, controls = measure_rows(options)
    for size in options.only_tce:
        rows[size], facts[size], some = measure_tce(size, options.rounds)
        controls += some
    stored, more = measure_stored(options)
    started = measure_start(options.rounds)
    load = os.getloadavg()[1]
    return Found(rows, facts, stored, started, controls + more, options.rounds, LONG, load)


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", type=Path, help="Python of an environment with bench/peers.txt")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument(
        "--only-tce", type=int, nargs="+", default=(), help="sizes without the rest"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--whole-loop", action="store_true", help="run the loop whole, once")
    parser.add_argument("--write", action="store_true", help=f"into docs/{PAGE.name} too")
    options = parser.parse_args()
    text = "\n".join(page(measure(options)))
    print(text)
    if options.write:
        by_hand, _, _ = PAGE.read_text().partition(MARK)
        PAGE.write_text(by_hand + MARK + "\n" + text)


if __name__ == "__main__":
    main()
