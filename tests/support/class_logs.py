"""Logs of a model with classes, drawn so that the truth is known."""

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

NAMES = ("cat", "dog", "fish")


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
