"""The wheel of this program, put together again from what was installed.

An image can then be built from the folder of `assets` alone, with the very program that wrote it.
"""

import base64
import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from importlib.metadata import Distribution, PackagePath, distribution

PROGRAM = "calibration-monitor"
OF_INSTALLERS = {"RECORD", "INSTALLER", "REQUESTED", "direct_url.json"}  # none is of the wheel
OLDEST = (1980, 1, 1, 0, 0, 0)  # of a zip file: with real dates no two wheels would be alike


def own_wheel() -> dict[str, bytes]:
    """Give the wheel of this program by its file name; nothing where a checkout is installed.

    The same installation gives the same bytes.
    """
    installed = distribution(PROGRAM)
    if _is_checkout(installed):
        return {}
    contents = {
        file.as_posix(): file.read_binary()
        for file in sorted(installed.files or (), key=PackagePath.as_posix)
        if _belongs(file)
    }
    tag = next(
        line[5:] for line in (installed.read_text("WHEEL") or "").splitlines() if "Tag:" in line
    )
    name = f"{PROGRAM.replace('-', '_')}-{installed.version}"
    record = f"{name}.dist-info/RECORD"
    return {f"{name}-{tag}.whl": _zipped({**contents, record: _record(contents, record)})}


def _is_checkout(installed: Distribution) -> bool:
    origin = json.loads(installed.read_text("direct_url.json") or "{}")
    return bool(origin.get("dir_info", {}).get("editable"))


def _belongs(file: PackagePath) -> bool:
    """Say whether a file came with the wheel: no script, no compiled file, no note of pip."""
    return (
        file.parts[0] != ".." and "__pycache__" not in file.parts and file.name not in OF_INSTALLERS
    )


def _record(contents: Mapping[str, bytes], own: str) -> bytes:
    """List the files with digest and size; the list itself has neither."""
    lines = [f"{name},{_digest(content)},{len(content)}" for name, content in contents.items()]
    return "\n".join([*lines, f"{own},,", ""]).encode()


def _digest(content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
    return f"sha256={digest.decode()}"


def _zipped(contents: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as wheel:
        for name, content in contents.items():
            wheel.writestr(zipfile.ZipInfo(name, OLDEST), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()
