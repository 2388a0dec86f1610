"""Who holds a model, in words that another process shows while it waits."""

import os
import socket
from datetime import UTC, datetime

from monitor.errors import DataError


def this_process() -> str:
    """Name this process: its number, its machine and when it began to hold."""
    began = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    return f"process {os.getpid()} on {socket.gethostname()}, since {began}"


def waits_for(what: str, holder: str) -> str:
    """Say which process another one waits for."""
    return f"{what}: waits until {holder or 'another process'} has finished with this model"


def busy(what: str, holder: str) -> DataError:
    """Say which process has the model that another one does not wait for."""
    msg = (
        f"{what}: {holder or 'another process'} works on this model; run again when it has "
        f"finished, or wait for it by leaving out --no-wait."
    )
    return DataError(msg)
