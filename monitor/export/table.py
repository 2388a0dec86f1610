"""Past results as one tidy table of Parquet, for people's own dashboards and notebooks.

Rule: a row is a day of a segment whose verdict stands, beside the window nearest to a week that
ends on it, so that what stands in one row belongs together.
"""

from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from monitor.config import Model
from monitor.drift.records.verdict import Verdict
from monitor.evaluation.evaluation import Evaluation
from monitor.files import replacing, writing
from monitor.metrics.core.estimate import Estimate
from monitor.read.results import Results
from monitor.read.standing import nearest_to_week

TEXT: pa.DataType = pa.string()
NUMBER: pa.DataType = pa.float64()
COUNT: pa.DataType = pa.int64()
DAY: pa.DataType = pa.date32()
MOMENT: pa.DataType = pa.timestamp("s", "UTC")
SCHEMA = pa.schema(
    {
        "model": TEXT,
        "segment": TEXT,
        "day": DAY,
        "known_at": MOMENT,
        "state": TEXT,
        "kind": TEXT,
        "since": DAY,
        "evidence": NUMBER,
        "slope": NUMBER,
        "slope_low": NUMBER,
        "slope_high": NUMBER,
        "shift": NUMBER,
        "shift_low": NUMBER,
        "shift_high": NUMBER,
        "window_days": COUNT,
        "predicted": COUNT,
        "outcomes": COUNT,
        "prevalence": NUMBER,
        "mean_score": NUMBER,
        "ece": NUMBER,
        "ece_prior": NUMBER,
        "rbs": NUMBER,
        "rbs_prior": NUMBER,
        "tce_prior": NUMBER,
        "tce_by_chance": NUMBER,
    }
)


def rows(results: Results, model: Model, first: date, last: date) -> Iterator[dict[str, Any]]:
    """Give a row for each segment of each day whose verdict stands, rising by day.

    Parameters
    ----------
    results : Results
        Of the model.
    model : Model
        Whose windows are known.
    first, last : date
        The first and the last day.
    """
    window, evaluated = nearest_to_week(model.windows), {*results.days("evaluations", last)}
    for day in results.days("verdicts", last):
        if day < first:
            continue
        windows = results.evaluations(day) if day in evaluated else []
        of = {e.segment: e for e in windows if e.window_days == window}
        for verdict in results.verdicts(day):
            if verdict.shown:
                yield _of_verdict(verdict) | _of_window(of.get(verdict.segment))


def _of_verdict(v: Verdict) -> dict[str, Any]:
    incident = v.incident
    return {
        "model": v.model,
        "segment": v.segment,
        "day": v.day,
        "known_at": v.known_at,
        "state": v.state,
        "kind": incident.kind if incident else None,
        "since": incident.started if incident else None,
        "evidence": v.reached,
        **_with_ends("slope", v.slope),
        **_with_ends("shift", v.shift),
    }


def _of_window(e: Evaluation | None) -> dict[str, Any]:
    if e is None:
        return {}
    return {
        "window_days": e.window_days,
        "predicted": e.predicted,
        "outcomes": e.matched,
        "prevalence": e.prevalence,
        "mean_score": e.mean_score,
        "ece": e.raw and e.raw.ece,
        "ece_prior": e.prior and e.prior.ece,
        "rbs": e.raw and e.raw.rbs,
        "rbs_prior": e.prior and e.prior.rbs,
        "tce_prior": e.prior and e.prior.tce_published,
        "tce_by_chance": e.null and e.null.q95,
    }


def _with_ends(name: str, number: Estimate | None) -> dict[str, float | None]:
    if number is None:
        return {}
    return {name: number.value, f"{name}_low": number.low, f"{name}_high": number.high}


def write(path: Path, found: Iterable[dict[str, Any]]) -> int:
    """Write the rows as Parquet in the place of a file, and count them."""
    table = pa.Table.from_pylist([*found], schema=SCHEMA)
    with writing(f"{path}"), replacing(path) as file:
        pq.write_table(table, file)
    return int(table.num_rows)
