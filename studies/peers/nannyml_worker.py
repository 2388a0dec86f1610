"""NannyML: realised and estimated performance and univariate drift, with its default limits."""

import os

os.environ["NML_DISABLE_USAGE_LOGGING"] = "1"

import nannyml as nml
import pandas as pd

from studies.peers.worker import Alarms, answer

TIME = {"timestamp_column_name": "scored_at", "chunk_period": "D"}
MODEL = {
    "y_pred_proba": "score",
    "y_pred": "label",
    "y_true": "outcome",
    "problem_type": "classification_binary",
}
REALISED = ["roc_auc", "average_precision", "f1", "precision", "recall", "specificity", "accuracy"]


def alarms(reference: pd.DataFrame, rows: pd.DataFrame) -> Alarms:
    """Give the days on which each part alerts."""
    reference, rows = (f.assign(label=(f["score"] >= 0.5).astype(int)) for f in (reference, rows))
    realised = nml.PerformanceCalculator(metrics=REALISED, **MODEL, **TIME).fit(reference)
    estimated = nml.CBPE(metrics=["roc_auc", "f1", "accuracy"], **MODEL, **TIME).fit(reference)
    drift = nml.UnivariateDriftCalculator(
        column_names=["score", "outcome"],
        treat_as_categorical=["outcome"],
        continuous_methods=["jensen_shannon"],
        categorical_methods=["jensen_shannon"],
        **TIME,
    ).fit(reference)
    by_metric = _alerts(realised.calculate(rows), ("chunk", "start_date"))
    of_columns = _alerts(drift.calculate(rows), ("chunk", "chunk", "start_date"))
    return {
        "realised performance, any of 7": _any(by_metric),
        "realised ROC AUC": by_metric["roc_auc"],
        "estimated performance (CBPE), any of 3": _any(
            _alerts(estimated.estimate(rows), ("chunk", "start_date"))
        ),
        "drift of the scores": of_columns["score.jensen_shannon"],
        "drift of the outcomes": of_columns["outcome.jensen_shannon"],
    }


def _alerts(result: object, start: tuple[str, ...]) -> dict[str, list[str]]:
    frame = result.filter(period="analysis").to_df()  # type: ignore[attr-defined]
    days = pd.to_datetime(frame[start]).dt.strftime("%Y-%m-%d")
    columns = [column for column in frame.columns if column[-1] == "alert"]
    return {
        ".".join(column[:-1]): list(days[frame[column].fillna(value=False).astype(bool)])
        for column in columns
    }


def _any(found: dict[str, list[str]]) -> list[str]:
    return sorted({day for days in found.values() for day in days})


if __name__ == "__main__":
    answer("nannyml", alarms)
