"""The values of the segments' column that the configuration does not list.

Where they become many, or others than before, a person has to see which they are. Of a day the most
frequent ones are kept, and the number of rows without a value.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from monitor.base.segment_names import OTHER
from monitor.config import Model
from monitor.days.summary import Unlisted
from monitor.logs.checks.checks import Groups
from monitor.logs.columns.canonical import Logs
from monitor.logs.engines.steps import added, first_true, place

MOST = 10  # values of a day
LEAST_SHARE = 1_000  # a value with less than one row in so many is not named
LONGEST = 100  # characters of a value


def has_others(groups: Groups, model: Model) -> bool:
    """Say whether a day has rows whose value is not listed."""
    if model.segments is None:
        return False
    place = model.segment_names.index(OTHER) * len(model.stratum_names)
    return bool((groups.parts >= place).any())


def unlisted_values(logs: Logs, model: Model, groups: Groups, rows: int) -> Unlisted:
    """Find them among the predictions of a day, of which there are `rows`."""
    if not has_others(groups, model):
        return ()
    return _most_frequent(_of_others(logs, model, f"{rows}", (), "TRUE"))


def unlisted_among(rows: Mapping[str | None, int], model: Model, groups: Groups) -> Unlisted:
    """Find them among all values of a day, each with its predictions."""
    if model.segments is None or not has_others(groups, model):
        return ()
    total, listed = sum(rows.values()), {*model.segments.values}
    return _most_frequent(
        (value, count)
        for value, count in rows.items()
        if value is None or (value not in listed and count * LEAST_SHARE >= total)
    )


def unlisted_of_days(logs: Logs, model: Model, rows: Mapping[int, int]) -> dict[int, Unlisted]:
    """Find them on several days, given the predictions of each by the place of the day."""
    if not rows:
        return {}
    of = first_true([(f"day = {place}", f"{total}") for place, total in rows.items()], "0")
    own = f"predicted = 1 AND day IN ({', '.join(map(str, rows))})"
    counted = _of_others(logs, model, of, ("day",), own)
    return {
        place: _most_frequent((value, count) for of, value, count in counted if of == place)
        for place in rows
    }


def _of_others(
    logs: Logs, model: Model, rows: str, by: Sequence[str], own: str
) -> list[tuple[Any, ...]]:
    """Count the rows of each value that is not listed, unless it is rare among so many rows."""
    names = ", ".join([*by, "value"])
    values = ", ".join([*by, "CAST(segment AS STRING) AS value"])
    other = place(model.segments.values if model.segments else (), "value")
    common = f"value IS NULL OR ({other} IS NULL AND sum(rows) * {LEAST_SHARE} >= {rows})"
    return logs.fetch_rows(
        f"SELECT {names}, count(*) AS rows FROM valued GROUP BY {names}",
        [("valued", f"SELECT {values} FROM {logs.predictions} WHERE {own}")],
        f"{added(*by, 'value')} HAVING {common}",
    )


def _most_frequent(counted: Iterable[tuple[str | None, int]]) -> Unlisted:
    """Choose the most frequent values, after the rows without one."""
    ranked = sorted(counted, key=lambda one: (one[0] is not None, -one[1], one[0] or ""))
    most = MOST + any(value is None for value, _ in ranked)
    return tuple((None if v is None else v[:LONGEST], int(rows)) for v, rows in ranked[:most])
