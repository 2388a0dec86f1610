"""What the commands say: tables and JSON on one stream, progress and errors on the other."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from datetime import date
from math import isnan
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from monitor.errors import DataError

if TYPE_CHECKING:
    from monitor.pipeline import RunReport
    from monitor.steps import Step

out = Console()
err = Console(stderr=True)


@contextmanager
def progress(name: str, *, quiet: bool) -> Iterator[Callable[["Step"], None]]:
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


def finish(reports: list["RunReport"], *, as_json: bool) -> None:
    """Say what runs came to, and fail if a day did."""
    if as_json:
        print_json({"reports": reports})
    for report in [] if as_json else reports:
        out.print(
            f"{report.model}: days summarised {len(report.summarised)}, "
            f"unchanged {len(report.unchanged)}, evaluated {len(report.evaluated)}, "
            f"failed {len(report.failures)}"
        )
    stop_at_failures(reports)


def stop_at_failures(reports: list["RunReport"]) -> None:
    """Fail with the messages of all days that failed."""
    messages = [failure.message for report in reports for failure in report.failures]
    if messages:
        raise DataError("\n".join(messages))


def print_json(content: object) -> None:
    """Print one JSON document."""
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
