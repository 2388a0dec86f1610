"""Verdicts as the store holds them, now and before what the fold carries had a place of its own."""

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

import pyarrow as pa

from monitor.drift.records.day_evidence import DayEvidence
from monitor.drift.records.detector import Detector
from monitor.drift.records.places import Where
from monitor.drift.records.values import ValueWatch
from monitor.drift.records.verdict import Carried, Verdict
from monitor.store.fields import columns, plain, struct, table_of
from monitor.store.state_table import (
    COLUMNS,
    OF_DETECTOR,
    OF_PAST,
    detector_row,
    state_bytes,
    state_of,
)
from monitor.store.verdict_table import verdict_table, verdicts_of

FULL = dict.fromkeys(("change", "slope", "rest"), struct("value", "low", "high", "standard_error"))
ColumnPath = tuple[str | int, ...]
OF_FORMAT_9 = pa.schema(
    {
        **columns(Verdict, without=("detector", "evidence", "where", "values", "plan")),
        "evidence": pa.struct(
            [*columns(DayEvidence, without=("cross", "noise", "profiles")).items()]
        ),
        "where": pa.struct([*columns(Where, FULL, ("left_out", "flagged_left_out")).items()]),
        **{name: COLUMNS[name] for name in ("detector", *OF_DETECTOR)},
        "values": pa.struct([*columns(ValueWatch, OF_PAST).items()]),
    }
)


def detectors_again(verdicts: Sequence[Verdict]) -> dict[str, Detector]:
    """Give what the fold carries after the day of some verdicts, read back from the store."""
    if not verdicts:
        return {}
    carried = Carried(verdicts[0].day, {of.segment: of.detector for of in verdicts})
    return {**state_of(state_bytes(carried)).detectors}


def stored_again(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Write verdicts as the store does, and read them back."""
    tables = [(verdict_table([of], about={}), of.model, of.day) for of in verdicts]
    return [again for table in tables for again in verdicts_of(*table)]


def read_of_before(table: pa.Table) -> list[Verdict]:
    """Read a table of an earlier format, whose rows say of which model and day they are."""
    return verdicts_of(table, "", date.min)


def whole_table(verdicts: Sequence[Verdict]) -> pa.Table:
    """Lay out verdicts with all that the fold carries, as files of format 9 did."""
    rows = [{**plain(verdict), **detector_row(verdict.detector)} for verdict in verdicts]
    return table_of(rows, OF_FORMAT_9)


def leaves(of: Any, path: ColumnPath = ()) -> Iterator[ColumnPath]:
    """Name the columns that hold values."""
    if pa.types.is_struct(of):
        for field in of:
            yield from leaves(field.type, (*path, field.name))
    elif pa.types.is_list(of):
        yield from leaves(of.value_type, (*path, "[]"))
    elif pa.types.is_fixed_size_list(of):  # each number of an estimate, of a pair
        yield from ((*path, place) for place in range(of.list_size))
    else:
        yield path
