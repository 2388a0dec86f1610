"""The three logs that every tool gets, with the truth of every day.

Of a binary model, 10,000 predictions a day. Scores come from two normal classes and are exactly
calibrated at a prevalence of 20 %. In the log *changes*

- days 1 to 28 are the reference that every tool may learn from;
- from day 39 to 59 the prevalence is 35 %, and the scores of each class stay as they were: a pure
  prior shift, whose curve has not drifted;
- from day 70 to 80 the outcomes follow a slope of 0.6 on the same scores: a calibration drift;
- the other days are sound.

In the log *rescaled* the scores of days 34 to 44 are stretched in log-odds by 1/0.6. Outcomes,
prevalence and the order of the scores are those of sound days: only their values are wrong.

In the log *late* all 68 days are sound, and the log is read on the morning after the last one. A
negative outcome takes a day on average, a positive one four, at most 20: of the last 20 days a
part is missing, more of it positive.
"""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.optimize import brentq
from scipy.special import expit, logit

Floats = npt.NDArray[np.float64]
FIRST = date(2026, 1, 1)
ROWS, REFERENCE, LONGEST_DELAY = 10_000, 28, 20
PREVALENCE, SHIFTED, SEPARATION, SLOPE = 0.20, 0.35, 1.5, 0.6
SEGMENTS = ("app", "partner", "web")
SECONDS = 86_400.0


@dataclass(frozen=True)
class Log:
    """A log: what is true of each day, and by when its outcomes must be known to be read."""

    name: str
    days: int
    seed: int
    prior_shift: range = range(0)
    drift: range = range(0)
    rescaled: range = range(0)
    read_at_end: bool = False  # on the morning after the last day, not after all outcomes came

    def truth(self, number: int) -> str:
        """Say what a day is, numbered from 1."""
        if number <= REFERENCE:
            return "reference"
        if number in self.prior_shift:
            return "prior shift"
        if number in self.drift or number in self.rescaled:
            return "drift" if number in self.drift else "rescaled"
        immature = self.read_at_end and number > self.days - LONGEST_DELAY
        return "immature" if immature else "sound"


CHANGES = Log("changes", 80, seed=7, prior_shift=range(39, 60), drift=range(70, 81))
RESCALED = Log("rescaled", 44, seed=9, rescaled=range(34, 45))
LATE = Log("late", 68, seed=8, read_at_end=True)
LOGS = {log.name: log for log in (CHANGES, RESCALED, LATE)}


def day_of(number: int) -> date:
    """Give the date of a day."""
    return FIRST + timedelta(days=number - 1)


def write_log(log: Log, folder: Path, rows: int = ROWS) -> None:
    """Write a Parquet file of predictions a day, and one of outcomes for each day of arrival."""
    rng = np.random.default_rng(log.seed)
    arrivals: dict[date, list[pa.Table]] = {}
    for kind in ("predictions", "outcomes"):
        (folder / kind).mkdir(parents=True)
    for number in range(1, log.days + 1):
        day = day_of(number)
        scores, outcomes = draw_day(log.truth(number), rows, rng)
        ids = number * 1_000_000 + np.arange(rows)
        scored = np.sort(rng.uniform(0.0, SECONDS, rows))
        known = scored + SECONDS * np.clip(
            rng.exponential(np.where(outcomes, 4.0, 1.0)), 0.01, LONGEST_DELAY
        )
        columns = {
            "prediction_id": ids,
            "score": scores,
            "segment": rng.choice(SEGMENTS, rows, p=[0.3, 0.1, 0.6]),
            "scored_at": moments(day, scored),
        }
        pq.write_table(pa.table(columns), folder / "predictions" / f"{day}.parquet")
        for late in np.unique(known // SECONDS):
            of_day = known // SECONDS == late
            arrived = pa.table(
                {
                    "prediction_id": ids[of_day],
                    "outcome": outcomes[of_day].astype(np.int8),
                    "observed_at": moments(day, known[of_day]),
                }
            )
            arrivals.setdefault(day + timedelta(days=int(late)), []).append(arrived)
    for day, parts in arrivals.items():
        if not log.read_at_end or day <= day_of(log.days):
            pq.write_table(pa.concat_tables(parts), folder / "outcomes" / f"{day}.parquet")


def draw_day(
    truth: str, rows: int, rng: np.random.Generator
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Draw the scores and outcomes of a day."""
    outcomes = rng.random(rows) < (SHIFTED if truth == "prior shift" else PREVALENCE)
    signal = rng.normal(size=rows) + np.where(outcomes, 0.5, -0.5) * SEPARATION
    log_odds = logit(PREVALENCE) + SEPARATION * signal
    if truth == "drift":
        outcomes = rng.random(rows) < expit(drift_intercept() + SLOPE * log_odds)
    if truth == "rescaled":
        log_odds = logit(PREVALENCE) + (log_odds - logit(PREVALENCE)) / SLOPE
    return expit(log_odds), outcomes


def drift_intercept() -> float:
    """Find the intercept at which the drift leaves the prevalence as it is."""
    rng = np.random.default_rng(0)
    outcomes = rng.random(400_000) < PREVALENCE
    signal = rng.normal(size=outcomes.size) + np.where(outcomes, 0.5, -0.5) * SEPARATION
    log_odds = logit(PREVALENCE) + SEPARATION * signal

    def excess(intercept: float) -> float:
        return float(expit(intercept + SLOPE * log_odds).mean()) - PREVALENCE

    return float(brentq(excess, -5.0, 5.0))


def moments(day: date, seconds: Floats) -> pa.Array:
    """Give times as Arrow has them."""
    midnight = np.datetime64(datetime.combine(day, time()), "us")
    return pa.array(midnight + (1e6 * seconds).astype("timedelta64[us]"))
