"""The large numbers of a model's dashboard: what holds now."""

from grafana_foundation_sdk.builders import stat
from grafana_foundation_sdk.models import common
from grafana_foundation_sdk.models.dashboard import DynamicConfigValue as Property
from model_words import figures, held
from pages import link
from panels import (
    GREY,
    MOMENT,
    near_limit,
    number,
    said,
    sized,
    thresholds,
    verdict_words,
)
from queries import (
    JUDGED,
    MODEL,
    WHOLE,
    WINDOW,
    drift_share,
    evidence_share,
    milliseconds,
    newest,
    or_words,
    recent,
    verdict,
    while_open,
    with_labels,
)

from monitor.words import label_change
from monitor.words.trust import ANSWERS, LOOK_AGAIN

WIDTH = 4  # of 24, of a date or a single number
PLACE = "model, column, value"
NEXT_STEPS = {
    **{state: trust.step for state, trust in ANSWERS.items()},
    "undecided": LOOK_AGAIN,
    "improved": "calibration-monitor show names the day from which to take a new reference.",
    "acknowledged": "Nothing until the planned change is over.",
    "calibration_drift": "Find what was released then. calibration-monitor where says where it "
    "sits, recalibrate what a map would repair.",
    "labels_lost": label_change.ASKED["lost"],
    "labels_added": label_change.ASKED["added"],
    "reference_changed": "calibration-monitor show names the day, and both remedies.",
    "insufficient_data": "calibration-monitor show says what is missing.",
    "not_comparable": "calibration-monitor show names the setting, the day and the command.",
    "data_error": "calibration-monitor check names the file, the rows and what to do.",
}


def strip() -> list[stat.Panel]:
    """Give what a reader needs first, in two rows."""
    first = [said_now(), since(), where(), next_step()]
    return [*first, evidence(), slope(), prior(), costs()]


def details() -> list[stat.Panel]:
    """Give the rest of what holds now."""
    return [started(), budget_spent(), last_drift(), owner(), report()]


def slope() -> stat.Panel:
    """Show how far the curve is bent."""
    return said(
        in_figures("drift_slope"),
        "Slope",
        "Of the outcomes against the reference curve, with its 95 % interval. 1: as in the "
        "reference. Below 1: scores have become too extreme. Above 1: too timid. Since the drift's "
        "estimated start, or of the last 7 days.",
        none="no reference yet",
        width=6,
    )


def prior() -> stat.Panel:
    """Show how far the base rate has moved."""
    return said(
        in_figures("prior_shift_logit"),
        "Prior shift, log-odds",
        "How far the base rate of the last 7 days is from what the reference curve expects, with "
        "its 95 % interval: +0.7 doubles the odds. It is no part of a drift.",
        none="no reference yet",
        width=6,
    )


def in_figures(gauge: str) -> stat.Panel:
    """Show a number and its interval in one line."""
    known = newest(gauge, JUDGED)
    targets = {"{{value}} ({{low}} to {{high}})": with_labels(f"0 * {known}", figures(gauge))}
    return sized(number(targets, unit="none", named=True), value=20)


def where() -> stat.Panel:
    """Name the part of the rows that the open drift sits in."""
    parts = f'{MODEL}, segment!="{WHOLE}"'
    of_segments = newest("drift_kind", parts, "segment")
    of_values = newest("value_drift_started_date_seconds", MODEL, "column, value")
    explained = newest("drift_explained_ratio", MODEL, "model, values")
    whole = f'{MODEL}, segment="{WHOLE}"'
    of_class = newest("drift_class_info", whole, "model, class")
    off = f"{newest('value_flagged', MODEL, PLACE)} == 1"
    ranked = f"{newest('value_evidence_log10', MODEL, PLACE)} and on ({PLACE}) {off}"
    told = f"{newest('drift_in_segments', whole)} == 1"
    targets = {
        "{{values}}": f"{while_open(explained, whole)} unless on (model) {told}",
        "{{values}}, with an alert of its own": f"{explained} and on (model) {told}",
        "most of all {{column}} = {{value}}": f"topk(3, {ranked}) unless on (model) {explained}",
        "class {{class}}": of_class,
        "segment {{segment}}": f"{of_segments} == 1",
        "{{column}} = {{value}}": of_values,
        "everywhere": f"{newest('drift_kind', whole)} == 1 unless on (model) {explained} "
        f"unless on (model) {newest('drift_kind', parts)} == 1 unless on (model) {of_class}",
    }
    return said(
        sized(number(targets, unit="none", named=True), value=14).orientation(
            common.VizOrientation.HORIZONTAL
        ),
        "Where",
        "The values without which the rest is as before, or else those that are off most clearly, "
        "the class whose scores are off, the segments with an open drift, and values that drift "
        "alone, whichever segment is chosen above. `calibration-monitor where` has all of them.",
        none="no open drift",
        width=8,
    )


def next_step() -> stat.Panel:
    """Say what to do, as `show` does, with a link to the runbook."""
    steps = {step: held(state) for state, step in NEXT_STEPS.items()}
    panel = number(steps, unit="none", named=True)
    return said(
        sized(panel, value=15).data_links([link("Read the runbook", "${runbook}")]),
        "Next step",
        "What to do about the verdict. Click it for the runbook; the alerts below link to their "
        "part of it.",
        none="Wait for the first reference",
        width=8,
    )


def said_now() -> stat.Panel:
    """Show the verdict."""
    panel = number({"verdict": verdict(JUDGED)}, unit="short").mappings(verdict_words())
    panel.thresholds(thresholds(GREY, {}))
    return said(
        panel.color_mode(common.BigValueColorMode.BACKGROUND),
        "Verdict",
        "What is said of the newest judged day. Red: the curve is bent, whatever the base rate "
        "does, until the outcomes say 1,000 to 1 that it is back. Light red: what is left of a "
        "drift is smaller than the outcomes can tell. Yellow: the level is off, or labels changed. "
        "Orange: a planned change covers what was found. Blue: only the base rate moved. Light "
        "blue: changed for the better. Grey: not enough outcomes. Light purple: the reference "
        "changed, or days are read otherwise than it. Purple: the logs break a rule.",
        none="no reference yet",
        width=WIDTH,
    )


def since() -> stat.Panel:
    """Show since when the incident lasts."""
    date = milliseconds(newest("drift_started_date_seconds", JUDGED))
    return said(
        number({"since": while_open(date, JUDGED)}, unit=MOMENT),
        "Drifting since",
        "The day on which the drift of the open incident began, in the model's time zone, as "
        "estimated from the outcomes: look at what was released then. It is found some days "
        "after it began.",
        none="no incident",
        width=WIDTH,
    )


def evidence() -> stat.Panel:
    """Show how near the next incident is."""
    panel = number({"evidence": evidence_share(JUDGED)}, unit="percentunit").decimals(0)
    return said(
        panel.thresholds(near_limit()),
        "Evidence / limit",
        "The strongest evidence of a bent curve, as a share of what opens an incident. While an "
        "incident is open, that with which it was opened: at least 100 %, in pink.",
        none="no reference yet",
        width=WIDTH,
    )


def budget_spent() -> stat.Panel:
    """Show which share of the days was in drift, and whether that is more than allowed."""
    share = drift_share(JUDGED)
    panel = number({"of 90 days": share, "of the budget": f"({share}) / ($budget / 100)"}, unit="")
    panel.unit("percentunit").decimals(0).text_mode(common.BigValueTextMode.VALUE_AND_NAME)
    plain = [Property(id_val="thresholds", value=thresholds("text", {}).build())]
    return said(
        sized(panel, value=28).override_by_name("of 90 days", plain).thresholds(near_limit()),
        "Days in drift",
        "The share of the last 90 days in calibration drift, and how much that is of what is "
        "allowed: the drift budget at the top. Pink: more than allowed.",
        none="no verdict yet",
        width=5,
    )


def last_drift() -> stat.Panel:
    """Show when and why the last drift was over."""
    ended = milliseconds(newest("ended_drift_date_seconds", JUDGED, "ending"))
    lasted = newest("ended_drift_duration_seconds", JUDGED)
    days = {
        "{{ending}}": ended,
        "{{state}} since": milliseconds(newest("shift_started_date_seconds", JUDGED, "state")),
        "read otherwise since": milliseconds(
            newest("not_comparable_date_seconds", f'{MODEL}, end="since"')
        ),
        "new reference awaited": milliseconds(newest("awaited_reference_date_seconds", JUDGED)),
        "taken by {{by}}": milliseconds(newest("acknowledged_timestamp_seconds", JUDGED, "by")),
        "taken until": milliseconds(
            f"({newest('acknowledged_until_timestamp_seconds', JUDGED)} > 0)"
        ),
        "review known_drifts": milliseconds(newest("known_drift_review_date_seconds", MODEL)),
    }
    panel = number({**days, "after": lasted}, unit=MOMENT).decimals(0)
    panel.override_by_name("after", [Property(id_val="unit", value="s")])
    return said(
        panel.text_mode(common.BigValueTextMode.VALUE_AND_NAME),
        "Last drift over",
        "When and why the last calibration drift ended, and how long it lasted: recovered, "
        "acknowledged in the configuration, or compared with a new reference. Also since when the "
        "prior or the level has moved, which reference has too few days, until when a span of "
        "known_drifts is longer than a month, and who has taken the open drift, since when and "
        "until when, and since when days are read otherwise than their reference.",
        none="none has ended",
        width=6,
    )


def report() -> stat.Panel:
    """Link the report page."""
    page = or_words(newest("report_info", MODEL, "url"), "url", "none configured")
    panel = number({"{{url}}": page}, unit="none", named=True)
    return said(
        panel.data_links([link("Open the report", "${__field.labels.url}")]),
        "Report page",
        "The page with all reasons and figures, if the configuration names one (report.path or "
        "report.url). Click it to open it.",
        none="none configured",
        width=3,
    )


def costs() -> stat.Panel:
    """Say what miscalibration costs: in money, of the budget, and as an error."""
    whole, parts = f'{WINDOW}, cause="all"', f'{WINDOW}, cause!="all"'
    lost = with_labels(
        f"0 * {newest('value_lost', whole, 'model, currency')}",
        {
            name: f"round({newest('value_lost' + end, whole)}, 0.0001)"
            for name, end in (("value", ""), ("low", "_low"), ("high", "_high"))
        },
    )
    mostly = f"topk(1, {newest('value_lost', parts, 'model, cause')}) > 0"
    limits = {at: newest(f"budget_{at}_limit_ratio", MODEL) for at in ("page", "ticket")}
    burnt = with_labels(
        f"0 * {newest('budget_burn_ratio', WINDOW)}",
        figures("budget_burn_ratio", WINDOW) | limits,
    )
    off = {
        adjusted: f"round(100 * {newest('ece_ratio', selector)}, 0.1)"
        for adjusted in ("raw", "prior")
        if (selector := f'{WINDOW}, adjusted="{adjusted}"')
    }
    asked = {
        "{{value}} {{currency}} a prediction (95 % {{low}} to {{high}})": lost,
        "most of it by {{cause}}": mostly,
        "{{value}} (95 % {{low}} to {{high}}) times the budget; {{ticket}} is a ticket, {{page}} "
        "pages": burnt,
        "off by {{raw}} points on average, {{prior}} with the base rate forgiven": with_labels(
            f"0 * {newest('ece_ratio', WINDOW)}", off
        ),
    }
    return said(
        sized(number(asked, unit="none", named=True), value=14).orientation(
            common.VizOrientation.HORIZONTAL
        ),
        "What it costs",
        "In the chosen window: what miscalibration lost per prediction, where the configuration "
        "has a value or a decision, and as a multiple of its budget; and how far scores are from "
        "outcomes on average, in points of percent (ECE).",
        none="no final window yet",
        width=8,
    )


def started() -> stat.Panel:
    """Show between which days the drift began."""
    ends = {
        end: while_open(
            milliseconds(newest(f"drift_started_{key}_timestamp_seconds", JUDGED)), JUDGED
        )
        for end, key in (("earliest", "low"), ("latest", "high"))
    }
    return said(
        number(ends, unit=MOMENT).text_mode(common.BigValueTextMode.VALUE_AND_NAME),
        "Began between",
        "The 90 % interval of the first day of the open drift: nine of ten such intervals hold it. "
        "Look at what was released in it.",
        none="no incident",
        width=6,
    )


def owner() -> stat.Panel:
    """Show who answers for the model."""
    by = f"max by (owner, severity) ({recent('model_info', MODEL)})"
    of_outcomes = f"max by (owner) ({recent('outcomes_info', MODEL)})"
    return said(
        number(
            {"{{owner}} ({{severity}})": by, "outcomes: {{owner}}": of_outcomes},
            unit="none",
            named=True,
        ),
        "Owner",
        "Who answers for the model, and how urgent its alerts are, as configured; and who answers "
        "for its outcomes, if somebody else does.",
        none="unknown model",
        width=4,
    )
