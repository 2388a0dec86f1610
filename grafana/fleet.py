"""The dashboard of every model: which one needs a look this morning."""

from grafana_foundation_sdk.builders import dashboard as builders
from grafana_foundation_sdk.builders import stat, statetimeline, timeseries
from grafana_foundation_sdk.models import common, dashboard
from grafana_foundation_sdk.models.dashboard import DynamicConfigValue as Property
from overview import overview
from pages import choice, every, laid_out, link, page
from panels import PINK, VERDICTS, lines, marked, number, said, thresholds, timeline
from queries import (
    JUDGED_MODELS,
    MODELS,
    WINDOWS_OF_MODELS,
    evidence_share,
    newest,
    or_words,
    top_ten,
    verdict,
)

THERE = "var-segment=${segment}&var-datasource=${datasource}&${__url_time_range}"
NO_VERDICT = "no verdict yet"


def fleet() -> dashboard.Dashboard:
    """Build the dashboard."""
    return laid_out(
        with_choices(
            page(
                "calibration-fleet",
                "Calibration: all models",
                "Whether the probabilities of every model can still be trusted.",
            )
        ),
        [
            overview(to_model("__data.fields.Model")),
            *(counts(), broken(), versions()),
            verdicts(),
            *(evidence(), prior_shifts(), coverage()),
        ],
    )


def with_choices(fleet: builders.Dashboard) -> builders.Dashboard:
    """Let the user choose models, a segment, and the window of the coverage."""
    models = choice("model", 'label_values(calibration_model_info{owner=~"$owner"}, model)')
    segments = choice("segment", "label_values(calibration_verdict, segment)", "all")
    windows = choice("window", "label_values(calibration_window_outcomes, window)", "1d")
    owners = choice("owner", "label_values(calibration_model_info, owner)")
    fleet.with_variable(every(owners, meaning=".*")).with_variable(every(models))
    return fleet.with_variable(segments).with_variable(windows)


def to_model(name: str) -> str:
    """Give the address of a model's dashboard."""
    return f"/d/calibration-model?var-model=${{{name}}}&{THERE}"


def linked(panel: timeseries.Panel) -> timeseries.Panel:
    """Let a click on a line open its model."""
    return panel.data_links([link("Open the model", to_model("__field.labels.model"))])


def counts() -> stat.Panel:
    """Count the models of each verdict."""
    targets = {}
    for state in VERDICTS:
        held = newest("verdict", f'{JUDGED_MODELS}, state="{state}"')
        targets[state.replace("_", " ")] = f"sum({held}) > 0"
    panel = number(targets, unit="short").decimals(0)
    panel.text_mode(common.BigValueTextMode.VALUE_AND_NAME)
    for words, color in zip(targets, VERDICTS.values(), strict=True):
        limits = Property(id_val="thresholds", value=thresholds("text", {color: 1}).build())
        panel.override_by_name(words, [limits])
    return said(
        panel,
        "Models by verdict",
        "How many models have which verdict on their newest judged day; verdicts that none has are "
        "left out. Calibration drift pages where the model says so. A prior shift is information: "
        "the base rate moved, and the curve held.",
        none=NO_VERDICT,
        width=16,
    )


def broken() -> stat.Panel:
    """Name the models whose configuration cannot be used, or whose results cannot be read."""
    invalid = f"{newest('model_config_valid', MODELS)} == 0"
    unreadable = f"{newest('model_results_readable', MODELS)} == 0"
    either = or_words(f"{invalid} or {unreadable}", "model", "none")
    return said(
        number({"{{model}}": either}, unit="none", named=True),
        "Invalid or unreadable",
        "The models that are not run because their part of the configuration is wrong, and those "
        "whose stored results are damaged. `calibration-monitor check` says which key and what to "
        "write; `calibration-monitor show` names the file and the command that writes it again.",
        none="none",
        width=4,
    )


def versions() -> stat.Panel:
    """Show which version of the monitor answers."""
    version = or_words(newest("build_info", "", "version"), "version", "no exporter")
    return said(
        number({"{{version}}": version}, unit="none", named=True),
        "Version of the monitor",
        "The calibration-monitor that exports these numbers. Two versions: it was upgraded within "
        "the last day, or two exporters run side by side.",
        none="no exporter seen",
        width=4,
    )


def verdicts() -> statetimeline.Panel:
    """Draw the verdict of every model over time."""
    return said(
        timeline({"{{model}}": top_ten(verdict(JUDGED_MODELS))}).height(8),
        "Verdicts",
        "What was said of the ten models with the worst verdict now, day by day. A verdict speaks "
        "of days whose outcomes are complete, so it comes some days later. A gap: nothing was "
        "exported.",
        none=NO_VERDICT,
        width=24,
    )


def evidence() -> timeseries.Panel:
    """Draw how near each model is to an incident."""
    panel = lines({"{{model}}": top_ten(evidence_share(JUDGED_MODELS))}, unit="percentunit").min(0)
    return said(
        linked(marked(panel, 1, PINK)),
        "Evidence of drift against its limit",
        "The evidence that a model's curve is bent, as a share of what opens an "
        "incident (100 %, dashed), of the ten models with most of it now. A calibrated model stays "
        "low whatever its base rate does. While an incident is open, its line stays at the "
        "evidence that opened it.",
        none="no reference yet",
        width=8,
    )


def prior_shifts() -> timeseries.Panel:
    """Draw the shift of every model's prior."""
    shift = newest("prior_shift_logit", JUDGED_MODELS)
    shifts = {"{{model}}": top_ten(shift, f"abs({shift})")}
    panel = (
        lines(shifts, unit="short", axis="logit")
        .decimals(2)
        .axis_centered_zero(axis_centered_zero=True)
    )
    return said(
        linked(marked(panel, 0)),
        "Prior shift",
        "How far the base rate of the last 7 days is from what the reference curve expects, in "
        "logit. +0.7 means doubled odds, -0.7 halved odds. Not an error of the curve. The ten "
        "models whose base rate moved most are drawn.",
        none="no reference yet",
        width=8,
    )


def coverage() -> timeseries.Panel:
    """Draw how complete the outcomes of every model are."""
    ratio = newest("outcome_coverage_ratio", WINDOWS_OF_MODELS)
    ratios = {"{{model}}": top_ten(ratio, pick="bottomk")}
    return said(
        linked(lines(ratios, unit="percentunit").max(1)),
        "Outcome coverage",
        "The share of predictions whose outcome has arrived, in the newest complete window, of "
        "the ten models with the least. A fall means that a join or a feed of outcomes is broken: "
        "look there before the model.",
        none="no final window yet",
        width=8,
    )
