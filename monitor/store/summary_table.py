"""A day's summary as a table of the store: a row for each segment, stratum and cell. Pure."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from typing import Any

import numpy as np
import pyarrow as pa

from monitor.days.summary import NO_SAMPLE, RATED, Awaited, Rated, Segment, Summary, stratified
from monitor.metrics.core.grid import CELL_COUNT, Floats, Ints, representative_scores
from monitor.metrics.core.tally import Cells, Tally, merge
from monitor.store.class_rows import class_counts_of, class_facts, class_parts, pair_numbers
from monitor.store.ranges import check_owner, check_rows, check_summary

FORMAT = 3
NAMES = ("segment", "stratum")
NUMBERS: dict[str, pa.DataType] = {
    "cell": pa.int32(),
    "count": pa.int64(),
    "positives": pa.int64(),
    "offset_sum": pa.int64(),
    "awaited": pa.int64(),
}
RATED_NUMBERS = {f"rated_{name}": pa.int64() for name in RATED}  # of a model with such rates
NO_ROWS = slice(0, 0)
ANY_NUMBER = np.iinfo(np.int64).max


def summary_table(summary: Summary, entities: str | None = None) -> pa.Table:
    """Lay out the summary of a day; `entities` is the digest of the file that has its buckets."""
    parts = {
        (segment, stratum): leaf
        for segment, part in summary.segments.items()
        for stratum, leaf in part.parts.items()
    }
    named_numbers = {part: _numbers(leaf) for part, leaf in parts.items()}
    if summary.classes:
        named_numbers |= {part: _numbers(leaf) for part, leaf in class_parts(summary.classes)}
        named_numbers |= dict(pair_numbers(summary.classes))
    numbers = list(named_numbers.values())
    lengths = [columns["cell"].size for columns in numbers]
    named = zip(NAMES, zip(*named_numbers, strict=True), strict=True)
    columns = {name: pa.array(np.repeat(np.array(of, object), lengths)) for name, of in named}
    for name, kind in NUMBERS.items():
        columns[name] = pa.array(np.concatenate([c[name] for c in numbers]), kind)
    if any(leaf.rated for leaf in parts.values()):
        for name, kind in RATED_NUMBERS.items():
            columns[name] = pa.array(np.concatenate([c[name] for c in numbers]), kind)
    predicted: dict[str, dict[str, int]] = {segment: {} for segment in summary.segments}
    acted: dict[str, dict[str, int | None]] = {segment: {} for segment in summary.segments}
    for (segment, stratum), leaf in parts.items():
        predicted[segment][stratum] = leaf.predicted
        acted[segment][stratum] = leaf.acted
    about = {
        "format": FORMAT,
        "cells": CELL_COUNT,
        "model": summary.model,
        "day": str(summary.days[0]),
        "predicted": predicted,
        "rejected": dict(summary.rejected),
        "final": summary.final,
        "known_at": summary.known_at.isoformat(),
    }
    sampled = summary.class_weights != NO_SAMPLE
    of_some = {
        "class_weights": summary.class_weights if sampled else None,
        "classes": class_facts(summary.classes) if summary.classes else None,
        "acted": acted if summary.acted is not None else None,
        "entities": entities or None,
        "unlisted": summary.unlisted or None,
    }
    about |= {key: said for key, said in of_some.items() if said is not None}
    return pa.table(columns).replace_schema_metadata({"summary": json.dumps(about)})


def named_entities(about: Mapping[bytes, bytes] | None) -> str | None:
    """Give the digest of the file with the buckets of a day; None if its summary names none."""
    return json.loads((about or {})[b"summary"]).get("entities")  # type: ignore[no-any-return]


def says_final(model: str, day: date, table: pa.Table) -> bool:
    """Read back whether a day is final; the rows of its table need not have been read.

    Raises
    ------
    ValueError, LookupError, TypeError
        If this program did not write it.
    """
    return bool(_about(model, day, table)["final"])


def _about(model: str, day: date, table: pa.Table) -> dict[str, Any]:
    about: dict[str, Any] = json.loads((table.schema.metadata or {})[b"summary"])
    if about["format"] != FORMAT or about["cells"] != CELL_COUNT:
        msg = f"format {about['format']} on {about['cells']} cells, not {FORMAT} on {CELL_COUNT}"
        raise ValueError(msg)
    # Files of earlier versions do not say whose they are.
    check_owner(model, day, about.get("model", model), about.get("day", str(day)))
    return about


def summary_of(model: str, day: date, table: pa.Table) -> Summary:
    """Read the table of a day back.

    Raises
    ------
    ValueError, LookupError, TypeError
        If this program did not write it.
    """
    about = _about(model, day, table)
    rated = RATED_NUMBERS if {*RATED_NUMBERS} <= {*table.column_names} else {}
    stored = NUMBERS | rated
    columns = {name: table[name].to_numpy().astype(np.int64, copy=False) for name in stored}
    rows = rows_by_part(table)
    starts = np.array([part.start for part in rows.values()], np.int64)
    check_rows(columns, starts, [_most_rows(about, *part) for part in rows])

    acted: dict[str, dict[str, int]] = about.get("acted", {})
    # Once for all rows: a model may have hundreds of segments, each with a few.
    scores = representative_scores(
        columns["cell"], columns["offset_sum"], np.maximum(columns["count"], 1)
    )

    def numbers_of(part: tuple[str, str]) -> dict[str, Ints]:
        chosen = rows.get(part, NO_ROWS)
        return {name: numbers[chosen] for name, numbers in columns.items()}

    def segment_of(part: tuple[str, str], predicted: int) -> Segment:
        counted = _segment(numbers_of(part), scores[rows.get(part, NO_ROWS)], predicted)
        segment, stratum = part
        return replace(counted, acted=acted[segment][stratum]) if acted else counted

    segments = {
        segment: stratified({s: segment_of((segment, s), n) for s, n in strata.items()})
        for segment, strata in about["predicted"].items()
    }
    summary = Summary(
        model=model,
        days=(day,),
        segments=segments,
        rejected=about["rejected"],
        final=about["final"],
        known_at=datetime.fromisoformat(about["known_at"]),
        class_weights=tuple(about.get("class_weights", NO_SAMPLE)),
        classes=class_counts_of(
            about["classes"],
            merge(part.tally for part in segments.values()),
            lambda part: segment_of(part, 0).tally,
            numbers_of,
            parts=[(name, of) for name, strata in about["predicted"].items() for of in strata],
            named=rows,
        )
        if "classes" in about
        else None,
        unlisted=tuple((value, rows) for value, rows in about.get("unlisted", ())),
    )
    check_summary(summary)
    return summary


def _most_rows(about: Mapping[str, Any], segment: str, stratum: str) -> int:
    """Give the predictions of a part; a tally of classes is beside the segments and has none."""
    of_segment: Mapping[str, int] = about["predicted"].get(segment, {})
    return ANY_NUMBER if "classes" in about and not of_segment else of_segment[stratum]


def _numbers(part: Segment) -> dict[str, Ints]:
    """Lay one part out, a row for each cell with a prediction."""
    t, late = part.tally, part.awaited
    if t.cells is None:
        msg = "only tallies on the grid are stored; use tally_on_grid."
        raise TypeError(msg)
    cells = np.union1d(t.cells.numbers, late.cells)
    columns = {name: np.zeros(cells.size, np.int64) for name in NUMBERS}
    matched = np.searchsorted(cells, t.cells.numbers)
    columns["count"][matched] = t.counts
    columns["positives"][matched] = t.positives
    columns["offset_sum"][matched] = t.cells.offset_sums
    columns["awaited"][np.searchsorted(cells, late.cells)] = late.counts
    for name, of in zip(RATED, RATED_NUMBERS, strict=True):
        columns[of] = np.zeros(cells.size, np.int64)
        if part.rated:
            columns[of][np.searchsorted(cells, part.rated.cells)] = getattr(part.rated, name)
    return columns | {"cell": cells}


def rows_by_part(table: pa.Table) -> dict[tuple[str, str], slice]:
    """Find the rows of each part by their runs; comparing every row by name takes too long."""
    import pyarrow.compute as pc  # noqa: PLC0415 - what only shows results need not wait for it

    encoded = [pc.call_function("run_end_encode", [table[name].combine_chunks()]) for name in NAMES]
    ends = np.unique(np.concatenate([column.run_ends.to_numpy() for column in encoded]))
    starts = np.concatenate([[0], ends])[:-1]
    parts = zip(*(table[name].take(starts).to_pylist() for name in NAMES), strict=True)
    rows = {part: slice(start, end) for part, start, end in zip(parts, starts, ends, strict=True)}
    if len(rows) < ends.size:
        msg = "the rows of a part are not together"
        raise ValueError(msg)
    return rows


def _segment(columns: Mapping[str, Ints], scores: Floats, predicted: int) -> Segment:
    matched, late = columns["count"] > 0, columns["awaited"] > 0
    cells = Cells(columns["cell"][matched], columns["offset_sum"][matched])
    return Segment(
        Tally(scores[matched], columns["count"][matched], columns["positives"][matched], cells),
        predicted,
        Awaited(columns["cell"][late], columns["awaited"][late]),
        rated=Rated(cells.numbers, *(columns[name][matched] for name in RATED_NUMBERS))
        if {*RATED_NUMBERS} <= {*columns}
        else None,
    )
