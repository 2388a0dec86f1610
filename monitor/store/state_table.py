"""What the fold carries from day to day as a table, and back. Pure.

Files of before format 10 hold the detectors of every day in their verdicts, in the same columns.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from monitor.drift.records.day_evidence import DIRECTIONS, KINDS
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
    no_sums,
)
from monitor.drift.records.places import Condition
from monitor.drift.records.region_state import RegionWatch
from monitor.drift.records.values import OF_LEVEL, OF_VALUE, UNKNOWN_LEVEL, ValueWatch
from monitor.drift.records.verdict import Carried
from monitor.metrics.core.grid import Floats, Singles
from monitor.store.fields import LAYOUTS, columns, layout, plain, rebuilt, table_of

OF_DETECTOR = "incident", "ended", "moved", "second", "level"  # columns of their own
DETECTOR = pa.struct([*columns(Detector, without=OF_DETECTOR).items()])
# What the reference says of watched values has single precision by then.
OF_PAST = dict.fromkeys(("known", "new", "levels"), LAYOUTS[Singles])
LEVEL_WIDTH = len(LEVEL_KINDS) * LEVEL_SIZES
COLUMNS: Mapping[str, pa.DataType] = {
    "segment": pa.string(),
    "detector": DETECTOR,
    "incident": layout(Incident),
    "ended": layout(Ended),
    "moved": layout(Shift),
    "second": pa.struct([*columns(Second, without=("detector",)).items(), ("detector", DETECTOR)]),
    "level": layout(LevelWatch),
    # Of the model, in the first row.
    "day": pa.date32(),
    "values": pa.struct([*columns(ValueWatch, OF_PAST).items()]),
    "opened": pa.date32(),
    "explained": layout(tuple[Condition, ...]),
}
STATE = pa.schema(COLUMNS)


def state_bytes(carried: Carried) -> bytes:
    """Lay out what is carried, a row for each stream, as a stream of Arrow."""
    rows = [{"segment": name, **detector_row(of)} for name, of in carried.detectors.items()]
    of_model = {name: plain(of) for name, of in vars(carried).items() if name != "detectors"}
    rows[0] |= of_model
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, STATE) as writer:
        writer.write_table(table_of(rows, STATE))
    return sink.getvalue().to_pybytes()


def state_of(content: bytes) -> Carried:
    """Read it back."""
    rows = pa.ipc.open_stream(content).read_all().to_pylist()
    of_model = rows[0]
    values: ValueWatch | None = rebuilt(ValueWatch, with_levels(of_model["values"]))
    return Carried(
        day=of_model["day"],
        detectors={row["segment"]: detector_of(row) for row in rows},
        values=values and shaped_values(values),
        opened=of_model["opened"],
        explained=rebuilt(tuple[Condition, ...], of_model["explained"]),
    )


def detector_row(detector: Detector) -> dict[str, Any]:
    """Lay out a detector as a row of `DETECTOR` and the columns beside it."""
    row: dict[str, Any] = plain(detector)
    return {"detector": row, **{name: row[name] for name in OF_DETECTOR}}


def detector_of(row: Mapping[str, Any]) -> Detector:
    """Read a detector back from its columns."""
    content = row["detector"] | {name: row.get(name) for name in OF_DETECTOR}
    if content["level"] is None:  # of a program that did not look for errors of the level
        del content["level"]
    detector: Detector = rebuilt(Detector, content)
    return _shaped(detector)


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


def with_levels(values: dict[str, Any] | None) -> dict[str, Any] | None:
    """Say that nothing is known of the levels of values, in a file of before, which had none.

    Examples
    --------
    >>> values = with_levels({"past": {"names": ["a value"], "levels": None}, "levels": None})
    >>> values["past"]["levels"][:3], values["levels"]
    ([0.0, 0.0, inf], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    """
    if values is None:
        return None
    past = values["past"]
    unknown = [*UNKNOWN_LEVEL] * len(past["names"])
    none = [0.0] * LEVEL_WIDTH * len(past["names"])
    past = {**past, "levels": unknown if past.get("levels") is None else past["levels"]}
    return {**values, "past": past, "levels": values.get("levels") or none}


def shaped_values(watch: ValueWatch) -> ValueWatch:
    """Give the arrays of values their rows again."""
    past, of_value = watch.past, (-1, len(OF_VALUE), len(DIRECTIONS))
    return replace(
        watch,
        past=replace(
            past,
            known=past.known.reshape(of_value),
            new=past.new.reshape(of_value),
            levels=past.levels.reshape(-1, len(OF_LEVEL)),
        ),
        levels=watch.levels.reshape(-1, LEVEL_WIDTH),
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
