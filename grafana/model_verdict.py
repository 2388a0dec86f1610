"""The rows of a model's dashboard about the curve and about the base rate."""

from grafana_foundation_sdk.builders import stat, statetimeline, timeseries
from grafana_foundation_sdk.models import common
from panels import (
    BROWN,
    CYAN,
    KINDS,
    MOMENT,
    NEUTRAL,
    PINK,
    TEAL,
    band,
    beside,
    colored,
    dashed,
    interval_band,
    lines,
    marked,
    number,
    said,
    timeline,
    with_interval,
)
from queries import JUDGED, WINDOW, interval, milliseconds, newest, verdict, while_open

EXPECTED = "expected, before outcomes"
ALL, ALL_SCORES = "outcomes, all predictions", "scores, all predictions"


def verdicts() -> list[statetimeline.Panel]:
    """Draw the verdict over time."""
    return [
        said(
            timeline({"verdict": verdict(JUDGED)}).height(5),
            "Verdict over time",
            "What was said of the model, day by day. A gap: nothing was exported.",
            none="no verdict yet: the model has no reference",
            width=15,
        )
    ]


def drift() -> list[timeseries.Panel | stat.Panel]:
    """Draw what tells a bent curve from a moved base rate."""
    return [evidence(), start(), slope_since(), slope()]


def evidence() -> timeseries.Panel:
    """Draw the evidence of each named distortion, and the limit."""
    limit = {"limit": newest("evidence_limit_log10", JUDGED)}
    kinds = {"{{kind}}": newest("kind_evidence_log10", JUDGED, "kind")}
    panel = colored(lines(kinds | limit, unit="short", axis="log10").min(0), KINDS)
    return said(
        panel.override_by_name("limit", dashed(PINK)).legend(beside()).decimals(1),
        "Evidence of each distortion",
        "How much better each way of bending the curve explains the outcomes than the reference "
        "curve, within its tolerance: 3 means 10^3 times. On the day the weighted mean of all "
        "reaches the limit an incident opens, or an open one goes on, and all fall to 0. A line "
        "alone may pass it: slopes count 1/4 each, the others 1/12. The base rate does not enter. "
        "The limit of a segment is that of the day: it depends on how loud the others are.",
        none="no reference yet",
        width=9,
    )


def start() -> stat.Panel:
    """Show between which days the drift began."""
    ends = {
        end: while_open(
            milliseconds(newest(f"drift_started_{key}_timestamp_seconds", JUDGED)), JUDGED
        )
        for end, key in (("earliest", "low"), ("latest", "high"))
    }
    panel = number(ends, unit=MOMENT).height(8)
    return said(
        panel.text_mode(common.BigValueTextMode.VALUE_AND_NAME),
        "Began between",
        "The 90 % interval of the first day of the open drift: nine of ten such intervals hold it. "
        "Look at what was released in it.",
        none="no incident",
        width=3,
    )


def slope_since() -> timeseries.Panel:
    """Draw the slope against the reference."""
    return said(
        with_interval("drift_slope", JUDGED, PINK, name="slope", axis="slope", at=1),
        "Slope against the reference",
        "1: the outcomes follow the reference curve. Below 1: scores have become too extreme. "
        "Above 1: too timid. Since the drift's estimated start, or of the last 7 days. The band "
        "is the 95 % interval.",
        none="no reference yet",
        width=6,
    )


def slope() -> timeseries.Panel:
    """Draw the slope of the scores themselves."""
    return said(
        with_interval("slope", WINDOW, BROWN, name="slope", axis="slope", at=1),
        "Slope of the scores",
        "1: the scores spread as the outcomes do. Below 1: too extreme. Above 1: too timid. Each "
        "day may have its own base rate. It needs no reference. The band is the 95 % interval.",
        none="no final window yet",
        width=6,
    )


def priors() -> list[timeseries.Panel]:
    """Draw what moves with the base rate."""
    return [prior_shift(), prevalence(), intercept(), level()]


def prior_shift() -> timeseries.Panel:
    """Draw the shift of the prior."""
    shifts = {
        **interval("prior_shift_logit", JUDGED, "model", "shift"),
        **interval("expected_shift_logit", JUDGED, "model", EXPECTED),
    }
    panel = lines(shifts, unit="short", axis="logit").decimals(2)
    panel.override_by_name(EXPECTED, dashed(CYAN))
    band(panel, f"{EXPECTED} low", f"{EXPECTED} high", CYAN)
    return said(
        interval_band(marked(panel, 0), "shift", TEAL),
        "Prior shift",
        "How far the base rate of the last 7 days is from what the reference curve expects. +0.7 "
        "means doubled odds, -0.7 halved odds. The cyan line is what the scores alone suggest "
        "for days whose outcomes are not in yet. The bands are 95 % intervals.",
        none="no reference yet",
        width=6,
    )


def prevalence() -> timeseries.Panel:
    """Draw the share of positives beside what was expected."""
    ratios = {
        "outcomes": newest("prevalence_ratio", WINDOW),
        "scores": newest("mean_score_ratio", WINDOW),
        "reference": newest("reference_prevalence_ratio", JUDGED),
        **interval("expected_prevalence_ratio", JUDGED, "model", EXPECTED),
        **interval("population_prevalence_ratio", WINDOW, "model", ALL),
        **interval("population_mean_score_ratio", WINDOW, "model", ALL_SCORES),
    }
    panel = colored(lines(ratios, unit="percentunit"), {"outcomes": TEAL, "scores": BROWN})
    panel.override_by_name(EXPECTED, dashed(CYAN))
    for name, color in {EXPECTED: CYAN, ALL: TEAL, ALL_SCORES: BROWN}.items():
        band(panel, f"{name} low", f"{name} high", color)
    return said(
        panel.override_by_name("reference", dashed(NEUTRAL)),
        "Prevalence",
        "The share of outcomes that are 1, beside the mean score and the share in the reference. "
        "The cyan line is a forecast for days whose outcomes are not in yet, made where the "
        "daily job runs with --unsettled, with its 95 % interval; it is right only if nothing but "
        "the base rate moved. Where labels are chosen by score, the bands are 95 % intervals of "
        "the prevalence and the mean score of all predictions, and the other lines are of the "
        "labelled ones.",
        none="no final window yet",
        width=6,
    )


def intercept() -> timeseries.Panel:
    """Draw the shift that makes the scores right on average."""
    return said(
        with_interval("intercept_logit", WINDOW, BROWN, name="intercept", axis="logit", at=0),
        "Intercept of the scores",
        "Add this to the logit of every score, and the scores are right on average in this "
        "window. It needs no reference. The band is the 95 % interval.",
        none="no final window yet",
        width=6,
    )


def level() -> timeseries.Panel:
    """Draw what tells a moved level from a moved base rate."""
    change = interval("level_change_logit", JUDGED, "model", "level change")
    of_class = {"scores of {{class}} too low": newest("class_level_change_logit", JUDGED, "class")}
    panel = lines(change | of_class, unit="short", axis="logit").decimals(2)
    return said(
        interval_band(marked(panel, 0), "level change", BROWN),
        "Level change",
        "0 while only the base rate moves. Away from 0: the outcomes moved, but the scores did "
        "not follow, so the model's level, or that of the class named, is off. It takes many "
        "outcomes to tell; the band is the 95 % interval.",
        none="no reference yet",
        width=6,
    )
