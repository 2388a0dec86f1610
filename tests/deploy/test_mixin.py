"""The mixin, evaluated by jsonnet: our rules and dashboards, and nothing else."""

import json
from typing import Any

import _jsonnet
import pytest
import yaml

from monitor.export.fleet_dashboard import as_high_as
from tests.support.paths import ROOT

FOLDER = ROOT / "deploy" / "mixin"
RULES = (ROOT / "alerts" / "calibration.rules.yml").read_text()
FIELDS = ("prometheusAlerts", "prometheusRules", "grafanaDashboards")  # of every mixin
DASHBOARDS = {
    f"calibration-{path.name}": json.loads(path.read_text())
    for path in (ROOT / "grafana" / "dashboards").glob("*.json")
}


def evaluated(further: str = "{}") -> dict[str, Any]:
    """Evaluate the mixin, with something laid over it, as a vendoring project does."""
    shown = ", ".join(f"{name}: mixin.{name}" for name in FIELDS)
    program = f"local mixin = (import '{FOLDER / 'mixin.libsonnet'}') + {further}; {{ {shown} }}"
    return dict(json.loads(_jsonnet.evaluate_snippet("mixin", program)))


def test_it_gives_the_rules_and_dashboards() -> None:
    """Its fields hold what the files hold."""
    found = evaluated()

    assert found["prometheusAlerts"] == yaml.safe_load(RULES)
    assert found["prometheusRules"] == {"groups": []}
    assert found["grafanaDashboards"] == DASHBOARDS


def test_its_hosts_can_be_set() -> None:
    """The example hosts are replaced in every link, and nothing else changes."""
    hosts = (
        "{_config+:: {dashboardHost: 'https://g.corp', runbookHost: 'https://r.corp', "
        "alertmanagerHost: 'https://a.corp'}}"
    )
    mine = RULES.replace("https://grafana.example.org", "https://g.corp")
    mine = mine.replace("https://runbooks.example.org", "https://r.corp")

    assert evaluated(hosts)["prometheusAlerts"] == yaml.safe_load(mine)
    assert "example.org" not in json.dumps(evaluated(hosts))
    assert "https://a.corp/#/silences/new" not in json.dumps(DASHBOARDS)  # it is a variable
    assert '"https://a.corp"' in json.dumps(evaluated(hosts)["grafanaDashboards"])


@pytest.mark.parametrize("models", [1, 3, 17, 40, 500])
def test_the_table_is_as_high_as_its_rows(models: int) -> None:
    """As `assets --models` makes it; the other dashboard stays."""
    there = evaluated(f"{{_config+:: {{models: {models}}}}}")["grafanaDashboards"]
    fleet = DASHBOARDS["calibration-fleet.json"]

    assert there == {**DASHBOARDS, "calibration-fleet.json": as_high_as(models, fleet)}
