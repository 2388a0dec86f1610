"""Every file of the store carries the digest of its own bytes, so that damage is noticed. Pure.

Rule 1: the digest covers every byte of the file except its own 64 characters. It is checked before
anything else is read.
Rule 2: a file says twice that it has a digest. So damage to one of them is not mistaken for a file
of a version that wrote none.
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from monitor.errors import DataError
from monitor.program import version

# Of the store, raised whenever a file gets another layout: a program of before would fail or
# misread it. tests/store/test_formats.py compares all layouts with those of this number.
FORMAT = 6
HEX = 64  # characters of a SHA-256
FEW = 32  # rows: compressing fewer, column by column, takes three times as long and saves nothing
KIND, DIGEST = "digest", "sha256"  # the keys that say that there is a digest, and which
UNSEALED = {KIND: DIGEST, DIGEST: "0" * HEX}
# What stands before the digest. In the footer of Parquet that is the key, the type of the value and
# its length; metadata after it is JSON or hexadecimal, which cannot contain the type.
BEFORE_IN_PARQUET = b"\x06" + DIGEST.encode() + b"\x18\x40"
BEFORE_IN_JSON = f'"{DIGEST}": "'.encode()


def sealed_table(table: pa.Table) -> bytes:
    """Write a table as Parquet with a digest.

    Examples
    --------
    >>> content = sealed_table(pa.table({"day": [1, 2]}))
    >>> table, digest = open_table(content)
    >>> table["day"].to_pylist(), len(digest)
    ([1, 2], 64)
    """
    sink, few = pa.BufferOutputStream(), table.num_rows < FEW
    with pq.ParquetWriter(
        sink, table.schema, compression="none" if few else "zstd", use_dictionary=not few
    ) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata(UNSEALED)
    return _seal(sink.getvalue().to_pybytes(), BEFORE_IN_PARQUET)


def open_table(content: bytes, columns: list[str] | None = None) -> tuple[pa.Table, str | None]:
    """Check and read Parquet; None stands for the digest of a version that wrote none.

    The digest is of the whole content, whatever columns are read.

    It is read without a Python file or Arrow's threads: at exit either may abort the process.
    See https://github.com/apache/arrow/issues/34314; these files are too small for threads.

    Raises
    ------
    ValueError, pyarrow.ArrowException, OSError
        If the content is damaged.
    """
    digest = _check(content, BEFORE_IN_PARQUET)
    file = pq.ParquetFile(pa.BufferReader(content), pre_buffer=False)  # it is in memory
    if digest is None and KIND.encode() in (file.metadata.metadata or {}):
        raise ValueError(NO_DIGEST)
    return file.read(columns=columns, use_threads=False), digest


def rows_of(table: pa.Table) -> list[dict[str, Any]]:
    """List the rows of a table; `known_at` is read here, because Arrow imports pandas to do so.

    Examples
    --------
    >>> from datetime import datetime
    >>> moment = datetime(2026, 3, 2, tzinfo=UTC)
    >>> table = pa.table({"known_at": pa.array([moment], pa.timestamp("s", "UTC"))})
    >>> rows_of(table) == [{"known_at": moment}]
    True
    """
    place = table.schema.get_field_index("known_at")
    if place < 0:
        return table.to_pylist()
    rows = table.set_column(place, "known_at", _without_zone(table["known_at"])).to_pylist()
    for row in rows:
        row["known_at"] = row["known_at"].replace(tzinfo=UTC)
    return rows


def _without_zone(moments: "pa.ChunkedArray[Any]") -> "pa.ChunkedArray[Any]":
    """Take the time zone from a column; a cast would load Arrow's functions, which takes longer."""
    if moments.type not in (pa.timestamp("s", "UTC"), pa.timestamp("ms", "UTC")):
        return moments.cast(pa.timestamp("ms"))
    naive = pa.timestamp(moments.type.unit)
    return pa.chunked_array([chunk.view(naive) for chunk in moments.chunks], naive)


def sealed_record(record: Mapping[str, Any]) -> bytes:
    """Write a record as JSON with a digest.

    Examples
    --------
    >>> open_record(sealed_record({"first": None}))
    {'first': None}
    """
    content = json.dumps({**record, **UNSEALED}, indent=1, sort_keys=True) + "\n"
    return _seal(content.encode(), BEFORE_IN_JSON)


def open_record(content: bytes) -> dict[str, Any]:
    """Check and read a record.

    Raises
    ------
    ValueError
        If the content is damaged.
    """
    digest = _check(content, BEFORE_IN_JSON)
    record = json.loads(content)
    if not isinstance(record, dict):
        msg = "it is not a record"
        raise ValueError(msg)  # noqa: TRY004 - damage, as all other
    if digest is None and KIND in record:
        raise ValueError(NO_DIGEST)
    return {key: value for key, value in record.items() if key not in UNSEALED}


NO_DIGEST = "its digest is missing"


def digest_of_table(name: str, content: bytes) -> str | None:
    """Check the bytes and the owner of a table without reading its rows.

    None stands for the digest of a version that wrote none.

    Raises
    ------
    ValueError, pyarrow.ArrowException, OSError
        If the content is damaged, or another file than its name says.
    """
    digest = _check(content, BEFORE_IN_PARQUET) or open_table(content)[1]
    must_be_of(name, metadata_of(content))
    return digest


def owner_of(name: str) -> dict[str, str]:
    """Give what a file says of itself by its name in the store: its kind, model and day.

    Examples
    --------
    >>> owner_of("summaries/ctr/2026-03-01.parquet")
    {'kind': 'summaries', 'model': 'ctr', 'day': '2026-03-01'}
    >>> owner_of("runs/ctr/last.json")["day"], owner_of("columns/ctr/2026-03.01-31.parquet")["day"]
    ('last', '2026-03.01-31')
    """
    kind, model, file = name.split("/")
    return {"kind": kind, "model": model, "day": file.rpartition(".")[0]}


def must_be_of(name: str, about: Mapping[Any, Any]) -> None:
    """Check that a file is the one by whose name it is read, and that this program knows it.

    A file of an earlier version says less.

    Parameters
    ----------
    name : str
        Its name in the store.
    about : mapping
        A record, or the metadata of a table, in bytes.

    Raises
    ------
    ValueError
        If it says otherwise.
    DataError
        If a newer version of this program wrote it.
    """
    must_be_known(name, about)
    for key, value in owner_of(name).items():
        said = about.get(key, about.get(key.encode(), value))
        said = said.decode(errors="replace") if isinstance(said, bytes) else said
        if said != value:
            msg = f"its {key} is {said!r}, so it is another file than its name says"
            raise ValueError(msg)


def must_be_known(name: str, about: Mapping[Any, Any]) -> None:
    """Raise DataError for a file of the store that a newer version of this program wrote."""
    theirs = int(about.get("format", about.get(b"format", FORMAT)))
    if theirs > FORMAT:
        msg = (
            f"{name}: the store was written by a newer version of calibration-monitor, in format "
            f"{theirs}; this version {version()} knows formats up to {FORMAT} and writes nothing "
            f"to it; install a version that knows format {theirs}."
        )
        raise DataError(msg, newer=True)


def said_digest(content: bytes) -> str | None:
    """Give the digest that a table says it has, unchecked; None if it says none."""
    place = content.rfind(BEFORE_IN_PARQUET) + len(BEFORE_IN_PARQUET)
    said = content[place : place + HEX] if place >= len(BEFORE_IN_PARQUET) else b""
    return said.decode(errors="replace") or None


def metadata_of(content: bytes) -> Mapping[bytes, bytes]:
    """Read what a table says of itself, without its rows or a check of its digest.

    Raises
    ------
    pyarrow.ArrowException, OSError
        If it is no Parquet.
    """
    return pq.read_metadata(pa.BufferReader(content)).metadata or {}


def is_sealed(content: bytes) -> bool:
    """Say whether the content of a table has a digest that fits; without one it proves nothing."""
    try:
        return _check(content, BEFORE_IN_PARQUET) is not None
    except ValueError:
        return False


def is_readable(content: bytes) -> bool:
    """Say whether the content is a whole table; a damaged one is told of where it is read."""
    try:
        open_table(content)
    except (ValueError, OSError, pa.ArrowException):
        return False
    return True


def _seal(content: bytes, before: bytes) -> bytes:
    place = content.rfind(before) + len(before)
    return content[:place] + _digest(content, place).encode() + content[place + HEX :]


def _check(content: bytes, before: bytes) -> str | None:
    """Compare the digest with the bytes; None if there is none."""
    begin = content.rfind(before)
    if begin < 0:
        return None
    place = begin + len(before)
    digest = _digest(content, place)
    if content[place : place + HEX] != digest.encode():
        msg = "its digest does not fit its bytes"
        raise ValueError(msg)
    return digest


def _digest(content: bytes, place: int) -> str:
    whole = memoryview(content)
    counted = hashlib.sha256(whole[:place])
    counted.update(whole[place + HEX :])
    return counted.hexdigest()
