"""The row of a model's dashboard about what the reference allows to find."""

from grafana_foundation_sdk.builders import timeseries
from panels import CYAN, NEUTRAL, PINK, colored, dashed, lines, said, with_interval
from queries import JUDGED, newest

NO_REFERENCE = "no reference yet"


def findable() -> list[timeseries.Panel]:
    """Give the panels from left to right."""
    return [changes(), patience(), unknown(), reference_slope(), reference_intercept()]


def changes() -> timeseries.Panel:
    """Draw which changes of the slope are tolerated, and which are looked for."""
    found = newest("detectable_slope_change", JUDGED)
    tolerated = newest("tolerated_slope_change", JUDGED)
    panel = lines({"looked for": found, "tolerated": tolerated}, unit="short", axis="slope")
    panel = colored(panel.decimals(2).min(0), {"looked for": PINK})
    return said(
        panel.override_by_name("tolerated", dashed(NEUTRAL)),
        "Changes of the slope",
        "A slope that changes by less than the dashed line is tolerated, and by more than the pink "
        "one is looked for. Both fall with more outcomes in the reference, and rise if its days "
        "differ among themselves.",
        none=NO_REFERENCE,
        width=8,
    )


def patience() -> timeseries.Panel:
    """Draw how long a drift takes to be found."""
    days = {"days": newest("slope_detection_days", JUDGED)}
    return said(
        lines(days, unit="short", axis="days").decimals(0).min(0),
        "Days until a slope of 0.8 is found",
        "On average, with the volume of the reference. No line: at this volume it is never found; "
        "judge several days together (judge_every), or choose a longer reference.",
        none="no reference yet, or never found",
        width=8,
    )


def unknown() -> timeseries.Panel:
    """Draw how many scores lie where nothing is known of the curve."""
    share = {"share": newest("unknown_scores_ratio", JUDGED)}
    return said(
        lines(share, unit="percentunit").min(0),
        "Scores beyond the reference",
        "The share of the day's scores that lie where the reference has too few outcomes to know "
        "its curve. The verdict says nothing about them. If it stays above a few percent, re-base "
        "the reference.",
        none=NO_REFERENCE,
        width=8,
    )


def reference_slope() -> timeseries.Panel:
    """Draw whether the reference itself was calibrated."""
    return said(
        with_interval("reference_slope", JUDGED, CYAN, name="slope", axis="slope", at=1),
        "Slope of the reference",
        "1: the scores were calibrated in the reference, apart from the prior. Below 1 they were "
        "too extreme from the start, above 1 too timid; no verdict reports that, because it "
        "compares with the reference. The band is the 95 % interval.",
        none=NO_REFERENCE,
        width=12,
    )


def reference_intercept() -> timeseries.Panel:
    """Draw whether the reference's scores were right on average."""
    gauge = "reference_intercept_logit"
    return said(
        with_interval(gauge, JUDGED, CYAN, name="intercept", axis="logit", at=0),
        "Intercept of the reference",
        "0: as many predictions of the reference came true as expected. Above 0 more did, below 0 "
        "fewer; no verdict reports that, because it compares with the reference. The band is the "
        "95 % interval.",
        none=NO_REFERENCE,
        width=12,
    )
