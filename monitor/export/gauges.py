"""The catalogue of gauges, and what the store knows as metric families. Pure.

Rule 1: a gauge is one entry of the catalogue, with the words that rules, panels and
docs/gauges.md use. Ratios, not percent; base units; no label holds a date or a run id.
Rule 2: a number that does not exist has no sample: nan would draw and alert like a value.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from monitor.export import samples
from monitor.export.samples import Samples, Snapshot

WINDOW = ("model", "segment", "window", "maturity")


@dataclass(frozen=True)
class Gauge:
    """One gauge: its name, what it means, its labels, and what fills it from a snapshot."""

    name: str
    meaning: str
    labels: tuple[str, ...]
    samples: Samples


CATALOGUE = (
    Gauge(
        "calibration_tce_published_ratio",
        "Share of predictions that the outcomes of their bin reject, with the published bin sizes; "
        "far from 0 on calibrated models, so read it against calibration_tce_null_ratio.",
        (*WINDOW, "adjusted"),
        samples.of_errors(lambda errors: errors.tce_published),
    ),
    Gauge(
        "calibration_tce_null_ratio",
        "Quantile of calibration_tce_published_ratio if the prior-adjusted scores were calibrated.",
        (*WINDOW, "quantile"),
        samples.of_null,
    ),
    Gauge(
        "calibration_ece_ratio",
        "Expected calibration error: mean gap between score and outcome over bins.",
        (*WINDOW, "adjusted"),
        samples.of_errors(lambda errors: errors.ece),
    ),
    Gauge(
        "calibration_rbs",
        "Root Brier score: root of the mean squared gap between score and outcome.",
        (*WINDOW, "adjusted"),
        samples.of_errors(lambda errors: errors.rbs),
    ),
    Gauge(
        "calibration_intercept_logit",
        "Shift of all scores, in logit, that makes them right on average.",
        WINDOW,
        samples.of_shift(lambda shift: shift.delta),
    ),
    Gauge(
        "calibration_intercept_logit_low",
        "Lower end of the 95 % interval of calibration_intercept_logit.",
        WINDOW,
        samples.of_shift(lambda shift: shift.low),
    ),
    Gauge(
        "calibration_intercept_logit_high",
        "Upper end of the 95 % interval of calibration_intercept_logit.",
        WINDOW,
        samples.of_shift(lambda shift: shift.high),
    ),
    Gauge(
        "calibration_prevalence_ratio",
        "Share of the known outcomes that are 1.",
        WINDOW,
        samples.of_window(lambda e: e.prevalence),
    ),
    Gauge(
        "calibration_mean_score_ratio",
        "Mean score of the predictions whose outcome is known.",
        WINDOW,
        samples.of_window(lambda e: e.mean_score),
    ),
    Gauge(
        "calibration_window_predictions",
        "Valid predictions in the window.",
        WINDOW,
        samples.of_window(lambda e: e.predicted),
    ),
    Gauge(
        "calibration_window_outcomes",
        "Predictions in the window whose outcome is known.",
        WINDOW,
        samples.of_window(lambda e: e.matched),
    ),
    Gauge(
        "calibration_window_present_ratio",
        "Share of the window's days that are in the store.",
        WINDOW,
        samples.of_window(lambda e: e.days_present / e.window_days),
    ),
    Gauge(
        "calibration_outcome_coverage_ratio",
        "Share of the window's predictions whose outcome is known.",
        WINDOW,
        samples.of_window(lambda e: e.coverage),
    ),
    Gauge(
        "calibration_rejected_rows",
        "Rows of the logs left out of the window, by the check that they broke.",
        (*WINDOW, "reason"),
        samples.of_rejected_rows,
    ),
    Gauge(
        "calibration_window_end_timestamp_seconds",
        "When the last day of the window ended, in the model's time zone.",
        WINDOW,
        samples.of_window_ends,
    ),
    Gauge(
        "calibration_last_run_timestamp_seconds",
        "When the last run finished, with or without failed days.",
        ("model",),
        samples.of_run(lambda run: run.finished.timestamp()),
    ),
    Gauge(
        "calibration_last_success_timestamp_seconds",
        "When the last run without a failed day finished.",
        ("model",),
        samples.of_successes,
    ),
    Gauge(
        "calibration_run_duration_seconds",
        "How long the last run took.",
        ("model",),
        samples.of_run(lambda run: (run.finished - run.started).total_seconds()),
    ),
    Gauge(
        "calibration_model_info",
        "A configured model, with its owner and severity; always 1.",
        ("model", "owner", "severity"),
        samples.of_models,
    ),
    Gauge(
        "calibration_build_info",
        "The version of calibration-monitor that answers; always 1.",
        ("version",),
        samples.of_version,
    ),
)


def families(snapshot: Snapshot) -> Iterator[Metric]:
    """Turn a snapshot into metric families, in the order of the catalogue."""
    for gauge in CATALOGUE:
        family = GaugeMetricFamily(gauge.name, gauge.meaning, labels=gauge.labels)
        for labels, value in gauge.samples(snapshot):
            if not isnan(value):
                family.add_metric(labels, value)
        yield family
