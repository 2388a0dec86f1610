"""Locks and leases: who looks disturbs nobody, and a lease that lives is not taken."""

import multiprocessing
from pathlib import Path
from typing import Any

import fsspec
import pytest

from monitor.base.errors import DataError
from monitor.store import lease
from monitor.store.lease import leased
from monitor.store.lock import is_locked, locked

TIMES = 1_000


def look(path: Path, begin: Any, done: Any) -> None:
    """Look again and again whether a lock is held."""
    begin.wait()
    while not done.is_set():
        is_locked(path)


def test_one_who_looks_does_not_make_it_busy(tmp_path: Path) -> None:
    """A free lock is taken at once without waiting, however often others look at it."""
    path, context = tmp_path / "lock", multiprocessing.get_context("forkserver")
    path.touch()
    begin, done = context.Barrier(3), context.Event()
    looking = [context.Process(target=look, args=(path, begin, done)) for _ in range(2)]
    for process in looking:
        process.start()
    begin.wait()
    try:
        for _ in range(TIMES):
            with locked(path, what="ctr", wait=False) as hold:
                assert hold.is_held()
    finally:
        done.set()
        for process in looking:
            process.join()


def test_a_lock_whose_file_has_another_name_is_lost(tmp_path: Path) -> None:
    """A file server may give a lock away; its new holder has written its name."""
    path = tmp_path / "lock"
    with locked(path, what="ctr") as hold:
        path.write_text("process 7 on another, since 2999-01-01 00:00:00 UTC")

        assert not hold.is_held()
        assert hold.successor().startswith("process 7 on another")
        path.write_text("process 7 on another, since 2001-01-01 00:00:00 UTC")
        assert hold.successor() == ""  # a store of before was put back


def test_a_lease_that_was_renewed_at_the_last_moment_is_not_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who takes a lease over looks at it again after it has created its own, and gives way."""
    filesystem: Any = fsspec.filesystem("memory", skip_instance_cache=True)
    folder, create = "/renewed/leases", filesystem.pipe_file
    create(f"{folder}/lease-1", b"value 0 process 1 on a machine")

    def renewed_before(path: str, value: bytes, **how: Any) -> None:
        if how.get("mode") == "create":
            create(f"{folder}/lease-1", b"value 1 process 1 on a machine")
        create(path, value, **how)

    monkeypatch.setattr(filesystem, "pipe_file", renewed_before)
    taken = lease._takes(  # noqa: SLF001 - its moment cannot be hit from outside
        filesystem, folder, 1, b"value 0 process 1 on a machine", b"value 0 process 2"
    )
    left = [name.rpartition("/")[2] for name in filesystem.ls(folder, detail=False)]

    assert not taken
    assert left == ["lease-1"]


def test_a_lease_is_given_back_at_once_unless_another_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The next one waits for nothing; what a successor wrote stays."""
    filesystem: Any = fsspec.filesystem("memory", skip_instance_cache=True)
    folder, taken = "/given-back/leases", b"value 0 process 7 on another"
    monkeypatch.setattr(lease, "sleep", lambda _: pytest.fail("it waits"))
    for number in (1, 2):
        with leased(filesystem, folder, what="ctr"):
            held = filesystem.cat_file(f"{folder}/lease-{number}")
        left = filesystem.cat_file(f"{folder}/lease-{number}")
        assert left == lease.RELEASED + b" " + held.split(b" ", 2)[2]
    with leased(filesystem, folder, what="ctr"):
        filesystem.pipe_file(f"{folder}/lease-3", taken)

    assert filesystem.cat_file(f"{folder}/lease-3") == taken


def test_what_was_put_beside_a_lease_is_removed_with_it() -> None:
    """A write that its process began and did not end finds nothing to copy any more."""
    filesystem: Any = fsspec.filesystem("memory", skip_instance_cache=True)
    folder, target = "/beside/leases", "/beside/result"
    with leased(filesystem, folder, what="ctr") as first:

        def taken_over() -> None:
            for path in filesystem.ls(folder, detail=False):
                if "lease-" in path:
                    filesystem.pipe_file(path, lease.RELEASED)  # as one that is dead
            with leased(filesystem, folder, what="ctr"):
                filesystem.pipe_file(target, b"of the successor")

        calls = iter([taken_over, refuse])

        def before() -> None:
            next(calls)()

        assert first.replace
        with pytest.raises(DataError, match="lost"):
            first.replace(target, b"of the first", before)

    assert filesystem.cat_file(target) == b"of the successor"
    assert [name for name in filesystem.ls(folder, detail=False) if "staged" in name] == []


def refuse() -> None:
    """Say that the lease was lost."""
    msg = "lost"
    raise DataError(msg)
