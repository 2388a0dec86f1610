"""Verdicts as the store holds them, now and before what the fold carries had a place of its own."""

from collections.abc import Sequence

import pyarrow as pa

from monitor.drift.records.carried import Carried
from monitor.drift.records.day_evidence import DayEvidence
from monitor.drift.records.detector import Detector
from monitor.drift.records.places import Where
from monitor.drift.records.values import ValueWatch
from monitor.drift.records.verdict import Verdict
from monitor.store.fields import columns, plain, table_of
from monitor.store.state_table import (
    COLUMNS,
    OF_DETECTOR,
    OF_PAST,
    detector_row,
    state_bytes,
    state_of,
)
from monitor.store.verdict_table import FULL

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


def whole_table(verdicts: Sequence[Verdict]) -> pa.Table:
    """Lay out verdicts with all that the fold carries, as files of format 9 did."""
    rows = [{**plain(verdict), **detector_row(verdict.detector)} for verdict in verdicts]
    return table_of(rows, OF_FORMAT_9)
