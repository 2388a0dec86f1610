"""Drives Airflow in a process of its own: parses the DAGs, does planned runs, tells what happened.

Airflow reads its environment when it is imported and warns about itself, so no test imports it.
The plan and the report are JSON files, named on the command line; the log goes to the output.
"""
# ruff: noqa: PLC0415 - pytest imports this file to look for doctests, and must not import Airflow

import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any
from unittest.mock import patch

PATIENCE = 300  # seconds


def main() -> None:
    """Follow the plan, in an order in which the parse comes before anything heavy."""
    plan = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    report: dict[str, Any] = {
        "parsed": parse(),
        "parsed_with": {label: parse_with(path) for label, path in plan["parsed_with"].items()},
        "parsed_for_tasks": {dag_id: parse_for(dag_id) for dag_id in plan["parsed_for_tasks"]},
        "parsed_as_fleet": {
            label: parse_with(**how) for label, how in plan["parsed_as_fleet"].items()
        },
    }
    command("db", "migrate")
    command("dags", "reserialize")
    report["runs"] = {label: do(**run) for label, run in plan["runs"].items()}
    report["fleets"] = {label: do(**run) for label, run in plan["fleets"].items()}
    report["passed_between_tasks"] = passed_between_tasks()
    report["updated"] = updated_assets()
    Path(sys.argv[2]).write_text(json.dumps(report, default=str), encoding="utf-8")


def parse() -> dict[str, Any]:
    """Parse the DAGs as Airflow does, and note what that imports."""
    from airflow.dag_processing.dagbag import DagBag

    before = set(sys.modules)
    bag = DagBag()
    return {
        "imported": sorted(set(sys.modules) - before),
        "errors": bag.import_errors,
        "dags": {dag_id: describe(dag) for dag_id, dag in bag.dags.items()},
    }


def describe(dag: Any) -> dict[str, Any]:
    """Collect what the house rules speak of."""
    return {
        "schedule": [dag.timetable.expression, dag.timetable.timezone],
        "catchup": dag.catchup,
        "owner": dag.owner,
        "tags": sorted(dag.tags),
        "doc": dag.doc_md,
        "form": dag.params.get_param("day").description,
        "asset": [asset.name for task in dag.tasks for asset in task.outlets],
        "at_a_time": {task.task_id: task.max_active_tis_per_dag for task in dag.tasks},
    }


def parse_with(config: str | None, **more: str) -> dict[str, Any]:
    """Parse with another configuration, or none: the import error, and the tasks of each DAG."""
    from airflow.dag_processing.dagbag import DagBag

    with patch.dict(os.environ):
        os.environ.pop("CALIBRATION_MONITOR_CONFIG")
        if config:
            os.environ["CALIBRATION_MONITOR_CONFIG"] = config
        os.environ |= more
        bag = DagBag()
    return {
        "error": "".join(bag.import_errors.values()),
        "tasks": {dag_id: sorted(dag.task_dict) for dag_id, dag in bag.dags.items()},
        "docs": {dag_id: dag.doc_md for dag_id, dag in bag.dags.items()},
        "schedules": {dag_id: dag.timetable.expression for dag_id, dag in bag.dags.items()},
        "owners": {dag_id: dag.owner for dag_id, dag in bag.dags.items()},
    }


def parse_for(dag_id: str) -> dict[str, Any]:
    """Parse as Airflow does for a task of a DAG that starts: what was built."""
    from airflow.dag_processing.dagbag import DagBag

    with its_dag_alone(dag_id):
        bag = DagBag()
    return {built: describe(dag) for built, dag in bag.dags.items()}


def command(*words: str) -> None:
    """Do what `airflow` does with these words, without another four seconds of imports."""
    from airflow.cli import cli_parser

    arguments = cli_parser.get_parser().parse_args(words)
    arguments.func(arguments)


def do(
    dag_id: str,
    *,
    conf: Mapping[str, Any] | None = None,
    logical_date: str | None = None,
    run_after: str | None = None,
    config: str | None = None,
    meanwhile: Mapping[str, str] | None = None,
    slack: bool = True,
    submit: str = "",
    until: str = "",
    fleet: str = "",
) -> dict[str, Any]:
    """Do one manual run, perhaps by another configuration than the others.

    The folders of `meanwhile` are copied while a task waits for its retry. With `until` it waits
    until that file is there.
    """
    ours = {"CALIBRATION_MONITOR_CONFIG": config} if config else {}
    ours |= {} if slack else {"CALIBRATION_MONITOR_SLACK_CONNECTION": ""}
    ours |= {"CALIBRATION_MONITOR_SUBMIT": submit}
    ours |= {"CALIBRATION_MONITOR_FLEET": fleet, "CALIBRATION_MONITOR_BATCH": "2"}
    with (
        patch.dict(os.environ, ours),
        its_dag_alone(dag_id),
        while_waiting(meanwhile or {}, until) as waits,
    ):
        run = dag_of(dag_id).test(
            logical_date=moment(logical_date), run_after=moment(run_after), run_conf=conf
        )
    return outcome(run) | {"waits": waits}


def passed_between_tasks() -> list[Any]:
    """List all that tasks have left for others in the database, with the name of each."""
    from airflow import settings
    from airflow.models.xcom import XComModel
    from sqlalchemy import select

    left = settings.Session().execute(select(XComModel.task_id, XComModel.key, XComModel.value))
    return [list(row) for row in left]


def updated_assets() -> list[Any]:
    """List every update of an asset: by which DAG, which one, and what it says."""
    from airflow import settings
    from airflow.models.asset import AssetEvent
    from sqlalchemy import select

    events = settings.Session().scalars(select(AssetEvent).order_by(AssetEvent.id))
    return [[event.source_dag_id, event.name, event.extra] for event in events]


def outcome(run: Any) -> dict[str, Any]:
    """Tell how a run ended, with the states and tries of its tasks."""
    tasks = run.get_task_instances()
    return {
        "dag_id": run.dag_id,
        "type": run.run_type,
        "interval": [run.data_interval_start, run.data_interval_end],
        "state": run.state,
        "tasks": {named(task): [task.state, task.try_number, task.max_tries] for task in tasks},
    }


def named(task: Any) -> str:
    """Name a task, with the number of its batch if it has one."""
    return f"{task.task_id} {task.map_index}" if task.map_index >= 0 else str(task.task_id)


@contextmanager
def while_waiting(meanwhile: Mapping[str, str], until: str = "") -> Iterator[list[dict[str, Any]]]:
    """Let the hours pass in which `DAG.test` would sleep because a task waits for its next try.

    A task that waits unexpectedly, or again, gets no other try.
    """
    from airflow import settings
    from airflow.models.taskinstance import TaskInstance
    from airflow.models.taskreschedule import TaskReschedule
    from sqlalchemy import select, update

    waits: list[dict[str, Any]] = []

    def pass_the_time(_seconds: float) -> None:
        session = settings.Session()
        waiting = session.scalars(
            select(TaskInstance).where(
                TaskInstance.state.in_(["up_for_retry", "up_for_reschedule"])
            )
        ).one()
        waiting.task = dag_of(waiting.dag_id).get_task(waiting.task_id)
        waits.append(
            {
                "task": waiting.task_id,
                "state": waiting.state,
                "tries": waiting.try_number,
                "minutes": [minutes_after(waiting, tries) for tries in range(1, 8)]
                if waiting.state == "up_for_retry"
                else [],
            }
        )
        if len(waits) == 1 and (meanwhile or until):
            wait_for_file(until)
            for source, target in meanwhile.items():
                shutil.copytree(source, target, dirs_exist_ok=True)
            waiting.end_date -= timedelta(hours=2)
            session.execute(update(TaskReschedule).values(reschedule_date=waiting.end_date))
        else:
            waiting.state = "failed"
        session.commit()

    with patch("time.sleep", pass_the_time):
        yield waits


@contextmanager
def its_dag_alone(dag_id: str) -> Iterator[None]:
    """Let parsing build one DAG, as for a task that starts, and `DAG.test` store no other."""
    from airflow.sdk.definitions._internal.dag_parsing_context import (
        _airflow_parsing_context_manager,
    )

    # The manager leaves the variable behind; a task has its own process.
    with patch.dict(os.environ), _airflow_parsing_context_manager(dag_id=dag_id):
        yield


def wait_for_file(name: str) -> None:
    """Wait until a file is there, while nobody can sleep."""
    deadline = monotonic() + PATIENCE
    while name and not Path(name).exists() and monotonic() < deadline:
        Event().wait(0.2)


def minutes_after(waiting: Any, tries: int) -> float:
    """Ask Airflow how long it would wait after so many tries."""
    with patch.object(waiting, "try_number", tries):
        wait = waiting.next_retry_datetime() - waiting.end_date
    return float(wait / timedelta(minutes=1))


def dag_of(dag_id: str) -> Any:
    """Parse the DAGs again, as a worker does, and take one."""
    from airflow.dag_processing.dagbag import DagBag

    return DagBag().dags[dag_id]


def moment(text: str | None) -> datetime | None:
    """Read a moment with its offset."""
    return datetime.fromisoformat(text) if text else None


if __name__ == "__main__":
    main()
