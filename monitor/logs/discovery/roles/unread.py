"""Columns that stand for a probability and are none: points, grades, decisions. Pure."""

from collections.abc import Collection, Sequence

from monitor.base.sql_text import text_in_sql
from monitor.logs.discovery.roles import candidates as roles
from monitor.logs.discovery.samples.columns import NUMBERS, Column, in_sql, number_in
from monitor.logs.engines.conversions import quoted

FEW = 12  # values of grades in texts
CREDIT = 250.0, 1000.0  # where the points of credit scores lie


def could_be_score(column: Column) -> bool:
    """Tell whether a column is named like a score, or has the text of numbers with a fraction."""
    return roles.is_named_score(column) or bool(column.mark)


def unread_scores(columns: Sequence[Column], taken: Collection[str]) -> dict[str, str]:
    """List columns that may stand for the probability, with SQL of their order from 0 to 1.

    Parameters
    ----------
    columns : sequence of Column
        Of the predictions.
    taken : collection of str
        Columns that have another role, or may be the score as they are.
    """
    return {
        c.name: order
        for c in columns
        if c.name not in taken and c.distinct > 1 and (order := _order(c))
    }


def _order(column: Column) -> str:
    name = quoted(column.name)
    named = could_be_score(column)
    if column.kind in NUMBERS and (named or _are_points(column) or column.has_grades):
        width = column.greatest - column.least
        return f"((try_cast({name} AS DOUBLE) - {column.least!r}) / {width!r})" if width else ""
    if column.kind == "text" and named and column.has_grades:
        listed = ", ".join(text_in_sql(value) for value in sorted(column.values))
        return f"(list_position([{listed}], {name}::VARCHAR) / {len(column.values)})"
    return ""


def _are_points(column: Column) -> bool:
    return CREDIT[0] <= column.least and column.greatest <= CREDIT[1]


def how_to_map(column: Column) -> str:
    """Say of a column that is named like a score why it is none, and how it becomes one."""
    begin, name = f"{column.name} is {column.type}", in_sql(column.name)
    values = [*column.values]
    if column.kind in NUMBERS:
        begin = f"{begin} from {column.least:.4g} to {column.greatest:.4g}"
        if column.distinct == 2:  # noqa: PLR2004 - as of a threshold
            return f"{begin}, a decision and no probability: log the probability beside it."
        if _are_points(column):
            return (
                f"{begin}, points of a scorecard: write the probability that they stand for, "
                f'{{sql: "1 / (1 + exp(({name} - offset) / factor))"}}, with the numbers of the '
                f"scorecard."
            )
        if column.has_grades:
            return f"{begin}, grades: {_cases(name, min(values, key=float))}"
    elif column.kind == "text" and 0 < column.distinct <= FEW:
        shown = ", ".join(sorted(values)[:3])
        return f"{begin} with grades such as {shown}: {_cases(name, text_in_sql(min(values)))}"
    if column.mark:
        how = {",": "with a decimal comma", "%": "with percent signs"}.get(
            column.mark, "that is a number"
        )
        return f'{begin} {how}: write it as {{sql: "{number_in(name, column.mark)}"}}.'
    return f"{begin}, not a number from 0 to 1; write the probability that it stands for."


def _cases(name: str, value: str) -> str:
    return (
        f'write the probability that each stands for, {{sql: "CASE {name} WHEN {value} THEN 0.01 … '
        f'END"}}.'
    )
