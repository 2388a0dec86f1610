"""The panels of a model's dashboard over time: verdict, evidence, slope and level."""

from grafana_foundation_sdk.builders import statetimeline, timeseries
from panels import (
    BROWN,
    CYAN,
    PINK,
    TEAL,
    dashed,
    interval_band,
    lines,
    marked,
    said,
    timeline,
    with_intervals,
)
from queries import EXPECTED, JUDGED, evidence_share, interval, newest, verdict, while_it_fits


def verdicts() -> statetimeline.Panel:
    """Draw the verdict over time."""
    return said(
        timeline({"verdict": verdict(JUDGED)}).height(5),
        "Verdict over time",
        "What was said of the model, day by day. A gap: nothing was exported.",
        none="no verdict yet: the model has no reference",
        width=14,
    )


def lines_over_time() -> list[timeseries.Panel]:
    """Draw what tells a bent curve from a moved base rate, and that from a moved level."""
    return [evidence(), slope_since(), shifts()]


def evidence() -> timeseries.Panel:
    """Draw how near the next incident is."""
    panel = lines({"evidence": evidence_share(JUDGED)}, unit="percentunit").min(0)
    return said(
        marked(panel, 1, PINK),
        "Evidence of drift against its limit",
        "How strongly the outcomes say that the curve is bent, as a share of what opens an "
        "incident (100 %, dashed). The base rate does not enter. While an incident is open, the "
        "evidence that opened it. The limit of a segment is that of the day: it depends on how "
        "loud the others are.",
        none="no reference yet",
        width=8,
    )


def slope_since() -> timeseries.Panel:
    """Draw the slope against the reference."""
    return said(
        with_intervals({"slope": ("drift_slope", JUDGED, PINK)}, axis="slope", at=1).decimals(2),
        "Slope against the reference",
        "1: the outcomes follow the reference curve. Below 1: scores have become too extreme. "
        "Above 1: too timid. Since the drift's estimated start, or of the last 7 days. The band "
        "is the 95 % interval.",
        none="no reference yet",
        width=8,
    )


def shifts() -> timeseries.Panel:
    """Draw the shift of the prior, and what it does not explain of the level."""
    targets = {
        **interval("prior_shift_logit", JUDGED, "model", "prior shift"),
        EXPECTED: while_it_fits(newest("expected_shift_logit", JUDGED), JUDGED),
        **interval("level_change_logit", JUDGED, "model", "level change"),
        "scores of {{class}} too low": newest("class_level_change_logit", JUDGED, "class"),
    }
    panel = lines(targets, unit="short", axis="logit").decimals(2)
    panel = interval_band(marked(panel, 0), "prior shift", TEAL)
    panel = interval_band(panel, "level change", BROWN).override_by_name(EXPECTED, dashed(CYAN))
    return said(
        panel,
        "Prior shift and level change",
        "Prior shift: how far the base rate of the last 7 days is from what the reference curve "
        "expects. +0.7 means doubled odds. The dashed line is what the scores alone suggest for "
        "days whose outcomes are not in yet, while a moved base rate alone explains them. Level "
        "change: the part that the scores did not follow, so the model's level, or that of the "
        "class named, is off. The bands are 95 % intervals.",
        none="no reference yet",
        width=8,
    )
