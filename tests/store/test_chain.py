"""Old files: every version of every file that was ever stored, put back, is noticed and healed."""

import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pytest

from monitor.metrics.maps.class_map_file import ClassMapFile, ClassTraining
from monitor.metrics.maps.map_file import Gain, Gains
from monitor.metrics.maps.vector_map import VectorMap
from monitor.pipeline.housekeeping.store_check import check_store
from monitor.store.chain import DIGESTS, Chain
from monitor.store.map_file import write_map
from monitor.store.names import DAILY, day_file
from monitor.store.sealing import open_record, sealed_record
from monitor.store.store import Store
from tests.conftest import CONFIG, ROWS, Command, Project, run_command
from tests.support.cases import some
from tests.support.class_logs import NAMES, draw, write_day

DAYS = [date(2026, 3, n) for n in (1, 2, 3, 4)]
LATER = date(2026, 4, 5)  # by which the outcomes of the first days have all come
LONG_AFTER = "2026-04-14"
SPAN = "--from", DAYS[0], "--to", DAYS[-1]
AS_OF = "2026-03-06", "2026-03-07", LONG_AFTER, LONG_AFTER  # of the versions of the store
CHAINED = CONFIG.replace(
    "segments: {column: country, values: [DE, FR]}",
    "segments: [{column: country, values: [DE, FR], primary: true}, {column: device, top: 9}]\n"
    "    settled_after: 3",
).replace("predictions: {", "predictions: {entity: device, ")
CHAINED += f"""\
  pets:
    predictions: {{path: "pets/predictions/{{day}}.parquet",
      classes: {{names: [{", ".join(NAMES)}], vector: p}}}}
    outcomes: {{path: "pets/outcomes/{{day}}.parquet"}}
    settled_after: 0
    windows: [1]
    map: {{file: "pets/map.json", since: {DAYS[0]}}}
"""
MODELS = "ctr", "pets"


class World(NamedTuple):
    """A project, and the files of its store as each of several backfills left them.

    The folder `before` beside the store is the store before the last of them.
    """

    folder: Path
    versions: list[dict[str, bytes]]


def write_logs(project: Project, version: int) -> None:
    """Write the logs of all days; of each version other outcomes are 1, and come at other times."""
    for day in (*DAYS, LATER):
        rows = project.rows("predictions", day)
        rows["device"] = [("phone", "desk")[(i + version) % 2] for i in range(ROWS)]
        project.write("predictions", rows, day)
        rows = project.rows("outcomes", day)
        rows["outcome"] = [int((i + version) % 3 == 0) for i in range(ROWS)]
        project.write("outcomes", rows, day)
    empty = {name: content[:1] for name, content in project.rows("outcomes", LATER).items()}
    for place in range(40):
        day = DAYS[0] + timedelta(days=place)
        if not project.path("outcomes", day).exists():
            late = {**empty, "prediction_id": [10**6 + place]}
            project.write("outcomes", late, day)
    for day in (*DAYS, LATER):
        vectors, labels = draw(np.random.default_rng([version, day.toordinal()]), 200)
        write_day(project.folder / "pets", day, vectors, pa.array(np.array(NAMES)[labels]))


def files(folder: Path) -> dict[str, bytes]:
    """Read every daily file of a store."""
    store = folder / "store"
    return {
        f"{path.relative_to(store)}": path.read_bytes()
        for kind in DAILY
        for path in sorted((store / kind).rglob("2*.*"))
    }


def backfill(folder: Path, as_of: str = LONG_AFTER, models: Sequence[str] = MODELS) -> None:
    """Process the days whose logs are complete."""
    options = "--as-of", as_of, "--config", folder / "monitor.yaml"
    for model in models:  # one at a time is processed by this process
        ended = run_command("backfill", *SPAN, *options, "--recompute", "--model", model)
        if as_of == LONG_AFTER:
            ended = run_command("run", "--day", LATER, *options, "--model", model)
        assert ended.code == 0, ended.err


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Process logs that change from one backfill to the next."""
    project, versions = Project(tmp_path_factory.mktemp("chain")), []
    (project.folder / "pets").mkdir()
    before, flat = date(2026, 2, 1), VectorMap("temperature", NAMES, parameters=(0.8,))
    training = ClassTraining(before, before, 1, 9, 9, (3, 3, 3))
    nothing = Gains(*[Gain(0.0, 0.0, 0.0)] * 4)
    content = ClassMapFile("pets", flat, training, None, nothing, "1.0")
    write_map(str(project.folder / "pets/map.json"), content)
    text = CHAINED  # a copy reads the same logs, by the same names
    for log in ("predictions/", "outcomes/", "pets/"):
        text = text.replace(f'"{log}', f'"{project.folder}/{log}')
    (project.folder / "monitor.yaml").write_text(text)
    for version, as_of in enumerate(AS_OF):
        if version == len(AS_OF) - 1:
            shutil.copytree(project.folder / "store", project.folder / "before")
        write_logs(project, version)
        backfill(project.folder, as_of)
        versions.append(files(project.folder))
    found = World(project.folder, versions)
    for of_kinds in (versions[-1], dict(older_versions(found))):
        assert {name.partition("/")[0] for name in of_kinds} == {*DAILY}
    return found


@pytest.fixture
def project(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Give a copy of the project, which reads the same logs."""
    shutil.copytree(world.folder / "store", tmp_path / "project/store")
    shutil.copy(world.folder / "monitor.yaml", tmp_path / "project/monitor.yaml")
    monkeypatch.chdir(tmp_path / "project")
    return Project(tmp_path / "project")


def older_versions(world: World) -> Iterator[tuple[str, bytes]]:
    """Give every earlier version of every file of the newest store."""
    for name, newest in world.versions[-1].items():
        seen = {newest}
        for version in world.versions[:-1]:
            if (content := version.get(name)) and content not in seen:
                seen.add(content)
                yield name, content


def named(root: Path, models: Sequence[str] = MODELS) -> set[str]:
    """Give the files that `check --store` calls damaged."""
    checked = [check_store(Store(str(root / "store")), model) for model in models]
    assert not any(found.missing for found in checked)
    damaged = (said for found in checked for said in found.damaged)
    return {said.partition("store/")[2].partition(":")[0] for said in damaged}


def of_one_kind(world: World) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Give earlier versions of one kind, of at most one file of each day, and their model."""
    lots = defaultdict[tuple[str, str, int], dict[str, bytes]](dict)
    seen = Counter[str]()
    for name, content in older_versions(world):
        kind, model, _ = name.split("/")
        lots[kind, model, seen[name]][name] = content
        seen[name] += 1
    for (_, model, _), lot in lots.items():
        yield model, lot


def test_every_older_version_is_noticed(world: World, project: Project) -> None:
    """Whatever a day is given of an earlier version, `check --store` names it and no other."""
    for model, lot in of_one_kind(world):
        for name, content in lot.items():
            (project.folder / "store" / name).write_bytes(content)

        assert named(project.folder, [model]) == {*lot}

        for name in lot:
            (project.folder / "store" / name).write_bytes(world.versions[-1][name])


def test_old_records_do_not_hide_old_files(world: World, project: Project) -> None:
    """A summary and the record of its day that were put back together are noticed too."""
    day = DAYS[1]
    record, summary = (
        project.folder / "store" / name
        for name in (f"runs/ctr/{day}.json", f"summaries/ctr/{day}.parquet")
    )
    older = world.versions[1][f"summaries/ctr/{day}.parquet"]
    summary.write_bytes(older)
    made = {"summaries": Store(str(project.folder / "store")).summary_mark("ctr", day)}
    record.write_bytes(sealed_record({**open_record(record.read_bytes()), "made": made}))
    (project.folder / f"store/runs/ctr/{DIGESTS}2026-03.json").unlink()

    wrong = {day_file(kind, "ctr", day) for kind in ("entities", "evaluations", "verdicts")}
    assert named(project.folder) == wrong  # which belong to another summary


@pytest.mark.parametrize("kind", some([kind for kind in DAILY if kind != "revisions"], 4))
def test_a_backfill_heals_what_was_put_back(world: World, project: Project, kind: str) -> None:
    """The newest version but one of each file of a kind, put back at once, is made again."""
    older = {name: old for name, old in older_versions(world) if name.startswith(f"{kind}/")}
    for name, content in older.items():
        (project.folder / "store" / name).write_bytes(content)

    assert files(project.folder) != world.versions[-1]
    backfill(project.folder, models=sorted({name.split("/")[1] for name in older}))

    assert files(project.folder) == world.versions[-1]
    assert named(project.folder) == set()


def test_a_run_heals_what_it_reads(world: World, project: Project, command: Command) -> None:
    """A summary within the window of the day is compared for nothing, and made again."""
    name = f"summaries/ctr/{DAYS[2]}.parquet"
    (project.folder / "store" / name).write_bytes(world.versions[0][name])

    ended = command("run", "--day", DAYS[3], "--as-of", LONG_AFTER, "--json")

    assert ended.code == 0, ended.err
    assert name in ended.out
    assert files(project.folder) == world.versions[-1]
    assert named(project.folder) == set()


def test_what_only_evaluates_refuses(world: World, project: Project, command: Command) -> None:
    """A command that cannot read logs names the file, and the command that makes it again."""
    name = f"summaries/ctr/{DAYS[2]}.parquet"
    (project.folder / "store" / name).write_bytes(world.versions[0][name])

    ended = command("evaluate", "--from", DAYS[3], "--to", DAYS[3])

    assert ended.code == 3
    assert f"{name}: is sound, but older or newer than its record" in ended.err.replace("\n", " ")
    assert f"backfill --model ctr --from {DAYS[2]} --to {DAYS[2]}" in ended.err.replace("\n", " ")


def test_a_store_without_records_is_in_order(project: Project, command: Command) -> None:
    """Nothing is said of files of earlier versions; the next run records what it reads."""
    runs = project.folder / "store/runs/ctr"
    for path in runs.glob("*.json"):
        record = open_record(path.read_bytes())
        record.pop("made", None)
        path.write_bytes(sealed_record(record))
    records = [*runs.glob(f"{DIGESTS}*")]
    for path in records:
        path.unlink()

    before = named(project.folder)
    ended = command("run", "--day", DAYS[3], "--as-of", LONG_AFTER)

    assert len(records) == 2
    assert before == named(project.folder) == set()
    assert ended.code == 0, ended.err
    days = open_record((runs / f"{DIGESTS}2026-03.json").read_bytes())["days"]
    assert {f"{day}" for day in DAYS[1:]} <= days.keys()


class KilledError(BaseException):
    """Stands for a kill: nothing catches it."""


@pytest.mark.parametrize(
    ("model", "writes"),
    some(
        [*(("ctr", n) for n in (2, 4, 7, 11, 16, 22, 29)), *(("pets", n) for n in (11, 15, 20))], 7
    ),
)
def test_a_killed_run_is_no_false_alarm(
    world: World, project: Project, monkeypatch: pytest.MonkeyPatch, model: str, writes: int
) -> None:
    """Killed after any write, a backfill leaves files that nobody is told of, and is healed."""
    shutil.rmtree(project.folder / "store")
    shutil.copytree(world.folder / "before", project.folder / "store")
    before = files(project.folder)
    left, replace = [writes], Chain._replace

    def dying(store: Chain, name: str, content: bytes) -> None:
        if not left[0]:
            raise KilledError
        left[0] -= 1
        replace(store, name, content)

    with monkeypatch.context() as patch, suppress(KilledError):
        patch.setattr(Chain, "_replace", dying)
        backfill(project.folder, models=[model])
    assert not left[0]
    left_behind = files(project.folder)
    told = {
        name for name in named(project.folder, [model]) if left_behind[name] != before.get(name)
    }

    backfill(project.folder, models=[model])

    newest = {n: content for n, content in world.versions[-1].items() if n.split("/")[1] == model}
    assert told == set()  # of what this run wrote
    assert files(project.folder) == before | newest
    assert named(project.folder, [model]) == set()
