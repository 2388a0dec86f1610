"""Folders of logs that nobody has described: one model's rows, written as people write them."""

import gzip
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from scipy.special import expit

from monitor.logs.discovery.guess import Guess

FIRST, DAYS, ROWS = date(2026, 1, 28), 10, 120
Rows = dict[str, list[Any]]


@dataclass(frozen=True)
class History:
    """The rows of a model by day: predictions, and outcomes by the day on which they came."""

    predictions: Mapping[date, Rows]
    outcomes: Mapping[date, Rows]

    @property
    def days(self) -> list[date]:
        """List the days."""
        return list(self.predictions)


def history(delay: float = 0.0, days: int = DAYS, rows: int = ROWS) -> History:
    """Make a calibrated model; outcomes come after an exponential delay with this mean, in days."""
    rng = np.random.default_rng(7)
    predictions, arrived = dict[date, Rows](), dict[date, list[tuple[Any, ...]]]()
    for day in (FIRST + timedelta(n) for n in range(days)):
        scores = expit(rng.normal(-0.8, 1.2, rows))
        outcomes = (rng.random(rows) < scores).astype(int)
        seconds = np.sort(rng.integers(0, 80_000, rows))
        at = [datetime.combine(day, time(), UTC) + timedelta(seconds=int(s)) for s in seconds]
        ids = [f"{day:%m%d}-{i:04}" for i in range(rows)]
        waits = rng.exponential(delay, rows) if delay else np.full(rows, 0.01)
        predictions[day] = {
            "request_id": ids,
            "score": scores.tolist(),
            "customer": rng.integers(0, 40, rows).tolist(),
            "country": rng.choice(["DE", "FR", "US"], rows, p=[0.6, 0.3, 0.1]).tolist(),
            "scored_at": at,
        }
        for row in zip(ids, outcomes.tolist(), at, waits.tolist(), strict=True):
            observed_at = row[2] + timedelta(days=row[3])
            arrived.setdefault(observed_at.date(), []).append((row[0], row[1], observed_at))
    names = "request_id", "label", "observed_at"
    outcomes_of = {
        day: dict(zip(names, map(list, zip(*sorted(arrived[day]), strict=True)), strict=True))
        for day in sorted(arrived)
    }
    return History(predictions, outcomes_of)


def put(path: Path, rows: Rows) -> None:
    """Write a file in the format of its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table(rows)
    if ".parquet" in path.name or "." not in path.name:
        pq.write_table(table, path)
        return
    plain = path.with_name(path.name.removesuffix(".gz"))
    if ".csv" in path.name:
        pyarrow.csv.write_csv(table, plain)
    else:
        lines = (json.dumps(row, default=str) for row in table.to_pylist())
        plain.write_text("".join(f"{line}\n" for line in lines))
    if path != plain:
        path.write_bytes(gzip.compress(plain.read_bytes()))
        plain.unlink()


def write(
    root: Path,
    logs: History,
    predictions: str,
    outcomes: str,
    *,
    of_predictions: Callable[[Rows], Rows] = dict,
    of_outcomes: Callable[[Rows], Rows] = dict,
) -> None:
    """Write both logs with one file a day; the names are templates of the day."""
    for day, rows in logs.predictions.items():
        put(root / predictions.format(day=day), of_predictions(rows))
    for day, rows in logs.outcomes.items():
        put(root / outcomes.format(day=day), of_outcomes(rows))


def renamed(**names: str) -> Callable[[Rows], Rows]:
    """Rename columns."""
    return lambda rows: {names.get(name, name): values for name, values in rows.items()}


def changed(**columns: Callable[[Rows], Iterable[Any]]) -> Callable[[Rows], Rows]:
    """Replace or add columns, each made from the rows."""
    return lambda rows: rows | {name: list(make(rows)) for name, make in columns.items()}


def without(name: str) -> Callable[[Rows], Rows]:
    """Leave out a column."""
    return lambda rows: {key: values for key, values in rows.items() if key != name}


def chosen(rows: Rows, keep: Sequence[object]) -> Rows:
    """Keep the rows for which a value is true."""
    return {
        name: [value for value, kept in zip(values, keep, strict=True) if kept]
        for name, values in rows.items()
    }


def stacked(days: Iterable[Rows]) -> Rows:
    """Put the rows of several days below one another."""
    parts = list(days)
    return {name: [value for part in parts for value in part[name]] for name in parts[0]}


def joined(logs: History, *, known_until: date | None = None) -> dict[date, Rows]:
    """Put the outcome and its time beside the score, without ids; null if they came too late."""
    found = {
        identity: (label, at)
        for rows in logs.outcomes.values()
        for identity, label, at in zip(*rows.values(), strict=True)
        if known_until is None or at.date() <= known_until
    }
    return {
        day: {
            **{name: values for name, values in rows.items() if name != "request_id"},
            "label": [found.get(i, (None, None))[0] for i in rows["request_id"]],
            "observed_at": [found.get(i, (None, None))[1] for i in rows["request_id"]],
        }
        for day, rows in logs.predictions.items()
    }


def active(guessed: Guess) -> dict[str, object]:
    """List the settings that `init` writes, with dotted keys."""
    return {f"{s.section}.{s.key}": s.value for s in guessed.settings if s.active}
