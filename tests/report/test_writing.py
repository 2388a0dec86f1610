from pathlib import Path

from monitor.config import load_config
from monitor.report.page.write import write_configured_index, write_configured_model
from tests.conftest import CONFIG, Project


def test_a_model_that_was_never_judged_has_no_page(tmp_path: Path) -> None:
    """Before its first day is there, a scheduled run writes the index alone, and does not fail."""
    path = tmp_path / "monitor.yaml"
    path.write_text(f"report: {{path: {tmp_path}/reports}}\n{CONFIG}")
    config = load_config(path)

    write_configured_model(config, "ctr")
    write_configured_index(config)

    assert [file.name for file in (tmp_path / "reports").rglob("*.html")] == ["index.html"]


def test_pages_are_written_where_they_are_configured(project: Project) -> None:
    """Without a place for pages nothing is written; with one, the page of a judged model is."""
    write_configured_model(load_config(project.folder / "monitor.yaml"), "ctr")
    before = [*project.folder.rglob("*.html")]
    project.configure("store: store\n", "store: store\nreport: {path: reports}\n")

    write_configured_model(load_config(project.folder / "monitor.yaml"), "ctr")

    assert before == []
    assert [file.name for file in project.folder.rglob("*.html")] == ["ctr.html"]
