"""Folders of logs become guesses of configurations. Public face of this folder."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from textwrap import shorten

from monitor.base.errors import ConfigError, DataError
from monitor.base.files import looking_once
from monitor.config import TODO, Engine
from monitor.logs.discovery.gathering import is_query, open_query, read_logs, with_rows_of_lists
from monitor.logs.discovery.pairing import Pair, Setting, is_dated, pair_logs
from monitor.logs.discovery.roles import rules
from monitor.logs.discovery.samples.listing import Survey, survey
from monitor.logs.discovery.samples.profile import EXACT
from monitor.logs.discovery.samples.reading import Log
from monitor.logs.discovery.settings import how_to_map, settings_of, span, unfinished
from monitor.logs.discovery.trying import tried
from monitor.logs.engines.session import open_session, readable
from monitor.words.guesses import say_lacking

GENERIC = rules.several(
    "predictions prediction scores score outcomes outcome labels log logs data tmp raw "
    "parquet csv json files out output inference prod production scored events export "
    "exports warehouse lake tables"
)
MOST_NAMED = 3  # logs
MOST_COLUMNS, WIDTH = 30, 60  # of a log, and signs of a type
UNDATED = "neither its path nor a column dates its rows"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{1,62}")
LOST = (
    ": each stands for several whole numbers, because a {} holds them one by one only up to {:,}; "
    "if these are ids, they were lost when the log was written: write them as integers or text"
)


@dataclass(frozen=True)
class Guess:
    """A model that was found.

    Attributes
    ----------
    name : str
        Its name.
    settings : tuple of Setting
        In the order in which they are written.
    days : tuple of (date, date), or None
        The first and the last day that can be processed.
    doubts : tuple of str
        What is unsure.
    as_of : date or None
        The day after the newest outcomes: what had come by then can be checked.
    """

    name: str
    settings: tuple[Setting, ...]
    days: tuple[date, date] | None
    doubts: tuple[str, ...] = ()
    as_of: date | None = None

    @property
    def to_decide(self) -> list[Setting]:
        """The settings that a person has to decide."""
        return [setting for setting in self.settings if setting.value == TODO]


@dataclass(frozen=True)
class Guesses:
    """The models that were found, and what was not understood.

    Attributes
    ----------
    models : tuple of Guess
        At least one.
    left_out : tuple of str
        The logs that are left out, each with the reason.
    lacking : str
        What is missing for a model, if none is complete.
    """

    models: tuple[Guess, ...]
    left_out: tuple[str, ...]
    lacking: str = ""


def guess(
    paths: Sequence[str],
    on_progress: Callable[[str], None] = lambda _: None,
    *,
    connection: str | None = None,
) -> Guesses:
    """Guess the configuration of every model whose logs lie below some paths.

    Parameters
    ----------
    paths : sequence of str
        Folders, files, or URLs of an object store; with a connection also queries.
    on_progress : callable
        Is called with a few words before every step.
    connection : str, optional
        The environment variable with the address of the database that the queries are for.

    Raises
    ------
    ConfigError
        If a path does not exist, or has no logs; the message says what was found instead, and what
        to do.
    DataError
        If no log can be read.
    """
    on_progress("listing files")
    queries = [path for path in paths if is_query(path)]
    if queries and not connection:
        msg = (
            f"{queries[0]!r}: is a query; name the environment variable that holds the address of "
            f"its database: --connection WAREHOUSE_URL."
        )
        raise ConfigError(msg)
    surveys = survey([path for path in paths if path not in queries])
    # One snapshot of a database for all that is asked of it.
    with looking_once(), open_session("init", Engine()) as session:
        session.connection.execute("SET preserve_insertion_order = true")  # the same sample
        logs, problems = read_logs(session, surveys, on_progress)
        for number, sql in enumerate(queries):
            on_progress("reading a sample of a query")
            found = open_query(session, sql, f"{connection}", f"query_{number}")
            logs += with_rows_of_lists(session, found)
        pairs = pair_logs(session, logs, on_progress) or [unfinished(session, logs)]
    if not logs:
        raise _nothing(surveys, problems)
    complete = pairs[0].arrived is not None
    used = {log.place for pair in pairs for log in (pair.scored, pair.observed) if log}
    unused = [log for log in logs if complete and log.place not in used]
    files = [f"{s.root}/{n}" for s in surveys for n in s.unusable.values() if not complete]
    left_out = [
        *(f"{of.place}: {'belongs to no model' if is_dated(of) else UNDATED}" for of in unused),
        *(*session.refused.values(), *map(str, problems)),
        *(f"{file}: is no Parquet, CSV or JSON file that can be read" for file in files),
    ]
    models = list[Guess]()
    for pair in pairs:
        name, names = _name(pair.scored or pair.observed or logs[0]), [m.name for m in models]
        name = name if name not in names else f"{name}-{len(names) + 1}"
        on_progress(f"trying the configuration of {name}")
        models.append(_model(name, pair))
    lacking = "" if complete else "\n".join(_found(", ".join(s.root for s in surveys), logs))
    return Guesses(tuple(models), tuple(dict.fromkeys(left_out)), lacking)


def _model(name: str, pair: Pair) -> Guess:
    """Write the settings of a model, and try them if none is left to decide."""
    settings, doubts = settings_of(pair), [*pair.doubts]
    ends = pair.observed.ends if pair.observed and pair.arrived else None
    as_of = ends[1] + timedelta(1) if ends else None
    if as_of and not any(setting.value == TODO for setting in settings):
        repeats = 1 - pair.key.uniqueness if pair.key else 0.0
        settings, further = tried(settings, as_of, repeats)
        doubts += further
    days = span(pair) if pair.arrived else None
    return Guess(name, tuple(settings), days, tuple(doubts), as_of)


def _name(log: Log) -> str:
    """Name a model after the last folder that does not only say what lies in it."""
    above = [] if log.format == "sql" else log.place.split("/")[:-1]
    folders = [f for f in above if NAME.fullmatch(f) and f.lower() not in GENERIC]
    return log.question if NAME.fullmatch(log.question) else [*folders[-1:], "model"][0]


def _nothing(
    surveys: Sequence[Survey], problems: Sequence[ConfigError | DataError]
) -> ConfigError | DataError:
    """Say what was found where no logs were."""
    roots = ", ".join(whole.root for whole in surveys)
    unreadable = [place for whole in surveys for place in whole.unreadable]
    unusable = [name for whole in surveys for name in whole.unusable.values()]
    if problems:
        return type(problems[0])("\n".join(map(str, problems)))
    if unreadable:
        said = "may not be read by this user; grant read permission, then run again."
        return DataError(f"{unreadable[0]}: {said}")
    if unusable:
        msg = (
            f"{roots}: has no Parquet, CSV or JSON files, only others such as {unusable[0]}; "
            f"pass the folder of your logs, or convert them to Parquet."
        )
        return ConfigError(msg)
    return ConfigError(f"{roots}: has no files; pass the folder, or the files, of your logs.")


def _found(roots: str, logs: Sequence[Log]) -> list[str]:
    """Say what is missing for a model, and list the logs with their columns."""
    scored = [log for log in logs if rules.scores(log.columns)]
    lines = [f"{roots}: {_lacking(scored, logs)} These logs were found:"]
    named = [c for log in logs for c in log.columns if not scored and rules.could_be_score(c)]
    lines += [f"  {how_to_map(c)}" for c in named]
    for log in logs:
        undated = "" if is_dated(log) else f" ({UNDATED})"
        lines.append(f"  {log.place.removeprefix(f'{roots}/')}:{undated}")
        lost = {c.name: LOST.format(c.type, EXACT[c.type]) for c in log.columns if c.lost}
        types = {c.name: c.type for c in log.columns if not c.sql} | dict(log.nested)
        lines += [
            f"    {name} {shorten(type_, WIDTH, placeholder='…')}{lost.get(name, '')}"
            for name, type_ in [*types.items()][:MOST_COLUMNS]
        ]
    return lines


def _lacking(scored: Sequence[Log], logs: Sequence[Log]) -> str:
    """Say what is missing for a model, and what to do."""
    observed = [log for log in logs if rules.outcomes(log.columns)]
    twins = readable(twin for log in logs for twin in log.twins)
    if twins and not scored:
        return say_lacking("twins", names=", ".join(twins))
    if scored and observed:
        one = [*scored] == observed and len(observed) == 1
        return say_lacking("no prediction" if one else "no id")
    if scored:
        place, score = "/".join(scored[0].place.split("/")[-2:]), rules.scores(scored[0].columns)[0]
        return say_lacking("no outcomes", names=f"{place}, score {score.name}")
    if not observed:
        return say_lacking("neither")
    names = ", ".join(log.place.rpartition("/")[2] for log in observed[:MOST_NAMED])
    several = sum(map(is_dated, logs)) > 1
    return say_lacking("no score" if several else "no predictions", names=names)
