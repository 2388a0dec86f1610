"""What the exporter leaves out where it is told to: no number of another detail, and no alert."""

import re
from pathlib import Path

import pytest
import yaml

from monitor.export.detail import OF_VERDICTS, Detail
from monitor.export.gauges import CATALOGUE
from monitor.export.http.app import Exporter
from monitor.store.store import Store
from tests.support.exporting import DAY, DRIFTING, fill
from tests.support.paths import ROOT

RULES = ROOT / "alerts" / "calibration.rules.yml"
OF_REJECTED_ROWS = {  # the alert that docs/gauges.md names as missing with --detail verdict
    "calibration_intercept_logit_high",
    "calibration_intercept_logit_low",
    "calibration_prevalence_ratio",
    "calibration_rejected_rows",
    "calibration_rejected_rows_limit_ratio",
    "calibration_window_predictions",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fill a folder in which a segment drifts."""
    filled = fill(tmp_path_factory.mktemp("detail"))
    Store(str(filled / "store")).write_verdicts("fraud", DAY, [DRIFTING], basis="")
    return filled


def samples(folder: Path, detail: Detail) -> set[str]:
    """Write the samples of a detail."""
    text = Exporter(folder / "monitor.yaml", detail=detail).text().decode()
    return {line for line in text.splitlines() if not line.startswith("#")}


def test_each_detail_is_a_part_of_the_next(folder: Path) -> None:
    """Numbers are the same; only the count of segments that are left out differs."""
    verdict, measures, full = (
        {line for line in samples(folder, detail) if "segments_left_out" not in line}
        for detail in ("verdict", "measures", "full")
    )

    assert verdict < measures <= full
    assert {line.partition("{")[0] for line in verdict} <= OF_VERDICTS
    assert any(
        line.startswith("calibration_drift_kind") and line.endswith(" 1.0") for line in verdict
    )


def test_verdicts_suffice_for_alerts() -> None:
    """Every gauge that decides on an alert is in the smallest detail, but those of one alert."""
    groups = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    conditions = " ".join(rule["expr"] for group in groups for rule in group["rules"])
    decisive = set(re.findall(r"\bcalibration_[a-z0-9_]+", conditions))
    known = {gauge.name for gauge in CATALOGUE}

    assert known > OF_VERDICTS
    assert (decisive & known) - OF_VERDICTS == OF_REJECTED_ROWS
