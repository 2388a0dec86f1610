"""Damage to the store: a run makes again what can be made from logs, to the same bytes."""

import json
import shutil
from datetime import date
from pathlib import Path

import pytest

from monitor.store.store import Store
from tests.conftest import Command, Project

FIRST, SECOND, THIRD, FOURTH = (date(2026, 3, n) for n in (1, 2, 3, 4))
RUN = ("run", "--day", THIRD, "--as-of", "2026-03-05")
BACKFILL = ("backfill", "--from", FIRST, "--to", SECOND, "--as-of", "2026-03-05")


def damage(project: Project, *names: str) -> None:
    """Flip a bit in the middle of files of the store."""
    for name in names:
        path = project.folder / "store" / name
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 4
        path.write_bytes(content)


@pytest.fixture
def with_third(project: Project) -> Project:
    """Give a project with two stored days, and the logs of a third."""
    project.write("predictions", project.rows("predictions", THIRD), THIRD)
    for day in (THIRD, FOURTH):
        project.write("outcomes", project.rows("outcomes", day), day)
    return project


@pytest.fixture(scope="module")
def expected(
    finished_project: Path, tmp_path_factory: pytest.TempPathFactory, command: Command
) -> dict[str, bytes]:
    """Run the third day on a sound store."""
    folder = tmp_path_factory.mktemp("sound") / "project"
    shutil.copytree(finished_project, folder)
    sound = Project(folder)
    sound.write("predictions", sound.rows("predictions", THIRD), THIRD)
    for day in (THIRD, FOURTH):
        sound.write("outcomes", sound.rows("outcomes", day), day)
    ended = command(*RUN, "--config", folder / "monitor.yaml")
    assert ended.code == 0, ended.err
    assert "damaged" not in ended.out
    return sound.results()


@pytest.mark.parametrize(
    ("names", "healed"),
    [
        ([f"summaries/ctr/{SECOND}.parquet"], 1),
        ([f"verdicts/ctr/{SECOND}.arrows.zst", f"evaluations/ctr/{FIRST}.arrows.zst"], 2),
        (["runs/ctr/stale.json", "runs/ctr/last.json", f"runs/ctr/{FIRST}.json"], 0),
    ],
)
def test_a_run_heals_what_it_needs(
    with_third: Project, command: Command, expected: dict[str, bytes], names: list[str], healed: int
) -> None:
    """The daily run ends with the bytes of a sound store, and names what it made again."""
    damage(with_third, *names)

    ended = command(*RUN, "--json")

    assert ended.code == 0, ended.err
    assert with_third.results() == expected
    (report,) = json.loads(ended.out)["reports"]
    assert sorted(report["healed"]) == sorted(names[:healed])
    assert report["damaged"] == []


def test_a_morning_names_the_summary_that_it_made_again(
    with_third: Project, command: Command
) -> None:
    """It is a missing day to catch up, which comes before the days of the run."""
    damage(with_third, f"summaries/ctr/{SECOND}.parquet")

    ended = command("run", "--as-of", "2026-03-05")

    assert ended.code == 0, ended.err
    made = f"ctr: damaged files of the store made again: summaries/ctr/{SECOND}.parquet"
    assert made in ended.out


def test_backfill_never_says_unchanged_of_damage(project: Project, command: Command) -> None:
    """A backfill of days whose logs have not changed makes every damaged file again."""
    before = project.results()
    damage(project, *(name.removeprefix("store/") for name in before))

    ended = command(*BACKFILL)
    again = command(*BACKFILL, "--json")

    assert ended.code == 0, ended.err
    assert "ctr: damaged files of the store made again: summaries/ctr/2026-03-01" in ended.out
    assert "days summarised 2, unchanged 0" in ended.out
    assert project.results() == before
    (report,) = json.loads(again.out)["reports"]
    assert (report["unchanged"], report["healed"]) == ([f"{FIRST}", f"{SECOND}"], [])


def test_what_cannot_be_made_again_is_said(project: Project, command: Command) -> None:
    """A damaged revision stays and is named; a damaged summary without logs stops the run."""
    store = Store(str(project.folder / "store"))
    (now, basis), (other, _) = (store.read_verdicts("ctr", day) for day in (SECOND, FIRST))
    store.replace_verdicts("ctr", SECOND, other, basis=basis, as_of=FOURTH)
    store.replace_verdicts("ctr", SECOND, now, basis=basis, as_of=FOURTH)
    damage(project, f"revisions/ctr/{SECOND}.arrows.zst")

    kept = command(*BACKFILL)
    damage(project, f"summaries/ctr/{FIRST}.parquet")
    project.path("predictions", FIRST).unlink()
    lost = command("run", "--day", SECOND, "--as-of", "2026-03-05")

    assert kept.code == 0, kept.err
    assert f"could not be made again: revisions/ctr/{SECOND}.arrows.zst" in kept.out
    assert lost.code == 3
    assert f"summaries/ctr/{FIRST}.parquet: is not a readable file" in lost.err
