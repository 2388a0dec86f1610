"""The command that writes a first configuration from a folder of logs."""

import os
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from monitor.cli.options import AsJson
from monitor.cli.printing import err, print_json, say, say_doubts, write_out
from monitor.config import literal
from monitor.errors import ConfigError
from monitor.files import writing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from monitor.logs.discovery import Guess, Setting

STDOUT = "-"
PLAIN: dict[str, Any] = {"soft_wrap": True, "highlight": False, "markup": False}


def init(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH...",
            help="Folders or files of logs; predictions and outcomes may lie in one folder or two.",
        ),
    ],
    target: Annotated[
        str, typer.Option("--out", help="The file to write; - for standard output.")
    ] = "monitor.yaml",
    as_json: AsJson = False,
) -> None:
    """Look at logs and write a configuration for them.

    Guesses where each day lies, which columns are the score, the outcome and the id, and how long
    outcomes take. Every setting has a comment with its reason. Reads only a sample.
    """
    from monitor.logs.discovery import configuration, guess

    _must_be_free(target)
    with err.status("looking at the logs") as status:
        guessed = guess(paths, status.update)
    for left_out in guessed.left_out:
        err.print(f"left out: {left_out}", **PLAIN)
    commands = _next_commands(guessed.models, target)
    folder = Path.cwd() if target == STDOUT else Path(target).absolute().parent
    text = configuration([_relative(each, folder) for each in guessed.models], commands)
    if target == STDOUT:
        write_out(text)
        return
    _write(target, text)
    if as_json:
        models = {each.name: each for each in guessed.models}
        print_json({"written": target, "models": models, "left_out": guessed.left_out})
        return
    for each in guessed.models:
        say(f"{each.name}:")
        for setting in each.settings:
            if setting.active:
                say(f"  {_key(setting)}: {setting.value}", **PLAIN)
        say_doubts("  ", each.doubts)
    say(f"written: {target}, with the reason of every setting. Read it, then run:", **PLAIN)
    say("\n".join(f"  {command}" for command in commands), **PLAIN)


def _must_be_free(target: str) -> None:
    if target != STDOUT and os.path.lexists(target):
        msg = (
            f"--out {target}: exists already, and init overwrites nothing; name another file with "
            f"--out, or print to standard output with --out -."
        )
        raise ConfigError(msg)


def _write(target: str, text: str) -> None:
    with writing(target):
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        with Path(target).open("x", encoding="utf-8") as file:
            file.write(text)


def _relative(each: "Guess", folder: Path) -> "Guess":
    """Write paths below the folder of the configuration relative to it."""
    above = f"{literal(str(folder))}/"
    settings = (
        replace(s, value=s.value.removeprefix(above)) if s.key == "path" else s
        for s in each.settings
    )
    return replace(each, settings=tuple(settings))


def _next_commands(guesses: "Sequence[Guess]", target: str) -> list[str]:
    """List what to run next."""
    config = "" if target in (STDOUT, "monitor.yaml") else f" --config {shlex.quote(target)}"
    program = "calibration-monitor"
    commands = [f"{program} check{config}"]
    for each in guesses:
        if each.days:
            of_days = f"--from {each.days[0]} --to {each.days[1]}"
            commands.append(f"{program} backfill{config} --model {each.name} {of_days}")
    return [*commands, *(f"{program} show{config} --model {each.name}" for each in guesses)]


def _key(setting: "Setting") -> str:
    return f"{setting.section}.{setting.key}" if setting.section else setting.key
