"""Where a drift sits, as a column of the table of verdicts. Pure."""

from collections.abc import Mapping
from dataclasses import asdict
from math import isnan, nan
from typing import Any

import pyarrow as pa

from monitor.drift.places import Condition, Explanation, Place, Where
from monitor.metrics.core.estimate import Estimate

ESTIMATE = pa.struct([(n, pa.float64()) for n in ("value", "low", "high", "standard_error")])
CONDITION = pa.struct([("column", pa.string()), ("value", pa.string())])
PLACE = pa.struct(
    [
        *CONDITION,
        ("rows", pa.int64()),
        ("change", ESTIMATE),
        ("slope", ESTIMATE),
        ("evidence", pa.float64()),
        ("share", pa.float64()),
        ("flagged", pa.bool_()),
        ("new", pa.bool_()),
    ]
)
EXPLANATION = pa.struct(
    [
        ("conditions", pa.list_(CONDITION)),
        ("share", pa.float64()),
        ("slope", ESTIMATE),
        ("rest", ESTIMATE),
        ("rows", pa.float64()),
    ]
)
WHERE = pa.struct(
    [
        ("kind", pa.string()),
        ("change", ESTIMATE),
        ("places", pa.list_(PLACE)),
        ("explanation", EXPLANATION),
    ]
)


def stored_where(where: Where) -> dict[str, Any]:
    """Lay out what was found; a share that does not exist is null."""
    found = {name: value for name, value in asdict(where).items() if name in WHERE.names}
    for place in found["places"]:
        place["share"] = None if isnan(place["share"]) else place["share"]
    return found


def where_of(row: Mapping[str, Any]) -> Where:
    """Read it back."""
    explanation = row["explanation"]
    return Where(
        kind=row["kind"],
        change=_estimate(row["change"]),
        places=tuple(map(_place, row["places"])),
        explanation=explanation and _explanation(explanation),
    )


def _place(row: Mapping[str, Any]) -> Place:
    share = nan if row["share"] is None else row["share"]
    known = {"change": _estimate(row["change"]), "slope": _estimate(row["slope"]), "share": share}
    return Place(**{**row, **known})


def _explanation(row: Mapping[str, Any]) -> Explanation:
    return Explanation(
        conditions=tuple(Condition(**one) for one in row["conditions"]),
        share=row["share"],
        slope=_estimate(row["slope"]),
        rest=_estimate(row["rest"]),
        rows=row["rows"],
    )


def _estimate(row: Mapping[str, Any] | None) -> Estimate | None:
    return Estimate(**row) if row else None
