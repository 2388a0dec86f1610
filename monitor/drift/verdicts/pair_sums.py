"""What a day says of a distortion by value of its columns: over pairs of classes. Pure.

Rule: a pair has a constant of its own in every segment and stratum, and on every day. So what the
pairs say is summed over the rows of a value, and these rows are never pooled.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from monitor.base.segment_names import CROSSED, PAIR, THIRD, WHOLE
from monitor.days.summary import ColumnPart, Columns, column_part, paired_part
from monitor.drift.classes.pairs import SAME, Key, PairCurves
from monitor.drift.curve.reference import Reference
from monitor.drift.fold.inputs import Day
from monitor.drift.where.column_sums import DaySums, Sums, nothing, sum_part


def columns_of_pairs(day: Day, primary: str | None, predicted: Mapping[str, int]) -> Columns:
    """Give what every day of a model with classes counts: its pairs, and those of segments.

    Parameters
    ----------
    day : Day
        Of the model.
    primary : str or None
        The column of its segments, if it has any.
    predicted : mapping of str to int
        All valid predictions of each segment.
    """
    families = {WHOLE: day.parts, THIRD: day.third}
    pairs = {
        (family, *key): column_part(part.counts, part.positives, int(part.counts.sum()))
        for family, parts in families.items()
        for key, part in parts.items()
    }
    of_pairs = _grouped(pairs, lambda key: key[-1])
    columns = {
        PAIR: {
            name: paired_part(
                of, sum(part.predicted for key, part in of.items() if key[0] == WHOLE)
            )
            for name, of in of_pairs.items()
        }
    }
    if not primary:
        return columns
    of_segments = _grouped(pairs, lambda key: key[1])
    segments = {
        name: paired_part(of_segments.get(name, {}), rows) for name, rows in predicted.items()
    }
    return {primary: segments, **columns}


def _grouped(
    pairs: Mapping[Key, ColumnPart], name_of: Callable[[Key], str]
) -> dict[str, dict[Key, ColumnPart]]:
    grouped = dict[str, dict[Key, ColumnPart]]()
    for key, part in pairs.items():
        grouped.setdefault(name_of(key), {})[key] = part
    return grouped


def sum_day(
    reference: Reference, day: Columns, family: str = WHOLE, curves: PairCurves = SAME
) -> tuple[DaySums, DaySums]:
    """Sum up a day by column and value, and what the values of a column share with each pair.

    A model with two outcomes has one pair in each value, and its values share nothing further.

    Parameters
    ----------
    reference : Reference
        Of the family.
    day : mapping of str to mapping of str to ColumnPart
        Its columns.
    family : str
        One of `monitor.base.segment_names.FAMILIES`.
    curves : PairCurves
        How the curves of its pairs differ.
    """
    sums, shared = dict[str, Mapping[str, Sums]](), dict[str, Mapping[str, Sums]]()
    for column, values in day.items():
        by_value = {
            value: _by_pair(reference, curves, family, part) for value, part in values.items()
        }
        sums[column] = {
            value: _together(reference, part, by_value[value]) for value, part in values.items()
        }
        crossed = {
            f"{value}{CROSSED}{pair}": of_pair
            for value, of_value in by_value.items()
            for pair, of_pair in of_value.items()
        }
        if crossed and column != PAIR:
            shared[f"{column}{CROSSED}{PAIR}"] = crossed
    return sums, shared


def _by_pair(
    reference: Reference, curves: PairCurves, family: str, part: ColumnPart
) -> dict[str, Sums]:
    by_pair = dict[str, Sums]()
    for (of, *key), counted in part.pairs.items():
        if of == family:
            code, pair = curves.code_of(tuple(key)), key[-1]
            # Several rows may have the same cell then, which sums do not mind.
            moved = counted if code is None else replace(counted, cells=code[counted.cells])
            by_pair[pair] = by_pair.get(pair, nothing()) + sum_part(reference, moved)
    return by_pair


def _together(reference: Reference, part: ColumnPart, of_pairs: Mapping[str, Sums]) -> Sums:
    """Add up the pairs of a value, which vary from day to day in common, and its own rows."""
    together = sum(of_pairs.values(), sum_part(reference, part))
    return replace(together, predicted=part.predicted, squares=together.informations**2)
