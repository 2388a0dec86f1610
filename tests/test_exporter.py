"""The exporter as a program: started, scraped, damaged, stopped, and watched by Prometheus."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from http.client import HTTPConnection
from importlib.metadata import version
from math import nextafter
from pathlib import Path
from time import monotonic, sleep
from typing import Any, TypeVar
from urllib.parse import urlencode

import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from monitor.config import load_config
from monitor.evaluate import Errors, Evaluation, PriorShift, TceNull
from monitor.export.server import StoreCollector
from monitor.store import Store

T = TypeVar("T")

COMMAND = Path(sys.executable).with_name("calibration-monitor")
PAGE = Path(__file__).parents[1] / "docs" / "gauges.md"
PATIENCE = 30  # seconds after which a program counts as stuck
OWNER = 'the "risk" team\n\\ EMEA'
DAY = date(2001, 3, 1)
LOGS = {"predictions": {"path": "p/{day}"}, "outcomes": {"path": "o/{day}"}}

# Every number but the counts needs all 53 bits of its fraction.
HARD = Evaluation(
    model="fraud",
    segment="all",
    day=DAY,
    window_days=7,
    days_present=5,
    final=True,
    known_at=datetime(2001, 3, 9, tzinfo=UTC),
    predicted=2**53 - 1,
    matched=123_456_789,
    positives=1,
    rejected={"outcome_orphan": 1_000_001},
    coverage=1 / 3,
    prevalence=1e-300 / 3,
    mean_score=nextafter(1, 0),
    shift=PriorShift(delta=0.1 + 0.2, low=2 / 3 - 0.5, high=1 / 7 + 1),
    raw=Errors(tce_published=6 / 7, ece=nextafter(0.5, 1), rbs=2**-0.5),
    prior=Errors(tce_published=5 / 7, ece=nextafter(0.5, 0), rbs=3**-0.5),
    null=TceNull(mean=0.05, q05=1 / 70, q50=2 / 70, q95=3 / 70, q99=4 / 70),
)


@dataclass(frozen=True)
class Program:
    """A program that a test started."""

    process: "subprocess.Popen[bytes]"
    printed: Path
    complained: Path

    def stop(self, number: signal.Signals) -> int:
        """Send a signal, and give the exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


def fill(folder: Path) -> Path:
    """Make a configuration of three models: a sick one, a well one, and one without results."""
    models = {"fraud": {**LOGS, "owner": OWNER}, "well": LOGS, "new": LOGS}
    (folder / "monitor.yaml").write_text(json.dumps({"store": "store", "models": models}))
    write_day(folder, HARD, replace(HARD, window_days=1, days_present=1))
    now = datetime.now(UTC)
    well = replace(
        HARD,
        model="well",
        day=now.date() - timedelta(days=1),
        days_present=7,
        rejected={},
        shift=PriorShift(0.0, -0.1, 0.1),
        prior=Errors(tce_published=0.01, ece=0.0, rbs=0.3),
    )
    write_day(folder, well, replace(well, window_days=1, days_present=1))
    for model, failed in (("fraud", False), ("fraud", True), ("well", True), ("well", False)):
        now += timedelta(seconds=1)
        Store(str(folder / "store")).write_run(model, started=now, finished=now, failed=failed)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Fill a folder for one test."""
    return fill(tmp_path)


def write_day(folder: Path, *evaluations: Evaluation) -> Path:
    """Store the evaluations of a model's day, and give the file they are in."""
    e = evaluations[0]
    Store(str(folder / "store")).write_evaluations(e.model, e.day, evaluations, inputs="")
    return folder / "store" / "evaluations" / e.model / f"{e.day}.parquet"


@contextmanager
def started(folder: Path, *arguments: str | Path) -> Iterator[Program]:
    """Run a program beside the test, and end it with the test."""
    name = Path(arguments[0]).name
    printed, complained = folder / f"{name}.out", folder / f"{name}.err"
    with printed.open("wb") as out, complained.open("wb") as err:
        process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
    try:
        yield Program(process, printed, complained)
    finally:
        process.kill()
        process.wait()


def wait_for(program: Program, look: Callable[[], T | None]) -> T:
    """Look again and again until there is something, the program ends, or patience does."""
    deadline = monotonic() + PATIENCE
    while monotonic() < deadline:
        if (found := look()) is not None:
            return found
        if program.process.poll() is not None:
            break
        sleep(0.02)
    return pytest.fail(f"{program.process.args}: {program.complained.read_text()}")


@contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[tuple[Program, str]]:
    """Start the exporter on a free port, and read from it where it listens: host:port."""
    call = (COMMAND, "serve", "--config", folder / "monitor.yaml", "--port", "0", *arguments)
    with started(folder, *call) as program:
        url = r"http://(127\.0\.0\.1:\d+)/metrics\b"
        where = wait_for(program, lambda: re.search(url, program.printed.read_text()))
        yield program, where[1]


def get(where: str, path: str = "/metrics") -> tuple[int, str]:
    """Ask over HTTP, past any proxy: the status and the text."""
    connection = HTTPConnection(where, timeout=PATIENCE)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def exposition(folder: Path) -> str:
    """Say what the exporter must answer."""
    collector = StoreCollector(load_config(folder / "monitor.yaml"), version("calibration-monitor"))
    return generate_latest(collector).decode()


def program_path(name: str) -> str:
    """Find a program, or say how to get it: a skipped test here, a failed one in CI."""
    found = shutil.which(name)
    if found:
        return found
    message = f"{name} is not installed; as root on a Debian, tools/install-programs gets it."
    return pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)


class TestScrape:
    """What the exporter answers over HTTP."""

    def test_answers_what_the_store_holds(self, folder: Path) -> None:
        """A scrape is the exposition of the store, with this program's version."""
        with serving(folder, "--json") as (program, where):
            answer = get(where)

            assert json.loads(program.printed.read_text()) == {
                "listening": f"http://{where}/metrics"
            }
        assert answer == (200, exposition(folder))
        assert f'calibration_build_info{{version="{version("calibration-monitor")}"}}' in answer[1]

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
        """A damaged store fails the scrape and names the file; once mended, all is as before."""
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
        assert damaged[0] == 500
        assert f"{file}: is not a readable file of this store" in damaged[1]
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

    def await_up(self, up: str) -> None:
        """Wait until the last scrape went as said."""

        def look() -> bool | None:
            return [series["value"][1] for series in self.ask("up")] == [up] or None

        wait_for(self.program, look)


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """Start an exporter, and a Prometheus that scrapes it and nothing else."""
    path = program_path("prometheus")
    folder = fill(tmp_path_factory.mktemp("watched"))
    with serving(folder) as (_, exporter):
        jobs = [{"job_name": "calibration", "static_configs": [{"targets": [exporter]}]}]
        often = {"scrape_interval": "1s", "scrape_timeout": "1s"}
        configuration = folder / "prometheus.yml"
        configuration.write_text(json.dumps({"global": often, "scrape_configs": jobs}))
        call = (
            path,
            f"--config.file={configuration}",
            f"--storage.tsdb.path={folder / 'prometheus'}",
            "--web.listen-address=127.0.0.1:0",
        )
        with started(folder, *call) as program:
            heard = r'"Listening on".* address=(\S+)'
            where = wait_for(program, lambda: re.search(heard, program.complained.read_text()))[1]
            wait_for(program, lambda: get(where, "/-/ready")[0] == 200 or None)
            watched = Watched(folder, exporter, program, where)
            watched.await_up("1")
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
            ("calibration_tce_published_ratio", {"adjusted": "raw"}, e.raw.tce_published),
            ("calibration_tce_null_ratio", {"quantile": "0.99"}, e.null.q99),
            ("calibration_ece_ratio", {"adjusted": "raw"}, e.raw.ece),
            ("calibration_ece_ratio", {"adjusted": "prior"}, e.prior.ece),
            ("calibration_rbs", {"adjusted": "prior"}, e.prior.rbs),
            ("calibration_intercept_logit", {}, e.shift.delta),
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
            {"fraud"},  # rejected beyond the null reference
            {"fraud"},  # a shift of the prior
            {"fraud", "new"},  # results that are old, or were never there
            {"fraud"},  # a failed day in the last run
            {"fraud"},  # days missing from a window
            {"fraud"},  # rows left out
        ]

    def test_learns_of_damage(self, watched: Watched) -> None:
        """While the store is damaged, the exporter counts as down and no old number is shown."""
        file = watched.folder / "store" / "evaluations" / "fraud" / f"{DAY}.parquet"
        content = file.read_bytes()
        file.write_bytes(b"PAR1")
        watched.await_up("0")
        shown = watched.ask("calibration_ece_ratio")
        file.write_bytes(content)
        watched.await_up("1")
        again = watched.ask("calibration_ece_ratio")

        assert not shown
        assert {one["metric"]["model"] for one in again} == {"fraud", "well"}


class TestPromtool:
    """What Prometheus's own linter says of the exposition."""

    def test_has_the_one_complaint_that_the_page_explains(self, folder: Path) -> None:
        """The linter dislikes the label quantile outside of summaries, and nothing else."""
        ended = subprocess.run(
            [program_path("promtool"), "check", "metrics"],
            input=exposition(folder),
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )

        assert set(ended.stderr.splitlines()) == {
            'calibration_tce_null_ratio non-summary metrics should not have "quantile" label'
        }


class TestMissingProgram:
    """What becomes of a test whose program is not installed."""

    def test_skips(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """On a developer's machine the test is skipped, and says how to get the program."""
        monkeypatch.setenv("PATH", "")
        monkeypatch.delenv("CI", raising=False)

        with pytest.raises(pytest.skip.Exception, match="tools/install-programs"):
            program_path("prometheus")

    def test_fails_in_ci(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """In CI nothing is skipped for want of a program."""
        monkeypatch.setenv("PATH", "")
        monkeypatch.setenv("CI", "true")

        with pytest.raises(pytest.fail.Exception, match="prometheus is not installed"):
            program_path("prometheus")
