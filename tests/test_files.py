"""Files that are replaced are noticed, whatever their file system says of them."""

from datetime import UTC, date, datetime
from uuid import uuid4

import fsspec
import pytest

from monitor.base.files import version_of
from monitor.days.files import describe_files

DAY = date(2026, 3, 1)
EARLIER, LATER = (datetime(2026, 3, 2, hour, tzinfo=UTC) for hour in (6, 7))


def test_a_log_of_equal_size_that_was_replaced_is_another() -> None:
    """A file system that knows neither ETag nor mtime says when a file was created."""
    folder, memory = f"/{uuid4()}", fsspec.filesystem("memory")
    said = []
    for content in (b"first", b"other"):
        memory.pipe(f"{folder}/{DAY}.csv", content)
        said.append(describe_files(f"memory:/{folder}/{{day}}.csv", DAY))

    assert [len(files) for files in said] == [1, 1]
    assert said[0] != said[1]


@pytest.mark.parametrize(
    "entry",
    [
        {"etag": "0x8DC", "last_modified": EARLIER},  # adlfs
        {"ETag": '"9b"', "LastModified": EARLIER},  # s3fs
        {"mtime": EARLIER, "etag": "CKih"},  # gcsfs
        {"created": EARLIER},
    ],
)
def test_each_change_has_another_version(entry: dict[str, object]) -> None:
    """What is said of a file that was written again differs; the same file keeps its version."""
    again = {key: LATER if value is EARLIER else f"{value}+" for key, value in entry.items()}

    assert version_of(entry) == version_of(dict(entry))
    assert version_of(entry) != version_of(again)
