"""Old days leave the store, and what stays is neither changed nor orphaned."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
import yaml

from monitor.base.errors import ConfigError, DataError
from monitor.config import Config, load_config
from monitor.days.arrivals import Arrivals
from monitor.drift.incidents.detecting import new_detector
from monitor.drift.records.detector import Second
from monitor.pipeline.days.task import Task
from monitor.pipeline.housekeeping.prune import last_held, plan, prune
from monitor.pipeline.runs.run import run
from monitor.pipeline.verdicts.judging import judge_days
from monitor.pipeline.verdicts.references import read_references
from monitor.store.names import DAILY
from monitor.store.store import Store
from tests.conftest import Ended
from tests.support.two_models import write_day

FIRST = date(2026, 1, 1)
DAYS, REFERENCE_DAYS, KEPT = 34, 10, 14
TODAY = FIRST + timedelta(days=DAYS)
MODEL = "fraud"


def day(place: int) -> date:
    """Name a day of the logs by its place."""
    return FIRST + timedelta(days=place)


def do(config: Config, first: int, last: int, *, as_of: int = DAYS) -> None:
    """Run the daily job for some days."""
    run(
        config,
        Task(MODEL, day(first), day(last), day(as_of)),
        clock=lambda: datetime(2026, 2, 10, tzinfo=UTC),
    )


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fill a store with 33 days, the first ten of which are the reference."""
    folder = tmp_path_factory.mktemp("prune")
    model = {
        "predictions": {"path": "logs/fraud/predictions/{day}.parquet"},
        "outcomes": {"path": "logs/fraud/outcomes/{day}.parquet"},
        "windows": [1, 3],
        "verdicts": {"references": [{"first": day(0), "last": day(REFERENCE_DAYS - 1)}]},
    }
    configuration = {"store": "store", "models": {MODEL: model}}
    (folder / "monitor.yaml").write_text(yaml.safe_dump(configuration))
    for place in range(DAYS + 1):
        write_day(folder, MODEL, day(place), place, np.random.default_rng(place))
    do(load_config(folder / "monitor.yaml"), 0, DAYS - 2)
    return folder


@pytest.fixture
def whole(filled: Path, tmp_path: Path) -> Config:
    """Give a copy of the store."""
    shutil.copytree(filled, tmp_path / "whole")
    return load_config(tmp_path / "whole" / "monitor.yaml")


@pytest.fixture
def pruned(filled: Path, tmp_path: Path) -> Config:
    """Give a copy from which all but fourteen days were removed."""
    shutil.copytree(filled, tmp_path / "pruned")
    config = load_config(tmp_path / "pruned" / "monitor.yaml")
    prune(config, plan(config, MODEL, keep_days=KEPT, today=TODAY))
    return config


def monday(before: int) -> int:
    """Give the place of the last Monday before one."""
    return max(place for place in range(before) if day(place).weekday() == 0)


def content(config: Config, kind: str, first: int = 0) -> dict[date, bytes]:
    """Read every file of a kind from a day on."""
    store = Store(config.store)
    return {d: store.content(kind, MODEL, d) for d in store.days(kind, MODEL) if d >= day(first)}


def test_what_is_removed(pruned: Config) -> None:
    """Evaluations from the day named, a week more of the rest, and summaries of the reference.

    Of summaries those of a week before the last Monday, from which the fold can go on.
    """
    oldest = DAYS - KEPT
    found = {kind: list(content(pruned, kind)) for kind in DAILY}
    records = {path.stem for path in (Path(pruned.store) / "runs" / MODEL).glob("2026*.json")}

    assert found["evaluations"] == [day(place) for place in range(oldest, DAYS - 1)]
    assert found["verdicts"] == [day(place) for place in range(oldest - 7, DAYS - 1)]
    assert found["summaries"] == [
        day(place) for place in (*range(REFERENCE_DAYS), *range(monday(oldest) - 7, DAYS - 1))
    ]
    assert records == set(map(str, found["summaries"]))


def test_what_follows_is_as_if_nothing_had_been_removed(whole: Config, pruned: Config) -> None:
    """The next day, and the oldest kept one done again with other logs, get the same bytes."""
    oldest = DAYS - KEPT
    for config in (whole, pruned):
        folder = Path(config.store).parent
        write_day(folder, MODEL, day(oldest), oldest, np.random.default_rng(1_000))
        do(config, oldest, oldest)
        do(config, DAYS - 1, DAYS - 1, as_of=DAYS + 1)

    for kind in DAILY:
        assert content(pruned, kind, oldest) == content(whole, kind, oldest), kind


def test_a_reference_that_nobody_configured_stays(filled: Path, tmp_path: Path) -> None:
    """Without references in the configuration the first 28 days are one, and are kept.

    So is the last week from which the fold can go on, however long ago that was.
    """
    shutil.copytree(filled, tmp_path / "copy")
    configuration = yaml.safe_load((filled / "monitor.yaml").read_text())
    del configuration["models"][MODEL]["verdicts"]
    (tmp_path / "copy" / "monitor.yaml").write_text(yaml.safe_dump(configuration))
    config = load_config(tmp_path / "copy" / "monitor.yaml")
    planned = plan(config, MODEL, keep_days=KEPT, today=TODAY + timedelta(days=100))

    kept = monday(DAYS - 1) - 7
    assert list(planned.reference) == [day(place) for place in range(kept)]
    assert kept < 28
    assert not planned.days["summaries"]


def test_the_days_that_a_second_reference_rests_on_stay(whole: Config) -> None:
    """A drift that is open on the oldest verdict kept: a run can fit its reference again."""
    store = Store(whole.store)
    removed = plan(whole, MODEL, keep_days=KEPT, today=TODAY).days["summaries"]
    held = last_held(store, MODEL, day(DAYS - KEPT))
    verdicts, _ = store.read_verdicts(MODEL, held.day)
    second = Second(removed[0], 28, removed[0], new_detector())
    detectors = {name: replace(of, second=second) for name, of in held.detectors.items()}
    drifting = replace(held, detectors=detectors)
    store.write_verdicts(MODEL, held.day, verdicts, basis="", carried=drifting)
    planned = plan(whole, MODEL, keep_days=KEPT, today=TODAY)

    assert removed
    assert planned.days["summaries"] == removed[1:]


def test_arrivals_stay_that_a_verdict_may_look_at(whole: Config) -> None:
    """Those of the 35 complete days before the oldest verdict, each complete after 28 days."""
    oldest = DAYS - KEPT - 7 - 28 - 35
    for place in (oldest - 1, oldest):
        Store(whole.store).write_arrivals(MODEL, Arrivals(day(place), (3, 1), (20, 10)))
    planned = plan(whole, MODEL, keep_days=KEPT, today=TODAY)

    assert planned.days["arrivals"] == [day(oldest - 1)]


def test_what_the_next_run_needs_cannot_be_removed(whole: Config) -> None:
    """Fewer days than the longest window, the wait for outcomes and a week are refused."""
    least = 3 + 1 + 7
    plan(whole, MODEL, keep_days=least, today=TODAY)

    with pytest.raises(ConfigError, match=r"--keep 10d: fraud needs 11 days: .* use 11d"):
        plan(whole, MODEL, keep_days=least - 1, today=TODAY)


def test_the_command_says_what_it_removes(whole: Config, command: Callable[..., Ended]) -> None:
    """A dry run removes nothing and counts what the command then removes."""
    path = Path(whole.store).parent / "monitor.yaml"
    before = {kind: content(whole, kind) for kind in DAILY}
    dry = command("prune", "--config", path, "--keep", "11d", "--dry-run")
    untouched = {kind: content(whole, kind) for kind in DAILY}
    done = command("prune", "--config", path, "--keep", "11d")

    assert (dry.code, done.code) == (0, 0)
    assert untouched == before
    for kind in DAILY:
        gone = sorted(set(before[kind]) - set(content(whole, kind)))
        assert f"{len(gone)} {kind}" in dry.out
        assert f"{len(gone)} {kind}" in done.out
    assert f"kept {REFERENCE_DAYS} older days of references" in done.out


@pytest.mark.parametrize("keep", ["400", "0d", "4.5d"])
def test_a_number_of_days_is_wanted(
    whole: Config, command: Callable[..., Ended], keep: str
) -> None:
    """Anything else is refused with an example, and nothing is removed."""
    before = {kind: content(whole, kind) for kind in DAILY}
    done = command("prune", "--config", Path(whole.store).parent / "monitor.yaml", f"--keep={keep}")

    assert done.code == 2
    assert "write for example 400d" in done.err
    assert {kind: content(whole, kind) for kind in DAILY} == before


def other_limits(config: Config) -> Config:
    """Let verdicts rest on another limit, so that the fold begins again."""
    path = Path(config.store).parent / "monitor.yaml"
    content = yaml.safe_load(path.read_text())
    content["models"][MODEL]["verdicts"]["false_alert_days"] = 500
    path.write_text(yaml.safe_dump(content))
    return load_config(path)


def test_a_fold_that_cannot_reach_its_reference_says_which_days_it_needs(
    whole: Config, pruned: Config
) -> None:
    """With other limits all days since the reference are judged again: none may be missing."""
    needed = f"{day(REFERENCE_DAYS)} to {pruned_last(pruned)}"
    for config in map(other_limits, (whole, pruned)):
        references = read_references(config, MODEL)
        if config.store == pruned.store:
            with pytest.raises(DataError, match=f"those from {needed} were pruned") as error:
                judge_days(config, MODEL, references, day(DAYS - 2))
            again = f"backfill --model {MODEL} --from {needed.replace(' to ', ' --to ')}"
            assert again in str(error.value)
            do(config, REFERENCE_DAYS, DAYS - 2)  # as it says
        judge_days(config, MODEL, read_references(config, MODEL), day(DAYS - 2))

    oldest = DAYS - KEPT
    assert content(pruned, "verdicts", oldest) == content(whole, "verdicts", oldest)


def pruned_last(config: Config) -> date:
    """Give the last day whose summary was removed."""
    return Store(config.store).read_pruned(MODEL)[-1]
