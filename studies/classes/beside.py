"""Watch streams of models with classes beside usual rules: class-wise ECE, and NannyML if asked.

    python -m studies.classes.beside [--streams 1] [--classes N ...] [--cases N ...]
        [--nannyml PYTHON]

PYTHON is that of an environment with `studies/peers/environments/nannyml.txt`. Every rule gets the
same rows. The usual rules alarm on a day whose number is more than three standard deviations from
its mean over the 28 days of the reference, which is also the default of NannyML.
"""

import argparse
import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from monitor.base.segment_names import WHOLE
from monitor.drift.fold.inputs import Limits, fit_model_reference
from monitor.drift.verdicts.judge import judge
from studies.classes.worlds import (
    DRIFTS,
    NONE,
    REFERENCE,
    Rows,
    World,
    day_of_pairs,
    day_of_rest,
    stream,
)

DAYS, START, BINS = 40, 20, 15
NOISE = 0.02  # of labels that are drawn again
KEPT = 0.01  # of the rows of a class before it is new, and after it has vanished
WORLDS = tuple(
    World(f"{k} classes", k, rows=3_000, group=min(k, 5), vanishing=False) for k in (3, 5, 20, 100)
)
_, NOISY, NEW, GONE = CASES = (
    "nothing but priors",
    "label noise of 2 %",
    "a new class",
    "a class that vanishes",
)
DRIFTING = DRIFTS[0].name


def drawn(world: World, case: str, seed: int) -> list[Rows]:
    """Draw a stream."""
    drift = DRIFTS[0] if case == DRIFTING else NONE
    rng, days = np.random.default_rng(seed), list[Rows]()
    for number, rows in enumerate(stream(world, drift, seed, days=DAYS, start=START)):
        vectors, labels = rows.vectors, rows.labels
        if case == NOISY:
            again = rng.random(labels.size) < NOISE
            labels = np.where(again, rng.integers(0, world.classes, labels.size), labels)
        if (case == NEW and number < REFERENCE + START) or (
            case == GONE and number >= REFERENCE + START
        ):
            kept = (labels != 1) | (rng.random(labels.size) < KEPT)
            vectors, labels = vectors[kept], labels[kept]
        days.append(Rows(rows.day, vectors, labels))
    return days


def opened(days: Sequence[Rows], *, pairs: bool) -> list[int]:
    """Give the days on which the whole opens, by pairs or by one class against the rest."""
    counted = list(map(day_of_pairs if pairs else day_of_rest, days))
    reference = fit_model_reference(counted[:REFERENCE], Limits())
    judged = judge("study", counted[REFERENCE:], references=[reference], limits=Limits())
    return [
        number
        for number, verdicts in enumerate(judged)
        for v in verdicts
        if v.segment == WHOLE and v.incident and v.incident.opened == v.day
    ]


def class_wise(days: Sequence[Rows]) -> list[int]:
    """Give the days whose class-wise ECE is beyond the limits."""
    values = np.array([class_wise_ece(rows) for rows in days])
    before, after = values[:REFERENCE], values[REFERENCE:]
    return np.nonzero(abs(after - before.mean()) > 3.0 * before.std())[0].tolist()


def class_wise_ece(rows: Rows) -> float:
    """Give the mean over the classes of the ECE with bins of equal width."""
    eces = []
    for k in range(rows.vectors.shape[1]):
        scores, hits = rows.vectors[:, k], rows.labels == k
        place = np.minimum((scores * BINS).astype(int), BINS - 1)
        gaps = np.bincount(place, scores, BINS) - np.bincount(place, hits, BINS)
        eces.append(abs(gaps).sum() / hits.size)
    return float(np.mean(eces))


def nannyml(python: str, days: Sequence[Rows]) -> dict[str, list[int]]:
    """Ask NannyML in its own environment, for each rule the days."""
    with tempfile.TemporaryDirectory() as folder:
        log, out = Path(folder) / "rows.parquet", Path(folder) / "out.json"
        classes = days[0].vectors.shape[1]
        vectors = np.concatenate([rows.vectors for rows in days])
        columns = {f"p{k}": vectors[:, k] for k in range(classes)}
        table = pa.table(
            {
                "at": pa.array([r.day for r in days for _ in r.labels], pa.date32()),
                "outcome": np.concatenate([rows.labels for rows in days]),
                **columns,
            }
        )
        pq.write_table(table, log)
        worker = [python, "-m", "studies.classes.nannyml_worker", str(log), str(out)]
        subprocess.run(worker, check=True, capture_output=True)  # noqa: S603
        return json.loads(out.read_text())  # type: ignore[no-any-return]


def told(found: Sequence[int], case: str) -> str:
    """Say how many days alarm, and after a drift when the first does."""
    if case != DRIFTING:
        return f"{len(found)} of {DAYS}"
    before = sum(day < START for day in found)
    first = next((day - START + 1 for day in found if day >= START), None)
    return f"{before} of {START} before, then " + (f"day {first}" if first else "none")


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--streams", type=int, default=1)
    parser.add_argument("--nannyml", default="")
    parser.add_argument("--classes", type=int, nargs="*", default=[])
    parser.add_argument("--cases", type=int, nargs="*", default=[])
    given = parser.parse_args()
    every = [*CASES, DRIFTING]
    cases = [every[number] for number in given.cases] or every
    for world in WORLDS:
        for case in cases if not given.classes or world.classes in given.classes else ():
            for seed in range(given.streams):
                days = drawn(world, case, 700 + seed)
                rules = {"pairs": opened(days, pairs=True)}
                rules["one against the rest"] = opened(days, pairs=False)
                rules["class-wise ECE"] = class_wise(days)
                rules |= nannyml(given.nannyml, days) if given.nannyml else {}
                cells = [world.name, case, *(told(found, case) for found in rules.values())]
                print(f"| {' | '.join(cells)} |", list(rules), flush=True)


if __name__ == "__main__":
    main()
