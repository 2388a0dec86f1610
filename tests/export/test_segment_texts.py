"""A segment may have any text as its name: every output carries it, and none is broken by it."""

import subprocess
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics_in
from prometheus_client.parser import text_string_to_metric_families

from monitor.base.segment_names import shown
from monitor.export.text import labels_text
from tests.conftest import Ended, run_command
from tests.support.cases import some
from tests.support.exporting import exposition
from tests.support.paths import ROOT
from tests.support.servers import PATIENCE, program_path

DAY = date(2026, 3, 2)
TEXTS = [
    'say "hi"',
    "back\\slash",
    "two\nlines",
    "🦆 née",
    "<script>alert(1)</script>",
    " padded ",
    "{{ $value }} %s",
    "[bold]x[/bold] [/]",
    "a=b,c{d};#",
    "$(id) `id` ' & < !channel",
    "\x1b[2J\u202e",
    "7",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Process one day whose segments have such names."""
    folder = tmp_path_factory.mktemp("texts")
    names = [*TEXTS, None, "DE"] * 12
    ids = list(range(len(names)))
    logs = {
        "predictions": {"score": [(i + 1) / 200 for i in ids], "kind": names},
        "outcomes": {"outcome": [i % 3 % 2 for i in ids]},
    }
    model: dict[str, Any] = {"segments": {"column": "kind", "values": [*TEXTS[:-1], 7]}}
    for log, columns in logs.items():
        model[log] = {"path": f"{log}-{{day}}.parquet"}
        rows = pa.table({"prediction_id": ids, **columns})
        pq.write_table(rows, folder / f"{log}-{DAY}.parquet")
    config = {"store": "store", "models": {"ctr": {**model, "settled_after": 0}}}
    (folder / "monitor.yaml").write_text(yaml.safe_dump(config, allow_unicode=True))
    done = run_command("run", "--begin", "--config", folder / "monitor.yaml", "--day", DAY)
    assert done.code == 0, done.err
    return folder


def test_come_out_of_the_exposition(folder: Path) -> None:
    """Prometheus' own reader finds the same names, and promtool has no complaint of the syntax."""
    text = exposition(folder)
    found = {
        sample.labels["segment"]
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if "segment" in sample.labels
    }

    assert found == {*TEXTS, "other", "all"}
    checked = subprocess.run(
        [program_path("promtool"), "check", "metrics"],
        input=text, capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert "error while linting" not in checked.stderr
    assert "parsing error" not in checked.stderr


def test_come_out_of_openmetrics(folder: Path, command: Callable[..., Ended]) -> None:
    """The past that is exported has the same names."""
    target = folder / "past.om"
    done = command(
        *("export", "openmetrics", "--config", folder / "monitor.yaml"),
        *("--from", DAY, "--to", DAY, "--into", target),
    )
    assert done.code == 0, done.err
    families = openmetrics_in(target.read_text())
    found = {s.labels.get("segment") for family in families for s in family.samples}

    assert found >= {*TEXTS, "all"}


@pytest.mark.parametrize("name", some(TEXTS, 4))
def test_are_shown_on_one_line(name: str, folder: Path, command: Callable[..., Ended]) -> None:
    """`show` finds a segment by its exact name, and no name can write to the terminal."""
    call = ("show", "--config", folder / "monitor.yaml", "--model", "ctr", "--segment", name)
    done = command(*call, "--windows", "1")

    assert done.code == 0, done.err
    for title in (f"{DAY}", "windows of 1 day"):
        assert f"ctr, segment {shown(name)}, {title}" in done.out
    assert all(sign.isprintable() for line in done.out.splitlines() for sign in line)


def test_an_unknown_segment_is_refused_with_all_names(
    folder: Path, command: Callable[..., Ended]
) -> None:
    """The message has one line, though a name has two."""
    done = command("show", "-c", folder / "monitor.yaml", "--model", "ctr", "--segment", "x\ny")

    assert (done.code, done.err.count("\n")) == (2, 1)
    assert r"--segment x\ny is not configured" in done.err
    assert '" padded "' in done.err


def test_rules_say_the_names(tmp_path: Path) -> None:
    """Alerts carry the name as a label, in their words, and escaped in the dashboard's address."""
    series = {
        'calibration_build_info{version="1"}': "1x30",
        'calibration_model_info{model="bids",owner="risk",severity="page"}': "1x30",
        'calibration_last_run_timestamp_seconds{model="bids"}': "0x30",
    }
    for text in TEXTS:
        of = {"model": "bids", "segment": text}
        for name, labels, values in (
            ("verdict", {**of, "state": "calibration_drift"}, "0x3 1x30"),
            ("drift_kind", {**of, "kind": "too_timid"}, "0x3 1x30"),
            ("drift_started_timestamp_seconds", of, "_x4 1794178800x30"),
            ("drift_slope", of, "1.2x30"),
        ):
            written = labels_text(tuple(labels), tuple(labels.values()))
            series[f"calibration_{name}{written}"] = values
    test = {
        "interval": "1m",
        "input_series": [{"series": s, "values": v} for s, v in series.items()],
        "alert_rule_test": [
            {
                "alertname": "CalibrationDrift",
                "eval_time": "12m",
                "exp_alerts": [expected(text) for text in TEXTS],
            }
        ],
    }
    rules = str(ROOT / "alerts" / "calibration.rules.yml")
    content = {"rule_files": [rules], "evaluation_interval": "1m", "tests": [test]}
    (tmp_path / "test.yml").write_text(yaml.safe_dump(content, allow_unicode=True))
    done = subprocess.run(
        [program_path("promtool"), "test", "rules", tmp_path / "test.yml"],
        capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr


def expected(segment: str) -> dict[str, Any]:
    """Write the alert of a segment that the rules must make."""
    return {
        "exp_labels": {"model": "bids", "segment": segment, "owner": "risk", "severity": "page"},
        "exp_annotations": {
            "summary": f"bids, segment {segment}: scores too timid (slope 1.20)",
            "description": "Now scores are too timid: high ones come true more often than before, "
            "low ones less often. No shift of the prior explains this. Slope of the outcomes on "
            "the reference curve: 1.20, 1 without drift.",
            "ending": "",
            "dashboard_url": "https://grafana.example.org/d/calibration-model?var-model=bids"
            f"&var-segment={quote_plus(segment)}&from=1794178800000&to=now",
            "runbook_url": "https://runbooks.example.org/runbook.md#calibrationdrift",
            "report_url": "",
        },
    }
