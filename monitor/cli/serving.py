"""Commands that export gauges: an HTTP endpoint, a gateway, a text file, a file of the past."""

import signal
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from monitor.base.errors import ConfigError, DataError
from monitor.cli.options import (
    DEFAULT_CONFIG,
    ConfigPath,
    FirstDay,
    LastDay,
    config_of_store,
    day_range,
    invalid_models,
    now,
    of_each,
    seconds,
)
from monitor.cli.printing import say_aside, say_line, stop_at

if TYPE_CHECKING:
    from monitor.config import Config, Model

Detail = Literal["verdict", "measures", "full"]  # as monitor.export.detail, which loads more
MOST_SEGMENTS = 50  # of a model, those with the most outcomes


def serve(
    config_path: ConfigPath = DEFAULT_CONFIG,
    address: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for any free port.")] = 9645,
    web_config: Annotated[
        Path | None,
        typer.Option(help="TLS and passwords, in the format of Prometheus' web configuration."),
    ] = None,
    most_segments: Annotated[
        int,
        typer.Option(
            min=0,
            help="Export at most so many segments of a model: those with the most outcomes.",
        ),
    ] = MOST_SEGMENTS,
    detail: Annotated[
        Detail,
        typer.Option(
            help="How much of each model to export: full, measures (of segments only open drifts), "
            "or verdict (what alerts need)."
        ),
    ] = "full",
    url: Annotated[
        str,
        typer.Option(
            help="Address at which people reach this server. Alerts link to the report pages that "
            "it serves, unless the configuration names others. By default where it listens."
        ),
    ] = "",
    probe_store: Annotated[
        bool,
        typer.Option(
            "--probe-store",
            help="Try once a minute whether the store can be written, and export the answer. "
            "Without it the exporter writes nothing.",
        ),
    ] = False,
) -> None:
    """Serve gauges and report pages until interrupted."""
    from monitor.export.http.app import Exporter
    from monitor.export.http.probe import Probe
    from monitor.export.http.server import serve as start
    from monitor.store.store import Store

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C does
    probe = Probe() if probe_store else None
    exporter = Exporter(config_path, most_segments, detail=detail, probe=probe)
    server, thread = start(exporter, address=address, port=port, web_path=web_config, url=url)
    scheme = "https" if server.encrypted else "http"
    host = f"[{address}]" if ":" in address else address
    listening = f"{scheme}://{host}:{server.server_port}/metrics"
    said = [f"serving {listening}, stop with Ctrl-C"]
    if not Store(exporter.config().store).is_there():
        say_aside(
            f"store: {exporter.config().store} is no store; until one is there, /healthz and "
            f"/metrics answer 503.",
            style="yellow",
        )
    if exporter.config().report:
        said.append(f"report pages: {server.url}/reports/")
    if not url and linked_to_this_machine(exporter.config(), address):
        say_aside(
            f"links to report pages lead to {server.url}, which only this machine can open; give "
            f"the address at which people reach this server with --url.",
            style="yellow",
        )
    for line in said:
        say_line(line)
    try:
        thread.join()
    except KeyboardInterrupt:
        server.shutdown()
        server.server_close()


def linked_to_this_machine(config: "Config", address: str) -> bool:
    """Say whether alerts link to pages at an address that no other machine can open.

    Examples
    --------
    >>> from monitor.config import Config
    >>> linked_to_this_machine(Config(store="store", models={}), "127.0.0.1")
    False
    """
    own = address == "localhost" or address.startswith("127.") or address == "::1"
    return own and config.report is not None and not config.report.url


def push(
    gateway: Annotated[
        str,
        typer.Option(
            envvar="CALIBRATION_MONITOR_GATEWAY",
            help="Address of the Pushgateway: http://[USER:PASSWORD@]HOST:PORT.",
        ),
    ],
    config_path: ConfigPath = DEFAULT_CONFIG,
    delete: Annotated[
        str | None,
        typer.Option("--delete", metavar="MODEL", help="Delete the group of this model, and stop."),
    ] = None,
) -> None:
    """Push the newest results to a Pushgateway.

    Each model is one group, which is replaced as a whole.
    """
    from monitor.export import push as pushing
    from monitor.export.snapshot_reader import Reader

    if delete is not None:  # a removed model is not in the configuration
        pushing.delete(delete, gateway)
        say_line(f"deleted: {delete}")
        return
    config = config_of_store(config_path)
    reader, names = Reader(config, MOST_SEGMENTS), config.names
    errors: list[ConfigError | DataError] = [*invalid_models(config, None)]
    errors += filter(None, [pushing.push(reader, model, gateway) for model in names])
    say_line(f"pushed: {', '.join(names)}")
    stop_at(errors)


def textfile(
    path: Annotated[Path, typer.Option("--into", help="A .prom file in the collector's folder.")],
    config_path: ConfigPath = DEFAULT_CONFIG,
) -> None:
    """Write the newest results for the node exporter.

    Its textfile collector reads the file, which is replaced as a whole.
    """
    from monitor.export.snapshot_reader import Reader
    from monitor.export.textfile import write_textfile

    config = config_of_store(config_path)
    faults = write_textfile(Reader(config, MOST_SEGMENTS), path)
    say_line(f"written: {path}")
    stop_at([*map(DataError, faults), *invalid_models(config, None)])


def openmetrics(
    first: FirstDay,
    last: LastDay,
    path: Annotated[Path, typer.Option("--into", help="The file to write.")],
    config_path: ConfigPath = DEFAULT_CONFIG,
    repeat: Annotated[
        str,
        typer.Option(
            help="Repeat a value that has not changed this often: 24h, or 5m for queries that do "
            "not look back."
        ),
    ] = "24h",
    until: Annotated[
        datetime | None,
        typer.Option(
            formats=["%Y-%m-%dT%H:%M"],
            help="Write only samples before this time (UTC): by default, and at most, 3 hours ago.",
        ),
    ] = None,
) -> None:
    """Write past final results for promtool.

    Import the file into Prometheus with promtool tsdb create-blocks-from openmetrics FILE.
    """
    from monitor.export import openmetrics as exporting
    from monitor.export.snapshot_reader import Reader

    config, clock = config_of_store(config_path), now()
    begin, end = day_range(first, last)
    end_of_time = until.replace(tzinfo=UTC) if until else exporting.newest_end(clock)
    exporting.check_end(end_of_time, clock)
    reader = Reader(config, MOST_SEGMENTS)

    def past(model_name: str, _: "Model") -> "list[exporting.Known]":
        return exporting.past(reader, model_name, begin, end, until=end_of_time)

    models, errors = of_each(config, None, past)
    samples = exporting.write(
        path, exporting.openmetrics([*models.values()], repeat=seconds(repeat))
    )
    say_line(f"written: {path}, {samples:,} samples")
    stop_at(errors)


def table(
    first: FirstDay,
    last: LastDay,
    into: Annotated[
        str,
        typer.Option(
            help="A file of Parquet; a database, NAME.duckdb; or postgresql:VARIABLE, the "
            "environment variable with the address."
        ),
    ],
    config_path: ConfigPath = DEFAULT_CONFIG,
) -> None:
    """Write past verdicts and measures as one table.

    A row is a day of a segment: the verdict that stands, and the window nearest to a week. In the
    table calibration_results of a database, the rows of these days are replaced.
    """
    from monitor.export import table as exporting
    from monitor.read.results import results_of

    config, (begin, end) = config_of_store(config_path), day_range(first, last)

    def rows(model_name: str, model: "Model") -> list[dict[str, Any]]:
        return [*exporting.rows(results_of(config, model_name), model, begin, end)]

    models, errors = of_each(config, None, rows)
    found = [row for of_model in models.values() for row in of_model]
    count = exporting.write(into, found, [*models], (begin, end), _replace_rows)
    say_line(f"written: {into}, {count:,} rows")
    stop_at(errors)


def _replace_rows(*rows: Any) -> None:
    """Replace rows of a server; this loads what reads logs, which a file does not need."""
    from monitor.logs.sources.queries import replace_rows

    replace_rows(*rows)
