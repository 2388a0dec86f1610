"""The exporter as a program: started, scraped, damaged, stopped, and watched by Prometheus."""

import json
import re
import shutil
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

from monitor.program import version
from monitor.store.store import Store
from tests.support.exporting import COMMAND, DAY, HARD, OWNER, exposition, fill, serving, write_day
from tests.support.paths import ROOT
from tests.support.servers import PATIENCE, Program, get, listening, program_path, wait_for

PAGE = ROOT / "docs" / "gauges.md"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Fill a folder for one test."""
    return fill(tmp_path)


class TestScrape:
    """What the exporter answers over HTTP."""

    def test_answers_what_the_store_holds(self, folder: Path) -> None:
        """A scrape is the exposition of the store, with this program's version."""
        with serving(folder) as (_, where):
            answer = get(where)

        assert answer == (200, exposition(folder))
        assert f'calibration_build_info{{version="{version()}"}}' in answer[1]

    def test_reads_the_store_at_each_scrape(self, folder: Path) -> None:
        """A day written after the start shows, and a model whose results are gone vanishes."""
        newer = replace(HARD, day=DAY + timedelta(days=1), predicted=77)
        shown = 'calibration_window_predictions{maturity="final",model="%s",segment="all",window='
        with serving(folder) as (_, where):
            before = get(where)[1]
            write_day(folder, newer)
            write_day(folder, replace(newer, model="new"))
            during = get(where)[1]
            shutil.rmtree(folder / "store" / "evaluations" / "fraud")
            after = get(where)[1]

        assert shown % "fraud" in before
        assert shown % "fraud" + '"7d"} 77.0\n' not in before
        assert shown % "new" not in before
        assert shown % "fraud" + '"7d"} 77.0\n' in during
        assert shown % "new" + '"7d"} 77.0\n' in during
        assert shown % "fraud" not in after
        assert shown % "new" + '"7d"} 77.0\n' in after

    def test_can_be_asked_for_some_gauges(self, folder: Path) -> None:
        """The parameter name[] of a scrape picks gauges by name."""
        with serving(folder) as (_, where):
            status, text = get(where, "/metrics?name[]=calibration_model_info")

        assert status == 200
        assert {f.name: len(f.samples) for f in text_string_to_metric_families(text)} == {
            "calibration_model_info": 3
        }

    def test_names_a_damaged_file(self, folder: Path) -> None:
        """Damage of a model is a gauge of that model, and the log names the file; others stay."""
        file = write_day(folder, HARD)
        content = file.read_bytes()
        with serving(folder) as (program, where):
            before = get(where)
            file.write_bytes(content[:-100])
            damaged = get(where)
            file.write_bytes(content)
            after = get(where)
            logged = program.complained.read_text().splitlines()

        assert before == after == (200, exposition(folder))
        of_fraud = {line for line in damaged[1].splitlines() if 'model="fraud"' in line}
        kept = {line for line in before[1].splitlines() if 'model="fraud"' not in line}
        assert damaged[0] == 200
        assert 'calibration_model_results_readable{model="fraud"} 0.0' in of_fraud
        assert not any("segment=" in line for line in of_fraud)
        assert {*damaged[1].splitlines()} - of_fraud == kept
        assert len(logged) == 1
        assert logged[0].startswith("ERROR:")
        assert str(file) in logged[0]

    def test_listens_on_the_loopback_address_only(self, folder: Path) -> None:
        """Nobody is answered who asks for another address of this machine."""
        with serving(folder) as (_, where):
            port = int(where.split(":")[1])

            assert get(f"127.0.0.1:{port}")[0] == 200
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.2", port), timeout=PATIENCE)


class TestStop:
    """How the exporter ends."""

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_signals_end_it_quietly(self, folder: Path, number: signal.Signals) -> None:
        """Ctrl-C, and whatever stops services, end it with code 0 and without a word."""
        with serving(folder) as (program, where):
            get(where)

            assert program.stop(number) == 0
            assert not program.complained.read_text()
            with pytest.raises(ConnectionRefusedError):
                get(where)

    def test_a_port_in_use_is_an_error_of_the_call(self, folder: Path) -> None:
        """A port that somebody has gives exit code 2, and a message with address and remedy."""
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = str(other.getsockname()[1])
            call = [COMMAND, "serve", "--config", folder / "monitor.yaml", "--port", port]
            ended = subprocess.run(
                call, capture_output=True, text=True, check=False, timeout=PATIENCE
            )

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

    def test_has_the_numbers_of_the_store(self, watched: Watched, answers: Series) -> None:
        """The numbers of an evaluation arrive in Prometheus as they are in the store."""
        stored, _ = Store(str(watched.folder / "store")).read_evaluations("fraud", DAY)
        (e,) = (e for e in stored if e.window_days == 7)
        window = {"model": "fraud", "segment": "all", "window": "7d", "maturity": "final"}
        orphans = {"reason": "outcome_orphan"}
        numbers = [
            ("calibration_ece_ratio", {"adjusted": "raw"}, e.raw.ece),
            ("calibration_ece_ratio", {"adjusted": "prior"}, e.prior.ece),
            ("calibration_rbs", {"adjusted": "prior"}, e.prior.rbs),
            ("calibration_intercept_logit", {}, e.shift.value),
            ("calibration_prevalence_ratio", {}, e.prevalence),
            ("calibration_mean_score_ratio", {}, e.mean_score),
            ("calibration_window_predictions", {}, e.predicted),
            ("calibration_rejected_rows", orphans, e.rejected["outcome_orphan"]),
        ]
        expected = {key(name, {**window, **further}): value for name, further, value in numbers}

        assert len(expected) == len(numbers)
        assert {one: answers.get(one) for one in expected} == expected

    def test_knows_the_owner_by_name(self, answers: Series) -> None:
        """An owner with quotes, a line break and a backslash arrives as it was configured."""
        info = {"model": "fraud", "owner": OWNER, "severity": "ticket"}

        assert answers[key("calibration_model_info", info)] == 1

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


class TestMissingProgram:
    """What becomes of a test whose program is not installed."""

    def test_fails(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """It fails, and says how to get the program: a skipped test shows nothing."""
        monkeypatch.setenv("PATH", "")

        with pytest.raises(pytest.fail.Exception, match=r"prometheus is missing.*install-programs"):
            program_path("prometheus")
