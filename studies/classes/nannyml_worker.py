"""NannyML on a log with classes: realised and estimated performance, with its default limits."""

import json
import os
import sys
import warnings
from pathlib import Path

os.environ["NML_DISABLE_USAGE_LOGGING"] = "1"

import nannyml as nml
import pandas as pd

REFERENCE = 28  # days
METRICS = ["roc_auc", "f1", "accuracy"]


def main() -> None:
    """Read the rows, and write the days on which each rule alarms."""
    warnings.filterwarnings("ignore")
    log, out = map(Path, sys.argv[1:3])
    rows = pd.read_parquet(log)
    probabilities = {int(c[1:]): c for c in rows.columns if c.startswith("p")}
    rows["label"] = rows[list(probabilities.values())].to_numpy().argmax(axis=1)
    rows["at"] = pd.to_datetime(rows["at"])
    days = sorted(rows["at"].unique())
    inside = rows["at"] < days[REFERENCE]
    model = {
        "y_pred_proba": probabilities,
        "y_pred": "label",
        "y_true": "outcome",
        "problem_type": "classification_multiclass",
        "timestamp_column_name": "at",
        "chunk_period": "D",
        "metrics": METRICS,
    }
    realised = nml.PerformanceCalculator(**model).fit(rows[inside])
    estimated = nml.CBPE(**model).fit(rows[inside])
    found = {
        "NannyML, realised": _days(realised.calculate(rows[~inside])),
        "NannyML, estimated (CBPE)": _days(estimated.estimate(rows[~inside])),
    }
    out.write_text(json.dumps(found))


def _days(result: object) -> list[int]:
    """Give the numbers of the chunks in which any metric alarms."""
    frame = result.filter(period="analysis").to_df()  # type: ignore[attr-defined]
    columns = [column for column in frame.columns if column[-1] == "alert"]
    alarms = frame[columns].fillna(value=False).astype(bool).any(axis=1).to_numpy()
    return [int(number) for number in alarms.nonzero()[0]]


if __name__ == "__main__":
    main()
