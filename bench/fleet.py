"""A morning of many models: time of the cores, of the wall and memory, with short and long pasts.

    python -m bench.fleet [--models 20] [--predictions 2000] [--segments 5] [--days 60]
                          [--long-models 1] [--long-days 730]

Writes one model with its logs and its store, copies both for the other models through the store's
own interface, and judges each. Then it runs the morning of one more day: `run` for all models, as
the scheduler calls it, `run` and `show` for one model, and a scrape. Stores of a few models with
few and with many days show what history costs; there the days of one month are copied for the
others. So do stores of models whose events are so rare that they never get a reference.
Prints what it is at, then CPU and wall time (of scrapes the least of 25), the largest resident
memory of a process, and each goal. Most of its minutes go into judging the stores; with the
defaults it takes some five on two cores, and more models only repeat what these show; for a past
of five years give `--long-days 1826`. Linux only.

Exit code: 0 if every goal is reached, 1 if not.
"""

import argparse
import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from scipy.special import expit

from monitor.base import program
from monitor.config import Config, load_config
from monitor.export.snapshot_reader import Reader
from monitor.pipeline.days.progress import Pace
from monitor.pipeline.days.task import Task
from monitor.pipeline.runs.run import run
from monitor.pipeline.verdicts.judging import judge_days
from monitor.pipeline.verdicts.references import read_references
from monitor.store.store import Store

LAST = date(2026, 3, 31)  # the day of the morning
AS_OF = LAST + timedelta(days=2)
DAY = timedelta(days=1)
COMMAND = Path(sys.executable).with_name("calibration-monitor")
WALL, CPU, MEMORY_MB, SHOW, HISTORY = 0.30, 0.50, 500, 0.7, 1.2
MINUTES, CORES, LARGE = 20, 64, 10_000
PR_SET_CHILD_SUBREAPER, SCRAPES = 36, 25
STARTED = time.perf_counter()
REAL_DAYS = 60  # with logs; older days of a long past are copies of these
# The middle of the logits; the rare one gives a positive in some weeks, 100 of them in five years.
USUAL, RARE = -1.5, -11.0


@dataclass(frozen=True)
class Spent:
    """What a command took: seconds of all cores, seconds of the wall, MB of its largest process."""

    cpu: float
    wall: float
    memory_mb: float


def names_of(models: int) -> list[str]:
    """Name the models."""
    return [f"model-{number:05}" for number in range(models)]


def progress(doing: str) -> None:
    """Say what the benchmark is at, and when it began to be."""
    print(f"{time.perf_counter() - STARTED:6.0f} s  {doing}", file=sys.stderr, flush=True)


def write_logs(folder: Path, days: Sequence[date], size: argparse.Namespace) -> None:
    """Write calibrated predictions and their outcomes, with a prior of their own every day."""
    rng = np.random.default_rng(1)
    for kind in ("predictions", "outcomes"):
        (folder / kind).mkdir(parents=True)
    for day in days:
        logits = rng.normal(RARE if size.rare else USUAL, 1.0, size.predictions)
        ids = np.arange(size.predictions) + day.toordinal() * 1_000_000
        hits = rng.random(size.predictions) < expit(logits + rng.normal(0.0, 0.1))
        segments = rng.integers(size.segments, size=size.predictions)
        columns = {
            "predictions": {
                "prediction_id": ids,
                "score": expit(logits),
                "segment": pa.array([f"segment-{number}" for number in segments]),
            },
            "outcomes": {"prediction_id": ids, "outcome": hits},
        }
        for kind, of_kind in columns.items():
            pq.write_table(pa.table(of_kind), folder / kind / f"{day}.parquet")


def configure(folder: Path, size: argparse.Namespace) -> Config:
    """Write a folder of configuration files, one for each model, and load it."""
    (folder / "models").mkdir(parents=True, exist_ok=True)
    (folder / "monitor.yaml").write_text("store: store\n")
    values = [f"segment-{number}" for number in range(size.segments)]
    span = LAST - REAL_DAYS * DAY, LAST - (REAL_DAYS - 27) * DAY  # the same in a long past
    of_rare = {"checks": {"accept": ["one_class"]}}  # and the first days that make a reference
    of_usual = {"verdicts": {"references": [{"first": span[0], "last": span[1]}]}}
    for name in names_of(size.models):
        content = {
            log: {"path": f"logs/{name}/{log}/{{day}}.parquet"}
            for log in ("predictions", "outcomes")
        } | {
            "segments": {"column": "segment", "values": values[:-1]},
            **(of_rare if size.rare else of_usual),
        }
        (folder / "models" / f"{name}.yaml").write_text(yaml.safe_dump(content))
    return load_config(folder)


def build(folder: Path, days: int, size: argparse.Namespace) -> None:
    """Write the logs and the store of every model up to the day before the last."""
    progress(f"{folder.name}: writing logs and a store of {days} days")
    config = configure(folder, size)
    first, *others = names_of(size.models)
    past = [LAST - number * DAY for number in range(min(days, REAL_DAYS), 0, -1)]
    write_logs(folder / "logs" / first, [*past, LAST], size)
    for number in range(len(past) + 1, days + 1):
        for kind in ("predictions", "outcomes"):
            (folder / "logs" / first / kind / f"{LAST - number * DAY}.parquet").touch()
    run(config, Task(first, past[0], past[-1], LAST + DAY), clock=lambda: datetime.now(UTC), jobs=2)
    store = Store(config.store)
    for number in range(len(past) + 1, days + 1):
        copy_day(store, first, past[number % len(past)], first, LAST - number * DAY)
    for name in others:
        (folder / "logs" / name).symlink_to(folder / "logs" / first)
        for day in store.days("summaries", first):
            copy_day(store, first, day, name, day)
    for name in names_of(size.models):  # verdicts rest on the files of their own model
        progress(f"judging {days} days of {name}")
        with store.locked(name):
            references = read_references(config, name)
            assert bool(references.fitted) != size.rare
            judge_days(config, name, references, date.min, pace=Pace(jobs=2))


def copy_day(store: Store, first: str, day: date, name: str, to: date) -> None:
    """Copy the summary of a day and what was measured of it for another model or day."""
    store.write_summary(replace(store.read_summary(first, day)[0], model=name, days=(to,)))
    evaluations, inputs = store.read_evaluations(first, day)
    renamed = [replace(one, model=name, day=to) for one in evaluations]
    store.write_evaluations(
        *(name, to, renamed),
        inputs=inputs,
        made_from=store.read_summary(name, to)[1],
        program=program.digest("evaluations"),
    )
    if name != first and day in store.days("arrivals", first):
        store.write_arrivals(name, replace(store.read_arrivals(first, day), day=to))


def spend(folder: Path, *arguments: str) -> Spent:
    """Run one command of the program and measure it with all its processes."""
    call = [str(COMMAND), *arguments, "--config", str(folder)]
    measuring = [sys.executable, "-m", "bench.fleet", "--call", json.dumps(call)]
    said = subprocess.run(measuring, check=True, stdout=subprocess.PIPE, text=True).stdout  # noqa: S603 - our own program
    return Spent(**json.loads(said))


def measure_here(call: Sequence[str]) -> None:
    """Run a command as the only child of this process, and print what it and its children took."""
    # Processes that outlive their parent for a moment become children of this one, and count.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    begin = time.perf_counter()
    subprocess.run(call, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own program
    wall = time.perf_counter() - begin
    with suppress(ChildProcessError):
        while True:
            os.wait()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = Spent(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024)
    print(json.dumps(vars(spent)))


def scrape(config: Config) -> Spent:
    """Read all models as a scrape does that comes after another."""
    reader = Reader(config)
    reader.snapshots()
    took = list[tuple[float, float]]()
    for _ in range(SCRAPES):
        begin, wall = time.process_time(), time.perf_counter()
        reader.snapshots()
        took.append((time.process_time() - begin, time.perf_counter() - wall))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Spent(*(min(of) for of in zip(*took, strict=True)), memory)


def measure(folder: Path) -> dict[str, Spent]:
    """Run the morning of all models, then commands for one model, then a scrape."""
    progress(f"{folder.name}: measuring")
    first, config, as_of = names_of(1)[0], load_config(folder), ("--as-of", str(AS_OF))
    spend(folder, "show", "--model", first)  # compiles and caches what is not yet
    return {
        "run, all models": spend(folder, "run", *as_of),
        "run, one model": spend(folder, "run", "--model", first, *as_of),
        "show": spend(folder, "show", "--model", first),
        "scrape": scrape(config),
    }


def main() -> None:
    """Build, measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=20)
    parser.add_argument("--predictions", type=int, default=2000)
    parser.add_argument("--segments", type=int, default=5)
    parser.add_argument("--days", type=int, default=60)
    parser.add_argument("--long-models", type=int, default=1)
    parser.add_argument("--long-days", type=int, default=730)
    parser.add_argument("--call", help=argparse.SUPPRESS)
    size = parser.parse_args(namespace=argparse.Namespace(rare=False))
    if size.call:
        measure_here(json.loads(size.call))
        return
    with tempfile.TemporaryDirectory(prefix="calibration-bench-") as name:
        few = argparse.Namespace(**vars(size) | {"models": size.long_models})
        rare = argparse.Namespace(**vars(few) | {"rare": True})
        stores = {
            "fleet": (size.days, size),
            "short": (size.days, few),
            "long": (size.long_days, few),
            "short, rare": (size.days, rare),
            "long, rare": (size.long_days, rare),
        }
        for which, (days, of_store) in stores.items():
            build(Path(name) / which, days, of_store)
        found = {which: measure(Path(name) / which) for which in stores}
    sys.exit(report(size, found))


def report(size: argparse.Namespace, found: dict[str, dict[str, Spent]]) -> int:
    """Print a line for each job and each goal; return 1 if a goal is missed."""
    for which, jobs in found.items():
        for job, spent in jobs.items():
            print(
                f"{which:11s} {job:16s} cpu {spent.cpu:8.3f} s  wall {spent.wall:8.3f} s  "
                f"memory {spent.memory_mb:5.0f} MB"
            )
    morning, show = found["fleet"]["run, all models"], found["fleet"]["show"]
    each = Spent(morning.cpu / size.models, morning.wall / size.models, morning.memory_mb)
    goals = {
        "wall seconds a model": (each.wall, WALL),
        "CPU seconds a model": (each.cpu, CPU),
        "MB of a process": (each.memory_mb, MEMORY_MB),
        "minutes for 10,000 models on 64 cores": (each.cpu * LARGE / CORES / 60, MINUTES),
        "CPU seconds of show": (show.cpu, SHOW),
    } | {
        f"{job}{rare}: {what} with {size.long_days} days, of {size.days}": (
            getattr(found[f"long{rare}"][job], one) / getattr(found[f"short{rare}"][job], one),
            HISTORY,
        )
        for rare, what, one in (
            ("", "CPU", "cpu"),
            (", rare", "CPU", "cpu"),
            (", rare", "MB", "memory_mb"),
        )
        for job in found["short"]
        if what == "CPU" or job.startswith("run")
    }
    for goal, (value, limit) in goals.items():
        print(f"{goal:56s} {value:7.2f} (to reach: {limit})")
    return int(any(value > limit for value, limit in goals.values()))


if __name__ == "__main__":
    main()
