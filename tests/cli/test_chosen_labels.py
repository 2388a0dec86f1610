"""Labels that are chosen by score: `check`, `show` and the page say so, of such a model only."""

import json
import shutil
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from monitor.config import Engine, load_config
from monitor.logs import open_databases, summarise_day
from monitor.read.labels import labels_in_logs
from monitor.read.results import results_of
from monitor.store.store import Store
from tests.conftest import run_command
from tests.support.label_worlds import BY_SCORE, SILENT, draw

DAY = date(2026, 3, 2)
RULES = {
    "reviewed": BY_SCORE["2 %, and half of the highest"],
    "sampled": SILENT["10 % at random"],
    "weighed": BY_SCORE["2 %, and half of the highest"],
    "tabled": BY_SCORE["2 %, and half of the highest"],
    "logged": BY_SCORE["2 %, and half of the highest"],
    "acted": BY_SCORE["2 %, and half of the highest"],
}
SETTINGS: dict[str, dict[str, Any]] = {
    "weighed": {"label_rate": "by_score"},
    "tabled": {"label_rate": {"file": "rates.csv"}},
    "logged": {"label_rate": "rate"},
}
OF_ALL = "All predictions of the 7 days to 2026-03-02, estimated from the labelled ones"
SAID = "Labels seem to be chosen by score: on 2026-03-02"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a day of two models, of which one has its labels chosen by score, and run it."""
    root, rng = tmp_path_factory.mktemp("labels"), np.random.default_rng(1)
    models, prevalence = {}, {}
    for name, rule in RULES.items():
        scores, outcomes = draw(8_000, -1.5, rng)
        has = rng.random(scores.size) < rule(scores, outcomes)
        prevalence[name] = float(outcomes.mean())
        outcome = pa.array(outcomes.astype(int), mask=~has)
        rows = {"prediction_id": np.arange(scores.size), "score": scores, "outcome": outcome}
        rows["rate"], rows["acted"] = rule(scores, outcomes), ~has
        pq.write_table(pa.table(rows), root / f"{name}-{DAY}.parquet")
        models[name] = {
            "predictions": {"path": f"{name}-{{day}}.parquet"},
            "outcomes": {"in_predictions": True},
            "settled_after": 0,
            **SETTINGS.get(name, {}),
            **({"action": "acted"} if name == "acted" else {}),
        }
    (root / "rates.csv").write_text("low,high,rate\n0,0.5,0.02\n0.5,1,0.5\n")
    (root / "prevalence.json").write_text(json.dumps(prevalence))
    (root / "monitor.yaml").write_text(yaml.safe_dump({"store": "store", "models": models}))
    done = run_command("run", "--begin", "--day", DAY, "--config", root / "monitor.yaml")
    assert done.code == 0, done.err
    return root


@pytest.mark.parametrize("model", ["reviewed", "sampled", "acted"])
def test_check_and_show_say_so(folder: Path, model: str) -> None:
    """One sentence for people, and the facts for programs."""
    of_model = ("--model", model, "--config", folder / "monitor.yaml")
    for call in (("check", "--day", DAY, *of_model), ("show", *of_model)):
        text, document = run_command(*call), run_command(*call, "--json")
        assert (text.code, document.code) == (0, 0), text.err + document.err
        told = json.loads(document.out)
        facts = (told["models"][model] if call[0] == "check" else told)["chosen_labels"]
        assert (SAID in text.out) == (facts is not None) == (model == "reviewed")
        assert ("were acted on: nobody knows" in text.out) == (model == "acted")
        acted = (told["models"][model] if call[0] == "check" else told)["acted"]
        assert (acted is not None) == (model == "acted")
        if facts:
            assert facts["day"] == f"{DAY}"
            assert facts["most"]["rate"] > 10 * facts["least"]["rate"]


def test_the_page_says_so(folder: Path) -> None:
    """Among the reasons of the day."""
    done = run_command("report", "--config", folder / "monitor.yaml", "--out", folder / "pages")

    assert done.code == 0, done.err
    for model in RULES:
        page = (folder / "pages" / "models" / f"{model}.html").read_text()
        assert (SAID in page) == (model == "reviewed")
        assert (OF_ALL in page) == (model in SETTINGS)
        assert ("of the labelled, " in page) == (model in SETTINGS)
        assert ("were acted on: nobody knows" in page) == (model == "acted")


@pytest.mark.parametrize("model", SETTINGS)
def test_the_setting_gives_the_numbers_of_all(folder: Path, model: str) -> None:
    """Whichever says it; `show` says those of all predictions; those of the labelled ones stay."""
    config = folder / "monitor.yaml"
    truth = json.loads((folder / "prevalence.json").read_text())[model]
    store = Store(str(folder / "store"))
    (whole,) = (e for e in store.read_evaluations(model, DAY)[0] if e.window_days == 7)
    (plain,) = (e for e in store.read_evaluations("reviewed", DAY)[0] if e.window_days == 7)

    shown = run_command("show", "--model", model, "--windows", "7", "--config", config)
    checked = run_command("check", "--day", DAY, "--model", model, "--config", config)

    assert (shown.code, checked.code) == (0, 0), shown.err + checked.err
    assert OF_ALL in " ".join(shown.out.split())
    assert "all columns are of the labelled predictions" in shown.out
    assert "nats of log loss, by cause" in " ".join(shown.out.split())
    assert "calibration error of all predictions of the 7 days" in " ".join(shown.out.split())
    assert SAID not in shown.out + checked.out
    assert plain.population is None
    assert whole.population
    assert whole.told_causes == whole.population.causes != whole.causes
    assert whole.told_correction == whole.population.correction
    assert plain.told_causes == plain.causes
    assert whole.prevalence > 1.5 * whole.population.prevalence.value
    assert f"prevalence {whole.population.prevalence:.1%}" in " ".join(shown.out.split())
    assert whole.population.prevalence.low < truth < whole.population.prevalence.high


@pytest.mark.parametrize("setting", [{"label_rate": "rate"}, {"action": "acted"}])
def test_a_column_that_is_named_later_is_read(
    folder: Path, tmp_path: Path, setting: dict[str, str]
) -> None:
    """By a backfill as any other, once; a day is unchanged only while the columns are."""
    copied = tmp_path / "copied"
    shutil.copytree(folder, copied)
    config = copied / "monitor.yaml"
    document = yaml.safe_load(config.read_text())
    document["models"] = {"reviewed": document["models"]["reviewed"] | setting}
    config.write_text(yaml.safe_dump(document))
    backfill = ("backfill", "--from", DAY, "--to", DAY, "--config", config)
    said = [run_command(*backfill) for _ in range(2)]

    assert [done.code for done in said] == [0, 0], said[0].err
    assert "summarised 1, unchanged 0" in said[0].out + said[0].err
    assert "summarised 0, unchanged 1" in said[1].out + said[1].err
    (part,) = Store(str(copied / "store")).read_summary("reviewed", DAY)[0].segments.values()
    assert (part.rated is not None, part.acted is not None) == (
        "label_rate" in setting,
        "action" in setting,
    )


BY_COUNTRY = {"column": "country", "values": ["DE", "FR"]}
# How labels are chosen, how the rows are divided, and whether some were acted on.
TRIED: dict[str, dict[str, Any]] = {
    "none-whole": {},
    "score-whole": {"label_rate": "by_score", "action": "acted"},
    "column-strata": {"label_rate": "rate", "strata": BY_COUNTRY},
    "file-both": {
        "label_rate": {"file": "rates.csv"},
        "action": "acted",
        "segments": BY_COUNTRY,
        "strata": BY_COUNTRY,
    },
}


@pytest.mark.parametrize("has_new_rule", [True, False])
def test_check_names_the_day_of_a_new_rule(tmp_path: Path, *, has_new_rule: bool) -> None:
    """Whatever says how labels are chosen, while the traffic moves from one country to another."""
    rng, change = np.random.default_rng(3), DAY + timedelta(6)
    days = [DAY + timedelta(i) for i in range(12)]
    for day in days:
        scores, outcomes = draw(2_000, -0.5, rng)
        is_german = rng.random(scores.size) < (0.7 if day < change else 0.3)
        is_new = has_new_rule & (day >= change)
        share = np.where(is_german, 0.9, 0.5) * np.where((scores > 0.5) & is_new, 0.3, 1.0)
        has = rng.random(scores.size) < share
        rows = {
            "prediction_id": np.arange(scores.size),
            "score": scores,
            "outcome": pa.array(outcomes.astype(int), mask=~has),
            "country": np.where(is_german, "DE", "FR"),
            "rate": share,
            "acted": rng.random(scores.size) < 0.1,
        }
        pq.write_table(pa.table(rows), tmp_path / f"loans-{day}.parquet")
    (tmp_path / "rates.csv").write_text("low,high,rate\n0,1,0.5\n")
    models = {
        name: {
            "predictions": {"path": "loans-{day}.parquet"},
            "outcomes": {"in_predictions": True},
            "settled_after": 0,
            **settings,
        }
        for name, settings in TRIED.items()
    }
    config = tmp_path / "monitor.yaml"
    config.write_text(yaml.safe_dump({"store": "store", "models": models}))
    loaded, store = load_config(config), Store(str(tmp_path / "store"))
    with open_databases(Engine(threads=1, memory_mb=300)) as engine:
        for name in models:
            for day in days:
                read = {"as_of": day + timedelta(3), "engine": engine}
                store.write_summary(summarise_day(name, loaded.model(name), day, **read))

    plain = ("check", "--model", "none-whole", "--config", config, "--day")
    told, before = run_command(*plain, days[-1]), run_command(*plain, change)

    assert told.code == 0, told.err
    assert "predictions get an outcome since" not in before.out
    for name in models:
        results, model = results_of(loaded, name), loaded.model(name)
        labels = labels_in_logs(results, model, store.read_summary(name, days[-1])[0])
        by_country = name.split("-")[1] != "whole"
        if has_new_rule:
            assert labels.rule, name
            assert labels.rule.day == change, name
            assert labels.rule.after.rate < 0.5 * labels.rule.before.rate, name
        else:  # a mix of countries that is not told apart has other shares with an outcome
            assert (labels.rule is None) == by_country, name
        said = f"predictions get an outcome since {change}"
        assert (said in " ".join(labels.sentences)) == (labels.rule is not None)
        if name == "none-whole":
            assert (said in told.out) == (labels.rule is not None)
