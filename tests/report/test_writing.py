from pathlib import Path

from monitor.config import load_config
from monitor.report.page.write import write_configured_index, write_configured_model
from tests.conftest import CONFIG


def test_a_model_that_was_never_judged_has_no_page(tmp_path: Path) -> None:
    """Before its first day is there, a scheduled run writes the index alone, and does not fail."""
    path = tmp_path / "monitor.yaml"
    path.write_text(f"report: {{path: {tmp_path}/reports}}\n{CONFIG}")
    config = load_config(path)

    write_configured_model(config, "ctr")
    write_configured_index(config)

    assert [file.name for file in (tmp_path / "reports").rglob("*.html")] == ["index.html"]
