"""How long verdicts and the daily evaluation take with many segments.

    .venv/bin/python -m bench.verdicts [--models 2] [--segments 50] [--days 365] [--rounds 2]
                                       [--predictions 2000] [--share 0.05] [--into FOLDER]

Writes the summaries of a year through the store's own interface, then runs every job in a fresh
process: judging the whole year again, the detector alone, with and without what it asks of labels,
and a daily run after its logs are read.
The control job, a sort of a million random numbers, runs before each and shows if the machine is
slow or busy. Prints the least time of the rounds. A goal is reached if the CPU time of all cores
together is below it; the wall time is longer if other work shares the cores.

Exit code: 0 if every goal is reached, 1 if not, 2 if the call is wrong.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from statistics import median

import numpy as np
from scipy.special import expit

from monitor.config import Config, load_config
from monitor.days.summary import Segment, Summary
from monitor.drift.incidents.detecting import advance, new_detector, update_incident
from monitor.metrics.core.coarse import coarsen
from monitor.metrics.core.tally import tally_on_grid
from monitor.pipeline.days.progress import Pace
from monitor.pipeline.runs.evaluations import evaluate_days
from monitor.pipeline.verdicts.judging import judge_days
from monitor.pipeline.verdicts.references import read_references
from monitor.store.store import Store

FIRST = date(2025, 1, 1)
CORES = 2
LEAST_DAYS = 42  # a reference and some days to judge
METER_DAYS = 20
LOGS = {"predictions": {"path": "p/{day}"}, "outcomes": {"path": "o/{day}"}}


def configure(folder: Path, models: int, segments: int) -> Config:
    """Write and load the configuration; the last segment of a model is `other`."""
    values = [f"segment-{number:03}" for number in range(segments - 1)]
    model = {**LOGS, "segments": {"column": "c", "values": values}, "windows": [1, 7, 28]}
    content = {"store": "store", "models": {f"model-{i}": model for i in range(models)}}
    (folder / "monitor.yaml").write_text(json.dumps(content))
    return load_config(folder / "monitor.yaml")


def build(folder: Path, size: argparse.Namespace) -> None:
    """Write calibrated summaries in which every segment and day has its own prior."""
    config, rng = configure(folder, size.models, size.segments), np.random.default_rng(1)
    store = Store(config.store)
    for name in config.models:
        for place in range(size.days):
            store.write_summary(one_day(name, config, FIRST + timedelta(days=place), size, rng))


def one_day(
    name: str, config: Config, day: date, size: argparse.Namespace, rng: np.random.Generator
) -> Summary:
    """Draw a day of a model."""
    centre = np.log(size.share / (1.0 - size.share)) - 0.4  # the spread of scores lifts the mean
    parts = {}
    for segment in config.model(name).segment_names:
        logits = rng.normal(centre, 1.0, size.predictions)
        hits = rng.random(size.predictions) < expit(logits + rng.normal(0.0, 0.1))
        parts[segment] = Segment(tally_on_grid(hits, expit(logits)), size.predictions)
    known = datetime.combine(day + timedelta(days=2), datetime.min.time(), UTC)
    return Summary(name, (day,), parts, {}, final=True, known_at=known)


def sort(_: Config) -> Iterator[int]:
    """Sort random numbers, which does not depend on our code."""
    numbers = np.random.default_rng(1).random(1_000_000)
    yield 20
    for _ in range(20):
        np.sort(numbers)


def rejudge(config: Config) -> Iterator[int]:
    """Judge every stored day again."""
    yield 1
    for name in config.models:
        judge_days(config, name, read_references(config, name), FIRST, pace=Pace(CORES))


def without_labels(config: Config) -> Iterator[int]:
    """Do the same as `detector`, with all labels taken for right: the rest is what labels take."""
    return detector(config, labels=False)


def detector(config: Config, *, labels: bool = True) -> Iterator[int]:
    """Compute and add up the evidence of every segment without reading or writing."""
    name, *_ = config.models
    store = Store(config.store)
    (compared,) = read_references(config, name).fitted
    stored = [day for day in store.days("summaries", name) if day > compared.last]
    days = [store.read_summary(name, day)[0] for day in stored[:METER_DAYS]]
    outcomes = [{k: coarsen(v.tally) for k, v in day.segments.items()} for day in days]
    detectors = {segment: new_detector() for segment in outcomes[0]}
    streams = compared.streams
    if not labels:
        streams = {segment: replace(own, noise=None) for segment, own in streams.items()}
    yield len(detectors) * len(days)
    for day, parts in zip(stored, outcomes, strict=False):
        for segment, before in detectors.items():
            reference = streams[segment]
            added, evidence = advance(before, reference, [day], {segment: parts[segment]})
            detectors[segment] = update_incident(added, day, evidence, alarm=False)


def evaluate_last(config: Config) -> Iterator[int]:
    """Evaluate and judge the newest day, as a daily run does after reading its logs."""
    yield 1
    for name in config.models:
        last = Store(config.store).days("summaries", name)[-1]
        references = read_references(config, name)
        evaluate_days(config, name, references, (last, last), pace=Pace(CORES))
        judge_days(config, name, references, last, pace=Pace(CORES))


JOBS: dict[str, Callable[[Config], Iterator[int]]] = {
    "control": sort,
    "rejudge": rejudge,
    "detector": detector,
    "without_labels": without_labels,
    "evaluate": evaluate_last,
}
GOALS = {  # seconds; the cores together may take as long as the wall clock of each
    "rejudge": ("the stored days judged again", 60.0, "s", 1.0),
    "detector": ("the detector, a segment-day", 0.0005, "ms", 1000.0),
    "without_labels": ("the same, all labels taken for right", 0.0005, "ms", 1000.0),
    "evaluate": ("a daily evaluation and its verdicts", 30.0, "s", 1.0),
}


def measure_here(job: str, folder: Path) -> None:
    """Run one job in this process and print the time of one repetition."""
    steps = JOBS[job](load_config(folder / "monitor.yaml"))
    repetitions = next(steps)
    begin, before = time.perf_counter(), _cpu()
    for _ in steps:
        pass
    wall, cpu = time.perf_counter() - begin, _cpu() - before
    print(json.dumps({"wall": wall / repetitions, "cpu": cpu / repetitions}))


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def measure_apart(job: str, folder: Path) -> dict[str, float]:
    """Run one job in a fresh process."""
    command = [sys.executable, "-m", "bench.verdicts", "--job", job, "--into", str(folder)]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603
    return json.loads(result.stdout)


def measure(folder: Path, rounds: int) -> dict[str, list[dict[str, float]]]:
    """Run all jobs in turn, the control job before each."""
    found = {job: [] for job in JOBS}
    for _ in range(rounds):
        for job in GOALS:
            found["control"].append(measure_apart("control", folder))
            found[job].append(measure_apart(job, folder))
    return found


def report(found: dict[str, list[dict[str, float]]]) -> bool:
    """Print a line for each job; return whether all goals were reached."""
    control = sorted(1000 * taken["cpu"] for taken in found["control"])
    print(
        f"control job {control[0]:.0f} to {control[-1]:.0f} ms, {median(control):.0f} in the "
        f"median; load {os.getloadavg()[0]:.1f} at the end, {os.cpu_count()} cores\n"
    )
    print(f"  {'':36} {'CPU':>10} {'wall':>10} {'under':>10}")
    reached = True
    for job, (name, goal, unit, scale) in GOALS.items():
        cpu, wall = (min(taken[what] for taken in found[job]) for what in ("cpu", "wall"))
        good = cpu < goal
        reached &= good
        row = "".join(f" {value * scale:7.2f} {unit:2}" for value in (cpu, wall, goal))
        print(f"  {name:36}{row}  {'reached' if good else 'missed'}")
    return reached


def main() -> None:
    """Build the store, measure, print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=int, default=2)
    parser.add_argument("--segments", type=int, default=50, help="of each model, 2 to 51")
    parser.add_argument("--days", type=int, default=365, help=f"at least {LEAST_DAYS}")
    parser.add_argument("--predictions", type=int, default=2000, help="of a segment and day")
    parser.add_argument("--share", type=float, default=0.05, help="of positive outcomes")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--into", type=Path, help="keep the store here, or use what is there")
    parser.add_argument("--job", choices=JOBS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.job:
        measure_here(given.job, given.into)
        return
    if given.days < LEAST_DAYS or given.segments < 2 or min(given.models, given.rounds) < 1:
        parser.error(f"needs --days {LEAST_DAYS}, --segments 2, or more, and a model and a round")
    small = argparse.Namespace(**{**vars(given), "models": 1, "segments": 3, "days": LEAST_DAYS})
    with tempfile.TemporaryDirectory(prefix="calibration-bench-") as temporary:
        warm, folder = Path(temporary) / "warm", given.into or Path(temporary)
        for place, size in ((warm, small), (folder, given)):
            place.mkdir(parents=True, exist_ok=True)
            if not (place / "monitor.yaml").exists():
                print(f"writing {size.days} days in {place}", file=sys.stderr)
                build(place, size)
        measure(warm, 1)  # compiles everything before the jobs below
        print(
            f"{given.models} models of {given.segments} segments, {given.days} days, of each "
            f"{given.predictions:,} predictions, {given.share:.1%} positive"
        )
        sys.exit(0 if report(measure(folder, given.rounds)) else 1)


if __name__ == "__main__":
    main()
