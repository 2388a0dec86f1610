"""The DAGs in a whole Airflow on PostgreSQL: scheduler, workers, interface and all.

The executor is LocalExecutor, or with CALIBRATION_TEST_EXECUTOR=celery the CeleryExecutor with
Redis and two workers (`make test-celery`).
"""

import os
import shutil
import signal
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import numpy as np
import psutil
import pytest

from monitor.store.names import stem
from monitor.store.sealing import open_table
from monitor.store.store import Store
from tests.conftest import run_command
from tests.support.airflow_stack import PATIENCE, WORKERS, Stack, airflow
from tests.support.two_models import write_day

CELERY = os.environ.get("CALIBRATION_TEST_EXECUTOR") == "celery"
FLEET = "calibration_fleet_0-0_1e8cc8"
KINDS = ("summaries", "evaluations", "verdicts")
MODEL = """\
predictions: {{path: "../logs/{name}/predictions/{{day}}.parquet"}}
outcomes: {{path: "../logs/{name}/outcomes/{{day}}.parquet"}}
schedule: "0 0 * * *"
log_deadline_hours: 168
windows: [1, 3]
{more}
"""


def write_config(folder: Path, store: str) -> None:
    """Write a folder of a sound model, one whose logs are late, and an invalid one."""
    (folder / "models").mkdir(parents=True)
    (folder / "monitor.yaml").write_text(f"store: {store}\n")
    Store(str((folder / store).resolve())).begin(datetime.now(UTC))
    for name, more in (("daily", ""), ("late", ""), ("wrong", "ownr: me")):
        (folder / "models" / f"{name}.yaml").write_text(MODEL.format(name=name, more=more))


@pytest.fixture(scope="module")
def stack(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Stack]:
    """Let all that the tests look at happen, all at once."""
    request.getfixturevalue("two_models")  # else each task would compile what these call
    folder = tmp_path_factory.mktemp("stack")
    today = datetime.now(UTC).date()
    for place, model, newest in ((folder, "daily", 6), (folder / "elsewhere", "late", 2)):
        for number in range(newest, 0, -1):
            write_day(
                place, model, today - timedelta(days=number), 0, np.random.default_rng(number)
            )
    write_config(folder / "config", "../store")
    write_config(folder / "command", "../store-of-command")
    fleet = folder / "fleet" / "models"
    fleet.mkdir(parents=True)
    (fleet.parent / "monitor.yaml").write_text("store: ../store-of-fleet\n")
    Store(str(folder / "store-of-fleet")).begin(datetime.now(UTC))
    # Logs as those of `daily`, of a model with another name.
    whole = MODEL.format(name="daily", more="")
    (fleet / "whole.yaml").write_text(whole)
    (folder / "command" / "models" / "whole.yaml").write_text(whole)
    shutil.copy(folder / "config" / "models" / "wrong.yaml", fleet)
    with airflow(folder, celery=CELERY) as stack:
        dags = (
            "calibration_daily",
            "calibration_late",
            "calibration_wrong",
            "after_calibration",
            FLEET,
        )
        stack.wait_for(lambda: len(stack.sql("select dag_id from dag")) == len(dags) or None)
        first, last = today - timedelta(days=3), today - timedelta(days=2)
        stack.backfill("calibration_daily", f"{first}T00:00Z", f"{last}T23:59Z")
        with Store(str(folder / "store")).locked("late"):
            stack.unpause(*dags)
            bring_logs(stack)
            kill_task(stack)
        stack.wait_for(lambda: all_finished(stack) or None)
        yield stack


def bring_logs(stack: Stack) -> None:
    """Let the late logs arrive while the sensor waits, and let its next look come at once."""
    waiting = "select 1 from task_instance where dag_id = 'calibration_late'"
    waiting += " and task_id = 'wait_for_logs' and state = 'up_for_reschedule'"
    stack.wait_for(lambda: stack.sql(waiting) or None)
    # A scheduler that sees the next look before the end of the last one takes it for a failure.
    ended = "TaskInstance Finished: dag_id=calibration_late, task_id=wait_for_logs"
    stack.wait_for(lambda: ended in (stack.folder / "scheduler.log").read_text() or None)
    shutil.copytree(stack.folder / "elsewhere" / "logs", stack.folder / "logs", dirs_exist_ok=True)
    stack.sql("update task_reschedule set reschedule_date = now()")


def kill_task(stack: Stack) -> None:
    """Kill a task that waits for the lock, and its worker, as if the machine were gone.

    Airflow notices that nothing is heard of them. Neither the minutes after which it does nor those
    to the next try need pass.
    """
    of_task = "from task_instance where dag_id = 'calibration_late' and task_id = 'run'"
    running = f"select pid {of_task} and state = 'running' and pid is not null"
    ((pid,),) = stack.wait_for(lambda: stack.sql(running) or None)
    worker = psutil.Process(pid).ppid()
    for each in (worker, pid):
        os.kill(each, signal.SIGKILL)

    def given_up() -> list[tuple[Any, ...]] | None:
        silent = "update task_instance set last_heartbeat_at = now() - interval '1 hour'"
        stack.sql(f"{silent} where dag_id = 'calibration_late' and state = 'running'")
        retried = f"select end_date, try_number {of_task} and state = 'up_for_retry'"
        return stack.sql(retried) or None

    ((ended, tries),) = stack.wait_for(given_up)
    assert tries == 1
    stack.sql(
        "update task_instance set end_date = %s where task_id = 'run' and state = 'up_for_retry'",
        ended - timedelta(minutes=4),
    )


def all_finished(stack: Stack) -> bool:
    """Tell whether no run is left, those that follow an asset included."""
    states = runs(stack)
    follows = states.get(("after_calibration", "asset_triggered"), [])
    unfinished = {"queued", "running"} & {state for of_dag in states.values() for state in of_dag}
    return bool(follows) and len(states) == 6 and not unfinished


def runs(stack: Stack) -> dict[tuple[str, str], list[str]]:
    """Give the states of the runs of each DAG, by type."""
    found: dict[tuple[str, str], list[str]] = {}
    for dag_id, run_type, state in stack.sql("select dag_id, run_type, state from dag_run"):
        found.setdefault((dag_id, run_type), []).append(state)
    return found


def tasks(stack: Stack, dag_id: str, run_type: str) -> dict[str, Any]:
    """Give state and tries of the tasks of the only run of a type."""
    statement = """\
select task_id, t.state, try_number from task_instance t join dag_run r using (dag_id, run_id)
where dag_id = %s and run_type = %s"""
    return {task: (state, tries) for task, state, tries in stack.sql(statement, dag_id, run_type)}


def left(folder: Path, store: str, model: str) -> dict[str, bytes]:
    """Read every summary, evaluation and verdict of a model."""
    return {
        f"{kind} {stem(path.name)}": path.read_bytes()
        for kind in KINDS
        for path in (folder / store / kind / model).iterdir()
    }


def by_command(folder: Path, model: str, *calls: str) -> dict[str, bytes]:
    """Do the same days one after the other with the command, and read what it leaves."""
    for words in calls:
        begin = ["--begin"] * words.startswith("run ")
        call = (*words.split(), *begin, "--model", model)
        done = run_command(*call, "--config", folder / "command")
        assert done.code == 0, done.err
    return left(folder, "store-of-command", model)


def day(stack: Stack) -> date:
    """Give the day on which the interval of the scheduled runs ended."""
    statement = "select data_interval_end from dag_run where run_type = 'scheduled'"
    ((ended,),) = stack.sql(f"{statement} and dag_id = 'calibration_daily'")
    return ended.astimezone(UTC).date()  # type: ignore[no-any-return]


def test_backfill_and_scheduled_run_leave_the_bytes_of_serial_ones(stack: Stack) -> None:
    """Two days backfilled while the newest run and its catching up go on are as done in order."""
    states = runs(stack)
    newest, unsettled = day(stack), tasks(stack, "calibration_daily", "scheduled")["run_unsettled"]
    span = f"--from {newest - timedelta(days=4)} --to {newest - timedelta(days=2)}"
    calls = [f"backfill {span} --as-of {newest}"]
    if unsettled[0] == "success":  # or midnight has passed since the run began
        calls.append(f"run --unsettled --as-of {newest}")
    results = left(stack.folder, "store", "daily")
    expected = by_command(stack.folder, "daily", *calls)

    assert states["calibration_daily", "backfill"] == ["success"] * 2
    assert states["calibration_daily", "scheduled"] == ["success"]
    assert results == {name: expected[name] for name in results}
    assert len(results) >= 3 * 3


def test_late_logs_are_awaited_and_a_killed_task_runs_again(stack: Stack) -> None:
    """The sensor waits without failing, and `run` succeeds in its second try."""
    states = tasks(stack, "calibration_late", "scheduled")
    newest = day(stack)
    results = left(stack.folder, "store", "late")
    expected = by_command(
        stack.folder, "late", f"run --day {newest - timedelta(days=2)} --as-of {newest}"
    )

    assert states["wait_for_logs"] == ("success", 1)
    assert states["run"] == ("success", 2)
    assert {name: results[name] for name in expected} == expected


def test_an_invalid_model_fails_alone(stack: Stack) -> None:
    """Its run fails in the first try, and the DAG file has no import error."""
    assert tasks(stack, "calibration_wrong", "scheduled") == {"run": ("failed", 1)}
    assert stack.sql("select stacktrace from import_error") == []


def test_a_fleet_does_what_dags_of_single_models_do(stack: Stack) -> None:
    """An invalid model fails its batch, and the other one has the bytes and its asset's update."""
    states = tasks(stack, FLEET, "scheduled")
    newest = day(stack)
    results = left(stack.folder, "store-of-fleet", "whole")
    call = f"run --day {newest - timedelta(days=2)} --as-of {newest}"
    expected = by_command(stack.folder, "whole", call)
    updates = "select name from asset_event join asset on asset.id = asset_id"

    assert states["batch.run"] == ("failed", 1)
    assert states["batch.update_assets"] == ("success", 1)
    assert {name: results[name] for name in expected} == expected
    assert stack.sql(updates).count(("calibration_whole",)) == 1


def test_another_dag_follows(stack: Stack) -> None:
    """A DAG that is scheduled on the asset of a model runs after the runs of that model."""
    followed = runs(stack)["after_calibration", "asset_triggered"]

    assert set(followed) == {"success"}
    updates = "select name from asset_event join asset on asset.id = asset_id"
    assert stack.sql(updates).count(("calibration_daily",)) == 3


def test_a_killed_batch_and_what_changes_meanwhile(stack: Stack) -> None:
    """The next try does what is left, and counts a rebase, a corrected model and an added one.

    This is the last test of the scheduler, because it adds a run.
    """
    newest = day(stack)
    asked = newest - timedelta(days=3)
    changed = {"wrong": "owner: me", "added": "", "whole": ""}
    for name, more in changed.items():
        for config in ("fleet", "command"):
            path = stack.folder / config / "models" / f"{name}.yaml"
            path.write_text(MODEL.format(name="daily", more=more))
    run_id = stack.trigger(FLEET, {"day": f"{asked}"})
    of_run = "from task_instance where dag_id = %s and run_id = %s and task_id = 'batch.run'"
    kill_batch_at(stack, "wrong", of_run, run_id)
    retried = f"select try_number {of_run} and state = 'up_for_retry'"
    tries = stack.wait_for(lambda: stack.sql(retried, FLEET, run_id) or None)
    verdicts = stack.folder / "store-of-fleet" / "verdicts"
    done = {name: (verdicts / name / f"{asked}.arrows.zst").exists() for name in changed}
    with Store(str(stack.folder / "store-of-fleet")).locked("whole"):
        words = ("--from", asked, "--wait", "--by", "ops", "--why", "A release.")
        rebased = run_command("rebase", "whole", *words, "--config", stack.folder / "fleet")
    earlier = "update task_instance set end_date = end_date - interval '4 minutes'"
    stack.sql(f"{earlier} where run_id = %s and state = 'up_for_retry'", run_id)
    ended = "select state from dag_run where run_id = %s and state in ('success', 'failed')"
    states = stack.wait_for(lambda: stack.sql(ended, run_id) or None)

    assert tries == [(1,)]
    assert done == {"added": True, "whole": True, "wrong": False}
    assert rebased.code == 0, rebased.err
    assert states == [("success",)]
    assert stack.sql(f"select state, try_number {of_run}", FLEET, run_id) == [("success", 2)]
    for name in changed:
        results = left(stack.folder, "store-of-fleet", name)
        expected = by_command(stack.folder, name, f"run --day {asked} --as-of {newest}")
        if name == "whole":  # its second verdict is that of a new reference
            expected = {file: held for file, held in expected.items() if "verdict" not in file}
        assert {file: results[file] for file in expected} == expected
    table, _ = open_table((verdicts / "whole" / f"{asked}.arrows.zst").read_bytes())
    (reasons,) = table["reasons"].to_pylist()
    assert reasons[0].startswith(f"The day is part of the reference, {asked}")


def kill_batch_at(stack: Stack, model: str, of_run: str, run_id: str) -> None:
    """Kill the task of a batch as soon as it has begun with a model."""
    running = f"select pid {of_run} and state = 'running' and pid is not null"
    ((pid,),) = stack.wait_for(lambda: stack.sql(running, FLEET, run_id) or None)
    begun = stack.folder / "store-of-fleet" / "runs" / model / "begun.json"
    deadline = monotonic() + PATIENCE
    while not begun.exists():  # looks often, because a day of a model takes less than a second
        assert monotonic() < deadline
        sleep(0.01)
    os.kill(pid, signal.SIGKILL)


def test_both_workers_take_part_with_celery(stack: Stack) -> None:
    """With the CeleryExecutor each of the two workers does tasks; otherwise there are none."""
    logs = [stack.folder / f"worker-{name}.log" for name in WORKERS]

    assert [log.exists() and "succeeded in" in log.read_text() for log in logs] == [CELERY, CELERY]
