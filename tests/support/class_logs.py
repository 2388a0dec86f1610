"""Logs of a model with classes, drawn so that the truth is known."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from monitor.config import Config, load_config
from monitor.pipeline.days.task import Task
from monitor.pipeline.runs.run import RunReport, run

NAMES = ("cat", "dog", "fish")
REFERENCE = "verdicts: {references: [{first: 2026-01-01, last: 2026-01-14}]}"


def configure_classes(
    folder: Path,
    store: str = "store",
    *more: str,
    names: Sequence[str] = NAMES,
    logs: Path | str = "logs",
    weights: str = "",
    windows: str = "1, 7",
    file: str = "",
) -> Config:
    """Write and load a model with classes and further lines of settings, in a file of its own."""
    (path := folder / f"{file or store}.yaml").write_text(
        f"""\
store: {store}
models:
  pets:
    predictions:
      path: "{logs}/predictions/{{day}}.parquet"
      classes: {{names: [{", ".join(names)}], vector: p{weights}}}
    outcomes: {{path: "{logs}/outcomes/{{day}}.parquet"}}
    settled_after: 0
    windows: [{windows}]
"""
        + "".join(f"    {line}\n" for line in more)
    )
    return load_config(path)


def run_days(config: Config, first: date, last: date, jobs: int = 1) -> RunReport:
    """Process days that are over."""
    task = Task("pets", first, last, date(2026, 2, 1))
    report = run(config, task, clock=lambda: datetime(2026, 3, 1, tzinfo=UTC), jobs=jobs)
    assert report.failures == ()
    return report


def draw(
    rng: np.random.Generator,
    rows: int,
    classes: int = 3,
    *,
    slope: float = 1.0,
    priors: Sequence[float] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw vectors and classes; the scores are right for equal priors, with logits / slope."""
    weights = np.ones(classes) if priors is None else np.asarray(priors, float)
    labels = rng.choice(classes, rows, p=weights / weights.sum())
    # Normal features with unit covariance: the log-likelihood ratios are linear.
    x = rng.normal(size=(rows, classes)) + 1.5 * np.eye(classes)[labels]
    logits = 1.5 * x / slope
    vectors = np.exp(logits - logits.max(axis=1, keepdims=True))
    return vectors / vectors.sum(axis=1, keepdims=True), labels


def write_day(
    folder: Path,
    day: date,
    vectors: np.ndarray,
    outcomes: pa.Array,
    *,
    form: str = "list",
    names: Sequence[str] = NAMES,
    more: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> None:
    """Write a day of both logs, its vectors as a list, a struct, a map or columns.

    The predictions have `more` columns, as segments.
    """
    ids = pa.array([f"{day}-{i}" for i in range(len(vectors))])
    columns = {
        "list": lambda: {"p": pa.array(list(vectors))},
        "struct": lambda: {"p": pa.array([dict(zip(names, v, strict=True)) for v in vectors])},
        "map": lambda: {
            "p": pa.array(
                # Backwards, because the order of a map means nothing.
                [list(zip(names, v, strict=True))[::-1] for v in vectors],
                pa.map_(pa.string(), pa.float64()),
            )
        },
        "columns": lambda: {f"p_{name}": vectors[:, k] for k, name in enumerate(names)},
    }[form]()
    logs = {
        "predictions": {"prediction_id": ids, **columns, **more},
        "outcomes": {"prediction_id": ids, "outcome": outcomes},
    }
    for kind, content in logs.items():
        path = folder / kind / f"{day}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(content), path)
