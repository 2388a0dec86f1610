"""Who holds a model, in words that another process shows while it waits."""

import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from monitor.base.errors import DataError

SINCE = "since "


@dataclass(frozen=True)
class Hold:
    """What the holder of a model can do as long as its lock or lease is its own.

    Attributes
    ----------
    is_held : callable
        Asks whether it still is.
    successor : callable
        Names the process that has it now, or had it last; empty if none took it.
    remove : callable
        Removes a file; gets its path, and what to call right before, which may raise DataError.
    replace : callable or None
        Replaces a file in an object store; gets its path, its content, and what to call before.
    """

    is_held: Callable[[], bool]
    successor: Callable[[], str]
    remove: Callable[[str, Callable[[], None]], None]
    replace: Callable[[str, bytes, Callable[[], None]], None] | None = None


def this_process() -> str:
    """Name this process: its number, its machine and when it began to hold."""
    began = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    return f"process {os.getpid()} on {socket.gethostname()}, {SINCE}{began}"


def began_after(holder: str, other: str) -> bool:
    """Say whether a process began to hold after another one, or in the same second."""
    began, before = (name.rpartition(SINCE)[2] for name in (holder, other))
    return SINCE in holder and holder != other and began >= before


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


def lost(what: str, successor: str) -> DataError:
    """Say which process has taken the model over from this one, and that nothing is wrong."""
    msg = (
        f"{what}: this process stood still for so long that {successor} took this model over. "
        f"Nothing is wrong: this process has stopped, and overwrote nothing of the other. Run "
        f"again if the other one was not to do the same work."
    )
    return DataError(msg)
