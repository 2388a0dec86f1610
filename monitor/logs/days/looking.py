"""What looks wrong in a day of logs that can be read: for `check`, which has time for it."""

from datetime import date, datetime

from monitor.config import Classes, Engine, Model, TimeUnit
from monitor.days.summary import Summary, whole
from monitor.logs.columns.class_columns import scores_of_classes
from monitor.logs.days.counts import about_intervals
from monitor.logs.days.days import holds_counts
from monitor.logs.engines.databases import Databases
from monitor.logs.engines.session import open_session
from monitor.logs.engines.steps import SCORED
from monitor.logs.sources.opening import Kind, OpenLog
from monitor.logs.sources.source import has_day, open_log
from monitor.logs.sources.times import is_time, moment
from monitor.words.plausibility import (
    MOST_ROUNDED,
    ORPHANS,
    Remark,
    about_certain_choices,
    about_first_choices,
    about_orphans,
    about_outcomes,
    about_sums,
    about_times,
)

QUANTILES = 0.05, 0.25, 0.5, 0.75, 0.95  # of times


def what_looks_wrong(
    name: str, model: Model, day: date, summary: Summary, *, engine: Engine | Databases
) -> list[Remark]:
    """Say what is implausible about a day: its outcomes given its scores, and its times.

    Parameters
    ----------
    name, model : str, Model
        The model, and its configuration.
    day : date
        Day of the predictions.
    summary : Summary
        Of that day.
    engine : Engine or Databases
        As for `summarise_day`.

    Raises
    ------
    DataError
        If the logs cannot be read.
    """
    tally = whole(summary).tally
    remarks = (
        [
            *about_certain_choices(tally.scores, tally.counts, tally.total_positives),
            *about_first_choices(counts.names, counts.outcomes, tally.total_positives),
        ]
        if (counts := summary.classes)
        else about_outcomes(tally.scores, tally.counts, tally.positives)
    )
    remarks += about_orphans(*summary.left_out.get(ORPHANS, (0, 0)))
    kinds: list[Kind] = ["predictions"]
    # Outcomes beside their predictions may be much later than the day of the file.
    if not model.outcomes.in_predictions and has_day(model, "outcomes", day):
        kinds.append("outcomes")
    classes = model.predictions.classes
    with open_session(f"{name} {day}", engine) as session:
        if classes and classes.sums == "normalise":
            remarks += about_sums(*_sums(open_log(session, model, "predictions", [day]), classes))
        if holds_counts(model):
            remarks += about_intervals(session, model, day)
        for kind in kinds:
            configured = getattr(model, kind)
            if configured.time:
                log = open_log(session, model, kind, [day])
                times = _middle(log, configured.time, configured.time_unit)
                remarks += about_times(f"{kind}.time", day, times)
    return remarks


def _sums(log: OpenLog, classes: Classes) -> tuple[float, float]:
    """Find the share of the vectors whose probabilities add up to too much, and their median."""
    read = scores_of_classes(log, classes)
    over = f"total > {MOST_ROUNDED}"
    ((share, middle),) = log.session.fetch_rows(
        f"SELECT score, total FROM {SCORED}",
        log.read(None, score=read["score"], total=read["total"]),
        whole=f"SELECT avg(CAST({over} AND score * total < 1 + 1e-9 AS DOUBLE)) AS share, "
        f"median(total) FILTER ({over}) AS middle FROM shares",
    )
    return share or 0.0, middle or 0.0


def _middle(log: OpenLog, column: str, unit: TimeUnit | None) -> list[datetime]:
    """Find quantiles of the times of a log; none if it has none that a calendar knows.

    Those of Spark are of ten thousand, because exact ones would sort all times.
    """
    readable = bool(log.files) and log.check(column, f"{log.kind}.time", lambda _: True, "a time")
    if not readable or not is_time(log.type_of(column), unit):
        return []
    ((texts,),) = log.session.fetch_rows(
        f"SELECT moment FROM {SCORED}",
        log.read(None, moment=moment(column, f"{log.kind}.time", unit, zoned=True)),
        whole=f"SELECT CAST(quantile_disc(moment, {[*QUANTILES]}) AS VARCHAR[]) AS a FROM shares",
    )
    try:
        return [datetime.fromisoformat(text) for text in texts or ()]
    except ValueError:
        return []
