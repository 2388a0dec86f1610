"""Logs that are samples by class: their log-odds move by the rates, and nothing else does."""

from datetime import date
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pydantic import ValidationError

from monitor.config import Engine, Model
from monitor.days.summary import Summary
from monitor.drift.classes.pairs import class_day, sum_of_days
from monitor.logs import batch_of_summary, count_through_map, open_databases, summarise_day
from monitor.metrics.beyond_binary.class_counts import ClassCounts
from monitor.metrics.beyond_binary.class_pairs import Pairs
from monitor.metrics.core.coarse import coarsen, tally_of
from monitor.metrics.core.tally import tally_on_grid
from monitor.metrics.logistic.cox import fit_cox
from monitor.metrics.maps.vector_map import VectorMap
from monitor.store.summary_table import summary_of, summary_table
from tests.support.class_logs import draw, write_day

NAMES = ("cat", "dog", "fish", "bird")
WEIGHTS = (8.0, 1.0, 2.0, 1.0)
DAY, AS_OF = date(2026, 1, 1), date(2026, 1, 3)
Rows = tuple[np.ndarray, np.ndarray]


def population(rows: int, *, slope: float = 1.0) -> Rows:
    """Draw the rows that would be logged without sampling."""
    return draw(np.random.default_rng(3), rows, 4, slope=slope)


def thinned(rows: Rows) -> Rows:
    """Keep the rows of each class at its rate."""
    kept = np.random.default_rng(4).random(rows[1].size) < 1.0 / np.array(WEIGHTS)[rows[1]]
    return rows[0][kept], rows[1][kept]


def configured(folder: Path, **classes: Any) -> Model:
    """Configure logs whose vectors are lists."""
    described = {"names": NAMES, "vector": "p", **classes}
    return Model.model_validate(
        {
            "predictions": {"path": f"{folder}/predictions/{{day}}.parquet", "classes": described},
            "outcomes": {"path": f"{folder}/outcomes/{{day}}.parquet"},
            "settled_after": 0,
        }
    )


def read(folder: Path, rows: Rows, **classes: Any) -> Summary:
    """Write a day, summarise it, store it and read it back."""
    write_day(folder, DAY, rows[0], pa.array(np.array(NAMES)[rows[1]]), names=NAMES)
    summary = summarise_day("pets", configured(folder, **classes), DAY, as_of=AS_OF)
    return summary_of("pets", DAY, summary_table(summary))


def counted(summary: Summary) -> ClassCounts:
    """Give the counts of classes."""
    assert summary.classes is not None
    return summary.classes


def plain_pairs(rows: Rows, rank: int) -> dict[tuple[int, int], tuple[list[int], list[int]]]:
    """Count pairs row by row: chosen by logged scores, at odds that are divided by the weights."""
    scores: dict[tuple[int, int], tuple[list[float], list[bool]]] = {}
    for vector, label in zip(*rows, strict=True):
        ranked = sorted(range(4), key=lambda k: -vector[k])
        a, b = sorted([ranked[0], ranked[rank - 1]])
        if label in (a, b):
            odds = vector[a] / WEIGHTS[a], vector[b] / WEIGHTS[b]
            of_pair = scores.setdefault((a, b), ([], []))
            of_pair[0].append(odds[0] / sum(odds))
            of_pair[1].append(label == a)
    coarse = {pair: coarsen(tally_on_grid(*of[::-1])) for pair, of in scores.items()}
    return {pair: (c.counts.tolist(), c.positives.tolist()) for pair, c in coarse.items()}


def test_every_count_is_that_of_plain_loops(tmp_path: Path) -> None:
    """Pairs of both families, the first choices, and a class against the rest; then stored."""
    rows = thinned(population(1_200))
    summary = read(tmp_path, rows, weights=WEIGHTS)
    counts = counted(summary)
    moved = rows[0] / WEIGHTS
    moved /= moved.sum(axis=1, keepdims=True)

    for rank, pairs in ((2, counts.pairs), (3, counts.third)):
        plain = plain_pairs(rows, rank)
        found = {of: (p.counts.tolist(), p.positives.tolist()) for of, p in pairs.items()}
        assert {of: both for of, both in found.items() if any(both[0])} == plain
    first = tally_on_grid(moved.argmax(axis=1) == rows[1], moved.max(axis=1))
    for top in (summary.segments["all"].tally, counts.raw.top):
        assert top.counts.tolist() == first.counts.tolist()
        assert top.positives.tolist() == first.positives.tolist()
    for k, tally in counts.raw.by_class.items():
        assert tally.counts.tolist() == tally_on_grid(rows[1] == k, moved[:, k]).counts.tolist()
    assert counts.outcomes.tolist() == np.bincount(rows[1]).tolist()
    assert counts.weights == WEIGHTS


def lines(pairs: Pairs) -> dict[tuple[int, int], tuple[float, float, float]]:
    """Fit the line of each pair: intercept, slope, and the standard error of the slope."""
    fitted = {pair: fit_cox(tally_of(of)) for pair, of in pairs.items()}
    return {p: (c.intercept, c.slope, c.slope_standard_error) for p, c in fitted.items()}


@pytest.mark.parametrize("slope", [1.0, 0.8])
def test_a_sample_says_of_pairs_what_its_population_says(slope: float, tmp_path: Path) -> None:
    """With logits that are right, intercepts are 0; without, they move as the slope says."""
    rows = population(40_000, slope=slope)
    every = lines(counted(read(tmp_path / "every", rows)).pairs)
    some = lines(counted(read(tmp_path / "some", thinned(rows), weights=WEIGHTS)).pairs)

    assert every.keys() == some.keys()
    for (a, b), (intercept, own, error) in some.items():
        offset = log(WEIGHTS[b] / WEIGHTS[a])
        # 4 standard errors: those of the population are smaller, and its rows are partly the same.
        assert own == pytest.approx(every[a, b][1], abs=4 * error)
        # The rarest pair has some 400 rows: 3.5 standard errors of 2 / sqrt(400).
        expected = every[a, b][0] + (1.0 - slope) * offset
        assert intercept == pytest.approx(expected, abs=0.35)


def test_a_map_is_applied_before_the_sample_is_allowed_for(tmp_path: Path) -> None:
    """Through the identity, every count is that of the summary."""
    rows = thinned(population(400))
    summary = read(tmp_path, rows, weights=WEIGHTS)
    model, counts = configured(tmp_path, weights=WEIGHTS), counted(summary)
    classes = model.predictions.classes
    assert classes is not None
    with open_databases(Engine(threads=1)) as databases:
        batch = batch_of_summary("pets", model, summary)
        sums, mapped, _ = count_through_map(batch, classes, VectorMap("identity", NAMES), databases)

    assert sums.tolist() == counts.score_sums.tolist()
    assert mapped.raw.top.counts.sum() == counts.raw.top.counts.sum()
    assert mapped.raw.top.positives.sum() == counts.raw.top.positives.sum()
    assert {of: p.positives.sum() for of, p in mapped.pairs.items()} == {
        of: p.positives.sum() for of, p in counts.pairs.items()
    }


def test_frequencies_are_compared_among_days_of_equal_rates(tmp_path: Path) -> None:
    """After new rates, the days before them are no measure of how frequent a class is."""
    rows = population(100)
    days = [
        class_day(counted(read(tmp_path / str(i), rows, **more)), {"all": 0})
        for i, more in enumerate(({}, {"weights": WEIGHTS}, {"weights": WEIGHTS}))
    ]
    together = sum_of_days(days)

    assert together is not None
    assert together.total == 200
    assert together.is_like(days[1])
    assert not together.is_like(days[0])


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([1, 2], "weights lists 2 numbers and names 4 classes"),
        ([1, 1, 0, 1], "greater than 0"),
        ([1, 1, float("inf"), 1], "finite number"),
        ([1, 1, "x", 1], "valid number"),
    ],
)
def test_wrong_weights_are_refused(weights: list[Any], said: str, tmp_path: Path) -> None:
    """With the list of classes that they belong to."""
    with pytest.raises(ValidationError, match=said):
        configured(tmp_path, weights=weights)
