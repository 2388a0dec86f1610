"""The logs of which docs/start.md shows what `init` says: a folder for each, small and seeded."""

import json
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from pathlib import Path

import numpy as np
from scipy.special import expit

from tests.support.undescribed import Rows, put

FIRST, DAYS, ROWS = date(2026, 1, 1), 40, 250


def days(rng: np.random.Generator) -> Iterator[tuple[date, Rows]]:
    """Draw the rows of a calibrated model, day by day."""
    for number in range(DAYS):
        day = FIRST + timedelta(days=number)
        scores = expit(rng.normal(-1.5, 1.3, ROWS))
        seconds = np.sort(rng.integers(0, 86_400, ROWS))
        midnight = datetime.combine(day, time())
        yield (
            day,
            {
                "id": [number * ROWS + n for n in range(ROWS)],
                "score": scores.tolist(),
                "y": (rng.random(ROWS) < scores).astype(int).tolist(),
                "ts": [midnight + timedelta(seconds=int(s)) for s in seconds],
                "segment": rng.choice(["web", "app", "partner"], ROWS, p=[0.6, 0.3, 0.1]).tolist(),
            },
        )


def partitions(root: Path) -> None:
    """Write partitions of Hive; positive outcomes arrive later, in the partition of that day."""
    rng = np.random.default_rng(7)
    arrived: dict[date, Rows] = {}
    for day, rows in days(rng):
        named = {"prediction_id": rows["id"], "ts": rows["ts"]}
        further = {
            "score": rows["score"],
            "segment": rows["segment"],
            "model_version": ["3"] * ROWS,
        }
        put(root / "predictions" / f"dt={day}" / "part-0.parquet", named | further)
        for key, at, outcome in zip(rows["id"], rows["ts"], rows["y"], strict=True):
            known = at + timedelta(days=min(21.0, rng.exponential(4.0 if outcome else 1.0)))
            there = arrived.setdefault(
                known.date(), {"prediction_id": [], "outcome": [], "outcome_ts": []}
            )
            for name, value in zip(there, (key, outcome, known), strict=True):
                there[name].append(value)
    for day, rows in arrived.items():
        put(root / "outcomes" / f"dt={day}" / "part-0.parquet", rows)


def answers(root: Path) -> None:
    """Write what a service answered as a text of JSON, and the outcomes in a file of their own."""
    for day, rows in days(np.random.default_rng(8)):
        said = [json.dumps({"predictions": [{"score": round(p, 6)}]}) for p in rows["score"]]
        moments = [f"{at.isoformat()}Z" for at in rows["ts"]]
        put(
            root / "served" / f"{day}.parquet",
            {"request_id": rows["id"], "at": moments, "response": said},
        )
        put(root / "labels" / f"{day}.csv", {"request_id": rows["id"], "label": rows["y"]})


def above_one(root: Path) -> None:
    """Write scores that rounding has lifted a little above 1."""
    rng = np.random.default_rng(9)
    for day, rows in days(rng):
        scores = np.array(rows["score"])
        scores = np.where(scores > 0.8, 1 + rng.uniform(-2e-5, 1.5e-5, ROWS), scores)
        put(root / "predictions" / f"{day}.parquet", {"id": rows["id"], "prob": scores.tolist()})
        put(root / "outcomes" / f"{day}.parquet", {"id": rows["id"], "label": rows["y"]})


def grown(root: Path) -> None:
    """Write one file, to whose lines a column is added in February without a new header."""
    lines = ["day,id,score,label"]
    for day, rows in days(np.random.default_rng(10)):
        more = ",12" if day.month > 1 else ""
        lines += [
            f"{day},{key},{score:.6f},{outcome}{more}"
            for key, score, outcome in zip(rows["id"], rows["score"], rows["y"], strict=True)
        ]
    root.mkdir(parents=True)
    (root / "all.csv").write_text("\n".join(lines) + "\n")


LOGS = {"risk": partitions, "served": answers, "words": above_one, "grown": grown}
