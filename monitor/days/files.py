"""The files of a day: find those that a path template names, and the days that have any."""

import os
import re
from collections.abc import Callable, Sequence
from datetime import date, datetime
from itertools import pairwise
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Any

from monitor.base.errors import DataError
from monitor.base.files import (
    is_local,
    is_looking_once,
    list_folder,
    once,
    open_filesystem,
    reaching,
    version_of,
)
from monitor.config import DAY_DIRECTIVES, ISO_DAY

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

DAY_FIELD = re.compile(r"\{day(?::[^}]*)?\}")
DIRECTIVE = re.compile(r"(%-?\w)")
GLOB_SIGN = re.compile(r"(\*\*/?|\*|\?|\[[^]]+\])")
GLOB_START = re.compile(r"[*?[]")
GLOB_MEANING = {"**/": "(?:.+/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def list_days(template: str) -> list[date]:
    """List the days for which a path template has a file or folder, in order."""
    filesystem, path = open_filesystem(template)
    *_, last_field = DAY_FIELD.finditer(path)
    end = path.find("/", last_field.end())
    with reaching(template):
        wildcard, name_pattern, directives = _day_pattern(path if end < 0 else path[:end])
        names = _find(filesystem, wildcard)
    matches = filter(None, map(name_pattern.fullmatch, names))
    days = {_day_written(match.groups(), directives) for match in matches}
    return sorted(day for day in days if day)


def list_files(template: str, day: date) -> list[str]:
    """List the files of one day as names that `open_filesystem` understands, in order."""
    filesystem, path = open_filesystem(template.format(day=day))
    with reaching(path):
        return sorted(filesystem.unstrip_protocol(name) for name in _files(filesystem, path))


def describe_files(template: str, day: date) -> list[list[str]]:
    """Describe the files of one day so that a change of any of them is noticed."""
    filesystem, path = open_filesystem(template.format(day=day))
    with reaching(path):
        details = _files(filesystem, path)
        return [
            [name, str(info["size"]), version_of(info)] for name, info in sorted(details.items())
        ]


def _files(filesystem: "AbstractFileSystem", path: str) -> dict[str, dict[str, Any]]:
    """Find the files that match a wildcard; ** means those in every folder, not the folders."""
    entries = _find(filesystem, path)
    if "**" not in path:
        return entries
    return {name: info for name, info in entries.items() if info["type"] != "directory"}


def _find(filesystem: "AbstractFileSystem", path: str) -> dict[str, dict[str, Any]]:
    """Find the files that match a wildcard, with their details.

    Raises
    ------
    DataError
        If a folder on this machine may not be read, in which a wildcard would find nothing.
    """
    if is_local(filesystem):
        entries = once(filesystem, path, lambda: _find_here(filesystem, path))
    else:
        entries = _seen_once(filesystem, path)
    return {name: details for name, details in entries.items() if not _is_hidden(name, path)}


def _find_here(filesystem: "AbstractFileSystem", path: str) -> dict[str, dict[str, Any]]:
    # A user who may enter the folder of a file may enter all above it, and need not list any.
    if GLOB_START.search(path) or not os.access(Path(path).parent, os.X_OK, effective_ids=True):
        levels = pairwise([Path(path), *Path(path).parents])
        for below, folder in reversed([*levels]):
            _must_be_readable(filesystem, str(folder), listed=bool(GLOB_SIGN.search(below.name)))
    return filesystem.glob(path, detail=True)  # type: ignore[no-any-return]


def _seen_once(filesystem: "AbstractFileSystem", path: str) -> dict[str, dict[str, Any]]:
    """Find files in an object store; those without a wildcard in the listing of their folder."""
    if not is_looking_once():
        return filesystem.glob(path, detail=True)  # type: ignore[no-any-return]
    if GLOB_SIGN.search(path):
        return once(filesystem, path, lambda: filesystem.glob(path, detail=True))
    folder = path.rpartition("/")[0]
    listed = list_folder(filesystem, folder)
    return {path: listed[path]} if path in listed else {}


def _is_hidden(name: str, pattern: str) -> bool:
    """Tell whether a wildcard met a name that begins with _ or a dot, such as _SUCCESS.

    Spark, Hive and editors keep their own files under such names beside the data. A pattern that
    itself writes a name with this sign means it.
    """
    sign = GLOB_SIGN.search(pattern)
    if sign is None:
        return False
    literal = pattern.rfind("/", 0, sign.start()) + 1
    asked = {part[:1] for part in pattern[literal:].split("/")}
    met = {part[:1] for part in name[literal:].split("/")}
    return bool((met - asked).intersection("_."))


def _must_be_readable(filesystem: "AbstractFileSystem", pattern: str, *, listed: bool) -> None:
    """Raise DataError for a folder that this user may not enter, or not list where needed."""
    needed = os.X_OK | (os.R_OK if listed else 0)
    folders = filesystem.glob(pattern) if GLOB_SIGN.search(pattern) else [pattern]
    for folder in folders:
        if Path(folder).is_dir() and not os.access(folder, needed, effective_ids=True):
            msg = (
                f"{folder}: may not be read by this user; grant read and execute permission, then "
                f"run again."
            )
            raise DataError(msg)


def _day_pattern(template: str) -> tuple[str, re.Pattern[str], list[str]]:
    """Return a wildcard for the names of all days, and a pattern that parses such a name.

    Returns
    -------
    tuple of (str, Pattern, list of str)
        The wildcard; a pattern with one group for each directive; those directives.
    """
    wildcard, pattern, directives = "", "", list[str]()
    for literal, field, given, _ in Formatter().parse(template):
        pattern += _translate(literal, GLOB_SIGN, _glob_meaning)
        wildcard += literal
        if field:
            written = given or ISO_DAY
            pattern += _translate(written, DIRECTIVE, _digits)
            wildcard += DIRECTIVE.sub(lambda part: _any_digits(part[0]), written)
            directives += DIRECTIVE.findall(written)
    return wildcard, re.compile(pattern), directives


def _digits(directive: str) -> str:
    """Translate a part of a date into a regular expression."""
    least, most = DAY_DIRECTIVES[directive]
    return rf"(\d{{{least},{most}}})"


def _any_digits(directive: str) -> str:
    """Translate a part of a date into a wildcard, which has no form for one digit or two."""
    least, most = DAY_DIRECTIVES[directive]
    return "?" * least if least == most else "*"


def _glob_meaning(sign: str) -> str:
    """Translate one wildcard character into a regular expression."""
    if sign in GLOB_MEANING:
        return GLOB_MEANING[sign]
    members = re.sub(r"([\\[&~|^])", r"\\\1", sign[1:-1])
    return f"[^{members[1:]}]" if members.startswith("!") else f"[{members}]"


def _translate(text: str, special: re.Pattern[str], meaning: Callable[[str], str]) -> str:
    """Turn a text with special parts into a regular expression."""
    parts = special.split(text)
    return "".join(meaning(p) if i % 2 else re.escape(p) for i, p in enumerate(parts))


def _day_written(parts: Sequence[str], directives: Sequence[str]) -> date | None:
    """Read a day from parts of a name; None if they are not a day or contradict each other."""
    first = dict(zip(directives, parts, strict=True))
    form = " ".join(first).replace("-", "")  # reads numbers with and without leading zeros
    try:
        day = datetime.strptime(" ".join(first.values()), form).date()  # noqa: DTZ007 - a calendar day
    except ValueError:
        return None
    same = all(day.strftime(d) == part for d, part in zip(directives, parts, strict=True))
    return day if same else None
