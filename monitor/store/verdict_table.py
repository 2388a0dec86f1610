"""Verdicts as a table of the store, and back. Pure.

The fields of a verdict are its columns, but what a detector comes to has columns of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isnan, nan
from typing import Any

import numpy as np
import pyarrow as pa

from monitor.arrivals import Late
from monitor.drift.records.day_evidence import DIRECTIONS, KINDS, DayEvidence
from monitor.drift.records.detector import (
    LEVEL_KINDS,
    LEVEL_SIZES,
    LEVEL_SUMS,
    PROFILED,
    SUMS,
    WIDTHS,
    Detector,
    Ended,
    Incident,
    LevelWatch,
    Second,
    Shift,
    are_withheld,
    no_sums,
)
from monitor.drift.records.facts import Facts
from monitor.drift.records.places import Where
from monitor.drift.records.region_state import RegionWatch
from monitor.drift.records.values import OF_LEVEL, OF_VALUE, ValueWatch
from monitor.drift.records.verdict import Brief, Verdict
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats, Singles
from monitor.store.fields import LAYOUTS, columns, layout, plain, rebuilt, struct, table_of
from monitor.store.sealing import rows_of

OF_DETECTOR = (
    "incident",
    "ended",
    "moved",
    "second",
    "level",
)  # columns of their own
# A slope of a value is shown with its standard error.
FULL = dict.fromkeys(("change", "slope", "rest"), struct("value", "low", "high", "standard_error"))
DETECTOR = pa.struct([*columns(Detector, without=OF_DETECTOR).items()])
ENDING = {"incident": layout(Incident), "ended": layout(Ended), "level": layout(LevelWatch)}
COLUMNS: dict[str, pa.DataType] = {
    **columns(Verdict, without=("detector", "evidence", "where", "values", "plan")),
    "evidence": pa.struct([*columns(DayEvidence, without=("cross", "noise", "profiles")).items()]),
    "where": pa.struct([*columns(Where, FULL, ("left_out", "flagged_left_out")).items()]),
    "detector": DETECTOR,
    **ENDING,
    "moved": layout(Shift),
    "second": pa.struct([*columns(Second, without=("detector",)).items(), ("detector", DETECTOR)]),
}
VERDICTS = pa.schema(COLUMNS)
# Of models whose columns are watched. What the reference says has single precision by then.
OF_PAST = dict.fromkeys(("known", "new", "levels"), LAYOUTS[Singles])
LEVEL_WIDTH = len(LEVEL_KINDS) * LEVEL_SIZES
VALUES = pa.field("values", pa.struct([*columns(ValueWatch, OF_PAST).items()]))
# What a `Brief` is read from; `incident.opened` says whether a drift is open.
OF_BRIEF = [
    *("segment", "state", "reached", "slope", "where.explanation.slope"),
    *("detector.sums", "incident.opened", "facts.third.withheld"),
]
OF_BEFORE = ("forks", "acknowledged")  # what plans were to verdicts that knew of them
# What verdicts said of late outcomes before they stored it.
INCOMPLETE, LATE_BEFORE = "so the outcomes are incomplete", Late(0, nan, nan, None)


def verdict_table(verdicts: Sequence[Verdict], *, about: Mapping[str, str]) -> pa.Table:
    """Lay verdicts out as rows, with `about` as the metadata."""
    watched = any(verdict.values for verdict in verdicts)
    schema = VERDICTS.append(VALUES) if watched else VERDICTS
    table = table_of([_row(verdict) for verdict in verdicts], schema)
    return table.replace_schema_metadata(dict(about))


def verdicts_of(table: pa.Table) -> list[Verdict]:
    """Read the rows of a table back."""
    return [_verdict(row) for row in rows_of(table)]


def briefs_of(table: pa.Table) -> list[Brief] | None:
    """Read what lines draw from the columns `OF_BRIEF`; None of a file that did not store it."""
    return [_brief(row) for row in table.to_pylist()] if "reached" in table.column_names else None


def _brief(row: Mapping[str, Any]) -> Brief:
    explanation = (row.get("where") or {}).get("explanation")
    third = (row.get("facts") or {}).get("third")
    own = row["incident"] is None and are_withheld(np.array(row["detector"]["sums"]))
    return Brief(
        row["segment"],
        row["state"],
        row["reached"],
        withheld=own or bool(third and third["withheld"]),
        slope=rebuilt(Estimate, explanation["slope"] if explanation else row["slope"]),
    )


def _row(verdict: Verdict) -> dict[str, Any]:
    row: dict[str, Any] = plain(verdict)
    row |= {name: row["detector"][name] for name in OF_DETECTOR}
    if not verdict.has_reference:
        row["reference_prevalence"] = None
    for place in row["where"]["places"] if row["where"] else ():
        place["share"] = None if isnan(place["share"]) else place["share"]
    return row


def _verdict(row: dict[str, Any]) -> Verdict:
    for name in OF_BEFORE:
        row.pop(name, None)
    detector = row["detector"] | {name: row.pop(name, None) for name in OF_DETECTOR}
    if detector["level"] is None:  # of a program that did not look for errors of the level
        del detector["level"]
    if facts := row.get("facts"):
        row["facts"] = _facts_row(facts)
    verdict: Verdict = rebuilt(Verdict, row | {"detector": detector})
    verdict = replace(
        verdict,
        detector=_shaped(verdict.detector),
        values=verdict.values and _shaped_values(verdict.values),
    )
    if "facts" not in row:
        verdict = replace(verdict, facts=_facts_before(verdict))
    return verdict if "reached" in row else replace(verdict, reached=_reached_before(verdict))


def _shaped(detector: Detector) -> Detector:
    """Give arrays their rows again."""
    history, rows = detector.history, len(detector.history.firsts)
    sums = {
        name: getattr(history, name).reshape(rows, width)
        for name, width in zip(SUMS, WIDTHS, strict=True)
    }
    level = detector.level
    return replace(
        detector,
        level=replace(level, levels=level.levels.reshape(-1, LEVEL_SUMS)),
        history=replace(history, **sums),
        cross=_rows(detector.cross),
        regions=detector.regions and _shaped_regions(detector.regions),
        noise=_labels(detector.noise),
        incident=detector.incident
        and replace(detector.incident, profiles=_profiles(detector.incident.profiles)),
        second=detector.second
        and replace(detector.second, detector=_shaped(detector.second.detector)),
    )


def _shaped_regions(watch: RegionWatch) -> RegionWatch:
    """Give what weeks said of regions a row for each week again."""
    shape = watch.weeks.size, watch.day_variances.size
    return replace(
        watch,
        scores=watch.scores.reshape(shape),
        informations=watch.informations.reshape(shape),
    )


def _shaped_values(watch: ValueWatch) -> ValueWatch:
    """Give the arrays of values their rows again."""
    past, of_value = watch.past, (-1, len(OF_VALUE), len(DIRECTIONS))
    return replace(
        watch,
        past=replace(
            past,
            known=past.known.reshape(of_value),
            new=past.new.reshape(of_value),
            levels=None if past.levels is None else past.levels.reshape(-1, len(OF_LEVEL)),
        ),
        levels=None if watch.levels is None else watch.levels.reshape(-1, LEVEL_WIDTH),
        sums=watch.sums.reshape(-1, len(KINDS)),
        own=watch.own.reshape(-1, len(KINDS)),
    )


def _rows(values: Floats | None) -> Floats | None:
    """Give an array a row for each direction."""
    return None if values is None else values.reshape(len(DIRECTIONS), -1)


def _profiles(values: Floats | None) -> Floats | None:
    """Give profiles rows of directions, and of labels; files of before have none of these."""
    return None if values is None else values.reshape(-1, PROFILED)


def _labels(learned: Floats) -> Floats:
    """Give what was learned of wrong labels a row for each family; files of before had the first.

    Of the others nothing has been learned then since the reference.
    """
    sums = no_sums()
    rows = learned.reshape(-1, sums.shape[1])
    sums[: len(rows)] = rows
    return sums


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
