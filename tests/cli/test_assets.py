"""The command `assets`: what it writes, and what it leaves alone."""

import json
from pathlib import Path

import pytest
import yaml

from tests.conftest import Command
from tests.support.paths import ROOT


@pytest.mark.parametrize("models", [1, 300])
def test_the_table_of_the_fleet_is_as_high_as_its_rows(
    models: int, tmp_path: Path, command: Command
) -> None:
    """With `--models`, in the file and in the manifest; nothing overlaps or leaves a gap."""
    assert command("assets", "--into", tmp_path, "--models", models).code == 0
    text = (tmp_path / "grafana" / "dashboards" / "fleet.json").read_text()
    (manifest,) = yaml.safe_load_all(
        (tmp_path / "deploy" / "kubernetes" / "dashboard-fleet.yaml").read_text()
    )
    usual = json.loads((ROOT / "grafana" / "dashboards" / "fleet.json").read_text())
    table, *others = json.loads(text)["panels"]

    # 36 pixels for a row and the heading, 58 for the title and gaps; a unit of the grid has 38.
    assert 38 * (table["gridPos"]["h"] - 1) < 36 * (min(models, 40) + 1) + 58
    assert 38 * table["gridPos"]["h"] >= 36 * (min(models, 40) + 1) + 58
    assert min(panel["gridPos"]["y"] for panel in others) == table["gridPos"]["h"]
    moved = {
        a["gridPos"]["y"] - b["gridPos"]["y"]
        for a, b in zip(others, usual["panels"][1:], strict=True)
    }
    assert len(moved) == 1
    assert json.loads(manifest["data"]["calibration-fleet.json"]) == json.loads(text)


def test_keeps_what_was_adapted(tmp_path: Path, command: Command) -> None:
    """A changed file stops the command before it writes anything; --force overwrites it."""
    command("assets", "--into", tmp_path)
    mine, gone = tmp_path / "alerts" / "alertmanager.yml", tmp_path / "monitor.example.yaml"
    mine.write_text("mine")
    gone.unlink()
    refused = command("assets", "--into", tmp_path)
    kept, still_gone = mine.read_text(), not gone.exists()
    forced = command("assets", "--into", tmp_path, "--force")

    assert refused.code == 2
    assert f"has a file with other content, first {mine};" in refused.err
    assert "overwrite with --force" in refused.err
    assert (kept, still_gone) == ("mine", True)
    assert forced.code == 0
    assert mine.read_bytes() == (ROOT / "alerts" / "alertmanager.yml").read_bytes()


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path, command: Command) -> None:
    """A file in the place of the folder is reported with its name."""
    (tmp_path / "taken").write_text("")
    done = command("assets", "--into", tmp_path / "taken")

    assert done.code == 3
    assert f"{tmp_path / 'taken'}" in done.err
    assert "is a file where a folder should be" in done.err


def test_manifests_hold_the_rules_and_dashboards(tmp_path: Path, command: Command) -> None:
    """The composed manifests are YAML that says what the files say."""
    command("assets", "--into", tmp_path)
    folder = tmp_path / "deploy" / "kubernetes"
    rule = yaml.safe_load((folder / "prometheusrule.yaml").read_text())
    rules = yaml.safe_load((ROOT / "alerts" / "calibration.rules.yml").read_text())

    assert rule["spec"] == rules


def test_a_dashboard_has_a_manifest_that_kubectl_takes(tmp_path: Path, command: Command) -> None:
    """`kubectl apply` writes the manifest as JSON into an annotation of 262,144 bytes at most."""
    command("assets", "--into", tmp_path)
    for name in ("fleet", "model"):
        path = tmp_path / "deploy" / "kubernetes" / f"dashboard-{name}.yaml"
        manifest = yaml.safe_load(path.read_text())
        dashboard = json.loads((ROOT / "grafana" / "dashboards" / f"{name}.json").read_text())

        assert path.stat().st_size < 230_000
        assert len(json.dumps(manifest).encode()) < 262_144
        assert manifest["metadata"]["labels"]["grafana_dashboard"] == "1"
        assert {key: json.loads(text) for key, text in manifest["data"].items()} == {
            f"calibration-{name}.json": dashboard
        }
