"""The study of recalibration: what it keeps is what its page shows, and its parts are right."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import softmax

from studies.recalibration.estimators import NAMES, brier_of_vectors
from studies.recalibration.page import MARK, tables
from studies.recalibration.samples import mean_and_error, wrongly_ordered
from studies.recalibration.settings import NONE, Setting, draw_labels
from tests.support.paths import ROOT

KEPT: dict[str, Any] = json.loads((ROOT / "studies/recalibration/run.json").read_text())


def test_the_page_shows_what_was_kept() -> None:
    """Its tables are those of run.json."""
    page = (ROOT / "docs/gain-estimators.md").read_text()

    assert page.partition(MARK)[2] == "\n" + tables(KEPT)


def test_the_brier_score_gains_what_is_true() -> None:
    """Every gain of RBS squared lies within 3 errors of the truth; all settings have all names."""
    for setting in KEPT.values():
        assert tuple(setting["estimators"]) == NAMES
        for by_size in setting["estimators"]["RBS"].values():
            for kind, (_, (mean, error)) in by_size["gains"].items():
                if setting["true"]:
                    true = setting["true"][NONE] - setting["true"][kind]
                    assert mean == pytest.approx(true, abs=3.0 * error)


def test_true_squares_are_those_of_the_population() -> None:
    """Sharpened scores: the mean squared distance from the truth, by the definition."""
    rng = np.random.default_rng(1)
    logits = rng.normal(size=(50, 3))
    truths, scores = softmax(logits, axis=1), softmax(2.0 * logits, axis=1)
    setting = Setting("", {NONE: scores, "x": truths}, None, truths, (10,))

    found = setting.true_squares()

    by_hand = sum(float(((s - t) ** 2).sum()) for s, t in zip(scores, truths, strict=True)) / 50
    assert found[NONE] == pytest.approx(by_hand, rel=1e-12)
    assert found["x"] == 0.0


def test_the_brier_score_of_vectors_is_the_squared_distance() -> None:
    """From the unit vector of the label."""
    rng = np.random.default_rng(2)
    scores = rng.dirichlet(np.ones(4), 30)
    labels = draw_labels(scores, rng)

    assert brier_of_vectors(scores, labels) == pytest.approx(
        ((scores - np.eye(4)[labels]) ** 2).sum(axis=1).mean(), rel=1e-12
    )


def test_orders_are_wrong_only_beyond_chance() -> None:
    """Two maps that are told apart wrongly, and one pair that chance may have turned."""
    rng = np.random.default_rng(3)
    found = rng.normal([1.0, 2.0, 2.01], 0.1, (50, 3))

    assert wrongly_ordered(found, [1.0, 2.0, 3.0]) == 0
    assert wrongly_ordered(found, [2.0, 1.0, 3.0]) == 1
    assert mean_and_error(np.ones(1)) == [1.0, 0.0]


def test_the_picture_is_there() -> None:
    """It is drawn with the tables."""
    assert Path(ROOT / "docs/recalibration.svg").read_text().startswith("<?xml")
