"""Invent ninety days of gauges for three models, as an OpenMetrics file for promtool.

``fraud``: its prior shifts for three weeks, which forgives itself; later its scores become too
extreme, which does not. ``churn`` is well. ``ads`` loses its outcomes and stops being judged.
The numbers are invented to look like results, and nothing may be concluded from them.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import product
from math import log10
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Days = NDArray[np.float64]

DAYS = 90
FIRST = datetime(2026, 1, 1, 6, tzinfo=UTC)  # the morning of the first results
LAST = FIRST + timedelta(days=DAYS - 1)
TIMES = np.array([(FIRST + timedelta(days=day)).timestamp() for day in range(DAYS)])
SETTLED_AFTER = 3 * 86400
SEGMENTS = {"all": 1.0, "DE": 0.6, "FR": 0.4}
WINDOWS = {"1d": 1, "7d": 7, "28d": 28}
STATES = (
    "ok",
    "prior_shift",
    "level_drift",
    "calibration_drift",
    "insufficient_data",
    "data_error",
)
KINDS = (
    "too_extreme",
    "too_timid",
    "ends_overpredicted",
    "ends_underpredicted",
    "tails_too_extreme",
    "tails_too_timid",
    "top_overpredicted",
    "top_underpredicted",
)
LIMIT = log10(8 * 1000)
BROKEN_FROM = 74  # of ads
SHIFTED = 0.223  # odds times 1.25


@dataclass(frozen=True)
class Story:
    """What happens to a segment of a model: arrays of days."""

    model: str
    segment: str
    predictions: float
    prevalence: float
    shift: Days
    slope: Days
    coverage: Days
    chance: np.random.Generator


@dataclass(frozen=True)
class Verdict:
    """What is said of a segment: arrays of days."""

    evidence: dict[str, Days]
    states: list[str]
    opened: int | None


Sample = tuple[str, dict[str, str], Days]  # gauge, labels, values


def stories() -> Iterator[Story]:
    """Tell of every segment of every model."""
    day = np.arange(DAYS)
    for number, (model, segment) in enumerate(product(("fraud", "churn", "ads"), SEGMENTS)):
        chance = np.random.default_rng(number)
        shift = 0.05 * np.sin(2 * np.pi * day / 7) + chance.normal(0, 0.02, DAYS)
        slope, coverage = np.ones(DAYS), 0.985 + chance.normal(0, 0.003, DAYS)
        if model == "fraud":
            shift += 0.6 * np.clip((day - 28) / 3, 0, 1) * np.clip((50 - day) / 3, 0, 1)
            slope -= 0.2 * np.clip((day - 60) / 8, 0, 1)
        if model == "ads":
            coverage -= 0.5 * np.clip((day - 70) / 4, 0, 1)
        prevalence = {"fraud": 0.05, "churn": 0.22, "ads": 0.01}[model]
        rows = {"fraud": 20_000, "churn": 4_000, "ads": 250_000}[model] * SEGMENTS[segment]
        yield Story(model, segment, rows, prevalence, shift, slope, np.clip(coverage, 0, 1), chance)


def judged(story: Story) -> Verdict:
    """Accumulate evidence until it opens an incident, and name each day."""
    evidence = {kind: np.zeros(DAYS) for kind in KINDS}
    states, opened = [], None
    for day in range(DAYS):
        for kind, meter in evidence.items():
            before = meter[day - 1] if day else 0.0
            bent = (1 - story.slope[day]) * (4.5 if kind == "too_extreme" else -2)
            step = bent - 0.12 + story.chance.normal(0, 0.12)
            meter[day] = max(0.0, (0.0 if before >= LIMIT else before) + step)
        if opened is None and evidence["too_extreme"][day] >= LIMIT:
            opened = day
        states.append(state(story, day, is_open=opened is not None))
    return Verdict(evidence, states, opened)


def state(story: Story, day: int, *, is_open: bool) -> str:
    """Name a day."""
    if story.model == "ads" and day >= BROKEN_FROM:
        return "data_error"
    if is_open:
        return "calibration_drift"
    return "prior_shift" if abs(recent(story.shift, 7)[day]) > SHIFTED else "ok"


def recent(values: Days, days: int) -> Days:
    """Average the last days of each day."""
    sums = np.cumsum(np.concatenate([[0.0], values]))
    last = np.arange(1, DAYS + 1)
    first = np.maximum(0, last - days)
    return np.asarray((sums[last] - sums[first]) / (last - first))


def interval(name: str, labels: dict[str, str], middle: Days, half: Days) -> Iterator[Sample]:
    """Give a gauge and its two ends."""
    yield name, labels, middle
    yield f"{name}_low", labels, middle - half
    yield f"{name}_high", labels, middle + half


def of_verdict(story: Story) -> Iterator[Sample]:
    """Give the gauges of the newest judged day."""
    labels = {"model": story.model, "segment": story.segment}
    found = judged(story)
    for name in STATES:
        held = np.array([float(state == name) for state in found.states])
        yield "verdict", {**labels, "state": name}, held
    drifting = np.array([state == "calibration_drift" for state in found.states])
    for kind, values in found.evidence.items():
        yield "evidence_log10", {**labels, "kind": kind}, values
        yield "drift_kind", {**labels, "kind": kind}, drifting * float(kind == "too_extreme")
    started = TIMES[(found.opened or 0)] - 6 * 86400
    yield "drift_started_timestamp_seconds", labels, np.where(drifting, started, np.nan)
    yield "drift_evidence_log10", labels, np.where(drifting, LIMIT + 0.2, np.nan)
    yield "evidence_limit_log10", labels, np.full(DAYS, LIMIT)
    half = np.full(DAYS, 8 / np.sqrt(story.predictions * 7 * story.prevalence))
    slope = recent(story.slope, 7) + story.chance.normal(0, half / 4)
    yield from interval("drift_slope", labels, slope, half)
    yield from interval("prior_shift_logit", labels, recent(story.shift, 7), half / 2)
    kappa = story.chance.normal(0, half / 3)
    yield from interval("level_kappa_logit", labels, kappa, 2 * half)
    yield "reference_prevalence_ratio", labels, np.full(DAYS, story.prevalence)
    yield "expected_prevalence_ratio", labels, prevalence(story, 1) * 1.01
    yield "expected_prevalence_fit_log10_p", labels, -story.chance.exponential(0.4, DAYS)
    ends = np.floor((TIMES - SETTLED_AFTER) / 86400) * 86400
    yield "verdict_timestamp_seconds", labels, ends


def prevalence(story: Story, days: int) -> Days:
    """Give the share of positives in a window."""
    odds = story.prevalence / (1 - story.prevalence) * np.exp(recent(story.shift, days))
    return np.asarray(odds / (1 + odds))


def of_window(story: Story, window: str) -> Iterator[Sample]:
    """Give the gauges of a window."""
    days = WINDOWS[window]
    labels = {"model": story.model, "segment": story.segment, "window": window}
    labels |= {"maturity": "final"}
    rows = np.full(DAYS, story.predictions * days)
    half = 2.5 / np.sqrt(rows * story.prevalence)
    share = prevalence(story, days)
    bend = 1 - recent(story.slope, days)
    yield from errors(story, labels, days)
    yield "prevalence_ratio", labels, share
    yield "mean_score_ratio", labels, np.full(DAYS, story.prevalence)
    yield from interval("slope", labels, 1 - bend + story.chance.normal(0, half / 3), 2 * half)
    yield from interval("intercept_logit", labels, recent(story.shift, days), half)
    yield "window_predictions", labels, np.round(rows)
    yield "window_outcomes", labels, np.round(rows * recent(story.coverage, days))
    yield "outcome_coverage_ratio", labels, recent(story.coverage, days)
    yield "window_present_ratio", labels, np.ones(DAYS)
    yield "window_end_timestamp_seconds", labels, np.floor((TIMES - SETTLED_AFTER) / 86400) * 86400
    costs = {
        "prior_shift": share * (1 - share) * recent(story.shift, days) ** 2 / 2,
        "slope": 2.2 * share * (1 - share) * bend**2,
        "shape": np.abs(story.chance.normal(2e-5, 1e-5, DAYS)),
        "rest": np.abs(story.chance.normal(3e-5, 1e-5, DAYS)),
    }
    for cause, cost in costs.items():
        yield "log_loss_explained", {**labels, "cause": cause}, cost
        yield "squared_error_explained", {**labels, "cause": cause}, cost * 2 * share
    if story.segment == "all":
        orphans = story.chance.poisson(3.0 * days, DAYS).astype(float)
        repeated = np.rint(100 * (1 - recent(story.coverage, days)) * days)
        yield "rejected_rows", {**labels, "reason": "outcome_orphan"}, orphans
        yield "rejected_rows", {**labels, "reason": "prediction_repeated"}, repeated


def errors(story: Story, labels: dict[str, str], days: int) -> Iterator[Sample]:
    """Give every error, raw and with the prior forgiven."""
    share, shift = story.prevalence, np.abs(recent(story.shift, days))
    bend = 1 - recent(story.slope, days)
    noise = 0.4 / np.sqrt(story.predictions * days)
    for adjusted, moved in (("raw", shift), ("prior", 0 * shift)):
        twice = {**labels, "adjusted": adjusted}
        gap = np.hypot(share * (1 - share) * moved, 3.2 * share * (1 - share) * bend)
        ece = gap + noise * (1 + story.chance.normal(0, 0.15, DAYS))
        tce = np.clip(0.12 + 0.9 * gap / share + story.chance.normal(0, 0.008, DAYS), 0, 1)
        yield from interval("tce_ratio", twice, tce, 0.025 + 0.06 * tce)
        published = np.clip(0.1 + 1.3 * gap / share + story.chance.normal(0, 0.02, DAYS), 0, 1)
        yield "tce_published_ratio", twice, published
        yield from interval("ece_ratio", twice, ece, np.full(DAYS, noise * 0.7))
        root = np.sqrt(prevalence(story, days) * (1 - share) * 0.8 + gap**2)
        yield from interval("rbs", twice, root, np.full(DAYS, 0.3 * noise + 0.001))
    for quantile, value in (("0.05", 0.05), ("0.5", 0.11), ("0.95", 0.19), ("0.99", 0.24)):
        around = value + story.chance.normal(0, 0.004, DAYS)
        yield "tce_null_ratio", {**labels, "quantile": quantile}, around


def of_runs() -> Iterator[Sample]:
    """Give the gauges of whole models, and of the monitor."""
    for number, model in enumerate(("fraud", "churn", "ads")):
        labels, duration = {"model": model}, 14.0 + 9 * number
        chance = np.random.default_rng(100 + number)
        stopped = TIMES[BROKEN_FROM - 1] if model == "ads" else np.inf
        yield "last_run_timestamp_seconds", labels, TIMES - 120
        yield "last_success_timestamp_seconds", labels, np.minimum(TIMES, stopped) - 120
        yield "run_duration_seconds", labels, duration + chance.gamma(4, 1, DAYS)
        yield "segments_left_out", labels, np.zeros(DAYS)
        yield "false_alert_interval_seconds", labels, np.full(DAYS, 1000 * 86400.0)
        owner = {"owner": f"{model}-team", "severity": "page" if model == "fraud" else "ticket"}
        yield "model_info", {**labels, **owner}, np.ones(DAYS)
    yield "build_info", {"version": "0.1.0"}, np.ones(DAYS)


def samples() -> Iterator[Sample]:
    """Give every gauge of every story; a broken model keeps the last results it had."""
    for story in stories():
        told = [sample for window in WINDOWS for sample in of_window(story, window)]
        for name, labels, values in [*told, *of_verdict(story)]:
            if story.model == "ads" and name != "verdict":
                values[BROKEN_FROM:] = values[BROKEN_FROM - 1]
            yield name, labels, values
    yield from of_runs()


def exposition() -> str:
    """Write OpenMetrics: families in order, every series in the order of time."""
    families: dict[str, list[str]] = {}
    for name, labels, values in samples():
        inside = ",".join(f'{key}="{value}"' for key, value in labels.items())
        lines = families.setdefault(f"calibration_{name}", [])
        for time, value in zip(TIMES, values, strict=True):
            if not np.isnan(value):
                lines.append(f"calibration_{name}{{{inside}}} {value:.9g} {time:.0f}")
    blocks = ["\n".join([f"# TYPE {name} gauge", *lines]) for name, lines in families.items()]
    return "\n".join([*blocks, "# EOF", ""])


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(exposition())
