"""Files of months: what is read stays the same, however a process ends, and damage is noticed."""

import json
import shutil
from collections.abc import Callable
from datetime import date
from itertools import chain
from pathlib import Path

import pytest

from monitor.base.errors import DataError
from monitor.config import load_config
from monitor.export.http.app import Exporter
from monitor.pipeline.housekeeping.compaction import compact, plan
from monitor.store.months import days_of_month, month_name
from monitor.store.names import KINDS
from monitor.store.store import Store
from tests.conftest import DAY, DAY_AFTER, DAY_BEFORE, Command, Project
from tests.store.test_sealing import flipped, overwrite, shortened

COMPACT = ("store", "compact")
SPAN = ("--from", DAY_BEFORE, "--to", DAY)
LONG_AFTER = date(2026, 12, 31)
MONTH = "2026-03.01-02.parquet"


def contents(root: Path | str = "store") -> dict[tuple[str, date], bytes]:
    """Read every file of a day, wherever it lies."""
    store = Store(str(root))
    return {(k, d): store.content(k, "ctr", d) for k in KINDS for d in store.days(k, "ctr")}


def files(root: Path | str = "store") -> list[str]:
    """List the files of a store that belong to days."""
    found = (path for path in Path(root).rglob("*") if path.name.startswith("2026"))
    return sorted(str(path.relative_to(root)) for path in found)


def test_what_is_read_stays_the_same(project: Project, command: Command) -> None:
    """Each kind becomes one file, all bytes are read as before, and nothing is to do again."""
    before, shown = contents(), Exporter(project.folder / "monitor.yaml").text()

    planned = command(*COMPACT, "--dry-run")
    untouched = files()
    ended = command(*COMPACT)
    first = {name: (project.folder / "store" / name).read_bytes() for name in files()}
    again = command(*COMPACT)

    assert "would write 4 files in place of 8, 2026-03-01 to 2026-03-02" in planned.out
    assert len(untouched) == 8
    assert ended.code == 0, ended.err
    assert "wrote 4 files in place of 8" in ended.out
    assert sorted(first) == [
        f"{kind}/ctr/{MONTH}" for kind in ("evaluations", "runs", "summaries", "verdicts")
    ]
    assert contents() == before
    assert Exporter(project.folder / "monitor.yaml").text() == shown
    assert "no month to compact" in again.out
    assert {n: (project.folder / "store" / n).read_bytes() for n in files()} == first


def test_work_goes_on_as_before(project: Project, command: Command) -> None:
    """Days of a month are unchanged for a backfill; a correction wins, and joins the month."""
    command("backfill", *SPAN, "--as-of", LONG_AFTER)  # of the logs of this copy
    command(*COMPACT)
    before = contents()

    unchanged = command("backfill", *SPAN, "--as-of", LONG_AFTER, "--json")
    still = contents()
    project.write("outcomes", {**project.rows("outcomes"), "outcome": [0] * 39 + [1]})
    corrected = command("backfill", *SPAN, "--as-of", LONG_AFTER)
    alone, wins = files(), contents()
    ended = command(*COMPACT)

    (report,) = json.loads(unchanged.out)["reports"]
    assert report["unchanged"] == [f"{DAY_BEFORE}", f"{DAY}"]
    assert still == before
    assert corrected.code == ended.code == 0
    assert f"summaries/ctr/{DAY}.parquet" in alone
    assert wins["summaries", DAY] != before["summaries", DAY]
    assert contents() == wins
    assert f"summaries/ctr/{DAY}.parquet" not in files()


@pytest.mark.parametrize("steps", range(0, 24, 3))
def test_however_it_is_interrupted(
    finished_project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    """After any number of files written or removed every day is read as before, also by others."""
    shutil.copytree(finished_project, tmp_path / "project")
    config = load_config(tmp_path / "project" / "monitor.yaml")
    store, before, left = Store(config.store), contents(config.store), iter(range(steps))

    def interrupted(change: Callable[..., None]) -> Callable[..., None]:
        def do(*given: object, **named: object) -> None:
            assert contents(config.store) == before  # what another process reads now
            if next(left, None) is None:
                raise KeyboardInterrupt
            change(*given, **named)

        return do

    with monkeypatch.context() as patch, store.locked("ctr"):
        for change in ("_replace", "_remove_file"):
            patch.setattr(Store, change, interrupted(getattr(Store, change)))
        try:
            compact(config, plan(config, "ctr", today=LONG_AFTER))
        except KeyboardInterrupt:
            assert steps < 4 + 8
    interim = contents(config.store)
    with store.locked("ctr"):
        compact(config, plan(config, "ctr", today=LONG_AFTER))

    assert interim == contents(config.store) == before
    assert len(files(config.store)) == 4


@pytest.mark.parametrize("kind", ["verdicts", "runs"])
def test_no_bit_flips_unnoticed(project: Project, command: Command, kind: str) -> None:
    """A file of a month with any wrong bit is an error that names it, and what to do."""
    command(*COMPACT)
    path = project.folder / "store" / kind / "ctr" / MONTH
    content = path.read_bytes()

    for damaged in chain(flipped(content), shortened(content)):
        overwrite(path, damaged)
        with pytest.raises(DataError, match="is not a readable file") as raised:
            Store("store").content(kind, "ctr", DAY)
        assert raised.value.damaged == f"{kind}/ctr/{MONTH}"
    assert Store("store").read_inputs("ctr", DAY) is None or kind != "runs"


@pytest.mark.parametrize("kind", ["summaries", "evaluations", "verdicts", "runs"])
def test_damage_is_listed_and_heals(project: Project, command: Command, kind: str) -> None:
    """`check --store` names the file; a backfill makes its days again, compaction removes it."""
    before = contents()
    command(*COMPACT)
    path = project.folder / "store" / kind / "ctr" / MONTH
    path.write_bytes(path.read_bytes()[:-9])

    found = command("check", "--store")
    refused = command(*COMPACT)
    healed = command("backfill", *SPAN, "--as-of", LONG_AFTER)
    after = contents()
    told = command("check", "--store")
    ended = command(*COMPACT)
    at_last = command("check", "--store")

    assert found.code == 3
    assert f"{kind}/ctr/{MONTH}: is not a readable file" in found.err
    assert "damaged 1, missing 0" in found.out
    assert (refused.code, healed.code, told.code) == (0, 0, 0)
    assert {k: after[k] for k in after if k[0] != "runs"} == {
        k: before[k] for k in before if k[0] != "runs"
    }
    assert f"{MONTH} is damaged, but its days have files of their own" in told.out
    assert ended.code == 0, ended.err
    assert "damaged 0, missing 0, left over 0" in at_last.out.replace("\n", " ")


def test_a_damaged_day_keeps_its_month_as_it_is(project: Project, command: Command) -> None:
    """The other kinds are compacted, the error names the file, and nothing is removed."""
    path = project.folder / "store" / "verdicts" / "ctr" / f"{DAY}.arrows.zst"
    path.write_bytes(path.read_bytes()[:-9])

    ended = command(*COMPACT)

    assert ended.code == 3
    assert f"verdicts/ctr/{DAY}.arrows.zst: is not a readable file" in ended.err
    assert f"verdicts/ctr/{DAY_BEFORE}.arrows.zst" in files()
    assert f"summaries/ctr/{MONTH}" in files()


def test_days_are_removed_from_a_month(project: Project, command: Command) -> None:
    """A removed day is gone, also if it had a file of its own too; the others stay as they are."""
    before = contents()
    command(*COMPACT)
    store = Store("store")
    table = project.folder / "store" / "summaries" / "ctr" / f"{DAY}.parquet"
    table.write_bytes(before["summaries", DAY])

    store.remove("summaries", "ctr", [DAY])
    kept = files()
    store.remove("evaluations", "ctr", [DAY, DAY_BEFORE])

    assert "summaries/ctr/2026-03.01.parquet" in kept
    assert not [name for name in files() if name.startswith("evaluations")]
    assert contents() == {
        key: content
        for key, content in before.items()
        if key[0] == "verdicts" or (key[1] == DAY_BEFORE and key[0] != "evaluations")
    }


def test_a_month_of_another_model_is_no_month_of_this_one(
    project: Project, command: Command
) -> None:
    """A file that was copied to another name or folder is an error."""
    command(*COMPACT)
    folder = project.folder / "store" / "runs"
    shutil.copytree(folder / "ctr", folder / "other")
    (folder / "ctr" / MONTH).rename(folder / "ctr" / "2026-03.01-03.parquet")

    for model, day in (("other", DAY), ("ctr", DAY_AFTER)):
        with pytest.raises(DataError, match="so it is another file than its name says"):
            Store("store").content("runs", model, day)


@pytest.mark.parametrize("days", [[1], [1, 2, 3], [1, 3], [1, 2, 4, 5, 7], [*range(1, 32)]])
def test_names_say_the_days(days: list[int]) -> None:
    """The name of a file gives back the days that it was made for."""
    of_month = [date(2026, 3, day) for day in days]

    assert days_of_month(month_name(of_month)) == of_month


@pytest.mark.parametrize(
    "name",
    [
        "2026-03-01.parquet",
        "2026-03.parquet",
        "2026-13.01.parquet",
        "0000-03.01.parquet",
        "2026-02.01-31.parquet",
        "2026-03.02,01.parquet",
        "2026-03.01,02.parquet",
        "2026-03.00-02.parquet",
        "2026-03.01-02-03.parquet",
        "2026-03.02-01.parquet",
    ],
)
def test_other_names_are_no_months(name: str) -> None:
    """A name that compaction does not write says no days."""
    assert days_of_month(name) == []
