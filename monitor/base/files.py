"""Files on disk and in object stores: open, list, replace as a whole."""

import os
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from inspect import iscoroutinefunction
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from monitor.base.deadline import within
from monitor.base.errors import ConfigError, DataError, lacks_memory, without_credentials
from monitor.base.temporary import sweep, temporary_file

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

# By which S3, disks, SFTP, Hadoop, Azure, Google and memory say that a file is another one.
VERSION_KEYS = "ETag", "mtime", "etag", "last_modified", "LastModified", "updated", "created"
LONGEST = 600  # seconds of one request to an object store, a whole file included
REQUESTS = (
    "cat_file", "cp_file", "exists", "find", "get_file", "glob", "info", "isdir", "isfile", "ls",
    "makedirs", "modified", "pipe_file", "rm_file",
)  # fmt: skip
T = TypeVar("T")


def open_filesystem(url: str) -> "tuple[AbstractFileSystem, str]":
    """Return the filesystem of a URL or path, and the path as that filesystem writes it.

    Raises
    ------
    ConfigError
        If there is no such filesystem, its package is not installed, or it cannot be opened. The
        message has no user and password.
    """
    import fsspec  # noqa: PLC0415 - takes long to load, and a store on a disk is read without it

    try:
        # No listings cache, because another process may write at any time.
        filesystem, path = fsspec.core.url_to_fs(url, use_listings_cache=False)
    except ImportError as error:
        if lacks_memory(error):
            raise
        msg = (
            f"{url}: needs a package that is not installed ({error}); for s3:// "
            f"pip install 'calibration-monitor[s3]'."
        )
        raise ConfigError(msg) from None
    except ValueError as error:
        msg = f"{url}: {_said(error, url)}; use a local path or s3://bucket/prefix."
        raise ConfigError(msg) from None
    except Exception as error:  # noqa: BLE001 - of any of the libraries behind a scheme
        msg = (
            f"{url}: cannot be opened ({_said(error, url)}); correct the address, or "
            f"use a local path or s3://bucket/prefix."
        )
        raise ConfigError(msg) from None
    return limited(filesystem), path


def limited(filesystem: "AbstractFileSystem") -> "AbstractFileSystem":
    """Let every request to another machine end after `LONGEST` seconds, and give it back."""
    if is_local(filesystem) or "limit" in vars(filesystem):
        return filesystem
    from fsspec.asyn import AsyncFileSystem  # noqa: PLC0415 - as above

    kind: Any = type(filesystem)
    if isinstance(filesystem, AsyncFileSystem):
        for name in dir(kind):
            if name.startswith("_") and iscoroutinefunction(getattr(kind, name, None)):
                request: Any = getattr(filesystem, name[1:], None)
                if iscoroutinefunction(getattr(request, "__wrapped__", None)):
                    setattr(filesystem, name[1:], partial(request, timeout=LONGEST))
    else:  # of SFTP, Hadoop and others
        for name in REQUESTS:
            setattr(filesystem, name, _limited(getattr(filesystem, name)))
    open_file = filesystem._open  # noqa: SLF001 - what `open` calls

    def open_limited(*arguments: Any, **options: Any) -> Any:
        """Open a file, which asks for its parts by functions of its own."""
        file = open_file(*arguments, **options)
        if cache := getattr(file, "cache", None):
            cache.fetcher = _limited(cache.fetcher)
        return file

    setattr(filesystem, "_open", open_limited)  # noqa: B010 - of this one only
    setattr(filesystem, "limit", LONGEST)  # noqa: B010 - says that it is limited
    return filesystem


def _limited(request: Callable[..., T]) -> Callable[..., T]:
    return lambda *of, **options: within(LONGEST, partial(request, *of, **options))


def is_local(filesystem: "AbstractFileSystem") -> bool:
    """Return whether the files are on this machine."""
    from fsspec.implementations.local import LocalFileSystem  # noqa: PLC0415 - as above

    return isinstance(filesystem, LocalFileSystem)


def folder_on_disk(url: str) -> Path | None:
    """Return the folder of a URL or path on this machine; None if it is in an object store.

    Raises
    ------
    ConfigError
        As `open_filesystem`, which is asked only if the URL is more than an absolute path.
    """
    if url.startswith("/") and "://" not in url and "::" not in url:  # names of filesystems
        return Path(url)
    filesystem, path = open_filesystem(url)
    return Path(path) if is_local(filesystem) else None


def _said(error: Exception, place: str) -> str:
    """Write the error of another library, without the credentials of the place."""
    if isinstance(error, TimeoutError):
        return f"no whole answer within {LONGEST} seconds"
    return f"{type(error).__name__}: {without_credentials(f'{error}', of=place)}"


@contextmanager
def reaching(place: str) -> Iterator[None]:
    """Turn every failure to access files into a DataError that names the place.

    Object stores raise errors of many libraries, so this catches them all. Wrap only the access
    itself in it.
    """
    try:
        yield
    except (ConfigError, DataError, MemoryError):
        raise
    except Exception as error:
        msg = (
            f"{place}: cannot be reached ({_said(error, place)}); "
            f"check that it exists and that this user has access to it, then run again."
        )
        raise DataError(msg) from error


@contextmanager
def writing(place: str) -> Iterator[None]:
    """Turn every failure to write files into a DataError that names the place."""
    try:
        yield
    except (DataError, MemoryError):
        raise
    except Exception as error:
        why = getattr(error, "strerror", None) or error  # omits the name of a temporary file
        if blocked := _file_in_the_way(error):
            msg = (
                f"{place}: {blocked} is a file where a folder should be; move it away, then run "
                f"again."
            )
            raise DataError(msg) from error
        if isinstance(error, TimeoutError):
            why = f"no whole answer within {LONGEST} seconds"
        msg = (
            f"{place}: cannot be written ({type(error).__name__}: {why}); free some space or grant "
            f"write permission, or choose another place, then run again."
        )
        raise DataError(msg) from error


def _file_in_the_way(error: Exception) -> Path | None:
    """Find the file that an error is about because a folder was expected; None if none is."""
    if not isinstance(error, FileExistsError | NotADirectoryError) or not error.filename:
        return None
    named = Path(str(error.filename))
    return next((path for path in (named, *named.parents) if path.is_file()), None)


def replace(
    filesystem: "AbstractFileSystem",
    path: str,
    content: bytes,
    *,
    what: str = "",
    sweeps: bool = True,
    before: Callable[[], None] = lambda: None,
) -> None:
    """Write `content` to `path` so that a reader sees the old file or the new, never a part.

    Object stores always replace a whole object. On a local disk the bytes are written to a file in
    the same folder, forced to the disk and renamed; the folder is forced to the disk too, because
    a power cut could otherwise undo the rename. Errors name `what`, or else the path. With `sweeps`
    it removes what killed processes left of the same file; without, the caller does. `before` is
    called at the last moment before the file is replaced, and may raise DataError.
    """
    with writing(what or path):
        if not is_local(filesystem):
            before()
            filesystem.pipe_file(path, content)
            return
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        with replacing(Path(path), sweeps=sweeps, before=before) as file:
            file.write(content)


def create(filesystem: "AbstractFileSystem", path: str, content: bytes) -> bool:
    """Write `content` to `path` if nothing is there, whole or not at all, and say whether it is.

    On a local disk the bytes are forced to the disk under another name first, and then linked,
    which fails if the name is taken.
    """
    if is_local(filesystem):
        return _link(Path(path), content)
    try:
        filesystem.pipe_file(path, content, mode="create")
    except OSError:
        if not filesystem.exists(path):
            raise
        # If its answer is lost, the request is sent again, and finds what it wrote at first.
        with suppress(FileNotFoundError):  # removed since
            return bool(filesystem.cat_file(path, start=0) == content)
        return False
    return True


def _link(target: Path, content: bytes) -> bool:
    target.parent.mkdir(parents=True, exist_ok=True)
    sweep(target.parent)
    with temporary_file(target) as (file, beside):
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
        try:
            target.hardlink_to(beside)
        except FileExistsError:
            return False
    _force(target.parent)
    return True


def _force(folder: Path) -> None:
    """Force the names in a folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def replacing(
    target: Path, *, sweeps: bool = True, before: Callable[[], None] = lambda: None
) -> Iterator[BinaryIO]:
    """Open a file on a local disk that replaces `target` once the block ends without an error.

    For content that is too large to hold in memory; otherwise use `replace`, which says what
    `before` is.
    """
    if sweeps:
        sweep(target.parent, target.name)
    with temporary_file(target) as (file, beside):
        yield file
        file.flush()
        os.fsync(file.fileno())
        before()
        beside.replace(target)
    _force(target.parent)


def version_of(entry: Mapping[str, Any]) -> str:
    """Give what differs between two contents of a file that have the same size.

    Parameters
    ----------
    entry : mapping
        What a file system of fsspec says of the file.

    Returns
    -------
    str
        Its tag, else when it was written; "None" where the file system says neither.

    Examples
    --------
    >>> version_of({"name": "a", "size": 3, "etag": "0x8DC", "last_modified": "12:00"})
    '0x8DC'
    """
    return str(next((entry[key] for key in VERSION_KEYS if entry.get(key) is not None), None))


@contextmanager
def looking_once() -> Iterator[None]:
    """Look for the same files only once in this block: a morning asks for each up to 60 times.

    In an object store, where each look is a request, a folder is listed instead. What comes
    meanwhile is for the next run, as if it had come later.
    """
    if _SEEN:  # within another such block
        yield
        return
    _SEEN.append({})
    with ExitStack() as release:
        _KEPT.append(_Kept(release, {}, RLock()))
        try:
            yield
        finally:
            _SEEN.clear()
            _KEPT.clear()


@dataclass(frozen=True)
class _Kept:
    """What is kept until the end of such a block, and what ends it."""

    release: ExitStack
    things: dict[Hashable, Any]
    lock: RLock


_SEEN: list[dict[tuple[str, str], Any]] = []  # at most one: what was found, by filesystem and path
_KEPT: list[_Kept] = []  # at most one


def is_looking_once() -> bool:
    """Say whether a block of `looking_once` is open."""
    return bool(_SEEN)


def keep_while_looking(key: Hashable, make: Callable[[ExitStack], T]) -> T | None:
    """Make a thing once for a block of `looking_once`; None outside such a block.

    Parameters
    ----------
    key : hashable
        Identifies it.
    make : callable
        Makes it, given what is released at the end of the block.
    """
    for kept in _KEPT:
        with kept.lock:
            if key not in kept.things:
                kept.things[key] = make(kept.release)
            return kept.things[key]  # type: ignore[no-any-return]
    return None


def list_folder(filesystem: "AbstractFileSystem", folder: str) -> dict[str, dict[str, Any]]:
    """List what lies in a folder, by name; of an object store once where `looking_once` says so."""
    folder = folder.rstrip("/")
    return once(filesystem, folder, lambda: _listed(filesystem, folder))


def once(
    filesystem: "AbstractFileSystem", path: str, look: Callable[[], dict[str, Any]]
) -> dict[str, Any]:
    """Look for a path, in a block of `looking_once` only the first time."""
    seen = next(iter(_SEEN), {})  # none, if another run of this process has just ended the block
    key = f"{type(filesystem)} {filesystem.storage_options}", path  # threads have their own objects
    listing: dict[str, Any] = seen[key] if key in seen else look()
    seen[key] = listing
    return listing


def _listed(filesystem: "AbstractFileSystem", folder: str) -> dict[str, dict[str, Any]]:
    try:
        entries = filesystem.ls(folder, detail=True)
    except FileNotFoundError:
        return {}
    return {entry["name"].rstrip("/"): entry for entry in entries}
