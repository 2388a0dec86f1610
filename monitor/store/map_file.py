"""Map files on disk or in an object store: JSON that is checked when it is read. Never a pickle."""

import json
from inspect import getdoc
from typing import Any

from pydantic import TypeAdapter, ValidationError

from monitor.errors import DataError
from monitor.files import open_filesystem, reaching, replace
from monitor.metrics.maps.calibration_map import CalibrationMap, check_map
from monitor.metrics.maps.map_file import (
    Days,
    Gain,
    Gains,
    Level,
    MapFile,
    Training,
    checksum,
    map_text,
)

AGAIN = "write it again with calibration-monitor recalibrate --out"


def write_map(path: str, content: MapFile) -> None:
    """Write a map file; a reader sees the old one or the new one, never a part.

    Raises
    ------
    DataError
        If it cannot be written.
    """
    filesystem, name = open_filesystem(path)
    replace(filesystem, name, map_text(content).encode(), what=path)


def read_map(path: str) -> MapFile:
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


def parse_map(content: bytes, path: str) -> MapFile:
    """Check the bytes of a map file; `path` is for the messages.

    Raises
    ------
    DataError
        As `read_map`.
    """
    try:
        document: dict[str, Any] = json.loads(content)
        said = document.pop("checksum")
    except (ValueError, KeyError, AttributeError, TypeError):
        msg = f"{path}: is not a map file (JSON with a checksum); {AGAIN}."
        raise DataError(msg) from None
    try:
        if document.get("format") == 1 and checksum(document) != said:
            msg = f"{path}: was changed after it was written (its check sum differs); {AGAIN}."
            raise DataError(msg)
        found = TypeAdapter(MapFile).validate_json(json.dumps(document))
        check_map(found.map)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        msg = f"{path}: {place}: {first['msg']}; {AGAIN}."
        raise DataError(msg) from None
    except ValueError as error:
        msg = f"{path}: {error} {AGAIN[0].upper()}{AGAIN[1:]}."
        raise DataError(msg) from None
    return found


def map_schema() -> str:
    """Write the JSON schema of map files, which docs/calibration-map.schema.json publishes."""
    schema = TypeAdapter(MapFile).json_schema()
    schema["properties"]["checksum"] = {
        "description": "SHA-256 of the document without this key, as the shortest JSON with "
        "sorted keys.",
        "pattern": "^sha256:[0-9a-f]{64}$",
        "type": "string",
    }
    schema["required"].append("checksum")
    schema["description"] = getdoc(MapFile)
    for described in (CalibrationMap, Days, Gain, Gains, Level, Training):
        # As pydantic does since 2.13; Airflow may hold an earlier one.
        schema["$defs"][described.__name__]["description"] = getdoc(described)
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "Map file of calibration-monitor",
    }
    return json.dumps(schema, indent=2) + "\n"
