"""`plan-labels`: a table that `label_rate` reads, a sentence, JSON, and what is refused."""

import json
import shutil
from pathlib import Path

import pytest
import yaml

from monitor.config import load_config
from monitor.pipeline.days.label_rates import score_rates
from tests.conftest import run_command


def test_its_table_is_one_that_label_rate_reads(two_models: Path, tmp_path: Path) -> None:
    """The same ranges as in the JSON, which spend the budget; the sentence says both delays."""
    config, out = two_models / "monitor.yaml", tmp_path / "new" / "rates.csv"
    call = ("plan-labels", "fraud", "--budget", "200", "--config", config)
    text, document = run_command(*call, "--out", out), run_command(*call, "--json")
    assert (text.code, document.code) == (0, 0), text.err + document.err

    keys = yaml.safe_load(config.read_text())
    keys["models"]["fraud"]["label_rate"] = {"file": "new/rates.csv"}
    (tmp_path / "monitor.yaml").write_text(yaml.safe_dump(keys))
    rates = score_rates(load_config(tmp_path / "monitor.yaml").model("fraud"))
    told = json.loads(document.out)

    # Rates are written with six digits.
    assert [rate.rate for rate in rates] == pytest.approx([each["rate"] for each in told["rates"]])
    assert [rate.high for rate in rates] == [each["high"] for each in told["rates"]]
    assert told["labels"] == pytest.approx(200)
    assert told["as_uniform_labels"] > 250
    assert told["days"] < told["days_uniform"]
    said = " ".join(text.out.split())
    assert f"say as much of a slope of 0.8 as {told['as_uniform_labels']:,.0f} that" in said
    days = [f"{told[key]:.0f} days with" for key in ("days", "days_uniform")]
    assert all(each in said for each in days)


def test_another_kind_has_no_days(two_models: Path) -> None:
    """Its labels are planned all the same, and the table is printed."""
    call = ("plan-labels", "ads", "--budget", "100", "--find", "top_overpredicted")
    done = run_command(*call, "--config", two_models / "monitor.yaml")

    assert done.code == 0, done.err
    assert "of top_overpredicted as" in " ".join(done.out.split())
    assert "days" not in done.out.replace("a day", "")
    assert "low,high,rate" in done.out


WRONG = {
    "no slope": (("--find", "1"), 2, "--find 1: must be above 0"),
    "no kind": (("--find", "wrong"), 2, "or choose one of too_extreme"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_refused(case: str, two_models: Path) -> None:
    """With what to do instead."""
    options, code, said = WRONG[case]
    call = ("plan-labels", "ads", "--budget", "100", *options)
    done = run_command(*call, "--config", two_models / "monitor.yaml")

    assert (done.code, said in " ".join(done.err.split())) == (code, True), done.err


def test_a_model_without_a_reference_is_refused(two_models: Path, tmp_path: Path) -> None:
    """Label uniformly first."""
    keys = yaml.safe_load((two_models / "monitor.yaml").read_text())
    keys["models"]["ads"].pop("verdicts")
    shutil.copytree(two_models / "store", tmp_path / "store")
    for day in sorted((tmp_path / "store" / "summaries" / "ads").glob("*.parquet"))[5:]:
        day.unlink()
    (tmp_path / "monitor.yaml").write_text(yaml.safe_dump(keys))

    call = ("plan-labels", "ads", "--budget", "100", "--config", tmp_path / "monitor.yaml")
    done = run_command(*call)

    assert done.code == 3
    assert "there is no reference yet" in " ".join(done.err.split())
    assert "label uniformly until there is" in " ".join(done.err.split())
