"""`rebase`: a new reference begins, as if the configuration had named its days."""

import json
import shutil
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest

from monitor.config import Config
from monitor.days.decisions import End, Rebase
from monitor.days.summary import Summary
from monitor.pipeline.verdicts.judging import judge_days
from monitor.pipeline.verdicts.references import read_references
from monitor.store.store import Store
from tests.conftest import Command
from tests.pipeline.test_verdicts import (
    BROKEN,
    DAYS,
    FIRST,
    configure,
    stored,
    summary,
    verdict,
)

MORE = [DAYS[-1] + timedelta(days=later) for later in range(1, 28)]
NEW = DAYS[36]
WHO = ("--by", "Ana", "--why", "trained on new data")


def whole(day: date) -> Summary:
    """Draw a day without segments, which is soon judged."""
    drawn = summary(day)
    return replace(drawn, segments={"all": drawn.segments["DE"]})


def write_days(folder: Path, days: int) -> Config:
    """Store so many days, of which the model is broken from BROKEN on."""
    config = configure(folder, "")
    for day in [*DAYS, *MORE][:days]:
        Store(config.store).write_summary(whole(day))
    return config


@pytest.fixture(scope="module")
def every_day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Store all days once."""
    folder = tmp_path_factory.mktemp("every_day")
    write_days(folder, len(DAYS) + len(MORE))
    return folder


@pytest.fixture
def config(every_day: Path, tmp_path: Path) -> Config:
    """Copy the store of all days."""
    shutil.copytree(every_day / "store", tmp_path / "store")
    return configure(tmp_path, "")


def judged(config: Config, first: date = FIRST) -> dict[str, bytes]:
    """Judge all days from one on, and read the files."""
    judge_days(config, "ctr", read_references(config, "ctr"), first)
    return stored(config)


def test_judges_as_the_configuration_would(
    config: Config, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The verdicts are those of a configuration that names the same days, and end the drift.

    With --end they are byte for byte those of before; both decisions stay.
    """
    folder = Path(config.store).parent
    before = judged(config)
    rebase = ("rebase", "ctr", "--config", folder / "monitor.yaml", *WHO)

    done = command(*rebase, "--from", NEW)

    assert (done.code, done.err) == (0, "")
    assert done.out == (
        f"ctr: the reference that begins on {NEW} counts from the next run on. To judge at once: "
        f"calibration-monitor evaluate --model ctr --from {NEW} --to {MORE[-1]}\n"
    )
    (decision,) = Store(config.store).decisions("ctr")
    assert decision == Rebase(1, decision.at, "Ana", "trained on new data", NEW)
    after = judged(config, NEW)
    ended = verdict(config, NEW).detector.ended
    assert ended is not None
    assert (ended.reason, ended.closed) == ("rebased", NEW)
    named = configure(
        folder,
        f"references: [{{first: {FIRST}, last: {DAYS[27]}}}, "
        f"{{first: {NEW}, last: {NEW + timedelta(days=27)}}}]",
    )
    begun = folder / "store" / "decisions"
    begun.rename(folder / "decisions")
    assert judged(named, NEW) == after != before
    (folder / "decisions").rename(begun)
    configure(folder, "")

    assert command(*rebase, "--end").code == 0
    done = command("ack", "--list", "--json", "--config", folder / "monitor.yaml")

    ended = {"decision": "end", "number": 2, "by": "Ana", "why": "trained on new data", "of": 1}
    assert ended.items() <= json.loads(done.out)["models"]["ctr"][-1].items()
    assert judged(config, NEW) == before
    assert [type(decision) for decision in Store(config.store).decisions("ctr")] == [Rebase, End]
    assert command(*rebase, "--from", NEW).code == 0
    monkeypatch.setenv("COLUMNS", "200")
    listed = command("ack", "--list", "--config", folder / "monitor.yaml")
    assert listed.out.count(f"reference from {NEW}") == 1


def test_a_short_one_waits_if_it_may(tmp_path: Path, command: Command) -> None:
    """Four days are refused; with --wait the old reference stays, and `check` names the new one."""
    config = write_days(tmp_path, len(DAYS))
    before = judged(config)
    rebase = ("rebase", "ctr", "--config", tmp_path / "monitor.yaml", *WHO, "--from", NEW)
    lack = f"the one from {NEW} on has 4 of at least 28 final days; wait for them"

    refused = command(*rebase)
    waits = command(*rebase, "--wait")

    assert (refused.code, waits.code) == (2, 0)
    assert lack in refused.err
    assert "add --wait to keep the present one in force until then" in refused.err
    was = verdict(config, DAYS[-1])
    assert judged(config, NEW).keys() == before.keys()
    now = verdict(config, DAYS[-1])
    assert (
        (now.state, now.reached) == (was.state, was.reached) == ("calibration_drift", was.reached)
    )
    assert now.awaited == NEW
    assert any(lack in reason for reason in now.reasons)
    for day in MORE[:24]:
        Store(config.store).write_summary(whole(day))
    judged(config, NEW)
    assert verdict(config, NEW).awaited is None
    assert verdict(config, MORE[23]).state == "insufficient_data"  # its last day


def test_may_begin_before_there_is_a_reference(tmp_path: Path, command: Command) -> None:
    """Of a new model the first days need not be those that count."""
    config = write_days(tmp_path, 2)
    rebase = ("rebase", "ctr", "--config", tmp_path / "monitor.yaml", *WHO, "--from", DAYS[1])
    assert "has 1 of at least 28 final days" in command(*rebase).err
    assert command(*rebase, "--wait").code == 0
    (decision,) = Store(config.store).decisions("ctr")
    assert isinstance(decision, Rebase)
    assert decision.first == DAYS[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--from", DAYS[20], *WHO), f"a reference of ctr lasts until {DAYS[27]}"),
        (WHO, "name the first day of the new reference with --from"),
        (("--end", *WHO), "rebase has begun no reference that --end could end"),
        (("--end", "--wait", *WHO), "leave out --from and --wait"),
        (("--from", NEW, "--by", "Ana"), "--why: is missing"),
        (("--from", BROKEN, "--by", "A" * 61, "--why", "x"), "at most 60 characters"),
    ],
)
def test_refuses(
    arguments: tuple[object, ...], said: str, config: Config, command: Command
) -> None:
    """Each error names the option and what to do, and decides nothing."""
    told = command(
        "rebase", "ctr", "--config", Path(config.store).parent / "monitor.yaml", *arguments
    )
    assert told.code == 2
    assert said in told.err
    assert Store(config.store).decisions("ctr") == []


def test_a_day_that_is_not_final_is_none_of_them(config: Config, command: Command) -> None:
    """The reference takes one day more."""
    Store(config.store).write_summary(replace(whole(MORE[3]), final=False))
    path = Path(config.store).parent / "monitor.yaml"
    assert command("rebase", "ctr", "--config", path, *WHO, "--from", NEW).code == 0
    judged(config)
    last = read_references(config, "ctr").fitted[-1].last
    assert last == NEW + timedelta(days=28)
