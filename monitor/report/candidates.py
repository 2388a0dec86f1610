"""The families of calibration maps that were tried, as a table."""

from typing import Any

from rich.console import RenderableType

from monitor.metrics.maps.choosing import Choice
from monitor.report.tables import plain_table


def candidate_table(title: str, choice: Choice[Any], *, worth_it: bool) -> RenderableType:
    """Show what each family gained on days left out, with intervals."""
    columns = ("map", "gain in\nlog loss", "95 %", "of it\nshape", "95 %", "gain in\nBrier")
    table = plain_table(title, (*columns, ""))
    for c in choice.candidates[1:]:
        mark = "\u25c0" if c is choice.chosen and worth_it else ""
        table.add_row(
            c.kind,
            f"{c.log_loss.value:+z.4f}",
            f"{c.log_loss.low:+z.4f}..{c.log_loss.high:+z.4f}",
            f"{c.shape.value:+z.4f}",
            f"{c.shape.low:+z.4f}..{c.shape.high:+z.4f}",
            f"{c.brier.value:+z.4f}",
            mark,
        )
    return table
