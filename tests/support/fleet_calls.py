"""What processes of a fleet do in tests: functions that they import."""

import os
import signal
import sys
from pathlib import Path
from time import sleep

from monitor.base.errors import DataError
from monitor.config import Config, load_config
from monitor.pipeline.runs.fleet import of_models


def memory_of(config: Config, name: str, jobs: int) -> tuple[str, int, int, int]:
    """Say what a process may use."""
    return name, jobs, config.engine.memory_mb, len(config.models)


def end_one(_: Config, name: str, __: int) -> str:
    """End the process of one model as the system does when memory runs out; refuse another."""
    if name == "b":
        os.kill(os.getpid(), signal.SIGKILL)
    if name == "c":
        msg = "c: is wrong; mend it."
        raise DataError(msg)
    return name


def stay(config: Config, name: str, _: int) -> None:
    """Write the number of this process beside the store, and stay until it is interrupted."""
    place = Path(config.store).with_name(f"{name}.pid")
    place.write_text(str(os.getpid()))
    try:
        sleep(600)
    finally:
        place.with_suffix(".released").touch()


if __name__ == "__main__":
    loaded = load_config(Path(sys.argv[1]))
    list(of_models(stay, loaded, [*loaded.models], jobs=2))
