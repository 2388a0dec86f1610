"""Ways to damage the logs or the configuration of a project, and the messages about them.

A project is that of conftest.py, whose class cannot be imported from here.
"""

import json
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow.parquet as pq

from monitor.config.checks import listed

DAY, DAY_AFTER = date(2026, 3, 2), date(2026, 3, 3)
RUN = ("run", "--day", DAY)
SCORED_AT = datetime(2026, 3, 2, tzinfo=UTC)

Project = Any
Damage = Callable[[Project], object]
Command = Callable[..., Any]

SCORES, RESULTS = "{folder}/predictions/2026-03-02.parquet", "{folder}/outcomes/2026-03-02.parquet"
LATE_RESULTS = "{folder}/outcomes/2026-03-03.parquet"
MEND = (
    "; fix the log, then rerun this day; or list {} under checks.reject, and such rows are left "
    "out and counted."
)
LOOK = (
    "; check the logs and their ids ({{folder}}/predictions/2026-03-02.parquet; "
    "{{folder}}/outcomes/2026-03-02.parquet to {{folder}}/outcomes/2026-03-03.parquet), then rerun "
    "this day; or list {} under checks.accept if such days are normal for this model."
)
UNREADABLE = " cannot be read as Parquet (<...>); write the file again, then rerun this day."
NO_OUTCOMES = (
    "no outcomes of {} at {}; wait for the log (a day without outcomes needs an empty file, unless "
    "outcomes.calendar leaves it out), or correct outcomes.path in the configuration."
)


def values(kind: str, column: str, rows: dict[int, Any]) -> Damage:
    """Replace the values in some rows of a column."""

    def damage(project: Project) -> None:
        table = project.rows(kind)
        for row, value in rows.items():
            table[column][row] = value
        project.write(kind, table)

    return damage


def column(kind: str, name: str, content: Any) -> Damage:
    """Replace a column, with a type of its own."""
    return lambda project: project.write(kind, project.rows(kind) | {name: content})


def without_column(kind: str, name: str) -> Damage:
    """Remove a column."""
    return lambda project: project.write(kind, without(name)(project.rows(kind)))


def without(name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Remove a column from a table."""
    return lambda rows: {k: v for k, v in rows.items() if k != name}


def more(kind: str, *rows: dict[str, Any]) -> Damage:
    """Add rows, which equal the first row except for the given values."""

    def damage(project: Project) -> None:
        table = project.rows(kind)
        for row in rows:
            for name, content in table.items():
                content.append(row.get(name, content[0]))
        project.write(kind, table)

    return damage


def tomorrow(**columns: Any) -> Damage:
    """Write the outcomes that arrive a day later, with valid times."""

    def damage(project: Project) -> None:
        rows = len(columns["prediction_id"])
        times = {"observed_at": [SCORED_AT + timedelta(days=1)] * rows}
        project.write("outcomes", times | columns, DAY_AFTER)

    return damage


def removed(kind: str, *days: date) -> Damage:
    """Remove partitions."""
    return lambda project: [project.path(kind, day).unlink() for day in days]


def emptied(kind: str) -> Damage:
    """Remove all rows from a partition."""
    return lambda project: project.write(kind, pq.read_table(project.path(kind)).slice(0, 0))


def content(kind: str, change: Callable[[bytes], bytes], day: date = DAY) -> Damage:
    """Damage the bytes of a file."""

    def damage(project: Project) -> None:
        path = project.path(kind, day)
        path.write_bytes(change(path.read_bytes()))

    return damage


def in_two_files(second: Callable[[dict[str, Any]], dict[str, Any]]) -> Damage:
    """Split the predictions into two files, the second of which is changed."""

    def damage(project: Project) -> None:
        project.configure("predictions/{day}", "predictions/{day}/*")
        rows = project.rows("predictions")
        project.write("predictions", {k: v[:20] for k, v in rows.items()}, f"{DAY}/0")
        project.write("predictions", second({k: v[20:] for k, v in rows.items()}), f"{DAY}/1")

    return damage


def setting(old: str, new: str) -> Damage:
    """Change the configuration."""
    return lambda project: project.configure(old, new)


def checks(**policies: str) -> Damage:
    """Set what happens to invalid rows or days."""
    return setting(
        "windows: [1, 3]", f"windows: [1, 3]\n    checks: {json.dumps(listed(policies))}"
    )


def all_of(*damages: Damage) -> Damage:
    """Do several kinds of damage."""
    return lambda project: [damage(project) for damage in damages]


def mistyped(name: str, found: str, wanted: str, file: str, key: str) -> str:
    """Return the message that a column has the wrong type."""
    return (
        f"column '{name}' of the {key.partition('.')[0]} is {found}, must be {wanted} ({file}); "
        f"correct the log, or {key} in the configuration, then rerun this day."
    )


def message_of(project: Project, printed: str) -> str:
    """Replace the folder, which differs between tests, by a fixed word."""
    return printed.strip().replace(str(project.folder), "{folder}")


def matches(message: str, expected: str) -> bool:
    """Compare whole messages; <...> stands for any words of other programs on one line."""
    return re.fullmatch(re.escape(expected).replace("<\\.\\.\\.>", ".+"), message) is not None


def check_refusal(
    damage: Damage, arguments: tuple[object, ...], code: int, expected: str, project: Project,
    command: Command,
) -> None:  # fmt: skip
    """Damage the project, run the command, and check code, message and an unchanged store."""
    before = project.results()
    damage(project)

    ended = command(*arguments)

    message = message_of(project, ended.err)
    assert matches(message, expected), message
    assert ended.code == code
    assert project.results() == before
