"""Rows that were acted on: their outcomes do not count, and they are counted."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from monitor.base.errors import DataError
from monitor.days.summary import Summary, whole
from monitor.evaluation.evaluate import evaluate
from monitor.evaluation.score_errors import Settings
from monitor.logs import summarise_day
from monitor.metrics.core.grid import locate
from monitor.store.store import Store
from tests.logs.test_row_settings import DAY, SCORES, model_of, summarise, write

ROWS = 3_000


def rows_of(rng: np.random.Generator) -> dict[str, Any]:
    """Draw rows of which some were acted on, with and without an outcome."""
    scores = rng.random(ROWS)
    acted = pa.array(rng.random(ROWS) < scores, mask=rng.random(ROWS) < 0.1)
    return {"prediction_id": np.arange(ROWS), "score": scores, "blocked": acted}


def read(folder: Path, rows: dict[str, Any], observed: dict[str, Any], how: str) -> Summary:
    """Write both logs in one of their forms, and summarise the day."""
    folder.mkdir()
    keys: dict[str, Any] = {"action": "blocked"}
    if how == "integer":
        rows = {**rows, "blocked": rows["blocked"].cast(pa.int8())}
    if how == "text":
        folder.joinpath("predictions").mkdir()
        text = pa.table({k: pa.array(v) for k, v in rows.items()})
        pyarrow.csv.write_csv(text, folder / "predictions" / f"{DAY}.csv")
        write(folder, "outcomes", observed)
        keys["predictions"] = {"path": f"{folder}/predictions/{{day}}.csv"}
        keys["ids"] = {"cast": "integer"}
        return summarise_day("ctr", model_of(folder, **keys), DAY, as_of=DAY + timedelta(days=9))
    if how == "clicks":
        keys["outcomes"] = {"absent_means": "negative after 0d"}
    if how == "together":
        outcome = dict(
            zip(observed["prediction_id"].tolist(), observed["outcome"].tolist(), strict=True)
        )
        write(folder, "predictions", rows | {"outcome": [outcome.get(i) for i in range(ROWS)]})
        model = model_of(folder, **keys).model_dump(exclude={"outcomes"}, exclude_defaults=True)
        of = model_of(folder).model_validate({**model, "outcomes": {"in_predictions": True}})
        return summarise_day("ctr", of, DAY, as_of=DAY + timedelta(days=9))
    return summarise(folder, rows, observed, **keys)


@pytest.mark.parametrize("how", ["boolean", "integer", "text", "together", "clicks"])
def test_their_outcomes_do_not_count(how: str, tmp_path: Path) -> None:
    """All others do, and so do all scores; null is no action; the number is stored."""
    rng = np.random.default_rng(1)
    rows, has = rows_of(rng), rng.random(ROWS) < 0.7
    outcomes = (rng.random(ROWS) < rows["score"]).astype(int)
    observed = {"prediction_id": np.flatnonzero(has), "outcome": outcomes[has]}
    acted = np.array([value is True for value in rows["blocked"].to_pylist()])

    summary = read(tmp_path / "logs", rows, observed, how)
    known = ~acted if how == "clicks" else ~acted & has
    part, store = whole(summary), Store(f"{tmp_path / 'store'}")
    store.write_summary(summary)

    assert summary.acted == store.read_summary("ctr", DAY)[0].acted == acted.sum()
    assert part.predicted == ROWS
    assert part.tally.total == known.sum()
    assert part.tally.total_positives == (outcomes * has)[known].sum()
    cells, counts = np.unique(locate(rows["score"][known])[0], return_counts=True)
    assert part.tally.cells
    assert part.tally.cells.numbers.tolist() == cells.tolist()
    assert part.tally.counts.tolist() == counts.tolist()
    assert part.awaited.counts.sum() == ROWS - known.sum()


@pytest.mark.parametrize("strata", [{}, {"column": "hour", "values": ["am", "pm"]}])
def test_they_are_counted_in_segments_and_windows(strata: dict[str, Any], tmp_path: Path) -> None:
    """By segment and stratum, in the store too; a window has their sum once all days say it."""
    rng, days = np.random.default_rng(2), []
    keys: dict[str, Any] = {"action": "blocked", **({"strata": strata} if strata else {})}
    keys["segments"] = {"column": "country", "values": ["DE", "FR"]}
    store, rows = Store(f"{tmp_path / 'store'}"), rows_of(rng)
    rows["country"] = rng.choice(["DE", "FR", "IT"], ROWS)
    rows["hour"] = rng.choice(["am", "pm"], ROWS)
    acted = np.array([value is True for value in rows["blocked"].to_pylist()])
    observed = {"prediction_id": np.arange(ROWS), "outcome": rng.integers(0, 2, ROWS)}
    for number, settings in enumerate((keys, {**keys, "action": None})):
        summary = summarise(tmp_path / f"{number}", rows, observed, **settings)
        store.write_summary(replace(summary, days=(DAY + timedelta(number),)))
        days.append(store.read_summary("ctr", DAY + timedelta(number))[0])

    settings = Settings(alpha=0.05, null_replicates=2)
    alone = evaluate(days[:1], window_days=1, settings=settings)
    expected = {name: int(acted[rows["country"] == name].sum()) for name in ("DE", "FR")}
    expected |= {"all": int(acted.sum()), "other": int(acted[rows["country"] == "IT"].sum())}
    assert {e.segment: e.acted for e in alone} == expected
    for name, part in days[0].segments.items():
        for hour, stratum in part.parts.items():
            is_there = np.ones(ROWS, bool) if hour == "all" else rows["hour"] == hour
            of_country = rows["country"] == ("IT" if name == "other" else name)
            if hour != "other":
                assert stratum.acted == acted[is_there & of_country].sum()
    assert {e.acted for e in evaluate(days, window_days=2, settings=settings)} == {None}
    again = replace(days[0], days=(DAY + timedelta(9),))
    twice = evaluate([days[0], again], window_days=2, settings=settings)
    assert {e.segment: e.acted for e in twice} == {k: 2 * n for k, n in expected.items()}


def test_an_outcome_that_is_not_used_is_no_orphan_and_may_come_twice(tmp_path: Path) -> None:
    """The checks of ids are those of other rows."""
    ids = [1, 2, 3, 4]
    scored = {"prediction_id": ids, "score": SCORES, "blocked": [True, False, True, False]}
    observed = {"prediction_id": [1, 1, 2, 3], "outcome": [1, 1, 0, 0]}
    summary = summarise(tmp_path, scored, observed, action="blocked")

    assert (summary.acted, summary.rejected) == (2, {})
    assert whole(summary).tally.total == 1


def test_what_is_no_action_is_refused(tmp_path: Path) -> None:
    """A column that is missing, or neither true nor false."""
    scored = {"prediction_id": [1, 2, 3, 4], "score": SCORES, "blocked": [0.5, 0.0, 1.0, 1.0]}
    observed = {"prediction_id": [1], "outcome": [1]}
    with pytest.raises(DataError, match="must be boolean, or an integer 0 or 1"):
        summarise(tmp_path, scored, observed, action="blocked")
    with pytest.raises(DataError, match="no column 'stopped'"):
        summarise(tmp_path, scored, observed, action="stopped")
