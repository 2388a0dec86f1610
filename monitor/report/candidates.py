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
            f"{c.log_loss:z.4f value}",
            f"{c.log_loss:z.4f range}",
            f"{c.shape:z.4f value}",
            f"{c.shape:z.4f range}",
            f"{c.brier:z.4f value}",
            mark,
        )
    return table
