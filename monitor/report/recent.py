"""The last weeks of a model in the terminal: sparklines, and the segments as a table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import isfinite
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from monitor.base.segment_names import WHOLE, in_a_table
from monitor.days.summary import days_between
from monitor.drift.records.verdict import Brief, State
from monitor.evaluation.evaluation import Evaluation
from monitor.read.results import Results
from monitor.read.standing import Standing, briefly_day_by_day, day_by_day
from monitor.report.columns import in_lines, verdict_cells, window_cells
from monitor.report.tables import WholeTable, plain_table
from monitor.report.verdicts import COLOURS, STYLES, evidence_text
from monitor.words.numbers import percent, times
from monitor.words.verdict import WITHHELD

DAYS = 28
TICKS = "▁▂▃▄▅▆▇█"
WINDOW_STYLES = {"prevalence": ".1%", "outcomes": ","}
NOTHING = "·"  # a day without a value


@dataclass(frozen=True)
class RecentDay:
    """What a sparkline shows of one day; None for what is not known."""

    day: date
    state: State | None = None
    evidence: float | None = None
    prevalence: float | None = None
    slope: float | None = None
    withheld: bool = False


@dataclass(frozen=True)
class Recent:
    """The last weeks of one segment, and all segments on the last day.

    Attributes
    ----------
    days : sequence of RecentDay
        Calendar days, rising.
    limit : float or None
        log10 of the evidence that opens an incident on the last day.
    reference_prevalence : float or None
        Of the reference of the last day.
    segments : sequence of Standing
        On the last day; empty without segments.
    """

    days: Sequence[RecentDay]
    limit: float | None
    reference_prevalence: float | None
    segments: Sequence[Standing]

    @property
    def document(self) -> dict[str, Any]:
        """The same as a JSON document."""
        return {
            "recent": self.days,
            "segments": [
                {
                    "segment": v.segment,
                    "state": v.state,
                    "evidence": v.reached,
                    "withheld": v.withheld,
                    "slope": v.headline_slope,
                    "shift": v.shift,
                    "prevalence": standing.week and standing.week.prevalence,
                    "matched": standing.week and standing.week.matched,
                }
                for standing in self.segments
                if (v := standing.verdict)
            ],
        }


def recent_weeks(results: Results, segment: str, window: int, last: date | None) -> Recent | None:
    """Read the days up to the last one that was judged; None before the first verdict."""
    if last is None:
        return None
    (now,) = day_by_day(results, [last], window)
    verdict = now.get(segment, Standing()).verdict
    compared = verdict if verdict and verdict.compared else None
    span = days_between(last - timedelta(days=DAYS - 1), last)
    days = briefly_day_by_day(results, span, segment)
    return Recent(
        [_recent_day(day, *stored) for day, stored in zip(span, days, strict=True)],
        compared.limit if compared else None,
        compared.reference_prevalence if compared else None,
        [s for s in now.values() if s.verdict and s.verdict.segment != WHOLE],
    )


def _recent_day(day: date, brief: Brief | None, alone: Evaluation | None) -> RecentDay:
    return RecentDay(
        day,
        brief.state if brief else None,
        brief.reached if brief else None,
        alone.prevalence if alone and alone.final and isfinite(alone.prevalence) else None,
        brief.slope.value if brief and brief.slope else None,
        withheld=bool(brief and brief.withheld),
    )


def sparkline(values: Sequence[float | None], low: float, high: float) -> str:
    """Draw numbers as a line of blocks, the lowest for `low` and the highest for `high`.

    Examples
    --------
    >>> sparkline([0.0, 0.5, None, 1.0], 0.0, 1.0)
    '▁▅·█'
    """

    def tick(value: float) -> str:
        share = (value - low) / (high - low) if high > low else 0.0
        return TICKS[min(len(TICKS) - 1, max(0, int(share * len(TICKS))))]

    return "".join(NOTHING if value is None else tick(value) for value in values)


def recent_text(recent: Recent) -> RenderableType:
    """Show evidence, prevalence and slope of the last weeks as sparklines."""
    first, last = recent.days[0].day, recent.days[-1].day
    table = WholeTable(box=None, show_header=False, padding=(0, 2, 0, 0))
    for whole in (True, True, False):  # name and line, and words, which fold
        table.add_column(no_wrap=whole)
    for name, low, high, words in _rows(recent):
        values = [getattr(day, name) for day in recent.days]
        seen = [value for value in values if value is not None]
        if seen:
            line = sparkline(values, min(low, *seen), max(high, *seen))
            unknown = WITHHELD if name == "evidence" and recent.days[-1].withheld else "not known"
            now = words(values[-1]) if values[-1] is not None else unknown
            table.add_row(name, Text(line, style="cyan"), now)
    title = Text(f"The {len(recent.days)} days from {first} to {last}", style="bold")
    return Group(title, Padding(table, (0, 0, 1, 2)))


def _rows(recent: Recent) -> list[tuple[str, float, float, Callable[[float], str]]]:
    """Give what is drawn, the least span of values that its line shows, and today in words."""
    limit, reference = recent.limit, recent.reference_prevalence
    enough = f"; the limit is {times(limit)}" if limit is not None else ""
    compared = f"; {percent(reference)} in the reference" if reference is not None else ""
    return [
        ("evidence", 0.0, limit or 1.0, lambda v: f"{times(v)} to 1{enough}"),
        ("prevalence", 0.0, reference or 0.0, lambda v: f"{percent(v)}{compared}"),
        ("slope", 0.5, 1.5, lambda v: f"{v:.2f}; 1 is as in the reference"),
    ]


def segment_table(title: str, recent: Recent) -> RenderableType:
    """Show the verdict and the measures of every segment, one line each."""
    columns = ["segment", "verdict", "evidence", *STYLES, *WINDOW_STYLES]
    table = plain_table(title, in_lines(columns))
    for standing in recent.segments:
        v = standing.verdict
        if not v:
            continue
        table.add_row(
            Text(in_a_table(v.segment)),
            Text(v.state, style=COLOURS.get(v.state, "")),
            evidence_text(v),
            *verdict_cells(v, STYLES, "-"),
            *window_cells(standing.week, WINDOW_STYLES, "-"),
        )
    return table
