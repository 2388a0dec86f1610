"""The dashboards as files: of Grafana's schema, of our house rules, about gauges that exist."""

import json
import re
import subprocess
import sys
from copy import deepcopy
from itertools import combinations
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard
from PIL import Image

from monitor.drift.records.verdict import OF_LABELS, STATES
from monitor.measures.gauges import CATALOGUE
from monitor.words.trust import ANSWERS
from tests.support.paths import ROOT

NAMES = ("fleet", "model", "errors", "data")
LABELS = {gauge.name: set(gauge.labels) for gauge in CATALOGUE}

Json = dict[str, Any]

register_default_plugins()
looks = SimpleNamespace(**run_path(str(ROOT / "grafana" / "looks.py")))


def load(name: str) -> Json:
    """Read a dashboard."""
    text = (ROOT / "grafana" / "dashboards" / f"{name}.json").read_text()
    return dict(json.loads(text))


@pytest.fixture(params=NAMES)
def dashboard(request: pytest.FixtureRequest) -> Json:
    """Give each dashboard."""
    return load(request.param)


def panels(dashboard: Json) -> list[Json]:
    """Give the panels."""
    return list(dashboard["panels"])


def queries(dashboard: Json) -> list[str]:
    """Give every PromQL of a dashboard."""
    asked = [target["expr"] for panel in panels(dashboard) for target in panel["targets"]]
    return asked + [note["expr"] for note in dashboard["annotations"].get("list", [])]


def choices(dashboard: Json) -> dict[str, Json]:
    """Give the variables by name."""
    return {variable["name"]: variable for variable in dashboard["templating"]["list"]}


def label_values(dashboard: Json) -> dict[str, tuple[str, str]]:
    """Give what the query variables ask for: a selector and a label."""
    asked = {n: v["query"]["query"] for n, v in choices(dashboard).items() if v["type"] == "query"}
    return {name: re.findall(r"^label_values\((.+), (\w+)\)$", q)[0] for name, q in asked.items()}


def through_the_schema(dashboard: Json) -> Json:
    """Read a dashboard into the types of Grafana's schema, and write it again."""
    return dict(json.loads(json.dumps(Dashboard.from_json(dashboard), cls=JSONEncoder)))


class TestSchema:
    """What Grafana makes of the files."""

    def test_the_files_are_what_the_generator_writes(self, tmp_path: Path) -> None:
        """Nobody edits the JSON: `python grafana/build.py` gives the committed bytes."""
        subprocess.run([sys.executable, ROOT / "grafana" / "build.py", tmp_path], check=True)

        for name in NAMES:
            committed = ROOT / "grafana" / "dashboards" / f"{name}.json"
            assert (tmp_path / f"{name}.json").read_bytes() == committed.read_bytes()

    def test_the_schema_knows_every_key(self, dashboard: Json) -> None:
        """Types drop what they do not know, and here they drop nothing."""
        assert through_the_schema(deepcopy(dashboard)) == dashboard


class TestPictures:
    """The pictures in docs, which are drawn by hand (`make dashboard-shots`)."""

    @pytest.mark.parametrize("name", NAMES)
    def test_a_picture_is_no_older_than_what_it_shows(self, name: str) -> None:
        """It carries the digest of the panels that it was drawn from."""
        with Image.open(ROOT / "docs" / f"dashboard-{name}.png") as picture:
            drawn = picture.info.get(looks.KEY)

        assert drawn == looks.digest(load(name)), "draw it again: make dashboard-shots"


class TestHouseRules:
    """What every dashboard of ours keeps to."""

    def test_the_data_source_is_chosen_by_the_reader(self, dashboard: Json) -> None:
        """No panel, query, variable or annotation is tied to one data source."""
        chosen = {"type": "prometheus", "uid": "${datasource}"}
        targets = [target for panel in panels(dashboard) for target in panel["targets"]]
        asking = [v for v in choices(dashboard).values() if v["type"] == "query"]
        notes = dashboard["annotations"].get("list", [])

        assert choices(dashboard)["datasource"]["query"] == "prometheus"
        for one in [*panels(dashboard), *targets, *asking, *notes]:
            assert one["datasource"] == chosen, one

    def test_panels_do_not_overlap(self, dashboard: Json) -> None:
        """Every panel lies within the 24 columns, and none on another."""
        places = [panel["gridPos"] for panel in panels(dashboard)]
        for p in places:
            assert 0 <= p["x"] < p["x"] + p["w"] <= 24
        for a, b in combinations(places, 2):
            beside = a["x"] + a["w"] <= b["x"] or b["x"] + b["w"] <= a["x"]
            below = a["y"] + a["h"] <= b["y"] or b["y"] + b["h"] <= a["y"]
            assert beside or below, (a, b)

    @pytest.mark.parametrize("name", NAMES[1:])
    def test_a_page_is_short(self, name: str) -> None:
        """Without sections to open; pixels are those of Grafana: 38 a unit, and the head."""
        ends = [panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in panels(load(name))]

        assert 38 * max(ends) + 115 <= 1_800
        assert {panel["type"] for panel in panels(load(name))}.isdisjoint({"row"})

    def test_the_first_rows_say_what_a_reader_needs(self) -> None:
        """The verdict, since when, where, what next, how sure, how much and what it costs."""
        titles = [panel["title"] for panel in panels(load("model"))]

        assert titles[:11] == [
            *("In words", "Verdict", "Drifting since", "Where", "Next step"),
            *("Evidence / limit", "Slope", "Prior shift, log-odds", "What it costs"),
            *("Verdict over time", "Alerts of this model"),
        ]

    def test_each_verdict_has_a_next_step(self) -> None:
        """Those that `show` gives in the same words, where it needs no names."""
        (panel,) = (p for p in panels(load("model")) if p["title"] == "Next step")
        states = {
            state: target["legendFormat"]
            for target in panel["targets"]
            for state in re.findall(r'state="(\w+)"', target["expr"])
        }

        assert states.keys() == set(STATES)
        assert {s: states[s] for s in ANSWERS} == {s: a.step for s, a in ANSWERS.items()}

    def test_the_alerts_are_those_of_the_rules(self) -> None:
        """Each alert about a model has its part of the runbook in the query of the panel."""
        rules = yaml.safe_load((ROOT / "alerts" / "calibration.rules.yml").read_text())
        (panel,) = (p for p in panels(load("model")) if p["title"] == "Alerts of this model")
        known = re.findall(r'"section", "(\w+)", "alertname", "(\w+)"', panel["targets"][0]["expr"])
        runbooks = {
            rule["alert"]: rule["annotations"]["runbook_url"].rpartition("#")[2]
            for group in rules["groups"]
            for rule in group["rules"]
            if "$labels.model" in str(rule.get("annotations", ""))
        }

        assert {alert: section for section, alert in known} == runbooks

    def test_nothing_is_tied_to_one_installation(self, dashboard: Json) -> None:
        """No query names a job, an instance, or a model; all it names is chosen or a constant."""
        for query in queries(dashboard):
            assert not re.search(r"\b(job|instance)\b", query), query
            for label, constants in {"model": (), "segment": ("all",), "window": ("1d",)}.items():
                for value in re.findall(rf'\b{label}=~?"([^"]*)"', query):
                    assert value in (f"${label}", *constants), query

    def test_every_variable_that_is_used_exists(self, dashboard: Json) -> None:
        """A $name that nobody declares would be sent to Prometheus as it is."""
        asked = [
            *queries(dashboard),
            *(selector for selector, _ in label_values(dashboard).values()),
        ]
        used = {name for query in asked for name in re.findall(r"\$\{?([a-z]\w*)", query)}

        assert used <= set(choices(dashboard))
        assert {"model", "window"} <= used

    def test_every_query_looks_back_a_day(self, dashboard: Json) -> None:
        """Results are daily, and Prometheus forgets a value after five minutes."""
        for query in queries(dashboard):
            gauges = re.findall(r"calibration_\w+(?=\{)", query)
            back = r"last_over_time\(calibration_\w+\{[^}]*\}\[26h\](?: @ end\(\))?\)"
            assert len(re.findall(back, query)) == len(gauges), query
            assert gauges or "ALERTS{" in query, query

    @pytest.mark.parametrize("name", ["model", "errors", "data"])
    def test_the_pages_of_a_model_link_each_other(self, name: str) -> None:
        """With the model, the window and the time kept, and a segment where both have one."""
        here, others = load(name), [load(other) for other in NAMES[1:] if other != name]
        links = {one["url"].partition("?")[0]: one for one in here["links"]}

        assert links.keys() == {"/d/calibration-fleet", *(f"/d/{b['uid']}" for b in others)}
        for other in others:
            handed = re.findall(r"var-(\w+)=\$\{\1\}", links[f"/d/{other['uid']}"]["url"])
            both = {*choices(here)} & {*choices(other)} & {"model", "segment", "window"}
            assert both <= {*handed} <= {*choices(other)}
            assert links[f"/d/{other['uid']}"]["keepTime"]


class TestGauges:
    """The dashboards and the catalogue of gauges."""

    def test_every_gauge_and_label_exists(self, dashboard: Json) -> None:
        """A query that asks for a gauge or a label that is not there would be empty for ever."""
        for query in queries(dashboard):
            for name, selector in re.findall(r"(calibration_\w+)\{([^}]*)\}", query):
                assert name in LABELS, query
                assert set(re.findall(r"(\w+)=", selector)) <= LABELS[name], query
            grouped = r"by \(([\w, ]+)\) \((?:[\d *]*\(?)?last_over_time\((calibration_\w+)\{"
            for labels, name in re.findall(grouped, query):
                assert set(labels.split(", ")) <= LABELS[name], query


def test_each_state_has_a_sentence() -> None:
    """The panel in words asks for every state, but those that have an open drift to name."""
    panel = next(each for each in panels(load("model")) if each["title"] == "In words")
    queries = " ".join(target["expr"] for target in panel["targets"])

    of_drifts = {"calibration_drift", "undecided", "improved", *OF_LABELS}
    assert set(re.findall(r'state="(\w+)"', queries)) == set(STATES) - of_drifts
