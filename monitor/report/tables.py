"""Evaluations as tables for the terminal, with a legend."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from monitor.base.segment_names import WHOLE, in_a_table
from monitor.days.summary import Summary, of_population, whole
from monitor.evaluation.evaluation import LEAST_RARER, Evaluation
from monitor.report.columns import WINDOWS, in_lines, meanings, window_cells
from monitor.report.too_few import LEAST_FOR_ECE, says_tce
from monitor.words.numbers import percent

LEGEND = {
    "raw, prior": "Of the scores as they are, and without the prior shift.",
    "by chance": "TCE of a calibrated model with these scores, 5 to 95 %, if rows are independent "
    "(with `entity`: entities). A TCE above it is marked \u25b2.",
}
STYLES = {
    "outcomes": ",",
    "prevalence": ".1%",
    "mean score": ".1%",
    "prior shift": "+z.2f",
    "ECE raw": ".3f",
    "ECE prior": ".3f",
    "TCE prior": ".0%",
}

# Columns of words, which fold where a terminal is narrow.
WORDS = frozenset(
    {
        *("because", "by", "class", "model", "owner", "scores", "segment", "state", "value"),
        *("what", "why"),
    }
)
LEAST_OF_WORDS = 8  # characters
WIDEST = 10_000  # characters: a terminal on which no table is too wide


def evaluation_table(title: str, evaluations: Sequence[Evaluation]) -> RenderableType:
    """Show evaluations of one model and segment, one line each."""
    table = plain_table(title, in_lines(["day", *STYLES, "by chance", ""]))
    for e in evaluations:
        table.add_row(*_cells(e), style="" if e.final else "dim")
    notes = []
    if any(e.population for e in evaluations):
        notes.append("all columns are of the labelled predictions")
    if not all(e.final for e in evaluations):
        notes.append("* provisional: outcomes are still arriving, so chance is not described yet")
    if not all(map(says_tce, evaluations)):
        notes.append(
            f"- too few outcomes to say: of the rarer kind ECE needs {LEAST_FOR_ECE}, TCE "
            f"{LEAST_RARER}"
        )
    return Group(table, Text("\n".join(notes), style="dim")) if notes else table


def legend() -> RenderableType:
    """Explain the columns of `evaluation_table`."""
    of_measures = meanings(["prevalence", "prior shift", "ECE", "TCE"], WINDOWS)
    lines = Table.grid(padding=(0, 2, 0, 0))
    for heading, meaning in (of_measures | LEGEND).items():
        lines.add_row(heading, Text(meaning), style="dim")
    return lines


def summary_table(title: str, summary: Summary) -> RenderableType:
    """Show the counts of the logs of one day."""
    columns = ("segment", "predictions", "outcomes", "coverage", "prevalence", "mean score")
    table = plain_table(title, columns)
    for name, part in {WHOLE: whole(summary), **summary.segments}.items():
        t = part.tally
        rates = of_population([summary], name) or (t.prevalence, t.mean_score)
        table.add_row(
            Text(in_a_table(name)),
            f"{part.predicted:,}",
            f"{t.total:,}",
            percent(part.coverage),
            percent(rates[0]),
            percent(rates[1]),
        )
    state = "final" if summary.final else "provisional: outcomes are still arriving"
    rejected = ", ".join(f"{rows:,} by {check}" for check, rows in summary.rejected.items())
    lines = [f"state     {state}", f"rejected  {rejected or 'no rows'}"]
    return Group(table, Text("\n".join(lines)))


class WholeTable(Table):
    """A table that cuts nothing: its columns of words fold, and all others keep their width.

    If that is still too much for a terminal, its lines are longer than the terminal.
    """

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Show the table, with the width that each column needs."""
        for column in self.columns:
            if column.no_wrap:
                cells = (column.header, *column.cells)
                lines = [line for cell in cells for line in f"{cell}".splitlines()]
                column.min_width = max(map(cell_len, lines), default=0)
        widest = options.update(width=WIDEST)
        least = Measurement.get(console, widest, self).minimum
        return super().__rich_console__(
            console, options.update(width=max(least, options.max_width))
        )


def plain_table(title: str, columns: Sequence[str]) -> Table:
    """Make an empty table without lines between its columns, with numbers on the right."""
    table = WholeTable(
        title=Text(title, style="bold"),
        title_justify="left",
        box=SIMPLE_HEAD,
        collapse_padding=True,
    )
    for number, column in enumerate(columns):
        left = number == 0 or column in (*WORDS, "verdict")
        table.add_column(
            column,
            justify="left" if left else "right",
            no_wrap=column not in WORDS,
            overflow="fold",
            min_width=LEAST_OF_WORDS if column in WORDS else None,
        )
    return table


def _cells(e: Evaluation) -> list[str]:
    star = "" if e.final else "*"
    above = bool(e.prior and e.null and e.prior.tce_published > e.null.q95)
    return [
        f"{e.day}{star}",
        *window_cells(e, STYLES, "-"),
        f"{100 * e.null.q05:.0f}-{percent(e.null.q95, 0)}" if e.null else "-",
        "\u25b2" if above else "",
    ]
