"""Damage: whichever bit of the store is wrong, no number comes out of it without an error."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from itertools import chain
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from monitor.base.errors import DataError
from monitor.days.arrivals import Arrivals
from monitor.days.summary import ColumnPart
from monitor.metrics.core.buckets import BucketCounts
from monitor.store.names import JSON, stem
from monitor.store.sealing import (
    is_sealed,
    open_record,
    open_table,
    sealed,
    sealed_record,
    sealed_table,
)
from monitor.store.store import Store
from tests.support.cases import some

DAY, DAY_BEFORE = date(2026, 3, 2), date(2026, 3, 1)
LATER = date(2026, 4, 1)
UNSEALED_KEYS = b"digest", b"sha256"
STEP = 99  # bits between two flips: odd, so that every bit of a byte has its turn

Read = Callable[[Store], Any]
READS: dict[str, Read] = {
    f"summaries/ctr/{DAY}.parquet": lambda store: store.read_summary("ctr", DAY),
    f"evaluations/ctr/{DAY}.arrows.zst": lambda store: store.read_evaluations("ctr", DAY),
    f"verdicts/ctr/{DAY}.arrows.zst": lambda store: store.read_verdicts("ctr", DAY),
    f"columns/ctr/{DAY}.parquet": lambda store: store.read_columns("ctr", DAY),
    f"entities/ctr/{DAY}.parquet": lambda store: store.read_entities("ctr", DAY),
    f"arrivals/ctr/{DAY}.arrows.zst": lambda store: store.read_arrivals("ctr", DAY),
    f"revisions/ctr/{DAY}.arrows.zst": lambda store: store.read_revisions("ctr", DAY),
    "runs/ctr/last.json": lambda store: store.read_run("ctr"),
}
# Without these records work is done again, so damage to them needs no error.
MARKS: dict[str, tuple[Read, Any]] = {
    f"runs/ctr/{DAY}.json": (lambda store: store.read_inputs("ctr", DAY), None),
    "runs/ctr/begun.json": (lambda store: store.read_begin("ctr"), None),
    "runs/ctr/stale.json": (lambda store: store.unfinished("ctr"), (date.min, None)),
}


@pytest.fixture(scope="module")
def full(finished_project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fill a store with a file of every kind."""
    folder = tmp_path_factory.mktemp("full") / "store"
    copytree(finished_project / "store", folder)
    store = Store(str(folder))
    store.write_arrivals("ctr", Arrivals(DAY, (3, 2, 1), (30, 20, 10)))
    summary, _ = store.read_summary("ctr", DAY)
    buckets = BucketCounts(np.arange(40), np.arange(40), np.full(40, 9), np.arange(40) % 9)
    store.write_summary(replace(summary, entities={("DE", "all"): buckets}))
    part = ColumnPart(np.arange(40), np.full(40, 9), np.arange(40) % 9, 400)
    store.write_summary(replace(summary, columns={"device": {"phone": part, "other": part}}))
    (before, basis), (after, _) = (store.read_verdicts("ctr", d) for d in (DAY, DAY_BEFORE))
    store.replace_verdicts("ctr", DAY, after, basis=basis, as_of=LATER)
    store.replace_verdicts("ctr", DAY, before, basis=basis, as_of=LATER)
    return folder


def flipped(content: bytes) -> Iterator[bytearray]:
    """Flip bits of the whole content, one at a time, in an array that is changed again then."""
    damaged = bytearray(content)
    for bit in some(range(0, 8 * len(content), STEP), 3):
        damaged[bit // 8] ^= 1 << bit % 8
        yield damaged
        damaged[bit // 8] ^= 1 << bit % 8


def shortened(content: bytes) -> Iterator[bytes]:
    """Leave out the end, the beginning, or all, and fill a page with zeros as disks do."""
    half = len(content) // 2
    yield from (content[:half], content[half:], content[:-1], b"", content + b"\0")
    yield content[:half] + bytes(min(4096, half)) + content[half + min(4096, half) :]


def overwrite(path: Path, content: bytes | bytearray) -> None:
    """Write a file over itself; to empty it first takes a disk ten times as long."""
    with path.open("r+b") as file:
        file.write(content)
        file.truncate()


def damages(sound: Path, name: str, folder: Path) -> Iterator[Store]:
    """Damage a copy of a file in every way, and give the store in which it is the only file."""
    path = folder / name
    path.parent.mkdir(parents=True)
    content = sound.read_bytes()
    path.touch()
    for damaged in chain([content], flipped(content), shortened(content)):
        overwrite(path, damaged)
        yield Store(str(folder))


@pytest.mark.parametrize("name", READS)
def test_no_bit_flips_unnoticed(full: Path, name: str, tmp_path: Path) -> None:
    """A file with any wrong bit is an error that names it, and what to do."""
    stores = damages(full / name, name, tmp_path)
    READS[name](next(stores))

    for store in stores:
        try:
            READS[name](store)
        except DataError as error:
            said = error
        else:
            pytest.fail("damage was not noticed")
        assert said.damaged == name
        assert re.search(rf"{name}: is not a readable file .* run ", f"{said}", re.DOTALL)


@pytest.mark.parametrize("name", MARKS)
def test_a_damaged_mark_means_that_work_is_done_again(
    full: Path, name: str, tmp_path: Path
) -> None:
    """A mark with any wrong bit never says that a day is done."""
    stores = damages(full / name, name, tmp_path)
    read, again = MARKS[name]
    assert read(next(stores)) != again

    assert all(read(store) == again for store in stores)


def test_a_file_without_a_digest_can_be_read_but_proves_nothing(full: Path) -> None:
    """A store of an earlier version stays readable; its days count as changed."""
    store, path = Store(str(full)), full / f"summaries/ctr/{DAY}.parquet"
    sound = path.read_bytes()
    expected = store.read_summary("ctr", DAY)[0].segments.keys()
    assert store.is_sound("summaries", "ctr", DAY)

    metadata = {b"summary": pq.read_metadata(path).metadata[b"summary"]}
    pq.write_table(pq.read_table(path).replace_schema_metadata(metadata), path)

    assert store.read_summary("ctr", DAY)[0].segments.keys() == expected
    assert not store.is_sound("summaries", "ctr", DAY)
    path.write_bytes(sound)


def test_text_that_looks_like_a_digest_does_no_harm() -> None:
    """Segments and messages may contain any text, also that before a digest."""
    text = '\x06sha256\x18@"sha256": "' + "0" * 64
    table = pa.table({"segment": [text]}).replace_schema_metadata({"sha256": text})

    read, digest = open_table(sealed_table(table))
    record = open_record(sealed_record({"complaint": text, "zzz": text}))

    assert read["segment"].to_pylist() == [text]
    assert digest
    assert is_sealed(sealed_table(table))
    assert record == {"complaint": text, "zzz": text}


OUT_OF_RANGE = [
    ("count", -1, "count|positives"),
    ("positives", 10**6, "positives"),
    ("cell", 2**14, "cell"),
    ("cell", 0, "cell"),
    ("offset_sum", -1, "offset_sum"),
    ("awaited", 10**6, "predicted"),
]


@pytest.mark.parametrize(("column", "value", "said"), OUT_OF_RANGE)
def test_values_of_a_summary_are_checked(
    full: Path, tmp_path: Path, column: str, value: int, said: str
) -> None:
    """A summary that was written with impossible numbers is an error, whatever its digest."""
    name = f"summaries/ctr/{DAY}.parquet"
    table, _ = open_table((full / name).read_bytes())
    values = table[column].to_pylist()
    last_of_part = table["segment"].to_pylist().count("DE") - 1
    values[last_of_part] = value
    changed = table.set_column(
        table.schema.get_field_index(column), column, pa.array(values, table[column].type)
    )
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_bytes(sealed(name, changed))

    with pytest.raises(DataError, match=rf"\(ValueError: ({said}) is out of range\)"):
        Store(str(tmp_path)).read_summary("ctr", DAY)


# Where the content of a file must not be read: each file that could be taken for it.
ELSEWHERE = {
    "day": lambda kind, file: f"{kind}/ctr/{DAY_BEFORE}{Path(file).suffix}",
    "model": lambda kind, file: f"{kind}/ads/{file}",
    "kind": lambda kind, file: f"{'arrivals' if kind != 'arrivals' else 'columns'}/ctr/{file}",
}


def another(name: str, key: str) -> str:
    """Name a file that differs from the one named in its kind, its model or its day."""
    kind, _, file = name.split("/")
    return ELSEWHERE[key](kind, file)


@pytest.mark.parametrize("key", ["kind", "model", "day"])
@pytest.mark.parametrize("name", [*READS, *MARKS])
def test_a_file_is_read_by_its_own_name_only(
    full: Path, tmp_path: Path, name: str, key: str
) -> None:
    """A sealed file under the name of another kind, model or day is an error, or no mark."""
    store, place = Store(str(tmp_path)), tmp_path / name
    place.parent.mkdir(parents=True)
    content = (full / name).read_bytes()
    for reads_as, expected in ((name, True), (another(name, key), False)):
        kind, model, file = reads_as.split("/")
        about = {"kind": kind, "model": model, "day": stem(file)}
        place.write_bytes(said_to_be(name, content, about))
        if name in MARKS:
            read, again = MARKS[name]
            assert (read(store) != again) is expected
        elif expected:
            READS[name](store)
        else:
            with pytest.raises(DataError, match=f"its {key} is .* another file than its name"):
                READS[name](store)


def said_to_be(name: str, content: bytes, about: dict[str, str]) -> bytes:
    """Write a table or record once more, with a digest, as the file of another name."""
    if not name.endswith(JSON):
        table, _ = open_table(content)
        kept = {k: v for k, v in table.schema.metadata.items() if k not in UNSEALED_KEYS}
        of = {key.encode(): value.encode() for key, value in about.items()}
        return sealed(name, table.replace_schema_metadata({**kept, **of}))
    return sealed_record({**open_record(content), **about})
