"""CalibrationCUSUM and PITMonitor of insurance-monitoring 1.2.2, on days of scores and outcomes.

    python insurance_worker.py OUT.json STREAMS

It runs in an environment with that package alone. CalibrationCUSUM knows the size that it looks
for, and promises 1,000 days between false alarms; PITMonitor promises that at most one stream in
twenty ever raises one. Neither has a reference: the scores are calibrated before the change.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

REFERENCE, START, FOLLOWED = 28, 60, 60  # days before all, until the slope changes, and since
SLOPE, CENTRE, SPREAD, ROWS = 0.8, -1.0, 1.2, 500
WORLDS = {"the prior stays": 0.0, "the prior moves, sd 0.3": 0.3}


def days_of(moves: float, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Draw scores and outcomes of each day; from `START` after the reference the slope is 0.8."""
    rng = np.random.default_rng([seed, round(10 * moves)])
    for day in range(-REFERENCE, START + FOLLOWED):
        logits = rng.normal(CENTRE, SPREAD, ROWS)
        true = (SLOPE if day >= START else 1.0) * logits + moves * rng.normal()
        outcomes = rng.random(ROWS) < 1.0 / (1.0 + np.exp(-true))
        yield 1.0 / (1.0 + np.exp(-logits)), outcomes.astype(np.int8)


def alarms_of(moves: float, seed: int) -> dict[str, list[int]]:
    """List the days with an alarm of each, counted from the end of the reference."""
    from insurance_monitoring import (
        CalibrationCUSUM,
        PITMonitor,
    )

    chart = CalibrationCUSUM(delta_a=1.0, gamma_a=SLOPE, cfar=0.001, n_mc=2_000, random_state=seed)
    monitor, rng = PITMonitor(alpha=0.05, rng=seed), np.random.default_rng([seed, 1])
    found: dict[str, list[int]] = {"CalibrationCUSUM": [], "PITMonitor": []}
    for day, (scores, outcomes) in enumerate(days_of(moves, seed), -REFERENCE):
        if day < 0:
            continue
        if chart.update(scores, outcomes).triggered:
            found["CalibrationCUSUM"].append(day)
        draw = rng.random(ROWS)  # an outcome of 1 lies in the upper part of the distribution
        pits = np.where(outcomes == 1, 1.0 - scores * draw, (1.0 - scores) * draw)
        # Its first alarm stays.
        if not found["PITMonitor"] and max([bool(monitor.update(float(p))) for p in pits]):
            found["PITMonitor"].append(day)
    return found


def main() -> None:
    """Run all streams, and write the days with an alarm of each."""
    out, streams = Path(sys.argv[1]), int(sys.argv[2])
    found = {
        name: [alarms_of(moves, seed) for seed in range(streams)] for name, moves in WORLDS.items()
    }
    out.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
