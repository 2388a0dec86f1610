"""The exporter as an HTTP server, encrypted if a web configuration asks for it.

Rule: a client holds one thread, for a limited time. It has `REQUEST_WITHIN` seconds for its whole
request, however it divides them among bytes, and as many to take the response. At most
`MOST_CONNECTIONS` connections are served at a time, and of one address `MOST_OF_A_CLIENT`; more are
refused, so that no client can keep all others out. If there is no room, the connection that has
waited longest makes room, once it has sent no whole request for `IDLE_AFTER` seconds.
"""

import errno
import io
import logging
import socket
import ssl
import sys
from contextlib import suppress
from functools import partial
from ipaddress import IPv6Network
from pathlib import Path
from socketserver import ThreadingMixIn
from threading import Lock, Thread
from time import monotonic
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from monitor.base.errors import ConfigError, DataError
from monitor.export.http.app import Exporter, application
from monitor.export.http.auth import encryption, load_web_config

log = logging.getLogger(__name__)

EVERY_ADDRESS = {"0.0.0.0", "::"}  # noqa: S104 - compared, not listened on
REQUEST_WITHIN = 30.0  # seconds
IDLE_AFTER = 5.0  # seconds
MOST_CONNECTIONS = 100
MOST_OF_A_CLIENT = 25
READ_AT_MOST = 65_536
TOO_MANY = "this address has too many connections open; close some, then try again\n"
REFUSAL = (
    "HTTP/1.0 429 Too Many Requests\r\nContent-Type: text/plain; charset=utf-8\r\n"
    f"Retry-After: {REQUEST_WITHIN:.0f}\r\nContent-Length: {len(TOO_MANY)}\r\n\r\n{TOO_MANY}"
).encode()
IPV6_PREFIX = 64  # bits: a client can take any address that begins with those of its network


class Incoming(io.RawIOBase):
    """Reads what a client sends until its time is up."""

    def __init__(self, connection: socket.socket, seconds: float) -> None:
        self._connection, self._until = connection, monotonic() + seconds

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read some bytes; a handshake that is due comes first, within the same time."""
        left = self._until - monotonic()
        if left <= 0:
            msg = "the request was not complete in time"
            raise TimeoutError(msg)
        self._connection.settimeout(left)
        return self._connection.recv_into(buffer)


class Handler(WSGIRequestHandler):
    """Handles one connection."""

    def setup(self) -> None:
        """Let the time of the request begin."""
        super().setup()
        self.rfile.close()
        self.rfile = io.BufferedReader(Incoming(self.connection, REQUEST_WITHIN))

    def parse_request(self) -> bool:
        """Read the headers, and give the response as much time as the request had."""
        valid = super().parse_request()
        if isinstance(self.server, Server):
            self.server.has_sent_its_request(self.connection)
        self.connection.settimeout(REQUEST_WITHIN)
        return valid

    def log_message(self, *_: Any) -> None:
        """Do not log requests."""


class Server(ThreadingMixIn, WSGIServer):
    """A server with a thread for each connection, so that a slow client delays no other."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], web_path: Path | None) -> None:
        self.web_path = web_path
        self.encrypted = load_web_config(web_path).tls_server_config is not None
        # Open connections with their clients, the oldest first, and since when each is waited for.
        self._clients, self._waiting = dict[Any, str](), dict[Any, float]()
        self._counting = Lock()
        self.address_family = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)[0][0]
        super().__init__(address, Handler)

    @property
    def url(self) -> str:
        """Where it listens; under the name of this machine if that is on every address."""
        address = self.server_address[0]
        named = socket.getfqdn() if address in EVERY_ADDRESS else str(address)
        host = f"[{named}]" if ":" in named else named
        return f"{'https' if self.encrypted else 'http'}://{host}:{self.server_port}"

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept a connection, with the certificates that are on disk now."""
        connection, address = super().get_request()
        if not self.encrypted:
            return connection, address
        try:
            context = server_encryption(self.web_path)
        except ConfigError as error:
            connection.close()
            log.error("%s", error)  # noqa: TRY400 - the message says where; a trace would bury it
            raise OSError from error  # which the accepting loop takes for a lost connection
        # The handshake is left to the connection's own thread.
        secured = context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        return secured, address

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in a thread of its own, unless there are too many."""
        client = _client(client_address[0])
        if not self._has_room(MOST_OF_A_CLIENT, client):
            log.warning("%s: refused: it has %s connections already", client, MOST_OF_A_CLIENT)
            self._refuse(request)
            return
        if not self._has_room(MOST_CONNECTIONS):
            log.warning("%s: disconnected: too many connections", client)
            self.shutdown_request(request)
            return
        with self._counting:
            self._clients[request], self._waiting[request] = client, monotonic()
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._make_room(request)
            raise

    def has_sent_its_request(self, request: Any) -> None:
        """Note that nothing more is waited for."""
        with self._counting:
            self._waiting.pop(request, None)

    def _has_room(self, most: int, client: str = "") -> bool:
        """Say whether one more connection may be open, of a client or at all.

        If not, the one makes room that has been waited for longest, if that was long enough.
        """
        with self._counting:
            same = [connection for connection, of in self._clients.items() if client in ("", of)]
            if len(same) < most:
                return True
            oldest = next((connection for connection in same if connection in self._waiting), None)
            if oldest is None or monotonic() - self._waiting[oldest] < IDLE_AFTER:
                return False
        log.warning("%s: disconnected: it sent no request in time", client or "a client")
        self._make_room(oldest)
        # The connection beneath an encrypted one, which another thread uses.
        with suppress(OSError):
            socket.socket.shutdown(oldest, socket.SHUT_RDWR)
        return True

    def _refuse(self, request: Any) -> None:
        """Close a connection, with the reason if it is not encrypted; wait for nothing."""
        if not self.encrypted:
            with suppress(OSError):
                request.settimeout(0)
                request.sendall(REFUSAL)
                request.recv(READ_AT_MOST)  # else closing may discard the response
        self.shutdown_request(request)

    def _make_room(self, request: Any) -> None:
        """Forget a connection, once or again."""
        with self._counting:
            self._clients.pop(request, None)
            self._waiting.pop(request, None)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection, then make room for another one."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._make_room(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log a lost client in one line; any other error keeps its traceback."""
        error = sys.exception()
        if not isinstance(error, OSError):
            super().handle_error(request, client_address)
            return
        log.warning("%s: %s", client_address[0], error)


def _client(address: str) -> str:
    """Name the client of an address: the address, or of IPv6 its network.

    Examples
    --------
    >>> _client("127.0.0.1"), _client("2001:db8::7")
    ('127.0.0.1', '2001:db8::/64')
    """
    bare = address.partition("%")[0]  # without the interface
    return str(IPv6Network((bare, IPV6_PREFIX), strict=False)) if ":" in bare else bare


def server_encryption(path: Path | None) -> ssl.SSLContext:
    """Load the certificates of a web configuration, which must name some."""
    tls = load_web_config(path).tls_server_config
    if path is None or tls is None:
        msg = f"{path}: tls_server_config: is gone; stop and start to serve without encryption."
        raise ConfigError(msg)
    return encryption(path, tls)


def serve(
    exporter: Exporter, *, address: str, port: int, web_path: Path | None = None, url: str = ""
) -> tuple[Server, Thread]:
    """Answer scrapes from a thread until the server is shut down.

    Parameters
    ----------
    exporter : Exporter
        Writes the gauges.
    address, port : str, int
        Where to listen; port 0 takes a free one, see ``server_port`` of the result.
    web_path : Path, optional
        The web configuration: encryption and users.
    url : str, optional
        Address at which people reach the server, for links to the report pages that it serves; by
        default where it listens.

    Raises
    ------
    ConfigError
        If a configuration is wrong, or the address cannot be listened on.
    """
    if load_web_config(web_path).tls_server_config:
        server_encryption(web_path)
    try:
        server = Server((address, port), web_path)
    except OSError as error:
        not_ours = isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL
        option = "--address" if not_ours else "--port"
        msg = f"cannot listen on {address}:{port} ({error}); choose another with {option}."
        raise ConfigError(msg) from None
    exporter.link_to(url or server.url)
    # The first read takes a second or two, which no scrape should wait for. If the store cannot be
    # read yet, the scrapes report it.
    try:
        with suppress(DataError):
            exporter.parts()
    except ConfigError:
        server.server_close()
        raise
    server.set_app(application(exporter, partial(load_web_config, web_path)))
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    return server, thread
