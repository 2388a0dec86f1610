"""Days that are read in one query are what they are alone, whatever their rows mean."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from monitor.base.errors import DataError
from monitor.config import Engine, Model
from monitor.days.summary import Summary
from monitor.logs import open_databases, summarise_day, summarise_days
from monitor.store.summary_table import summary_table
from tests.support.cases import some

FIRST = date(2026, 3, 2)
DAYS = [FIRST + timedelta(days=i) for i in range(4)]
LAST = 6  # of the outcomes
AS_OF = FIRST + timedelta(days=20)
ROWS = 60
LATEST = {"duplicates": "latest", "time": "seen"}
SETTINGS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "filters": {"predictions": {"where": "kind <> 'x'"}, "outcomes": {"where": "said <> 'maybe'"}},
    "a key of two columns": {
        "predictions": {"id": ["key", "kind"]},
        "outcomes": {"id": ["key", "kind"]},
    },
    "a cast": {"ids": {"cast": "integer"}, "outcomes": {"id": "as_text"}},
    "a cast of a key of two columns": {
        "ids": {"cast": "text"},
        "predictions": {"id": ["key", "kind"]},
        "outcomes": {"id": ["as_text", "kind"]},
    },
    "other outcomes": {
        "outcomes": {
            "outcome": "said",
            "outcome_means": {"positive": ["yes"], "negative": ["no"]},
        },
        "checks": {"reject": ["outcome_invalid"]},
    },
    "absent outcomes": {"outcomes": {"absent_means": "negative after 1d"}},
    "corrections": {"outcomes": LATEST},
    "percent": {"predictions": {"score": "percent", "score_means": "percent"}},
    "logits": {"predictions": {"score": "logit", "score_means": "logit"}},
    "any text": {"segments": {"column": "kind", "values": ['x "y"\n', " z "]}},
    "weights": {"predictions": {"weight": "w"}, "checks": {"accept": ["one_class"]}},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write days of predictions, whose outcomes come up to two days later, some of them twice."""
    rng, folder = np.random.default_rng(8), tmp_path_factory.mktemp("many")
    kinds = np.array(["x", 'x "y"\n', " z "])
    outcomes: dict[int, list[dict[str, Any]]] = {later: [] for later in range(LAST)}
    for place, day in enumerate(DAYS):
        keys = np.arange(ROWS) + 1000 * place
        score, kind = rng.random(ROWS), rng.choice(kinds, ROWS)
        hit = rng.random(ROWS) < score
        hit[-5:] = True, False, True, False, True
        rows = {
            "prediction_id": keys,
            "key": keys,
            "kind": kind,
            "score": score,
            "percent": 100 * score,
            "logit": np.log(score / (1 - score)),
            "w": np.where(hit, 1.0, 4.0),
        }
        pq.write_table(pa.table(rows), folder / f"p-{day}.parquet")
        for i in range(ROWS):
            if rng.random() < 0.8 or i > ROWS - 6:
                seen = datetime(2026, 3, 2 + place, 12, tzinfo=UTC)
                said = "maybe" if i % 20 == 7 else "yes" if hit[i] else "no"
                row = {"prediction_id": keys[i], "key": keys[i], "as_text": f"{keys[i]}"}
                row |= {"kind": kind[i], "outcome": int(hit[i]), "said": said, "seen": seen}
                outcomes[place + int(rng.integers(0, 3))].append(row)
                if place == 1 and i % 15 == 4:  # the same again, maybe in another partition
                    again = {**row, "seen": seen + timedelta(hours=i - 30)}
                    outcomes[place + int(rng.integers(0, 3))].append(again)
    for later, listed in outcomes.items():
        table = pa.Table.from_pylist(listed)
        pq.write_table(table, folder / f"o-{FIRST + timedelta(days=later)}.parquet")
    return folder


def stored(found: Summary | DataError) -> object:
    """Give what would be stored, or said."""
    if isinstance(found, DataError):
        return str(found)
    return summary_table(found), summary_table(found).schema.metadata, found.class_weights


@pytest.mark.parametrize("case", some(SETTINGS, 3))
def test_a_day_is_the_same_alone_and_with_others(case: str, folder: Path) -> None:
    """Tallies, rejects and messages of four days in one query are those of each day alone."""
    keys = {name: dict(of) for name, of in SETTINGS[case].items()}
    logs = {
        log: {"path": f"{folder}/{log[0]}-{{day}}.parquet", **keys.pop(log, {})}
        for log in ("predictions", "outcomes")
    }
    model = Model.model_validate({**logs, "settled_after": 2, **keys})

    with open_databases(Engine()) as databases:
        together = dict(summarise_days("m", model, DAYS, as_of=AS_OF, databases=databases))
    for day in DAYS:
        try:
            alone: Summary | DataError = summarise_day("m", model, day, as_of=AS_OF)
        except DataError as error:
            alone = error
        assert stored(together[day]) == stored(alone)
        assert isinstance(alone, Summary), str(alone)
