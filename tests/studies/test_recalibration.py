"""The study of recalibration: what it keeps is what its page shows, and its parts are right."""

import json
from pathlib import Path
from typing import Any

import pytest

from studies.recalibration.estimators import NAMES
from studies.recalibration.page import MARK, tables
from studies.recalibration.settings import NONE
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


def test_the_picture_is_there() -> None:
    """It is drawn with the tables."""
    assert Path(ROOT / "docs/recalibration.svg").read_text().startswith("<?xml")
