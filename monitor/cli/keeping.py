"""The commands that keep the store small."""

import re
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from monitor.base.errors import ConfigError, DataError
from monitor.cli.options import (
    DEFAULT_CONFIG,
    ConfigPath,
    OneModel,
    config_of_store,
    end_of_outcomes,
    of_each,
)
from monitor.cli.printing import say_line, stop_at

if TYPE_CHECKING:
    from monitor.config import Config, Model
    from monitor.pipeline.housekeeping.compaction import Compaction
    from monitor.pipeline.housekeeping.prune import Pruning

Planned = TypeVar("Planned")


def prune(
    keep: Annotated[str, typer.Option(help="How many days to keep, for example 400d.")],
    config_path: ConfigPath = DEFAULT_CONFIG,
    name: OneModel = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be removed, and remove nothing.")
    ] = False,
) -> None:
    """Remove old days from the store.

    Keeps the days of references, and what the oldest kept windows and verdicts need.
    """
    from monitor.pipeline.housekeeping import prune as pruning

    days = _days(keep)
    config = config_of_store(config_path, name)

    plan = partial(pruning.plan, keep_days=days)
    done, errors = _each(config, name, plan, pruning.prune, dry_run=dry_run)
    for planned in done.values():
        say_line(_told(planned, dry_run=dry_run))
    stop_at(errors)


def compact(
    config_path: ConfigPath = DEFAULT_CONFIG,
    name: OneModel = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be written, and write nothing.")
    ] = False,
) -> None:
    """Write the small files of each settled month as one of each kind.

    Every command reads the same from them. A day that is corrected later has a file of its own
    again.
    """
    from monitor.pipeline.housekeeping import compaction

    config = config_of_store(config_path, name)

    done, errors = _each(*(config, name, compaction.plan, compaction.compact), dry_run=dry_run)
    for planned in done.values():
        say_line(_compacted(planned, dry_run=dry_run))
    stop_at(
        [*errors, *(DataError(damage) for planned in done.values() for damage in planned.damaged)]
    )


def _each(
    config: "Config",
    name: str | None,
    plan: Callable[..., Planned],
    carry_out: "Callable[[Config, Planned], None]",
    *,
    dry_run: bool,
) -> tuple[dict[str, Planned], list[ConfigError | DataError]]:
    """Plan for each model and carry it out, while no other process writes the model."""
    from monitor.store.store import Store

    def do(model_name: str, model: "Model") -> Planned:
        today, store = end_of_outcomes(None, model), Store(config.store)
        with store.locked(model_name) if not dry_run else nullcontext():
            planned = plan(config, model_name, today=today)
            if not dry_run:
                carry_out(config, planned)
        return planned

    return of_each(config, name, do)


def _compacted(planned: "Compaction", *, dry_run: bool) -> str:
    written = sum(map(len, planned.months.values()))
    if not written:
        return f"{planned.model}: no month to compact"
    spans = [days for months in planned.months.values() for days in months]
    first, last = min(days[0] for days in spans), max(days[-1] for days in spans)
    would = "would write" if dry_run else "wrote"
    return (
        f"{planned.model}: {would} {written} files in place of {planned.files}, {first} to {last}"
    )


def _told(planned: "Pruning", *, dry_run: bool) -> str:
    counts = ", ".join(f"{len(days)} {kind}" for kind, days in planned.days.items())
    gone = sorted({day for days in planned.days.values() for day in days})
    span = f", {gone[0]} to {gone[-1]}" if gone else ""
    kept = f"; kept {len(planned.reference)} older days of references" if planned.reference else ""
    return f"{planned.model}: {'would remove' if dry_run else 'removed'} {counts}{span}{kept}"


def _days(keep: str) -> int:
    """Read a number of days."""
    match = re.fullmatch(r"([1-9]\d{0,4})d", keep)
    if not match:
        msg = f"--keep {keep}: is not a number of days; write for example 400d."
        raise ConfigError(msg)
    return int(match[1])
