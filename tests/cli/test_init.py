"""From a folder to a verdict: `init` writes a configuration with which `check` and `backfill` work.

The folders are written as people write them; what `init` must find in each is beside it.
"""

from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import yaml
from deltalake import DeltaTable, write_deltalake
from pyiceberg.catalog.sql import SqlCatalog

from tests.support.cases import some
from tests.support.undescribed import (
    FIRST,
    ROWS,
    History,
    Rows,
    changed,
    chosen,
    history,
    joined,
    put,
    renamed,
    stacked,
    without,
    write,
)

Command = Callable[..., Any]
Change = Callable[[Rows], Rows]
PROMPT, LATE = history(), history(delay=1.0, days=14)
KNOWN_UNTIL = PROMPT.days[-3]
AFTER = PROMPT.days[-1] + timedelta(1)  # on this day the newest logs are complete


def hive(root: Path) -> None:
    """Write Spark's folders, with the files that Spark leaves beside the data."""
    name = (
        "fraud/{log}/ds={{day}}/part-00000-0f8fad5b-d9cb-469f-a165-70867728950e.c000.snappy.parquet"
    )
    write(root, PROMPT, name.format(log="predictions"), name.format(log="outcomes"))
    for folder in root.glob("fraud/*/*"):
        (folder / "_SUCCESS").touch()
        next(folder.glob("part-*")).with_name(".part-00000.crc").write_bytes(b"crc")


def nested(root: Path) -> None:
    """Write nested dates, other names of columns, and outcomes that come over several days."""
    write(
        root,
        LATE,
        "scores/{day:%Y/%m/%d}/data.parquet",
        "labels/year={day:%Y}/month={day:%m}/day={day:%d}/0.parquet",
        of_predictions=renamed(request_id="txn", score="p_fraud", scored_at="ts"),
        of_outcomes=renamed(request_id="transaction", label="is_fraud", observed_at="event_ts"),
    )


def beside(root: Path) -> None:
    """Write score and outcome in one row, the outcomes of the last two days not yet known."""
    for day, rows in joined(PROMPT, known_until=KNOWN_UNTIL).items():
        put(root / f"{day}.parquet", rows)


def delta(root: Path) -> None:
    """Write tables of Delta Lake, of which some rows were deleted since."""
    for name, days in (("scores", PROMPT.predictions), ("labels", PROMPT.outcomes)):
        table = pa.table(stacked(days.values()))
        write_deltalake(str(root / name), pa.concat_tables([table, table.slice(0, 7)]))
        DeltaTable(str(root / name)).delete("request_id = '0128-0000'")


def iceberg(root: Path) -> None:
    """Write an Iceberg table with the outcome beside the score."""
    root.mkdir()
    catalog = SqlCatalog("local", uri="sqlite:///:memory:", warehouse=str(root))
    catalog.create_namespace("logs")
    rows = pa.table(stacked(joined(PROMPT, known_until=KNOWN_UNTIL).values()))
    table = catalog.create_table("logs.ctr", rows.schema, location=str(root / "ctr"))
    table.append(rows)


NAMES = "scores/{day}.parquet", "labels/{day}.parquet"


def on_weekdays(root: Path) -> None:
    """Write no predictions at weekends, but outcomes, because people act on every day."""
    logs = history(delay=0.5, days=14)
    scored = {day: rows for day, rows in logs.predictions.items() if day.weekday() < 5}
    theirs = History(scored, logs.outcomes)
    write(root, theirs, "scores/{day}.parquet", "labels/{day}.parquet")


def in_tokyo(root: Path) -> None:
    """Write times of UTC below days that begin at midnight in Tokyo, nine hours earlier."""

    def all_day(rows: Rows) -> list[datetime]:
        begin = datetime.combine(rows["scored_at"][0].date(), time(), UTC)
        count = len(rows["scored_at"])
        return [begin + timedelta(hours=24 * n / count - 9) for n in range(count)]

    write(
        *(root, PROMPT, "scores/{day}.parquet", "labels/{day}.parquet"),
        of_predictions=changed(scored_at=all_day),
    )


def plain(
    of_predictions: Callable[[Rows], Rows] = dict,
    of_outcomes: Callable[[Rows], Rows] = dict,
) -> Callable[[Path], None]:
    """Change the rows of plain logs."""
    return lambda root: write(
        root, PROMPT, *NAMES, of_predictions=of_predictions, of_outcomes=of_outcomes
    )


def several_scores(rows: Rows) -> Rows:
    """Add columns that could be scores too, one of them by an older model."""
    noise = np.random.default_rng(1).random((2, len(rows["score"]))).tolist()
    logits = [float(np.log(p / (1 - p))) for p in rows["score"]]
    return {
        "margin": logits,
        "discount_rate": noise[0],
        "score_v1": noise[1],
        "score_v2": rows["score"],
        **without("score")(rows),
    }


def split_id(rows: Rows) -> Rows:
    """Write an id as two columns, neither of which is unique."""
    ids = rows["request_id"]
    parts = {"session": [i[:-1] for i in ids], "position": [int(i[-1]) for i in ids]}
    return {**without("request_id")(rows), **parts}


def corrected(rows: Rows) -> Rows:
    """Repeat some outcomes with the other value, half an hour later."""
    return {
        "request_id": rows["request_id"] + rows["request_id"][:5],
        "label": rows["label"] + [1 - label for label in rows["label"][:5]],
        "observed_at": rows["observed_at"]
        + [at + timedelta(minutes=30) for at in rows["observed_at"][:5]],
    }


def only_clicks(root: Path) -> None:
    """Write a log of clicks: what is absent was not clicked."""
    clicks = {day: chosen(rows, rows["label"]) for day, rows in LATE.outcomes.items()}
    clicked = {day: rows for day, rows in clicks.items() if rows["label"]}
    write(root, History(LATE.predictions, clicked), *NAMES)


def down_sampled(root: Path) -> None:
    """Write all positives and one in four of the others, with inverse rates as weights."""
    rng = np.random.default_rng(3)
    label = {
        i: y
        for rows in PROMPT.outcomes.values()
        for i, y in zip(rows["request_id"], rows["label"], strict=True)
    }
    kept = {i for i, y in label.items() if y or rng.random() < 0.25}

    def sampled(rows: Rows) -> Rows:
        return chosen(rows, [identity in kept for identity in rows["request_id"]])

    def weighted(rows: Rows) -> Rows:
        few = sampled(rows)
        weights = [1.0 if label[identity] else 4.0 for identity in few["request_id"]]
        return {**few, "sample_weight": weights}

    write(root, PROMPT, *NAMES, of_predictions=weighted, of_outcomes=sampled)


def words(rows: Rows) -> list[str]:
    """Write outcomes in words, some of which mean neither 0 nor 1."""
    return [
        "chargeback" if label else "pending" if n % 9 == 0 else "ok"
        for n, label in enumerate(rows["label"])
    ]


def as_it_is(rows: Rows) -> Rows:
    """Change nothing."""
    return rows


def after(first: Change, second: Change) -> Change:
    """Change rows twice."""
    return lambda rows: second(first(rows))


def delivered_twice(rows: Rows) -> Rows:
    """Repeat the first row."""
    return {name: values + values[:1] for name, values in rows.items()}


# What is changed of predictions and of outcomes, and what `init` must set; the scales of scores,
# labels and spellings of ids and outcomes are drawn (tests/fuzz/test_strange_logs.py).
TRAPS: dict[str, tuple[Change, Change, dict[str, Any]]] = {
    "a decision beside its probability": (
        changed(decision=lambda rows: [int(score > 0.3) for score in rows["score"]]),
        as_it_is,
        {"predictions.score": "score", "predictions.score_means": None},
    ),
    "several scores": (
        several_scores,
        as_it_is,
        {"predictions.score": "score_v2", "predictions.score_means": None},
    ),
    "words": (
        as_it_is,
        changed(label=words),
        {
            "outcomes.outcome_means": {"positive": ["chargeback"], "negative": ["ok"]},
            "checks.outcome_invalid": "reject",
        },
    ),
    "corrections": (as_it_is, corrected, {"outcomes.duplicates": "latest"}),
    "customers who come again": (
        changed(customer_id=lambda rows: [int(s.timestamp()) % 80 for s in rows["scored_at"]]),
        as_it_is,
        {"predictions.entity": "customer_id"},
    ),
    "sessions that do not": (
        changed(session_id=lambda rows: [f"s{one}" for one in rows["request_id"]]),
        as_it_is,
        {"predictions.entity": None},
    ),
    "a row delivered twice": (
        delivered_twice,
        as_it_is,
        {"predictions.id": "request_id", "predictions.duplicates": "keep_identical"},
    ),
    "a repeated id": (
        changed(request_id=lambda r: [*r["request_id"][:-1], r["request_id"][0]]),
        as_it_is,
        {"predictions.id": "request_id", "checks.prediction_repeated": "reject"},
    ),
    "an id of two columns": (
        split_id,
        split_id,
        {"predictions.id": ["session", "position"], "outcomes.id": ["session", "position"]},
    ),
    "odd names": (
        renamed(request_id='Request "ID"', score="Score, %", scored_at="select", country="a\nb"),
        renamed(request_id="id'", label="was it fraud?", observed_at="from"),
        {
            "predictions.id": 'Request "ID"',
            "predictions.score": "Score, %",
            "outcomes.id": "id'",
            "outcomes.outcome": "was it fraud?",
        },
    ),
    "missing and invalid values": (
        changed(
            score=lambda rows: [None, float("nan"), 1.7, *rows["score"][3:]],
            request_id=lambda rows: [*rows["request_id"][:-1], None],
        ),
        changed(label=lambda rows: [*rows["label"][:9], None, *rows["label"][10:]]),
        {
            "checks.prediction_id_missing": "reject",
            "checks.score_missing": "reject",
            "checks.score_out_of_range": "reject",
            "checks.outcome_invalid": "reject",
        },
    ),
    "weights of another kind": (
        changed(weight=lambda rows: [n % 5 + 1 for n in range(len(rows["score"]))]),
        as_it_is,
        {"predictions.weight": None},
    ),
}
# Those of scores, outcomes, ids and other columns have nothing to do with each other.
TOGETHER = (
    ("weights of another kind", "an id of two columns", "words"),
    ("sessions that do not", "odd names"),
    ("corrections", "customers who come again"),
    ("several scores", "a repeated id"),
    ("a row delivered twice", "a decision beside its probability"),
    ("missing and invalid values",),
)


FOLDERS: dict[str, tuple[Callable[[Path], None], dict[str, Any]]] = {
    "hive": (
        hive,
        {
            "predictions.path": "logs/fraud/predictions/ds={day}/part-*.parquet",
            "predictions.id": "request_id",
            "predictions.score": "score",
            "predictions.time": "scored_at",
            "outcomes.outcome": "label",
            "outcomes.time": "observed_at",
            "settled_after": 0,
        },
    ),
    "nested": (
        nested,
        {
            "predictions.path": "logs/scores/{day:%Y}/{day:%m}/{day:%d}/data.parquet",
            "predictions.id": "txn",
            "predictions.score": "p_fraud",
            "outcomes.path": "logs/labels/year={day:%Y}/month={day:%m}/day={day:%d}/*.parquet",
            "outcomes.id": "transaction",
            "outcomes.outcome": "is_fraud",
            "settled_after": 5,
        },
    ),
    "on weekdays": (
        on_weekdays,
        {
            "calendar": {"weekdays": ["mon", "tue", "wed", "thu", "fri"]},
            "checks.missing_day": None,
        },
    ),
    "in Tokyo": (in_tokyo, {"time_zone": "Etc/GMT-9", "settled_after": 0}),
    "Iceberg": (
        iceberg,
        {
            "predictions.path": "logs/ctr",
            "predictions.format": "iceberg",
            "outcomes.in_predictions": True,
            "outcomes.time": "observed_at",
            "settled_after": 2,
        },
    ),
    "Delta": (
        delta,
        {
            "predictions.path": "logs/scores",
            "predictions.format": "delta",
            "predictions.day": "scored_at",
            "predictions.id": "request_id",
            "outcomes.format": "delta",
            "outcomes.day": "observed_at",
        },
    ),
    "clicks": (
        only_clicks,
        {"outcomes.absent_means": "negative after 4d", "settled_after": 4},
    ),
    "weights": (down_sampled, {"predictions.weight": "sample_weight"}),
    "beside": (
        beside,
        {
            "outcomes.in_predictions": True,
            "outcomes.outcome": "label",
            "predictions.id": None,
            "settled_after": 2,
        },
    ),
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def settings(path: Path) -> dict[str, Any]:
    """Read the settings of the only model, with dotted keys."""
    (model,) = yaml.safe_load(path.read_text())["models"].values()
    flat = {}
    for key, value in model.items():
        if key in ("predictions", "outcomes"):
            flat |= {f"{key}.{inner}": setting for inner, setting in value.items()}
        elif key == "checks":
            flat |= {f"checks.{each}": answer for answer, many in value.items() for each in many}
        else:
            flat[key] = value
    return flat


@pytest.mark.parametrize("case", some(FOLDERS, 2))
def test_a_folder_becomes_a_verdict(case: str, here: Path, command: Command) -> None:
    """Four commands, none of which needs an edited file; the settings are those of the folder."""
    make, expected = FOLDERS[case]
    make(here / "logs")

    written = command("init", "logs")
    assert written.code == 0, written.err
    found = settings(here / "monitor.yaml")
    (name,) = yaml.safe_load((here / "monitor.yaml").read_text())["models"]

    assert {key: found.get(key) for key in expected} == expected
    ended = command("check", "--as-of", AFTER)
    assert ended.code == 0, ended.err
    days = ("--from", FIRST, "--to", FIRST + timedelta(1))
    ended = command("backfill", "--model", name, *days)
    assert ended.code == 0, ended.err
    ended = command("show", "--model", name)
    assert ended.code == 0, ended.err


@pytest.mark.parametrize("traps", TOGETHER, ids=" + ".join)
def test_traps(traps: tuple[str, ...], here: Path, command: Command) -> None:
    """What would mislead a configuration is noticed and set, and the logs pass their check."""
    predictions, outcomes, expected = as_it_is, as_it_is, dict[str, Any]()
    for name in traps:
        of_predictions, of_outcomes, settings_ = TRAPS[name]
        predictions, outcomes = after(predictions, of_predictions), after(outcomes, of_outcomes)
        expected |= settings_
    plain(predictions, outcomes)(here / "logs")

    written = command("init", "logs")
    assert written.code == 0, written.err
    found = settings(here / "monitor.yaml")

    assert {key: found.get(key) for key in expected} == expected
    assert "to decide" not in written.out  # so that it was checked


def test_several_models_and_the_same_bytes(here: Path, command: Command) -> None:
    """Models are named after their folders, and the same logs give the same file."""
    for name in ("ctr", "fraud"):
        plain()(here / "logs" / name)

    first, again = (command("init", "logs", "--out", "-") for _ in range(2))

    assert first.code == 0, first.err
    assert first.out == again.out
    models = yaml.safe_load(first.out)["models"]
    assert sorted(models) == ["ctr", "fraud"]
    for name, model in models.items():
        assert model["predictions"]["path"] == f"logs/{name}/scores/{{day}}.parquet"
        assert model["outcomes"]["path"] == f"logs/{name}/labels/{{day}}.parquet"


def test_what_is_left_out_is_said(here: Path, command: Command) -> None:
    """Files that belong to no model, and files that cannot be read, are named."""
    plain()(here / "logs")
    put(here / "logs" / "notes.parquet", {"text": ["a", "b"]})
    (here / "logs" / "broken.parquet").write_text("no parquet")

    ended = command("init", "logs")

    assert ended.code == 0
    assert f"left out: {here}/logs/notes.parquet: neither its path nor a column dates" in ended.err
    assert f"left out: {here}/logs/broken.parquet: cannot be read as Parquet (" in ended.err


def test_what_no_setting_repairs_is_said(here: Path, command: Command) -> None:
    """Times of another year and far too few outcomes of 1 are what the check of the file says."""
    rng = np.random.default_rng(5)
    year = timedelta(365)

    def rare(rows: Rows) -> list[int]:
        return [int(label and rng.random() < 0.05) for label in rows["label"]]

    plain(
        changed(scored_at=lambda rows: [at - year for at in rows["scored_at"]]),
        changed(label=rare, observed_at=lambda rows: [at - year for at in rows["observed_at"]]),
    )(here / "logs")

    said = " ".join(command("init", "logs").out.split())

    assert "half of the times of predictions.time are before" in said
    assert "far from their partition" in said
    assert "the mean score is 3" in said
    assert "if positives arrive later, raise settled_after" in said


def test_two_folders_and_another_place(here: Path, command: Command) -> None:
    """Paths are relative to the configuration where they lie below it, and else absolute."""
    plain()(here / "logs")

    ended = command("init", "logs/labels", "logs/scores", "--out", "settings/ctr.yaml", "--json")

    assert ended.code == 0, ended.err
    found = settings(here / "settings" / "ctr.yaml")
    assert found["predictions.path"] == f"{here}/logs/scores/{{day}}.parquet"
    printed = yaml.safe_load(ended.out)
    assert printed["written"] == "settings/ctr.yaml"
    (model,) = printed["models"].values()
    keys = [f"{setting['section']}.{setting['key']}" for setting in model["settings"]]
    assert "predictions.score" in keys
    assert command("check", "--config", "settings/ctr.yaml").code == 0


def test_doubts_are_repeated_until_a_person_deletes_them(here: Path, command: Command) -> None:
    """The console, check and show say the same sentence; without the line in the file, none does.

    The results of the store do not depend on it: the day is not read again.
    """
    rng = np.random.default_rng(11)

    def blurred(rows: Rows) -> list[float]:
        logits = np.log(rows["score"]) - np.log1p(-np.array(rows["score"]))
        return [float(v) for v in 1 / (1 + np.exp(-logits - rng.normal(0, 2, logits.size)))]

    plain(
        lambda rows: {
            "quality_score": blurred(rows),
            "output": rows["score"],
            **without("score")(rows),
        }
    )(here / "logs")
    said = "unsure: `output` predicts better than `quality_score` (log loss 0."

    assert said in command("init", "logs").out
    assert said in command("check").out
    days = ("--from", FIRST, "--to", FIRST + timedelta(1))
    assert command("backfill", *days).code == 0
    assert said in command("show").out
    path = here / "monitor.yaml"
    config = yaml.safe_load(path.read_text())
    (model,) = config["models"].values()
    assert model.pop("doubts")
    path.write_text(yaml.safe_dump(config))

    assert "unsure" not in command("check").out
    assert "unsure" not in command("show").out
    again = command("backfill", *days, "--dry-run")
    assert again.code == 0, again.err
    assert "would summarise no day" in again.out


def test_its_own_file_passes_its_own_check(here: Path, command: Command) -> None:
    """Rows that no sample saw, on the newest day: the check is set, and said to be unsure."""
    newest = PROMPT.days[-1]
    rows = changed(
        score=lambda rows: [*rows["score"][:-3], 1.5, None, None],
        request_id=lambda rows: [None, *rows["request_id"][1:]],
    )(PROMPT.predictions[newest])
    plain()(here / "logs")
    put(here / f"logs/scores/{newest}.parquet", rows)

    ended = command("init", "logs")
    assert ended.code == 0, ended.err
    found = settings(here / "monitor.yaml")

    assert f"logs of {newest}" in ended.out
    checks = {key.removeprefix("checks.") for key in found if key.startswith("checks.")}
    assert checks == {"score_missing", "score_out_of_range", "prediction_id_missing"}
    assert len(found["doubts"]) == len(checks)
    assert all(f"{one} is under checks.reject" in "".join(found["doubts"]) for one in checks)
    assert command("check").code == 0


def test_many_wrong_rows_are_said_and_not_left_out(here: Path, command: Command) -> None:
    """If a check leaves out half of a day, init sets nothing, and ends with what check says."""
    newest = PROMPT.days[-1]
    plain()(here / "logs")
    rows = PROMPT.predictions[newest]
    half = len(rows["score"]) // 2
    broken = changed(score=lambda rows: [*rows["score"][:half], *[1.5] * (ROWS - half)])
    put(here / f"logs/scores/{newest}.parquet", broken(rows))

    ended = command("init", "logs")

    assert ended.code == 3
    assert "1.5" in ended.err
    assert (here / "monitor.yaml").exists()
    assert "checks.score_out_of_range" not in settings(here / "monitor.yaml")
