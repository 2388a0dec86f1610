"""Results as tidy rows, and rows as pandas frames: one number a row, with its interval."""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple

from monitor.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd

    from monitor.evaluation.attribution import Causes
    from monitor.evaluation.class_measures import ClassMeasures
    from monitor.evaluation.evaluate import Evaluation
    from monitor.evaluation.score_errors import Errors
    from monitor.metrics.core.estimate import Estimate

COUNTS = ("predicted", "matched", "positives")
RATIOS = ("coverage", "prevalence", "mean_score")
DATES = ("day", "since", "opened", "started", "start_low", "start_high", "closed")


class Row(NamedTuple):
    """One number of an evaluation: its name, its scores (raw, prior, map or none), its interval.

    The fields are columns of the frames.
    """

    measure: str
    adjusted: str | None
    value: float
    low: float = nan
    high: float = nan


def frame(rows: Sequence[Any], columns: Sequence[str]) -> "pd.DataFrame":
    """Make a frame; days are datetimes, and a missing number is nan."""
    try:
        import pandas as pd
    except ImportError:
        msg = (
            "frames need the package pandas, which is not installed. "
            "Run: pip install 'calibration-monitor[notebook]'"
        )
        raise ConfigError(msg) from None
    found = pd.DataFrame.from_records(list(rows), columns=list(columns))
    for name in set(DATES) & set(columns):
        found[name] = pd.to_datetime(found[name])
    return found


def rows_of(e: "Evaluation") -> Iterator[Row]:
    """List every number of an evaluation."""
    for name in (*COUNTS, *RATIOS):
        yield Row(name, None, getattr(e, name))
    for check, rows in sorted(e.rejected.items()):
        yield Row(f"rejected_{check}", None, rows)
    yield from _estimate("shift", None, e.shift)
    yield from _estimate("slope", None, e.slope)
    yield from _estimate("slope", "map", e.map_slope)
    for adjusted, errors in (("raw", e.raw), ("prior", e.prior), ("map", e.map)):
        if errors:
            yield from _errors(adjusted, errors)
    yield from _explained(e)


def _explained(e: "Evaluation") -> Iterator[Row]:
    """List what TCE is by chance, the causes, what an intercept removes, and what to expect."""
    for field in fields(e.null) if e.null else ():
        yield Row(f"tce_published_by_chance_{field.name}", "prior", getattr(e.null, field.name))
    if e.causes:
        yield from _causes(e.causes)
    if e.correction:
        for name in ("delta", "log_loss", "squared_error"):
            yield from _estimate(f"correction_{name}", None, getattr(e.correction, name))
        yield Row("log_loss", "raw", e.correction.log_loss_before)
    if e.map_gain:
        yield Row("map_days", "map", e.map_gain.days)
        for name in ("log_loss", "brier", "recent"):
            yield from _estimate(f"map_{name}_gain", "map", getattr(e.map_gain, name))
    if e.classes:
        yield from _classes(e.classes)
    if e.expected:
        x = e.expected
        yield Row("expected_prevalence", None, x.prevalence, x.low, x.high)
        yield Row("expected_fit_log10_p", None, x.fit_log10_p)
        yield from _normal("expected_unshifted", None, x.unshifted, x.unshifted_error)


def _classes(measures: "ClassMeasures") -> Iterator[Row]:
    """List the measures of vectors, and those of each watched class against the rest."""
    yield Row("classes", None, measures.count)
    yield Row("classes_judged", None, measures.judged)
    for adjusted, vector in (("raw", measures.raw), ("prior", measures.prior)):
        yield from _estimate("vector_rbs", adjusted, vector.rbs)
        yield from _estimate("vector_log_loss", adjusted, vector.log_score)
    for one in measures.by_class:
        for name in ("outcomes", "prevalence", "mean_score"):
            yield Row(f"{name}[{one.name}]", None, getattr(one, name))
        for adjusted, errors in (("raw", one.raw), ("prior", one.prior)):
            for row in _errors(adjusted, errors) if errors else ():
                yield row._replace(measure=f"{row.measure}[{one.name}]")


def _estimate(name: str, adjusted: str | None, e: "Estimate | None") -> Iterator[Row]:
    if e:
        yield Row(name, adjusted, e.value, e.low, e.high)


def _normal(name: str, adjusted: str | None, value: float, error: float) -> Iterator[Row]:
    from monitor.metrics.core.estimate import Estimate

    return _estimate(name, adjusted, Estimate.normal(value, error))


def _errors(adjusted: str, errors: "Errors") -> Iterator[Row]:
    yield Row("tce_published", adjusted, errors.tce_published)
    yield from _estimate("tce", adjusted, errors.tce)
    for name in ("ece", "rbs"):
        ends = getattr(errors, f"{name}_interval")
        found = getattr(errors, name)
        yield (
            Row(name, adjusted, found, ends.low, ends.high) if ends else Row(name, adjusted, found)
        )


def _causes(causes: "Causes") -> Iterator[Row]:
    for rule in ("log_loss", "squared_error"):
        shares, errors = getattr(causes, rule), getattr(causes, f"{rule}_errors")
        for field in fields(shares):
            value, error = getattr(shares, field.name), getattr(errors, field.name)
            yield from _normal(f"{rule}_of_{field.name}", "raw", value, error)
