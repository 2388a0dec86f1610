"""Verdicts as a table of the store, and back."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import isnan, nan
from typing import Any

import numpy as np
import pyarrow as pa

from monitor.drift.detector import Detector, Ended, Incident
from monitor.drift.evidence import KINDS, DayEvidence
from monitor.drift.verdict import Verdict
from monitor.metrics.core.estimate import Estimate

NUMBERS = pa.list_(pa.float64())
ESTIMATE = pa.struct([(name, pa.float64()) for name in ("value", "low", "high")])
SCORES = {"scores": NUMBERS, "informations": NUMBERS, "slopes": NUMBERS}

COLUMNS: dict[str, pa.DataType] = {
    "model": pa.string(),
    "segment": pa.string(),
    "day": pa.date32(),
    "final": pa.bool_(),
    "known_at": pa.timestamp("s", "UTC"),
    "state": pa.string(),
    "reasons": pa.list_(pa.string()),
    "evidence": pa.struct([("ratios", NUMBERS), *SCORES.items()]),
    "detector": pa.struct([("sums", NUMBERS), ("starts", pa.list_(pa.date32())), *SCORES.items()]),
    "incident": pa.struct(
        [
            ("opened", pa.date32()),
            ("started", pa.date32()),
            ("kind", pa.string()),
            ("evidence", pa.float64()),
            ("recovery", pa.float64()),
            *SCORES.items(),
        ]
    ),
    "ended": pa.struct(
        [("started", pa.date32()), ("closed", pa.date32()), ("reason", pa.string())]
    ),
    "limit": pa.float64(),
    "shift": ESTIMATE,
    "level_change": ESTIMATE,
    "slope": ESTIMATE,
    "reference_prevalence": pa.float64(),
}
VERDICTS = pa.schema(COLUMNS)
OF_DETECTOR = ("incident", "ended")  # columns of their own, for whoever reads the file
ESTIMATES = ("shift", "level_change", "slope")


def verdict_table(verdicts: Sequence[Verdict], *, about: Mapping[str, str]) -> pa.Table:
    """Lay verdicts out as rows, with `about` as the metadata."""
    table = pa.Table.from_pylist([_row(verdict) for verdict in verdicts], schema=VERDICTS)
    return table.replace_schema_metadata(dict(about))


def verdicts_of(table: pa.Table) -> list[Verdict]:
    """Read the rows of a table back."""
    return [_verdict(row) for row in table.to_pylist()]


def _row(verdict: Verdict) -> dict[str, Any]:
    row = {name: getattr(verdict, name) for name in COLUMNS if name not in OF_DETECTOR}
    detector, incident = verdict.detector, verdict.detector.incident
    return row | {
        "evidence": _plain(vars(verdict.evidence)) if verdict.evidence else None,
        "detector": _plain({k: v for k, v in vars(detector).items() if k not in OF_DETECTOR}),
        "incident": _plain(vars(incident)) if incident else None,
        "ended": asdict(detector.ended) if detector.ended else None,
        "reference_prevalence": None
        if isnan(verdict.reference_prevalence)
        else verdict.reference_prevalence,
        **{k: asdict(row[k]) if row[k] else None for k in ESTIMATES},
    }


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v.ravel() if isinstance(v, np.ndarray) else v for k, v in values.items()}


def _verdict(row: dict[str, Any]) -> Verdict:
    found, ended = row.pop("incident"), row.pop("ended", None)
    incident = Incident(**_arrays(found)) if found else None
    detector = _arrays(row["detector"])
    both = {name: detector[name].reshape(len(KINDS), -1) for name in SCORES}
    row["detector"] = Detector(
        **{**detector, **both, "starts": tuple(detector["starts"])},
        incident=incident,
        ended=Ended(**ended) if ended else None,
    )
    row["evidence"] = DayEvidence(**_arrays(row["evidence"])) if row["evidence"] else None
    row["reasons"] = tuple(row["reasons"])
    if row["reference_prevalence"] is None:
        row["reference_prevalence"] = nan
    for name in ESTIMATES:
        row[name] = Estimate(**row[name]) if row[name] else None
    return Verdict(**row)


def _arrays(values: Mapping[str, Any]) -> dict[str, Any]:
    numeric = ("sums", "ratios", *SCORES)
    return {k: np.array(v, np.float64) if k in numeric else v for k, v in values.items()}
