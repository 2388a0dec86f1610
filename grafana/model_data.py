"""The dashboard of a model's data and runs: whether the rest can be believed."""

from grafana_foundation_sdk.builders import stat, table, timeseries
from grafana_foundation_sdk.models import common, dashboard
from grafana_foundation_sdk.models.dashboard import DynamicConfigValue as Property
from pages import laid_out, linked, of_model
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
    thresholds,
)
from queries import MODEL, ONE_DAY, WHOLE, milliseconds, newest, run_share

OF_WHOLE = f'{MODEL}, segment="{WHOLE}"'
WINDOW_OF_WHOLE = f'{OF_WHOLE}, window="$window", maturity="final"'
HOUR = 3600
DAY = 24 * HOUR
NO_WINDOW = "no final window yet"


def data() -> dashboard.Dashboard:
    """Build the dashboard."""
    begun = of_model(
        "calibration-data",
        "Calibration: data and runs of a model",
        "What arrived of a model's logs, what was left out, and how old the results are.",
    )
    linked(begun, "calibration-fleet", "calibration-model", "calibration-errors")
    return laid_out(
        begun,
        [
            *(coverage(), rows(), rejected()),
            *(ages(), durations(), arrived()),
            *(judged(), success(), false_alerts(), left_out()),
            *(limits(), failure()),
        ],
    )


def coverage() -> timeseries.Panel:
    """Draw how complete the window is."""
    ratios = {
        "outcomes known": newest("outcome_coverage_ratio", WINDOW_OF_WHOLE),
        "days present": newest("window_present_ratio", WINDOW_OF_WHOLE),
        "near a labelled score": newest("population_reached_ratio", WINDOW_OF_WHOLE),
        "of the two highest classes": newest("judged_outcomes_ratio", WINDOW_OF_WHOLE),
        "share of {{segment}}": newest("moved_share_ratio", MODEL, "segment"),
    }
    return said(
        lines(ratios, unit="percentunit").min(0).max(1),
        "Coverage",
        "The share of predictions whose outcome has arrived, and the share of the window's days "
        "that are there. Missing outcomes can look like a shift of the base rate: look here first. "
        "Where labels are chosen by score, also the share of predictions with scores like those "
        "that have an outcome; of a model with classes, the share of outcomes that are one of the "
        "two with the highest scores, on which its verdict rests. The share of a segment is drawn "
        "where it is far outside of what the reference had.",
        none=NO_WINDOW,
        width=8,
    )


def rows() -> timeseries.Panel:
    """Draw how many rows the numbers rest on."""
    counts = {
        "predictions": newest("window_predictions", WINDOW_OF_WHOLE),
        "outcomes": newest("window_outcomes", WINDOW_OF_WHOLE),
        "acted on": newest("window_acted_on_predictions", WINDOW_OF_WHOLE),
    }
    return said(
        lines(counts, unit="short").min(0),
        "Rows in the window",
        "Valid predictions, and those whose outcome is known; with `action` also those that were "
        "acted on, whose outcome does not count. Few rows make wide bands.",
        none=NO_WINDOW,
        width=8,
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
        width=8,
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
        sized(panel, value=18, title=12)
        .text_mode(common.BigValueTextMode.VALUE_AND_NAME)
        .height(4),
        "Limits of the alerts",
        "What the alerts about this model's runs and data compare with, as configured, and how "
        "much of two of them is used up: pink from 100 %. An alert that comes too often or too "
        "late is changed in the configuration, not in the rules.",
        none="nothing exported",
        width=24,
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
        "newest verdict": newest("verdict_timestamp_seconds", OF_WHOLE),
    }
    ages = {name: f"max_over_time((time() - {at})[1d:1h]) / {DAY}" for name, at in times.items()}
    limit = {"a run is overdue": f"{newest('run_overdue_limit_seconds', MODEL)} / {DAY}"}
    panel = lines(ages | limit, unit="short", axis="days").min(0)
    return said(
        panel.override_by_name("a run is overdue", dashed(PINK)),
        "Age of the results",
        "How long ago the last run and the last success were, and how far back the newest "
        "verdict reached, each at its worst within a day. A line that climbs has stopped.",
        none="nothing exported",
        width=7,
    )


def durations() -> timeseries.Panel:
    """Draw how long the runs take."""
    return said(
        lines({"last run": newest("run_duration_seconds", MODEL)}, unit="s").min(0),
        "Duration of the runs",
        "How long the daily job took for this model. A jump: more rows, or a slower store.",
        none="no run yet",
        width=5,
    )


def judged() -> stat.Panel:
    """Show which day the verdict speaks of."""
    date = milliseconds(newest("verdict_date_seconds", OF_WHOLE))
    return said(
        number({"judged": date}, unit=MOMENT),
        "Last day judged",
        "The day that the verdict speaks of, in the model's time zone. It is some days back, "
        "because outcomes need their time to arrive.",
        none="no reference yet",
        width=5,
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
        sized(panel, value=28).thresholds(near_limit()),
        "Last success",
        "How long ago the last run without a failed day finished, and how much that is of what "
        "the model's configuration allows. Pink: a run is overdue.",
        none="none within 26 hours",
        width=5,
    )


def false_alerts() -> stat.Panel:
    """Show how far a page can be trusted."""
    intervals = {
        "all": newest("false_alert_interval_seconds", MODEL),
        "segments": newest("segment_false_alert_interval_seconds", MODEL),
    }
    return said(
        sized(number(intervals, unit="s"), value=28)
        .decimals(1)
        .text_mode(common.BigValueTextMode.VALUE_AND_NAME),
        "One false page in",
        "If the curve never bends, incidents of the whole model are at least this far apart on "
        "average, and so are those of all its segments together.",
        none="no limit yet",
        width=7,
    )


def left_out() -> stat.Panel:
    """Count what has no gauges of its own."""
    return said(
        sized(number({"{{of}}": newest("left_out", MODEL, "model, of")}, unit="short"), value=28)
        .decimals(0)
        .text_mode(common.BigValueTextMode.VALUE_AND_NAME),
        "Left out",
        "Segments, classes, pairs of classes, and values of columns that were compared, without "
        "gauges of their own, because they are more than the exporter's limit or not watched "
        "(`predictions.classes.watch`). Open incidents of segments are exported all the same, and "
        "the segment all holds all rows.",
        none="nothing exported",
        width=7,
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
        width=12,
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
