"""Verdicts as a table of the store, and back. Pure.

Rule 1: the fields of a verdict are its columns, but of what a stream has accumulated only what is
said. What the fold carries stands beside them, in one column of the file of few days: see
`state_table`.
Rule 2: a column without a value is left out, so a file has as many as its verdicts say.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from math import isnan, nan
from typing import Any

import numpy as np
import pyarrow as pa

from monitor.arrivals import Late
from monitor.drift.records.carried import Carried
from monitor.drift.records.day_evidence import DIRECTIONS, KINDS
from monitor.drift.records.detector import (
    WIDTHS,
    WITHHELD,
    Detector,
    Ended,
    History,
    Incident,
    LevelWatch,
    OwnFit,
    Quarter,
    Shift,
    is_withheld,
)
from monitor.drift.records.facts import Facts
from monitor.drift.records.places import Where
from monitor.drift.records.region_state import Break
from monitor.drift.records.values import OF_VALUE, ValueIncident, ValuePast, ValueWatch
from monitor.drift.records.verdict import Brief, Verdict
from monitor.metrics.core.estimate import Estimate
from monitor.store.fields import columns, layout, plain, rebuilt, struct, table_of, with_absent
from monitor.store.sealing import rows_of
from monitor.store.state_table import (
    OF_DETECTOR,
    detector_of,
    shaped_values,
    state_bytes,
    state_of,
)

# A slope of a value is shown with its standard error.
FULL = dict.fromkeys(("change", "slope", "rest"), struct("value", "low", "high", "standard_error"))
# What only the fold reads of open drifts, and what is read in its place.
NOT_SAID: Mapping[type, Mapping[str, Any]] = {
    Incident: {"scores": (), "informations": (), "slopes": (), "profiles": None},
    Quarter: {"since": date.min, "weeks": (), "recoveries": ()},
    OwnFit: {
        "since": date.min,
        "slopes": (),
        "profiles": None,
        "pull": 0.0,
        "information": 0.0,
        "over": False,
    },
    Break: {"profile": (), "information": nan},
    ValueIncident: {"score": nan, "information": nan},
}


def _said(of: type, **kept: pa.DataType) -> pa.DataType:
    return pa.struct([*columns(of, kept, NOT_SAID[of]).items()])


INCIDENT = _said(Incident, quarter=_said(Quarter), own=_said(OwnFit), place=_said(Break))
FOUND = "incident", "ended", "level", "moved", "withheld"  # of the detector
VERDICTS = pa.schema(
    {
        **columns(
            *(Verdict, {"incident": INCIDENT}),
            without=("detector", "evidence", "where", "values", "plan"),
        ),
        "evidence": struct("unknown_share"),
        "where": pa.struct([*columns(Where, FULL, ("left_out", "flagged_left_out")).items()]),
        "incident": INCIDENT,
        "ended": layout(Ended),
        "level": pa.struct([("incident", INCIDENT), ("ended", layout(Ended))]),
        "moved": layout(Shift),
        "withheld": pa.bool_(),
        "values": pa.struct([("incidents", pa.list_(_said(ValueIncident)))]),
    }
)
NO_EVIDENCE = "ratios", "tolerances", "effects", "scores", "informations", "slopes", "levels"
NO_DAYS, NO_SUMS = np.zeros(0, np.int64), [np.zeros((0, width), np.float32) for width in WIDTHS]
NO_HISTORY = History(NO_DAYS, NO_DAYS, *NO_SUMS)
CARRIED = pa.field("carried", pa.binary())  # in the first row: what the fold carries
# What a `Brief` is read from.
OF_BRIEF = [
    *("segment", "state", "reached", "slope", "where.explanation.slope"),
    *("withheld", "facts.third.withheld"),
]
OF_BEFORE = ("forks", "acknowledged")  # what plans were to verdicts that knew of them
# What verdicts said of late outcomes before they stored it.
INCOMPLETE, LATE_BEFORE = "so the outcomes are incomplete", Late(0, nan, nan, None)


def verdict_table(
    verdicts: Sequence[Verdict], *, about: Mapping[str, str], carried: Carried | None = None
) -> pa.Table:
    """Lay verdicts out as rows, with `about` as the metadata, and what the fold carries."""
    table = _filled(table_of([_row(verdict) for verdict in verdicts], VERDICTS))
    if carried:
        state = [state_bytes(carried), *[None] * (len(verdicts) - 1)]
        table = table.append_column(CARRIED, pa.chunked_array([pa.array(state, CARRIED.type)]))
    return table.replace_schema_metadata(dict(about))


def carried_of(table: pa.Table) -> Carried | None:
    """Read what the fold carries, if this file holds it."""
    state = table["carried"][0].as_py() if "carried" in table.column_names else None
    return state_of(state) if state else None


def without_carried(table: pa.Table) -> pa.Table:
    """Give the table as it was before that stood in it."""
    return table.drop_columns(["carried"]) if "carried" in table.column_names else table


def verdicts_of(table: pa.Table) -> list[Verdict]:
    """Read the rows of a table back."""
    return [_verdict(row) for row in rows_of(without_carried(table))]


def briefs_of(table: pa.Table) -> list[Brief] | None:
    """Read what lines draw from the columns `OF_BRIEF`; None of a file that did not store it."""
    if "withheld" not in table.column_names:
        return None
    return [_brief(row) for row in table.to_pylist()]


def _brief(row: Mapping[str, Any]) -> Brief:
    explanation = (row.get("where") or {}).get("explanation")
    third = (row.get("facts") or {}).get("third")
    slope = explanation.get("slope") if explanation else row.get("slope")
    return Brief(
        row["segment"],
        row["state"],
        row.get("reached"),
        withheld=row["withheld"] or bool(third and third["withheld"]),
        slope=rebuilt(Estimate, slope),
    )


def _filled(table: pa.Table) -> pa.Table:
    """Leave out the columns, and the parts of columns, that have no value in any row."""
    columns_of = zip(table.column_names, table.columns, strict=True)
    kept = {name: _with_values(column.combine_chunks()) for name, column in columns_of}
    return pa.table({name: of for name, of in kept.items() if of is not None})


def _with_values(array: Any) -> Any:
    """Leave out the fields of a struct that have no value in any row; None if all are like that."""
    if array.null_count == len(array):
        return None
    if pa.types.is_list(array.type):
        return array if len(array.flatten()) else None
    if not pa.types.is_struct(array.type):
        return array
    inner = {field.name: _with_values(array.field(field.name)) for field in array.type}
    parts = {name: of for name, of in inner.items() if of is not None}
    if not parts:
        return None
    return pa.StructArray.from_arrays([*parts.values()], [*parts], mask=array.is_null())


def _row(verdict: Verdict) -> dict[str, Any]:
    row: dict[str, Any] = plain(verdict)
    of = row["detector"]
    row |= {"incident": of["incident"], "ended": of["ended"], "moved": of["moved"]}
    row |= {"level": of["level"], "withheld": is_withheld(verdict.detector)}
    if not verdict.has_reference:
        row["reference_prevalence"] = None
    for place in row["where"]["places"] if row["where"] else ():
        place["share"] = None if isnan(place["share"]) else place["share"]
    return row


def _verdict(row: dict[str, Any]) -> Verdict:
    if "detector" in row:
        return _verdict_before(row)
    found = {name: row.pop(name, None) for name in FOUND}
    row["detector"] = _detector(**found)
    row = with_absent(Verdict, row)
    if row["evidence"]:
        row["evidence"] |= dict.fromkeys(NO_EVIDENCE, ())
    if third := row["facts"].get("third"):
        third["incident"] = _incident(third.get("incident"))
    values = row.pop("values", None)
    verdict: Verdict = rebuilt(Verdict, row)
    return replace(verdict, values=values and _open_values(values["incidents"]))


def _detector(
    *,
    incident: dict[str, Any] | None,
    ended: Mapping[str, Any] | None,
    level: Mapping[str, Any] | None,
    moved: Mapping[str, Any] | None,
    withheld: bool,
) -> Detector:
    """Read back what is said of a stream, and nothing in place of what only the fold reads."""
    level = level or {}
    return Detector(
        sums=np.full(len(KINDS), WITHHELD if withheld else 0.0),
        counted=0,
        last=date.min,
        jitters=np.zeros(0),
        cross=None,
        history=NO_HISTORY,
        incident=rebuilt(Incident, _incident(incident)),
        ended=rebuilt(Ended, ended),
        moved=rebuilt(Shift, moved),
        level=LevelWatch(
            incident=rebuilt(Incident, _incident(level.get("incident"))),
            ended=rebuilt(Ended, level.get("ended")),
        ),
    )


def _incident(row: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Complete the row of an open drift."""
    if row is None:
        return None
    parts: Mapping[str, type] = {"quarter": Quarter, "own": OwnFit, "place": Break}
    said = {name: {**row[name], **NOT_SAID[of]} for name, of in parts.items() if row.get(name)}
    return with_absent(Incident, {**row, **NOT_SAID[Incident], **said})


def _open_values(rows: Sequence[dict[str, Any]]) -> ValueWatch:
    """Read back which values drift."""
    known, sums = np.zeros((0, len(OF_VALUE), len(DIRECTIONS))), np.zeros((0, len(KINDS)))
    incidents = tuple(rebuilt(ValueIncident, {**row, **NOT_SAID[ValueIncident]}) for row in rows)
    past = ValuePast((), known, (), known)
    return ValueWatch(date.min, past, sums.astype(np.float32), sums.astype(np.float32), incidents)


def _verdict_before(row: dict[str, Any]) -> Verdict:
    """Read a verdict of a file of before, which held all that the fold carries."""
    for name in OF_BEFORE:
        row.pop(name, None)
    if facts := row.get("facts"):
        row["facts"] = _facts_row(facts)
    detector = detector_of(row)
    row = {name: of for name, of in row.items() if name not in OF_DETECTOR}
    verdict: Verdict = rebuilt(Verdict, row | {"detector": detector})
    verdict = replace(verdict, values=verdict.values and shaped_values(verdict.values))
    if "facts" not in row:
        verdict = replace(verdict, facts=_facts_before(verdict))
    return verdict if "reached" in row else replace(verdict, reached=_reached_before(verdict))


def _facts_row(row: dict[str, Any]) -> dict[str, Any]:
    """Take over facts of files of before.

    Wrong labels were a share of all outcomes. What was lacking had phrases, which `reasons` have
    too.
    """
    if isinstance(share := row.get("wrong"), float):
        row["wrong"] = {"family": "swapped", "share": share}
    row.pop("known_until", None)  # plans are no part of verdicts any more
    if "complaint" in row:
        return row
    complaint = row["lack"] if row["obstacle"] == "logs failed" else ""
    others = {name: value for name, value in row.items() if name not in ("lack", "awaited")}
    return others | {"complaint": complaint}


def _facts_before(verdict: Verdict) -> Facts:
    """Find what is decided by facts, of a file of before they were stored, in what it said."""
    if verdict.state == "data_error":
        return Facts(obstacle="logs failed", complaint=verdict.reasons[0])
    late = any(INCOMPLETE in said for said in verdict.reasons)
    return Facts(late=LATE_BEFORE if late else None)


def _reached_before(verdict: Verdict) -> float | None:
    """Find what a day reached in a file of before this was stored.

    A later alarm of an open drift set the evidence to 0 without a trace: it was at the limit.
    """
    detector, incident = verdict.detector, verdict.detector.incident
    if not verdict.has_reference or verdict.withheld:
        return None
    if incident and incident.opened == verdict.day:
        return incident.evidence
    if incident and verdict.evidence and not detector.counted:
        return verdict.limit
    return detector.evidence
