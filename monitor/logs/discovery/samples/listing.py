"""What lies below a path: a few files of every kind, and tables. Bounded, whatever the size.

Folders that differ only in their numbers or in the value of a `key=value` look alike. Only the
first and the last of them and two between are opened, so years of partitions cost as little as a
week.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import fsspec
import pyarrow as pa

from monitor.base.errors import ConfigError, DataError
from monitor.base.files import open_filesystem, reaching
from monitor.logs.engines.compressed import PACKED, how_packed

MOST_FOLDERS = 1000  # opened below one path
MOST_FILES = 200  # of one kind, remembered from one folder
ALIKE = 4  # folders opened of those that look alike
FORMATS = {
    **dict.fromkeys((".parquet", ".parq", ".pq"), "parquet"),
    **dict.fromkeys((".csv", ".tsv"), "csv"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "json"),
}
OTHER_FORMATS = (".avro", ".orc", ".xlsx", ".xls", ".feather", ".arrow", ".sqlite", ".duckdb")
PARQUET_MAGIC = b"PAR1"
# Names that say nothing of the format: without an ending, as Hive and Firehose write them, rotated
# logs such as data.log.2026-01-01, and what is only compressed.
UNTOLD = re.compile(r"([^.]*|.*\.(log|txt|dat|out|data)(\.[\d_-]+)?)(\.(gz|zst))?", re.IGNORECASE)
HAS_OBJECT = re.compile(r"""^[^{,;\t|]*\{["'].*\}\s*$""")  # after a time, as CloudWatch exports it
HEAD = 65_536  # bytes of a file that are looked at
SEPARATORS = ",;\t|"
MOST_LINES = 20


@dataclass
class Survey:
    """What was found below one folder.

    Attributes
    ----------
    root : str
        The folder or prefix that was searched; every other name is relative to it.
    filesystem, at : AbstractFileSystem, str
        Where that is.
    files : dict of str to str
        Some files of every kind, and folders that are tables of other programs, with their format.
    unusable : dict of str to str
        Files whose format cannot be read, by ending: the first of each.
    unreadable : list of str
        Folders and files that this user may not read.
    by_content : dict of str to str or None
        The formats of files whose names do not tell it, by what they have in common.
    """

    root: str
    filesystem: fsspec.AbstractFileSystem
    at: str
    files: dict[str, str] = field(default_factory=dict)
    unusable: dict[str, str] = field(default_factory=dict)
    unreadable: list[str] = field(default_factory=list)
    by_content: dict[str, str | None] = field(default_factory=dict)


def survey(paths: Sequence[str]) -> list[Survey]:
    """Look at folders and files; files of one folder become one survey.

    Raises
    ------
    ConfigError
        If a path does not exist, or has more folders than can be looked at.
    """
    surveys: dict[str, Survey] = {}
    for path in paths:
        filesystem, place = open_filesystem(path)
        with reaching(path):
            exists, folder = filesystem.exists(place), filesystem.isdir(place)
        if not exists:
            msg = f"{path}: does not exist; pass the folder, or the files, of your logs."
            raise ConfigError(msg)
        root, _, name = place.rstrip("/").rpartition("/")
        at = place.rstrip("/") if folder else root
        shown = str(filesystem.unstrip_protocol(at)).removeprefix("file://")
        whole = surveys.setdefault(at, Survey(shown, filesystem, at))
        if folder:
            _look(whole)
        else:
            _note_file(whole, name)
    return list(surveys.values())


def _look(whole: Survey) -> None:
    """Open folders from the top, until all kinds of files are known."""
    waiting, opened = [whole.at], 0
    while waiting:
        folder = waiting.pop(0)
        opened += 1
        if opened > MOST_FOLDERS:
            msg = (
                f"{whole.root}: has more than {MOST_FOLDERS:,} folders that differ by more than "
                f"numbers; pass the folder of one model's logs."
            )
            raise ConfigError(msg)
        entries = _entries(whole, folder)
        names = {entry["name"].rstrip("/").rpartition("/")[2]: entry for entry in entries}
        below = folder.removeprefix(whole.at).strip("/")
        if table := _table(whole, folder, names):
            if table == "hudi":
                whole.unusable.setdefault(table, f"{below} (a Hudi table)")
            else:
                whole.files[below] = table
            continue
        shown = {name: e["type"] for name, e in names.items() if not name.startswith((".", "_"))}
        folders = [name for name, kind in shown.items() if kind == "directory"]
        waiting += [f"{folder}/{name}" for name in _some(folders, ALIKE)]
        for name in _some([name for name, kind in shown.items() if kind == "file"], MOST_FILES):
            _note_file(whole, f"{below}/{name}".lstrip("/"))


def _entries(whole: Survey, folder: str) -> list[dict[str, Any]]:
    try:
        with reaching(folder):
            listed = whole.filesystem.ls(folder, detail=True)
            return [entry for entry in listed if entry["name"].strip("/") != folder]
    except DataError as error:
        if not isinstance(error.__cause__, PermissionError):
            raise
        whole.unreadable.append(folder)
        return []


def _table(whole: Survey, folder: str, names: dict[str, dict[str, Any]]) -> str | None:
    for mark, format_ in (("_delta_log", "delta"), (".hoodie", "hudi")):
        if mark in names:
            return format_
    if "metadata" in names and names["metadata"]["type"] == "directory":
        with reaching(folder):
            inside = whole.filesystem.ls(f"{folder}/metadata", detail=False)
        if any(name.endswith(".metadata.json") for name in inside):
            return "iceberg"
    return None


def _some(names: Sequence[str], most: int) -> Iterator[str]:
    """Choose at most so many of the names that look alike, evenly, with the first and the last."""
    alike = defaultdict[str, list[str]](list)
    for name in sorted(names):
        alike[re.sub(r"\d+", "#", re.sub("=.*", "=", name))].append(name)
    for group in alike.values():
        last = len(group) - 1
        chosen = {round(i * last / (most - 1)) for i in range(most)} if last >= most else ()
        yield from [group[i] for i in sorted(chosen)] or group


def _note_file(whole: Survey, name: str) -> None:
    form = format_of(name)
    if form is None and UNTOLD.fullmatch(name.rpartition("/")[2]):
        form = _format_within(whole, name)
    if form:
        whole.files[name] = form
        return
    ending = re.sub(r".*(\.\w+)$", r"\1", name).lower()
    kind = ending if ending in OTHER_FORMATS else "other"
    if kind not in whole.unusable:
        whole.unusable[kind] = name + _why_unusable(_head(whole, name), name)


def _head(whole: Survey, name: str) -> bytes:
    """Read how a file begins; nothing where that fails."""
    try:
        return bytes(whole.filesystem.cat_file(f"{whole.at}/{name}", 0, HEAD))
    except Exception:  # noqa: BLE001 - object stores raise errors of many libraries
        return b""


def _why_unusable(head: bytes, name: str) -> str:
    """Say in parentheses that a file is compressed, or has JSON that is not in lines."""
    packed = any(name.endswith(end) and head.startswith(m) for end, (*_, m) in PACKED.items())
    why = "" if packed else how_packed(head)
    if not why and b"{" in _plain(head):
        why = "it has JSON, but not one object alone on each line"
    return f" ({why})" if why else ""


def format_of(name: str) -> str | None:
    """Return the format that the ending of a name tells, or None.

    Examples
    --------
    >>> format_of("2026-03-01.jsonl.gz")
    'json'
    """
    lower = name.lower()
    for packed in PACKED:
        lower = lower.removesuffix(packed)
    return next((format_ for end, format_ in FORMATS.items() if lower.endswith(end)), None)


def _format_within(whole: Survey, name: str) -> str | None:
    """Recognise a format by content; one file of those that look alike is opened."""
    folder, _, last = name.rpartition("/")
    begin = re.match(r"[A-Za-z_-]*", last)
    ending = re.search(r"\.\D*$", last)
    alike = "/".join([re.sub(r"\d+", "#", folder), *(m[0] if m else "" for m in (begin, ending))])
    if alike not in whole.by_content and (head := _head(whole, name)):
        whole.by_content[alike] = format_of_content(head, last)
    return whole.by_content.get(alike)


def format_of_content(head: bytes, name: str) -> str | None:
    """Return the format of a file that begins with some bytes; None if it is no log.

    Examples
    --------
    >>> format_of_content(b'{"id": 1}', "data.log")
    'json'
    """
    if head.startswith(PARQUET_MAGIC):
        return "parquet"
    for ending, (_, _, magic) in PACKED.items():
        if head.startswith(magic):
            if not name.endswith(ending):  # by which DuckDB knows that it is compressed
                return None
            head = _plain(head)
    whole = head.rpartition(b"\n")[0] or head
    lines = whole.decode("utf-8-sig", errors="replace").splitlines()[:MOST_LINES]
    if lines and lines[0].startswith("{"):
        return "json" if _is_object(lines[0]) else None
    if any(HAS_OBJECT.search(line) for line in lines):
        return None
    counts = [{line.count(sign) for line in lines} for sign in SEPARATORS]
    is_table = len(lines) > 1 and any(len(n) == 1 and n != {0} for n in counts)
    return "csv" if is_table else None


def _plain(head: bytes) -> bytes:
    """Unpack the beginning of a file, if it is compressed; nothing if that fails."""
    for codec, _, magic in PACKED.values():
        if head.startswith(magic):
            try:
                with pa.CompressedInputStream(pa.BufferReader(head), codec) as plain:
                    return bytes(plain.read(HEAD // 4))
            except OSError:
                return b""
    return head


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
