"""What the commands print: results on standard output, progress and errors on standard error."""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from datetime import date
from math import isfinite
from typing import TYPE_CHECKING, Any

from monitor.base.errors import ConfigError, DataError

if TYPE_CHECKING:
    from rich.progress import Progress
    from rich.status import Status

    from monitor.logs import Again
    from monitor.pipeline.days.progress import PhaseProgress
    from monitor.pipeline.runs.morning import Beginning
    from monitor.pipeline.runs.run import RunReport

NOBODY_READS = 128 + signal.SIGPIPE  # what a shell reports for a command that this signal ended

LISTED_FILES = 5


@contextmanager
def progress(name: str, *, quiet: bool) -> Iterator[Callable[["PhaseProgress"], None]]:
    """Show a progress bar for each phase of a run on standard error, if it is a terminal."""
    if _is_hidden(quiet=quiet):
        yield lambda _: None
        return
    with _bars("{task.description}", "{task.fields[day]}") as bars:
        tasks: dict[str, Any] = {}

        def on_progress(step: "PhaseProgress") -> None:
            if step.phase not in tasks:
                tasks[step.phase] = bars.add_task(f"{name} {step.phase}", total=None, day="")
            bars.update(tasks[step.phase], completed=step.done, total=step.total, day=step.day)

        yield on_progress


@contextmanager
def progress_of_models(total: int, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Show a progress bar of models on standard error, if it is a terminal."""
    if _is_hidden(quiet=quiet):
        yield lambda _: None
        return
    with _bars("models", "{task.description}") as bars:
        task = bars.add_task("", total=total)
        yield lambda name: bars.update(task, advance=1, description=name)


@contextmanager
def progress_of_steps(name: str, *, quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Show a progress bar for each piece of work on standard error, if it is a terminal."""
    if _is_hidden(quiet=quiet):
        yield lambda *_: None
        return
    with _bars("{task.description}", "") as bars:
        tasks: dict[str, Any] = {}

        def on_step(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(f"{name} {what}", total=total)
            bars.update(tasks[what], completed=done)

        yield on_step


def _is_hidden(*, quiet: bool) -> bool:
    """Tell whether no bars are shown; loading what draws them takes long."""
    from monitor.cli.terminal import err

    return quiet or not err.is_terminal


def _bars(first: str, last: str) -> "Progress":
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    from monitor.cli.terminal import err

    counts = BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    columns = TextColumn(first), *counts, TextColumn(last)
    return Progress(*columns, console=err)


def finish(
    reports: Sequence["RunReport"],
    *,
    as_json: bool,
    begun: Sequence["Beginning"],
    again: Mapping[str, Sequence["Again"]],
    errors: Sequence[ConfigError | DataError],
) -> None:
    """Print the results of runs, and raise an error if a day or a whole run failed."""
    from monitor.pipeline.runs.grouping import grouped

    if as_json:
        print_json({"reports": reports, "new_models": begun, "delivered_again": again})
    for new in [] if as_json else begun:
        say_line(f"{new}")
    for report in [] if as_json else reports:
        without_log = f"without a log {len(report.quiet)}, " if report.quiet else ""
        say_line(
            f"{report.model}: days summarised {len(report.summarised)}, "
            f"unchanged {len(report.unchanged)}, {without_log}evaluated {len(report.evaluated)}, "
            f"failed {len(report.failures)}"
        )
        if report.kept:
            say_line(
                f"{report.model}: kept {len(report.kept)} final days, first {report.kept[0]}, "
                "because their outcomes came after this --as-of; backfill --recompute replaces "
                "them."
            )
        _say_of_outcomes(report)
        _say_what_was_damaged(report)
        for lost in report.left_out:
            say_line(f"{report.model}: {lost}")
        for twice in again.get(report.model, ()):
            say_line(f"{report.model}: {twice}", style="yellow")
        for message in grouped(report.model, report.still_missing):
            say_line(f"Still missing: {message}")
    if reports and not as_json and len(reports) + len(errors) > 1:
        say_line(summary_of(reports, errors))
    stop_at_failures(reports, errors)


def _say_of_outcomes(report: "RunReport") -> None:
    """Say which final days do not know all of their outcomes, and what to do."""
    from monitor.words.advice import changed_logs, late_outcomes

    if report.changed:
        say_line(f"{report.model}: {changed_logs(report.model, report.changed)}", style="yellow")
    if report.late:
        say_line(f"{report.model}: {late_outcomes(report.late)}", style="yellow")


def summary_of(reports: Sequence["RunReport"], errors: Sequence[ConfigError | DataError]) -> str:
    """Add up what runs of several models did, in one line."""
    days = {
        what: sum(len(getattr(report, what)) for report in reports)
        for what in ("summarised", "unchanged", "evaluated")
    }
    failed = sum(bool(report.failures) for report in reports)
    counted = ", ".join(f"{what} {number:,}" for what, number in days.items())
    return (
        f"{len(reports):,} models processed: days {counted}; models with failed days {failed:,}, "
        f"errors {len(errors):,}"
    )


def _say_what_was_damaged(report: "RunReport") -> None:
    if report.healed:
        say_line(f"{report.model}: {_listed('made again', report.healed)}")
    if report.damaged:
        left = _listed("could not be made again", report.damaged)
        remedy = "restore them from a backup, or delete them"
        say_line(f"{report.model}: {left}; {remedy}", style="yellow")


def _listed(what: str, files: Sequence[str]) -> str:
    more = f" and {len(files) - LISTED_FILES} more" if len(files) > LISTED_FILES else ""
    return f"damaged files of the store {what}: {', '.join(files[:LISTED_FILES])}{more}"


def stop_at_failures(
    reports: Iterable["RunReport"], errors: Sequence[ConfigError | DataError]
) -> None:
    """Raise one error with the messages of all failed days and of all other errors."""
    from monitor.pipeline.runs.grouping import grouped

    messages = [message for r in reports for message in grouped(r.model, r.failures)]
    stop_at([*map(DataError, messages), *errors])


def stop_at(errors: Sequence[ConfigError | DataError]) -> None:
    """Raise one error with all messages, if any: a ConfigError if one of them is."""
    if errors:
        message = "\n".join(dict.fromkeys(map(str, errors)))  # several models may share an error
        wrong = any(isinstance(error, ConfigError) for error in errors)
        raise ConfigError(message) if wrong else DataError(message)


def say(*content: object, **options: Any) -> None:
    """Print for people; a table that is too wide for the terminal is not cut."""
    from monitor.cli.terminal import out

    with out.capture() as text:
        out.print(*content, crop=False, **options)
    write_out(text.get())


def say_line(text: str, **options: Any) -> None:
    """Print sentences for people, which a terminal wraps where they are too long for it."""
    say(text, soft_wrap=True, highlight=False, **options)


def say_aside(text: str, **options: Any) -> None:
    """Print for people on standard error, beside the results."""
    from monitor.cli.terminal import err

    err.print(text, soft_wrap=True, highlight=False, **options)


def working(what: str) -> "Status":
    """Show on standard error what is being done, if it is a terminal."""
    from monitor.cli.terminal import err

    return err.status(what)


def answer(document: object, *contents: object, as_json: bool, **options: Any) -> None:
    """Print a document as JSON for a program, or the contents for people."""
    if as_json:
        print_json(document)
    for content in () if as_json else contents:
        say(content, **options)


def say_doubts(before: str, doubts: Sequence[str]) -> None:
    """Print what `init` was unsure of and no person has looked at, a line each."""
    for doubt in doubts:
        say_line(f"{before}unsure: {doubt}", style="yellow")


def print_json(content: object) -> None:
    """Print one JSON document."""
    write_out(json.dumps(_plain(content), indent=1) + "\n")


def write_out(text: str) -> None:
    """Write to standard output at once; exit if the reader has closed it, as other commands do.

    Raises
    ------
    DataError
        If it cannot be written.
    """
    try:
        print(text, end="", flush=True)  # noqa: T201 - the product of the command
    except OSError as error:
        _give_up_output()
        if isinstance(error, BrokenPipeError):
            sys.exit(NOBODY_READS)
        msg = f"the output cannot be written ({error.strerror}); free some space, then run again."
        raise DataError(msg) from None


def _give_up_output() -> None:
    """Discard what is still buffered; otherwise Python prints an error when it exits."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _plain(value: Any) -> Any:
    """Turn dataclasses, dates and tuples into JSON types; nan and infinity become null."""
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, date):
        return value.isoformat()
    return None if isinstance(value, float) and not isfinite(value) else value
