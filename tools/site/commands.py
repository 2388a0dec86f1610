"""The page of all commands, from their own help."""

from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

import typer

INTRO = """\
# Commands

What `calibration-monitor COMMAND --help` says. {exits}
"""


def commands_page() -> str:
    """Write the page: each command with its options, in the order of the help."""
    (installed,) = entry_points(group="console_scripts", name="calibration-monitor")
    program: Any = typer.main.get_command(import_module(installed.module).app)
    parts = [INTRO.format(exits=program.epilog)]
    for words, command in each(program, ()):
        context = program.context_class(command, info_name=" ".join(words))
        parts += [
            f"## {' '.join(words[1:])}\n",
            f"    {usage(command, context)}\n",
            f"{' '.join((command.help or '').split())}\n",
            options(command, context),
        ]
    return "\n".join(parts)


def each(group: Any, before: tuple[str, ...]) -> list[tuple[tuple[str, ...], Any]]:
    """List the commands of a group and of the groups in it, with the words that call them."""
    words = (*before, group.name)
    listed: list[tuple[tuple[str, ...], Any]] = []
    for command in group.commands.values():
        inner = hasattr(command, "commands")
        listed += each(command, words) if inner else [((*words, command.name), command)]
    return listed


def usage(command: Any, context: Any) -> str:
    """Write the line that calls a command."""
    return f"{context.info_name} {' '.join(command.collect_usage_pieces(context))}"


def options(command: Any, context: Any) -> str:
    """Write the table of a command's arguments and options."""
    records = [p.get_help_record(context) for p in command.get_params(context)]
    rows = [f"| `{name}` | {in_cell(meaning)} |" for name, meaning in filter(None, records)]
    return "\n".join(["| option | meaning |", "|---|---|", *rows, ""])


def in_cell(text: str) -> str:
    """Write text so that it stays in its cell, and brackets are no link."""
    return " ".join(text.split()).translate(str.maketrans({c: f"\\{c}" for c in "|[]<>*_"}))
