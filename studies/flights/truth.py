"""The true drift of the flights: monthly regressions on every flight.

Every group of flights has its own intercept, so that prior shifts do not enter. Standard errors are
clustered by day, because one storm delays a whole day.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from scipy.special import expit, logit

from monitor.demo.flights import STRETCH, write_flights_logs
from monitor.drift.curve.reference import Reference
from monitor.metrics.core.coarse import CENTRES, Coarse, coarsen, sum_of
from monitor.metrics.core.tally import tally_on_grid

PARTS = {"morning": (0, 12), "afternoon": (12, 17), "evening": (17, 24)}  # scheduled hours
MOST_STEPS, SETTLED = 50, 1e-10
Days = dict[date, dict[str, Coarse]]


@dataclass(frozen=True, eq=False)
class Flights:
    """The flights of one model that arrived, one entry a flight, in the order of their days.

    Attributes
    ----------
    day : ndarray of datetime64[D]
        Day of the flight.
    logit : ndarray of float
        Of the score.
    late : ndarray of bool
        The outcome.
    origin, carrier, destination : ndarray of str
        As scheduled.
    hour : ndarray of int
        Of the scheduled departure.
    """

    day: np.ndarray
    logit: np.ndarray
    late: np.ndarray
    origin: np.ndarray
    carrier: np.ndarray
    destination: np.ndarray
    hour: np.ndarray

    @property
    def part(self) -> np.ndarray:
        """Name the part of the day."""
        edges = [first for first, _ in PARTS.values()][1:]
        return np.array([*PARTS])[np.searchsorted(edges, self.hour, side="right")]


def read_flights(root: Path, model: str) -> Flights:
    """Join the predictions of a model with their outcomes."""
    outcomes = pq.read_table(root / "outcomes", columns=["prediction_id", "outcome"])
    files = sorted((root / "predictions" / model).glob("*.parquet"))
    tables = [pq.read_table(path) for path in files]
    lengths = [table.num_rows for table in tables]
    days = np.repeat(np.array([path.stem for path in files], "datetime64[D]"), lengths)
    found = pa.concat_tables(tables).append_column("day", pa.array(days))
    joined = found.join(outcomes, "prediction_id", join_type="inner").sort_by("prediction_id")
    facts = pc.split_pattern(joined["prediction_id"], "-").to_pylist()
    return Flights(
        day=joined["day"].to_numpy().astype("datetime64[D]"),
        logit=logit(joined["score"].to_numpy()),
        late=joined["outcome"].to_numpy() == 1,
        origin=np.array(joined["origin"].to_pylist()),
        carrier=np.array(joined["carrier"].to_pylist()),
        destination=np.array([fact[-2] for fact in facts]),
        hour=np.array([int(fact[-1]) // 100 for fact in facts]),
    )


def by_day(flights: Flights, groups: np.ndarray) -> Days:
    """Convert the groups of every day to the grid of the detector."""
    days: Days = {}
    edges = np.nonzero(np.diff(flights.day.astype(int), prepend=-1))[0]
    for rows in np.split(np.arange(flights.day.size), edges[1:]):
        for group in np.unique(groups[rows]):
            chosen = rows[groups[rows] == group]
            tally = tally_on_grid(flights.late[chosen].astype(int), expit(flights.logit[chosen]))
            days.setdefault(flights.day[rows[0]].item(), {})[str(group)] = coarsen(tally)
    return days


def names(*columns: np.ndarray) -> np.ndarray:
    """Return the number of every flight's combination of values."""
    number = np.zeros(columns[0].size, np.int64)
    for column in columns:
        values, codes = np.unique(column, return_inverse=True)
        number = number * values.size + codes
    return np.unique(number, return_inverse=True)[1]


def regress(
    late: np.ndarray, x: np.ndarray, groups: np.ndarray, days: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Fit a logistic regression with an intercept for each group; errors clustered by day.

    Newton's method with the intercepts eliminated. A group of one class only has no finite
    intercept and says nothing.
    """
    size = groups.max() + 1
    hits, total = np.bincount(groups, late, size), np.bincount(groups, minlength=size)
    known = ((hits > 0) & (hits < total))[groups]
    y, x, groups = late[known].astype(float), x[known], names(groups[known])
    size, beta = groups.max() + 1, np.zeros(x.shape[1])
    alpha = logit(np.bincount(groups, y, size) / np.bincount(groups, minlength=size))
    for _ in range(MOST_STEPS):
        p = expit(alpha[groups] + (x * beta).sum(axis=1))
        w = p * (1.0 - p)
        weight = np.bincount(groups, w, size)
        means = np.stack([np.bincount(groups, w * one, size) / weight for one in x.T], axis=1)
        apart = x - means[groups]
        pulls = apart * (y - p)[:, None]
        inverse = np.linalg.inv((apart * w[:, None]).T @ apart)
        step = inverse @ pulls.sum(axis=0)
        alpha = alpha + np.bincount(groups, y - p, size) / weight - means @ step
        beta = beta + step
        if np.abs(step).max() < SETTLED:
            break
    cluster = names(days[known])
    sums = np.stack([np.bincount(cluster, one) for one in pulls.T], axis=1)
    number = cluster.max() + 1
    variance = inverse @ (sums.T @ sums) @ inverse * number / (number - 1)
    return beta, np.sqrt(np.diag(variance))


def parts_of_score(flights: Flights) -> np.ndarray:
    """Split the logit into the parts of hour, carrier and destination; shape (n, 3).

    The model is linear in its categories, so the split is exact. The origin and the weekday are
    the same for all flights of one day and origin, and drop out with its intercept.
    """
    columns = [flights.hour, flights.carrier, flights.destination]
    columns += [flights.origin, flights.day.astype(int) % 7]
    codes = [names(column) for column in columns]
    offsets = np.cumsum([0, *(code.max() + 1 for code in codes)])
    _, first = np.unique(np.stack(codes), axis=1, return_index=True)
    design = np.zeros((first.size, offsets[-1]))
    for code, offset in zip(codes, offsets, strict=False):
        design[np.arange(first.size), offset + code[first]] = 1.0
    effects = np.linalg.lstsq(design, flights.logit[first], rcond=None)[0]
    return np.stack([effects[offsets[i] + codes[i]] for i in range(3)], axis=1)


def truth(flights: Mapping[str, Flights], reference: Reference) -> list[dict[str, Any]]:
    """Estimate every quantity of every month, as (value, standard error)."""
    plain, stretched = (flights[model] for model in STRETCH)
    score_parts = parts_of_score(plain)
    cells = np.clip(np.searchsorted(CENTRES, plain.logit), 0, CENTRES.size - 1)
    bent = np.stack([plain.logit, reference.directions[1][cells]], axis=1)
    months = plain.day.astype("datetime64[M]")
    table = []
    for month in np.unique(months):
        rows = months == month
        days, origins = plain.day[rows], plain.origin[rows]
        own, late = names(days, origins), plain.late[rows]

        def fit(x: np.ndarray, groups: np.ndarray) -> list[tuple[float, float]]:
            found = regress(late, x[rows].reshape(late.size, -1), groups, days)  # noqa: B023
            return [(float(a), float(b)) for a, b in zip(*found, strict=True)]

        hour, carrier, destination = fit(score_parts, own)
        table.append(
            {
                "month": month.item(),
                "prevalence": float(late.mean()),
                "slope": fit(plain.logit, own)[0],
                "stretched": fit(stretched.logit, own)[0],
                "within": fit(plain.logit, names(days, origins, plain.part[rows]))[0],
                "ends": fit(bent, own)[1],
                "hour": hour,
                "carrier": carrier,
                "destination": destination,
            }
        )
    return table


def write_and_read(root: Path) -> dict[str, Flights]:
    """Write the demo's own logs and read them back."""
    write_flights_logs(root)
    return {model: read_flights(root, model) for model in STRETCH}


def pooled(days: Days) -> dict[date, Coarse]:
    """Add up the groups of each day, as the usual rules do."""
    return {day: sum_of(list(parts.values())) for day, parts in days.items()}
