"""What lies below a path is found with a bounded number of looks, on disk and in object stores."""

from pathlib import Path
from typing import Any

import fsspec
import pytest

from monitor.base.errors import ConfigError
from monitor.logs.discovery import guess
from monitor.logs.discovery.samples.listing import ALIKE, format_of, survey
from monitor.logs.discovery.samples.naming import patterns
from tests.support.undescribed import history, write


def test_years_of_partitions_cost_as_little_as_a_week(tmp_path: Path) -> None:
    """Of folders that look alike only a few are opened; the first and the last are among them."""
    for year in (2024, 2025):
        for month in range(1, 13):
            for day in range(1, 29):
                folder = tmp_path / f"{year}/{month:02}/{day:02}"
                folder.mkdir(parents=True)
                (folder / "x.parquet").touch()

    (found,) = survey([str(tmp_path)])

    assert len(found.files) == 2 * ALIKE * ALIKE
    assert {"2024/01/01/x.parquet", "2025/12/28/x.parquet"} <= set(found.files)
    assert [p.template for p in patterns(found.files)] == ["{day:%Y}/{day:%m}/{day:%d}/x.parquet"]


def test_too_many_different_folders(tmp_path: Path) -> None:
    """A home folder is no folder of logs: the search ends with a message."""
    for n in range(1001):
        letters = "".join(chr(97 + int(digit)) for digit in f"{n:04}")
        (tmp_path / letters).mkdir()

    with pytest.raises(ConfigError, match="more than 1,000 folders that differ"):
        survey([str(tmp_path)])


def test_hidden_files_and_tables(tmp_path: Path) -> None:
    """Markers of Spark are no logs, and a table of another program is not opened as files."""
    for name in ("ds=2026-01-01/_SUCCESS", "ds=2026-01-01/.x.crc", "_temporary/0.parquet"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for name in ("delta/_delta_log/0.json", "ice/metadata/v1.metadata.json", "ice/data/0.parquet"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()

    (found,) = survey([str(tmp_path)])

    assert found.files == {"delta": "delta", "ice": "iceberg"}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.parquet", "parquet"),
        ("A.PQ", "parquet"),
        ("a.csv.gz", "csv"),
        ("a.jsonl", "json"),
        ("a.json.gz", "json"),
        ("a.avro", None),
        ("a", None),
    ],
)
def test_formats(name: str, expected: str | None) -> None:
    """The ending tells the format."""
    assert format_of(name) == expected


@pytest.mark.filterwarnings("ignore:datetime.datetime.utcnow:DeprecationWarning")
def test_an_object_store(bucket: str, tmp_path: Path) -> None:
    """The same logs in an object store give the same guess, with URLs as paths."""
    write(tmp_path, history(), "ctr/scores/ds={day}/x.parquet", "ctr/labels/{day}.parquet")
    fsspec.filesystem("s3", use_listings_cache=False).put(
        str(tmp_path / "ctr"), f"{bucket}/ctr", recursive=True
    )

    (here,), (there,) = guess([str(tmp_path)]).models, guess([bucket]).models

    def settings_below(root: str, found: Any) -> list[tuple[str, str, str]]:
        return [(s.key, str(s.value).removeprefix(root), s.why) for s in found.settings]

    assert settings_below(bucket, there) == settings_below(str(tmp_path), here)
    assert there.name == "ctr"
