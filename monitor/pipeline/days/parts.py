"""Parts of the rows that a map can be for: values of watched columns, their rule and their counts.

A part is named as `where` names it: ``device = tv``, or ``country x device = DE x tv``.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from monitor.base.errors import ConfigError
from monitor.base.segment_names import CROSSED, OTHER, shown
from monitor.config import Crossing, Model, Segments, WatchedColumn, expression_of
from monitor.days.summary import ColumnPart, column_part
from monitor.drift.records.places import Condition, name_all, name_of
from monitor.drift.where.part_counts import merge_parts
from monitor.logs.columns.column_labels import LARGEST_STEP, range_names, step_edge
from monitor.logs.statement.column_codes import MOST_VALUES
from monitor.metrics.maps.part import Clause, Part

Groups = Mapping[str, Mapping[str, str] | None]  # the names of the values of columns


def conditions_named(model: Model, name: str, written: Sequence[str]) -> tuple[Condition, ...]:
    """Read the names of values, as `--part` has them.

    Raises
    ------
    ConfigError
        If a name is not that of a watched column and a value, or they are of several columns.
    """
    columns = [w.name for w in model.columns]
    columns += [model.segments.name] if model.segments else []
    conditions = [_condition(text, columns, name) for text in written]
    if len({condition.column for condition in conditions}) > 1:
        msg = (
            f"--part: {name_all(conditions)} are values of several columns; fit a map of each, or "
            f"cross the columns in models.{name}.segments and name their combination."
        )
        raise ConfigError(msg)
    return tuple(dict.fromkeys(conditions))


def _condition(text: str, columns: Sequence[str], name: str) -> Condition:
    for column in sorted(columns, key=len, reverse=True):
        rest = text.strip().removeprefix(column).lstrip()
        if text.strip().startswith(column) and rest.startswith("="):
            value = rest[1:].strip()
            inside = value[1:-1]
            # As `shown` writes a value with blanks at its ends.
            return Condition(column, inside if shown(inside) == value != inside else value)
    if not columns:
        msg = f"--part {text}: {name} has no segments; list columns in models.{name}.segments."
    else:
        msg = (
            f"--part {text}: is no value of a watched column; write COLUMN = VALUE, as "
            f"calibration-monitor where --model {name} names it, with one of the columns "
            f"{', '.join(map(shown, columns))}."
        )
    raise ConfigError(msg)


def part_named(model: Model, conditions: Sequence[Condition], groups: Groups) -> Part:
    """Write the rule of rows that have any of some values.

    Raises
    ------
    ConfigError
        If a value has no rule, because it is what other values leave.
    """
    return Part(
        name_all(conditions), tuple(_clauses(model, condition, groups) for condition in conditions)
    )


def _clauses(model: Model, condition: Condition, groups: Groups) -> tuple[Clause, ...]:
    if model.segments and condition.column == model.segments.name:
        return (_primary_clause(model.segments, condition.value),)
    watched = _watched(model, condition.column)
    if not isinstance(watched, Crossing):
        return (_clause_of(model, condition, groups.get(condition.column) or {}),)
    values = condition.value.split(CROSSED)
    if condition.value == OTHER or len(values) != len(watched.cross):
        raise _no_rule(condition)
    parts = [Condition(*pair) for pair in zip(watched.cross, values, strict=True)]
    return tuple(_clause_of(model, part, {}) for part in parts)


def _clause_of(model: Model, condition: Condition, named: Mapping[str, str]) -> Clause:
    """Write the rule of a value of one column, which may be a part of a crossing alone."""
    watched = _watched(model, condition.column)
    if isinstance(watched, WatchedColumn):
        return _clause(watched, condition, named)
    if model.segments and condition.column == model.segments.name:
        return _primary_clause(model.segments, condition.value)
    return _clause_of_value(condition)


def _watched(model: Model, column: str) -> WatchedColumn | Crossing | None:
    """Find what the configuration says of a column; None of the primary one and of others."""
    return next((watched for watched in model.columns if watched.name == column), None)


def _primary_clause(segments: Segments, value: str) -> Clause:
    expression, others = expression_of(segments.column), value == OTHER
    values = segments.values if others else (value,)
    column = expression or segments.column
    return Clause(column, values, others=others, expression=expression is not None)


def _clause(watched: WatchedColumn, condition: Condition, named: Mapping[str, str]) -> Clause:
    if watched.values and condition.value == OTHER:
        return Clause(condition.column, watched.values, others=True)
    names = [*range_names(watched.edges)] if watched.edges else []
    if watched.edges and condition.value in names:
        place = names.index(condition.value)
        low, high = (None, *watched.edges)[place], (*watched.edges, None)[place]
        return Clause(condition.column, low=low, high=high)
    if watched.quantiles and condition.value != OTHER:
        return _clause_of_steps(
            condition, sorted(int(s) for s, n in named.items() if n == condition.value)
        )
    return _clause_of_value(condition)


def _clause_of_steps(condition: Condition, steps: Sequence[int]) -> Clause:
    """Write the range of numbers that some consecutive steps make."""
    low, high = (_begin(step) for step in (steps[0], steps[-1] + 1)) if steps else (None, None)
    if low is None and high is None:
        raise _no_rule(condition)
    return Clause(condition.column, low=low, high=high)


def _begin(step: int) -> float | None:
    """Give the least number of a step; None beyond all numbers. Steps are counted from 0."""
    if abs(step) > LARGEST_STEP:
        return None
    return step_edge(step) if step >= 0 else step_edge(step - 1)


def _clause_of_value(condition: Condition) -> Clause:
    if condition.value == OTHER:
        raise _no_rule(condition)
    return Clause(condition.column, (condition.value,))


def _no_rule(condition: Condition) -> ConfigError:
    msg = (
        f"--part {name_of(condition)}: these rows are what other values leave, or a name of "
        f"several columns that cannot be divided, so a map of them has no rule; list the values "
        f"that matter in the configuration."
    )
    return ConfigError(msg)


def column_of(model: Model, part: Part) -> str | None:
    """Name the watched column, or crossing, whose counts have a part apart; None if none has."""
    ruled = {clause.column for all_of in part.any_of for clause in all_of}
    columns = {w.name: w.cross if isinstance(w, Crossing) else (w.name,) for w in model.columns}
    if model.segments:
        columns.setdefault(model.segments.name, (model.segments.column,))
    for name, crossed in columns.items():
        if {expression_of(column) or column for column in crossed} == ruled:
            labels = _labels(model, name)
            counted = {
                r for label in labels for r in _rules_of(model, Condition(name, label), part)
            }
            return name if not labels or counted == {*part.any_of} else None
    return None


def _labels(model: Model, column: str) -> tuple[str, ...]:
    """List all labels of a column, where the configuration lists them."""
    if model.segments and column == model.segments.name:
        return (*model.segments.values, OTHER)
    watched = _watched(model, column)
    if not isinstance(watched, WatchedColumn) or not (watched.values or watched.edges):
        return ()
    return (*range_names(watched.edges),) if watched.edges else (*(watched.values or ()), OTHER)


def counts_of_rule(
    model: Model, column: str, part: Part, values: Mapping[str, ColumnPart]
) -> ColumnPart | None:
    """Add up the rows of a day that a rule is for, from the counts of the values of its column.

    Returns
    -------
    ColumnPart or None
        Without rows if the day has none, or too few for their value to be kept. None if the day
        has more values than are kept, so that many rows may be among those counted together.
    """
    ruled = {value: _rules_of(model, Condition(column, value), part) for value in values}
    if len(values) >= MOST_VALUES and {*part.any_of} != {r for of in ruled.values() for r in of}:
        return None
    inside = [values[value] for value, rules in ruled.items() if rules]
    return (
        merge_parts(inside)
        if inside
        else column_part(np.zeros(0, np.int64), np.zeros(0, np.int64), 0)
    )


def _rules_of(model: Model, condition: Condition, part: Part) -> list[tuple[Clause, ...]]:
    """List the rules of a part that a value meets."""
    try:
        # A step of numbers has its own ends, whatever range the reference has put it in.
        clauses = _clauses(model, condition, {condition.column: {condition.value: condition.value}})
    except ConfigError:  # what other values leave has no rule
        return []
    return [rule for rule in part.any_of if len(rule) == len(clauses) and _meets(clauses, rule)]


def _meets(clauses: Sequence[Clause], rule: Sequence[Clause]) -> bool:
    return all(
        clause == ruled or _is_within(clause, ruled)
        for clause, ruled in zip(clauses, rule, strict=True)
    )


def _is_within(clause: Clause, ruled: Clause) -> bool:
    """Whether a range of numbers is inside another one; its ends are edges of the same steps."""
    if clause.column != ruled.column or (clause.low is None and clause.high is None):
        return False
    if ruled.low is None and ruled.high is None:
        return False
    above = ruled.low is None or (clause.low is not None and clause.low >= ruled.low)
    return above and (ruled.high is None or (clause.high is not None and clause.high <= ruled.high))
