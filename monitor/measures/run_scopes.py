"""What the measures of runs and configurations are of."""

from collections.abc import Callable, Iterable, Iterator
from datetime import date, timedelta
from math import isnan
from typing import Any

from monitor.base.errors import Fault
from monitor.base.segment_names import printable
from monitor.config import Budget, Model, Verdicts
from monitor.days.run_record import RunRecord
from monitor.days.summary import end_of_day
from monitor.drift.records.facts import LONG_AHEAD
from monitor.measures.measure import Base, Labels, Scope
from monitor.measures.snapshot import Snapshot, seconds_of
from monitor.measures.window_scopes import NEVER_RUN

NEVER = "never"
NO_FAILURE = "while the last run has no failed day"
AGES_SHOWN = (1, 3, 7, 14, 28)  # days, besides settled_after


def scope(
    absent: str, labels: Labels, records: Callable[[Snapshot], Iterable[tuple[Labels, Any]]]
) -> Scope[Any]:
    """Make a scope of its own records."""
    return Scope(Base(labels, records), absent)


def flag(holds: Callable[[Snapshot, str], bool]) -> Scope[float]:
    """Make the scope of what is true or false of each configured model."""
    return scope(NEVER, ("model",), lambda s: [((name,), holds(s, name)) for name in s.models])


def _reviews(snapshot: Snapshot) -> Iterator[tuple[Labels, float]]:
    """Find the day from which on the last span of known drifts ends soon."""
    for name, model in snapshot.models.items():
        if spans := model.verdicts.known_drifts:
            yield (name,), seconds_of(max(span.last for span in spans) - timedelta(days=LONG_AHEAD))


def _failed_days(snapshot: Snapshot) -> Iterator[tuple[Labels, float]]:
    """Name what is wrong with the logs of the newest failed day of each last run, and the date."""
    for name, run in snapshot.runs.items():
        if run.failed:
            fault = run.failed.fault or Fault("logs", "other", "the logs cannot be used")
            yield (name, fault.log, fault.check, fault.complaint), seconds_of(run.failed.day)


def _faults(snapshot: Snapshot) -> Iterator[tuple[Labels, Fault]]:
    for name, run in snapshot.runs.items():
        if run.failed and run.failed.fault:
            yield (name,), run.failed.fault


def _reference_starts(snapshot: Snapshot) -> Iterator[tuple[Labels, float]]:
    """Find when the first day of every reference of each model began that people named."""
    for name, model in snapshot.models.items():
        firsts = {span.first for span in model.verdicts.references}
        firsts |= {rebase.first for rebase in snapshot.rebased.get(name, ())}
        for number, first in enumerate(sorted(firsts), start=1):
            yield (name, str(number)), _begin(first, model)


def _deployed_maps(snapshot: Snapshot) -> Iterator[tuple[Labels, float]]:
    """Find when the first day of every deployed map of each model began."""
    for name, model in snapshot.models.items():
        deployed = [setting.deploy for setting in model.map if setting.deploy]
        for number, first in enumerate(deployed, start=1):
            yield (name, str(number)), _begin(first, model)


def _begin(day: date, model: Model) -> float:
    """Give the moment at which a day began where the model lives."""
    return end_of_day(day - timedelta(days=1), model.time_zone).timestamp()


def _rebases(snapshot: Snapshot) -> Iterator[tuple[Labels, float]]:
    """Name who last began a reference of each model, with the moment."""
    for name, rebases in snapshot.rebased.items():
        if rebases:
            newest = max(rebases, key=lambda rebase: rebase.number)
            yield (name, printable(newest.by)), newest.at.timestamp()


def _arrivals(snapshot: Snapshot) -> Iterator[tuple[Labels, float]]:
    """Give the share of outcomes that have arrived by some ages, and when a day settles."""
    for name, delay in snapshot.delays.items():
        longest, settled_after = len(delay.positives) - 1, snapshot.models[name].settled_after
        for age in sorted({settled_after, *(age for age in AGES_SHOWN if age <= longest)}):
            for outcome in (0, 1):
                share = delay.arrived(outcome, age)
                if not isnan(share):
                    yield (name, f"{outcome}", f"{age}"), share


RUN: Scope[RunRecord] = scope(
    NEVER_RUN, ("model",), lambda s: [((name,), run) for name, run in s.runs.items()]
)
LIMITS: Scope[Verdicts] = scope(
    NEVER, ("model",), lambda s: [((name,), model.verdicts) for name, model in s.models.items()]
)
BUDGETS: Scope[Budget] = scope(
    "without `budget` in the configuration",
    ("model",),
    lambda s: [((name,), model.budget) for name, model in s.models.items() if model.budget],
)
FAILED_DAY: Scope[float] = scope(NO_FAILURE, ("model", "log", "check", "complaint"), _failed_days)
FAULT: Scope[Fault] = scope(f"{NO_FAILURE}, and where a whole log is at fault", ("model",), _faults)
ARRIVALS: Scope[float] = scope(
    "before a day is complete: 28 days after the first has settled",
    ("model", "outcome", "age_days"),
    _arrivals,
)
REFERENCE_START: Scope[float] = scope(
    "without a reference that somebody named", ("model", "reference"), _reference_starts
)
MAP_DEPLOYED: Scope[float] = scope("without a deployed map", ("model", "map"), _deployed_maps)
REBASED: Scope[float] = scope(
    "while nobody has begun a reference with rebase", ("model", "by"), _rebases
)
MODEL: Scope[float] = scope(
    NEVER,
    ("model", "owner", "severity"),
    lambda s: [((name, m.owner, m.severity), 1) for name, m in s.models.items()],
)
OUTCOMES: Scope[float] = scope(
    "without `outcomes.owner` in the configuration",
    ("model", "owner"),
    lambda s: [((n, m.outcomes.owner), 1) for n, m in s.models.items() if m.outcomes.owner],
)
BLIND: Scope[float] = scope(
    "of a model that does not page",
    ("model", "severity"),
    lambda s: [((n, m.verdicts.blind), 1) for n, m in s.models.items() if m.severity == "page"],
)
KNOWN_DRIFTS: Scope[float] = scope("without `known_drifts`", ("model",), _reviews)
VALID: Scope[float] = flag(lambda s, name: name not in s.invalid)
READABLE: Scope[float] = flag(lambda s, name: name not in s.faults)
REPORT: Scope[float] = scope(
    "while nothing names one",
    ("model", "url"),
    lambda s: [((name, m.report_url), 1) for name, m in s.models.items() if m.report_url],
)
VERSION: Scope[float] = scope(NEVER, ("version",), lambda s: [((s.version,), 1)])
