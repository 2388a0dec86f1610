"""The command: read the clock and the arguments, call one function, print the result.

Exit codes: 0 done, 1 a bug, 2 the configuration or the call is wrong, 3 the data are wrong,
4 what show --fail-on names, 130 interrupted.
"""

import atexit
import gc
import json
import logging
import os
import sys
from functools import cache
from typing import Annotated, Any

import typer
from typer.main import get_command

from monitor.base.errors import ConfigError, DataError, lacks_memory
from monitor.base.machine import RARELY
from monitor.cli.acknowledging import ack
from monitor.cli.assets import assets
from monitor.cli.counting import sql as counting_sql
from monitor.cli.days import backfill, check, evaluate, run
from monitor.cli.gone import check_options
from monitor.cli.init import init
from monitor.cli.keeping import compact, prune
from monitor.cli.maps import compose, retire, sql
from monitor.cli.maps import show as show_map
from monitor.cli.planning_labels import plan_labels
from monitor.cli.printing import say_aside, write_out
from monitor.cli.rebasing import rebase
from monitor.cli.recalibrating import recalibrate
from monitor.cli.reporting import report
from monitor.cli.serving import openmetrics, push, serve, table, textfile
from monitor.cli.showing import demo, show
from monitor.cli.streams import prepare_streams
from monitor.cli.where import where

__all__ = ["app", "main"]

CONFIG_ERROR, DATA_ERROR, INTERRUPTED = 2, 3, 130
KINDS = {CONFIG_ERROR: "configuration", DATA_ERROR: "data"}
EXIT_CODES = (
    "Exit codes: 0 done, 1 a bug, 2 the configuration or the call is wrong, 3 the data are wrong, "
    "4 what show --fail-on names, 130 interrupted."
)
NO_MEMORY_TO_LOAD = (
    "this process has run out of memory while it loaded the libraries that it needs; give it at "
    "least 2 GB of address space (ulimit -v), then run again."
)

# Wrong options and arguments; the parser does not export the class itself.
WRONG_CALL: Any = typer.BadParameter.__base__

app = typer.Typer(
    name="calibration-monitor",
    help="Can the probabilities of your models still be trusted? Reads daily prediction and "
    "outcome logs, keeps results in a store, and serves them to Prometheus.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=False,
)


def _print_version(given: bool) -> None:  # noqa: FBT001 - typer's callback
    if given:
        from importlib.metadata import version

        write_out(f"calibration-monitor {version('calibration-monitor')}\n")
        raise typer.Exit


@app.callback()
def _of_all(
    _: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_print_version, help="Show the version and stop."
        ),
    ] = False,
) -> None:
    """Read what is given before the command."""


store = typer.Typer(help="Keep the store in order.", no_args_is_help=True)
maps = typer.Typer(help="Read and compose map files, and retire a map.", no_args_is_help=True)
export = typer.Typer(help="Write past results for other programs.", no_args_is_help=True)
for command in (
    init,
    check,
    run,
    backfill,
    evaluate,
    show,
    where,
    recalibrate,
    plan_labels,
    report,
    ack,
    rebase,
    serve,
    push,
    textfile,
    assets,
    prune,
    demo,
):
    app.command(epilog=EXIT_CODES)(command)
app.command("sql", epilog=EXIT_CODES)(counting_sql)
app.add_typer(maps, name="map")
maps.command(epilog=EXIT_CODES)(show_map)
maps.command(epilog=EXIT_CODES)(sql)
maps.command(epilog=EXIT_CODES)(compose)
maps.command(epilog=EXIT_CODES)(retire)
app.add_typer(store, name="store")
store.command(epilog=EXIT_CODES)(compact)
app.add_typer(export, name="export")
export.command(epilog=EXIT_CODES)(openmetrics)
export.command(epilog=EXIT_CODES)(table)


# pydantic would look for plugins in the metadata of every installed package.
NO_PLUGINS = ("PYDANTIC_DISABLE_PLUGINS", "__all__")


def main() -> None:
    """Run the command, and turn its errors into messages and exit codes."""
    prepare_streams()
    logging.basicConfig(level=logging.WARNING)
    gc.set_threshold(RARELY)
    atexit.register(gc.freeze)  # else Python looks for cycles among all objects before it exits
    os.environ.setdefault(*NO_PLUGINS)
    try:
        _run()
    except ConfigError as error:
        _fail(error, CONFIG_ERROR)
    except DataError as error:
        _fail(error, DATA_ERROR)
    except (ImportError, MemoryError, OSError) as error:
        if not lacks_memory(error):
            raise
        _fail(DataError(NO_MEMORY_TO_LOAD), DATA_ERROR)
    except SystemExit as stop:  # for example what the argument parser raises on Ctrl-C
        if stop.code == INTERRUPTED:
            said = "interrupted; finished work is kept, and the same command continues from there"
            say_aside(said)
        raise


@cache  # it reads the type hints of all commands
def parser() -> Any:
    """Build the parser of the program."""
    return get_command(app)


def _run() -> None:
    check_options(sys.argv[1:])
    try:
        if "--json" in sys.argv:
            _run_for_programs()
        else:
            parser()()
    except OSError:
        write_out("")  # fails again if the parser itself could not write
        raise


def _run_for_programs() -> None:
    """Run the command without letting the parser print its own errors."""
    try:
        code = parser()(standalone_mode=False)
    except WRONG_CALL as error:
        raise ConfigError(error.format_message()) from None
    sys.exit(code or 0)


def _fail(error: Exception, code: int) -> None:
    if "--json" in sys.argv:
        messages = str(error).splitlines()
        said = {"error": {"exit_code": code, "kind": KINDS[code], "messages": messages}}
        print(json.dumps(said, indent=1), file=sys.stderr)  # noqa: T201 - for another program
    else:
        say_aside(str(error), style="red")
    sys.exit(code)
