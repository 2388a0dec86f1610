"""Asks the DAGs and the command what they would do in planned situations, in a process of its own.

All of both is real: the timetable of Airflow gives the interval, the functions of the tasks and the
parser of the command are called. Only the run itself is left out: it notes its task instead.
The folder of the configuration, with `situations.json`, is named on the command line.
"""
# ruff: noqa: PLC0415 - pytest imports this file to look for doctests, and must not import Airflow

import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from datetime import datetime, timedelta
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from tests.support.paths import ROOT

SOON, LATE = timedelta(minutes=1), timedelta(days=8)  # after a run was due; its deadline is between


def main() -> None:
    """Write what both do in each situation."""
    folder = Path(sys.argv[1])
    os.environ["CALIBRATION_MONITOR_CONFIG"] = str(folder)
    dags = load_dags()
    situations = json.loads((folder / "situations.json").read_text(encoding="utf-8"))
    plans = [plans_of(dags, **situation) for situation in situations]
    (folder / "plans.json").write_text(json.dumps(plans, default=str), encoding="utf-8")


def load_dags() -> Any:
    """Load the file of the DAGs as a module."""
    spec = spec_from_file_location("calibration", ROOT / "dags" / "calibration.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def plans_of(dags: Any, names: Sequence[str], *, of_batch: bool, **when: Any) -> dict[str, Any]:
    """Say what the tasks of a DAG do for its models, and what the command does for each."""
    from airflow.sdk.execution_time.context import OutletEventAccessors

    dag_run = dag_run_of(**when)
    context = {
        "params": {"day": when["day"], "begin": True},
        "dag_run": dag_run,
        "ti": SimpleNamespace(try_number=1),
        "outlet_events": OutletEventAccessors(),
    }
    calls: tuple[Callable[[], object], ...] = (
        (lambda: dags.run_batch.function(names), lambda: dags.run_batch_unsettled.function(names))
        if of_batch
        else (lambda: dags.run.function(names[0]), lambda: dags.run_unsettled.function(names[0]))
    )
    soon, late = dag_run.run_after + SOON, dag_run.run_after + LATE
    with at(dags, context, soon):
        awaited = {name: dags.awaited_log(name, context) for name in names}
    with at(dags, context, late):
        run, run_unsettled = map(noted, calls)
        spans = {name: span_of(dags, name, context) for name in names}
        began = {name: dags.run_of(name, context).local(dag_run.start_date) for name in names}
    submitted = {name: command_of(dags, name, context) for name in names}
    return {
        name: {
            "span": spans[name],
            "began": began[name],
            "awaited": awaited[name],
            "run": run["tasks"].get(name),
            "unsettled": run_unsettled["tasks"].get(name),
            "said": run["said"],
            "words": submitted[name],
            "submitted": by_command(submitted[name]),
            "command": by_command(
                as_of_then := ["run", "--begin", "--as-of", f"{spans[name][2]}", "--model", name]
            ),
            "command_unsettled": by_command([*as_of_then, "--unsettled"]),
        }
        for name in names
    }


def dag_run_of(
    schedule: str, time_zone: str, moment: str, began_after: int, run_type: str, day: str | None
) -> Any:
    """Make the run of the newest interval before a moment, or of a day that is asked for then."""
    import pendulum
    from airflow.sdk.api.datamodels._generated import DagRun
    from airflow.timetables.interval import CronDataIntervalTimetable

    timetable: Any = CronDataIntervalTimetable(schedule, timezone=time_zone)
    interval = timetable.infer_manual_data_interval(run_after=pendulum.parse(moment))
    run_after = pendulum.parse(moment) if day else interval.end
    return DagRun(
        dag_id="calibration",
        run_id=f"{run_type}__{moment}",
        run_type=run_type,
        run_after=run_after,
        logical_date=interval.start,
        data_interval_start=interval.start,
        data_interval_end=interval.end,
        start_date=run_after + timedelta(minutes=began_after),
        end_date=None,
        state="running",
        consumed_asset_events=[],
        partition_key=None,
    )


def at(dags: Any, context: Any, moment: datetime) -> ExitStack:
    """Let tasks run at a moment, in a context."""
    from airflow.sdk.execution_time.context import set_current_context

    with ExitStack() as entered:
        entered.enter_context(set_current_context(context))
        entered.enter_context(patch.object(dags, "now", lambda: moment))
        return entered.pop_all()


def noted(call: Callable[[], object]) -> dict[str, Any]:
    """Call something that would run tasks: give these, and the message with which it ended."""
    from airflow.sdk.exceptions import AirflowException

    from monitor.base.errors import ConfigError, DataError
    from monitor.pipeline.runs.run import RunReport

    tasks, said = list[Any](), ""

    def note(_config: object, task: Any, **_: object) -> RunReport:
        tasks.append(asdict(task))
        return RunReport(task.model, (), (), (), ())

    with patch("monitor.pipeline.runs.scheduled.run", note), patch("monitor.cli.many.run", note):
        try:
            call()
        except (AirflowException, ConfigError, DataError) as error:
            said = str(error)
    return {"tasks": {task["model"]: task for task in tasks}, "said": said}


def by_command(words: Sequence[str]) -> Any:
    """Note what the command would run; None if it runs nothing."""
    from monitor.cli import parser

    call = [*words, "--jobs", "1", "--config", os.environ["CALIBRATION_MONITOR_CONFIG"]]
    return next(iter(noted(lambda: parser()(call, standalone_mode=False))["tasks"].values()), None)


def span_of(dags: Any, name: str, context: Any) -> Any:
    """Ask for the first and last day of a run, and the first whose outcomes are not read."""
    from monitor.pipeline.runs.scheduled import span_of

    return span_of(dags.run_of(name, context))


def command_of(dags: Any, name: str, context: Any) -> list[str]:
    """Ask for the words that are handed to a cluster."""
    from monitor.pipeline.runs.scheduled import command_of

    return command_of(dags.run_of(name, context))


if __name__ == "__main__":
    main()
