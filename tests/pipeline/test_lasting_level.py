"""A level that moved for good: the map follows it by itself, and one that may go back is not."""

import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

from monitor.base.errors import DataError
from monitor.config import Config, load_config
from monitor.days.summary import Segment, Summary
from monitor.drift.records.verdict import Verdict
from monitor.metrics.core.tally import tally_on_grid
from monitor.pipeline.maps.recalibration import Asked, recalibrate
from monitor.pipeline.verdicts.judging import judge_days
from monitor.pipeline.verdicts.references import read_references
from monitor.store.store import Store
from monitor.words.maps import lasting_sentence
from tests.support.filled_store import (
    FINAL,
    OLDER,
    configure,
    verdict_of_labels,
    verdict_of_missing,
)

DAYS = [date(2026, 1, 1) + timedelta(days=i) for i in range(52)]
MOVED, SHIFT, ROWS = 14, 0.7, 1_500
CONFIG = """\
store: {folder}/store
models:
  ctr:
    predictions: {{path: "p/{{day}}.parquet"}}
    outcomes: {{path: "o/{{day}}.parquet"}}
    windows: [1]
    verdicts: {{references: [{{first: 2026-01-01, last: 2026-01-14}}]}}
"""


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Config:
    """Store and judge days whose log-odds are too low by a constant after the reference."""
    folder = tmp_path_factory.mktemp("level")
    path = folder / "monitor.yaml"
    path.write_text(CONFIG.format(folder=folder))
    found = load_config(path)
    store, known_at = Store(found.store), datetime(2026, 4, 1, tzinfo=UTC)
    for place, day in enumerate(DAYS):
        rng = np.random.default_rng(place)
        x = rng.normal(-1.0, 1.0, ROWS)
        outcomes = rng.random(ROWS) < expit(x + (SHIFT if place >= MOVED else 0.0))
        segment = Segment(tally_on_grid(outcomes, expit(x)), ROWS)
        store.write_summary(
            Summary("ctr", (day,), {"all": segment}, {}, final=True, known_at=known_at)
        )
    judge_days(found, "ctr", read_references(found, "ctr"), DAYS[0])
    return found


def test_a_level_that_stays_is_followed(config: Config) -> None:
    """Without an option: worth it, with the level of the last seven days, and the reason."""
    found, plain = (
        recalibrate(config, "ctr", None, Asked(follow_prior=follow)) for follow in (None, False)
    )
    asked = recalibrate(config, "ctr", None, Asked(follow_prior=True, kind="intercept"))

    assert found.worth_it
    assert (found.content.level.first, found.content.level.last) == (DAYS[-7], DAYS[-1])
    # 10,500 outcomes know the level to 0.025.
    assert found.content.map.level == pytest.approx(SHIFT, abs=0.1)
    assert found.content.map == asked.content.map
    assert plain.lasting is None
    assert "+0.7" in lasting_sentence(found.lasting)
    assert f"have stayed there since {found.lasting.since}" in lasting_sentence(found.lasting)


def test_one_that_has_not_stayed_is_not_followed(config: Config) -> None:
    """Two weeks after the move the verdict says nothing of the kind, nor does the map."""
    store = Store(config.store)
    later = [day for day in store.days("verdicts", "ctr") if day >= DAYS[MOVED + 14]]
    store.remove("verdicts", "ctr", later)

    assert recalibrate(config, "ctr").lasting is None


@pytest.mark.parametrize(
    ("changed", "refused"),
    [
        (
            verdict_of_labels("all"),
            "since 2026-02-28 the outcomes look as if 25 % (95 % 19 % to 31 %) of the positives",
        ),
        (
            verdict_of_missing("all"),
            "since 2026-02-28 outcomes went missing as the base rate moved, so a map would bend",
        ),
    ],
)
def test_labels_that_changed_are_not_repaired(
    tmp_path: Path, changed: Verdict, refused: str
) -> None:
    """A map of days since then would bend right scores to wrong labels; of days before it may."""
    config = configure(tmp_path, fraud={})
    Store(config.store).write_verdicts("fraud", FINAL, [changed], basis="")

    with pytest.raises(DataError, match=re.escape(refused)):
        recalibrate(config, "fraud")
    with pytest.raises(DataError, match="no final day with outcomes is stored"):
        recalibrate(config, "fraud", None, Asked(last=OLDER - timedelta(days=1)))
