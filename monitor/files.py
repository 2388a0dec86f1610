"""Files here and in object stores: open, list by day, replace whole."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path

import fsspec
from fsspec.implementations.local import LocalFileSystem

from monitor.errors import ConfigError, DataError

DAY_FIELD = re.compile(r"\{day(?::([^}]*))?\}")


def open_filesystem(url: str) -> tuple[fsspec.AbstractFileSystem, str]:
    """Give the filesystem of a URL or path, and the path as that filesystem writes it.

    Raises
    ------
    ConfigError
        If the scheme is unknown or its package is not installed.
    """
    try:
        # Without a listings cache: another process may have written since the last look.
        return fsspec.core.url_to_fs(url, use_listings_cache=False)  # type: ignore[no-any-return]
    except ImportError as error:
        msg = f"{url}: needs a package that is not installed ({error}); for s3:// install s3fs."
        raise ConfigError(msg) from None
    except ValueError as error:
        msg = f"{url}: {error}; use a local path or s3://bucket/prefix."
        raise ConfigError(msg) from None


@contextmanager
def reaching(place: str) -> Iterator[None]:
    """Turn every failure to reach files into a DataError that names the place.

    Object stores raise errors of many libraries, so this catches them all; wrap nothing but
    the access itself in it.
    """
    try:
        yield
    except (ConfigError, DataError):
        raise
    except Exception as error:
        msg = (
            f"{place}: cannot be reached ({type(error).__name__}: {error}); "
            f"check that it exists and that this user may use it, then run again."
        )
        raise DataError(msg) from error


def list_days(template: str) -> list[date]:
    """List the days, rising, for which a path template has a file or folder."""
    filesystem, path = open_filesystem(template)
    parts = path.split("/")
    last = max(i for i, part in enumerate(parts) if DAY_FIELD.search(part))
    head = "/".join(parts[: last + 1])
    wildcard = DAY_FIELD.sub(lambda m: re.sub("%[a-zA-Z]", "*", m[1]) if m[1] else "*", head)
    pattern = DAY_FIELD.sub(lambda m: m[1] or "%Y-%m-%d", head)
    with reaching(template):
        found = filesystem.glob(wildcard)
    days = set()
    for name in found:
        try:
            day = datetime.strptime(name, pattern).date()  # noqa: DTZ007 - a calendar day
        except ValueError:
            continue
        if head.format(day=day) == name:
            days.add(day)
    return sorted(days)


def list_files(template: str, day: date) -> list[str]:
    """List the files of one day as names that `open_filesystem` understands, in order."""
    filesystem, path = open_filesystem(template.format(day=day))
    with reaching(path):
        return sorted(filesystem.unstrip_protocol(name) for name in filesystem.glob(path))


def replace(filesystem: fsspec.AbstractFileSystem, path: str, content: bytes) -> None:
    """Put `content` at `path` so that a reader sees the old file or the new, never a part.

    Object stores replace whole by nature. On a local disk the bytes are written beside the
    target, forced to the disk and renamed over it; the folder is forced too, or a power cut
    could undo the rename.
    """
    with reaching(path):
        if not isinstance(filesystem, LocalFileSystem):
            filesystem.pipe_file(path, content)
            return
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        try:
            with beside.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def describe_files(template: str, day: date) -> list[list[str]]:
    """Describe the files of one day well enough to notice that one was written again."""
    filesystem, path = open_filesystem(template.format(day=day))
    with reaching(path):
        details = filesystem.glob(path, detail=True)
        return [
            [name, str(info["size"]), str(info.get("ETag", info.get("mtime")))]
            for name, info in sorted(details.items())
        ]
