"""How long a scrape of 100 models takes, and where the time goes.

    .venv/bin/python -m bench.scrape [--models 100] [--segments 10] [--days 30] [--scrapes 15]
                                     [--detail verdict|measures|full]

Writes a store with the given models, each with the given segments besides `all` and windows of 1, 7
and 28 days, through the store's own interface into a temporary folder. Then it starts the exporter
as a program, scrapes it over HTTP, and times the parts of a scrape in this process. The exporter's
CPU time and memory are those of its process. Linux only.
"""

import argparse
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

from monitor.config import Config, load_config
from monitor.days.summary import Segment, Summary
from monitor.drift.incidents.detecting import new_detector
from monitor.drift.records.verdict import Verdict
from monitor.evaluation.evaluate import evaluate
from monitor.evaluation.evaluation import Evaluation
from monitor.evaluation.score_errors import Settings
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.tally import tally
from monitor.store.store import Store

LAST = date(2026, 3, 31)
WINDOWS = (1, 7, 28)
LOGS = {"predictions": {"path": "p/{day}"}, "outcomes": {"path": "o/{day}"}}
COMMAND = Path(sys.executable).with_name("calibration-monitor")


def one_day(segments: int) -> list[Evaluation]:
    """Evaluate one real, small day, for every window."""
    rng = np.random.default_rng(1)
    parts = {}
    for number in range(segments):
        scores = rng.uniform(0.01, 0.6, 400)
        parts[f"segment-{number}"] = Segment(tally(rng.random(400) < scores, scores), 420)
    known = datetime(2026, 4, 2, tzinfo=UTC)
    day = Summary("m", (LAST,), parts, {"outcome_orphan": 3}, final=True, known_at=known)
    settings = Settings(alpha=0.05, null_replicates=100, tce_size=300)
    return [e for days in WINDOWS for e in evaluate([day], window_days=days, settings=settings)]


def verdicts_of(evaluations: list[Evaluation]) -> list[Verdict]:
    """Make a verdict of each segment with every number of an ordinary day."""
    figure = Estimate(1 / 3, 1 / 7, 2 / 3)
    return [
        Verdict(
            model=e.model,
            segment=e.segment,
            day=e.day,
            final=True,
            known_at=e.known_at,
            state="ok",
            reasons=("Nothing has changed.",),
            evidence=None,
            detector=new_detector(),
            limit=3.0,
            shift=figure,
            level_change=figure,
            slope=figure,
            reference_prevalence=0.3,
        )
        for e in evaluations
        if e.window_days == 1
    ]


def build(folder: Path, models: int, segments: int, days: int) -> Config:
    """Write the configuration, a file for each model, and the store."""
    names = [f"model-{number:03}" for number in range(models)]
    values = [f"segment-{number}" for number in range(segments - 1)]
    model = {**LOGS, "owner": "risk", "segments": {"column": "c", "values": values}}
    (folder / "models").mkdir()
    (folder / "monitor.yaml").write_text("store: store\n")
    for name in names:
        (folder / "models" / f"{name}.yaml").write_text(json.dumps(model))
    config = load_config(folder)
    store, template, now = Store(config.store), one_day(segments), datetime.now(UTC)
    for name in names:
        for back in range(days):
            day = LAST - timedelta(days=back)
            evaluations = [replace(e, model=name, day=day) for e in template]
            store.write_evaluations(name, day, evaluations, inputs="")
            store.write_verdicts(name, day, verdicts_of(evaluations), basis="")
        store.write_run(name, started=now, finished=now, newest=store.newest_days(name))
    return config


@contextmanager
def serving(folder: Path, detail: str) -> Iterator[tuple[str, int]]:
    """Start the exporter, and yield its address and the number of its process."""
    options = ["--port", "0", "--detail", detail]
    call = [str(COMMAND), "serve", "--config", str(folder), *options]
    with subprocess.Popen(call, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - our own program
        said = process.stdout.readline() if process.stdout else ""
        try:
            yield said.split("/")[2], process.pid  # serving http://127.0.0.1:9645/metrics, ...
        finally:
            process.terminate()


def scrape(where: str, *, compressed: bool) -> bytes:
    """Scrape as Prometheus does."""
    connection = HTTPConnection(where, timeout=60)
    connection.request("GET", "/metrics", headers={"Accept-Encoding": "gzip"} if compressed else {})
    content = connection.getresponse().read()
    connection.close()
    return content


def seconds_of(process: int) -> float:
    """Read the CPU time that a process has taken."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_of(process: int) -> float:
    """Read the most memory that a process has had, in MB."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1024


def milliseconds(action: Callable[[], object], repeats: int) -> str:
    """Time an action: median, and the fastest and slowest."""
    taken = []
    for _ in range(repeats):
        begin = perf_counter()
        action()
        taken.append(1000 * (perf_counter() - begin))
    return f"{median(taken):7.0f} ms  ({min(taken):.0f} to {max(taken):.0f}, {repeats} times)"


def parts(config: Config, path: Path, repeats: int) -> None:
    """Time the parts of a scrape, first after a start, then when nothing has changed."""
    from monitor.export.http.app import Exporter
    from monitor.export.snapshot_reader import Reader
    from monitor.export.text import exposition, lines

    store, models = Store(config.store), list(config.models)
    reader, exporter = Reader(config), Exporter(path)
    snapshots = reader.snapshots()
    written = {name: lines(snapshot) for name, snapshot in snapshots.items()}
    text = exporter.text()
    last = {name: store.days("evaluations", name)[-1] for name in models}
    jobs: dict[str, Callable[[], object]] = {
        "load the configuration": lambda: load_config(path),
        "read all, seen the first time": lambda: Reader(config).snapshots(),
        "write all, the first time": lambda: [lines(one) for one in snapshots.values()],
        "list the days": lambda: [
            store.days(kind, name) for name in models for kind in ("evaluations", "verdicts")
        ],
        "bytes of the files": lambda: [
            store.content(kind, name, day)
            for name, day in last.items()
            for kind in ("evaluations", "verdicts")
        ],
        "records of the last runs": lambda: [store.read_run(name) for name in models],
        "read all, seen before": reader.snapshots,
        "join what was written": lambda: exposition(written.values()),
        "all of these, seen before": exporter.text,
        "compress": lambda: gzip.compress(text, compresslevel=1),
    }
    for name, job in jobs.items():
        print(f"  {name:30}", milliseconds(job, repeats))


def main() -> None:
    """Build, serve, scrape, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("models", 100), ("segments", 10), ("days", 30), ("scrapes", 15)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--detail", choices=["verdict", "measures", "full"], default="full")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        config = build(folder, given.models, given.segments, given.days)
        with serving(folder, given.detail) as (where, process):
            begun = seconds_of(process)
            begin = perf_counter()
            text = scrape(where, compressed=False)
            first = 1000 * (perf_counter() - begin)
            samples = sum(not line.startswith(b"#") for line in text.splitlines())
            print(f"{given.models} models of {given.segments} segments, {given.days} days of each:")
            print(f"{samples:,} samples, {len(text) / 1e6:.1f} MB")
            print(f"{'the first scrape':32} {first:7.0f} ms")
            for compressed, name in ((False, "a further scrape"), (True, "a further scrape, gzip")):
                taken = milliseconds(partial(scrape, where, compressed=compressed), given.scrapes)
                print(f"{name:32}", taken)
            each = (seconds_of(process) - begun) / (2 * given.scrapes + 1)
            print(f"{'CPU of the exporter, a scrape':32} {1000 * each:7.0f} ms")
            print(f"{'memory of the exporter':32} {memory_of(process):7.0f} MB")
        parts(config, folder, given.scrapes)


if __name__ == "__main__":
    main()
