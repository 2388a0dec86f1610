"""A whole dashboard: its variables, its links, and where its panels are."""

from collections.abc import Iterable

from grafana_foundation_sdk.builders import dashboard as builders
from grafana_foundation_sdk.models import dashboard
from panels import SOURCE, Panel


def page(uid: str, title: str, description: str) -> builders.Dashboard:
    """Begin a dashboard of the last 90 days that any Prometheus data source can fill."""
    begun = builders.Dashboard(title).uid(uid).description(description)
    begun.tags(["calibration"]).time("now-90d", "now").refresh("5m").timezone("browser")
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


def laid_out(
    page: builders.Dashboard, rows: Iterable[tuple[str, Iterable[Panel]]]
) -> dashboard.Dashboard:
    """Place the panels row by row from left to right, and number them."""
    for title, panels in rows:
        if title:
            page.with_row(builders.Row(title))
        for panel in panels:
            page.with_panel(panel)
    built = page.build()
    for number, panel in enumerate(built.panels or [], start=1):
        panel.id_val = number
    return built
