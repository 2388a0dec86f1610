"""The kinds of panels, and the colours that mean one thing on both dashboards."""

from collections.abc import Mapping
from itertools import cycle
from string import ascii_uppercase
from typing import TypeVar

from grafana_foundation_sdk.builders import common as parts
from grafana_foundation_sdk.builders import dashboard as builders
from grafana_foundation_sdk.builders import prometheus, stat, statetimeline, table, timeseries
from grafana_foundation_sdk.models import common, dashboard
from grafana_foundation_sdk.models.dashboard import DynamicConfigValue as Property
from grafana_foundation_sdk.models.prometheus import PromQueryFormat
from queries import STATES, interval

Panel = TypeVar("Panel", timeseries.Panel, stat.Panel, statetimeline.Panel, table.Panel)
Targets = Mapping[str, str]  # what the legend calls it -> PromQL

SOURCE = dashboard.DataSourceRef(type_val="prometheus", uid="${datasource}")
GREY = "#8e8e8e"
NEUTRAL = "text"  # that of the theme
# Colours of verdicts mean verdicts, on every dashboard, and all else has other ones.
PINK, BROWN, TEAL, OLIVE, CYAN = "#d6409f", "#8d6e63", "#12a594", "#8a9a3b", "#00b8d9"
PURPLE = "#7c5cff"
LIGHT = {PINK: "#eba6d3", BROWN: "#c4a99f", TEAL: "#86d8cf", OLIVE: "#c5cf93", CYAN: "#99e3f0"}
MOMENT = "time:YYYY-MM-DD"
VERDICT_COLOURS = (
    "green", "blue", "super-light-purple", "yellow", "dark-yellow", "light-yellow", "orange",
    "light-blue", "super-light-red", "red", GREY, "light-purple", "purple",
)  # fmt: skip
VERDICTS = dict(zip(STATES, VERDICT_COLOURS, strict=True))
ADJUSTED = {"raw": BROWN, "prior": TEAL, "map": OLIVE, "population": CYAN}
CAUSES = {"prior_shift": TEAL, "slope": PINK, "shape": BROWN, "rest": OLIVE}
KINDS = {
    "too_extreme": PINK,
    "too_timid": LIGHT[PINK],
    "ends_overpredicted": BROWN,
    "ends_underpredicted": LIGHT[BROWN],
    "tails_too_extreme": OLIVE,
    "tails_too_timid": LIGHT[OLIVE],
    "top_overpredicted": TEAL,
    "top_underpredicted": LIGHT[TEAL],
    "place": PURPLE,
    "scores_too_high": CYAN,
    "scores_too_low": LIGHT[CYAN],
    "scores_outside": NEUTRAL,
    "scores_equal": NEUTRAL,
    "improved": NEUTRAL,
    "labels_lost": NEUTRAL,
    "labels_added": NEUTRAL,
    "class_place": PURPLE,
    "outcomes_missing": NEUTRAL,
}


def said(panel: Panel, title: str, description: str, *, none: str, width: int) -> Panel:
    """Give a panel its words, also those for when there is nothing to show."""
    return panel.title(title).description(description).no_value(none).span(width)


def asked(panel: Panel, targets: Targets, *, now: bool = False, rows: bool = False) -> Panel:
    """Give a panel its queries, of the whole time range or of its end."""
    panel.datasource(SOURCE)
    for letter, (legend, query) in zip(ascii_uppercase, targets.items(), strict=False):
        target = prometheus.Dataquery().datasource(SOURCE).ref_id(letter).expr(query)
        target.legend_format(legend)
        target.format(PromQueryFormat.TABLE if rows else PromQueryFormat.TIME_SERIES)
        panel.with_target(target.instant() if now else target.range())
    return panel if now else panel.interval("1h")  # a finer step shows nothing more


def lines(targets: Targets, *, unit: str, axis: str = "") -> timeseries.Panel:
    """Draw series over time."""
    panel = asked(timeseries.Panel(), targets).unit(unit).height(8).axis_label(axis)
    named = [legend for legend in targets if "{{" not in legend]
    for legend, color in zip(named, cycle((TEAL, BROWN, OLIVE, PINK, CYAN)), strict=False):
        panel.override_by_name(legend, [fixed(color)])  # what a panel says later counts
    panel.line_width(2).fill_opacity(0).show_points(common.VisibilityMode.AUTO)
    tooltip = parts.VizTooltipOptions().mode(common.TooltipDisplayMode.MULTI)
    return panel.tooltip(tooltip.sort(common.SortOrder.DESCENDING)).legend(below())


def below() -> parts.VizLegendOptions:
    """List the series below a panel."""
    legend = parts.VizLegendOptions().show_legend(show_legend=True).calcs([])
    legend.display_mode(common.LegendDisplayMode.LIST)
    return legend.placement(common.LegendPlacement.BOTTOM)


def beside() -> parts.VizLegendOptions:
    """List the series, with their newest values, beside a panel."""
    legend = below().display_mode(common.LegendDisplayMode.TABLE).calcs(["lastNotNull"])
    return legend.placement(common.LegendPlacement.RIGHT)


def fixed(color: str) -> Property:
    """Colour a series."""
    return Property(id_val="color", value={"mode": "fixed", "fixedColor": color})


def dashed(color: str) -> list[Property]:
    """Draw a series as a dashed line: a limit or something to compare with."""
    style = Property(id_val="custom.lineStyle", value={"fill": "dash", "dash": [8, 6]})
    return [fixed(color), style]


def colored(panel: timeseries.Panel, colors: Mapping[str, str]) -> timeseries.Panel:
    """Give each named series its colour, and write its name in words."""
    for name, color in colors.items():
        panel.override_by_name(name, [fixed(color), in_words(name)])
    return panel


def in_words(name: str) -> Property:
    """Call a series by the words of its label."""
    return Property(id_val="displayName", value=name.replace("_", " "))


def band(panel: timeseries.Panel, low: str, high: str, color: str) -> timeseries.Panel:
    """Fill between the two ends of an interval, and keep both out of the legend."""
    ends = [
        fixed(color),
        Property(id_val="custom.lineWidth", value=0),
        Property(id_val="custom.showPoints", value="never"),
        Property(id_val="custom.hideFrom", value={"legend": True, "tooltip": False, "viz": False}),
    ]
    filled = [
        Property(id_val="custom.fillBelowTo", value=low),
        Property(id_val="custom.fillOpacity", value=18),
    ]
    return panel.override_by_name(low, ends).override_by_name(high, [*ends, *filled])


def interval_band(panel: timeseries.Panel, name: str, color: str) -> timeseries.Panel:
    """Draw a series with the interval around it."""
    panel.override_by_name(name, [fixed(color)])
    return band(panel, f"{name} low", f"{name} high", color)


def marked(panel: timeseries.Panel, at: float, color: str = NEUTRAL) -> timeseries.Panel:
    """Draw a dashed line at a value that means something."""
    panel.thresholds(thresholds("transparent", {color: at}))
    style = parts.GraphThresholdsStyleConfig()
    return panel.thresholds_style(style.mode(common.GraphThresholdsStyleMode.DASHED))


def with_intervals(
    numbers: Mapping[str, tuple[str, str, str]], *, axis: str, at: float
) -> timeseries.Panel:
    """Draw numbers with their intervals, and a dashed line at what they are if nothing is wrong.

    Parameters
    ----------
    numbers : mapping of str to tuple of str
        By name: the gauge, what is selected of it, and the colour.
    axis : str
        What the vertical axis shows.
    at : float
        Where the dashed line is.
    """
    targets = dict[str, str]()
    for name, (gauge, selector, _) in numbers.items():
        targets |= interval(gauge, selector, "model", name)
    panel = lines(targets, unit="short", axis=axis)
    for name, (_, _, color) in numbers.items():
        interval_band(panel, name, color)
    return marked(panel, at)


def stacked(panel: timeseries.Panel) -> timeseries.Panel:
    """Stack series as areas."""
    panel.stacking(parts.StackingConfig().mode(common.StackingMode.NORMAL).group("A"))
    return panel.fill_opacity(70).line_width(0)


def thresholds(base: str, steps: Mapping[str, float]) -> builders.ThresholdsConfig:
    """Colour values: a base colour, and further ones with the value at which each begins."""
    limits = [dashboard.Threshold(value=at, color=color) for color, at in steps.items()]
    return builders.ThresholdsConfig().steps([dashboard.Threshold(color=base), *limits])


def near_limit() -> builders.ThresholdsConfig:
    """Colour a share of a limit: pink is what exceeds it, light pink what is near."""
    return thresholds(NEUTRAL, {LIGHT[PINK]: 0.8, PINK: 1})


def number(targets: Targets, *, unit: str, named: bool = False) -> stat.Panel:
    """Show the newest value as a large number, or only the names of what is there."""
    panel = asked(stat.Panel(), targets, now=True).unit(unit).height(4)
    panel.graph_mode(common.BigValueGraphMode.NONE)
    panel.text_mode(common.BigValueTextMode.NAME if named else common.BigValueTextMode.VALUE)
    panel.reduce_options(parts.ReduceDataOptions().calcs(["lastNotNull"]))
    return panel.thresholds(thresholds("text", {}))


def sized(panel: stat.Panel, *, value: int, title: int | None = None) -> stat.Panel:
    """Fix the size of the text, in pixels: by itself it is as large as the first line allows."""
    text = parts.VizTextDisplayOptions().value_size(value)
    return panel.text(text.title_size(title) if title else text)


def timeline(targets: Targets) -> statetimeline.Panel:
    """Draw verdicts as coloured bars over time."""
    panel = asked(statetimeline.Panel(), targets).unit("short").mappings(verdict_words())
    panel.merge_values(merge_values=True).row_height(0.8).fill_opacity(80).line_width(0)
    states = builders.FieldColor().mode(dashboard.FieldColorModeId.THRESHOLDS)  # not a scale
    panel.color_scheme(states).thresholds(thresholds("text", {}))
    return panel.show_value(common.VisibilityMode.AUTO).legend(below())


def verdict_words() -> list[dashboard.ValueMapping]:
    """Turn the number that ``queries.verdict`` gives into a word and a colour."""
    words = {
        str(place): dashboard.ValueMappingResult(
            text=state.replace("_", " "), color=color, index=place
        )
        for place, (state, color) in enumerate(VERDICTS.items())
    }
    return [dashboard.ValueMap(options=words)]
