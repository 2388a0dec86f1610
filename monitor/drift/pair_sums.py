"""What the pairs of classes of each value of a column say of a distortion. Pure.

Rule: a pair has a constant of its own in every segment and stratum, and on every day. So what the
pairs say is summed over the rows of a value, and these rows are never pooled.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from monitor.drift.column_sums import DaySums, Sums, nothing, sum_part
from monitor.drift.inputs import Day
from monitor.drift.pairs import Key, PairCurves
from monitor.drift.reference import Reference
from monitor.segment_names import CROSSED, PAIR, THIRD, WHOLE
from monitor.summary import ColumnPart, Columns, column_part, paired_part


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


def sum_paired_day(reference: Reference, curves: PairCurves, family: str, day: Columns) -> DaySums:
    """Sum up a day by column and value, and what the values of a column share with each pair.

    Parameters
    ----------
    reference : Reference
        Of a family of pairs.
    curves : PairCurves
        How the curves of its pairs differ.
    family : str
        One of `monitor.segment_names.FAMILIES`.
    day : mapping of str to mapping of str to ColumnPart
        Its columns, of which `PAIR` is one.
    """
    by_column = dict[str, Mapping[str, Sums]]()
    for column, values in day.items():
        by_value = {
            value: _by_pair(reference, curves, family, part) for value, part in values.items()
        }
        by_column[column] = {
            value: _together(of, values[value].predicted) for value, of in by_value.items()
        }
        if column != PAIR:
            by_column[with_pair(column)] = {
                f"{value}{CROSSED}{pair}": sums
                for value, of in by_value.items()
                for pair, sums in of.items()
            }
    return by_column


def with_pair(column: str) -> str:
    """Name the crossing of a column with pairs.

    Examples
    --------
    >>> with_pair("country")
    'country x pair'
    """
    return f"{column}{CROSSED}{PAIR}"


def _by_pair(
    reference: Reference, curves: PairCurves, family: str, part: ColumnPart
) -> dict[str, Sums]:
    by_pair = dict[str, Sums]()
    for (of, *_, pair), counted in part.pairs.items():
        if of == family:
            code = curves.codes.get(pair)
            # Several rows may have the same cell then, which sums do not mind.
            moved = counted if code is None else replace(counted, cells=code[counted.cells])
            by_pair[pair] = by_pair.get(pair, nothing()) + sum_part(reference, moved)
    return by_pair


def _together(of_pairs: Mapping[str, Sums], predicted: int) -> Sums:
    """Add pairs up, which vary from day to day in common."""
    together = sum(of_pairs.values(), nothing())
    return replace(together, predicted=predicted, squares=together.informations**2)
