"""Drives Airflow in a process of its own: runs that fail for good, with Slack and without."""
# ruff: noqa: PLC0415 - pytest imports this file to look for doctests, and must not import Airflow

import os
import sys
from datetime import timedelta
from unittest.mock import patch


def main() -> None:
    """Do a run without logs, one without a day, a sound one, and one that is told to nobody."""
    from airflow_driver import command, dag_of

    command("db", "migrate")
    command("dags", "reserialize")
    with patch("time.sleep", let_hours_pass):
        states = [
            dag_of("calibration_ctr").test(run_conf={"day": "2026-03-05"}).state,
            dag_of("calibration_ctr").test(logical_date=None).state,
            dag_of("calibration_ctr").test(run_conf={"day": "2026-03-01"}).state,
        ]
        del os.environ["CALIBRATION_MONITOR_SLACK_CONNECTION"]
        states.append(dag_of("calibration_ctr").test(logical_date=None).state)
    sys.stdout.write(f"\nstates: {' '.join(states)}\n")


def let_hours_pass(_seconds: float) -> None:
    """Let a task that is up for retry have waited long enough."""
    from airflow import settings
    from airflow.models.taskinstance import TaskInstance
    from sqlalchemy import select

    session = settings.Session()
    retries = select(TaskInstance).where(TaskInstance.state == "up_for_retry")
    for waiting in session.scalars(retries):
        waiting.end_date -= timedelta(hours=3)
    session.commit()


if __name__ == "__main__":
    main()
