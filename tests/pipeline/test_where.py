"""Where a drift sits, from logs to the answer of the command."""

import json
import shlex
import shutil
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import Literal

import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy.special import expit, logit
from typer.testing import CliRunner

from monitor.base.errors import ConfigError, DataError
from monitor.base.segment_names import WHOLE
from monitor.cli import app
from monitor.config import load_config
from monitor.drift.records.places import Condition
from monitor.drift.where.part_counts import parts_of_segments
from monitor.evaluation.evaluation import Evaluation
from monitor.export.snapshot_reader import Reader
from monitor.export.text import exposition, lines
from monitor.metrics.maps.calibration_map import apply_calibration_map
from monitor.metrics.maps.part import condition_of
from monitor.pipeline.days.parts import column_of, counts_of_rule, part_named
from monitor.pipeline.runs.evaluations import evaluate_days, stale_evaluations
from monitor.pipeline.verdicts.asked_where import answer_where
from monitor.pipeline.verdicts.judging import judge_days
from monitor.pipeline.verdicts.part_search import search_parts
from monitor.pipeline.verdicts.references import read_references
from monitor.pipeline.verdicts.where import counts_by_value
from monitor.report.page.assemble import model_page
from monitor.report.page.html import model_html
from monitor.store.map_file import read_map
from monitor.store.store import Store
from monitor.words.where import where_sentence
from tests.support.drawn_days import configured, days_of, store_days, write_rows

REFERENCE, LATER, ROWS = 14, 8, 4_000
DAYS = days_of(REFERENCE + LATER)
CONFIG = configured(
    {
        "ctr": (
            "{column: country, values: [DE, FR], primary: true}",
            "{column: device, top: 2}",
            "{column: price, quantiles: 4}",
            "{cross: [country, device], top: 4}",
        ),
        "plain": (),
    }
)


def write_day(folder: Path, day: date) -> None:
    """Draw a day; after the reference, tv in FR has a slope of 0.4, and a device is new."""
    rng = np.random.default_rng(day.toordinal())
    later = day >= DAYS[REFERENCE]
    logits = rng.normal(-0.5, 1.3, ROWS)
    country = rng.choice(["DE", "FR"], ROWS)
    device = rng.choice(["tv", "web", "car"], ROWS, p=[0.4, 0.4, 0.2])
    device = np.where((device == "car") & later, "watch", device)
    slopes = np.where((country == "FR") & (device == "tv") & later, 0.4, 1.0)
    table = {
        "score": expit(logits),
        "country": country,
        "device": device,
        "price": np.exp(rng.normal(0.0, 1.0, ROWS)),
        "outcome": (rng.random(ROWS) < expit(slopes * logits)).astype(np.int8),
    }
    write_rows(folder, day, table)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the logs, and store summaries and verdicts."""
    path = tmp_path_factory.mktemp("where")
    (path / "predictions").mkdir()
    (path / "monitor.yaml").write_text(CONFIG)
    for day in DAYS:
        write_day(path, day)
    config = load_config(path / "monitor.yaml")
    store_days(config, "ctr", DAYS)
    judge_days(config, "ctr", read_references(config, "ctr"), DAYS[0])
    return path


def test_the_command_names_the_pair_that_drifts(folder: Path) -> None:
    """The drift opens; the sentence names the pair and says that the rest is as before."""
    done = CliRunner().invoke(app, ["where", "-m", "ctr", "--config", f"{folder}/monitor.yaml"])

    assert done.exit_code == 0
    said = " ".join(done.output.split())
    assert "comes from country x device = FR x tv" in said
    assert "without it the rest is as before (slope 1.0" in said or "(slope 0.9" in said
    assert "the drift that is open" in said
    new = said.partition("New since the reference: ")[2].partition(".")[0]
    assert new == "country x device = DE x watch, country x device = FR x watch, device = watch"


def test_the_answer_for_programs_has_every_column(folder: Path) -> None:
    """Values as the reference divides them: the two most frequent devices, four parts of prices."""
    call = ["where", "-m", "ctr", "--config", f"{folder}/monitor.yaml", "--json"]
    found = json.loads(CliRunner().invoke(app, call).output)

    values: dict[str, set[str]] = {}
    for place in found["segments"]:
        values.setdefault(place["column"], set()).add(place["value"])
    assert values["country"] == {"DE", "FR", "other"}
    assert values["device"] == {"tv", "web", "watch"}  # car, the third, is gone
    assert len(values["price"]) == 4
    assert values["country x device"] >= {"FR x tv", "DE x web", "FR x watch"}
    assert found["kind"] == "too_extreme"
    assert found["drifting"]
    parts = [p["rows"] for p in found["segments"] if p["column"] == "price"]
    assert max(parts) < 1.5 * min(parts)  # steps of a quarter of a power of two are nearly fair


def left_out_gain(logs: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> float:
    """Give what Platt's line through all rows gains in some, each day by the others: by rows.

    A day is log-odds, outcomes and whether the rows are meant; Newton's method, no intercept a day.
    """
    gained, rows = 0.0, 0
    for out, (x, y, meant) in enumerate(logs):
        others = [day for i, day in enumerate(logs) if i != out]
        places, outcomes = (np.concatenate([day[i] for day in others]) for i in (0, 1))
        design, fit = np.column_stack([np.ones(places.size), places]), np.array([0.0, 1.0])
        for _ in range(8):
            p = expit(design @ fit)
            weighted = design * (p * (1.0 - p))[:, None]
            fit = fit + np.linalg.solve(design.T @ weighted, design.T @ (outcomes - p))
        sign = np.where(y > 0, 1.0, -1.0)
        gain = np.log(expit(sign * (fit[0] + fit[1] * x))) - np.log(expit(sign * x))
        gained, rows = gained + float(gain[meant].sum()), rows + int(meant.sum())
    return gained / rows


def test_the_pair_that_drifts_is_repaired_alone(folder: Path, tmp_path: Path) -> None:
    """`where` ends with a command, whose map is that of the pair; one for all harms the rest.

    What one for all gains agrees with rows of the logs to 0.0012 nats: cells of 1/32 logit, a level
    that is shrunk, and blocks of one day.
    """
    base = ["--config", f"{folder}/monitor.yaml", "--json"]
    (command,) = json.loads(CliRunner().invoke(app, ["where", "-m", "ctr", *base]).output)["repair"]
    said = CliRunner().invoke(app, ["where", "-m", "ctr", *base[:2]]).output
    assert said.rstrip().endswith(command)
    out, call = tmp_path / "map.json", shlex.split(command)[1:-1]
    by_command = json.loads(CliRunner().invoke(app, [*call, f"{out}", *base]).output)
    by_itself = json.loads(CliRunner().invoke(app, ["recalibrate", "-m", "ctr", *base]).output)

    assert by_command["map"] == by_itself["map"]
    assert by_command["worth_it"]
    assert by_command["map"]["map"]["parameters"][0] == pytest.approx(0.4, abs=0.05)
    assert "comes from country x device = FR x tv, so this map" in by_itself["sentences"][0]
    logs = []
    for day in DAYS[REFERENCE:]:
        read = pq.read_table(folder / f"predictions/{day}.parquet").to_pandas()
        pair = ((read.country == "FR") & (read.device == "tv")).to_numpy()
        logs.append((logit(read.score.to_numpy()), read.outcome.to_numpy(), pair))
    inside, rest = by_itself["for_all"]
    of_rest = [(x, y, ~pair) for x, y, pair in logs]
    for found, rows in ((inside, logs), (rest, of_rest)):
        assert found["log_loss"]["value"] == pytest.approx(left_out_gain(rows), abs=1.2e-3)
    assert inside["log_loss"]["value"] > 0.02
    assert rest["shape"]["value"] < -0.001
    assert rest["harmed"]


def test_a_map_for_all_that_harms_a_part_is_not_worth_it(folder: Path, tmp_path: Path) -> None:
    """It gains on the whole, is not written, and the part that it harms is named with numbers."""
    out, call = tmp_path / "map.json", ["recalibrate", "-m", "ctr", "--segment", "all"]
    call += ["--config", f"{folder}/monitor.yaml", "--out", f"{out}"]
    found = json.loads(CliRunner().invoke(app, [*call, "--json"]).output)

    gains = {one["kind"]: one["log_loss"]["value"] for one in found["candidates"]}
    assert gains["platt"] > 0.0
    assert not found["worth_it"]
    assert found["written"] is None
    harmed = {one["name"] for one in found["for_all"] if one["harmed"]}
    assert harmed
    assert "country x device = FR x tv" not in harmed
    assert f"would harm {len(harmed)} of {len(found['for_all'])} parts" in found["sentences"][0]
    asked = json.loads(CliRunner().invoke(app, [*call, "--kind", "platt", "--json"]).output)
    assert asked["written"] == f"{out}"
    assert "would harm" in asked["sentences"][0]


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_every_part_is_fitted_to_the_rows_that_its_condition_takes(
    folder: Path, engine: Literal["duckdb", "spark"]
) -> None:
    """Values, ranges, combinations and `other`: as many outcomes as the condition finds in logs.

    The shadow finds as many by the rule, without a reference. A value that several others leave has
    no rule. The names of engines differ in quotes alone.
    """
    config = load_config(folder / "monitor.yaml")
    model = config.model("ctr")
    days = DAYS[REFERENCE:]
    by_value, groups = counts_by_value(config, "ctr", days)
    counted = dict[Condition, int]()
    for day in days:
        for column, parts in by_value(day).items():
            for value, part in parts.items():
                one = Condition(column, value)
                counted[one] = counted.get(one, 0) + int(part.counts.sum())
    ruled = {one for one in counted if one.value != "other" or one.column == "country"}
    assert {one.column for one in ruled} == {"country", "device", "price", "country x device"}
    for one in counted.keys() - ruled:
        with pytest.raises(ConfigError, match="has no rule"):
            part_named(model, [one], groups)
    paths = [f"{folder}/predictions/{day}.parquet" for day in days]
    with duckdb.connect() as session:
        for one in ruled:
            condition = condition_of(part_named(model, [one], groups), engine).replace("`", '"')
            query = f"SELECT count(*) FROM read_parquet({paths}) WHERE {condition}"  # noqa: S608
            assert session.execute(query).fetchall() == [(counted[one],)], condition
    store = Store(config.store)
    for one in ruled:
        part, by_rule = part_named(model, [one], groups), 0
        assert column_of(model, part) == one.column
        for day in days:
            values = store.read_columns("ctr", day)
            assert store.read_volumes("ctr", day) == {
                column: {value: part.predicted for value, part in of.items()}
                for column, of in values.items()
            }
            values |= {"country": parts_of_segments(store.read_summary("ctr", day)[0])}
            found = counts_of_rule(model, one.column, part, values[one.column])
            by_rule += int(found.counts.sum())
        assert by_rule == counted[one], part


def test_a_map_of_a_pair_is_compared_in_the_shadow(folder: Path, tmp_path: Path) -> None:
    """The gain and the errors of the whole are those of rows of which only the pair is mapped.

    Rows are taken to be spread evenly in cells of 1/32 logit. A day without counts by column, or
    with others, is left out or read again; segments, and the slope, have no such numbers.
    """
    text, since = (folder / "monitor.yaml").read_text(), DAYS[REFERENCE + 4]
    text = text.replace("store: store", f"store: {tmp_path}/store").replace(
        "    verdicts:", f"    map: {{file: {tmp_path}/map.json, since: {since}}}\n    verdicts:", 1
    )
    (tmp_path / "monitor.yaml").write_text(text)
    shutil.copytree(folder / "store", tmp_path / "store")
    call = ["recalibrate", "-m", "ctr", "--config", f"{folder}/monitor.yaml"]
    call += ["--part", "country x device = FR x tv", "--kind", "platt", "--json"]
    span = ["--from", f"{DAYS[REFERENCE]}", "--to", f"{DAYS[REFERENCE + 3]}"]
    done = CliRunner().invoke(app, [*call, *span, "--out", f"{tmp_path}/map.json"])
    assert done.exit_code == 0, done.exception
    config, store = load_config(tmp_path / "monitor.yaml"), Store(f"{tmp_path}/store")
    last, lost = DAYS[-1], DAYS[-3]
    references, fitted = read_references(config, "ctr"), read_map(f"{tmp_path}/map.json")

    def shadowed() -> dict[str, Evaluation]:
        evaluate_days(config, "ctr", references, (last, last))
        return {e.segment: e for e in store.read_evaluations("ctr", last)[0] if e.window_days == 1}

    def rows_of(day: date) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        read = pq.read_table(folder / f"predictions/{day}.parquet").to_pandas()
        pair, scores = (read.country == "FR") & (read.device == "tv"), read.score.to_numpy()
        mapped = np.where(pair, apply_calibration_map(scores, fitted.map), scores)
        return scores, mapped, read.outcome.to_numpy()

    def gains(days: Sequence[date]) -> tuple[float, float]:
        scores, mapped, y = (np.concatenate(of) for of in zip(*map(rows_of, days), strict=True))
        before, after = (np.log(np.where(y, p, 1.0 - p)).mean() for p in (scores, mapped))
        return after - before, ((scores - y) ** 2 - (mapped - y) ** 2).mean()

    found, days = shadowed(), [day for day in DAYS if day >= since]
    whole = found[WHOLE]
    assert whole.map_gain.days == len(days)
    log_loss, brier = gains(days)
    assert log_loss > 0.01  # of all rows, of which the pair is a fifth
    assert whole.map_gain.log_loss.value == pytest.approx(log_loss, abs=1e-4)
    assert whole.map_gain.brier.value == pytest.approx(brier, abs=5e-5)
    _, mapped, outcomes = rows_of(last)
    assert whole.map.rbs == pytest.approx(np.sqrt(((mapped - outcomes) ** 2).mean()), abs=1e-4)
    assert whole.map_slope is None
    assert {(e.map, e.map_slope, e.map_gain) for e in found.values() if e is not whole} == {
        (None, None, None)
    }

    (tmp_path / f"store/columns/ctr/{lost}.parquet").unlink()
    assert stale_evaluations(config, "ctr", references, [last]) == [last]
    without = shadowed()[WHOLE].map_gain
    assert without.days == len(days) - 1
    assert without.log_loss.value == pytest.approx(
        gains([day for day in days if day != lost])[0], abs=1e-4
    )


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--part", "color = red"], "is no value of a watched column; write COLUMN = VALUE"),
        (["--part", "device"], "is no value of a watched column"),
        (["--part", "device = tv", "--part", "country = DE"], "are values of several columns"),
        (["--part", "device = tv", "--segment", "DE"], "--segment DE and --part: leave one"),
        (["--part", "device = other"], "no final day with outcomes is stored"),
    ],
)
def test_parts_that_cannot_be_repaired(folder: Path, extra: list[str], message: str) -> None:
    """Each refusal names the option and says what to write."""
    call = ["recalibrate", "-m", "ctr", "--config", f"{folder}/monitor.yaml", *extra]
    done = CliRunner().invoke(app, call)

    assert isinstance(done.exception, ConfigError | DataError)
    assert message in str(done.exception)


def test_the_verdict_says_it_from_the_opening_on(folder: Path) -> None:
    """It has the sentence of the command; before the drift opens there is none."""
    config = load_config(folder / "monitor.yaml")
    store = Store(config.store)
    verdicts = [next(iter(store.read_verdicts("ctr", day)[0])) for day in DAYS]
    last = verdicts[-1]

    answer = answer_where(config, "ctr").where
    assert where_sentence(answer) in last.reasons
    assert last.where.explanation == answer.explanation
    for verdict in verdicts:
        said = any("of the evidence comes from" in reason for reason in verdict.reasons)
        assert said <= (verdict.detector.incident is not None)


def test_gauges_and_page_say_it_with_the_worst_values_and_how_many_are_left_out(
    folder: Path,
) -> None:
    """Within the limit of the exporter; a value that the reference does not know has no gauge."""
    config = load_config(folder / "monitor.yaml")
    references = read_references(config, "ctr")
    answer = answer_where(config, "ctr").where

    def exported(most: int) -> dict[str, list[str]]:
        snapshot = Reader(config, most_segments=most).snapshot("ctr")
        found = dict[str, list[str]]()
        for line in exposition([lines(snapshot)]).decode().splitlines():
            found.setdefault(line.partition("{")[0], []).append(line)
        return found

    (value,) = exported(1)["calibration_value_evidence_log10"]
    assert 'column="country x device",model="ctr",value="FR x tv"' in value
    (left_out,) = (line for line in exported(1)["calibration_left_out"] if "values" in line)
    assert left_out.endswith(f" {len(answer.tested) - 1}.0")
    (flagged,) = exported(1)["calibration_values_flagged"]
    assert flagged.endswith(f" {len(answer.flagged)}.0")
    everything = exported(50)
    assert len(everything["calibration_value_evidence_log10"]) == len(answer.tested)
    assert not [line for line in everything["calibration_value_flagged"] if "watch" in line]
    (explained,) = everything["calibration_drift_explained_ratio"]
    assert 'values="country x device = FR x tv"' in explained

    page = model_page(config, "ctr", references.fitted)
    assert page.places.rows[0][:2] == ("country x device = FR x tv", "off")
    assert len(page.places.rows) == len(answer.tested)
    assert "New since the reference: " in page.places.notes[-1]
    assert where_sentence(answer) in page.day.reasons
    assert "Where the drift sits" in model_html(page)


def test_what_is_missing_is_said(folder: Path) -> None:
    """A model without columns, a day without a verdict, and a day that was stored without them."""
    config = load_config(folder / "monitor.yaml")
    with pytest.raises(
        ConfigError, match=r"segments names no column.* where --model plain --search"
    ):
        answer_where(config, "plain")
    with pytest.raises(ConfigError, match="no verdict of 2027-01-01 is stored"):
        answer_where(config, "ctr", date(2027, 1, 1))
    store = Store(config.store)
    content = store.read_summary("ctr", DAYS[3])[0]
    store.remove("columns", "ctr", [DAYS[3]])
    with pytest.raises(DataError, match=r"1 of .* days have no counts .* first 2026-01-04"):
        answer_where(config, "ctr")
    store_days(config, "ctr", [content.days[0]])
    assert answer_where(config, "ctr").drifting


def test_the_search_of_parts_finds_the_drifting_rows_among_all_columns(folder: Path) -> None:
    """Without their names: tv in FR, whatever the price is, for programs and for people."""
    call = ["where", "-m", "ctr", "--config", f"{folder}/monitor.yaml", "--search"]
    done, table = (CliRunner().invoke(app, [*call, *more]) for more in (["--json"], []))
    found = json.loads(done.stdout)

    assert found["columns"] == ["country", "device", "price"]
    (part,) = found["parts"]
    conditions = {one["column"]: one["value"] for one in part["conditions"]}
    assert conditions == {"device": "tv", "country": "FR"}
    assert part["kind"] == "too_extreme"
    assert part["slope"]["low"] < 0.4 < part["slope"]["high"]
    assert part["rows"] == pytest.approx(0.2, abs=0.02)
    assert found["proposed"] >= 1
    assert (found["searched"], found["confirmed_on"]) == (11, 11)
    told = done.stderr.splitlines()
    assert "at most" in told[0]  # its time, before it starts; then every step
    assert told[-1] == "confirms on 11 other days"
    assert "country = FR and device = tv" in " ".join(table.stdout.split())


def test_the_search_of_parts_says_how_long_it_takes(folder: Path) -> None:
    """Reading and counting a day takes 1.3 s each: 22 days are read, and 11 counted five times."""
    moments = (datetime(2026, 3, 1, tzinfo=UTC) + timedelta(seconds=1.3 * i) for i in count())
    said, config = list[str](), load_config(folder / "monitor.yaml")

    search_parts(config, "ctr", ["price"], None, clock=partial(next, moments), say=said.append)

    assert said[0] == "searches 1 column on 11 days and confirms on 11 others: at most 1 min 40 s"


def test_the_search_of_parts_says_which_column_the_log_lacks(folder: Path) -> None:
    """Before it reads any row; a list of columns needs no --search."""
    call = ["where", "-m", "ctr", "--config", f"{folder}/monitor.yaml", "--columns", "price, prise"]
    done = CliRunner().invoke(app, call)

    assert isinstance(done.exception, DataError)
    assert "no column 'prise'" in str(done.exception)
