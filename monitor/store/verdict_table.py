"""Verdicts as a table of the store, and back. Pure.

Rule 1: the fields of a verdict are its columns, but of what a stream has accumulated only what is
said. What the fold carries stands beside them, in one column of the file of few days: see
`state_table`.
Rule 2: a column without a value is left out, so a file has as many as its verdicts say.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa

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
from monitor.drift.records.facts import Detectable, Facts, Scores, ThirdChoices
from monitor.drift.records.places import Condition, Explanation, Opposite, Place, Where
from monitor.drift.records.region_state import Break
from monitor.drift.records.values import OF_LEVEL, OF_VALUE, ValueIncident, ValuePast, ValueWatch
from monitor.drift.records.verdict import Brief, Carried, Verdict
from monitor.metrics.core.estimate import Estimate
from monitor.store.fields import columns, layout, rebuilt, table_of
from monitor.store.said import ESTIMATE, completed, numbers, said, said_columns, with_values
from monitor.store.sealing import rows_of
from monitor.store.state_table import (
    OF_DETECTOR,
    detector_of,
    shaped_values,
    state_bytes,
    state_of,
    with_levels,
)

# Of some estimates other numbers are said: of a value that explains a drift the standard error too,
# of others the value alone.
OTHER_NUMBERS: Mapping[type, Mapping[str, pa.DataType]] = {
    OwnFit: {"slope": numbers(1), "intercept": numbers(1)},
    Place: {"change": numbers(1)},
    Opposite: {"condition": pa.struct([*columns(Condition, without=["first"]).items()])},
    Explanation: {"slope": numbers(4)},
}
# What only the fold reads, and what stands elsewhere; what a dataclass holds comes before it.
NOT_SAID: Mapping[type, tuple[str, ...]] = {
    Quarter: ("since", "weeks", "recoveries"),
    OwnFit: ("since", "slopes", "profiles", "pull", "information", "over"),
    Break: ("profile", "information"),
    Incident: ("scores", "informations", "slopes", "profiles"),
    ValueIncident: ("score", "information"),
    Place: (),
    Opposite: (),
    Explanation: (),
    Where: ("kind", "change", "left_out", "flagged_left_out"),
    Scores: ("outcomes_before",),  # the prevalence of the reference
    Detectable: (),
    Facts: ("third",),  # its drift is a row of `incidents`
}


def _fields(of: Any) -> list[Any]:  # the stubs know no struct that is iterable
    return [*of]


SAID: dict[type, pa.DataType] = {Estimate: ESTIMATE}
for _kind, _others in NOT_SAID.items():
    SAID[_kind] = said_columns(_kind, {**SAID, **OTHER_NUMBERS.get(_kind, {})}, _others)
INCIDENT, ENDED, VALUES = SAID[Incident], layout(Ended), pa.list_(SAID[ValueIncident])
# The file is of a model and day.
OF_VERDICT = said_columns(
    Verdict, SAID, without=("model", "day", "detector", "evidence", "values", "plan")
)
OF_WATCH = pa.field("watch", pa.string())
VERDICTS = pa.schema(
    [
        *_fields(OF_VERDICT),
        ("unknown_share", pa.float64()),
        ("incidents", pa.list_(pa.struct([OF_WATCH, *_fields(INCIDENT)]))),  # the open ones
        ("ended", pa.list_(pa.struct([OF_WATCH, *_fields(ENDED)]))),
        ("shifted", pa.date32()),
        ("withheld", pa.bool_()),
        ("third_withheld", pa.bool_()),
        ("values", VALUES),
    ]
)
NOTHING = None, None
NO_DAYS, NO_SUMS = np.zeros(0, np.int64), [np.zeros((0, width), np.float32) for width in WIDTHS]
NO_HISTORY = History(NO_DAYS, NO_DAYS, *NO_SUMS)
CARRIED = pa.field("carried", pa.binary())  # in the first row: what the fold carries
# What a `Brief` is read from.
OF_BRIEF = [
    *("segment", "state", "reached", "slope", "where.explanation.slope"),
    *("withheld", "third_withheld"),
]
OF_BEFORE = ("forks", "acknowledged")  # what plans were to verdicts that knew of them


def verdict_table(
    verdicts: Sequence[Verdict], *, about: Mapping[str, str], carried: Carried | None = None
) -> pa.Table:
    """Lay verdicts out as rows, with `about` as the metadata, and what the fold carries."""
    rows = [*map(_row, verdicts)]
    filled = with_values(pa.struct([*VERDICTS]), rows)
    table = table_of(rows, pa.schema(_fields(filled)))
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


def verdicts_of(table: pa.Table, model: str, day: date) -> list[Verdict]:
    """Read the rows of the table of a model and day back."""
    rows = rows_of(without_carried(table))
    if "detector" not in table.column_names and "model" in table.column_names:
        rows = [*map(_of_format_10, rows)]
    return [_verdict({"model": model, "day": day, **row}) for row in rows]


def briefs_of(table: pa.Table) -> list[Brief] | None:
    """Read what lines draw from the columns `OF_BRIEF`; None of a file that did not store it."""
    if "withheld" not in table.column_names:
        return None
    return [_brief(row) for row in table.to_pylist()]


def _brief(row: Mapping[str, Any]) -> Brief:
    explanation = (row.get("where") or {}).get("explanation")
    of_third = (row.get("facts") or {}).get("third")  # of format 10
    third = row.get("third_withheld") or (of_third and of_third["withheld"])
    slope = explanation.get("slope") if explanation else row.get("slope")
    return Brief(
        row["segment"],
        row["state"],
        row.get("reached"),
        withheld=row["withheld"] or bool(third),
        slope=rebuilt(Estimate, slope),
    )


Watches = Mapping[str, Detector | LevelWatch | ThirdChoices]


def _watches(verdict: Verdict) -> Watches:
    """Name what looks for drifts of a stream."""
    third = verdict.facts.third
    both: Watches = {"curve": verdict.detector, "level": verdict.detector.level}
    return {**both, "third": third} if third else both


def _row(verdict: Verdict) -> dict[str, Any]:
    watches, third = _watches(verdict), verdict.facts.third
    row: dict[str, Any] = said(verdict, OF_VERDICT)
    if not verdict.has_reference:
        row["reference_prevalence"] = None
    return {
        **row,
        "unknown_share": verdict.evidence.unknown_share if verdict.evidence else None,
        "incidents": [
            {"watch": name, **said(of.incident, INCIDENT)}
            for name, of in watches.items()
            if of.incident
        ],
        "ended": [
            {"watch": name, **said(of.ended, ENDED)} for name, of in watches.items() if of.ended
        ],
        "shifted": verdict.shifted,
        "withheld": is_withheld(verdict.detector),
        "third_withheld": third.withheld if third else None,
        "values": said(verdict.values.incidents, VALUES) if verdict.values else None,
    }


def _verdict(row: dict[str, Any]) -> Verdict:
    if "detector" in row:
        return _verdict_before(row)
    of_watch, third = _found(row), row.pop("third_withheld", None)
    unknown, values = row.pop("unknown_share", None), row.pop("values", None)
    if unknown is not None:
        row["evidence"] = {"unknown_share": unknown}
    since = row.pop("shifted", None)
    moved = since and Shift(row["state"], since)
    row["detector"] = _detector(of_watch, moved, withheld=row.pop("withheld"))
    if scores := (row.get("facts") or {}).get("scores"):
        scores["outcomes_before"] = row["reference_prevalence"]
    verdict: Verdict = rebuilt(Verdict, completed(Verdict, row))
    if third is not None:
        choices = ThirdChoices(*of_watch.get("third", NOTHING), withheld=third)
        verdict = replace(verdict, facts=replace(verdict.facts, third=choices))
    return replace(verdict, values=None if values is None else _open_values(values))


def _found(row: dict[str, Any]) -> Mapping[str, tuple[Incident | None, Ended | None]]:
    """Read back what each watch has open, and what it had last."""
    incidents, ended = (
        {of.pop("watch"): of for of in row.pop(name, None) or ()} for name in ("incidents", "ended")
    )
    return {
        watch: (_incident(incidents.get(watch)), rebuilt(Ended, ended.get(watch)))
        for watch in {*incidents, *ended}
    }


def _incident(row: dict[str, Any] | None) -> Incident | None:
    found: Incident | None = rebuilt(Incident, completed(Incident, row)) if row else None
    return found


def _detector(
    found: Mapping[str, tuple[Incident | None, Ended | None]],
    moved: Shift | None,
    *,
    withheld: bool,
) -> Detector:
    """Read back what is said of a stream, and nothing in place of what only the fold reads."""
    incident, ended = found.get("curve", NOTHING)
    of_level, level_ended = found.get("level", NOTHING)
    return Detector(
        sums=np.full(len(KINDS), WITHHELD if withheld else 0.0),
        counted=0,
        last=date.min,
        jitters=np.zeros(0),
        cross=None,
        history=NO_HISTORY,
        incident=incident,
        ended=ended,
        moved=moved,
        level=LevelWatch(incident=of_level, ended=level_ended),
    )


def _of_format_10(row: dict[str, Any]) -> dict[str, Any]:
    """Take over a row that has a column of each watch, and of what else has another place."""
    third, level = (row.get("facts") or {}).pop("third", None), row.pop("level", None) or {}
    curve = {"incident": row.pop("incident", None), "ended": row.pop("ended", None)}
    watches = {"curve": curve, "level": level, "third": third or {}}
    for column, name in (("incidents", "incident"), ("ended", "ended")):
        row[column] = [{"watch": w, **of[name]} for w, of in watches.items() if of.get(name)]
    row["unknown_share"] = (row.pop("evidence", None) or {}).get("unknown_share")
    row["third_withheld"] = third and third["withheld"]
    if (moved := row.pop("moved", None)) and moved["state"] == row["state"]:
        row["shifted"] = moved["since"]
    values = row.pop("values", None)
    return {**row, "values": values and values["incidents"]}


def _open_values(rows: Sequence[dict[str, Any]]) -> ValueWatch:
    """Read back which values drift."""
    known, sums = np.zeros((0, len(OF_VALUE), len(DIRECTIONS))), np.zeros((0, len(KINDS)))
    incidents = tuple(rebuilt(ValueIncident, completed(ValueIncident, row)) for row in rows)
    past = ValuePast((), known, (), known, np.zeros((0, len(OF_LEVEL))))
    return ValueWatch(date.min, past, sums.astype(np.float32), sums.astype(np.float32), incidents)


def _verdict_before(row: dict[str, Any]) -> Verdict:
    """Read a verdict of a file of before, which held all that the fold carries."""
    for name in OF_BEFORE:
        row.pop(name, None)
    if facts := row.get("facts"):
        row["facts"] = _facts_row(facts)
    detector = detector_of(row)
    row = {name: of for name, of in row.items() if name not in OF_DETECTOR}
    row["values"] = with_levels(row.get("values"))
    verdict: Verdict = rebuilt(Verdict, row | {"detector": detector})
    return replace(verdict, values=verdict.values and shaped_values(verdict.values))


def _facts_row(row: dict[str, Any]) -> dict[str, Any]:
    """Take over facts of files of before: wrong labels were a share of all outcomes."""
    if isinstance(share := row.get("wrong"), float):
        row["wrong"] = {"family": "swapped", "share": share}
    row.pop("known_until", None)  # plans are no part of verdicts any more
    return row
