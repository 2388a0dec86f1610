"""The row of a model's dashboard about the data behind the numbers."""

from grafana_foundation_sdk.builders import timeseries
from panels import lines, marked, said, stacked
from queries import JUDGED, MODEL, WINDOW, newest

DAY = 86400
NO_WINDOW = "no final window yet"


def health() -> list[timeseries.Panel]:
    """Draw what arrived, what was refused, and how old it is."""
    return [coverage(), rows(), rejected(), ages(), forecast(), durations(), left_out()]


def coverage() -> timeseries.Panel:
    """Draw how complete the window is."""
    ratios = {
        "outcomes known": newest("outcome_coverage_ratio", WINDOW),
        "days present": newest("window_present_ratio", WINDOW),
    }
    return said(
        lines(ratios, unit="percentunit").min(0).max(1),
        "Coverage",
        "The share of predictions whose outcome has arrived, and the share of the window's days "
        "that are there. Missing outcomes can look like a shift of the base rate.",
        none=NO_WINDOW,
        width=8,
    )


def rows() -> timeseries.Panel:
    """Draw how many rows the numbers rest on."""
    counts = {
        "predictions": newest("window_predictions", WINDOW),
        "outcomes": newest("window_outcomes", WINDOW),
    }
    return said(
        lines(counts, unit="short").min(0),
        "Rows in the window",
        "Valid predictions, and those whose outcome is known. Few rows make wide bands.",
        none=NO_WINDOW,
        width=8,
    )


def rejected() -> timeseries.Panel:
    """Draw the rows that were left out."""
    selector = f'{MODEL}, window="$window", maturity="final"'  # a rejected row has no segment
    rejections = {"{{reason}}": newest("rejected_rows", selector, "reason")}
    return said(
        stacked(lines(rejections, unit="short").min(0)),
        "Rejected rows",
        "Rows of the logs that were left out of the window, by the check that they broke. They "
        "are counted for the whole model: a rejected row has no segment.",
        none="no rows rejected",
        width=8,
    )


def ages() -> timeseries.Panel:
    """Draw how old the results are."""
    times = {
        "last run": newest("last_run_timestamp_seconds", MODEL),
        "last success": newest("last_success_timestamp_seconds", MODEL),
        "newest final window": newest("window_end_timestamp_seconds", WINDOW),
        "newest verdict": newest("verdict_timestamp_seconds", JUDGED),
    }
    ages = {name: f"max_over_time((time() - {at})[1d:1h]) / {DAY}" for name, at in times.items()}
    return said(
        lines(ages, unit="short", axis="days").min(0),
        "Age of the results",
        "How long ago the last run and the last success were, and how far back the newest window "
        "and verdict reached, each at its worst within a day. A line that climbs has stopped.",
        none="nothing exported",
        width=6,
    )


def forecast() -> timeseries.Panel:
    """Draw whether the forecast of the prevalence can be trusted."""
    fit = {"fit": newest("expected_prevalence_fit_log10_p", JUDGED)}
    panel = lines(fit, unit="short", axis="log10 p")
    return said(
        marked(panel.max(0).axis_soft_min(-4), -3, "red"),
        "Does the forecast of the prevalence fit?",
        "Whether a moved base rate alone explains the newest scores. Below -3 (dashed) it does "
        "not: the features moved too, and the forecast of the prevalence should not be used.",
        none="no reference yet",
        width=6,
    )


def durations() -> timeseries.Panel:
    """Draw how long the runs take."""
    return said(
        lines({"last run": newest("run_duration_seconds", MODEL)}, unit="s").min(0),
        "Duration of the runs",
        "How long the daily job took for this model.",
        none="no run yet",
        width=6,
    )


def left_out() -> timeseries.Panel:
    """Draw how many segments are not told of."""
    segments = {"segments": newest("segments_left_out", MODEL)}
    return said(
        lines(segments, unit="short").min(0).axis_soft_max(4).decimals(0),
        "Segments left out",
        "Segments of which nothing is exported, because the model has more than the exporter may "
        "tell of. The segment all still holds their rows.",
        none="nothing exported",
        width=6,
    )
