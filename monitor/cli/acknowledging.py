"""The command with which somebody takes a drift, so that it wakes nobody else."""

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated
from zoneinfo import ZoneInfo

import typer

from monitor.base.errors import ConfigError
from monitor.base.segment_names import WHOLE, shown
from monitor.cli.options import (
    DEFAULT_CONFIG,
    AsJson,
    ConfigPath,
    chosen_models,
    config_with_index,
    must_be_one_of,
    must_be_stored,
    now,
)
from monitor.cli.printing import answer, stop_at
from monitor.cli.reporting import write_configured_pages

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from monitor.config import Config, Model
    from monitor.days.decisions import Acknowledgement, Decision, End
    from monitor.read.results import Results

MOST = {"--by": 60, "--why": 1000, "--ticket": 500}  # characters
LONGEST = timedelta(days=366)
ADDRESS = re.compile(r"https?://[^\s/]+\S*")


def ack(
    name: Annotated[str | None, typer.Argument(metavar="[MODEL]", show_default=False)] = None,
    config_path: ConfigPath = DEFAULT_CONFIG,
    segment: Annotated[
        str, typer.Option(help="Only this segment; without it the model with every segment.")
    ] = WHOLE,
    part: Annotated[
        str,
        typer.Option(
            help="Only this value, which drifts by itself, such as 'device = tv', as `show` has it."
        ),
    ] = "",
    until: Annotated[
        datetime | None,
        typer.Option(
            formats=["%Y-%m-%d"],
            help="The last day for which it holds. Without it, 31 days from today; `check` "
            "reminds of one that holds for longer.",
        ),
    ] = None,
    by: Annotated[str, typer.Option(help="Who has taken it: a name or a team.")] = "",
    why: Annotated[str, typer.Option(help="Why it needs nobody else, or why it ends.")] = "",
    ticket: Annotated[str, typer.Option(help="Address at which the work is tracked.")] = "",
    end: Annotated[
        bool, typer.Option("--end", help="End the acknowledgement before its last day.")
    ] = False,
    list_them: Annotated[
        bool, typer.Option("--list", help="List all decisions, and stop.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Take a drift, so that it pages nobody else.

    Its alert becomes a line of the digest that names who has taken it, and until when.
    Verdicts, evidence and incidents stay as they are. A drift that is found later pages, and so
    does this one when it becomes worse, or when the last day is over. The store keeps every
    decision; `show --incidents --json` gives them all. Planned changes belong into
    known_drifts of the configuration.
    """
    from monitor.report.decisions import decision_documents

    config = config_with_index(config_path, name)
    if list_them:
        _list(config, name, as_json=as_json)
        return
    if name is None:
        msg = "ack: name the model, or list what is decided with --list."
        raise ConfigError(msg)
    model, said = config.model(name), checked_texts({"--by": by, "--why": why, "--ticket": ticket})
    must_be_one_of("--segment", segment, model.every_segment)
    if part and segment != WHOLE:
        msg = f"--part {shown(part)}: a value is no part of a segment here; leave out --segment."
        raise ConfigError(msg)
    named = part.strip() or segment
    make: Callable[[int, Sequence[Decision]], Acknowledgement | End] = (
        _ending(name, model, named, said, until)
        if end
        else _acknowledging(config, name, model, named, said, until)
    )
    made = _results(config, name).store.decide(name, make)
    answer(
        {"decision": decision_documents([made])[0]},
        _told(name, model, made),
        as_json=as_json,
        soft_wrap=True,
    )
    stop_at(write_configured_pages(config, [name]))


def checked_texts(texts: dict[str, str]) -> dict[str, str]:
    """Give texts of a decision without margins, by their options without dashes.

    Raises
    ------
    ConfigError
        If one is missing, too long, or not for people.
    """
    for option, text in texts.items():
        if not text.strip() and option != "--ticket":
            msg = f"{option}: is missing; say it, because others will read it."
            raise ConfigError(msg)
        if len(text) > MOST[option] or not text.isprintable():
            msg = (
                f"{option} {shown(text[: MOST[option]])}: must be one line of at most "
                f"{MOST[option]:,} characters; shorten it."
            )
            raise ConfigError(msg)
    ticket = texts.get("--ticket")
    if ticket and not ADDRESS.fullmatch(ticket):
        msg = (
            f"--ticket {shown(ticket)}: is no address; write for example "
            f"https://tickets.example.org/OPS-17."
        )
        raise ConfigError(msg)
    return {option[2:]: text.strip() for option, text in texts.items()}


def _results(config: "Config", name: str) -> "Results":
    from monitor.read.results import results_of

    return results_of(config, name, kept=True)


def _acknowledging(
    config: "Config",
    name: str,
    model: "Model",
    segment: str,
    said: dict[str, str],
    until: datetime | None,
) -> "Callable[[int, Sequence[Decision]], Acknowledgement]":
    """Prepare an acknowledgement of what is open in a segment or value, or in all of the model."""
    from monitor.days.decisions import USUAL, Acknowledgement
    from monitor.read.standing import newest_verdicts

    results = _results(config, name)
    must_be_stored(name, results.days("verdicts"))
    verdicts = newest_verdicts(results)
    started = {drifting: day for v in verdicts for drifting, day in v.drifts_found.items()}
    if segment not in started if segment != WHOLE else not started:
        there = f" Open are: {', '.join(map(shown, started))}." if started else ""
        msg = (
            f"{_part(name, segment, model)}: no drift is open on {verdicts[0].day}, so there is "
            f"nothing to acknowledge; for a change that is planned, use verdicts.known_drifts of "
            f"the configuration.{there}"
        )
        raise ConfigError(msg)
    at = now()
    today = at.astimezone(ZoneInfo(model.time_zone)).date()
    last = until.date() if until else today + USUAL
    if not today <= last <= today + LONGEST:
        msg = (
            f"--until {last}: must be a day from {today} to {today + LONGEST}; what lasts "
            f"longer is no drift to wait for: configure a new reference."
        )
        raise ConfigError(msg)

    def make(number: int, _: "Sequence[Decision]") -> "Acknowledgement":
        who = (said["by"], said["why"], segment)
        return Acknowledgement(number, at, *who, verdicts[0].day, last, said["ticket"])

    return make


def _ending(
    name: str, model: "Model", segment: str, said: dict[str, str], until: datetime | None
) -> "Callable[[int, Sequence[Decision]], End]":
    """Prepare the end of the acknowledgement of a segment, or of the model."""
    from monitor.days.decisions import End, lasting

    if until or said["ticket"]:
        msg = "--end: ends it today; leave out --until and --ticket."
        raise ConfigError(msg)
    at = now()

    def make(number: int, before: "Sequence[Decision]") -> "End":
        taken = lasting(before)
        if segment not in taken:
            there = ", ".join(shown(each) for each in taken)
            remedy = f"choose one of: {there}" if there else "see what is with ack --list"
            msg = (
                f"{_part(name, segment, model)}: nothing is acknowledged that --end could end; "
                f"{remedy}."
            )
            raise ConfigError(msg)
        return End(number, at, said["by"], said["why"], taken[segment].number)

    return make


def _part(name: str, segment: str, model: "Model") -> str:
    """Name the model, one of its segments, or a value of a column."""
    if segment == WHOLE:
        return name
    return f"{name}, {'segment ' if segment in model.segment_names else ''}{shown(segment)}"


def _told(name: str, model: "Model", made: "Acknowledgement | End") -> str:
    from monitor.days.decisions import End

    if isinstance(made, End):
        return f"{name}: acknowledgement {made.of} has ended; the alert pages again if it lasts."
    return (
        f"{_part(name, made.segment, model)}: taken by {made.by} until {made.until}. What was "
        f"found up to {made.found_by} does not page until then."
    )


def _list(config: "Config", name: str | None, *, as_json: bool) -> None:
    from monitor.report.decisions import decision_documents, decision_table

    models = chosen_models(config, name)
    by_model = {each: _results(config, each).store.decisions(each) for each in models}
    today = {
        each: now().astimezone(ZoneInfo(model.time_zone)).date() for each, model in models.items()
    }
    document = {each: decision_documents(decisions) for each, decisions in by_model.items()}
    answer({"models": document}, decision_table(by_model, today), as_json=as_json)
