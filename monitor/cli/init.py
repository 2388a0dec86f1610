"""The command that writes a first configuration from a folder of logs."""

import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from datetime import datetime, time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from monitor.base.errors import ConfigError, DataError
from monitor.cli.days import check_logs
from monitor.cli.options import AsJson
from monitor.cli.printing import print_json, say, say_aside, say_doubts, stop_at, working, write_out

if TYPE_CHECKING:
    from monitor.logs.discovery import Guess, Setting

STDOUT = "-"
PLAIN: dict[str, Any] = {"soft_wrap": True, "highlight": False, "markup": False}


def init(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH...",
            help="Folders or files of logs; predictions and outcomes may lie in one folder or two. "
            "With --connection also queries.",
        ),
    ],
    target: Annotated[
        str, typer.Option("--out", help="The file to write; - for standard output.")
    ] = "monitor.yaml",
    connection: Annotated[
        str | None,
        typer.Option(
            "--connection",
            metavar="VARIABLE",
            help="The environment variable with the address of the database for queries.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Look at logs and write a configuration for them.

    Guesses where each day lies, which columns are the score, the outcome and the id, and how long
    outcomes take. Every setting has a comment with its reason; what cannot be guessed is TODO.
    Reads a sample to choose columns, then up to five days as a run does, of large days one, and
    checks one as check does.
    """
    from monitor.logs.discovery import guess

    _must_be_free(target)
    with working("looking at the logs") as status:
        guessed = guess(paths, status.update, connection=connection)
    for left_out in guessed.left_out:
        say_aside(f"left out: {left_out}")
    if guessed.lacking:
        say_aside(guessed.lacking)
    folder = Path.cwd() if target == STDOUT else Path(target).absolute().parent
    models = [_relative(each, folder) for each in guessed.models]
    if target == STDOUT:
        write_out(_text(models, target))
        return
    _write(target, _text(models, target))
    told = list[Callable[[], None]]()
    errors = dict[str, ConfigError | DataError]()
    for each in models:
        if not each.to_decide and (error := _check(each, target, told)):
            errors[each.name] = error
    if as_json:
        guesses = {each.name: {**asdict(each), "to_decide": each.to_decide} for each in models}
        failed = {name: f"{error}" for name, error in errors.items()}
        document: dict[str, object] = {"written": target, "models": guesses, "errors": failed}
        print_json({**document, "left_out": guessed.left_out})
    else:
        _say_all(models, target, told)
    stop_at([*errors.values()])


def _text(models: "Sequence[Guess]", target: str) -> str:
    from monitor.logs.discovery import configuration

    return configuration(models, _next_commands(models, target))


def _check(
    each: "Guess", target: str, told: list[Callable[[], None]]
) -> ConfigError | DataError | None:
    """Check a model of the file, and keep what it says."""
    from monitor.config import load_config

    config = load_config(Path(target), only=each.name)
    end = datetime.combine(each.as_of, time()) if each.as_of else None
    tell = lambda *said, **how: told.append(partial(say, *said, **how))  # noqa: E731
    _, errors = check_logs(config, each.name, None, end, tell)
    return errors[0] if errors else None


def _say_all(models: "Sequence[Guess]", target: str, told: Sequence[Callable[[], None]]) -> None:
    """Print the settings of every model, what is to decide, and what check says."""
    for each in models:
        say(f"{each.name}:")
        for setting in each.settings:
            if setting.active:
                say(f"  {_key(setting)}: {setting.value}", **PLAIN)
        for setting in each.to_decide:
            say(f"  to decide: {_key(setting)}: {setting.why}", style="yellow", **PLAIN)
    say(f"written: {target}, with the reason of every setting. Read it, then run:", **PLAIN)
    say("\n".join(f"  {command}" for command in _next_commands(models, target)), **PLAIN)
    for tell in told:
        tell()
    for each in models:
        if each.to_decide:
            say_doubts(f"{each.name}: ", each.doubts)
            number = len(each.to_decide)
            todo = "1 key is" if number == 1 else f"{number} keys are"
            say(f"{each.name}: not checked, because {todo} TODO.", **PLAIN)


def _must_be_free(target: str) -> None:
    if target != STDOUT and os.path.lexists(target):
        msg = (
            f"--out {target}: exists already, and init overwrites nothing; name another file with "
            f"--out, or print to standard output with --out -."
        )
        raise ConfigError(msg)


def _write(target: str, text: str) -> None:
    from monitor.base.files import writing

    with writing(target):
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        with Path(target).open("x", encoding="utf-8") as file:
            file.write(text)


def _relative(each: "Guess", folder: Path) -> "Guess":
    """Write paths below the folder of the configuration relative to it."""
    from monitor.config import literal

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
