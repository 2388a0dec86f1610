"""Logs of two models up to yesterday, and the store that the daily job makes of them.

``fraud`` has twice the odds for eight days; later its scores become too extreme, in all three of
its segments. ``ads`` is well, until its log of outcomes stays empty; so its second reference has
too few outcomes to be used. Its drifts of the next two months are known ahead.
"""

from datetime import UTC, date, datetime, timedelta
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from scipy.special import expit

from monitor.config import Config, load_config
from monitor.pipeline.days.task import Task
from monitor.pipeline.runs.run import run

DAYS, REFERENCE_DAYS, SETTLED_AFTER = 48, 14, 2
ROWS = 1_200
MORE_POSITIVES = range(19, 27)  # of fraud
TOO_EXTREME_FROM, STRETCH = 38, 1.8  # of fraud
NO_OUTCOMES_FROM = DAYS - 7  # of ads
KNOWN_AHEAD = 60  # days for which drifts of ads are known
AWAITED_FROM = DAYS - 2  # of all: some outcomes of the newest days are still to come
MODELS = ("ads", "fraud")
SEGMENTS = ("AT", "DE", "FR")  # of fraud


def first_day(today: date) -> date:
    """Find the first day of the logs, whose last is yesterday."""
    return today - timedelta(days=DAYS)


def write_store(folder: Path, today: date) -> Config:
    """Write the logs, and run the daily job for each of their days."""
    first = first_day(today)
    for (number, model), place in product(enumerate(MODELS), range(DAYS)):
        day = first + timedelta(days=place)
        write_day(folder, model, day, place, np.random.default_rng([number, place]))
    (folder / "monitor.yaml").write_text(yaml.safe_dump(configuration(first)))
    config = load_config(folder / "monitor.yaml")
    for model in MODELS:
        last = today - timedelta(days=1)
        run(config, Task(model, first, last, today), clock=lambda: datetime.now(UTC), jobs=2)
    return config


def configuration(first: date) -> dict[str, object]:
    """Give what monitor.yaml says."""
    reference = {"first": first, "last": first + timedelta(days=REFERENCE_DAYS - 1)}
    models: dict[str, dict[str, object]] = {
        model: {
            "predictions": {"path": f"logs/{model}/predictions/{{day}}.parquet"},
            "outcomes": {"path": f"logs/{model}/outcomes/{{day}}.parquet"},
            "owner": f"{model}-team",
            "severity": "page" if model == "fraud" else "ticket",
            "settled_after": SETTLED_AFTER,
            "windows": [1, 7, 28],
            "verdicts": {"references": [reference]},
        }
        for model in MODELS
    }
    models["fraud"]["segments"] = {"column": "country", "values": [*SEGMENTS]}
    awaited, today = first + timedelta(days=NO_OUTCOMES_FROM), first + timedelta(days=DAYS)
    models["ads"]["verdicts"] = {
        "references": [reference, {"first": awaited, "last": awaited + timedelta(days=1)}],
        "known_drifts": [{"first": today, "last": today + timedelta(days=KNOWN_AHEAD)}],
    }
    return {"store": "store", "models": models}


def write_day(folder: Path, model: str, day: date, place: int, chance: np.random.Generator) -> None:
    """Write what was predicted on a day, and a file of its outcomes, known at once."""
    logits = chance.normal(-1.0, 1.2, 2 * ROWS)
    outcomes = chance.random(2 * ROWS) < expit(logits)
    ill = model == "fraud"
    # A prior shift is a change of the classes' shares: of what is drawn, some negatives are left
    # out, so that scores given the outcome stay as they are.
    dropped = 0.5 if ill and place in MORE_POSITIVES else 0.0
    kept = np.nonzero(outcomes | (chance.random(2 * ROWS) >= dropped))[0][:ROWS]
    stretch = STRETCH if ill and place >= TOO_EXTREME_FROM else 1.0
    ids = [f"{day}-{row}" for row in kept]
    known = slice(0, len(ids) if place < AWAITED_FROM else len(ids) // 2)
    if model == "ads" and place >= NO_OUTCOMES_FROM:
        known = slice(0, 0)
    orphan = [f"{day}-unknown"]
    countries = [SEGMENTS[row % len(SEGMENTS)] for row in kept]
    logs = {
        "predictions": {
            "prediction_id": ids,
            "score": expit(stretch * logits[kept]),
            "country": countries,
        },
        "outcomes": {
            "prediction_id": ids[known] + orphan,
            "outcome": np.append(outcomes[kept][known], 0).astype(np.int8),
        },
    }
    for kind, columns in logs.items():
        path = folder / "logs" / model / kind / f"{day}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(columns), path)
