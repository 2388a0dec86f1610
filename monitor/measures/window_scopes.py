"""What the measures of windows are of: evaluations and their parts."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import log, nan

from monitor.base.segment_names import WHOLE
from monitor.config import CHECKS
from monitor.evaluation.budget import burn
from monitor.evaluation.errors import Errors
from monitor.evaluation.evaluation import (
    AMOUNTS,
    Causes,
    Evaluation,
    Expectation,
    InterceptCorrection,
    MapGain,
    Population,
)
from monitor.measures.measure import Base, Labels, Parts, R, Scope, held
from monitor.measures.snapshot import Snapshot
from monitor.metrics.core.estimate import Estimate

Explained = Callable[[str], Estimate]  # what a cause explains, by rule
ADJUSTED = ("raw", "prior", "map", "population")  # the scores that errors are of
NEVER_RUN = "before the first run"
TOO_FEW = "with fewer than ten of the rarer outcome"
NO_MAP = (
    "with less than 3 compared days; without a `map` in the configuration, before its `since` and "
    "from its `deploy` on; for segments, if the map is of values of another column"
)
NOTHING_AWAITED = "while no outcomes are still arriving, or without a reference"
# The checks of rows, which can be set to "reject" or "unknown"; only vectors have a sum.
ROW_CHECKS = tuple(
    name
    for name, answers in CHECKS.items()
    if {"reject", "unknown"}.intersection(answers) and name != "score_sum"
)


def _of(value: Callable[[Evaluation, Snapshot], R]) -> Base:
    """Make the base whose records are taken from the final windows of a snapshot."""

    def records(snapshot: Snapshot) -> Iterator[tuple[Labels, R]]:
        for e in snapshot.evaluations:
            if e.final:  # missing outcomes look like a prior shift
                yield (e.model, e.segment, f"{e.window_days}d", "final"), value(e, snapshot)

    return Base(("model", "segment", "window", "maturity"), records)


WINDOWS = _of(lambda e, _: e)
# Of what windows of a day hold alone, so that the labels of the window say nothing.
STREAMS = Base(
    ("model", "segment"),
    lambda snapshot: (((e.model, e.segment), e) for e in snapshot.evaluations),
)


def scores(e: Evaluation) -> Parts[Errors]:
    """List the errors of raw, prior-adjusted and mapped scores, and of those of all predictions."""
    of_all = e.population.errors if e.population else None
    readings = zip(ADJUSTED, (e.raw, e.prior, e.map, of_all), strict=True)
    return [((adjusted,), errors) for adjusted, errors in readings if errors]


def _causes(e: Evaluation) -> Parts[Explained]:
    """List the causes of the error; of each the part that it explains, by rule."""
    causes = e.told_causes
    for cause in vars(causes.log_loss) if causes else ():
        yield (cause,), partial(_explained, causes, cause)


def _explained(causes: Causes | None, cause: str, rule: str) -> Estimate:
    shares, errors = getattr(causes, rule), getattr(causes, f"{rule}_errors")
    return Estimate.normal(getattr(shares, cause), getattr(errors, cause))


def _lost(e: Evaluation) -> Parts[Estimate]:
    """List what was lost by each cause, and in all."""
    for cause in AMOUNTS if e.lost else ():
        amount = getattr(e.lost, cause)
        if e.lost and amount:
            yield (cause, e.lost.currency), amount


def _burn(e: Evaluation, snapshot: Snapshot) -> Estimate | None:
    """Compare what the whole of a model cost with its budget, if it has one."""
    budget = snapshot.models[e.model].budget
    if not budget or e.segment != WHOLE or not e.told_causes:
        return None
    return burn(e.told_causes, e.lost, per_prediction=budget.per_prediction)


def _rejected(e: Evaluation, snapshot: Snapshot) -> Mapping[str, int]:
    """Count the rejected rows by check; 0 where a check leaves out rows, and no row failed it."""
    if e.segment != WHOLE:  # a rejected row has no segment
        return {}
    checks = snapshot.models[e.model].checks
    leaving_out = [check for check in ROW_CHECKS if checks.of(check) != "fail"]
    return {**dict.fromkeys(leaving_out, 0), **e.rejected}


def _shifts(snapshot: Snapshot) -> Parts[Estimate]:
    """Find how far the expected prevalence is from that of the reference, in logit."""
    references = {(v.model, v.segment): v.reference_prevalence for v in snapshot.verdicts}
    for e in snapshot.evaluations:
        reference = references.get((e.model, e.segment), nan)
        if e.expected and 0.0 < reference < 1.0:
            expected = (e.expected.prevalence, e.expected.low, e.expected.high)
            shift = Estimate(*(_log_odds(p) - _log_odds(reference) for p in expected))
            yield (e.model, e.segment), shift


def _log_odds(ratio: float) -> float:
    """Give the log-odds of a ratio; nan, so no sample, where they are infinite."""
    return log(ratio / (1.0 - ratio)) if 0.0 < ratio < 1.0 else nan


WINDOW: Scope[Evaluation] = Scope(WINDOWS, NEVER_RUN)
ERRORS: Scope[Errors] = Scope(
    WINDOWS, "without outcomes; `prior` also while all outcomes are equal", ("adjusted",), scores
)
CAUSES: Scope[Explained] = Scope(WINDOWS, TOO_FEW, ("cause",), _causes)
LOST: Scope[Estimate] = Scope(
    WINDOWS,
    "without `value` or `decision` in the configuration; " + TOO_FEW,
    ("cause", "currency"),
    _lost,
)
BURN: Scope[Estimate] = Scope(
    _of(_burn),
    "without `budget` in the configuration, for segments other than `all`; " + TOO_FEW,
    parts=lambda burnt: [] if burnt is None else [((), burnt)],
)
CORRECTION: Scope[InterceptCorrection] = Scope(WINDOWS, TOO_FEW, parts=held("told_correction"))
# The null reference as stored: with the mean, and the names of its fields.
CHANCE: Scope[float] = Scope(
    WINDOWS,
    "while outcomes of the window can still arrive; with fewer than 100 of the rarer outcome, "
    "because bins then reject almost nothing whatever the scores",
    ("quantile",),
    lambda e: [((name,), value) for name, value in vars(e.null).items()] if e.null else [],
)
POPULATION: Scope[Population] = Scope(
    WINDOWS,
    "without outcomes, or without `label_rate` in the configuration",
    parts=held("population"),
)
MAP_GAIN: Scope[MapGain] = Scope(STREAMS, NO_MAP, parts=held("map_gain"))
EXPECTED: Scope[Expectation] = Scope(STREAMS, NOTHING_AWAITED, parts=held("expected"))
EXPECTED_SHIFT: Scope[Estimate] = Scope(
    Base(STREAMS.labels, _shifts),
    "while no outcomes are still arriving, without a reference, or if it is infinite",
)
REJECTED: Scope[float] = Scope(
    _of(_rejected),
    "of segments, because a rejected row has none; of checks whose policy is `fail`, while no row "
    "of the window was left out by them",
    ("reason",),
    lambda rejected: [((check,), rows) for check, rows in rejected.items()],
)
# What the store holds of rows left out, without the checks that no row failed.
LEFT_OUT: Scope[float] = Scope(
    WINDOWS,
    REJECTED.absent,
    ("reason",),
    lambda e: [((check,), rows) for check, rows in sorted(e.rejected.items())],
)
