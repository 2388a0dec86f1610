"""The dashboards as files: of Grafana's schema, of our house rules, about gauges that exist."""

import json
import random
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
from monitor.export.gauges import CATALOGUE
from monitor.words.trust import ANSWERS
from tests.support.paths import ROOT

NAMES = ("fleet", "model", "errors", "data")
LABELS = {gauge.name: set(gauge.labels) for gauge in CATALOGUE}

Json = dict[str, Any]
PINK = "#d6409f"
VERDICT_PANELS = ("Verdict", "Verdict over time", "Verdicts", "Models by verdict")
VERDICT_COLOURS = {
    result["color"]
    for panel in json.loads((ROOT / "grafana" / "dashboards" / "model.json").read_text())["panels"]
    if panel["title"] == "Verdict"
    for mapping in panel["fieldConfig"]["defaults"]["mappings"]
    for result in mapping["options"].values()
}

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


def without_verdicts(panel: Json) -> Json:
    """Leave out of a panel what shows verdicts: all of it, or a column."""
    if panel["title"] in VERDICT_PANELS:
        return {}
    kept = [o for o in panel["fieldConfig"]["overrides"] if o["matcher"]["options"] != "Verdict"]
    return {**panel, "fieldConfig": {**panel["fieldConfig"], "overrides": kept}}


def colours(part: object) -> set[str]:
    """Find every colour that a part of a dashboard names."""
    if isinstance(part, dict):
        named = {v for k, v in part.items() if k in ("color", "fixedColor") and isinstance(v, str)}
        return named.union(*map(colours, part.values()))
    return set().union(*map(colours, part)) if isinstance(part, list) else set()


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


class TestPictures:
    """The pictures in docs, which are drawn by hand (`make dashboard-shots`)."""

    @pytest.mark.parametrize("name", NAMES)
    def test_a_picture_is_no_older_than_what_it_shows(self, name: str) -> None:
        """It carries the digest of the panels that it was drawn from."""
        with Image.open(ROOT / "docs" / f"dashboard-{name}.png") as picture:
            drawn = picture.info.get(looks.KEY)

        assert drawn == looks.digest(load(name)), "draw it again: make dashboard-shots"

    def test_the_digest_is_of_looks(self) -> None:
        """Another colour is another picture; another query is not."""
        usual, other, moved = load("model"), load("model"), load("model")
        for panel in panels(other):
            for target in panel["targets"]:
                target["expr"] += " > 0"
        draw = random.Random(2)  # noqa: S311 - for a test
        for _ in range(5):
            draw.choice(panels(moved))["gridPos"]["h"] += 1
            assert looks.digest(other) == looks.digest(usual) != looks.digest(moved)


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
        numbers = [panel["id"] for panel in panels(dashboard)]

        assert sorted(numbers) == list(range(1, len(numbers) + 1))
        for panel in panels(dashboard):
            letters = [target["refId"] for target in panel["targets"]]
            assert len(set(letters)) == len(letters) > 0

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

    def test_limits_that_are_exceeded_are_pink(self) -> None:
        """Every share of a limit is pink from 100 % on, in panels and in the table."""
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
        assert all((s[-1]["value"], s[-1]["color"]) == (1, PINK) for s in steps.values())

    def test_the_colours_of_verdicts_mean_verdicts(self) -> None:
        """Wherever one is, in a panel or in an annotation, it is that of a verdict."""
        drawn = {
            (panel["title"], color)
            for dashboard in map(load, NAMES)
            for panel in panels(dashboard)
            for color in colours(without_verdicts(panel))
        } | {
            (note["name"], note["iconColor"])
            for dashboard in map(load, NAMES)
            for note in dashboard["annotations"].get("list", [])
        }

        assert {one for one in drawn if one[1] in VERDICT_COLOURS} == set()
        assert {color for _, color in drawn} >= {PINK, "text"}  # some were found
        assert len({re.sub("^(super-|semi-)?(light|dark)-", "", c) for c in VERDICT_COLOURS}) == 7

    def test_lines_that_have_names_have_colours(self, dashboard: Json) -> None:
        """So that Grafana chooses none for them, which would be those of verdicts."""
        for panel in panels(dashboard):
            if panel["type"] == "timeseries":
                named = {
                    t["legendFormat"] for t in panel["targets"] if "{{" not in t["legendFormat"]
                }
                colored = {
                    override["matcher"]["options"]
                    for override in panel["fieldConfig"]["overrides"]
                    if any(p["id"] == "color" for p in override["properties"])
                }
                assert named <= colored, panel["title"]

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
        assert {"model", "window"} <= used

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

    def test_numbers_that_mean_something_are_told(self) -> None:
        """A dashed line of a panel stands in its description too, with the same number."""
        told = {
            panel["title"]: (step["value"], panel["description"])
            for name in NAMES
            for panel in panels(load(name))
            for step in panel["fieldConfig"]["defaults"].get("thresholds", {}).get("steps", [])
            if step.get("value") and panel["type"] == "timeseries"
        }

        assert {title: value for title, (value, _) in told.items() if abs(value) != 1} == {
            "TCE at a fixed size": 0.12,
            "Outcomes that have arrived, by their age": 0.95,
        }
        assert "below 95 % (dashed)" in told["Outcomes that have arrived, by their age"][1]
        assert "About 12 % (dashed)" in told["TCE at a fixed size"][1]


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


def test_each_state_has_a_sentence() -> None:
    """The panel in words asks for every state, but those that have an open drift to name."""
    panel = next(each for each in panels(load("model")) if each["title"] == "In words")
    queries = " ".join(target["expr"] for target in panel["targets"])

    of_drifts = {"calibration_drift", "undecided", "improved", *OF_LABELS}
    assert set(re.findall(r'state="(\w+)"', queries)) == set(STATES) - of_drifts
