"""Files of one folder that are parts of one log, though their names differ by more than numbers.

Rule: what has the same columns, and ids of its own, is one log. A second model beside the first has
the same ids, and its columns are those of the first; a version says so in its name.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from os.path import commonprefix

from monitor.logs.discovery.roles.keys import ID_KINDS, ROWS_PER_PARTITION, UNIQUE
from monitor.logs.discovery.samples.columns import Column
from monitor.logs.discovery.samples.listing import Survey
from monitor.logs.discovery.samples.naming import Pattern
from monitor.logs.discovery.samples.reading import PARTITION, Log, open_log
from monitor.logs.discovery.samples.rows import ask, open_rows
from monitor.logs.engines.conversions import quoted
from monitor.logs.engines.session import Session

VERSION = re.compile(r"(?<![A-Za-z])[vV]\d")
MOST_SHARED = 0.01  # of the ids: of a log that is cut into parts, none is in two
SHORT = 2  # signs of a name that says nothing


def with_parts_together(session: Session, found: Sequence[tuple[Survey, Log]]) -> list[Log]:
    """Put the parts of each log together; the others stay as they are, in their order.

    Parameters
    ----------
    session : Session
        Has the samples.
    found : sequence of (Survey, Log)
        The logs, each with the survey that its files are from.

    Raises
    ------
    DataError
        If the parts cannot be read together.
    """
    alike = defaultdict[tuple[object, ...], list[tuple[Survey, Log]]](list)
    for whole, log in found:
        folder, _, _ = log.pattern.template.rpartition("/")
        names = frozenset(c.name for c in log.columns), frozenset(name for name, _ in log.nested)
        # What is written now has no day in its name yet, and is no part of what has.
        alike[whole.root, folder, log.format, log.pattern.dated, *names].append((whole, log))
    logs = [log for _, log in found]
    for (whole, first), *others in alike.values():
        parts = [first, *(log for _, log in others)]
        template = _template([log.pattern.template for log in parts]) if others else ""
        rest = [log.pattern.template for log in logs if log not in parts]
        if not template or any(map(_pattern_of(template).fullmatch, rest)):
            continue
        following = [*parts[1:], first]
        if all(_has_own_ids(session, *two) for two in zip(parts, following, strict=True)):
            place = logs.index(first)
            logs = [log for log in logs if log not in parts[1:]]
            logs[place] = _joined(session, whole, template, parts)
    return logs


def _template(templates: Sequence[str]) -> str:
    """Write a template that has all of these; empty if only one log each has the name.

    Examples
    --------
    >>> _template(["{day}/part-a.parquet", "{day}/part-b.parquet"])
    '{day}/part-*.parquet'
    >>> _template(["data.1.log.{day}", "data.2.log.{day}"])
    'data.*.log.{day}'
    >>> _template(["scores-{day}.parquet", "clicks-{day}.parquet"])
    ''
    """
    before = _begin(templates)
    after = _begin([template[: len(before) - 1 : -1] for template in templates])[::-1]
    middles = [template[len(before) : len(template) - len(after)] for template in templates]
    differ = before.count("{") == before.count("}") and not any("/" in m for m in middles)
    if not differ or any(map(VERSION.search, templates)):
        return ""
    # Before the day, only numbers are parts: those of the workers of a service.
    are_parts = "{day" in before or all(map(str.isdecimal, middles))
    return re.sub(r"\*+", "*", f"{before}*{after}") if are_parts else ""


def _begin(texts: Sequence[str]) -> str:
    """Return what all texts begin with."""
    return commonprefix([*texts])  # noqa: RUF071 - of texts, not of folders


def _pattern_of(template: str) -> re.Pattern[str]:
    before, _, after = template.rpartition("*")
    return re.compile(f"{re.escape(before)}[^/]*{re.escape(after)}")


def _has_own_ids(session: Session, log: Log, other: Log) -> bool:
    """Tell whether a column that tells rows apart has values that the other log has not."""
    name = next((c.name for c in log.columns if _is_id(c)), None)
    day = next((day for day in log.sampled if day in other.days), None)
    rows = open_rows(session, other.source, day, most=ROWS_PER_PARTITION) if name and day else None
    if name is None or rows is None:
        return False
    rows.create_view("some_rows", replace=True)
    column = quoted(name)
    as_text = f"CAST({column} AS VARCHAR)"
    shared = f"avg(({as_text} IN (SELECT {as_text} FROM some_rows))::INT)"
    of_day = f"FROM {log.table} WHERE {quoted(PARTITION)} = DATE '{day}' AND {column} IS NOT NULL"
    (share,) = ask(session, f"SELECT {shared} {of_day}")
    return share is not None and share < MOST_SHARED


def _is_id(column: Column) -> bool:
    return column.kind in ID_KINDS and column.first is None and column.uniqueness >= UNIQUE


def _joined(session: Session, whole: Survey, template: str, parts: Sequence[Log]) -> Log:
    """Read a sample of the parts as one log."""
    files = sorted(name for log in parts for name in log.pattern.files)
    pattern = Pattern(template, dated=True, files=tuple(files), keys=parts[0].pattern.keys)
    log = open_log(session, whole, pattern, f"{parts[0].table}_together")
    names = [part.pattern.template.rpartition("/")[2] for part in parts]
    stems = [re.sub(r"\W|\d|_", "", name.partition(".")[0]) for name in names]
    if max(map(len, stems)) - len(_begin(stems)) <= SHORT:
        return log
    doubt = (
        f"{' and '.join(names)} have the same columns and different ids, so they are taken for "
        f"parts of one log; if they are two models, name each in the path of its own"
    )
    return replace(log, doubts=(*log.doubts, doubt))
