"""Probabilities of labels in a log: sums beside the counts, which stay as they are."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.special import expit

from monitor.base.errors import DataError
from monitor.days.summary import RATED, SQUARE, UNIT, Rated, Summary, merge_summaries, whole
from monitor.logs import summarise_day
from monitor.metrics.core.grid import locate
from monitor.store.store import Store
from tests.logs.test_row_settings import DAY, SCORES, model_of, summarise, write

ROWS = 4_000
SEGMENTS = {"column": "kind", "values": ["a", "b"]}


def world(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Draw rows that are chosen by something that moves the outcome too."""
    x, z = rng.normal(-1.0, 1.3, ROWS), rng.normal(size=ROWS)
    rate = np.maximum(expit(x + z - 1.0), 0.01)
    return {
        "prediction_id": np.arange(ROWS),
        "score": expit(x),
        "kind": rng.choice(["a", "b", "c"], ROWS),
        "rate": rate,
        "outcome": (rng.random(ROWS) < expit(x + z)).astype(int),
        "has": rng.random(ROWS) < rate,
    }


def read(folder: Path, rows: dict[str, np.ndarray], where: str) -> Summary:
    """Write the logs with the probability in one of them, and summarise the day."""
    scored = {name: rows[name] for name in ("prediction_id", "score", "kind")}
    has, keys = rows["has"], dict[str, Any](segments=SEGMENTS, label_rate="rate")
    observed = {name: rows[name][has] for name in ("prediction_id", "outcome")}
    if where == "outcomes":
        observed["rate"], keys["label_rate"] = rows["rate"][has], {"outcomes": "rate"}
    elif where == "none":
        del keys["label_rate"]
    else:
        scored["rate"] = pa.array(rows["rate"], mask=~has)  # known of the chosen ones alone
    if where != "together":
        return summarise(folder, scored, observed, **keys)
    scored["outcome"] = pa.array(rows["outcome"], mask=~has)
    write(folder, "predictions", scored)
    model = model_of(folder, **keys).model_dump(exclude={"outcomes"}, exclude_defaults=True)
    of = model_of(folder).model_validate({**model, "outcomes": {"in_predictions": True}})
    return summarise_day("ctr", of, DAY, as_of=DAY + timedelta(days=9))


def plain(rows: dict[str, np.ndarray], kind: str) -> dict[int, list[int]]:
    """Add up by cell in plain Python: rows, positives, and the squares of both."""
    sums = dict[int, list[int]]()
    other = kind == "other"
    of_kind = ~np.isin(rows["kind"], ["a", "b"]) if other else rows["kind"] == kind
    chosen = np.flatnonzero(rows["has"] & of_kind)
    cells = locate(rows["score"][chosen])[0]
    for i, cell in zip(chosen.tolist(), cells.tolist(), strict=True):
        w, y = 1.0 / rows["rate"][i], int(rows["outcome"][i])
        one, square = int(w * UNIT + 0.5), int(w * w * SQUARE + 0.5)
        added = (one, one * y, square, square * y)
        sums[cell] = [a + b for a, b in zip(sums.get(cell, [0] * 4), added, strict=True)]
    return sums


@pytest.mark.parametrize("where", ["predictions", "outcomes", "together"])
def test_sums_are_those_of_plain_python(where: str, tmp_path: Path) -> None:
    """In each segment, to the last unit; the counts are those without the setting."""
    rows = world(np.random.default_rng(1))
    summary, without = (read(tmp_path / of, rows, of) for of in (where, "none"))

    for kind, part in summary.segments.items():
        assert part.rated
        read_sums = np.stack([getattr(part.rated, name) for name in RATED]).T.tolist()
        assert dict(zip(part.rated.cells.tolist(), read_sums, strict=True)) == plain(rows, kind)
        same = without.segments[kind]
        assert same.rated is None
        assert part.tally.counts.tolist() == same.tally.counts.tolist()
        assert part.tally.positives.tolist() == same.tally.positives.tolist()
        assert part.awaited.counts.tolist() == same.awaited.counts.tolist()


def test_they_are_stored_and_add_up(tmp_path: Path) -> None:
    """A day reads back as it was; a window has the sums of its days, none if one lacks them."""
    rng = np.random.default_rng(2)
    first = read(tmp_path / "a", world(rng), "predictions")
    second = replace(
        read(tmp_path / "b", world(rng), "outcomes"),
        days=(DAY + timedelta(days=1),),
    )
    store = Store(f"{tmp_path / 'store'}")
    store.write_summary(first)
    again, _ = store.read_summary("ctr", DAY)

    for kind, part in first.segments.items():
        assert same(again.segments[kind].rated, part.rated)
    both = whole(merge_summaries([again, second])).rated
    apart = [whole(day).rated for day in (first, second)]
    assert both
    for name in RATED:
        assert getattr(both, name).sum() == sum(getattr(one, name).sum() for one in apart if one)
    parts = {kind: replace(part, rated=None) for kind, part in second.segments.items()}
    assert whole(merge_summaries([first, replace(second, segments=parts)])).rated is None


def same(a: Rated | None, b: Rated | None) -> bool:
    """Compare sums."""
    names = ("cells", *RATED)
    return bool(a and b) and all(np.array_equal(getattr(a, n), getattr(b, n)) for n in names)


@pytest.mark.parametrize("rate", [None, 0.0, -0.5, 1.5, float("nan"), float("inf")])
def test_what_is_no_probability_is_refused(rate: float | None, tmp_path: Path) -> None:
    """Of a row with an outcome; those without are not looked at."""
    ids = [1, 2, 3, 4]
    scored = {"prediction_id": ids, "score": SCORES}
    rated = {**scored, "rate": pa.array([0.5, rate, 0.5, None], pa.float64())}
    observed = {"prediction_id": [1, 2, 3], "outcome": [0, 1, 0]}

    with pytest.raises(DataError, match="1 of 3 rows with an outcome have no label_rate from"):
        summarise(tmp_path, rated, observed, label_rate="rate")
