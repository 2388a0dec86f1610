"""A whole dashboard: its variables, its links, and where its panels are."""

from collections.abc import Iterable
from typing import Any

from grafana_foundation_sdk.builders import dashboard as builders
from grafana_foundation_sdk.models import dashboard
from panels import SOURCE, Panel


def page(uid: str, title: str, description: str) -> builders.Dashboard:
    """Begin a dashboard of the last 90 days that any Prometheus data source can fill.

    Its clock is UTC, because dates of models are exported as midnights in UTC.
    """
    begun = builders.Dashboard(title).uid(uid).description(description)
    begun.tags(["calibration"]).time("now-90d", "now").refresh("5m").timezone("utc")
    begun.tooltip(dashboard.DashboardCursorSync.CROSSHAIR)
    source = builders.DatasourceVariable("datasource").label("Data source").type("prometheus")
    return begun.with_variable(source)


def choice(name: str, query: str, value: str | None = None) -> builders.QueryVariable:
    """Let the user choose a value of a label, and begin with the given one or the first."""
    chosen = builders.QueryVariable(name).label(name.capitalize()).datasource(SOURCE)
    chosen.query({"qryType": 1, "query": query, "refId": name})
    chosen.refresh(dashboard.VariableRefresh.ON_TIME_RANGE_CHANGED)
    chosen.sort(dashboard.VariableSort.NATURAL_ASC)
    if value:
        chosen.current(dashboard.VariableOption(text=value, value=value))
    return chosen


def every(choice: builders.QueryVariable, meaning: str | None = None) -> builders.QueryVariable:
    """Let the user choose several values, and begin with all of them."""
    everything = dashboard.VariableOption(text=["All"], value=["$__all"])
    choice.multi(multi=True).include_all(include_all=True).current(everything)
    return choice.all_value(meaning) if meaning else choice


def link(title: str, url: str) -> builders.DashboardLink:
    """Link to another dashboard."""
    return builders.DashboardLink(title).url(url).type(dashboard.DashboardLinkType.LINK)


def constant(name: str, value: str) -> builders.ConstantVariable:
    """Keep a value that an installation sets once, in the settings of the dashboard."""
    return builders.ConstantVariable(name).value(value)


def budget() -> builders.TextBoxVariable:
    """Let the user say which share of the days may be spent in drift, in percent."""
    allowed = builders.TextBoxVariable("budget").label("Drift budget, % of days")
    return allowed.default_value("5").current(dashboard.VariableOption(text="5", value="5"))


def laid_out(
    page: builders.Dashboard, rows: Iterable[tuple[str, Iterable[Panel]]]
) -> dashboard.Dashboard:
    """Place the panels row by row from left to right, those below a title in a closed section."""
    for title, panels in rows:
        if title:
            page.with_row(builders.Row(title))
        for panel in panels:
            page.with_panel(panel)
    built = page.build()
    for number, panel in enumerate(built.panels or [], start=1):
        panel.id_val = number
    built.panels = closed(built.panels or [])
    return built


def closed(panels: Iterable[dashboard.Panel | dashboard.RowPanel]) -> list[Any]:
    """Put the panels after each row into that row, and close the gaps that this leaves."""
    shown: list[Any] = []
    section, lifted = None, 0
    for panel in panels:
        place = panel.grid_pos
        assert place is not None
        if isinstance(panel, dashboard.RowPanel):
            if section:
                lifted += height(section.panels)
            section = panel
            panel.collapsed = True
            place.y -= lifted
            shown.append(panel)
        elif section:
            place.y -= lifted
            section.panels.append(panel)
        else:
            shown.append(panel)
    return shown


def height(panels: Iterable[dashboard.Panel]) -> int:
    """Measure how many units panels take from top to bottom."""
    places = [panel.grid_pos for panel in panels if panel.grid_pos]
    return max(place.y + place.h for place in places) - min(place.y for place in places)
