"""Labels that are chosen by score: `check`, `show` and the page say so, of such a model only."""

import json
from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from tests.conftest import run_command
from tests.support.label_worlds import BY_SCORE, SILENT, draw

DAY = date(2026, 3, 2)
RULES = {
    "reviewed": BY_SCORE["2 %, and half of the highest"],
    "sampled": SILENT["10 % at random"],
}
SAID = "Labels seem to be chosen by score: on 2026-03-02"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a day of two models, of which one has its labels chosen by score, and run it."""
    root, rng = tmp_path_factory.mktemp("labels"), np.random.default_rng(1)
    models = {}
    for name, rule in RULES.items():
        scores, outcomes = draw(8_000, -1.5, rng)
        has = rng.random(scores.size) < rule(scores, outcomes)
        outcome = pa.array(outcomes.astype(int), mask=~has)
        rows = {"prediction_id": np.arange(scores.size), "score": scores, "outcome": outcome}
        pq.write_table(pa.table(rows), root / f"{name}-{DAY}.parquet")
        models[name] = {
            "predictions": {"path": f"{name}-{{day}}.parquet"},
            "outcomes": {"in_predictions": True},
            "settled_after": 0,
        }
    (root / "monitor.yaml").write_text(yaml.safe_dump({"store": "store", "models": models}))
    done = run_command("run", "--day", DAY, "--config", root / "monitor.yaml")
    assert done.code == 0, done.err
    return root


@pytest.mark.parametrize("model", RULES)
def test_check_and_show_say_so(folder: Path, model: str) -> None:
    """One sentence for people, and the facts for programs."""
    of_model = ("--model", model, "--config", folder / "monitor.yaml")
    for call in (("check", "--day", DAY, *of_model), ("show", *of_model)):
        text, document = run_command(*call), run_command(*call, "--json")
        assert (text.code, document.code) == (0, 0), text.err + document.err
        told = json.loads(document.out)
        facts = (told["models"][model] if call[0] == "check" else told)["chosen_labels"]
        assert (SAID in text.out) == (facts is not None) == (model == "reviewed")
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
