"""The fleet's page with 300 models: all of them in the table, ten lines in each other panel."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from time import time

import pytest

from monitor.config import Config
from monitor.export.gauges import CATALOGUE
from monitor.export.text import lines
from monitor.measures.snapshot import Snapshot
from monitor.metrics.core.estimate import Estimate
from monitor.run_record import RunRecord
from tests.grafana.test_dashboard_queries import DASHBOARDS, Asked, every_query, substituted
from tests.grafana.test_past import BLOCKS, ask
from tests.support.exporting import DRIFTING, HARD, LOGS, VERDICT
from tests.support.filled import DAY, HOUR
from tests.support.servers import listening, program_path

MODELS = [f"model-{number:03}" for number in range(300)]
SICK = MODELS[::10]  # every tenth has an open drift
DAYS = 30
SLOPE = Estimate(0.97, 0.95, 0.99)
INTERCEPT = Estimate(0.02, 0.01, 0.03)
NOW = int(time()) // DAY * DAY - DAY
USED = {
    gauge
    for param in every_query()
    if param.values[0].dashboard == "fleet"
    for gauge in re.findall(r"calibration_\w+(?=\{)", param.values[0].expression)
}
FLEET = [param for param in every_query() if param.values[0].dashboard == "fleet"]


def snapshot(name: str, number: int) -> Snapshot:
    """Give what a scrape knows of a model."""
    config = Config.model_validate({"store": "s", "models": {name: {**LOGS, "owner": "team"}}})
    now = datetime.fromtimestamp(NOW, UTC)
    verdict = DRIFTING if name in SICK else VERDICT
    return Snapshot(
        models=config.models,
        evaluations=[replace(HARD, model=name, window_days=1, coverage=0.9 + number / 3_000)],
        runs={name: RunRecord(now, now, now)},
        version="1.2.3",
        verdicts=[
            replace(verdict, model=name, reference_slope=SLOPE, reference_intercept=INTERCEPT)
        ],
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a Prometheus that knows 300 models for a month."""
    folder = tmp_path_factory.mktemp("many")
    told = [lines(snapshot(name, number)) for number, name in enumerate(MODELS)]
    times = [NOW - int(timedelta(days=n).total_seconds()) for n in range(DAYS, -1, -1)]
    with (folder / "past.om").open("w") as file:
        for gauge in CATALOGUE:
            if gauge.name not in USED:
                continue
            file.write(f"# TYPE {gauge.name} gauge\n")
            for one in told if "model" in gauge.labels else told[:1]:
                for line in one[gauge.name].decode().splitlines():
                    file.writelines(f"{line} {at}\n" for at in times)
        file.write("# EOF\n")
    call = [program_path("promtool"), *BLOCKS, folder / "past.om", folder / "data"]
    subprocess.run(call, check=True, capture_output=True)
    (folder / "prometheus.yml").write_text("{}")
    options = (
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        "--storage.tsdb.retention.time=100y",
    )
    with listening(folder, "prometheus", *options) as (_, where):
        yield where


def of_all(asked: Asked) -> str:
    """Choose all models."""
    return substituted("fleet", asked.expression).replace("(ads|fraud)", "model-.+")


@pytest.mark.parametrize("asked", [p for p in FLEET if not p.values[0].instant])
def test_a_panel_draws_ten_lines(server: str, asked: Asked) -> None:
    """However many models there are, a panel over time draws those ten that need a look."""
    span = {"start": NOW - 20 * DAY, "end": NOW, "step": 6 * HOUR}
    found = ask(server, "query_range", query=of_all(asked), **span)

    assert len(found) == 10
    models = {one["metric"]["model"] for one in found}
    if asked.title in {"Verdicts", "Evidence of drift against its limit"}:
        assert models <= set(SICK)
    if asked.title == "Outcome coverage":
        assert models == set(MODELS[:10])


def test_the_table_has_every_model(server: str) -> None:
    """Each column that every model has, has 300 values; the worst verdicts come first."""
    (panel,) = (p for p in DASHBOARDS["fleet"]["panels"] if p["title"] == "Models")
    counts = {}
    for param in FLEET:
        asked = param.values[0]
        if asked.title == "Models":
            counts[asked.legend] = len(ask(server, "query", query=of_all(asked), time=NOW))

    of_few = {"Kind of drift": len(SICK), "Since": len(SICK)}
    assert counts == dict.fromkeys(counts, len(MODELS)) | of_few
    assert panel["options"]["sortBy"] == [{"displayName": "Verdict", "desc": True}]
    assert panel["gridPos"]["y"] == 0
