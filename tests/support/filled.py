"""A real Prometheus that holds the past of a store, and scrapes its exporter."""

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from time import time
from typing import Any
from urllib.parse import urlencode

import yaml

from tests.conftest import run_command
from tests.support.exporting import serving
from tests.support.paths import ROOT
from tests.support.servers import get, program_path, started, wait_for

HOUR = 3600
DAY = 24 * HOUR


@dataclass(frozen=True)
class Filled:
    """A Prometheus that holds the past of a store, and has scraped its exporter.

    Attributes
    ----------
    server : str
        Where it listens, host:port.
    exported : int
        Up to when the past reaches, Unix time.
    begun : int
        When the exporter had been scraped and the rules evaluated, Unix time.
    now : int
        The full hour after the first scrape, Unix time: a subquery looks at full hours.
    past : dict of str to set of str
        The gauges that have a past, with their labels.
    """

    server: str
    exported: int
    begun: int
    now: int
    past: dict[str, set[str]]

    def ask(self, path: str, **parameters: object) -> Any:
        """Ask the API, and give its data."""
        status, text = get(self.server, f"/api/v1/{path}?{urlencode(parameters)}")
        assert status == 200, text
        return json.loads(text)["data"]

    def values(self, query: str, start: int, end: int, step: int) -> list[dict[str, Any]]:
        """Ask for a span of time, as a panel does."""
        found = self.ask("query_range", query=query, start=start, end=end, step=step)
        return list(found["result"])


def export(folder: Path, first: date, last: date) -> list[str]:
    """Export the past of a store, of an exporter that moved halfway."""
    told = run_command(
        *("export", "openmetrics", "--config", folder / "monitor.yaml"),
        *("--from", first, "--to", last, "--into", folder / "past.om"),
    )
    assert told.code == 0, told.err
    lines = (folder / "past.om").read_text().splitlines()
    times = [time_of(line) for line in lines if line[0] != "#"]
    halfway = (min(times) + max(times)) // 2

    def scraped(line: str) -> str:
        where = "old:9645" if time_of(line) < halfway else "new:9645"
        return line.replace("{", f'{{job="calibration",instance="{where}",', 1)

    return [line if line[0] == "#" else scraped(line) for line in lines]


def time_of(line: str) -> int:
    """Read when a sample was taken."""
    return int(line.rpartition(" ")[2])


@contextmanager
def filled_prometheus(folder: Path, first: date, last: date) -> Iterator[Filled]:
    """Put the past of the store in a folder into a Prometheus, and let it scrape the exporter."""
    past = export(folder, first, last)
    (folder / "past.om").write_text("\n".join([*past, ""]))
    blocks = ("tsdb", "create-blocks-from", "openmetrics", "--max-block-duration=8760h")
    call = [program_path("promtool"), *blocks, folder / "past.om", folder / "data"]
    subprocess.run(call, check=True, capture_output=True)
    samples = [line for line in past if line[0] != "#"]
    labels = {s.partition("{")[0]: set(re.findall(r'(\w+)="', s)) for s in samples}
    with serving(folder) as (_, exporter), scraping(folder, exporter) as where:
        begun = int(time()) + 1
        now = -int(-begun // HOUR) * HOUR
        yield Filled(where, max(map(time_of, samples)), begun, now, labels)


@contextmanager
def scraping(folder: Path, exporter: str) -> Iterator[str]:
    """Start a Prometheus in a folder of blocks, and wait until a rule says that a model drifts."""
    rules = yaml.safe_load((ROOT / "alerts" / "calibration.rules.yml").read_text())
    for group in rules["groups"]:
        group["interval"] = "1s"
    (folder / "rules.yml").write_text(yaml.safe_dump(rules))
    job = {"job_name": "calibration-monitor", "static_configs": [{"targets": [exporter]}]}
    configuration = {
        "global": {"scrape_interval": "1s"},
        "scrape_configs": [job],
        "rule_files": ["rules.yml"],
    }
    (folder / "prometheus.yml").write_text(json.dumps(configuration))
    call = (
        program_path("prometheus"),
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        "--storage.tsdb.retention.time=100y",
        "--web.listen-address=127.0.0.1:0",
    )
    with started(folder, *call) as program:
        heard = r'"Listening on".* address=(\S+)'
        where = wait_for(program, lambda: re.search(heard, program.complained.read_text()))[1]
        wait_for(program, lambda: get(where, "/-/ready")[0] == 200 or None)
        asked = "/api/v1/query?query=ALERTS"
        wait_for(program, lambda: "CalibrationDrift" in get(where, asked)[1] or None)
        yield where
