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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a configuration of two models, of which one has a stored day."""
    models = {"fraud": {**LOGS, "owner": OWNER}, "new": LOGS}
    (tmp_path / "monitor.yaml").write_text(json.dumps({"store": "store", "models": models}))
    write_day(tmp_path, HARD, replace(HARD, window_days=1, days_present=1))
    return tmp_path


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


def await_(program: Program, look: Callable[[], T | None]) -> T:
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
        where = await_(program, lambda: re.search(url, program.printed.read_text()))
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

        assert shown % "fraud" + '"7d"} 9.007199254740991e+015' in before
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
        assert [line.split("{")[0] for line in text.splitlines() if line[0] != "#"] == [
            "calibration_model_info",
            "calibration_model_info",
        ]

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
class Prometheus:
    """A Prometheus that scrapes one exporter, and how to ask it."""

    program: Program
    where: str

    def ask(self, query: str) -> list[dict[str, Any]]:
        """Evaluate an expression now."""
        status, text = get(self.where, "/api/v1/query?" + urlencode({"query": query}))
        assert status == 200, text
        return list(json.loads(text)["data"]["result"])

    def await_up(self, up: str) -> None:
        """Wait until the last scrape went as said."""

        def look() -> bool | None:
            return [series["value"][1] for series in self.ask("up")] == [up] or None

        await_(self.program, look)


@contextmanager
def watching(folder: Path, target: str) -> Iterator[Prometheus]:
    """Start a Prometheus on a free port that scrapes `target` and nothing else."""
    jobs = [{"job_name": "calibration", "static_configs": [{"targets": [target]}]}]
    often = {"scrape_interval": "250ms", "scrape_timeout": "250ms"}
    configuration = folder / "prometheus.yml"
    configuration.write_text(json.dumps({"global": often, "scrape_configs": jobs}))
    call = (
        program_path("prometheus"),
        f"--config.file={configuration}",
        f"--storage.tsdb.path={folder / 'prometheus'}",
        "--web.listen-address=127.0.0.1:0",
    )
    with started(folder, *call) as program:
        heard = r'"Listening on".* address=(\S+)'
        where = await_(program, lambda: re.search(heard, program.complained.read_text()))
        prometheus = Prometheus(program, where[1])
        await_(program, lambda: get(where[1], "/-/ready")[0] == 200 or None)
        yield prometheus


Series = dict[tuple[str, ...], float]


def key(name: str, labels: dict[str, str]) -> tuple[str, ...]:
    """Identify a series; an empty label is none."""
    return name, *(f"{k}={v}" for k, v in sorted(labels.items()) if v)


class TestPrometheus:
    """What a real Prometheus makes of the exporter."""

    @pytest.fixture
    def answers(self, folder: Path) -> Series:
        """Ask for all it has, after one scrape."""
        with serving(folder) as (_, target), watching(folder, target) as prometheus:
            prometheus.await_up("1")
            found = prometheus.ask('{__name__=~"calibration_.+"}')
        series = {}
        for one in found:
            labels = one["metric"]
            assert (labels.pop("job"), labels.pop("instance")) == ("calibration", target)
            series[key(labels.pop("__name__"), labels)] = float(one["value"][1])
        return series

    def test_has_every_sample_of_the_exposition(self, folder: Path, answers: Series) -> None:
        """Prometheus holds each sample of the exposition, and no other, to the last bit."""
        families = text_string_to_metric_families(exposition(folder))

        assert answers == {
            key(sample.name, sample.labels): sample.value
            for family in families
            for sample in family.samples
        }

    def test_has_the_numbers_of_the_store(self, answers: Series) -> None:
        """The numbers of an evaluation arrive in Prometheus as they are in the store."""
        (e, _), _ = self.stored(folder), None
