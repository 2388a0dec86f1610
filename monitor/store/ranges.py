"""What the values of a file of the store must be, however it came about. Pure.

A digest proves that a file is as it was written; these checks that it says what a result can say.
Each raises ValueError with the first rule that is broken.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from math import isfinite, isnan

import numpy as np

from monitor.days.arrivals import Arrivals
from monitor.days.summary import UNIT, Segment, Summary
from monitor.drift.records.detector import Detector, LevelWatch
from monitor.drift.records.facts import ThirdChoices
from monitor.drift.records.verdict import STATES, Brief, Verdict
from monitor.evaluation.evaluation import Evaluation
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import CELL_COUNT, OFFSETS_PER_CELL, Ints
from monitor.store.revisions import Revision

Watch = Detector | LevelWatch | ThirdChoices


def check_owner(model: str, day: date, its_model: str, its_day: str) -> None:
    """Check that a file is of the model and day by whose name it is read."""
    _must("model and day", (its_model, its_day) == (model, str(day)))


def check_rows(columns: Mapping[str, Ints], starts: Ints, predicted: Sequence[int]) -> None:
    """Check the rows of a summary, of which a part begins at each of `starts`.

    In a part the cells rise and are of the grid, and there are no more positives than outcomes, and
    no more outcomes than predictions.
    """
    cells, counts, awaited = (columns[name] for name in ("cell", "count", "awaited"))
    positives, offsets = columns["positives"], columns["offset_sum"]
    if not cells.size:
        return
    _must("cell", cells.min() >= 0 and cells.max() < CELL_COUNT)
    rises = cells[1:] > cells[:-1]
    rises[starts[1:] - 1] = True
    _must("cell", bool(rises.all()))
    _must("count", positives.min() >= 0 and awaited.min() >= 0)
    _must("positives", bool((positives <= counts).all()))
    _must("offset_sum", offsets.min() >= 0 and bool((offsets <= counts * OFFSETS_PER_CELL).all()))
    if "rated_rows" in columns:
        of_rows, of_positives = columns["rated_rows"], columns["rated_positives"]
        _must("rated_rows", bool((of_rows >= counts * UNIT).all()))
        _must("rated_positives", bool((of_positives >= positives * UNIT).all()))
        _must("rated_positives", bool((of_positives <= of_rows).all()))
    rows = np.add.reduceat(counts + awaited, starts)
    _must("predicted", bool((rows <= predicted).all()))


def check_summary(summary: Summary) -> None:
    """Check what a summary has besides its rows."""
    _must("predicted", all(part.predicted >= 0 for part in summary.segments.values()))
    _must("acted", all(map(_is_among, summary.segments.values())))
    _must("rejected", all(count >= 0 for count in summary.rejected.values()))
    _must("class_weights", all(isfinite(weight) and weight > 0 for weight in summary.class_weights))
    _must("known_at", summary.known_at.tzinfo is not None)


def _is_among(part: Segment) -> bool:
    """Say whether predictions that were acted on, if known, are among those without outcome."""
    least = min((of.acted or 0 for of in part.parts.values()), default=0)
    return least >= 0 and (part.acted or 0) <= part.predicted - part.tally.total


def check_evaluations(model: str, day: date, evaluations: Iterable[Evaluation]) -> None:
    """Check evaluations of a day: whose they are, counts, ratios and ends of intervals."""
    for e in evaluations:
        _must("model and day", (e.model, e.day) == (model, day))
        _must("days_present", e.days_present >= 0 and e.window_days >= 1)
        for name in ("predicted", "matched", "positives"):
            _must(name, getattr(e, name) >= 0)
        _must("rejected", all(count >= 0 for count in e.rejected.values()))
        for name in ("coverage", "prevalence", "mean_score"):  # nan without outcomes
            _must(name, isnan(getattr(e, name)) or 0 <= getattr(e, name) <= 1)
        _must_enclose("slope", [e.slope])
        _must_enclose("shift", [e.shift])
        for errors in (e.raw, e.prior, e.map, e.population and e.population.errors):
            for name, error in vars(errors).items() if errors else ():
                _must(name, error is None or _is_error(error))


def _is_error(error: Estimate | float) -> bool:
    """Say whether a measure of `Errors` is in [0, 1], and its interval in order."""
    if isinstance(error, Estimate):
        return (isnan(error.value) or 0 <= error.value <= 1) and not error.low > error.high
    return 0 <= error <= 1


def check_verdicts(model: str, day: date, verdicts: Iterable[Verdict]) -> None:
    """Check verdicts of a day: whose they are, and their states, limits and intervals."""
    for v in verdicts:
        _must("model and day", (v.model, v.day) == (model, day))
        _must("segment and final", None not in (v.segment, v.final))
        _must("state", v.state in STATES)
        _must("limit", v.limit > 0)
        prevalence = v.reference_prevalence
        _must("reference_prevalence", isnan(prevalence) or 0 <= prevalence <= 1)
        _must_enclose(
            "intervals",
            (v.shift, v.level_change, v.slope, v.reference_slope, v.reference_intercept),
        )
        watches: list[Watch] = [v.detector, v.detector.level, *filter(None, [v.facts.third])]
        for watch in watches:
            if watch.incident:  # who lists drifts goes back from the day to the opening
                _must("the opening of a drift", watch.incident.opened <= day)
            if watch.ended:
                _must("the end of a drift", watch.ended.closed <= day)
        for place in v.where.places if v.where else ():
            _must("where", place.rows >= 0 and place.evidence >= 0)
            _must("where", isnan(place.share) or 0 <= place.share <= 1)
            _must_enclose("where", (place.change, place.slope))


def check_briefs(briefs: Iterable[Brief]) -> None:
    """Check what lines draw of the verdicts of a day."""
    for brief in briefs:
        _must("state", brief.state in STATES)


def check_arrivals(arrivals: Arrivals, ages: Sequence[int]) -> None:
    """Check the arrivals of a day: a count of each outcome for each age."""
    _must("age", list(ages) == list(range(len(ages))))
    _must("positives and negatives", min(*arrivals.positives, *arrivals.negatives, 0) >= 0)


def check_revisions(day: date, revisions: Iterable[Revision]) -> None:
    """Check the revisions of a day: of what they are, and their states."""
    for revision in revisions:
        _must("day", revision.day == day)
        _must("state", revision.state in STATES)


def _must_enclose(name: str, estimates: Iterable[Estimate | None]) -> None:
    """Check that the ends of intervals are in order."""
    for estimate in filter(None, estimates):
        _must(name, not estimate.low > estimate.high)


def _must(name: str, holds: bool) -> None:  # noqa: FBT001 - the rule itself
    if not holds:
        msg = f"{name} is out of range"
        raise ValueError(msg)
