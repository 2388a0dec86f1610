"""One row of the array: its logs, what the program counts of them, and the plain computation."""

import re
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from monitor.base.errors import DataError
from monitor.base.files import looking_once
from monitor.config import load_config
from monitor.days.summary import RATED, ColumnPart, Rated, Segment, Summary
from monitor.logs import Databases, summarise_day, summarise_days
from monitor.metrics.beyond_binary.class_counts import ClassCounts
from monitor.metrics.core.buckets import BucketCounts
from monitor.metrics.core.coarse import Coarse
from tests.combinations.configuring import configuration
from tests.combinations.covering import Row
from tests.combinations.plain import Counts, Day, Part, count
from tests.combinations.rows import DAY, Rows, logs, write

RANKS = {"all": "second", "third choices": "third"}
BEFORE = DAY - timedelta(days=1)


def counted(summary: Summary) -> Counts:
    """Write what the program counted as the plain computation does."""
    parts = {
        (segment, stratum): of_part(part)
        for segment, whole in summary.segments.items()
        for stratum, part in whole.parts.items()
    }
    return Counts(
        parts=parts,
        rejected=dict(summary.rejected),
        left_out={k: v for k, v in summary.left_out.items() if k.endswith("where")},
        columns={
            column: {value: of_value(part) for value, part in values.items()}
            for column, values in summary.columns.items()
        },
        column_pairs={
            (column, value, RANKS[family], *pair.split(" against ")): of_value(of)[1]
            for column, values in summary.columns.items()
            for value, part in values.items()
            for (family, pair), of in part.pairs.items()
        },
        entities={key: of_buckets(counts) for key, counts in summary.entities.items()},
        weights=summary.class_weights,
        **(of_classes(summary.classes) if summary.classes else {}),
        acted=summary.acted,
        final=summary.final,
    )


def of_classes(counts: ClassCounts) -> dict[str, Any]:
    """Write outcomes and pairs of every part so; those of the whole are their sums."""
    parts: dict[tuple[str, str], Any] = {**counts.parts} or {("all", "all"): counts}
    assert sum(sum(of.outcomes) for of in parts.values()) == counts.total
    assert sum(of.judged for of in parts.values()) == counts.judged
    return {
        "classes": {
            part: dict(zip(counts.names, map(int, of.outcomes), strict=True))
            for part, of in parts.items()
        },
        "pairs": {
            (*part, rank, counts.names[a], counts.names[b]): of_pair(pair)
            for part, of in parts.items()
            for rank, pairs in (("second", of.pairs), ("third", of.third))
            for (a, b), pair in pairs.items()
            if pair.counts.any()
        },
    }


def of_pair(pair: Coarse) -> dict[int, tuple[int, int]]:
    """Write the cells of a pair so."""
    cells = map(int, np.flatnonzero(pair.counts))
    return {cell: (int(pair.counts[cell]), int(pair.positives[cell])) for cell in cells}


def of_part(part: Segment) -> Part:
    """Write a segment or stratum so."""
    cells, tally = part.tally.cells, part.tally
    assert cells is not None
    rows = zip(map(int, tally.counts), map(int, tally.positives), strict=True)
    return Part(
        part.predicted,
        dict(zip(map(int, cells.numbers), rows, strict=True)),
        dict(zip(map(int, part.awaited.cells), map(int, part.awaited.counts), strict=True)),
        of_rated(part.rated),
    )


def of_rated(rated: Rated | None) -> dict[int, tuple[int, ...]] | None:
    """Write what outcomes stand for so."""
    if rated is None:
        return None
    sums = zip(*(getattr(rated, name).tolist() for name in RATED), strict=True)
    return dict(zip(map(int, rated.cells), sums, strict=True))


def of_value(part: ColumnPart) -> tuple[int, dict[int, tuple[int, int]]]:
    """Write a value of a watched column so."""
    rows = zip(map(int, part.counts), map(int, part.positives), strict=True)
    return part.predicted, dict(zip(map(int, part.cells), rows, strict=True))


def of_buckets(part: BucketCounts) -> dict[tuple[int, int], tuple[int, int]]:
    """Write the counts of buckets so, by bucket and bin."""
    columns = (c.tolist() for c in (part.buckets, part.bins, part.counts, part.positives))
    return {(b, place): (rows, hits) for b, place, rows, hits in zip(*columns, strict=True)}


def compare(row: Row, folder: Path, seed: int, databases: Databases) -> None:
    """Write the logs of a row, and compare what the program counts with the plain computation."""
    predictions, outcomes = logs(row, seed)
    write(row, folder, predictions, outcomes)
    written = configuration(row, folder)
    (folder / "monitor.yaml").write_text(yaml.safe_dump(written))
    model = load_config(folder / "monitor.yaml").model("m")
    as_of = DAY + timedelta(days=1 if row["read"] == "provisional" else 4)
    days = [BEFORE, DAY] if row["days"] == "batch" else [DAY]
    found: dict[date, Summary | DataError] = {}
    with looking_once():  # as a run does
        if row["days"] == "batch":
            found |= summarise_days("m", model, days, as_of=as_of, databases=databases)
        else:
            try:
                found[DAY] = summarise_day("m", model, DAY, as_of=as_of, engine=databases)
            except DataError as error:
                found[DAY] = error
    of_names = configuration(row | {"expressions": "none"}, folder)["models"]["m"]
    if row["explode"] != "none":
        predictions = {day: taken_apart(listed) for day, listed in predictions.items()}
    for day in days:
        compare_day(found[day], Day(of_names, predictions, outcomes, day, as_of))


def taken_apart(records: Rows) -> Rows:
    """Give each element of the list of a record a row; a record without a list has no score."""
    found: Rows = []
    for record in records:
        listed = record["scores"]
        if isinstance(listed, str):
            listed = [float(piece) for piece in listed.split(";") if piece.strip()]
        found += [record | {"score": score} for score in ([None] if listed is None else listed)]
    return found


def compare_day(found: Summary | DataError, day: Day) -> None:
    """Compare one day: its counts, or the checks that stop it."""
    expected = count(day)
    failing = {check for check in expected.rejected if fails(day.model, check)}
    if failing or (isinstance(found, DataError) and not expected.stopped):
        assert isinstance(found, DataError), failing
        assert {*re.findall(r"list (\w+) under checks\.reject", str(found))} == failing, str(found)
    elif expected.stopped:
        assert isinstance(found, DataError)
        assert expected.stopped in str(found)
    else:
        assert counted(found) == expected


def fails(model: dict[str, Any], check: str) -> bool:
    """Return whether a check stops the day: all but two do unless they are listed elsewhere."""
    usual = {"outcome_orphan", "outcome_late"}
    return check not in {*model["checks"].get("reject", ()), *usual}
