"""The two errors of this program; which one it is says whose fault it is."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import unquote

from monitor.base.segment_names import printable_lines

NO_MEMORY = "failed to map segment", "Cannot allocate memory"
CREDENTIALS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://)([^\s/]*)@")


def without_credentials(text: str, *, of: str = "") -> str:
    """Leave user and password out of every URL in a text, and those `of` a URL wherever they are.

    Examples
    --------
    >>> print(without_credentials("ftp://me:s3cr@t@host/store: cannot be reached"))
    ftp://host/store: cannot be reached
    >>> print(without_credentials("login me s3cret failed", of="ftp://me:s3cret@host"))
    login *** *** failed
    """
    text = CREDENTIALS.sub(r"\1", text)
    for _, credentials in CREDENTIALS.findall(of):
        user, _, password = credentials.partition(":")
        secrets = {credentials, user, password, unquote(user), unquote(password)}
        for secret in sorted(secrets - {""}, key=len, reverse=True):
            text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", "***", text)
    return text


def _for_people(message: str) -> str:
    """Prepare a message, which may quote logs, for terminals, log lines and Slack."""
    return printable_lines(without_credentials(message))


class ConfigError(Exception):
    """Raised when the configuration or the call is wrong: fix it here, then run again."""

    def __init__(self, message: str) -> None:
        super().__init__(_for_people(message))


@dataclass(frozen=True)
class Fault:
    """What is wrong with a day's logs, in fields that gauges can carry.

    Attributes
    ----------
    log : str
        `predictions` or `outcomes`.
    check : str
        The check of the configuration that failed, or `missing`, `unreadable`, `column`, `memory`,
        `other`.
    complaint : str
        The same in words that the program chooses: no text of the logs is in it.
    rows, of : int
        How many rows of how many; 0 where rows are not the matter.
    value : float or None
        The first offending value, if it is a number.
    """

    log: str
    check: str
    complaint: str
    rows: int = 0
    of: int = 0
    value: float | None = None


class DataError(Exception):
    """Raised when the logs or the store are wrong: the data must be mended, or come later.

    Attributes
    ----------
    fault : Fault or None
        What is wrong with a day's logs.
    damaged : str
        The file of the store that cannot be read, as its name within; empty for other errors.
    newer : bool
        Whether a newer version of this program wrote that file, which is not damaged.
    """

    def __init__(
        self,
        message: str,
        fault: Fault | None = None,
        *,
        damaged: str = "",
        newer: bool = False,
    ) -> None:
        super().__init__(_for_people(message))
        self.fault = fault
        self.damaged = damaged
        self.newer = newer


@contextmanager
def unless_newer() -> Iterator[None]:
    """Go on without a file of the store that cannot be read, unless a newer program wrote it."""
    try:
        yield
    except DataError as error:
        if error.newer:
            raise


@contextmanager
def needing(what: str, package: str, extra: str) -> Iterator[None]:
    """Turn a failed import into a ConfigError that says which extra has the package."""
    try:
        yield
    except ImportError as error:
        if lacks_memory(error):
            raise
        msg = (
            f"{what} need the package {package}, which is not installed. "
            f"Run: pip install 'calibration-monitor[{extra}]'"
        )
        raise ConfigError(msg) from None


def lacks_memory(error: BaseException | None) -> bool:
    """Say whether memory ran out, also while a library was loaded, which says so in its own way.

    Examples
    --------
    >>> lacks_memory(MemoryError()), lacks_memory(ImportError("No module named 'pandas'"))
    (True, False)
    """
    while error:
        if isinstance(error, MemoryError) or any(said in f"{error}" for said in NO_MEMORY):
            return True
        error = error.__cause__ or error.__context__
    return False


@contextmanager
def within_memory(what: str) -> Iterator[None]:
    """Turn a lack of memory into a DataError that says for what it was needed."""
    try:
        yield
    except MemoryError as error:
        msg = (
            f"{what}: this process has run out of memory; lower engine.memory_mb, or --jobs of run "
            f"and backfill, or give the process more memory, then run again."
        )
        raise DataError(msg) from error
