"""Map files on disk or in an object store: JSON that is checked when it is read. Never a pickle."""

import json
from typing import Any

from pydantic import TypeAdapter, ValidationError

from monitor.base.errors import DataError
from monitor.base.files import open_filesystem, reaching, replace
from monitor.metrics.maps.calibration_map import check_map
from monitor.metrics.maps.class_map_file import ClassMapFile
from monitor.metrics.maps.map_file import MapFile, checksum, map_text
from monitor.metrics.maps.vector_map import check_vector_map

AnyMapFile = MapFile | ClassMapFile
AGAIN = "write it again with calibration-monitor recalibrate --out"


def write_map(path: str, content: AnyMapFile) -> None:
    """Write a map file; a reader sees the old one or the new one, never a part.

    Raises
    ------
    DataError
        If it cannot be written.
    """
    filesystem, name = open_filesystem(path)
    replace(filesystem, name, map_text(content).encode(), what=path)


def read_map(path: str) -> AnyMapFile:
    """Read a map file, and check it.

    Raises
    ------
    DataError
        If it cannot be read, is no map file, or was changed after it was written.
    """
    filesystem, name = open_filesystem(path)
    with reaching(path):
        content = bytes(filesystem.cat_file(name))
    return parse_map(content, path)


def parse_map(content: bytes, path: str) -> AnyMapFile:
    """Check the bytes of a map file; `path` is for the messages.

    Raises
    ------
    DataError
        As `read_map`.
    """
    try:
        document: dict[str, Any] = json.loads(content)
        said = document.pop("checksum")
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        msg = f"{path}: is not a map file (JSON with a checksum); {AGAIN}."
        raise DataError(msg) from None
    try:
        if document.get("format") == 1 and checksum(document) != said:
            msg = f"{path}: was changed after it was written (its check sum differs); {AGAIN}."
            raise DataError(msg)
        return _parsed(document)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        msg = f"{path}: {place}: {first['msg']}; {AGAIN}."
        raise DataError(msg) from None
    except ValueError as error:
        msg = f"{path}: {error} {AGAIN[0].upper()}{AGAIN[1:]}."
        raise DataError(msg) from None


def _parsed(document: dict[str, Any]) -> AnyMapFile:
    text, of_map = json.dumps(document), document.get("map")
    if isinstance(of_map, dict) and "classes" in of_map:
        of_classes = TypeAdapter(ClassMapFile).validate_json(text)
        check_vector_map(of_classes.map)
        return of_classes
    of_scores = TypeAdapter(MapFile).validate_json(text)
    for step in of_scores.steps:
        check_map(step)
    return of_scores
