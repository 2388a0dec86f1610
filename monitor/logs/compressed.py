"""Compressed files whose end is missing: what is left of them looks like a whole day.

DuckDB takes the last whole row before the cut for the end of the file. A stream of gzip or
Zstandard ends with a mark, which a file that was not copied whole lacks.
"""

from typing import Literal

import pyarrow as pa

Codec = Literal["gzip", "zstd"]  # what DuckDB unpacks
PACKED: dict[str, tuple[Codec, str]] = {".gz": ("gzip", "gzip"), ".zst": ("zstd", "Zstandard")}
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
    codec, name = packing
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
