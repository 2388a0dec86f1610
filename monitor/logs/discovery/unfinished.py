"""A configuration of logs that could not be paired: what cannot be guessed is a TODO."""

from collections.abc import Iterator, Sequence

from monitor.config import TODO
from monitor.logs.discovery.pairing import is_dated
from monitor.logs.discovery.roles import candidates as roles
from monitor.logs.discovery.roles.keys import Key
from monitor.logs.discovery.roles.meanings import about_confidence, parts_of_one
from monitor.logs.discovery.roles.unread import could_be_score, how_to_map
from monitor.logs.discovery.samples.columns import in_sql
from monitor.logs.discovery.samples.reading import Log, about_twins
from monitor.logs.discovery.settings import Setting, day_of, how_words_may_mean, place_of

MOST_SHOWN = 12  # columns in a comment


def most_likely(logs: Sequence[Log]) -> tuple[Log | None, Log | None]:
    """Choose the logs that could be the predictions and the outcomes of a model."""
    scored = (
        [log for log in logs if roles.scores(log.columns)]
        or [log for log in logs if any(map(could_be_score, log.columns))]
        or [log for log in logs if log.twins]
    )
    ours = max(scored, key=lambda log: len(log.days), default=None)
    observed = [log for log in logs if roles.outcomes(log.columns)]
    beside = [log for log in observed if roles.outcomes_beside(log.columns)]
    apart = [log for log in observed if log is not ours] or beside
    apart = apart or [log for log in observed if log.twins]
    theirs = max(
        apart, key=lambda log: (roles.outcomes(log.columns)[0].points, len(log.days)), default=None
    )
    others = [log for log in logs if log is not theirs and (log.days or is_dated(log))]
    if ours is None and theirs is not None:  # its score may be within a column
        ours = max(others, key=lambda log: len(log.days), default=None)
    return ours, theirs


def settings_to_decide(scored: Log | None, observed: Log | None, key: Key | None) -> list[Setting]:
    """List what is known of two logs, and what a person has to decide."""
    if key and scored and observed:
        casts = [Setting("", "ids", {"cast": key.cast})] if key.cast else []
        return [
            *_place("predictions", scored),
            _known_id("predictions", scored, key),
            *_score(scored),
            *_place("outcomes", observed),
            _known_id("outcomes", observed, key),
            *_outcome(observed),
            *casts,
        ]
    settings = [*_place("predictions", scored)]
    if observed is not None and observed is scored:
        together = Setting("outcomes", "in_predictions", True, "The only log that was found.")
        return [*settings, *_score(scored), together, *_outcome_beside(observed)]
    return [
        *settings,
        *_id("predictions", scored),
        *_score(scored),
        *_place("outcomes", observed),
        *_id("outcomes", observed),
        *_outcome(observed),
    ]


def _place(section: str, log: Log | None) -> Iterator[Setting]:
    if log is None:
        why = f"No log that could be the {section} was found: such as {section}/{{day}}.parquet."
        yield Setting(section, "path", TODO, why)
        return
    yield from place_of(section, log)
    if not is_dated(log):
        why = (
            f"The column that says the day of a row, a date, a time or ISO text; of another form "
            f"such as 01/02/2026 write {{sql: \"strptime(NAME, '%d/%m/%Y')\"}}. {_list(log)}"
        )
        yield Setting(section, "day", TODO, why)
    elif not log.days:
        yield Setting(section, "day", day_of(log, roles.times(log.columns)[0]))


def _id(section: str, log: Log | None) -> Iterator[Setting]:
    why = (
        "The column, or a list of columns, that identifies a prediction in both logs; if both "
        "write it differently, also set ids: {cast: integer}, uuid or text."
    )
    yield Setting(section, "id", TODO, f"{why} {_list(log)}".rstrip())


def _known_id(section: str, log: Log, key: Key) -> Setting:
    names, read = (
        (key.scored, key.read[0]) if section == "predictions" else (key.observed, key.read[1])
    )
    if read != "{}":
        within = log.inner.get(names[0], in_sql(names[0]))
        return Setting(section, "id", {"sql": read.format(within)})
    named = [log.inner.get(name, name) for name in names]
    value = {"sql": named[0]} if names[0] in log.inner and len(names) == 1 else None
    return Setting(section, "id", value or (names[0] if len(names) == 1 else list(names)))


def _score(log: Log | None) -> Iterator[Setting]:
    if log and (parts := parts_of_one(log.columns)):
        why = (
            f"{', '.join(parts)} add up to 1, so the model has several classes: write classes: "
            f"{{names: [NAME, …], columns: [{', '.join(parts)}]}}, with the values of the outcome "
            f"as names. If it has not, write score: COLUMN in place of classes."
        )
        yield Setting("predictions", "classes", TODO, why)
        return
    if log and (scores := roles.scores(log.columns)):
        yield from _chosen("predictions", "score", scores[0])
        return
    twins = about_twins(log.twins) if log else []
    hints = [f"{doubt[0].upper()}{doubt[1:]}" for doubt in twins]
    named = [c for c in log.columns if could_be_score(c)] if log else []
    said = " ".join([*map(how_to_map, named), *(f"{hint}." for hint in hints)])
    why = f"The column with the predicted probability, a number. {said} {_list(log)}".rstrip()
    yield Setting("predictions", "score", TODO, why)


def _chosen(section: str, key: str, candidate: roles.Candidate) -> Iterator[Setting]:
    """Give the column of a role, and what its values mean."""
    yield Setting(section, key, candidate.column, candidate.reason)
    if candidate.unknown_words:
        yield Setting(section, f"{key}_means", TODO, how_words_may_mean(candidate))
    elif (means := f"{key}_means") in candidate.settings:
        yield Setting(section, means, candidate.settings[means])


def _outcome_beside(log: Log) -> Iterator[Setting]:
    """Give the outcome in a log whose scores predict none of the columns that may be it."""
    candidates = [c.column for c in roles.outcomes_beside(log.columns)]
    if len(candidates) == 1:
        yield from _outcome(log)
        return
    score = roles.scores(log.columns)[0].column if roles.scores(log.columns) else ""
    doubts = about_confidence(log.column(score), log.columns) if score else []
    why = (
        f"The column with what came true: one of {', '.join(candidates)}; the score predicts none "
        f"of them as it stands, so it could not be measured which."
    )
    yield Setting("outcomes", "outcome", TODO, " ".join([why, *(f"{d}." for d in doubts)]))


def _outcome(log: Log | None) -> Iterator[Setting]:
    if log and (outcomes := roles.outcomes(log.columns)):
        yield from _chosen("outcomes", "outcome", outcomes[0])
        return
    why = (
        "The column with what happened, 0 or 1. For other values add outcome_means: {positive: "
        "[fraud], negative: [ok]}; if the log holds only positives, such as clicks, write outcome: "
        f"null and absent_means: negative after 7d. {_list(log)}"
    )
    yield Setting("outcomes", "outcome", TODO, why.rstrip())


def _list(log: Log | None) -> str:
    if log is None:
        return ""
    columns = ", ".join(f"{c.name} {c.type}" for c in log.columns[:MOST_SHOWN])
    nested = ", ".join(f"{name} {type_}" for name, type_ in log.nested[:MOST_SHOWN])
    fields = f' Of a map or a list write {{sql: "NAME[1]"}}: {nested}.' if nested else ""
    return f"The log has: {columns}.{fields}"
