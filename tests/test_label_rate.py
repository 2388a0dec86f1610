"""What `label_rate` can be, and what it cannot be combined with."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from monitor.base.errors import ConfigError
from monitor.config import Model, ScoreRate, load_config
from monitor.evaluation.score_errors import LabelRates
from monitor.pipeline.days.label_rates import label_rates_of, rates_text

LOGS = {"predictions": {"path": "p/{day}.parquet"}, "outcomes": {"path": "o/{day}.parquet"}}


def configured(folder: Path, **keys: Any) -> str:
    """Write and load a configuration, and say what is wrong with its model."""
    path = folder / "monitor.yaml"
    path.write_text(yaml.safe_dump({"store": "store", "models": {"m": {**LOGS, **keys}}}))
    config = load_config(path)
    return config.invalid["m"].message if config.invalid else str(config.models["m"].label_rate)


def test_the_ways_to_say_it(tmp_path: Path) -> None:
    """A word, a column of either log, or a table in a file, whose path is made absolute."""
    assert configured(tmp_path) == "None"
    assert configured(tmp_path, label_rate="by_score") == "by_score"
    assert configured(tmp_path, label_rate="p_review") == "p_review"
    assert configured(tmp_path, label_rate={"outcomes": "p"}) == "outcomes='p'"
    assert configured(tmp_path, label_rate={"file": "r.csv"}) == f"file='{tmp_path / 'r.csv'}'"


WRONG = {
    "is a list": (
        [{"low": 0, "high": 1, "rate": 0.5}],
        "label_rate must not be a list any more; write its rows into a CSV file",
    ),
    "has no file": ({"files": "x"}, "label_rate"),
    "is a number": (0.3, "label_rate"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_table_is_refused(case: str, tmp_path: Path) -> None:
    """With the place, and what must hold."""
    rates, said = WRONG[case]
    try:
        message = configured(tmp_path, label_rate=rates)
    except ConfigError as error:
        message = str(error)
    assert said in message


def test_a_table_in_a_file_is_that_of_the_setting(tmp_path: Path) -> None:
    """What is written is read; what is wrong in a file names the file, the line and the column."""
    rates = tuple(ScoreRate(low=a, high=b, rate=r) for a, b, r in [(0, 0.25, 0.1), (0.25, 1, 1)])
    (tmp_path / "r.csv").write_text(rates_text(rates))
    model = Model.model_validate({**LOGS, "label_rate": {"file": f"{tmp_path / 'r.csv'}"}})

    assert label_rates_of(model) == LabelRates(((0.25, 0.1), (1.0, 1.0)))
    spreadsheet = "\ufeff" + (tmp_path / "r.csv").read_text().replace("\n", "\r")
    (tmp_path / "r.csv").write_bytes(spreadsheet.encode())
    assert label_rates_of(model) == LabelRates(((0.25, 0.1), (1.0, 1.0)))
    for text, said in {
        '"' + 200_000 * "x": "cannot be read",
        "low,high\n0,1\n": "must begin with the line low,high,rate",
        "low,high,rate\n0,1,2\n": "line 2, rate",
        "low,high,rate\n0,1,0\n": "line 2, rate",
        "low,high,rate\n-1,1,0.5\n": "line 2, low",
        "low,high,rate\n0.5,0.5,1\n": "low must be below high",
        "low,high,rate\n0,0.5,1\n0.6,1,1\n": "one ends at 0.5 and the next begins at 0.6",
        "low,high,rate\n0,1\n": "line 2: must be three numbers",
        "low,high,rate\n0,0.5,1\n": "one ends at 0.5 and the next begins at 1",
        "low,high,rate\n": "the next begins at 1",
    }.items():
        (tmp_path / "r.csv").write_text(text)
        with pytest.raises(ConfigError, match=said):
            label_rates_of(model)
    (tmp_path / "r.csv").unlink()
    with pytest.raises(ConfigError, match="cannot be read"):
        label_rates_of(model)
