"""The exporter: it reads the store at each scrape and remembers nothing."""

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from threading import Thread
from wsgiref.simple_server import WSGIServer
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from prometheus_client import CollectorRegistry, Metric, make_wsgi_app, start_http_server

from monitor.config import Config
from monitor.errors import ConfigError, DataError
from monitor.evaluate import Evaluation
from monitor.export.gauges import families
from monitor.export.samples import Snapshot
from monitor.store import Store

log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)  # the registry wants a hash, which a configuration has not
class StoreCollector:
    """What prometheus_client asks at each scrape."""

    config: Config
    version: str

    def collect(self) -> Iterator[Metric]:
        """Read the newest evaluations of every model."""
        models, store = self.config.models, Store(self.config.store)
        return families(
            Snapshot(
                models=models,
                evaluations=[e for name in models for e in newest_evaluations(store, name)],
                runs={name: run for name in models if (run := store.read_run(name))},
                version=self.version,
            )
        )

    def describe(self) -> Iterator[Metric]:
        """Name the gauges without a look at the store, which need not exist yet."""
        return families(Snapshot(models={}, evaluations=[], runs={}, version=self.version))


def newest_evaluations(store: Store, model: str) -> list[Evaluation]:
    """Find the newest final evaluation of each segment and window, and newer provisional ones."""
    found: dict[tuple[str, int, bool], Evaluation] = {}
    for day in reversed(store.days("evaluations", model)):
        evaluations, _ = store.read_evaluations(model, day)
        for e in evaluations:
            if (e.segment, e.window_days, True) not in found:
                found.setdefault((e.segment, e.window_days, e.final), e)
        if all(e.final for e in evaluations):
            break
    return sorted(found.values(), key=lambda e: (e.segment, e.window_days, e.final))


def serve(config: Config, *, address: str, port: int) -> tuple[WSGIServer, Thread]:
    """Answer scrapes from a thread until the server is shut down.

    Parameters
    ----------
    config : Config
        Which models, and where the store is.
    address, port : str, int
        Where to listen; port 0 takes a free one, see ``server_port`` of the result.

    Raises
    ------
    ConfigError
        If the address cannot be listened on.
    """
    registry = CollectorRegistry()
    registry.register(StoreCollector(config, version("calibration-monitor")))
    try:
        server, thread = start_http_server(port, address, registry)
    except OSError as error:
        msg = f"cannot listen on {address}:{port} ({error}); choose another with --port."
        raise ConfigError(msg) from None
    server.set_app(_naming_damage(make_wsgi_app(registry)))
    return server, thread


def _naming_damage(app: WSGIApplication) -> WSGIApplication:
    """Answer a scrape of a store that cannot be read with what is wrong, here and in the log."""

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        try:
            return app(environ, start_response)
        except DataError as error:
            log.error("%s", error)  # noqa: TRY400 - the message says where; a trace would bury it
            headers = [("Content-Type", "text/plain; charset=utf-8")]
            start_response("500 Internal Server Error", headers)
            return [f"{error}\n".encode()]

    return answer
