"""A whole dashboard: its variables, its links, and where its panels are."""

from collections.abc import Iterable

from grafana_foundation_sdk.builders import dashboard as builders
from grafana_foundation_sdk.models import dashboard
from panels import SOURCE, Panel

# What a dashboard hands to another one: what both have chosen.
HANDED = {
    "calibration-fleet": ("datasource",),
    "calibration-model": ("model", "segment", "window", "datasource"),
    "calibration-errors": ("model", "segment", "window", "datasource"),
    "calibration-data": ("model", "window", "datasource"),
}
TITLES = {
    "calibration-fleet": "All models",
    "calibration-model": "This model",
    "calibration-errors": "Its errors and their causes",
    "calibration-data": "Its data and runs",
}


def page(uid: str, title: str, description: str) -> builders.Dashboard:
    """Begin a dashboard of the last 90 days that any Prometheus data source can fill.

    Its clock is UTC, because dates of models are exported as midnights in UTC.
    """
    begun = builders.Dashboard(title).uid(uid).description(description)
    begun.tags(["calibration"]).time("now-90d", "now").refresh("5m").timezone("utc")
    begun.tooltip(dashboard.DashboardCursorSync.CROSSHAIR)
    source = builders.DatasourceVariable("datasource").label("Data source").type("prometheus")
    return begun.with_variable(source)


def of_model(uid: str, title: str, description: str) -> builders.Dashboard:
    """Begin a dashboard of one model; the user chooses a segment too, and a window."""
    begun = page(uid, title, description)
    begun.with_variable(choice("model", "label_values(calibration_model_info, model)"))
    if "segment" in HANDED[uid]:
        judged = 'label_values(calibration_verdict{model="$model"}, segment)'
        begun.with_variable(choice("segment", judged, "all"))
    windows = 'label_values(calibration_window_outcomes{model="$model"}, window)'
    return begun.with_variable(choice("window", windows, "7d"))


def linked(page: builders.Dashboard, *uids: str) -> None:
    """Link other dashboards at the top, with the model and the time kept."""
    for uid in uids:
        handed = "&".join(f"var-{name}=${{{name}}}" for name in HANDED[uid])
        link_to = builders.DashboardLink(TITLES[uid]).url(f"/d/{uid}?{handed}")
        page.link(link_to.type(dashboard.DashboardLinkType.LINK).keep_time(keep_time=True))


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
    """Link to an address from a panel."""
    return builders.DashboardLink(title).url(url).type(dashboard.DashboardLinkType.LINK)


def constant(name: str, value: str) -> builders.ConstantVariable:
    """Keep a value that an installation sets once, in the settings of the dashboard."""
    return builders.ConstantVariable(name).value(value)


def budget() -> builders.TextBoxVariable:
    """Let the user say which share of the days may be spent in drift, in percent."""
    allowed = builders.TextBoxVariable("budget").label("Drift budget, % of days")
    return allowed.default_value("5").current(dashboard.VariableOption(text="5", value="5"))


def laid_out(page: builders.Dashboard, panels: Iterable[Panel]) -> dashboard.Dashboard:
    """Place the panels from left to right, in as many rows as their widths need."""
    for panel in panels:
        page.with_panel(panel)
    built = page.build()
    for number, panel in enumerate(built.panels or [], start=1):
        panel.id_val = number
    return built
