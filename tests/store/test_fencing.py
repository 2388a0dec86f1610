"""A run that was suspended beyond its lease overwrites nothing of its successor."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.torture.suspensions import LOST, Suspensions, asks_for_lease, suspensions

SEED = 20261122
SOME = 1  # of the writes of a run; `make torture` tries all


@pytest.fixture(scope="module")
def in_object_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Suspensions]:
    """Make a store of two days in an object store."""
    with suspensions(tmp_path_factory.mktemp("remote"), remote=True) as made:
        yield made


def test_in_an_object_store_it_writes_nothing(in_object_store: Suspensions) -> None:
    """Suspended at any write, it leaves the bytes of the successor alone, and names it."""
    made = in_object_store
    inner = range(3, made.writes - 1)  # after those of the lease, before its release
    said = [made.suspend(at) for at in random.Random(SEED).sample(inner, SOME)]  # noqa: S311

    assert all(LOST in each for each in said)
    assert all(" on " in each.partition(LOST)[0] for each in said)


def test_a_lease_that_comes_late_is_not_taken(in_object_store: Suspensions) -> None:
    """Suspended as it takes the lease, it waits for its turn; as it gives it back, it is done."""
    assert in_object_store.suspend(1) == ""
    assert in_object_store.suspend(in_object_store.writes) == ""


def test_a_store_without_conditions_is_asked_before_each_write(
    in_object_store: Suspensions,
) -> None:
    """Where `If-Match` is ignored, a run that looks for its lease before a write finds it gone."""
    assert in_object_store.gate
    in_object_store.gate.with_conditions = False
    try:
        assert LOST in in_object_store.suspend(6, counts=asks_for_lease)
    finally:
        in_object_store.gate.with_conditions = True


def test_on_a_disk_the_lock_is_looked_at_before_each_file_is_replaced(tmp_path: Path) -> None:
    """A stopped run keeps its lock; if somebody removes that, the successor's bytes stay."""
    with suspensions(tmp_path, remote=False) as made:
        for at in random.Random(SEED).sample(range(1, 7), 2):  # noqa: S311
            assert LOST in made.suspend(at)
