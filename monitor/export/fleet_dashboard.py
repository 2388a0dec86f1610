"""The dashboard of all models, with a table that is as high as its rows."""

import json
from typing import Any

MOST_ROWS = 40  # more scroll
# Pixels, of Grafana: a row or the heading, the title of a panel, a unit of the grid and its gap.
ROW, TITLE, UNIT, GAP = 36, 50, 38, 8


def as_high_as(models: int, dashboard: dict[str, Any]) -> dict[str, Any]:
    """Give the table, which is the first panel, the height of its rows, and move what is below.

    Examples
    --------
    >>> below = {"gridPos": {"y": 12, "h": 4}}
    >>> table = {"gridPos": {"y": 0, "h": 12}}
    >>> as_high_as(2, {"panels": [table, below]})["panels"]
    [{'gridPos': {'y': 0, 'h': 5}}, {'gridPos': {'y': 5, 'h': 4}}]
    """
    table, *others = dashboard["panels"]
    high = height(models)
    more = high - table["gridPos"]["h"]
    moved = [
        {**panel, "gridPos": {**panel["gridPos"], "y": panel["gridPos"]["y"] + more}}
        for panel in others
    ]
    return {**dashboard, "panels": [{**table, "gridPos": {**table["gridPos"], "h": high}}, *moved]}


def height(models: int) -> int:
    """Give the height of a table of so many models, in units of the grid.

    Examples
    --------
    >>> height(1), height(10), height(1000) == height(40)
    (4, 12, True)
    """
    return -(-(ROW * (min(models, MOST_ROWS) + 1) + TITLE + GAP) // UNIT)


def resized(content: bytes, models: int) -> bytes:
    """Do the same with the file of the dashboard."""
    dashboard = as_high_as(models, json.loads(content))
    return f"{json.dumps(dashboard, sort_keys=True, indent=2)}\n".encode()
