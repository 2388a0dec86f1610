"""A snapshot of the results, and how gauges take their samples from it. Pure.

A sample is its label values, in the order of the gauge's labels, and a number; nan stands for
a number that does not exist.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from math import isnan, log, nan
from typing import TypeVar, get_args

from monitor.arrivals import Delay
from monitor.config import Checks, Model, Verdicts
from monitor.drift.verdict import Verdict
from monitor.errors import Fault
from monitor.evaluation.attribution import Causes, Shares
from monitor.evaluation.evaluate import Evaluation
from monitor.evaluation.expected_prevalence import Expectation
from monitor.evaluation.map_gain import MapGain
from monitor.evaluation.score_errors import Errors
from monitor.metrics.core.estimate import Estimate
from monitor.segment_names import WHOLE
from monitor.store.store import RunRecord
from monitor.summary import end_of_day

SECONDS_AN_HOUR, SECONDS_A_DAY = 3_600, 86_400
AGES_SHOWN = (0, 1, 2, 3, 5, 7, 10, 14, 21, 28)  # days, besides settled_after

# The checks of rows. Checks of whole days cannot be set to "reject", and only vectors have a sum.
ROW_CHECKS = tuple(
    name
    for name, field in Checks.model_fields.items()
    if "reject" in get_args(field.annotation) and name != "score_sum"
)


@dataclass(frozen=True)
class Snapshot:
    """Everything that one scrape shows.

    Attributes
    ----------
    models : mapping of str to Model
        The configured models.
    evaluations : sequence of Evaluation
        Of these models; at most one of each segment, window and maturity.
    runs : mapping of str to RunRecord
        The last run of each model that has one.
    version : str
        Version of this program.
    verdicts : sequence of Verdict
        The newest of each model and segment.
    left_out : mapping of str to int
        How many segments of each model are left out of the evaluations, to limit the number of
        series. Their verdicts are included while a drift is open.
    invalid : frozenset of str
        The models whose configuration is invalid; `models` holds the valid part of it.
    delays : mapping of str to Delay
        When the outcomes of each model arrive, if complete days have been counted.
    faults : mapping of str to str
        Why the results of a model cannot be read; it has no evaluations and no verdicts then.
    """

    models: Mapping[str, Model]
    evaluations: Sequence[Evaluation]
    runs: Mapping[str, RunRecord]
    version: str
    verdicts: Sequence[Verdict] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    invalid: frozenset[str] = frozenset()
    delays: Mapping[str, Delay] = field(default_factory=dict)
    faults: Mapping[str, str] = field(default_factory=dict)


def seconds_of(day: date) -> float:
    """Write a date as the Unix time of its midnight in UTC: formatted as UTC it is that date."""
    return datetime.combine(day, time(), UTC).timestamp()


T = TypeVar("T")
Sample = tuple[tuple[str, ...], T]  # label values, and a number or an estimate
Samples = Callable[[Snapshot], Iterable[Sample[T]]]


def of_window(value: Callable[[Evaluation], T | None]) -> Samples[T]:
    """Take one value of each window that has it."""

    def sample(e: Evaluation) -> Iterable[Sample[T]]:
        found = value(e)
        return [] if found is None else [((), found)]

    return of_windows(sample)


def of_errors(measure: Callable[[Errors], T | None]) -> Samples[T]:
    """Take one measure of each window that has it, for raw, prior-adjusted and mapped scores."""

    def each(e: Evaluation) -> Iterable[Sample[T]]:
        for adjusted, errors in (("raw", e.raw), ("prior", e.prior), ("map", e.map)):
            value = measure(errors) if errors else None
            if value is not None:
                yield (adjusted,), value

    return of_windows(each)


def of_causes(shares: Callable[[Causes], Shares]) -> Samples[float]:
    """Take the part of each window's error that each cause explains."""

    def by_cause(e: Evaluation) -> Iterable[Sample[float]]:
        if e.causes:
            yield from (((cause,), value) for cause, value in vars(shares(e.causes)).items())

    return of_windows(by_cause)


def of_expected(value: Callable[[Expectation], T]) -> Samples[T]:
    """Take a value of the expected prevalence of each segment that awaits outcomes."""

    def expected(snapshot: Snapshot) -> Iterable[Sample[T]]:
        for e in snapshot.evaluations:
            if e.expected:
                yield (e.model, e.segment), value(e.expected)

    return expected


def of_expected_shift(snapshot: Snapshot) -> Iterable[Sample[Estimate]]:
    """Take how far the expected prevalence is from that of the reference, in logit."""
    references = {(v.model, v.segment): v.reference_prevalence for v in snapshot.verdicts}
    for e in snapshot.evaluations:
        reference = references.get((e.model, e.segment), nan)
        if e.expected and 0.0 < reference < 1.0:
            found = (e.expected.prevalence, e.expected.low, e.expected.high)
            yield (
                (e.model, e.segment),
                Estimate(*(_log_odds(p) - _log_odds(reference) for p in found)),
            )


def _log_odds(ratio: float) -> float:
    """Give the log-odds of a ratio; nan, so no sample, where they are infinite."""
    return log(ratio / (1.0 - ratio)) if 0.0 < ratio < 1.0 else nan


def of_map(value: Callable[[MapGain], T]) -> Samples[T]:
    """Take what the calibration map in the shadow of each segment gained."""

    def gained(snapshot: Snapshot) -> Iterable[Sample[T]]:
        for e in snapshot.evaluations:
            if e.map_gain:
                yield (e.model, e.segment), value(e.map_gain)

    return gained


def of_null(snapshot: Snapshot) -> Iterable[Sample[float]]:
    """Take the quantiles of the null reference of each window that has one."""

    def quantiles(e: Evaluation) -> Iterable[Sample[float]]:
        if e.null:
            yield ("0.05",), e.null.q05
            yield ("0.5",), e.null.q50
            yield ("0.95",), e.null.q95
            yield ("0.99",), e.null.q99

    return of_windows(quantiles)(snapshot)


def of_rejected_rows(snapshot: Snapshot) -> Iterable[Sample[float]]:
    """Count the rejected rows of each window by check; 0 for a check that no row failed."""

    def counts(e: Evaluation) -> Iterable[Sample[float]]:
        if e.segment == WHOLE:  # a rejected row has no segment
            for check, rows in {**dict.fromkeys(ROW_CHECKS, 0), **e.rejected}.items():
                yield (check,), rows

    return of_windows(counts)(snapshot)


def of_window_ends(snapshot: Snapshot) -> Iterable[Sample[float]]:
    """Find the moment at which the last day of each window ended."""
    zones = {name: model.time_zone for name, model in snapshot.models.items()}
    return of_window(lambda e: end_of_day(e.day, zones[e.model]).timestamp())(snapshot)


def of_run(value: Callable[[RunRecord], float]) -> Samples[float]:
    """Take one number of the last run of each model."""
    return lambda snapshot: [((name,), value(run)) for name, run in snapshot.runs.items()]


def of_successes(snapshot: Snapshot) -> Iterable[Sample[float]]:
    """Give the time at which the last run without a failed day of each model finished."""
    for name, run in snapshot.runs.items():
        if run.succeeded:
            yield (name,), run.succeeded.timestamp()


def of_failing_runs(snapshot: Snapshot) -> Iterable[Sample[float]]:
    """Find the end of the first run with a failed day since each model's last success."""
    for name, run in snapshot.runs.items():
        if run.failing_since:
            yield (name,), run.failing_since.timestamp()


def of_failed_days(snapshot: Snapshot) -> Iterable[Sample[float]]:
    """Name what is wrong with the logs of the newest failed day of each last run, and the date."""
    for name, run in snapshot.runs.items():
        if run.failed:
            fault = run.failed.fault or Fault("logs", "other", "the logs cannot be used")
            yield (name, fault.log, fault.check, fault.complaint), seconds_of(run.failed.day)


def of_fault(value: Callable[[Fault], float | None]) -> Samples[float]:
    """Take a number of what is wrong with the logs of each model whose last run failed."""

    def numbers(snapshot: Snapshot) -> Iterable[Sample[float]]:
        for name, run in snapshot.runs.items():
            found = value(run.failed.fault) if run.failed and run.failed.fault else None
            if found is not None:
                yield (name,), found

    return numbers


def of_reports(snapshot: Snapshot) -> Iterable[Sample[float]]:
    """Name the report page of each model that has one configured."""
    return [((name, m.report_url), 1) for name, m in snapshot.models.items() if m.report_url]


def of_segments_left_out(snapshot: Snapshot) -> Iterable[Sample[float]]:
    """Count the segments of each model that are not exported."""
    return [((name,), count) for name, count in snapshot.left_out.items()]


def of_reference_starts(snapshot: Snapshot) -> Iterable[Sample[float]]:
    """Find when the first day of every configured reference of each model began."""
    for name, model in snapshot.models.items():
        for number, span in enumerate(model.verdicts.references, start=1):
            before = end_of_day(span.first - timedelta(days=1), model.time_zone)
            yield (name, str(number)), before.timestamp()


def of_models(snapshot: Snapshot) -> Iterable[Sample[float]]:
    """Name each configured model with its owner and severity."""
    return [((name, m.owner, m.severity), 1) for name, m in snapshot.models.items()]


def of_valid_configurations(snapshot: Snapshot) -> Iterable[Sample[float]]:
    """Say of each configured model whether its configuration is valid."""
    return [((name,), name not in snapshot.invalid) for name in snapshot.models]


def of_readable_results(snapshot: Snapshot) -> Iterable[Sample[float]]:
    """Say of each configured model whether its stored results can be read."""
    return [((name,), name not in snapshot.faults) for name in snapshot.models]


def of_limit(limit: Callable[[Verdicts], float]) -> Samples[float]:
    """Take a limit of each configured model, which alert rules compare with."""
    return lambda snapshot: [
        ((name,), limit(model.verdicts)) for name, model in snapshot.models.items()
    ]


def of_version(snapshot: Snapshot) -> Iterable[Sample[float]]:
    """Name the version of this program."""
    return [((snapshot.version,), 1)]


def of_windows(samples: Callable[[Evaluation], Iterable[Sample[T]]]) -> Samples[T]:
    """Put model, segment, window and maturity before the label values that are given."""

    def fill(snapshot: Snapshot) -> Iterable[Sample[T]]:
        for e in snapshot.evaluations:
            maturity = "final" if e.final else "provisional"
            for further, value in samples(e):
                yield (e.model, e.segment, f"{e.window_days}d", maturity, *further), value

    return fill


def of_arrivals(snapshot: Snapshot) -> Iterable[Sample[float]]:
    """Give the share of outcomes that have arrived by some ages, and when a day settles."""
    for name, delay in snapshot.delays.items():
        longest, settled_after = len(delay.positives) - 1, snapshot.models[name].settled_after
        for age in sorted({settled_after, *(age for age in AGES_SHOWN if age <= longest)}):
            for outcome in (0, 1):
                share = delay.arrived(outcome, age)
                if not isnan(share):
                    yield (name, f"{outcome}", f"{age}"), share
