"""The command with which somebody begins a new reference."""

from datetime import date, datetime
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from monitor.base.errors import ConfigError
from monitor.cli.acknowledging import checked_texts
from monitor.cli.options import (
    DEFAULT_CONFIG,
    ConfigPath,
    config_with_index,
    must_be_stored,
    now,
)
from monitor.cli.printing import say_line, stop_at
from monitor.cli.reporting import write_configured_pages

if TYPE_CHECKING:
    from monitor.config import Config
    from monitor.days.decisions import Rebase
    from monitor.store.store import Store


def rebase(
    name: Annotated[str, typer.Argument(metavar="MODEL", show_default=False)],
    config_path: ConfigPath = DEFAULT_CONFIG,
    first: Annotated[
        datetime | None,
        typer.Option("--from", formats=["%Y-%m-%d"], help="The first day of the new reference."),
    ] = None,
    by: Annotated[str, typer.Option(help="Who decides it: a name or a team.")] = "",
    why: Annotated[str, typer.Option(help="What has changed, or why it ends.")] = "",
    wait: Annotated[
        bool,
        typer.Option(
            "--wait", help="Keep the present reference in force until the new one is long enough."
        ),
    ] = False,
    end: Annotated[
        bool, typer.Option("--end", help="Go back to the reference before the newest of these.")
    ] = False,
) -> None:
    """Begin a new reference, for example after a release.

    It takes the final days from --from on until they make a reference: 28 of them, with 300
    outcomes of each kind. The next run judges the days from then on against it, and an open drift
    ends there as `rebased`. The store keeps every decision: `ack --list` shows them.
    """
    from monitor.days.decisions import End, Rebase
    from monitor.store.store import Store

    config = config_with_index(config_path, name)
    config.model(name)
    said = checked_texts({"--by": by, "--why": why})
    store = Store(config.store)
    days = store.days("summaries", name)
    must_be_stored(name, days)
    at = now()
    if end:
        begun = _newest(store, name, alone=not (first or wait))
        since, told = begun.first, "no longer counts"
        store.decide(name, lambda number, _: End(number, at, **said, of=begun.number))
    else:
        since, told = _checked_day(config, name, first, wait=wait), "counts from the next run on"
        store.decide(name, lambda number, _: Rebase(number, at, **said, first=since))
    judge = (
        f" To judge at once: calibration-monitor evaluate --model {quote(name)} --from {since} "
        f"--to {days[-1]}"
    )
    say_line(
        f"{name}: the reference that begins on {since} {told}.{judge if since <= days[-1] else ''}"
    )
    stop_at(write_configured_pages(config, [name]))


def _checked_day(config: "Config", name: str, first: datetime | None, *, wait: bool) -> date:
    """Give the first day of a new reference.

    Raises
    ------
    ConfigError
        If none is named, if it lies in a reference, or if too few days have followed it and the
        present reference may not stay in force until they have.
    """
    from monitor.pipeline.verdicts.references import spans_in_store
    from monitor.words.advice import missing

    if not first:
        msg = "rebase: name the first day of the new reference with --from."
        raise ConfigError(msg)
    day = first.date()
    complete = [span.last for span in spans_in_store(config, name) if not span.lack]
    if complete and day <= (newest := max(complete)):
        msg = (
            f"--from {day}: a reference of {name} lasts until {newest}; begin the new one after "
            f"that day. Those of the configuration are in verdicts.references."
        )
        raise ConfigError(msg)
    lacks = [span.lack for span in spans_in_store(config, name, [day]) if span.first == day]
    if lacks[-1] and not wait:
        msg = (
            f"--from {day}: a new reference is not used yet: {missing(lacks[-1])}, or add --wait "
            f"to keep the present one in force until then."
        )
        raise ConfigError(msg)
    return day


def _newest(store: "Store", name: str, *, alone: bool) -> "Rebase":
    """Find the newest reference that was begun here.

    Raises
    ------
    ConfigError
        If there is none, or if other options are given too.
    """
    from monitor.days.decisions import rebased

    if not alone:
        msg = "--end: ends the newest reference that was begun; leave out --from and --wait."
        raise ConfigError(msg)
    begun = rebased(store.decisions(name))
    if not begun:
        msg = (
            f"{name}: rebase has begun no reference that --end could end; change those of the "
            f"configuration in verdicts.references."
        )
        raise ConfigError(msg)
    return begun[-1]
