"""Runs: the same bytes however the days are done, and nothing lost when they go wrong."""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.special import expit

from monitor.base import program
from monitor.config import Config, Model, load_config
from monitor.drift.fold.inputs import Day, Limits, ModelReference, fit_model_reference
from monitor.pipeline.days.task import Task
from monitor.pipeline.runs.evaluations import evaluate_days
from monitor.pipeline.runs.run import RunReport, run
from monitor.pipeline.verdicts import references
from monitor.pipeline.verdicts.references import read_references
from monitor.store.names import day_file
from monitor.store.store import Store
from tests.conftest import Ended

FIRST = date(2026, 3, 1)
DAYS = [FIRST + timedelta(days=i) for i in range(10)]
LONG_AFTER = date(2026, 12, 31)
NOON = datetime(2026, 12, 31, 12, tzinfo=UTC)

CONFIG = """\
store: store
engine: {{threads: {threads}}}
models:
  ctr:
    predictions: {{path: "logs/predictions/{{day}}.parquet"}}
    outcomes: {{path: "logs/outcomes/{{day}}.parquet"}}
    segments: {{column: country, values: [DE, FR]}}
    windows: {windows}
    verdicts: {verdicts}
"""


STRATA = {"column": "country", "values": ["DE"]}


def write_log(folder: Path, day: date, rows: int = 300, *, seed: int | None = None) -> None:
    """Write one day of a calibrated model; a third of its outcomes come the next day."""
    rng = np.random.default_rng(day.toordinal() if seed is None else seed)
    logits = rng.normal(-1, 1, rows)
    ids = [f"{day}-{i}" for i in range(rows)]
    outcomes = (rng.random(rows) < expit(logits)).astype(np.int8)
    predictions = {
        "prediction_id": ids,
        "score": expit(logits),
        "country": rng.choice(["DE", "FR", "IT"], rows),
    }
    (folder / "logs/predictions").mkdir(parents=True, exist_ok=True)
    (folder / "logs/outcomes").mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(predictions), folder / f"logs/predictions/{day}.parquet")
    late = np.arange(rows) % 3 == 0
    for observed, chosen in ((day, ~late), (day + timedelta(days=1), late)):
        part = pa.table({"prediction_id": np.array(ids)[chosen], "outcome": outcomes[chosen]})
        path = folder / f"logs/outcomes/{observed}.parquet"
        earlier = [pq.read_table(path)] if path.exists() else []
        known = [t.filter(pa.compute.invert(is_of(t, day))) for t in earlier]
        pq.write_table(pa.concat_tables([*known, part]), path)


def is_of(table: pa.Table, day: date) -> pa.ChunkedArray:
    """Tell which outcomes belong to predictions of a day."""
    return pa.compute.starts_with(table["prediction_id"], f"{day}-")


def configure(
    folder: Path, *, threads: int = 2, windows: str = "[1, 3]", verdicts: str = "{}"
) -> Config:
    """Write and load a configuration."""
    path = folder / "monitor.yaml"
    path.write_text(CONFIG.format(threads=threads, windows=windows, verdicts=verdicts))
    return load_config(path)


def results(folder: Path) -> dict[str, bytes]:
    """Read every byte of the store that is promised to be reproducible.

    A kill can leave a half-written ``.….tmp`` next to them, which no reader looks at.
    """
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for kind in ("summaries", "evaluations", "verdicts")
        for path in sorted((folder / "store" / kind).rglob("2*.*"))
    }


def do(
    config: Config, first: date, last: date, *, skip_unchanged: bool = False, **options: object
) -> RunReport:
    """Run the model with a fixed clock."""
    task = Task("ctr", first, last, LONG_AFTER, skip_unchanged=skip_unchanged)
    return run(config, task, clock=lambda: NOON, **options)  # type: ignore[arg-type]


def write_logs(folder: Path, days: list[date]) -> Path:
    """Write the logs of some days."""
    for day in days:
        write_log(folder, day)
    return folder


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten days of logs and the outcomes of the eleventh."""
    return write_logs(tmp_path_factory.mktemp("logs"), DAYS)


@pytest.fixture
def fresh(logs: Path, tmp_path: Path) -> Path:
    """Copy the logs to a folder of their own, without a store."""
    shutil.copytree(logs / "logs", tmp_path / "logs")
    return tmp_path


@pytest.fixture(scope="module")
def expected(logs: Path) -> dict[str, bytes]:
    """Read the store after all ten days in one call."""
    do(configure(logs), DAYS[0], DAYS[-1])
    return results(logs)


@pytest.fixture
def finished(logs: Path, expected: dict[str, bytes], tmp_path: Path) -> Path:
    """Copy the logs with the store after all ten days."""
    assert expected
    shutil.copytree(logs, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture
def done(logs: Path, expected: dict[str, bytes], tmp_path: Path) -> Iterator[Path]:
    """Lend the store after all ten days where it is, because a copy of a log is another file."""
    assert expected
    shutil.copytree(logs, tmp_path / "kept")
    yield logs
    shutil.rmtree(logs)
    shutil.copytree(tmp_path / "kept", logs)


@pytest.fixture
def nearly_finished(finished: Path) -> Path:
    """Lose all results of the last day."""
    for kind in ("summaries", "evaluations", "verdicts"):
        (finished / f"store/{day_file(kind, 'ctr', DAYS[-1])}").unlink()
    return finished


def test_a_run_reaches_forward_over_windows(finished: Path, expected: dict[str, bytes]) -> None:
    """A day done again changes the evaluations of its windows and of no other day."""
    write_log(finished, DAYS[4], seed=99)

    report = do(configure(finished), DAYS[4], DAYS[4])

    changed = [name for name, content in results(finished).items() if content != expected[name]]
    assert report.evaluated == tuple(DAYS[4:7])
    assert changed == [
        f"store/summaries/ctr/{DAYS[4]}.parquet",
        *(f"store/evaluations/ctr/{day}.arrows.zst" for day in DAYS[4:7]),
        f"store/verdicts/ctr/{DAYS[4]}.arrows.zst",  # which names its summary
    ]


def test_unchanged_days_are_left_alone(done: Path, expected: dict[str, bytes]) -> None:
    """A repeated backfill reads nothing again but days whose files were written again."""
    config = configure(done)

    idle = do(config, DAYS[0], DAYS[-1], skip_unchanged=True)
    write_log(done, DAYS[6], rows=301)
    busy = do(config, DAYS[0], DAYS[-1], skip_unchanged=True)

    assert (idle.summarised, idle.unchanged, idle.evaluated) == ((), tuple(DAYS), ())
    # Day 6 itself, and the days that share a partition of outcomes or ids with it.
    assert busy.summarised == tuple(DAYS[5:8])
    assert set(DAYS[6:9]) <= set(busy.evaluated)
    assert results(done).keys() == expected.keys()


def test_logs_are_read_again_when_they_are_read_otherwise(done: Path) -> None:
    """Only a setting that a summary rests on makes a repeated backfill read the logs again."""
    config = configure(done)

    def read_again(**changes: object) -> tuple[date, ...]:
        model = Model.model_validate({**config.model("ctr").model_dump(), **changes})
        changed = config.model_copy(update={"models": {"ctr": model}})
        return do(changed, DAYS[0], DAYS[-1], skip_unchanged=True).summarised

    assert read_again(owner="risk", severity="page") == ()
    assert read_again(strata=STRATA) == tuple(DAYS)


def test_a_lost_result_is_made_again(done: Path, expected: dict[str, bytes]) -> None:
    """A backfill notices a summary and an evaluation that are gone."""
    config = configure(done)
    (done / f"store/summaries/ctr/{DAYS[2]}.parquet").unlink()
    (done / f"store/evaluations/ctr/{DAYS[8]}.arrows.zst").unlink()

    report = do(config, DAYS[0], DAYS[-1], skip_unchanged=True)

    assert report.summarised == (DAYS[2],)
    assert report.evaluated == (DAYS[8],)
    assert results(done) == expected


def test_a_failed_day_stops_no_other(fresh: Path) -> None:
    """A broken day is named with its message; the other days are done, its window too."""
    (fresh / f"logs/predictions/{DAYS[3]}.parquet").write_bytes(b"not parquet")
    config = configure(fresh)

    report = do(config, DAYS[0], DAYS[-1])

    assert [failure.day for failure in report.failures] == [DAYS[3]]
    broken = fresh / f"logs/predictions/{DAYS[3]}.parquet"
    assert report.failures[0].message.startswith(
        f"ctr {DAYS[3]}: {broken} cannot be read as Parquet ("
    )
    assert report.summarised == (*DAYS[:3], *DAYS[4:])
    evaluations, _ = Store(config.store).read_evaluations("ctr", DAYS[4])
    present = {(e.window_days, e.days_present) for e in evaluations}
    assert present == {(1, 1), (3, 2)}


def test_run_records_tell_success_from_failure(fresh: Path) -> None:
    """The record keeps the last success while later runs fail."""
    config = configure(fresh)
    hours = iter(NOON + timedelta(hours=h) for h in range(4))

    def one_day() -> None:
        run(config, Task("ctr", DAYS[0], DAYS[0], LONG_AFTER), clock=lambda: next(hours))

    one_day()
    (fresh / f"logs/predictions/{DAYS[0]}.parquet").unlink()
    one_day()
    record = Store(config.store).read_run("ctr")

    assert record is not None
    assert record.finished == NOON + timedelta(hours=3)
    assert record.succeeded == NOON + timedelta(hours=1)


def test_late_outcomes_make_a_day_final(fresh: Path) -> None:
    """Before its outcomes are all in a day is provisional; afterwards it is what it would be."""
    config = configure(fresh)

    run(config, Task("ctr", DAYS[0], DAYS[0], DAYS[1]), clock=lambda: NOON)
    early, _ = Store(config.store).read_summary("ctr", DAYS[0])
    run(config, Task("ctr", DAYS[0], DAYS[0], DAYS[2]), clock=lambda: NOON)
    late, _ = Store(config.store).read_summary("ctr", DAYS[0])

    matched = [
        sum(part.tally.total for part in summary.segments.values()) for summary in (early, late)
    ]
    assert (early.final, late.final) == (False, True)
    assert matched == [200, 300]
    assert late.known_at - early.known_at == timedelta(days=1)


def test_evaluate_needs_no_logs(finished: Path) -> None:
    """After a window was changed, stored days are evaluated again without their logs."""
    wider = configure(finished, windows="[1, 3, 7]")
    shutil.rmtree(finished / "logs")

    days = evaluate_days(wider, "ctr", read_references(wider, "ctr"), (DAYS[0], DAYS[-1]))

    evaluations, _ = Store(wider.store).read_evaluations("ctr", DAYS[-1])
    assert days == DAYS
    assert {e.window_days for e in evaluations} == {1, 3, 7}
    assert max(e.matched for e in evaluations) == 7 * 300


# Lets a signal come to each program itself, when it has written so many files and is about to
# rename the next: at the same point of every run, however fast the machine is. They are branches
# of one that has imported and compiled what takes long, and starts no threads.
INTERRUPTED = """\
import json, os, sys
from pathlib import Path
import monitor.cli.days, monitor.config, monitor.drift.verdicts.judge, numba, scipy.special
from monitor.cli import main, parser
from monitor.evaluation import compile_ahead

replace = Path.replace

def backfill(folder, moment, signal):
    renames = []

    def rename(self, target):
        renames.append(target)
        if len(renames) == moment:
            os.kill(os.getpid(), signal)
        return replace(self, target)

    Path.replace = rename
    os.dup2(os.open(f"{folder}/stderr", os.O_WRONLY | os.O_CREAT), 2)
    sys.argv[1:] = [*arguments, "--config", f"{folder}/monitor.yaml"]
    main()

calls, arguments = map(json.loads, sys.argv[1:])
compile_ahead.main()
parser()
for call in calls:
    child = os.fork()
    if not child:
        backfill(*call)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
BACKFILLED = DAYS[:3]
BACKFILL = (
    *("--model", "ctr", "--from", f"{BACKFILLED[0]}", "--to", f"{BACKFILLED[-1]}"),
    *("--jobs", "1"),
)

# After how many files, and of how many days there are summaries, evaluations and verdicts then.
# Before the first summary come two notes, after each one another.
MOMENTS = {
    "summarising": (6, (2, 0, 0)),
    "judging": (15, (3, 3, 1)),
    "before the record": (19, (3, 3, 3)),
}


CASES = [
    *((when, signal.SIGKILL) for when in MOMENTS),
    *((when, signal.SIGINT) for when in ("judging",)),
]


class Stopped(NamedTuple):
    """The folder of a backfill to which a signal came, and how that ended."""

    folder: Path
    code: int
    err: str


@pytest.fixture(scope="module")
def stopped(
    logs: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[tuple[str, signal.Signals], Stopped]:
    """Backfill days in programs of their own, to each of which a signal comes."""
    folders = [tmp_path_factory.mktemp("stopped") for _ in CASES]
    for folder in folders:
        shutil.copytree(logs / "logs", folder / "logs")
        configure(folder)
    calls = [
        (f"{folder}", MOMENTS[when][0], number)
        for folder, (when, number) in zip(folders, CASES, strict=True)
    ]
    arguments = json.dumps(calls), json.dumps(["backfill", *BACKFILL])
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, *arguments], capture_output=True, text=True, check=True
    )
    codes = [line for line in done.stdout.splitlines() if not line.startswith("store: ")]
    ended = [
        Stopped(folder, int(code), (folder / "stderr").read_text())
        for folder, code in zip(folders, codes, strict=True)
    ]
    return dict(zip(CASES, ended, strict=True))


def days_of_each(folder: Path) -> tuple[int, ...]:
    """Count the days of which there are summaries, evaluations and verdicts."""
    store = Store(str(folder / "store"))
    return tuple(len(store.days(k, "ctr")) for k in ("summaries", "evaluations", "verdicts"))


def go_on(folder: Path, command: Callable[..., Ended]) -> None:
    """Give the same command again, uninterrupted."""
    ended = command("backfill", "--config", folder / "monitor.yaml", *BACKFILL)
    assert ended.code == 0, ended.err


@pytest.fixture(scope="module")
def backfilled(
    logs: Path, tmp_path_factory: pytest.TempPathFactory, command: Callable[..., Ended]
) -> dict[str, bytes]:
    """Backfill the days without a stop; the newest file of verdicts holds what is carried."""
    folder = tmp_path_factory.mktemp("backfilled")
    shutil.copytree(logs / "logs", folder / "logs")
    configure(folder)
    go_on(folder, command)
    return results(folder)


@pytest.mark.parametrize("when", MOMENTS)
def test_a_killed_backfill_goes_on(
    stopped: dict[tuple[str, signal.Signals], Stopped],
    backfilled: dict[str, bytes],
    when: str,
    command: Callable[..., Ended],
) -> None:
    """Killed in any phase, it leaves whole files only; the same command then does the rest."""
    folder, code, _ = stopped[when, signal.SIGKILL]
    of_each = MOMENTS[when][1]

    assert code == -signal.SIGKILL
    assert days_of_each(folder) == of_each
    left = results(folder)
    # Each verdict and evaluation that is there is that of an uninterrupted run.
    assert left == {name: backfilled[name] for name in left}
    shown = command("show", "--config", folder / "monitor.yaml", "--model", "ctr")
    summarised, evaluated, judged = of_each
    counts = f"{summarised} have a summary, {evaluated} an evaluation and {judged} a verdict."
    # Once all verdicts are up to date, only the time of the run is missing.
    assert (f"Of these {len(BACKFILLED)} days {counts}" in shown.out) == (
        when != "before the record"
    )
    assert ("Without a summary" in shown.out) == (summarised < len(BACKFILLED))
    go_on(folder, command)
    assert results(folder) == backfilled
    whole = command("show", "--config", folder / "monitor.yaml", "--model", "ctr")
    assert "was stopped" not in whole.out


@pytest.mark.parametrize("when", [when for when, number in CASES if number == signal.SIGINT])
def test_an_interrupted_backfill_goes_on(
    stopped: dict[tuple[str, signal.Signals], Stopped],
    backfilled: dict[str, bytes],
    when: str,
    command: Callable[..., Ended],
) -> None:
    """Ctrl-C ends with code 130 and one line that says how to go on, which is true."""
    folder, code, err = stopped[when, signal.SIGINT]

    assert code == 130
    assert err.strip().splitlines()[-1] == (
        "interrupted; finished work is kept, and the same command continues from there"
    )
    assert "Traceback" not in err
    assert results(folder) != backfilled
    go_on(folder, command)
    assert results(folder) == backfilled


@pytest.fixture(scope="module")
def three_weeks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the logs of 21 days, and process them in one call."""
    folder = write_logs(tmp_path_factory.mktemp("three-weeks"), THREE_WEEKS)
    do(configure_weeks(folder), THREE_WEEKS[0], THREE_WEEKS[-1])
    return folder


@pytest.fixture
def judged_weeks(three_weeks: Path, tmp_path: Path) -> Path:
    """Copy the logs of 21 days with their store."""
    shutil.copytree(three_weeks, tmp_path, dirs_exist_ok=True)
    return tmp_path


def configure_weeks(folder: Path, threads: int = 2, verdicts: str = "") -> Config:
    """Configure a model with a reference of two weeks."""
    return configure(folder, threads=threads, windows="[1, 7]", verdicts=verdicts or TWO_WEEKS)


THREE_WEEKS = [FIRST + timedelta(days=i) for i in range(21)]
TWO_WEEKS = f"{{references: [{{first: {FIRST}, last: {FIRST + timedelta(days=13)}}}]}}"
WAYS = {
    "ten calls": (2, lambda c: [do(c, p[0], p[-1]) for p in in_parts(THREE_WEEKS, 10)]),
    "otherwise": (
        1,
        lambda c: [do(c, p[0], p[-1], jobs=3) for p in reversed(in_parts(THREE_WEEKS, 3))],
    ),
}


def in_parts(days: list[date], parts: int) -> list[list[date]]:
    """Divide days into parts that follow each other."""
    return [days[part[0] : part[-1] + 1] for part in np.array_split(range(len(days)), parts)]


@pytest.mark.parametrize("way", WAYS)
def test_same_verdicts_however_the_days_are_done(
    three_weeks: Path, tmp_path: Path, way: str
) -> None:
    """With a reference, one call, ten, and other threads, jobs and order give the same bytes."""
    shutil.copytree(three_weeks / "logs", tmp_path / "logs")
    threads, do_all = WAYS[way]
    config = configure_weeks(tmp_path, threads)
    do_all(config)
    states = {
        verdict.state
        for day in THREE_WEEKS[14:]
        for verdict in Store(config.store).read_verdicts("ctr", day)[0]
        if verdict.segment == "all"
    }

    assert states <= {"ok", "prior_shift", "level_drift", "calibration_drift"}
    assert len(results(tmp_path)) == 3 * len(THREE_WEEKS)
    assert results(tmp_path) == results(three_weeks)


def test_a_kept_fit_is_verified(judged_weeks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A damaged record is not used, nor a fit of other limits, sources or summaries."""
    config = configure_weeks(judged_weeks)
    kept = judged_weeks / "store/runs/ctr/references.json"
    sound = kept.read_bytes()
    fits = list[date]()

    def fit(days: Sequence[Day], limits: Limits) -> ModelReference:
        fits.append(days[0].day)
        return fit_model_reference(days, limits)

    monkeypatch.setattr(references, "fit_model_reference", fit)
    read_references(config, "ctr")
    assert not fits

    kept.write_bytes(sound[:5000] + b"!" + sound[5001:])
    read_references(config, "ctr")
    assert len(fits) == 1

    kept.write_bytes(sound)
    limits = TWO_WEEKS.replace("{", "{slope_tolerance: 0.04, ", 1)
    other = configure_weeks(judged_weeks, verdicts=limits)
    read_references(other, "ctr")
    assert len(fits) == 2

    with monkeypatch.context() as patch:
        patch.setattr(program, "digest", lambda phase: f"{phase} of another program")
        read_references(config, "ctr")
    assert len(fits) == 3

    summary, _ = Store(config.store).read_summary("ctr", FIRST)
    Store(config.store).write_summary(replace(summary, rejected={"score_null": 1}))
    read_references(config, "ctr")
    assert len(fits) == 4


def test_causes_of_another_summary_are_not_recalled(
    nearly_finished: Path, expected: dict[str, bytes]
) -> None:
    """Causes are not believed unless they say that they are of the summary that is stored."""
    config = configure(nearly_finished)
    store = Store(config.store)
    known, inputs = store.read_evaluations("ctr", DAYS[8])
    wrong = [replace(one, causes=known[0].causes) for one in known]
    store.write_evaluations("ctr", DAYS[8], wrong, inputs=inputs, made_from="of another")

    do(config, DAYS[9], DAYS[9])

    last = f"store/evaluations/ctr/{DAYS[9]}.arrows.zst"
    assert results(nearly_finished)[last] == expected[last]
