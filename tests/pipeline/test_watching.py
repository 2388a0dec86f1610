"""Values that are watched, from logs to the stored verdict."""

import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pydantic import ValidationError
from scipy.special import expit
from typer.testing import CliRunner

from monitor.base.segment_names import WHOLE
from monitor.cli import app
from monitor.config import Config, Model, load_config
from monitor.drift.records.verdict import Verdict
from monitor.pipeline.verdicts.asked_where import strata_instead, verdict_of
from monitor.pipeline.verdicts.judging import judge_days
from monitor.pipeline.verdicts.references import read_references
from monitor.pipeline.verdicts.watching import priors_that_move
from monitor.read.results import results_in, results_of
from monitor.read.standing import standing
from monitor.read.value_incidents import value_incidents
from monitor.report.page.assemble import model_page
from monitor.report.page.html import model_html
from monitor.report.verdicts import document
from monitor.store.sealing import open_table
from monitor.store.store import Store
from monitor.words.trust import trust
from monitor.words.values import strata_instead_of_drift
from tests.support.drawn_days import configured, days_of, store_days, write_rows
from tests.support.rules import must_answer_as_kept
from tests.support.stored import leaves

REFERENCE, LATER, ROWS = 14, 12, 3_000
MOST_COLUMNS = 60
DAYS = days_of(REFERENCE + LATER)
MOVED_DAYS = DAYS[: REFERENCE + 8]  # of worlds whose priors move apart
COUNTRY = {"column": "country", "values": ["DE"]}
DEVICE = {"column": "device", "top": 3}
CONFIG = configured(
    {"ctr": ("{column: customer, top: 20}", "{column: device, values: [tv, web]}"), "plain": ()}
)


def write_day(folder: Path, day: date) -> None:
    """Draw a day; after the reference the outcomes of one customer of twenty have no slope.

    The scores of another one are all 0.3 on the last day. The priors of devices move apart.
    """
    rng = np.random.default_rng(day.toordinal())
    logits = rng.normal(-0.5, 1.3, ROWS)
    customer = rng.integers(0, 20, ROWS)
    slopes = np.where((customer == 7) & (day >= DAYS[REFERENCE]), 0.0, 1.0)
    device = rng.integers(0, 3, ROWS)
    priors = rng.normal(0.0, 0.5, 3)[device]
    hits = rng.random(ROWS) < expit(slopes * logits + priors)
    table = {
        "score": np.where((customer == 5) & (day >= DAYS[-1]), 0.3, expit(logits)),
        "customer": np.char.add("k", customer.astype(str)),
        "device": np.array(["tv", "web", "car"])[device],
        "outcome": hits.astype(np.int8),
    }
    write_rows(folder, day, table)


def judge(config: Config, name: str, first: date = DAYS[0]) -> None:
    """Judge the days from one on."""
    judge_days(config, name, read_references(config, name), first)


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Config:
    """Write the logs, and store summaries and verdicts at once: of `plain` those of few days."""
    path = tmp_path_factory.mktemp("watching")
    (path / "predictions").mkdir()
    (path / "monitor.yaml").write_text(CONFIG)
    config = load_config(path / "monitor.yaml")
    for day in DAYS:
        write_day(path, day)
    for name in config.names:
        store_days(config, name, DAYS if name == "ctr" else [*DAYS[:REFERENCE], DAYS[-1]])
        judge(config, name)
    return config


def wholes(config: Config, name: str = "ctr", days: Sequence[date] = DAYS) -> Sequence[Verdict]:
    """Read the verdicts of the whole on days."""
    store = Store(config.store)
    every = [v for day in days for v in store.read_verdicts(name, day)[0]]
    return [v for v in every if v.segment == WHOLE]


def test_the_rules_have_the_number_of_their_answers(config: Config) -> None:
    """Also those of values of columns."""
    store = Store(config.store)
    must_answer_as_kept("values", [store.read_verdicts("ctr", day)[0] for day in DAYS])


def test_the_customer_is_named_while_the_whole_is_calm(config: Config) -> None:
    """It has 5 % of the rows; the verdict of the whole has its incident as facts."""
    verdicts = wholes(config)

    assert not any(v.values for v in verdicts[:REFERENCE])
    assert not any(v.incident for v in verdicts)
    last = verdicts[-1].values
    incident, constant = last.incidents
    assert (constant.value, constant.kind, constant.opened) == ("k5", "scores_equal", DAYS[-1])
    assert not constant.urgent
    assert (incident.column, incident.value) == ("customer", "k7")
    assert incident.kind == "too_extreme"
    assert abs((incident.started - DAYS[REFERENCE]).days) <= 1
    assert incident.evidence > 4.0
    assert incident.size < -0.5


def test_the_customer_is_said(config: Config) -> None:
    """In the answer, with the command of its repair, in a sentence, and for programs."""
    (last,) = wholes(config, days=DAYS[-1:])
    answer, step = trust(last)
    of_constant, value = document(standing(results_of(config, "ctr"), WHOLE, 7))["values"]

    assert answer == (
        "Not everywhere: all scores of customer = k5 are 0.30 and customer = k7 drifted."
    )
    assert "No map can repair a constant." in step
    (before,) = wholes(config, days=DAYS[-2:-1])
    assert trust(before).answer == "Not everywhere: customer = k7 drifted."
    assert "recalibrate --model ctr --part 'customer = k7'" in trust(before).step
    told = r"Since 2026-01-26 all scores of customer = k5 are 0.30 \(5 % of the outcomes\); 37 % of"
    assert re.match(told, last.reasons[-2])
    assert of_constant["mean"] == pytest.approx(0.3, abs=0.01)  # within its cell
    assert of_constant["rate"] == pytest.approx(0.37, abs=0.01)  # as said
    said = r"customer = k7 drifts by itself: too extreme since 2026-01-1\d \(slope"
    assert re.match(said, last.reasons[-1])
    assert (value["column"], value["value"], value["kind"]) == ("customer", "k7", "too_extreme")


def test_the_customer_is_an_incident_of_its_own(config: Config) -> None:
    """Once, in the list of incidents for people and for programs, and in a table of the page."""
    path = f"{Path(config.store).parent}/monitor.yaml"
    call = ["show", "-m", "ctr", "--config", path, "--incidents"]
    value, _ = json.loads(CliRunner().invoke(app, [*call, "--json"]).output)["values"]
    open_now, _ = wholes(config, days=DAYS[-1:])[0].values.incidents
    page = model_page(config, "ctr", read_references(config, "ctr").fitted)

    assert (value["column"], value["value"], value["closed"]) == ("customer", "k7", None)
    assert value["opened"] == f"{open_now.opened}"
    assert value["size"] == open_now.size
    table = " ".join(CliRunner().invoke(app, call).output.split())
    assert "customer = k7" in table
    assert "drifted alone" in table
    _, row = page.values.rows
    assert row[:4] == ("customer = k7", f"{open_now.opened}", f"{open_now.started}", "too extreme")
    assert model_html(page).count("Values that drift alone") == 1


def test_past_drifts_of_values_are_listed_with_their_last_day(
    config: Config, tmp_path: Path
) -> None:
    """One that later verdicts no longer have is closed on the first of them."""
    stored = wholes(config)
    incident, _ = stored[-1].values.incidents
    gone = replace(stored[-1].values, incidents=())
    after = incident.opened + timedelta(days=2)
    for v in stored:
        told = replace(v, values=gone) if v.values and v.day >= after else v
        Store(str(tmp_path)).write_verdicts("ctr", v.day, [told], basis="")

    (past,) = value_incidents(results_in(str(tmp_path), "ctr"))
    assert past.closed == after
    assert past.incident.opened == incident.opened


def test_check_names_the_column_whose_priors_move(config: Config) -> None:
    """With the setting, for people and for programs."""
    path = f"{Path(config.store).parent}/monitor.yaml"
    call = ["check", "-m", "ctr", "--config", path, "--day", f"{DAYS[-1]}"]
    said = " ".join(CliRunner().invoke(app, call).output.split())
    found = json.loads(CliRunner().invoke(app, [*call, "--json"]).output)

    assert found["models"]["ctr"]["moving_priors"]["column"] == "device"
    assert "the priors of the values of device move apart" in said
    assert re.search(r'models.ctr.strata to {"column": "device", "values": \["\w+", "\w+"\]}', said)
    assert priors_that_move(config, "plain") is None


def test_the_same_bytes_daily_and_at_once(config: Config) -> None:
    """A fold that goes on from the store day by day stores what one over all days did."""
    store = Store(config.store)
    at_once = {day: store.content("verdicts", "ctr", day) for day in DAYS}

    for back in (2, 1):
        store.remove("verdicts", "ctr", DAYS[-back:])
        judge(config, "ctr", DAYS[-back])
        assert {d: store.content("verdicts", "ctr", d) for d in DAYS} == at_once


def test_a_day_that_was_not_counted_changes_nothing(config: Config) -> None:
    """Nor does it stop what follows."""
    store, missing = Store(config.store), DAYS[-3]
    store.remove("columns", "ctr", [missing])
    judge(config, "ctr", missing)
    before, at, after = (
        [(i.value, i.recovery, i.size) for i in v.values.incidents] if v.values else []
        for v in wholes(config, days=DAYS[-4:-1])
    )
    store_days(config, "ctr", [missing])
    judge(config, "ctr", missing)

    assert before == at != after
    assert before


def test_nothing_is_watched_without_columns_or_where_that_is_switched_off(config: Config) -> None:
    """Such a model has no field of values in its files; one with a drift has few columns."""
    store = Store(config.store)
    drift, _ = open_table(store.content("verdicts", "ctr", DAYS[-2]))
    assert "values" in drift.column_names
    columns = {
        tuple(filter(str.isidentifier, map(str, p))) for p in leaves(pa.struct([*drift.schema]))
    }
    assert len(columns) <= MOST_COLUMNS
    folder = Path(config.store).parent
    (folder / "off.yaml").write_text(
        CONFIG.replace("{references", "{value_severity: none, references")
    )
    off = load_config(folder / "off.yaml")
    judge(off, "ctr", DAYS[-1])  # what was judged with them is judged again

    for name in config.names:
        assert not any(v.values for v in wholes(config, name, store.days("verdicts", name)))
        table, _ = open_table(store.content("verdicts", name, DAYS[-1]))
        assert "values" not in table.column_names


def moving(folder: Path, days: Sequence[date], slope: float, *, always: bool) -> Config:
    """Write and count days on which the priors of devices move apart, and slopes are another.

    The priors move from the first day on, or since the reference is over.
    """
    config = load_config(folder / "monitor.yaml")
    for day in days:
        rng = np.random.default_rng(day.toordinal())
        later = day >= DAYS[REFERENCE]
        logits, device = rng.normal(-0.5, 1.3, ROWS), rng.integers(0, 3, ROWS)
        shifts = np.array([-1.6, 0.0, 1.6]) * (rng.choice([-1.0, 1.0]) if later else 0.0)
        shifts = shifts if later or not always else rng.normal(0.0, 0.5, 3)
        hits = rng.random(ROWS) < expit((slope if later else 1.0) * logits + shifts[device])
        table = {
            "score": expit(logits),
            "device": np.array(["tv", "web", "car"])[device],
            "outcome": hits.astype(np.int8),
        }
        write_rows(folder, day, table)
    store_days(config, "ctr", days)
    return config


@pytest.fixture(scope="module")
def beginnings(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Path]:
    """Count the days of the reference, on which priors move apart or not, once for both slopes."""
    folders = {always: tmp_path_factory.mktemp("beginning") for always in (False, True)}
    text = CONFIG.partition("  plain:")[0].replace("      - {column: customer, top: 20}\n", "")
    for always, folder in folders.items():
        (folder / "predictions").mkdir()
        (folder / "monitor.yaml").write_text(
            text.replace("    verdicts:", "    strata: auto\n    verdicts:")
        )
        moving(folder, DAYS[:REFERENCE], 1.0, always=always)
    return folders


def moved(beginning: Path, folder: Path, slope: float) -> Config:
    """Go on from a reference with days on which priors move apart, and judge all."""
    shutil.copytree(beginning, folder, dirs_exist_ok=True)
    config = moving(folder, MOVED_DAYS[REFERENCE:], slope, always=False)
    judge(config, "ctr")
    return config


@pytest.mark.parametrize(("slope", "column"), [(1.0, "device"), (0.5, None)])
def test_moving_priors_explain_a_drift_where_they_do(
    beginnings: dict[bool, Path], tmp_path: Path, slope: float, column: str | None
) -> None:
    """Both worlds look too extreme in the whole; in one the scores of each device are right.

    The reference has no priors that moved, so none are found, and verdicts are as without `auto`.
    """
    config = moved(beginnings[False], tmp_path, slope)
    last = verdict_of(config, "ctr", None)
    assert last.incident is not None

    found = strata_instead(config, "ctr", last)
    assert (found.column if found else None) == column
    if found:
        said = strata_instead_of_drift("ctr", found)
        assert said.startswith("This may be no drift: within the values of device")
        assert 'Set models.ctr.strata to {"column": "device"' in said
    (early,) = wholes(config, days=[DAYS[REFERENCE]])
    assert strata_instead(config, "ctr", early) is None  # no drift is open
    store = Store(config.store)
    before = [store.content("verdicts", "ctr", day) for day in MOVED_DAYS]
    text = (tmp_path / "monitor.yaml").read_text().replace("    strata: auto\n", "")
    (tmp_path / "monitor.yaml").write_text(text)
    judge(load_config(tmp_path / "monitor.yaml"), "ctr")
    assert [store.content("verdicts", "ctr", day) for day in MOVED_DAYS] == before
    for day in DAYS[:9]:  # counted before the column was listed
        summary, _ = store.read_summary("ctr", day)
        other = {"customer": store.read_columns("ctr", day)["device"]}
        store.write_summary(replace(summary, columns=other))
    found = strata_instead(config, "ctr", last)
    assert (found.column if found else None) == column


@pytest.mark.parametrize("slope", [1.0, 0.5])
def test_strata_are_found_in_the_reference(
    beginnings: dict[bool, Path], tmp_path: Path, slope: float
) -> None:
    """What moves apart there is no drift later on; a slope within the values still is one.

    The verdicts are those of a model whose logs were counted by that column, but for its name.
    """
    config = moved(beginnings[True], tmp_path, slope)
    *_, last = verdicts = wholes(config, days=MOVED_DAYS)
    own = "Each value of device has a prior of its own, because they moved apart in the reference."
    call = ["check", "-m", "ctr", "--config", f"{tmp_path}/monitor.yaml", "--day"]
    call.append(f"{MOVED_DAYS[-1]}")

    assert {v.facts.strata for v in verdicts} == {"device"}
    assert (last.incident is not None) == (slope < 1.0)
    assert own in last.reasons
    assert priors_that_move(config, "ctr") is None
    if last.incident:
        other = with_strata(config)
        for found, told in zip(verdicts, wholes(other, days=MOVED_DAYS), strict=True):
            assert (found.state, found.slope) == (told.state, told.slope)
            assert found.reached == told.reached
            assert found.facts == replace(told.facts, strata="device")
    else:
        assert own in " ".join(CliRunner().invoke(app, call).output.split())
        store = Store(config.store)
        at_once = {day: store.content("verdicts", "ctr", day) for day in MOVED_DAYS}
        judge(config, "ctr", MOVED_DAYS[-2])
        assert {day: store.content("verdicts", "ctr", day) for day in MOVED_DAYS} == at_once


def with_strata(config: Config) -> Config:
    """Judge the same logs in another store, with the strata named that were found."""
    (strata,) = {compared.strata for compared in read_references(config, "ctr").fitted}
    named = json.dumps({"column": strata.column, "values": strata.values})
    folder = Path(config.store).parent
    text = (folder / "monitor.yaml").read_text().replace("store: store", "store: other")
    (folder / "named.yaml").write_text(text.replace("strata: auto", f"strata: {named}"))
    other = load_config(folder / "named.yaml")
    store_days(other, "ctr", MOVED_DAYS)
    judge(other, "ctr")
    return other


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"segments": [{**COUNTRY, "primary": True}, DEVICE]}, "a primary column of segments"),
        ({"predictions": {"path": "p/{day}", "entity": "user"}}, "predictions.entity"),
        ({"segments": None}, "there are none"),
    ],
)
def test_strata_are_found_among_columns_only(change: dict[str, Any], named: str) -> None:
    """The message says what does not go with it, and what to do instead."""
    given = {
        "predictions": {"path": "p/{day}"},
        "outcomes": {"path": "o/{day}"},
        "segments": [DEVICE],
        "strata": "auto",
    }
    assert Model.model_validate(given).finds_strata

    with pytest.raises(ValidationError, match=rf"strata: auto .*{named}.*(leave|under strata)"):
        Model.model_validate(given | change)
