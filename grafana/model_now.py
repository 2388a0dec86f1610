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
    drift_share,
    evidence_share,
    milliseconds,
    newest,
    or_words,
    recent,
    run_share,
    verdict,
    while_open,
    with_labels,
)

from monitor.words import label_change
from monitor.words.trust import ANSWERS, LOOK_AGAIN

WIDTH = 3  # of 24, of a date or a single number
NEXT_STEPS = {
    **{state: trust.step for state, trust in ANSWERS.items()},
    "undecided": LOOK_AGAIN,
    "improved": "calibration-monitor show names the day from which to take a new reference.",
    "acknowledged": "Nothing until the planned change is over.",
    "calibration_drift": "Find what was released then. calibration-monitor where says where it "
    "sits, recalibrate what a map would repair.",
    "labels_lost": label_change.ASKED["lost"],
    "labels_added": label_change.ASKED["added"],
    "insufficient_data": "calibration-monitor show says what is missing.",
    "not_comparable": "calibration-monitor show names the setting, the day and the command.",
    "data_error": "calibration-monitor check names the file, the rows and what to do.",
}


def strip() -> list[stat.Panel]:
    """Give what a reader needs first, from left to right."""
    return [said_now(), since(), evidence(), slope(), prior(), where(), next_step()]


def details() -> list[stat.Panel]:
    """Give the rest of what holds now: how sure it is, how fresh, and whose it is."""
    return [
        *(lasting(), found(), budget_spent(), judged(), success()),
        *(segments(), owner(), false_alerts(), last_drift(), report()),
    ]


def slope() -> stat.Panel:
    """Show how far the curve is bent."""
    return said(
        in_figures("drift_slope"),
        "Slope",
        "Of the outcomes against the reference curve, with its 95 % interval. 1: as in the "
        "reference. Below 1: scores have become too extreme. Above 1: too timid. Since the drift's "
        "estimated start, or of the last 7 days.",
        none="no reference yet",
        width=WIDTH,
    )


def prior() -> stat.Panel:
    """Show how far the base rate has moved."""
    return said(
        in_figures("prior_shift_logit"),
        "Prior shift, log-odds",
        "How far the base rate of the last 7 days is from what the reference curve expects, with "
        "its 95 % interval: +0.7 doubles the odds. It is no part of a drift.",
        none="no reference yet",
        width=WIDTH,
    )


def in_figures(gauge: str) -> stat.Panel:
    """Show a number and its interval in one line."""
    known = newest(gauge, JUDGED)
    targets = {"{{value}} ({{low}} to {{high}})": with_labels(f"0 * {known}", figures(gauge))}
    return sized(number(targets, unit="none", named=True), value=16)


def where() -> stat.Panel:
    """Name the part of the rows that the open drift sits in."""
    parts = f'{MODEL}, segment!="{WHOLE}"'
    of_segments = newest("drift_kind", parts, "segment")
    of_values = newest("value_drift_started_date_seconds", MODEL, "column, value")
    explained = newest("drift_explained_ratio", MODEL, "model, values")
    whole = f'{MODEL}, segment="{WHOLE}"'
    of_class = newest("drift_class_info", whole, "model, class")
    targets = {
        "{{values}}": while_open(explained, whole),
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
        "The values without which the rest is as before, the class whose scores are off, the "
        "segments with an open drift, and values that drift alone, whichever segment is chosen "
        "above.",
        none="no open drift",
        width=4,
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
        width=5,
    )


def said_now() -> stat.Panel:
    """Show the verdict."""
    panel = number({"verdict": verdict(JUDGED)}, unit="short").mappings(verdict_words())
    panel.thresholds(thresholds(GREY, {}))
    return said(
        panel.color_mode(common.BigValueColorMode.BACKGROUND),
        "Verdict",
        "What is said of the newest judged day. Red: the curve is bent, whatever the base rate "
        "does, until the outcomes say 1,000 to 1 that it is back. Yellow: the level is off. Blue: "
        "only the base rate moved. Orange: a planned change covers what was found. Light "
        "red: what is left of a drift is smaller than the outcomes can tell. Grey: not enough "
        "outcomes. Purple: the logs break a rule.",
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


def lasting() -> stat.Panel:
    """Show how long the incident has lasted."""
    age = f"(time() - {newest('drift_started_timestamp_seconds', JUDGED)})"
    return said(
        number({"for": while_open(age, JUDGED)}, unit="s").decimals(1),
        "Drifting for",
        "How long the drift of the open incident has lasted, from the first day that the outcomes "
        "point to.",
        none="no incident",
        width=WIDTH,
    )


def found() -> stat.Panel:
    """Show how sure the incident is."""
    strength = while_open(newest("drift_evidence_log10", JUDGED), JUDGED)
    return said(
        number({"evidence": strength}, unit="prefix:10^").decimals(1),
        "Found with evidence",
        "How many times better a drift explains the outcomes than the reference curve, within its "
        "tolerance, on the day on which the incident opened: 10^4.3 is 20,000 times. It stays so "
        "while the incident lasts, also if it is renamed.",
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


def false_alerts() -> stat.Panel:
    """Show how far a page can be trusted."""
    intervals = {
        "all": newest("false_alert_interval_seconds", MODEL),
        "segments": newest("segment_false_alert_interval_seconds", MODEL),
    }
    return said(
        number(intervals, unit="s").decimals(1).text_mode(common.BigValueTextMode.VALUE_AND_NAME),
        "One false page in",
        "If the curve never bends, incidents of the whole model are at least this far apart on "
        "average, and so are those of all its segments together.",
        none="no limit yet",
        width=8,
    )


def budget_spent() -> stat.Panel:
    """Show which share of the days was in drift, and whether that is more than allowed."""
    share = drift_share(JUDGED)
    panel = number({"of 90 days": share, "of the budget": f"({share}) / ($budget / 100)"}, unit="")
    panel.unit("percentunit").decimals(0).text_mode(common.BigValueTextMode.VALUE_AND_NAME)
    plain = [Property(id_val="thresholds", value=thresholds("text", {}).build())]
    return said(
        panel.override_by_name("of 90 days", plain).thresholds(near_limit()),
        "Days in drift",
        "The share of the last 90 days in calibration drift, and how much that is of what is "
        "allowed: the drift budget at the top. Pink: more than allowed.",
        none="no verdict yet",
        width=WIDTH,
    )


def judged() -> stat.Panel:
    """Show which day the verdict speaks of."""
    date = milliseconds(newest("verdict_date_seconds", JUDGED))
    return said(
        number({"judged": date}, unit=MOMENT),
        "Last day judged",
        "The day that the verdict speaks of, in the model's time zone. It is some days back, "
        "because outcomes need their time to arrive.",
        none="no reference yet",
        width=WIDTH,
    )


def success() -> stat.Panel:
    """Show how old the last good run is."""
    age = f"(time() - {newest('last_success_timestamp_seconds', MODEL)})"
    targets = {"ago": age, "of the limit": run_share(MODEL)}
    panel = number(targets, unit="percentunit").decimals(0)
    plain = Property(id_val="thresholds", value=thresholds("text", {}).build())
    units = [Property(id_val="unit", value="s"), Property(id_val="decimals", value=1), plain]
    panel.override_by_name("ago", units).text_mode(common.BigValueTextMode.VALUE_AND_NAME)
    return said(
        panel.thresholds(near_limit()),
        "Last success",
        "How long ago the last run without a failed day finished, and how much that is of what "
        "the model's configuration allows. Pink: a run is overdue.",
        none="none within 26 hours",
        width=WIDTH,
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
        width=8,
    )


def report() -> stat.Panel:
    """Link the report page."""
    page = or_words(newest("report_info", MODEL, "url"), "url", "none configured")
    panel = number({"{{url}}": page}, unit="none", named=True)
    return said(
        panel.data_links([link("Open the report", "${__field.labels.url}")]),
        "Report page",
        "The page with all reasons and figures, if the configuration names one (report.path or "
        "report_url). Click it to open it.",
        none="none configured",
        width=8,
    )


def segments() -> stat.Panel:
    """Name the segments with an open incident."""
    opened = newest("drift_kind", f'{MODEL}, segment!="{WHOLE}"', "segment")
    names = or_words(f"{opened} == 1", "segment", "none")
    return said(
        number({"{{segment}}": names}, unit="none", named=True),
        "Segments drifting",
        "The segments with an open incident, whichever segment is chosen above. Choose one of "
        "them there to see it.",
        none="none",
        width=5,
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
