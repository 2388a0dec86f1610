"""A store with the results of three models, and the exporter that serves it."""

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from math import nextafter
from pathlib import Path

import numpy as np

from monitor.days.run_record import FailedDay
from monitor.drift.incidents.detecting import new_detector
from monitor.drift.records.detector import Incident
from monitor.drift.records.verdict import Verdict
from monitor.evaluation.errors import Errors
from monitor.evaluation.evaluation import Evaluation, InterceptCorrection, TceNull
from monitor.export.http.app import Exporter
from monitor.metrics.core.estimate import Estimate
from monitor.store.store import Store
from tests.support.servers import Program, started, wait_for

COMMAND = Path(sys.executable).with_name("calibration-monitor")
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
    shift=Estimate(value=0.1 + 0.2, low=2 / 3 - 0.5, high=1 / 7 + 1),
    raw=Errors(tce_published=6 / 7, ece=nextafter(0.5, 1), rbs=2**-0.5),
    prior=Errors(tce_published=5 / 7, ece=nextafter(0.5, 0), rbs=3**-0.5),
    correction=InterceptCorrection(
        delta=Estimate.normal(0.3, 0.1),
        log_loss=Estimate.normal(1 / 30, 1 / 90),
        squared_error=Estimate.normal(1 / 70, 1 / 90),
        log_loss_before=2 / 3,
    ),
    null=TceNull(mean=0.05, q05=1 / 70, q50=2 / 70, q95=3 / 70, q99=4 / 70),
)

VERDICT = Verdict(
    model="fraud",
    segment="all",
    day=DAY,
    final=True,
    known_at=HARD.known_at,
    state="ok",
    reasons=("Nothing has changed.",),
    evidence=None,
    detector=new_detector(),
    limit=3.0,
    shift=Estimate(0.1, -0.1, 0.3),
    level_change=None,
    slope=None,
    reference_prevalence=1 / 3,
    reached=0.0,
)

DRIFTING = replace(
    VERDICT,
    state="calibration_drift",
    reached=4.5,
    detector=replace(
        new_detector(),
        incident=Incident(
            opened=DAY,
            started=DAY,
            start_low=DAY,
            start_high=DAY,
            kind="too_timid",
            evidence=4.5,
            recovery=0.0,
            size=0.3,
            size_error=0.05,
            scores=np.zeros(4),
            informations=np.zeros(4),
            slopes=np.zeros(6),
        ),
    ),
)


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
        shift=Estimate(0.0, -0.1, 0.1),
        correction=None,
        prior=Errors(tce_published=0.01, ece=0.0, rbs=0.3),
    )
    write_day(folder, well, replace(well, window_days=1, days_present=1))
    for model, failed in (("fraud", False), ("fraud", True), ("well", True), ("well", False)):
        now += timedelta(seconds=1)
        Store(str(folder / "store")).write_run(
            model, started=now, finished=now, failed=FailedDay(DAY) if failed else None
        )
    return folder


def write_day(folder: Path, *evaluations: Evaluation) -> Path:
    """Store the evaluations of a model's day, and give the file they are in."""
    e = evaluations[0]
    Store(str(folder / "store")).write_evaluations(e.model, e.day, evaluations, inputs="")
    return folder / "store" / "evaluations" / e.model / f"{e.day}.arrows.zst"


@contextmanager
def serving(
    folder: Path, *arguments: str, command: Path = COMMAND
) -> Iterator[tuple[Program, str]]:
    """Start the exporter on a free port, and read from what it prints where it listens."""
    call = (command, "serve", "--config", folder / "monitor.yaml", "--port", "0", *arguments)
    with started(folder, *call) as program:
        url = r"https?://(127\.0\.0\.1:\d+)/metrics\b"
        where = wait_for(program, lambda: re.search(url, program.printed.read_text()))
        yield program, where[1]


def exposition(folder: Path) -> str:
    """Say what the exporter must answer."""
    return Exporter(folder / "monitor.yaml").text().decode()
