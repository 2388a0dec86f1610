"""Numbers of verdicts and windows as cells of tables, by the headings of their measures. Pure."""

from collections.abc import Callable, Iterable, Mapping
from math import isnan, nan
from typing import Any

from monitor.drift.records.verdict import Verdict
from monitor.evaluation.evaluation import Evaluation
from monitor.measures.measure import Measure, numbers
from monitor.measures.verdicts import OF_VERDICTS
from monitor.measures.window_scopes import ADJUSTED
from monitor.measures.windows import COUNTS, OF_WINDOWS
from monitor.metrics.core.estimate import Estimate
from monitor.report.too_few import told_numbers

Style = str | Callable[[Estimate], str]  # of the value alone, or of the value and its interval
Styles = Mapping[str, Style]  # by heading, in the order of the columns
WINDOWS = (*OF_WINDOWS, *COUNTS)
STREAMS = (*WINDOWS, *OF_VERDICTS)  # slope and prior shift are those of the verdict
IN_LINES = {"prevalence": "preva-\nlence"}  # a heading that is wider than its numbers


def verdict_cells(v: Verdict | None, styles: Styles, nothing: str) -> tuple[str, ...]:
    """Write numbers of a verdict, and `nothing` for those that it does not have."""
    return cells_of(OF_VERDICTS, v, styles, nothing)


def window_cells(e: Evaluation | None, styles: Styles, nothing: str) -> tuple[str, ...]:
    """Write numbers of a window, and `nothing` for those that too few outcomes tell."""
    return cells_of(WINDOWS, told_numbers(e) if e else None, styles, nothing)


def cells_of(
    measures: Iterable[Measure[Any]], record: Any, styles: Styles, nothing: str
) -> tuple[str, ...]:
    """Write numbers of a record, each in the style of its heading.

    Parameters
    ----------
    measures : iterable of Measure
        Of such records.
    record : object or None
        A verdict, an evaluation or one of its classes.
    styles : mapping of str to Style
        How the numbers are written: the form of a value, or a function of the estimate.
    nothing : str
        What stands for a number that does not exist.
    """
    shown = [m for m in measures if m.heading] if record is not None else []
    by_heading = {
        m.heading.format(**labels): number for m in shown for labels, number in numbers(m, record)
    }
    return tuple(
        nothing
        if (number := by_heading.get(heading)) is None or isnan(number.value)
        else _written(number, style)
        for heading, style in styles.items()
    )


def meanings(headings: Iterable[str], measures: Iterable[Measure[Any]]) -> dict[str, str]:
    """Say of headings what their numbers are, as the measures do; others are left out."""
    said = {h: m for m in measures if m.heading for h in _headings(m)}
    return {h: said[h].in_short for h in headings if h in said}


def _headings(measure: Measure[Any]) -> set[str]:
    """List what columns of a measure are called: with each kind of scores, and with none."""
    return {measure.heading.format(adjusted=kind).strip() for kind in ("", *ADJUSTED)}


def in_lines(headings: Iterable[str]) -> tuple[str, ...]:
    """Break headings at their blanks, for tables as narrow as their numbers."""
    return tuple(IN_LINES.get(heading, heading.replace(" ", "\n")) for heading in headings)


def _written(number: Estimate, style: Style) -> str:
    alone = Estimate(number.value, nan, nan)
    return format(alone, style) if isinstance(style, str) else style(number)
