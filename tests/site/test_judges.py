"""The page on judges: its programs flatten real exports, and the verdict finds what was drawn."""

import csv
import lzma
import re
from collections import Counter
from datetime import date, timedelta
from pathlib import Path

import pytest
import yaml

import monitor
from monitor.config import load_config
from monitor.days.summary import Summary, whole
from monitor.logs import summarise_day
from tests.conftest import run_command
from tests.support.pages import blocks, run_block
from tests.support.paths import ROOT

PAGE, EXPORTS = ROOT / "docs" / "judges.md", ROOT / "tests" / "golden" / "judges"
FIRST, DAYS, UPDATE = date(2026, 3, 2), 38, 30
FILES = {block.file: block for block in blocks(PAGE) if block.file}


def flatten(folder: Path, program: str, *exports: str) -> dict[str, list[dict[str, str]]]:
    """Run a program of the page in a folder that has some exports, and read what it writes."""
    for name in exports:
        if (packed := EXPORTS / f"{name}.xz").exists():
            (folder / name).write_bytes(lzma.decompress(packed.read_bytes()))
        else:
            run_block(FILES[name], folder)
    run_block(FILES[program], folder)
    call = f"python {program} {' '.join(exports)}"
    run_block(FILES[program]._replace(language="sh", file="", text=call), folder)
    written = {path.stem: path.read_text().splitlines() for path in sorted(folder.glob("*.csv"))}
    return {name: [*csv.DictReader(lines)] for name, lines in written.items()}


def init(folder: Path, monkeypatch: pytest.MonkeyPatch, *files: str) -> Path:
    """Let `init` guess, which must leave nothing to decide."""
    monkeypatch.chdir(folder)
    done = run_command("init", *files)
    text = Path("monitor.yaml").read_text()
    assert done.code == 0, done.err
    assert "TODO" not in text
    return folder / "monitor.yaml"


def day(config: Path, of: date) -> Summary:
    """Count a day of the only model of a configuration."""
    (name,) = yaml.safe_load(config.read_text())["models"]
    return summarise_day(name, load_config(config).model(name), of, as_of=of + timedelta(days=9))


def test_opentelemetry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every evaluation becomes a row, `init` reads both files, and a verdict finds the update."""
    rows = flatten(tmp_path, "opentelemetry.py", "opentelemetry-events.jsonl")
    raw = (tmp_path / "opentelemetry-events.jsonl").read_text()
    right = {row["response_id"]: int(row["right"]) for row in rows["reviews"]}
    versions = Counter(row["model_version"] for row in rows["judge"])

    assert len(rows["judge"]) == raw.count('"correctness"') == 200 * DAYS
    assert len(right) == raw.count('"human_review"')
    assert Counter(re.findall(r'"stringValue":"(judge-20[\d-]+)"', raw)) == versions
    assert len({row["confidence"] for row in rows["judge"]}) == 9

    config = init(tmp_path, monkeypatch, "judge.csv", "reviews.csv")
    counted = whole(day(config, FIRST))
    of_day = [row for row in rows["judge"] if row["judged_at"].startswith(f"{FIRST}")]
    known = [right[row["response_id"]] for row in of_day if row["response_id"] in right]
    assert (counted.predicted, counted.tally.total) == (len(of_day), len(known))
    assert counted.tally.total_positives == sum(known)

    joined = [r for r in rows["judge"] if r["response_id"] in right]
    spans: list[tuple[list[int], list[float]]] = []
    for is_new in (False, True):
        some = [r for r in joined if (r["judged_at"] >= f"{FIRST + timedelta(UPDATE)}") == is_new]
        spans.append(
            ([right[r["response_id"]] for r in some], [float(r["confidence"]) for r in some])
        )
    found = monitor.compare(*spans)
    assert (found.verdict, found.kind) == ("calibration_drift", "too_extreme")


def test_inspect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each sample of both logs becomes a row with its confidence and whether people agreed."""
    rows = flatten(tmp_path, "inspect_logs.py", "inspect-1.json", "inspect-2.json")["judge"]
    correct = sum(
        len(re.findall(r'"scores":\s*\{\s*"agrees":\s*\{\s*"value":\s*"C"', path.read_text()))
        for path in tmp_path.glob("*.json")
    )
    counted = whole(day(init(tmp_path, monkeypatch, "judge.csv"), date(2026, 11, 23)))

    assert len(rows) == 80
    assert sum(int(row["agrees"]) for row in rows) == correct > 0
    assert (counted.tally.total, counted.tally.total_positives) == (80, correct)


@pytest.mark.parametrize(
    ("program", "export"), [("langfuse.py", "scores.json"), ("phoenix.py", "annotations.json")]
)
def test_documented_rows(program: str, export: str, tmp_path: Path) -> None:
    """The rows that the page shows become a judged answer and its review."""
    rows = flatten(tmp_path, program, export)

    ((judged,), (review,)) = rows["judge"], rows["reviews"]
    assert (judged["confidence"], review["right"]) == ("0.9", "1")
    assert (judged["model_version"], judged["prompt_version"]) == ("judge-1", "v3")
    assert next(iter(judged.values())) == next(iter(review.values()))
