"""Pushes gauges to a Pushgateway, for machines that do not live until the next scrape.

Each model has one group, which a push replaces whole. A gateway keeps a group until someone
deletes it, even if the model was removed long ago.
"""

from base64 import b64encode
from contextlib import closing
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from urllib.parse import SplitResult, quote, unquote, urlsplit

from monitor.base.deadline import within
from monitor.base.errors import ConfigError, DataError
from monitor.export.snapshot_reader import Reader
from monitor.export.text import CONTENT_TYPE, exposition, lines

JOB = "calibration-monitor"
TIMEOUT = 30  # seconds of the whole exchange


def push(reader: Reader, model: str, gateway: str) -> ConfigError | DataError | None:
    """Replace the group of a model in a gateway by its newest results.

    Returns
    -------
    ConfigError or DataError or None
        Why the results could not be read; the group then says so.

    Raises
    ------
    ConfigError
        If the address of the gateway is not one.
    DataError
        If the gateway cannot be reached or refuses.
    """
    fault = None
    try:
        snapshot = reader.snapshot(model)
    except (ConfigError, DataError) as error:
        snapshot, fault = reader.without_results(model, error), error
    _send(gateway, "PUT", model, exposition([lines(snapshot)]))
    return fault


def delete(model: str, gateway: str) -> None:
    """Delete the group of a model, configured or not; errors as in `push`."""
    _send(gateway, "DELETE", model, b"")


def _send(gateway: str, method: str, model: str, content: bytes) -> None:
    url = _parsed(gateway)
    place = f"{url.hostname}:{url.port}" if url.port else f"{url.hostname}"
    kind = HTTPSConnection if url.scheme == "https" else HTTPConnection
    connection = kind(str(url.hostname), url.port, timeout=TIMEOUT)
    path = f"{url.path.rstrip('/')}/metrics/job/{JOB}/model/{quote(model, safe='')}"
    headers = {"Content-Type": CONTENT_TYPE, **_login(url)}

    def exchange() -> tuple[HTTPResponse, str]:
        with closing(connection):
            connection.request(method, path, content, headers)
            response = connection.getresponse()
            return response, " ".join(response.read(1000).decode(errors="replace").split())

    try:
        response, said = within(TIMEOUT, exchange)
    except (OSError, HTTPException) as error:
        msg = (
            f"{model}: the Pushgateway at {place} cannot be reached ({error}); "
            f"start it, or name another with --gateway."
        )
        raise DataError(msg) from None
    if response.status not in {200, 202}:
        msg = (
            f"{model}: the Pushgateway at {place} refused {method} {path} with {response.status} "
            f"{response.reason} ({said:.300}); correct what it names, then push again."
        )
        raise DataError(msg)


def _parsed(gateway: str) -> SplitResult:
    try:
        url = urlsplit(gateway)
        valid = url.scheme in {"http", "https"} and url.hostname and url.port != 0
    except ValueError:  # of a port that is no number
        valid = False
    if not valid or url.query or url.fragment:
        shown = gateway.rpartition("@")[2]  # what comes before may be a password
        msg = f"--gateway {shown}: is no address of a Pushgateway; write http://HOST:PORT."
        raise ConfigError(msg)
    return url


def _login(url: SplitResult) -> dict[str, str]:
    if url.username is None:
        return {}
    login = f"{unquote(url.username)}:{unquote(url.password or '')}"
    return {"Authorization": f"Basic {b64encode(login.encode()).decode()}"}
