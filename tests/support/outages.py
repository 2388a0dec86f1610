"""Exporter, Prometheus and Alertmanager that are killed and started again, and what people get.

The programs are real, with the rules, routes and template of `alerts`. All of Prometheus' and
Alertmanager's times are about a twelfth of the real ones, but for the repetition of messages: a
message that comes twice comes because of an outage.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from time import sleep
from typing import Any

from monitor.days.run_record import FailedDay
from monitor.drift.incidents.detecting import new_detector
from monitor.drift.records.detector import Ended, Shift
from monitor.drift.records.verdict import Verdict
from monitor.store.store import Store
from tests.support.alerting import await_posts, configure_alertmanager, sooner
from tests.support.exporting import DAY, DRIFTING, HARD, LOGS, VERDICT, write_day
from tests.support.receivers import Posts, Received, at, receiving
from tests.support.servers import PATIENCE, free_port, get, program_path, started, wait_for

PROGRAMS = ("exporter", "prometheus", "alertmanager")
DOWN = 4  # seconds: more than what an instant query looks back, less than what an alert holds
SETTLED = 10  # seconds: two evaluations of the rules
RULES = {
    "interval: 3s": "interval: 5s",  # 1m
    "drift:open[8s]": "drift:open[20s]",  # 15m
    'segment!="all"}[8s]': 'segment!="all"}[20s]',
    "offset 2m": "offset 10s",
    "shift:news[8s]": "shift:news[26h]",
    '"level_drift"}[8s]': '"level_drift"}[26h]',
    '"prior_shift"}[8s]': '"prior_shift"}[26h]',
    " for: 4s": " for: 75s",  # 15m
    'state="insufficient_data", segment="all"}[26h])': (
        'state="insufficient_data", segment="all"}[8s])'
    ),
    "[26h] offset 26h": "[26h] offset 8s",
}
ROUTES = {"repeat_interval: 5s": "repeat_interval: 3d", "group_wait: 2s": "group_wait: 3s"}
FLAGS = {
    "prometheus": (
        "--rules.alert.resend-delay=4s",  # 50s
        "--query.lookback-delta=3s",  # 5m, and longer than the interval of the scrapes
    ),
    "alertmanager": (
        "--data.retention=240h",
        "--data.maintenance-interval=1s",  # 15s
        "--cluster.listen-address=",
    ),
}

# Models that each have one thing wrong from the start, and how many further ones are still well.
ILL = ("fraud", "bids", "ctr", "flights", "quiet", "late", "torn", "rows", "unknown", "broken")
FIRST = {
    "/enqueue": {
        "fraud: scores too timid since 1 Mar",
        "bids, segment DE: scores too timid since 1 Mar",
    },
    "/slack-tickets-url": {
        "ctr: all scores too high or too low since 1 Mar",
        "late: no successful run for 2h",
        "torn: logs of 1 Mar: the logs cannot be used",
        "rows: outcome_orphan left out as many rows as",
        "unknown: only 0% of the predictions of",
        "broken: its configuration is invalid, so it is not processed",
    },
    "/slack-digest-url": {"flights: prior shift since 1 Mar", "quiet: too few outcomes"},
}


@dataclass(frozen=True)
class Stack:
    """The three programs, where they listen, and what was received of them."""

    folder: Path
    received: Received
    ports: dict[str, int]
    running: dict[str, ExitStack] = field(default_factory=dict)

    def start(self, names: Iterable[str]) -> None:
        """Start programs one after the other, then wait until all are ready."""
        programs = {}
        for name in names:
            stack = self.running[name] = ExitStack()
            programs[name] = stack.enter_context(started(self.folder, *_call(self, name)))
            sleep(0.3)
        for name, program in programs.items():
            wait_for(program, partial(self.is_ready, name))

    def is_ready(self, name: str) -> bool | None:
        """Ask a program whether it is ready; None if not yet."""
        try:
            return (
                self.ask(name, "/healthz" if name == "exporter" else "/-/ready")[0] == 200 or None
            )
        except OSError:
            return None

    def ask(self, name: str, path: str) -> tuple[int, str]:
        """Ask a program over HTTP."""
        return get(f"127.0.0.1:{self.ports[name]}", path)

    def kill(self, name: str) -> None:
        """Kill a program: it cannot put anything in order."""
        self.running.pop(name).close()


@contextmanager
def running(folder: Path, spare: int) -> Iterator[Stack]:
    """Start everything over a store in which ten models have something wrong, and `spare` not."""
    fill(folder, spare)
    with receiving() as received:
        stack = Stack(folder, received, {name: free_port() for name in PROGRAMS})
        configure_alertmanager(folder, received, ROUTES)
        (folder / "calibration.rules.yml").write_text(sooner("calibration.rules.yml", RULES))
        (folder / "prometheus.yml").write_text(json.dumps(_scraping(stack.ports)))
        try:
            stack.start(PROGRAMS)
            yield stack
        finally:
            for name in list(stack.running):
                stack.kill(name)


def fill(folder: Path, spare: int) -> None:
    """Write configuration and store."""
    names = [*ILL, *(spare_name(number) for number in range(spare))]
    models: dict[str, Any] = {
        name: {**LOGS, "severity": "page", "verdicts": {"data_error_hours": 0}} for name in names
    }
    models["late"]["verdicts"]["run_overdue_hours"] = 1
    models["broken"]["ownr"] = "risk"
    (folder / "monitor.yaml").write_text(json.dumps({"store": "store", "models": models}))
    drifting, level, prior, quiet = (
        DRIFTING,
        moved("level_drift"),
        moved("prior_shift"),
        replace(VERDICT, state="insufficient_data"),
    )
    judge(folder, "fraud", drifting, replace(drifting, segment="DE"))
    judge(folder, "bids", VERDICT, replace(drifting, segment="DE"))
    for name, verdict in {"ctr": level, "flights": prior, "quiet": quiet}.items():
        judge(folder, name, verdict)
    for name in ("late", "rows", "unknown", *names[len(ILL) :]):
        judge(folder, name, VERDICT)
    now = datetime.now(UTC)
    store = Store(str(folder / "store"))
    past = now - timedelta(hours=2)
    store.write_run("late", started=past, finished=past)
    store.write_run("torn", started=past, finished=past, failed=FailedDay(DAY))
    evaluation = replace(HARD, window_days=1, days_present=1, rejected={})
    lost = {"outcome_orphan": HARD.matched}
    write_day(folder, replace(evaluation, model="rows", rejected=lost))
    write_day(folder, replace(evaluation, model="unknown", coverage=0.0))


def judge(folder: Path, model: str, *verdicts: Verdict) -> None:
    """Give a model its verdicts, as a run that has just succeeded."""
    store, now = Store(str(folder / "store")), datetime.now(UTC)
    store.write_verdicts(model, DAY, [replace(v, model=model) for v in verdicts], basis="")
    if model != "late":
        store.write_run(model, started=now, finished=now)


def moved(state: str) -> Verdict:
    """Make the verdict of the first day on which the level or the prior has moved."""
    since = replace(new_detector(), moved=Shift(state, DAY))
    return replace(VERDICT, state=state, detector=since)


def spare_name(number: int) -> str:
    """Name a model that is well at first."""
    return f"spare{number}"


def open_drift(stack: Stack, number: int) -> None:
    """Let one of the spare models drift."""
    judge(stack.folder, spare_name(number), DRIFTING)


def close_drift(stack: Stack, number: int) -> None:
    """Let the drift of one of the spare models recover after five days."""
    ended = Ended(DAY - timedelta(days=5), DAY, "recovered")
    sound = replace(VERDICT, detector=replace(new_detector(), ended=ended))
    judge(stack.folder, spare_name(number), sound)


def titles(posts: Posts) -> dict[str, list[str]]:
    """Collect what people were shown, by channel; a digest shows each of its headlines."""
    shown: dict[str, list[str]] = {}
    for path in FIRST:
        shown[path] = []
        for content in at(path, posts):
            if path == "/enqueue":
                shown[path].append(content["payload"]["summary"])
            else:
                (attachment,) = content["attachments"]
                text = attachment["text"].split("*")[1::2] if "digest" in path else ()
                shown[path] += text or [attachment["title"]]
    return shown


def await_first(stack: Stack) -> None:
    """Wait until everything that is wrong at the start has been told."""

    def complete() -> bool:
        shown = titles(stack.received.posts)
        return all(
            any(title.startswith(start) for title in shown[path])
            for path, starts in FIRST.items()
            for start in starts
        )

    await_posts(stack.received.posts, complete)
    sleep(SETTLED)


@dataclass(frozen=True)
class Outage:
    """Which programs are killed, in which order they start again, and what was sent of it."""

    killed: Sequence[str]
    posts: Posts


def suffer(stack: Stack, order: Iterable[str], number: int) -> Outage:
    """Kill some programs, let a model drift and another recover meanwhile, and start them again.

    The drift of spare model `number` begins while they are away, and that of the one before it
    ends. What is sent is collected from the kill until nothing more comes.
    """
    order = tuple(order)
    begun = len(stack.received.posts)
    _await_evaluation(stack)  # so that the alerts hold for as long as they can
    for name in order:
        stack.kill(name)
    open_drift(stack, number)
    if number:
        close_drift(stack, number - 1)
    sleep(DOWN)
    stack.start(order)

    def enough() -> bool:
        shown = titles(stack.received.posts[begun:])["/enqueue"]
        wanted = [f"{spare_name(number)}:"]
        wanted += [f"Over: {spare_name(number - 1)}:"] if number else []
        return all(any(title.startswith(start) for title in shown) for start in wanted)

    # An end is sent at most 20 s after the last evaluation that knew nothing of it.
    await_posts(stack.received.posts, enough, patience=3 * PATIENCE)
    sleep(SETTLED)
    return Outage(order, stack.received.posts[begun:])


def expected(number: int) -> dict[str, list[str]]:
    """Say what people must be shown of an outage, and nothing else."""
    spare, before = spare_name(number), spare_name(number - 1)
    over = f"Over: {before}: drift from 24 Feb to 1 Mar (5 days): recovered, the outcomes agree "
    return {
        "/enqueue": [
            *([f"{over}with the reference again"] if number else []),
            f"{spare}: scores too timid since 1 Mar",
        ],
        "/slack-tickets-url": [],
        "/slack-digest-url": [],
    }


def _await_evaluation(stack: Stack) -> None:
    """Wait until Prometheus has evaluated the rules once more."""

    def newest() -> str:
        (group,) = json.loads(stack.ask("prometheus", "/api/v1/rules")[1])["data"]["groups"]
        return str(group["lastEvaluation"])

    before = newest()
    while newest() == before:
        sleep(0.1)


def _call(stack: Stack, name: str) -> list[str | Path]:
    folder, port = stack.folder, stack.ports[name]
    if name == "exporter":
        command = Path(sys.executable).with_name("calibration-monitor")
        return [command, "serve", "--config", folder / "monitor.yaml", "--port", str(port)]
    program = {"prometheus": "prometheus", "alertmanager": "prometheus-alertmanager"}[name]
    place = "--storage.tsdb.path" if name == "prometheus" else "--storage.path"
    return [
        program_path(program),
        f"--config.file={folder / name}.yml",
        f"{place}={folder / name}",
        f"--web.listen-address=127.0.0.1:{port}",
        f"--web.external-url=http://{name}.example.org",
        *FLAGS[name],
    ]


def _scraping(ports: dict[str, int]) -> dict[str, Any]:
    """Let Prometheus scrape the exporter and send alerts to Alertmanager."""

    def only(name: str) -> list[dict[str, list[str]]]:
        return [{"targets": [f"127.0.0.1:{ports[name]}"]}]

    return {
        "global": {"scrape_interval": "2s", "evaluation_interval": "5s"},
        "rule_files": ["calibration.rules.yml"],
        "scrape_configs": [{"job_name": "calibration", "static_configs": only("exporter")}],
        "alerting": {"alertmanagers": [{"static_configs": only("alertmanager")}]},
    }
