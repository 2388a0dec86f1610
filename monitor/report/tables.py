"""Evaluations as terminal tables that explain themselves."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from monitor.days import Summary, whole
from monitor.evaluate import Evaluation

LEGEND = (
    "prevalence      share of outcomes that are 1; mean score is what the model predicted",
    "prior shift     how far the two are apart, in logit; 0 is right on average",
    "ECE             mean gap between predicted and observed rates: as scored, and with the",
    "                prior shift forgiven",
    "TCE             share of predictions that their own outcomes reject, prior forgiven",
    "calibrated      the TCE that a calibrated model with these scores shows, 5 % to 95 %;",
    "                a TCE to the right of it (▲) is more than chance",
)


def evaluation_table(title: str, evaluations: Sequence[Evaluation]) -> RenderableType:
    """Show evaluations of one model and segment, one line each, with what the columns mean."""
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    columns = (
        "day",
        "outcomes",
        "prevalence",
        "mean\nscore",
        "prior\nshift",
        "ECE\nraw",
        "ECE\nprior",
        "TCE",
        "calibrated",
        "",
    )
    for column in columns:
        table.add_column(column, justify="left" if column == "day" else "right", no_wrap=True)
    for e in evaluations:
        table.add_row(*_cells(e), style="" if e.final else "dim")
    notes = list(LEGEND)
    if not all(e.final for e in evaluations):
        notes.append("dim and marked *    provisional: outcomes are still awaited")
    return Group(table, Text("\n".join(notes), style="dim"))


def summary_table(title: str, summary: Summary) -> RenderableType:
    """Show what was found in the logs of one day."""
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    for column in ("segment", "predictions", "outcomes", "coverage", "prevalence", "mean score"):
        table.add_column(column, justify="left" if column == "segment" else "right")
    for name, part in {"all": whole(summary), **summary.segments}.items():
        t = part.tally
        table.add_row(
            name,
            f"{part.predicted:,}",
            f"{t.total:,}",
            f"{part.coverage:.1%}",
            f"{t.prevalence:.2%}",
            f"{t.mean_score:.2%}",
        )
    state = "final" if summary.final else "provisional: outcomes are still awaited"
    rejected = ", ".join(f"{rows:,} by {check}" for check, rows in summary.rejected.items())
    lines = [f"state     {state}", f"rejected  {rejected or 'no rows'}"]
    return Group(table, Text("\n".join(lines)))


def _cells(e: Evaluation) -> list[str]:
    star = "" if e.final else "*"
    above = bool(e.prior and e.null and e.prior.tce_published > e.null.q95)
    return [
        f"{e.day}{star}",
        f"{e.matched:,}",
        f"{e.prevalence:.1%}",
        f"{e.mean_score:.1%}",
        f"{e.shift.delta:+.2f}" if e.shift else "-",
        f"{e.raw.ece:.3f}" if e.raw else "-",
        f"{e.prior.ece:.3f}" if e.prior else "-",
        f"{e.prior.tce_published:.0%}" if e.prior else "-",
        f"{e.null.q05:.0%}-{e.null.q95:.0%}" if e.null else "-",
        "▲" if above else "",
    ]
