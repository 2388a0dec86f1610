"""The exporter as a program: started, scraped, damaged, stopped, and watched by Prometheus."""

import json
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from prometheus_client.parser import text_string_to_metric_families

from monitor.base.program import version
from tests.support.exporting import COMMAND, DAY, HARD, exposition, fill, serving, write_day
from tests.support.paths import ROOT
from tests.support.servers import PATIENCE, Program, get, listening, program_path, wait_for

PAGE = ROOT / "docs" / "gauges.md"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Fill a folder for one test."""
    return fill(tmp_path)


def test_it_answers_what_the_store_holds_until_it_is_stopped(folder: Path) -> None:
    """The exposition of the store as it is at each scrape, on the loopback address alone.

    The parameter name[] picks gauges. A damaged file is a gauge of its model and a line that names
    it; the other models stay. SIGTERM, which stops services, ends it with code 0.
    """
    file = write_day(folder, HARD)
    content = file.read_bytes()
    newer = replace(HARD, model="new", day=DAY + timedelta(days=1), predicted=77)
    with serving(folder) as (program, where):
        answer = get(where)
        some = text_string_to_metric_families(
            get(where, "/metrics?name[]=calibration_model_info")[1]
        )
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", int(where.split(":")[1])), timeout=PATIENCE)
        file.write_bytes(content[:-100])
        damaged = get(where)
        file.write_bytes(content)
        assert get(where) == answer == (200, exposition(folder))
        write_day(folder, newer)
        assert get(where)[1] == exposition(folder) != answer[1]
        assert program.stop(signal.SIGTERM) == 0
        logged = program.complained.read_text().splitlines()

    assert f'calibration_build_info{{version="{version()}"}}' in answer[1]
    assert {f.name: len(f.samples) for f in some} == {"calibration_model_info": 3}
    of_fraud = {line for line in damaged[1].splitlines() if 'model="fraud"' in line}
    kept = {line for line in answer[1].splitlines() if 'model="fraud"' not in line}
    assert damaged[0] == 200
    assert 'calibration_model_results_readable{model="fraud"} 0.0' in of_fraud
    assert not any("segment=" in line for line in of_fraud)
    assert {*damaged[1].splitlines()} - of_fraud == kept
    (line,) = logged
    assert line.startswith("ERROR:")
    assert str(file) in line


def test_a_port_in_use_is_an_error_of_the_call(folder: Path) -> None:
    """A port that somebody has gives exit code 2, and a message with address and remedy."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        call = [COMMAND, "serve", "--config", folder / "monitor.yaml", "--port", port]
        ended = subprocess.run(call, capture_output=True, text=True, check=False, timeout=PATIENCE)

    assert ended.returncode == 2
    assert not ended.stdout
    assert ended.stderr.startswith(f"cannot listen on 127.0.0.1:{port} (")
    assert ended.stderr.endswith("; choose another with --port.\n")


@dataclass(frozen=True)
class Watched:
    """A folder, the exporter that serves it, and the Prometheus that scrapes the exporter."""

    folder: Path
    exporter: str
    program: Program
    prometheus: str

    def ask(self, query: str) -> list[dict[str, Any]]:
        """Evaluate an expression now."""
        status, text = get(self.prometheus, "/api/v1/query?" + urlencode({"query": query}))
        assert status == 200, text
        return list(json.loads(text)["data"]["result"])

    def await_up(self) -> None:
        """Wait until a scrape has succeeded."""
        self._await("up", "1")

    def await_readable(self, readable: str) -> None:
        """Wait until the results of the first model can be read, or cannot."""
        self._await('calibration_model_results_readable{model="fraud"}', readable)

    def _await(self, query: str, value: str) -> None:
        def look() -> bool | None:
            return [series["value"][1] for series in self.ask(query)] == [value] or None

        wait_for(self.program, look)


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """Start an exporter, and a Prometheus that scrapes it and nothing else."""
    folder = fill(tmp_path_factory.mktemp("watched"))
    with serving(folder) as (_, exporter):
        jobs = [{"job_name": "calibration", "static_configs": [{"targets": [exporter]}]}]
        often = {"scrape_interval": "1s", "scrape_timeout": "1s"}
        configuration = folder / "prometheus.yml"
        configuration.write_text(json.dumps({"global": often, "scrape_configs": jobs}))
        call = (f"--config.file={configuration}", f"--storage.tsdb.path={folder / 'prometheus'}")
        with listening(folder, "prometheus", *call) as (program, where):
            watched = Watched(folder, exporter, program, where)
            watched.await_up()
            yield watched


Series = dict[tuple[str, ...], float]


def key(name: str, labels: dict[str, str]) -> tuple[str, ...]:
    """Identify a series; an empty label is none."""
    return name, *(f"{k}={v}" for k, v in sorted(labels.items()) if v)


class TestPrometheus:
    """What a real Prometheus makes of the exporter."""

    @pytest.fixture
    def answers(self, watched: Watched) -> Series:
        """Ask for all it has."""
        series = {}
        for one in watched.ask('{__name__=~"calibration_.+"}'):
            labels = one["metric"]
            assert labels.pop("job") == "calibration"
            assert labels.pop("instance") == watched.exporter
            series[key(labels.pop("__name__"), labels)] = float(one["value"][1])
        return series

    def test_has_every_sample_of_the_exposition(self, watched: Watched, answers: Series) -> None:
        """Prometheus holds each sample of the exposition, and no other, to the last bit."""
        families = text_string_to_metric_families(exposition(watched.folder))

        assert answers == {
            key(sample.name, sample.labels): sample.value
            for family in families
            for sample in family.samples
        }

    def test_evaluates_the_examples_of_the_page(self, watched: Watched) -> None:
        """Each expression of docs/gauges.md finds the models it is about, and never a well one."""
        page = PAGE.read_text(encoding="utf-8")
        examples = re.findall(r"```promql\n(.*?)```", page, re.DOTALL)
        found = [{one["metric"]["model"] for one in watched.ask(text)} for text in examples]

        assert found == [
            {"fraud"},  # off with the base rate forgiven
            {"fraud"},  # a shift of the prior
            {"new"},  # never a success
            {"fraud"},  # a failed day in the last run
            {"fraud"},  # days missing from a window
            {"fraud"},  # rows left out
        ]

    def test_learns_of_damage(self, watched: Watched) -> None:
        """While results of a model are damaged, no old number of it is shown; others are."""
        file = watched.folder / "store" / "evaluations" / "fraud" / f"{DAY}.arrows.zst"
        content = file.read_bytes()
        file.write_bytes(b"PAR1")
        watched.await_readable("0")
        shown = watched.ask("calibration_ece_ratio")
        file.write_bytes(content)
        watched.await_readable("1")
        again = watched.ask("calibration_ece_ratio")

        assert {one["metric"]["model"] for one in shown} == {"well"}
        assert {one["metric"]["model"] for one in again} == {"fraud", "well"}


class TestPromtool:
    """What Prometheus's own linter says of the exposition."""

    def test_the_linter_has_no_complaint(self, folder: Path) -> None:
        """Names, units and labels are as Prometheus wants them."""
        ended = subprocess.run(
            [program_path("promtool"), "check", "metrics"],
            input=exposition(folder),
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )

        assert (ended.returncode, ended.stderr) == (0, "")
