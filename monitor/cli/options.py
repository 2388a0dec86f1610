"""The options that several commands share, and how their values are read."""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar
from zoneinfo import ZoneInfo

import typer

from monitor.base.errors import ConfigError, DataError, within_memory
from monitor.base.machine import cores
from monitor.base.segment_names import shown

if TYPE_CHECKING:
    from monitor.config import Config, Model

T = TypeVar("T")

ConfigPath = Annotated[
    Path,
    typer.Option(
        *("--config", "-c"),
        envvar="CALIBRATION_MONITOR_CONFIG",
        help="The configuration: a file, or a folder with one file for each model.",
        readable=False,  # the parser need not check: load_config gives a better message
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
OneModel = Annotated[str | None, typer.Option("--model", "-m", help="Only this model.")]
ThisModel = Annotated[str, typer.Option("--model", "-m", help="The model.")]


def may_have_logs(option: typer.CallbackParam, given: datetime | None) -> datetime | None:
    """Raise ConfigError for a day outside the years that may have logs."""
    from monitor.config import EARLIEST, LATEST

    if given and not EARLIEST <= given.date() <= LATEST:
        msg = (
            f"{option.opts[0]} {given.date()}: is out of range; choose a day from {EARLIEST} to "
            f"{LATEST}."
        )
        raise ConfigError(msg)
    return given


Day = Annotated[
    datetime | None,
    typer.Option(formats=["%Y-%m-%d"], callback=may_have_logs, help="A day of predictions."),
]
FirstDay = Annotated[datetime, typer.Option("--from", formats=["%Y-%m-%d"], help="First day.")]
LastDay = Annotated[datetime, typer.Option("--to", formats=["%Y-%m-%d"], help="Last day.")]
AsOf = Annotated[
    datetime | None,
    typer.Option(
        "--as-of",
        formats=["%Y-%m-%d"],
        callback=may_have_logs,
        help="Ignore outcomes of this day and later; today by default.",
    ),
]
Recompute = Annotated[
    bool,
    typer.Option(
        "--recompute",
        help="With an --as-of earlier than that of stored days: replace final days too.",
    ),
]
Wait = Annotated[
    bool,
    typer.Option(
        "--wait/--no-wait",
        help="Whether to wait for another process that works on the same model, or to stop with a "
        "message that names it.",
    ),
]
Jobs = Annotated[
    int, typer.Option(min=1, help="Number of days, or of models, to process in parallel.")
]
DEFAULT_CONFIG = Path("monitor.yaml")
DEFAULT_JOBS = cores()


def config_with_index(path: Path, name: str | None) -> "Config":
    """Load the named model alone, or all models where the index of report pages lists them."""
    from monitor.config import load_config

    config = load_config(path, only=name)
    return load_config(path) if name and config.report else config


def config_of_store(path: Path, name: str | None = None) -> "Config":
    """Load a configuration whose store must be there, for who reads results or keeps them.

    Raises
    ------
    DataError
        If there is no store at its place.
    """
    from monitor.config import load_config
    from monitor.store.store import Store

    config = load_config(path, only=name)
    Store(config.store).must_be_there()
    return config


def chosen_models(config: "Config", name: str | None) -> "dict[str, Model]":
    """Return the named model, or all valid ones."""
    return dict(config.models) if name is None else {name: config.model(name)}


def invalid_models(config: "Config", name: str | None) -> list[ConfigError]:
    """Return the errors of the models that a command on all models leaves out."""
    return [ConfigError(m.message) for m in config.invalid.values()] if name is None else []


def of_each(
    config: "Config", name: str | None, do: "Callable[[str, Model], T]"
) -> tuple[dict[str, T], list[ConfigError | DataError]]:
    """Call `do` for the named model or for every model, and collect results and errors.

    Bad data, a lack of memory or an invalid configuration of one model does not stop the others.
    """
    done, errors = dict[str, T](), list[ConfigError | DataError]()
    for each, model in chosen_models(config, name).items():
        try:
            with within_memory(each):
                done[each] = do(each, model)
        except (ConfigError, DataError) as error:
            errors.append(error)
    return done, [*errors, *invalid_models(config, name)]


def now() -> datetime:
    """Read the clock."""
    return datetime.now(UTC)


def end_of_outcomes(given: datetime | None, model: "Model") -> date:
    """Return the given day, or today in the model's time zone: today's partition is incomplete."""
    return given.date() if given else datetime.now(ZoneInfo(model.time_zone)).date()


def day_range(first: datetime, last: datetime) -> tuple[date, date]:
    """Return the days of `--from` and `--to`, which must be in order."""
    begin, end = first.date(), last.date()
    if begin > end:
        msg = f"--from {begin} is after --to {end}; swap them."
        raise ConfigError(msg)
    return begin, end


def must_be_one_of(option: str, value: object, allowed: tuple[object, ...]) -> None:
    """Raise ConfigError for a value that the configuration does not contain."""
    if value not in allowed:
        choices = ", ".join(shown(str(each)) for each in allowed)
        msg = f"{option} {shown(str(value))} is not configured; choose one of {choices}."
        raise ConfigError(msg)


def must_be_stored(name: str, days: Sequence[date]) -> None:
    """Raise DataError for a model without a stored day."""
    if not days:
        msg = f"{name}: nothing is stored yet; start with calibration-monitor run or backfill."
        raise DataError(msg)


def seconds(duration: str) -> int:
    """Read a duration of full minutes such as 5m or 24h."""
    match = re.fullmatch(r"([1-9]\d{0,5})([mh])", duration)
    if not match:
        msg = f"--repeat {duration}: is not a duration; write for example 5m, 1h or 24h."
        raise ConfigError(msg)
    return int(match[1]) * {"m": 60, "h": 3600}[match[2]]
