"""The dashboards' queries, asked of a real Prometheus with ninety days of results."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from monitor.export.gauges import CATALOGUE
from tests.servers import Program, get, program_path, started, wait_for

ROOT = Path(__file__).parents[1]
HOUR = 3600
DAY = 24 * HOUR
DASHBOARDS = {
    name: json.loads((ROOT / "grafana" / "dashboards" / f"{name}.json").read_text())
    for name in ("fleet", "model")
}
CHOSEN = {
    "fleet": {"model": "(ads|churn|fraud)", "owner": ".*", "segment": "all", "window": "1d"},
    "model": {"model": "fraud", "segment": "all", "window": "7d"},
}


@dataclass(frozen=True)
class Asked:
    """One query of a dashboard."""

    dashboard: str
    title: str
    expression: str
    legend: str
    instant: bool


@dataclass(frozen=True)
class History:
    """An OpenMetrics file of results, and the moment at which a reader looks at them."""

    file: Path
    now: int


@dataclass(frozen=True)
class Filled:
    """A Prometheus that holds a history."""

    server: str
    now: int

    def ask(self, path: str, **parameters: object) -> Any:
        """Ask the API, and give its data."""
        status, text = get(self.server, f"/api/v1/{path}?{urlencode(parameters)}")
        assert status == 200, text
        return json.loads(text)["data"]

    def values(self, query: str, *, days: int, step: int) -> list[dict[str, Any]]:
        """Ask for the last days, as a panel does."""
        start = self.now - days * DAY
        found = self.ask("query_range", query=query, start=start, end=self.now, step=step)
        return list(found["result"])


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    """Give ninety days with one sample a day, of an exporter that moved halfway."""
    file = tmp_path_factory.mktemp("history") / "history.om"
    subprocess.run([sys.executable, ROOT / "grafana" / "shots" / "history.py", file], check=True)
    times = [time_of(line) for line in file.read_text().splitlines() if line[0] != "#"]
    halfway = (min(times) + max(times)) // 2

    def scraped(line: str) -> str:
        where = "old:9645" if time_of(line) < halfway else "new:9645"
        return line.replace("{", f'{{job="calibration",instance="{where}",', 1)

    lines = [line if line[0] == "#" else scraped(line) for line in file.read_text().splitlines()]
    file.write_text("\n".join([*lines, ""]))
    return History(file, max(times) + 3 * HOUR)


def time_of(line: str) -> int:
    """Read when a sample was taken."""
    return int(line.rpartition(" ")[2])


@pytest.fixture(scope="module")
def filled(history: History) -> Iterator[Filled]:
    """Start a Prometheus that holds the history and scrapes nothing."""
    folder = history.file.parent
    blocks = ("tsdb", "create-blocks-from", "openmetrics", "--max-block-duration=8760h")
    subprocess.run(
        [program_path("promtool"), *blocks, history.file, folder / "data"],
        check=True,
        capture_output=True,
    )
    (folder / "prometheus.yml").write_text("{}\n")
    call = (
        program_path("prometheus"),
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        "--storage.tsdb.retention.time=100y",
        "--web.listen-address=127.0.0.1:0",
    )
    with started(folder, *call) as program:
        where = address(program)
        wait_for(program, lambda: get(where, "/-/ready")[0] == 200 or None)
        yield Filled(where, history.now)


def address(program: Program) -> str:
    """Read where a Prometheus listens."""
    heard = r'"Listening on".* address=(\S+)'
    return wait_for(program, lambda: re.search(heard, program.complained.read_text()))[1]


def substituted(dashboard: str, text: str) -> str:
    """Put the chosen values in the place of the variables."""
    return re.sub(r"\$(\w+)", lambda found: CHOSEN[dashboard][found[1]], text)


def every_query() -> list[Any]:
    """List each query of each panel, and of the annotations."""
    asked = []
    for name, dashboard in DASHBOARDS.items():
        for panel in dashboard["panels"]:
            for target in panel.get("targets", []):
                legend, instant = target["legendFormat"], target.get("instant", False)
                asked.append(Asked(name, panel["title"], target["expr"], legend, instant))
        notes = dashboard["annotations"].get("list", [])
        asked += [Asked(name, note["name"], note["expr"], "", instant=True) for note in notes]
    return [
        pytest.param(one, id=f"{one.dashboard}-{one.title}-{place}")
        for place, one in enumerate(asked)
    ]


@pytest.mark.parametrize("asked", every_query())
def test_every_query_answers(filled: Filled, asked: Asked) -> None:
    """With its variables replaced, each query runs and finds something now."""
    query = substituted(asked.dashboard, asked.expression)

    assert filled.ask("query", query=query, time=filled.now)["result"]


@pytest.mark.parametrize("asked", [p for p in every_query() if not p.values[0].instant])
@pytest.mark.parametrize("step", [HOUR, 6 * HOUR, DAY])
def test_lines_have_no_gaps(filled: Filled, asked: Asked, step: int) -> None:
    """One sample a day makes a whole line, at any step, also where the exporter moved."""
    query = substituted(asked.dashboard, asked.expression)
    found = filled.values(query, days=80, step=step)

    assert found
    for series in found:
        assert len(series["values"]) == 80 * DAY // step + 1, series["metric"]


@pytest.mark.parametrize("asked", [p for p in every_query() if not p.values[0].instant])
def test_lines_can_be_told_apart(filled: Filled, asked: Asked) -> None:
    """No two lines of a query have one name, also while two exporters are remembered."""
    query = substituted(asked.dashboard, asked.expression)
    names = [
        re.sub(r"\{\{(\w+)\}\}", lambda found, s=series: s["metric"][found[1]], asked.legend)
        for series in filled.values(query, days=80, step=DAY)
    ]

    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", DASHBOARDS)
def test_every_choice_has_values(filled: Filled, name: str) -> None:
    """Each variable finds values, and what it begins with is one of them."""
    for variable in DASHBOARDS[name]["templating"]["list"]:
        if variable["type"] != "query":
            continue
        asked = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"]["query"])
        assert asked is not None
        selector = substituted(name, asked[1])
        start = filled.now - 90 * DAY
        parameters = {"match[]": selector, "start": start, "end": filled.now}
        found = filled.ask(f"label/{asked[2]}/values", **parameters)
        assert found, variable["name"]
        begun = variable.get("current", {}).get("value")
        assert begun in (None, ["$__all"]) or begun in found, variable["name"]


def test_the_verdicts_are_told_in_order(filled: Filled) -> None:
    """The numbers of the timeline tell the story: ok, a prior shift, ok again, then a drift."""
    panel = next(p for p in DASHBOARDS["fleet"]["panels"] if p["title"] == "Verdicts")
    words = panel["fieldConfig"]["defaults"]["mappings"][0]["options"]
    query = substituted("fleet", panel["targets"][0]["expr"])
    told = {}
    for series in filled.values(query, days=89, step=DAY):
        states = [words[value]["text"] for _, value in series["values"]]
        told[series["metric"]["model"]] = [state for state, _ in groupby(states)]

    assert told == {
        "churn": ["ok"],
        "fraud": ["ok", "prior shift", "ok", "calibration drift"],
        "ads": ["ok", "data error"],
    }


def test_the_history_is_of_the_catalogue(history: History) -> None:
    """What the queries are tried on has all gauges that are exported, with their labels."""
    labels = {}
    for line in history.file.read_text().splitlines():
        if line[0] != "#":
            name, _, rest = line.partition("{")
            found = set(re.findall(r'(\w+)="', rest)) - {"job", "instance"}
            assert labels.setdefault(name, found) == found

    assert labels == {gauge.name: set(gauge.labels) for gauge in CATALOGUE}
