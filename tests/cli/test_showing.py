"""What `show` and `check` say beyond the newest evaluations: incidents, verdicts, sensitivity."""

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from importlib.metadata import version
from pathlib import Path

import pytest

from monitor.drift.incidents.detecting import new_detector
from monitor.drift.records.detector import Ended
from monitor.drift.records.facts import Detectable, Facts, OneDay
from monitor.read.results import results_in
from monitor.read.standing import Standing
from monitor.report.verdicts import reasons, sensitivity
from monitor.store.store import Store
from monitor.words.advice import COUNTED_AGAIN
from tests.conftest import Ended as CommandEnded
from tests.support.exporting import DAY, DRIFTING, VERDICT, fill
from tests.support.filled_store import evaluation
from tests.support.opened_once import opened_once

NEXT = DAY + timedelta(days=1)
FEW = Detectable(
    tolerated=0.11, found=0.66, rarer=9.0, days=50.2, days_strong=71.0, within_patience=0.3
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a store with a drift that is over on the next day."""
    fill(tmp_path)
    over = replace(new_detector(), ended=Ended(DAY, NEXT, "recovered"))
    store = Store(str(tmp_path / "store"))
    store.write_verdicts("fraud", DAY, [DRIFTING], basis="")
    after = replace(VERDICT, day=NEXT, detector=over, detectable=FEW)
    store.write_verdicts("fraud", NEXT, [after], basis="")
    return tmp_path


def test_incidents_are_listed_with_their_end(
    folder: Path, command: Callable[..., CommandEnded]
) -> None:
    """`show --incidents` gives opening, start, kind, evidence, end and reason; also as JSON."""
    call = ("show", "--config", folder / "monitor.yaml", "--model", "fraud", "--incidents")
    as_json, table = command(*call, "--json"), command(*call)

    assert json.loads(as_json.out) == {
        "incidents": [
            {
                "opened": f"{DAY}",
                "started": f"{DAY}",
                "start_low": f"{DAY}",
                "start_high": f"{DAY}",
                "kind": "too_timid",
                "evidence": 4.5,
                "closed": f"{NEXT}",
                "ended": "recovered",
                "kind_now": None,
                "explained_by": None,
            }
        ],
        "values": [],
        "decisions": [],
    }
    assert (table.code, table.err) == (0, "")
    assert "all incidents" in table.out


def test_verdicts_are_listed_by_day(folder: Path, command: Callable[..., CommandEnded]) -> None:
    """`show --days 90` lists the verdict of each day, and an old verdict says how old it is."""
    call = ("show", "--config", folder / "monitor.yaml", "--model", "fraud", "--windows", "7")
    listed, plain = command(*call, "--days", "90", "--json"), command(*call)

    found = [(v["day"], v["state"]) for v in json.loads(listed.out)["verdicts"]]
    assert found == [(f"{DAY}", "calibration_drift"), (f"{NEXT}", "ok")]
    assert f"fraud, segment all, {NEXT} (" in plain.out
    assert "days ago): ok" in plain.out
    said = f"No day after {NEXT} was judged, though later ones must have settled: ask why; "
    assert said in " ".join(plain.out.split())
    assert said in " ".join(command(*call, "--json").err.split())
    assert command(*call, "--fail-on", "blind").code == 4


@pytest.mark.parametrize(("known", "said"), [(0.33, True), (0.46, False)])
def test_a_day_of_which_few_outcomes_are_known_says_so_first(known: float, said: bool) -> None:  # noqa: FBT001
    """Less than half of the week's: then CalibrationOutcomesMissing is a ticket."""
    alone = replace(evaluation(1, DAY), coverage=known, final=True)
    week = replace(evaluation(1, DAY, window=7), coverage=0.905, final=True)
    calm = replace(VERDICT, day=DAY, reasons=("No evidence of a change.",))

    first, *_ = reasons(Standing(calm, alone, week))

    of_day = f"Only 33 % of the predictions of {DAY} have an outcome, 90 % over the week. Ask"
    assert first.startswith(of_day if said else "No evidence")
    assert ("run these days again" in first) == said


def test_a_day_of_the_week_that_contradicted_is_named(
    folder: Path, command: Callable[..., CommandEnded]
) -> None:
    """The next day is sound, and the slope of the week is not: it holds that day's outcomes."""
    odd = replace(VERDICT, state="ok", day=DAY, facts=Facts(one_day=OneDay(55.1, "too_extreme")))
    Store(str(folder / "store")).write_verdicts("fraud", DAY, [odd], basis="")

    shown = command("show", "--config", folder / "monitor.yaml", "--model", "fraud")

    said = f"But {DAY} alone contradicts the reference, 10^55 to 1, and counts in the numbers"
    assert said in " ".join(shown.out.split())


def test_it_says_what_can_be_found_and_what_would_help(folder: Path) -> None:
    """With 9 of the rarer outcome a day, it names delay, limit and remedies."""
    (line,) = sensitivity(results_in(str(folder / "store"), "fraud"))

    assert line == (
        "all: With this reference, changes of the slope below 0.11 are tolerated and changes above "
        "0.66 are found; a slope of 0.8 would take about 50 days. With 9 of the rarer outcome a "
        "day, changes smaller than 0.30 are not found within 120 days. A slope of 0.7 would take "
        "about 71 days to be found. A longer reference (verdicts.references), coarser segments, or "
        "days that are judged together (verdicts.judge_every) would help."
    )
    assert sensitivity(results_in(str(folder / "store"), "well")) == []


def test_check_says_that_entities_seem_to_be_counted_again(folder: Path) -> None:
    """Before the first verdict too: a day of the reference knows what the reference lacks."""
    store, again = Store(str(folder / "store")), Facts(faults=("counted again",))
    of_reference = replace(again, obstacle="part of the reference", reference=(DAY, NEXT))
    verdict = replace(
        VERDICT, day=NEXT, state="insufficient_data", detectable=FEW, facts=of_reference
    )
    store.write_verdicts("fraud", NEXT, [verdict], basis="")

    (line,) = sensitivity(results_in(str(folder / "store"), "fraud"))

    assert line.endswith(COUNTED_AGAIN)


def test_the_last_weeks_are_drawn_and_the_segments_listed(
    two_models: Path, today: date, command: Callable[..., CommandEnded]
) -> None:
    """`show` draws evidence, prevalence and slope of 28 days, and has a line for each segment."""
    call = ("show", "--config", two_models / "monitor.yaml", "--model", "fraud")
    told, plain = json.loads(command(*call, "--json").out), command(*call).out
    line = re.compile(r"^  (evidence|prevalence|slope) +([\u2581-\u2588\u00b7]+)  ", re.MULTILINE)
    drawn = line.findall(plain)
    judged = today - timedelta(days=3)

    assert [name for name, _ in drawn] == ["evidence", "prevalence", "slope"]
    assert {len(line) for _, line in drawn} == {len(told["recent"])} == {28}
    assert told["recent"][-1]["day"] == f"{judged}"
    assert told["recent"][-1]["slope"] < 0.7 < told["recent"][0]["slope"]
    assert [s["segment"] for s in told["segments"]] == ["AT", "DE", "FR"]
    assert f"fraud, segments on {judged}" in plain
    assert drawn[2][1][0] > drawn[2][1][-1]  # a higher block: the slope fell


def test_show_loads_what_it_shows_only(folder: Path) -> None:
    """It needs no mathematics and reads no logs, so it starts fast."""
    heavy = (
        *("duckdb", "fsspec", "numba", "pandas", "pyarrow.compute", "scipy"),
        *(
            "monitor.drift.verdicts.judge",
            "monitor.drift.curve.reference",
            "monitor.evaluation.evaluate",
        ),
    )
    code = f"""
import sys
sys.argv = ["calibration-monitor", "show", "--model", "fraud"]
from monitor import cli
try:
    cli.main()
finally:
    print([name for name in {heavy} if name in sys.modules], file=sys.stderr)
"""
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )

    assert "fraud" in ended.stdout
    assert ended.stderr == "[]\n"


def test_help_loads_the_parser_only() -> None:
    """It lists the commands without what any of them needs."""
    heavy = (
        "duckdb",
        "fsspec",
        "numba",
        "numpy",
        "pyarrow",
        "pydantic",
        "rich",
        "yaml",
    )
    code = f"""
import sys
sys.argv = ["calibration-monitor", "--help"]
from monitor import cli
try:
    cli.main()
finally:
    print([name for name in {heavy} if name in sys.modules], file=sys.stderr)
"""
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )

    assert "backfill" in ended.stdout
    assert ended.stderr == "[]\n"


def test_a_first_look_fits_a_screen(
    folder: Path, command: Callable[..., CommandEnded], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Verdict, what to do, five reasons at most and the three lines; all else with `--windows`."""
    monkeypatch.setenv("COLUMNS", "80")
    store = Store(str(folder / "store"))
    many = replace(DRIFTING, day=NEXT, reasons=[f"Reason {n}, {'word ' * 40}" for n in range(8)])
    store.write_verdicts("fraud", NEXT, [many], basis="")
    call = ("show", "--config", folder / "monitor.yaml", "--model", "fraud")
    brief, whole = command(*call).out, command(*call, "--windows", "7").out

    assert len(brief.splitlines()) <= 40
    assert [f"Reason {n}," in brief for n in range(8)] == [n < 5 for n in range(8)]
    assert all(f"Reason {n}," in whole for n in range(8))
    for said in ("Can it be trusted?", "What to do?", "  evidence ", "more: add --windows "):
        assert said in brief
    assert "windows of" not in brief
    assert "windows of 7 days" in whole


def figures(text: str) -> Counter[str]:
    """Count the words of an output that have a digit: dates, numbers and intervals."""
    return Counter(word for word in text.split() if re.search(r"\d", word))


def test_no_date_or_number_is_cut(
    folder: Path,
    two_models: Path,
    today: date,
    command: Callable[..., CommandEnded],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a narrow terminal all tables have the dates and numbers that a wide one shows."""
    flags = ["--days=20", "--incidents", "--revisions", "--windows=7", f"--as-of={today}"]
    drifting = ("--model", "fraud", "--config", two_models / "monitor.yaml")
    small = ("--model", "fraud", "--config", folder / "monitor.yaml")
    calls = [("show", *of, *flag) for of in (drifting, small) for flag in ((), *zip(flags))]
    calls += [(each, *drifting) for each in ("where", "check")]
    said = dict[str, list[CommandEnded]]()
    with opened_once():
        for width in ("400", "60"):
            monkeypatch.setenv("COLUMNS", width)
            said[width] = [command(*call) for call in calls]

    wide = said.pop("400")
    for width, ended in said.items():
        for call, much, little in zip(calls, wide, ended, strict=True):
            assert figures(little.out) == figures(much.out), (width, call)
            assert "\u2026" not in little.out, (width, call)
    assert sum(figures(each.out).total() for each in wide) > 500


def test_without_a_model_all_are_listed_the_worst_first(
    folder: Path, command: Callable[..., CommandEnded]
) -> None:
    """`show` lists every model; what is about one model needs its name."""
    call = ("show", "--config", folder / "monitor.yaml")
    table, listed = command(*call), json.loads(command(*call, "--json").out)
    refused = command(*call, "--days", 3, "--incidents")

    states = {each["model"]: each["state"] for each in listed["models"]}
    beginnings = [line.split()[0] for line in table.out.splitlines() if line.strip()]
    assert [name for name in beginnings if name in states] == [*states]
    assert next(iter(states)) == "fraud"  # what was judged comes before what was not
    assert sorted(states) == ["fraud", "new", "well"]
    assert states["fraud"] == "ok"
    assert refused.code == 2
    assert "--days, --incidents: is about one model; name it with --model." in refused.err


def test_of_one_model_no_name_is_needed(folder: Path, command: Callable[..., CommandEnded]) -> None:
    """A configuration of one model shows that one, answer first."""
    alone = folder / "alone.yaml"
    content = json.loads((folder / "monitor.yaml").read_text())
    alone.write_text(json.dumps(content | {"models": {"fraud": content["models"]["fraud"]}}))

    shown = command("show", "--config", alone)
    trusted = json.loads(command("show", "--config", alone, "--json").out)["trust"]

    lines = [line.strip() for line in shown.out.splitlines() if line.strip()]
    assert lines[0].startswith(f"fraud, segment all, {NEXT}")
    assert lines[1] == f"Can it be trusted? {trusted['answer']}"
    assert lines[2] == f"What to do? {trusted['step']}"
    assert trusted["answer"].startswith("Yes: ")


def test_the_version_is_that_of_the_package(command: Callable[..., CommandEnded]) -> None:
    """`--version` prints one line and stops."""
    ended = command("--version")

    assert (ended.code, ended.out) == (0, f"calibration-monitor {version('calibration-monitor')}\n")
