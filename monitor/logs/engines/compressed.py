"""Compressed files whose end is missing: what is left of them looks like a whole day.

DuckDB takes the last whole row before the cut for the end of the file. A stream of gzip or
Zstandard ends with a mark, which a file that was not copied whole lacks.
"""

from typing import Literal

import pyarrow as pa

Codec = Literal["gzip", "zstd"]  # what DuckDB unpacks
# By the endings that DuckDB goes by: the codec, its name, and how such a file begins.
PACKED: dict[str, tuple[Codec, str, bytes]] = {
    ".gz": ("gzip", "gzip", b"\x1f\x8b"),
    ".zst": ("zstd", "Zstandard", b"\x28\xb5\x2f\xfd"),
}
OTHERS = {
    "bzip2": b"BZh",
    "xz": b"\xfd7zXZ\x00",
    "LZ4": b"\x04\x22\x4d\x18",
    "Snappy": b"\xff\x06\x00\x00sNaPpY",
    "zip": b"PK\x03\x04",
}
LONGEST_MAGIC = max(map(len, OTHERS.values()))  # bytes
AT_A_TIME = 1 << 20  # bytes
TRUNCATED = "Truncated"  # how the error of Arrow begins


def what_is_damaged(place: str) -> str | None:
    """Say what is wrong with the compressed stream of a file on this machine; None if nothing.

    Parameters
    ----------
    place : str
        Its path. Of a file that is not compressed, nothing is read.
    """
    packing = next((PACKED[end] for end in PACKED if place.endswith(end)), None)
    if packing is None:
        return None
    codec, name, _ = packing
    try:
        with pa.OSFile(place, "rb") as packed, pa.CompressedInputStream(packed, codec) as plain:
            while plain.read(AT_A_TIME):
                pass
    except OSError as error:
        why = f"{error}"
        if why.startswith(TRUNCATED):
            return f"ends in the middle of its {name} stream, so rows are missing"
        return f"cannot be read as {name} ({why})"
    return None


def how_packed(head: bytes) -> str:
    """Say why a file that is not read as compressed cannot be read; nothing if it is plain.

    Parameters
    ----------
    head : bytes
        How it begins.

    Examples
    --------
    >>> how_packed(b"BZh91AY")
    'it is compressed with bzip2, not with gzip or Zstandard'
    """
    for ending, (_, name, magic) in PACKED.items():
        if head.startswith(magic):
            return f"it is compressed with {name}, but its name does not end with {ending}"
    other = (name for name, magic in OTHERS.items() if head.startswith(magic))
    return next((f"it is compressed with {name}, not with gzip or Zstandard" for name in other), "")
