"""Evidently: a report a day against the reference, with the tests that it generates by default."""

import os

os.environ["DO_NOT_TRACK"] = "1"

import pandas as pd
from evidently import BinaryClassification, DataDefinition, Dataset, Report
from evidently.presets import ClassificationPreset, DataDriftPreset

from studies.peers.worker import Alarms, answer, by_day

COLUMNS = ["score", "outcome"]
MODEL = BinaryClassification(target="outcome", prediction_probas="score", pos_label=1)


def alarms(reference: pd.DataFrame, rows: pd.DataFrame) -> Alarms:
    """Give the days on which a test of each part fails."""
    schema = DataDefinition(
        classification=[MODEL], numerical_columns=["score"], categorical_columns=["outcome"]
    )
    before = _dataset(reference, schema)
    found: Alarms = {"classification tests, any": [], "log loss": [], "drift of the scores": []}
    for day, of_day in by_day(rows):
        report = Report([ClassificationPreset(), DataDriftPreset()], include_tests=True)
        tests = report.run(_dataset(of_day, schema), before).dict()["tests"]
        failed = [t["name"] for t in tests if str(t["status"]).upper().endswith("FAIL")]
        for rule, hit in {
            "classification tests, any": any("drift" not in name.lower() for name in failed),
            "log loss": any(name.lower().startswith("logloss") for name in failed),
            "drift of the scores": any("score" in n and "drift" in n.lower() for n in failed),
        }.items():
            if hit:
                found[rule].append(day)
    return found


def _dataset(rows: pd.DataFrame, schema: DataDefinition) -> Dataset:
    return Dataset.from_pandas(rows[COLUMNS].astype({"outcome": int}), data_definition=schema)


if __name__ == "__main__":
    answer("evidently", alarms)
