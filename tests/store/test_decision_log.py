"""Decisions are only added: none is lost, changed or put back without notice, on disk and in S3."""

import multiprocessing
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from monitor.base.errors import DataError
from monitor.days.decisions import Acknowledgement, Decision, End, lasting, taken_by
from monitor.pipeline.housekeeping.store_check import check_store
from monitor.store.store import Store
from tests.support.buckets import bucket_named

DAY, AT = date(2026, 3, 2), datetime(2026, 3, 3, 3, 7, tzinfo=UTC)
PROCESSES, EACH = 4, 6


def acknowledgement(number: int, by: str, segment: str = "all") -> Acknowledgement:
    """Take what was found up to the day."""
    return Acknowledgement(number, AT, by, "known", segment, DAY, DAY, "https://t.example.org/1")


def processes() -> Any:
    """Give processes that share no memory, but what one has imported for all of them."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["s3fs", __name__])
    return context


def decide_often(root: str, by: str, begin: Any, environment: Mapping[str, str]) -> None:
    """Add several decisions as fast as possible, when all others do too."""
    os.environ.update(environment)  # where the object store is; the first process began before it
    begin.wait()
    for turn in range(EACH):
        said = f"{by}-{turn}"
        Store(root).decide("ctr", lambda number, _, by=said: acknowledgement(number, by))


def die_while_writing(root: str) -> None:
    """Be killed when all bytes are written, and nothing has its name yet."""
    from unittest.mock import patch  # noqa: PLC0415 - in another process

    with patch("pathlib.Path.hardlink_to", lambda *_: os._exit(9)):
        Store(root).decide("ctr", lambda number, _: acknowledgement(number, "killed"))


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """Run an object store on this machine, with one bucket."""
    with bucket_named("own") as address:
        yield address


@pytest.mark.filterwarnings("ignore:datetime.datetime.utcnow:DeprecationWarning")
@pytest.mark.parametrize("place", ["disk", "bucket"])
def test_of_many_at_once_none_is_lost(
    place: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Each process gets numbers of its own, without a gap, also while a run holds the lock."""
    root = f"{request.getfixturevalue('bucket')}/many" if place == "bucket" else str(tmp_path)
    context = processes()
    begin, store = context.Barrier(PROCESSES), Store(root)
    with store.locked("ctr"):
        deciding = [
            context.Process(target=decide_often, args=(root, f"{number}", begin, {**os.environ}))
            for number in range(PROCESSES)
        ]
        for process in deciding:
            process.start()
        for process in deciding:
            process.join()

    found = store.decisions("ctr")
    assert [process.exitcode for process in deciding] == [0] * PROCESSES
    assert [one.number for one in found] == [*range(1, PROCESSES * EACH + 1)]
    for by in range(PROCESSES):  # what one process has decided is in its order
        own = [one.by for one in found if one.by.startswith(f"{by}-")]
        assert own == [f"{by}-{turn}" for turn in range(EACH)]
    assert store.decision_damage("ctr") == (None, [])


def test_is_read_as_it_was_written(tmp_path: Path) -> None:
    """An acknowledgement and its end come back equal; before the first there are none."""
    store = Store(str(tmp_path))
    assert store.decisions("ctr") == []

    def end(number: int, before: Sequence[Decision]) -> End:
        return End(number, AT, "Ben", "rolled back", before[-1].number)

    first = store.decide("ctr", lambda number, _: acknowledgement(number, "Änne", "DE x tv"))
    last = store.decide("ctr", end)

    assert store.decisions("ctr") == [first, last]
    assert (first, last.number) == (acknowledgement(1, "Änne", "DE x tv"), 2)
    assert store.decisions("other") == []


def test_of_a_killed_process_nothing_is_left(tmp_path: Path) -> None:
    """A decision is there whole or not at all, and the next one removes what was left."""
    process = processes().Process(target=die_while_writing, args=(str(tmp_path),))
    process.start()
    process.join()
    store, folder = Store(str(tmp_path)), tmp_path / "decisions" / "ctr"
    assert process.exitcode == 9
    assert len([*folder.iterdir()]) == 1

    assert store.decisions("ctr") == []
    store.decide("ctr", lambda number, _: acknowledgement(number, "Ana"))

    assert [path.name for path in folder.iterdir()] == ["1.json"]


def _spoil(folder: Path, how: str) -> None:
    two = folder / "2.json"
    if how == "torn":
        two.write_bytes(two.read_bytes()[:-40])
    elif how == "changed":
        two.write_text(two.read_text().replace("known", "fixed"))
    elif how == "exchanged":
        shutil.copy(folder / "1.json", two)
    elif how == "replaced":  # sound by itself, made in another store
        other = Store(str(folder / "other"))
        for by in "12":
            other.decide("ctr", lambda number, _, by=by: acknowledgement(number, by))
        shutil.copy(folder / "other" / "decisions" / "ctr" / "2.json", two)
        shutil.rmtree(folder / "other")
    else:
        two.unlink()


@pytest.mark.parametrize(
    ("how", "named"),
    [
        ("torn", "decisions/ctr/2.json: is not a readable file of this store"),
        ("changed", "its digest does not fit its bytes"),
        ("exchanged", "its day is '1', so it is another file than its name says"),
        ("replaced", "the decision before it is not the one that was there"),
        ("lost", "decisions/ctr/2.json is missing; restore it from a backup."),
    ],
)
def test_damage_is_noticed(tmp_path: Path, how: str, named: str) -> None:
    """`check --store` names the file, and who needs the decisions refuses to go on without."""
    store = Store(str(tmp_path))
    for by in ("Ana", "Ben", "Cem"):
        store.decide("ctr", lambda number, _, by=by: acknowledgement(number, by))
    assert check_store(store, "ctr").damaged == check_store(store, "ctr").left_over == ()

    _spoil(tmp_path / "decisions" / "ctr", how)

    checked = check_store(store, "ctr")
    (said,) = (*checked.damaged, *checked.missing)
    assert named in said
    if how != "lost":
        with pytest.raises(DataError, match="restore it from a backup, or delete it"):
            store.decisions("ctr")


def test_the_newest_of_a_segment_decides() -> None:
    """A later acknowledgement takes the place of an earlier one; an end ends only its own."""
    one, two = acknowledgement(1, "Ana"), acknowledgement(2, "Ben", "DE")
    three, end = acknowledgement(3, "Cem"), End(4, AT, "Cem", "done", 3)

    assert lasting([one, two]) == {"all": one, "DE": two}
    assert lasting([three, two, one]) == {"all": three, "DE": two}
    assert lasting([one, two, three, end]) == {"DE": two}
    assert taken_by(lasting([one, two]), "DE", DAY) == two
    assert taken_by(lasting([two, three]), "DE", DAY) == three  # of the model, and newer
    assert taken_by(lasting([two]), "FR", DAY) is None
    assert taken_by(lasting([one]), "FR", date(2026, 3, 3)) is None  # found later
