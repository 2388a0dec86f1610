"""The section of docs/speed.md that `metrics.py` writes: its measurements as Markdown."""

import os
import platform
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench.metrics_worker import LOOP_SIZE

Times = dict[str, list[float]]

MARK = "<!-- `python -m bench.metrics --write` writes everything below this line. -->\n"

# Programs, whether the cache is cold or warm, and the CPU seconds they may take.
START_LIMITS = {
    "`calibration-monitor check`, cold compiler cache": 3.0,
    "`calibration-monitor check`, warm compiler cache": 3.0,
    "`calibration-monitor show`, cold compiler cache": 3.0,
    "`calibration-monitor show`, warm compiler cache": 3.0,
    "`calibration-monitor run`, a day, cold compiler cache": 60.0,
    "`calibration-monitor run`, a day, warm compiler cache": 5.0,
}

# How many times the time of `np.sort` rows to TCE may take, by the number of predictions. With
# AVX-512 numpy sorts so fast that the sort is no longer most of it.
SORTS_WITH_AVX512 = {50_000: 3.0, 1_000_000: 2.5, 10_000_000: 2.0}
SORTS_WITHOUT = {1_000_000: 1.2}

UNCHECKED = "numpy"  # a few plain lines, compared with the packages, that check nothing

ROADS = """\
A tally serves every measure, but making one sorts the rows. Most single measures take the two
arrays in one to three passes, to 1e-12 the same. In the tables each takes its shorter way, as a
single call with cold caches.
"""


class Found(NamedTuple):
    """All that was measured; CPU times in seconds."""

    rows: dict[int, Times]
    facts: dict[int, dict[str, str]]
    stored: dict[int, Times]
    started: dict[str, list[tuple[float, float]]]
    controls: list[float]
    rounds: int
    long: float
    load: float


def ms(seconds: float) -> str:
    """Write milliseconds with three digits."""
    value = 1000.0 * seconds
    return f"{value:,.0f}" if value >= 100.0 else f"{value:.3g}"


def both(cpus: list[float]) -> str:
    """Write the least time and, in brackets, the median."""
    return f"{ms(min(cpus))} ({ms(median(cpus))})"


def ratio(above: list[float], below: list[float]) -> str:
    """Write the ratio of the least times."""
    value = min(above) / min(below)
    return f"{value:,.0f}" if value >= 100.0 else f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def table(head: list[str], rows: list[list[str]]) -> str:
    """Write a Markdown table, numbers to the right."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def with_all_measures(rows: dict[int, Times]) -> dict[int, Times]:
    """Leave out the sizes of which only rows to TCE was measured."""
    return {size: times for size, times in rows.items() if {*times} - {*TCE_JOBS}}


def peers_of(measure: str, times: Times) -> dict[str, list[float]]:
    """Give the times of the packages that have a measure, the fastest first."""
    ours = {"rows", "tally"}
    found = {
        job.partition("|")[2]: cpus for job, cpus in times.items() if job.startswith(f"{measure}|")
    }
    others = {peer: cpus for peer, cpus in found.items() if peer not in ours}
    return dict(sorted(others.items(), key=lambda item: min(item[1])))


WHOLE, MONITOR = "TCE, paper's PAVA-BC bins|rows", "TCE, monitor's PAVA-BC bins|rows"
TCE_JOBS = ("np.sort", "argsort", "tally", MONITOR, WHOLE, "loop")


def sorts_section(rows: dict[int, Times], facts: dict) -> Iterator[str]:
    """Write the times of sorting, TCE and the published algorithm."""
    yield "### Rows to TCE\n"
    yield (
        "Least CPU time in milliseconds, with the median in brackets. *TCE*: everything after the "
        "two arrays, without a tally. *Loop*: `scipy.stats.binomtest` for each prediction.\n"
    )
    lines = []
    for size, times in rows.items():
        loop = "whole" if facts[size]["whole"] == "True" else f"from {facts[size]['tested']}"
        lines.append(
            [f"{size:,}"]
            + [both(times[job]) for job in TCE_JOBS[:-1]]
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
    """Write what each measure takes, from rows and from an existing tally."""
    yield "### Every measure\n"
    yield (
        "Least CPU time in milliseconds from an existing tally with a group for every score. "
        "Class-wise and top-label measures have *scores* of ten classes, a tenth as many rows.\n"
    )
    head = ["measure"] + [f"{size:,}" for size in rows]
    names = [job.removesuffix("|tally") for job in rows[min(rows)] if job.endswith("|tally")]
    yield table(head, [[n] + [ms(min(t[f"{n}|tally"])) for t in rows.values()] for n in names])


def peers_section(rows: dict[int, Times]) -> Iterator[str]:
    """Write our time relative to the fastest peer, and the time of every peer."""
    yield "### Compared with other packages\n"
    shared = shared_with_peers(rows)
    if not shared:
        yield "Not measured: no `--peers` was given.\n"
        return
    yield (
        "Our time divided by that of the *fastest* package that has the measure: from the two "
        "arrays / from a tally. *numpy*: a few lines without any check, no package to the goals.\n"
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
    """Write the times of a stored tally."""
    yield "### A stored tally\n"
    yield (
        "Milliseconds for a tally with a group in each of the 16,384 cells; each column is headed "
        "by the number of predictions. *null replicate* is one simulation of `tce_null_reference` "
        "with the monitor's sizes.\n"
    )
    names = list(stored[min(stored)])
    last = ["all together", "null replicate", "TCE@N*, 20 subsamples"]
    names = [name for name in names if name not in last] + last
    yield table(
        ["measure"] + [f"{total:,}" for total in stored],
        [[n] + [ms(min(t[n])) for t in stored.values()] for n in names],
    )


def start_section(started: dict[str, list[tuple[float, float]]]) -> Iterator[str]:
    """Write the times of fresh processes."""
    yield "### Start-up\n"
    yield (
        "Seconds for a fresh process from start to end: least wall time and least CPU time. "
        "*Cold* is the first run, which compiles (set `NUMBA_CACHE_DIR` where numba can write "
        "neither next to the package nor to the user's cache). 40 days of 2,000 predictions.\n"
    )
    yield table(
        ["program", "wall", "CPU"],
        [
            [name, f"{min(w for w, _ in took):.2f}", f"{min(c for _, c in took):.2f}"]
            for name, took in started.items()
        ],
    )


def cpu_facts(field: str) -> str:
    """Read what Linux says of the processor; empty elsewhere."""
    facts = Path("/proc/cpuinfo")
    lines = facts.read_text().splitlines() if facts.exists() else []
    return next((line.partition(": ")[2] for line in lines if line.startswith(field)), "")


def processor() -> str:
    """Name the processor, and whether it has what numpy's sort depends on."""
    name = cpu_facts("model name") or platform.machine()
    return f"{name} {'with' if has_avx512() else 'without'} AVX-512"


def has_avx512() -> bool:
    """Check whether numpy can sort with AVX-512."""
    return "avx512dq" in cpu_facts("flags")


def goals_section(found: Found) -> Iterator[str]:
    """Write each goal and whether it was reached."""
    yield "### Goals\n"
    goals = [*goals_of_measures(found.rows, found.stored), *goals_of_start(found.started)]
    lines = [[words, what, verdict] for words, what, verdict in goals]
    yield table(["goal", "found", ""], lines)


def said(*, reached: bool) -> str:
    """Say whether a goal is reached."""
    return "reached" if reached else "**no**"


def goals_of_start(started: dict[str, list[tuple[float, float]]]) -> Iterator[tuple[str, str, str]]:
    """Give the goals of fresh processes."""
    for name, limit in START_LIMITS.items():
        cpu = min(cpu for _, cpu in started[name])
        words = f"{name}: under {limit:.0f} s of CPU"
        yield words, f"{cpu:.1f} s", said(reached=cpu < limit)


def goals_of_measures(
    rows: dict[int, Times], stored: dict[int, Times]
) -> Iterator[tuple[str, str, str]]:
    """Give the goals of TCE, of the stored tally, and compared with other packages."""
    if LOOP_SIZE in rows:
        times = rows[LOOP_SIZE]
        found = min(times["loop"]) / min(times[WHOLE])
        words = f"TCE at {LOOP_SIZE:,}: 1,000 x as fast as the loop"
        yield words, f"{found:,.0f} x", said(reached=found >= 1000)
    for size, limit in (SORTS_WITH_AVX512 if has_avx512() else SORTS_WITHOUT).items():
        if size in rows:
            found = min(rows[size][MONITOR]) / min(rows[size]["np.sort"])
            what = f"rows to TCE at {size:,}: within {limit:g} x `np.sort`"
            yield what, f"{found:.2f} x", said(reached=found <= limit)
    for name, limit in (
        ("all together", 50.0),
        ("null replicate", 1.0),
        ("TCE@N*, 20 subsamples", 20.0),
    ):
        for total, times in stored.items():
            found = 1000.0 * min(times[name])
            what = f"stored tally of {total:,}, {name}: under {limit:.0f} ms"
            yield what, f"{found:.3g} ms", said(reached=found < limit)
    for kind, words in (("rows", "from rows"), ("tally", "from an existing tally")):
        what = f"no measure slower than the fastest package, {words}"
        if not shared_with_peers(rows):
            yield what, "not measured", "give `--peers`"
            continue
        slower = list(slower_than_a_peer(with_all_measures(rows), kind))
        yield what, f"{len(slower)} slower" if slower else "none", said(reached=not slower)


def slower_section(rows: dict[int, Times]) -> Iterator[str]:
    """List the measures that another package computes faster."""
    if not shared_with_peers(rows):
        return
    yield "### What is slower than the fastest package\n"
    for kind, words in (("rows", "From the two arrays"), ("tally", "From an existing tally")):
        lines = list(slower_than_a_peer(rows, kind))
        if lines:
            yield f"{words}, our time over that of the fastest package, where it is above 1:\n"
            yield table(["measure"] + [f"{size:,}" for size in rows], lines)
        else:
            yield f"{words}: nothing.\n"
    yield ROADS


def slower_than_a_peer(rows: dict[int, Times], kind: str) -> Iterator[list[str]]:
    """Give a line for each measure that another package computes faster at some size."""
    for name in shared_with_peers(rows):
        line = []
        for times in rows.values():
            others = {p: cpus for p, cpus in peers_of(name, times).items() if p != UNCHECKED}
            fastest = next(iter(others.values()), None)
            slower = fastest is not None and min(times[f"{name}|{kind}"]) > min(fastest)
            line.append(ratio(times[f"{name}|{kind}"], fastest) if slower else "")
        if any(line):
            yield [name, *line]


def shared_with_peers(rows: dict[int, Times]) -> list[str]:
    """Name the measures that we share with another package."""
    first = rows[min(rows)]
    names = [job.removesuffix("|rows") for job in first if job.endswith("|rows")]
    return [name for name in names if peers_of(name, first)]


def page(found: Found) -> Iterator[str]:
    """Write everything in Markdown."""
    rows, facts, stored, controls = found.rows, found.facts, found.stored, found.controls
    yield "## The measures\n"
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba", "scipy"))
    yield (
        "`python -m bench.metrics --peers PYTHON --write` measures all times again and writes "
        "this section; `bench/peers.txt` says how to create the environment of PYTHON.\n"
    )
    yield (
        f"CPU times of all threads together, Python "
        f"{platform.python_version()}, {versions}; {found.rounds} rounds of all jobs in turn; "
        f"jobs over {found.long:.0f} seconds ran once. The control job, a sort of a million random "
        f"numbers, took {ms(min(controls))} to {ms(max(controls))} ms, "
        f"{ms(median(controls))} in the median, which shows how much the speed of the machine "
        f"varied. Other work shared the cores (load {found.load:.1f} at the end) and slowed down "
        f"all packages.\n"
    )
    yield f"Measured on {os.cpu_count()} cores of {processor()}.\n"
    peers = {k: v for k, v in facts[min(facts)].items() if k not in {"tested", "whole"}}
    if peers:
        yield "Compared with " + ", ".join(f"{k} {v}" for k, v in peers.items()) + ".\n"
    of_all_measures = with_all_measures(rows)
    yield from goals_section(found)
    yield from slower_section(of_all_measures)
    yield from sorts_section(rows, facts)
    yield from measures_section(of_all_measures)
    yield from peers_section(of_all_measures)
    yield from stored_section(stored)
    yield from start_section(found.started)
