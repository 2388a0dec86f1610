"""Names of files become path templates: where the day stands, and which parts vary.

Everything here is a function of names. Rule 1: of several dates in a name the first counts, because
a writer's own time stamp comes later, in the name of the part. Rule 2: folders before the day tell
logs apart; numbers after it, or between points before it, are parts of one log.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from monitor.config import ISO_DAY, literal

YEAR, MONTH, DAY = r"(?:19|20)\d\d", r"(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12]\d|3[01])"
LEVEL = r"(?<![^/])(?P<k{}>\w+=)?(?P<{}>{})"  # a folder such as 03, 3 or month=03
NESTED = re.compile(
    "/".join(
        [
            LEVEL.format("Y", "Y", YEAR),
            LEVEL.format("m", "m", r"\d\d?"),
            LEVEL.format("d", "d", r"\d\d?") + r"(?=[/.]|$)",
        ]
    )
)
MONTH_FOLDER = re.compile(
    rf"(?<!\d)(?P<Y>{YEAR})(?P<s>[-_.]?)(?P<m>{MONTH})/(?P<kd>\w+=)?(?P<d>{DAY})(?=[/.]|$)"
)
SEPARATED = re.compile(rf"(?<!\d)(?P<Y>{YEAR})(?P<s>[-_.])(?P<m>{MONTH})(?P=s)(?P<d>{DAY})(?!\d)")
COMPACT = re.compile(rf"(?<!\d)(?P<Y>{YEAR})(?P<m>{MONTH})(?P<d>{DAY})(?=\d{{0,6}}(?!\d))")
EUROPEAN = re.compile(rf"(?<!\d)(?P<d>{DAY})(?P<s>[-_.])(?P<m>{MONTH})(?P=s)(?P<Y>{YEAR})(?!\d)")
FORMS = (SEPARATED, NESTED, MONTH_FOLDER, COMPACT, EUROPEAN)

EXTENSION = re.compile(r"(\.[A-Za-z]\w{0,8}(\.(gz|zst|bz2))?)?$")
UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
NUMBER = re.compile(r"(?<![vV\d])\d+")  # v2 is a version, not a part
PART_BEFORE = re.compile(r"(?<=\.)\d+(?=\.)")  # data.1.log.2026-01-01 is of a worker
PART = re.compile(r"^(part|data|file|chunk|shard)([-_])\*.*$")
KEY_VALUE = re.compile(r"(?<![^/])([A-Za-z_]\w*)=[^/]*")
DATE_KEYS = {("year", 4): "%Y", ("month", 2): "%m", ("y", 4): "%Y", ("m", 2): "%m"}
MOST_NAMES = 4  # more differing names beside one another are parts of one log


@dataclass(frozen=True)
class Pattern:
    """Files that make one log.

    Attributes
    ----------
    template : str
        Their path template, relative to the folder that was searched.
    files : tuple of str
        The files seen, in order.
    """

    template: str
    files: tuple[str, ...]

    @property
    def dated(self) -> bool:
        """Whether the path names the day."""
        return "{day" in self.template


@dataclass(frozen=True)
class _Name:
    """A path around its day: what stands before, the placeholder, and what stands after."""

    before: str
    field: str
    after: str


def patterns(paths: Iterable[str]) -> list[Pattern]:
    """Group relative paths into logs.

    Examples
    --------
    >>> patterns(["ds=2026-03-01/part-0.parquet", "ds=2026-03-02/part-7.parquet"])[0].template
    'ds={day}/part-*.parquet'
    """
    names = {path: _generalised(_split(path)) for path in paths}
    tails = defaultdict[tuple[str, str, str], set[str]](set)
    for name in names.values():
        tails[_place(name)].add(name.after)
    groups = defaultdict[_Name, list[str]](list)
    for path, name in names.items():
        several = len(tails[_place(name)]) > MOST_NAMES
        folder, slash, last = name.after.rpartition("/")
        merged = f"{folder}{slash}*{_extension(last)}"
        groups[_Name(name.before, name.field, merged) if several else name].append(path)
    return [_pattern(name, sorted(files)) for name, files in sorted(groups.items(), key=_order)]


def _order(group: tuple[_Name, list[str]]) -> str:
    return group[1][0]


def _pattern(name: _Name, files: Sequence[str]) -> Pattern:
    template = name.before + _unpadded(name.field, files) + name.after
    return Pattern(template, tuple(files))


def _unpadded(field: str, files: Sequence[str]) -> str:
    """Write the placeholder without leading zeros if the names of folders have none."""
    matches = filter(None, map(NESTED.search, files))
    if any(len(match["m"]) == 1 or len(match["d"]) == 1 for match in matches):
        return field.replace("%m", "%-m").replace("%d", "%-d")
    return field


def _place(name: _Name) -> tuple[str, str, str]:
    """Return what files beside one another share: all but the name of the file."""
    return name.before, name.field, name.after.rpartition("/")[0] + _extension(name.after)


def _extension(name: str) -> str:
    match = EXTENSION.search(name)
    return match[0] if match else ""


def _split(path: str) -> _Name:
    match = _first_day(path)
    if match is None:
        return _Name("", "", path)
    return _Name(path[: match.start()], _placeholder(match), path[match.end() :])


def _first_day(path: str) -> re.Match[str] | None:
    matches = [match for form in FORMS for match in form.finditer(path) if _day(match)]
    return min(matches, key=lambda match: match.start(), default=None)


def _day(match: re.Match[str]) -> date | None:
    try:
        return date(int(match["Y"]), int(match["m"]), int(match["d"]))
    except ValueError:
        return None


def _placeholder(match: re.Match[str]) -> str:
    """Write the day of a match as placeholders, one for each folder."""
    text = match[0]
    pieces = []
    end = 0
    for part in sorted("Ymd", key=match.start):
        begin = match.start(part) - match.start()
        pieces += [text[end:begin], f"%{part}"]
        end = match.end(part) - match.start()
    written = "".join(pieces)
    if written == ISO_DAY:
        return "{day}"
    return "/".join(_folder(level) for level in written.split("/"))


def _folder(level: str) -> str:
    key, _, form = level.rpartition("=")
    return f"{key}={{day:{form}}}" if key else f"{{day:{form}}}"


def _generalised(name: _Name) -> _Name:
    """Replace what varies between the files of one log by wildcards."""
    if not name.field:
        folder, _, last = name.after.rpartition("/")
        before = KEY_VALUE.sub(r"\1=*", literal(folder))
        return _Name("", "", "/".join(filter(None, [before, _tail(last)])))
    folders, slash, last = literal(_without_last_key(name.before)).rpartition("/")
    before = KEY_VALUE.sub(_varying, folders + slash) + PART_BEFORE.sub("*", last)
    after = "/".join(_tail(level) for level in name.after.split("/"))
    return _Name(before + _last_key(name.before), name.field, after)


def _varying(match: re.Match[str]) -> str:
    """Write `year=2026` before a complete day as a placeholder, and other keys as wildcards."""
    key, value = match[1], match[0].partition("=")[2]
    directive = DATE_KEYS.get((key.lower(), len(value)))
    return f"{key}={{day:{directive}}}" if directive else f"{key}=*"


def _last_key(before: str) -> str:
    """Return the `ds=` that belongs to the day."""
    level = before.rpartition("/")[2]
    return literal(level) if "=" in level else ""


def _without_last_key(before: str) -> str:
    return before.removesuffix(before.rpartition("/")[2]) if _last_key(before) else before


def _tail(level: str) -> str:
    stem, extension = level.removesuffix(_extension(level)), _extension(level)
    if KEY_VALUE.fullmatch(level):
        return KEY_VALUE.sub(r"\1=*", level)
    text = NUMBER.sub("*", UUID.sub("*", literal(stem)))
    text = PART.sub(r"\1\2*", re.sub(r"\*+", "*", text))
    if "*" in text and not re.search(r"[A-Za-z]", text):
        text = "*"  # a name made of numbers, such as 000000_0
    return text + extension
