"""The dashboards as files: of Grafana's schema, of our house rules, about gauges that exist."""

import json
import re
import subprocess
import sys
from copy import deepcopy
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard

from monitor.export.gauges import CATALOGUE
from tests.support.paths import ROOT

NAMES = ("fleet", "model")
LABELS = {gauge.name: set(gauge.labels) for gauge in CATALOGUE}

Json = dict[str, Any]

register_default_plugins()


def load(name: str) -> Json:
    """Read a dashboard."""
    text = (ROOT / "grafana" / "dashboards" / f"{name}.json").read_text()
    return dict(json.loads(text))


@pytest.fixture(params=NAMES)
def dashboard(request: pytest.FixtureRequest) -> Json:
    """Give each dashboard."""
    return load(request.param)


def everything(dashboard: Json) -> list[Json]:
    """Give all panels, the headings of sections and what is in them too."""
    return [one for panel in dashboard["panels"] for one in (panel, *panel.get("panels", []))]


def panels(dashboard: Json) -> list[Json]:
    """Give the panels that show something."""
    return [panel for panel in everything(dashboard) if panel["type"] != "row"]


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

    @pytest.mark.parametrize("place", ["titel", "panels", "targets", "options", "defaults"])
    def test_the_schema_finds_a_mistyped_key(self, place: str) -> None:
        """The check above is none in vain: wherever a mistyped key is, it is dropped."""
        wrong = load("model")
        panel = next(panel for panel in panels(wrong) if panel["type"] == "timeseries")
        where = {
            "titel": wrong,
            "panels": panel,
            "targets": panel["targets"][0],
            "options": panel["options"],
            "defaults": panel["fieldConfig"]["defaults"],
        }[place]
        where["titel"] = "x"

        assert through_the_schema(deepcopy(wrong)) != wrong


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

    def test_ids_are_unique(self, dashboard: Json) -> None:
        """Grafana tells panels apart by their number, and queries of a panel by their letter."""
        numbers = [panel["id"] for panel in everything(dashboard)]

        assert sorted(numbers) == list(range(1, len(numbers) + 1))
        for panel in panels(dashboard):
            letters = [target["refId"] for target in panel["targets"]]
            assert len(set(letters)) == len(letters) > 0

    def test_panels_do_not_overlap(self, dashboard: Json) -> None:
        """Every panel lies within the 24 columns, and none on another."""
        sections = [panel["panels"] for panel in dashboard["panels"] if panel["type"] == "row"]
        for together in (dashboard["panels"], *sections):
            places = [panel["gridPos"] for panel in together]
            for p in places:
                assert 0 <= p["x"] < p["x"] + p["w"] <= 24
            for a, b in combinations(places, 2):
                beside = a["x"] + a["w"] <= b["x"] or b["x"] + b["w"] <= a["x"]
                below = a["y"] + a["h"] <= b["y"] or b["y"] + b["h"] <= a["y"]
                assert beside or below, (a, b)

    def test_sections_are_closed(self) -> None:
        """Below the first rows of a model there are headings, one under the other, until opened."""
        shown = load("model")["panels"]
        first = next(place for place, panel in enumerate(shown) if panel["type"] == "row")
        rows = shown[first:]

        assert len(rows) == 9
        assert {row["type"] for row in rows} == {"row"}
        assert all(row["collapsed"] and row["panels"] for row in rows)
        ends = [panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in shown[:first]]
        begin = max(ends)
        assert [row["gridPos"]["y"] for row in rows] == [begin + place for place in range(9)]
        for row in rows:  # where Grafana wants the panels of a section that is opened
            assert min(p["gridPos"]["y"] for p in row["panels"]) == row["gridPos"]["y"] + 1

    def test_limits_that_are_exceeded_are_red(self) -> None:
        """Every share of a limit is red from 100 % on, in panels and in the table."""
        steps = {}
        for dashboard in map(load, NAMES):
            for panel in panels(dashboard):
                config = panel["fieldConfig"]
                found = [config["defaults"].get("thresholds")] if panel["type"] == "stat" else []
                found += [
                    p["value"]
                    for override in config["overrides"]
                    for p in override["properties"]
                    if p["id"] == "thresholds"
                ]
                for one in found:
                    if one and len(one["steps"]) > 2:
                        steps[panel["title"]] = one["steps"]

        assert steps.keys() == {
            *("Models", "Evidence / limit", "Days in drift", "Last success", "Limits of the alerts")
        }
        assert all((s[-1]["value"], s[-1]["color"]) == (1, "red") for s in steps.values())

    def test_only_low_evidence_is_green(self) -> None:
        """Beside an open drift, whose evidence is over its limit, nothing else is green."""
        green = {
            panel["title"]: re.findall(r'"green"', json.dumps(panel["fieldConfig"]))
            for dashboard in map(load, NAMES)
            for panel in panels(dashboard)
            if panel["type"] in ("stat", "table") and '"green"' in json.dumps(panel["fieldConfig"])
        }

        # The verdict ok is green, which no model with an open drift has.
        assert green.keys() == {"Models", "Models by verdict", "Verdict", "Evidence / limit"}
        assert {len(found) for found in green.values()} == {1, 2}
        assert len(green["Models"]) == 2  # ok, and low evidence

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

    def test_every_panel_explains_itself(self, dashboard: Json) -> None:
        """A title, a unit, a description in sentences, and words for when there is nothing."""
        titles = [panel["title"] for panel in panels(dashboard)]

        assert len(set(titles)) == len(titles)
        for panel in panels(dashboard):
            defaults = panel["fieldConfig"]["defaults"]
            assert panel["title"], panel["id"]
            assert len(panel["description"]) > 40, panel["title"]
            assert panel["description"].endswith("."), panel["title"]
            assert defaults["unit"], panel["title"]
            assert defaults["noValue"], panel["title"]

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
        assert {"model", "segment", "window"} <= used

    def test_every_query_looks_back_a_day(self, dashboard: Json) -> None:
        """Results are daily, and Prometheus forgets a value after five minutes."""
        for query in queries(dashboard):
            gauges = re.findall(r"calibration_\w+(?=\{)", query)
            back = r"last_over_time\(calibration_\w+\{[^}]*\}\[26h\](?: @ end\(\))?\)"
            assert len(re.findall(back, query)) == len(gauges), query
            assert gauges or "ALERTS{" in query, query

    def test_links_lead_somewhere(self) -> None:
        """A link names a dashboard of ours, and hands over only what that one has chosen."""
        all_choices = {load(name)["uid"]: set(choices(load(name))) for name in NAMES}
        urls = [
            url for name in NAMES for url in re.findall(r'"(/d/[^"]+)"', json.dumps(load(name)))
        ]

        assert {url.split("?")[0].removeprefix("/d/") for url in urls} == set(all_choices)
        for url in urls:
            there, _, handed = url.removeprefix("/d/").partition("?")
            assert set(re.findall(r"var-(\w+)=", handed)) <= all_choices[there], url

    def test_numbers_that_mean_something_are_told(self) -> None:
        """A dashed line of a panel stands in its description too, with the same number."""
        told = {
            panel["title"]: (step["value"], panel["description"])
            for panel in panels(load("model"))
            for step in panel["fieldConfig"]["defaults"].get("thresholds", {}).get("steps", [])
            if step.get("value") and panel["type"] == "timeseries"
        }

        assert {title: value for title, (value, _) in told.items() if abs(value) != 1} == {
            "TCE at a fixed size": 0.12,
            "TCE by class": 0.12,
            "Does the forecast of the prevalence fit?": -3,
            "Outcomes that have arrived, by their age": 0.95,
        }
        assert "below 95 % (dashed)" in told["Outcomes that have arrived, by their age"][1]
        assert "About 12 % (dashed)" in told["TCE at a fixed size"][1]
        assert "Below -3 (dashed)" in told["Does the forecast of the prevalence fit?"][1]


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

    def test_every_choice_exists(self, dashboard: Json) -> None:
        """The values to choose from are those of a label that a gauge has."""
        for selector, label in label_values(dashboard).values():
            assert label in LABELS[selector.partition("{")[0]]

    def test_legends_name_labels_that_are_there(self, dashboard: Json) -> None:
        """A label in a legend is one that its query keeps."""
        for panel in panels(dashboard):
            for target in panel["targets"]:
                kept = {
                    label
                    for labels in re.findall(r"by \(([\w, ]+)\)", target["expr"])
                    for label in labels.split(", ")
                }
                kept |= set(re.findall(r'count_values by \(model\) \("(\w+)"', target["expr"]))
                assert set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) <= kept

    def test_every_gauge_is_on_a_panel(self) -> None:
        """What is exported can be seen."""
        asked = " ".join(query for name in NAMES for query in queries(load(name)))

        assert set(re.findall(r"calibration_\w+(?=\{)", asked)) == set(LABELS)
