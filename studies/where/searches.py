"""Three searches of the same rows: the monitor's, a chi-squared test of each value, and MCGrad."""

import json
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy.special import expit
from scipy.stats import chi2

from monitor.drift.curve.reference import Reference
from monitor.drift.records.places import Where
from monitor.drift.where.column_sums import DaySums, in_both, over_days
from monitor.drift.where.values_off import FALSE_DISCOVERIES, where_of
from monitor.metrics.core.coarse import CENTRES
from studies.where.worlds import COLUMNS, NAMES, PAIR, PAIRS, PRIOR, Day, Names, pair_codes

BINS = np.digitize(CENTRES, [-2.0, -1.5, -1.0, -0.7, -0.3, 0.1, 0.5, 1.0, 1.5])  # of ten each
COUNT = int(BINS.max()) + 1
LEAST_EXPECTED = 5.0  # outcomes of either kind in a bin, as textbooks ask


def monitor_search(
    reference: Reference, before: Sequence[DaySums], after: Sequence[DaySums]
) -> Where:
    """Search as the daily run does, from what is known of each day."""
    return where_of(reference, in_both(over_days(before), over_days(after)), "too_extreme")


def chi_squared_search(days: Sequence[Day]) -> Names:
    """Test whether the outcomes of each value are what its scores say, in ten bins of scores."""
    values, places, hits = rows_of(days)
    chance = expit(CENTRES + PRIOR)
    p_values = {}
    for column, codes, names in coded(values):
        keys = codes * COUNT + BINS[places]
        size = len(names) * COUNT
        seen = np.bincount(keys, hits, size).reshape(-1, COUNT)
        expected = np.bincount(keys, chance[places], size).reshape(-1, COUNT)
        spread = np.bincount(keys, (chance * (1.0 - chance))[places], size).reshape(-1, COUNT)
        usable = spread >= LEAST_EXPECTED
        sums = np.where(usable, (seen - expected) ** 2 / np.maximum(spread, 1e-9), 0.0).sum(axis=1)
        for value, name in enumerate(names):
            if degrees := int(usable[value].sum()):
                p_values[column, name] = float(chi2.sf(sums[value], degrees))
    return discoveries(p_values)


def mcgrad_search(days: Sequence[Day], python: Path) -> tuple[Names, float]:
    """Ask MCGrad, in its own environment; also how many seconds it took."""
    values, places, hits = rows_of(days)
    columns = list(coded(values))
    with tempfile.TemporaryDirectory() as folder:
        given, out = Path(folder) / "rows.npz", Path(folder) / "answer.json"
        np.savez(
            given,
            names=[column for column, _, _ in columns],
            values=np.stack([codes for _, codes, _ in columns], axis=1).astype(np.int16),
            scores=expit(CENTRES + PRIOR)[places],
            hits=hits,
        )
        command = [str(python), "-m", "studies.where.mcgrad_worker", str(given), str(out)]
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - our own worker
        answer = json.loads(out.read_text())
    names = {column: of for column, _, of in columns}
    found = {(column, names[column][value]): p for column, value, p in answer["p_values"]}
    return discoveries(found), float(answer["seconds"])


def rows_of(days: Sequence[Day]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Put the rows of several days together."""
    return (
        np.concatenate([day.values for day in days]),
        np.concatenate([day.places for day in days]),
        np.concatenate([day.hits for day in days]),
    )


def coded(values: np.ndarray) -> list[tuple[str, np.ndarray, list[str]]]:
    """Give every column with the codes of the rows and the names of the codes."""
    singles = [(f"c{i}", values[:, i], NAMES) for i in range(COLUMNS)]
    return [*singles, (PAIR, pair_codes(values), PAIRS)]


def discoveries(p_values: Mapping[tuple[str, str], float]) -> Names:
    """Flag values at the same false discovery rate as the monitor (Benjamini and Hochberg)."""
    ranked = sorted(p_values, key=lambda name: p_values[name])
    below = [
        i
        for i, name in enumerate(ranked, 1)
        if p_values[name] <= FALSE_DISCOVERIES * i / len(ranked)
    ]
    return set(ranked[: max(below, default=0)])


def timed(began: float) -> float:
    """Return the CPU seconds since a moment."""
    return time.process_time() - began
