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

from monitor.base.errors import DataError
from monitor.base.program import version
from monitor.store.names import ARROW, stem

# Of the store, raised whenever a file gets another layout: a program of before would fail or
# misread it. tests/store/test_formats.py compares all layouts with those of this number.
FORMAT = 12
HEX = 64  # characters of a SHA-256
LEVEL = 3  # of compression: 6 takes four times as long for a twentieth less
FEW = 32  # rows: compressing fewer, column by column, takes three times as long and saves nothing
KIND, DIGEST = "digest", "sha256"  # the keys that say that there is a digest, and which
UNSEALED = {KIND: DIGEST, DIGEST: "0" * HEX}
# What stands before the digest. In the footer of Parquet that is the key, the type of the value and
# its length; metadata after it is JSON or hexadecimal, which cannot contain the type. A stream
# begins with it, in a frame of Zstandard that its readers skip (RFC 8878, 3.1.2).
BEFORE_IN_PARQUET = b"\x06" + DIGEST.encode() + b"\x18\x40"
BEFORE_IN_STREAM = (0x184D2A50).to_bytes(4, "little") + HEX.to_bytes(4, "little")
BEFORE_IN_JSON = f'"{DIGEST}": "'.encode()
NO_DIGEST = "its digest is missing"


def sealed(name: str, table: pa.Table) -> bytes:
    """Write a table as the ending of its file's name says, with a digest.

    Examples
    --------
    >>> sealed("summaries/ctr/2026-03-01.parquet", pa.table({"day": [1]}))[:4]
    b'PAR1'
    """
    return sealed_stream(table) if name.endswith(ARROW) else sealed_table(table)


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
    counts = [field.name for field in table.schema if pa.types.is_integer(field.type)]
    with pq.ParquetWriter(
        *(sink, table.schema),
        compression="none" if few else "zstd",
        # Counts are small, and cells rise: their differences take half the bytes of a dictionary.
        column_encoding=dict.fromkeys(counts, "DELTA_BINARY_PACKED"),
        use_dictionary=False,
        write_statistics=False,  # every file is read whole
        store_schema=False,  # Arrow's own takes as many bytes as the columns of a plain day
    ) as writer:
        writer.write_table(table)
        about = {key.decode(): of.decode() for key, of in (table.schema.metadata or {}).items()}
        writer.add_key_value_metadata({**about, **UNSEALED})
    content = sink.getvalue().to_pybytes()
    return _seal(content, _place_in_table(content))


def sealed_stream(table: pa.Table) -> bytes:
    """Write a table as a stream of Arrow, compressed with Zstandard, with a digest.

    Examples
    --------
    >>> content = sealed_stream(pa.table({"day": [1, 2]}))
    >>> open_table(content)[0]["day"].to_pylist()
    [1, 2]
    """
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    compressed = pa.Codec("zstd", compression_level=LEVEL).compress(sink.getvalue(), asbytes=True)
    unsealed = BEFORE_IN_STREAM + UNSEALED[DIGEST].encode() + compressed
    return _seal(unsealed, len(BEFORE_IN_STREAM))


def open_table(content: bytes, columns: list[str] | None = None) -> tuple[pa.Table, str | None]:
    """Check and read a table; None stands for the digest of a version that wrote none.

    The digest is of the whole content, whatever columns are read.

    It is read without a Python file or Arrow's threads: at exit either may abort the process.
    See https://github.com/apache/arrow/issues/34314; these files are too small for threads.

    Raises
    ------
    ValueError, pyarrow.ArrowException, OSError
        If the content is damaged.
    """
    digest = _check(content, _place_in_table(content))
    if content.startswith(BEFORE_IN_STREAM):
        table = _reader(content).read_all()
        return table if columns is None else _among(table, columns), digest
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
    return _seal(content.encode(), _place_after(BEFORE_IN_JSON, content.encode()))


def open_record(content: bytes) -> dict[str, Any]:
    """Check and read a record.

    Raises
    ------
    ValueError
        If the content is damaged.
    """
    digest = _check(content, _place_after(BEFORE_IN_JSON, content))
    record = json.loads(content)
    if not isinstance(record, dict):
        msg = "it is not a record"
        raise ValueError(msg)  # noqa: TRY004 - damage, as all other
    if digest is None and KIND in record:
        raise ValueError(NO_DIGEST)
    return {key: value for key, value in record.items() if key not in UNSEALED}


def digest_of_table(name: str, content: bytes) -> str | None:
    """Check the bytes and the owner of a table without reading its rows.

    None stands for the digest of a version that wrote none.

    Raises
    ------
    ValueError, pyarrow.ArrowException, OSError
        If the content is damaged, or another file than its name says.
    """
    digest = _check(content, _place_in_table(content)) or open_table(content)[1]
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
    return {"kind": kind, "model": model, "day": stem(file)}


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
    place = _place_in_table(content)
    return content[place : place + HEX].decode(errors="replace") if place else None


def metadata_of(content: bytes) -> Mapping[bytes, bytes]:
    """Read what a table says of itself, without its rows or a check of its digest.

    Raises
    ------
    pyarrow.ArrowException, OSError
        If it is no table.
    """
    if content.startswith(BEFORE_IN_STREAM):
        return _reader(content).schema.metadata or {}
    return pq.read_metadata(pa.BufferReader(content)).metadata or {}


def is_sealed(content: bytes) -> bool:
    """Say whether the content of a table has a digest that fits; without one it proves nothing."""
    try:
        return _check(content, _place_in_table(content)) is not None
    except ValueError:
        return False


def is_readable(content: bytes) -> bool:
    """Say whether the content is a whole table; where a damaged one is read, that is said."""
    try:
        open_table(content)
    except (ValueError, OSError, pa.ArrowException):
        return False
    return True


def _among(table: pa.Table, columns: list[str]) -> pa.Table:
    """Select the columns that are there, whole, whatever part of them is asked for."""
    wanted = {name.partition(".")[0] for name in columns}
    return table.select([name for name in table.column_names if name in wanted])


def _reader(content: bytes) -> pa.RecordBatchStreamReader:
    return pa.ipc.open_stream(pa.CompressedInputStream(pa.BufferReader(content), "zstd"))


def _place_in_table(content: bytes) -> int:
    """Find the digest of a table; 0 if it has none."""
    if content.startswith(BEFORE_IN_STREAM):
        return len(BEFORE_IN_STREAM)
    return _place_after(BEFORE_IN_PARQUET, content)


def _place_after(before: bytes, content: bytes) -> int:
    begin = content.rfind(before)
    return 0 if begin < 0 else begin + len(before)


def _seal(content: bytes, place: int) -> bytes:
    return content[:place] + _digest(content, place).encode() + content[place + HEX :]


def _check(content: bytes, place: int) -> str | None:
    """Compare the digest at a place with the bytes; None if there is none."""
    if not place:
        return None
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
