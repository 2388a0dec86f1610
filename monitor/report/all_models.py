"""All models in the terminal: what stands of each, the worst first."""

from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from monitor.report.page.index import INDEX_COLUMNS, Entry
from monitor.report.tables import plain_table
from monitor.report.verdicts import COLOURS

ALL_COLUMNS = ("model", "verdict", "day", "what")


def models_table(entries: Sequence[Entry]) -> RenderableType:
    """Show all models, the worst first."""
    table = plain_table("All models, the worst first", ALL_COLUMNS)
    for entry in entries:
        cells = dict(zip(INDEX_COLUMNS, entry.cells, strict=True))
        verdict = Text(cells["verdict"], style=COLOURS.get(entry.state, "yellow"))
        table.add_row(*(verdict if name == "verdict" else cells[name] for name in ALL_COLUMNS))
    return table
