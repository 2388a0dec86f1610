"""Runs commands of Airflow that share one import: the first to its end, the others until told.

Airflow takes seconds to import, and so do the packages with which its tasks compute. Each command
is a process of its own, with a group and a log of its own, that has done nothing but these imports
and loaded what is compiled.
The commands are on the command line as JSON: the path of the log, and the words.
"""
# ruff: noqa: PLC0415 - pytest imports this file to look for doctests, and must not import Airflow

import gc
import json
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import NoReturn

PATIENCE = 25  # seconds for a program to end once it is told to
HEAVY = (
    *("airflow.cli.commands.scheduler_command", "airflow.cli.commands.dag_processor_command"),
    *("airflow.api_fastapi.app", "airflow.providers.standard.decorators.python"),
    *("monitor.cli.many", "monitor.pipeline.runs.scheduled", "pandas"),
)
COMPILED = "monitor.evaluation.compile_ahead"


def main() -> None:
    """Do the first command, then run the others until this process is told to end."""
    (first, *others) = json.loads(sys.argv[1])
    for name in HEAVY:
        import_module(name)
    import_module(COMPILED).main()  # finds on disk what tests have compiled
    gc.freeze()
    _, status = os.waitpid(start(*first), 0)
    if status:
        sys.exit(1)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    programs = [start(*call) for call in others]
    signal.sigwait({signal.SIGTERM})
    end(programs)


def start(log: str, words: Sequence[str]) -> int:
    """Run a command in a process of its own, and give its id."""
    pid = os.fork()
    if not pid:
        os.setsid()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(out, 1)
        os.dup2(out, 2)
        be(words)
    return pid


def be(words: Sequence[str]) -> NoReturn:
    """Be the command `airflow` with these words."""
    from airflow.__main__ import main as airflow

    sys.argv = ["airflow", *words]
    airflow()
    sys.exit(0)


def end(programs: Sequence[int]) -> None:
    """End programs, all at once as each takes seconds, and then what they have left behind."""

    def kill(*_: object) -> None:
        for pid in programs:
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)

    for pid in programs:
        os.kill(pid, signal.SIGTERM)
    signal.signal(signal.SIGALRM, kill)
    signal.alarm(PATIENCE)
    for pid in programs:
        os.waitpid(pid, 0)
    kill()


if __name__ == "__main__":
    main()
