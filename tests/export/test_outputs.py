"""Textfile, Pushgateway and OpenMetrics export, with the real programs that read them."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import generate_latest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics_in
from prometheus_client.parser import text_string_to_metric_families

from monitor.base.errors import ConfigError, DataError
from monitor.config import load_config
from monitor.export.openmetrics import openmetrics, past
from monitor.export.push import delete, push
from monitor.export.snapshot_reader import Reader
from monitor.measures.gauges import CATALOGUE
from monitor.measures.snapshot import Snapshot
from monitor.metrics.core.estimate import Estimate
from monitor.store.store import Store
from tests.conftest import Command
from tests.support.exporting import DAY, DRIFTING, HARD, VERDICT, exposition, fill, write_day
from tests.support.servers import (
    answered,
    free_port,
    get,
    program_path,
    pushgateway,
    started,
    wait_for,
)

Series = dict[tuple[tuple[str, str], ...], float]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Fill a folder for one test."""
    return fill(tmp_path)


def reader(folder: Path) -> Reader:
    """Read the folder's store."""
    return Reader(load_config(folder / "monitor.yaml"))


def series(text: str) -> Series:
    """Take a text apart: the labels and name of every sample of ours, and its value."""
    return {
        (("", sample.name), *sorted((k, v) for k, v in sample.labels.items() if v)): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name.startswith("calibration_")
    }


class Collector:
    """The gauges as prometheus_client would write them."""

    def __init__(self, snapshots: list[Snapshot]) -> None:
        self.snapshots = snapshots

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Fill one family for each gauge."""
        for gauge in CATALOGUE:
            family = GaugeMetricFamily(gauge.name, gauge.meaning, labels=gauge.labels)
            told = self.snapshots if "model" in gauge.labels else self.snapshots[:1]
            for labels, value in (pair for one in told for pair in gauge.samples(one)):
                if value == value:  # noqa: PLR0124 - not nan
                    family.add_metric(labels, value)
            yield family


def test_the_text_is_that_of_prometheus_client(folder: Path) -> None:
    """Our text of the store is, byte for byte, what the reference library writes."""
    snapshots = list(reader(folder).snapshots().values())

    assert exposition(folder).encode() == generate_latest(Collector(snapshots))


class TestTextfile:
    """For the node exporter's textfile collector."""

    def test_is_the_text_of_a_scrape(self, folder: Path, command: Command) -> None:
        """The file holds the very bytes that the server would answer, and nothing is left over."""
        target = folder / "out" / "calibration.prom"
        target.parent.mkdir()
        target.write_text("of yesterday")
        done = command("textfile", "--config", folder / "monitor.yaml", "--into", target)

        assert (done.code, done.out, done.err) == (0, f"written: {target}\n", "")
        assert target.read_text() == exposition(folder)
        assert list(target.parent.iterdir()) == [target]

    def test_failure_leaves_the_old_file(
        self, folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A disk that fills up, or a store of which nothing can be read, leaves the old file."""
        target = folder / "out" / "calibration.prom"
        target.parent.mkdir()
        target.write_text("of yesterday")
        arguments = ("textfile", "--config", folder / "monitor.yaml", "--into", target)

        def full(_: int) -> None:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr("os.fsync", full)
            full_disk = command(*arguments)
        write_day(folder, HARD).write_bytes(b"PAR1")
        sound = (folder / "monitor.yaml").read_text()
        (folder / "monitor.yaml").write_text(
            json.dumps(
                {"store": "store", "models": {"fraud": json.loads(sound)["models"]["fraud"]}}
            )
        )
        damaged = command(*arguments)

        assert (full_disk.code, damaged.code) == (3, 3)
        assert "No space left on device" in full_disk.err
        assert "is not a readable file of this store" in damaged.err.replace("\n", " ")
        assert target.read_text() == "of yesterday"
        assert list(target.parent.iterdir()) == [target]

        (folder / "monitor.yaml").write_text(sound)
        of_others = command(*arguments)
        assert of_others.code == 3
        assert target.read_text() == exposition(folder)
        assert 'calibration_model_results_readable{model="fraud"} 0.0' in target.read_text()

    @pytest.mark.parametrize(
        ("into", "complaint"),
        [
            ("calibration.txt", "ending in .prom"),
            ("nowhere/calibration.prom", "there is no folder"),
        ],
    )
    def test_refuses_what_would_not_be_read(
        self, folder: Path, command: Command, into: str, complaint: str
    ) -> None:
        """A name or folder that the collector does not read is an error of the call."""
        done = command("textfile", "--config", folder / "monitor.yaml", "--into", folder / into)

        assert done.code == 2
        assert complaint in done.err

    def test_the_node_exporter_reads_it(self, folder: Path, command: Command) -> None:
        """A real node exporter serves every sample of the file, and finds no fault with it."""
        name = program_path("prometheus-node-exporter")
        target = folder / "collected" / "calibration.prom"
        target.parent.mkdir()
        command("textfile", "--config", folder / "monitor.yaml", "--into", target)
        where = f"127.0.0.1:{free_port()}"
        call = (
            name,
            f"--web.listen-address={where}",
            "--collector.disable-defaults",
            "--collector.textfile",
            f"--collector.textfile.directory={target.parent}",
        )
        with started(folder, *call) as program:
            text = wait_for(program, lambda: answered(where, "/metrics"))

        assert series(text) == series(exposition(folder))
        assert "node_textfile_scrape_error 0" in text


@pytest.fixture(scope="module")
def started_gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a Pushgateway."""
    with pushgateway(tmp_path_factory.mktemp("gateway")) as where:
        yield where


@pytest.fixture
def gateway(started_gateway: str) -> str:
    """Empty the Pushgateway."""
    for name in ("fraud", "well", "new"):
        delete(name, f"http://{started_gateway}")
    return started_gateway


def groups(gateway: str) -> set[str]:
    """List the models of which the gateway has something."""
    text = get(gateway)[1]
    assert re.findall(r'push_time_seconds\{.*job="([^"]*)"', text) == re.findall(
        r'push_time_seconds\{.*job="(calibration-monitor)"', text
    )
    return set(re.findall(r'push_time_seconds\{.*model="([^"]*)"', text))


class TestPush:
    """The Pushgateway."""

    def test_one_group_for_each_model(self, folder: Path, gateway: str, command: Command) -> None:
        """The gateway holds every sample of the store, under the job and the model."""
        done = command(
            "push", "--config", folder / "monitor.yaml", "--gateway", f"http://{gateway}"
        )
        held = series(get(gateway)[1])

        assert (done.code, done.out) == (0, "pushed: fraud, well, new\n")
        assert groups(gateway) == {"fraud", "well", "new"}
        plain: Series = {}
        for labels, value in held.items():
            assert ("job", "calibration-monitor") in labels
            version = labels[0] == ("", "calibration_build_info")  # is given the group's model
            dropped = {"job", "model"} if version else {"job"}
            plain[tuple(pair for pair in labels if pair[0] not in dropped)] = value
        assert plain == series(exposition(folder))

    def test_an_invalid_model_is_pushed_as_such(
        self, folder: Path, gateway: str, command: Command
    ) -> None:
        """Its group has its stored results and says that it is invalid; the code is 2."""
        config = folder / "monitor.yaml"
        config.write_text(config.read_text().replace('"owner"', '"ownr"'))

        done = command("push", "--config", config, "--gateway", f"http://{gateway}")

        assert (done.code, done.out) == (2, "pushed: well, new, fraud\n")
        assert "models.fraud.ownr: is not a known key; did you mean 'owner'?" in done.err
        assert (
            series(get(gateway)[1]).items()
            > {
                (
                    ("", "calibration_model_config_valid"),
                    ("job", "calibration-monitor"),
                    ("model", "fraud"),
                ): 0.0
            }.items()
        )

    def test_a_push_replaces_the_whole_group(self, folder: Path, gateway: str) -> None:
        """What a model has no more is gone from its group, and other groups stay."""
        write_day(folder, HARD, replace(HARD, segment="DE"))
        for name in ("fraud", "well"):
            push(reader(folder), name, f"http://{gateway}")
        before = get(gateway)[1]
        write_day(folder, HARD)
        push(reader(folder), "fraud", f"http://{gateway}/")
        after = get(gateway)[1]

        assert 'segment="DE"' in before
        assert 'segment="DE"' not in after
        assert groups(gateway) == {"fraud", "well"}

    def test_deletes_the_group_of_a_retired_model(
        self, folder: Path, gateway: str, command: Command
    ) -> None:
        """Deleting needs no configuration, takes one model away, and may be done twice."""
        for name in ("fraud", "well"):
            push(reader(folder), name, f"http://{gateway}")
        arguments = ("push", "--delete", "fraud", "--gateway", f"http://{gateway}")
        once = command(*arguments, "--config", folder / "nowhere.yaml")
        twice = command(*arguments, "--config", folder / "nowhere.yaml")

        assert (once.code, once.out) == (twice.code, twice.out) == (0, "deleted: fraud\n")
        assert groups(gateway) == {"well"}

    @pytest.mark.parametrize(
        "address", ["gateway", "ftp://gateway", "http://", "http://h:x", "http://me:sesame@h/?q"]
    )
    def test_refuses_what_is_no_address(self, address: str) -> None:
        """A wrong address is an error of the call, and no password in it is repeated."""
        with pytest.raises(ConfigError, match="is no address of a Pushgateway") as refused:
            delete("fraud", address)

        assert "sesame" not in str(refused.value)

    def test_says_who_cannot_be_reached(self) -> None:
        """A gateway that is down is named, with the remedy and without the password."""
        with pytest.raises(DataError, match="start it, or name another") as refused:
            delete("fraud", f"http://me:sesame@127.0.0.1:{free_port()}")

        assert "127.0.0.1:" in str(refused.value)
        assert "sesame" not in str(refused.value)

    def test_says_why_it_was_refused(self, folder: Path, gateway: str) -> None:
        """What the gateway dislikes is passed on."""
        with pytest.raises(DataError, match=r"refused PUT /nowhere/metrics/job/\S+ with 404"):
            push(reader(folder), "fraud", f"http://{gateway}/nowhere")


def values(lines: list[str], gauge: str, **labels: str) -> list[tuple[int, float]]:
    """Pick the samples of one series: time and value."""
    found = []
    for line in lines:
        if line.startswith(gauge + "{") and all(f'{k}="{v}"' in line for k, v in labels.items()):
            _, value, time = line.rsplit(" ", 2)
            found.append((int(time), float(value)))
    return found


def moment(day: int, hour: int = 0) -> datetime:
    """Name a moment of March 2001."""
    return datetime(2001, 3, day, hour, tzinfo=UTC)


class TestPast:
    """What was known when."""

    def lines(
        self, folder: Path, *, repeat: int = 3600, until: datetime | None = None
    ) -> list[str]:
        """Export days 1 to 3 of March."""
        first, last = date(2001, 3, 1), date(2001, 3, 3)
        known = past(reader(folder), "fraud", first, last, until=until or moment(28))
        return list(openmetrics([known], repeat=repeat))

    def test_a_value_holds_until_the_next_is_known(self, folder: Path) -> None:
        """Each final value stands from the moment it was known to the next one's, by the hour."""
        for n in (1, 2, 4):
            day = date(2001, 3, n)
            e = replace(HARD, day=day, window_days=1, predicted=n, known_at=moment(n + 8))
            write_day(folder, e)
        found = values(self.lines(folder), "calibration_window_predictions", model="fraud")
        hours = [
            (int((moment(9) + timedelta(hours=h)).timestamp()), 1.0 if h < 24 else 2.0)
            for h in range(72)
        ]

        last = int(moment(12).timestamp()) - 60, 2.0
        assert found == [*hours, last]  # there is no third day, and the fourth ends the second

    def test_nothing_is_written_once_the_model_is_overdue(self, folder: Path) -> None:
        """The newest results of all days end `run_overdue_hours` after they were known."""
        configured = json.loads((folder / "monitor.yaml").read_text())
        configured["models"]["fraud"]["verdicts"] = {"run_overdue_hours": 50}
        (folder / "monitor.yaml").write_text(json.dumps(configured))
        write_day(folder, replace(HARD, known_at=moment(9)))
        store = Store(str(folder / "store"))
        store.write_verdicts("fraud", DAY, [replace(VERDICT, known_at=moment(9, 1))], basis="")
        times = [int(line.split()[-1]) for line in self.lines(folder) if line[0] != "#"]

        assert max(times) == (moment(9, 1) + timedelta(hours=50, minutes=-1)).timestamp()

    def test_what_disappears_has_a_last_sample(self, folder: Path) -> None:
        """A series that the next day lacks is written in its last minute, then no more."""
        slopes = Estimate.normal(1.5, 0.1), None, Estimate.normal(0.5, 0.1)
        for n, slope in enumerate(slopes, start=1):
            e = replace(HARD, day=date(2001, 3, n), slope=slope, known_at=moment(n + 8))
            write_day(folder, e)
        found = values(
            self.lines(folder, repeat=86_400, until=moment(12)), "calibration_slope", model="fraud"
        )

        assert found == [
            (int(at.timestamp()), value)
            for at, value in (
                (moment(9), 1.5),
                (moment(9, 23) + timedelta(minutes=59), 1.5),
                (moment(11), 0.5),
                (moment(11, 23) + timedelta(minutes=59), 0.5),
            )
        ]

    def test_provisional_values_are_left_out(self, folder: Path) -> None:
        """A value that outcomes might still move is never written; the one before stays."""
        second = replace(HARD, day=date(2001, 3, 2), predicted=2, known_at=moment(10))
        write_day(folder, replace(HARD, predicted=1))
        write_day(folder, replace(second, final=False), replace(second, window_days=1))
        lines = self.lines(folder, until=moment(11))
        week = values(lines, "calibration_window_predictions", window="7d")
        day = values(lines, "calibration_window_predictions", window="1d")

        assert {value for _, value in week} == {1.0}
        assert [week[0][0], week[-1][0]] == [
            moment(9).timestamp(),
            moment(11).timestamp() - 60,
        ]
        assert day[0] == (moment(10).timestamp(), 2.0)

    def test_a_verdict_holds_until_the_next_final_one(self, folder: Path) -> None:
        """What was judged for good stands until it was judged again; the provisional never does."""
        store = Store(str(folder / "store"))
        for n, state, final in ((1, "ok", True), (2, "level_drift", True), (3, "ok", False)):
            verdict = replace(VERDICT, day=date(2001, 3, n), state=state, final=final)
            known = [replace(verdict, known_at=moment(n + 8))]
            store.write_verdicts("fraud", date(2001, 3, n), known, basis="")
        lines = self.lines(folder, repeat=86_400, until=moment(11))
        found = values(lines, "calibration_verdict", model="fraud", state="ok")

        last = moment(10, 23) + timedelta(minutes=59)
        assert found == [
            (int(at.timestamp()), value)
            for at, value in ((moment(9), 1), (moment(10), 0), (last, 0))
        ]

    def test_broken_logs_are_shown_as_a_scrape_shows_them(self, folder: Path) -> None:
        """A day that could not be read is a verdict too, and a sign that the model is run."""
        write_day(folder, replace(HARD, known_at=moment(9)))
        store = Store(str(folder / "store"))
        for n, state in ((1, "ok"), (2, "data_error"), (3, "data_error")):
            verdict = replace(VERDICT, day=date(2001, 3, n), state=state, final=state == "ok")
            dated = replace(verdict, known_at=moment(n + 8))
            store.write_verdicts("fraud", dated.day, [dated], basis="")
        lines = self.lines(folder, repeat=86_400)
        found = values(lines, "calibration_verdict", model="fraud", state="data_error")
        outcomes = values(lines, "calibration_window_outcomes", model="fraud", window="7d")

        last = moment(12, 6) - timedelta(minutes=1)
        days = (moment(9), 0), (moment(10), 1), (moment(11), 1), (moment(12), 1), (last, 1)
        assert found == [(int(at.timestamp()), value) for at, value in days]
        assert outcomes[-1] == (last.timestamp(), HARD.matched)

    def test_tells_the_segments_of_a_scrape(self, folder: Path) -> None:
        """Of each day the fullest segments are written, and the verdict of any open drift."""
        store = Store(str(folder / "store"))
        for n, counts in ((1, {"a": 1, "b": 2, "c": 3}), (2, {"a": 1, "b": 3, "c": 2})):
            day, known_at = date(2001, 3, n), moment(n + 8)
            parts = [replace(HARD, segment=s, matched=count) for s, count in counts.items()]
            write_day(folder, *(replace(e, day=day, known_at=known_at) for e in (HARD, *parts)))
            given = [VERDICT, replace(DRIFTING, segment="a")]
            given += [replace(VERDICT, segment=s) for s in "bc"]
            dated = [replace(v, day=day, known_at=known_at) for v in given]
            store.write_verdicts("fraud", day, dated, basis="")
        few = Reader(load_config(folder / "monitor.yaml"), most_segments=1)
        known = past(few, "fraud", date(2001, 3, 1), date(2001, 3, 2), until=moment(11))
        lines = list(openmetrics([known], repeat=86_400))
        first, second = int(moment(9).timestamp()), int(moment(10).timestamp())

        def told(gauge: str) -> dict[str, list[int]]:
            found = {s: values(lines, gauge, segment=s) for s in ("all", *"abc")}
            begun = {
                s: {time for time, _ in samples} & {first, second} for s, samples in found.items()
            }
            return {s: sorted(times) for s, times in begun.items() if times}

        assert told("calibration_prevalence_ratio") == {
            "all": [first, second],
            "b": [second],
            "c": [first],
        }
        assert told("calibration_verdict_date_seconds") == {
            "all": [first, second],
            "a": [first, second],
            "b": [second],
            "c": [first],
        }

    def test_models_and_days_share_a_gauge(self, folder: Path) -> None:
        """Two models of several days stand under one heading each gauge, and time never goes back.

        The parser refuses a family that comes twice, a series that is interrupted, and a sample
        that is older than the one before.
        """
        known = []
        for model in ("fraud", "new"):
            for n in (1, 2, 3):
                e = replace(HARD, model=model, predicted=n, known_at=moment(n + 8))
                write_day(folder, replace(e, day=date(2001, 3, n)))
            span = date(2001, 3, 1), date(2001, 3, 3)
            known.append(past(reader(folder), model, *span, until=moment(12)))
        text = "".join(openmetrics(known, repeat=21_600))
        (family,) = (f for f in openmetrics_in(text) if f.name == "calibration_window_predictions")
        told: dict[str, list[tuple[float, float]]] = {}
        for sample in family.samples:
            at = (float(sample.timestamp), sample.value)
            told.setdefault(sample.labels["model"], []).append(at)
        days = [(moment(n + 8, h).timestamp(), n) for n in (1, 2, 3) for h in (0, 6, 12, 18)]
        days.append((moment(12).timestamp() - 60, 3))
        families = list(openmetrics_in(text))

        assert told == {"fraud": days, "new": days}
        assert [f.name for f in families] == [g.name for g in CATALOGUE if "segment" in g.labels]
        assert {family.type for family in families} == {"gauge"}
        assert text.endswith("# EOF\n")

    def test_the_last_hours_are_the_servers_own(self, folder: Path, command: Command) -> None:
        """Asking for the last 3 hours is an error of the call; by default they are left out."""
        now = datetime.now(UTC)
        day = now.date() - timedelta(days=9)
        write_day(folder, replace(HARD, day=day, known_at=now - timedelta(days=1)))
        arguments = ("export", "openmetrics", "--config", folder / "monitor.yaml")
        arguments += ("--from", day, "--to", day, "--into", folder / "past.om")
        soon = f"{now - timedelta(hours=2):%Y-%m-%dT%H:%M}"
        refused = command(*arguments, "--until", soon)
        written = (folder / "past.om").exists()
        done = command(*arguments)
        lines = [line for line in (folder / "past.om").read_text().splitlines() if line[0] != "#"]
        age = now - datetime.fromtimestamp(max(int(line.split()[-1]) for line in lines), UTC)

        assert (refused.code, written) == (2, False)
        assert "is less than 3 hours ago" in refused.err
        assert f"{len(lines):,} samples" in done.out
        assert timedelta(hours=2, minutes=59) <= age <= timedelta(hours=3, minutes=1)

    @pytest.mark.parametrize("repeat", ["5", "0m", "1d"])
    def test_a_repeat_is_a_duration(self, folder: Path, command: Command, repeat: str) -> None:
        """What is no duration is refused with examples, and nothing is written."""
        done = command(
            *("export", "openmetrics", "--config", folder / "monitor.yaml", f"--repeat={repeat}"),
            *("--from", "2001-03-01", "--to", "2001-03-03", "--into", folder / "past.om"),
        )

        assert done.code == 2
        assert "write for example 5m, 1h or 24h" in done.err
        assert not (folder / "past.om").exists()
