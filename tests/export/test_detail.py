"""What the exporter leaves out where it is told to: no number of another detail, and no alert."""

import re
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from monitor.drift.records.detector import Ended
from monitor.drift.records.verdict import Verdict
from monitor.export.detail import LOOKED_BACK_AT, OF_VERDICTS, Detail
from monitor.export.http.app import Exporter
from monitor.measures.gauges import CATALOGUE
from monitor.measures.verdict_scopes import KEPT_FOR
from monitor.store.names import day_file
from monitor.store.store import Store
from tests.support.exporting import DAY, DRIFTING, VERDICT, fill
from tests.support.paths import ROOT
from tests.support.servers import program_path
from tests.support.two_models import SEGMENTS

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
        {line for line in samples(folder, detail) if "left_out" not in line}
        for detail in ("verdict", "measures", "full")
    )

    assert verdict < measures <= full
    assert {line.partition("{")[0] for line in verdict} <= OF_VERDICTS
    assert any(
        line.startswith("calibration_drift_kind") and line.endswith(" 1.0") for line in verdict
    )


def test_a_model_of_a_fleet_has_few_series(folder: Path, tmp_path: Path) -> None:
    """Without a drift or a shift at most 20, and none but the alerts' need."""
    copied = fill(tmp_path)
    Store(str(copied / "store")).write_verdicts("fraud", DAY, [VERDICT], basis="")

    quiet, drifting = (
        [line for line in samples(of, "verdict") if 'model="fraud"' in line]
        for of in (copied, folder)
    )

    assert len(quiet) + 1 <= 20  # the third window
    assert {line for line in quiet if line.startswith("calibration_verdict{")} == {
        f'calibration_verdict{{model="fraud",segment="all",state="{state}"}} {value}'
        for state, value in (("ok", 1.0), ("data_error", 0.0), ("insufficient_data", 0.0))
    }
    assert len([line for line in drifting if line.startswith("calibration_drift_kind")]) == 18


def test_a_model_with_segments_has_few_series(two_models: Path) -> None:
    """With three windows and three segments, which all drift, a scrape has at most 400."""
    scraped = [line for line in samples(two_models, "full") if 'model="fraud"' in line]
    drifting = {
        line.split('segment="')[1].split('"')[0]
        for line in scraped
        if line.startswith("calibration_drift_urgent")
    }
    windows = {line.split('window="')[1].split('"')[0] for line in scraped if "window=" in line}

    assert (drifting, windows) == ({"all", *SEGMENTS}, {"1d", "7d", "28d"})
    assert len(scraped) <= 400


STEP_MINUTES, STEPS_OF_A_STAGE = 5, 12
ENDED = replace(
    VERDICT,
    detector=replace(VERDICT.detector, ended=Ended(started=DAY, closed=DAY, reason="recovered")),
)
# Verdicts that Prometheus sees one after another, each for an hour; None: they are unreadable.
STORY: Sequence[Verdict | None] = (
    VERDICT,
    replace(VERDICT, state="prior_shift"),
    replace(VERDICT, state="level_drift"),
    VERDICT,
    DRIFTING,
    None,
    ENDED,
    None,
    replace(ENDED, state="data_error"),
    ENDED,
)
MOMENTS = range(30, 60 * len(STORY), 60)  # minutes


def fired(folder: Path, detail: Detail) -> str:
    """Let Prometheus' own evaluation tell which alerts fire as the story goes on."""
    seen, path = list[dict[str, str]](), folder / "store" / day_file("verdicts", "fraud", DAY)
    for verdict in STORY:
        if verdict:
            Store(str(folder / "store")).write_verdicts("fraud", DAY, [verdict], basis="")
        else:
            path.write_bytes(b"damaged")
        seen.append(dict(line.rsplit(" ", 1) for line in samples(folder, detail)))
    series = [
        {
            "series": name,
            "values": " ".join(
                f"{of_stage[name]}x{STEPS_OF_A_STAGE - 1}"
                if name in of_stage
                else f"stale _x{STEPS_OF_A_STAGE - 2}"
                for of_stage in seen
            ),
        }
        for name in sorted({name for of_stage in seen for name in of_stage})
        if 'model="fraud"' in name or "model=" not in name
    ]
    alerts = {"expr": 'ALERTS{alertname!="CalibrationWatchdog"}', "exp_samples": []}
    test = {
        "rule_files": [str(RULES)],
        "evaluation_interval": f"{STEP_MINUTES}m",
        "tests": [
            {
                "interval": f"{STEP_MINUTES}m",
                "input_series": series,
                "promql_expr_test": [{**alerts, "eval_time": f"{minute}m"} for minute in MOMENTS],
            }
        ],
    }
    (folder / "story.yml").write_text(yaml.safe_dump(test))
    ended = subprocess.run(
        [program_path("promtool"), "test", "rules", folder / "story.yml"],
        check=False,
        capture_output=True,
        text=True,
    )
    return ended.stdout + ended.stderr


def test_alerts_fire_alike(tmp_path: Path) -> None:
    """From the first verdict to the last, the smallest detail raises the alerts of the full one."""
    story = fill(tmp_path)

    full, verdict = (fired(story, detail) for detail in ("full", "verdict"))

    assert verdict == full
    for alert in ("PriorShift", "LevelDrift", "Drift", "ResultsUnreadable"):
        assert f'alertname="Calibration{alert}"' in full


def test_a_drift_that_ended_has_its_kinds_for_a_while(tmp_path: Path) -> None:
    """Its kinds are 0 for four weeks, so no alert that looks back takes it for open."""
    story, store = fill(tmp_path), Store(str(tmp_path / "store"))
    kinds = []
    for days in (0, KEPT_FOR.days, KEPT_FOR.days + 1):
        verdict = replace(ENDED, day=DAY + timedelta(days=days))
        store.write_verdicts("fraud", verdict.day, [verdict], basis="")
        kinds.append(sum(s.startswith("calibration_drift_kind") for s in samples(story, "verdict")))

    assert kinds == [18, 18, 0]


def test_verdicts_suffice_for_alerts() -> None:
    """Every gauge that decides on an alert is in the smallest detail, but those of one alert."""
    groups = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    conditions = " ".join(rule["expr"] for group in groups for rule in group["rules"])
    decisive = set(re.findall(r"\bcalibration_[a-z0-9_]+", conditions))
    known = {gauge.name for gauge in CATALOGUE}

    looked_back_at = re.findall(r'_over_time\(calibration_verdict{state="(\w+)"', conditions)
    assert set(looked_back_at) == LOOKED_BACK_AT
    assert known > OF_VERDICTS
    assert (decisive & known) - OF_VERDICTS == OF_REJECTED_ROWS
