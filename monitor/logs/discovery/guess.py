"""Folders of logs become guesses of configurations. Public face of this folder."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from monitor.config import Engine
from monitor.errors import ConfigError, DataError
from monitor.logs.discovery import roles
from monitor.logs.discovery.columns import NUMBERS
from monitor.logs.discovery.listing import Survey, survey
from monitor.logs.discovery.pairing import Pair, is_dated, pair_logs, read_logs
from monitor.logs.discovery.reading import Log
from monitor.logs.discovery.settings import Setting, settings_of, span
from monitor.logs.session import open_session

GENERIC = {
    *("predictions", "prediction", "scores", "score", "outcomes", "outcome", "labels", "log"),
    *(
        "logs",
        "data",
        "tmp",
        "raw",
        "parquet",
        "csv",
        "json",
        "files",
        "out",
        "output",
        "inference",
    ),
    *("prod", "production", "scored", "events", "export", "exports", "warehouse", "lake", "tables"),
}
UNDATED = "neither its path nor a column dates its rows"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{1,62}")


@dataclass(frozen=True)
class Guess:
    """A model: its name and settings, the days that can be processed, and what is unsure."""

    name: str
    settings: tuple[Setting, ...]
    days: tuple[date, date] | None
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Guesses:
    """The models that were found, and the logs that are left out, each with the reason."""

    models: tuple[Guess, ...]
    left_out: tuple[str, ...]


def guess(paths: Sequence[str], on_progress: Callable[[str], None] = lambda _: None) -> Guesses:
    """Guess the configuration of every model whose logs lie below some paths.

    Parameters
    ----------
    paths : sequence of str
        Folders, files, or URLs of an object store.
    on_progress : callable
        Is called with a few words before every step.

    Raises
    ------
    ConfigError
        If a path does not exist, or no predictions with outcomes are found; the message says what
        was found instead, and what to do.
    """
    on_progress("listing files")
    surveys = survey(paths)
    with open_session("init", Engine()) as session:
        session.connection.execute("SET preserve_insertion_order = true")  # the same sample always
        logs, problems = read_logs(session, surveys, on_progress)
        pairs = pair_logs(session, logs, on_progress)
    if not pairs:
        raise _nothing(surveys, logs, problems)
    models = (
        Guess(name, tuple(settings_of(pair)), span(pair), pair.doubts)
        for name, pair in zip(_names(pairs), pairs, strict=True)
    )
    used = {log.place for pair in pairs for log in (pair.scored, pair.observed)}
    unused = [
        f"{log.place}: {'belongs to no model' if is_dated(log) else UNDATED}"
        for log in logs
        if log.place not in used
    ]
    return Guesses(tuple(models), (*unused, *map(str, problems)))


def _names(pairs: Sequence[Pair]) -> list[str]:
    """Name each model after the last folder that does not only say what lies in it."""
    names = list[str]()
    for pair in pairs:
        folders = [
            f for f in re.split(r"/", pair.scored.place)[:-1] if "{" not in f and "*" not in f
        ]
        telling = [
            f for f in folders if f.lower() not in GENERIC and "=" not in f and NAME.fullmatch(f)
        ]
        name = telling[-1] if telling else "model"
        names.append(name if name not in names else f"{name}-{len(names) + 1}")
    return names


def _nothing(
    surveys: Sequence[Survey], logs: Sequence[Log], problems: Sequence[ConfigError | DataError]
) -> ConfigError | DataError:
    """Say what was found where no predictions with outcomes were."""
    roots = ", ".join(whole.root for whole in surveys)
    unreadable = [place for whole in surveys for place in whole.unreadable]
    unusable = [name for whole in surveys for name in whole.unusable.values()]
    if logs:
        return ConfigError("\n".join([*_found(roots, logs), *map(str, problems)]))
    if problems:
        return type(problems[0])("\n".join(map(str, problems)))
    if unreadable:
        msg = (
            f"{unreadable[0]}: may not be read by this user; grant read permission, then run again."
        )
        return DataError(msg)
    if unusable:
        msg = (
            f"{roots}: has no Parquet, CSV or JSON files, only others such as {unusable[0]}; "
            f"pass the folder of your logs, or convert them to Parquet."
        )
        return ConfigError(msg)
    return ConfigError(f"{roots}: has no files; pass the folder, or the files, of your logs.")


def _found(roots: str, logs: Sequence[Log]) -> list[str]:
    scored = [log for log in logs if roles.scores(log.columns)]
    observed = [log for log in logs if roles.outcomes(log.columns)]
    lines = [f"{roots}: " + _lacking(scored, observed)]
    named = [c for log in logs for c in log.columns if not scored and roles.is_named_score(c)]
    lines += [
        f"  column '{c.name}' is named like a score, but is {c.type}"
        + (f" from {c.least:.4g} to {c.greatest:.4g}" if c.kind in NUMBERS else "")
        + "; write it as a number from 0 to 1."
        for c in named
    ]
    for log in logs:
        columns = ", ".join(f"{c.name} {c.type}" for c in log.columns[:12])
        undated = "" if is_dated(log) else f" ({UNDATED})"
        lines.append(f"  {_shown(log)}: {columns}{undated}")
    return lines


def _shown(log: Log) -> str:
    return log.pattern.template or log.place


def _lacking(scored: Sequence[Log], observed: Sequence[Log]) -> str:
    if scored and observed:
        return (
            "has predictions and outcomes, but no column that both have and that tells predictions "
            "apart; a log of outcomes needs the ids of the predictions. These logs were found:"
        )
    if scored:
        return (
            f"has predictions ({_shown(scored[0])}, score "
            f"{roles.scores(scored[0].columns)[0].column}), but no outcomes; pass their folder "
            f"too: calibration-monitor init PREDICTIONS OUTCOMES. These logs were found:"
        )
    if observed:
        return (
            "has columns that could be outcomes, but no scores (numbers from 0 to 1); pass the "
            "folder of the predictions too: calibration-monitor init PREDICTIONS OUTCOMES. These "
            "logs were found:"
        )
    return (
        "has neither scores (numbers from 0 to 1) nor outcomes (0 or 1); pass the folder of your "
        "logs. These were found:"
    )
