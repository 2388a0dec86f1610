"""Writes to an object store that succeed only if the object is still the one that was seen.

An object is recognised by its tag (ETag), which changes with its content. S3 checks the condition
and writes in one step. Stores that do not know conditions ignore or reject them; `has_conditions`
finds out.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

ABSENT = ""  # the tag of an object that does not exist
NO_TAG = f'"{"0" * 32}"'  # of no object
REFUSALS = {404, 409, 412}  # gone, changed at the same moment, changed


class RefusedError(Exception):
    """Raised inside this room when an object is not the one that was seen."""


def tag_of(filesystem: "AbstractFileSystem", path: str) -> str:
    """Ask for the tag of an object."""
    try:
        return str(filesystem.info(path).get("ETag", ABSENT))
    except FileNotFoundError:
        return ABSENT


def put(filesystem: "AbstractFileSystem", path: str, content: bytes, *, seen: str) -> str:
    """Write an object in place of the one with the tag that was seen, and give its new tag.

    Raises
    ------
    RefusedError
        If it has another tag, also because an earlier try arrived and only its answer was lost.
    """
    return str(_asked(filesystem, "put_object", path, {"IfMatch": seen}, Body=content)["ETag"])


def delete(filesystem: "AbstractFileSystem", path: str, *, seen: str) -> None:
    """Remove the object with the tag that was seen; RefusedError if it has another."""
    _asked(filesystem, "delete_object", path, {"IfMatch": seen})


def has_conditions(filesystem: "AbstractFileSystem", path: str, content: bytes) -> bool:
    """Try whether the store checks conditions, on an object of ours that has this content."""
    if not hasattr(filesystem, "call_s3"):
        return False
    try:
        put(filesystem, path, content, seen=NO_TAG)
    except RefusedError:
        return True
    except OSError:  # not implemented
        return False
    return False


def copy(filesystem: "AbstractFileSystem", source: str, target: str) -> None:
    """Copy an object within the store; FileNotFoundError if it is gone."""
    if not hasattr(filesystem, "call_s3"):
        filesystem.cp_file(source, target)
        return
    (of, key, _), (bucket, to, _) = map(filesystem.split_path, (source, target))
    # Not cp_file, which sends a request for the size first.
    filesystem.call_s3("copy_object", Bucket=bucket, Key=to, CopySource={"Bucket": of, "Key": key})


def _asked(
    filesystem: "AbstractFileSystem",
    method: str,
    path: str,
    condition: dict[str, str],
    **further: Any,
) -> dict[str, Any]:
    # Not pipe_file: it has no condition for large objects, and does not give the tag.
    bucket, key, _ = filesystem.split_path(path)
    try:
        answer: dict[str, Any] = filesystem.call_s3(
            method, Bucket=bucket, Key=key, **condition, **further
        )
    except OSError as error:
        answer = getattr(error.__cause__, "response", {})
        if answer.get("ResponseMetadata", {}).get("HTTPStatusCode") in REFUSALS:
            raise RefusedError from error
        raise
    return answer
