"""The catalogue of gauges, and evaluations as metric families. Pure.

Rule 1: every gauge is declared here once, with the words that dashboards, rules and the
documentation use. Ratios, not percent; base units; no label holds a date or a run id.
Rule 2: a number that does not exist has no sample: nan would draw and alert like a value.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from monitor.config import Checks, Model
from monitor.days import end_of_day
from monitor.evaluate import Evaluation
from monitor.store import RunRecord

PREFIX = "calibration_"
OF_A_WINDOW = ("model", "segment", "window", "maturity")

Samples = Iterator[tuple[tuple[str, ...], float | None]]


@dataclass(frozen=True)
class Gauge:
    """One gauge of a window: its name, what it means, and how an evaluation fills it.

    Attributes
    ----------
    name : str
        Without the common prefix.
    meaning : str
        The help text.
    labels : tuple of str
        Beside model, segment, window and maturity.
    samples : callable
        Values by the further labels; None where there is no number.
    """

    name: str
    meaning: str
    labels: tuple[str, ...]
    samples: Callable[[Evaluation], Samples]


def _one(value: Callable[[Evaluation], float | None]) -> Callable[[Evaluation], Samples]:
    def samples(e: Evaluation) -> Samples:
        yield (), value(e)

    return samples


def _adjusted(measure: str) -> Callable[[Evaluation], Samples]:
    def samples(e: Evaluation) -> Samples:
        yield ("raw",), getattr(e.raw, measure, None)
        yield ("prior",), getattr(e.prior, measure, None)

    return samples


def _null_quantiles(e: Evaluation) -> Samples:
    for quantile, field in (("0.05", "q05"), ("0.5", "q50"), ("0.95", "q95"), ("0.99", "q99")):
        yield (quantile,), getattr(e.null, field, None)


def _rejected(e: Evaluation) -> Samples:
    for check in Checks.model_fields:
        if check in e.rejected or e.segment == "all":
            yield (check,), float(e.rejected.get(check, 0))


CATALOGUE = (
    Gauge(
        "tce_published_ratio",
        "Share of predictions rejected by the test of their PAVA-BC bin, with the paper's bin "
        "sizes; read it against calibration_tce_null_ratio.",
        ("adjusted",),
        _adjusted("tce_published"),
    ),
    Gauge(
        "tce_null_ratio",
        "Quantiles of the published TCE of a calibrated model with the same predictions.",
        ("quantile",),
        _null_quantiles,
    ),
    Gauge(
        "ece_ratio",
        "Expected calibration error over PAVA-BC bins.",
        ("adjusted",),
        _adjusted("ece"),
    ),
    Gauge("rbs", "Root Brier score.", ("adjusted",), _adjusted("rbs")),
    Gauge(
        "intercept_logit",
        "Shift in logit that makes the predictions right on average.",
        (),
        _one(lambda e: e.shift and e.shift.delta),
    ),
    Gauge(
        "intercept_logit_low",
        "Lower end of the 95 % interval of calibration_intercept_logit.",
        (),
        _one(lambda e: e.shift and e.shift.low),
    ),
    Gauge(
        "intercept_logit_high",
        "Upper end of the 95 % interval of calibration_intercept_logit.",
        (),
        _one(lambda e: e.shift and e.shift.high),
    ),
    Gauge("prevalence_ratio", "Share of outcomes that are 1.", (), _one(lambda e: e.prevalence)),
    Gauge(
        "mean_score_ratio",
        "Mean score of the predictions whose outcome is known.",
        (),
        _one(lambda e: e.mean_score),
    ),
    Gauge(
        "window_predictions", "Valid predictions in the window.", (), _one(lambda e: e.predicted)
    ),
    Gauge(
        "window_outcomes",
        "Predictions in the window whose outcome is known.",
        (),
        _one(lambda e: e.matched),
    ),
    Gauge(
        "window_days",
        "Days of the window that are in the store.",
        (),
        _one(lambda e: e.days_present),
    ),
    Gauge(
        "outcome_coverage_ratio",
        "Share of the window's predictions whose outcome is known.",
        (),
        _one(lambda e: e.coverage),
    ),
    Gauge("rejected_rows", "Rows left out of the window, by check.", ("reason",), _rejected),
)


def families(
    models: Mapping[str, Model],
    evaluations: Iterable[Evaluation],
    runs: Mapping[str, RunRecord],
    *,
    version: str,
) -> Iterator[Metric]:
    """Turn evaluations into metric families, in the order of the catalogue.

    Parameters
    ----------
    models : mapping of str to Model
        The configured models.
    evaluations : iterable of Evaluation
        At most one of each model, segment, window and maturity.
    runs : mapping of str to RunRecord
        The last run of each model that has one.
    version : str
        Of this program.
    """
    judged = list(evaluations)
    for gauge in CATALOGUE:
        family = _family(gauge.name, gauge.meaning, OF_A_WINDOW + gauge.labels)
        for evaluation in judged:
            for labels, value in gauge.samples(evaluation):
                if value is not None and not isnan(value):
                    family.add_metric((*_labels(evaluation), *labels), value)
        yield family
    ends = _family("window_end_timestamp_seconds", "When the window's last day ended.", OF_A_WINDOW)
    for evaluation in judged:
        end = end_of_day(evaluation.day, models[evaluation.model].time_zone)
        ends.add_metric(_labels(evaluation), end.timestamp())
    yield ends
    yield from _of_runs(runs)
    info = _family("model_info", "Owner and severity of a model.", ("model", "owner", "severity"))
    for name, model in models.items():
        info.add_metric((name, model.owner, model.severity), 1.0)
    yield info
    build = _family("build_info", "Version of calibration-monitor.", ("version",))
    build.add_metric((version,), 1.0)
    yield build


def _of_runs(runs: Mapping[str, RunRecord]) -> Iterator[Metric]:
    last = _family("last_run_timestamp_seconds", "When the last run finished.", ("model",))
    success = _family(
        "last_success_timestamp_seconds",
        "When the last run in which no day failed finished.",
        ("model",),
    )
    duration = _family("run_duration_seconds", "How long the last run took.", ("model",))
    for name, run in runs.items():
        last.add_metric((name,), run.finished.timestamp())
        duration.add_metric((name,), (run.finished - run.started).total_seconds())
        if run.succeeded:
            success.add_metric((name,), run.succeeded.timestamp())
    yield from (last, success, duration)


def _family(name: str, meaning: str, labels: Sequence[str]) -> GaugeMetricFamily:
    return GaugeMetricFamily(PREFIX + name, meaning, labels=labels)


def _labels(e: Evaluation) -> tuple[str, ...]:
    maturity = "final" if e.final else "provisional"
    return e.model, e.segment, f"{e.window_days}d", maturity
