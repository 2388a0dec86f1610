"""The row of a model's dashboard about the data behind the numbers."""

from grafana_foundation_sdk.builders import stat, table, timeseries
from grafana_foundation_sdk.models import common, dashboard
from grafana_foundation_sdk.models.dashboard import DynamicConfigValue as Property
from panels import (
    BROWN,
    MOMENT,
    PINK,
    asked,
    beside,
    dashed,
    lines,
    marked,
    near_limit,
    number,
    said,
    sized,
    stacked,
)
from queries import JUDGED, MODEL, ONE_DAY, WHOLE, WINDOW, milliseconds, newest, run_share

HOUR = 3600
DAY = 24 * HOUR
FIT_LIMIT, FIT_DRAWN = -3, -10  # log10 p: below it nothing fits; the lowest that is drawn
NO_WINDOW = "no final window yet"


def health() -> list[timeseries.Panel | stat.Panel | table.Panel]:
    """Draw what arrived, what was refused, and how old it is."""
    return [
        *(coverage(), rows(), rejected(), limits()),
        *(ages(), forecast(), durations(), left_out()),
        failure(),
        arrived(),
    ]


def coverage() -> timeseries.Panel:
    """Draw how complete the window is."""
    ratios = {
        "outcomes known": newest("outcome_coverage_ratio", WINDOW),
        "days present": newest("window_present_ratio", WINDOW),
        "near a labelled score": newest("population_reached_ratio", WINDOW),
        "share of {{segment}}": newest("moved_share_ratio", MODEL, "segment"),
    }
    return said(
        lines(ratios, unit="percentunit").min(0).max(1),
        "Coverage",
        "The share of predictions whose outcome has arrived, and the share of the window's days "
        "that are there. Missing outcomes can look like a shift of the base rate: look here first. "
        "Where labels are chosen by score, also the share of predictions with scores like those "
        "that have an outcome. The share of a segment is drawn where it is far outside of what the "
        "reference had.",
        none=NO_WINDOW,
        width=6,
    )


def rows() -> timeseries.Panel:
    """Draw how many rows the numbers rest on."""
    counts = {
        "predictions": newest("window_predictions", WINDOW),
        "outcomes": newest("window_outcomes", WINDOW),
        "acted on": newest("window_acted_on_predictions", WINDOW),
    }
    return said(
        lines(counts, unit="short").min(0),
        "Rows in the window",
        "Valid predictions, and those whose outcome is known; with `action` also those that were "
        "acted on, whose outcome does not count. Few rows make wide bands.",
        none=NO_WINDOW,
        width=6,
    )


def rejected() -> timeseries.Panel:
    """Draw the rows that were left out."""
    selector = f'{MODEL}, window="$window", maturity="final"'  # a rejected row has no segment
    rejections = {"{{reason}}": f"{newest('rejected_rows', selector, 'reason')} > 0"}
    return said(
        stacked(lines(rejections, unit="short").min(0)),
        "Rejected rows",
        "Rows of the logs that were left out of the window, by the check that they broke. They "
        "are counted for the whole model: a rejected row has no segment.",
        none="none rejected, or no final window yet",
        width=6,
    )


def limits() -> stat.Panel:
    """Show what the alerts about data and runs compare with, and how much of it is used."""
    hours = {
        "no run for": newest("run_overdue_limit_seconds", MODEL),
        "later than a week ago": newest("run_late_limit_seconds", MODEL),
        "runs may fail for": newest("data_error_limit_seconds", MODEL),
    }
    shares = {
        "coverage / usual": newest("outcome_coverage_limit_ratio", MODEL),
        "rejected / usual": newest("rejected_rows_limit_ratio", MODEL),
    }
    used = {"run age, of its limit": run_share(MODEL), "lack of outcomes, of its limit": lacking()}
    blind = {"without a verdict: {{severity}}": newest("blind_info", MODEL, "severity")}
    targets = used | {n: f"{q} / {HOUR}" for n, q in hours.items()} | shares | blind
    panel = number(targets, unit="percentunit").decimals(0)
    for name in hours:
        panel.override_by_name(name, [Property(id_val="unit", value="suffix: h")])
    exceeded = near_limit()
    for name in used:
        colours = Property(id_val="thresholds", value=exceeded.build())
        panel.override_by_name(name, [colours])
    return said(
        sized(panel, value=15, title=13)
        .text_mode(common.BigValueTextMode.VALUE_AND_NAME)
        .orientation(common.VizOrientation.HORIZONTAL)
        .height(8),
        "Limits of the alerts",
        "What the alerts about this model's runs and data compare with, as configured, and how "
        "much of two of them is used up: pink from 100 %. An alert that comes too often or too "
        "late is changed in the configuration, not in the rules.",
        none="nothing exported",
        width=6,
    )


def lacking() -> str:
    """Ask how near the coverage of the newest final day is to the limit of its alert."""
    day = f'{MODEL}, segment="{WHOLE}", window="{ONE_DAY}", maturity="final"'
    longer = f'{MODEL}, segment="{WHOLE}", window!="{ONE_DAY}", maturity="final"'
    usual = newest("outcome_coverage_ratio", longer)
    allowed = f"{newest('outcome_coverage_limit_ratio', MODEL)} * {usual}"
    return f"{allowed} / {newest('outcome_coverage_ratio', day)}"


def ages() -> timeseries.Panel:
    """Draw how old the results are."""
    times = {
        "last run": newest("last_run_timestamp_seconds", MODEL),
        "last success": newest("last_success_timestamp_seconds", MODEL),
        "newest final window": newest("window_end_timestamp_seconds", WINDOW),
        "newest verdict": newest("verdict_timestamp_seconds", JUDGED),
    }
    ages = {name: f"max_over_time((time() - {at})[1d:1h]) / {DAY}" for name, at in times.items()}
    limit = {"a run is overdue": f"{newest('run_overdue_limit_seconds', MODEL)} / {DAY}"}
    panel = lines(ages | limit, unit="short", axis="days").min(0)
    return said(
        panel.override_by_name("a run is overdue", dashed(PINK)),
        "Age of the results",
        "How long ago the last run and the last success were, and how far back the newest window "
        "and verdict reached, each at its worst within a day. A line that climbs has stopped.",
        none="nothing exported",
        width=6,
    )


def forecast() -> timeseries.Panel:
    """Draw whether the forecast of the prevalence can be trusted."""
    fit = {"fit": f"clamp_min({newest('expected_prevalence_fit_log10_p', JUDGED)}, {FIT_DRAWN})"}
    panel = lines(fit, unit="short", axis="log10 p")
    return said(
        marked(panel.max(0).axis_soft_min(FIT_LIMIT - 1), FIT_LIMIT, PINK),
        "Does the forecast of the prevalence fit?",
        "Whether a moved base rate alone explains the newest scores. Below "
        f"{FIT_LIMIT} (dashed) it does not: the features moved too, and the forecast of the "
        f"prevalence should not be used. Less than {FIT_DRAWN} is drawn as {FIT_DRAWN}.",
        none="no outcomes are awaited",
        width=6,
    )


def durations() -> timeseries.Panel:
    """Draw how long the runs take."""
    return said(
        lines({"last run": newest("run_duration_seconds", MODEL)}, unit="s").min(0),
        "Duration of the runs",
        "How long the daily job took for this model. A jump: more rows, or a slower store.",
        none="no run yet",
        width=6,
    )


def left_out() -> timeseries.Panel:
    """Draw how many segments are not told of."""
    segments = {"segments": newest("segments_left_out", MODEL)}
    return said(
        lines(segments, unit="short").min(0).axis_soft_max(4).decimals(0),
        "Segments left out",
        "Segments of which only an open incident is exported, because the model has more than the "
        "exporter may tell of. The segment all still holds their rows.",
        none="nothing exported",
        width=6,
    )


def failure() -> table.Panel:
    """Show what is wrong with the logs of the newest failed day."""
    of_day = "model, log, check, complaint"
    columns = {
        "Day": milliseconds(newest("failed_day_date_seconds", MODEL, of_day)),
        "Rows that broke it": newest("failed_rows", MODEL),
        "Rows checked": newest("failed_checked_rows", MODEL),
        "First value": newest("failed_value", MODEL),
        "Failing since (UTC)": milliseconds(newest("failing_since_timestamp_seconds", MODEL)),
    }
    panel = asked(table.Panel(), columns, now=True, rows=True).unit("short").height(4)
    names = {"log": "Log", "check": "Check", "complaint": "What is wrong"}
    for transformation in arranged(list(columns), names):
        panel.with_transformation(transformation)
    panel.override_by_name("Day", [Property(id_val="unit", value=MOMENT)])
    since = Property(id_val="unit", value="dateTimeAsIso")
    panel.override_by_name("Failing since (UTC)", [since])
    return said(
        panel.align(common.FieldTextAlignment.LEFT),
        "What is wrong with the logs",
        "The newest failed day of the last run: which log broke which check, how many rows did, "
        "and the first value that did. Empty while runs succeed.",
        none="the last run had no failed day",
        width=24,
    )


def arrived() -> timeseries.Panel:
    """Draw when outcomes arrive."""
    ratio = newest("arrived_outcomes_ratio", MODEL, "outcome, age_days")
    panel = lines({"outcome {{outcome}}, {{age_days}} days": ratio}, unit="percentunit").max(1)
    return said(
        marked(panel.min(0), 0.95, BROWN).legend(beside()),
        "Outcomes that have arrived, by their age",
        "Of complete days, the share of the outcomes 1 and 0 that had arrived after so many days. "
        "If it is below 95 % (dashed) at settled_after, outcomes are incomplete: raise "
        "settled_after, or verdicts stay silent about drifts that late outcomes could explain.",
        none="no complete day yet: it takes 28 days after the first has settled",
        width=24,
    )


def arranged(columns: list[str], labels: dict[str, str]) -> list[dashboard.DataTransformerConfig]:
    """Join the answers by model, then name and order the columns, labels after the first."""
    fields = {f"Value #{chr(ord('A') + place)}": name for place, name in enumerate(columns)}
    first, *others = fields
    order = [first, *labels, *others]
    return [
        dashboard.DataTransformerConfig(id_val="merge", options={}),
        dashboard.DataTransformerConfig(
            id_val="organize",
            options={
                "excludeByName": dict.fromkeys(["Time", "model"], True),
                "includeByName": {},
                "indexByName": {field: place for place, field in enumerate(order)},
                "renameByName": fields | labels,
            },
        ),
    ]
