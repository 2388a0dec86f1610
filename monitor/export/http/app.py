"""The exporter's responses: gauges at /metrics, health at /healthz, report pages at /reports/.

Rule 1: each response looks at the configuration and the store. If one is faulty, the response and
a line in the log say so; no older number is shown instead. A fault of one model is a gauge of that
model, and the response serves the others.
Rule 2: a client without a valid password learns nothing, not even whether the exporter is healthy.
Rule 3: where there are no passwords, anybody may ask, so errors name files without their folders.
"""

import logging
import re
import zlib
from base64 import b64decode
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from threading import Lock
from urllib.parse import parse_qs
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from monitor.base.errors import ConfigError, DataError
from monitor.config import Config, config_files, load_config
from monitor.export.detail import Detail, gauges_of, segments_of
from monitor.export.http.auth import PasswordChecker, WebConfig
from monitor.export.http.probe import NAME as PROBED
from monitor.export.http.probe import Probe
from monitor.export.http.reports import PATH as REPORTS
from monitor.export.http.reports import report_answer
from monitor.export.snapshot_reader import MOST_SEGMENTS, Reader
from monitor.export.text import CONTENT_TYPE, Lines, Parts, lines, parts
from monitor.measures.snapshot import Snapshot
from monitor.read import reachable

log = logging.getLogger(__name__)

OK = "200 OK"
METHODS = ("GET", "HEAD")
NOT_ANSWERED = "only GET and HEAD are answered\n"
GZIP = 16 + zlib.MAX_WBITS  # the format of the compressed stream
ABSOLUTE_PATH = re.compile(r"(?<![\w:/.])/(?:[^\s/:;,'\"]+/)+")
WELCOME = "calibration-monitor: gauges at /metrics, health at /healthz"

Answer = tuple[str, str, Parts, list[tuple[str, str]]]  # status, content type, content, headers
State = tuple[tuple[str, int, int, int, int], ...]  # of each file of the configuration


@dataclass
class Exporter:
    """Writes the gauges of the store that a configuration file names.

    Attributes
    ----------
    path : Path
        The configuration, a file or a folder; it is loaded again when a file changes.
    most_segments : int
        How many segments of a model are exported, besides `all`.
    url : str
        Address at which people reach this server; models whose configuration names no report page
        link to the one that it serves. Without it they have no link.
    detail : str
        How much of each model is exported.
    probe : Probe or None
        Tries whether the store can be written; None if nothing shall be written.
    """

    path: Path
    most_segments: int = MOST_SEGMENTS
    url: str = ""
    detail: Detail = "full"
    probe: Probe | None = None
    _loaded: tuple[State, Reader] | None = field(default=None, repr=False)
    _written: dict[str, tuple[Snapshot, Lines]] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def text(self, only: Container[str] | None = None) -> bytes:
        """Write the gauges of the detail, or only those named, of every configured model."""
        return b"".join(chain.from_iterable(self.parts(only)))

    def parts(self, only: Container[str] | None = None) -> Parts:
        """Write the same, in parts that are not joined yet."""
        named = (gauge.name for gauge in gauges_of(self.detail))
        wanted = [name for name in named if only is None or name in only]
        with self._lock:
            snapshots = self._reader().snapshots()
            for snapshot in snapshots.values():
                for fault in snapshot.faults.values():
                    log.error("%s", fault)
            written = {name: self._lines(name, snapshot) for name, snapshot in snapshots.items()}
            self._written = {name: (snapshots[name], written[name]) for name in snapshots}
        exposition = parts(written.values(), only=frozenset(wanted))
        if self.probe and (only is None or PROBED in only):
            exposition = [*exposition, [self.probe.text(self.config().store)]]
        return exposition

    def link_to(self, url: str) -> None:
        """Let the links to report pages lead to this server, from the next response on."""
        with self._lock:
            self.url, self._loaded = url, None

    def look(self) -> None:
        """Load the configuration and list the store, or raise the error of either."""
        config = self.config()
        reachable.look(config.store, config.names[0])

    def config(self) -> Config:
        """Give the configuration as it is now."""
        with self._lock:
            return self._reader().config

    def _reader(self) -> Reader:
        state = _state(self.path)
        if state is None or self._loaded is None or self._loaded[0] != state:
            config = load_config(self.path)
            for model in config.invalid.values():
                log.error("%s", model.message)
            if self.url and config.report and not config.report.url:
                config = config.linked_to(f"{self.url.rstrip('/')}{REPORTS}")
            self._loaded = (
                (state or ()),
                Reader(config, segments_of(self.detail, self.most_segments)),
            )
        return self._loaded[1]

    def _lines(self, name: str, snapshot: Snapshot) -> Lines:
        """Write a model, or reuse what was written if its snapshot is the same."""
        before = self._written.get(name)
        return (
            before[1]
            if before and before[0] is snapshot
            else lines(snapshot, gauges_of(self.detail))
        )


def application(exporter: Exporter, web: Callable[[], WebConfig]) -> WSGIApplication:
    """Respond over HTTP; `web` returns the current web configuration."""
    checker = PasswordChecker()

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        further: list[tuple[str, str]] = []
        users: Mapping[str, str] = {}
        try:
            users = web().basic_auth_users
            if users and not _is_authorised(environ, users, checker):
                status, kind, content, _ = _said("401 Unauthorized", "Unauthorized\n")
                further = [("WWW-Authenticate", "Basic")]
            elif environ["REQUEST_METHOD"] not in METHODS:
                status, kind, content, _ = _said("405 Method Not Allowed", NOT_ANSWERED)
                further = [("Allow", ", ".join(METHODS))]
            else:
                status, kind, content, more = _answer(exporter, environ)
                further = [*more]
        except (ConfigError, DataError) as error:
            log.error("%s", error)  # noqa: TRY400 - the message says where; a trace would bury it
            status, kind, content, _ = _said("500 Internal Server Error", f"{error}\n")
        if status[0] == "5" and not users:
            said = b"".join(chain.from_iterable(content)).decode()
            content = [[without_folders(said, f"{exporter.path.absolute().parent}/").encode()]]
        if "gzip" in environ.get("HTTP_ACCEPT_ENCODING", "") and status == OK:
            content = [[*_compressed(content)]]
            further.append(("Content-Encoding", "gzip"))
        length = ("Content-Length", str(sum(map(len, chain.from_iterable(content)))))
        start_response(status, [("Content-Type", kind), length, *further])
        return [] if environ["REQUEST_METHOD"] == "HEAD" else map(b"".join, content)

    return answer


def _compressed(content: Parts) -> Iterator[bytes]:
    """Compress part by part, without holding all of the text at once."""
    packing = zlib.compressobj(1, wbits=GZIP)
    for part in content:
        yield packing.compress(b"".join(part))
    yield packing.flush()


def _answer(exporter: Exporter, environ: WSGIEnvironment) -> Answer:
    path = environ["PATH_INFO"]
    if path == "/metrics":
        only = parse_qs(environ.get("QUERY_STRING", "")).get("name[]")
        return OK, CONTENT_TYPE, exporter.parts(only), []
    if f"{path}/".startswith(REPORTS):
        status, kind, page, headers = report_answer(exporter.config(), path)
        return status, kind, [[page]], headers
    if path == "/healthz":
        return _health(exporter)
    if path == "/":
        return _said(OK, f"{_welcome(exporter)}\n")
    return _said("404 Not Found", f"nothing is here; {_welcome(exporter)}\n")


def _welcome(exporter: Exporter) -> str:
    """Say what is served; report pages only where the configuration names them."""
    try:
        there = exporter.config().report
    except (ConfigError, DataError):  # which /healthz reports
        there = None
    return f"{WELCOME}, reports at {REPORTS}" if there else WELCOME


def _health(exporter: Exporter) -> Answer:
    try:
        exporter.look()
    except (ConfigError, DataError) as error:
        return _said("503 Service Unavailable", f"{error}\n")
    return _said(OK, "ok\n")


def _said(status: str, text: str) -> Answer:
    return status, "text/plain; charset=utf-8", [[text.encode()]], []


def without_folders(text: str, folder: str = "") -> str:
    """Leave a known folder, and those of every absolute path, out of a text; the log has them.

    Examples
    --------
    >>> print(without_folders("/my models/a.yaml: /srv/store/ctr is damaged", "/my models/"))
    a.yaml: ctr is damaged
    """
    return ABSOLUTE_PATH.sub("", text.replace(folder, "") if folder else text)


def _is_authorised(
    environ: WSGIEnvironment, users: Mapping[str, str], checker: PasswordChecker
) -> bool:
    scheme, _, credentials = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme.lower() != "basic":
        return False
    try:
        name, _, password = b64decode(credentials.strip(), validate=True).decode().partition(":")
    except ValueError:
        return False
    return checker.admits(users, name, password)


def _state(path: Path) -> State | None:
    """Describe the files well enough to notice a change; None if one is not there."""
    try:
        return tuple(
            (str(file), stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino, stat.st_size)
            for file in config_files(path)
            for stat in [file.stat()]
        )
    except OSError:
        return None
