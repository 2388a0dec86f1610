"""Evaluations as tables for the terminal, with a legend."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from monitor.evaluation.evaluate import LEAST_RARER, Evaluation
from monitor.report.too_few import LEAST_FOR_ECE, says_ece, says_tce
from monitor.segment_names import WHOLE, shown
from monitor.summary import Summary, of_population, whole
from monitor.words.numbers import percent

LEGEND = (
    "prevalence   share of outcomes that are 1; the mean score should be equal to it",
    "prior shift  difference of the two, in logit: 0 is right on average",
    "ECE          mean gap between scores and observed rates: for the scores as they",
    "             are (raw), and without the prior shift (prior)",
    "TCE          share of predictions that the outcomes of their bin reject",
    "by chance    TCE of a calibrated model with these scores, 5 to 95 %, if rows are",
    "             independent (with `entity`: entities); a TCE above it is marked \u25b2",
)
COLUMNS = (
    "day",
    "outcomes",
    "preva-\nlence",
    "mean\nscore",
    "prior\nshift",
    "ECE\nraw",
    "ECE\nprior",
    "TCE\nprior",
    "by\nchance",
    "",
)

# Columns of words, which fold where a terminal is narrow.
WORDS = frozenset({"because", "class", "model", "owner", "scores", "segment", "value", "what"})
LEAST_OF_WORDS = 8  # characters


def evaluation_table(title: str, evaluations: Sequence[Evaluation]) -> RenderableType:
    """Show evaluations of one model and segment, one line each."""
    table = plain_table(title, COLUMNS)
    for e in evaluations:
        table.add_row(*_cells(e), style="" if e.final else "dim")
    notes = []
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
    return Text("\n".join(LEGEND), style="dim")


def summary_table(title: str, summary: Summary) -> RenderableType:
    """Show the counts of the logs of one day."""
    columns = ("segment", "predictions", "outcomes", "coverage", "prevalence", "mean score")
    table = plain_table(title, columns)
    for name, part in {WHOLE: whole(summary), **summary.segments}.items():
        t = part.tally
        rates = of_population([summary], name) or (t.prevalence, t.mean_score)
        table.add_row(
            Text(shown(name)),
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
        for number, column in enumerate(self.columns):
            if column.no_wrap:
                lines = [line for cell in column.cells for line in f"{cell}".splitlines()]
                edge = number == 0  # Rich leaves the padding of the first column out of its width
                column.min_width = max(map(cell_len, lines), default=0) + edge
        return super().__rich_console__(console, options)


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
        f"{e.matched:,}",
        percent(e.prevalence),
        percent(e.mean_score),
        f"{e.shift.value:+z.2f}" if e.shift else "-",
        f"{e.raw.ece:.3f}" if e.raw and says_ece(e) else "-",
        f"{e.prior.ece:.3f}" if e.prior and says_ece(e) else "-",
        f"{e.prior.tce_published:.0%}" if e.prior and says_tce(e) else "-",
        f"{e.null.q05:.0%}-{e.null.q95:.0%}" if e.null else "-",
        "\u25b2" if above else "",
    ]
