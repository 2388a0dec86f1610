"""The dashboards' queries, asked of a real Prometheus with what the monitor made of real logs."""

import json
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from monitor.measures.gauges import CATALOGUE
from tests.conftest import run_command
from tests.grafana.test_dashboards import NAMES, panels
from tests.support.filled import DAY, HOUR, Filled
from tests.support.paths import ROOT
from tests.support.two_models import SEGMENTS, first_day

GAUGE = re.compile(r"calibration_\w+(?=\{)")
DASHBOARDS = {
    name: json.loads((ROOT / "grafana" / "dashboards" / f"{name}.json").read_text())
    for name in NAMES
}
OF_ONE = {"model": "fraud", "segment": "all", "window": "28d", "budget": "5"}
CHOSEN = {
    "fleet": {"model": "(ads|fraud)", "owner": ".*", "segment": "all", "window": "1d"},
    **dict.fromkeys(NAMES[1:], OF_ONE),
}
ONE_OF_SEVERAL = "In words"  # whose queries each answer for one verdict
MAY_BE_EMPTY = (
    *(ONE_OF_SEVERAL, "Invalid or unreadable", "References", "Last drift over", "Report page"),
    *("Where", "Next step", "Maps", "Rebases"),
    *("What is wrong with the logs", "Acknowledgements", "Models by verdict"),
)
# Of drifts that have ended, became worse, have no slope or were taken, of drifts in few of the
# segments or in single values, of rows and of report pages: not in these two models.
NOT_HERE = {
    "calibration_acknowledged_timestamp_seconds",
    "calibration_drift_explained_ratio",
    "calibration_drift_slope_before",
    "calibration_drift_size_logit",
    "calibration_drift_unexplained_logit",
    "calibration_ended_drift_date_seconds",
    "calibration_ended_drift_duration_seconds",
    "calibration_failed_rows",
    "calibration_failed_checked_rows",
    "calibration_failed_value",
    "calibration_map_deployed_timestamp_seconds",
    "calibration_rebased_timestamp_seconds",
    "calibration_report_info",
    "calibration_value_drift_started_date_seconds",
}
# Of models with a map in the shadow, with classes, with labels chosen by score or rows that were
# acted on, and with a price; of lost labels, of settings or shares of segments that changed.
OF_OTHERS = {
    "calibration_drift_class_info",
    *(f"calibration_drift_labels_ratio{end}" for end in ("", "_low", "_high")),
    "calibration_moved_share_ratio",
    "calibration_not_comparable_date_seconds",
    "calibration_reference_changed_date_seconds",
    "calibration_outcomes_info",
    "calibration_window_acted_on_predictions",
    "calibration_judged_outcomes_ratio",
    *(
        g.name
        for g in CATALOGUE
        if re.match(
            "calibration_(map|vector|class|classwise|population|value_lost|budget)(_|$)", g.name
        )
    ),
}
NOT_HERE |= OF_OTHERS


@dataclass(frozen=True)
class Asked:
    """One query of a dashboard."""

    dashboard: str
    title: str
    expression: str
    legend: str
    instant: bool


def substituted(dashboard: str, text: str) -> str:
    """Put the chosen values in the place of the variables."""
    return re.sub(r"\$([a-z]\w*)", lambda found: CHOSEN[dashboard][found[1]], text)


def legend(written: str, metric: dict[str, str]) -> str:
    """Put the values of labels into a legend."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: metric[found[1]], written)


def every_query() -> list[Any]:
    """List each query of each panel, and of the annotations."""
    asked = []
    for name, dashboard in DASHBOARDS.items():
        for panel in panels(dashboard):
            for target in panel["targets"]:
                legend, instant = target["legendFormat"], target.get("instant", False)
                asked.append(Asked(name, panel["title"], target["expr"], legend, instant))
        notes = dashboard["annotations"].get("list", [])
        asked += [Asked(name, note["name"], note["expr"], "", instant=True) for note in notes]
    return [
        pytest.param(one, id=f"{one.dashboard}-{one.title}-{place}")
        for place, one in enumerate(asked)
    ]


def is_of_other_models(asked: Asked) -> bool:
    """Whether all gauges of a query are those of other models than these two."""
    found = set(GAUGE.findall(asked.expression))
    return bool(found) and found <= OF_OTHERS


QUERIES_OF_OTHERS = [param for param in every_query() if is_of_other_models(param.values[0])]
# A forecast that does not fit the scores, which is not drawn.
FORECASTS = [param for param in every_query() if param.values[0].legend.startswith("expected")]
QUERIES = [
    param
    for param in every_query()
    if not is_of_other_models(param.values[0]) and param not in FORECASTS
]
RANGES = [param for param in QUERIES if not param.values[0].instant]


@pytest.mark.parametrize("asked", QUERIES_OF_OTHERS)
def test_a_query_about_other_models_answers_nothing(filled: Filled, asked: Asked) -> None:
    """It is valid, and finds nothing of these models."""
    query = substituted(asked.dashboard, asked.expression)

    assert filled.ask("query", query=query, time=filled.now)["result"] == []


@pytest.mark.parametrize("asked", FORECASTS)
def test_a_forecast_that_does_not_fit_is_not_drawn(filled: Filled, asked: Asked) -> None:
    """The scores of fraud are stretched: no base rate explains them. Those of ads are as before."""
    found = {
        model: filled.ask(
            "query",
            query=asked.expression.replace("$model", model).replace("$segment", "all"),
            time=filled.now,
        )["result"]
        for model in ("ads", "fraud")
    }

    assert found["fraud"] == []
    assert found["ads"] != []


@pytest.mark.parametrize("asked", QUERIES)
def test_every_query_answers(filled: Filled, asked: Asked) -> None:
    """With its variables replaced, each query finds something now, without words for nothing."""
    query = substituted(asked.dashboard, asked.expression.partition(" or on () ")[0])
    at = filled.begun if "ALERTS" in query else filled.now  # alerts are of this moment
    found = filled.ask("query", query=query, time=at)["result"]

    assert found or asked.title in MAY_BE_EMPTY


def test_the_first_row_says_what_show_says(filled: Filled, two_models: Path) -> None:
    """One sentence, with the kind, the first day and the slope that `show` prints."""
    (panel,) = (p for p in panels(DASHBOARDS["model"]) if p["title"] == ONE_OF_SEVERAL)
    sentences = [
        legend(target["legendFormat"], one["metric"])
        for target in panel["targets"]
        for one in filled.ask("query", query=substituted("model", target["expr"]), time=filled.now)[
            "result"
        ]
    ]
    shown = run_command(
        *("show", "--config", two_models / "monitor.yaml", "--model", "fraud", "--json")
    )
    reason = json.loads(shown.out)["verdict"]["reasons"][0]
    since, kind = re.findall(r"Since (\S+) \(90 % .+?\) scores are (.+?):", reason)[0]
    numbers = re.findall(r"slope about ([\d.]+), 95 % ([\d.]+) to ([\d.]+)", reason)[0]
    slope, low, high = (f"{float(number):g}" for number in numbers)

    assert sentences == [
        f"Calibration drift: {kind} since {since}, slope {slope} (95 % {low} to {high})"
    ]


def test_evidence_is_over_its_limit_while_a_drift_is_open(filled: Filled) -> None:
    """At every hour of an open incident the share is at least 100 %: nothing is green beside it."""
    (share,) = panel_of("model", "Evidence / limit")
    state = substituted(
        "model",
        'last_over_time(calibration_verdict{model="$model", segment="all"'
        ', state="calibration_drift"}[26h])',
    )
    span = filled.now - 20 * DAY, filled.now, HOUR
    (shares,), (drifting,) = filled.values(share, *span), filled.values(f"max({state})", *span)
    at = {time: float(value) for time, value in shares["values"]}
    opened = [time for time, value in drifting["values"] if value == "1"]

    assert len(opened) > 24
    assert min(at[time] for time in opened) >= 1
    assert min(at.values()) < 1


def test_a_deployment_is_marked_on_its_day(filled: Filled, today: date) -> None:
    """The start of the configured reference is drawn for a day, though it was not scraped then."""
    (query,) = (
        substituted("model", note["expr"])
        for note in DASHBOARDS["model"]["annotations"]["list"]
        if note["name"] == "References"
    )
    begun = int(datetime.combine(first_day(today), time(), UTC).timestamp())
    (found,) = filled.values(query, begun - DAY, filled.now, HOUR)

    assert [at for at, _ in found["values"]] == list(range(begun, begun + DAY, HOUR))
    assert found["metric"]["alertname"] == "new reference"


def test_one_next_step_is_given_and_the_drift_has_a_place(filled: Filled) -> None:
    """Of all sentences one holds; the drifting segment or the whole is named."""
    said = {
        title: [
            legend(target["legendFormat"], found["metric"])
            for target in panel["targets"]
            for found in filled.ask(
                "query", query=substituted("model", target["expr"]), time=filled.now
            )["result"]
        ]
        for panel in panels(DASHBOARDS["model"])
        if (title := panel["title"]) in ("Next step", "Where", "Slope", "Prior shift, log-odds")
    }

    (step,) = said["Next step"]
    assert "recalibrate" in step
    assert said["Where"]
    for title in ("Slope", "Prior shift, log-odds"):
        assert re.fullmatch(r"-?\d+(\.\d+)? \(-?\d+(\.\d+)? to -?\d+(\.\d+)?\)", *said[title])


def test_the_alerts_of_the_model_are_listed(filled: Filled) -> None:
    """The open drift is in the panel, with its part of the runbook and a filled-in silence."""
    (query,) = panel_of("model", "Alerts of this model")
    found = filled.ask("query", query=query, time=filled.begun)["result"]
    (panel,) = (p for p in panels(DASHBOARDS["model"]) if p["title"] == "Alerts of this model")
    (links,) = (
        p["value"]
        for override in panel["fieldConfig"]["overrides"]
        for p in override["properties"]
        if p["id"] == "links"
    )
    silence = (
        unquote(links[0]["url"]).replace("${__data.fields.Alert}", "A").replace("${model}", "m")
    )

    alerts = {one["metric"]["alertname"]: one["metric"]["section"] for one in found}
    assert alerts["CalibrationDrift"] == "calibrationdrift"
    assert silence.endswith('/#/silences/new?filter={alertname="A",model="m"}')


@pytest.mark.parametrize("asked", RANGES)
def test_lines_have_no_gaps(filled: Filled, asked: Asked) -> None:
    """One sample a day makes a whole line, also where the exporter moved.

    Every hour, so at any longer step too: no query depends on the step.
    """
    query = substituted(asked.dashboard, asked.expression)
    found = filled.values(query, filled.exported - 25 * DAY, filled.exported, HOUR)

    assert found or not set(GAUGE.findall(query)) <= set(filled.past)
    for series in found:
        assert len(series["values"]) == 25 * DAY // HOUR + 1, series["metric"]


@pytest.mark.parametrize("asked", RANGES)
def test_a_scrape_lasts_for_a_day(filled: Filled, asked: Asked) -> None:
    """What was scraped once is drawn until the results of the next morning are in."""
    query = substituted(asked.dashboard, asked.expression)
    found = filled.values(query, filled.now, filled.now + 24 * HOUR, HOUR)

    assert found
    for series in found:
        assert len(series["values"]) == 25, series["metric"]


@pytest.mark.parametrize("name", DASHBOARDS)
def test_every_choice_has_values(filled: Filled, name: str) -> None:
    """Each variable finds values, and what it begins with is one of them."""
    for variable in DASHBOARDS[name]["templating"]["list"]:
        if variable["type"] != "query":
            continue
        asked = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"]["query"])
        assert asked is not None
        selector = substituted(name, asked[1])
        span = {"start": filled.now - 90 * DAY, "end": filled.now}
        found = filled.ask(f"label/{asked[2]}/values", **{"match[]": selector}, **span)
        assert found, variable["name"]
        begun = variable.get("current", {}).get("value")
        assert begun in (None, ["$__all"]) or begun in found, variable["name"]


def test_the_verdicts_are_told_in_order(filled: Filled) -> None:
    """The numbers of the timeline tell what happened to each model, in its words."""
    panel = next(p for p in panels(DASHBOARDS["fleet"]) if p["title"] == "Verdicts")
    words = panel["fieldConfig"]["defaults"]["mappings"][0]["options"]
    query = substituted("fleet", panel["targets"][0]["expr"])
    told = {}
    for series in filled.values(query, filled.now - 70 * DAY, filled.now, HOUR):
        states = [words[value]["text"] for _, value in series["values"]]
        told[series["metric"]["model"]] = [state for state, _ in groupby(states)]

    assert told == {
        "fraud": ["insufficient data", "ok", "prior shift", "ok", "calibration drift"],
        "ads": ["insufficient data", "ok", "data error"],
    }


def panel_of(dashboard: str, title: str) -> list[str]:
    """Give the queries of a panel."""
    (panel,) = (p for p in panels(DASHBOARDS[dashboard]) if p["title"] == title)
    return [substituted(dashboard, target["expr"]) for target in panel["targets"]]


def test_a_drift_of_a_segment_is_seen_where_all_are_chosen(filled: Filled) -> None:
    """The fleet counts the segments that drift, also none, and the model's dashboard names them."""
    (counting,) = (q for q in panel_of("fleet", "Models") if q.startswith("sum by (model)"))
    (naming,) = (
        substituted("model", target["expr"])
        for panel in panels(DASHBOARDS["model"])
        for target in panel["targets"]
        if panel["title"] == "Where" and target["legendFormat"] == "segment {{segment}}"
    )
    counted = filled.ask("query", query=counting, time=filled.now)["result"]
    named = filled.ask("query", query=naming, time=filled.now)["result"]

    assert {s["metric"]["model"]: s["value"][1] for s in counted} == {"fraud": "3", "ads": "0"}
    assert {s["metric"]["segment"] for s in named} == set(SEGMENTS)


def test_the_queries_are_tried_on_all_gauges(filled: Filled) -> None:
    """The past and the exporter together have every gauge, with the labels of the catalogue."""
    scraped = {"job", "instance"}
    series = filled.ask("series", **{"match[]": '{__name__=~"calibration_.+"}'})
    labels = {one.pop("__name__"): set(one) - scraped for one in series}

    known = {gauge.name: set(gauge.labels) for gauge in CATALOGUE if gauge.name not in NOT_HERE}
    assert labels == known
