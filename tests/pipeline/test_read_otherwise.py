"""Days that were read with other settings than their reference are not compared with it."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from scipy.special import expit

from monitor.config import load_config
from monitor.drift.fold.inputs import inputs_of
from monitor.drift.records.verdict import Verdict
from monitor.pipeline.days.task import Task
from monitor.pipeline.runs.run import run
from monitor.pipeline.verdicts.reading import Readings
from monitor.pipeline.verdicts.references import read_references
from monitor.store.store import Store

FIRST, DAYS, CHANGED, ROWS = date(2026, 1, 1), 26, 18, 600
NOON = datetime(2026, 12, 31, 12, tzinfo=UTC)
MODEL: dict[str, Any] = {
    "predictions": {"path": "p/{day}.parquet", "id": "id", "score": "score"},
    "outcomes": {"path": "o/{day}.parquet", "id": "id", "outcome": "outcome"},
    "segments": {"column": "kind", "values": ["a", "b"]},
    "settled_after": 1,
    "windows": [1],
    "verdicts": {"references": [{"first": FIRST, "last": FIRST + timedelta(days=13)}]},
}
# Each change of the settings and, of a stream that it touches, what is said; the others go on.
CHANGES: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "where": (
        {"predictions": {"where": "kind != 'c'"}},
        dict.fromkeys(("all", "a", "b", "other"), "predictions.where"),
    ),
    "values": (
        {"segments": {"column": "kind", "values": ["b"]}}, {"other": "segments.values"}),
    "column": (
        {"segments": {"column": "same", "values": ["a", "b"]}},
        dict.fromkeys(("a", "b", "other"), "segments.column"),
    ),
    "ids": ({"ids": {"cast": "text"}}, dict.fromkeys(("all", "a", "b", "other"), "ids")),
    "what no row depends on": (
        {
            "owner": "risk",
            "severity": "page",
            "windows": [1, 3],
            "checks": {"fail": ["outcome_orphan"]},
            "predictions": {"path": "./p/{day}.parquet"},
        },
        {},
    ),
}  # fmt: skip


def day(number: int) -> date:
    """Give a day by its number."""
    return FIRST + timedelta(days=number)


def configure(folder: Path, **changes: Any) -> None:
    """Write the configuration with some keys of the model changed."""
    model = {
        key: {**MODEL.get(key, {}), **value} if isinstance(value, dict) else value
        for key, value in {**MODEL, **changes}.items()
    }
    text = yaml.safe_dump({"store": "store", "models": {"m": model}})
    (folder / "monitor.yaml").write_text(text)


def backfill(folder: Path, first: int, last: int) -> None:
    """Process a range of days."""
    task = Task("m", day(first), day(last), day(last + 2), skip_unchanged=True)
    assert run(load_config(folder / "monitor.yaml"), task, clock=lambda: NOON).failures == ()


def verdicts(folder: Path, number: int) -> dict[str, Verdict]:
    """Read the verdicts of a day by segment."""
    stored, _ = Store(str(folder / "store")).read_verdicts("m", day(number))
    return {verdict.segment: verdict for verdict in stored}


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Process the days before the change; the outcomes of c are less extreme than its scores."""
    folder = tmp_path_factory.mktemp("begun")
    for number in range(DAYS):
        chance = np.random.default_rng(7000 + number)
        kind = chance.choice(["a", "b", "c"], ROWS)
        logits = chance.normal(-1.0, 1.4, ROWS)
        came = chance.random(ROWS) < expit(np.where(kind == "c", 0.5, 1.0) * logits)
        ids = [f"{number}-{row}" for row in range(ROWS)]
        scores, outcomes = expit(logits), came.astype(int)
        logs: dict[str, dict[str, Any]] = {
            "p": {"id": ids, "score": scores, "second": scores, "kind": kind, "same": kind},
            "o": {"id": ids, "outcome": outcomes, "second": outcomes},
        }
        for log, columns in logs.items():
            (folder / log).mkdir(exist_ok=True)
            pq.write_table(pa.table(columns), folder / log / f"{day(number)}.parquet")
    configure(folder)
    backfill(folder, 0, CHANGED - 1)
    return folder


@pytest.fixture
def copied(begun: Path, tmp_path: Path) -> Path:
    """Copy what was begun."""
    shutil.copytree(begun, tmp_path / "m", symlinks=True)
    return tmp_path / "m"


@pytest.fixture(scope="module")
def unchanged(begun: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Go on without a change."""
    folder = tmp_path_factory.mktemp("unchanged") / "m"
    shutil.copytree(begun, folder)
    backfill(folder, CHANGED, DAYS - 1)
    return folder


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_settings_is_no_drift(copied: Path, unchanged: Path, change: str) -> None:
    """Streams that it touches say so, and the others go on as without it."""
    changes, touched = CHANGES[change]
    configure(copied, **changes)
    backfill(copied, CHANGED, DAYS - 1)

    for number in range(CHANGED, DAYS):
        found, usual = verdicts(copied, number), verdicts(unchanged, number)
        for segment, verdict in found.items():
            assert verdict.state not in {"calibration_drift", "undecided"}
            if segment in touched:
                assert (verdict.state, verdict.facts.obstacle) == (
                    "not_comparable", "read otherwise")  # fmt: skip
                assert f"since {day(CHANGED)} days are read with another" in verdict.reasons[0]
                assert touched[segment] in verdict.reasons[0]
                assert f"--from {FIRST} --to {day(13)}" in verdict.reasons[0]
            elif segment in usual and not touched:
                assert verdict == usual[segment] or verdict.reasons == usual[segment].reasons
        told = " ".join(found["all"].reasons)
        assert ("ot compared: since" in told) == bool(touched)


def test_the_command_that_is_named_makes_them_alike(copied: Path) -> None:
    """Once the reference is read again, all streams are compared."""
    configure(copied, **CHANGES["where"][0])
    backfill(copied, CHANGED, DAYS - 1)
    backfill(copied, 0, 13)
    for verdict in verdicts(copied, DAYS - 1).values():
        assert verdict.facts.obstacle != "read otherwise"
        assert verdict.state != "calibration_drift"
    assert verdicts(copied, DAYS - 1)["all"].state == "ok"


def test_check_says_it_before_anything_runs(copied: Path, command: Callable[..., Any]) -> None:
    """With the keys and the command."""
    file = copied / "monitor.yaml"
    sound = command("check", "--config", file, "--day", day(DAYS - 2))
    configure(copied, **CHANGES["values"][0])
    told = " ".join(command("check", "--config", file, "--day", day(DAYS - 2)).out.split())
    assert "Not compared" not in sound.out
    configure(copied, **CHANGES["where"][0], windows=[1, 3])
    both = " ".join(command("check", "--config", file, "--day", day(DAYS - 2)).out.split())
    assert f"Windows of 3 days to {day(CHANGED)} are not comparable: their days up to" in both
    assert "by the configuration days are now read with another segments.values" in told


def test_windows_that_mix_days_of_two_readings_say_so(
    copied: Path, command: Callable[..., Any]
) -> None:
    """Until their days are read again with the command that is named."""
    configure(copied, **CHANGES["where"][0], windows=[1, 3])
    backfill(copied, CHANGED, CHANGED + 1)
    file = copied / "monitor.yaml"
    told = " ".join(command("show", "--config", file).out.split())
    assert (
        f"Windows of 3 days to {day(CHANGED + 1)} are not comparable: their days up to "
        f"{day(CHANGED - 1)} were read with another predictions.where; run calibration-monitor "
        f"backfill --model m --from {day(CHANGED - 1)} --to {day(CHANGED - 1)}"
    ) in told
    backfill(copied, CHANGED - 1, CHANGED - 1)
    assert "not comparable: their" not in command("show", "--config", file).out


def test_days_of_programs_before_are_compared(copied: Path, unchanged: Path) -> None:
    """Their records do not say how they were read."""
    for record in (copied / "store/runs/m").glob("2026-*.json"):
        record.unlink()
    configure(copied, predictions={"where": "score >= 0"})
    backfill(copied, CHANGED, DAYS - 1)
    found, usual = verdicts(copied, DAYS - 1), verdicts(unchanged, DAYS - 1)
    assert {s: v.state for s, v in found.items()} == {s: v.state for s, v in usual.items()}


def test_values_that_are_written_otherwise_are_told_with_their_names(copied: Path) -> None:
    """All rows are in `other`, both segments are empty, and the verdict lists the new values."""
    for number in range(CHANGED, DAYS):
        path = copied / "p" / f"{day(number)}.parquet"
        rows = pq.read_table(path)
        upper = pa.array([kind.as_py().upper() for kind in rows["kind"]])
        place = rows.column_names.index("kind")
        pq.write_table(rows.set_column(place, "kind", upper), path)
    backfill(copied, CHANGED, DAYS - 1)

    before, found = verdicts(copied, CHANGED - 1), verdicts(copied, DAYS - 1)
    assert before["all"].facts.mix is None
    mix = found["all"].facts.mix
    assert {share.name: share.now for share in mix.shares} == {"a": 0.0, "b": 0.0, "other": 1.0}
    assert {new.value for new in mix.values} == {"A", "B", "C"}
    assert sum(new.rows for new in mix.values) == mix.predicted == ROWS
    told = " ".join(found["all"].reasons)
    assert "100.0 % have a value that is not listed under segments; in the reference" in told
    assert 'New values: "' in told
    for segment in ("a", "b"):
        assert found[segment].facts.obstacle == "no predictions"
        assert found[segment].reasons[0] == "The day has no prediction of this segment."


def test_nothing_is_left_to_compare_of_a_day_that_is_read_otherwise(copied: Path) -> None:
    """Nor do the classes of its segments count against the rest."""
    configure(copied, **CHANGES["where"][0])
    backfill(copied, CHANGED, CHANGED)
    config, store = load_config(copied / "monitor.yaml"), Store(str(copied / "store"))
    counted = inputs_of(store.read_summary("m", day(CHANGED))[0])
    part = next(iter(counted.parts.values()))
    counted = replace(counted, rest={"a": {"one of three": part}}, third=counted.parts)

    (reference,) = read_references(config, "m").fitted
    compared = Readings(store, "m").compared(counted, reference)

    assert {*compared.unlike} == {"all"}
    left = compared.parts, compared.third, compared.entities, compared.rest
    assert not any(left)
