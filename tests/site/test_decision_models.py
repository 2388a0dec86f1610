"""docs/judges.md, "Decision models": its export runs, and commands print what the page shows."""

from pathlib import Path

import pytest
import yaml

from tests.support.pages import blocks_after, matches, run_block
from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "judges.md"


def test_the_page_prints_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`init` writes a complete model for each question, and the drift is found in one of them."""
    monkeypatch.setenv("COLUMNS", "200")
    printed = ""
    shown = [
        block
        for block in blocks_after(PAGE, "## Decision models")
        if block.language in ("python", "sh", "text")
    ]
    for block in shown:
        if block.language == "text":
            assert matches(block.text, printed), f"{block.text}\n---\n{printed}"
        else:
            printed = run_block(block, tmp_path)

    models = yaml.safe_load((tmp_path / "monitor.yaml").read_text())["models"]
    assert "TODO" not in f"{models}"
    assert [*models] == ["refund", "team"]
    # What the model chose is no outcome.
    assert models["team"]["outcomes"]["outcome"] == "answer"
    for model in models.values():
        assert model["segments"] == [{"column": "model", "top": 5}]
        assert model["outcomes"]["path"] == "reviews.csv"
    assert len([block for block in shown if block.language == "sh"]) == 6
