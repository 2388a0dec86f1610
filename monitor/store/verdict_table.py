"""Verdicts as a table of the store, and back."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from math import isnan, nan
from typing import Any

import numpy as np
import pyarrow as pa

from monitor.drift.detectable import Detectable
from monitor.drift.detector import Acknowledged, Detector, Ended, Fork, Incident, Shift
from monitor.drift.evidence import DayEvidence
from monitor.drift.history import SUMS, WIDTHS, History
from monitor.drift.reference import DIRECTIONS
from monitor.drift.verdict import Verdict
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats
from monitor.store.sealing import rows_of
from monitor.store.where_column import WHERE, stored_where, where_of

NUMBERS, SINGLES = pa.list_(pa.float64()), pa.list_(pa.float32())
ORDINALS = pa.list_(pa.int64())
ESTIMATE = pa.struct([(name, pa.float64()) for name in ("value", "low", "high")])
SCORES = {"scores": NUMBERS, "informations": NUMBERS, "slopes": NUMBERS}
HISTORY: dict[str, pa.DataType] = {
    "firsts": ORDINALS,
    "days": ORDINALS,
    **dict.fromkeys(SUMS, SINGLES),
}

DETECTOR = pa.struct(
    [
        ("sums", NUMBERS),
        ("counted", pa.int64()),
        ("last", pa.date32()),
        ("jitters", NUMBERS),
        ("cross", NUMBERS),
        ("history", pa.struct(list(HISTORY.items()))),
    ]
)
FOUND: list[tuple[str, pa.DataType]] = [
    ("opened", pa.date32()),
    ("started", pa.date32()),
    ("start_low", pa.date32()),
    ("start_high", pa.date32()),
    ("kind", pa.string()),
    ("evidence", pa.float64()),
]
INCIDENT = pa.struct(
    [
        *FOUND,
        ("recovery", pa.float64()),
        ("size", pa.float64()),
        ("size_error", pa.float64()),
        *SCORES.items(),
    ]
)
ENDED = pa.struct([("started", pa.date32()), ("closed", pa.date32()), ("reason", pa.string())])
FORK = pa.struct(
    [("since", pa.date32()), ("detector", DETECTOR), ("incident", INCIDENT), ("ended", ENDED)]
)

COLUMNS: dict[str, pa.DataType] = {
    "model": pa.string(),
    "segment": pa.string(),
    "day": pa.date32(),
    "final": pa.bool_(),
    "known_at": pa.timestamp("s", "UTC"),
    "state": pa.string(),
    "reasons": pa.list_(pa.string()),
    "evidence": pa.struct(
        [
            *((name, NUMBERS) for name in ("ratios", "tolerances", "effects")),
            *SCORES.items(),
            ("levels", NUMBERS),
            ("unknown_share", pa.float64()),
            ("recovery", pa.float64()),
        ]
    ),
    "detector": DETECTOR,
    "incident": INCIDENT,
    "ended": ENDED,
    "limit": pa.float64(),
    "shift": ESTIMATE,
    "level_change": ESTIMATE,
    "slope": ESTIMATE,
    "reference_prevalence": pa.float64(),
    "reference_slope": ESTIMATE,
    "reference_intercept": ESTIMATE,
    "detectable": pa.struct(
        [(field.name, pa.float64()) for field in fields(Detectable)],
    ),
    "where": WHERE,
    "reached": pa.float64(),
    "awaited": pa.date32(),
    "moved": pa.struct([("state", pa.string()), ("since", pa.date32())]),
    "forks": pa.list_(FORK),
    "acknowledged": pa.list_(pa.struct([*FOUND, ("closed", pa.date32())])),
}
VERDICTS = pa.schema(COLUMNS)
OF_DETECTOR = ("incident", "ended", "moved", "forks", "acknowledged")  # columns of their own
ESTIMATES = ("shift", "level_change", "slope", "reference_slope", "reference_intercept")


def verdict_table(verdicts: Sequence[Verdict], *, about: Mapping[str, str]) -> pa.Table:
    """Lay verdicts out as rows, with `about` as the metadata."""
    table = pa.Table.from_pylist([_row(verdict) for verdict in verdicts], schema=VERDICTS)
    return table.replace_schema_metadata(dict(about))


def verdicts_of(table: pa.Table) -> list[Verdict]:
    """Read the rows of a table back."""
    return [_verdict(row) for row in rows_of(table)]


def _row(verdict: Verdict) -> dict[str, Any]:
    row = {name: getattr(verdict, name) for name in COLUMNS if name not in OF_DETECTOR}
    detector = verdict.detector
    return row | {
        "evidence": _plain(vars(verdict.evidence)) if verdict.evidence else None,
        **_stored(detector),
        "moved": asdict(detector.moved) if detector.moved else None,
        "forks": [{"since": fork.since} | _stored(fork.detector) for fork in detector.forks],
        "acknowledged": [asdict(one) for one in detector.acknowledged],
        "reference_prevalence": None
        if isnan(verdict.reference_prevalence)
        else verdict.reference_prevalence,
        "detectable": asdict(verdict.detectable) if verdict.detectable else None,
        **{k: asdict(row[k]) if row[k] else None for k in ESTIMATES},
        "where": stored_where(verdict.where) if verdict.where else None,
    }


def _stored(detector: Detector) -> dict[str, Any]:
    """Lay a detector out as the columns of a verdict or of a fork."""
    state = {k: v for k, v in vars(detector).items() if k not in OF_DETECTOR}
    return {
        "detector": _plain(state | {"history": _plain(vars(detector.history))}),
        "incident": _plain(vars(detector.incident)) if detector.incident else None,
        "ended": asdict(detector.ended) if detector.ended else None,
    }


def _detector(
    detector: Mapping[str, Any], incident: Mapping[str, Any] | None, ended: dict[str, Any] | None
) -> Detector:
    found = _arrays(detector)
    return Detector(
        **{**found, "history": _history(found["history"]), "cross": _cross(found["cross"])},
        incident=Incident(**_arrays(incident)) if incident else None,
        ended=Ended(**ended) if ended else None,
    )


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v.ravel() if isinstance(v, np.ndarray) else v for k, v in values.items()}


def _verdict(row: dict[str, Any]) -> Verdict:
    detector = _detector(row["detector"], row.pop("incident"), row.pop("ended", None))
    forks, acknowledged = (row.pop(name, None) or () for name in ("forks", "acknowledged"))
    moved = row.pop("moved", None)
    row["detector"] = replace(
        detector,
        moved=Shift(**moved) if moved else None,
        forks=tuple(Fork(one.pop("since"), _detector(**one)) for one in forks),
        acknowledged=tuple(Acknowledged(**one) for one in acknowledged),
    )
    detectable = row["detectable"]
    row["evidence"] = DayEvidence(**_arrays(row["evidence"])) if row["evidence"] else None
    row["reasons"] = tuple(row["reasons"])
    row["detectable"] = Detectable(**detectable) if detectable else None
    row["where"] = where_of(row["where"]) if row.get("where") else None
    if row["reference_prevalence"] is None:
        row["reference_prevalence"] = nan
    for name in ESTIMATES:
        row[name] = Estimate(**row[name]) if row.get(name) else None
    if "reached" in row:
        return Verdict(**row)
    found = Verdict(**row)
    return replace(found, reached=_reached_before(found))


def _reached_before(verdict: Verdict) -> float | None:
    """Find what a day reached in a file of before this was stored.

    A later alarm of an open drift set the evidence to 0 without a trace: it was at the limit.
    """
    detector, incident = verdict.detector, verdict.detector.incident
    if isnan(verdict.reference_prevalence) or verdict.withheld:
        return None
    if incident and incident.opened == verdict.day:
        return incident.evidence
    if incident and verdict.evidence and not detector.counted:
        return verdict.limit
    return detector.evidence


def _cross(values: Floats | None) -> Floats | None:
    return None if values is None else values.reshape(len(DIRECTIONS), -1)


def _history(values: Mapping[str, Any]) -> History:
    rows = len(values["firsts"])
    firsts, days = (np.array(values[name], np.int64) for name in ("firsts", "days"))
    sums = {
        name: np.array(values[name], np.float32).reshape(rows, width)
        for name, width in zip(SUMS, WIDTHS, strict=True)
    }
    return History(firsts, days, **sums)


def _arrays(values: Mapping[str, Any]) -> dict[str, Any]:
    return {k: np.array(v, np.float64) if isinstance(v, list) else v for k, v in values.items()}
