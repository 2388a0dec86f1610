"""The options that several commands share, and what is made of them."""

import os
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo

import typer

from monitor.config import Config, Model
from monitor.errors import ConfigError

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
FirstDay = Annotated[datetime, typer.Option("--from", formats=["%Y-%m-%d"], help="First day.")]
LastDay = Annotated[datetime, typer.Option("--to", formats=["%Y-%m-%d"], help="Last day.")]
AsOf = Annotated[
    datetime | None,
    typer.Option(
        "--as-of",
        formats=["%Y-%m-%d"],
        help="Read no outcomes of this day or later; today by default.",
    ),
]
Jobs = Annotated[int, typer.Option(min=1, help="Days to do at a time.")]
DEFAULT_CONFIG = Path("monitor.yaml")
DEFAULT_JOBS = os.cpu_count() or 1


def chosen_models(config: Config, name: str | None) -> Iterator[tuple[str, Model]]:
    """Give the named model, or all of them."""
    yield from [(name, config.model(name))] if name else config.models.items()


def now() -> datetime:
    """Read the clock."""
    return datetime.now(UTC)


def end_of_outcomes(given: datetime | None, model: Model) -> date:
    """Take the given day, else today where the model lives: today's partition is incomplete."""
    return given.date() if given else datetime.now(ZoneInfo(model.time_zone)).date()


def day_range(first: datetime, last: datetime) -> tuple[date, date]:
    """Take the days of `--from` and `--to`, which must not be exchanged."""
    begin, end = first.date(), last.date()
    if begin > end:
        msg = f"--from {begin} is after --to {end}; exchange them."
        raise ConfigError(msg)
    return begin, end


def must_be_one_of(option: str, value: object, allowed: tuple[object, ...]) -> None:
    """Refuse a value that the configuration does not have."""
    if value not in allowed:
        msg = f"{option} {value} is not configured; choose one of {', '.join(map(str, allowed))}."
        raise ConfigError(msg)


def seconds(duration: str) -> int:
    """Read a duration such as 30s, 5m or 1h."""
    found = re.fullmatch(r"([1-9]\d{0,5})([smh])", duration)
    if not found:
        msg = f"--step {duration}: is no duration; write for instance 30s, 5m or 1h."
        raise ConfigError(msg)
    return int(found[1]) * {"s": 1, "m": 60, "h": 3600}[found[2]]
