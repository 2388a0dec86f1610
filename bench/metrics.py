"""How long the measures take, beside numpy's sorts, the published algorithm and other packages.

    python bench/metrics.py [--peers PYTHON] [--rounds 5] [--whole-loop] [--write]

Every number is CPU time of one thread. All jobs of one size run in turn, in several rounds,
in two processes that stay up: ours, and `peers_worker.py` in the environment of the packages
that we compare with (`--peers`, its Python; without it their columns are left out). A control
job, the same sort in both processes, opens and closes each round and shows how far the machine
drifted. Ratios are of the least times; medians stand beside them in the first table.

The published algorithm tests every prediction of every bin with ``scipy.stats.binomtest``. It
is timed on a random sample of about 400 predictions, the same share of every bin, and scaled
up; `--whole-loop` runs it whole, once, on 50,000 predictions. Only its tests are counted.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
from peers_worker import BINS, CONTROL, QUANTILES, Job, control, load, serve

SIZES = (10_000, 50_000, 100_000, 1_000_000, 10_000_000)
LOOP_SIZE, LOOP_SAMPLE = 50_000, 400
STORED = (100_000, 1_000_000, 10_000_000)  # predictions in the 16,384 cells
REPLICATES = 20
LONG, TOO_LONG = 3.0, 90.0  # seconds: measured once only, left out
PAGE = Path(__file__).parents[1] / "docs" / "speed.md"
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}

FIRST_TCE = """
from monitor.metrics.binning import monitor_sizes, pava_bc
from monitor.metrics.tally import tally
from monitor.metrics.tce import tce
"""
FIRST_TCE_RUN = """
t = tally([i / 1000 for i in range(1000)], [i % 2 for i in range(1000)])
tce(t, pava_bc(t, min_size=50, max_size=200))
"""


def our_measures() -> dict[str, Callable]:
    """Name the functions of a tally; those that peers have too under the same name."""
    from monitor.metrics import ece as e
    from monitor.metrics.binning import (
        estimation_error,
        monitor_sizes,
        paper_sizes,
        pava_bc,
        quantile_bins,
        uniform_bins,
    )
    from monitor.metrics.bounds import calibration_bounds
    from monitor.metrics.brier import brier
    from monitor.metrics.corp import corp
    from monitor.metrics.cox import fit_cox, slope_z
    from monitor.metrics.cumulative import cumulative_differences
    from monitor.metrics.discrimination import auc, tjur_r2
    from monitor.metrics.hosmer_lemeshow import hosmer_lemeshow
    from monitor.metrics.intercept import fit_intercept
    from monitor.metrics.log_score import log_score
    from monitor.metrics.skce import skce
    from monitor.metrics.smooth_ece import smooth_ece
    from monitor.metrics.spiegelhalter import spiegelhalter
    from monitor.metrics.tce import tce
    from monitor.metrics.tce_t import tce_t

    def pava_bins(t, sizes):  # noqa: ANN001, ANN202
        smallest, largest = sizes(t.total)
        return pava_bc(t, min_size=smallest, max_size=largest)

    return {
        "TCE, monitor's PAVA-BC bins": lambda t: tce(t, pava_bins(t, monitor_sizes)),
        "TCE, paper's PAVA-BC bins": lambda t: tce(t, pava_bins(t, paper_sizes)),
        "TCE, t-test": lambda t: tce_t(t, pava_bins(t, paper_sizes)),
        "ECE, PAVA-BC bins": lambda t: e.ece(pava_bins(t, monitor_sizes)),
        "ECE, 15 uniform bins": lambda t: e.ece(uniform_bins(t, BINS)),
        "ACE, 10 quantile bins": lambda t: e.ace(t, QUANTILES),
        "MCE, 15 uniform bins": lambda t: e.mce(uniform_bins(t, BINS)),
        "L2, 15 uniform bins": lambda t: e.root_mean_squared_gap(uniform_bins(t, BINS)),
        "L2 debiased, 15 uniform bins": lambda t: e.debiased_root_mean_squared_gap(
            uniform_bins(t, BINS)
        ),
        "estimation errors": lambda t: estimation_error(pava_bins(t, monitor_sizes)),
        "Hosmer-Lemeshow, 10 bins": lambda t: hosmer_lemeshow(quantile_bins(t, QUANTILES)),
        "Brier": brier,
        "log score": log_score,
        "CORP, Brier": corp,
        "CORP, log": lambda t: corp(t, rule="log"),
        "bounds": calibration_bounds,
        "intercept": fit_intercept,
        "slope test": slope_z,
        "Cox line": fit_cox,
        "Spiegelhalter's z": spiegelhalter,
        "AUC": auc,
        "Tjur's R2": tjur_r2,
        "KS and Kuiper": cumulative_differences,
        "SKCE": skce,
        "smooth ECE": smooth_ece,
    }


def write_rows(folder: Path, size: int) -> None:
    """Write seeded predictions, a little too extreme; no two scores are equal."""
    rng = np.random.default_rng(20_260_301)
    logits = rng.normal(-1.5, 1.2, size)
    rates = 1.0 / (1.0 + np.exp(-0.9 * logits - 0.1))
    np.save(folder / "scores.npy", 1.0 / (1.0 + np.exp(-logits)))
    np.save(folder / "outcomes.npy", (rng.random(size) < rates).astype(np.int64))


def serve_rows(folder: Path, *, whole_loop: bool) -> None:
    """Serve our measures from rows and from their tally, the sorts, and the published loop."""
    from monitor.metrics.binning import paper_sizes, pava_bc
    from monitor.metrics.tally import tally

    s, y = load(folder)
    t = tally(s, y)
    smallest, largest = paper_sizes(t.total)
    whole = whole_loop and s.size == LOOP_SIZE
    share = 1.0 if whole else min(1.0, LOOP_SAMPLE / s.size)
    tests = list(sampled_tests(t, pava_bc(t, min_size=smallest, max_size=largest), share))
    test_one_by_one(tests[:1])  # SciPy is imported before it is timed
    jobs: dict[str, Job] = {
        CONTROL: control,
        "np.sort": lambda: np.sort(s),
        "argsort": lambda: np.argsort(s, kind="stable"),
        "tally": lambda: tally(s, y),
        "loop": lambda: test_one_by_one(tests),
    }
    for name, measure in our_measures().items():
        jobs[f"{name}|rows"] = lambda measure=measure: measure(tally(s, y))
        jobs[f"{name}|tally"] = lambda measure=measure: measure(t)
        jobs[f"{name}|tally"]()  # compiled before it is timed
    serve(jobs, {"tested": str(len(tests)), "whole": str(whole)})


def sampled_tests(t, bins, share: float) -> Iterator[tuple[int, int, float]]:  # noqa: ANN001
    """Give successes, trials and probability of the tests of a share of each bin's predictions."""
    rng = np.random.default_rng(1)
    for b in range(bins.counts.size):
        members = t.scores[bins.starts[b] : bins.starts[b + 1]]
        some = rng.choice(members, max(1, round(share * members.size)), replace=False)
        yield from ((int(bins.positives[b]), int(bins.counts[b]), float(q)) for q in some)


def test_one_by_one(tests: list[tuple[int, int, float]]) -> int:
    """Do what [TCE, Algorithm 1] says, word for word."""
    from scipy.stats import binomtest

    return sum(binomtest(k, n, q).pvalue <= 0.05 for k, n, q in tests)


def serve_stored(total: int) -> None:
    """Serve our measures of a tally with a group in each of the 16,384 cells."""
    from monitor.metrics.binning import monitor_sizes
    from monitor.metrics.grid import CELL_COUNT, CELLS_PER_LOGIT, LOGIT_LIMIT, OFFSETS_PER_CELL
    from monitor.metrics.resampling import tce_null_reference
    from monitor.metrics.tally import Cells, from_cells
    from monitor.metrics.tce_at_size import standard_size, tce_at_size

    rng = np.random.default_rng(20_260_301)
    cells = np.arange(CELL_COUNT)
    logits = (cells + 0.5) / CELLS_PER_LOGIT - LOGIT_LIMIT
    density = np.exp(-0.5 * ((logits + 1.5) / 1.2) ** 2)
    counts = np.maximum(1, np.round(total * density / density.sum())).astype(np.int64)
    positives = rng.binomial(counts, 1.0 / (1.0 + np.exp(-0.9 * logits - 0.1)))
    t = from_cells(Cells(cells, counts * (OFFSETS_PER_CELL // 2)), counts, positives)

    measures = our_measures()
    smallest, largest = monitor_sizes(t.total)
    size = standard_size(t.prevalence)
    jobs: dict[str, Job] = {CONTROL: control}
    jobs |= {name: lambda measure=measure: measure(t) for name, measure in measures.items()}
    jobs["all together"] = lambda: [measure(t) for measure in measures.values()]
    jobs["null replicate"] = lambda: tce_null_reference(
        t, min_size=smallest, max_size=largest, replicates=REPLICATES, rng=rng
    )
    jobs["TCE@N*, 20 subsamples"] = lambda: tce_at_size(t, size=size, rng=rng)
    for job in jobs.values():
        job()
    serve(jobs, {"N*": str(size)})


class Worker(NamedTuple):
    """A process that runs jobs by name."""

    process: subprocess.Popen
    jobs: list[str]
    facts: dict[str, str]

    def ask(self, job: str) -> float | None:
        """Give the CPU seconds of a job; None if it failed."""
        print(job, file=self.process.stdin, flush=True)
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            print(f"{job}: {answer['error']}", file=sys.stderr)
        return answer.get("cpu")

    def end(self) -> None:
        """Let it go home."""
        self.process.communicate()


def start(*command: object) -> Worker:
    """Start a worker and read what it can do."""
    process = subprocess.Popen(  # noqa: S603
        [str(part) for part in command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | ONE_THREAD,
    )
    told = process.stdout.readline()
    if not told:
        sys.exit(f"the worker did not start: {' '.join(map(str, command))}")
    found = json.loads(told)
    return Worker(process, found["jobs"], found["facts"])


Times = dict[str, list[float]]


def rounds_of(workers: list[Worker], rounds: int, skip: set[str]) -> tuple[Times, list[float]]:
    """Run all jobs in turn, round after round; give the times and those of the control."""
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
            controls.append(worker.ask(CONTROL))
    for worker in workers:
        worker.end()
    return found, controls


def measure_rows(options: argparse.Namespace) -> tuple[dict[int, Times], dict, list[float]]:
    """Measure every size; jobs that would take too long at the next are left out there."""
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
            whole = ["--whole-loop"] if options.whole_loop else []
            workers = [start(sys.executable, __file__, "--rows", name, *whole)]
            if options.peers:
                script = Path(__file__).with_name("peers_worker.py")
                workers.append(start(options.peers, script, name))
            facts[size] = {k: v for worker in workers for k, v in worker.facts.items()}
            found[size], some = rounds_of(workers, options.rounds, skip)
        tested = int(facts[size]["tested"])
        found[size]["loop"] = [cpu * size / tested for cpu in found[size]["loop"]]
        controls += some
        before = size
        print(f"{size:,} predictions done", file=sys.stderr)
    return found, facts, controls


def measure_stored(options: argparse.Namespace) -> tuple[dict[int, Times], list[float]]:
    """Measure the stored tallies."""
    found, controls = {}, []
    for total in STORED:
        worker = start(sys.executable, __file__, "--stored", total)
        found[total], some = rounds_of([worker], options.rounds, set())
        found[total]["null replicate"] = [c / REPLICATES for c in found[total]["null replicate"]]
        controls += some
    return found, controls


def measure_start(rounds: int) -> dict[str, list[tuple[float, float]]]:
    """Give wall and CPU seconds of fresh processes, from start to end."""
    runs = [("first TCE, cold compiler cache", FIRST_TCE + FIRST_TCE_RUN)]
    runs += rounds * [
        ("an empty program", "pass"),
        ("import", FIRST_TCE),
        ("first TCE, warm compiler cache", FIRST_TCE + FIRST_TCE_RUN),
    ]
    found: dict[str, list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory(prefix="metrics-bench-") as cache:
        for name, code in runs:
            begin = time.perf_counter()
            child = subprocess.Popen(  # noqa: S603
                [sys.executable, "-c", code], env=os.environ | {"NUMBA_CACHE_DIR": cache}
            )
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = status
            if status:
                sys.exit(f"{name}: the program failed")
            took = time.perf_counter() - begin, usage.ru_utime + usage.ru_stime
            found.setdefault(name, []).append(took)
    return found


def ms(seconds: float) -> str:
    """Write milliseconds with three digits."""
    value = 1000.0 * seconds
    return f"{value:,.0f}" if value >= 100.0 else f"{value:.3g}"


def both(cpus: list[float]) -> str:
    """Write the least time and, in brackets, the median."""
    return f"{ms(min(cpus))} ({ms(median(cpus))})"


def ratio(above: list[float], below: list[float]) -> str:
    """Write how many times one takes the other."""
    value = min(above) / min(below)
    return f"{value:,.0f}" if value >= 100.0 else f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def table(head: list[str], rows: list[list[str]]) -> str:
    """Write a Markdown table, numbers to the right."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def peers_of(measure: str, times: Times) -> dict[str, list[float]]:
    """Give the times of the packages that have a measure, the fastest first."""
    ours = {"rows", "tally"}
    found = {
        job.partition("|")[2]: cpus for job, cpus in times.items() if job.startswith(f"{measure}|")
    }
    others = {peer: cpus for peer, cpus in found.items() if peer not in ours}
    return dict(sorted(others.items(), key=lambda item: min(item[1])))


WHOLE, MONITOR = "TCE, paper's PAVA-BC bins|rows", "TCE, monitor's PAVA-BC bins|rows"


def sorts_section(rows: dict[int, Times], facts: dict) -> Iterator[str]:
    """Write what sorting, TCE and the published algorithm take."""
    yield "## Rows to TCE\n"
    yield (
        "Least CPU time in milliseconds, in brackets the median. *TCE* is everything from the two "
        "arrays on: checks, sort, tally, PAVA-BC (the monitor's sizes, or the paper's N/20 and "
        "N/5) and the tests of all predictions. *Loop* is `scipy.stats.binomtest` for each "
        "prediction in the paper's bins, without sort and bins.\n"
    )
    lines = []
    for size, times in rows.items():
        loop = "whole" if facts[size]["whole"] == "True" else f"from {facts[size]['tested']}"
        lines.append(
            [f"{size:,}"]
            + [both(times[job]) for job in ("np.sort", "argsort", "tally", MONITOR, WHOLE)]
            + [f"{ms(min(times['loop']))}, {loop}"]
        )
    head = ["predictions", "`np.sort`", "stable argsort", "tally", "TCE", "TCE, paper's", "loop"]
    yield table(head, lines)
    yield "As ratios:\n"
    names = ["predictions", "TCE / `np.sort`", "TCE / stable argsort", "loop / TCE, paper's"]
    yield table(
        names,
        [
            [
                f"{size:,}",
                ratio(times[MONITOR], times["np.sort"]),
                ratio(times[MONITOR], times["argsort"]),
                ratio(times["loop"], times[WHOLE]),
            ]
            for size, times in rows.items()
        ],
    )


def measures_section(rows: dict[int, Times]) -> Iterator[str]:
    """Write what each measure takes, from rows and with the tally at hand."""
    yield "## Every measure\n"
    yield (
        "Least CPU time in milliseconds: with the tally at hand, on exact tallies in which every "
        "score is a group of its own. A tally is made once for all measures; what it takes is "
        "above.\n"
    )
    head = ["measure"] + [f"{size:,}" for size in rows]
    names = [job.removesuffix("|tally") for job in rows[min(rows)] if job.endswith("|tally")]
    yield table(head, [[n] + [ms(min(t[f"{n}|tally"])) for t in rows.values()] for n in names])


def peers_section(rows: dict[int, Times]) -> Iterator[str]:
    """Write our time over the fastest peer's, and every peer's."""
    yield "## Beside other packages\n"
    shared = [
        job.removesuffix("|rows")
        for job in rows[min(rows)]
        if job.endswith("|rows") and peers_of(job.removesuffix("|rows"), rows[min(rows)])
    ]
    if not shared:
        yield "Left out: no `--peers` was given.\n"
        return
    yield (
        "Our time over that of the *fastest* package that has the measure: from the two arrays, "
        "and after the stroke with the tally at hand. Below 1 we are faster.\n"
    )
    lines = []
    for name in shared:
        line = [name]
        for times in rows.values():
            fastest = next(iter(peers_of(name, times).values()))
            parts = [ratio(times[f"{name}|{kind}"], fastest) for kind in ("rows", "tally")]
            line.append(" / ".join(parts))
        lines.append(line)
    yield table(["measure"] + [f"{size:,}" for size in rows], lines)
    for size in [size for size in rows if size >= 1_000_000] or [max(rows)]:
        yield f"Milliseconds at {size:,} predictions, from the two arrays:\n"
        lines = []
        for name in shared:
            found = peers_of(name, rows[size])
            cells = ", ".join(f"{peer} {ms(min(cpus))}" for peer, cpus in found.items())
            lines.append([name, ms(min(rows[size][f"{name}|rows"])), cells])
        yield table(["measure", "ours", "others"], lines)


def stored_section(stored: dict[int, Times]) -> Iterator[str]:
    """Write what a stored tally costs."""
    yield "## A stored tally\n"
    yield (
        "A group in each of the 16,384 cells; the number of predictions in them heads each column. "
        "Milliseconds; *null replicate* is one of the worlds of `tce_null_reference` with the "
        "monitor's sizes.\n"
    )
    names = list(stored[STORED[0]])
    last = ["all together", "null replicate", "TCE@N*, 20 subsamples"]
    names = [name for name in names if name not in last] + last
    yield table(
        ["measure"] + [f"{total:,}" for total in stored],
        [[n] + [ms(min(t[n])) for t in stored.values()] for n in names],
    )


def start_section(started: dict[str, list[tuple[float, float]]]) -> Iterator[str]:
    """Write what a fresh process takes."""
    yield "## Start-up\n"
    yield "A fresh process from start to end, in seconds: least wall time, least CPU time.\n"
    yield table(
        ["program", "wall", "CPU"],
        [
            [name, f"{min(w for w, _ in took):.2f}", f"{min(c for _, c in took):.2f}"]
            for name, took in started.items()
        ],
    )


def goals_section(rows: dict[int, Times], stored: dict[int, Times]) -> Iterator[str]:
    """Write what was to be reached, and whether it is."""
    yield "## To reach\n"
    goals: list[tuple[str, str, bool]] = []
    if LOOP_SIZE in rows:
        times = rows[LOOP_SIZE]
        found = min(times["loop"]) / min(times[WHOLE])
        goals.append((f"TCE at {LOOP_SIZE:,}: 1,000 x the loop", f"{found:,.0f} x", found >= 1000))
    largest = rows[max(rows)]
    found = min(largest[MONITOR]) / min(largest["np.sort"])
    what = f"rows to TCE at {max(rows):,}: within 2 x `np.sort`"
    goals.append((what, f"{found:.2f} x", found <= 2.0))
    for name, limit in (
        ("all together", 50.0),
        ("null replicate", 1.0),
        ("TCE@N*, 20 subsamples", 20.0),
    ):
        for total, times in stored.items():
            found = 1000.0 * min(times[name])
            what = f"stored tally of {total:,}, {name}: under {limit:.0f} ms"
            goals.append((what, f"{found:.3g} ms", found < limit))
    for kind, words in (("rows", "from rows"), ("tally", "with the tally at hand")):
        slower = sorted(slower_than_a_peer(rows, kind))
        if any(peers_of(job.partition("|")[0], times) for times in rows.values() for job in times):
            what = f"no measure slower than the fastest package, {words}"
            goals.append((what, "; ".join(slower) or "none", not slower))
    yield table(["goal", "found", ""], [[w, f, "reached" if r else "**no**"] for w, f, r in goals])
    yield (
        "From rows, every measure of ours first pays for the checks and the sort of a tally, "
        "which programs of one pass and one measure do without; the tally is made once and then "
        "serves them all. A null replicate draws, fits and tests a whole world; with the rows "
        "grow the tails that the tests of its bins add up.\n"
    )


def slower_than_a_peer(rows: dict[int, Times], kind: str) -> Iterator[str]:
    """Name the measures that another package computes faster, with the sizes where it does."""
    for job in rows[min(rows)]:
        name, _, found = job.partition("|")
        if found != kind:
            continue
        sizes = [
            size
            for size, times in rows.items()
            if (others := peers_of(name, times))
            and min(times[job]) > min(next(iter(others.values())))
        ]
        if sizes:
            yield f"{name} ({', '.join(f'{size:,}' for size in sizes)})"


def page(options: argparse.Namespace) -> Iterator[str]:
    """Measure, then write everything in Markdown."""
    rows, facts, controls = measure_rows(options)
    stored, more = measure_stored(options)
    started = measure_start(options.rounds)
    controls += more
    yield "# How fast the measures are\n"
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba", "scipy"))
    yield (
        f"`python bench/metrics.py --peers PYTHON --write` measures this anew. CPU times of "
        f"one thread on {os.cpu_count()} cores ({platform.machine()}), Python "
        f"{platform.python_version()}, {versions}; {options.rounds} rounds of all jobs in turn, "
        f"jobs over {LONG:.0f} seconds once. The control job, a sort of a million random "
        f"numbers, took {ms(min(controls))} to {ms(max(controls))} ms, "
        f"{ms(median(controls))} in the median: so much did the machine drift.\n"
    )
    peers = {k: v for k, v in facts[min(facts)].items() if k not in {"tested", "whole"}}
    if peers:
        yield "Compared with " + ", ".join(f"{k} {v}" for k, v in peers.items()) + ".\n"
    yield from goals_section(rows, stored)
    yield from sorts_section(rows, facts)
    yield from measures_section(rows)
    yield from peers_section(rows)
    yield from stored_section(stored)
    yield from start_section(started)


def main() -> None:
    """Measure and print, or serve as one of the workers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", type=Path, help="Python of an environment with the packages")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--whole-loop", action="store_true", help="run the loop whole, once")
    parser.add_argument("--write", action="store_true", help=f"into docs/{PAGE.name} too")
    parser.add_argument("--rows", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--stored", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rows:
        serve_rows(options.rows, whole_loop=options.whole_loop)
    elif options.stored:
        serve_stored(options.stored)
    else:
        text = "\n".join(page(options))
        print(text)
        if options.write:
            PAGE.write_text(text)


if __name__ == "__main__":
    main()
