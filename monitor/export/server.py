"""The exporter: it reads the store at each scrape and remembers nothing."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from threading import Thread
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, Metric, start_http_server

from monitor.config import Config
from monitor.errors import ConfigError
from monitor.evaluate import Evaluation
from monitor.export.gauges import families
from monitor.store import Store


@dataclass(frozen=True)
class StoreCollector:
    """What prometheus_client asks at each scrape."""

    config: Config

    def collect(self) -> Iterator[Metric]:
        """Read the newest evaluations of every model."""
        store = Store(self.config.store)
        runs = {name: run for name in self.config.models if (run := store.read_run(name))}
        newest = [e for name in self.config.models for e in newest_evaluations(store, name)]
        return families(self.config.models, newest, runs, version=version("calibration-monitor"))

    def describe(self) -> list[Metric]:
        """Say nothing at registration: the store need not exist yet."""
        return []


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
    registry.register(StoreCollector(config))
    try:
        return start_http_server(port, address, registry)
    except OSError as error:
        msg = f"cannot listen on {address}:{port} ({error}); choose another with --port."
        raise ConfigError(msg) from None
