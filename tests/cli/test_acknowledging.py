"""`ack`: who has taken a drift, as the store, the terminal, the page and the gauges tell it."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from html import unescape
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from prometheus_client.parser import text_string_to_metric_families

from monitor.config import load_config
from monitor.days.decisions import Acknowledgement
from monitor.drift.incidents.detecting import new_detector
from monitor.drift.records.detector import Worse
from monitor.drift.records.verdict import Verdict
from monitor.export.snapshot_reader import Reader
from monitor.export.text import exposition, lines
from monitor.report.decisions import COLUMNS
from monitor.store.store import Store
from tests.conftest import DAY as DAY_OF_LOGS
from tests.conftest import Command, Project
from tests.support.exporting import DAY, DRIFTING, VERDICT, fill
from tests.support.filled_store import VALUES

TOLD = ("Ana", "a new feature", "DE")
TODAY = datetime.now(ZoneInfo("Asia/Tokyo")).date()
LATER = TODAY + timedelta(days=100)
WHO = ("--by", "Ana", "--why", "a new feature")
UNTIL = "calibration_acknowledged_until_timestamp_seconds"
TAKER = "calibration_acknowledged_timestamp_seconds"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a store with a drift of the whole and of DE; the model lives in Tokyo."""
    fill(tmp_path)
    path = tmp_path / "monitor.yaml"
    content = json.loads(path.read_text())
    segments = {"column": "country", "values": ["DE", "FR"]}
    content["models"]["fraud"] |= {"time_zone": "Asia/Tokyo", "segments": segments}
    path.write_text(json.dumps(content))
    write(tmp_path, DRIFTING, replace(DRIFTING, segment="DE"), replace(VERDICT, segment="FR"))
    return tmp_path


def write(folder: Path, *verdicts: Verdict) -> None:
    """Replace the verdicts of the newest day."""
    Store(str(folder / "store")).write_verdicts("fraud", verdicts[0].day, verdicts, basis="")


def gauges(folder: Path) -> dict[tuple[str, str, str], float]:
    """Scrape who has taken what: name, segment and `by`."""
    config = load_config(folder / "monitor.yaml")
    text = exposition([lines(Reader(config).snapshot("fraud"))]).decode()
    return {
        (sample.name, sample.labels["segment"], sample.labels.get("by", "")): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name in (UNTIL, TAKER)
    }


def test_takes_the_model_until_it_ends(folder: Path, command: Command) -> None:
    """The whole and each drifting segment are taken; verdicts stay byte for byte."""
    ack = ("ack", "fraud", "--config", folder / "monitor.yaml")
    verdicts = [*(folder / "store" / "verdicts").rglob("*.arrows.zst")]
    before = [path.read_bytes() for path in verdicts]
    assert gauges(folder) == {(UNTIL, "all", ""): 0, (UNTIL, "DE", ""): 0}

    done = command(*ack, *WHO, "--until", f"{LATER}", "--ticket", "https://t.example.org/1")

    assert (done.code, done.err) == (0, "")
    assert f"taken by Ana until {LATER}. What was found up to {DAY} does" in done.out
    last = datetime.combine(LATER, time(15), UTC).timestamp()  # midnight in Tokyo
    (decision,) = Store(str(folder / "store")).decisions("fraud")
    at = decision.at.timestamp()
    assert gauges(folder) == {
        (UNTIL, "all", ""): last,
        (UNTIL, "DE", ""): last,
        (TAKER, "all", "Ana"): at,
        (TAKER, "DE", "Ana"): at,
    }
    assert [path.read_bytes() for path in verdicts] == before

    ended = command(*ack, *WHO, "--end")

    assert ended.out == ("fraud: acknowledgement 1 has ended; the alert pages again if it lasts.\n")
    assert gauges(folder) == {(UNTIL, "all", ""): 0, (UNTIL, "DE", ""): 0}
    assert [path.read_bytes() for path in verdicts] == before


def test_what_is_found_later_is_not_taken(folder: Path, command: Command) -> None:
    """A drift of another segment, and this one when it becomes worse, are nobody's."""
    done = command("ack", "fraud", "--config", folder / "monitor.yaml", *WHO)
    assert done.code == 0, done.err
    next_day, incident = DAY + timedelta(days=1), DRIFTING.detector.incident
    assert incident is not None
    worse = Worse(next_day, 4.0, 1, "too_timid", 0.1, 1.1)
    whole = replace(new_detector(), incident=replace(incident, worse=worse))
    other = replace(new_detector(), incident=replace(incident, opened=next_day))
    write(
        folder,
        replace(DRIFTING, day=next_day, detector=whole),
        replace(DRIFTING, day=next_day, segment="DE"),
        replace(DRIFTING, day=next_day, segment="FR", detector=other),
    )

    taken = gauges(folder)

    assert {part for (name, part, _) in taken if name == TAKER} == {"DE"}
    assert {part for (name, part, _), value in taken.items() if name == UNTIL and not value} == {
        "all",
        "FR",
    }


def test_a_value_can_be_taken_alone(folder: Path, command: Command) -> None:
    """Whichever of two it is, nobody has the other; the model takes both; `show` says it."""
    config = ("--config", folder / "monitor.yaml")
    (first,) = (replace(value, opened=VERDICT.day) for value in VALUES.incidents)
    incidents = first, replace(first, column="shop", value="7")
    names = [f"{value.column} = {value.value}" for value in incidents]
    write(folder, replace(VERDICT, segment="all", values=replace(VALUES, incidents=incidents)))
    assert {key[1] for key in gauges(folder)} == {*names}

    for number, name in enumerate(names, 1):
        done = command("ack", "fraud", *WHO, "--part", name, *config)
        assert done.out.startswith(f"fraud, {name}: taken by Ana until ")
        taken = {key[1] for key, value in gauges(folder).items() if key[0] == UNTIL and value}
        assert taken == {name}
        told = json.loads(command("show", "-m", "fraud", "--json", *config).out)["taken_values"]
        assert {of for of, who in told.items() if who.startswith("Ana has taken it")} == {name}
        for other in {*names} - {name}:
            how = f"calibration-monitor ack fraud --part '{other}' --by NAME --why TEXT"
            assert told[other] == f"Nobody; to take it: {how}"
        command("ack", "fraud", *WHO, "--part", name, "--end", *config)
        assert not [key for key in gauges(folder) if key[0] == TAKER], number
    command("ack", "fraud", *WHO, *config)
    assert {key[1] for key in gauges(folder) if key[0] == TAKER} == {*names}
    said = " ".join(command("show", "-m", "fraud", *config).out.split())
    assert f"Who has {names[0]}? Ana has taken it until" in said
    page = folder / "page.html"
    command("ack", "fraud", *WHO, "--end", *config)
    command("ack", "fraud", *WHO, "--part", names[1], *config)
    assert command("report", "-m", "fraud", "--out", page, *config).code == 0
    below = unescape(page.read_text()).partition(">Values that drift alone")[2]
    assert f"Who has {names[1]}? Ana has taken it until" in below
    assert f"Who has {names[0]}? Nobody; to take it: calibration-monitor ack fraud --part" in below

    done = command("ack", "fraud", *WHO, "--part", "device = none", *config)
    assert done.code == 2
    assert f"fraud, device = none: no drift is open on {VERDICT.day}" in done.err
    assert all(name in done.err for name in names)


def test_show_and_page_tell_it(folder: Path, command: Command, tmp_path: Path) -> None:
    """Before, they give the command ready to copy; then who has it; a postmortem has all."""
    at = ("--config", folder / "monitor.yaml")
    show, page = ("show", *at, "--model", "fraud"), tmp_path / "page.html"

    def pages() -> str:
        done = command("report", *at, "--model", "fraud", "--out", page)
        assert done.code == 0, done.err
        return page.read_text()

    free = "Nobody; to take it: calibration-monitor ack fraud"
    assert json.loads(command(*show, "--json").out)["taken"] == f"{free} --by NAME --why TEXT"
    assert free in " ".join(command(*show).out.split())
    before = pages()
    assert "Who has the open drift? Nobody.</p>" in before
    for command_to_copy in (
        (to_take := "ack fraud --by NAME --why TEXT"),
        "assets --into monitoring",
        "where --model fraud",
        "recalibrate --model fraud --out map.json",
        "rebase fraud --from DAY --by NAME --why TEXT",
    ):
        assert f"<code>calibration-monitor {command_to_copy}</code>" in before

    assert command("ack", "fraud", *at, *WHO, "--until", f"{LATER}").code == 0
    has = f"Ana has taken it until {LATER}: a new feature."
    assert json.loads(command(*show, "--json").out)["taken"] == has
    after = pages()
    assert has in re.sub("</?time>", "", after)
    assert to_take not in after
    (decision,) = json.loads(command(*show, "--incidents", "--json").out)["decisions"]
    assert (decision["decision"], decision["by"], decision["until"], decision["found_by"]) == (
        *("acknowledgement", "Ana"),
        *(f"{LATER}", f"{DAY}"),
    )
    listed = command("ack", "--list", *at)
    assert listed.code == 0
    assert "a new feature" in " ".join(listed.out.split())
    assert all(f" {heading} " in f" {listed.out} " for heading in COLUMNS)
    assert json.loads(command("ack", "--list", *at, "--json").out)["models"]["fraud"] == [decision]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ((), "ack: name the model, or list what is decided with --list."),
        (("fraud", "--by", "Ana"), "--why: is missing; say it"),
        (("fraud", "--why", "x", "--by", " "), "--by: is missing"),
        (("fraud", *WHO, "--ticket", "OPS-17"), "--ticket OPS-17: is no address; write for"),
        (("fraud", "--by", "A\nB", "--why", "x"), r"--by A\nB: must be one line of at most 60"),
        (("fraud", "--by", "A" * 61, "--why", "x"), "must be one line of at most 60 characters"),
        (("fraud", *WHO, "--until", "2026-01-01"), "--until 2026-01-01: must be a day from "),
        (("fraud", *WHO, "--until", "2299-01-01"), "no drift to wait for: configure a new"),
        (("fraud", *WHO, "--segment", "IT"), "--segment IT is not configured; choose one of"),
        (("fraud", *WHO, "--segment", "FR"), "fraud, segment FR: no drift is open on 2001-03-01"),
        (("fraud", *WHO, "--end"), "nothing is acknowledged that --end could end; see"),
        (("fraud", *WHO, "--end", "--until", "2999-01-01"), "leave out --until and --ticket."),
        (("new", *WHO), "new: nothing is stored yet"),
        (("frau", *WHO), "there is no model 'frau'"),
    ],
)
def test_refuses(folder: Path, command: Command, call: tuple[str, ...], said: str) -> None:
    """A call that is wrong says what to do, and decides nothing."""
    done = command("ack", *call, "--config", folder / "monitor.yaml")

    assert done.code in (2, 3)
    assert said in done.err
    assert Store(str(folder / "store")).decisions("fraud") == []


def test_check_reminds_of_a_long_one(project: Project, command: Command) -> None:
    """One that was to last for more than 31 days is said, with who has it; a usual one is not."""
    store, at = Store(str(project.folder / "store")), datetime.now(UTC)
    call = ("check", "--config", project.folder / "monitor.yaml", "--day", DAY_OF_LOGS, "--json")

    def reminded(days: int) -> list[str]:
        until = at.date() + timedelta(days=days)
        store.decide("ctr", lambda number, _: Acknowledgement(number, at, *TOLD, DAY, until))
        done = command(*call)
        assert done.code == 0, done.err
        return list(json.loads(done.out)["models"]["ctr"]["taken"])

    assert reminded(31) == []  # as long as it lasts unless a day is named
    (sentence,) = reminded(40)
    until = at.date() + timedelta(days=40)
    assert sentence.startswith(f"Ana has taken DE until {until}, for 40 more days")
