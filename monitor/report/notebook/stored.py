"""The store of the daily job as pandas frames."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from math import nan
from typing import TYPE_CHECKING, Any

from monitor.base.errors import ConfigError
from monitor.report.notebook.frames import Row, frame, rows_of
from monitor.report.notebook.mapping import path_of

if TYPE_CHECKING:
    import pandas as pd

    from monitor.drift.records.verdict import Verdict
    from monitor.read.results import Results

Columns = dict[str, Any]
Day = date | str
ESTIMATES = ("slope", "shift", "level_change")
COLUMNS = {
    "summaries": (
        "model", "day", "segment", "stratum", "predicted", "matched", "positives", "mean_score",
        "final", "known_at",
    ),
    "evaluations": (
        "model", "day", "segment", "window_days", "days_present", "final", "known_at",
        *Row._fields,
    ),
    "verdicts": (
        "model", "day", "segment", "state", "final", "known_at", "evidence", "limit", "kind",
        "since", *(f"{name}{end}" for name in ESTIMATES for end in ("", "_low", "_high")),
        "tolerated_slope_change", "detectable_slope_change", "unknown_share",
        "reference_prevalence", "reasons", "shown",
    ),
    "incidents": (
        "model", "segment", "opened", "started", "start_low", "start_high", "kind", "evidence",
        "closed", "ended", "kind_now", "explained_by",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class ResultStore:
    """The results of the daily job, as `open_store` returns them.

    Every method reads the store again, and takes the name of a model (default: all models), and
    the first and last day (default: all days), as dates or as text such as `2026-03-01`.

    Attributes
    ----------
    path : str
        The folder or URL of the store.
    """

    path: str

    def models(self) -> list[str]:
        """List the models that have results, in the order of their names."""
        from monitor.read.results import models_of

        return models_of(self.path)

    def summaries(
        self, model: str | None = None, *, first: Day | None = None, last: Day | None = None
    ) -> "pd.DataFrame":
        """Give the counts of each day, a row for each segment and stratum.

        Columns: model, day, segment, stratum (`all` if the segment is not divided), predicted,
        matched (with an outcome), positives, mean_score, final, known_at.
        """
        return self._frame("summaries", _summaries, model, first, last)

    def evaluations(
        self, model: str | None = None, *, first: Day | None = None, last: Day | None = None
    ) -> "pd.DataFrame":
        """Give every number of every window, one number a row.

        Columns: model, day (the last of the window), segment, window_days, days_present, final,
        known_at; measure, adjusted (`raw` or `prior`), value, low, high, as in
        `SampleEvaluation.to_frame`.
        """
        return self._frame("evaluations", _evaluations, model, first, last)

    def verdicts(
        self, model: str | None = None, *, first: Day | None = None, last: Day | None = None
    ) -> "pd.DataFrame":
        """Give the verdict of each day and segment.

        Columns: model, day, segment, state, final, known_at; evidence and limit (log10), kind and
        since (of the open drift); slope, shift and level_change with `_low` and `_high` (95 %);
        unknown_share, reference_prevalence, reasons (sentences), shown (whether it replaces the
        verdict before: it is final, or the logs failed a check).
        """
        return self._frame("verdicts", _verdicts, model, first, last)

    def incidents(self, model: str | None = None) -> "pd.DataFrame":
        """Give every calibration drift that was found.

        Columns: model, segment, opened, started with start_low and start_high (90 %), kind (its
        first name), evidence (log10), closed and ended (why), which are missing while it is open;
        kind_now and explained_by (its name today, and the values that explain it), which are
        missing once it is over.
        """
        from monitor.read.incidents import incidents
        from monitor.read.results import results_in

        rows = [
            {"model": name, "segment": segment, **vars(incident)}
            for name in self._models(model)
            for segment, drifts in incidents(results_in(self.path, name, kept=True)).items()
            for incident in drifts
        ]
        return _in_order("incidents", rows)

    def _models(self, model: str | None) -> list[str]:
        stored = self.models()
        if model is not None and model not in stored:
            msg = f"{self.path} has no results of {model!r}; choose one of {', '.join(stored)}."
            raise ConfigError(msg)
        return stored if model is None else [model]

    def _frame(
        self,
        kind: str,
        read: "Callable[[Results, date], Iterator[Columns]]",
        model: str | None,
        first: Day | None,
        last: Day | None,
    ) -> "pd.DataFrame":
        from monitor.read.results import results_in

        low, high = _day("first", first, date.min), _day("last", last, date.max)
        rows = [
            {"model": results.model, "day": day, **columns}
            for results in (results_in(self.path, name) for name in self._models(model))
            for day in results.days(kind, high)
            if low <= day
            for columns in read(results, day)
        ]
        return _in_order(kind, rows)


def open_store(path: str) -> ResultStore:
    """Open the store of the daily job for reading.

    Parameters
    ----------
    path : str or path
        The `store` of the configuration: a folder, or a URL such as ``s3://bucket/prefix``.

    Returns
    -------
    ResultStore
        Summaries, evaluations, verdicts and incidents as pandas frames.

    Raises
    ------
    ConfigError
        If the place has no results.
    DataError
        If it cannot be read.
    """
    store = ResultStore(path_of(path))
    if not store.models():
        msg = (
            f"{path} is not a store with results; give the path that 'store' has in the "
            "configuration, or run calibration-monitor first."
        )
        raise ConfigError(msg)
    return store


def _in_order(kind: str, rows: Sequence[Columns]) -> "pd.DataFrame":
    columns = COLUMNS[kind]
    return frame([tuple(row[name] for name in columns) for row in rows], columns)


def _day(name: str, given: Day | None, default: date) -> date:
    if given is None:
        return default
    if isinstance(given, date):
        return given.date() if isinstance(given, datetime) else given
    try:
        return date.fromisoformat(given)
    except (TypeError, ValueError):
        msg = f"{name} is {given!r}, but must be a day such as 2026-03-01."
        raise ConfigError(msg) from None


def _summaries(results: "Results", day: date) -> Iterator[Columns]:
    summary = results.summary(day)
    for segment, part in summary.segments.items():
        for stratum, leaf in part.parts.items():
            yield {
                "segment": segment,
                "stratum": stratum,
                "predicted": leaf.predicted,
                "matched": leaf.tally.total,
                "positives": leaf.tally.total_positives,
                "mean_score": leaf.tally.mean_score,
                "final": summary.final,
                "known_at": summary.known_at,
            }


def _evaluations(results: "Results", day: date) -> Iterator[Columns]:
    for e in results.evaluations(day):
        about = ("segment", "window_days", "days_present", "final", "known_at")
        for row in rows_of(e):
            yield {name: getattr(e, name) for name in about} | row._asdict()


def _verdicts(results: "Results", day: date) -> Iterator[Columns]:
    yield from map(_verdict, results.verdicts(day))


def _verdict(v: "Verdict") -> Columns:
    about = ("segment", "state", "final", "shown", "known_at")
    incident = v.incident
    return {
        **{name: getattr(v, name) for name in about},
        "kind": incident.kind if incident else None,
        "since": incident.started if incident else None,
        "reasons": " ".join(v.reasons),
        **_numbers(v),
    }


def _numbers(v: "Verdict") -> Columns:
    """Read the measures of a verdict that are columns; what does not exist is nan."""
    from monitor.measures.measure import numbers
    from monitor.measures.verdicts import OF_VERDICTS
    from monitor.metrics.core.estimate import Estimate

    columns: Columns = {}
    for measure in OF_VERDICTS:
        if measure.column:
            number = next((n for _, n in numbers(measure, v)), Estimate(nan, nan, nan))
            ends = {"": number.value, "_low": number.low, "_high": number.high}
            columns |= {f"{measure.column}{end}": value for end, value in ends.items()}
    return columns
