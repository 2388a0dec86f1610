"""What every worker shares: reading a log as pandas, and answering with its alarms.

A worker runs in the environment of its tool, ``python -m studies.peers.NAME_worker FOLDER OUT``,
and imports nothing else of this project. Its answer is which days each of its rules alarmed on.
"""

import json
import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.dataset as ds

Alarms = dict[str, list[str]]  # the days, by rule
REFERENCE = 28  # days


def read(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read the reference and the days after it, a row for each prediction; outcome nan if unknown.

    Of the reference only predictions with an outcome are kept.
    """
    predictions, outcomes = (
        ds.dataset(folder / kind, format="parquet").to_table().to_pandas()
        for kind in ("predictions", "outcomes")
    )
    rows = predictions.merge(
        outcomes[["prediction_id", "outcome"]], on="prediction_id", how="left"
    ).sort_values("prediction_id", ignore_index=True)
    rows["day"] = rows["scored_at"].dt.strftime("%Y-%m-%d")
    first = sorted(rows["day"].unique())[:REFERENCE]
    reference = rows[rows["day"].isin(first) & rows["outcome"].notna()]
    return reference.reset_index(drop=True), rows[~rows["day"].isin(first)].reset_index(drop=True)


def answer(package: str, alarms: Callable[[pd.DataFrame, pd.DataFrame], Alarms]) -> None:
    """Read the log, ask the tool, and write its answer with its version, time and memory."""
    warnings.filterwarnings("ignore")
    folder, out = map(Path, sys.argv[1:3])
    reference, rows = read(folder)
    begun = time.perf_counter()
    found = alarms(reference, rows)
    record = {
        "version": version(package),
        "rules": found,
        "seconds": round(time.perf_counter() - begun, 1),
        "memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }
    out.write_text(json.dumps(record, indent=1))


def by_day(rows: pd.DataFrame) -> Iterable[tuple[str, pd.DataFrame]]:
    """Give the predictions with an outcome, day by day."""
    known = rows[rows["outcome"].notna()]
    return ((str(day), of_day) for day, of_day in known.groupby("day"))


def above_usual(
    reference: pd.DataFrame, rows: pd.DataFrame, measure: Callable[[Any, Any], float]
) -> list[str]:
    """Alarm where a measure is above its mean over the days of the reference plus 3 deviations.

    The rule that people write around a measure without a rule of its own.
    """
    usual = pd.Series([measure(d["outcome"], d["score"]) for _, d in by_day(reference)])
    limit = usual.mean() + 3.0 * usual.std()
    return [day for day, d in by_day(rows) if measure(d["outcome"], d["score"]) > limit]
