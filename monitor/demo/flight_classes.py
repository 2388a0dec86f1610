"""Writes the logs of a model of the flights with four classes: how late, or cancelled.

The features are those of `monitor.demo.flights`, and so is the training: January and February.
Layout under the root::

    predictions/flights-classes/<YYYY-MM-DD>.parquet   prediction_id, a column for each class, ...
    class-outcomes/<YYYY-MM-DD>.parquet                prediction_id, outcome, observed_at

A cancelled flight is known as such at its scheduled departure. A diverted one has no outcome.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from monitor.demo.flights import (
    FEATURES,
    FIRST_DAY,
    HOME,
    LAST_DAY,
    LAST_LANDING,
    LATE_MINUTES,
    OUTCOME_COLUMNS,
    SCORE_DECIMALS,
    TRAIN_MONTHS,
    by_day,
    fit_model,
    observed_at,
    read_flights,
    require_packages,
    write_log,
)

if TYPE_CHECKING:
    from datetime import date
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray

CLASSES_MODEL = "flights-classes"
VERY_LATE_MINUTES = 60
CLASSES = ("on time", "late", "very late", "cancelled")
COLUMNS = tuple(f"p_{name.replace(' ', '_')}" for name in CLASSES)
CLASS_COLUMNS = OUTCOME_COLUMNS | {"outcome": pa.string()}


def write_class_logs(root: Path) -> int:
    """Write the predictions of four classes and their outcomes; again gives the same bytes.

    Parameters
    ----------
    root
        Folder of the logs; made if missing.

    Returns
    -------
    int
        Number of outcomes.

    Raises
    ------
    ConfigError
        Raised when a package of the extra ``demo`` is not installed.
    DataError
        Raised when the table of flights contradicts itself, or a file cannot be written.
    """
    require_packages("pandas", "sklearn")
    flights = read_flights()
    flights = flights.assign(outcome=_outcomes(flights))
    training = flights[flights["month"].isin(TRAIN_MONTHS) & flights["outcome"].notna()]
    scored = flights[flights["date"] >= np.datetime64(FIRST_DAY)]
    for day, table in _predictions(scored, _vectors(training, scored)).items():
        write_log(root / "predictions" / CLASSES_MODEL / f"{day}.parquet", table)
    with_outcome = scored[scored["outcome"].notna()]
    for day, table in _known(with_outcome).items():
        write_log(root / "class-outcomes" / f"{day}.parquet", table)
    return len(with_outcome)


def _outcomes(flights: pd.DataFrame) -> NDArray[np.object_]:
    """Name the class that came true; None for a flight that was diverted."""
    delay = flights["arr_delay"].to_numpy(float)
    cancelled = flights["dep_delay"].isna().to_numpy()
    cases = [cancelled, delay <= LATE_MINUTES, delay <= VERY_LATE_MINUTES, ~np.isnan(delay)]
    names = np.array([*CLASSES, None], object)
    return np.asarray(names[np.select(cases, [3, 0, 1, 2], default=len(CLASSES))])


def _vectors(training: pd.DataFrame, scored: pd.DataFrame) -> NDArray[np.float64]:
    """Fit the model and return its probabilities, in the order of the classes."""
    model = fit_model(training, training["outcome"].astype(str))
    order = [[*model.classes_].index(name) for name in CLASSES]
    vectors = model.predict_proba(scored[[*FEATURES]])[:, order].round(SCORE_DECIMALS)
    vectors[:, 0] = 1.0 - vectors[:, 1:].sum(axis=1)  # rounded, they would not add up to 1
    return np.asarray(vectors, dtype=np.float64)


def _predictions(scored: pd.DataFrame, vectors: NDArray[np.float64]) -> dict[date, pa.Table]:
    columns = {
        "prediction_id": pa.array(scored["prediction_id"], pa.string()),
        **{column: vectors[:, k] for k, column in enumerate(COLUMNS)},
        "scored_at": pa.array(
            scored["date"].dt.tz_localize(HOME).dt.tz_convert("UTC"), pa.timestamp("us", tz="UTC")
        ),
        "origin": pa.array(scored["origin"], pa.string()),
    }
    return by_day(pa.table(columns), scored["date"], last=LAST_DAY)


def _known(flights: pd.DataFrame) -> dict[date, pa.Table]:
    """Return the outcomes that became known on each day of New York's calendar."""
    moments = flights["departure"].astype("datetime64[us, UTC]")
    landed = flights["arr_delay"].notna()
    moments = moments.where(~landed, observed_at(flights[landed]).reindex(flights.index))
    columns = {
        "prediction_id": flights["prediction_id"],
        "outcome": flights["outcome"],
        "observed_at": moments,
    }
    table = pa.Table.from_pydict(columns, schema=pa.schema(CLASS_COLUMNS))
    return by_day(table, moments.dt.tz_convert(HOME).dt.tz_localize(None), last=LAST_LANDING)
