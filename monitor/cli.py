"""The command: reads the clock and the arguments, calls one function, says what came of it.

Exit codes: 0 done, 1 a bug, 2 the configuration or the call is wrong, 3 the data are wrong,
130 interrupted.
"""

import json
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from datetime import UTC, date, datetime
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from zoneinfo import ZoneInfo

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from monitor.config import Config, Model, load_config
from monitor.errors import ConfigError, DataError

if TYPE_CHECKING:
    from monitor.pipeline import RunReport, Step

CONFIG_ERROR, DATA_ERROR, INTERRUPTED = 2, 3, 130

out = Console()
err = Console(stderr=True)
app = typer.Typer(
    name="calibration-monitor",
    help="Can the probabilities of your models still be trusted? Reads daily prediction and "
    "outcome logs, keeps results in a store, and serves them to Prometheus.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=False,
)

ConfigPath = Annotated[
    Path,
    typer.Option(
        "--config", "-c", envvar="CALIBRATION_MONITOR_CONFIG", help="The configuration file."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
OneModel = Annotated[str | None, typer.Option("--model", "-m", help="Only this model.")]
ThisModel = Annotated[str, typer.Option("--model", "-m", help="The model.")]
Day = Annotated[datetime | None, typer.Option(formats=["%Y-%m-%d"], help="A day of predictions.")]
AsOf = Annotated[
    datetime | None,
    typer.Option(
        "--as-of",
        formats=["%Y-%m-%d"],
        help="Read no outcomes of this day or later; today by default.",
    ),
]
Jobs = Annotated[int, typer.Option(min=1, help="Days to evaluate at a time.")]
DEFAULT_CONFIG = Path("monitor.yaml")
DEFAULT_JOBS = os.cpu_count() or 1


def main() -> None:
    """Run the command, and turn its errors into messages and exit codes."""
    logging.basicConfig(level=logging.WARNING)
    try:
        app()
    except ConfigError as error:
        _fail(error, CONFIG_ERROR)
    except DataError as error:
        _fail(error, DATA_ERROR)
    except SystemExit as stop:  # what the argument parser makes of Ctrl-C, among others
        if stop.code == INTERRUPTED:
            said = "interrupted; what was finished is kept, the same command goes on from there"
            err.print(said, soft_wrap=True)
        raise


@app.command()
def check(
    config_path: ConfigPath = DEFAULT_CONFIG,
    name: OneModel = None,
    day: Day = None,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """Validate the configuration and look at the logs of one day without writing anything."""
    from monitor.logs import newest_settled_day, summarise_day
    from monitor.report.tables import summary_table

    config = load_config(config_path)
    found = {}
    for model_name, model in _chosen(config, name):
        until = _as_of(as_of, model)
        looked_at = day.date() if day else newest_settled_day(model_name, model, as_of=until)
        summary = summarise_day(model_name, model, looked_at, as_of=until, engine=config.engine)
        found[model_name] = {
            "day": looked_at,
            "final": summary.final,
            "rejected": dict(summary.rejected),
            "segments": {
                segment: {
                    "predictions": part.predicted,
                    "outcomes": part.tally.total,
                    "positives": part.tally.total_positives,
                }
                for segment, part in summary.segments.items()
            },
        }
        if not as_json:
            out.print(summary_table(f"{model_name}, logs of {looked_at}", summary))
    if as_json:
        _print_json({"models": found})
    else:
        out.print("The configuration and these logs are in order; nothing was written.")


@app.command()
def run(
    config_path: ConfigPath = DEFAULT_CONFIG,
    name: OneModel = None,
    day: Day = None,
    as_of: AsOf = None,
    jobs: Jobs = DEFAULT_JOBS,
    as_json: AsJson = False,
) -> None:
    """Do the newest settled day of every model, or the given model and day."""
    from monitor.logs import newest_settled_day
    from monitor.pipeline import RunReport
    from monitor.pipeline import run as run_days

    config = load_config(config_path)
    reports: list[RunReport] = []
    for model_name, model in _chosen(config, name):
        until = _as_of(as_of, model)
        chosen = day.date() if day else newest_settled_day(model_name, model, as_of=until)
        reports.append(
            run_days(config, model_name, chosen, chosen, as_of=until, clock=_now, jobs=jobs)
        )
    _finish(reports, as_json=as_json)


@app.command()
def backfill(
    name: ThisModel,
    first: Annotated[datetime, typer.Option("--from", formats=["%Y-%m-%d"], help="First day.")],
    last: Annotated[datetime, typer.Option("--to", formats=["%Y-%m-%d"], help="Last day.")],
    config_path: ConfigPath = DEFAULT_CONFIG,
    as_of: AsOf = None,
    dry_run: Annotated[bool, typer.Option(help="Only say what would be done.")] = False,
    again: Annotated[bool, typer.Option(help="Redo days whose logs have not changed.")] = False,
    jobs: Jobs = DEFAULT_JOBS,
    as_json: AsJson = False,
) -> None:
    """Do a range of days; run it again after an interruption and it goes on where it was."""
    from monitor.pipeline import reach
    from monitor.pipeline import run as run_days

    config = load_config(config_path)
    model = config.model(name)
    begin, end = first.date(), last.date()
    if begin > end:
        msg = f"--from {begin} is after --to {end}; exchange them."
        raise ConfigError(msg)
    if dry_run:
        plan = {"model": name, "summarise": [begin, end], "evaluate": [begin, reach(model, end)]}
        if as_json:
            _print_json(plan)
        else:
            out.print(
                f"{name}: would summarise {begin} to {end} and evaluate what is stored of "
                f"{begin} to {reach(model, end)}."
            )
        return
    with _progress(name, quiet=as_json) as on_step:
        report = run_days(
            config,
            name,
            begin,
            end,
            as_of=_as_of(as_of, model),
            clock=_now,
            skip_unchanged=not again,
            jobs=jobs,
            on_step=on_step,
        )
    _finish([report], as_json=as_json)


@app.command()
def evaluate(
    first: Annotated[datetime, typer.Option("--from", formats=["%Y-%m-%d"], help="First day.")],
    last: Annotated[datetime, typer.Option("--to", formats=["%Y-%m-%d"], help="Last day.")],
    config_path: ConfigPath = DEFAULT_CONFIG,
    name: OneModel = None,
    jobs: Jobs = DEFAULT_JOBS,
    as_json: AsJson = False,
) -> None:
    """Judge stored days again, after a window or a limit was changed; reads no logs."""
    from monitor.pipeline import evaluate_days

    config = load_config(config_path)
    done: dict[str, list[date]] = {}
    for model_name, _ in _chosen(config, name):
        with _progress(model_name, quiet=as_json) as on_step:
            done[model_name] = evaluate_days(
                config, model_name, first.date(), last.date(), jobs=jobs, on_step=on_step
            )
    if as_json:
        _print_json({"evaluated": done})
    for model_name, days in {} if as_json else done.items():
        out.print(f"{model_name}: evaluated {len(days)} days.")


@app.command()
def show(
    name: ThisModel,
    config_path: ConfigPath = DEFAULT_CONFIG,
    segment: Annotated[str, typer.Option(help="A segment, or all.")] = "all",
    window: Annotated[int, typer.Option(help="Length of the window in days.")] = 1,
    days: Annotated[int, typer.Option(min=1, help="How many of the last days.")] = 14,
    as_json: AsJson = False,
) -> None:
    """Show the last days of a model as a table."""
    from monitor.report.tables import evaluation_table, legend
    from monitor.store import Store

    config = load_config(config_path)
    model = config.model(name)
    _must_be_one_of("--window", window, model.windows)
    names = dict.fromkeys(("all", *model.segment_names))
    _must_be_one_of("--segment", segment, tuple(names))
    store = Store(config.store)
    stored = store.days("evaluations", name)[-days:]
    if not stored:
        msg = f"{name}: nothing is stored yet; begin with calibration-monitor run or backfill."
        raise DataError(msg)
    chosen = [
        e
        for day in stored
        for e in store.read_evaluations(name, day)[0]
        if e.segment == segment and e.window_days == window
    ]
    if as_json:
        _print_json({"evaluations": chosen})
    else:
        length = f"{window} days" if window > 1 else "1 day"
        title = f"{name}, segment {segment}, windows of {length}"
        out.print(evaluation_table(title, chosen), legend())


@app.command()
def serve(
    config_path: ConfigPath = DEFAULT_CONFIG,
    address: Annotated[str, typer.Option(help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free port.")] = 9645,
    as_json: AsJson = False,
) -> None:
    """Serve the newest evaluations to Prometheus until interrupted."""
    from monitor.export.server import serve as start

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # service managers stop like Ctrl-C
    server, thread = start(load_config(config_path), address=address, port=port)
    url = f"http://{address}:{server.server_port}/metrics"
    if as_json:
        _print_json({"listening": url})
    else:
        out.print(f"serving {url}, stop with Ctrl-C", soft_wrap=True)
    sys.stdout.flush()
    try:
        thread.join()
    except KeyboardInterrupt:
        server.shutdown()
        server.server_close()


@app.command()
def demo(
    folder: Annotated[Path, typer.Option("--into", help="Where to put the demo.")] = Path(
        "demo-data"
    ),
    jobs: Jobs = DEFAULT_JOBS,
    as_json: AsJson = False,
) -> None:
    """Real flights of 2013: write the logs, do every day of them, show what came of it."""
    from monitor import demo as flights
    from monitor.demo_flights import write_flights_logs
    from monitor.pipeline import run as run_days
    from monitor.report.tables import evaluation_table, legend

    with err.status("flights: training on January and February, scoring March to December"):
        logs = write_flights_logs(folder / "logs")
    config = flights.write_config(folder)
    reports = []
    for name, model in config.models.items():
        with _progress(name, quiet=as_json) as on_step:
            reports.append(
                run_days(
                    config,
                    name,
                    logs.first_day,
                    logs.last_day,
                    as_of=_as_of(None, model),
                    clock=_now,
                    skip_unchanged=True,
                    jobs=jobs,
                    on_step=on_step,
                )
            )
    _stop_at_failures(reports)
    months = {name: flights.month_ends(config, name) for name in config.models}
    if as_json:
        _print_json({"logs": logs, "reports": reports, "months": months})
        return
    out.print(flights.introduction(logs), highlight=False)
    for name, evaluations in months.items():
        out.print(evaluation_table(f"{name}, the 28 days before each month's end", evaluations))
    out.print(legend())
    out.print(flights.next_steps(sys.argv[0], folder), soft_wrap=True, highlight=False)


def _chosen(config: Config, name: str | None) -> Iterator[tuple[str, Model]]:
    yield from [(name, config.model(name))] if name else config.models.items()


def _now() -> datetime:
    return datetime.now(UTC)


def _as_of(given: datetime | None, model: Model) -> date:
    """Take the given day, else today where the model lives: today's partition is incomplete."""
    return given.date() if given else datetime.now(ZoneInfo(model.time_zone)).date()


def _must_be_one_of(option: str, value: object, allowed: tuple[object, ...]) -> None:
    if value not in allowed:
        msg = f"{option} {value} is not configured; choose one of {', '.join(map(str, allowed))}."
        raise ConfigError(msg)


@contextmanager
def _progress(name: str, *, quiet: bool) -> Iterator[Callable[["Step"], None]]:
    """Draw one bar for each phase of a run, on the error stream, where a terminal can show it."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[day]}"),
    )
    with Progress(*columns, console=err, disable=quiet) as bars:
        tasks: dict[str, Any] = {}

        def on_step(step: "Step") -> None:
            if step.phase not in tasks:
                tasks[step.phase] = bars.add_task(f"{name} {step.phase}", total=None, day="")
            bars.update(tasks[step.phase], completed=step.done, total=step.total, day=step.day)

        yield on_step


def _finish(reports: list["RunReport"], *, as_json: bool) -> None:
    if as_json:
        _print_json({"reports": reports})
    for report in [] if as_json else reports:
        out.print(
            f"{report.model}: days summarised {len(report.summarised)}, "
            f"unchanged {len(report.unchanged)}, evaluated {len(report.evaluated)}, "
            f"failed {len(report.failures)}"
        )
    _stop_at_failures(reports)


def _stop_at_failures(reports: list["RunReport"]) -> None:
    messages = [failure.message for report in reports for failure in report.failures]
    if messages:
        raise DataError("\n".join(messages))


def _print_json(content: object) -> None:
    print(json.dumps(_plain(content), indent=1))  # noqa: T201 - the product of the command


def _plain(value: Any) -> Any:
    """Turn dataclasses, dates and tuples into what JSON knows; nan becomes null."""
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, date):
        return value.isoformat()
    return None if isinstance(value, float) and isnan(value) else value


def _fail(error: Exception, code: int) -> None:
    err.print(str(error), style="red", soft_wrap=True, markup=False, highlight=False)
    sys.exit(code)
