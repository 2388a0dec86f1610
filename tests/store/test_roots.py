"""A store on a disk is read without fsspec, and finds what fsspec finds."""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from monitor.base.errors import ConfigError, DataError
from monitor.base.files import folder_on_disk, open_filesystem
from monitor.store.day_files import DayFiles

DAY = date(2026, 3, 1)
NAME = f"verdicts/ctr/{DAY}.arrows.zst"
PARTS = st.sampled_from(
    ["a", "B c", "", ".", "..", "ü", "100%", "a#b?c*", "s3:", "~", "a:b", "{x}"]
)


@given(parts=st.lists(PARTS, max_size=5), with_protocol=st.booleans())
@example(parts=["a", "", "", "B c", ""], with_protocol=True)
def test_the_folder_is_the_one_of_fsspec(parts: list[str], *, with_protocol: bool) -> None:
    """What fsspec writes below a root lies in the folder of that root."""
    with TemporaryDirectory() as top:
        # So deep that no ".." leaves the temporary folder.
        root = "/".join([f"file://{top}" if with_protocol else top, *"12345", *parts])
        assume(with_protocol or "://" not in root)  # as a chain; see below
        filesystem, path = open_filesystem(root)
        filesystem.makedirs(path, exist_ok=True)
        filesystem.pipe_file(f"{path}/file", root.encode())

        folder = folder_on_disk(root)

        assert folder
        assert folder == Path(path)
        assert (folder / "file").read_bytes() == root.encode()


def test_a_relative_root_is_below_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is what fsspec makes of it."""
    monkeypatch.chdir(tmp_path)

    assert folder_on_disk("store") == tmp_path / "store"
    assert folder_on_disk("./store/") == tmp_path / "store"


def test_an_object_store_has_no_folder() -> None:
    """Its objects are read with its own filesystem."""
    assert folder_on_disk("memory://store") is None


@pytest.mark.parametrize("root", ["/here/s3://bucket", "/here::s4://bucket"])
def test_a_filesystem_within_a_path_is_for_fsspec(root: str) -> None:
    """It knows which chains of filesystems there are."""
    with pytest.raises(ConfigError, match="Protocol not known"):
        folder_on_disk(root)


# What lies at the place of a file, the folder of whose model is not made yet.
PLACES: dict[str, Callable[[Path], object]] = {
    "nothing": lambda _: None,
    "a file": lambda file: folder_of(file).write_bytes(b"PAR1 and more\r\n\0"),
    "an empty file": lambda file: folder_of(file).touch(),
    "a folder": lambda file: file.mkdir(parents=True),
    "a file in place of its folder": lambda file: folder_of(file.parent).touch(),
    "a link to a file": lambda file: folder_of(file).symlink_to(__file__),
    "a link to nothing": lambda file: folder_of(file).symlink_to("nothing"),
    "a link to itself": lambda file: folder_of(file).symlink_to(file.name),
}


def folder_of(file: Path) -> Path:
    """Make the folder of a file, and give the file."""
    file.parent.mkdir(parents=True)
    return file


@pytest.mark.parametrize("place", PLACES)
def test_files_read_as_fsspec_reads_them(tmp_path: Path, place: str) -> None:
    """The same bytes or the same error, whatever is at the place of a file."""
    PLACES[place](tmp_path / NAME)

    assert by_store(tmp_path) == by_fsspec(tmp_path)


def by_store(root: Path) -> bytes | tuple[type, str] | None:
    """Read the file of the day from the store: bytes, an error, or None if it is not there."""
    try:
        return DayFiles(f"{root}").content("verdicts", "ctr", DAY)
    except DataError as error:
        return of_error(error.__cause__)


def by_fsspec(root: Path) -> bytes | tuple[type, str] | None:
    """Read it with fsspec."""
    filesystem, path = open_filesystem(f"{root}")
    try:
        return bytes(filesystem.cat_file(f"{path}/{NAME}", start=0))
    except OSError as error:
        return of_error(error)


def of_error(error: BaseException | None) -> tuple[type, str] | None:
    """Give the kind and text of an error; None if it says that the file is not there."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return None
    return type(error), f"{error}"
